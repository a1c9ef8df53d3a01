"""Metamorphic relations: a known change of inputs and its effect on answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import list_modules, make_getattr

if TYPE_CHECKING:
    from .box import Affine as Affine
    from .box import Box as Box
    from .image import image_relations as image_relations
    from .image import sequence_relations as sequence_relations
    from .patterns.pattern import Pattern as Pattern
    from .patterns.relation import InputPattern as InputPattern
    from .patterns.relation import OutputPattern as OutputPattern
    from .routes import route_relations as route_relations
    from .search import search_relations as search_relations
    from .text import text_relations as text_relations
    from .translation import translation_relations as translation_relations

_MODULES = list_modules(
    {
        "box": "Affine Box",
        "image": "image_relations sequence_relations",
        "patterns.pattern": "Pattern",
        "patterns.relation": "InputPattern OutputPattern",
        "routes": "route_relations",
        "search": "search_relations",
        "text": "text_relations",
        "translation": "translation_relations",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = make_getattr(__name__, _MODULES)

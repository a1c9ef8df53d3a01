"""Metamorphic relations: a known change of inputs and its effect on answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._deprecation import move_modules
from .._lazy import list_modules, make_getattr

if TYPE_CHECKING:
    from .algebra.box import Affine as Affine
    from .algebra.box import Box as Box
    from .algebra.domain import NumberRange as NumberRange
    from .catalogue.audio import audio_relations as audio_relations
    from .catalogue.image import image_relations as image_relations
    from .catalogue.image import sequence_relations as sequence_relations
    from .catalogue.routes import route_relations as route_relations
    from .catalogue.search import search_relations as search_relations
    from .catalogue.text import text_relations as text_relations
    from .catalogue.translation import translation_relations as translation_relations
    from .check.ranking import rank_learners as rank_learners
    from .check.traces import compare_traces as compare_traces
    from .guide.specification import parse_pattern_relation as parse_pattern_relation
    from .patterns.pattern import Pattern as Pattern
    from .patterns.relation import InputPattern as InputPattern
    from .patterns.relation import OutputPattern as OutputPattern

_MODULES = list_modules(
    {
        "algebra.box": "Affine Box",
        "algebra.domain": "NumberRange",
        "catalogue.audio": "audio_relations",
        "catalogue.image": "image_relations sequence_relations",
        "catalogue.routes": "route_relations",
        "catalogue.search": "search_relations",
        "catalogue.text": "text_relations",
        "catalogue.translation": "translation_relations",
        "guide.specification": "parse_pattern_relation",
        "check.ranking": "rank_learners",
        "check.traces": "compare_traces",
        "patterns.pattern": "Pattern",
        "patterns.relation": "InputPattern OutputPattern",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = make_getattr(__name__, _MODULES)

#: Where modules are that stood in this room before it had rooms of its own.
_ROOMS = {
    "algebra": "base box change feature function one_way outcome shrink sweep",
    "catalogue": "credit first_names image predictor promises registry routes search text translation",
    "check": "decades",
}
_OF_LEARNERS = "base cluster_sampling clusterers exemptions necessity requirement result runner sampling sklearn smoothing table waves xie"
_MOVED = {name: f"{room}.{name}" for room, names in _ROOMS.items() for name in names.split()} | {"learner": "learners"}
_MOVED |= {f"learner.{name}": f"learners.{name}" for name in _OF_LEARNERS.split()}
move_modules({f"{__name__}.{old}": f"{__name__}.{new}" for old, new in _MOVED.items()})

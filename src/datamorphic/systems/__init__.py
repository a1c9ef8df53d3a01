"""Systems under test: anything that answers a batch of inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import list_modules, make_getattr

if TYPE_CHECKING:
    from .http import HttpService as HttpService
    from .router import ValhallaRouter as ValhallaRouter
    from .search_engines import SqliteSearch as SqliteSearch
    from .search_engines import TantivySearch as TantivySearch
    from .training import Training as Training
    from .translator import ApertiumTranslator as ApertiumTranslator
    from .weka import Weka as Weka

_MODULES = list_modules(
    {
        "http": "HttpService",
        "router": "ValhallaRouter",
        "search_engines": "SqliteSearch TantivySearch",
        "training": "Training",
        "translator": "ApertiumTranslator",
        "weka": "Weka",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = make_getattr(__name__, _MODULES)

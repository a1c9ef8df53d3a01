"""Decision trees as arrays: read, evaluate, mutate and cover them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import list_modules, make_getattr

if TYPE_CHECKING:
    from .pmml.files import read_pmml as read_pmml
    from .read import read_forest as read_forest
    from .write import write_pmml as write_pmml

_MODULES = list_modules({"pmml.files": "read_pmml", "read": "read_forest", "write": "write_pmml"})
__all__ = sorted(_MODULES)
__getattr__ = make_getattr(__name__, _MODULES)

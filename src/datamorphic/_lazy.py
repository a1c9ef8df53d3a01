"""Public names, and pandas, that are imported on first use, so that ``import datamorphic`` is fast."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "list_modules", "make_getattr", "pd"]


class LazyModule(ModuleType):
    """A module that is imported when one of its names is first used.

    Examples
    --------
    >>> LazyModule("statistics").mean([1, 2, 6])
    3
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by tools that look at whatever a module holds
            raise AttributeError(f"module {self.__name__!r} is not imported yet and has no attribute {name!r}")
        return getattr(importlib.import_module(self.__name__), name)


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = LazyModule("pandas")  # most functions with tables need it, and importing it takes half a second


def list_modules(names: Mapping[str, str]) -> dict[str, str]:
    """Return the module of each name, from the names of each module.

    Examples
    --------
    >>> list_modules({"http": "HttpService", "base": "Executor System"})
    {'HttpService': 'http', 'Executor': 'base', 'System': 'base'}
    """
    return {name: module for module, part in names.items() for name in part.split()}


def make_getattr(
    module: str, modules: Mapping[str, str], renamed: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module.

    `modules` maps public names to the modules below this one that have them (``".x"`` is one beside it), or to an empty text if
    they are modules themselves. `renamed` maps former names to those of today, which may have a dot; former names warn.
    """

    def get(name: str) -> Any:
        new_name = (renamed or {}).get(name)
        if new_name is not None:
            import warnings

            message = f"{module}.{name} is deprecated since datamorphic 0.2. Use {module}.{new_name}."
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            value = sys.modules[module]
            for part in new_name.split("."):
                value = getattr(value, part)
            return value
        if name not in modules:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if not modules[name]:
            return importlib.import_module(f".{name}", module)
        value = getattr(importlib.import_module(f".{modules[name]}", module), name)
        setattr(sys.modules[module], name, value)
        return value

    return get

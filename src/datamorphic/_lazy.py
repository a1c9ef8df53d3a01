"""Public names that are imported on first use, so that ``import datamorphic`` is fast."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


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

"""Deprecate public names: warn for one minor version, then remove."""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def deprecated(since: str, remedy: str) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Return a decorator that warns on every call.

    Examples
    --------
    >>> @deprecated(since="0.2", remedy="Use dm.explore.")
    ... def walk(): return 1
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     walk()
    1
    >>> str(caught[0].message)
    'walk is deprecated since datamorphic 0.2. Use dm.explore.'
    """

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @functools.wraps(function)
        def call(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
            message = f"{function.__name__} is deprecated since datamorphic {since}. {remedy}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return function(*arguments, **options)

        return call

    return decorate


def rename_keywords(
    since: str, **new_names: str
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Return a decorator that accepts old names of keywords, with a warning.

    Examples
    --------
    >>> @rename_keywords(since="0.2", says="statement")
    ... def build(statement=""): return statement
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     build(says="it holds")
    'it holds'
    >>> str(caught[0].message)
    "The keyword 'says' of build is deprecated since datamorphic 0.2. Use 'statement'."
    """

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        owner = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def call(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
            for old, new in new_names.items():
                if old in options:
                    message = f"The keyword {old!r} of {owner} is deprecated since datamorphic {since}. Use {new!r}."
                    warnings.warn(message, DeprecationWarning, stacklevel=2)
                    options[new] = options.pop(old)
            return function(*arguments, **options)

        return call

    return decorate


def rename_attribute(old: str, new: str, since: str = "0.2") -> Any:
    """Return a property for the old name of an attribute, which warns and returns the attribute `new`.

    Examples
    --------
    >>> class Road:
    ...     length = 5
    ...     size = rename_attribute("Road.size", "length")
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Road().size
    5
    >>> str(caught[0].message)
    'Road.size is deprecated since datamorphic 0.2. Use length.'
    """

    def read(owner: object) -> Any:
        warnings.warn(f"{old} is deprecated since datamorphic {since}. Use {new}.", DeprecationWarning, stacklevel=2)
        return getattr(owner, new)

    return property(read, doc=f"The old name of `{new}`.")


class _MovedModules(MetaPathFinder, Loader):
    """Finds modules under their former names: first of all finders, or those of the new package would be loaded twice."""

    def __init__(self, new_names: Mapping[str, str], since: str) -> None:
        self.new_names = new_names
        self.since = since

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in self.new_names else None

    def exec_module(self, module: ModuleType) -> None:
        new_name = self.new_names[module.__name__]
        message = f"{module.__name__} is deprecated since datamorphic {self.since}. Use {new_name}."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = importlib.import_module(new_name)


def move_modules(new_names: Mapping[str, str], since: str = "0.2") -> None:
    """Import the modules `new_names` also by their former names, with a warning: stored runs may name their classes."""
    sys.meta_path.insert(0, _MovedModules(new_names, since))

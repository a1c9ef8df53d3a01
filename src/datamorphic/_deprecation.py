"""Deprecate public names: warn for one minor version, then remove."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
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

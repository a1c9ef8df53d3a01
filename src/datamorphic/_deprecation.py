"""Deprecate public names: warn for one minor version, then remove."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

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

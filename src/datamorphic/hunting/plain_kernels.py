"""Kernels as plain Python, for hunts that end before compiling would pay.

To compile a kernel takes seconds. The same code without numba makes a group in about a millisecond, and the same groups.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from .kernels import compiling

MAX_PLAIN_SECONDS = 2.0  # in all, per kernel and process
GROUPS_PER_CALL = 16  # between two looks at the clock

_seconds_used: dict[Any, float] = {}


def advance_shortly(kernel: Callable[..., Any], *arguments: Any) -> Any:
    """Call a kernel that writes groups to its last argument: as plain Python, unless it is compiled or was called for long.

    Fewer groups than there is room for are made.
    """
    if is_compiled(kernel) or _seconds_used.get(kernel, 0.0) > MAX_PLAIN_SECONDS:
        return kernel(*arguments)
    start = time.thread_time()
    step = make_plain(kernel)(*arguments[:-1], arguments[-1][:GROUPS_PER_CALL])
    _seconds_used[kernel] = _seconds_used.get(kernel, 0.0) + time.thread_time() - start
    return step


def is_compiled(kernel: Any) -> bool:
    """Return whether a kernel is compiled, in this process or in the cache of the user, or is never compiled."""
    return not compiling.COMPILED or bool(kernel.overloads) or _is_cached(kernel.py_func.__name__)


@cache
def _is_cached(name: str) -> bool:
    directory = compiling.CACHE_DIRECTORY
    return directory is not None and (directory / f"{name}.{sys.implementation.cache_tag}.nbi").exists()


@cache
def make_plain(kernel: Any) -> Callable[..., Any]:
    """Return a kernel or helper as plain Python, calling others as plain Python.

    A helper for which its module has another function named ``<helper>_vectorized`` becomes that one.
    """
    function = kernel.py_func
    names = dict(function.__globals__)
    if vectorized := names.get(f"{function.__name__}_vectorized"):
        return vectorized
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = make_plain(names[name])
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)

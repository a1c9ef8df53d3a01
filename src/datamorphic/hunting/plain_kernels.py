"""Kernels as plain Python, for hunts that end before compiling would pay.

Compiling a kernel takes seconds. Without numba the same code makes a group in about a millisecond, and the groups are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from .kernels import compiling

MAX_PLAIN_GROUPS = 96  # per trial; for more groups, compiling pays
MAX_PLAIN_SECONDS = 2.0  # in all, per kernel and process
GROUPS_PER_CALL = 16  # between two looks at the clock

_seconds_used: dict[Any, float] = {}


def advance_without_compiling(kernel: Callable[..., Any], *arguments: Any) -> Any:
    """Make groups by a kernel as plain Python, until its time for that is used up.

    The kernel writes groups to its last argument and returns how many: as plain Python at most `GROUPS_PER_CALL`. A kernel
    that is compiled, or has used `MAX_PLAIN_SECONDS`, is called as it is.
    """
    if is_ready(kernel) or _seconds_used.get(kernel, 0.0) > MAX_PLAIN_SECONDS:
        return kernel(*arguments)
    start = time.thread_time()
    step = make_plain(kernel)(*arguments[:-1], arguments[-1][:GROUPS_PER_CALL])
    _seconds_used[kernel] = _seconds_used.get(kernel, 0.0) + time.thread_time() - start
    return step


def is_ready(kernel: Any) -> bool:
    """Return whether a kernel runs without compiling: it is compiled or in the cache, or numba is missing."""
    return not compiling.COMPILED or bool(kernel.overloads) or compiling.is_cached(kernel.py_func)


@cache
def make_plain(kernel: Any) -> Callable[..., Any]:
    """Return a kernel or helper as plain Python that calls helpers as plain Python.

    A function ``<helper>_vectorized`` of its module replaces a helper: NumPy is faster than an interpreted loop.
    """
    function = kernel.py_func
    names = dict(function.__globals__)
    if vectorized := names.get(f"{function.__name__}_vectorized"):
        return vectorized
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = make_plain(names[name])
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)

"""Kernels as plain Python, for hunts that end before compiling would pay.

Compiling a kernel takes seconds, and loading numba with a kernel of an earlier process takes one second. Without numba the same
code makes a group in about a millisecond, and the groups are the same.
"""

from __future__ import annotations

import time
from typing import Any

from .kernels.compiling import Kernel

MAX_PLAIN_GROUPS = 96  # per trial; for more groups, compiling pays
MAX_PLAIN_SECONDS = 2.0  # in all, per kernel and process
MAX_PLAIN_SECONDS_IF_CACHED = 1.0  # if an earlier process compiled the kernel
GROUPS_PER_CALL = 16  # between two looks at the clock

_seconds_used: dict[Any, float] = {}


def advance_without_compiling(kernel: Kernel, *arguments: Any) -> Any:
    """Make groups by a kernel as plain Python, until its time for that is used up.

    The kernel writes groups to its last argument and returns how many: as plain Python at most `GROUPS_PER_CALL`. A kernel
    that is compiled, or has used its time, is called as it is.
    """
    if kernel.is_ready:
        return kernel(*arguments)
    max_seconds = MAX_PLAIN_SECONDS_IF_CACHED if kernel.is_cached else MAX_PLAIN_SECONDS
    if _seconds_used.get(kernel, 0.0) > max_seconds:
        return kernel(*arguments)
    start = time.thread_time()
    step = kernel.plain(*arguments[:-1], arguments[-1][:GROUPS_PER_CALL])
    _seconds_used[kernel] = _seconds_used.get(kernel, 0.0) + time.thread_time() - start
    return step

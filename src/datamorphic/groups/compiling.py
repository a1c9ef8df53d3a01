"""Compiled where numba is installed (the extra "fast"), interpreted otherwise: the same code, so the same groups.

Random numbers are drawn inside the kernels, one by one, from the generator that is given: `rng.random()` gives the same
numbers in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from numba import config, njit

    COMPILED = not config.DISABLE_JIT
except ImportError:
    njit = None
    COMPILED = False


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have a function compiled when it is first called; what came out is kept, and lets other threads run."""
    if njit is None:
        return function
    made: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(function)
    return made

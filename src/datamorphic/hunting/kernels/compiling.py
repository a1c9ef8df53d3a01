"""Compiled where numba is installed (the extra "fast"), interpreted otherwise: the same code, so the same groups.

Random numbers are drawn inside the kernels, one by one, from the generator that is given: `rng.random()` gives the same
numbers in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

njit: Any
try:
    import numba

    njit, COMPILED = numba.njit, not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
except ImportError:
    njit, COMPILED = None, False


def _hash_sources() -> str:
    """Return what tells these kernels from those of another day: all of them, since they are compiled into each other."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


SOURCE_HASH = _hash_sources() if COMPILED else ""


def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have a function compiled when it is first called; what came out is kept, and lets other threads run."""
    if njit is None:
        return function
    dispatcher: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(function)
    # numba looks at the file of a function only, and would go on with what it kept when one that it calls has changed
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = SOURCE_HASH
    return dispatcher

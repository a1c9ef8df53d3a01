"""Compile kernels by numba if it is installed (the extra "fast").

The same code runs without numba and gives the same groups: random numbers are drawn inside the kernels, one by one, by
`rng.random()`, which gives the same numbers compiled and interpreted.
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
    """Return a hash of all kernel modules; kernels are compiled into each other."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


SOURCE_HASH = _hash_sources() if COMPILED else ""


def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function at its first call, cached and without the interpreter lock."""
    if njit is None:
        return function
    dispatcher: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(function)
    # numba only checks the file of the function itself, not the files of the functions it calls
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = SOURCE_HASH
    return dispatcher

"""Compile kernels by numba's public decorator. Importing this module loads numba."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numba
import numba.core.event

from .cache_directory import prepare_cache_directory

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("numba's configuration file forbids compiling")

MIN_SECONDS_TO_ANNOUNCE = 1.0
#: for all kernels; they allocate no arrays: without counted references, and without a wrapper that nothing calls, compiling takes
#: two thirds of the time, and the code is three times as fast
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}

njit: Any = numba.njit  # its types lack most options
_own_dispatchers: set[Any] = set()


def make_dispatcher(function: Callable[..., Any], is_helper: bool) -> Any:
    """Return numba's dispatcher of a kernel or helper, which compiles it at its first call.

    numba decides by the file of a kernel whether its compiled code is still valid. Helpers are in other files, so the code is
    kept in a directory that is named by all of them.
    """
    if is_helper:
        return njit(no_cpython_wrapper=True, **OPTIONS)(function)
    directory = prepare_cache_directory()
    directory_of_user = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    try:
        dispatcher = njit(cache=directory is not None, **OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = directory_of_user  # type: ignore[attr-defined]
    _own_dispatchers.add(dispatcher)
    return dispatcher


class _Announcer(numba.core.event.Listener):
    """Says on stderr that kernels are being compiled, if it takes more than a second."""

    def __init__(self) -> None:
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        if self.timer is None and event.data["dispatcher"] in _own_dispatchers:
            self.timer = threading.Timer(MIN_SECONDS_TO_ANNOUNCE, _announce)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        if self.timer is not None and event.data["dispatcher"] in _own_dispatchers:
            self.timer.cancel()
            self.timer = None


def _announce() -> None:
    sys.stderr.write("datamorphic: compiling, once\n")
    sys.stderr.flush()


numba.core.event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]

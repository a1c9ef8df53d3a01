"""Compile kernels by numba. Importing this module loads numba.

Kernels do not allocate arrays: without counted references, compiling takes half the time, and the code is faster.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numba
import numba.core.event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from .cache_directory import name_cache_file, prepare_cache_directory

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("numba's configuration file forbids compiling")

MIN_SECONDS_TO_ANNOUNCE = 1.0
#: for all kernels; references to arrays are not counted
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
CACHE_DIRECTORY = prepare_cache_directory()

njit: Any = numba.njit  # its types lack most options
_own_dispatchers: set[Any] = set()


def make_dispatcher(function: Callable[..., Any], is_helper: bool) -> Any:
    """Return numba's dispatcher of a kernel or helper, which compiles it at its first call."""
    if is_helper:
        return njit(no_cpython_wrapper=True, pipeline_class=_HelperCompiler, **OPTIONS)(function)
    dispatcher = njit(**OPTIONS)(function)
    if CACHE_DIRECTORY is not None:
        dispatcher._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
    _own_dispatchers.add(dispatcher)
    return dispatcher


class _KernelLocator:
    """Where compiled kernels are kept, for numba."""

    def get_cache_path(self) -> str:
        return str(CACHE_DIRECTORY)

    def ensure_cache_path(self) -> None:
        assert CACHE_DIRECTORY is not None
        CACHE_DIRECTORY.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return ""  # the directory is named by the sources


class _KernelFiles(CompileResultCacheImpl):
    """Names of files per kernel and version of Python; numba compares its own version and the processor."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._locator, self._lineno = _KernelLocator(), 0
        self._filename_base = name_cache_file(function)


class _KernelCache(FunctionCache):
    _impl_class = _KernelFiles


class _HelperLibrary(JITCodeLibrary):
    """The code of a helper, which is linked into kernels and optimised there.

    numba would also optimise it and translate it to machine code on its own. Nothing calls that code, and it takes a fifth of
    the time of compiling.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout  # which optimising would have set

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0  # which also means that Python cannot call it

    @property
    def codegen(self) -> Any:
        """This library, so that numba calls its `set_env`."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: helpers have no Python objects."""


class _HelperCompiler(Compiler):
    """Compiles helpers into a `_HelperLibrary`."""

    def define_pipelines(self) -> Any:
        state: Any = self.state
        state.library = _HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        return super().define_pipelines()  # type: ignore[no-untyped-call]


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

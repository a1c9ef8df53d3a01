"""Compile kernels by numba, which is installed where it has wheels.

The same code runs without numba and gives the same groups: kernels take their random numbers from an array.

Compiling takes long, so there are few kernels, each compiled at its first call only and kept in the cache directory of
the user. They are filed by a hash of their sources, not by where the package is installed or by its version, so that an
upgrade that leaves them as they are keeps them. Kernels do not allocate arrays: without counted references, compiling
takes half the time, and the code is faster.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ...relations import box

MIN_SECONDS_TO_ANNOUNCE = 1.0
MAX_DAYS_UNUSED = 30  # of compiled kernels of another version

numba: Any
try:
    import numba

    COMPILED = not numba.config.DISABLE_JIT
except ImportError:
    numba, COMPILED = None, False

_OWN_DISPATCHERS: set[Any] = set()
#: for all kernels; references to arrays are not counted
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def _hash_sources() -> str:
    """Return a hash of all kernel modules, which are compiled into each other, and of the constants they import."""
    digest = hashlib.blake2b(repr((box.NUMBER, box.WHOLE, box.CATEGORY)).encode(), digest_size=12)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def find_cache_directory() -> Path | None:
    """Return where compiled kernels are kept; None if nothing can be written there.

    Kernels of other versions that were not used for a month are removed.
    """
    from platformdirs import user_cache_path

    base = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else user_cache_path("datamorphic", appauthor=False)
    directory = base / "kernels" / _hash_sources()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / ".writable").touch()
        for marker in directory.parent.glob("*/.writable"):
            if marker.stat().st_mtime < time.time() - MAX_DAYS_UNUSED * 24 * 3600:
                shutil.rmtree(marker.parent, ignore_errors=True)
    except OSError:
        return None
    return directory


def _name_cache_file(function: Callable[..., Any]) -> str:
    return f"{function.__name__}.{sys.implementation.cache_tag}"


@cache
def is_cached(function: Callable[..., Any]) -> bool:
    """Return whether the cache of the user has a kernel, at least for some types of arguments."""
    return CACHE_DIRECTORY is not None and (CACHE_DIRECTORY / f"{_name_cache_file(function)}.nbi").exists()


CACHE_DIRECTORY: Path | None = None
if COMPILED:
    import numba.core.event
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    CACHE_DIRECTORY = find_cache_directory()

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
            self._filename_base = _name_cache_file(function)

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

    class _Announcer(numba.core.event.Listener):  # type: ignore[misc]
        """Says on stderr that kernels are being compiled, if it takes more than a second."""

        def __init__(self) -> None:
            self.timer: threading.Timer | None = None

        def on_start(self, event: Any) -> None:
            if self.timer is None and event.data["dispatcher"] in _OWN_DISPATCHERS:
                self.timer = threading.Timer(MIN_SECONDS_TO_ANNOUNCE, _announce)
                self.timer.daemon = True
                self.timer.start()

        def on_end(self, event: Any) -> None:
            if self.timer is not None and event.data["dispatcher"] in _OWN_DISPATCHERS:
                self.timer.cancel()
                self.timer = None

    numba.core.event.register("numba:compile", _Announcer())


def _announce() -> None:
    sys.stderr.write("datamorphic: compiling, once\n")
    sys.stderr.flush()


def compile_helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a helper as part of the kernels that call it."""
    if not COMPILED:
        return function
    helper: Any = numba.njit(no_cpython_wrapper=True, pipeline_class=_HelperCompiler, **OPTIONS)(function)
    return helper


def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function at its first call, and keep it for later processes."""
    if not COMPILED:
        return function
    dispatcher: Any = numba.njit(**OPTIONS)(function)
    if CACHE_DIRECTORY is not None:
        dispatcher._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
    _OWN_DISPATCHERS.add(dispatcher)
    return dispatcher

"""Kernels: functions that numba, which is installed where it has wheels, compiles when they are called.

The same code runs without numba and gives the same groups: kernels take their random numbers from an array.

Compiling takes long, so there are few kernels, each compiled at its first call only and kept in the cache directory of the
user. Loading numba takes half a second, so nothing loads it before that call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from .cache_directory import find_cache_directory, name_cache_file

#: Whether kernels are compiled, unless numba cannot be loaded.
COMPILED = find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


class Kernel:
    """A function that is compiled at its first call, and kept for later processes.

    It calls helpers, which are compiled as part of it; Python code does not call them.
    """

    def __init__(self, function: Callable[..., Any], *, is_helper: bool = False) -> None:
        self.function: Any = function
        self.is_helper = is_helper

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """The function as numba's dispatcher; plain Python without numba."""
        if not COMPILED:
            return self.plain
        try:
            from .numba_compiler import make_dispatcher
        except ImportError:  # numba refuses versions of NumPy that are newer than itself
            return self.plain
        return make_dispatcher(self.bind_helpers(lambda helper: helper.compiled), self.is_helper)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function as plain Python.

        A function ``<name>_vectorized`` of its module replaces it: NumPy is faster than an interpreted loop.
        """
        vectorized: Callable[..., Any] | None = self.function.__globals__.get(f"{self.function.__name__}_vectorized")
        return vectorized or self.bind_helpers(lambda helper: helper.plain)

    @property
    def is_compiled(self) -> bool:
        """Whether it was compiled in this process, or never will be."""
        if not COMPILED:
            return True
        return "compiled" in self.__dict__ and (self.compiled is self.plain or bool(self.compiled.overloads))

    @cached_property
    def is_cached(self) -> bool:
        """Whether the cache of the user has it, at least for some types of arguments."""
        directory = find_cache_directory()
        return directory is not None and (directory / f"{name_cache_file(self.function)}.nbi").exists()

    def find_code(self, arguments: Sequence[Any]) -> Callable[..., Any]:
        """Return the code for arguments of these types, after a call with such arguments.

        It does not look at types, which for some forty arrays takes ten times as long as starting the code.
        """
        if self.compiled is self.plain:
            return self.plain
        types = tuple(self.compiled.typeof_pyval(argument) for argument in arguments)
        code: Callable[..., Any] = self.compiled.overloads[types].entry_point
        return code

    def bind_helpers(self, choose: Callable[[Kernel], Any]) -> Any:
        """Return a copy of the function that calls what `choose` returns for each helper."""
        function = self.function
        names = dict(function.__globals__)
        for name in function.__code__.co_names:
            if isinstance(helper := names.get(name), Kernel):
                names[name] = choose(helper)
        return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def compile_kernel(function: Callable[..., Any]) -> Kernel:
    """Let a function be compiled at its first call."""
    return Kernel(function)


def compile_helper(function: Callable[..., Any]) -> Kernel:
    """Let a function be compiled as part of the kernels that call it."""
    return Kernel(function, is_helper=True)

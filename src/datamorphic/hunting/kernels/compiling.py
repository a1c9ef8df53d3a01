"""Functions that numba, which is installed where it has wheels, compiles at their first call.

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

from .cache_directory import prepare_cache_directory

#: Whether numba is installed and not disabled; loading it may still fail.
NUMBA_ENABLED = find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


class Kernel:
    """A function that numba compiles at its first call: a kernel, or a helper that is compiled as part of kernels.

    Parameters
    ----------
    function : callable
        The function as plain Python.
    vectorised : callable, optional
        Does the same by NumPy, which is faster than an interpreted loop.
    is_helper : bool
        Whether only kernels call it.
    """

    def __init__(
        self, function: Callable[..., Any], vectorised: Callable[..., Any] | None = None, *, is_helper: bool = False
    ) -> None:
        self.function: Any = function
        self.vectorised, self.is_helper = vectorised, is_helper

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """The function as numba's dispatcher; plain Python without numba."""
        if not NUMBA_ENABLED:
            return self.plain
        try:
            from .numba_compiler import make_dispatcher
        except ImportError:  # NumPy is too new for numba, or the configuration file of numba disables compiling
            return self.plain
        return make_dispatcher(self.replace_helpers(lambda helper: helper.compiled), self.is_helper)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function without numba."""
        return self.vectorised or self.replace_helpers(lambda helper: helper.plain)

    @property
    def is_ready(self) -> bool:
        """Whether a call compiles and loads nothing: it was compiled in this process, or it runs as plain Python."""
        if not NUMBA_ENABLED:
            return True
        return "compiled" in self.__dict__ and (self.compiled is self.plain or bool(self.compiled.signatures))

    @cached_property
    def is_cached(self) -> bool:
        """Whether the cache of the user has it, at least for some types of arguments."""
        directory = prepare_cache_directory()
        return directory is not None and any(directory.rglob(f"*.{self.function.__name__}-*.nbi"))

    def get_compiled_code(self, arguments: Sequence[Any]) -> Callable[..., Any]:
        """Return the compiled code for these types of arguments, with which the kernel was called before.

        The code does not check types, which for some forty arrays takes ten times as long as starting the code.
        """
        if self.compiled is self.plain:
            return self.plain
        try:
            types = tuple(self.compiled.typeof_pyval(argument) for argument in arguments)
            code: Callable[..., Any] = self.compiled.overloads[types].entry_point
        except (AttributeError, KeyError):  # numba does not document these names
            return self.compiled
        return code

    def replace_helpers(self, get_replacement: Callable[[Kernel], Any]) -> Any:
        """Return a copy of the function in which ``get_replacement(helper)`` stands for each helper."""
        function = self.function
        names = dict(function.__globals__)
        for name in function.__code__.co_names:
            if isinstance(helper := names.get(name), Kernel):
                names[name] = get_replacement(helper)
        return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def compile_kernel(function: Callable[..., Any]) -> Kernel:
    """Return a kernel, which is compiled at its first call."""
    return Kernel(function)


def compile_helper(function: Callable[..., Any], vectorised: Callable[..., Any] | None = None) -> Kernel:
    """Return a helper, which is compiled as part of the kernels that call it."""
    return Kernel(function, vectorised, is_helper=True)

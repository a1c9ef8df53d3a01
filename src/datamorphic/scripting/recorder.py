"""`dm.record`: write what is done with test pools as a script."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

from .._files import append_to_file, write_file
from .._validation import check_types
from ..core.call_listeners import listen
from ..morphisms.cases import TestSet
from ..morphisms.system import TestSystem, has_morphisms
from ..space.points import Points
from .call_options import CALL_OPTIONS, POOL_SEEDS, format_options
from .formatter import format_call
from .grammar import Argument, Call, ListArgument, TextArgument, replace_control_characters

HEADER = "//Recorded by datamorphic\n"


class RecordedPool(Protocol):
    """What a recorder needs to know about a pool."""

    @property
    def spec(self) -> str:
        """The name of the test system, empty without one."""

    @property
    def file_folder(self) -> str:
        """The folder of files, empty if it is that of the pool."""

    @property
    def tests(self) -> TestSet:
        """The test cases."""

    def build_setup_calls(self) -> list[Call]:
        """Return the commands that set up a pool like this one, without cases."""


def build_call(name: str, values: Sequence[object]) -> Call:
    """Return a command with Python values as arguments; None at the end is left out.

    A command is one line, so that line breaks in a text become spaces.
    """
    remaining = list(values)
    while remaining and remaining[-1] is None:
        remaining.pop()
    return Call(name, tuple(map(_build_argument, remaining)))


def _build_argument(value: object) -> Argument:
    if value is None:
        return TextArgument("")
    if isinstance(value, str | int | float | os.PathLike):
        return TextArgument(
            replace_control_characters(os.fspath(value) if isinstance(value, os.PathLike) else str(value))
        )
    assert isinstance(value, Iterable)
    return ListArgument(tuple(TextArgument(replace_control_characters(str(item))) for item in value))


class ScriptRecorder:
    """Writes the commands of pools to a script file, line by line, as they are called."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._pool: RecordedPool | None = None
        self._snapshots = 0
        self._has_begun = False

    def begin(self) -> None:
        """Create the file, unless it was created for an earlier command."""
        if not self._has_begun:
            write_file(self.path, HEADER, "script")
            self._has_begun = True

    def _write(self, text: str) -> None:
        append_to_file(self.path, text, "script")

    def begin_command(self, pool: RecordedPool) -> None:
        """Write the commands that set up a pool, if the last command had another one."""
        self.begin()
        if self._pool is pool:
            return
        calls = [*self._leave_pool(), *pool.build_setup_calls()]
        self._pool = pool
        if pool.spec and len(pool.tests):
            calls.append(build_call("loadTestSet", [self._save(pool.tests)]))
        if pool.file_folder:
            calls.append(build_call("setFilePath", [pool.file_folder]))
        self._write("".join(f"{format_call(call)}\n" for call in calls))

    def add_function_call(self, function: str, arguments: dict[str, Any]) -> None:
        """Write a call of `dm.explore`, `dm.combine` or `dm.optimise` on a test system; other functions are no commands."""
        if function not in CALL_OPTIONS:
            return
        self.begin()
        remaining = dict(arguments)
        system = remaining.pop("model", None)
        spec = _find_spec(system)
        cases = [remaining.pop(name) for name in ("data", "seeds", "tests") if _is_case_set(remaining.get(name))]
        options = format_options(function, remaining)
        if spec is None or options is None or len(cases) + ("seeds" in remaining) > 1:
            self._write(
                f"//dm.{function} was called here; it cannot be replayed, because only test systems and plain options can\n"
            )
            return
        calls = [*self._leave_pool(), build_call("loadTestSpec", [spec])]
        if cases:
            tests = cases[0] if isinstance(cases[0], TestSet) else TestSet.of_seeds(_to_points(system, cases[0]))
            calls.append(build_call("loadTestSet", [self._save(tests)]))
            options.append(f"seeds={POOL_SEEDS}")
        calls.append(build_call(function, options))
        self._write("".join(f"{format_call(call)}\n" for call in calls))

    def _leave_pool(self) -> list[Call]:
        """Forget the pool, and return the commands that undo its folder of files."""
        has_folder = self._pool is not None and bool(self._pool.file_folder)
        self._pool = None
        return [build_call("setFilePath", ["."])] if has_folder else []

    def _save(self, tests: TestSet) -> str:
        """Write test cases beside the script, and return the name of the file."""
        self._snapshots += 1
        path = self.path.with_name(f"{self.path.stem}-pool-{self._snapshots}.parquet")
        tests.to_parquet(path)
        return path.name

    def add(self, call: Call) -> None:
        """Write a command."""
        self._write(f"{format_call(call)}\n")


def _find_spec(system: object) -> str | None:
    """Return the name of a test system; None for models and functions."""
    if hasattr(system, "fit") or system is None or not has_morphisms(system):
        return None
    return TestSystem.collect(system).name


def _is_case_set(value: object) -> bool:
    return value is not None and not isinstance(value, str | int)


def _to_points(system: object, cases: Any) -> Points:
    return cases if isinstance(cases, Points) else TestSystem.collect(system).known_space().points(cases)


_RECORDERS: ContextVar[tuple[ScriptRecorder, ...]] = ContextVar("recorders", default=())


def get_recorders() -> tuple[ScriptRecorder, ...]:
    """Return the recorders that are active."""
    return _RECORDERS.get()


@check_types
@contextmanager
def record(path: str | os.PathLike[str]) -> Iterator[ScriptRecorder]:
    """Record what is done with test pools inside the block as a script.

    Every command of a `TestPool` becomes a line, and so does every call of `dm.explore`, `dm.combine` or `dm.optimise` on a
    test system. The script begins with the test system, its model and the seed. If the pool is not empty, its cases are written
    to a Parquet file beside the script. So the script replays to the same test set. Write it to the folder of the pool, because a
    script finds its files in its own folder. A test system that is not built in must be mapped when the
    script is run: ``datamorphic script session.scr --map RedWine=my_tests:RedWine``.

    Parameters
    ----------
    path : str or path
        The script to write. An existing file is replaced.

    Examples
    --------
    >>> import datamorphic as dm, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with dm.record(folder / "session.scr"):
    ...     pool = dm.TestPool("Box 1", seed=7, folder=folder)
    ...     pool.make_seed(["RandomValue50"])
    ...     front = pool.random_target_explore(100)
    >>> print((folder / "session.scr").read_text(), end="")
    //Recorded by datamorphic
    loadTestSpec(Box 1)
    setSeed(7)
    makeSeed([RandomValue50])
    randomTargetExplore(100)
    """
    recorder = ScriptRecorder(path)
    token = _RECORDERS.set((*_RECORDERS.get(), recorder))
    try:
        with listen(recorder.add_function_call):
            yield recorder
        recorder.begin()  # a script without commands, if nothing was done
    finally:
        _RECORDERS.reset(token)

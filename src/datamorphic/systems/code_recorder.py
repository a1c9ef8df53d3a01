"""`CodeRecorder`: a system that says which lines and branches of its source every case executes, measured by coverage.py."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import pluralise, suggest_name
from .._typing import CODE, CodeLike
from .._validation import import_optional
from ..errors import ArgumentError, SystemFailed, UsageError
from ..space.outputs import Outputs
from ..space.points import Batch
from .base import Executor, ScoreRequest, Wrapper
from .coerce import join_row_answers

if TYPE_CHECKING:
    from coverage import Coverage
    from coverage.plugin import FileReporter

CODE_METRICS = ("line_coverage", "branch_coverage")
#: the marks of functions that test a system and do not belong to it
TEST_MARKS = (
    *("seed_maker", "datamorphism", "metamorphism", "case_metric", "case_filter"),
    *("set_metric", "set_filter", "analyser"),
)
_LOCK = threading.Lock()  # coverage.py traces one system at a time


class CodeRecorder(Wrapper):
    """A system whose scores are 1.0 for the lines and branches of its code that a case executes, and 0.0 for the others.

    The lines are the statements inside functions, because all others are executed when the module is imported. A branch is a
    way from a line that has several. Every case is executed alone, in the process of the system, and counts what it executed
    also if it failed.

    Attributes
    ----------
    columns : dict
        The columns of the scores of each metric: ``line_coverage`` and ``branch_coverage``.
    """

    def __init__(self, inner: Executor, code: CodeLike | None = None) -> None:
        super().__init__(inner)
        import_optional("coverage", "coverage", "The coverage of code")
        self.score_kind = "decision"
        self._files: dict[str, set[int]] = {}
        for path, function in _find_parts(_find_default(inner) if code is None else code):
            self._files.setdefault(str(path), set()).update(_find_function_lines(path, function))
        lines: list[tuple[str, int]] = []
        branches: list[tuple[str, int, int]] = []
        reporters = _make_reporters(_make_coverage(list(self._files)))
        for function_lines, reporter in zip(self._files.values(), reporters, strict=True):
            counted_lines = reporter.lines() & function_lines
            lines += [(reporter.filename, line) for line in sorted(counted_lines)]
            exits = reporter.exit_counts()
            branching_lines = {line for line in counted_lines - reporter.no_branch_lines() if exits.get(line, 0) > 1}
            branches += [(reporter.filename, *arc) for arc in sorted(reporter.arcs()) if arc[0] in branching_lines]
        if not lines:
            raise ArgumentError(
                f"{', '.join(self._files)} has no function whose lines could be covered. Name the code of the system: "
                f"code=..., {CODE}."
            )
        self._places = {item: place for place, item in enumerate([*lines, *branches])}
        self.columns = {"line_coverage": slice(0, len(lines)), "branch_coverage": slice(len(lines), len(self._places))}

    def count_items(self, metric: str) -> int:
        """Return the number of lines or branches that could be covered; raise `ArgumentError` if there is none."""
        columns = self.columns[metric]
        if columns.stop == columns.start:
            raise ArgumentError(
                f"The code of {self.name} has no branches. Use line_coverage, or name other code: code=..., {CODE}."
            )
        return columns.stop - columns.start

    def describe_code(self) -> str:
        """Return the file whose code is recorded, or the number of files."""
        return Path(next(iter(self._files))).name if len(self._files) == 1 else pluralise(len(self._files), "file")

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer the cases one by one, and record what each executes if scores are requested."""
        if not scores:
            return self.inner.answer(batch, False)
        with _LOCK:
            coverage = _make_coverage(list(self._files))
            answers = []
            coverage.start()
            try:
                for row in range(len(batch)):
                    coverage.switch_context(f"case {row}")
                    answers += self.inner.answers([batch.take(slice(row, row + 1))], False)
            finally:
                coverage.stop()
            record = self._read_record(coverage, len(batch))
        for answer in answers:
            if isinstance(answer, UsageError | SystemFailed):
                raise answer
        outputs = Outputs.concat(
            [answer if isinstance(answer, Outputs) else join_row_answers([answer]) for answer in answers]
        )
        return Outputs(outputs.values, outputs.status, record, outputs.messages)

    def _read_record(self, coverage: Coverage, count: int) -> npt.NDArray[np.float64]:
        data, record = coverage.get_data(), np.zeros((count, len(self._places)))
        for reporter in _make_reporters(coverage):
            file = reporter.filename
            for row in range(count):
                data.set_query_context(f"case {row}")
                arcs = data.arcs(file) or []
                lines = reporter.translate_lines({line for arc in arcs for line in arc if line > 0})
                executed = [(file, line) for line in lines] + [(file, *arc) for arc in reporter.translate_arcs(arcs)]
                record[row, [self._places[item] for item in executed if item in self._places]] = 1.0
        return record


def _make_coverage(files: list[str]) -> Coverage:
    """Return a measurement of some files that reads no configuration and writes nothing."""
    from coverage import Coverage

    coverage = Coverage(data_file=None, branch=True, include=files, config_file=False)
    coverage.set_option("run:core", "ctrace")  # the core of Python 3.14, sysmon, cannot tell cases apart
    coverage.set_option("run:disable_warnings", ["no-data-collected", "no-ctracer"])
    return coverage


def _make_reporters(coverage: Coverage) -> Iterator[FileReporter]:
    """Return what knows the lines and branches of each file."""
    from coverage.python import PythonFileReporter

    files: Any = coverage.get_option("run:include")
    return (PythonFileReporter(file, coverage) for file in files)


# -- finding the code --------------------------------------------------------------------------------------------------


def _find_default(system: Executor) -> Any:
    """Return the file of the function or the class of the model that a system queries."""
    while isinstance(system, Wrapper):
        system = system.inner
    if system.code is not None:
        return system.code
    queried = getattr(system, "function", getattr(system, "model", None))
    try:
        return _find_source(queried)
    except TypeError:
        raise ArgumentError(
            f"The source of {system.name} was not found, so its lines cannot be counted. Name it: code=..., {CODE}."
        ) from None


def _find_source(item: Any) -> Path:
    """Return the file that defines a function, a class, a module or the class of an object; raise `TypeError` if there is none."""
    while isinstance(item, functools.partial):
        item = item.func
    item = inspect.unwrap(item) if callable(item) else item
    is_defined = inspect.isroutine(item) or inspect.isclass(item) or inspect.ismodule(item)
    file = inspect.getsourcefile(item if is_defined else type(item))
    if file is None or not Path(file).is_file():
        raise TypeError(f"{item!r} has no source file")
    return Path(file).resolve()


def _find_parts(code: Any) -> list[tuple[Path, str]]:
    """Return files, each with the qualified name of the function or class to measure; an empty name is all of them."""
    if isinstance(code, list | tuple):
        if not code:
            raise ArgumentError(f"code must be {CODE}. Got an empty list.")
        return [part for item in code for part in _find_parts(item)]
    if not isinstance(code, str | Path):
        try:
            name = "" if isinstance(code, ModuleType) else getattr(inspect.unwrap(code), "__qualname__", "")
            return [(_find_source(code), name)]
        except TypeError:
            raise ArgumentError(f"code must be {CODE}. Got {code!r}, whose source was not found.") from None
    head, _, function = str(code).rpartition(":")
    if not head or not function.replace(".", "").isidentifier():
        head, function = str(code), ""
    path = Path(head)
    if path.suffix != ".py" and not path.is_dir():
        path = _find_module(head)
    elif not path.exists():
        raise ArgumentError(f"code names the file {head!r}, which does not exist. Give {CODE}.")
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [(file.resolve(), function) for file in files]


def _find_module(name: str) -> Path:
    """Return the file of a module, or the folder of a package."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ArgumentError(f"code names the module {name!r}, which was not found. Give {CODE}.")
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise ArgumentError(f"code names the module {name!r}, which is not written in Python. Give {CODE}.")
    return Path(spec.origin)


def _find_function_lines(path: Path, name: str) -> set[int]:
    """Return the lines inside the functions of a file, or of the function or class of a qualified name."""
    lines: set[int] = set()
    names: list[str] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                visit(child, prefix)
                continue
            names.append(prefix + child.name)
            if isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")
            elif not any(map(_is_test_mark, child.decorator_list)):
                if f"{prefix}{child.name}.".startswith(f"{name}." if name else ""):
                    lines.update(range(child.body[0].lineno, (child.end_lineno or 0) + 1))
                visit(child, f"{prefix}{child.name}.<locals>.")

    visit(ast.parse(path.read_bytes(), str(path)), "")
    if name and name not in names:
        raise ArgumentError(f"{path.name} has no function or class {name!r}. {suggest_name(name, names)}")
    return lines


def _is_test_mark(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (getattr(target, "attr", None) or getattr(target, "id", None)) in TEST_MARKS

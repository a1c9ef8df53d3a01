"""`TestPool`: a test system and the cases one works with; its methods are the commands of scripts."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from .._text import format_short, pluralize
from .._typing import EngineLike
from .._validation import validate_integer
from ..errors import DataError, Interrupted, TestSystemError, UsageError
from ..exploration.front import Front
from ..exploration.options import DEFAULT_HALVINGS, ExploreOptions
from ..exploration.runner import run_exploration
from ..morphisms.cases import Correctness, TestSet, Verdict
from ..morphisms.stock import derive, label_balance, mean_nearest_distance, std_nearest_distance, thin_out, too_close
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..morphisms.system import TestSystem
from ..runs.driver import CallCounter, drive
from ..runs.engines import make_engine, needs_processes
from ..runs.flow import ask
from ..space.outputs import Outputs, Status
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from . import names
from .folder import ScriptFolder
from .formatter import format_call
from .grammar import Call
from .names import ScriptName
from .recorder import HEADER, build_call, get_recorders
from .specs import ScriptSystem, SpecMap, to_script_system
from .statistics_file import PoolStatistics, compute_pool_statistics, format_heading, format_statistics

if TYPE_CHECKING:
    from ..runs.session import Session

DEFAULT_STATISTICS_FILE = "ExpDataFile.csv"
DEFAULT_WALK_DISTANCE = 20
SPARSE_DISTANCE = 0.05  # of the provided set filter `sparse`, as published
TOO_CLOSE_DISTANCE = 0.02  # of the provided case filter `TooClose`, as published
#: commands that are not recorded: they steer the recording itself
UNRECORDED_COMMANDS = ("startRecording", "stopRecording", "saveTestScript", "setTestScriptPath")

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _command(
    name: str,
) -> Callable[
    [Callable[Concatenate[TestPool, Parameters], Result]], Callable[Concatenate[TestPool, Parameters], Result]
]:
    """Record each call of a method as the command of this name."""

    def decorate(
        method: Callable[Concatenate[TestPool, Parameters], Result],
    ) -> Callable[Concatenate[TestPool, Parameters], Result]:
        @wraps(method)
        def run(pool: TestPool, /, *values: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            recorders = get_recorders() if name not in UNRECORDED_COMMANDS else ()
            for recorder in recorders:
                recorder.begin_command(pool)
            result = method(pool, *values, **keywords)
            call = build_call(name, [*values, *keywords.values()])
            if name not in UNRECORDED_COMMANDS:
                pool.history.append(call)
            for recorder in recorders:
                recorder.add(call)
            return result

        return run

    return decorate


class TestPool:
    """The test cases one works with, the test system that makes and judges them, and what was spent on them.

    Each method is a command of the script language; scripts call these methods, and `dm.record` writes them as a script.
    The commands that draw random numbers are counted: number k uses
    ``numpy.random.SeedSequence(seed, spawn_key=(k,))``, so that the same commands with the same seed give the same cases.

    Parameters
    ----------
    system : test system, its class or module, or str
        What is tested: a class with marked functions, a `TestSystem`, or a built-in name such as ``"Box 1"``.
    seed : int
        The random seed.
    folder : path, optional
        The folder that commands read from and write to; the current folder by default. Nothing outside is touched.
    maps : dict, optional
        Test systems by the names that `load_test_spec` may be called with.
    engine, timeout, progress
        As for `dm.explore`.

    Attributes
    ----------
    tests : TestSet
        The cases.
    runs : int
        The test cases executed since the pool was emptied.
    fronts : list of Front
        The results of the explorations.
    statistics : list of PoolStatistics
        What `saveStatistics` saved.
    measures, judgements : list of dict
        What metrics measured, and how metamorphisms judged.
    messages, files : list
        The messages shown, and the files written.

    Examples
    --------
    >>> import datamorphic as dm
    >>> pool = dm.TestPool("Box 1", seed=1)
    >>> pool.make_seed(["RandomValue200"])
    >>> front = pool.random_target_explore(100, "mid")
    >>> len(pool.tests) == 200 + 2 * len(front), pool.runs == front.runs
    (True, True)
    """

    __test__ = False  # pytest would take the class for a test because of its name

    def __init__(
        self,
        system: object = None,
        *,
        seed: int = 0,
        folder: str | os.PathLike[str] | None = None,
        maps: Mapping[str, object] | None = None,
        engine: EngineLike = None,
        timeout: float | None = None,
        progress: bool | None = None,
        specs: SpecMap | None = None,
    ) -> None:
        self.seed = validate_integer("seed", "TestPool", seed)
        self.random_commands = 0
        self.folder = ScriptFolder(folder if folder is not None else os.curdir)
        self.specs = specs if specs is not None else SpecMap(maps)
        self.engine, self.timeout, self.progress = make_engine(engine), timeout, progress
        self.show: Callable[[str], None] = print  # shows a message
        self.session: Session | None = None  # records the answers of the system, if the run is kept
        self.runs, self.calls = 0, 0
        self.fronts: list[Front] = []
        self.statistics: list[PoolStatistics] = []
        self.measures: list[dict[str, Any]] = []
        self.judgements: list[dict[str, Any]] = []
        self.messages: list[str] = []
        self.files: list[Path] = []
        self.history: list[Call] = []
        self.script_folder = self._file_folder = ""
        self._statistics_file = DEFAULT_STATISTICS_FILE
        self._recorded_from = 0
        self._recorded_until: int | None = None
        self._tests: TestSet | None = None
        self._source: ScriptSystem | None = None
        self._executor: Executor | None = None
        if system is not None:
            found = self.specs.find(system) if isinstance(system, str) else to_script_system(system)
            self.specs.add(found)
            self._use(found)

    def __repr__(self) -> str:
        name = "no test system" if self._source is None else self._source.spec
        return (
            f"TestPool({name}: {pluralize(0 if self._tests is None else len(self._tests), 'case')}, {self.runs:,} runs)"
        )

    # -- state ---------------------------------------------------------------------------------------------------------

    @property
    def source(self) -> ScriptSystem:
        """The test system as scripts use it."""
        if self._source is None:
            raise UsageError("No test system is loaded. Name one: TestPool('Box 1'), or load_test_spec('Box 1').")
        return self._source

    @property
    def system(self) -> TestSystem:
        """The test system."""
        return self.source.system

    @property
    def space(self) -> Space:
        """The space of the cases."""
        return self._tests.space if self._tests is not None and len(self._tests) else self.system.known_space()

    @property
    def tests(self) -> TestSet:
        """The test cases."""
        if self._tests is None:
            space = self.system.known_space()
            return TestSet.of_seeds(Points(space, np.empty((0, len(space)), order="F")))
        return self._tests

    def describe_start(self) -> tuple[str, int]:
        """Return the name of the test system, and how many random commands came before."""
        return ("" if self._source is None else self._source.spec), self.random_commands

    def make_seed_sequence(self, number: int) -> np.random.SeedSequence:
        """Return the source of the random numbers of a random command, counted from 0."""
        return np.random.SeedSequence(self.seed, spawn_key=(number,))

    def _next_generator(self) -> np.random.Generator:
        self.random_commands += 1
        return np.random.default_rng(self.make_seed_sequence(self.random_commands - 1))

    def _use(self, source: ScriptSystem) -> None:
        self._source, self._executor = source, source.system.sut
        self._empty()
        if source.model is not None:
            self._start_model(source.model)

    def _empty(self) -> None:
        self._tests, self.runs = None, 0

    def _add(self, tests: TestSet) -> None:
        self._tests = tests if self._tests is None or not len(self._tests) else TestSet.concat([self._tests, tests])

    def _say(self, text: str) -> None:
        self.messages.append(text)
        self.show(text)

    # -- test systems and test sets ------------------------------------------------------------------------------------

    @_command("loadTestSpec")
    def load_test_spec(self, spec: str) -> None:
        """Go on with another test system and an empty pool."""
        self._use(self.specs.find(spec))

    @_command("clean")
    def clean(self) -> None:
        """Empty the pool and count runs from zero."""
        self._empty()

    @_command("loadTestSet")
    def load_test_set(self, file: str) -> None:
        """Add the test cases of a file: ``.tcs`` of Morphy, ``.csv`` or ``.parquet``."""
        self._add(TestSet.load(self.folder.find_file(file, self._file_folder), space=self.space))

    @_command("saveTestResult")
    def save_test_result(self, file: str) -> None:
        """Write the test cases to a file: ``.tcs`` of Morphy, ``.csv`` or ``.parquet``."""
        path = self.folder.find_target(file, self._file_folder)
        self._make_parent(path)
        self.tests.save(path)
        self._note_file(path)

    @_command("makeSeed")
    def make_seed(self, makers: Sequence[str]) -> None:
        """Add the cases of seed makers.

        ``RandomValue<N>`` draws N cases from the first seed maker with a parameter ``n``, or else from the space.
        ``Select<N>RandomTestCases`` keeps N cases of the pool, and ``ResetTestSuite`` empties it.
        """
        rng = self._next_generator()
        for maker in self.source.names.expand("seed_maker", _to_list(makers)):
            if maker.name == names.RESET and maker.provided:
                self._empty()
            elif maker.provided and maker.name.startswith("Select"):
                tests = self.tests
                if maker.number < len(tests):
                    self._tests = tests.take(rng.permutation(len(tests))[: maker.number])
            else:
                self._add(self._make_seeds(maker, rng))

    def _make_seeds(self, maker: ScriptName, rng: np.random.Generator) -> TestSet:
        if not maker.provided:
            tests = self.system.make_seeds(maker.name, seed=rng)
        elif (counting_maker := _find_counting_maker(self.system)) is not None:
            tests = self.system.make_seeds(counting_maker, n=maker.number, seed=rng).take(slice(0, maker.number))
        else:
            tests = TestSet.of_seeds(self.space.sample(maker.number, seed=rng, points=True), maker.name)
        if self._tests is not None and len(self._tests) and tests.space is not self._tests.space:
            tests = replace(tests, inputs=self._tests.space.points(tests.input))
        return tests

    @_command("makeMutant")
    def make_mutant(self, datamorphisms: Sequence[str]) -> None:
        """Add what datamorphisms make from every case that is in the pool now.

        The other origins of a datamorphism of several cases are drawn from the pool.
        """
        rng, tests = self._next_generator(), self._require_tests()
        for entry in self.source.names.expand("datamorphism", _to_list(datamorphisms)):
            morphism = self._moving_system().find("datamorphism", entry.name)
            others = [tests.take(rng.integers(len(tests), size=len(tests))) for _ in range(morphism.arity - 1)]
            self._add(self._moving_system().mutate(entry.name, tests, *others, seed=rng))

    def _moving_system(self) -> TestSystem:
        """Return the test system, or that of its space if it declares no datamorphism."""
        return self.system if self.system.datamorphisms else derive(self.space)

    def _require_tests(self) -> TestSet:
        if self._tests is None or not len(self._tests):
            raise DataError(
                "The pool has no test cases. Make some first: makeSeed([RandomValue200]), make_seed in Python."
            )
        return self._tests

    # -- measuring, filtering, executing, judging ----------------------------------------------------------------------

    @_command("measureTestSet")
    def measure_test_set(self, metrics: Sequence[str]) -> dict[str, float]:
        """Measure the pool, and return the value of each metric."""
        values: dict[str, float] = {}
        for metric in self.source.names.expand("set_metric", _to_list(metrics)):
            if not metric.provided:
                value = self.system.find("set_metric", metric.name).evaluate_set(self.tests)
            elif metric.name == "LabelBalance":
                value = label_balance(self.tests)
            else:
                measure = mean_nearest_distance if metric.name == "AvgDistance" else std_nearest_distance
                value = measure(self.tests, scaled=False)
            values[metric.name] = float(value)
            self.measures.append({"metric": metric.name, "value": float(value), "cases": len(self.tests)})
            self._say(f"{metric.name}: {format_short(float(value))}")
        return values

    @_command("testSetFilter")
    def test_set_filter(self, filters: Sequence[str]) -> None:
        """Replace the pool by what set filters return, one after the other."""
        for entry in self.source.names.expand("set_filter", _to_list(filters)):
            tests = self._require_tests()
            if not entry.provided:
                self._tests = self.system.find("set_filter", entry.name).evaluate_set(tests)
            elif entry.name == "sparse":
                self._tests = thin_out(tests, SPARSE_DISTANCE, scaled=False)
            else:
                self._tests = tests.drop_duplicates()

    @_command("testCaseFilter")
    def test_case_filter(self, filters: Sequence[str]) -> None:
        """Keep the cases that pass every case filter; ``TooClose`` drops those with another case nearby."""
        for entry in self.source.names.expand("case_filter", _to_list(filters)):
            tests = self._require_tests()
            if entry.provided:
                keep = ~too_close(tests, TOO_CLOSE_DISTANCE, scaled=False)
            else:
                keep = self.system.find("case_filter", entry.name).evaluate_cases(tests)
            self._tests = tests.filter(keep)

    @_command("executeTestCases")
    def execute_test_cases(self) -> None:
        """Query the system for the cases without an output."""
        tests, executor, tally = self._require_tests(), self._require_executor(), CallCounter()
        is_missing = np.ones(len(tests), dtype=bool) if tests.outputs is None else ~tests.outputs.ok
        rows = np.flatnonzero(is_missing)
        if not rows.size:
            return
        outputs = drive(
            ask(tests.inputs.take(rows)),
            executor,
            tally=tally,
            progress=self.progress,
            engine=self.engine,
            timeout=self.timeout,
            journal=None if self.session is None else self.session.journal,
        )
        self._count(tally, len(rows))
        if tests.outputs is not None and len(rows) < len(tests):
            places = np.arange(len(tests))
            places[rows] = len(tests) + np.arange(len(rows))
            outputs = Outputs.concat([tests.outputs, outputs]).take(places)
        correctness = np.where(is_missing, Correctness.NOT_JUDGED, tests.correctness)
        self._tests = tests.with_outputs(outputs).with_correctness(correctness)
        failed = int((~outputs.ok).sum())
        if failed:
            self._say(f"{pluralize(failed, 'case')} of {len(tests):,} got no answer.")

    @_command("checkMetamorphisms")
    def check_metamorphisms(self, metamorphisms: Sequence[str] | None = None) -> dict[str, dict[str, int]]:
        """Judge the executed cases, and return how many hold, are violated, do not apply or are undefined, by metamorphism."""
        tests = self._require_tests()
        wanted = ["ALL"] if metamorphisms is None else _to_list(metamorphisms)
        entries = self.source.names.expand("metamorphism", wanted)
        if not entries:
            raise TestSystemError(
                f"{self.system.name} has no metamorphism to check. Mark a function with @metamorphism."
            )
        verdicts = self.system.check(tests)
        table: dict[str, dict[str, int]] = {}
        violated, held = np.zeros(len(tests), dtype=bool), np.zeros(len(tests), dtype=bool)
        undefined = violated.copy()
        for entry in entries:
            found = verdicts[entry.name]
            counts = {verdict.value: int((found == verdict).sum()) for verdict in Verdict}
            table[entry.name] = counts
            violated |= found == Verdict.VIOLATED
            held |= found == Verdict.HOLDS
            undefined |= found == Verdict.UNDEFINED
            examples = tests.ids[found == Verdict.VIOLATED][:5].tolist()
            message = self.system.find("metamorphism", entry.name).mark.message
            self.judgements.append({"metamorphism": entry.name, **counts, "message": message, "examples": examples})
            applied = counts["holds"] + counts["violated"]
            self._say(f"{entry.name}: {counts['violated']:,} violations in {pluralize(applied, 'case')}")
        correctness = np.where(held & ~undefined, Correctness.CORRECT, Correctness.NOT_JUDGED)
        self._tests = tests.with_correctness(np.where(violated, Correctness.INCORRECT, correctness))
        return table

    # -- exploring -----------------------------------------------------------------------------------------------------

    @_command("randomTargetExplore")
    def random_target_explore(self, walks: int, midpoint: str | None = None) -> Front:
        """Search between two cases of the pool, drawn for each walk; add both cases of every border pair."""
        return self._explore("random_target", walks, None, _to_list(midpoint), DEFAULT_WALK_DISTANCE)

    @_command("directedWalkExplore")
    def directed_walk_explore(
        self, moves: Sequence[str], walk_distance: int | None = None, walks: int | None = None
    ) -> Front:
        """Repeat each move from every case of the pool until the answer changes; add both cases of every border pair.

        `moves` names the moves, and the midpoint. Without `walks`, every case is a start for every move.
        """
        distance = DEFAULT_WALK_DISTANCE if walk_distance is None else walk_distance
        return self._explore("directed_walk", walks, moves, moves, distance)

    @_command("randomWalkExplore")
    def random_walk_explore(self, moves: Sequence[str], walk_distance: int, walks: int) -> Front:
        """Draw a move at each step until the answer changes; add both cases of every border pair."""
        return self._explore("random_walk", walks, moves, moves, walk_distance)

    def _explore(
        self,
        strategy: str,
        walks: int | None,
        moves: Sequence[str] | None,
        midpoints: Sequence[str],
        walk_distance: int,
    ) -> Front:
        tests, executor, rng = self._require_tests(), self._require_executor(), self._next_generator()
        book = self.source.names
        chosen = [] if moves is None else book.expand("datamorphism", _to_list(moves))
        walk_moves = None if moves is None else [entry.name for entry in chosen if not book.is_midpoint(entry)]
        midpoint = [entry.name for entry in book.expand("datamorphism", midpoints) if book.is_midpoint(entry)]
        if walk_moves is not None and walks is None:
            walks = len(tests) * max(1, len(walk_moves))
        options = ExploreOptions(
            strategy=strategy,
            walks=1 if walks is None else walks,
            steps=DEFAULT_HALVINGS,
            walk_distance=walk_distance,
            moves=walk_moves,
            refine="bisect",
            timeout=self.timeout,
        )
        system = _choose_midpoint(self._moving_system(), midpoint)
        subject = SubjectUnderTest(name=self.source.spec, sut=executor, system=system, seeds=tests.inputs)
        front = run_exploration(
            subject, rng, options, seed=self.seed, engine=self.engine, progress=self.progress, session=self.session
        )
        self._count(front.tally, front.runs)
        self.fronts.append(front)
        self._add_pairs(tests, front, midpoint[0] if midpoint else "midpoint")
        if front.tally.interrupted:
            raise Interrupted("interrupted")
        return front

    def _add_pairs(self, tests: TestSet, front: Front, morphism: str) -> None:
        """Add both cases of every pair, with the cases that their walk started from as origins."""
        if not len(front):
            return
        pairs = np.arange(2 * len(front)).reshape(2, -1).T.ravel()  # a, b of the first pair, then of the second
        starts = front.walk_starts
        assert starts is not None
        origins = np.where(starts >= 0, tests.ids[starts], -1)[front.walk]
        values = np.concatenate([front.a_output.astype(object), front.b_output.astype(object)])[pairs]
        mutants = tests.mutants(
            Points.concat([front.a, front.b]).take(pairs), morphism, list(np.repeat(origins, 2, axis=0).T)
        )
        outputs = Outputs(values, np.full(len(values), Status.OK, dtype=np.int8))
        self._tests = TestSet.concat([tests, mutants.with_outputs(outputs)])

    def _require_executor(self) -> Executor:
        if self._executor is None:
            first = next(iter(self.source.models), None)
            remedy = "Mark the function that queries it with @executor."
            if first is not None:
                remedy = f"Start a model first: analyse([start_{first}_Invoker])."
            raise UsageError(f"{self.source.spec} has no system under test here. {remedy}")
        return self._executor

    def _count(self, tally: CallCounter, runs: int) -> None:
        self.runs += runs
        self.calls += tally.calls

    # -- analysing -----------------------------------------------------------------------------------------------------

    @_command("analyse")
    def analyse(self, analysers: Sequence[str]) -> dict[str, Any]:
        """Run analysers, and return what the declared ones return, by name."""
        results: dict[str, Any] = {}
        for entry in self.source.names.expand("analyser", _to_list(analysers)):
            if entry.provided:
                self._analyse_provided(entry.name)
                continue
            result = self.system.find("analyser", entry.name).evaluate_set(self.tests)
            results[entry.name] = result
            if result is not None:
                self._say(f"{entry.name}: {result}")
        return results

    def _analyse_provided(self, name: str) -> None:
        if name in self.source.models:
            self._start_model(name)
        elif name == names.STOP:
            self._executor = self.system.sut
        elif name == names.STATISTICS:
            self.statistics.append(compute_pool_statistics(self.tests, self.runs))
            self._append(self._statistics_file, format_statistics(self.statistics[-1]))
        elif name == names.HEAD:
            self._append(self._statistics_file, format_heading(self.source.spec))
        elif name == names.NEW_LINE:
            self._append(self._statistics_file, "Average")
        elif name == names.VIEW:
            statistics = compute_pool_statistics(self.tests, self.runs).to_dict()
            self._say(
                ", ".join(f"{key} {format_short(value)}" for key, value in statistics.items() if value is not None)
            )

    def _start_model(self, name: str) -> None:
        """Query this model from now on."""
        rows = self.tests.inputs
        if not len(rows):
            maker = next(iter(self.system.seed_makers), None)
            rows = (
                self.space.sample(100, seed=0, points=True)
                if maker is None
                else self.system.make_seeds(maker, seed=0).inputs
            )
        isolated = needs_processes(self.engine)
        subject = build_subject(
            self.source.load_model(name),
            rows,
            space=self.space,
            rng=np.random.default_rng(0),
            owner="TestPool",
            timeout=self.timeout,
            isolated=isolated,
            name=name,
        )
        self._executor = subject.sut

    # -- messages and files --------------------------------------------------------------------------------------------

    @_command("displayMessage")
    def display_message(self, text: str) -> None:
        """Show a text."""
        self._say(text)

    @_command("saveMessage")
    def save_message(self, file: str, text: str) -> None:
        """Append a line to a file; later statistics are appended to the same file."""
        self._append(file, text, self._file_folder)
        self._statistics_file = self.folder.to_text(self.folder.resolve(file, self._file_folder))

    @_command("setFilePath")
    def set_file_path(self, folder: str) -> None:
        """Set the folder of the files that are read and written, relative to the folder of the pool."""
        self._file_folder = self.folder.find_folder(folder)

    @_command("setTestScriptPath")
    def set_test_script_path(self, folder: str) -> None:
        """Set the folder of the scripts that are played, relative to the folder of the pool."""
        self.script_folder = self.folder.find_folder(folder)

    def _append(self, file: str, line: str, base: str = "") -> None:
        path = self.folder.find_target(file, base)
        self._make_parent(path)
        try:
            with path.open("a", encoding="utf-8", newline="\n") as target:
                target.write(f"{line}\n")
        except OSError as error:
            raise UsageError(f"{file!r} cannot be written: {error.strerror}.") from None
        self._note_file(path)

    def _make_parent(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"The folder {str(path.parent)!r} cannot be made: {error.strerror}.") from None

    def _note_file(self, path: Path) -> None:
        if path not in self.files:
            self.files.append(path)

    # -- random numbers and recording ----------------------------------------------------------------------------------

    @_command("setSeed")
    def set_seed(self, seed: int, number: int | None = None) -> None:
        """Set the random seed, and how many random commands came before."""
        self.seed = validate_integer("seed", "set_seed", seed)
        self.random_commands = 0 if number is None else validate_integer("number", "set_seed", number)

    @_command("startRecording")
    def start_recording(self) -> None:
        """Record the commands from here on."""
        self._recorded_from, self._recorded_until = len(self.history), None

    @_command("stopRecording")
    def stop_recording(self, file: str | None = None) -> None:
        """Stop recording, and write what was recorded if a file is named."""
        self._recorded_until = len(self.history)
        if file is not None:
            self._write_script(file)

    @_command("saveTestScript")
    def save_test_script(self, file: str) -> None:
        """Write the recorded commands to a file: all of them if recording was not started."""
        self._write_script(file)

    def _write_script(self, file: str) -> None:
        path = self.folder.find_target(file, self._file_folder)
        self._make_parent(path)
        calls = self.history[self._recorded_from : self._recorded_until]
        try:
            path.write_text(
                HEADER + "".join(f"{format_call(call)}\n" for call in calls), encoding="utf-8", newline="\n"
            )
        except OSError as error:
            raise UsageError(f"{file!r} cannot be written: {error.strerror}.") from None
        self._note_file(path)


def _to_list(value: Sequence[str] | str | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _find_counting_maker(system: TestSystem) -> str | None:
    """Return the first seed maker that can be asked for a number of cases."""
    for name, maker in system.seed_makers.items():
        if "n" in inspect.signature(maker.function).parameters:
            return name
    return None


def _choose_midpoint(system: TestSystem, chosen: Sequence[str]) -> TestSystem:
    """Return a test system whose midpoint is the chosen datamorphism."""
    if not chosen or system.midpoint is None or system.midpoint.name == chosen[0]:
        return system
    kept = [m for m in system.datamorphisms.values() if m.arity == 1 or m.name == chosen[0]]
    kept += list(system.case_filters.values())
    return TestSystem(system.name, kept, space=system.known_space(), distance=system.distance, sut=system.sut)

"""`PoolState`: what the commands of a pool share, such as its test system and cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from .._clock import read_clock
from .._files import append_to_file, write_file
from .._text import pluralise
from .._typing import EngineLike
from .._validation import validate_integer, validate_seed
from ..errors import ArgumentError, DataError, Interrupted, UsageError
from ..exploration.front import Front
from ..morphisms.cases import TestSet
from ..morphisms.morphism import ARGUMENT_LIMITS, Morphism
from ..morphisms.stock import derive
from ..morphisms.subject import build_subject
from ..morphisms.system import TestSystem
from ..reporting.document import Section
from ..runs.driver import CallCounter, Driver, FlowDriver
from ..runs.engine_base import Engine
from ..runs.engines import PersistentEngine, make_engine, needs_processes
from ..space.outputs import Outputs, Status
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from .folder import ScriptFolder
from .formatter import format_call
from .grammar import Call
from .names import DEFAULT_STATISTICS_FILE, STOP
from .recorder import HEADER, build_call, get_recorders
from .specs import ScriptSystem, SpecMap

#: what a command that fails must leave as it was
STATE_FIELDS = (
    "seed",
    "random_commands",
    "runs",
    "front",
    "script_folder",
    "file_folder",
    "_statistics_file",
    "_tests",
    "_source",
    "_executor",
    "_model",
)
LIST_FIELDS = ("explorations", "statistics", "measures", "judgements", "times")
#: commands that are not recorded: they steer the recording itself
UNRECORDED_COMMANDS = ("startRecording", "stopRecording", "saveTestScript", "setTestScriptPath")

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Pool = TypeVar("Pool", bound="PoolState")


def command(
    name: str,
) -> Callable[[Callable[Concatenate[Pool, Parameters], Result]], Callable[Concatenate[Pool, Parameters], Result]]:
    """Record each call of a method as the command of this name."""

    def decorate(
        method: Callable[Concatenate[Pool, Parameters], Result],
    ) -> Callable[Concatenate[Pool, Parameters], Result]:
        @wraps(method)
        def run(pool: Pool, /, *values: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            recorders = get_recorders() if name not in UNRECORDED_COMMANDS else ()
            for recorder in recorders:
                recorder.begin_command(pool)
            bound = signature(method).bind(pool, *values, **keywords)
            bound.apply_defaults()
            state = pool._save_state()
            try:
                result = method(pool, *values, **keywords)
            except Interrupted:
                raise  # with what was found so far
            except BaseException:
                pool._restore_state(state)  # a command that is not recorded must not change what later ones do
                raise
            call = build_call(name, bound.args[1:])
            if name not in UNRECORDED_COMMANDS:
                pool.history.append(call)
            pool._recorded_tests = pool._tests
            for recorder in recorders:
                recorder.add(call)
            return result

        return run

    return decorate


class PoolState:
    """The state of a test pool; `TestPool` adds the commands."""

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
        self.seed = validate_seed("seed", "TestPool", seed)
        self.random_commands = 0
        self.folder = ScriptFolder(folder if folder is not None else os.curdir)
        self.specs = specs if specs is not None else SpecMap(maps)
        self.engine: Engine = make_engine(engine)
        self.timeout, self.progress = timeout, progress
        self._is_isolated = needs_processes(self.engine)
        self.show: Callable[[str], None] = print  # shows a message
        self.drive: FlowDriver = Driver(
            {"engine": self.engine, "timeout": timeout, "progress": progress}
        ).drive  # queries the system
        self.runs, self.calls = 0, 0
        self.front: Front | None = None
        self.explorations: list[dict[str, Any]] = []
        self.statistics: list[dict[str, float | None]] = []
        self.measures: list[dict[str, Any]] = []
        self.judgements: list[dict[str, Any]] = []
        self.messages: list[str] = []
        self.times: list[dict[str, float]] = []
        self._started_at = read_clock()
        self._plots: dict[Path, tuple[Section, ...]] = {}
        self.files: list[Path] = []
        self.history: list[Call] = []
        self.script_folder = self.file_folder = ""
        self._statistics_file: str | None = None  # relative to the folder; None before a message was saved
        self._recording_start = 0
        self._recording_end: int | None = None
        self._tests: TestSet | None = None
        self._recorded_tests: TestSet | None = None  # the cases after the last command that is in the history
        self._source: ScriptSystem | None = None
        self._executor: Executor | None = None
        self._model: str | None = None  # that was started
        if system is not None:
            source = self.specs.to_system(system)
            self.specs.add(source)
            self._use(source)

    def __repr__(self) -> str:
        cases = pluralise(0 if self._tests is None else len(self._tests), "case")
        return f"TestPool({self.spec or 'no test system'}: {cases}, {pluralise(self.runs, 'run')})"

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

    @property
    def spec(self) -> str:
        """The name of the test system, empty without one."""
        return "" if self._source is None else self._source.spec

    @property
    def has_unrecorded_cases(self) -> bool:
        """Whether a command that was interrupted left cases that the history does not explain."""
        return self._tests is not self._recorded_tests

    def keep_unrecorded_cases(self, file: str) -> None:
        """Write cases that an interrupted command left to a file, and record that it is loaded, so that scripts have them too."""
        path = self.folder.find_target(file, self.file_folder)
        self.tests.to_parquet(path)
        self._note_file(path)
        for name, values in (
            ("clean", []),
            ("loadTestSet", [file]),
            ("setSeed", [self.seed, self.random_commands or None]),
        ):
            self.history.append(build_call(name, values))
        self._recorded_tests = self._tests

    def _save_state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in STATE_FIELDS} | {
            name: len(getattr(self, name)) for name in LIST_FIELDS
        }

    def _restore_state(self, state: Mapping[str, Any]) -> None:
        for name in STATE_FIELDS:
            setattr(self, name, state[name])
        for name in LIST_FIELDS:
            del getattr(self, name)[state[name] :]

    def build_setup_calls(self) -> list[Call]:
        """Return the commands that set up a pool like this one, without cases."""
        calls = []
        if self._source is not None:
            calls.append(build_call("loadTestSpec", [self.spec]))
            if self._model != self._source.model:
                analyser = STOP if self._model is None else f"start_{self._model}_Invoker"
                calls.append(build_call("analyse", [[analyser]]))
        calls.append(build_call("setSeed", [self.seed, self.random_commands or None]))
        return calls

    def make_seed_sequence(self, number: int) -> np.random.SeedSequence:
        """Return the source of the random numbers of a random command, counted from 0."""
        return np.random.SeedSequence(self.seed, spawn_key=(validate_integer("number", "make_seed_sequence", number),))

    def _next_generator(self) -> np.random.Generator:
        self.random_commands += 1
        return np.random.default_rng(self.make_seed_sequence(self.random_commands - 1))

    def _use(self, source: ScriptSystem) -> None:
        self._source = source
        self._set_executor(source.system.sut)
        self._model = None
        self._empty()
        if source.model is not None:
            self._start_model(source.model)

    def _set_executor(self, executor: Executor | None) -> None:
        """Query this system from now on, and end the processes of the previous one."""
        if isinstance(self.engine, PersistentEngine) and executor is not self._executor:
            self.engine.shut_down()
        self._executor = executor

    def _empty(self) -> None:
        self._tests, self.runs = None, 0

    def _add(self, tests: TestSet) -> None:
        self._tests = tests if self._tests is None or not len(self._tests) else TestSet.concat([self._tests, tests])

    def _say(self, text: str) -> None:
        self.messages.append(text)
        self.show(text)

    def _get_moving_system(self, names: Sequence[str] = ()) -> TestSystem:
        """Return the test system, with datamorphisms of its space: all if it declares none, else those that are named."""
        declared = self.system.datamorphisms
        if declared and set(names) <= set(declared):
            return self.system
        wanted = set(names) - set(declared)
        derived = [m for m in derive(self.space).datamorphisms.values() if not declared or m.name in wanted]
        return self._rebuild_system(derived, self.system.sut)

    def _bind_system(self, names: Sequence[str] = ()) -> TestSystem:
        """Return what `_get_moving_system` does, with the model that is started as its system under test."""
        system = self._get_moving_system(names)
        if system.sut is self._executor:
            return system
        added = [m for name, m in system.datamorphisms.items() if name not in self.system.datamorphisms]
        return self._rebuild_system(added, self._executor)

    def _rebuild_system(self, datamorphisms: Sequence[Morphism], sut: Executor | None) -> TestSystem:
        """Return the test system with more datamorphisms and another system under test."""
        system = self.system
        kinds = [kind for kind in ARGUMENT_LIMITS if kind != "executor"]
        morphisms = [m for kind in kinds for m in getattr(system, f"{kind}s").values()]
        return TestSystem(
            system.name, [*morphisms, *datamorphisms], space=self.space, distance=system.distance, sut=sut
        )

    def take_cases(self, tests: TestSet) -> None:
        """Begin with the cases of another pool of the same test system."""
        self._tests = self._recorded_tests = tests

    def _require_tests(self) -> TestSet:
        if self._tests is None or not len(self._tests):
            raise DataError(
                "The pool has no test cases. Make some first: makeSeed([RandomValue200]), make_seed in Python."
            )
        return self._tests

    def _note_front(self, front: Front, tests: TestSet, morphism: str) -> None:
        """Keep the figures of an exploration from some cases, and add its pairs to these."""
        self._count(front.tally, front.runs)
        self.front = front
        self.explorations.append(
            {
                "system": front.subject,
                "strategy": front.strategy,
                "walks": front.walks,
                "pairs": len(front),
                "runs": front.runs,
            }
        )
        self._add_pairs(tests, front, morphism)
        if front.interrupted:
            raise Interrupted("interrupted")

    def _add_pairs(self, tests: TestSet, front: Front, morphism: str) -> None:
        """Add both cases of every pair; their origins are the starts of the walk."""
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
            raise UsageError(self.source.explain_missing_executor())
        return self._executor

    def _count(self, tally: CallCounter, runs: int) -> None:
        self.runs += runs
        self.calls += tally.calls

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
        subject = build_subject(
            self.source.load_model(name),
            rows,
            space=self.space,
            rng=np.random.default_rng(0),
            owner="TestPool",
            timeout=self.timeout,
            isolated=self._is_isolated,
            name=name,
        )
        self._set_executor(subject.sut)
        self._model = name

    def _stop_model(self) -> None:
        """Query the system of the test system again, if it has one."""
        self._set_executor(self.system.sut)
        self._model = None

    # -- files -------------------------------------------------------------------------------------------------------

    def _append_figures(self, line: str) -> None:
        """Append a line to the statistics."""
        if self._statistics_file is None:
            self._append(DEFAULT_STATISTICS_FILE, line, self.file_folder)
        else:
            self._append(self._statistics_file, line)

    def _append(self, file: str, line: str, base: str = "") -> None:
        path = self.folder.find_target(file, base, holds_messages=True)
        append_to_file(path, f"{line}\n")
        self._note_file(path)

    def _note_file(self, path: Path) -> None:
        if path not in self.files:
            self.files.append(path)

    def _write_script(self, file: str) -> None:
        path = self.folder.find_target(file, self.file_folder)
        calls = self.history[self._recording_start : self._recording_end]
        write_file(path, HEADER + "".join(f"{format_call(call)}\n" for call in calls), "script")
        self._note_file(path)


def to_list(value: Sequence[str] | str | None) -> list[str]:
    """Return names as a list: one name, several, or none."""
    if value is None:
        return []
    items = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    if not all(isinstance(item, str) for item in items):
        raise ArgumentError(f"Expected a name or a list of names, as in ['upward', 'mid']. Got {value!r}.")
    return items

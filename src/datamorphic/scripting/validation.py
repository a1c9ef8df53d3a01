"""Check a script, and all scripts it plays, without running anything.

The check follows the commands in order with what matters for later ones: the test system, its model, and the folders for
scripts and files. Nothing is expanded: commands are counted, so that huge repetitions cost no time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._files import to_local_path
from .._text import pluralise, suggest_name
from .._validation import validate_seed
from ..errors import DatamorphicError, ScriptError, UsageError
from ..morphisms.case_files import validate_suffix
from .call_options import CALL_OPTIONS, OPTION_CLASSES, parse_options
from .commands import ParameterKind
from .folder import ScriptFolder, read_script
from .names import (
    DEFAULT_STATISTICS_FILE,
    HEAD,
    NEW_LINE,
    OPTION_MORPHISMS,
    PLOT,
    PLOT_MUTANTS,
    STATISTICS,
    STOP,
    NameBook,
    ScriptName,
)
from .plots import PLOTS_FILE
from .specs import ScriptSystem, SpecMap
from .structure import Repetition, Statement, Step, StepBuilder

MAX_COMMANDS = 100_000  # all repetitions and played scripts included
MAX_PLAY_DEPTH = 16
MAX_SCRIPTS = 1_000
MAX_TOTAL_BYTES = 10_000_000  # of all scripts together
#: commands that query the system under test
QUERYING_COMMANDS = ("randomTargetExplore", "directedWalkExplore", "randomWalkExplore", "executeTestCases", "explore")
NO_SYSTEM_MESSAGE = (
    "No test system is loaded. Name one with --subject or --system (model in Python), or with loadTestSpec(...)."
)


@dataclass(frozen=True)
class _ScriptState:
    """What earlier commands decide for later ones."""

    system: str | None = None  # the name of the test system
    model: str | None = None  # that was started
    script_folder: str = ""
    file_folder: str = ""
    statistics_file: str | None = None  # None before a message was saved
    recorded_from: _ScriptState | None = None  # the state in which the recording was started


@dataclass(kw_only=True)
class ScriptPlan:
    """A script that was checked, with everything it plays, reads and writes."""

    folder: ScriptFolder
    specs: SpecMap
    system: ScriptSystem | None  # that is loaded at the beginning
    path: Path
    needs_system: bool = True  # whether commands without a test system are mistakes
    unchecked_names: int = 0  # names of morphisms that could not be checked without a test system
    steps: list[Step] = field(default_factory=list)
    scripts: dict[Path, list[Step]] = field(default_factory=dict)
    commands: int = 0  # with repetitions
    inputs: set[Path] = field(default_factory=set)  # files that are read and not written before
    outputs: set[Path] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The name of the script, for messages."""
        return self.path.name


def plan_script(
    path: Path, system: ScriptSystem | None = None, specs: SpecMap | None = None, *, needs_system: bool = True
) -> ScriptPlan:
    """Check a script file, and return its plan.

    A wrong script raises `ScriptError` with line and column.
    Unless it `needs_system`, names of morphisms are not checked where no test system is loaded.
    """
    to_local_path(path, "script")
    builder = StepBuilder(path.name)
    read_script(path, path.name, builder.add)
    specs = SpecMap() if specs is None else specs
    if system is not None:
        specs.add(system)
    path = path.resolve()
    folder = ScriptFolder(path.parent)
    plan = ScriptPlan(folder=folder, specs=specs, system=system, path=path, needs_system=needs_system)
    plan.steps = plan.scripts[path] = builder.finish()
    state = _ScriptState(None if system is None else system.spec, None if system is None else system.model)
    _Validator(plan, system).run(path, state)
    return plan


class _Validator:
    """Follows the commands of a script in order, and fills in its plan."""

    def __init__(self, plan: ScriptPlan, system: ScriptSystem | None) -> None:
        self.plan, self.folder = plan, plan.folder
        self.systems: dict[str | None, ScriptSystem] = {} if system is None else {system.spec: system}
        self.stack: list[Path] = []
        self.total_bytes = 0
        #: the scripts that commands before have recorded, with what their commands change
        self.recordings: dict[Path, dict[str, Any]] = {}
        self.checked_scripts: dict[tuple[Path, _ScriptState, int], tuple[int, _ScriptState]] = {}
        self.checked_repetitions: dict[tuple[int, _ScriptState, int], tuple[int, _ScriptState]] = {}

    def run(self, path: Path, state: _ScriptState) -> None:
        self.start = state
        self.plan.commands, _ = self.check_script(path, state)

    def check_script(self, path: Path, state: _ScriptState) -> tuple[int, _ScriptState]:
        key = path, state, len(self.stack)  # a script that is fine on its own may be nested too deep elsewhere
        if key not in self.checked_scripts:
            self.stack.append(path)
            self.checked_scripts[key] = self.check_steps(self.plan.scripts[path], state)
            self.stack.pop()
        return self.checked_scripts[key]

    def check_steps(self, steps: list[Step], state: _ScriptState) -> tuple[int, _ScriptState]:
        """Return the number of commands, and the state after them."""
        total = 0
        for step in steps:
            if isinstance(step, Repetition):
                statement = step.statement
                count, state = self.check_repetition(step, state)
            else:
                statement = step
                try:
                    count, state = self.check_statement(step, state)
                except ScriptError:
                    raise
                except DatamorphicError as error:
                    raise step.fail(str(error)) from error
            total += count
            if total > MAX_COMMANDS:
                raise statement.fail(
                    f"The script has more than {MAX_COMMANDS:,} commands up to here, with all repetitions and played "
                    "scripts. Repeat less often, or split the script."
                )
        return total, state

    def check_repetition(self, repetition: Repetition, state: _ScriptState) -> tuple[int, _ScriptState]:
        """Return the number of commands in all repetitions, and the state after them.

        A repetition may leave another state to the next one: other folders, another test system. From the first one that
        leaves the state as it was, all are the same.
        """
        if not repetition.times:
            self.check_steps(repetition.steps, state)  # mistakes are reported all the same
            return 0, state
        total = 0
        for number in range(repetition.times):
            key = id(repetition), state, len(self.stack)
            if key not in self.checked_repetitions:
                self.checked_repetitions[key] = self.check_steps(repetition.steps, state)
            count, end = self.checked_repetitions[key]
            if end == state:
                return total + count * (repetition.times - number), state
            total, state = total + count, end
            if total > MAX_COMMANDS:
                break
        return total, state

    def check_statement(self, statement: Statement, state: _ScriptState) -> tuple[int, _ScriptState]:
        name = statement.command.name
        if name == "playTestScript":
            return self.check_play(statement, state)
        if name == "startRecording":
            state = replace(state, recorded_from=replace(state, recorded_from=None))
        if name in CALL_OPTIONS:
            self.check_options(statement, state)
        else:
            for number, value in enumerate(statement.values):
                if value is None:
                    continue
                try:
                    state = self.check_argument(statement, number, value, state)
                except ScriptError:
                    raise
                except DatamorphicError as error:
                    raise statement.fail(str(error), number) from error
        if name in QUERYING_COMMANDS:
            self.check_model(statement, state)
        return 1, state

    def check_argument(
        self, statement: Statement, number: int, value: str | float | list[str], state: _ScriptState
    ) -> _ScriptState:
        parameter, text = statement.find_parameter(number), str(value)
        if parameter.morphisms:
            return self.check_names(statement, number, value if isinstance(value, list) else [text], state)
        if parameter.kind is ParameterKind.SPEC:
            system = self.plan.specs.find(text)
            self.systems[system.spec] = system
            return replace(state, system=system.spec, model=system.model)
        if parameter.kind is ParameterKind.FEATURE:
            self.check_feature(text, state)
        if parameter.kind is ParameterKind.FOLDER:
            folder = self.folder.find_folder(text)
            if statement.command.name == "setTestScriptPath":
                return replace(state, script_folder=folder)
            return replace(state, file_folder=folder)
        if statement.command.name == "saveTestResult":
            validate_suffix(text)
        state = self.check_file(parameter.kind, text, state)
        if statement.command.name in ("stopRecording", "saveTestScript"):
            start = state.recorded_from or self.start
            fields = ("system", "model", "file_folder", "statistics_file")
            self.recordings[self.folder.resolve(text, state.file_folder)] = {
                name: getattr(state, name) for name in fields if getattr(state, name) != getattr(start, name)
            }
        return state

    def check_feature(self, name: str, state: _ScriptState) -> None:
        """Raise if a test system with a declared space has no such feature."""
        system = self.systems.get(state.system)
        space = None if system is None else system.system.space
        if space is not None and name not in space.names:
            raise UsageError(f"There is no feature {name[:60]!r}. {suggest_name(name[:100], space.names)}")

    def check_options(self, statement: Statement, state: _ScriptState) -> None:
        """Check the options of a call: one by one, for the place of a mistake, then together."""
        function, book = statement.command.name, self.get_names(state)
        texts = ["" if value is None else str(value) for value in statement.values]
        for number, text in enumerate(texts):
            try:
                for option, value in parse_options(function, [text]).items():
                    if book is not None and option in OPTION_MORPHISMS:
                        book.expand_option(option, value)
            except DatamorphicError as error:
                raise statement.fail(str(error), number) from error
        arguments = parse_options(function, texts)
        arguments.pop("seeds", None)
        validate_seed("seed", function, arguments.pop("seed", 0))
        OPTION_CLASSES[function](**arguments)

    def check_play(self, statement: Statement, state: _ScriptState) -> tuple[int, _ScriptState]:
        text = str(statement.values[0])
        try:
            path = self.folder.resolve(text, state.script_folder)
            if path in self.recordings:  # the player reads it when it is written
                return 0, replace(state, **self.recordings[path])
            path = self.folder.find_file(text, state.script_folder)
        except DatamorphicError as error:
            raise statement.fail(str(error), 0) from None
        if path in self.stack:
            chain = " plays ".join(file.name for file in (*self.stack[self.stack.index(path) :], path))
            raise statement.fail(f"A script cannot play itself: {chain}. Use repeat(n) .. endRepeat().", 0)
        if len(self.stack) == MAX_PLAY_DEPTH:
            raise statement.fail(f"Scripts play scripts more than {MAX_PLAY_DEPTH} deep. Play this one directly.", 0)
        if path not in self.plan.scripts:
            if len(self.plan.scripts) == MAX_SCRIPTS:
                raise statement.fail(f"More than {pluralise(MAX_SCRIPTS, 'script')} are played. Join some of them.", 0)
            self.total_bytes += path.stat().st_size
            if self.total_bytes > MAX_TOTAL_BYTES:
                raise statement.fail(
                    f"The scripts have more than {MAX_TOTAL_BYTES:,} bytes together. Use repeat(n) .. endRepeat().", 0
                )
            builder = StepBuilder(self.folder.to_text(path))
            read_script(path, builder.file, builder.add)
            self.plan.scripts[path] = builder.finish()
        return self.check_script(path, state)

    def get_names(self, state: _ScriptState) -> NameBook | None:
        system = self.systems.get(state.system)
        return None if system is None else system.names

    def check_names(self, statement: Statement, argument: int, names: list[str], state: _ScriptState) -> _ScriptState:
        kind, book = statement.find_parameter(argument).morphisms, self.get_names(state)
        if book is None and not self.plan.needs_system:
            self.plan.unchecked_names += len(names)
            return state
        if book is None:
            raise statement.fail(NO_SYSTEM_MESSAGE)
        entries: list[ScriptName] = []
        for item, name in enumerate(names):
            try:
                entries += book.expand(kind, [name])
            except DatamorphicError as error:
                raise statement.fail(str(error), argument, item) from error
        for entry in entries:
            if kind == "analyser" and entry.provided:
                if entry.name in (STATISTICS, HEAD, NEW_LINE):
                    file, base = state.statistics_file, ""
                    if file is None:
                        file, base = DEFAULT_STATISTICS_FILE, state.file_folder
                    self.add_output(statement, file, base)
                elif entry.name in (PLOT, PLOT_MUTANTS):
                    self.plan.outputs.add(self.folder.find_target(PLOTS_FILE, state.file_folder, is_page=True))
                elif entry.name == STOP:
                    state = replace(state, model=None)
                elif entry.name in book.models:
                    state = replace(state, model=entry.name)
        is_walk = statement.command.name in ("directedWalkExplore", "randomWalkExplore")
        if is_walk and all(map(book.is_midpoint, entries)):
            raise statement.fail(
                f"{statement.command.name} needs at least one move beside the midpoint, such as {book.list_moves()[0]}.",
                0,
            )
        return state

    def check_model(self, statement: Statement, state: _ScriptState) -> None:
        system = self.systems.get(state.system)
        if system is None and not self.plan.needs_system:
            return
        if system is None:
            raise statement.fail(NO_SYSTEM_MESSAGE)
        if system.system.sut is None and state.model is None:
            raise statement.fail(system.explain_missing_executor())

    def check_file(self, kind: ParameterKind, text: str, state: _ScriptState) -> _ScriptState:
        if kind is ParameterKind.INPUT_FILE:
            path = self.folder.resolve(text, state.file_folder)
            if path not in self.plan.outputs:
                self.plan.inputs.add(self.folder.find_file(text, state.file_folder))
        elif kind in (ParameterKind.OUTPUT_FILE, ParameterKind.APPENDED_FILE):
            path = self.add_output(None, text, state.file_folder, kind is ParameterKind.APPENDED_FILE)
            self.recordings.pop(path, None)  # it holds something else now
            if kind is ParameterKind.APPENDED_FILE:
                return replace(state, statistics_file=self.folder.to_text(path))
        return state

    def add_output(self, statement: Statement | None, text: str, base: str, holds_messages: bool = False) -> Path:
        path = self.folder.find_target(text, base, holds_messages=holds_messages)
        if path in self.plan.scripts:
            message = f"{text!r} is a script that is being played. Choose another file."
            raise statement.fail(message) if statement is not None else UsageError(message)
        self.plan.outputs.add(path)
        return path

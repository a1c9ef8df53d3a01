"""The commands of scripts: names, parameters, and the method of `TestPool` that each calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .._text import suggest_name
from ..morphisms.morphism import normalize_name
from ..synthesis.combination.chains import MAX_ORDER
from .call_options import CALL_OPTIONS

ALL = "ALL"  # in a list: every morphism of that kind
MAX_REPETITIONS = 100_000
MAX_COUNT = 10_000_000  # of walks, steps, cases
MAX_CASE_ID = 2**62


class ParameterKind(StrEnum):
    """What an argument means, and so how it is checked."""

    NAMES = "a list of names, as in [upward, mid]"
    NAME = "a name"
    COUNT = "a whole number"
    NUMBER = "a number"
    TEXT = "a text"
    FEATURE = "the name of a feature"
    SPEC = "the name of a test system"
    SCRIPT = "the path of a script"
    INPUT_FILE = "the path of a file to read"
    OUTPUT_FILE = "the path of a file to write"
    APPENDED_FILE = "the path of a file to append to"
    FOLDER = "the path of a folder"
    OPTION = "an option, as in walks=100"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a command."""

    name: str
    kind: ParameterKind
    morphisms: str = ""  # the kind of morphisms that names refer to
    optional: bool = False
    repeated: bool = False  # whether more arguments of this kind may follow
    low: float = 0  # the smallest number
    high: int = MAX_COUNT  # the largest count


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of scripts."""

    name: str
    method: str  # of `TestPool`; empty for commands that steer the player
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    summary: str = ""

    @property
    def signature(self) -> str:
        """The command with its arguments, optional ones in brackets."""
        required = ";".join(parameter.name for parameter in self.parameters if not parameter.optional)
        rest = "".join(f"[;{parameter.name}]" for parameter in self.parameters if parameter.optional)
        return f"{self.name}({required}{rest if required else rest.replace('[;', '[', 1)})"


def _make_names(name: str, morphisms: str, optional: bool = False) -> Parameter:
    return Parameter(name=name, kind=ParameterKind.NAMES, morphisms=morphisms, optional=optional)


def _make_count(name: str, optional: bool = False, low: int = 1, high: int = MAX_COUNT) -> Parameter:
    return Parameter(name=name, kind=ParameterKind.COUNT, optional=optional, low=low, high=high)


def _make_file(kind: ParameterKind, optional: bool = False) -> Parameter:
    return Parameter(name="folder" if kind is ParameterKind.FOLDER else "file", kind=kind, optional=optional)


_MIDPOINT = Parameter(name="midpoint", kind=ParameterKind.NAME, morphisms="midpoint", optional=True)
_MOVES = _make_names("moves and midpoint", "datamorphism")
_TEXT = Parameter(name="text", kind=ParameterKind.TEXT)

_COMBINATION = (
    _make_names("seed makers", "seed_maker"),
    _make_names("datamorphisms", "datamorphism"),
    _make_names("filters", "set_filter", optional=True),
    _make_names("metamorphisms", "metamorphism", optional=True),
    _make_count("budget", optional=True),
)
_OPTIMISATION = (
    _make_names("datamorphisms", "datamorphism"),
    _make_names("metrics", "fitness", optional=True),
    _make_count("steps", optional=True),
    *(
        Parameter(name=name, kind=ParameterKind.NUMBER, optional=True)
        for name in ("mutant ratio", "remove ratio", "change rate")
    ),
)

_COMMANDS = [
    Command(
        name="loadTestSpec",
        method="load_test_spec",
        parameters=(Parameter(name="test system", kind=ParameterKind.SPEC),),
        summary="Load another test system, and empty the pool.",
    ),
    Command(
        name="loadTestSet",
        method="load_test_set",
        parameters=(_make_file(ParameterKind.INPUT_FILE),),
        aliases=("loadTestResults", "loadTestResult"),
        summary="Add the test cases of a file to the pool.",
    ),
    Command(name="clean", method="clean", summary="Empty the pool and count runs from zero."),
    Command(
        name="saveTestResult",
        method="save_test_result",
        parameters=(_make_file(ParameterKind.OUTPUT_FILE),),
        aliases=("saveTestResults", "saveTestSet"),
        summary="Write the pool to a file.",
    ),
    Command(
        name="makeSeed",
        method="make_seed",
        parameters=(_make_names("seed makers", "seed_maker"),),
        summary="Add seed cases.",
    ),
    Command(
        name="makeMutant",
        method="make_mutant",
        parameters=(_make_names("datamorphisms", "datamorphism"),),
        aliases=("makeMutants",),
        summary="Add the cases that datamorphisms make from every case; the second origin of binary ones is drawn.",
    ),
    Command(
        name="measureTestSet",
        method="measure_test_set",
        parameters=(_make_names("metrics", "set_metric"),),
        summary="Measure the pool.",
    ),
    Command(
        name="testSetFilter",
        method="test_set_filter",
        parameters=(_make_names("filters", "set_filter"),),
        aliases=("filterTestSet",),
        summary="Replace the pool by what set filters return.",
    ),
    Command(
        name="testCaseFilter",
        method="test_case_filter",
        parameters=(_make_names("filters", "case_filter"),),
        aliases=("filterTestCases",),
        summary="Keep the cases that pass every case filter.",
    ),
    Command(
        name="editTestCase",
        method="edit_test_case",
        parameters=(
            _make_count("id", low=0, high=MAX_CASE_ID),
            Parameter(name="feature", kind=ParameterKind.FEATURE),
            Parameter(name="value", kind=ParameterKind.TEXT),
        ),
        summary="Change a value of one case, which becomes an original case without an output.",
    ),
    Command(
        name="executeTestCases",
        method="execute_test_cases",
        parameters=(_make_count("id", optional=True, low=0, high=MAX_CASE_ID),),
        aliases=("executeTestSet",),
        summary="Query the system for the cases without an output, or for one case.",
    ),
    Command(
        name="checkMetamorphisms",
        method="check_metamorphisms",
        parameters=(_make_names("metamorphisms", "metamorphism", optional=True),),
        aliases=("checkMetamorphism",),
        summary="Judge the executed cases by metamorphisms.",
    ),
    Command(
        name="analyse",
        method="analyse",
        parameters=(_make_names("analysers", "analyser"),),
        aliases=("analyze",),
        summary="Run analysers, such as saveStatistics.",
    ),
    Command(
        name="randomTargetExplore",
        method="random_target_explore",
        parameters=(_make_count("walks"), _MIDPOINT),
        summary="Search between two cases of the pool, drawn for each walk.",
    ),
    Command(
        name="directedWalkExplore",
        method="directed_walk_explore",
        parameters=(_MOVES, _make_count("walk distance", optional=True), _make_count("walks", optional=True)),
        summary="Repeat each move from every case of the pool.",
    ),
    Command(
        name="randomWalkExplore",
        method="random_walk_explore",
        parameters=(_MOVES, _make_count("walk distance"), _make_count("walks")),
        summary="Draw a move at each step, from cases of the pool drawn for each walk.",
    ),
    Command(
        name="makeMutants1stOrderComplete",
        method="make_mutants_1st_order_complete",
        parameters=(_make_names("datamorphisms", "datamorphism"),),
        summary="Apply every datamorphism once to every original case.",
    ),
    *(
        Command(name=name, method=method, parameters=parameters, summary=summary)
        for name, method, parameters, summary in (
            (
                "firstOrderMutantComplete",
                "first_order_mutant_complete",
                _COMBINATION,
                "Make seed cases, and apply every datamorphism once to every original case.",
            ),
            (
                "combinatorialComplete",
                "combinatorial_complete",
                _COMBINATION,
                "Apply every subset of the datamorphisms, in declared order.",
            ),
            (
                "permutationComplete",
                "permutation_complete",
                _COMBINATION,
                "Apply every ordering of every subset of the datamorphisms.",
            ),
            (
                "kOrderComplete",
                "k_order_complete",
                (_make_count("order", high=MAX_ORDER), *_COMBINATION),
                "Apply all sequences of datamorphisms up to a length.",
            ),
            (
                "GAOptimizeFilter",
                "ga_optimize_filter",
                _OPTIMISATION,
                "Improve the pool: add mutants, then apply set filters.",
            ),
            (
                "GAOptimizeWeakestRemoval",
                "ga_optimize_weakest_removal",
                _OPTIMISATION,
                "Improve the pool: remove the cases that contribute least.",
            ),
            (
                "GAOptimizeStrongestMutant",
                "ga_optimize_strongest_mutant",
                _OPTIMISATION,
                "Improve the pool: the strongest mutants replace the weakest cases.",
            ),
            (
                "GAOptimizeRandomRemoval",
                "ga_optimize_random_removal",
                _OPTIMISATION,
                "Improve the pool: remove random cases.",
            ),
        )
    ),
    *(
        Command(
            name=name,
            method=f"{name}_with",
            parameters=(Parameter(name="options", kind=ParameterKind.OPTION, optional=True, repeated=True),),
            summary=f"Call dm.{name} with these options, and make its cases the pool.",
        )
        for name in CALL_OPTIONS
    ),
    Command(name="displayMessage", method="display_message", parameters=(_TEXT,), summary="Show a text."),
    Command(
        name="saveMessage",
        method="save_message",
        parameters=(_make_file(ParameterKind.APPENDED_FILE), _TEXT),
        summary="Append a line to a file, which later statistics are appended to as well.",
    ),
    Command(
        name="playTestScript",
        method="",
        parameters=(_make_file(ParameterKind.SCRIPT),),
        summary="Run the commands of another script.",
    ),
    Command(
        name="saveTestScript",
        method="save_test_script",
        parameters=(_make_file(ParameterKind.OUTPUT_FILE),),
        summary="Write the recorded commands to a file.",
    ),
    Command(name="startRecording", method="start_recording", summary="Record the commands from here on."),
    Command(
        name="stopRecording",
        method="stop_recording",
        parameters=(_make_file(ParameterKind.OUTPUT_FILE, optional=True),),
        summary="Stop recording, and write the recorded commands if a file is named.",
    ),
    Command(
        name="setTestScriptPath",
        method="set_test_script_path",
        parameters=(_make_file(ParameterKind.FOLDER),),
        summary="Set the folder of the scripts that playTestScript names.",
    ),
    Command(
        name="setFilePath",
        method="set_file_path",
        parameters=(_make_file(ParameterKind.FOLDER),),
        summary="Set the folder of the files that are read and written.",
    ),
    Command(
        name="setSeed",
        method="set_seed",
        parameters=(_make_count("seed", low=0), _make_count("number", optional=True, low=0)),
        summary="Set the random seed, and how many random commands came before.",
    ),
    Command(
        name="repeat",
        method="",
        parameters=(_make_count("times", low=0),),
        summary="Repeat the commands up to endRepeat().",
    ),
    Command(name="endRepeat", method="", summary="End the commands to repeat."),
]

#: all commands by name, in the order of the guide
COMMANDS: dict[str, Command] = {command.name: command for command in _COMMANDS}
_BY_NORMALIZED_NAME = {
    normalize_name(name): command for command in _COMMANDS for name in (command.name, *command.aliases)
}


def find_command(name: str) -> Command | None:
    """Return the command of this name, in any style of case; None if there is none."""
    return _BY_NORMALIZED_NAME.get(normalize_name(name))


def suggest_command(name: str) -> str:
    """Return a hint that names the most similar command."""
    names = [alias for command in COMMANDS.values() for alias in (command.name, *command.aliases)]
    by_lower_case = {known.lower(): known for known in names}
    hint = suggest_name(name.lower()[:100], by_lower_case)
    for lower, known in by_lower_case.items():
        if hint == f"Did you mean {lower!r}?":
            return f"Did you mean {known!r}?"
    return "The guide to scripts lists all commands."

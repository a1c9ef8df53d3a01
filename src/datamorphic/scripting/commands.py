"""The commands of scripts: names, parameters, and the method of `TestPool` that each calls; see commands.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from .._tables import read_document
from .._text import find_similar_name
from ..morphisms.morphism import normalise_name
from .call_options import CALL_OPTIONS, OptionKind, find_option

ALL = "ALL"  # in a list: every morphism of that kind
MAX_REPETITIONS = 100_000
MAX_COUNT = 10_000_000  # of walks, steps, cases


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


@dataclass(frozen=True, kw_only=True)
class _ParameterRow:
    kind: str = ""  # a kind of `ParameterKind`, in small letters
    option: str = ""  # an option of a function that says the kind and the limits, as in "explore.walks"
    name: str = ""  # by default the name of the row
    morphisms: str = ""
    low: int = 0
    high: int = MAX_COUNT


@dataclass(frozen=True, kw_only=True)
class _CommandRow:
    name: str
    summary: str
    method: str = ""
    parameters: tuple[str, ...] = ()  # rows of the parameters, with a question mark if they are optional
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _CommandTable:
    parameters: Mapping[str, _ParameterRow]
    commands: tuple[_CommandRow, ...]

    def build(self, row: _CommandRow) -> Command:
        """Return a command with its parameters."""
        parameters = []
        for text in row.parameters:
            name = text.removesuffix("?")
            facts = self.parameters[name]
            kind, low, high = facts.kind, facts.low, facts.high
            if facts.option:
                option_kind, option = find_option(*facts.option.split("."))
                kind = "count" if option_kind is OptionKind.WHOLE else "number"
                low, high = max(low, int(option.low or 0)), min(high, int(option.high or high))
            parameters.append(
                Parameter(
                    name=facts.name or name,
                    kind=ParameterKind[kind.upper()],
                    morphisms=facts.morphisms,
                    optional=text != name,
                    low=low,
                    high=high,
                )
            )
        return Command(**vars(row) | {"parameters": tuple(parameters)})


def _list_commands() -> Iterator[Command]:
    """Yield all commands; those that call functions with options come before those that show and save."""
    table = read_document(__package__, "commands.toml", _CommandTable)
    options = Parameter(name="options", kind=ParameterKind.OPTION, optional=True, repeated=True)
    for row in table.commands:
        if row.name == "displayMessage":
            for name in CALL_OPTIONS:
                summary = f"Call dm.{name} with these options, and make its cases the pool."
                yield Command(name=name, method=f"{name}_with", parameters=(options,), summary=summary)
        yield table.build(row)


#: all commands by name, in the order of the guide
COMMANDS: dict[str, Command] = {command.name: command for command in _list_commands()}
_BY_NORMALISED_NAME = {
    normalise_name(name): command for command in COMMANDS.values() for name in (command.name, *command.aliases)
}


def find_command(name: str) -> Command | None:
    """Return the command of this name, in any style of case; None if there is none."""
    return _BY_NORMALISED_NAME.get(normalise_name(name))


def suggest_command(name: str) -> str:
    """Return a hint that names the most similar command."""
    names = [alias for command in COMMANDS.values() for alias in (command.name, *command.aliases)]
    by_lower_case = {known.lower(): known for known in names}
    match = find_similar_name(name.lower()[:100], by_lower_case)
    return "The guide to scripts lists all commands." if match is None else f"Did you mean {by_lower_case[match]!r}?"

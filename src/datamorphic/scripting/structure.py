"""Scripts as trees: commands with the values of their arguments, and repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .._text import pluralise
from ..errors import ScriptError
from .call_options import to_script_words
from .commands import MAX_REPETITIONS, Command, Parameter, ParameterKind, find_command, suggest_command
from .grammar import Argument, Call, ListArgument, raise_problems

MAX_REPEAT_DEPTH = 16
Value = str | int | float | list[str] | None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A command of a script with its values, one per argument."""

    call: Call
    command: Command
    values: Sequence[Value]
    file: str  # the name of the script, for messages

    def fail(self, message: str, argument: int | None = None, item: int | None = None) -> ScriptError:
        """Return an error at the command, an argument, or an item of a list."""
        position = self.call.position
        if argument is not None:
            place = self.call.arguments[argument]
            position = place.position
            if item is not None and isinstance(place, ListArgument):
                position = place.items[item].position
        return ScriptError(
            to_script_words(message, self.command.name), file=self.file, line=position.line, column=position.column
        )

    def find_parameter(self, argument: int) -> Parameter:
        """Return the parameter of an argument."""
        return self.command.parameters[min(argument, len(self.command.parameters) - 1)]


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """Steps between repeat and endRepeat."""

    statement: Statement
    times: int
    steps: list[Step] = field(default_factory=list)


Step = Statement | Repetition


class StepBuilder:
    """Builds the steps of a script while it is parsed."""

    def __init__(self, file: str) -> None:
        self.file, self.steps = file, list[Step]()
        self._open_blocks: list[Repetition] = []

    def add(self, call: Call) -> None:
        """Add a command; raise `ScriptError` if it is wrong."""
        statement = bind_call(call, self.file)
        current = self._open_blocks[-1].steps if self._open_blocks else self.steps
        if statement.command.name == "repeat":
            if len(self._open_blocks) == MAX_REPEAT_DEPTH:
                raise statement.fail(
                    f"repeat is nested more than {MAX_REPEAT_DEPTH} deep. Join some of the repetitions: repeat(a * b)."
                )
            (times,) = statement.values
            assert isinstance(times, int)
            block = Repetition(statement=statement, times=times)
            current.append(block)
            self._open_blocks.append(block)
        elif statement.command.name == "endRepeat":
            if not self._open_blocks:
                raise statement.fail("This endRepeat() has no repeat(n) before it. Remove it, or add repeat(n).")
            self._open_blocks.pop()
        else:
            current.append(statement)

    def finish(self) -> list[Step]:
        """Return all steps; raise `ScriptError` if a repetition is not ended."""
        raise_problems(
            [
                block.statement.fail("This repeat is not ended. Add endRepeat() after the last command to repeat.")
                for block in self._open_blocks
            ]
        )
        return self.steps


def bind_call(call: Call, file: str) -> Statement:
    """Return a call with its command and its values."""
    command = find_command(call.name)
    if command is None:
        message = f"There is no command {call.name[:60]!r}. {suggest_command(call.name)}"
        raise ScriptError(message, file=file, line=call.position.line, column=call.position.column)
    parameters = command.parameters
    required_count = sum(not parameter.optional for parameter in parameters)
    is_open_ended = bool(parameters) and parameters[-1].repeated
    count = len(call.arguments)
    if count < required_count or (count > len(parameters) and not is_open_ended):
        position = call.arguments[len(parameters)].position if count > len(parameters) else call.position
        raise ScriptError(
            f"Expected {command.signature}. Got {pluralise(count, 'argument')}.",
            file=file,
            line=position.line,
            column=position.column,
        )
    values = [
        _read_value(argument, parameters[min(number, len(parameters) - 1)], command, file)
        for number, argument in enumerate(call.arguments)
    ]
    return Statement(call=call, command=command, values=values, file=file)


def _read_value(argument: Argument, parameter: Parameter, command: Command, file: str) -> Value:
    def fail(expected: str) -> ScriptError:
        text = "a list" if isinstance(argument, ListArgument) else repr(argument.text[:60])
        return ScriptError(
            f"{parameter.name!r} of {command.signature} must be {expected}. Got {text}.",
            file=file,
            line=argument.position.line,
            column=argument.position.column,
        )

    if isinstance(argument, ListArgument):
        if parameter.kind is not ParameterKind.NAMES:
            raise fail(str(parameter.kind))
        return [item.text for item in argument.items]
    if not argument.text and parameter.optional:
        return None  # left out, though others follow
    if parameter.kind is ParameterKind.NAMES:
        return [argument.text]
    if parameter.kind is ParameterKind.COUNT:
        high = (
            MAX_REPETITIONS if command.name == "repeat" else 2**63 - 1 if parameter.name == "seed" else parameter.high
        )
        digits = argument.text
        if not digits.isascii() or not digits.isdigit():
            raise fail(str(parameter.kind))
        if len(digits) > 19 or not parameter.low <= int(digits) <= high:
            raise fail(f"from {parameter.low:.0f} to {high:,}")
        return int(digits)
    if parameter.kind is ParameterKind.NUMBER:
        try:
            number = float(argument.text)
        except ValueError:
            raise fail(str(parameter.kind)) from None
        if not parameter.low <= number < float("inf"):
            raise fail(f"a number from {parameter.low:g} on")
        return number
    return argument.text

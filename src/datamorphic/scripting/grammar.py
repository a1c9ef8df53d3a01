"""The grammar of scripts: one call per line, with positions for messages.

::

    // a comment
    randomWalkExplore([downward, upward, mid];20;1000)
    saveMessage(figures.csv;Average of 1000)

Arguments are separated by ``;`` or ``,``. An argument is a list in ``[ ]`` or plain text. Text may stand in double quotes, and
must if it holds a separator or a bracket; a quote inside quotes is written twice. The last argument of a command with free
text, such as `saveMessage`, extends to the closing parenthesis. Nothing is evaluated: a parsed script is plain data. Parsing
takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .._text import pluralise
from ..errors import ScriptError
from ..morphisms.morphism import normalise_name

MAX_SCRIPT_BYTES = 1_000_000
MAX_SCRIPT_LINES = 50_000
MAX_LINE_CHARACTERS = 10_000
MAX_LISTED_PROBLEMS = 20
SEPARATORS = ";,"
#: how many arguments come before the free text of a command, by normalised name
FREE_TEXT_POSITIONS = {"savemessage": 1, "displaymessage": 0}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[^;,\[\]()]+")
_PARENTHESIS = re.compile(r"[()]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]")


@dataclass(frozen=True)
class Position:
    """A place in a script, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class TextArgument:
    """A plain argument: a number, a name, a path or a text."""

    text: str
    position: Position = field(default=Position(1, 1), compare=False)


@dataclass(frozen=True)
class ListArgument:
    """A list of plain arguments."""

    items: tuple[TextArgument, ...]
    position: Position = field(default=Position(1, 1), compare=False)


Argument = TextArgument | ListArgument


@dataclass(frozen=True)
class Call:
    """A command with its arguments, and the comment behind it, if any."""

    name: str
    arguments: tuple[Argument, ...] = ()
    comment: str | None = None  # what follows the two slashes
    position: Position = field(default=Position(1, 1), compare=False)


@dataclass(frozen=True)
class CommentLine:
    """A line with a comment only; `text` is what follows the two slashes."""

    text: str


@dataclass(frozen=True)
class BlankLine:
    """An empty line."""


ScriptLine = Call | CommentLine | BlankLine


@dataclass(frozen=True)
class Script:
    """The lines of a script."""

    lines: tuple[ScriptLine, ...] = ()
    name: str = field(default="script", compare=False)  # for messages

    @property
    def calls(self) -> Iterator[Call]:
        """The commands, in order."""
        return (line for line in self.lines if isinstance(line, Call))


def parse_script(text: str, name: str = "script", on_call: Callable[[Call], None] | None = None) -> Script:
    """Parse a script; raise `ScriptError` if it is wrong.

    The error carries all problems, at most `MAX_LISTED_PROBLEMS`.
    `on_call` gets each command as soon as it is parsed, and may raise `ScriptError` too.
    """
    lines: list[ScriptLine] = []
    problems: list[ScriptError] = []
    for number, text_line in enumerate(split_lines(text, name), start=1):
        try:
            line = _LineParser(text_line, number, name).parse()
            lines.append(line)
            if on_call is not None and isinstance(line, Call):
                on_call(line)
        except ScriptError as error:
            problems.append(error)
            if len(problems) == MAX_LISTED_PROBLEMS:
                break
    raise_problems(problems)
    return Script(tuple(lines), name)


def split_lines(text: str, name: str = "script") -> list[str]:
    """Return the lines of a text; raise if the text or a line is too long."""
    if len(text) > MAX_SCRIPT_BYTES:
        raise ScriptError(
            f"The script has {pluralise(len(text), 'character')}; at most {MAX_SCRIPT_BYTES:,} are read. Split it, and join the "
            "parts with playTestScript.",
            file=name,
        )
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if len(lines) > MAX_SCRIPT_LINES:
        raise ScriptError(
            f"The script has {pluralise(len(lines), 'line')}; at most {MAX_SCRIPT_LINES:,} are read. Use repeat(n), or split it.",
            file=name,
            line=MAX_SCRIPT_LINES + 1,
        )
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_CHARACTERS:
            raise ScriptError(
                f"The line has {pluralise(len(line), 'character')}; at most {MAX_LINE_CHARACTERS:,} are read. Split the command.",
                file=name,
                line=number,
                column=MAX_LINE_CHARACTERS + 1,
            )
    return lines


def replace_control_characters(text: str) -> str:
    """Return a text with spaces for line breaks and control characters."""
    return _CONTROL.sub(" ", text.replace("\n", " "))


def raise_problems(problems: list[ScriptError]) -> None:
    """Raise the first problem, which carries all of them; return if there are none."""
    if problems:
        problems[0].problems = list(problems)
        raise problems[0]


class _LineParser:
    """Parses one line."""

    def __init__(self, text: str, line: int, file: str) -> None:
        self.text, self.line, self.file = text, line, file
        self.place = 0

    def fail(self, message: str, place: int | None = None) -> ScriptError:
        column = (self.place if place is None else place) + 1
        return ScriptError(message, file=self.file, line=self.line, column=column)

    def position(self, place: int) -> Position:
        return Position(self.line, place + 1)

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.place)
        self.place = match.end() if match else self.place

    def peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def parse(self) -> ScriptLine:
        if control := _CONTROL.search(self.text):
            raise self.fail(f"The character {control[0]!r} does not belong in a script. Remove it.", control.start())
        self.skip_space()
        start = self.place
        if not self.peek():
            return BlankLine()
        if self.text.startswith("//", start):
            return CommentLine(self.text[start + 2 :].rstrip())
        name = _NAME.match(self.text, start)
        if name is None:
            raise self.fail("Expected a command, as in makeSeed([RandomValue200]), or a comment after //.")
        self.place = name.end()
        self.skip_space()
        if self.peek() != "(":
            raise self.fail(
                f"Expected ( after {_shorten(name[0])}. A command has parentheses even without arguments: clean()."
            )
        opening, self.place = self.place, self.place + 1
        arguments = tuple(self._parse_arguments(name[0], opening))
        self.skip_space()
        comment = None
        if self.text.startswith("//", self.place):
            comment = self.text[self.place + 2 :].rstrip()
        elif self.peek():
            raise self.fail("Expected the end of the line, or a comment after //. Write one command per line.")
        return Call(name[0], arguments, comment, self.position(start))

    def _parse_arguments(self, name: str, opening: int) -> Iterator[Argument]:
        """Yield the arguments up to the closing parenthesis, and step over it."""
        text_position = FREE_TEXT_POSITIONS.get(normalise_name(name))
        self.skip_space()
        if self.peek() == ")" and text_position != 0:
            self.place += 1
            return
        count = 0
        while True:
            if count == text_position:
                yield self._parse_free_text(opening)
                return
            self.skip_space()
            yield self._parse_list() if self.peek() == "[" else self._parse_text("an argument", SEPARATORS + ")")
            count += 1
            self.skip_space()
            end = self.peek()
            if end not in (*SEPARATORS, ")"):
                raise self.fail("Expected ; or , or ) after an argument.") if end else self._unclosed("(", opening)
            self.place += 1
            if end == ")":
                return

    def _parse_list(self) -> ListArgument:
        opening, self.place = self.place, self.place + 1
        items: list[TextArgument] = []
        self.skip_space()
        if self.peek() == "]":
            self.place += 1
            return ListArgument((), self.position(opening))
        while True:
            self.skip_space()
            if self.peek() == "[":
                raise self.fail("A list cannot hold another list. Write all names in one list.")
            if not self.peek():
                raise self._unclosed("[", opening)
            items.append(self._parse_text("a name", SEPARATORS + "]"))
            self.skip_space()
            end = self.peek()
            if end not in (*SEPARATORS, "]"):
                raise self.fail("Expected , or ] after a name.") if end else self._unclosed("[", opening)
            self.place += 1
            if end == "]":
                return ListArgument(tuple(items), self.position(opening))

    def _parse_text(self, noun: str, ends: str) -> TextArgument:
        """Parse a plain argument, quoted or not."""
        start = self.place
        if self.peek() == '"':
            return self._parse_quoted()
        match = _BARE.match(self.text, start)
        if match is None or not match[0].strip():
            if not self.text[start:].strip():
                raise self.fail(f"Expected {noun}. Close the bracket, or add what is missing.")
            raise self.fail(f"Expected {noun} before {self.text[match.end() if match else start]!r}.")
        self.place = match.end()
        if self.peek() and self.peek() not in ends:
            raise self.fail(f"{self.peek()!r} cannot stand here. Put text that holds brackets in double quotes.")
        return TextArgument(match[0].strip(), self.position(start))

    def _parse_quoted(self) -> TextArgument:
        start = self.place
        place, parts = start + 1, []
        while (quote := self.text.find('"', place)) >= 0:
            parts.append(self.text[place:quote])
            if not self.text.startswith('""', quote):
                self.place = quote + 1
                return TextArgument('"'.join(parts), self.position(start))
            place = quote + 2
        raise self.fail('The quote is not closed. Add " at its end; a quote inside is written twice.', start)

    def _parse_free_text(self, opening: int) -> TextArgument:
        """Parse text up to the parenthesis that closes the command.

        Balanced parentheses belong to the text.
        """
        self.skip_space()
        start = self.place
        if self.peek() == '"':
            text = self._parse_quoted()
            self.skip_space()
            if self.peek() == ")":
                self.place += 1
                return text
            self.place = start  # a text that only begins with a quotation
        depth = 0
        for match in _PARENTHESIS.finditer(self.text, start):
            depth += 1 if match[0] == "(" else -1
            if depth < 0:
                self.place = match.end()
                return TextArgument(self.text[start : match.start()].strip(), self.position(start))
        raise self._unclosed("(", opening)

    def _unclosed(self, bracket: str, place: int) -> ScriptError:
        closing = ")" if bracket == "(" else "]"
        return self.fail(f"The bracket {bracket} is not closed on this line. Add {closing} at its end.", place)


def _shorten(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:37]}..."

"""Promises files: business expectations of a model, one line each, as relations and directions.

A line is a name, a colon, and what is promised about it. A comment starts with ``#``.

::

    outcome: default                      # the class whose probability the promises are about
    credit_score: lowers default          # more of it never raises the probability of default
    ltv: raises default, 1 to 98, 999 means unavailable
    colour: does not matter
    gender: protected
    better_score: credit_score x 1.10     # a named change; the promise about its column says what to expect
    safer: better_score, ltv x 0.90       # a composition: one change after the other

Nothing in the file is evaluated. Every error names the file and the line.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..._files import to_local_path
from ..._text import format_short, pluralise, suggest_name
from ..._typing import FilePath
from ...errors import DataError, PromiseError
from ...space.features import Categorical
from ...space.space import Space
from ...space.text_feature import Text
from ..algebra.base import Relation
from ..algebra.change import Change, ChangeRelation, compose
from ..algebra.feature import Invariant, Monotone
from ..algebra.one_way import Direction, find_label

PromiseKind: TypeAlias = Literal["raises", "lowers", "does not matter", "protected"]

MAX_FILE_BYTES = 1_000_000
MAX_QUOTED_CHARACTERS = 60
MAX_NESTED_CHANGES = 50
MAX_CHANGES_PER_LINE = 100
OUTCOME_KEY = "outcome"
STATEMENTS = (
    "'raises OUTCOME', 'lowers OUTCOME', 'does not matter', 'protected', a change such as 'income x 1.10', "
    "or changes separated by commas"
)
#: Words that people may write instead of the words of the grammar.
SYNONYMS = {
    "increases": "raises",
    "increase": "raises",
    "raise": "raises",
    "up": "raises",
    "decreases": "lowers",
    "decrease": "lowers",
    "reduces": "lowers",
    "lower": "lowers",
    "down": "lowers",
    "irrelevant": "does not matter",
    "invariant": "does not matter",
    "ignored": "does not matter",
    "sensitive": "protected",
    "private": "protected",
}
DIRECTION_SIGNS_OF_KINDS = {"raises": 1, "lowers": -1}
EXPECTED_EFFECTS: dict[Direction, str] = {"up": "raises", "down": "lowers", "same": "does not change"}

_NUMBER = r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_VERB = re.compile(r"(raises|lowers)(?:\s+(.+))?$", re.IGNORECASE)
_VERB_AT_END = re.compile(r"(.+?)\s+(raises|lowers|does not matter|doesn't matter)(?:\s+(.+))?$", re.IGNORECASE)
_NO_MATTER = re.compile(r"(?:does not|doesn't) matter$", re.IGNORECASE)
_PROTECTED = re.compile(r"protected$", re.IGNORECASE)
_RANGE = re.compile(rf"(?:from\s+|between\s+)?({_NUMBER})\s+(?:to|and)\s+({_NUMBER})$", re.IGNORECASE)
_UNAVAILABLE = re.compile(rf"({_NUMBER})\s+(?:means\s+|is\s+)?(?:unavailable|missing|unknown)$", re.IGNORECASE)
_ARITHMETIC = re.compile(rf"(.+?)\s+(x|×|\*|\+|-|−)\s*({_NUMBER})\s*(%?)$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"(.+?)\s*:=\s*(.+)$")
_PROBABILITY = re.compile(r"(?:the\s+)?(?:probability|chance|risk|score)\s+of\s+", re.IGNORECASE)
_ANSWER = re.compile(r"the\s+answer$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ColumnPromise:
    """What is promised about one column, with the line that says so."""

    column: str
    kind: PromiseKind
    line: int
    low: float | None = None  # the range of the column
    high: float | None = None
    unavailable: tuple[float, ...] = ()  # values that mean "not known"


@dataclass(frozen=True, kw_only=True)
class NamedChange:
    """A change or a composition of changes, with the expected effect on the outcome."""

    name: str
    line: int
    text: str  # as the file has it, without the comment
    changes: tuple[Change, ...]
    direction: Direction

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are changed."""
        return tuple(dict.fromkeys(change.column for change in self.changes))


@dataclass(frozen=True, kw_only=True)
class Promises:
    """The promises of one file; `read_promises` reads them."""

    file: str  # its name, for messages
    outcome: str | None = None  # as text; None if the answer is a number, or the second of two classes is meant
    outcome_line: int = 1
    columns: Mapping[str, ColumnPromise] = field(default_factory=dict)
    changes: Mapping[str, NamedChange] = field(default_factory=dict)

    @property
    def monotone(self) -> dict[str, str]:
        """The promised directions: "up" if more of a column never lowers the outcome, "down" if it never raises it."""
        signs = {"raises": "up", "lowers": "down"}
        return {name: signs[promise.kind] for name, promise in self.columns.items() if promise.kind in signs}

    @property
    def invariant(self) -> tuple[str, ...]:
        """The columns that do not matter."""
        return self._select("does not matter")

    @property
    def protected(self) -> tuple[str, ...]:
        """The protected columns."""
        return self._select("protected")

    def _select(self, kind: PromiseKind) -> tuple[str, ...]:
        return tuple(name for name, promise in self.columns.items() if promise.kind == kind)

    def __len__(self) -> int:
        return len(self.columns) + len(self.changes)

    def build_relations(self, outcome: object = None) -> dict[str, ChangeRelation]:
        """Return the named changes as relations, by name.

        `outcome` replaces the text of the file by the label that it means.
        """
        label = self.outcome if outcome is None else outcome
        return {name: _build_relation(change, label) for name, change in self.changes.items()}

    def build_column_relations(self, outcome: object = None) -> dict[str, Relation]:
        """Return the promises about columns as relations, by column: directions, and columns that must not matter."""
        label = self.outcome if outcome is None else outcome
        relations: dict[str, Relation] = {}
        for name, promise in self.columns.items():
            direction = self.monotone.get(name)
            relation = Invariant(name) if direction is None else Monotone(name, direction, label)
            relation.low, relation.high, relation.unavailable = promise.low, promise.high, promise.unavailable
            relations[name] = relation
        return relations

    def find_line(self, name: str) -> int | None:
        """Return the line that declares a column or a change; None if there is none."""
        entry = self.columns.get(name) or self.changes.get(name)
        return None if entry is None else entry.line

    # -- against a model -----------------------------------------------------------------------------------------------

    def validate(self, space: Space, labels: Sequence[Any] | None = None, unused_columns: Collection[str] = ()) -> None:
        """Raise `PromiseError` if the promises do not fit the inputs and the classes of a model.

        `unused_columns` are columns of the data that are not inputs: they may be protected, or not matter.
        """
        if self.outcome is not None and labels is not None and self.find_label(labels) is None:
            raise PromiseError(
                f"the model has no class {self.outcome!r}. {suggest_name(self.outcome, labels)}",
                file=self.file,
                line=self.outcome_line,
            )
        for promise in self.columns.values():
            directed = promise.kind in DIRECTION_SIGNS_OF_KINDS
            allowed_names = space.names if directed else [*space.names, *unused_columns]
            if promise.column not in allowed_names:
                self._reject_column(promise.column, promise.line, space.names)
            feature = space[promise.column] if promise.column in space.names else None
            if feature is not None and not feature.numeric and (promise.low is not None):
                raise PromiseError(
                    f"{promise.column} is not a number, so it has no range. Remove the range.",
                    file=self.file,
                    line=promise.line,
                )
        for change in self.changes.values():
            for part in change.changes:
                self._validate_change(part, change, space)

    def _validate_change(self, part: Change, change: NamedChange, space: Space) -> None:
        def fail(message: str) -> PromiseError:
            return PromiseError(message, file=self.file, line=change.line)

        if part.column not in space.names:
            self._reject_column(part.column, change.line, space.names)
        feature = space[part.column]
        if isinstance(feature, Text):
            if not isinstance(part.value, str):
                raise fail(
                    f"{part.column} is text, so it can only be set to a text. Write '{part.column} := \"some text\"'."
                )
        elif isinstance(feature, Categorical):
            categories = list(feature.values)
            if part.value is None:
                raise fail(
                    f"{part.column} is not a number, so it cannot be multiplied or added to. Write "
                    f"'{part.column} := {format_short(categories[0])}'."
                )
            if part.value not in categories:
                raise fail(f"{part.column} has no value {part.value!r}. {suggest_name(part.value, categories)}")
        elif part.value is not None and not isinstance(part.value, int | float):
            raise fail(f"{part.column} is a number, but {part.value!r} is not. Write a number.")
        elif part.factor is not None and feature.low < 0 and part.low < 0:
            raise fail(
                f"{part.column} can be negative (from {format_short(feature.low)}), and a factor moves negative values the "
                f"other way. Add an amount instead, such as '{part.column} + 10'."
            )

    def _reject_column(self, column: str, line: int, names: Sequence[str]) -> None:
        raise PromiseError(
            f"{column!r} is not an input of the model. {suggest_name(column, names)}", file=self.file, line=line
        )

    def find_label(self, labels: Sequence[Any]) -> Any:
        """Return the label that the outcome means, also if it is not a text; None without one."""
        return None if self.outcome is None else find_label(labels, self.outcome)


def read_promises(path: FilePath) -> Promises:
    """Return the promises of a file, without evaluating anything in it.

    Parameters
    ----------
    path : str or path
        A text file of promises; its name may have any ending.

    Returns
    -------
    Promises
        ``.monotone``, ``.invariant``, ``.protected``, ``.outcome``, and ``.build_relations()`` for the named changes.

    Raises
    ------
    PromiseError
        If a line is wrong; the message starts with the file and the line.
    DataError
        If the file cannot be read.
    """
    file = to_local_path(path, "file of promises")
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or "it is not a path"
        raise DataError(f"The promises cannot be read from {str(file)!r}: {reason}.") from None
    if len(content) > MAX_FILE_BYTES:
        raise DataError(f"The promises in {str(file)!r} take more than {MAX_FILE_BYTES:,} bytes. Is it another file?")
    try:
        text = content.decode("utf-8-sig")
        bad_place = text.find("\x00")
        text_before = text[: max(bad_place, 0)].encode()
    except UnicodeDecodeError as error:
        bad_place, text_before, text = error.start, content[: error.start], ""
    if bad_place >= 0:
        raise PromiseError(
            "this is not a text file in UTF-8. Write the promises with a text editor.",
            file=str(path),
            line=text_before.count(b"\n") + 1,
        )
    return parse_promises(text, os.fspath(path))


def parse_promises(text: str, file: str = "promises") -> Promises:
    """Return the promises in a text; `file` is its name in messages.

    Examples
    --------
    >>> promises = parse_promises("outcome: default\\nscore: lowers default\\nbetter: score x 1.10")
    >>> promises.monotone, promises.changes["better"].direction
    ({'score': 'down'}, 'down')
    >>> parse_promises("score: lowers default\\nscore: raises default", "bank.promises")
    Traceback (most recent call last):
      ...
    datamorphic.errors.PromiseError: bank.promises:2: 'score' raises default here, but lowers default in line 1. Delete one of the lines.
    """
    return _Parser(file).parse(text)


# -- parsing -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Composition:
    """A line of changes before its names are resolved."""

    name: str
    line: int
    text: str
    parts: tuple[str, ...]
    expected_direction: Direction | None = None  # what the line says itself


class _Parser:
    """The lines of one file, read in order, then resolved."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.outcome: str | None = None
        self.outcome_line = 1
        self.outcome_declared = False
        self.columns: dict[str, ColumnPromise] = {}
        self.compositions: dict[str, _Composition] = {}
        self.changes: dict[str, NamedChange] = {}

    def fail(self, line: int, message: str) -> PromiseError:
        return PromiseError(message, file=self.file, line=line)

    def parse(self, text: str) -> Promises:
        lines = [(number, _strip_comment(line)) for number, line in enumerate(text.splitlines(), start=1)]
        entries = [(number, *self._split_name(number, line)) for number, line in lines if line]
        if not entries:
            raise self.fail(1, "the file has no promises. Write one per line, such as 'income: lowers default'.")
        for number, name, quoted, statement in entries:
            if name.lower() == OUTCOME_KEY and not quoted:
                self._add_outcome(number, statement)
        for number, name, quoted, statement in entries:
            if name.lower() != OUTCOME_KEY or quoted:
                self._add_promise(number, name, statement)
        for name in self.compositions:
            self._resolve(name, ())
        if not self.columns and not self.changes:
            raise self.fail(
                1, "the file declares an outcome but no promises. Write one per line, such as 'income: lowers default'."
            )
        return Promises(
            file=self.file,
            outcome=self.outcome,
            outcome_line=self.outcome_line,
            columns=self.columns,
            changes={name: self.changes[name] for name in self.compositions},
        )

    def _split_name(self, number: int, line: str) -> tuple[str, bool, str]:
        """Return the name, whether it is quoted, and the statement."""
        match = re.match(r"""(?:"([^"]+)"|`([^`]+)`|([^:"`]+?(?::\S[^:]*?)*?))\s*:(?:\s+(.*))?$""", line)
        if match is None:
            problem = "has no name before the colon" if line.startswith(":") else "has no colon"
            raise self.fail(
                number, f"{_quote(line)} {problem}. Write a name, a colon and a promise: 'income: lowers default'."
            )
        name = next(group for group in match.groups()[:3] if group is not None).strip()
        statement = (match[4] or "").strip()
        if not statement:
            raise self.fail(number, f"nothing is promised about {name!r}. Write {STATEMENTS}.")
        return name, match[3] is None, statement

    def _add_outcome(self, number: int, statement: str) -> None:
        if self.outcome_declared:
            raise self.fail(
                number, f"the outcome is declared twice, first in line {self.outcome_line}. Delete one of the lines."
            )
        self.outcome, self.outcome_line, self.outcome_declared = _unquote(statement), number, True

    def _note_outcome(self, number: int, text: str | None) -> None:
        """Note the outcome that a promise names; all promises are about the same."""
        if text is None or _ANSWER.match(text):
            return
        outcome = _unquote(_PROBABILITY.sub("", text, count=1))
        if self.outcome is None and not self.outcome_declared:
            self.outcome, self.outcome_line = outcome, number
        if outcome != self.outcome:
            raise self.fail(
                number,
                f"the promise is about {outcome!r}, but that in line {self.outcome_line} is about {self.outcome!r}. "
                "All promises of a file must be about the same outcome.",
            )

    def _add_promise(self, number: int, name: str, statement: str) -> None:
        pieces = [piece for piece in _split_unquoted(statement, ",") if piece]
        if not pieces:
            raise self.fail(number, f"nothing is promised about {name!r}. Write {STATEMENTS}.")
        kind = self._read_kind(number, pieces[0])
        if kind is None:
            self._add_composition(number, name, statement, pieces)
        else:
            self._add_column(number, name, kind, pieces[1:])

    def _read_kind(self, number: int, piece: str) -> PromiseKind | None:
        """Return what a piece promises about a column; None if it is a change."""
        verb = _VERB.match(piece)
        if verb is not None:
            self._note_outcome(number, verb[2])
            return "raises" if verb[1].lower() == "raises" else "lowers"
        if _NO_MATTER.match(piece):
            return "does not matter"
        return "protected" if _PROTECTED.match(piece) else None

    def _add_column(self, number: int, name: str, kind: PromiseKind, details: Sequence[str]) -> None:
        if name in self.compositions:
            raise self.fail(
                number,
                f"{name!r} is already the name of the change in line {self.compositions[name].line}. Rename one of them.",
            )
        earlier = self.columns.get(name)
        if earlier is not None:
            here, there = self._phrase(kind), self._phrase(earlier.kind)
            if here == there:
                raise self.fail(
                    number, f"{name!r} already has this promise in line {earlier.line}. Delete one of the lines."
                )
            raise self.fail(
                number, f"{name!r} {here} here, but {there} in line {earlier.line}. Delete one of the lines."
            )
        low = high = None
        unavailable = []
        for detail in details:
            if match := _UNAVAILABLE.match(detail):
                unavailable.append(_to_number(match[1]))
            elif (match := _RANGE.match(detail)) and low is None:
                low, high = _to_number(match[1]), _to_number(match[2])
                if low >= high:
                    raise self.fail(
                        number,
                        f"the range of {name!r} ends before it starts: {_quote(detail)}. Write the smaller number first.",
                    )
            else:
                raise self.fail(
                    number,
                    f"{_quote(detail)} is not understood. After a promise, write a range, '300 to 850', or a value "
                    "that stands for a missing one, '9999 means unavailable'.",
                )
        self.columns[name] = ColumnPromise(
            column=name, kind=kind, line=number, low=low, high=high, unavailable=tuple(unavailable)
        )

    def _phrase(self, kind: PromiseKind) -> str:
        if kind in DIRECTION_SIGNS_OF_KINDS:
            return f"{kind} {self.outcome or 'the answer'}"
        return "is protected" if kind == "protected" else kind

    def _add_composition(self, number: int, name: str, statement: str, pieces: Sequence[str]) -> None:
        if name in self.compositions:
            raise self.fail(
                number,
                f"{name!r} is already defined in line {self.compositions[name].line}. Rename or delete one of them.",
            )
        if name in self.columns:
            raise self.fail(
                number,
                f"{name!r} is already the name of the column in line {self.columns[name].line}. Rename the change.",
            )
        expected_direction: Direction | None = None
        last_piece = pieces[-1]
        match = _VERB_AT_END.match(last_piece)
        if match is not None:
            verb, last_piece = match[2].lower(), match[1]
            self._note_outcome(number, match[3])
            expected_direction = {"raises": "up", "lowers": "down"}.get(verb, "same")  # type: ignore[assignment]
        self.compositions[name] = _Composition(
            name=name,
            line=number,
            text=statement,
            parts=(*pieces[:-1], last_piece),
            expected_direction=expected_direction,
        )

    # -- names -----------------------------------------------------------------------------------------------------

    def _resolve(self, name: str, path: tuple[str, ...]) -> NamedChange:
        """Return a change with its parts resolved; `path` are the names that lead to it."""
        if name in self.changes:
            return self.changes[name]
        composition = self.compositions[name]
        if name in path:
            cycle = [*path[path.index(name) :], name]
            raise self.fail(
                composition.line, f"{name!r} contains itself: {' > '.join(cycle)}. Remove one of these references."
            )
        if len(path) == MAX_NESTED_CHANGES:
            raise self.fail(
                composition.line, f"changes are nested deeper than {MAX_NESTED_CHANGES} levels. Write them out."
            )
        changes: list[Change] = []
        directions: list[tuple[str, Direction]] = []
        for part in composition.parts:
            if _unquote(part) in self.compositions:
                inner = self._resolve(_unquote(part), (*path, name))
                changes += inner.changes
                directions.append((inner.name, inner.direction))
                continue
            change = self._read_change(part, composition)
            changes.append(change)
            implied_direction = self._find_direction(change)
            if implied_direction is not None:
                directions.append((part, implied_direction))
            elif composition.expected_direction is None:
                raise self.fail(composition.line, self._describe_missing_direction(change, part, name))
        if len(changes) > MAX_CHANGES_PER_LINE:
            raise self.fail(
                composition.line, f"{name!r} has {len(changes):,} changes. At most {MAX_CHANGES_PER_LINE} are allowed."
            )
        self.changes[name] = NamedChange(
            name=name,
            line=composition.line,
            text=composition.text,
            changes=tuple(changes),
            direction=self._join_directions(composition, directions),
        )
        return self.changes[name]

    def _read_change(self, part: str, composition: _Composition) -> Change:
        """Return the change that a part of a line describes."""
        line = composition.line
        if match := _ASSIGNMENT.match(part):
            return self._build_change(line, _unquote(match[1]), value=_read_value(match[2]))
        match = _ARITHMETIC.match(part)
        if match is None:
            raise self.fail(line, self._describe_unknown_part(part, composition))
        column, sign, number = _unquote(match[1]), match[2].lower(), _to_number(match[3])
        if sign in "x×*":
            factor = number / 100 if match[4] else number
        elif match[4]:
            factor = 1 + (number if sign == "+" else -number) / 100
        else:
            amount = number if sign == "+" else -number
            if amount == 0:
                raise self.fail(line, f"{_quote(part)} changes nothing. Write another number.")
            if math.isinf(amount):
                raise self.fail(line, f"{_quote(part)} adds a number that is too large.")
            return self._build_change(line, column, amount=amount)
        if not 0 < factor < math.inf:
            raise self.fail(line, f"{_quote(part)} multiplies by {factor:g}. A factor must be a number above 0.")
        if factor == 1:
            raise self.fail(line, f"{_quote(part)} changes nothing. Write another number.")
        return self._build_change(line, column, factor=factor)

    def _build_change(
        self, line: int, column: str, factor: float | None = None, amount: float | None = None, value: object = None
    ) -> Change:
        promise = self.columns.get(column)
        low = -math.inf if promise is None or promise.low is None else promise.low
        high = math.inf if promise is None or promise.high is None else promise.high
        if isinstance(value, int | float) and not low <= value <= high:
            raise self.fail(
                line, f"{column!r} is set to {value:g}, which is not within its range from {low:g} to {high:g}."
            )
        return Change(
            column=column,
            factor=factor,
            amount=amount,
            value=value,
            low=low,
            high=high,
            sentinels=() if promise is None else promise.unavailable,
        )

    def _find_direction(self, change: Change) -> Direction | None:
        """Return the effect that the promise about the column implies; None if there is none."""
        promise = self.columns.get(change.column)
        if promise is None:
            return None
        sign = DIRECTION_SIGNS_OF_KINDS.get(promise.kind, 0)
        if not sign:
            return "same"
        if change.value is not None:
            return None  # higher or lower, depending on the case
        grows = change.factor > 1 if change.factor is not None else (change.amount or 0.0) > 0
        return "up" if (sign > 0) == grows else "down"

    def _join_directions(self, composition: _Composition, directions: Sequence[tuple[str, Direction]]) -> Direction:
        """Return the effect of several changes; contradictory ones raise an error."""
        moving = [(part, direction) for part, direction in directions if direction != "same"]
        expected = composition.expected_direction
        if expected is None:
            expected = moving[0][1] if moving else "same"
        outcome = self.outcome or "the answer"
        for part, direction in moving:
            if direction == expected:
                continue
            first = "the line says that it" if composition.expected_direction is not None else _quote(moving[0][0])
            raise self.fail(
                composition.line,
                f"{composition.name!r} contradicts the promises: {first} {EXPECTED_EFFECTS[expected]} {outcome}, but "
                f"{_quote(part)} {EXPECTED_EFFECTS[direction]} it.",
            )
        return expected

    def _describe_missing_direction(self, change: Change, part: str, name: str) -> str:
        outcome = self.outcome or "OUTCOME"
        if change.column in self.columns:
            return (
                f"what {name!r} should do is not clear: '{change.column} := ...' raises some values and lowers others. "
                f"End the line with 'lowers {outcome}' or 'raises {outcome}'."
            )
        return (
            f"nothing is promised about {change.column!r}, so it is not clear what {name!r} should do. Add a line "
            f"'{change.column}: lowers {outcome}', or end this one with 'lowers {outcome}'."
        )

    def _describe_unknown_part(self, part: str, composition: _Composition) -> str:
        """Say what is wrong with a part that is neither a name nor a change."""
        first_word = part.split()[0].lower()
        replacement = SYNONYMS.get(part.lower()) or SYNONYMS.get(first_word)
        if replacement is not None:
            rest = part[len(first_word) :] if replacement in DIRECTION_SIGNS_OF_KINDS else ""
            return f"{_quote(part)} is not understood. Did you mean '{replacement}{rest}'?"
        if len(composition.parts) > 1 or composition.expected_direction is not None:
            known = [name for name in self.compositions if name != composition.name]
            hint = suggest_name(part, known) if known else "Write a change such as 'income x 1.10'."
            return f"{_quote(part)} is neither a change nor the name of one. {hint}"
        names = [name for name in self.compositions if name != composition.name]
        hint = suggest_name(part, [*names, *DIRECTION_SIGNS_OF_KINDS, "does not matter", "protected"])
        if not hint.startswith("Did"):
            hint = f"Write {STATEMENTS}."
        return f"{_quote(part)} is not understood. {hint}"


def _build_relation(change: NamedChange, outcome: object) -> ChangeRelation:
    """Return a named change as a relation; several changes act one after the other."""
    parts = [ChangeRelation(change.name, part, outcome=outcome, direction=change.direction) for part in change.changes]
    return parts[0] if len(parts) == 1 else compose(*parts, name=change.name)


# -- text --------------------------------------------------------------------------------------------------------------


def _iterate_unquoted(text: str) -> Iterator[tuple[int, str]]:
    """Yield the characters outside double quotes and backticks, with their positions."""
    quote = ""
    for place, character in enumerate(text):
        if quote:
            if character == quote:
                quote = ""
        elif character in '"`':
            quote = character
        else:
            yield place, character


def _strip_comment(line: str) -> str:
    """Return a line without its comment, which starts with # at the beginning or after a space."""
    for place, character in _iterate_unquoted(line):
        if character == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place].strip()
    return line.strip()


def _split_unquoted(text: str, separator: str) -> list[str]:
    places = [place for place, character in _iterate_unquoted(text) if character == separator]
    starts, ends = [0, *(place + 1 for place in places)], [*places, len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in '"`' else text


def _quote(text: str) -> str:
    return repr(text if len(text) <= MAX_QUOTED_CHARACTERS else text[: MAX_QUOTED_CHARACTERS - 3] + "...")


def _to_number(text: str) -> float:
    number = float(text.replace("_", ""))
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _read_value(text: str) -> object:
    """Return a value as a number if it is one and not quoted."""
    if _unquote(text) != text.strip() or not re.fullmatch(_NUMBER, text.strip()):
        return _unquote(text)
    return _to_number(text)


def describe_promises(promises: Promises) -> str:
    """Return the number of promises by kind, for reports."""
    counts = [
        (len(promises.monotone), "direction"),
        (len(promises.invariant), "column that does not matter", "columns that do not matter"),
        (len(promises.protected), "protected column"),
        (len(promises.changes), "change"),
    ]
    return ", ".join(pluralise(*count) for count in counts if count[0])  # type: ignore[arg-type]

"""Format cases, answers and shares, in the same way in all findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .._lazy import pd
from .._text import format_short, pluralise
from ..core.result import Example
from ..errors import DataError
from ..exploration.changes import format_answers, format_value
from ..relations.algebra.base import JudgedGroups
from ..reporting.marked_text import MarkedText, has_several_words
from ..space.blocks import split_value_name
from ..space.dates import DateColumn
from ..space.outputs import Outputs
from ..space.points import Batch
from ..space.serialisation import value_to_json

MAX_FEATURES_PER_CASE = 6
MAX_TEXT_CHARACTERS = 300  # of a text with marked words
_DATE_COLUMNS: ContextVar[Mapping[str, DateColumn]] = ContextVar("date_columns", default=MappingProxyType({}))


@contextmanager
def show_dates(columns: Iterable[DateColumn]) -> Iterator[None]:
    """Write the days of these columns as dates in the texts that are made meanwhile."""
    token = _DATE_COLUMNS.set({column.name: column for column in columns})
    try:
        yield
    finally:
        _DATE_COLUMNS.reset(token)


def format_feature_value(name: str, value: object) -> str:
    """Return the value of a feature as text, and days as a date."""
    column = _DATE_COLUMNS.get().get(name)
    if column is not None and isinstance(value, int | float) and math.isfinite(value):
        return column.format_day(value)
    return format_value(value)


def format_answer(outputs: Outputs, row: int) -> str:
    """Return an answer as text."""
    if outputs.ok[row]:
        return format_answers(outputs.values[row : row + 1])[0]
    message = outputs.messages.get(row)
    return f"no answer ({message})" if message else "no answer"


def to_plain_answer(outputs: Outputs, row: int) -> Any:
    """Return an answer as a JSON-serialisable value; None if there is none."""
    return to_plain(outputs.values[row]) if outputs.ok[row] else None


def to_plain(value: object) -> Any:
    """Return a value as a JSON-serialisable one."""
    try:
        return value_to_json(value.item() if isinstance(value, np.generic) else value)
    except (DataError, TypeError, ValueError):
        return str(value)


def extract_case(batch: Batch, row: int) -> dict[str, Any]:
    """Return one case as a dict of JSON-serialisable values."""
    return extract_row(batch.take(slice(row, row + 1)).frame, 0)


def extract_row(frame: pd.DataFrame, row: int) -> dict[str, Any]:
    """Return one row of a frame as a dict of JSON-serialisable values."""
    one_row = frame.iloc[row : row + 1]
    # as objects: as one row, whole numbers beside others would become floats
    values = one_row.astype(object).to_numpy()[0].tolist()
    missing = one_row.isna().to_numpy()[0].tolist()
    return {
        str(name): None if is_missing else to_plain(value)
        for name, value, is_missing in zip(frame.columns, values, missing, strict=True)
    }


def format_case(case: Mapping[str, Any], limit: int = MAX_FEATURES_PER_CASE) -> str:
    """Return a case as text, with at most `limit` features."""
    blocks, case = split_blocks(case)
    if blocks:
        texts = [f"{name} ({pluralise(len(values), 'value')})" for name, values in blocks.items()]
        return ", ".join([*texts, *([format_case(case, limit)] if case else [])])
    text = ", ".join(f"{name} {format_feature_value(name, value)}" for name, value in list(case.items())[:limit])
    return text + (f" and {pluralise(len(case) - limit, 'more feature')}" if len(case) > limit else "")


def split_blocks(case: Mapping[str, Any]) -> tuple[dict[str, dict[tuple[int, ...], Any]], dict[str, Any]]:
    """Return the values of images and sequences of a case, by their names and positions, and its other values."""
    blocks: dict[str, dict[tuple[int, ...], Any]] = {}
    others = {}
    for name, value in case.items():
        parts = split_value_name(name)
        if parts is None:
            others[name] = value
        else:
            blocks.setdefault(parts[0], {})[parts[1]] = value
    return blocks, others


def _format_example_change(case: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    """Return what a follow-up changes, in words."""
    blocks, others = split_blocks(changed)
    texts = []
    for name, values in blocks.items():
        if len(values) > 1:
            texts.append(f"{pluralise(len(values), 'value')} of {name} changed")
        else:
            index, value = next(iter(values.items()))
            old = format_value(case[f"{name}[{','.join(map(str, index))}]"])
            texts.append(f"{name_position(index)} of {name} from {old} to {format_value(value)}")
    texts += [format_change(name, case[name], value) for name, value in others.items()]
    return ", ".join(texts)


def name_position(index: tuple[int, ...]) -> str:
    """Return where a value of an image or sequence is, in words."""
    if len(index) == 1:
        return f"position {index[0]}"
    channel = f", channel {index[2]}" if len(index) > 2 else ""
    return f"the pixel in row {index[0]}, column {index[1]}{channel}"


class AnsweredCase(NamedTuple):
    """A case with the answer to it, as a value and in words."""

    case: dict[str, Any]
    answer: Any
    answer_text: str


def read_case(batch: Batch, row: int, outputs: Outputs, output_row: int | None = None) -> AnsweredCase:
    """Return one case with its answer, which is in the same row of `outputs` unless `output_row` is given."""
    place = row if output_row is None else output_row
    return AnsweredCase(extract_case(batch, row), to_plain_answer(outputs, place), format_answer(outputs, place))


def build_example(
    source: AnsweredCase, follow_up: AnsweredCase | None = None, *, text: str = "", row: int | None = None
) -> Example:
    """Return a case, or a case and its follow-up, as an example; the default text says what changes, and the answers."""
    if follow_up is None:
        return Example(
            text=text or f"{format_case(source.case)}: {source.answer_text}",
            case=source.case,
            answer=source.answer,
            row=row,
        )
    case, new_case = source.case, follow_up.case
    changed = {name: new_case[name] for name in case if name in new_case and case[name] != new_case[name]}
    if not text:
        before, after = source.answer_text, follow_up.answer_text
        answers = f"{before} becomes {after}" if before != after else f"the answer stays {before}"
        text = f"{_format_example_change(case, changed)}: {answers}"
    return Example(text=text, case=case, answer=source.answer, changed=changed, new_answer=follow_up.answer, row=row)


def build_examples(batches: Sequence[Batch], outputs: Sequence[Outputs], rows: Iterable[int]) -> tuple[Example, ...]:
    """Return examples of cases before and after a change, which are in the same rows of two batches."""
    return tuple(
        build_example(*(read_case(batch, row, answers) for batch, answers in zip(batches, outputs, strict=True)))
        for row in rows
    )


def build_group_example(groups: JudgedGroups, phrases: tuple[str, str] = ("", "and then")) -> Example:
    """Return the first group as an example.

    If both cases are equal, `phrases` say how the two queries differ: after the first answer, and before the second.
    """
    source, follow_up = read_case(groups.source, 0, groups.before), read_case(groups.follow_up, 0, groups.after)
    text = ""
    if all(source.case[name] == follow_up.case.get(name, source.case[name]) for name in source.case):
        first, second = phrases
        text = f"{format_case(source.case)}: {source.answer_text}{first}, {second} {follow_up.answer_text}"
    return build_example(source, follow_up, text=text)


def format_change(name: str, before: object, after: object) -> str:
    """Return the change of a value in words; that of a text of several words with its words marked."""
    if has_several_words(before) and has_several_words(after):
        return f"{name} “{MarkedText.compare(str(before), str(after)).shorten(MAX_TEXT_CHARACTERS)}”"
    old, new = format_feature_value(name, before), format_feature_value(name, after)
    if old == new:  # times that differ by less than a minute
        old, new = format_value(before), format_value(after)
    return f"{name} from {old} to {new}"


def format_label(value: object) -> str:
    """Return a label for a title: shortened, and quoted if it is text."""
    return repr(format_short(value)) if isinstance(value, str) else format_short(value)

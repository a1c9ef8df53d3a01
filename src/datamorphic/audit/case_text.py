"""Format cases, answers and shares, in the same way in all findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._stats import compute_wilson_interval
from .._text import format_percent, format_short, pluralize
from ..errors import DataError
from ..exploration._utils import format_answers, format_value
from ..relations.base import JudgedGroups
from ..reporting.marked_text import MarkedText, has_several_words
from ..space.blocks import split_value_name
from ..space.outputs import Outputs
from ..space.points import Batch
from ..space.serialize import value_to_json
from .finding import Example

MAX_FEATURES_PER_CASE = 6
MAX_TEXT_CHARACTERS = 300  # of a text with marked words


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
    import pandas as pd

    # column by column: as one row, whole numbers beside others would become floats
    frame = batch.take(slice(row, row + 1)).frame
    values = [frame.iloc[:, column].tolist()[0] for column in range(frame.shape[1])]
    return {
        str(name): None if pd.api.types.is_scalar(value) and pd.isna(value) else to_plain(value)
        for name, value in zip(frame.columns, values, strict=True)
    }


def format_case(case: Mapping[str, Any], limit: int = MAX_FEATURES_PER_CASE) -> str:
    """Return a case as text, with at most `limit` features."""
    blocks, case = split_blocks(case)
    if blocks:
        texts = [f"{name} ({pluralize(len(values), 'value')})" for name, values in blocks.items()]
        return ", ".join([*texts, *([format_case(case, limit)] if case else [])])
    text = ", ".join(f"{name} {format_value(value)}" for name, value in list(case.items())[:limit])
    return text + (f" and {pluralize(len(case) - limit, 'more feature')}" if len(case) > limit else "")


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
            texts.append(f"{pluralize(len(values), 'value')} of {name} changed")
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


def build_example(groups: JudgedGroups, phrases: tuple[str, str] = ("", "and then")) -> Example:
    """Return the first group as an example.

    If both cases are equal, `phrases` say how the two queries differ: after the first answer, and before the second.
    """
    case, follow_up = extract_case(groups.source, 0), extract_case(groups.follow_up, 0)
    changed = {name: follow_up[name] for name in case if name in follow_up and case[name] != follow_up[name]}
    before, after = format_answer(groups.before, 0), format_answer(groups.after, 0)
    if changed:
        change = _format_example_change(case, changed)
        text = f"{change}: {before} becomes {after}" if before != after else f"{change}: the answer stays {before}"
    else:
        first, second = phrases
        text = f"{format_case(case)}: {before}{first}, {second} {after}"
    return Example(
        words=text,
        case=case,
        answer=to_plain_answer(groups.before, 0),
        changed=changed,
        becomes=to_plain_answer(groups.after, 0),
    )


def format_change(name: str, before: object, after: object) -> str:
    """Return the change of a value in words; that of a text of several words with its words marked."""
    if has_several_words(before) and has_several_words(after):
        return f"{name} “{MarkedText.compare(str(before), str(after)).shorten(MAX_TEXT_CHARACTERS)}”"
    return f"{name} from {format_value(before)} to {format_value(after)}"


def format_share(count: int, total: int, noun: str = "case", plural: str | None = None) -> str:
    """Return a count with its share and 95% interval: ``3 of 150 cases (2%, 0.683% to 5.71%)``."""
    share, low, high = map(format_percent, (count / max(total, 1), *compute_wilson_interval(count, total)))
    return f"{count:,} of {pluralize(total, noun, plural)} ({share}, {low} to {high})"


def format_label(value: object) -> str:
    """Return a label for a title: shortened, and quoted if it is text."""
    return repr(format_short(value)) if isinstance(value, str) else format_short(value)

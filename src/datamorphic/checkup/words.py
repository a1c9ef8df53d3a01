"""Cases, answers and shares in words, the same way in every finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._checks import plural, short
from .._intervals import wilson
from ..errors import DataError
from ..fronts.reading import answers, told_value
from ..outputs import Outputs
from ..relations.base import Groups
from ..space.describe import value_to_json
from ..space.points import Batch, Points
from .finding import Example

MOST_FEATURES = 6  # of a case that are told in a sentence


def said(outputs: Outputs, row: int) -> str:
    """Return an answer in words."""
    if outputs.ok[row]:
        return answers(outputs.values[row : row + 1])[0]
    what = outputs.messages.get(row)
    return f"no answer ({what})" if what else "no answer"


def answered(outputs: Outputs, row: int) -> Any:
    """Return an answer as plain data; None where there is none."""
    return plain(outputs.values[row]) if outputs.ok[row] else None


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    try:
        return value_to_json(value.item() if isinstance(value, np.generic) else value)
    except (DataError, TypeError, ValueError):
        return str(value)


def case_of(batch: Batch, row: int) -> dict[str, Any]:
    """Return one case as plain values by feature."""
    import pandas as pd

    frame = batch.frame
    values = frame.iloc[row]
    return {
        str(name): None if pd.api.types.is_scalar(value) and pd.isna(value) else plain(value)
        for name, value in zip(frame.columns, values.tolist(), strict=True)
    }


def told_case(case: Mapping[str, Any], most: int = MOST_FEATURES) -> str:
    """Return a case in words."""
    told = ", ".join(f"{name} {told_value(value)}" for name, value in list(case.items())[:most])
    return told + (f" and {plural(len(case) - most, 'more feature')}" if len(case) > most else "")


def example_of(groups: Groups, row: int = 0, how: tuple[str, str] | None = None) -> Example:
    """Return a group as an example: the case, what changes, and both answers."""
    case, other = case_of(groups.source, row), case_of(groups.follow_up, row)
    changed = {name: other[name] for name in case if name in other and not _equal(case[name], other[name])}
    before, after = said(groups.before, row), said(groups.after, row)
    if changed:
        change = ", ".join(
            f"{name} from {told_value(case[name])} to {told_value(changed[name])}" for name in changed
        )
        words = (
            f"{change}: {before} becomes {after}" if before != after else f"{change}: the answer stays {before}"
        )
    else:
        first, then = how or ("", "and then")
        words = f"{told_case(case)}: {before}{first}, {then} {after}"
    return Example(words, case, answered(groups.before, row), changed, answered(groups.after, row))


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b) or (a is None and b is None)


def share(count: int, of: int, noun: str = "case") -> str:
    """Return a count with its share and how sure that is: ``3 of 150 cases (2.0 %, 0.7 to 5.7 %)``."""
    low, high = wilson(count, of)
    return f"{count:,} of {plural(of, noun)} ({100 * count / max(of, 1):.1f} %, {100 * low:.1f} to {100 * high:.1f} %)"


def nearest_rows(points: Points, outputs: Outputs, most: int = 3) -> list[Example]:
    """Return some cases with what the system said to them."""
    return [
        Example(
            f"{told_case(case_of(points, row))}: {said(outputs, row)}",
            case_of(points, row),
            answered(outputs, row),
        )
        for row in range(min(most, len(points)))
    ]


def brief(value: Any) -> str:
    """Return a name or a label for a title: short, in quotes if it is text."""
    return repr(short(value)) if isinstance(value, str) else short(value)

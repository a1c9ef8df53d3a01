"""A difference of fronts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import plural
from .evidence import told_rows
from .reading import answers, told_value

if TYPE_CHECKING:
    import pandas as pd

    from .difference import Difference

MOST_CASES = 3
MOST_FEATURES = 8  # of a case that are told
MOST_KINDS = 5
STATUS = ("kept", "moved", "vanished", "gained")


def lines(change: Difference) -> list[str]:
    """Return what was found, what it rests on, and the cases to look at first, a line each."""
    return [_headline(change), *_pairs(change), *_rows(change), *_limits(change), *_cases(change)]


def _headline(change: Difference) -> str:
    old, new, judged = change.old, change.new, change.judged
    names = old.subject if old.subject == new.subject else f"{old.subject} and {new.subject}"
    if not len(change.table):
        if change.findings:
            return f"Neither of the two fronts of {names} has a border, but {'; '.join(change.findings)}."
        return f"Neither of the two fronts of {names} has a border: there is nothing to compare."
    border = f"The border of {names}, old and new,"
    kept = f"{change.kept:.1%} of {plural(len(judged), 'pair')} are kept"
    if not judged["asked"].any():
        if change.unchanged:
            return f"{border} shows no change that could not be chance."
        return f"{border} has changed: " + "; ".join(change.findings) + "."
    if change.unchanged:
        return f"{border} is where it was: {kept}."
    if change.kept < 1:
        return f"{border} has changed: {kept}."
    if any(each.startswith("borders ") for each in change.findings):
        return f"{border} has changed: {'; '.join(change.findings)}."
    return (
        f"{border} is where it was at all {plural(len(judged), 'pair')} asked about, and yet there are changes: "
        + ("; ".join(change.findings) + ".")
    )


def _pairs(change: Difference) -> list[str]:
    """What became of the pairs, where that is more than chance."""
    import pandas as pd

    if change.unchanged:
        return []
    judged, told = change.judged, []
    moved = judged[judged["status"] == "moved"]["shift"]
    if len(moved):
        told.append(
            f"{plural(len(moved), 'pair')} moved, by {moved.median():.2g} of the features' ranges (median) and "
            f"{moved.max():.2g} at most"
        )
    for status, whose in (("vanished", "old"), ("gained", "new")):
        count = int((judged["status"] == status).sum())
        if count:
            told.append(f"{plural(count, 'pair')} of the {whose} front {status}: the other has none like it near")
    if change.kept == 1:
        return told
    by_border = pd.crosstab(judged["border"], judged["status"])
    by_border = by_border.loc[change.summary.index.intersection(by_border.index, sort=False)]
    for kind, row in by_border.head(MOST_KINDS).iterrows():
        each = {status: int(row[status]) for status in STATUS if row.get(status)}
        if set(each) != {"kept"}:
            told.append(f"  {kind}: " + ", ".join(f"{count:,} {status}" for status, count in each.items()))
    swapped = sum(
        case.old_a == case.new_b and case.old_b == case.new_a and case.status != "kept"
        for case in judged[["status", "old_a", "old_b", "new_a", "new_b"]].itertuples()
    )
    if swapped:
        told.append(f"at {plural(swapped, 'pair')} the two answers have changed places")
    fronts = change.table.groupby("border")["front"].nunique()
    both = set(fronts.index[fronts == 2])
    for status, what in (("vanished", "no longer found"), ("gained", "found for the first time")):
        only = [
            str(kind) for kind, row in by_border.iterrows() if row.sum() == row.get(status) and kind not in both
        ]
        told += [f"borders {what}: {', '.join(only[:8])}{', ...' if len(only) > 8 else ''}"] if only else []
    if judged["asked"].any():  # else the headline has them
        told += [each for each in change.findings if each.startswith("borders ")]
    return told


def _rows(change: Difference) -> list[str]:
    """What became of real inputs, where the headline has not said it."""
    if change.rows is None:
        return []
    told = told_rows(change.rows, change.rows_asked)
    if not told:
        told = [f"all of {plural(change.rows_asked, 'real input')} are answered as before"]
    if not change.unchanged and (change.kept == 1 or not change.judged["asked"].any()):
        told = []
    if change.rows_near:
        told.append(f"{change.rows_near:,} more are within the tolerance of the border, and do not count")
    return told


def _limits(change: Difference) -> list[str]:
    """What could not be known, and what it cost to know the rest."""
    told = []
    absent = [which for which, front in (("old", change.old), ("new", change.new)) if front.sut is None]
    if len(absent) == 1:
        one, other = absent[0], "new" if absent == ["old"] else "old"
        told.append(
            f"The {one} system is not at hand: the {other} one was asked about the pairs of the {one} front, and those of "
            f"the {other} front were only measured"
        )
    elif absent and len(change.table):
        usual = float(np.median([change.resolution[kind] for kind in change.table["border"]]))
        told.append(
            f"Neither system is at hand to be asked: shifts below {usual:.2g}, the spacing of the pairs, can hardly be told "
            "from chance"
        )
    if change.calls:
        told.append(f"{plural(change.calls, 'call')} of the systems")
    return told


def _cases(change: Difference) -> list[str]:
    """The first cases to look at."""
    if change.unchanged or not len(change._cases):
        return []
    width = len(change.old.space)
    return ["Look first at:", *(f"  {_case(row, width)}" for _, row in change.first(MOST_CASES).iterrows())]


def _case(row: pd.Series[Any], width: int) -> str:
    features = [f"{name} {_brief(value)}" for name, value in list(row.items())[: min(width, MOST_FEATURES)]]
    shown = ", ".join(features) + (", ..." if width > MOST_FEATURES else "")
    before, after, why = row.iloc[width : width + 3]
    nothing = "no answer" if "no answer" in why else "not asked"
    both = [nothing if each is None else answers([each])[0] for each in (before, after)]
    if both[0] == both[1]:  # 1 and "1"
        both = [repr(before), repr(after)]
    return f"{shown}: {' -> '.join(both)}, {why}"


def _brief(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) and value == value else told_value(value)

"""A difference of fronts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import pluralize
from .._utils import format_answers, format_value
from .evidence import describe_changed_inputs

if TYPE_CHECKING:
    import pandas as pd

    from .diff import Difference

MAX_CASES = 3
MAX_FEATURES_PER_CASE = 8  # of a case that are told
MAX_BORDERS = 5
STATUSES = ("kept", "moved", "vanished", "gained")


def format_difference(change: Difference) -> list[str]:
    """Return what was found, what it rests on, and the cases to look at first, a line each."""
    return [
        _format_headline(change),
        *_format_pairs(change),
        *_format_inputs(change),
        *_format_limits(change),
        *_format_cases(change),
    ]


def _format_headline(change: Difference) -> str:
    old, new, judged_pairs = change.old, change.new, change.judged
    names = old.subject if old.subject == new.subject else f"{old.subject} and {new.subject}"
    if not len(change.table):
        if change.findings:
            return f"Neither of the two fronts of {names} has a border, but {'; '.join(change.findings)}."
        return f"Neither of the two fronts of {names} has a border: there is nothing to compare."
    border = f"The border of {names}, old and new,"
    kept_share = f"{change.kept:.1%} of {pluralize(len(judged_pairs), 'pair')} are kept"
    if not judged_pairs["asked"].any():
        if change.unchanged:
            return f"{border} shows no change that could not be chance."
        return f"{border} has changed: " + "; ".join(change.findings) + "."
    if change.unchanged:
        return f"{border} is where it was: {kept_share}."
    if change.kept < 1:
        return f"{border} has changed: {kept_share}."
    if any(finding.startswith("borders ") for finding in change.findings):
        return f"{border} has changed: {'; '.join(change.findings)}."
    return (
        f"{border} is where it was at all {pluralize(len(judged_pairs), 'pair')} asked about, and yet there are changes: "
        + ("; ".join(change.findings) + ".")
    )


def _format_pairs(change: Difference) -> list[str]:
    """What became of the pairs, where that is more than chance."""
    import pandas as pd

    if change.unchanged:
        return []
    judged_pairs, sentences = change.judged, []
    shifts = judged_pairs[judged_pairs["status"] == "moved"]["shift"]
    if len(shifts):
        sentences.append(
            f"{pluralize(len(shifts), 'pair')} moved, by {shifts.median():.2g} of the features' ranges (median) and "
            f"{shifts.max():.2g} at most"
        )
    for status, version in (("vanished", "old"), ("gained", "new")):
        count = int((judged_pairs["status"] == status).sum())
        if count:
            sentences.append(
                f"{pluralize(count, 'pair')} of the {version} front {status}: the other has none like it near"
            )
    if change.kept == 1:
        return sentences
    by_border = pd.crosstab(judged_pairs["border"], judged_pairs["status"])
    by_border = by_border.loc[change.summary.index.intersection(by_border.index, sort=False)]
    for kind, row in by_border.head(MAX_BORDERS).iterrows():
        counts = {status: int(row[status]) for status in STATUSES if row.get(status)}
        if set(counts) != {"kept"}:
            sentences.append(f"  {kind}: " + ", ".join(f"{count:,} {status}" for status, count in counts.items()))
    swapped_count = sum(
        case.old_a == case.new_b and case.old_b == case.new_a and case.status != "kept"
        for case in judged_pairs[["status", "old_a", "old_b", "new_a", "new_b"]].itertuples()
    )
    if swapped_count:
        sentences.append(f"at {pluralize(swapped_count, 'pair')} the two answers have changed places")
    front_counts = change.table.groupby("border")["front"].nunique()
    in_both = set(front_counts.index[front_counts == 2])
    for status, outcome in (("vanished", "no longer found"), ("gained", "found for the first time")):
        exclusive_borders = [
            str(kind) for kind, row in by_border.iterrows() if row.sum() == row.get(status) and kind not in in_both
        ]
        sentences += (
            [
                f"borders {outcome}: {', '.join(exclusive_borders[:8])}{', ...' if len(exclusive_borders) > 8 else ''}"
            ]
            if exclusive_borders
            else []
        )
    if judged_pairs["asked"].any():  # else the headline has them
        sentences += [finding for finding in change.findings if finding.startswith("borders ")]
    return sentences


def _format_inputs(change: Difference) -> list[str]:
    """What became of real inputs, where the headline has not said it."""
    if change.rows is None:
        return []
    sentences = describe_changed_inputs(change.rows, change.rows_asked)
    if not sentences:
        sentences = [f"all of {pluralize(change.rows_asked, 'real input')} are answered as before"]
    if not change.unchanged and (change.kept == 1 or not change.judged["asked"].any()):
        sentences = []
    if change.rows_near:
        sentences.append(f"{change.rows_near:,} more are within the tolerance of the border, and do not count")
    return sentences


def _format_limits(change: Difference) -> list[str]:
    """What could not be known, and what it cost to know the rest."""
    sentences = []
    absent = [version for version, front in (("old", change.old), ("new", change.new)) if front.sut is None]
    if len(absent) == 1:
        missing_version, attached_version = absent[0], "new" if absent == ["old"] else "old"
        sentences.append(
            f"The {missing_version} system is not at hand: the {attached_version} one was asked about the pairs of the {missing_version} front, and those of "
            f"the {attached_version} front were only measured"
        )
    elif absent and len(change.table):
        median_resolution = float(np.median([change.resolution[kind] for kind in change.table["border"]]))
        sentences.append(
            f"Neither system is at hand to be asked: shifts below {median_resolution:.2g}, the spacing of the pairs, can hardly be told "
            "from chance"
        )
    if change.calls:
        sentences.append(f"{pluralize(change.calls, 'call')} of the systems")
    return sentences


def _format_cases(change: Difference) -> list[str]:
    """The first cases to look at."""
    if change.unchanged or not len(change._cases):
        return []
    width = len(change.old.space)
    return ["Look first at:", *(f"  {_format_case(row, width)}" for _, row in change.first(MAX_CASES).iterrows())]


def _format_case(row: pd.Series[Any], width: int) -> str:
    features = [
        f"{name} {_format_brief(value)}" for name, value in list(row.items())[: min(width, MAX_FEATURES_PER_CASE)]
    ]
    description = ", ".join(features) + (", ..." if width > MAX_FEATURES_PER_CASE else "")
    before, after, reason = row.iloc[width : width + 3]
    placeholder = "no answer" if "no answer" in reason else "not asked"
    answer_texts = [placeholder if answer is None else format_answers([answer])[0] for answer in (before, after)]
    if answer_texts[0] == answer_texts[1]:  # 1 and "1"
        answer_texts = [repr(before), repr(after)]
    return f"{description}: {' -> '.join(answer_texts)}, {reason}"


def _format_brief(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) and value == value else format_value(value)

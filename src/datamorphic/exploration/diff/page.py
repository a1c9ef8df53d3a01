"""A difference between two fronts as a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import format_percent, pluralise
from ...reporting.document import Page, Section, Table
from ...reporting.text import format_cell
from ..changes import format_answers, format_value
from ..page import build_table
from .diff import STATUSES, Difference
from .evidence import ChangeKind, describe_changed_inputs, format_listing

MAX_CASES = 3  # one line each
MAX_FEATURES_PER_CASE = 8
MAX_ROWS = 30  # rows per table


def build_difference_page(change: Difference, brief: bool = False) -> Page:
    """Build the page of a difference: the verdict, the borders, and the cases to look at first.

    With `brief`, it is the short form for terminals, with a line per case.
    """
    sections = []
    if outcome := format_outcome(change):
        heading = "How they were compared" if change.unchanged else "What changed"
        sections.append(Section(heading=heading, text="\n".join(f"• {line}" for line in outcome)))
    if len(change.table) and not (brief and change.unchanged):
        text = "" if brief else "The number of pairs per border and status."
        sections.append(Section(heading="The borders", text=text, table=_tabulate_borders(change)))
    if not change.unchanged and len(change.first()):
        text = "The border changed most here, and the inputs are plausible."
        if brief:
            text = "\n".join(f"• {case}" for case in format_first_cases(change))
        table = None if brief else build_table(change.first(), MAX_ROWS)
        sections.append(Section(heading="Cases to look at first", text=text, table=table))
    return Page(
        title=f"The border of {change.old.subject}, old and new",
        lead="Where the border moved, was gained or vanished.",
        verdict=format_headline(change),
        state="good" if change.unchanged else "bad",
        sections=sections,
    )


def _tabulate_borders(change: Difference) -> Table:
    """Return the pairs that were judged, by border and status."""
    summary, judged = change.summary, change.judged
    counts = pd.crosstab(judged["border"], judged["status"])
    counts = counts.reindex(index=summary.index, columns=list(STATUSES), fill_value=0)
    frame = summary.assign(**{str(name): counts[name] for name in counts}).round(3).head(MAX_ROWS).reset_index()
    rows = [[format_cell(value) for value in row] for row in frame.itertuples(index=False)]
    return Table(columns=[str(name) for name in frame.columns], rows=rows)


# -- sentences ---------------------------------------------------------------------------------------------------------


def format_outcome(change: Difference) -> list[str]:
    """Return the evidence for the verdict and the limits of the comparison as sentences."""
    return [*_format_pairs(change), *_format_inputs(change), *_format_limits(change)]


def format_headline(change: Difference) -> str:
    """Return the verdict in one sentence."""
    names = " and ".join(dict.fromkeys([change.old.subject, change.new.subject]))
    findings, total = "; ".join(change.findings), pluralise(len(change.judged), "pair")
    if not len(change.table):
        outcome = f", but {findings}" if findings else ": there is nothing to compare"
        return f"Neither of the two fronts of {names} has a border{outcome}."
    border, was_queried = f"The border of {names}, old and new,", change.judged["asked"].any()
    if change.unchanged:
        outcome = f"is unchanged: {format_percent(change.kept)} of {total} are kept"
        return f"{border} {outcome if was_queried else 'shows no change that could not be chance'}."
    if was_queried and change.kept < 1:
        return f"{border} has changed: {format_percent(change.kept)} of {total} are kept."
    if not was_queried or any(item.kind is ChangeKind.BORDERS for item in change.evidence):
        return f"{border} has changed: {findings}."
    return f"{border} is unchanged at all {total} that were queried, but there are other changes: {findings}."


def _format_pairs(change: Difference) -> list[str]:
    """Return the outcome of the pairs, where it is more than chance."""
    if change.unchanged:
        return []
    judged_pairs, sentences = change.judged, []
    shifts = judged_pairs[judged_pairs["status"] == "moved"]["shift"]
    if len(shifts):
        sentences.append(
            f"{pluralise(len(shifts), 'pair')} moved, by {shifts.median():.2g} of the features' ranges (median) and "
            f"{shifts.max():.2g} at most"
        )
    for status, version, verb in (("vanished", "old", "vanished"), ("gained", "new", "were gained")):
        count = int((judged_pairs["status"] == status).sum())
        if count:
            pairs, verb = pluralise(count, "pair"), verb if count > 1 else verb.replace("were", "was")
            sentences.append(f"{pairs} of the {version} front {verb}: the other front has no such pair nearby")
    if change.kept == 1:
        return sentences
    by_border = pd.crosstab(judged_pairs["border"], judged_pairs["status"])
    by_border = by_border.loc[change.summary.index.intersection(by_border.index, sort=False)]
    swapped_count = sum(
        pair.old_a == pair.new_b and pair.old_b == pair.new_a and pair.status != "kept"
        for pair in judged_pairs[["status", "old_a", "old_b", "new_a", "new_b"]].itertuples()
    )
    if swapped_count:
        sentences.append(f"at {pluralise(swapped_count, 'pair')} the two answers are swapped")
    front_counts = change.table.groupby("border")["front"].nunique()
    in_both = set(front_counts.index[front_counts == 2])
    for status, outcome in (("vanished", "no longer found"), ("gained", "found for the first time")):
        exclusive_borders = [
            str(kind) for kind, row in by_border.iterrows() if row.sum() == row.get(status) and kind not in in_both
        ]
        if exclusive_borders:
            sentences.append(f"borders {outcome}: {format_listing(exclusive_borders)}")
    if judged_pairs["asked"].any():  # otherwise they are in the headline
        sentences += [item.text for item in change.evidence if item.kind is ChangeKind.BORDERS]
    return sentences


def _format_inputs(change: Difference) -> list[str]:
    """Return the outcome of real inputs, unless it is in the headline."""
    if change.rows is None:
        return []
    sentences = describe_changed_inputs(change.rows, change.rows_asked)
    if not sentences:
        sentences = [f"all of {pluralise(change.rows_asked, 'real input')} are answered as before"]
    if not change.unchanged and (change.kept == 1 or not change.judged["asked"].any()):
        sentences = []
    if change.rows_near:
        sentences.append(f"{change.rows_near:,} more are within the tolerance of the border and do not count")
    return sentences


def _format_limits(change: Difference) -> list[str]:
    """Return the limits of the comparison and its cost."""
    sentences = []
    old_missing, new_missing = change.old.sut is None, change.new.sut is None
    if old_missing != new_missing:
        missing, attached = ("old", "new") if old_missing else ("new", "old")
        sentences.append(
            f"The {missing} system is not attached: the {attached} one was queried at the pairs of the {missing} front, "
            f"and those of the {attached} front were only measured"
        )
    elif old_missing and len(change.table):
        median_resolution = float(np.median([change.resolution[kind] for kind in change.table["border"]]))
        sentences.append(
            f"Neither system is attached: shifts below {median_resolution:.2g}, the spacing of the pairs, are hard to "
            "distinguish from chance"
        )
    if change.calls:
        sentences.append(pluralise(change.calls, "model call"))
    return sentences


def format_first_cases(change: Difference) -> list[str]:
    """Return the first cases to look at, one line each."""
    if change.unchanged or not len(change._cases):
        return []
    width = len(change.old.space)
    first_cases = zip(change.first(MAX_CASES).iterrows(), change._unanswered_cases, strict=False)
    return [_format_case(row, width, unanswered) for (_, row), unanswered in first_cases]


def _format_case(row: pd.Series[Any], width: int, unanswered: bool) -> str:
    features = [
        f"{name} {value:.6g}" if isinstance(value, float) and value == value else f"{name} {format_value(value)}"
        for name, value in list(row.items())[: min(width, MAX_FEATURES_PER_CASE)]
    ]
    description = ", ".join(features) + (", ..." if width > MAX_FEATURES_PER_CASE else "")
    before, after, reason = row.iloc[width : width + 3]
    placeholder = "no answer" if unanswered else "not queried"
    answer_texts = [placeholder if answer is None else format_answers([answer])[0] for answer in (before, after)]
    if answer_texts[0] == answer_texts[1]:  # 1 and "1"
        answer_texts = [repr(before), repr(after)]
    return f"{description}: {' -> '.join(answer_texts)}, {reason}"

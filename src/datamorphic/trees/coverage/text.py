"""Results about rows and trees as text for a terminal."""

from __future__ import annotations

import numpy as np

from ..._text import format_percent, format_short, pluralize
from .coverage import Coverage
from .mutation import MutationScore
from .result import DEFAULT_LISTED_ITEMS
from .selection import Selection

SELECTION_TEXTS = {
    "DTC": "chosen to reach leaves",
    "BVA": "made at the limits of leaves",
    "DTMT": "chosen to kill mutants",
}


def format_coverage(coverage: Coverage, n: int = DEFAULT_LISTED_ITEMS) -> str:
    """Return a coverage as text that lists at most `n` uncovered leaves."""
    lines = [f"{coverage.summary}, by {pluralize(coverage.rows, 'row')} ({coverage.criterion})."]
    has_many_trees = len(coverage.trees) > 1
    if has_many_trees:
        lines.append(_format_shares(coverage.shares))
    uncovered = coverage.uncovered(n)
    if len(uncovered):
        lines.append("Not reached, most training rows first:")
    for leaf in uncovered.itertuples():
        tree = f"tree {leaf.tree}, " if has_many_trees else ""
        meaning = coverage.trees[leaf.tree].meaning
        meaning_text = f" ({meaning})" if meaning else ""
        lines.append(f"  {tree}leaf {leaf.Index}: {leaf.rule} -> {format_short(leaf.answer)}{meaning_text}")
    if len(uncovered):
        lines += _count_remaining(coverage, len(uncovered))
    return "\n".join([*lines, *coverage.notes])


def _count_remaining(coverage: Coverage, listed: int) -> list[str]:
    remaining = int((~coverage.covered).sum()) - listed
    return [f"  and {remaining:,} more."] if remaining else []


def format_mutation_score(score: MutationScore, n: int = DEFAULT_LISTED_ITEMS) -> str:
    """Return a mutation score as text with at most `n` mutants and leaves."""
    joint = ", answers of the whole forest" if score.joint else ""
    lines = [f"{score.summary}, by {pluralize(score.rows, 'row')} ({score.criterion}{joint})."]
    if len(score.of) > 1:
        lines.append(_format_shares(score.shares[~np.isnan(score.shares)]))
    if len(score.live):
        lines += _format_live_mutants(score, n)
    uncovered = score.leaves.uncovered(n)
    if len(uncovered):
        lines.append(f"{score.leaves.summary}. Not reached:")
        lines += [f"  {leaf.rule} -> {leaf.answer}" for leaf in uncovered.itertuples()]
        lines += _count_remaining(score.leaves, len(uncovered))
    return "\n".join([*lines, *score.notes])


def _format_live_mutants(score: MutationScore, n: int) -> list[str]:
    live = f"{pluralize(len(score.live), 'mutant')} {'survives' if len(score.live) == 1 else 'survive'}"
    if not score.explained:
        return [f"{live}: too many to explain all of them. uncovered() explains some."]
    max_score = format_percent(1 - score.proved / len(score.counts))
    lines = [
        f"{live}: {score.proved:,} cannot be killed by any possible input, so at most {max_score} can be killed; "
        f"{score.killable:,} could be killed by rows that the data lack."
    ]
    for mutant in score.uncovered(n).itertuples():
        tree = f"tree {mutant.tree}, " if len(score.of) > 1 else ""
        where = f" (where {mutant.where})" if mutant.node else ""  # every row reaches the root
        lines.append(f"  mutant {mutant.Index}: {tree}{mutant.change}{where}: {mutant.why}")
    return lines


def format_selection(selection: Selection, n: int = DEFAULT_LISTED_ITEMS) -> str:
    """Return a selection as text, with what all the data cover."""
    rows = f"{pluralize(len(selection), 'row')} of {selection.leaves.rows:,}"
    minimality = {True: "; no smaller set suffices", False: "; a smaller set may suffice", None: ""}[selection.smallest]
    lines = [
        f"{rows} {SELECTION_TEXTS[selection.criterion]} ({selection.criterion}){minimality}.",
        f"All the data: {selection.data_result.describe(n)}",
    ]
    return "\n".join([*lines, *selection.notes])


def _format_shares(shares: np.ndarray) -> str:
    return f"Per tree from {format_percent(shares.min())} to {format_percent(shares.max())}."

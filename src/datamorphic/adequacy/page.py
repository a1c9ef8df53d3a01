"""What rows do for trees as a page: what is reached and killed, the tree drawn, what is missing and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import plural, short
from ..errors import DataError
from ..reports.summary import Drawing, Mark, Report, Section, State, Table, Words
from ..reports.texts import cut, one_line
from ..trees.boundaries import Boundaries, Limit
from .coverage import Coverage
from .drawing import drawing_of
from .mutation import LOOKED_THROUGH, MutationScore
from .selection import Selection

if TYPE_CHECKING:
    import pandas as pd

MOST_LEAVES, MOST_MUTANTS, MOST_ROWS, MOST_LIMITS = 20, 20, 100, 300
WORST = 10  # trees of a forest
CHANGED = 8  # columns told of one row
BARS, BAR, HIGH = 20, 30.0, 110.0  # of the picture of trees

WHAT = {
    "DTC": "every leaf is reached by a row",
    "BVA": "every leaf is reached by a row at its limits",
    "DTMT": "every mutant, a tree with one decision changed, gets another answer for some row",
}


def page_of(found: Coverage | MutationScore | Selection) -> Report:
    """Return a page on what rows do for trees."""
    if isinstance(found, Selection):
        return _of_selection(found)
    leaves = _leaves_of(found)
    open_ = missing(found)
    return Report(
        f"Is the test set good enough for {_owner(leaves)}?",
        "Each leaf of a tree stands for inputs that it treats alike. A leaf that no row reaches is a kind of input that "
        "was never tried; a mutant that no row kills is a mistake that these rows would not show.",
        _sections(found),
        headline(found),
        "warn" if open_ else "good",
        _facts(found),
    )


def headline(found: Coverage | MutationScore | Selection, who: str = "The tests") -> str:
    """Return what was found in a sentence."""
    if isinstance(found, Selection):
        made = "made at the limits of leaves" if found.criterion == "BVA" else "chosen"
        data = headline(found.mutation or found.leaves, "all the data")
        return f"{plural(len(found), 'row')} {made} out of {found.leaves.rows:,}; {data}"
    if isinstance(found, MutationScore):
        killed, all_ = int(found.killed.sum()), len(found.counts)
        told = f"{who} kill {killed:,} of {plural(all_, 'mutant')} ({100 * found.score:.2f} %)"
        if len(found.live) and not missing(found):
            told += "; nothing can kill the others"
        return told
    reached, limits = int(found.covered.sum()), " at their limits" if found.criterion == "BVA" else ""
    told = f"{reached:,} of {plural(found.leaves, 'leaf', 'leaves')}{limits} ({100 * found.share:.1f} %)"
    return f"{who} reach {told}"


def missing(found: Coverage | MutationScore) -> int:
    """Return how much is not met that some row could, as far as is known."""
    if isinstance(found, Coverage):
        return int((~found.covered).sum())
    if len(found.live) > LOOKED_THROUGH:
        return len(found.live)
    return len(found.live) - found.proved


def _leaves_of(found: Coverage | MutationScore) -> Coverage:
    return found if isinstance(found, Coverage) else found.leaves


def _owner(leaves: Coverage) -> str:
    owner = leaves.inputs.owner
    return owner[:1].lower() + owner[1:] if owner.startswith("The ") else f"this {owner}"


def _facts(found: Coverage | MutationScore) -> list[tuple[str, str]]:
    leaves = _leaves_of(found)
    trees = f"{len(leaves.trees):,} trees with " if len(leaves.trees) > 1 else ""
    nodes = sum(map(len, leaves.trees))
    return [
        ("Criterion", f"{found.criterion}: {WHAT[found.criterion]}"),
        ("Rows", f"{leaves.rows:,}"),
        ("Model", f"{trees}{plural(nodes, 'node')}, {plural(leaves.leaves, 'leaf', 'leaves')}"),
        *_mutants(found),
        *((("Notes", "\n".join(f"• {note}" for note in found.notes)),) if found.notes else ()),
    ]


def _mutants(found: Coverage | MutationScore) -> list[tuple[str, str]]:
    if isinstance(found, Coverage):
        return []
    live = len(found.live)
    told = f"{len(found.counts):,}, of which {len(found.counts) - live:,} are killed and {live:,} live"
    if found.joint:
        told += "; killed means that the answer of the whole forest changes"
    if 0 < live <= LOOKED_THROUGH:
        can = sum(found.why(int(each)).killable is True for each in found.live)
        told += (
            f". Of those that live, {can:,} could be killed, and {found.proved:,} answer as the tree does to every "
            "possible input"
        )
        unknown = live - can - found.proved
        told += f"; of {unknown:,} it is not known" if unknown else ""
    reached = f"{int(found.leaves.covered.sum()):,} ({100 * found.leaves.share:.1f} %)"
    return [("Mutants", told + "."), ("Leaves reached", reached)]


# -- sections ----------------------------------------------------------------------------------------------------------


def _sections(found: Coverage | MutationScore) -> list[Section]:
    leaves = _leaves_of(found)
    sections = [_drawn(found)]
    if isinstance(found, MutationScore) and len(found.live):
        sections.append(_alive(found))
    if not leaves.covered.all():
        sections.append(_absent(leaves))
    if len(leaves.trees) > 1:
        sections.append(_by_tree(found))
    return sections


def _drawn(found: Coverage | MutationScore) -> Section:
    leaves, tree, heading, text = _leaves_of(found), 0, "The tree", ""
    if len(leaves.trees) > 1:
        shares = found.shares
        tree = int(np.nanargmin(shares))
        heading = f"Tree {tree:,}, of all {len(leaves.trees):,} the one with the lowest share"
        text = "to_svg(path, tree=...) draws any other. Trees are numbered from 0."
    meaning = leaves.trees[tree].meaning
    if meaning:
        text = f"What leaves tell is {meaning}. {text}"
    return Section(heading, text.strip(), anchor="tree", drawing=drawing_of(found, tree))


def _absent(leaves: Coverage) -> Section:
    table = leaves.uncovered(MOST_LEAVES)
    many, at_limits = len(leaves.trees) > 1, leaves.criterion == "BVA"
    rows = []
    for each in table.itertuples():
        told, sides = _reaching(leaves, int(each.Index))
        tree = [str(each.tree)] if many else []
        rows.append([str(each.Index), *tree, each.rule, short(each.answer), f"{100 * each.training:.1f} %", told])
        if at_limits:
            rows[-1].append(sides)
    columns = ["leaf", *["tree"] * many, "who comes there", "answer", "training rows", "a row that does"]
    if at_limits:
        columns.append("at its limits")
    count = int((~leaves.covered).sum())
    how = " at its limits" if at_limits else ""
    more = f"The first {len(rows):,} of {count:,} are listed." if len(rows) < count else ""
    return Section(
        f"{plural(count, 'leaf', 'leaves')} that no row reaches{how}",
        "First those that most training rows came to. Each row told was sent through the tree and does reach the leaf. "
        + more,
        "warn",
        Table(columns, rows),
        anchor="leaves",
    )


def _reaching(leaves: Coverage, leaf: int) -> tuple[str, str]:
    """Return a row that reaches a leaf in words, and which of its values lie at limits."""
    try:
        made = leaves.example(leaf)
        if leaves.criterion != "BVA":
            return _like(made, leaves.frame), ""
        tree, node = leaves.place(leaf)
        at = Boundaries(leaves.trees[tree], leaves.frame_with(made), leaves.inputs, leaves.offset)
        found = at.made(node, leaves.rows, np.random.default_rng(0))
    except DataError as error:
        return cut(str(error), 200), ""
    if found is None:
        return "none was found that keeps to the columns' kinds", ""
    row = found[0].set_axis(made.index, axis=0)
    return _like(row, leaves.frame), "; ".join(map(_side, found[1]))


def _side(limit: Limit) -> str:
    """Return on which side of a limit a value lies, in words."""
    return f"{one_line(limit.column)} is {short(limit.value)}: {limit.limit} {'holds' if limit.holds else 'does not hold'}"


def _like(made: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Return a row in words: the row it was made of, and what was changed."""
    label = made.index[0]
    at = np.flatnonzero(frame.index == label)
    new = made.iloc[0]
    changed = list(made.columns)
    start = "a row with "
    if len(at) == 1:
        old = frame.iloc[int(at[0])]
        changed = [name for name in made.columns if not _same(old[name], new[name])]
        start = f"row {short(label)} with "
        if not changed:
            return f"row {short(label)}"
    told = [f"{one_line(str(name))} {_value(new[name])}" for name in changed[:CHANGED]]
    more = f" and {len(changed) - CHANGED} more" if len(changed) > CHANGED else ""
    return start + ", ".join(told) + more


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (one != one and other != other)


def _value(value: Any) -> str:
    return "missing" if value is None or value != value else short(value)


def _alive(found: MutationScore) -> Section:
    table = found.uncovered(MOST_MUTANTS)
    many = len(found.of) > 1
    rows = []
    for each in table.itertuples():
        tree = [str(each.tree)] if many else []
        kills = _killing(found, int(each.Index)) if each.killable is not False else "none"
        why = {True: f"could be killed: {each.why}", False: f"equivalent for every possible input: {each.why}"}
        rows.append([str(each.Index), *tree, each.change, each.where, why.get(each.killable, each.why), kills])
    columns = ["mutant", *["tree"] * many, "change", "at rows with", "why it lives", "a row that kills it"]
    count = len(found.live)
    more = f"The first {len(rows):,} of {count:,} are listed." if len(rows) < count else ""
    text = "Each answers as the tree does to every possible input, so no test can tell them apart."
    if missing(found):
        text = (
            "First those that a row could kill. Each row told was sent through the tree and the mutant, and they do "
            "answer differently."
        )
    return Section(
        f"{plural(count, 'mutant')} that no row kills",
        f"{text} {more}",
        "warn" if missing(found) else "good",
        Table(columns, rows),
        anchor="mutants",
    )


def _killing(found: MutationScore, mutant: int) -> str:
    try:
        return _like(found.example(mutant), found.leaves.frame)
    except DataError:
        return "none was found"


# -- forests -----------------------------------------------------------------------------------------------------------


def _by_tree(found: Coverage | MutationScore) -> Section:
    shares, leaves = found.shares, _leaves_of(found)
    known = np.flatnonzero(~np.isnan(shares))
    worst = known[np.argsort(shares[known], kind="stable")][:WORST]
    what, met = ("mutants", "killed") if isinstance(found, MutationScore) else ("leaves", "reached")
    sizes = [len(each) for each in found.of] if isinstance(found, MutationScore) else None
    rows = []
    for tree in worst.tolist():
        of = sizes[tree] if sizes is not None else len(leaves.trees[tree].leaves)
        rows.append([str(tree), f"{of:,}", f"{round(shares[tree] * of):,}", f"{100 * shares[tree]:.1f} %"])
    low, middle, high = 100 * np.quantile(shares[known], [0, 0.5, 1])
    caption = f"The {len(rows)} trees with the lowest share" if len(rows) < len(known) else ""
    return Section(
        "Tree by tree",
        f"From {low:.1f} % to {high:.1f} % of a tree's {what} are {met}; half of the trees have {middle:.1f} % or more.",
        table=Table(["tree", what, met, "share"], rows, caption),
        anchor="trees",
        drawing=_bars(shares[known]),
    )


def _bars(shares: Any) -> Drawing:
    """Return how many trees have which share, as bars."""
    counts, _ = np.histogram(shares, BARS, (0.0, 1.0))
    left, top = 10.0, 22.0
    bottom = top + HIGH
    shown: list[Mark | Words] = []
    for place, count in enumerate(counts.tolist()):
        if not count:
            continue
        high = max(2.0, HIGH * count / counts.max())
        x = left + BAR * place
        note = f"{plural(count, 'tree')}: {100 * place // BARS} to {100 * (place + 1) // BARS} %"
        shown.append(Mark(f"M{x + 2:.1f} {bottom:.1f}v-{high:.1f}h{BAR - 4:.1f}v{high:.1f}z", "bar", note))
        shown.append(Words(x + BAR / 2, bottom - high - 5, f"{count:,}", "mid small"))
    shown.append(Mark(f"M{left} {bottom}h{BAR * BARS}", "axis"))
    for place in range(0, BARS + 1, 5):
        shown.append(Words(left + BAR * place, bottom + 17, f"{100 * place // BARS} %", _anchored(place)))
    alt = ", ".join(
        f"{plural(count, 'tree')} at {100 * i // BARS} to {100 * (i + 1) // BARS} %"
        for i, count in enumerate(counts.tolist())
        if count
    )
    return Drawing(left * 2 + BAR * BARS, bottom + 26, shown, alt, "How many trees have which share")


def _anchored(place: int) -> str:
    return "small" if place == 0 else "end small" if place == BARS else "mid small"


# -- test sets ---------------------------------------------------------------------------------------------------------


def _of_selection(found: Selection) -> Report:
    base = found.mutation or found.leaves
    how = {
        "DTC": "Of the rows that reach a leaf one was drawn, for each leaf.",
        "BVA": "For each leaf one of the rows that reach it was moved to the limits of the leaf.",
        "DTMT": "Of the rows that kill a mutant one was drawn, for each mutant.",
    }[found.criterion]
    least = {True: " No smaller set does.", False: " A smaller set may do.", None: ""}[found.smallest]
    sections = [_rows(found)]
    if found.limits:
        sections.append(_limits(found))
    sections += _sections(base)
    state: State = "warn" if missing(base) else "good"
    facts = [fact for fact in _facts(base) if fact[0] != "Notes"]
    notes = [*found.notes, *base.notes]
    facts = [("Criterion", f"{found.criterion}: {WHAT[found.criterion]}"), *facts[1:]]
    if notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in notes)))
    return Report(
        f"A test set for {_owner(found.leaves)}",
        f"{how}{least} What no row of the data does, no choice of them does: the tree shows what all the data do.",
        sections,
        headline(found),
        state,
        facts,
        contents=True,
    )


def _rows(found: Selection) -> Section:
    shown = found.rows.iloc[:MOST_ROWS]
    made = found.criterion == "BVA"
    label = "made of row" if made else "row"
    rows = [
        [short(index), short(answer), *(_value(value) for value in values)]
        for index, answer, values in zip(
            shown.index, found.answers, shown.itertuples(index=False, name=None), strict=False
        )
    ]
    more = f"The first {len(rows):,} of {len(found):,} are listed." if len(rows) < len(found) else ""
    columns = [label, "the model answers", *(one_line(str(name)) for name in shown.columns)]
    return Section("The test set", more, table=Table(columns, rows) if rows else None, anchor="rows")


def _limits(found: Selection) -> Section:
    rows: list[Sequence[Any]] = []
    for place, limits in enumerate(found.limits):
        index = short(found.rows.index[place])
        for limit in limits:
            side = "yes: it lies on the lower side" if limit.holds else "no: it lies on the upper side"
            rows.append([str(place), index, one_line(limit.column), short(limit.value), limit.limit, side])
    count = len(rows)
    more = f"The first {MOST_LIMITS:,} of {count:,} are listed." if count > MOST_LIMITS else ""
    columns = ["place", "made of row", "column", "value", "limit", "does it hold?"]
    return Section(
        f"{plural(count, 'value')} at limits",
        f"Each was put right next to a limit of the leaf, and the rows were sent through the tree. {more}",
        table=Table(columns, rows[:MOST_LIMITS]),
        anchor="limits",
    )

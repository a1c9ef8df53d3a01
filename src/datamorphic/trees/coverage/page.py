"""What rows do for trees as a page: what is reached and killed, the tree drawn, what is missing and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import format_short, pluralize
from ...errors import DataError
from ...reporting.document import Drawing, Page, Section, SectionState, Shape, Table, TextLabel
from ...reporting.text import cut, to_one_line
from ..boundaries import Boundaries, Limit
from .coverage import Coverage
from .draw import draw_tree
from .mutation import MAX_EXPLAINED_MUTANTS, MutationScore
from .selection import Selection

if TYPE_CHECKING:
    import pandas as pd

MAX_LISTED_LEAVES, MAX_LISTED_MUTANTS, MAX_LISTED_ROWS, MAX_LISTED_LIMITS = 20, 20, 100, 300
MAX_LISTED_TREES = 10  # trees of a forest
MAX_LISTED_COLUMNS = 8  # columns told of one row
BAR_COUNT, BAR_WIDTH, BAR_MAX_HEIGHT = 20, 30.0, 110.0  # of the picture of trees

CRITERION_TEXTS = {
    "DTC": "every leaf is reached by a row",
    "BVA": "every leaf is reached by a row at its limits",
    "DTMT": "every mutant, a tree with one decision changed, gets another answer for some row",
}


def build_page(result: Coverage | MutationScore | Selection) -> Page:
    """Return a page on what rows do for trees."""
    if isinstance(result, Selection):
        return _build_selection_page(result)
    leaves = _get_coverage(result)
    unmet = count_unmet(result)
    return Page(
        title=f"Is the test set good enough for {_format_owner(leaves)}?",
        lead="Each leaf of a tree stands for inputs that it treats alike. A leaf that no row reaches is a kind of input that "
        "was never tried; a mutant that no row kills is a mistake that these rows would not show.",
        sections=_build_sections(result),
        verdict=format_headline(result),
        state="warn" if unmet else "good",
        facts=_list_facts(result),
    )


def format_headline(result: Coverage | MutationScore | Selection, subject: str = "The tests") -> str:
    """Return what was found in a sentence."""
    if isinstance(result, Selection):
        origin = "made at the limits of leaves" if result.criterion == "BVA" else "chosen"
        data = format_headline(result.mutation or result.leaves, "all the data")
        return f"{pluralize(len(result), 'row')} {origin} out of {result.leaves.rows:,}; {data}"
    if isinstance(result, MutationScore):
        killed, all_ = int(result.killed.sum()), len(result.counts)
        text = f"{subject} kill {killed:,} of {pluralize(all_, 'mutant')} ({100 * result.score:.2f} %)"
        if len(result.live) and not count_unmet(result):
            text += "; nothing can kill the others"
        return text
    reached, limits = int(result.covered.sum()), " at their limits" if result.criterion == "BVA" else ""
    text = f"{reached:,} of {pluralize(result.leaves, 'leaf', 'leaves')}{limits} ({100 * result.share:.1f} %)"
    return f"{subject} reach {text}"


def count_unmet(result: Coverage | MutationScore) -> int:
    """Return how much is not met that some row could, as far as is known."""
    if isinstance(result, Coverage):
        return int((~result.covered).sum())
    if len(result.live) > MAX_EXPLAINED_MUTANTS:
        return len(result.live)
    return len(result.live) - result.proved


def _get_coverage(result: Coverage | MutationScore) -> Coverage:
    return result if isinstance(result, Coverage) else result.leaves


def _format_owner(coverage: Coverage) -> str:
    owner = coverage.inputs.owner
    return owner[:1].lower() + owner[1:] if owner.startswith("The ") else f"this {owner}"


def _list_facts(result: Coverage | MutationScore) -> list[tuple[str, str]]:
    leaves = _get_coverage(result)
    trees = f"{len(leaves.trees):,} trees with " if len(leaves.trees) > 1 else ""
    nodes = sum(map(len, leaves.trees))
    return [
        ("Criterion", f"{result.criterion}: {CRITERION_TEXTS[result.criterion]}"),
        ("Rows", f"{leaves.rows:,}"),
        ("Model", f"{trees}{pluralize(nodes, 'node')}, {pluralize(leaves.leaves, 'leaf', 'leaves')}"),
        *_list_mutant_facts(result),
        *((("Notes", "\n".join(f"• {note}" for note in result.notes)),) if result.notes else ()),
    ]


def _list_mutant_facts(result: Coverage | MutationScore) -> list[tuple[str, str]]:
    if isinstance(result, Coverage):
        return []
    live = len(result.live)
    text = f"{len(result.counts):,}, of which {len(result.counts) - live:,} are killed and {live:,} live"
    if result.joint:
        text += "; killed means that the answer of the whole forest changes"
    if 0 < live <= MAX_EXPLAINED_MUTANTS:
        killable = sum(result.why(int(mutant)).killable is True for mutant in result.live)
        text += (
            f". Of those that live, {killable:,} could be killed, and {result.proved:,} answer as the tree does to every "
            "possible input"
        )
        unknown = live - killable - result.proved
        text += f"; of {unknown:,} it is not known" if unknown else ""
    reached = f"{int(result.leaves.covered.sum()):,} ({100 * result.leaves.share:.1f} %)"
    return [("Mutants", text + "."), ("Leaves reached", reached)]


# -- sections ----------------------------------------------------------------------------------------------------------


def _build_sections(result: Coverage | MutationScore) -> list[Section]:
    leaves = _get_coverage(result)
    sections = [_build_tree_section(result)]
    if isinstance(result, MutationScore) and len(result.live):
        sections.append(_build_live_mutants_section(result))
    if not leaves.covered.all():
        sections.append(_build_uncovered_section(leaves))
    if len(leaves.trees) > 1:
        sections.append(_build_trees_section(result))
    return sections


def _build_tree_section(result: Coverage | MutationScore) -> Section:
    leaves, tree, heading, text = _get_coverage(result), 0, "The tree", ""
    if len(leaves.trees) > 1:
        shares = result.shares
        tree = int(np.nanargmin(shares))
        heading = f"Tree {tree:,}, of all {len(leaves.trees):,} the one with the lowest share"
        text = "to_svg(path, tree=...) draws any other. Trees are numbered from 0."
    meaning = leaves.trees[tree].meaning
    if meaning:
        text = f"What leaves tell is {meaning}. {text}"
    return Section(heading=heading, text=text.strip(), anchor="tree", drawing=draw_tree(result, tree))


def _build_uncovered_section(coverage: Coverage) -> Section:
    table = coverage.uncovered(MAX_LISTED_LEAVES)
    has_many_trees, at_limits = len(coverage.trees) > 1, coverage.criterion == "BVA"
    rows = []
    for leaf in table.itertuples():
        row_text, sides = _describe_reaching_row(coverage, int(leaf.Index))
        tree = [str(leaf.tree)] if has_many_trees else []
        rows.append(
            [
                str(leaf.Index),
                *tree,
                leaf.rule,
                format_short(leaf.answer),
                f"{100 * leaf.training:.1f} %",
                row_text,
            ]
        )
        if at_limits:
            rows[-1].append(sides)
    columns = ["leaf", *["tree"] * has_many_trees, "who comes there", "answer", "training rows", "a row that does"]
    if at_limits:
        columns.append("at its limits")
    count = int((~coverage.covered).sum())
    limit_text = " at its limits" if at_limits else ""
    remaining_text = f"The first {len(rows):,} of {count:,} are listed." if len(rows) < count else ""
    return Section(
        heading=f"{pluralize(count, 'leaf', 'leaves')} that no row reaches{limit_text}",
        text="First those that most training rows came to. Each row told was sent through the tree and does reach the leaf. "
        + remaining_text,
        state="warn",
        table=Table(columns=columns, rows=rows),
        anchor="leaves",
    )


def _describe_reaching_row(coverage: Coverage, leaf: int) -> tuple[str, str]:
    """Return a row that reaches a leaf in words, and which of its values lie at limits."""
    try:
        example = coverage.example(leaf)
        if coverage.criterion != "BVA":
            return _describe_row(example, coverage.frame), ""
        tree, node = coverage.place(leaf)
        boundaries = Boundaries(
            coverage.trees[tree], coverage.frame_with(example), coverage.inputs, coverage.offset
        )
        boundary_row = boundaries.make_row(node, coverage.rows, np.random.default_rng(0))
    except DataError as error:
        return cut(str(error), 200), ""
    if boundary_row is None:
        return "none was found that keeps to the columns' kinds", ""
    row = boundary_row[0].set_axis(example.index, axis=0)
    return _describe_row(row, coverage.frame), "; ".join(map(_format_limit, boundary_row[1]))


def _format_limit(limit: Limit) -> str:
    """Return on which side of a limit a value lies, in words."""
    return f"{to_one_line(limit.column)} is {format_short(limit.value)}: {limit.limit} {'holds' if limit.holds else 'does not hold'}"


def _describe_row(example: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Return a row in words: the row it was made of, and what was changed."""
    label = example.index[0]
    places = np.flatnonzero(frame.index == label)
    new = example.iloc[0]
    changed = list(example.columns)
    start = "a row with "
    if len(places) == 1:
        old = frame.iloc[int(places[0])]
        changed = [name for name in example.columns if not _is_same(old[name], new[name])]
        start = f"row {format_short(label)} with "
        if not changed:
            return f"row {format_short(label)}"
    changes = [f"{to_one_line(str(name))} {_format_value(new[name])}" for name in changed[:MAX_LISTED_COLUMNS]]
    remaining_text = f" and {len(changed) - MAX_LISTED_COLUMNS} more" if len(changed) > MAX_LISTED_COLUMNS else ""
    return start + ", ".join(changes) + remaining_text


def _is_same(first: Any, second: Any) -> bool:
    return bool(first == second) or (first != first and second != second)


def _format_value(value: Any) -> str:
    return "missing" if value is None or value != value else format_short(value)


def _build_live_mutants_section(score: MutationScore) -> Section:
    table = score.uncovered(MAX_LISTED_MUTANTS)
    has_many_trees = len(score.of) > 1
    rows = []
    for mutant in table.itertuples():
        tree = [str(mutant.tree)] if has_many_trees else []
        killing_row = _describe_killing_row(score, int(mutant.Index)) if mutant.killable is not False else "none"
        reasons = {
            True: f"could be killed: {mutant.why}",
            False: f"equivalent for every possible input: {mutant.why}",
        }
        rows.append(
            [
                str(mutant.Index),
                *tree,
                mutant.change,
                mutant.where,
                reasons.get(mutant.killable, mutant.why),
                killing_row,
            ]
        )
    columns = [
        "mutant",
        *["tree"] * has_many_trees,
        "change",
        "at rows with",
        "why it lives",
        "a row that kills it",
    ]
    count = len(score.live)
    remaining_text = f"The first {len(rows):,} of {count:,} are listed." if len(rows) < count else ""
    text = "Each answers as the tree does to every possible input, so no test can tell them apart."
    if count_unmet(score):
        text = (
            "First those that a row could kill. Each row told was sent through the tree and the mutant, and they do "
            "answer differently."
        )
    return Section(
        heading=f"{pluralize(count, 'mutant')} that no row kills",
        text=f"{text} {remaining_text}",
        state="warn" if count_unmet(score) else "good",
        table=Table(columns=columns, rows=rows),
        anchor="mutants",
    )


def _describe_killing_row(score: MutationScore, mutant: int) -> str:
    try:
        return _describe_row(score.example(mutant), score.leaves.frame)
    except DataError:
        return "none was found"


# -- forests -----------------------------------------------------------------------------------------------------------


def _build_trees_section(result: Coverage | MutationScore) -> Section:
    shares, leaves = result.shares, _get_coverage(result)
    known_trees = np.flatnonzero(~np.isnan(shares))
    worst = known_trees[np.argsort(shares[known_trees], kind="stable")][:MAX_LISTED_TREES]
    unit, verb = ("mutants", "killed") if isinstance(result, MutationScore) else ("leaves", "reached")
    sizes = [len(mutants) for mutants in result.of] if isinstance(result, MutationScore) else None
    rows = []
    for tree in worst.tolist():
        size = sizes[tree] if sizes is not None else len(leaves.trees[tree].leaves)
        rows.append([str(tree), f"{size:,}", f"{round(shares[tree] * size):,}", f"{100 * shares[tree]:.1f} %"])
    low, middle, high = 100 * np.quantile(shares[known_trees], [0, 0.5, 1])
    caption = f"The {len(rows)} trees with the lowest share" if len(rows) < len(known_trees) else ""
    return Section(
        heading="Tree by tree",
        text=f"From {low:.1f} % to {high:.1f} % of a tree's {unit} are {verb}; half of the trees have {middle:.1f} % or more.",
        table=Table(columns=["tree", unit, verb, "share"], rows=rows, caption=caption),
        anchor="trees",
        drawing=_draw_bars(shares[known_trees]),
    )


def _draw_bars(shares: Any) -> Drawing:
    """Return how many trees have which share, as bars."""
    counts, _ = np.histogram(shares, BAR_COUNT, (0.0, 1.0))
    left, top = 10.0, 22.0
    bottom = top + BAR_MAX_HEIGHT
    marks: list[Shape | TextLabel] = []
    for place, count in enumerate(counts.tolist()):
        if not count:
            continue
        height = max(2.0, BAR_MAX_HEIGHT * count / counts.max())
        x = left + BAR_WIDTH * place
        note = f"{pluralize(count, 'tree')}: {100 * place // BAR_COUNT} to {100 * (place + 1) // BAR_COUNT} %"
        marks.append(
            Shape(f"M{x + 2:.1f} {bottom:.1f}v-{height:.1f}h{BAR_WIDTH - 4:.1f}v{height:.1f}z", "bar", note)
        )
        marks.append(TextLabel(x + BAR_WIDTH / 2, bottom - height - 5, f"{count:,}", "mid small"))
    marks.append(Shape(f"M{left} {bottom}h{BAR_WIDTH * BAR_COUNT}", "axis"))
    for place in range(0, BAR_COUNT + 1, 5):
        marks.append(
            TextLabel(
                left + BAR_WIDTH * place, bottom + 17, f"{100 * place // BAR_COUNT} %", _get_anchor_class(place)
            )
        )
    alt = ", ".join(
        f"{pluralize(count, 'tree')} at {100 * i // BAR_COUNT} to {100 * (i + 1) // BAR_COUNT} %"
        for i, count in enumerate(counts.tolist())
        if count
    )
    return Drawing(
        width=left * 2 + BAR_WIDTH * BAR_COUNT,
        height=bottom + 26,
        shapes=marks,
        alt=alt,
        caption="How many trees have which share",
    )


def _get_anchor_class(place: int) -> str:
    return "small" if place == 0 else "end small" if place == BAR_COUNT else "mid small"


# -- test sets ---------------------------------------------------------------------------------------------------------


def _build_selection_page(selection: Selection) -> Page:
    data_result = selection.mutation or selection.leaves
    method_text = {
        "DTC": "Of the rows that reach a leaf one was drawn, for each leaf.",
        "BVA": "For each leaf one of the rows that reach it was moved to the limits of the leaf.",
        "DTMT": "Of the rows that kill a mutant one was drawn, for each mutant.",
    }[selection.criterion]
    minimality_text = {True: " No smaller set does.", False: " A smaller set may do.", None: ""}[
        selection.smallest
    ]
    sections = [_build_rows_section(selection)]
    if selection.limits:
        sections.append(_build_limits_section(selection))
    sections += _build_sections(data_result)
    state: SectionState = "warn" if count_unmet(data_result) else "good"
    facts = [fact for fact in _list_facts(data_result) if fact[0] != "Notes"]
    notes = [*selection.notes, *data_result.notes]
    facts = [("Criterion", f"{selection.criterion}: {CRITERION_TEXTS[selection.criterion]}"), *facts[1:]]
    if notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in notes)))
    return Page(
        title=f"A test set for {_format_owner(selection.leaves)}",
        lead=f"{method_text}{minimality_text} What no row of the data does, no choice of them does: the tree shows what all the data do.",
        sections=sections,
        verdict=format_headline(selection),
        state=state,
        facts=facts,
        contents=True,
    )


def _build_rows_section(selection: Selection) -> Section:
    listed_rows = selection.rows.iloc[:MAX_LISTED_ROWS]
    is_generated = selection.criterion == "BVA"
    label = "made of row" if is_generated else "row"
    rows = [
        [format_short(index), format_short(answer), *(_format_value(value) for value in values)]
        for index, answer, values in zip(
            listed_rows.index, selection.answers, listed_rows.itertuples(index=False, name=None), strict=False
        )
    ]
    remaining_text = (
        f"The first {len(rows):,} of {len(selection):,} are listed." if len(rows) < len(selection) else ""
    )
    columns = [label, "the model answers", *(to_one_line(str(name)) for name in listed_rows.columns)]
    return Section(
        heading="The test set",
        text=remaining_text,
        table=Table(columns=columns, rows=rows) if rows else None,
        anchor="rows",
    )


def _build_limits_section(selection: Selection) -> Section:
    rows: list[Sequence[Any]] = []
    for place, limits in enumerate(selection.limits):
        index = format_short(selection.rows.index[place])
        for limit in limits:
            side = "yes: it lies on the lower side" if limit.holds else "no: it lies on the upper side"
            rows.append(
                [str(place), index, to_one_line(limit.column), format_short(limit.value), limit.limit, side]
            )
    count = len(rows)
    remaining_text = (
        f"The first {MAX_LISTED_LIMITS:,} of {count:,} are listed." if count > MAX_LISTED_LIMITS else ""
    )
    columns = ["place", "made of row", "column", "value", "limit", "does it hold?"]
    return Section(
        heading=f"{pluralize(count, 'value')} at limits",
        text=f"Each was put right next to a limit of the leaf, and the rows were sent through the tree. {remaining_text}",
        table=Table(columns=columns, rows=rows[:MAX_LISTED_LIMITS]),
        anchor="limits",
    )

"""Results about rows and trees as pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import format_percent, format_short, pluralise
from ...errors import DataError
from ...reporting.document import Drawing, Page, Section, Shape, Table, TextLabel
from ...reporting.text import cut, to_one_line
from ..inputs import TreeInputs
from ..tree import Floats
from .coverage import Coverage, make_boundary_row
from .draw import draw_mutant, draw_tree
from .mutation import MutationScore
from .selection import Selection

MAX_LISTED_ITEMS, MAX_LISTED_ROWS, MAX_LISTED_LIMITS = 20, 100, 300  # items: leaves, and mutants
MAX_LISTED_TREES = 10
MAX_MUTANT_BOXES_ON_PAGE = 31  # per tree
MAX_LISTED_COLUMNS = 8  # changed columns of one example row
BAR_COUNT, BAR_WIDTH, BAR_MAX_HEIGHT = 20, 30.0, 110.0  # widths and heights in pixels

CRITERION_TEXTS = {
    "DTC": "every leaf is reached by a row",
    "BVA": "every leaf is reached by a row at its limits",
    "DTMT": "for every mutant (a tree with one decision changed) some row gets a different answer",
}
SELECTION_TEXTS = {
    "DTC": "For each leaf, one of the rows that reach it was drawn.",
    "BVA": "For each leaf, one of the rows that reach it was moved to the limits of the leaf.",
    "DTMT": "For each mutant, one of the rows that kill it was drawn.",
}


def build_coverage_page(
    coverage: Coverage, score: MutationScore | None = None, brief: bool = False, n: int = MAX_LISTED_ITEMS
) -> Page:
    """Build the page of a coverage, or of a mutation score of the same rows, that lists at most `n` leaves and `n` mutants.

    With `brief`, it is the short form for terminals, without example rows.
    """
    result = coverage if score is None else score
    complete, sections, facts = _describe_result(coverage, score, result.criterion, brief, n)
    return Page(
        title=f"Is the test set good enough for {_format_owner(coverage.inputs)}?",
        lead="Each leaf of a tree stands for inputs that the tree treats alike. If no row reaches a leaf, this kind of input "
        "was never tested. If no row kills a mutant, the tests would not notice this fault.",
        sections=sections,
        verdict=result.headline(),
        state="good" if complete and result.complete else "warn",
        facts=[*facts, *_list_notes(result.notes)],
    )


def build_mutation_page(score: MutationScore, brief: bool = False, n: int = MAX_LISTED_ITEMS) -> Page:
    """Build the page of a mutation score; `brief` and `n` as for a coverage."""
    return build_coverage_page(score.leaves, score, brief, n)


def build_selection_page(selection: Selection, brief: bool = False, n: int = MAX_LISTED_ITEMS) -> Page:
    """Build the page of a selected test set; `brief` and `n` as for a coverage."""
    complete, sections, facts = _describe_result(selection.leaves, selection.mutation, selection.criterion, brief, n)
    if not brief:
        limits = [_build_limits_section(selection)] if selection.limits else []
        sections = [_build_rows_section(selection), *limits, *sections]
    minimality = {True: " No smaller set suffices.", False: " A smaller set may suffice.", None: ""}[selection.smallest]
    return Page(
        title=f"A test set for {_format_owner(selection.leaves.inputs)}",
        lead="No choice covers more than all the data: the tree below shows what they cover.",
        sections=sections,
        verdict=selection.headline(),
        state="good" if complete and selection.complete else "warn",
        facts=[
            ("Test set", f"{SELECTION_TEXTS[selection.criterion]}{minimality}"),
            *facts,
            *_list_notes([*selection.notes, *selection.data_result.notes]),
        ],
        contents=True,
    )


def _describe_result(
    coverage: Coverage, score: MutationScore | None, criterion: str, brief: bool, n: int
) -> tuple[bool, list[Section], list[tuple[str, str]]]:
    """Return whether nothing is missing, and the sections and facts of a page."""
    facts = _list_facts(coverage, criterion)
    if score is None:
        sizes = [len(tree.leaves) for tree in coverage.trees]
        return bool(coverage.covered.all()), _build_sections(coverage, None, coverage.shares, sizes, brief, n), facts
    sections = _build_sections(coverage, score, score.shares, list(map(len, score.of)), brief, n)
    return not score.unmet, sections, [*facts, *_list_mutant_facts(score)]


def _format_owner(inputs: TreeInputs) -> str:
    return "the surrogate" if inputs.coded else f"this {inputs.owner}"


# -- facts -------------------------------------------------------------------------------------------------------------


def _list_facts(coverage: Coverage, criterion: str) -> list[tuple[str, str]]:
    trees = f"{len(coverage.trees):,} trees with " if len(coverage.trees) > 1 else ""
    nodes = sum(map(len, coverage.trees))
    return [
        ("Criterion", f"{criterion}: {CRITERION_TEXTS[criterion]}"),
        ("Rows", f"{coverage.rows:,}"),
        ("Model", f"{trees}{pluralise(nodes, 'node')}, {pluralise(coverage.leaves, 'leaf', 'leaves')}"),
    ]


def _list_mutant_facts(score: MutationScore) -> list[tuple[str, str]]:
    live = len(score.live)
    text = f"{len(score.counts):,}, of which {len(score.counts) - live:,} are killed and {live:,} live"
    if score.joint:
        text += "; killed means that the answer of the whole forest changes"
    if live and score.explained:
        text += f". Of the live ones, {score.killable:,} could be killed, and no possible input kills {score.proved:,}"
        text += f", so at most {format_percent(1 - score.proved / len(score.counts))} can be killed"
        unknown = live - score.killable - score.proved
        if unknown:
            text += f"; for {unknown:,} this is unknown"
    coverage = score.leaves
    reached = f"{int(coverage.covered.sum()):,} ({format_percent(coverage.share)})"
    return [("Mutants", f"{text}."), ("Leaves reached", reached)]


def _list_notes(notes: Sequence[str]) -> list[tuple[str, str]]:
    return [("Notes", "\n".join(f"• {note}" for note in notes))] if notes else []


# -- sections ----------------------------------------------------------------------------------------------------------


def _build_sections(
    coverage: Coverage, score: MutationScore | None, shares: Floats, sizes: Sequence[int], brief: bool, n: int
) -> list[Section]:
    """Build the sections; `shares` and `sizes` are those of each tree."""
    sections = [] if brief else [_build_tree_section(coverage, shares, score)]
    if score is not None and not brief and score.killed.any():
        sections.append(_build_drawn_mutants_section(score))
    if score is not None and len(score.live):
        sections.append(_build_live_mutants_section(score, brief, n))
    if not coverage.covered.all():
        sections.append(_build_uncovered_section(coverage, brief, n))
    if len(coverage.trees) > 1:
        unit, verb = ("leaves", "reached") if score is None else ("mutants", "killed")
        section = _build_trees_section(shares, sizes, unit, verb)
        sections.append(replace(section, table=None) if brief else section)
    return sections


def _build_tree_section(coverage: Coverage, shares: Floats, score: MutationScore | None = None) -> Section:
    tree, heading, text = 0, "The tree", ""
    if len(coverage.trees) > 1:
        tree = int(np.nanargmin(shares))
        heading = f"Tree {tree:,}, the one of {len(coverage.trees):,} with the lowest share"
        text = "to_svg(path, tree=...) draws any other tree. Trees are numbered from 0."
    meaning = coverage.trees[tree].meaning
    if meaning:
        text = f"The number in a leaf is {meaning}. {text}"
    return Section(heading=heading, text=text.strip(), anchor="tree", drawing=draw_tree(coverage, score, tree=tree))


def _build_uncovered_section(coverage: Coverage, brief: bool, n: int) -> Section:
    table = coverage.uncovered(n)
    has_many_trees, at_limits = len(coverage.trees) > 1, coverage.criterion == "BVA"
    columns = ["leaf", *(["tree"] if has_many_trees else []), "condition", "answer", "training rows"]
    if not brief:
        columns += ["example row", *(["at its limits"] if at_limits else [])]
    rows = []
    for leaf in table.itertuples():
        tree, training = [str(leaf.tree)] if has_many_trees else [], format_percent(leaf.training)
        meaning = coverage.trees[leaf.tree].meaning
        answer = f"{format_short(leaf.answer)} ({meaning})" if meaning else format_short(leaf.answer)
        example = () if brief else _describe_reaching_row(coverage, int(leaf.Index))
        row = [str(leaf.Index), *tree, leaf.rule, answer, training, *example]
        rows.append(row[: len(columns)])
    count = int((~coverage.covered).sum())
    limit_text = " at its limits" if at_limits else ""
    sentences = ["" if brief else "Each example row was sent through the tree and does reach the leaf."]
    sentences.append(_format_listed(len(rows), count))
    return Section(
        heading=f"{pluralise(count, 'leaf', 'leaves')} that no row reaches{limit_text}",
        text=" ".join(["Leaves that most training rows reached come first.", *filter(None, sentences)]),
        state="warn",
        table=Table(columns=columns, rows=rows, main_rows=n) if rows else None,
        anchor="leaves",
    )


def _format_listed(listed: int, count: int) -> str:
    return f"The first {listed:,} of {count:,} are listed." if listed < count else ""


def _describe_reaching_row(coverage: Coverage, leaf: int) -> tuple[str, str]:
    """Return a row that reaches a leaf, and its values at limits, as text."""
    try:
        example = coverage.example(leaf)
        if coverage.criterion != "BVA":
            return _describe_row(example, coverage.frame), ""
        boundary_row = make_boundary_row(coverage, leaf, example, np.random.default_rng(0))
    except DataError as error:
        return cut(str(error), 200), ""
    if boundary_row is None:
        return "none was found that fits the types of the columns", ""
    row, limits = boundary_row
    sides = [
        f"{to_one_line(limit.column)} is {format_short(limit.value)}: {limit.limit} "
        f"{'holds' if limit.holds else 'does not hold'}"
        for limit in limits
    ]
    return _describe_row(row.set_axis(example.index, axis=0), coverage.frame), "; ".join(sides)


def _describe_row(example: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Return a row as text: the row it was made from, and the changed values."""
    label, new = example.index[0], example.iloc[0]
    places = np.flatnonzero(frame.index == label)
    changed, start = list(example.columns), "a row with "
    if len(places) == 1:
        old = frame.iloc[int(places[0])]
        are_missing = old.isna() & new.isna()
        changed = [name for name in example.columns if old[name] != new[name] and not are_missing[name]]
        start = f"row {format_short(label)} with "
        if not changed:
            return f"row {format_short(label)}"
    changes = [f"{to_one_line(str(name))} {_format_value(new[name])}" for name in changed[:MAX_LISTED_COLUMNS]]
    remaining_text = f" and {len(changed) - MAX_LISTED_COLUMNS} more" if len(changed) > MAX_LISTED_COLUMNS else ""
    return start + ", ".join(changes) + remaining_text


def _format_value(value: object) -> str:
    return "missing" if value is None or value != value else format_short(value)


def _build_live_mutants_section(score: MutationScore, brief: bool, n: int) -> Section:
    table = score.uncovered(n)
    has_many_trees = len(score.of) > 1
    rows = []
    for mutant in table.itertuples():
        tree = [str(mutant.tree)] if has_many_trees else []
        example = "none"
        if mutant.killable is not False and not brief:
            try:
                example = _describe_row(score.example(int(mutant.Index)), score.leaves.frame)
            except DataError:
                example = "none was found"
        reasons = {True: f"could be killed: {mutant.why}", False: f"equivalent for every possible input: {mutant.why}"}
        reason = reasons.get(mutant.killable, mutant.why)
        row = [str(mutant.Index), *tree, mutant.change, mutant.where, reason]
        rows.append(row if brief else [*row, example])
    tree_column = ["tree"] if has_many_trees else []
    columns = ["mutant", *tree_column, "change", "for rows with", "why it survives"]
    columns += [] if brief else ["a row that kills it"]
    count = len(score.live)
    text = "Each of them answers like the tree for every possible input, so no test can tell them apart."
    if score.unmet:
        text = "Mutants that a row could kill come first."
        if not brief:
            text += " Each example row was sent through the tree and the mutant, and their answers do differ."
    return Section(
        heading=f"{pluralise(count, 'mutant')} that no row kills",
        text=f"{text} {_format_listed(len(rows), count)}",
        state="warn" if score.unmet else "good",
        table=Table(columns=columns, rows=rows, main_rows=n) if rows else None,
        anchor="mutants",
    )


def _build_drawn_mutants_section(score: MutationScore) -> Section:
    """Draw the first mutant of each kind that a row kills, as Figures 3 and 4 of Silveira et al. (2025) do."""
    killed = score.mutants[score.killed]
    firsts = killed.groupby("kind", sort=False).head(1).index.tolist()
    return Section(
        heading="Mutants beside their tree",
        text="The first mutant of each kind that a row kills. The changed decision is framed; leaves gain and lose rows. "
        "to_svg(path, mutant=...) draws any other (--mutant N --svg FILE).",
        parts=[
            Section(
                heading=f"{killed['kind'][mutant]}: {score.change(mutant)}",
                text="",
                drawing=draw_mutant(score, mutant, max_boxes=MAX_MUTANT_BOXES_ON_PAGE),
                folding="closed",
            )
            for mutant in firsts
        ],
        anchor="drawn-mutants",
    )


# -- forests -----------------------------------------------------------------------------------------------------------


def _build_trees_section(shares: Floats, sizes: Sequence[int], unit: str, verb: str) -> Section:
    known_trees = np.flatnonzero(~np.isnan(shares))
    worst = known_trees[np.argsort(shares[known_trees], kind="stable")][:MAX_LISTED_TREES]
    rows = [
        [str(tree), f"{sizes[tree]:,}", f"{round(shares[tree] * sizes[tree]):,}", format_percent(shares[tree])]
        for tree in worst.tolist()
    ]
    low, middle, high = map(format_percent, np.quantile(shares[known_trees], [0, 0.5, 1]))
    caption = f"The {len(rows)} trees with the lowest share" if len(rows) < len(known_trees) else ""
    return Section(
        heading="Per tree",
        text=f"From {low} to {high} of a tree's {unit} are {verb}; the median is {middle}.",
        table=Table(columns=["tree", unit, verb, "share"], rows=rows, caption=caption),
        anchor="trees",
        drawing=_draw_bars(shares[known_trees]),
    )


def _draw_bars(shares: Floats) -> Drawing:
    """Draw a histogram of the share per tree."""
    counts, _ = np.histogram(shares, BAR_COUNT, (0.0, 1.0))
    left, top = 10.0, 22.0
    bottom = top + BAR_MAX_HEIGHT
    marks: list[Shape | TextLabel] = []
    texts = []
    for place, count in enumerate(counts.tolist()):
        if not count:
            continue
        height = max(2.0, BAR_MAX_HEIGHT * count / counts.max())
        x = left + BAR_WIDTH * place
        range_text = f"{100 * place // BAR_COUNT} to {100 * (place + 1) // BAR_COUNT}%"
        note = f"{pluralise(count, 'tree')}: {range_text}"
        texts.append(f"{pluralise(count, 'tree')} at {range_text}")
        marks.append(Shape(f"M{x + 2:.1f} {bottom:.1f}v-{height:.1f}h{BAR_WIDTH - 4:.1f}v{height:.1f}z", "bar", note))
        marks.append(TextLabel(x + BAR_WIDTH / 2, bottom - height - 5, f"{count:,}", "mid small"))
    marks.append(Shape(f"M{left} {bottom}h{BAR_WIDTH * BAR_COUNT}", "axis"))
    styles = {0: "small", BAR_COUNT: "end small"}
    for place in range(0, BAR_COUNT + 1, 5):
        style, text = styles.get(place, "mid small"), f"{100 * place // BAR_COUNT}%"
        marks.append(TextLabel(left + BAR_WIDTH * place, bottom + 17, text, style))
    return Drawing(
        width=left * 2 + BAR_WIDTH * BAR_COUNT,
        height=bottom + 26,
        shapes=marks,
        alt=", ".join(texts),
        caption="Number of trees by share",
    )


# -- test sets ---------------------------------------------------------------------------------------------------------


def _build_rows_section(selection: Selection) -> Section:
    listed_rows = selection.rows.iloc[:MAX_LISTED_ROWS]
    label = "made from row" if selection.criterion == "BVA" else "row"
    rows = [
        [format_short(index), format_short(answer), *(_format_value(value) for value in values)]
        for index, answer, values in zip(
            listed_rows.index, selection.answers, listed_rows.itertuples(index=False, name=None), strict=False
        )
    ]
    columns = [label, "answer of the model", *(to_one_line(str(name)) for name in listed_rows.columns)]
    return Section(
        heading="The test set",
        text=_format_listed(len(rows), len(selection)),
        table=Table(columns=columns, rows=rows) if rows else None,
        anchor="rows",
    )


def _build_limits_section(selection: Selection) -> Section:
    rows: list[Sequence[Any]] = []
    for place, limits in enumerate(selection.limits):
        index = format_short(selection.rows.index[place])
        for limit in limits:
            side = "yes: it lies on the lower side" if limit.holds else "no: it lies on the upper side"
            rows.append([str(place), index, to_one_line(limit.column), format_short(limit.value), limit.limit, side])
    count = len(rows)
    columns = ["place", "made from row", "column", "value", "limit", "does it hold?"]
    return Section(
        heading=f"{pluralise(count, 'value')} at limits",
        text="Each value was set right next to a limit of the leaf, and the rows were sent through the tree. "
        + _format_listed(min(count, MAX_LISTED_LIMITS), count),
        table=Table(columns=columns, rows=rows[:MAX_LISTED_LIMITS]),
        anchor="limits",
    )

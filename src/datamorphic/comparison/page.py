"""A comparison of two models as a page: the changed groups first, each with a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._text import format_percent, pluralise
from ..core.result import LEVEL_MEANINGS, LEVELS, Finding, Level, Measure
from ..exploration.diff.page import build_difference_page
from ..reporting.document import Drawing, Page, Section, SectionState, Shape, Table, TextLabel, Tile
from ..reporting.text import cut, format_cell
from ..space.features import Categorical
from .context import ComparisonContext
from .directions import DirectionChange
from .findings import format_change_range, format_figure
from .groups import Mask, ValueFormats, format_number
from .judgement import ChangedGroup
from .result import ModelComparison

LEVEL_STATES: dict[Level, SectionState] = {"fault": "bad", "concern": "warn", "advice": "note"}
MAX_SHOWN_ROWS = 25
MAX_BRIEF_ROWS = 5
MAX_COLUMNS = 5  # of the table of rows, without the answers
MAX_BINS = 10
MAX_BARS = 12
MIN_BAR_ROWS = 5
CHART_WIDTH, CHART_HEIGHT, LEFT, BOTTOM, TOP = 560.0, 210.0, 46.0, 44.0, 26.0
MAX_BAR_LABEL = 9  # characters
ANSWER_COLUMNS = ("old_answer", "new_answer")


def build_page(comparison: ModelComparison, brief: bool = False) -> Page:
    """Return a comparison as a page; with `brief`, the short form for terminals."""
    sections = [_build_finding(finding, number, brief) for number, finding in enumerate(comparison.findings, start=1)]
    if comparison.figures:
        sections.append(_tabulate_figures(comparison, brief))
    if len(comparison.rows):
        sections.append(_tabulate_rows(comparison, brief))
    if comparison.difference is not None and not brief:
        page = build_difference_page(comparison.difference)
        sections.append(
            Section(
                heading="Where the border between the answers moved",
                text=f"Both models were explored from the given rows: a border is where a small change of the inputs changes the "
                f"answer. {page.verdict}",
                parts=page.sections,
                folding="closed",
                anchor="borders",
            )
        )
    sections.append(_build_method(comparison, brief))
    return Page(
        title=f"From {comparison.old} to {comparison.new}",
        subject=f"{comparison.old} → {comparison.new}",
        lead="Both models answered the same rows. This page says which answers changed, for whom, whether that is more than training "
        "the same model again with another seed would change, and, with labels, whether it is for the better.",
        verdict=comparison.headline,
        state=_find_state(comparison),
        facts=[
            (
                "Compared on",
                f"{pluralise(comparison.row_count, 'row')}, {'with' if comparison.figures else 'without'} labels",
            ),
            ("Effort", _describe_effort(comparison)),
        ],
        tiles=[] if brief else _build_tiles(comparison),
        sections=sections,
        contents=not brief,
    )


def _describe_effort(comparison: ModelComparison) -> str:
    rows = pluralise(comparison.calls, "row")
    return f"{comparison.seconds:.1f} s and {rows} computed by the models, seed {comparison.seed}"


def _find_state(comparison: ModelComparison) -> SectionState:
    levels = {finding.level for finding in comparison.findings}
    if "fault" in levels:
        return "bad"
    return "warn" if "concern" in levels or comparison.unfinished else "good"


def _build_tiles(comparison: ModelComparison) -> list[Tile]:
    share = comparison.changed_share
    tiles = (
        []
        if comparison.same
        else [
            Tile(
                label="of the answers changed",
                value=format_percent(share.value),
                target="rows" if len(comparison.rows) else "",
            )
        ]
    )
    if comparison.groups:
        tiles.append(Tile(label="changed most", value=cut(comparison.groups[0].text, 30), target="finding-1"))
    figure = next((item for item in comparison.figures if item.is_error), None)
    if figure is not None:
        states: dict[str, SectionState] = {"worse": "warn", "better": "good"}
        value = f"{format_figure(figure, figure.old)} → {format_figure(figure, figure.new)}"
        tiles.append(Tile(label=figure.name, value=value, state=states.get(figure.outcome, "plain"), target="figures"))
    levels = [finding.level for finding in comparison.findings]
    for level in LEVELS:
        if level in levels:
            tiles.append(
                Tile(label=level, value=str(levels.count(level)), state=LEVEL_STATES[level], target="finding-1")
            )
    return tiles


def _build_finding(finding: Finding, number: int, brief: bool) -> Section:
    sections = () if brief else finding.sections
    facts = [("What to do", finding.remedy)]
    if brief:
        facts += [("For example", example.text) for example in finding.examples[:1]]
    elif finding.examples:
        facts.append(("For example", "\n".join(f"• {example.text}" for example in finding.examples[:5])))
    return Section(
        heading=finding.title,
        text=finding.detail,
        state=LEVEL_STATES[finding.level],
        badge=finding.level.capitalize(),
        facts=facts,
        beside=[section for section in sections if section.table is None],
        parts=[section for section in sections if section.table is not None],
        anchor=f"finding-{number}",
    )


# -- tables ------------------------------------------------------------------------------------------------------------


def _tabulate_figures(comparison: ModelComparison, brief: bool) -> Section:
    rows, marked = [], []
    for number, figure in enumerate(comparison.figures):
        if figure.is_clear:
            marked.append((number, 4))
        rows.append(
            [
                f"{figure.name} of {figure.label}" if figure.label else figure.name,
                format_figure(figure, figure.old),
                format_figure(figure, figure.new),
                format_change_range(figure),
                figure.outcome,
                f"{figure.rows:,}",
            ]
        )
    columns = ["", "old", "new", "difference, 95% interval", "the new model is", "rows"]
    note = (
        "Recall of a class: the share of the rows with this label that get it as answer. Precision: the share of the rows with this answer "
        "that have it as label. “Better” and “worse” mean that the 99% interval of the difference does not include 0. Both models answered "
        "the same rows, so the difference is paired. Errors of probabilities are squared."
    )
    return Section(
        heading="For the better or the worse",
        text="" if brief else "The labels of the given rows against both models.",
        table=Table(
            columns=columns,
            rows=rows,
            marked=marked,
            note="" if brief else note,
            sortable=False,
            main_columns=columns[:5],
        ),
        anchor="figures",
    )


def _tabulate_rows(comparison: ModelComparison, brief: bool) -> Section:
    """Return the changed rows, those of the named groups first."""
    frame, groups = comparison.rows, comparison.groups
    limit = MAX_BRIEF_ROWS if brief else MAX_SHOWN_ROWS
    first = [name for group in groups for name in group.columns if name in frame.columns]
    label = [comparison.target] if comparison.target in frame.columns else []
    others = [name for name in frame.columns if name not in (*first, *label, *ANSWER_COLUMNS)]
    names = list(dict.fromkeys([*first, *others]))[:MAX_COLUMNS]
    inside = np.zeros(comparison.row_count, dtype=bool)
    for group in groups:
        inside |= group.inside
    order = np.argsort(~inside[frame.index.to_numpy()], kind="stable")[:limit]
    listed = frame.iloc[order]
    headings = ["row", "old answer", "new answer", *(["label"] if label else []), *map(str, names)]
    rows = [
        [str(index), *(format_cell(value) for value in cells)]
        for index, cells in zip(
            listed.index, listed[[*ANSWER_COLUMNS, *label, *names]].itertuples(index=False, name=None), strict=True
        )
    ]
    marked = [(number, 2) for number in range(len(rows))]
    left = len(frame) - len(listed)
    note = f"{pluralise(left, 'more row')}: result.rows, or --json." if left else ""
    hidden = len(others) + len(first) - len(names)
    text = "Those of the groups above come first." if groups else ""
    if hidden > 0:
        text = f"{text} {pluralise(hidden, 'column')} {'is' if hidden == 1 else 'are'} left out here.".strip()
    return Section(
        heading=f"{pluralise(len(frame), 'row')} with another answer",
        text="" if brief else text,
        table=Table(columns=headings, rows=rows, marked=marked, note=note, main_columns=headings[:7]),
        anchor="rows",
        folding="" if brief else "open",
    )


def _build_method(comparison: ModelComparison, brief: bool) -> Section:
    facts = []
    if comparison.basis:
        facts.append(("How chance was judged", comparison.basis))
    if comparison.calibration and not brief:
        pairs = [
            f"{version} {100 * value:.2g} points"
            for version, value in comparison.calibration.items()
            if value is not None
        ]
        if pairs:
            facts.append(("Distance of probabilities from what came true, on average", ", ".join(pairs)))
    if len(comparison.seconds_per_row) == 2 and not brief:
        times = {version: f"{1e6 * value:,.3g} µs" for version, value in comparison.seconds_per_row.items()}
        facts.append(("Time per row", f"old {times['old']}, new {times['new']}"))
    facts += [("Not compared", f"{question}: the budget was spent") for question in comparison.unfinished]
    facts += [("Note", note) for note in comparison.notes]
    levels = [level for level in LEVELS if any(finding.level == level for finding in comparison.findings)]
    meaning = "\n".join(f"• {level.capitalize()}: {LEVEL_MEANINGS[level]}" for level in levels)
    return Section(
        heading="" if brief else "How it was compared",
        text="" if brief else meaning,
        facts=facts,
        again=comparison.command(),
        anchor="method",
        folding="" if brief else "open",
    )


# -- pictures ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Bar:
    """The share of changed answers in one part of a column."""

    label: str
    note: str
    share: Measure
    inside: bool  # whether most of its rows belong to the group


def draw_group(context: ComparisonContext, group: ChangedGroup, changed: Mask) -> list[Section]:
    """Return one picture: the share of changed answers along each column of the group."""
    sections = []
    for column in group.columns:
        others = np.ones(len(changed), dtype=bool)
        if len(group.columns) > 1:  # along one column, among the rows that meet the condition on the other
            others = _meets_other_conditions(context, group, column)
        bars = _measure_bars(context, column, changed, group.inside, others)
        if len(bars) > 1:
            sections.append(
                Section(
                    heading=f"Changed answers along {column}",
                    text="" if others.all() else "Among the rows that are like the group in its other columns.",
                    drawing=_draw_bars(column, bars),
                )
            )
    return sections


def _meets_other_conditions(context: ComparisonContext, group: ChangedGroup, column: str) -> Mask:
    """Return the rows whose values in the other columns of a group lie within those of the group."""
    meets = np.ones(len(group.inside), dtype=bool)
    for name in group.columns:
        if name == column:
            continue
        codes = context.inputs.codes[:, context.space.position(name)]
        inside = codes[group.inside]
        if isinstance(context.space.features[context.space.position(name)], Categorical):
            meets &= np.isin(codes, np.unique(inside))
        else:
            meets &= (codes >= np.nanmin(inside)) & (codes <= np.nanmax(inside)) if np.isfinite(inside).any() else True
    return meets


def _measure_bars(context: ComparisonContext, column: str, changed: Mask, inside: Mask, among: Mask) -> list[_Bar]:
    position = context.space.position(column)
    feature, codes = context.space.features[position], context.inputs.codes[:, position]
    format_value = context.formats.get(column, format_number)
    parts: list[tuple[str, str, Mask]] = []
    known = codes[np.isfinite(codes) & among]
    values, counts = np.unique(known, return_counts=True)
    if isinstance(feature, Categorical):
        for code in values[np.argsort(-counts, kind="stable")[:MAX_BARS]]:
            text = str(feature.values[int(code)])
            parts.append((text, text, codes == code))
    elif len(values) <= MAX_BARS:
        parts = [(format_value(value), format_value(value), codes == value) for value in values]
    else:
        edges = np.unique(np.quantile(known, np.linspace(0, 1, MAX_BINS + 1), method="nearest"))
        for number, (low, high) in enumerate(pairwise(edges.tolist())):
            mask = (codes > low) & (codes <= high) if number else (codes >= low) & (codes <= high)
            parts.append((f"≤ {format_value(high)}", f"{format_value(low)} to {format_value(high)}", mask))
    bars = []
    for label, note, mask in parts:
        rows = mask & among
        if rows.sum() >= MIN_BAR_ROWS:
            share = Measure.from_counts(int(changed[rows].sum()), int(rows.sum()))
            is_inside = bool(inside[rows].mean() > 0.5)
            bars.append(_Bar(label=label, note=note, share=share, inside=is_inside))
    return bars


def draw_direction(change: DirectionChange, formats: ValueFormats | None = None) -> Section:
    """Return the answers of both models to one row that is moved along a column, as two curves."""
    curves = {"old": change.old_curve, "new": change.new_curve}
    low = min(min(curve) for curve in curves.values())
    high = max(max(curve) for curve in curves.values())
    height, width = CHART_HEIGHT - BOTTOM - TOP, CHART_WIDTH - LEFT - 60
    base, span = CHART_HEIGHT - BOTTOM, (high - low) or 1.0
    first, last = change.values[0], change.values[-1]
    format_value = (formats or {}).get(change.column, format_number)

    def place(value: float, level: float) -> tuple[float, float]:
        share = (value - first) / ((last - first) or 1.0)
        return LEFT + width * share, base - height * (level - low) / span

    axis = f"probability of {change.outcome}" if change.outcome else "answer"
    shapes: list[Shape | TextLabel] = [TextLabel(0, 14, cut(axis, 70), "small")]
    for level in (low, (low + high) / 2, high):
        y = place(first, level)[1]
        text = f"{100 * level:.2g}%" if change.outcome else f"{level:.3g}"
        shapes += [
            Shape(f"M{LEFT:.1f} {y:.1f}H{LEFT + width:.1f}", "grid"),
            TextLabel(LEFT - 6, y + 4, text, "small end"),
        ]
    for name, curve, kind in (("old", curves["old"], "trace-first"), ("new", curves["new"], "trace-second")):
        points = [place(value, level) for value, level in zip(change.values, curve, strict=True)]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        shapes.append(Shape(path, kind, f"the {name} model"))
    for value in (first, last):
        shapes.append(TextLabel(place(value, low)[0], base + 15, format_value(value), "small mid"))
    shapes.append(TextLabel(LEFT + width / 2, base + 34, cut(change.column, 50), "small mid"))
    return Section(
        heading=f"One row of the data, moved along {change.column}",
        text="",
        drawing=Drawing(
            width=CHART_WIDTH,
            height=CHART_HEIGHT,
            shapes=shapes,
            alt=f"The {axis} along {change.column}, of the old and the new model.",
            caption="Grey: the old model. Orange: the new one. It is the row with the largest step the wrong way.",
        ),
    )


def _draw_bars(column: str, bars: Sequence[_Bar]) -> Drawing:
    top = max(0.02, *(bar.share.high for bar in bars))
    height, width = CHART_HEIGHT - BOTTOM - TOP, CHART_WIDTH - LEFT - 8
    base, slot = CHART_HEIGHT - BOTTOM, width / len(bars)

    def place(share: float) -> float:
        return base - height * share / top

    shapes: list[Shape | TextLabel] = [TextLabel(0, 14, "share of changed answers", "small")]
    for share in (0.0, top / 2, top):
        shapes += [
            Shape(f"M{LEFT:.1f} {place(share):.1f}H{CHART_WIDTH - 8:.1f}", "grid"),
            TextLabel(LEFT - 6, place(share) + 4, f"{100 * share:.2g}%", "small end"),
        ]
    for number, bar in enumerate(bars):
        left, right = LEFT + number * slot + 3, LEFT + (number + 1) * slot - 3
        middle, value = (left + right) / 2, bar.share.value
        note = (
            f"{column} {bar.note}: {format_percent(value)} of {bar.share.cases:,} rows changed "
            f"({format_percent(bar.share.low)} to {format_percent(bar.share.high)})"
        )
        shapes += [
            Shape(
                f"M{left:.1f} {base:.1f}V{place(value):.1f}H{right:.1f}V{base:.1f}Z",
                "up3" if bar.inside else "tone3",
                note,
            ),
            Shape(f"M{middle:.1f} {place(bar.share.low):.1f}V{place(bar.share.high):.1f}", "axis", note),
            TextLabel(middle, base + 15, cut(bar.label, MAX_BAR_LABEL), "small mid"),
        ]
    shapes.append(TextLabel(LEFT + width / 2, base + 34, cut(column, 50), "small mid"))
    alt = "; ".join(f"{bar.note}: {format_percent(bar.share.value)}" for bar in bars)
    return Drawing(
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
        shapes=shapes,
        alt=f"Share of changed answers along {column}. {alt}",
        caption="Orange: mostly rows of the group. The thin lines are 95% intervals.",
    )

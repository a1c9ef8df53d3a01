"""Choose which points of a picture are drawn and in which colours, and describe the picture."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from .._text import pluralise
from .document import Axis, Line, Picture, Scatter
from .text import cut

MAX_COLOURED_GROUPS = 18  # more would leave the legend no room
MAX_BANDS = 150  # more are too thin to see, and slow to draw
MAX_AXIS_NAMES = 200
MAX_TOOLTIPS = 400  # of a picture; each takes some 150 bytes of the page
MAX_NAME_CHARACTERS = 60
MAX_TITLE_CHARACTERS = 200
MAX_ALT_CHARACTERS = 1_500
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")
HUE_COUNT = 6  # besides grey; coprime to the number of symbols, so that all pairs differ
MAX_DRAWABLE = 1e300  # larger numbers overflow when they are scaled


@dataclass(frozen=True)
class PointGroup:
    """The points of a picture that share a colour and a symbol; a hue of -1 is grey."""

    name: str
    rows: Sequence[int]
    hue: int
    symbol: str


def group_points(scatter: Scatter) -> list[PointGroup]:
    """Return the groups of a picture: the grey one first, then the others by size."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(scatter.groups):
        rows.setdefault(name, []).append(row)
    rest = rows.pop(scatter.rest, None) if scatter.rest else None
    ordered = sorted(rows.items(), key=lambda item: -len(item[1]))
    groups = [
        PointGroup(name, rows, i % HUE_COUNT, SYMBOLS[i % len(SYMBOLS)]) for i, (name, rows) in enumerate(ordered)
    ]
    return ([PointGroup(scatter.rest, rest, -1, "circle")] if rest else []) + groups


def locate_steps(line: Line) -> Sequence[float]:
    """Return the positions of the steps of a line."""
    return line.steps if len(line.steps) else range(len(line.values))


def assign_hues(line: Line) -> dict[str, int]:
    """Return the hue of each label of a line."""
    return {label: i % HUE_COUNT for i, label in enumerate(dict.fromkeys(line.bands))}


def find_bands(line: Line) -> list[tuple[str, int, int]]:
    """Return each band as its label, first step and the step after its last; empty if there are too many."""
    bands, start = [], 0
    for label, band in groupby(line.bands):
        stop = start + len(list(band))
        bands.append((label, start, stop))
        start = stop
    return bands if len(bands) <= MAX_BANDS else []


def wrap_text(text: str, width: int = 44, max_lines: int = 3) -> list[str]:
    """Wrap a text into at most `max_lines` lines."""
    return textwrap.wrap(text, width, max_lines=max_lines, placeholder=" …", break_on_hyphens=False) or [""]


# -- thinning ------------------------------------------------------------------------------------------------------


def to_drawable(value: object) -> float:
    """Return a number rounded to six digits; NaN if it cannot be drawn."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return float(f"{number:.6g}") if abs(number) < MAX_DRAWABLE else math.nan


def choose_evenly(count: int, limit: int) -> list[int]:
    """Return at most `limit` of the indices 0, 1, ..., evenly chosen, including the first and the last."""
    if count <= limit:
        return list(range(count))
    if limit < 2:
        return [0][:limit]
    return [round(i * (count - 1) / (limit - 1)) for i in range(limit)]


def choose_tooltip_rows(picture: Picture) -> list[int]:
    """Return the rows of the points with a tooltip: of every group, or the extremes of a line."""
    if isinstance(picture, Line):
        return _choose_extremes(picture.values, MAX_TOOLTIPS)
    rows = _choose_points(picture.groups, MAX_TOOLTIPS)
    return [row for row in rows if row < len(picture.notes) and picture.notes[row]]


def thin_scatter(scatter: Scatter, point_limit: int, note_limit: int) -> Scatter:
    """Return a picture with at most `point_limit` points, some of every group, and a note on omissions."""
    counts = Counter(scatter.groups)
    rest, remarks = scatter.rest, [scatter.subtitle] if scatter.subtitle else []
    if len(counts) > MAX_COLOURED_GROUPS + 1:
        common = {name for name, _ in counts.most_common(MAX_COLOURED_GROUPS)} - {rest}
        rest = rest or "other groups"
        names = [name if name in common else rest for name in scatter.groups]
        remarks.append(f"{len(counts) - len(common):,} rare groups are drawn as one group")
    else:
        names = list(scatter.groups)
    short_names = _shorten_names(names)
    rows = _choose_points(names, point_limit)
    if len(rows) < len(names):
        remarks.append(f"{len(rows):,} of {len(names):,} points are drawn, evenly chosen from each group")
    if len(rows) > MAX_TOOLTIPS and len(scatter.notes):
        remarks.append("some of the points have tooltips")
    background = choose_evenly(len(scatter.behind[0]), point_limit)
    if len(background) < len(scatter.behind[0]):
        remarks.append(f"{len(background):,} of {len(scatter.behind[0]):,} real inputs are drawn")
    x, y = [to_drawable(scatter.x[row]) for row in rows], [to_drawable(scatter.y[row]) for row in rows]
    hidden = sum(math.isnan(a + b) for a, b in zip(x, y, strict=True))
    for axis in (scatter.x_axis, scatter.y_axis):
        if len(axis.names) > MAX_AXIS_NAMES:
            remarks.append(
                f"the first {MAX_AXIS_NAMES} of {len(axis.names):,} values of {axis.label or 'an axis'} are drawn"
            )
    if hidden:
        remarks.append(f"{pluralise(hidden, 'point')} cannot be drawn: missing, infinite or too large")
    return replace(
        scatter,
        title=cut(scatter.title, MAX_TITLE_CHARACTERS),
        subtitle=cut("; ".join(remarks), 3 * MAX_TITLE_CHARACTERS),
        x_axis=_shorten_axis(scatter.x_axis),
        y_axis=_shorten_axis(scatter.y_axis),
        x=x,
        y=y,
        groups=[short_names[names[row]] for row in rows],
        notes=[cut(scatter.notes[row], note_limit) if row < len(scatter.notes) else "" for row in rows],
        behind=(
            [to_drawable(scatter.behind[0][i]) for i in background],
            [to_drawable(scatter.behind[1][i]) for i in background],
        ),
        rest=short_names.get(rest, ""),
        alt=cut(scatter.alt or describe_picture(scatter), MAX_ALT_CHARACTERS),
    )


def _shorten_names(names: Sequence[str]) -> dict[str, str]:
    """Map names to short ones that are all different: equal ones are numbered."""
    short_names: dict[str, str] = {}
    uses: Counter[str] = Counter()
    for name in dict.fromkeys(names):
        short_name = cut(str(name), MAX_NAME_CHARACTERS)
        uses[short_name] += 1
        short_names[name] = short_name if uses[short_name] == 1 else f"{short_name} ({uses[short_name]})"
    return short_names


def _shorten_axis(axis: Axis) -> Axis:
    return Axis(
        cut(axis.label, MAX_TITLE_CHARACTERS),
        [cut(str(name), MAX_NAME_CHARACTERS) for name in axis.names[:MAX_AXIS_NAMES]],
    )


def _choose_points(names: Sequence[str], limit: int) -> list[int]:
    """Return the rows to draw: a share of each group, and at least one."""
    if len(names) <= limit:
        return list(range(len(names)))
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    minimum = max(1, limit // (4 * len(rows)))
    chosen_rows = []
    for group_rows in rows.values():
        share = max(minimum, limit * len(group_rows) // len(names))
        chosen_rows += [group_rows[i] for i in choose_evenly(len(group_rows), share)]
    return sorted(chosen_rows)


def thin_line(line: Line, step_limit: int, note_limit: int) -> Line:
    """Return a line with at most `step_limit` steps, including extreme values, and a note on omissions."""
    counts = Counter(line.bands)
    bands, remarks = list(line.bands), [line.subtitle] if line.subtitle else []
    if len(counts) > MAX_COLOURED_GROUPS:
        common = {name for name, _ in counts.most_common(MAX_COLOURED_GROUPS - 1)}
        bands = [name if name in common else "other answers" for name in bands]
        remarks.append(f"{len(counts) - len(common):,} rare answers are drawn as one answer")
    short_names = _shorten_names(bands)
    values = [to_drawable(value) for value in line.values]
    rows = _choose_extremes(values, step_limit)
    if len(rows) < len(values):
        remarks.append(f"{len(rows):,} of {len(values):,} steps are drawn, the highest and lowest among them")
    steps = locate_steps(line)
    if bands and not find_bands(replace(line, bands=[bands[row] for row in rows])):
        remarks.append("the answer changes too often for bands: the points have its colours")
    return replace(
        line,
        title=cut(line.title, MAX_TITLE_CHARACTERS),
        x_label=cut(line.x_label, MAX_TITLE_CHARACTERS),
        y_label=cut(line.y_label, MAX_TITLE_CHARACTERS),
        values=[values[row] for row in rows],
        bands=[short_names[bands[row]] for row in rows] if bands else [],
        notes=[cut(line.notes[row], note_limit) if row < len(line.notes) else "" for row in rows],
        subtitle=cut("; ".join(remarks), 3 * MAX_TITLE_CHARACTERS),
        steps=[to_drawable(steps[row]) for row in rows],
        alt=cut(line.alt or describe_picture(line), MAX_ALT_CHARACTERS),
    )


def _choose_extremes(values: Sequence[float], limit: int) -> list[int]:
    """Return the indices of the lowest and highest values in equal sections, and of both ends."""
    if len(values) <= limit:
        return list(range(len(values)))
    stretches = max(1, limit // 2 - 1)
    places_drawn = {0, len(values) - 1}
    for i in range(stretches):
        places = range(i * len(values) // stretches, (i + 1) * len(values) // stretches)
        finite_places = [place for place in places if math.isfinite(values[place])]
        if finite_places:
            places_drawn |= {min(finite_places, key=values.__getitem__), max(finite_places, key=values.__getitem__)}
    return sorted(places_drawn)


# -- descriptions --------------------------------------------------------------------------------------------------


def describe_picture(picture: Picture) -> str:
    """Describe a picture for readers who cannot see it."""
    return _describe_line(picture) if isinstance(picture, Line) else _describe_scatter(picture)


def _describe_line(line: Line) -> str:
    finite_values = [value for value in line.values if math.isfinite(value)]
    if not finite_values:
        return f"{line.title}. A line without values."
    summary = (
        f"{line.title}. A line over {pluralise(len(line.values), 'step')} ({line.x_label}): {line.y_label} goes from "
        f"{finite_values[0]:.4g} to {finite_values[-1]:.4g}, between {min(finite_values):.4g} and {max(finite_values):.4g}."
    )
    answers = [label for label, _ in groupby(line.bands)]
    if not answers:
        return summary
    answer_list = ", ".join(answers[:8]) + (", …" if len(answers) > 8 else "")
    changes = len(answers) - 1
    times = {0: "never changes", 1: "changes once", 2: "changes twice"}.get(changes, f"changes {changes:,} times")
    return f"{summary} The answer {times}: {answer_list}."


def _describe_scatter(scatter: Scatter) -> str:
    groups = group_points(scatter)
    points = "No points"
    if groups:
        names = "; ".join(f"{group.name}: {len(group.rows):,}" for group in groups[:12])
        ellipsis = "; …" if len(groups) > 12 else ""
        points = f"{pluralise(len(scatter.x), 'point')} in {pluralise(len(groups), 'group')} ({names}{ellipsis})"
    background = f", before {pluralise(len(scatter.behind[0]), 'real input')} in grey" if len(scatter.behind[0]) else ""
    across = _describe_axis(scatter.x_axis, scatter.x, scatter.behind[0])
    up = _describe_axis(scatter.y_axis, scatter.y, scatter.behind[1])
    return f"{scatter.title}. {points}{background}. Across: {across}. Up: {up}."


def _describe_axis(axis: Axis, *columns: Sequence[float]) -> str:
    label = axis.label or "lines"
    if axis.names:
        return f"{label}, with the values {', '.join(axis.names[:8])}{', …' if len(axis.names) > 8 else ''}"
    finite_values = [value for column in columns for value in column if math.isfinite(value)]
    return f"{label}, from {min(finite_values):.4g} to {max(finite_values):.4g}" if finite_values else label

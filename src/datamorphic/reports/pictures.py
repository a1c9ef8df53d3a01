"""What the two drawings of a picture share: which points are drawn, in which colours, and the picture in words."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from .._checks import plural
from .summary import Axis, Line, Picture, Scatter
from .texts import cut

MOST_GROUPS = 18  # that have a colour and a symbol of their own: a legend must leave room for the picture
MOST_BANDS = 150  # behind a line: more are no wider than a hair, and take long to draw
MOST_NAMES = 200  # of categories on an axis
LONGEST_NAME = 60
LONGEST_TITLE = 200
LONGEST_ALT = 1_500
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")
HUES = 6  # colours beside grey; their number and that of the symbols have no common divisor, so all pairs differ
TOO_FAR = 1e300  # numbers beyond it cannot be drawn together with others


@dataclass(frozen=True)
class Group:
    """The points of a picture that share a colour and a symbol; a hue of -1 is grey."""

    name: str
    rows: Sequence[int]
    hue: int
    symbol: str


def groups_of(scatter: Scatter) -> list[Group]:
    """Return the groups of a picture, the most frequent first, after the one without a colour."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(scatter.groups):
        rows.setdefault(name, []).append(row)
    rest = rows.pop(scatter.rest, None) if scatter.rest else None
    ordered = sorted(rows.items(), key=lambda item: -len(item[1]))
    some = [Group(name, rows, i % HUES, SYMBOLS[i % len(SYMBOLS)]) for i, (name, rows) in enumerate(ordered)]
    return ([Group(scatter.rest, rest, -1, "circle")] if rest else []) + some


def steps_of(line: Line) -> Sequence[float]:
    """Return where the steps of a line lie."""
    return line.steps if len(line.steps) else range(len(line.values))


def hues_of(line: Line) -> dict[str, int]:
    """Return the colour of each band."""
    return {label: i % HUES for i, label in enumerate(dict.fromkeys(line.bands))}


def runs_of(line: Line) -> list[tuple[str, int, int]]:
    """Return the bands as stretches of steps: label, first step, first step after it; none if there are too many."""
    runs, start = [], 0
    for label, run in groupby(line.bands):
        stop = start + len(list(run))
        runs.append((label, start, stop))
        start = stop
    return runs if len(runs) <= MOST_BANDS else []


def wrapped(text: str, width: int = 44, lines: int = 3) -> list[str]:
    """Return a text in a few short lines."""
    return textwrap.wrap(text, width, max_lines=lines, placeholder=" …", break_on_hyphens=False) or [""]


# -- fewer points --------------------------------------------------------------------------------------------------


def number(value: Any) -> float:
    """Return what can be drawn of a number, without digits that nobody could see; NaN where nothing can."""
    try:
        known = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return float(f"{known:.6g}") if abs(known) < TOO_FAR else math.nan


def evenly(count: int, most: int) -> list[int]:
    """Return at most so many of the places 0, 1, ..., evenly chosen, the first and the last among them.

    Examples
    --------
    >>> evenly(10, 4), evenly(3, 5)
    ([0, 3, 6, 9], [0, 1, 2])
    """
    if count <= most:
        return list(range(count))
    if most < 2:
        return [0][:most]
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]


def fewer_points(scatter: Scatter, most: int, note: int) -> Scatter:
    """Return a picture of at most so many points, of every group some, that says what was left out."""
    counts = Counter(scatter.groups)
    rest, said = scatter.rest, [scatter.subtitle] if scatter.subtitle else []
    if len(counts) > MOST_GROUPS + 1:
        common = {name for name, _ in counts.most_common(MOST_GROUPS)} - {rest}
        rest = rest or "other groups"
        names = [name if name in common else rest for name in scatter.groups]
        said.append(f"{len(counts) - len(common):,} rare groups are drawn as one")
    else:
        names = list(scatter.groups)
    short = _short_names(names)
    rows = _chosen(names, most)
    if len(rows) < len(names):
        said.append(f"{len(rows):,} of {len(names):,} points are drawn, evenly chosen from each group")
    real = evenly(len(scatter.behind[0]), most)
    if len(real) < len(scatter.behind[0]):
        said.append(f"{len(real):,} of {len(scatter.behind[0]):,} real inputs are drawn")
    x, y = [number(scatter.x[row]) for row in rows], [number(scatter.y[row]) for row in rows]
    hidden = sum(math.isnan(a + b) for a, b in zip(x, y, strict=True))
    for axis in (scatter.x_axis, scatter.y_axis):
        if len(axis.names) > MOST_NAMES:
            said.append(
                f"the first {MOST_NAMES} of {len(axis.names):,} values of {axis.label or 'an axis'} are drawn"
            )
    if hidden:
        said.append(f"{plural(hidden, 'point')} cannot be drawn: not a number, or out of all bounds")
    return replace(
        scatter,
        title=cut(scatter.title, LONGEST_TITLE),
        subtitle=cut("; ".join(said), 3 * LONGEST_TITLE),
        x_axis=_shorter(scatter.x_axis),
        y_axis=_shorter(scatter.y_axis),
        x=x,
        y=y,
        groups=[short[names[row]] for row in rows],
        notes=[cut(scatter.notes[row], note) if row < len(scatter.notes) else "" for row in rows],
        behind=([number(scatter.behind[0][i]) for i in real], [number(scatter.behind[1][i]) for i in real]),
        rest=short.get(rest, ""),
        alt=cut(scatter.alt or described(scatter), LONGEST_ALT),
    )


def _short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a short name for each, no two alike: what differs only far down the line is numbered."""
    short: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for name in dict.fromkeys(names):
        shown = cut(str(name), LONGEST_NAME)
        taken[shown] += 1
        short[name] = shown if taken[shown] == 1 else f"{shown} ({taken[shown]})"
    return short


def _shorter(axis: Axis) -> Axis:
    return Axis(cut(axis.label, LONGEST_TITLE), [cut(str(name), LONGEST_NAME) for name in axis.names[:MOST_NAMES]])


def _chosen(names: Sequence[str], most: int) -> list[int]:
    """Return which points are drawn: of each group its share, and of none nothing."""
    if len(names) <= most:
        return list(range(len(names)))
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    least = max(1, most // (4 * len(rows)))
    kept = []
    for some in rows.values():
        share = max(least, most * len(some) // len(names))
        kept += [some[i] for i in evenly(len(some), share)]
    return sorted(kept)


def fewer_steps(line: Line, most: int, note: int) -> Line:
    """Return a line of at most so many steps that says what was left out; the highest and lowest values stay."""
    counts = Counter(line.bands)
    bands, said = list(line.bands), [line.subtitle] if line.subtitle else []
    if len(counts) > MOST_GROUPS:
        common = {name for name, _ in counts.most_common(MOST_GROUPS - 1)}
        bands = [name if name in common else "other answers" for name in bands]
        said.append(f"{len(counts) - len(common):,} rare answers are drawn as one")
    short = _short_names(bands)
    values = [number(value) for value in line.values]
    rows = _extremes(values, most)
    if len(rows) < len(values):
        said.append(f"{len(rows):,} of {len(values):,} steps are drawn, the highest and lowest among them")
    steps = steps_of(line)
    if bands and not runs_of(replace(line, bands=[bands[row] for row in rows])):
        said.append("the answer changes too often for bands: see the colours of the points")
    return replace(
        line,
        title=cut(line.title, LONGEST_TITLE),
        x_label=cut(line.x_label, LONGEST_TITLE),
        y_label=cut(line.y_label, LONGEST_TITLE),
        values=[values[row] for row in rows],
        bands=[short[bands[row]] for row in rows] if bands else [],
        notes=[cut(line.notes[row], note) if row < len(line.notes) else "" for row in rows],
        subtitle=cut("; ".join(said), 3 * LONGEST_TITLE),
        steps=[number(steps[row]) for row in rows],
        alt=cut(line.alt or described(line), LONGEST_ALT),
    )


def _extremes(values: Sequence[float], most: int) -> list[int]:
    """Return the places of the lowest and the highest value of each of many equal stretches."""
    if len(values) <= most:
        return list(range(len(values)))
    stretches = max(1, most // 2 - 1)
    kept = {0, len(values) - 1}
    for i in range(stretches):
        places = range(i * len(values) // stretches, (i + 1) * len(values) // stretches)
        known = [place for place in places if math.isfinite(values[place])]
        if known:
            kept |= {min(known, key=values.__getitem__), max(known, key=values.__getitem__)}
    return sorted(kept)


# -- in words ------------------------------------------------------------------------------------------------------


def described(picture: Picture) -> str:
    """Return a picture in words, for readers who cannot see it.

    Examples
    --------
    >>> described(Line("Score", "step", "score", [0.1, 0.9], ["no", "yes"], ["start", "end"]))
    'Score. A line over 2 steps (step): score goes from 0.1 to 0.9, between 0.1 and 0.9. The answer changes once: no, yes.'
    """
    return _line_described(picture) if isinstance(picture, Line) else _scatter_described(picture)


def _line_described(line: Line) -> str:
    known = [value for value in line.values if math.isfinite(value)]
    if not known:
        return f"{line.title}. A line without values."
    head = (
        f"{line.title}. A line over {plural(len(line.values), 'step')} ({line.x_label}): {line.y_label} goes from "
        f"{known[0]:.4g} to {known[-1]:.4g}, between {min(known):.4g} and {max(known):.4g}."
    )
    answers = [label for label, _ in groupby(line.bands)]
    if not answers:
        return head
    told = ", ".join(answers[:8]) + (", …" if len(answers) > 8 else "")
    changes = len(answers) - 1
    times = {0: "never changes", 1: "changes once", 2: "changes twice"}.get(changes, f"changes {changes:,} times")
    return f"{head} The answer {times}: {told}."


def _scatter_described(scatter: Scatter) -> str:
    groups = groups_of(scatter)
    told = "; ".join(f"{group.name}: {len(group.rows):,}" for group in groups[:12]) + (
        "; …" if len(groups) > 12 else ""
    )
    points = (
        f"{plural(len(scatter.x), 'point')} in {plural(len(groups), 'group')} ({told})" if groups else "No points"
    )
    real = f", before {plural(len(scatter.behind[0]), 'real input')} in grey" if len(scatter.behind[0]) else ""
    across = _axis_described(scatter.x_axis, scatter.x, scatter.behind[0])
    up = _axis_described(scatter.y_axis, scatter.y, scatter.behind[1])
    return f"{scatter.title}. {points}{real}. Across: {across}. Up: {up}."


def _axis_described(axis: Axis, *columns: Sequence[float]) -> str:
    label = axis.label or "lines"
    if axis.names:
        return f"{label}, with the values {', '.join(axis.names[:8])}{', …' if len(axis.names) > 8 else ''}"
    known = [value for column in columns for value in column if math.isfinite(value)]
    return f"{label}, from {min(known):.4g} to {max(known):.4g}" if known else label

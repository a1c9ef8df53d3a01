"""Drawings of F-measures and F-ratios, of violation regions, and of the sources that generators propose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import format_percent, pluralise
from .._validation import reject
from ..core.result import Measure
from ..errors import ArgumentError
from ..relations.algebra.box import Box, Floats
from ..relations.algebra.function import FunctionRelation
from ..reporting.document import Drawing, Shape, TextLabel
from ..reporting.panel import PLANE_GAP_PX, PLANE_SIDE_PX, STRIP_HEIGHT_PX, STRIP_WIDTH_PX, Panel, PanelItem
from ..reporting.text import cut
from .generator_base import DomainLike, GroupBatch
from .measures import FMeasures, estimate
from .regions import Region
from .violation_regions import DEFAULT_GROUPS, ViolationSample, name_columns, sample_violations

MAX_VIOLATING_DOTS = 2_000
MAX_OTHER_DOTS = 800
MAX_BINS = 124
MIN_SOURCES_PER_BIN = 8
MAX_ZOOMED_SHARE = 0.25  # of each side; a smaller region is drawn a second time, enlarged
LEFT_MARGIN_PX = 52.0  # for the ticks of the first plane
MAX_STRIPS = 8
MAX_PLANE_DIMENSIONS = 3  # more inputs are drawn as strips
MAX_BARS = 25
MAX_NAME_CHARACTERS = 28
NAME_WIDTH_PX = 170.0
FIGURE_WIDTH_PX = 190.0
ROW_HEIGHT_PX = 26.0

DrawingParts = tuple[list[PanelItem], float, float]  # shapes, width and height
SpreadSources = Mapping[str, tuple[Floats, Floats | None]]  # sources and follow-ups per generator
RegionLike = Region | Box


# -- violation regions -----------------------------------------------------------------------------------------------


def draw_region_picture(
    function: Callable[..., Any] | ViolationSample,
    relation: FunctionRelation | None = None,
    n: int = DEFAULT_GROUPS,
    seed: int = 0,
) -> Drawing:
    """Draw where in its source domain a relation is violated.

    One input is a strip, which shows the share of violating sources at each place. Two inputs are a plane, three are
    three planes, more are one strip each. A small region is drawn a second time, enlarged. The caption names the kind
    of region. Instead of a function, which is called with `n` random sources, a sample of executed sources may be given.
    """
    if isinstance(function, ViolationSample):
        sample = function
    elif isinstance(relation, FunctionRelation):
        sample = sample_violations(function, relation, n, seed)
    else:
        reject("relation", "draw_region_picture", "a FunctionRelation", relation)
    windows = [(sample.low, sample.high), *_find_zoom_window(sample)]
    if len(sample.low) == 1:
        items, width, height = _draw_strips(sample, [(0, *window) for window in windows])
    elif len(sample.low) > MAX_PLANE_DIMENSIONS:
        axes = range(min(len(sample.low), MAX_STRIPS))
        items, width, height = _draw_strips(sample, [(axis, *windows[0]) for axis in axes])
    else:
        pairs = [(a, b, *window) for window in windows for a, b in combinations(range(len(sample.low)), 2)]
        items, width, height = _draw_planes(sample, pairs, 3 if len(sample.low) == MAX_PLANE_DIMENSIONS else 2)
    caption = sample.describe()
    alt = f"Where the relation is violated. {caption}"
    return Drawing(width=width, height=height, shapes=items, alt=alt, caption=caption)


def _find_zoom_window(sample: ViolationSample) -> list[tuple[Floats, Floats]]:
    """Return a window around a small region; no window if the region is not small."""
    if not sample.violated.any():
        return []
    violating = sample.sources[sample.violated]
    low, high = violating.min(axis=0), violating.max(axis=0)
    widths = sample.high - sample.low
    if not ((high - low) < MAX_ZOOMED_SHARE * widths).all():
        return []
    margin = np.maximum(0.5 * (high - low), 1e-3 * widths)
    return [(np.maximum(low - margin, sample.low), np.minimum(high + margin, sample.high))]


def _draw_strips(sample: ViolationSample, views: list[tuple[int, Floats, Floats]]) -> DrawingParts:
    """Draw the share of violating sources, one strip per input or window."""
    items: list[PanelItem] = []
    top = 24.0
    left = 74.0
    for place, (axis, low, high) in enumerate(views):
        within = ((sample.sources >= low) & (sample.sources <= high)).all(axis=1)
        column, violated = sample.sources[within, axis], sample.violated[within]
        bins = int(np.clip(len(column) // MIN_SOURCES_PER_BIN, 8, MAX_BINS))
        ends = (float(low[axis]), float(high[axis]))
        edges = np.linspace(*ends, bins + 1)
        counts, violating_counts = (np.histogram(values, edges)[0] for values in (column, column[violated]))
        width = STRIP_WIDTH_PX - left - 20
        panel = Panel(left=left, top=top, width=width, height=STRIP_HEIGHT_PX, x=ends, y=(0.0, 1.0))
        heading = "the whole domain" if place == 0 else "where it is violated"
        if len(sample.low) > MAX_PLANE_DIMENSIONS:
            heading = f"input {sample.names[axis]}"
        items.append(TextLabel(panel.left, top - 8, heading, "strong"))
        items += panel.draw_bars(edges, violating_counts / np.maximum(counts, 1), "killable", "of the sources violate")
        items += panel.draw_frame(sample.names[axis], y_marks=((0.0, "0%"), (1.0, "100%")))
        top += STRIP_HEIGHT_PX + 66
    return items, STRIP_WIDTH_PX, top - 14


def _draw_planes(sample: ViolationSample, views: list[tuple[int, int, Floats, Floats]], columns: int) -> DrawingParts:
    """Draw violating and other sources, one plane per pair of inputs and window."""
    items: list[PanelItem] = []
    rng = np.random.default_rng(0)  # chooses the dots if there are too many sources
    for place, (a, b, low, high) in enumerate(views):
        within = ((sample.sources >= low) & (sample.sources <= high)).all(axis=1)
        panel = _make_panel(place, columns, (low, high), a, b)
        for is_violated, limit, kind in ((False, MAX_OTHER_DOTS, "edge w2"), (True, MAX_VIOLATING_DOTS, "killable")):
            numbers = np.flatnonzero(within & (sample.violated == is_violated))
            numbers = rng.permutation(numbers)[:limit]
            items += panel.draw_dots(sample.sources[numbers][:, [a, b]], kind)
        heading = "the whole domain" if (low == sample.low).all() and (high == sample.high).all() else "enlarged"
        items.append(TextLabel(panel.left, panel.top - 12, heading, "strong"))
        items += panel.draw_frame(sample.names[a], sample.names[b])
    return items, *_measure_planes(len(views), columns)


def _make_panel(place: int, columns: int, window: tuple[Floats, Floats], a: int, b: int) -> Panel:
    row, column = divmod(place, columns)
    low, high = window
    x, y = ((float(low[axis]), float(high[axis])) for axis in (a, b))
    return Panel(
        left=LEFT_MARGIN_PX + column * (PLANE_SIDE_PX + PLANE_GAP_PX),
        top=28 + row * (PLANE_SIDE_PX + 78),
        width=PLANE_SIDE_PX,
        height=PLANE_SIDE_PX,
        x=x,
        y=y,
    )


# -- sources of generators -------------------------------------------------------------------------------------------


def draw_spread_picture(
    spread: Mapping[str, GroupBatch | npt.ArrayLike],
    region: RegionLike | DomainLike | None = None,
    *,
    domain: DomainLike,
    window: DomainLike | None = None,
    names: tuple[str, ...] | None = None,
) -> Drawing:
    """Draw where generators place their sources, side by side.

    One input is drawn as bars: the density of sources, where 1 is that of random sources. Follow-ups, if there are
    any, are drawn downwards. Two inputs are one plane per generator, three are three planes. `spread` has the sources of
    each generator, of one trial or of many together. A region, where a relation is violated, is outlined, and sources in
    it are coloured. `window` is the part of the domain to draw.
    """
    domain_box = Box.of(domain, "draw_spread_picture")
    view = domain_box if window is None else Box.of(window, "draw_spread_picture")
    d = domain_box.dimension
    if not spread or d > MAX_PLANE_DIMENSIONS or view.dimension != d:
        raise ArgumentError(
            f"draw_spread_picture() draws at least one generator, in a domain of one to {MAX_PLANE_DIMENSIONS} inputs "
            f"and a window of as many. Got {pluralise(len(spread), 'generator')}, a domain of {d} and a window of "
            f"{view.dimension}."
        )
    if region is not None and not isinstance(region, Region):
        region = Box.of(region, "draw_spread_picture")
    names = names or name_columns(domain_box)
    parts = {name: _split_groups(name, points, d) for name, points in spread.items()}
    alt = "Where sources lie. " + " ".join(
        f"{name}: {_format_region_share(sources, region, domain_box)}." for name, (sources, _) in parts.items()
    )
    draw_panels = _draw_spread_strips if d == 1 else _draw_spread_planes
    items, width, height = draw_panels(parts, region, domain_box, view, names)
    return Drawing(width=width, height=height, shapes=items, alt=alt)


def _split_groups(name: str, points: GroupBatch | npt.ArrayLike, d: int) -> tuple[Floats, Floats | None]:
    """Return sources, and follow-ups if they have as many columns."""
    sources = np.asarray(points.sources if isinstance(points, GroupBatch) else points, dtype=float)
    sources = sources.reshape(-1, 1) if sources.ndim == 1 else sources
    if sources.ndim != 2 or sources.shape[1] != d or not len(sources):
        reject("spread", "draw_spread_picture", f"sources with {d} columns for {name!r}", points)
    follow_ups = points.follow_ups if isinstance(points, GroupBatch) else sources[:, :0]
    columns = follow_ups.shape[1]
    return sources, follow_ups if columns and columns % d == 0 else None


def _format_region_share(sources: Floats, region: RegionLike | None, domain_box: Box) -> str:
    if region is None:
        return f"{len(sources):,} sources"
    share = float(region.contains(sources).mean())
    volume = (region.high - region.low).prod() if isinstance(region, Box) else region.volume
    random_share = float(volume) / float((domain_box.high - domain_box.low).prod())
    comparison = f", {share / random_share:.2f} times as many as random ones" if random_share else ""
    return f"{format_percent(share)} of {len(sources):,} in the region{comparison}"


def _draw_spread_strips(
    parts: SpreadSources, region: RegionLike | None, domain_box: Box, view: Box, names: tuple[str, ...]
) -> DrawingParts:
    ends = (float(view.low[0]), float(view.high[0]))
    least_sources = min(int(((s >= view.low) & (s <= view.high)).sum()) for s, _ in parts.values())
    edges = np.linspace(*ends, int(np.clip(least_sources // MIN_SOURCES_PER_BIN, 8, MAX_BINS)) + 1)
    random_shares = np.diff(edges) / float(domain_box.high[0] - domain_box.low[0])

    def measure_density(values: Floats, groups: int) -> Floats:
        return np.asarray(np.histogram(values, edges)[0] / groups / random_shares)

    densities = {name: measure_density(sources, len(sources)) for name, (sources, _) in parts.items()}
    greatest = max(2.0, *(float(density.max()) for density in densities.values()))
    items: list[PanelItem] = []
    top, left, height = 24.0, 44.0, 2 * STRIP_HEIGHT_PX
    for place, (name, (sources, follow_ups)) in enumerate(parts.items()):
        panel = Panel(left=left, top=top, width=STRIP_WIDTH_PX - left - 20, height=height, x=ends, y=(0.0, greatest))
        items.append(TextLabel(left, top - 8, name, "strong"))
        share = _format_region_share(sources, region, domain_box)
        items.append(TextLabel(STRIP_WIDTH_PX - 20, top - 8, share, "small end"))
        if region is not None:
            items += panel.draw_stretches(region)
        items += panel.draw_bars(edges, densities[name], "bar", "times as many sources as random ones", "{:.2f}")
        items.append(Shape(f"M{left} {panel.to_y(1.0):.1f}h{panel.width}", "edge w0"))
        marks = ((0.0, "0"), (1.0, "1"), (greatest, f"{greatest:.2g}"))
        label = names[0] if place == len(parts) - 1 else ""
        if follow_ups is None:
            items += panel.draw_frame(label, y_marks=marks)
        else:
            items += panel.draw_frame("", y_marks=marks, x_marks=())
        top += height
        if follow_ups is not None:  # on the same scale, downwards
            lower_panel = replace(panel, top=top, height=STRIP_HEIGHT_PX, y=(greatest / 2, 0.0))
            density = np.minimum(measure_density(follow_ups, len(sources)), greatest / 2)
            unit = "times as many follow-ups as random sources"
            items += lower_panel.draw_bars(edges, density, "asks", unit, "{:.2f}")
            items.append(TextLabel(STRIP_WIDTH_PX - 20, top + STRIP_HEIGHT_PX - 6, "follow-ups", "small end"))
            items += lower_panel.draw_frame(label, y_marks=())
            top += STRIP_HEIGHT_PX
        top += 66 if label else 50
    return items, STRIP_WIDTH_PX, top - 14


def _draw_spread_planes(
    parts: SpreadSources, region: RegionLike | None, domain_box: Box, view: Box, names: tuple[str, ...]
) -> DrawingParts:
    items: list[PanelItem] = []
    axes = list(combinations(range(domain_box.dimension), 2))
    columns = 2 if len(axes) == 1 and len(parts) in (2, 4) else 3
    for place, (name, (a, b)) in enumerate(product(parts, axes)):
        sources = parts[name][0]
        within = view.contains(sources)
        inside = np.zeros(len(sources), dtype=bool) if region is None else region.contains(sources)
        panel = _make_panel(place, columns, (view.low, view.high), a, b)
        if region is not None and domain_box.dimension == 2:
            items.append(panel.draw_outline(region))
        for mask, kind in ((within & ~inside, "edge w2"), (within & inside, "killable")):
            items += panel.draw_dots(sources[mask][:MAX_VIOLATING_DOTS][:, [a, b]], kind)
        items.append(TextLabel(panel.left, panel.top - 12, name, "strong"))
        items += panel.draw_frame(names[a], names[b])
    return items, *_measure_planes(len(parts) * len(axes), columns)


def _measure_planes(count: int, columns: int) -> tuple[float, float]:
    """Return the width and height of a drawing of planes."""
    bottom = 28 + (count - 1) // columns * (PLANE_SIDE_PX + 78) + PLANE_SIDE_PX
    return LEFT_MARGIN_PX + min(columns, count) * (PLANE_SIDE_PX + PLANE_GAP_PX), bottom + 50


def draw_f_measure_chart(measures: FMeasures) -> Drawing:
    """Draw a histogram of F-measures, without censored trials."""
    f_measures = measures.counts[~measures.censored]
    greatest = int(f_measures.max())
    edges = np.linspace(0.5, greatest + 0.5, min(MAX_BARS, greatest) + 1)
    counts = np.histogram(f_measures, edges)[0]
    panel = Panel(
        left=54,
        top=24,
        width=STRIP_WIDTH_PX - 74,
        height=3 * STRIP_HEIGHT_PX,
        x=(float(edges[0]), float(edges[-1])),
        y=(0.0, float(counts.max())),
    )
    mean = estimate(f_measures).value
    mean_x = panel.to_x(mean)
    items: list[PanelItem] = panel.draw_bars(edges, counts.astype(float), "bar", "trials", "{:.0f}")
    items.append(Shape(f"M{mean_x:.1f} {panel.bottom:.1f}V{panel.top - 6:.1f}", "absent", f"the mean: {mean:.1f}"))
    gap, style = (-6, "end small") if mean_x > STRIP_WIDTH_PX / 2 else (6, "small")
    items.append(TextLabel(mean_x + gap, panel.top, f"mean {mean:,.1f}", style))
    marks = ((0.0, "0"), (float(counts.max()), f"{counts.max():,}"))
    items += panel.draw_frame("groups until the first violation", y_marks=marks)
    trials = pluralise(len(f_measures), "trial")
    return Drawing(
        width=STRIP_WIDTH_PX,
        height=panel.bottom + 48,
        shapes=items,
        alt=f"The groups until the first violation of {trials}: from {f_measures.min():,} to {greatest:,}, the mean is "
        f"{mean:g}.",
        caption="How many trials needed how many groups",
    )


def draw_ratio_chart(ratios: Sequence[tuple[str, Measure]]) -> Drawing:
    """Draw F-ratios with their intervals, one row each, and a line for random testing."""
    greatest = 1.05 * max(1.0, *(max(ratio.value, *_get_ends(ratio)) for _, ratio in ratios))
    panel = Panel(
        left=NAME_WIDTH_PX,
        top=24.0,
        width=STRIP_WIDTH_PX - NAME_WIDTH_PX - FIGURE_WIDTH_PX,
        height=ROW_HEIGHT_PX * len(ratios),
        x=(0.0, 100 * greatest),
        y=(0.0, 1.0),
    )
    random_x = panel.to_x(100.0)
    items: list[PanelItem] = [
        Shape(f"M{random_x:.1f} {panel.bottom:.1f}V{panel.top:.1f}", "absent", "random testing"),
        TextLabel(random_x, panel.top - 8, "random testing", "mid small"),
    ]
    for place, (name, ratio) in enumerate(ratios):
        y = panel.top + ROW_HEIGHT_PX * (place + 0.5)
        low, high = (panel.to_x(100 * end) for end in _get_ends(ratio))
        x = panel.to_x(100 * ratio.value)
        interval_path = f"M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 5:.1f}v10M{high:.1f} {y - 5:.1f}v10"
        items += [
            Shape(interval_path, "axis"),
            Shape(f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z", "bar", f"{name}: {_format_ratio(ratio)}"),
            TextLabel(NAME_WIDTH_PX - 12, y + 4, cut(name, MAX_NAME_CHARACTERS), "end"),
            TextLabel(STRIP_WIDTH_PX - FIGURE_WIDTH_PX + 10, y + 4, _format_ratio(ratio), "small"),
        ]
    items += panel.draw_frame("F-ratio in %", y_marks=())
    figures = "; ".join(f"{name}: {_format_ratio(ratio)}" for name, ratio in ratios)
    return Drawing(
        width=STRIP_WIDTH_PX,
        height=panel.bottom + 48,
        shapes=items,
        alt=f"F-ratios to random testing, which is 100%. {figures}.",
        caption="F-ratios with their 95% intervals: less is sooner",
    )


def _format_ratio(ratio: Measure) -> str:
    return f"{format_percent(ratio.value)} ({format_percent(ratio.low)} to {format_percent(ratio.high)})"


def _get_ends(ratio: Measure) -> tuple[float, float]:
    """Return the ends of the interval; if they are not known, the value itself."""
    return (ratio.value if np.isnan(ratio.low) else ratio.low, ratio.value if np.isnan(ratio.high) else ratio.high)

"""Measure the shape of a violation region in any number of dimensions, by queries at chosen points.

A sample alone shows little in many dimensions: 100,000 random points are 0.15 apart in six. So queries are made
around violating points of the sample:

- *Elongation*: normal offsets are drawn around a point, so wide that only some of the shifted points violate. The
  elongation is the square root of the largest divided by the smallest variance of the violating ones along their own
  axes. It is large for a thin sheet, flat or curved, and near 1 for a box.
- *Parts*: two points lie in the same part if all points on the line between them violate, or by way of other points.
- *Touched sides*: a point moves towards a side of the domain, in steps that do not leave the region.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .regions import Flags, Numbers

Violates = Callable[[Numbers], Flags]

LINKED_POINTS = 100  # violating points between which lines are drawn
MEASURED_POINTS = 40  # whose surroundings are measured
MOVED_POINTS = 12  # that move towards the sides
POINTS_PER_LINE = 64
LINES_PER_QUERY = 1000
OFFSETS_PER_WIDTH, OFFSETS_PER_POINT = 60, 600
MIN_VIOLATING_OFFSETS = 0.12  # a share; fewer at first, and narrower offsets are drawn
WIDTH_FACTOR, MAX_WIDTHS = 0.6, 30
STEPS_PER_MOVE, POINTS_PER_STEP, MAX_MOVES = 24, 5, 200
MIN_STRIP_ELONGATION = 3.0
EDGE = 1e-6  # of a side; functions may be undefined on the sides of their domain


@dataclass(frozen=True, kw_only=True)
class RegionShape:
    """The shape of a violation region."""

    elongation: float  # the median over points
    parts: int
    biggest_share: float  # of the points, in the biggest part
    touched_sides: Flags  # (points, dimensions, 2): whether a point reaches the low and the high side, if slender


def probe_region(violates: Violates, points: Numbers, low: Numbers, high: Numbers, seed: int = 0) -> RegionShape:
    """Return the shape of the region in which `points` lie.

    `violates` says of points (n, d) of the domain whether they violate. `points` are violating points (n, d) at random.
    """
    rng = np.random.default_rng(seed)
    width = high - low

    def contains(positions: Numbers) -> Flags:
        """Return which positions, in units of the domain, lie in the domain and violate."""
        flat = positions.reshape(-1, len(low))
        inside: Flags = np.all((flat >= 0) & (flat <= 1), axis=1)
        if inside.any():
            inside[inside] = violates(low + width * np.clip(flat[inside], EDGE, 1 - EDGE))
        return np.reshape(inside, positions.shape[:-1])

    anchors = (rng.permutation(points)[:LINKED_POINTS] - low) / width
    elongations, widths = _measure_surroundings(contains, anchors[:MEASURED_POINTS], rng)
    elongation = float(np.median(elongations))
    moved_points = MOVED_POINTS if elongation >= MIN_STRIP_ELONGATION else 0
    sizes = _measure_parts(contains, anchors)
    return RegionShape(
        elongation=elongation,
        parts=len(sizes),
        biggest_share=float(sizes.max() / len(anchors)),
        touched_sides=_find_touched_sides(contains, anchors, widths[:moved_points], rng),
    )


def _measure_surroundings(contains: Violates, anchors: Numbers, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Return the elongation of the region around each point, and the width of the offsets it was measured with."""
    count, d = anchors.shape
    widths = np.full(count, 0.5)
    wide = np.arange(count)
    for _ in range(MAX_WIDTHS):
        offsets = widths[wide, None, None] * rng.standard_normal((len(wide), OFFSETS_PER_WIDTH, d))
        shares = contains(anchors[wide, None] + offsets).mean(axis=1)
        wide = wide[shares < MIN_VIOLATING_OFFSETS]
        if not len(wide):
            break
        widths[wide] *= WIDTH_FACTOR
    offsets = widths[:, None, None] * rng.standard_normal((count, OFFSETS_PER_POINT, d))
    violating = contains(anchors[:, None] + offsets)
    elongations = np.ones(count)
    for place in np.flatnonzero(violating.sum(axis=1) > 2 * d):
        variances = np.linalg.eigvalsh(np.cov(offsets[place, violating[place]].T))
        elongations[place] = np.sqrt(variances[-1] / variances[0])
    return elongations, widths


def _measure_parts(contains: Violates, anchors: Numbers) -> npt.NDArray[np.intp]:
    """Return the number of points in each part of the region."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = np.triu_indices(len(anchors), 1)
    linked = _is_line_inside(contains, anchors[first], anchors[second], POINTS_PER_LINE)
    links = coo_array((linked[linked], (first[linked], second[linked])), shape=(len(anchors), len(anchors)))
    sizes: npt.NDArray[np.intp] = np.bincount(connected_components(links, directed=False)[1])
    return sizes


def _is_line_inside(contains: Violates, starts: Numbers, ends: Numbers, points: int) -> Flags:
    """Return for which lines all of so many points between their ends lie in the region."""
    places = np.arange(1, points + 1) / (points + 1)
    inside = np.ones(len(starts), dtype=bool)
    for part in (places[points // 2 :: points], places):  # most lines that leave the region leave it in the middle
        for first in range(0, len(starts), LINES_PER_QUERY):
            rows = first + np.flatnonzero(inside[first : first + LINES_PER_QUERY])
            lines = (ends - starts)[rows, None] * part[:, None]
            inside[rows] = contains(starts[rows, None] + lines).all(axis=1)
    return inside


def _find_touched_sides(contains: Violates, anchors: Numbers, widths: Numbers, rng: np.random.Generator) -> Flags:
    """Return which sides of the domain the first points reach, one point per width, by steps inside the region.

    Half of the steps are as wide as the surroundings, the others are parts of the way between two points, which is long
    in a flat region.
    """
    d = anchors.shape[1]
    towards = np.tile(np.concatenate([-np.eye(d), np.eye(d)]), (len(widths), 1))
    position = np.repeat(anchors[: len(widths)], 2 * d, axis=0)
    width = np.repeat(widths, 2 * d)
    gap = np.where(towards > 0, 1 - position, position)[towards != 0]
    for _ in range(MAX_MOVES):
        moving = np.flatnonzero(gap > 0)
        if not len(moving):
            break
        count = (len(moving), STEPS_PER_MOVE // 2)
        ways = anchors[rng.integers(len(anchors), size=count)] - anchors[rng.integers(len(anchors), size=count)]
        steps = np.concatenate(
            [
                width[moving, None, None] * rng.standard_normal((*count, d)),
                ways * 10 ** rng.uniform(-2, 0, (*count, 1)),
            ],
            axis=1,
        )
        advance = (steps @ towards[moving, :, None])[..., 0]
        share = np.minimum(1, gap[moving, None] / np.maximum(np.abs(advance), 1e-300)) * np.sign(advance)
        starts = np.repeat(position[moving, None], STEPS_PER_MOVE, axis=1)
        ends = np.clip(starts + steps * share[..., None], 0, 1)
        inside = contains(ends)
        inside[inside] = _is_line_inside(contains, starts[inside], ends[inside], POINTS_PER_STEP)
        best = np.where(inside, advance * share, 0).argmax(axis=1)
        moved = inside[np.arange(len(moving)), best]
        position[moving[moved]] = ends[moved, best[moved]]
        gap = np.where(towards > 0, 1 - position, position)[towards != 0]
        gap[gap < EDGE] = 0
    return (gap == 0).reshape(len(widths), 2, d).swapaxes(1, 2)

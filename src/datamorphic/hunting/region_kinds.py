"""Classify violation regions as block, strip or point, from executed inputs.

In one to three dimensions, each scaled to 1, the sample is enough:

1. The domain is cut into at most as many equal cells as there are points (`regions.build_bitmap`). Violating cells that
   share a side, an edge or a corner make a component.
2. A component is a strip if it touches two sides of the domain, adjacent or opposite, and its elongation is at least 3.
   The elongation is the square root of the largest divided by the smallest variance of its cells along its own axes. If
   strips hold 80% of the violating cells, the region is a *strip*. A thin strip falls apart where few points hit it, so
   this is checked again with cells twice as big, as long as there are 10 per side. In one dimension there are no
   strips: an interval is a block.
3. Otherwise, if one component holds 80% of the violating cells, the region is a *block*.
4. Otherwise, if there are at least 4 components and none holds more than half, it is a *point* region.
5. Otherwise it is not classified. Neither is a region with fewer than 30 violations.

In more than three dimensions the cells are too big, so the shape is measured by further queries (see `probe_region`). The
thresholds are the same: the region is a *strip* if its elongation is at least 3 and 80% of the points reach two sides of
the domain, a *block* if one part holds 80%, and a *point* region if there are at least 4 parts, none with more than
half. A thin sheet that reaches no sides may be curved, so that its points are not linked by lines: it is not a point region.

A sample alone shows little in many dimensions: 100,000 random points are 0.15 apart in six. So queries are made
around violating points of the sample:

- *Elongation*: normal offsets are drawn around a point, so wide that only some of the shifted points violate. The
  elongation is the square root of the largest divided by the smallest variance of the violating ones along their own
  axes. It is large for a thin sheet, flat or curved, and near 1 for a box.
- *Parts*: two points lie in the same part if all points on the line between them violate, or by way of other points.
- *Touched sides*: a point moves towards a side of the domain, in steps that do not leave the region.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._text import pluralise
from .._validation import reject
from .regions import Flags, Numbers, build_bitmap, to_points, validate_domain

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
MIN_DOMINANT_SHARE = 0.8
MIN_VIOLATIONS = 30
MIN_POINT_COMPONENTS = 4
MIN_CELLS_PER_SIDE = 10
MAX_BITMAP_DIMENSIONS = 3
UNCLASSIFIED = "not classified"
MAX_COMPONENTS_MEASURED = 50  # the biggest ones


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


@dataclass(frozen=True, kw_only=True)
class Classification:
    """The kind of a violation region, with the figures it is based on."""

    kind: str  # "block", "strip", "point", "none" or "not classified"
    reason: str  # in words
    rate: float  # the share of points that violate
    components: int = 0
    elongation: float = math.nan  # of the biggest component
    touched_sides: tuple[tuple[int, str], ...] = ()  # by the biggest component, such as (0, "low")


@dataclass(frozen=True)
class _RegionPart:
    cells: int
    elongation: float
    touched_sides: tuple[tuple[int, str], ...]


def classify(
    points: npt.ArrayLike,
    violated: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    violates: Violates | None = None,
    seed: int = 0,
) -> Classification:
    """Return the kind of a violation region, from random or regular points of a domain and whether they violate.

    In more than three dimensions, `violates` is needed: a function that says of points (n, d) whether they violate.
    """
    lower, upper = validate_domain(low, high, "classify")
    coordinates = to_points(points, len(lower), "classify")
    flags = np.asarray(violated)
    if flags.dtype != np.bool_ or flags.shape != (len(coordinates),) or not len(coordinates):
        reject("violated", "classify", f"{len(coordinates)} flags (at least one), one per point", violated)
    violations, rate = int(flags.sum()), float(flags.mean())
    if not violations:
        return Classification(kind="none", reason=f"none of {pluralise(len(coordinates), 'point')} violates", rate=rate)
    if violations < MIN_VIOLATIONS:
        reason = f"only {pluralise(violations, 'violation')}; the rule needs {MIN_VIOLATIONS}"
        return Classification(kind=UNCLASSIFIED, reason=reason, rate=rate)
    if len(lower) <= MAX_BITMAP_DIMENSIONS:
        return _classify_bitmap(build_bitmap(coordinates, flags, lower, upper, "classify"), rate)
    if violates is None:
        reason = f"in {len(lower)} dimensions the rule needs the function, not only a sample"
        return Classification(kind=UNCLASSIFIED, reason=reason, rate=rate)
    return _classify_shape(probe_region(violates, coordinates[flags], lower, upper, seed), rate)


def _classify_shape(shape: RegionShape, rate: float) -> Classification:
    is_slender = shape.elongation >= MIN_STRIP_ELONGATION
    reaches = shape.touched_sides.sum(axis=(1, 2)) > 1
    touched_sides: tuple[tuple[int, str], ...] = ()
    if is_slender and reaches.mean() >= MIN_DOMINANT_SHARE:
        kind = "strip"
        places = np.argwhere(shape.touched_sides[reaches].any(axis=0))
        touched_sides = tuple((int(axis), ("low", "high")[end]) for axis, end in places)
        reason = f"{shape.elongation:.1f} times as long as wide, and touches {_format_sides(touched_sides)}"
    else:
        kind, reason = _name_parts(shape.parts, shape.biggest_share, may_be_point=not is_slender)
    return Classification(
        kind=kind,
        reason=reason,
        rate=rate,
        components=shape.parts,
        elongation=shape.elongation,
        touched_sides=touched_sides,
    )


def _name_parts(count: int, share: float, may_be_point: bool = True) -> tuple[str, str]:
    """Return the kind and the reason for a region without strips; `share` is that of its biggest part."""
    if share >= MIN_DOMINANT_SHARE:
        return "block", f"one part holds {share:.0%} of it and is not a slender band between sides"
    if may_be_point and count >= MIN_POINT_COMPONENTS and share <= 0.5:
        return "point", f"{count} parts, the biggest with {share:.0%} of it"
    return UNCLASSIFIED, f"{pluralise(count, 'part')}, the biggest with {share:.0%}: between block and point"


def _classify_bitmap(bitmap: Flags, rate: float) -> Classification:
    parts, count = _find_parts(bitmap)
    if not count:
        reason = "the violations are too thin for the cells; give more points"
        return Classification(kind=UNCLASSIFIED, reason=reason, rate=rate)
    part = parts[0]
    share = part.cells / int(bitmap.sum())
    strip = _find_strip(bitmap, parts)
    if strip is not None:
        kind, part = "strip", strip
        reason = f"{strip.elongation:.1f} times as long as wide, and touches {_format_sides(strip.touched_sides)}"
    else:
        kind, reason = _name_parts(count, share)
    return Classification(
        kind=kind,
        reason=reason,
        rate=rate,
        components=count,
        elongation=part.elongation,
        touched_sides=part.touched_sides,
    )


def _find_strip(bitmap: Flags, parts: list[_RegionPart]) -> _RegionPart | None:
    """Return the biggest strip if strips hold most of the region, else None."""
    while bitmap.ndim > 1:
        strips = [part for part in parts if len(part.touched_sides) > 1 and part.elongation >= MIN_STRIP_ELONGATION]
        if sum(part.cells for part in strips) >= MIN_DOMINANT_SHARE * bitmap.sum():
            return strips[0]
        if bitmap.shape[0] < 2 * MIN_CELLS_PER_SIDE:
            break
        for axis in range(bitmap.ndim):  # cells twice as big, set if one of their cells is
            bitmap = np.logical_or.reduceat(bitmap, np.arange(0, bitmap.shape[axis], 2), axis=axis)
        parts = _find_parts(bitmap)[0]
    return None


def _find_parts(bitmap: Flags) -> tuple[list[_RegionPart], int]:
    """Return the biggest components by size, and the number of all components."""
    from scipy.ndimage import label

    labels, count = label(bitmap, np.ones((3,) * bitmap.ndim))
    cells = np.argwhere(bitmap)
    owner = labels[bitmap] - 1
    sizes = np.bincount(owner, minlength=count)
    biggest = np.argsort(-sizes, kind="stable")[:MAX_COMPONENTS_MEASURED]
    return [_measure_part(cells[owner == number], bitmap.shape[0]) for number in biggest], count


def _measure_part(cells: npt.NDArray[np.intp], side: int) -> _RegionPart:
    # a cell has an extent, and so a variance of its own: 1/12 along each axis
    offsets = cells - cells.mean(axis=0)
    variances = np.linalg.eigvalsh(offsets.T @ offsets / len(cells)) + 1 / 12
    touched_sides = [
        (axis, end)
        for axis, column in enumerate(cells.T)
        for end, is_touched in (("low", column.min() == 0), ("high", column.max() == side - 1))
        if is_touched
    ]
    return _RegionPart(len(cells), float(np.sqrt(variances[-1] / variances[0])), tuple(touched_sides))


def _format_sides(touched_sides: tuple[tuple[int, str], ...]) -> str:
    axes = [axis for axis, _ in touched_sides]
    positions = ["adjacent"] if len(set(axes)) > 1 else []
    if len(set(axes)) < len(axes):
        positions.append("opposite")
    return " and ".join(positions) + " sides"

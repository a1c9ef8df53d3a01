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

In more than three dimensions the cells are too big, so the shape is measured by further queries (`probe_region`). The
thresholds are the same: the region is a *strip* if its elongation is at least 3 and 80% of the points reach two sides of
the domain, a *block* if one part holds 80%, and a *point* region if there are at least 4 parts, none with more than
half. A thin sheet that reaches no sides may be curved, so that its points are not linked by lines: it is not a point region.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from .._validation import reject
from .probe_region import MIN_STRIP_ELONGATION, RegionShape, Violates, probe_region
from .regions import Flags, build_bitmap, to_points, validate_domain

MIN_DOMINANT_SHARE = 0.8
MIN_VIOLATIONS = 30
MIN_POINT_COMPONENTS = 4
MIN_CELLS_PER_SIDE = 10
MAX_BITMAP_DIMENSIONS = 3
UNCLASSIFIED = "not classified"
MAX_COMPONENTS_MEASURED = 50  # the biggest ones


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
        return Classification(kind="none", reason=f"none of {pluralize(len(coordinates), 'point')} violates", rate=rate)
    if violations < MIN_VIOLATIONS:
        reason = f"only {pluralize(violations, 'violation')}; the rule needs {MIN_VIOLATIONS}"
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
    return UNCLASSIFIED, f"{pluralize(count, 'part')}, the biggest with {share:.0%}: between block and point"


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

"""Classify violation regions as block, strip or point, from executed inputs.

The rule is for one to three dimensions, each scaled to 1:

1. The domain is cut into at most as many equal cells as there are points (`regions.build_bitmap`). Violating cells that
   share a side, an edge or a corner make a component.
2. A component is a strip if it touches two sides of the domain, adjacent or opposite, and its elongation is at least 3.
   The elongation is the square root of the largest divided by the smallest variance of its cells along its own axes. If
   strips hold 80% of the violating cells, the region is a *strip*. A thin strip falls apart where few points hit it, so
   this is checked again with cells twice as big, as long as there are 10 per side. In one dimension there are no
   strips: an interval is a block.
3. Otherwise, if one component holds 80% of the violating cells, the region is a *block*.
4. Otherwise, if there are at least 4 components and none holds more than half, it is a *point* region.
5. Otherwise it is not classified. Neither is a region with fewer than 30 violations or in more than three dimensions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from .._validation import reject
from .regions import Flags, build_bitmap, to_points, validate_domain

MIN_STRIP_ELONGATION = 3.0
MIN_DOMINANT_SHARE = 0.8
MIN_VIOLATIONS = 30
MIN_POINT_COMPONENTS = 4
MIN_CELLS_PER_SIDE = 10
MAX_DIMENSIONS = 3
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


def classify(points: npt.ArrayLike, violated: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> Classification:
    """Return the kind of a violation region, from random or regular points of a domain and whether they violate."""
    lower, upper = validate_domain(low, high, "classify")
    coordinates = to_points(points, len(lower), "classify")
    flags = np.asarray(violated)
    if flags.dtype != np.bool_ or flags.shape != (len(coordinates),) or not len(coordinates):
        reject("violated", "classify", f"{len(coordinates)} flags (at least one), one per point", violated)
    violations, rate = int(flags.sum()), float(flags.mean())
    if not violations:
        return Classification(kind="none", reason=f"none of {pluralize(len(coordinates), 'point')} violates", rate=rate)
    if len(lower) > MAX_DIMENSIONS:
        reason = f"the rule is for at most {MAX_DIMENSIONS} dimensions, not {len(lower)}"
        return Classification(kind=UNCLASSIFIED, reason=reason, rate=rate)
    if violations < MIN_VIOLATIONS:
        reason = f"only {pluralize(violations, 'violation')}; the rule needs {MIN_VIOLATIONS}"
        return Classification(kind=UNCLASSIFIED, reason=reason, rate=rate)
    return _classify_bitmap(build_bitmap(coordinates, flags, lower, upper, "classify"), rate)


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
    elif share >= MIN_DOMINANT_SHARE:
        kind, reason = "block", f"one part holds {share:.0%} of it and is not a slender band between sides"
    elif count >= MIN_POINT_COMPONENTS and share <= 0.5:
        kind, reason = "point", f"{count} parts, the biggest with {share:.0%} of it"
    else:
        kind = UNCLASSIFIED
        reason = f"{pluralize(count, 'part')}, the biggest with {share:.0%}: between block and point"
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

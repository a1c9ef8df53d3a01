"""Classify violation regions as block, strip or point, from executed inputs.

The rule is for one to three dimensions, each scaled to 1:

1. The domain is cut into at most as many equal cells as there are points (`regions.build_bitmap`). Violating cells that
   share a side, an edge or a corner make a component.
2. A component is a strip if it touches two sides of the domain, adjacent or opposite, and its elongation is at least 3.
   The elongation is the square root of the largest divided by the smallest variance of its cells along its own axes. If
   strips hold 80 % of the violating cells, the region is a *strip*. A thin strip falls apart where few points hit it, so
   this is checked again with cells twice as big, as long as there are 10 per side. In one dimension there are no
   strips: an interval is a block.
3. Otherwise, if one component holds 80 % of the violating cells, the region is a *block*.
4. Otherwise, if there are at least 4 components and none holds more than half, it is a *point* region.
5. Otherwise it is not classified. Neither is a region with fewer than 30 violations or in more than three dimensions.
"""

from __future__ import annotations

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
    """The kind of a violation region, with the figures it is based on.

    Attributes
    ----------
    kind : {"block", "strip", "point", "none", "not classified"}
        The kind of the region.
    components : int
        The number of components.
    elongation : float
        The elongation of the biggest component; NaN if there is none.
    touches : tuple of (axis, end)
        The sides of the domain that the biggest component touches, such as (0, "low").
    rate : float
        The share of points that violate.
    why : str
        The reason in words.
    """

    kind: str
    components: int
    elongation: float
    touched_sides: tuple[tuple[int, str], ...]
    rate: float
    reason: str


@dataclass(frozen=True)
class _RegionPart:
    cells: int
    elongation: float
    touched_sides: tuple[tuple[int, str], ...]

    @property
    def is_strip(self) -> bool:
        return len(self.touched_sides) > 1 and self.elongation >= MIN_STRIP_ELONGATION


def classify(points: npt.ArrayLike, violated: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> Classification:
    """Return the kind of a violation region, from random or regular points.

    Parameters
    ----------
    points : array (n, d)
        The source inputs.
    violated : array of bool (n,)
        Whether the points violate the relation.
    low, high : array (d,)
        The source domain.

    Examples
    --------
    >>> points = (np.arange(1000) + 0.5) / 10
    >>> region = classify(points, (points > 20) & (points < 30), 0, 100)
    >>> region.kind, region.rate
    ('block', 0.1)
    """
    lower, upper = validate_domain(low, high, "classify")
    coordinates = to_points(points, len(lower), "classify")
    flags = np.asarray(violated)
    if flags.dtype != np.bool_ or flags.shape != (len(coordinates),) or not len(coordinates):
        reject("violated", "classify", f"{len(coordinates)} flags (at least one), one per point", violated)
    violations, rate = int(flags.sum()), float(flags.mean())
    if not violations:
        return _build_classification("none", f"none of {pluralize(len(coordinates), 'point')} violates", rate)
    if len(lower) > MAX_DIMENSIONS:
        reason = f"the rule is for at most {MAX_DIMENSIONS} dimensions, not {len(lower)}"
        return _build_classification(UNCLASSIFIED, reason, rate)
    if violations < MIN_VIOLATIONS:
        reason = f"only {pluralize(violations, 'violation')}; the rule needs {MIN_VIOLATIONS}"
        return _build_classification(UNCLASSIFIED, reason, rate)
    return _classify_bitmap(build_bitmap(coordinates, flags, lower, upper, "classify"), rate)


def _build_classification(
    kind: str, reason: str, rate: float, count: int = 0, part: _RegionPart | None = None
) -> Classification:
    return Classification(
        kind=kind,
        components=count,
        elongation=np.nan if part is None else part.elongation,
        touched_sides=() if part is None else part.touched_sides,
        rate=rate,
        reason=reason,
    )


def _classify_bitmap(bitmap: Flags, rate: float) -> Classification:
    parts, count = _find_parts(bitmap)
    if not count:
        reason = "the violations are too thin for the cells; give more points"
        return _build_classification(UNCLASSIFIED, reason, rate)
    biggest = parts[0]
    share = biggest.cells / int(bitmap.sum())
    strip = _find_strip(bitmap, parts)
    if strip is not None:
        sides = _format_sides(strip.touched_sides)
        reason = f"{strip.elongation:.1f} times as long as wide, and touches {sides}"
        return _build_classification("strip", reason, rate, count, strip)
    if share >= MIN_DOMINANT_SHARE:
        kind, reason = "block", f"one part holds {share:.0%} of it and is not a slender band between sides"
    elif count >= MIN_POINT_COMPONENTS and share <= 0.5:
        kind, reason = "point", f"{count} parts, the biggest with {share:.0%} of it"
    else:
        kind = UNCLASSIFIED
        reason = f"{pluralize(count, 'part')}, the biggest with {share:.0%}: between block and point"
    return _build_classification(kind, reason, rate, count, biggest)


def _find_strip(bitmap: Flags, parts: list[_RegionPart]) -> _RegionPart | None:
    """Return the biggest strip if strips hold most of the region, else None."""
    while bitmap.ndim > 1:
        strips = [part for part in parts if part.is_strip]
        if sum(part.cells for part in strips) >= MIN_DOMINANT_SHARE * bitmap.sum():
            return strips[0]
        if bitmap.shape[0] < 2 * MIN_CELLS_PER_SIDE:
            break
        bitmap = _coarsen(bitmap)
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


def _coarsen(bitmap: Flags) -> Flags:
    """Return a bitmap with cells twice as big, set if one of their cells is."""
    for axis in range(bitmap.ndim):
        bitmap = np.logical_or.reduceat(bitmap, np.arange(0, bitmap.shape[axis], 2), axis=axis)
    return bitmap


def _format_sides(touched_sides: tuple[tuple[int, str], ...]) -> str:
    ends = {axis: [end for side_axis, end in touched_sides if side_axis == axis] for axis, _ in touched_sides}
    positions = []
    if len(ends) > 1:
        positions.append("adjacent")
    if any(len(sides) > 1 for sides in ends.values()):
        positions.append("opposite")
    return " and ".join(positions) + " sides"

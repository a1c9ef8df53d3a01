"""What kind of violation region a mutant has, by the inputs that were tried on it.

The rule, for one to three dimensions, each scaled to 1:

1. The domain is cut into as many equal cells as there are points or a few less (`regions.bitmap_of`); violating cells
   that share a side, an edge or a corner make a component.
2. A component is a strip if it touches two sides of the domain, adjacent or opposite, and is slender: the root of the
   largest over the smallest variance of its cells along its own axes, its elongation, is 3 or more. If strips hold 80 %
   of the violating cells, the region is a *strip*. As a thin strip falls apart where few points hit it, that is asked
   again of cells twice as big, and so on while there are 10 a side. In one dimension there are no strips: an interval
   is a block.
3. Else, if one component holds 80 % of the violating cells, the region is a *block*.
4. Else, if there are 4 components or more and none holds more than half, it is a *point* region.
5. Else it is not classified; nor with less than 30 violations, or above three dimensions.
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
MAX_COMPONENTS_MEASURED = 50  # components, the biggest first


@dataclass(frozen=True)
class Classification:
    """What kind of region it is, and what speaks for it.

    Attributes
    ----------
    kind : {"block", "strip", "point", "none", "not classified"}
        What it is.
    components : int
        How many parts there are that do not touch.
    elongation : float
        How slender the biggest part is; NaN where there is none.
    touches : tuple of (axis, end)
        The sides of the domain that the biggest part touches, as (0, "low").
    rate : float
        The share of the points that violate.
    why : str
        That in words.
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


def classify(
    points: npt.ArrayLike, violated: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike
) -> Classification:
    """Return the kind of a violation region, by points of the domain, random or on a grid, that were tried.

    Parameters
    ----------
    points : array (n, d)
        The source inputs.
    violated : array of bool (n,)
        Whether they violated the relation.
    low, high : array (d,)
        The source domain.

    Examples
    --------
    >>> tried = (np.arange(1000) + 0.5) / 10
    >>> found = classify(tried, (tried > 20) & (tried < 30), 0, 100)
    >>> found.kind, found.rate
    ('block', 0.1)
    """
    lower, upper = validate_domain(low, high, "classify")
    coordinates = to_points(points, len(lower), "classify")
    flags = np.asarray(violated)
    if flags.dtype != np.bool_ or flags.shape != (len(coordinates),) or not len(coordinates):
        reject("violated", "classify", f"{len(coordinates)} flags (at least one), one for each point", violated)
    violations, rate = int(flags.sum()), float(flags.mean())

    def make_empty_result(kind: str, reason: str) -> Classification:
        return Classification(kind, 0, np.nan, (), rate, reason)

    if not violations:
        return make_empty_result("none", f"none of {pluralize(len(coordinates), 'point')} violates")
    if len(lower) > 3:
        return make_empty_result(
            "not classified", f"{len(lower)} dimensions are more than the 3 that the rule is for"
        )
    if violations < MIN_VIOLATIONS:
        return make_empty_result(
            "not classified", f"only {pluralize(violations, 'violation')}; the rule needs {MIN_VIOLATIONS}"
        )
    bitmap = build_bitmap(coordinates, flags, lower, upper, "classify")
    return _classify_bitmap(bitmap, rate)


def _classify_bitmap(bitmap: Flags, rate: float) -> Classification:
    parts, count = _find_parts(bitmap)
    if not count:
        reason = "the violations are too thin for the cells; give more points"
        return Classification("not classified", 0, np.nan, (), rate, reason)
    total, biggest = int(bitmap.sum()), parts[0]
    share = biggest.cells / total

    def make_result(kind: str, reason: str, part: _RegionPart = biggest) -> Classification:
        return Classification(kind, count, part.elongation, part.touched_sides, rate, reason)

    coarse, coarse_parts = bitmap, parts
    while bitmap.ndim > 1:
        strips = [part for part in coarse_parts if part.is_strip]
        if sum(part.cells for part in strips) >= MIN_DOMINANT_SHARE * coarse.sum():
            reason_for_strip = f"{strips[0].elongation:.1f} times as long as wide, and touches {_format_sides(strips[0].touched_sides)}"
            return make_result("strip", reason_for_strip, strips[0])
        if coarse.shape[0] < 2 * MIN_CELLS_PER_SIDE:
            break
        coarse = _coarsen(coarse)
        coarse_parts = _find_parts(coarse)[0]
    if share >= MIN_DOMINANT_SHARE:
        return make_result("block", f"one part holds {share:.0%} of it and is not a slender band between sides")
    if count >= MIN_POINT_COMPONENTS and share <= 0.5:
        return make_result("point", f"{count} parts, the biggest with {share:.0%} of it")
    return make_result(
        "not classified", f"{pluralize(count, 'part')}, the biggest with {share:.0%}: between block and point"
    )


def _find_parts(bitmap: Flags) -> tuple[list[_RegionPart], int]:
    """Return the biggest components, the biggest first, and how many there are."""
    from scipy.ndimage import label

    labels, count = label(bitmap, np.ones((3,) * bitmap.ndim))
    cells = np.argwhere(bitmap)
    owner = labels[bitmap] - 1
    sizes = np.bincount(owner, minlength=count)
    biggest = np.argsort(-sizes, kind="stable")[:MAX_COMPONENTS_MEASURED]
    return [_measure_part(cells[owner == number], bitmap.shape[0]) for number in biggest], count


def _measure_part(cells: npt.NDArray[np.intp], side: int) -> _RegionPart:
    # a cell is not a dot: it has a variance of its own, 1/12 along each axis
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
    """Return cells twice as big, set where one of theirs is; of an odd number the last is as it was."""
    for axis in range(bitmap.ndim):
        bitmap = np.logical_or.reduceat(bitmap, np.arange(0, bitmap.shape[axis], 2), axis=axis)
    return bitmap


def _format_sides(touched_sides: tuple[tuple[int, str], ...]) -> str:
    ends = {axis: [end for side_axis, end in touched_sides if side_axis == axis] for axis, _ in touched_sides}
    positions = ["adjacent"] * (len(ends) > 1) + ["opposite"] * any(len(sides) > 1 for sides in ends.values())
    return " and ".join(positions) + " sides"

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

from .._checks import plural, reject
from .regions import Flags, as_points, bitmap_of, checked_domain

LONG = 3.0
MOST = 0.8
SEEN = 30
SCATTERED = 4
COARSEST = 10
LOOKED_AT = 50  # components, the biggest first


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
    touches: tuple[tuple[int, str], ...]
    rate: float
    why: str


@dataclass(frozen=True)
class _Part:
    cells: int
    elongation: float
    touches: tuple[tuple[int, str], ...]

    @property
    def is_strip(self) -> bool:
        return len(self.touches) > 1 and self.elongation >= LONG


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
    at, to = checked_domain(low, high, "classify")
    given = as_points(points, len(at), "classify")
    flags = np.asarray(violated)
    if flags.dtype != np.bool_ or flags.shape != (len(given),) or not len(given):
        reject("violated", "classify", f"{len(given)} flags (at least one), one for each point", violated)
    seen, rate = int(flags.sum()), float(flags.mean())

    def without_parts(kind: str, why: str) -> Classification:
        return Classification(kind, 0, np.nan, (), rate, why)

    if not seen:
        return without_parts("none", f"none of {plural(len(given), 'point')} violates")
    if len(at) > 3:
        return without_parts("not classified", f"{len(at)} dimensions are more than the 3 that the rule is for")
    if seen < SEEN:
        return without_parts("not classified", f"only {plural(seen, 'violation')}; the rule needs {SEEN}")
    bitmap = bitmap_of(given, flags, at, to, "classify")
    return _named(bitmap, rate)


def _named(bitmap: Flags, rate: float) -> Classification:
    parts, count = _parts(bitmap)
    if not count:
        why = "the violations are too thin for the cells; give more points"
        return Classification("not classified", 0, np.nan, (), rate, why)
    total, biggest = int(bitmap.sum()), parts[0]
    share = biggest.cells / total

    def named(kind: str, why: str, part: _Part = biggest) -> Classification:
        return Classification(kind, count, part.elongation, part.touches, rate, why)

    coarse, coarse_parts = bitmap, parts
    while bitmap.ndim > 1:
        strips = [part for part in coarse_parts if part.is_strip]
        if sum(part.cells for part in strips) >= MOST * coarse.sum():
            how = f"{strips[0].elongation:.1f} times as long as wide, and touches {_told(strips[0].touches)}"
            return named("strip", how, strips[0])
        if coarse.shape[0] < 2 * COARSEST:
            break
        coarse = _pooled(coarse)
        coarse_parts = _parts(coarse)[0]
    if share >= MOST:
        return named("block", f"one part holds {share:.0%} of it and is no slender band between sides")
    if count >= SCATTERED and share <= 0.5:
        return named("point", f"{count} parts, the biggest with {share:.0%} of it")
    return named(
        "not classified", f"{plural(count, 'part')}, the biggest with {share:.0%}: between block and point"
    )


def _parts(bitmap: Flags) -> tuple[list[_Part], int]:
    """Return the biggest components, the biggest first, and how many there are."""
    from scipy.ndimage import label

    labels, count = label(bitmap, np.ones((3,) * bitmap.ndim))
    where = np.argwhere(bitmap)
    owner = labels[bitmap] - 1
    sizes = np.bincount(owner, minlength=count)
    biggest = np.argsort(-sizes, kind="stable")[:LOOKED_AT]
    return [_part(where[owner == each], bitmap.shape[0]) for each in biggest], count


def _part(cells: npt.NDArray[np.intp], side: int) -> _Part:
    # a cell is not a dot: it has a variance of its own, 1/12 along each axis
    offsets = cells - cells.mean(axis=0)
    variances = np.linalg.eigvalsh(offsets.T @ offsets / len(cells)) + 1 / 12
    touches = [
        (axis, end)
        for axis, column in enumerate(cells.T)
        for end, hit in (("low", column.min() == 0), ("high", column.max() == side - 1))
        if hit
    ]
    return _Part(len(cells), float(np.sqrt(variances[-1] / variances[0])), tuple(touches))


def _pooled(bitmap: Flags) -> Flags:
    """Return cells twice as big, set where one of theirs is; of an odd number the last is as it was."""
    for axis in range(bitmap.ndim):
        bitmap = np.logical_or.reduceat(bitmap, np.arange(0, bitmap.shape[axis], 2), axis=axis)
    return bitmap


def _told(touches: tuple[tuple[int, str], ...]) -> str:
    ends = {axis: [end for each, end in touches if each == axis] for axis, _ in touches}
    how = ["adjacent"] * (len(ends) > 1) + ["opposite"] * any(len(each) > 1 for each in ends.values())
    return " and ".join(how) + " sides"

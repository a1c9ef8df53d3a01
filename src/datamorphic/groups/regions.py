"""Violation regions: the inputs on which a relation breaks, in place of a program.

Three kinds, drawn anew for each trial, of exactly the volume that was asked for and fully inside the domain:

block
    One box with the same share of each side of the domain, anywhere.
strip
    A band between two adjacent sides. Two axes, and a corner of the square they span, are drawn; on each of the two
    sides that meet in this corner a point is drawn between a tenth and nine tenths of the side, and the band lies
    about the line through the two points, as wide as the volume needs. It is drawn again until it is slender (at least
    5 times as long as wide, the sides scaled to 1) and both its edges meet the same two sides, so that it has no bend
    at a corner. In more than two dimensions the band goes through all other axes: a flat surface with a thickness. In
    one dimension it is an interval.
point
    Many small boxes of the same volume that do not overlap, each placed at random and drawn again where it would.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._checks import generator, is_number, one_of, reject, whole_number
from ..errors import ArgumentError, DataError

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
KINDS = ("block", "strip", "point")
WIDEST_STRIP = 0.2  # of the domain: what is bigger is not slender any more
SLENDER = 5.0
ROUNDS = 200  # of boxes to place, each as many as are wanted
AT_ONCE = 4_000_000  # comparisons of a point with a box


@dataclass(frozen=True, eq=False)
class Region:
    """A part of a domain; `kind` names it."""

    kind: str

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Tell which points (n, d) lie in the region."""
        raise NotImplementedError

    @property
    def volume(self) -> float:
        """How big it is, in units of the domain; divided by the volume of the domain it is the violation rate."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Boxes(Region):
    """One or more boxes (n, d), their edges included."""

    lows: Numbers
    highs: Numbers

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Tell which points (n, d) lie in a box."""
        count, d = self.lows.shape
        given = as_points(points, d, "Region.contains")
        step = max(1, AT_ONCE // count)
        found = [self._hit(given[first : first + step]) for first in range(0, max(1, len(given)), step)]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _hit(self, points: Numbers) -> Flags:
        inside = np.ones((len(points), len(self.lows)), dtype=bool)
        for column, low, high in zip(points.T, self.lows.T, self.highs.T, strict=True):
            inside &= column[:, None] >= low
            inside &= column[:, None] <= high
        return np.asarray(inside.any(axis=1))

    @property
    def volume(self) -> float:
        """The volume of all boxes."""
        return float((self.highs - self.lows).prod(axis=1).sum())


@dataclass(frozen=True, eq=False)
class Band(Region):
    """The points of a domain that are, measured along `normal`, at most `half` away from `centre`."""

    low: Numbers
    high: Numbers
    normal: Numbers
    centre: float
    half: float
    rate: float

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Tell which points (n, d) lie in the band."""
        given = as_points(points, len(self.low), "Region.contains")
        near: Flags = np.abs(given @ self.normal - self.centre) <= self.half
        return near & ((given >= self.low) & (given <= self.high)).all(axis=1)

    @property
    def volume(self) -> float:
        """The volume of the band."""
        return self.rate * float((self.high - self.low).prod())


@dataclass(frozen=True, eq=False)
class Cells(Region):
    """Cells of a domain cut into equal ones, as many a side as the bitmap has."""

    low: Numbers
    high: Numbers
    bitmap: Flags

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Tell which points (n, d) lie in a cell that is set."""
        given = as_points(points, len(self.low), "Region.contains")
        inside = ((given >= self.low) & (given <= self.high)).all(axis=1)
        found = np.zeros(len(given), dtype=bool)
        found[inside] = self.bitmap[cell_of(given[inside], self.low, self.high, self.bitmap.shape[0])]
        return found

    @property
    def volume(self) -> float:
        """The volume of the cells that are set."""
        return float(self.bitmap.mean() * (self.high - self.low).prod())


def draw_region(
    kind: str,
    rate: float,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    rng: np.random.Generator | int | None = None,
    *,
    boxes: int = 50,
) -> Region:
    """Return a random violation region; the rules are those at the top of this module.

    Parameters
    ----------
    kind : {"block", "strip", "point"}
        What it looks like.
    rate : float
        Its volume as a share of the domain, between 0 and 1; of a strip in two or more dimensions at most 0.2.
    low, high : array (d,)
        The domain.
    boxes : int
        How many boxes a point region has; where so many do not fit side by side, an `ArgumentError` says so.

    Examples
    --------
    >>> region = draw_region("block", 0.25, [0, 0], [10, 10], 1)
    >>> region.contains([[5.0, 5.0], [11.0, 5.0]]), round(region.volume, 9)
    (array([ True, False]), 25.0)
    """
    one_of("kind", "draw_region", kind, KINDS)
    rate = checked_rate(rate, "draw_region")
    at, to = checked_domain(low, high, "draw_region")
    draws = generator("rng", "draw_region", rng)
    d = len(at)
    if kind == "point":
        boxes = whole_number("boxes", "draw_region", boxes, low=1)
        return _scaled(kind, _apart(boxes, rate, d, draws), (rate / boxes) ** (1 / d), at, to)
    if kind == "strip" and d > 1:
        return _band(rate, at, to, draws)
    side = rate ** (1 / d)
    return _scaled(kind, draws.random((1, d)) * (1 - side), side, at, to)


def boxed(lows: npt.ArrayLike, highs: npt.ArrayLike) -> Boxes:
    """Return a region of given boxes, which must not overlap: one "block" or many "point" ones.

    Examples
    --------
    >>> boxed([[0, 0], [5, 5]], [[1, 1], [6, 6]]).contains([[0.5, 0.5], [2, 2]])
    array([ True, False])
    """
    at, to = (np.array(each, dtype=np.float64, ndmin=2) for each in (lows, highs))
    if at.shape != to.shape or at.ndim != 2 or not at.size or not (at < to).all():
        raise ArgumentError(
            f"The boxes must have lows below their highs, two arrays of the same shape (boxes, dimensions). "
            f"Got lows {_told(lows)} and highs {_told(highs)} instead."
        )
    for first in range(len(at) - 1):
        over = ((at[first] < to[first + 1 :]) & (at[first + 1 :] < to[first])).all(axis=1)
        if over.any():
            second = first + 1 + int(over.argmax())
            raise ArgumentError(f"Boxes {first} and {second} overlap. Cut one of them, or leave it out.")
    return Boxes("block" if len(at) == 1 else "point", at, to)


def from_sample(points: npt.ArrayLike, violated: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> Cells:
    """Return a region read off a real mutant, by inputs that were tried and whether they violated.

    The domain is cut into at most as many equal cells as there are points; see `bitmap_of`.

    Examples
    --------
    >>> tried = (np.arange(100) + 0.5) / 100
    >>> from_sample(tried, tried > 0.7, 0, 1).contains([0.2, 0.9])
    array([False,  True])
    """
    at, to = checked_domain(low, high, "from_sample")
    return Cells("sample", at, to, bitmap_of(points, violated, at, to, "from_sample"))


def bitmap_of(points: npt.ArrayLike, violated: npt.ArrayLike, low: Numbers, high: Numbers, owner: str) -> Flags:
    """Return a domain as cells that are set where inputs violated.

    There are n^(1/d) cells a side (rounded down) for n points. A cell has the verdict of the last point in it, which
    for points in random order is as good as any; an empty cell has that of the nearest cell that is not.
    """
    given = as_points(points, len(low), owner)
    flags = np.asarray(violated)
    if flags.shape != (len(given),) or flags.dtype != np.bool_:
        reject("violated", owner, f"{len(given)} flags, one for each point", violated)
    if not ((given >= low) & (given <= high)).all():
        raise DataError(f"Some points of {owner} lie outside the domain. Leave them out, or give a larger domain.")
    side = int(len(given) ** (1 / len(low)) + 1e-9)
    if side < 2:
        raise DataError(
            f"{len(given)} points are too few to tell where a region lies in {len(low)} dimensions. "
            f"Give at least {2 ** len(low)}."
        )
    shape = (side,) * len(low)
    verdict = np.full(shape, -1, dtype=np.int8)
    verdict[cell_of(given, low, high, side)] = flags
    empty = verdict < 0
    if empty.any():
        from scipy.ndimage import distance_transform_edt

        verdict = verdict[tuple(distance_transform_edt(empty, return_distances=False, return_indices=True))]
    return verdict > 0


def cell_of(points: Numbers, low: Numbers, high: Numbers, side: int) -> tuple[npt.NDArray[np.intp], ...]:
    """Return the cell of each point, as an index of a bitmap with `side` cells a side."""
    cells = ((points - low) / (high - low) * side).astype(np.intp)
    return tuple(np.clip(cells, 0, side - 1).T)


def checked_domain(low: npt.ArrayLike, high: npt.ArrayLike, owner: str) -> tuple[Numbers, Numbers]:
    """Return the two ends of a domain as arrays (d,), or say why it is none."""
    try:
        at = np.array(low, dtype=np.float64, ndmin=1)
        to = np.array(high, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        reject("low", owner, "numbers, as `high`", (low, high))
    if at.shape != to.shape or at.ndim != 1 or not len(at):
        reject("low", owner, "as long as `high`, a number for each of at least one dimension", (low, high))
    if not (at < to).all() or not np.isfinite(to - at).all():
        raise ArgumentError(
            f"The domain of {owner} is empty or endless: low must be below high in each dimension, both finite. "
            f"Got low {_told(low)} and high {_told(high)}."
        )
    return at, to


def as_points(points: npt.ArrayLike, d: int | None, owner: str) -> Numbers:
    """Return points as an array (n, d); a flat list is many points in one dimension, or one point in d."""
    try:
        given = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        reject("points", owner, "an array of numbers", points)
    if given.ndim == 1:
        one = given.size and d not in (None, 1)
        given = given.reshape(1, -1) if one else given.reshape(-1, d or 1)
    if given.ndim != 2 or (d is not None and given.shape[1] != d):
        reject("points", owner, f"an array of shape (n, {d or 'd'})", points)
    return given


def checked_rate(rate: object, owner: str) -> float:
    """Return a violation rate, or say why it is none."""
    if not is_number(rate) or not 0 < float(rate) < 1:  # type: ignore[arg-type]
        reject("rate", owner, "a number above 0 and below 1", rate)
    return float(rate)  # type: ignore[arg-type]


def _scaled(kind: str, start: Numbers, side: float, low: Numbers, high: Numbers) -> Boxes:
    """Return boxes of the unit cube in a domain; rounding must not lead out of it."""
    width = high - low
    return Boxes(kind, low + start * width, np.minimum(low + (start + side) * width, high))


def _apart(boxes: int, rate: float, d: int, rng: np.random.Generator) -> Numbers:
    """Return where boxes begin that do not overlap, each the first of its draws that does not meet an earlier one."""
    from scipy.spatial import cKDTree

    side = (rate / boxes) ** (1 / d)
    placed = np.empty((0, d))
    for _ in range(ROUNDS):
        placed = np.concatenate([placed, rng.random((boxes, d)) * (1 - side)])
        pairs = cKDTree(placed).query_pairs(side, p=np.inf, output_type="ndarray")
        kept = np.ones(len(placed), dtype=bool)
        # a box goes only for an earlier one that stays: by the later of the two, all earlier ones are settled
        for earlier, later in pairs[np.argsort(pairs[:, 1])].tolist():
            kept[later] &= not kept[earlier]
        placed = placed[kept][:boxes]
        if len(placed) == boxes:
            return placed
    raise ArgumentError(
        f"Only {len(placed)} of {boxes} boxes with a rate of {rate:g} together could be placed side by side in {d} "
        "dimensions. Lower the rate, or take another number of boxes."
    )


def _band(rate: float, low: Numbers, high: Numbers, rng: np.random.Generator) -> Band:
    if rate > WIDEST_STRIP:
        reject("rate", "draw_region", f"at most {WIDEST_STRIP} for a strip in two or more dimensions", rate)
    d = len(low)
    axes = [0, 1] if d == 2 else rng.permutation(d)[:2].tolist()
    while True:
        at_x, at_y, *corner = rng.random(4).tolist()
        a, b = 0.1 + 0.8 * at_x, 0.1 + 0.8 * at_y
        # the triangle below x/a + y/b = t has the area a b t^2 / 2, so the band 1 - half <= t <= 1 + half has 2 a b half
        half = rate / (2 * a * b)
        if a * a + b * b >= SLENDER * rate and max(a, b) * (1 + half) <= 1 and half < 1:
            break
    normal, centre = np.zeros(d), 1.0
    for axis, cut, end in zip(axes, (a, b), corner, strict=True):
        slope = 1 / (cut * (high[axis] - low[axis]))
        normal[axis] = slope if end < 0.5 else -slope
        centre += normal[axis] * (low[axis] if end < 0.5 else high[axis])
    return Band("strip", low, high, normal, float(centre), half, rate)


def _told(value: object) -> str:
    text = str(np.asarray(value).tolist())
    return text if len(text) < 60 else text[:57] + "..."

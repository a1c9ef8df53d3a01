"""Violation regions: parts of a domain that stand for a wrong program.

There are three kinds. A region is drawn for each trial, has exactly the given volume, and lies inside the domain.

block
    One box with the same share of each side of the domain, at a random place.
strip
    A band between two adjacent sides. Two axes and a corner of the square they span are drawn. On each of the two sides
    that meet in this corner, a point is drawn between a tenth and nine tenths of the side. The band lies around the
    line through the two points, as wide as the volume needs. It is drawn again until it is slender (at least 5 times as
    long as wide, with sides scaled to 1) and both its edges meet the same two sides, so that it has no bend at a corner.
    In more than two dimensions the band extends along all other axes. In one dimension it is an interval.
point
    Many small boxes of the same volume at random places; a box that would overlap another is drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._validation import is_number, reject, to_generator, validate_choice, validate_integer
from ..core.result import Measure
from ..errors import ArgumentError, DataError

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
KINDS = ("block", "strip", "point")
MAX_STRIP_RATE = 0.2  # of the domain; a bigger strip would not be slender
MIN_STRIP_SLENDERNESS = 5.0  # length divided by width
MAX_PLACEMENT_ROUNDS = 200
MAX_COMPARISONS_PER_CHUNK = 4_000_000  # of a point with a box


@dataclass(frozen=True, eq=False)
class Region:
    """A part of a domain."""

    kind: str

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Return which points (n, d) lie in the region."""
        raise NotImplementedError

    @property
    def volume(self) -> float:
        """The volume in units of the domain."""
        raise NotImplementedError

    def measure_share(self, low: Numbers, high: Numbers) -> Measure:
        """Return the share of a domain that the region has, with an interval if it is estimated."""
        share = self.volume / float(np.prod(high - low))
        return Measure(share, share, share)


@dataclass(frozen=True, eq=False)
class BoxRegion(Region):
    """One or more boxes (n, d), including their edges."""

    lows: Numbers
    highs: Numbers

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Return which points (n, d) lie in a box."""
        count, d = self.lows.shape
        coordinates = to_points(points, d, "Region.contains")
        step = max(1, MAX_COMPARISONS_PER_CHUNK // count)
        hits = np.zeros(len(coordinates), dtype=bool)
        for first in range(0, len(coordinates), step):
            chunk = coordinates[first : first + step]
            inside = np.ones((len(chunk), count), dtype=bool)
            for column, low, high in zip(chunk.T, self.lows.T, self.highs.T, strict=True):
                inside &= column[:, None] >= low
                inside &= column[:, None] <= high
            hits[first : first + step] = inside.any(axis=1)
        return hits

    @property
    def volume(self) -> float:
        """The volume of all boxes."""
        return float((self.highs - self.lows).prod(axis=1).sum())


@dataclass(frozen=True, eq=False)
class BandRegion(Region):
    """The points of a domain within `half_width` of `centre`, measured along `normal`."""

    low: Numbers
    high: Numbers
    normal: Numbers
    centre: float
    half_width: float
    rate: float

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Return which points (n, d) lie in the band."""
        coordinates = to_points(points, len(self.low), "Region.contains")
        near: Flags = np.abs(coordinates @ self.normal - self.centre) <= self.half_width
        return near & ((coordinates >= self.low) & (coordinates <= self.high)).all(axis=1)

    @property
    def volume(self) -> float:
        """The volume of the band."""
        return self.rate * float((self.high - self.low).prod())


@dataclass(frozen=True, eq=False)
class CellRegion(Region):
    """Set cells of a domain that is cut into equal cells, as the bitmap has them."""

    low: Numbers
    high: Numbers
    bitmap: Flags

    def contains(self, points: npt.ArrayLike) -> Flags:
        """Return which points (n, d) lie in a set cell."""
        coordinates = to_points(points, len(self.low), "Region.contains")
        inside = ((coordinates >= self.low) & (coordinates <= self.high)).all(axis=1)
        in_set_cell = np.zeros(len(coordinates), dtype=bool)
        in_set_cell[inside] = self.bitmap[find_cells(coordinates[inside], self.low, self.high, self.bitmap.shape[0])]
        return in_set_cell

    @property
    def volume(self) -> float:
        """The volume of the set cells."""
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
    """Return a random violation region of a kind of `KINDS`, by the rules at the top of this module.

    `rate` is the volume as a share of the domain; for a strip in two or more dimensions it is at most 0.2. `boxes` is
    the number of boxes of a point region; `ArgumentError` is raised if they do not fit side by side.
    """
    validate_choice("kind", "draw_region", kind, KINDS)
    rate = validate_rate(rate, "draw_region")
    lower, upper = validate_domain(low, high, "draw_region")
    draws = to_generator("rng", "draw_region", rng)
    d = len(lower)
    if kind == "strip" and d > 1:
        return _draw_band(rate, lower, upper, draws)
    if kind == "point":
        boxes = validate_integer("boxes", "draw_region", boxes, low=1)
        side = (rate / boxes) ** (1 / d)
        starts = _draw_disjoint_starts(boxes, rate, d, draws)
    else:
        side = rate ** (1 / d)
        starts = draws.random((1, d)) * (1 - side)
    width = upper - lower
    return BoxRegion(kind, lower + starts * width, np.minimum(lower + (starts + side) * width, upper))


def make_box_region(lows: npt.ArrayLike, highs: npt.ArrayLike) -> BoxRegion:
    """Return a region of boxes that do not overlap: a block, or a point region."""
    lower, upper = (np.array(ends, dtype=np.float64, ndmin=2) for ends in (lows, highs))
    if lower.shape != upper.shape or lower.ndim != 2 or not lower.size or not (lower < upper).all():
        raise ArgumentError(
            f"Boxes need two arrays of the same shape (boxes, dimensions), with lows below highs. "
            f"Got lows {_format_value(lows)} and highs {_format_value(highs)} instead."
        )
    for first in range(len(lower) - 1):
        overlaps = ((lower[first] < upper[first + 1 :]) & (lower[first + 1 :] < upper[first])).all(axis=1)
        if overlaps.any():
            second = first + 1 + int(overlaps.argmax())
            raise ArgumentError(f"Boxes {first} and {second} overlap. Shrink one of them, or leave it out.")
    return BoxRegion("block" if len(lower) == 1 else "point", lower, upper)


def from_sample(points: npt.ArrayLike, violated: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> CellRegion:
    """Return the violation region of a mutant, from executed points.

    The domain is cut into at most as many equal cells as there are points; see `build_bitmap`.
    """
    lower, upper = validate_domain(low, high, "from_sample")
    return CellRegion("sample", lower, upper, build_bitmap(points, violated, lower, upper, "from_sample"))


def build_bitmap(points: npt.ArrayLike, violated: npt.ArrayLike, low: Numbers, high: Numbers, owner: str) -> Flags:
    """Return a domain as cells that are set where points violate.

    For n points there are n^(1/d) cells per side, rounded down. A cell has the verdict of its last point; an empty cell
    has that of the nearest cell with a point.
    """
    coordinates = to_points(points, len(low), owner)
    flags = np.asarray(violated)
    if flags.shape != (len(coordinates),) or flags.dtype != np.bool_:
        reject("violated", owner, f"{len(coordinates)} flags, one per point", violated)
    if not ((coordinates >= low) & (coordinates <= high)).all():
        raise DataError(f"Some points of {owner} lie outside the domain. Leave them out, or give a larger domain.")
    side = int(len(coordinates) ** (1 / len(low)) + 1e-9)
    if side < 2:
        raise DataError(
            f"{len(coordinates)} points are too few to locate a region in {len(low)} dimensions. "
            f"Give at least {2 ** len(low)}."
        )
    verdict = np.full((side,) * len(low), -1, dtype=np.int8)
    verdict[find_cells(coordinates, low, high, side)] = flags
    empty = verdict < 0
    if empty.any():
        from scipy.ndimage import distance_transform_edt

        verdict = verdict[tuple(distance_transform_edt(empty, return_distances=False, return_indices=True))]
    return verdict > 0


def find_cells(points: Numbers, low: Numbers, high: Numbers, side: int) -> tuple[npt.NDArray[np.intp], ...]:
    """Return the cells of points, as an index of a bitmap with `side` cells per side."""
    cells = ((points - low) / (high - low) * side).astype(np.intp)
    return tuple(np.clip(cells, 0, side - 1).T)


def validate_domain(low: npt.ArrayLike, high: npt.ArrayLike, owner: str) -> tuple[Numbers, Numbers]:
    """Return the ends of a domain as arrays (d,); raise if it is invalid."""
    try:
        lower = np.array(low, dtype=np.float64, ndmin=1)
        upper = np.array(high, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        reject("low", owner, "numbers, as `high`", (low, high))
    if lower.shape != upper.shape or lower.ndim != 1 or not len(lower):
        reject("low", owner, "as long as `high`, with one number for each of at least one dimension", (low, high))
    if not (lower < upper).all() or not np.isfinite(upper - lower).all():
        raise ArgumentError(
            f"The domain of {owner} is empty or infinite. In each dimension, low must be below high, both finite. "
            f"Got low {_format_value(low)} and high {_format_value(high)}."
        )
    return lower, upper


def to_points(points: npt.ArrayLike, d: int | None, owner: str) -> Numbers:
    """Return points as an array (n, d).

    A flat list is many points in one dimension, or one point in d dimensions.
    """
    try:
        coordinates = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        reject("points", owner, "an array of numbers", points)
    if coordinates.ndim == 1:
        is_single_point = coordinates.size and d not in (None, 1)
        coordinates = coordinates.reshape(1, -1) if is_single_point else coordinates.reshape(-1, d or 1)
    if coordinates.ndim != 2 or (d is not None and coordinates.shape[1] != d):
        reject("points", owner, f"an array of shape (n, {d or 'd'})", points)
    return coordinates


def validate_rate(rate: object, owner: str) -> float:
    """Return a violation rate; raise `ArgumentError` if it is invalid."""
    if not is_number(rate) or not 0 < float(rate) < 1:
        reject("rate", owner, "a number above 0 and below 1", rate)
    return float(rate)


def _draw_disjoint_starts(boxes: int, rate: float, d: int, rng: np.random.Generator) -> Numbers:
    """Return the lower corners of boxes in the unit cube that do not overlap.

    Each is the first of its draws that does not meet an earlier box.
    """
    from scipy.spatial import cKDTree

    side = (rate / boxes) ** (1 / d)
    starts = np.empty((0, d))
    for _ in range(MAX_PLACEMENT_ROUNDS):
        starts = np.concatenate([starts, rng.random((boxes, d)) * (1 - side)])
        pairs = cKDTree(starts).query_pairs(side, p=np.inf, output_type="ndarray")
        keep = np.ones(len(starts), dtype=bool)
        # A box is dropped only for an earlier one that is kept. In this order, that is known for all earlier ones.
        for earlier, later in pairs[np.argsort(pairs[:, 1])].tolist():
            keep[later] &= not keep[earlier]
        starts = starts[keep][:boxes]
        if len(starts) == boxes:
            return starts
    raise ArgumentError(
        f"Only {len(starts)} of {boxes} boxes with a total rate of {rate:g} could be placed side by side in {d} "
        "dimensions. Lower the rate, or change the number of boxes."
    )


def _draw_band(rate: float, low: Numbers, high: Numbers, rng: np.random.Generator) -> BandRegion:
    if rate > MAX_STRIP_RATE:
        reject("rate", "draw_region", f"at most {MAX_STRIP_RATE} for a strip in two or more dimensions", rate)
    d = len(low)
    axes = [0, 1] if d == 2 else rng.permutation(d)[:2].tolist()
    while True:
        at_x, at_y, *corner = rng.random(4).tolist()
        a, b = 0.1 + 0.8 * at_x, 0.1 + 0.8 * at_y
        # the triangle below x/a + y/b = t has the area a b t^2 / 2, so the band 1 - half <= t <= 1 + half has 2 a b half
        half = rate / (2 * a * b)
        if a * a + b * b >= MIN_STRIP_SLENDERNESS * rate and max(a, b) * (1 + half) <= 1 and half < 1:
            break
    normal, centre = np.zeros(d), 1.0
    for axis, cut, end in zip(axes, (a, b), corner, strict=True):
        slope = 1 / (cut * (high[axis] - low[axis]))
        normal[axis] = slope if end < 0.5 else -slope
        centre += normal[axis] * (low[axis] if end < 0.5 else high[axis])
    return BandRegion("strip", low, high, normal, float(centre), half, rate)


def _format_value(value: object) -> str:
    text = str(np.asarray(value).tolist())
    return text if len(text) < 60 else text[:57] + "..."

"""`Box`, the domain of a relation, and `Affine`, a linear change of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._estimates import refuse_many_rows
from ..._text import format_short
from ..._validation import check_types, is_number, reject, validate_integer
from ...errors import ArgumentError
from ...space.space import Space

Floats = npt.NDArray[np.float64]
NUMBER, WHOLE, CATEGORY = range(3)


@dataclass(frozen=True, eq=False)
class Box:
    """The inputs between two corners: numbers, whole numbers, or codes of categories.

    Attributes
    ----------
    low, high : ndarray
        The minimum and the maximum of each column.
    kind : ndarray of int8
        NUMBER, WHOLE or CATEGORY for each column.
    estimated : bool
        Whether the corners are estimated from samples.

    Examples
    --------
    >>> box = Box.of([(0, 10), (5, 6)])
    >>> box, box.dimension
    (Box((0, 10) x (5, 6)), 2)
    """

    low: Floats
    high: Floats
    kind: npt.NDArray[np.int8]
    estimated: bool = False

    @staticmethod
    def of(given: Any, owner: str = "Box") -> Box:
        """Return a box from pairs (low, high), a single pair for one column, or a space."""
        if isinstance(given, Box):
            return given
        if isinstance(given, Space):
            return Box._from_space(given, owner)
        try:
            pairs = np.asarray(given, dtype=object)
        except ValueError:  # of different lengths
            pairs = np.zeros(0)
        if pairs.ndim == 1 and len(pairs) == 2 and all(map(is_number, pairs)):
            pairs = pairs[None, :]
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or not all(map(is_number, pairs.ravel())):
            reject("domain", owner, "a pair (low, high), one such pair for each input, or a Space", given)
        corners = pairs.astype(float)
        return Box(corners[:, 0], corners[:, 1], np.zeros(len(pairs), dtype=np.int8))

    @staticmethod
    def _from_space(space: Space, owner: str) -> Box:
        for feature in space.features:
            if feature.kind == "text":
                raise ArgumentError(
                    f"{owner} draws numbers and categories between limits, but the feature {feature.name!r} is text. Give data "
                    "instead, as in dm.hunt(model, relation, data=texts)."
                )
            if not (np.isfinite(feature.low) and np.isfinite(feature.high)):
                raise ArgumentError(
                    f"{owner} draws inputs between limits, but the feature {feature.name!r} has none. Give it both, as in "
                    f"dm.{type(feature).__name__}({feature.name!r}, 0, 100)."
                )
        limits = np.array([(feature.low, feature.high) for feature in space.features], dtype=float)
        codes = {"continuous": NUMBER, "integer": WHOLE, "categorical": CATEGORY}
        kind = np.array([codes[feature.kind] for feature in space.features], dtype=np.int8)
        return Box(limits[:, 0], limits[:, 1], kind)

    def __post_init__(self) -> None:
        for name in ("low", "high", "kind"):
            corner = getattr(self, name)
            if not isinstance(corner, np.ndarray) or corner.ndim != 1 or len(corner) != np.size(self.low):
                reject(name, "Box", "an array of one number per column; Box.of takes pairs", corner)
        if not np.isfinite([self.low, self.high]).all():
            raise ArgumentError(f"The domain {self} has limits that are not finite. Give finite limits.")
        if (self.low > self.high).any():
            raise ArgumentError(f"The domain {self} is empty: a lower limit is above the upper one. Swap them.")
        with np.errstate(over="ignore"):
            too_wide = np.isinf(self.high - self.low)
        if too_wide.any():
            raise ArgumentError(f"The domain {self} is too wide for floating-point numbers. Give narrower limits.")

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return len(self.low)

    @property
    def edges(self) -> tuple[Floats, Floats]:
        """The corners between which numbers are drawn before they are rounded."""
        margin = np.where(self.kind == NUMBER, 0.0, 0.5)
        return self.low - margin, self.high + margin

    def contains(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Return which rows lie within the box, up to rounding at the corners."""
        slack = 1e-9 * np.maximum(np.abs(self.low), np.abs(self.high))
        try:
            return np.asarray(((points >= self.low - slack) & (points <= self.high + slack)).all(axis=-1))
        except (TypeError, ValueError, OverflowError):
            reject("points", "Box.contains", f"an array of {self.dimension} numbers per row", points)

    @check_types
    def meet(self, other: Box) -> Box | None:
        """Return the intersection of two boxes; None if it is empty."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        kind = np.maximum(self.kind, other.kind)
        if ((kind == CATEGORY) & (self.kind != other.kind)).any():
            return None
        low, high = np.where(kind == WHOLE, np.ceil(low), low), np.where(kind == WHOLE, np.floor(high), high)
        return None if (low > high).any() else Box(low, high, kind, self.estimated)

    @check_types
    def same(self, other: Box) -> bool:
        """Return whether two boxes are the same up to rounding."""
        if type(self) is Box and type(other) is not Box:  # a domain that may be no box
            return other.same(self)
        if self.dimension != other.dimension or (self.kind != other.kind).any():
            return False
        slack = 1e-9 * np.maximum(self.high - self.low, other.high - other.low)
        return bool(((np.abs(self.low - other.low) <= slack) & (np.abs(self.high - other.high) <= slack)).all())

    @check_types
    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        """Return points drawn uniformly."""
        validate_integer("count", "Box.sample", count)
        refuse_many_rows("Box.sample", "count", count, self.dimension)
        low, high = self.edges
        points = low + (high - low) * rng.random((count, self.dimension))
        return np.where(self.kind == NUMBER, points, np.clip(np.floor(points + 0.5), self.low, self.high))

    def __repr__(self) -> str:
        return f"Box({self})"

    def __str__(self) -> str:
        kinds = {NUMBER: "", WHOLE: " whole", CATEGORY: " of categories"}
        pairs = [
            f"({format_short(a)}, {format_short(b)}){kinds[c]}"
            for a, b, c in zip(self.low.tolist(), self.high.tolist(), self.kind.tolist(), strict=True)
        ]
        return " x ".join(pairs) if len(pairs) <= 6 else " x ".join(pairs[:5]) + f" x ... ({len(pairs)} columns)"


def _to_floats(name: str, numbers: npt.ArrayLike) -> Floats:
    try:
        return np.asarray(numbers, dtype=float)
    except (TypeError, ValueError, OverflowError):
        reject(name, "Affine.of", "an array of numbers", numbers)


@dataclass(frozen=True, eq=False)
class Affine:
    """A change of inputs of the form ``matrix @ x + offset``.

    Its domains are known exactly, and it runs in compiled code.

    Examples
    --------
    >>> tripled = Affine.scaled(3.0, 2)
    >>> tripled(np.array([[1.0, 2.0]])).tolist(), tripled.image(Box.of([(0, 1), (0, 2)]))
    ([[3.0, 6.0]], Box((0, 3) x (0, 6)))
    """

    matrix: Floats
    offset: Floats

    @staticmethod
    def of(matrix: npt.ArrayLike, offset: npt.ArrayLike = 0.0) -> Affine:
        """Return the change from a matrix and an offset."""
        rows, offsets = np.atleast_2d(_to_floats("matrix", matrix)), _to_floats("offset", offset)
        if rows.ndim != 2 or offsets.shape not in ((), (1,), (len(rows),)):
            reject("offset", "Affine", f"a number, or one for each of the {len(rows)} rows of the matrix", offset)
        return Affine(rows, np.broadcast_to(offsets, len(rows)).copy())

    @staticmethod
    @check_types
    def scaled(factor: float, dimension: int, shift: float = 0.0) -> Affine:
        """Return the change that multiplies every input by a factor and adds a shift."""
        refuse_many_rows(
            "Affine.scaled", "dimension", validate_integer("dimension", "Affine.scaled", dimension, 1), dimension
        )
        return Affine.of(factor * np.eye(dimension), shift)

    @staticmethod
    @check_types
    def permuted(order: Sequence[int]) -> Affine:
        """Return the change that permutes inputs; the first is that at ``order[0]``."""
        positions = list(order)
        if sorted(positions, key=repr) != sorted(range(len(positions)), key=repr):
            reject("order", "Affine.permuted", "a list of the positions 0, 1, ... in another order", order)
        return Affine.of(np.eye(len(positions))[positions])

    def __post_init__(self) -> None:
        for name, dimensions in (("matrix", 2), ("offset", 1)):
            numbers = getattr(self, name)
            is_array = isinstance(numbers, np.ndarray) and numbers.dtype.kind in "fiu"
            if not is_array or numbers.ndim != dimensions or len(numbers) != len(self.matrix):
                reject(
                    name,
                    "Affine",
                    f"an array of {dimensions} dimension(s) with one row per output; see Affine.of",
                    numbers,
                )
            if not np.isfinite(numbers).all():
                reject("follow_up", "Affine", "a matrix and an offset of finite numbers", numbers.tolist())

    def __call__(self, points: Floats) -> Floats:
        """Return the follow-up of each row, rounded as in compiled code."""
        follow_ups = np.empty((len(points), len(self.matrix)))
        for i, row in enumerate(self.matrix):
            follow_ups[:, i] = self.offset[i]
            for j in np.flatnonzero(row):
                follow_ups[:, i] += row[j] * points[:, j]
        return follow_ups

    @check_types
    def image(self, box: Box) -> Box:
        """Return the smallest box that contains the images of a box."""
        up, down = np.clip(self.matrix, 0, None), np.clip(self.matrix, None, 0)
        low = self.offset + up @ box.low + down @ box.high
        high = self.offset + up @ box.high + down @ box.low
        kind = np.zeros(len(low), dtype=np.int8)
        for i, row in enumerate(self.matrix):
            columns = np.flatnonzero(row)
            if len(columns) == 1 and row[columns[0]] == 1 and self.offset[i] == 0:
                kind[i] = box.kind[columns[0]]
        return Box(low, high, kind)

    @check_types
    def preimage(self, box: Box) -> tuple[Floats, Floats] | None:
        """Return the corners of the inputs that are mapped into a box, or None."""
        width = self.matrix.shape[1]
        low, high = np.full(width, -np.inf), np.full(width, np.inf)
        for i, row in enumerate(self.matrix):
            columns = np.flatnonzero(row)
            if len(columns) > 1:
                return None
            if not len(columns):
                if not box.low[i] <= self.offset[i] <= box.high[i]:
                    high[:] = -np.inf
                continue
            j = columns[0]
            ends = np.sort((np.array([box.low[i], box.high[i]]) - self.offset[i]) / row[j])
            low[j], high[j] = max(low[j], ends[0]), min(high[j], ends[1])
        return low, high

    @property
    def constant(self) -> bool:
        """Whether every input has the same follow-up."""
        return not self.matrix.any()

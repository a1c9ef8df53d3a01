"""Batches of inputs: `Points` of a space, and `Rows` of a frame that has no space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from .features import Codes

if TYPE_CHECKING:
    import pandas as pd

    from .space import Space

RowSelection = npt.NDArray[Any] | slice | Sequence[int]


class Batch(Protocol):
    """What a system under test is asked: rows that can be shown as a frame."""

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as the user's values."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: RowSelection) -> Batch:
        """Return some of the rows."""
        ...


class Points:
    """Rows of a space as a matrix of float64 codes, one contiguous column a feature.

    Made by `Space.points`, `Space.sample` and the moves; not by hand.
    """

    __slots__ = ("codes", "space")

    def __init__(self, space: Space, codes: Codes) -> None:
        self.space = space
        self.codes = np.asfortranarray(codes, dtype=np.float64)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a frame of the user's values and dtypes."""
        return self.space.frame(self)

    def __len__(self) -> int:
        return self.codes.shape[0]

    def __getitem__(self, rows: RowSelection) -> Points:
        return self.take(rows)

    def __iter__(self) -> Iterator[Points]:
        return (self.take(slice(i, i + 1)) for i in range(len(self)))

    def take(self, rows: RowSelection) -> Points:
        """Return some of the rows, by a mask, a slice or their numbers."""
        if isinstance(rows, int | np.integer):
            rows = slice(rows, rows + 1 or None)
        return Points(self.space, self.codes[rows])

    def column(self, name: str) -> Codes:
        """Return the codes of one feature."""
        return self.codes[:, self.space.position(name)]

    def same(self, other: Points) -> npt.NDArray[np.bool_]:
        """Tell row by row whether the two are equal; missing equals missing."""
        a, b = self.codes, other.codes
        equal = a == b
        if self.space.has_nullable:
            equal |= np.isnan(a) & np.isnan(b)
        return equal.all(axis=1)

    @staticmethod
    def concat(parts: Sequence[Points]) -> Points:
        """Return all rows of `parts`, which are of one space."""
        if not parts:
            raise DataError("There is nothing to concatenate: give at least one set of points.")
        space = parts[0].space
        if any(part.space.features != space.features for part in parts):
            raise DataError("The points to concatenate come from different spaces. Encode them with one space.")
        return Points(space, np.concatenate([part.codes for part in parts]))

    def __repr__(self) -> str:
        return f"Points({len(self):,} x {len(self.space)} features)"


class Rows:
    """Rows of a frame for a system without a space (texts, queries): carried along, never computed with."""

    __slots__ = ("frame",)

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def __len__(self) -> int:
        return len(self.frame)

    def take(self, rows: RowSelection) -> Rows:
        """Return some of the rows."""
        return Rows(self.frame.iloc[rows])

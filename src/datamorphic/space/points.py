"""Batches of inputs: `Points` of a space, and `Rows` of a frame that has no space."""

from __future__ import annotations

from typing import Protocol

from .._lazy import pd
from .space import Points as Points
from .space import RowSelection as RowSelection


class Batch(Protocol):
    """Rows that a system under test can be queried with."""

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as the user's values."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: RowSelection) -> Batch:
        """Return some of the rows."""
        ...


class Rows:
    """Rows of a frame, for a system without a space, such as texts or queries."""

    __slots__ = ("frame",)

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def __len__(self) -> int:
        return len(self.frame)

    def take(self, rows: RowSelection) -> Rows:
        """Return some of the rows."""
        return Rows(self.frame.iloc[rows])

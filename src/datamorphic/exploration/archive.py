"""`Archive`: the parts of the border that have been found, as cells of a grid per border."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..space.features import Codes
from ..space.projection import Projection
from ..space.space import Space
from ._utils import Rows

BINS_PER_AXIS = 16  # in each of the two directions


class Archive:
    """Cells of a two-dimensional projection of the space, filled by the pairs in them.

    The grid spans the typical points `codes` without the outermost hundredth on each side.
    """

    def __init__(self, space: Space, codes: Codes) -> None:
        self.view = Projection(space, codes)
        flat = self.view(codes) if len(codes) else np.zeros((1, 2))
        self._low, self._high = np.nanquantile(flat, [0.01, 0.99], axis=0)
        self.filled_cells: set[tuple[str, int]] = set()

    def locate_cells(self, codes: Codes) -> Rows:
        """Return the cell of each row; points outside of the grid belong to its outermost cells."""
        width = np.where(self._high > self._low, self._high - self._low, 1.0)
        with np.errstate(invalid="ignore"):
            places = np.nan_to_num((self.view(codes) - self._low) / width * BINS_PER_AXIS)
        places = np.clip(places, 0, BINS_PER_AXIS - 1).astype(np.intp)
        return places[:, 0] * BINS_PER_AXIS + places[:, 1]

    def add(self, codes: Codes, kinds: Sequence[str]) -> int:
        """Fill the cells of pairs, each of a border (`kinds`), and return how many were empty before."""
        before = len(self.filled_cells)
        self.filled_cells.update(zip(kinds, self.locate_cells(codes).tolist(), strict=True))
        return len(self.filled_cells) - before

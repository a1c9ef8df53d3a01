"""`Archive`: which parts of the border have been seen, as cells of a grid for each two classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..space.features import Codes
from ..space.projection import Projection
from ..space.space import Space

BINS_PER_AXIS = 16  # of each of the two directions


class Archive:
    """Cells of a flat view of the space, filled by the borders that fall into them.

    Parameters
    ----------
    space : Space
        Of the points.
    codes : ndarray
        Typical points; the grid spans all but the outermost hundredth of them on either side.
    """

    def __init__(self, space: Space, codes: Codes) -> None:
        self.view = Projection(space, codes)
        flat = self.view(codes) if len(codes) else np.zeros((1, 2))
        self._low, self._high = np.nanquantile(flat, [0.01, 0.99], axis=0)
        self.filled_cells: set[tuple[str, int]] = set()

    def locate_cells(self, codes: Codes) -> npt.NDArray[np.intp]:
        """Return the number of the cell of every row; what lies outside belongs to the outermost cells."""
        width = np.where(self._high > self._low, self._high - self._low, 1.0)
        with np.errstate(invalid="ignore"):
            places = np.nan_to_num((self.view(codes) - self._low) / width * BINS_PER_AXIS)
        places = np.clip(places, 0, BINS_PER_AXIS - 1).astype(np.intp)
        return places[:, 0] * BINS_PER_AXIS + places[:, 1]

    def add(self, codes: Codes, kinds: Sequence[str]) -> int:
        """Fill the cells of borders, each of a kind (its two classes), and return how many were empty before."""
        before = len(self.filled_cells)
        self.filled_cells.update(zip(kinds, self.locate_cells(codes).tolist(), strict=True))
        return len(self.filled_cells) - before

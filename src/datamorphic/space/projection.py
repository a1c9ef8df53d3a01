"""A flat view of a space: its two features, or the two directions in which its points vary most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .features import Codes

if TYPE_CHECKING:
    from .space import Space

MOST_ROWS = 5_000  # that the directions are computed from


class Projection:
    """A map of a space to the plane, fitted to some of its points.

    Spaces of one or two features are shown as they are. Of larger ones the two principal components are shown:
    numbers divided by their ranges, categories as indicators, a missing number at the mean.

    Attributes
    ----------
    kept : float
        The share of the variance that the plane keeps.
    axes : tuple of str
        What the two directions are.
    """

    def __init__(self, space: Space, codes: Codes) -> None:
        self.space = space
        self.flat = len(space) <= 2
        self.kept, self.axes = 1.0, (space.names[0], space.names[1] if len(space) > 1 else "")
        if self.flat:
            return
        some = (
            codes[np.linspace(0, len(codes) - 1, min(len(codes), MOST_ROWS)).astype(int)] if len(codes) else codes
        )
        with np.errstate(invalid="ignore"):
            spread = self._spread(some)
        known = ~np.isnan(spread)
        self._mean = np.where(known, spread, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        centred = np.where(known, spread, self._mean) - self._mean
        _, strength, directions = np.linalg.svd(centred, full_matrices=False)
        self._directions = np.zeros((2, spread.shape[1]))
        self._directions[: min(2, len(directions))] = directions[:2]
        # the sign of a direction is arbitrary: the largest weight is made positive, so that pictures repeat
        largest = np.abs(self._directions).argmax(axis=1)
        self._directions *= np.where(self._directions[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
        power = strength**2
        self.kept = float(power[:2].sum() / power.sum()) if power.sum() > 0 else 1.0
        self.axes = (self._told(0), self._told(1))

    def __call__(self, codes: Codes) -> npt.NDArray[np.float64]:
        """Return the two coordinates of every row."""
        if self.flat:
            flat = codes if len(self.space) == 2 else np.column_stack([codes, np.zeros(len(codes))])
            return np.array(flat)
        spread = self._spread(codes)
        return (np.where(np.isnan(spread), self._mean, spread) - self._mean) @ self._directions.T

    def _spread(self, codes: Codes) -> Codes:
        """Return scaled numbers and an indicator for each category, missing or not."""
        columns = []
        for j, feature in enumerate(self.space.features):
            if feature.kind == "categorical":
                values = np.arange(int(feature.high) + 1)
                # two rows of different categories differ by 1 in all
                columns.append((codes[:, j, None] == values) / np.sqrt(2))
            else:
                columns.append(codes[:, j, None] * feature.scale)
        return np.hstack(columns)

    def _told(self, which: int) -> str:
        """Name a direction by the features that weigh most in it."""
        weights, place = [], 0
        for feature in self.space.features:
            width = int(feature.high) + 1 if feature.kind == "categorical" else 1
            weights.append(float(np.abs(self._directions[which, place : place + width]).sum()))
            place += width
        heavy = sorted(range(len(weights)), key=lambda j: -weights[j])[:3]
        return f"direction {which + 1}: " + ", ".join(self.space.names[j] for j in heavy)

"""How much each feature tells alone about the label, by the means of the label in its bins on other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....core.result import Measure

Floats = npt.NDArray[np.float64]

FOLDS = 5
MAX_BINS = 48  # of numbers with more values; categories are bins of their own
MIN_ROWS_PER_BIN = 8
SHRINKAGE_ROWS = 2.0  # with the mean of all labels that are added to each bin
Z_99 = 2.576  # standard errors on either side of a mean that hold 99% of a normal distribution


@dataclass(frozen=True, eq=False, kw_only=True)
class Skills:
    """The squared errors of predictions from single columns, for rows that were not used."""

    columns: Sequence[int]
    losses: Floats  # rows by columns
    base_losses: Floats  # of rows, predicted by the mean of all labels

    @property
    def values(self) -> Floats:
        """The share of the variance of the label that each column explains."""
        base = float(self.base_losses.mean())
        return 1 - self.losses.mean(axis=0) / base if base > 0 else np.zeros(len(self.columns))

    def measure_gap(self, first: int, second: int | None) -> Measure:
        """Return by how much the skill of one column exceeds that of another, or zero; both as places in `columns`."""
        other = self.base_losses if second is None else self.losses[:, second]
        differences = (other - self.losses[:, first]) / max(float(self.base_losses.mean()), 1e-300)
        mean, error = float(differences.mean()), float(differences.std() / np.sqrt(max(1, len(differences))))
        return Measure(mean, mean - Z_99 * error, mean + Z_99 * error, len(differences), 0.99)


def measure_skills(
    codes: Floats, targets: Floats, columns: Sequence[int], is_category: Sequence[bool], seed: int
) -> Skills:
    """Return how well each column alone predicts the targets of rows that were not used."""
    folds = np.random.default_rng([seed, 7]).permutation(len(targets)) % FOLDS
    base_predictions = _predict_by_bins(np.zeros(len(targets), dtype=np.intp), targets, folds)
    losses = np.empty((len(targets), len(columns)))
    for place, column in enumerate(columns):
        bins = find_bins(codes[:, column], is_category[column])
        losses[:, place] = ((targets - _predict_by_bins(bins, targets, folds)) ** 2).sum(axis=1)
    return Skills(columns=columns, losses=losses, base_losses=((targets - base_predictions) ** 2).sum(axis=1))


def find_bins(values: Floats, is_category: bool) -> npt.NDArray[np.intp]:
    """Return the bin of each value: its own if there are few or if it is a category, otherwise that of its rank."""
    _, bins = np.unique(values, return_inverse=True)  # missing values are equal, and a value of their own
    bins = np.asarray(bins.reshape(-1), dtype=np.intp)
    limit = max(4, min(MAX_BINS, len(values) // MIN_ROWS_PER_BIN))
    if is_category or not len(values) or bins.max() < limit:
        return bins
    counts = np.bincount(bins)
    ranks = np.cumsum(counts) - counts / 2
    return np.asarray(ranks * limit // len(values), dtype=np.intp)[bins]


def _predict_by_bins(bins: npt.NDArray[np.intp], targets: Floats, folds: npt.NDArray[np.intp]) -> Floats:
    """Return the mean target of the rows of other folds in the same bin, drawn towards the mean of all."""
    width = int(bins.max()) + 1 if len(bins) else 1
    places = folds * width + bins
    counts = np.bincount(places, minlength=FOLDS * width).reshape(FOLDS, width).astype(np.float64)
    other_counts = counts.sum(axis=0) - counts
    predictions = np.empty_like(targets)
    for target in range(targets.shape[1]):
        sums = np.bincount(places, weights=targets[:, target], minlength=FOLDS * width).reshape(FOLDS, width)
        other_sums = sums.sum(axis=0) - sums
        means = other_sums.sum(axis=1, keepdims=True) / np.maximum(1, other_counts.sum(axis=1, keepdims=True))
        table = (other_sums + SHRINKAGE_ROWS * means) / (other_counts + SHRINKAGE_ROWS)
        predictions[:, target] = table.ravel()[places]
    return predictions

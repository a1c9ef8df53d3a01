"""Loans prepared for training: the split, the repeated defaults, and the columns as numbers.

As in chapter 8 of Ying (2024): a quarter of the loans is held out, the defaults of the rest are repeated, categories become
one column each, and numbers are standardised by the mean and standard deviation of the training loans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from .measures import Flags, Floats

TEST_SHARE = 0.25
DEFAULT_REPEATS = 3  # how often each default of the training loans is used

Positions = npt.NDArray[np.intp]


class LoanSplit(NamedTuple):
    """The positions of the training loans, with defaults repeated, and of the test loans."""

    training: Positions
    test: Positions


def split_loans(
    defaulted: Flags, rng: np.random.Generator, test_share: float = TEST_SHARE, repeats: int = DEFAULT_REPEATS
) -> LoanSplit:
    """Return a random split with the same share of defaults; those of the training part are repeated.

    Examples
    --------
    >>> training, test = split_loans(np.arange(100) < 8, np.random.default_rng(0))
    >>> len(test), (test < 8).sum(), (training < 8).sum(), len(training)
    (25, np.int64(2), np.int64(18), 87)
    """
    parts: tuple[list[Positions], list[Positions]] = ([], [])
    for mask, times in ((defaulted, repeats), (~defaulted, 1)):
        order = rng.permutation(np.flatnonzero(mask))
        test_count = int(test_share * len(order))
        parts[0].append(np.tile(order[test_count:], times))
        parts[1].append(order[:test_count])
    training = rng.permutation(np.concatenate(parts[0]))
    return LoanSplit(training, np.sort(np.concatenate(parts[1])))


@dataclass(frozen=True, kw_only=True)
class LoanEncoder:
    """Turn loans into a matrix: numbers standardised, categories as one column each.

    A number that is missing or stands for "unavailable" becomes the mean, and a further column says so.
    """

    numbers: tuple[str, ...]
    means: Floats
    deviations: Floats
    sentinels: Mapping[str, tuple[float, ...]]
    incomplete: tuple[str, ...]  # numbers that are unavailable for some training loan
    categories: Mapping[str, tuple[Any, ...]]

    @classmethod
    def fit(cls, frame: pd.DataFrame, sentinels: Mapping[str, Sequence[float]] | None = None) -> LoanEncoder:
        """Return the encoder of the training loans; `sentinels` mean "unavailable", by column."""
        known_sentinels = {name: tuple(values) for name, values in (sentinels or {}).items() if name in frame}
        numbers = tuple(
            name
            for name in frame
            if pd.api.types.is_numeric_dtype(frame[name]) and not pd.api.types.is_bool_dtype(frame[name])
        )
        columns = {name: _read_numbers(frame, name, known_sentinels) for name in numbers}
        means = np.array([_compute(np.nanmean, column, 0.0) for column in columns.values()])
        deviations = np.array([_compute(np.nanstd, column, 1.0) for column in columns.values()])
        return cls(
            numbers=numbers,
            means=means,
            deviations=np.where(deviations > 0, deviations, 1.0),
            sentinels=known_sentinels,
            incomplete=tuple(name for name, column in columns.items() if np.isnan(column).any()),
            categories={name: tuple(pd.unique(frame[name].dropna())) for name in frame.columns if name not in numbers},
        )

    @property
    def names(self) -> list[str]:
        """The names of the columns of the matrix."""
        return [
            *self.numbers,
            *(f"{name} unavailable" for name in self.incomplete),
            *(f"{name}={value}" for name, values in self.categories.items() for value in values),
        ]

    def transform(self, frame: pd.DataFrame) -> Floats:
        """Return the matrix of some loans."""
        columns = [_read_numbers(frame, name, self.sentinels) for name in self.numbers]
        matrix = np.empty((len(frame), len(self.names)))
        indicators = []
        for place, (name, column) in enumerate(zip(self.numbers, columns, strict=True)):
            unavailable = np.isnan(column)
            matrix[:, place] = np.where(unavailable, 0.0, (column - self.means[place]) / self.deviations[place])
            if name in self.incomplete:
                indicators.append(unavailable)
        place = len(self.numbers)
        for indicator in indicators:
            matrix[:, place] = indicator
            place += 1
        for name, values in self.categories.items():
            codes = pd.Index(values).get_indexer(pd.Index(frame[name]))
            matrix[:, place : place + len(values)] = codes[:, None] == np.arange(len(values))
            place += len(values)
        return matrix


def _read_numbers(frame: pd.DataFrame, name: str, sentinels: Mapping[str, tuple[float, ...]]) -> Floats:
    """Return a column as floats, NaN where it is unavailable."""
    column = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isin(column, sentinels[name]), np.nan, column) if name in sentinels else column


def _compute(statistic: Any, column: Floats, default: float) -> float:
    """Return a statistic of a column, or the default if every value is missing."""
    return float(statistic(column)) if not np.isnan(column).all() else default

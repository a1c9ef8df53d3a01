"""Morphy's statistics of a test set, as lines of a CSV file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..morphisms.cases import CaseKind, TestSet
from ..morphisms.stock import mean_nearest_distance, std_nearest_distance

COLUMNS = ("#Runs", "#Test Cases", "#Original TC", "#Mutants", "Runs/Mutant", "Avg Distance", "Std Distance")


@dataclass(frozen=True, kw_only=True)
class PoolStatistics:
    """The figures of a test pool that Morphy saves."""

    runs: int
    cases: int
    originals: int
    mutants: int
    average_distance: float  # to the nearest other case; NaN for fewer than two cases
    distance_deviation: float

    @property
    def runs_per_mutant(self) -> float | None:
        """The cost of a mutant; None without mutants."""
        return self.runs / self.mutants if self.mutants else None

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures by the names of Morphy's columns; None where there is no value."""
        values = (
            self.runs,
            self.cases,
            self.originals,
            self.mutants,
            self.runs_per_mutant,
            *(None if math.isnan(value) else value for value in (self.average_distance, self.distance_deviation)),
        )
        return dict(zip(COLUMNS, values, strict=True))


def compute_pool_statistics(tests: TestSet, runs: int) -> PoolStatistics:
    """Return the figures of a test set and of the runs that made it."""
    mutants = int((tests.kinds == CaseKind.MUTANT).sum())
    return PoolStatistics(
        runs=runs,
        cases=len(tests),
        originals=len(tests) - mutants,
        mutants=mutants,
        average_distance=mean_nearest_distance(tests, scaled=False),
        distance_deviation=std_nearest_distance(tests, scaled=False),
    )


def format_heading(title: str) -> str:
    """Return the first line of a table: what it is about, and the names of the columns."""
    return ",".join([title.replace(",", " "), *COLUMNS])


def format_statistics(statistics: PoolStatistics) -> str:
    """Return the figures as a line, its first cell empty.

    Examples
    --------
    >>> format_statistics(PoolStatistics(runs=556, cases=238, originals=200, mutants=38, average_distance=0.125,
    ...                                  distance_deviation=0.1))
    ',556,238,200,38,14.6315789474,0.125,0.1'
    """
    cells = ("" if value is None else f"{value:.12g}" for value in statistics.to_dict().values())
    return ",".join(["", *cells])

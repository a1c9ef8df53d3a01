"""Morphy's statistics of a test set, as lines of a CSV file."""

from __future__ import annotations

import math

from ..morphisms.case_statistics import MORPHY_COLUMNS, CaseStatistics

COLUMNS = (*MORPHY_COLUMNS, "Avg Distance", "Std Distance")


def to_figures(statistics: CaseStatistics) -> dict[str, float | None]:
    """Return the figures by Morphy's columns; None where there is no value."""
    values = [*statistics.morphy_values(), statistics.mean_distance, statistics.distance_deviation]
    return {name: value if math.isfinite(value) else None for name, value in zip(COLUMNS, values, strict=True)}


def format_heading(title: str) -> str:
    """Return the first line of a table: its title and the names of its columns."""
    return ",".join([title.replace(",", " "), *COLUMNS])


def format_figures(statistics: CaseStatistics) -> str:
    """Return the figures as a line, its first cell empty.

    Examples
    --------
    >>> import datamorphic as dm
    >>> seeds = dm.subjects["Box 1"].make_seeds(n=1)
    >>> format_figures(dm.compute_statistics(seeds, runs=3))
    ',3,1,1,0,,,'
    """
    cells = ("" if value is None else f"{value:.12g}" for value in to_figures(statistics).values())
    return ",".join(["", *cells])

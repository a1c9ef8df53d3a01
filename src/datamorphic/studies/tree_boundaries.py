"""Boundary values of trees: readings of the published method, and rows that are new in every column.

Silveira et al. (2025) say in three ways how their boundary rows were made (sections 4.4.1, 6 and 8), and leave the effect of new values
to a later experiment. Each reading here is scored on all data sets, and tested against all printed scores at once.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from .._text import pluralise
from ..trees.boundaries import BEYOND, STEP, Offset
from .rows import OurFigure, Row
from .tree_scores import TreeScores, count_splits, run_test
from .tree_trials import SCORES, Moving, MovingAny, Splitting
from .trees import format_name, is_known
from .workload import Job, Scale, Workbench

ROUNDING_VARIANCE = 0.01**2 / 12  # of printed scores, which have two decimals
COMPARED_SCORE = "accuracy"  # readings are judged by one score: the four depend on each other

FIT_NOTE = (
    "A printed score is one draw, and p is that of all data sets together, by Fisher's method: per data set, whether the printed "
    "accuracy may be another draw like ours, by Student's t. A p below 5% rejects the reading."
)
DISTANCE_NOTE = "Mean distance over data sets; the expected one is that of a single seed of ours from the others."
NEW_NOTE = "Section 8 leaves the effect of new values to a later experiment. p is that of Wilcoxon's test against the first row."


@dataclass(frozen=True)
class Reading:
    """A way to make boundary rows: how far from the limits, and whose other columns they keep."""

    label: str
    offset: Offset
    any_row: bool

    @property
    def make(self) -> Callable[[str, int], Job]:
        """What makes the job of a data set and a seed."""
        if self.any_row:
            return partial(MovingAny, offset=self.offset)
        return Splitting if self.offset == STEP else partial(Moving, offset=self.offset)


READINGS = (
    Reading("one step inside, row of the leaf", STEP, False),
    Reading("half the spacing inside, row of the leaf", 0.5, False),
    Reading("beyond the limits, row of the leaf", BEYOND, False),
    Reading("one step inside, any row", STEP, True),
    Reading("half the spacing inside, any row", 0.5, True),
    Reading("beyond the limits, any row", BEYOND, True),
)


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return f"{pluralise(len(READINGS), 'reading')}, {pluralise(count_splits(scale), 'seed')} each"


def build_reading_table(bench: Workbench) -> list[Row]:
    """Build the table of readings by data sets, with how well each fits all printed scores."""
    tree_scores = TreeScores(bench)
    measure = f"BVA {COMPARED_SCORE}"
    printed = tree_scores.theirs(measure)
    columns = [format_name(name) for name in tree_scores.names]
    rows = [
        OurFigure(value).to_row("in print", column, "The column `ours` repeats the published score here.")
        for column, value in zip(columns, printed, strict=True)
    ]
    for reading in READINGS:
        figures = tree_scores.estimates(measure, reading.make)
        rows += [figure.to_row(reading.label, column) for column, figure in zip(columns, figures, strict=True)]
        fit = measure_fit(printed, list(zip(*tree_scores.by_seed(measure, reading.make), strict=True)))
        seeds = count_splits(bench.scale)
        for column, value, note in (
            (
                "agree",
                fit.agreeing,
                f"Data sets of {len(columns)} whose printed accuracy may be a draw like ours, at 5%.",
            ),
            ("p, %", 100 * fit.p, FIT_NOTE),
            ("distance", fit.distance, DISTANCE_NOTE),
            ("expected distance", fit.expected_distance, DISTANCE_NOTE),
        ):
            rows.append(OurFigure(value, trials=seeds).to_row(reading.label, column, note))
    return rows


def build_new_value_table(bench: Workbench) -> list[Row]:
    """Build the table of mean scores by reading: rows of the leaf, and rows that are new in every column."""
    tree_scores = TreeScores(bench)
    rows = []
    for reading in READINGS:
        for score in SCORES:
            measure = f"BVA {score}"
            rows.append(tree_scores.mean(measure, reading.make).to_row(reading.label, score, NEW_NOTE))
        measure = f"BVA {COMPARED_SCORE}"
        pair = tree_scores.ours(measure, reading.make), tree_scores.ours(measure, READINGS[0].make)
        p = math.nan if reading is READINGS[0] else run_test("wilcoxon", *pair)[1]
        rows.append(OurFigure(100 * p, trials=count_splits(bench.scale)).to_row(reading.label, "p, %", NEW_NOTE))
    return rows


@dataclass(frozen=True, kw_only=True)
class ReadingFit:
    """How well a reading fits what is printed."""

    agreeing: float
    p: float
    distance: float
    expected_distance: float


def measure_fit(printed: Sequence[float], ours: Sequence[Sequence[float]]) -> ReadingFit:
    """Test whether printed scores, one per data set, may be further draws of ours; NaN until measured, or with one seed.

    Examples
    --------
    >>> draws = [[0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]
    >>> measure_fit([0.5, 0.8], draws).p, round(measure_fit([0.5, 0.1], draws).p, 3)
    (1.0, 0.122)
    """
    from scipy import stats

    if not is_known(*ours) or len(ours[0]) < 2:
        return ReadingFit(agreeing=math.nan, p=math.nan, distance=math.nan, expected_distance=math.nan)
    p_values, distances, expected_distances = [], [], []
    for value, draws in zip(printed, ours, strict=True):
        mean, count = statistics.fmean(draws), len(draws)
        spread = math.sqrt((statistics.variance(draws) + ROUNDING_VARIANCE) * (1 + 1 / count))
        p_values.append(2 * float(stats.t.sf(abs(value - mean) / spread, count - 1)))
        distances.append(abs(value - mean))
        # a draw is nearer to a mean of which it is a part than to that of the others
        expected_distances.append(statistics.fmean(abs(draw - mean) for draw in draws) * count / (count - 1))
    return ReadingFit(
        agreeing=sum(p >= 0.05 for p in p_values),
        p=float(stats.combine_pvalues(p_values).pvalue),
        distance=statistics.fmean(distances),
        expected_distance=statistics.fmean(expected_distances),
    )

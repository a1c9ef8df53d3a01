"""How good a way of making groups is: how soon it finds violations, how evenly its inputs lie.

An F-measure is the number of groups run until the first violation, the violating one included. A trial that found none
before it was stopped is *censored*: its count is the number of groups it ran, a flag says so, and every mean over
censored trials is a lower bound.

Where a function compares with "a rate", that stands for uniform tests of this violation rate: their F-measure is
geometric, its mean is 1/rate and its variance (1 - rate)/rate^2, without a trial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._checks import generator, is_number, one_of, reject, whole_number
from .._intervals import wilson
from .regions import as_points, checked_domain

Numbers = npt.NDArray[np.float64]
AT_ONCE = 4_000_000  # comparisons of a point with a box


class Estimate(NamedTuple):
    """A figure measured over trials, with its 95 % interval."""

    value: float
    low: float
    high: float


class Spread(NamedTuple):
    """The least and the most of many figures, and how far apart they are."""

    least: float
    most: float
    width: float


@dataclass(frozen=True, eq=False)
class FMeasures:
    """The F-measures of many trials.

    Parameters
    ----------
    counts : array of int
        Groups until the first violation, counted from 1; of a censored trial the groups it ran.
    censored : array of bool, optional
        Which trials were stopped before they found a violation; one flag stands for all; left out, none.

    Examples
    --------
    >>> found = FMeasures([3, 1, 8, 10], [False, False, False, True])
    >>> found.mean, found.censored_share
    (5.5, 0.25)
    """

    counts: npt.NDArray[np.int64]
    censored: npt.NDArray[np.bool_] = field(default_factory=lambda: np.asarray(False))

    def __post_init__(self) -> None:
        given = np.asarray(self.counts)
        if given.ndim != 1 or not len(given) or given.dtype.kind not in "iu":
            reject("counts", "FMeasures", "a list of at least one whole number", self.counts)
        flags = np.asarray(self.censored, dtype=bool)
        if flags.ndim and flags.shape != given.shape:
            reject("censored", "FMeasures", f"{len(given)} flags, one for each count", self.censored)
        if (given < np.where(flags, 0, 1)).any():
            reject("counts", "FMeasures", "counted from 1", int(given.min()))
        object.__setattr__(self, "counts", given.astype(np.int64))
        object.__setattr__(self, "censored", np.broadcast_to(flags, given.shape))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def mean(self) -> float:
        """The mean; with censored trials a lower bound."""
        return float(self.counts.mean())

    @property
    def sd(self) -> float:
        """The standard deviation (of a sample: divided by n - 1); NaN for one trial."""
        return float(self.counts.std(ddof=1)) if len(self) > 1 else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return self.sd / math.sqrt(len(self))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean, by Student's t."""
        return estimate(self.counts)[1:]

    @property
    def censored_share(self) -> float:
        """The share of trials that found nothing."""
        return float(self.censored.mean())


def estimate(values: npt.ArrayLike) -> Estimate:
    """Return the mean of many trials with its 95 % interval: of a dispersion, a time, anything.

    Examples
    --------
    >>> [round(figure, 3) for figure in estimate([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    from scipy.special import stdtrit

    given = np.asarray(values, dtype=np.float64).ravel()
    if not len(given):
        reject("values", "estimate", "at least one number", values)
    mean = float(given.mean())
    if len(given) == 1:
        return Estimate(mean, math.nan, math.nan)
    half = float(stdtrit(len(given) - 1, 0.975)) * float(given.std(ddof=1)) / math.sqrt(len(given))
    return Estimate(mean, mean - half, mean + half)


def f_measures(verdicts: npt.ArrayLike) -> FMeasures:
    """Return the F-measures of a matrix of verdicts: a row for each trial, a column for each group, True = violated.

    Examples
    --------
    >>> f_measures([[False, True, True], [False, False, False]]).counts
    array([2, 3])
    """
    violated = _matrix(verdicts, "f_measures")
    found: npt.NDArray[np.bool_] = np.asarray(violated.any(axis=1))
    return FMeasures(np.where(found, violated.argmax(axis=1) + 1, violated.shape[1]), ~found)


def f2_measures(verdicts: npt.ArrayLike) -> FMeasures:
    """Return how many further groups the second violation took, counted from the one after the first violation.

    Trials without a first violation have no F2 and are left out; those without a second one are censored.

    Examples
    --------
    >>> f2_measures([[True, False, True], [False, True, False], [False, False, False]]).counts
    array([2, 1])
    """
    violated = _matrix(verdicts, "f2_measures")
    violated = violated[violated.any(axis=1)]
    if not len(violated):
        reject("verdicts", "f2_measures", "a matrix with a violation in at least one trial", verdicts)
    first = violated.argmax(axis=1)
    later = violated & (np.arange(violated.shape[1]) > first[:, None])
    found: npt.NDArray[np.bool_] = np.asarray(later.any(axis=1))
    last = violated.shape[1] - 1
    return FMeasures(np.where(found, later.argmax(axis=1), last) - first, ~found)


def p_measure(measured: FMeasures | npt.ArrayLike, n: int) -> Estimate:
    """Return the share of trials with at least one violation among the first n groups, with Wilson's interval.

    Parameters
    ----------
    measured : FMeasures or matrix of bool
        The F-measures, or the verdicts: a row for each trial, a column for each group.

    Examples
    --------
    >>> p_measure(FMeasures([3, 1, 8, 12]), 5).value
    0.5
    """
    n = whole_number("n", "p_measure", n, low=1)
    if not isinstance(measured, FMeasures):
        violated = _matrix(measured, "p_measure")
        whole_number("n", "p_measure", n, low=1, high=violated.shape[1])
        measured = f_measures(violated)
    if (short := measured.censored & (measured.counts < n)).any():
        most = int(measured.counts[short].min())
        reject("n", "p_measure", f"at most {most}, the groups that a trial without a violation ran", n)
    found = int((~measured.censored & (measured.counts <= n)).sum())
    return Estimate(found / len(measured), *wilson(found, len(measured)))


def e_measure(verdicts: npt.ArrayLike, n: int) -> Estimate:
    """Return the expected number of violations among the first n groups: the mean over trials.

    Examples
    --------
    >>> e_measure([[True, False, True], [False, False, True]], 3).value
    1.5
    """
    violated = _matrix(verdicts, "e_measure")
    n = whole_number("n", "e_measure", n, low=1, high=violated.shape[1])
    return estimate(violated[:, :n].sum(axis=1))


def f_ratio(a: FMeasures, b: FMeasures | float) -> Estimate:
    """Return the mean of `a` divided by that of `b`, with an interval by the delta method; below 1, `a` is better.

    Parameters
    ----------
    b : FMeasures or float
        Other trials, or a violation rate: then the divisor is exactly 1/rate.

    Examples
    --------
    >>> f_ratio(FMeasures([40, 60, 50]), 0.01).value
    0.5
    """
    top, bottom = _moments(a, "f_ratio"), _moments(b, "f_ratio")
    ratio = top.mean / bottom.mean
    half = 1.959963984540054 * ratio * math.sqrt(top.error**2 / top.mean**2 + bottom.error**2 / bottom.mean**2)
    return Estimate(ratio, ratio - half, ratio + half)


def cohens_d(a: FMeasures, b: FMeasures | float) -> float:
    """Return Cohen's d: how many standard deviations `a` is better than `b`; positive = `a` needs fewer groups.

    d = (mean b - mean a) / sqrt((sd_a^2 + sd_b^2) / 2), and NaN where a trial is censored, as the mean is not known.

    Examples
    --------
    >>> round(cohens_d(FMeasures([4, 6, 5]), FMeasures([6, 8, 7])), 3)
    2.0
    """
    first, second = _moments(a, "cohens_d"), _moments(b, "cohens_d")
    if first.censored or second.censored:
        return math.nan
    difference = second.mean - first.mean
    pooled = math.sqrt((first.sd**2 + second.sd**2) / 2)
    if pooled == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / pooled


def welch_p(a: FMeasures, b: FMeasures | float) -> float:
    """Return the two-sided p-value of Welch's test that the means are the same; a censored trial counts as its cap.

    Against a rate it is the test of one mean, `a`'s, with the variance of `a` alone.

    Examples
    --------
    >>> round(welch_p(FMeasures([4, 6, 5, 5]), FMeasures([6, 8, 7, 7])), 4)
    0.0134
    """
    from scipy.special import stdtr

    first, second = _moments(a, "welch_p"), _moments(b, "welch_p")
    error = first.error**2 + second.error**2
    difference = abs(first.mean - second.mean)
    if math.isnan(error):
        return math.nan
    if error == 0:
        return 0.0 if difference else 1.0
    freedom = error**2 / sum(each.error**4 / (each.trials - 1) for each in (first, second) if each.error)
    return float(2 * stdtr(freedom, -difference / math.sqrt(error)))


def dispersion(points: npt.ArrayLike) -> Spread:
    """Return the least and the largest distance from a point to its nearest neighbour.

    Examples
    --------
    >>> dispersion([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    Spread(least=1.0, most=3.0, width=2.0)
    """
    from scipy.spatial import cKDTree

    given = as_points(points, None, "dispersion")
    if len(given) < 2:
        reject("points", "dispersion", "at least two points", points)
    nearest = cKDTree(given).query(given, k=2)[0][:, 1]
    return _spread(nearest)


def discrepancy(
    points: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    boxes: int = 1000,
    rng: np.random.Generator | int | None = None,
    how: str = "boxes",
) -> Spread:
    """Return the least and the largest |share of the points - share of the volume| over parts of a domain.

    Parameters
    ----------
    points : array (n, d)
        Points in the domain; those outside it lie in no part and still count in n.
    low, high : array (d,)
        The domain.
    boxes : int
        How many parts.
    how : {"boxes", "cells"}
        "boxes": random ones; each side has a uniform length and then a uniform place. "cells": the domain cut into
        equal cells, as many a side as the d-th root of `boxes`, rounded (1,000 boxes: 1,000 cells in one dimension,
        32 a side in two, 10 in three, 6 in four, 4 in five, 3 in six).

    Examples
    --------
    >>> discrepancy([0.1, 0.3, 0.6, 0.9], 0, 1, boxes=4, how="cells").most
    0.0
    """
    at, to = checked_domain(low, high, "discrepancy")
    given = as_points(points, len(at), "discrepancy")
    boxes = whole_number("boxes", "discrepancy", boxes, low=1)
    if not len(given):
        reject("points", "discrepancy", "at least one point", points)
    unit = (given - at) / (to - at)
    if one_of("how", "discrepancy", how, ("boxes", "cells")) == "cells":
        return _spread(_over_cells(unit, max(1, round(boxes ** (1 / len(at))))))
    return _spread(_over_boxes(unit, boxes, generator("rng", "discrepancy", rng)))


def _over_cells(unit: Numbers, side: int) -> Numbers:
    inside = unit[((unit >= 0) & (unit <= 1)).all(axis=1)]
    cells = np.minimum((inside * side).astype(np.intp), side - 1)
    size = side ** unit.shape[1]
    numbers = np.ravel_multi_index(tuple(cells.T), (side,) * unit.shape[1])
    return np.abs(np.bincount(numbers, minlength=size) / len(unit) - 1 / size)


def _over_boxes(unit: Numbers, boxes: int, rng: np.random.Generator) -> Numbers:
    size = rng.random((boxes, unit.shape[1]))
    start = rng.random(size.shape) * (1 - size)
    end = start + size
    count = np.empty(boxes)
    step = max(1, AT_ONCE // len(unit))
    for first in range(0, boxes, step):
        part = slice(first, first + step)
        inside = np.ones((len(size[part]), len(unit)), dtype=bool)
        for axis, column in enumerate(unit.T):
            inside &= column >= start[part, axis, None]
            inside &= column < end[part, axis, None]
        count[part] = inside.sum(axis=1)
    return np.abs(count / len(unit) - size.prod(axis=1))


def _spread(values: Numbers) -> Spread:
    least, most = float(values.min()), float(values.max())
    return Spread(least, most, most - least)


class _Moments(NamedTuple):
    """What a comparison needs to know; exact ones have no error."""

    mean: float
    sd: float
    error: float
    trials: int
    censored: bool


def _moments(of: object, owner: str) -> _Moments:
    if isinstance(of, FMeasures):
        return _Moments(of.mean, of.sd, of.standard_error, len(of), bool(of.censored.any()))
    if is_number(of) and 0 < float(of) <= 1:  # type: ignore[arg-type]
        rate = float(of)  # type: ignore[arg-type]
        return _Moments(1 / rate, math.sqrt(1 - rate) / rate, 0.0, 0, False)
    reject("b", owner, "FMeasures or a violation rate above 0 and at most 1", of)


def _matrix(verdicts: npt.ArrayLike, owner: str) -> npt.NDArray[np.bool_]:
    given = np.asarray(verdicts)
    if given.ndim != 2 or not given.size or given.dtype != np.bool_:
        reject("verdicts", owner, "a matrix of bool, a row for each trial and a column for each group", verdicts)
    return given

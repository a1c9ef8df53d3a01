"""Measure how soon generators find violations, and how evenly inputs lie.

An F-measure is the number of groups up to and including the first violation. A trial that ended before a violation is
*censored*: its count is the number of its groups, a flag says so, and every mean over censored trials is a lower bound.

A function that compares with a violation rate compares with random testing. Its F-measure is geometric, with the mean
1/rate and the variance (1 - rate)/rate^2, so that no trials are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._validation import is_number, reject, to_generator, validate_choice, validate_integer
from ..core.result import Measure
from ..relations.algebra.box import Box
from ..relations.algebra.function import FunctionRelation
from .regions import to_points, validate_domain

Numbers = npt.NDArray[np.float64]
MAX_COMPARISONS_PER_CHUNK = 4_000_000  # of a point with a box
NORMAL_QUANTILE = 1.959963984540054  # of a 95% interval
UNKNOWN_RATE_CASES = 10**9  # assumed for a rate without a number of cases
CELL_COUNT = 1000  # of a discrepancy of groups


class ValueRange(NamedTuple):
    """The minimum and the maximum of many figures, and their difference."""

    minimum: float
    maximum: float
    width: float


class InputSpread(NamedTuple):
    """How evenly the sources, or the follow-ups, of groups lie in their domain."""

    inputs: str  # "source", "follow_up", with a number if there are several
    dispersion: ValueRange
    discrepancy: ValueRange


@dataclass(frozen=True, eq=False)
class FMeasures:
    """The F-measures of many trials; for a censored trial, the number of all its groups."""

    counts: npt.NDArray[np.int64]
    censored: npt.NDArray[np.bool_] = field(default_factory=lambda: np.asarray(False))  # one flag stands for all trials

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts)
        if counts.ndim != 1 or not len(counts) or counts.dtype.kind not in "iu":
            reject("counts", "FMeasures", "a list of at least one integer", self.counts)
        flags = np.asarray(self.censored, dtype=bool)
        if flags.ndim and flags.shape != counts.shape:
            reject("censored", "FMeasures", f"{len(counts)} flags, one per count", self.censored)
        if (counts < np.where(flags, 0, 1)).any():
            reject("counts", "FMeasures", "counted from 1", int(counts.min()))
        object.__setattr__(self, "counts", counts.astype(np.int64))
        object.__setattr__(self, "censored", np.broadcast_to(flags, counts.shape))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def mean(self) -> float:
        """The mean; a lower bound if trials are censored."""
        return float(self.counts.mean())

    @property
    def sd(self) -> float:
        """The sample standard deviation (divided by n - 1); NaN for one trial."""
        return float(self.counts.std(ddof=1)) if len(self) > 1 else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return self.sd / math.sqrt(len(self))

    @property
    def censored_share(self) -> float:
        """The share of censored trials."""
        return float(self.censored.mean())


def estimate(values: npt.ArrayLike) -> Measure:
    """Return the mean of values with its 95% interval, by Student's t."""
    from scipy.special import stdtrit

    numbers = np.asarray(values, dtype=np.float64).ravel()
    if not len(numbers):
        reject("values", "estimate", "at least one number", values)
    mean = float(numbers.mean())
    if len(numbers) == 1:
        return Measure(mean, math.nan, math.nan)
    half = float(stdtrit(len(numbers) - 1, 0.975)) * float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return Measure(mean, mean - half, mean + half)


def f_measures(verdicts: npt.ArrayLike) -> FMeasures:
    """Return the F-measures of a matrix of verdicts.

    The matrix has one row per trial and one column per group; True means violated.
    """
    violated = _to_verdict_matrix(verdicts, "f_measures")
    has_violation: npt.NDArray[np.bool_] = np.asarray(violated.any(axis=1))
    return FMeasures(np.where(has_violation, violated.argmax(axis=1) + 1, violated.shape[1]), ~has_violation)


def p_measure(measures: FMeasures | npt.ArrayLike, n: int) -> Measure:
    """Return the share of trials with a violation among the first n groups, with Wilson's interval.

    Verdicts instead of F-measures are a matrix of bool with one row per trial and one column per group.
    """
    n = validate_integer("n", "p_measure", n, low=1)
    if not isinstance(measures, FMeasures):
        violated = _to_verdict_matrix(measures, "p_measure")
        validate_integer("n", "p_measure", n, low=1, high=violated.shape[1])
        measures = f_measures(violated)
    if (too_short := measures.censored & (measures.counts < n)).any():
        maximum = int(measures.counts[too_short].min())
        reject("n", "p_measure", f"at most {maximum}, the number of groups of a trial without a violation", n)
    successes = int((~measures.censored & (measures.counts <= n)).sum())
    return Measure.from_counts(successes, len(measures))


def e_measure(verdicts: npt.ArrayLike, n: int) -> Measure:
    """Return the mean number of violations among the first n groups."""
    violated = _to_verdict_matrix(verdicts, "e_measure")
    n = validate_integer("n", "e_measure", n, low=1, high=violated.shape[1])
    return estimate(violated[:, :n].sum(axis=1))


def f_ratio(a: FMeasures, b: FMeasures | Measure | float) -> Measure:
    """Return the mean of `a` divided by that of `b`; below 1, `a` is better.

    The interval is by the delta method. `b` may be a violation rate; the divisor is then 1/rate, exactly unless the rate has an
    interval.
    """
    top, bottom = _compute_moments(a, "f_ratio"), _compute_moments(b, "f_ratio")
    ratio = top.mean / bottom.mean
    half = NORMAL_QUANTILE * ratio * math.sqrt(top.error**2 / top.mean**2 + bottom.error**2 / bottom.mean**2)
    return Measure(ratio, ratio - half, ratio + half)


def cohens_d(a: FMeasures, b: FMeasures | Measure | float) -> float:
    """Return Cohen's d, the advantage of `a` over `b` in standard deviations.

    d = (mean b - mean a) / sqrt((sd_a^2 + sd_b^2) / 2). It is positive if `a` needs fewer groups, and NaN if a trial is
    censored, because the mean is then not known.
    """
    first, second = _compute_moments(a, "cohens_d"), _compute_moments(b, "cohens_d")
    if first.censored or second.censored:
        return math.nan
    difference = second.mean - first.mean
    pooled_sd = math.sqrt((first.sd**2 + second.sd**2) / 2)
    if pooled_sd == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / pooled_sd


EFFECT_SIZES = {  # the words of Cohen (1988) and Sawilowsky (2009) for values of d from here on
    "very small": 0.01,
    "small": 0.2,
    "medium": 0.5,
    "large": 0.8,
    "very large": 1.2,
    "huge": 2.0,
}


def name_effect(d: float) -> str:
    """Return the word for the size of a value of Cohen's d, whatever its sign; "none" below very small.

    Examples
    --------
    >>> name_effect(-0.6), name_effect(0.001)
    ('medium', 'none')
    """
    return next((word for word, least in reversed(EFFECT_SIZES.items()) if abs(d) >= least), "none")


def welch_p(a: FMeasures, b: FMeasures | Measure | float) -> float:
    """Return the two-sided p-value of Welch's test for equal means.

    A censored trial counts with the number of its groups. Against a rate it is the test of one mean, with the variance
    of `a` alone.
    """
    from scipy.special import stdtr

    first, second = _compute_moments(a, "welch_p"), _compute_moments(b, "welch_p")
    error = first.error**2 + second.error**2
    difference = abs(first.mean - second.mean)
    if math.isnan(error):
        return math.nan
    if error == 0:
        return 0.0 if difference else 1.0
    freedom = error**2 / sum(moments.error**4 / (moments.trials - 1) for moments in (first, second) if moments.error)
    return float(2 * stdtr(freedom, -difference / math.sqrt(error)))


def dispersion(points: npt.ArrayLike) -> ValueRange:
    """Return the range of distances from points to their nearest neighbours."""
    from scipy.spatial import cKDTree

    coordinates = to_points(points, None, "dispersion")
    if len(coordinates) < 2:
        reject("points", "dispersion", "at least two points", points)
    return _compute_range(cKDTree(coordinates).query(coordinates, k=2)[0][:, 1])


def discrepancy(
    points: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    boxes: int = 1000,
    rng: np.random.Generator | int | None = None,
    method: str = "boxes",
) -> ValueRange:
    """Return the range of |share of points - share of volume| over parts of a domain.

    Points outside the domain lie in no part, but count. There are `boxes` parts. With the method "boxes" they are random
    boxes; each side has a uniform length and then a uniform place. With "cells" they are equal cells, as many per side as
    the d-th root of `boxes`, rounded (1,000 boxes: 1,000 cells in one dimension, 32 per side in two, 10 in three).
    """
    lower, upper = validate_domain(low, high, "discrepancy")
    coordinates = to_points(points, len(lower), "discrepancy")
    boxes = validate_integer("boxes", "discrepancy", boxes, low=1)
    if not len(coordinates):
        reject("points", "discrepancy", "at least one point", points)
    unit = (coordinates - lower) / (upper - lower)
    if validate_choice("method", "discrepancy", method, ("boxes", "cells")) == "cells":
        return _compute_range(_measure_cells(unit, max(1, round(boxes ** (1 / len(lower))))))
    return _compute_range(_measure_boxes(unit, boxes, to_generator("rng", "discrepancy", rng)))


def measure_spread(relation: FunctionRelation | Box, sources: npt.ArrayLike) -> list[InputSpread]:
    """Return how evenly groups lie: dispersion and discrepancy of their sources, then of their follow-ups.

    `relation` may be the domain of single inputs. Each is measured in its own domain, over the inputs that vary; a
    discrepancy is measured in 1,000 equal cells, as in Ying (2024, section 4.4.2.3).

    Examples
    --------
    >>> import datamorphic as dm
    >>> tripling = dm.programs["tanh"].relations["tripling"]
    >>> groups = dm.generate(tripling, "SFIDMT-ART", n=500)
    >>> source, follow_up = measure_spread(tripling, groups.sources)
    >>> random_source = measure_spread(tripling, dm.generate(tripling, "MT-RT", n=500).sources)[0]
    >>> bool(source.dispersion.width < random_source.dispersion.width)
    True
    """
    if isinstance(relation, FunctionRelation):
        draws = to_points(sources, relation.width, "measure_spread")
        parts = [("source", relation.split(draws), relation.domain)]
        parts.append(("follow_up", relation.follow_inputs(relation.follow(draws)), relation.follow_domains()))
    else:
        box = Box.of(relation, "measure_spread")
        parts = [("source", [to_points(sources, box.dimension, "measure_spread")], (box,))]
    return [
        _measure_input_spread(role if len(boxes) == 1 else f"{role}{number}", points, box)
        for role, inputs, boxes in parts
        for number, (points, box) in enumerate(zip(inputs, boxes, strict=True), 1)
    ]


def _measure_input_spread(name: str, points: Numbers, box: Box) -> InputSpread:
    varying = box.low < box.high
    rows, low, high = points[:, varying], box.low[varying], box.high[varying]
    return InputSpread(name, dispersion(rows), discrepancy(rows, low, high, boxes=CELL_COUNT, method="cells"))


def _measure_cells(unit: Numbers, side: int) -> Numbers:
    inside = unit[((unit >= 0) & (unit <= 1)).all(axis=1)]
    cells = np.minimum((inside * side).astype(np.intp), side - 1)
    size = side ** unit.shape[1]
    numbers = np.ravel_multi_index(tuple(cells.T), (side,) * unit.shape[1])
    return np.abs(np.bincount(numbers, minlength=size) / len(unit) - 1 / size)


def _measure_boxes(unit: Numbers, boxes: int, rng: np.random.Generator) -> Numbers:
    size = rng.random((boxes, unit.shape[1]))
    start = rng.random(size.shape) * (1 - size)
    end = start + size
    count = np.empty(boxes)
    step = max(1, MAX_COMPARISONS_PER_CHUNK // len(unit))
    for first in range(0, boxes, step):
        part = slice(first, first + step)
        inside = np.ones((len(size[part]), len(unit)), dtype=bool)
        for axis, column in enumerate(unit.T):
            inside &= column >= start[part, axis, None]
            inside &= column < end[part, axis, None]
        count[part] = inside.sum(axis=1)
    return np.abs(count / len(unit) - size.prod(axis=1))


def _compute_range(values: Numbers) -> ValueRange:
    minimum, maximum = float(values.min()), float(values.max())
    return ValueRange(minimum, maximum, maximum - minimum)


class _Moments(NamedTuple):
    """The moments of F-measures; those of random testing are exact and have no error."""

    mean: float
    sd: float
    error: float
    trials: int
    censored: bool


def _compute_moments(sample: object, owner: str) -> _Moments:
    if isinstance(sample, FMeasures):
        return _Moments(sample.mean, sample.sd, sample.standard_error, len(sample), bool(sample.censored.any()))
    rate = sample.value if isinstance(sample, Measure) else sample
    if is_number(rate) and 0 < float(rate) <= 1:
        rate, cases = float(rate), (sample.cases or UNKNOWN_RATE_CASES) if isinstance(sample, Measure) else 0
        relative_error = (
            (sample.high - sample.low) / (2 * NORMAL_QUANTILE * rate) if isinstance(sample, Measure) else 0.0
        )
        return _Moments(1 / rate, math.sqrt(1 - rate) / rate, relative_error / rate, cases, False)
    reject("b", owner, "FMeasures or a violation rate above 0 and at most 1", sample)


def _to_verdict_matrix(verdicts: npt.ArrayLike, owner: str) -> npt.NDArray[np.bool_]:
    matrix = np.asarray(verdicts)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype != np.bool_:
        reject("verdicts", owner, "a matrix of bool, one row per trial and one column per group", verdicts)
    return matrix

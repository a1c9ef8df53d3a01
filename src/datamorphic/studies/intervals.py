"""95% intervals of our figures: of means, ratios of means, shares, medians and effect sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

import numpy as np

from .._stats import Z_95
from ..core.result import Measure
from ..hunting.measures import estimate
from .rows import OurFigure

MARGIN_KEY, TRIALS_KEY = "{} ±", "{} trials"  # of the margin and the trials among the figures of a job


def estimate_mean(values: Iterable[float]) -> OurFigure:
    """Return the mean of repetitions with its interval, by Student's t.

    Examples
    --------
    >>> [round(number, 2) for number in estimate_mean([1, 2, 3, 4])[:3]]
    [2.5, 2.05, 4]
    """
    numbers = list(values)
    if not numbers or not all(map(math.isfinite, numbers)):
        return OurFigure(math.nan if not numbers else math.fsum(numbers) / len(numbers), math.nan, _count(numbers))
    return from_bounds(estimate(numbers), len(numbers))


def estimate_runs(values: Iterable[float]) -> OurFigure:
    """Return the mean over runs, each as large as the single published run.

    Examples
    --------
    >>> [round(number, 2) for number in estimate_runs([1, 2, 3, 4])]
    [2.5, 2.05, 4, 4.59]
    """
    mean = estimate_mean(values)
    return mean._replace(printed_margin=mean.margin * math.sqrt(1 + mean.trials))


def estimate_ratio(tops: Sequence[float], bottoms: Sequence[float], factor: float = 1.0) -> OurFigure:
    """Return the ratio of the means of two figures that repetitions have together, times a factor.

    Its interval is by the delta method, which takes into account that both vary together.

    Examples
    --------
    >>> [round(number, 2) for number in estimate_ratio([10, 20, 33], [1, 2, 3])[:3]]
    [10.5, 1.64, 3]
    """
    top, bottom = math.fsum(tops), math.fsum(bottoms)
    if not bottom:
        return OurFigure(math.inf, math.nan, _count(tops))
    ratio = top / bottom
    deviations = [(a - ratio * b) * len(tops) / bottom for a, b in zip(tops, bottoms, strict=True)]
    return OurFigure(factor * ratio, abs(factor) * estimate_mean(deviations).margin, len(tops))


def estimate_quotient(top: OurFigure, bottom: OurFigure) -> OurFigure:
    """Return the ratio of two independent figures, with its interval by the delta method.

    Examples
    --------
    >>> [round(number, 3) for number in estimate_quotient(OurFigure(8.0, 0.8, 30), OurFigure(10.0, 1.0, 40))[:3]]
    [0.8, 0.113, 30]
    """
    ratio = top.value / bottom.value
    error = math.hypot(top.margin / top.value, bottom.margin / bottom.value)
    return OurFigure(ratio, abs(ratio) * error, min(top.trials, bottom.trials))


def estimate_share(count: float, total: float, factor: float = 100.0) -> OurFigure:
    """Return a share in percent with Wilson's interval; the margin reaches to its farther end.

    Examples
    --------
    >>> [round(number, 1) for number in estimate_share(0, 100)[:3]]
    [0.0, 3.7, 100]
    """
    if math.isnan(count) or not total > 0:
        return OurFigure(math.nan, math.nan, total)
    share = Measure.from_counts(round(count), round(total))
    return from_bounds(replace(share, value=count / total), total).times(factor)


def estimate_median(values: Sequence[float]) -> OurFigure:
    """Return the median with the interval between two order statistics, whatever the distribution.

    With fewer than six values, even the least and the greatest do not enclose the median often enough.

    Examples
    --------
    >>> estimate_median([1, 2, 3, 4, 5, 6, 70])
    OurFigure(value=4.0, margin=66.0, trials=7, printed_margin=nan)
    """
    count = len(values)
    median = float(np.median(values))
    chances = accumulate(math.comb(count, k) / 2**count for k in range(count + 1))  # of at most k values below
    rank = sum(1 for _ in takewhile(lambda chance: chance < 0.025, chances))
    if rank < 1 or math.isnan(median):
        return OurFigure(median, math.nan, count)
    ordered = sorted(values)
    return OurFigure(median, max(median - ordered[rank - 1], ordered[count - rank] - median), count)


def estimate_effect(d: float, first_trials: float, second_trials: float) -> OurFigure:
    """Return Cohen's d with the approximate interval of Hedges & Olkin (1985).

    Examples
    --------
    >>> [round(number, 2) for number in estimate_effect(0.5, 100, 100)[:3]]
    [0.5, 0.28, 100]
    """
    total = first_trials + second_trials
    variance = total / (first_trials * second_trials) + d * d / (2 * total)
    return OurFigure(d, Z_95 * math.sqrt(variance), min(first_trials, second_trials))


def from_bounds(estimated: Measure, trials: float) -> OurFigure:
    """Return a figure whose interval is already known; the margin reaches to its farther end."""
    margin = max(estimated.value - estimated.low, estimated.high - estimated.value)
    return OurFigure(estimated.value, margin, trials)


def average_figures(figures: Iterable[OurFigure]) -> OurFigure:
    """Return the mean of independent figures; infinite ones are left out, as published.

    It is infinite if all are, and NaN if one was not measured.

    Examples
    --------
    >>> average_figures([OurFigure(1.0, 0.3, 10), OurFigure(2.0, 0.4, 10)])
    OurFigure(value=1.5, margin=0.25, trials=20.0, printed_margin=nan)
    """
    figures = list(figures)
    finite = [figure for figure in figures if not math.isinf(figure.value)]
    if not finite:
        return OurFigure(math.inf if figures else math.nan)
    margin, printed_margin = (
        math.hypot(*margins) / len(finite)
        for margins in zip(*((figure.margin, figure.printed_margin) for figure in finite), strict=True)
    )
    trials = math.fsum(figure.trials for figure in finite)
    return OurFigure(math.fsum(figure.value for figure in finite) / len(finite), margin, trials, printed_margin)


def label_figure(name: str, figure: OurFigure) -> dict[str, float]:
    """Return a figure with its interval as figures of a job, for jobs whose trials are inside."""
    return {
        name: float(figure.value),
        MARGIN_KEY.format(name): float(figure.margin),
        TRIALS_KEY.format(name): float(figure.trials),
    }


def read_labelled_figure(figures: Mapping[str, float], name: str) -> OurFigure:
    """Return a figure of a job, with the interval that the job reports for it, if any."""
    keys = (MARGIN_KEY.format(name), TRIALS_KEY.format(name))
    return OurFigure(figures.get(name, math.nan), *(figures.get(key, math.nan) for key in keys))


def _count(values: Sequence[float]) -> float:
    return len(values) or math.nan

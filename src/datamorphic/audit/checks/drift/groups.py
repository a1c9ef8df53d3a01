"""Groups of rows that grew since the reference, and in which the model is wrong more often than the data require.

A group is sought on one half of the rows and confirmed on the other half. What counts is the error beyond that of a quick model
that was fitted to other rows of the data: a group that is hard to predict is no drift. Nor is one in which the model was as
wrong in the reference already.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ...._stats import compute_wilson_interval
from ...._text import format_short
from ....space.features import Categorical, Feature
from ....space.text_feature import Text
from ...case_text import format_label
from ...context import CheckContext
from ...judged_rows import JudgedRows
from .reference_rows import ReferenceRows

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
#: A condition in words, and the function that finds the rows among the codes of its column.
RowCondition = tuple[str, Callable[[Floats], Mask]]

THRESHOLDS_PER_NUMBER = 9  # deciles of the data
MAX_CATEGORIES = 40
MIN_GROUP_ROWS = 15  # in each half of the rows with labels
MAX_GROUP_SHARE = 0.9  # of the rows: others are needed for comparison
MIN_GROWTH = 0.02  # of the share of rows, at the lower end of the interval
MIN_GROWTH_RATIO = 1.5  # of the share in the data to the share in the reference
GROWTH_CONFIDENCE = 0.999  # of the intervals of the shares: many groups are looked at
MAX_TESTED_GROUPS = 3
SIGNIFICANCE = 0.005  # of all groups that are tested, one-sided
MIN_EXCESS = 0.08  # errors per row beyond the quick model's, more inside than outside, at the lower end of the interval
MIN_NUMERIC_EXCESS = 0.4  # the same for numbers, in mean errors of the model elsewhere
MAX_QUICK_RATIO = 0.6  # of the quick model's mean error to the model's, inside
MIN_REFERENCE_ROWS = 20  # of a group, to compare the errors of the model there


@dataclass(frozen=True, eq=False, kw_only=True)
class GrownGroup:
    """Rows that are more frequent in the data than in the reference."""

    column: int
    text: str
    inside: Mask  # of the judged rows
    reference_inside: Mask
    share: float  # of the data
    reference_share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class CostlyGroup:
    """A group with its errors on the rows that were not used to find it."""

    group: GrownGroup
    rows: Mask  # of the judged rows: inside, in the half that confirms
    error: float
    error_elsewhere: float
    quick_error: float
    reference_error: float | None  # of the model there in the reference, if it has enough rows
    low: float  # of the errors per row beyond the quick model's, inside minus outside


def find_grown_groups(context: CheckContext, data: JudgedRows, reference: ReferenceRows) -> list[GrownGroup]:
    """Return the values and ranges of single columns whose share of the rows grew clearly."""
    groups: list[GrownGroup] = []
    for column in context.space.scalars:
        new, old = context.inputs.codes[:, column], reference.codes[:, column]
        for text, find_rows in list_conditions(context.space.features[column], old, new):
            in_data, in_reference, inside = find_rows(new), find_rows(old), find_rows(data.points.codes[:, column])
            is_large = inside.sum() >= 2 * MIN_GROUP_ROWS
            if is_large and inside.mean() <= MAX_GROUP_SHARE and _has_grown(in_data, in_reference):
                groups.append(
                    GrownGroup(
                        column=column,
                        text=text,
                        inside=inside,
                        reference_inside=in_reference,
                        share=float(in_data.mean()),
                        reference_share=float(in_reference.mean()),
                    )
                )
    return groups


def list_conditions(feature: Feature, old: Floats, new: Floats) -> Iterator[RowCondition]:
    """Yield the conditions on a column: what the reference does not have first, then values and ranges."""
    if isinstance(feature, Text):
        return
    yield f"{feature.name} is missing", np.isnan
    known, old_known = new[np.isfinite(new)], old[np.isfinite(old)]
    if not len(known) or not len(old_known):
        return
    if isinstance(feature, Categorical):
        values, counts = np.unique(known, return_counts=True)
        unseen = np.setdiff1d(values, old_known)
        if len(unseen) > 1:
            yield f"{feature.name} has a category that is not in the reference", partial(np.isin, test_elements=unseen)
        for code in values[np.argsort(-counts, kind="stable")][:MAX_CATEGORIES].tolist():
            yield f"{feature.name} is {format_label(feature.values[int(code)])}", partial(operator.eq, code)
        return
    bounds = [float(old_known.max()), float(old_known.min())]
    shares = np.linspace(0, 1, THRESHOLDS_PER_NUMBER + 2)[1:-1]
    thresholds = [float(f"{value:.3g}") for value in np.quantile(known, shares, method="lower").tolist()]
    yield (f"{feature.name} > {format_short(bounds[0])}", partial(operator.lt, bounds[0]))
    yield (f"{feature.name} < {format_short(bounds[1])}", partial(operator.gt, bounds[1]))
    for threshold in dict.fromkeys(thresholds):
        yield f"{feature.name} > {format_short(threshold)}", partial(operator.lt, threshold)
        yield f"{feature.name} ≤ {format_short(threshold)}", partial(operator.ge, threshold)


def _has_grown(in_data: Mask, in_reference: Mask) -> bool:
    share, reference_share = float(in_data.mean()), float(in_reference.mean())
    if share < MIN_GROWTH_RATIO * reference_share:
        return False
    low = compute_wilson_interval(int(in_data.sum()), len(in_data), GROWTH_CONFIDENCE)[0]
    high = compute_wilson_interval(int(in_reference.sum()), len(in_reference), GROWTH_CONFIDENCE)[1]
    difference = share - reference_share - math.hypot(share - low, high - reference_share)
    return difference >= MIN_GROWTH


def find_costly_group(
    data: JudgedRows,
    groups: list[GrownGroup],
    reference: ReferenceRows,
    reference_errors: Floats,
    reference_judged: npt.NDArray[np.intp],
    seed: int,
) -> CostlyGroup | None:
    """Return the group that costs most, confirmed on rows that were not used to find it; None if none does.

    `reference_errors` are those of the model on the rows `reference_judged` of the reference.
    """
    first_half = np.random.default_rng([seed, 43]).permutation(len(data.rows)) < len(data.rows) // 2
    excess = data.errors - data.reference_errors
    ranked = sorted(groups, key=lambda group: -_compare(excess, group.inside, first_half, 0.0)[1])
    tested = [group for group in ranked if _compare(excess, group.inside, first_half, 0.0)[1] > 0][:MAX_TESTED_GROUPS]
    margin = NormalDist().inv_cdf(1 - SIGNIFICANCE / max(1, len(tested)))
    for group in tested:
        rows, others = group.inside & ~first_half, ~group.inside & ~first_half
        low = _compare(excess, group.inside, ~first_half, margin)[0]
        error, elsewhere = (float(data.errors[part].mean()) if part.any() else 0.0 for part in (rows, others))
        quick_error = float(data.reference_errors[rows].mean()) if rows.any() else 0.0
        limit = MIN_NUMERIC_EXCESS * elsewhere if data.numeric else MIN_EXCESS
        if low < limit or low <= 0 or quick_error > MAX_QUICK_RATIO * error:
            continue
        inside = group.reference_inside[reference_judged]
        reference_error = None
        if min(inside.sum(), (~inside).sum()) >= MIN_REFERENCE_ROWS:
            # The model may be worse there for other reasons than drift: then it was so in the reference.
            reference_error = float(reference_errors[inside].mean())
            rise = (error - elsewhere) - (reference_error - float(reference_errors[~inside].mean()))
            if rise < limit:
                continue
        return CostlyGroup(
            group=group,
            rows=rows,
            error=error,
            error_elsewhere=elsewhere,
            quick_error=quick_error,
            reference_error=reference_error,
            low=low,
        )
    return None


def _compare(values: Floats, inside: Mask, half: Mask, margin: float) -> tuple[float, float]:
    """Return the lower end of the difference of two means in a half of the rows, and the difference in standard errors."""
    first, second = values[inside & half], values[~inside & half]
    if min(len(first), len(second)) < MIN_GROUP_ROWS:
        return -math.inf, -math.inf
    # One more row with an error of average size, so that groups without any variance have a margin.
    spread = max(float(values.std()), 1e-12)
    error = math.sqrt((first.var() + spread**2 / len(first)) / len(first) + second.var() / len(second))
    difference = float(first.mean() - second.mean())
    return difference - margin * error, difference / error

"""Whether labels depend on the inputs as they did in the reference.

A quick model of the reference is compared with a quick model of the data, both on rows that they were not fitted to, and both
fitted to equally many rows. If the relation is the same, so are their errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ....space.points import Points
from ...check import CheckBudget
from ...conditions import build_conditions
from ...context import CheckContext
from ...judged_rows import JudgedRows
from ...labels import find_missing_labels, to_label_texts
from ...reference_model import FOLDS, ReferenceModel, predict_by_other_rows
from .groups import Mask
from .reference_rows import ReferenceRows

Floats = npt.NDArray[np.float64]

MIN_TRAINING_ROWS = 50
MAX_TRAINING_ROWS = 2_400  # as many as a fold of the quick model of the data
FITS = 2  # to different rows of the reference, whose errors are averaged
SIGNIFICANCE = 0.005  # of each comparison, one-sided
MIN_EXCESS = 0.05  # errors per row, at the lower end of the interval
MIN_NUMERIC_EXCESS = 0.2  # the same for numbers, in mean errors of the quick model of the data
MIN_RATIO = 1.25  # of the errors of the quick model of the reference to those of the quick model of the data
MIN_GROUP_ROWS = 20  # in each half
#: Standard errors by which a group is worse than the rest, on rows that were not used to find it.
MIN_GROUP_CLEARNESS = 4.0
MAX_OUTSIDE_RATIO = 0.3  # of the difference outside a group to that inside, or the group is not the cause


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangedRelation:
    """Errors per row of the judged rows, by models of the reference and of the data."""

    reference_error: float
    data_error: float
    error: float  # of the model under test
    low: float  # of the difference of the quick models
    group: str  # where the difference is largest, in words; empty if nowhere clearly
    columns: tuple[str, ...]
    inside: Mask  # the rows of this group; all rows if there is none


def encode_reference_labels(reference: ReferenceRows, quick: ReferenceModel) -> Floats:
    """Return the labels of the reference as codes of the classes of the data, or numbers; NaN for others."""
    labels, codes = reference.labels, np.full(len(reference.codes), np.nan)
    if labels is None:
        return codes
    present = np.flatnonzero(~find_missing_labels(labels))
    if quick.classes:
        place_of = {text: float(place) for place, text in enumerate(quick.classes)}
        codes[present] = [place_of.get(text, math.nan) for text in to_label_texts(labels[present]).tolist()]
        return codes
    try:
        codes[present] = labels[present].astype(np.float64)
    except (TypeError, ValueError):
        return codes
    codes[~np.isfinite(codes)] = np.nan
    return codes


def find_changed_relation(
    context: CheckContext,
    budget: CheckBudget,
    data: JudgedRows,
    quick: ReferenceModel,
    reference: ReferenceRows,
    reference_labels: Floats,
) -> ChangedRelation | None:
    """Return how much worse a model of the reference is than one of the data; None if it is not clearly worse."""
    training_rows = np.flatnonzero(np.isfinite(reference_labels))
    fold_rows = (FOLDS - 1) * len(quick.rows) // FOLDS
    count = min(len(training_rows), fold_rows, MAX_TRAINING_ROWS)
    # With as many rows as there are, the quick model of the data has its fewest errors: a model that is no worse passes.
    screening_limit = MIN_EXCESS if quick.classes else MIN_NUMERIC_EXCESS * float(data.reference_errors.mean())
    if count < MIN_TRAINING_ROWS or compute_low(data.errors - data.reference_errors) <= screening_limit:
        return None
    rng = np.random.default_rng([context.seed, 44])
    classes = len(quick.classes)
    places = np.searchsorted(quick.rows, data.rows)
    targets = quick.labels[places]
    codes = np.where(reference.codes == -1.0, np.nan, reference.codes)
    is_number = np.array([feature.kind in ("continuous", "integer") for feature in context.space.features])
    codes[:, is_number] = reference.codes[:, is_number]
    codes[np.isinf(codes)] = np.nan
    reference_points = Points(context.space, np.asfortranarray(codes))
    reference_errors = np.zeros(len(targets))
    for _ in range(FITS):
        rows = rng.permutation(training_rows)[:count]
        predictions = predict_by_other_rows(
            reference_points.take(rows), reference_labels[rows], data.points, class_count=classes, seed=context.seed
        )
        reference_errors += _measure_errors(predictions, targets, classes) / FITS
    data_errors = data.reference_errors
    if count < 0.9 * fold_rows:
        data_errors = _cross_validate(data, targets, count, classes, context.seed)
    differences = reference_errors - data_errors
    data_error = float(data_errors.mean())
    limit = MIN_EXCESS if classes else MIN_NUMERIC_EXCESS * data_error
    low = compute_low(differences)
    model_low = compute_low(data.errors - data_errors)
    if min(low, model_low) < limit or reference_errors.mean() < MIN_RATIO * data_error or low <= 0:
        return None
    group, columns, inside = _find_group(data, differences, context.seed)
    return ChangedRelation(
        reference_error=float(reference_errors.mean()),
        data_error=data_error,
        error=float(data.errors.mean()),
        low=low,
        group=group,
        columns=columns,
        inside=inside,
    )


def compute_low(differences: Floats) -> float:
    """Return the lower end of the interval of a mean."""
    margin = NormalDist().inv_cdf(1 - SIGNIFICANCE)
    return float(differences.mean() - margin * differences.std() / math.sqrt(max(1, len(differences))))


def _measure_errors(predictions: Floats, targets: Floats, classes: int) -> Floats:
    return (predictions != targets).astype(np.float64) if classes else np.abs(predictions - targets)


def _cross_validate(data: JudgedRows, targets: Floats, count: int, classes: int, seed: int) -> Floats:
    """Return the errors of quick models fitted to `count` other rows of the data."""
    rng = np.random.default_rng([seed, 45])
    folds = rng.permutation(len(targets)) % FOLDS
    errors = np.empty(len(targets))
    for fold in range(FOLDS):
        others, rows = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        training = rng.permutation(others)[:count]
        predictions = predict_by_other_rows(
            data.points.take(training), targets[training], data.points.take(rows), class_count=classes, seed=seed
        )
        errors[rows] = _measure_errors(predictions, targets[rows], classes)
    return errors


def _find_group(data: JudgedRows, differences: Floats, seed: int) -> tuple[str, tuple[str, ...], Mask]:
    """Return the condition under which the difference is clearly larger than elsewhere, found and confirmed on halves."""
    nowhere = "", (), np.ones(len(differences), dtype=bool)
    first_half = np.random.default_rng([seed, 46]).permutation(len(differences)) < len(differences) // 2
    conditions = build_conditions(data.points, 2 * MIN_GROUP_ROWS)
    if not conditions:
        return nowhere
    best = max(conditions, key=lambda condition: _measure_clearness(differences, condition.inside, first_half))
    if _measure_clearness(differences, best.inside, ~first_half) < MIN_GROUP_CLEARNESS:
        return nowhere
    if differences[~best.inside].mean() > MAX_OUTSIDE_RATIO * differences[best.inside].mean():
        return nowhere  # it is everywhere
    return best.text, (data.points.space.names[best.feature],), best.inside


def _measure_clearness(differences: Floats, inside: Mask, half: Mask) -> float:
    first, second = differences[inside & half], differences[~inside & half]
    if min(len(first), len(second)) < MIN_GROUP_ROWS:
        return -math.inf
    error = math.sqrt(first.var() / len(first) + second.var() / len(second))
    return float(first.mean() - second.mean()) / max(error, 1e-12)

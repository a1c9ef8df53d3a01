"""Whether labels depend on the inputs as they did in the reference.

A quick model of the reference is compared with a quick model of the data, both on rows that they were not fitted to, and both
fitted to equally many rows. If the relation is the same, so are their errors. A group whose labels follow another rule
may be too small to be seen so: there, the errors of a quick model of the reference are compared with its errors in the same group
of the reference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ....errors import BudgetSpent
from ....space.points import Points
from ...check import CheckBudget
from ...conditions import build_conditions
from ...context import CheckContext
from ...judged_rows import JudgedRows
from ...labels import find_missing_labels, to_label_texts
from ...reference_model import FOLDS, ReferenceModel, predict_by_other_rows
from ...rivals import get_explained_rows
from .groups import Mask, list_conditions
from .reference_rows import UNKNOWN_CATEGORY, ReferenceRows

Floats = npt.NDArray[np.float64]

MIN_TRAINING_ROWS = 50
MAX_TRAINING_ROWS = 2_400  # as many as a fold of the quick model of the data
REFERENCE_FITS = 2  # to different rows of the reference, whose errors are averaged
SIGNIFICANCE = 0.005  # of each comparison, one-sided
MIN_EXCESS = 0.05  # errors per row, at the lower end of the interval
MIN_NUMERIC_EXCESS = 0.2  # the same for numbers, in mean errors of the quick model of the data
MIN_RATIO = 1.25  # of the errors of the quick model of the reference to those of the quick model of the data
MIN_GROUP_ROWS = 20  # in each half
#: Standard errors by which a group is worse than the rest, on rows that were not used to find it.
MIN_GROUP_CLEARNESS = 4.0
MIN_GROUP_RISE = 0.15  # of the errors per row in a group, at the lower end of the interval
MIN_NUMERIC_GROUP_RISE = 0.5  # the same for numbers, in mean errors of a quick model in the reference
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
    reference_errors = np.zeros(len(targets))
    for _ in range(REFERENCE_FITS):
        rows = rng.permutation(training_rows)[:count]
        predictions = predict_by_other_rows(
            build_reference_points(context, reference, rows),
            reference_labels[rows],
            data.points,
            class_count=classes,
            seed=context.seed,
            dates=context.date_columns,
        )
        reference_errors += _measure_errors(predictions, targets, classes) / REFERENCE_FITS
    data_errors = data.reference_errors
    if count < 0.9 * fold_rows:
        data_errors = _cross_validate(context, data, targets, count, classes)
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


@dataclass(frozen=True, eq=False, kw_only=True)
class ContradictedGroup:
    """A group of rows whose labels contradict what was learned from the reference; errors per row of the group."""

    text: str
    column: int
    inside: Mask  # of the judged rows
    reference_error: float  # of a quick model of the reference, on other rows of it
    data_error: float  # of the same on the data
    error: float  # of the model under test on the data
    rise_elsewhere: float  # of the errors of the quick model


def find_contradicted_group(
    context: CheckContext,
    budget: CheckBudget,
    data: JudgedRows,
    quick: ReferenceModel,
    reference: ReferenceRows,
    reference_labels: Floats,
) -> ContradictedGroup | None:
    """Return the group in which a quick model of the reference is clearly worse on the data than on other rows of the reference.

    It is found on one half of the rows and confirmed on the other. The model under test is as wrong there, and errors that
    are explained already do not count.
    """
    training_rows = np.flatnonzero(np.isfinite(reference_labels))
    usable = ~get_explained_rows(context)[data.rows]
    if len(training_rows) < MIN_TRAINING_ROWS or usable.sum() < 4 * MIN_GROUP_ROWS:
        return None
    if budget.spent:
        raise BudgetSpent("There was no time to fit a model of the reference.")
    rng = np.random.default_rng([context.seed, 48])
    rows = rng.permutation(training_rows)[:MAX_TRAINING_ROWS]
    errors, old_errors = _measure_by_reference(context, data, quick, reference, reference_labels, rows)
    limit = MIN_NUMERIC_GROUP_RISE * float(old_errors.mean()) if data.numeric else MIN_GROUP_RISE
    first_half = rng.permutation(len(errors)) < len(errors) // 2

    def measure(inside: Mask, old_inside: Mask, half: Mask) -> tuple[float, float, float]:
        """Return the rise of the errors inside and outside, and by how many standard errors the first is larger."""
        parts = [
            errors[inside & half],
            old_errors[old_inside],
            errors[usable & ~inside & half],
            old_errors[~old_inside],
        ]
        if min(map(len, parts)) < MIN_GROUP_ROWS:
            return 0.0, 0.0, -math.inf
        means = [float(part.mean()) for part in parts]
        deviation = math.sqrt(sum((float(part.var()) + limit**2 / len(part)) / len(part) for part in parts))
        rises = means[0] - means[1], means[2] - means[3]
        return *rises, (rises[0] - max(0.0, rises[1]) - limit) / deviation

    best, best_clearness = None, 0.0
    for column in context.space.scalars:
        new, old = data.points.codes[:, column], reference.codes[rows, column]
        for text, find_rows in list_conditions(context.space.features[column], old, new):
            inside, old_inside = find_rows(new) & usable, find_rows(old)
            clearness = measure(inside, old_inside, first_half)[2]
            if clearness > best_clearness and data.errors[inside].mean() >= old_errors[old_inside].mean() + limit:
                best, best_clearness = (text, column, inside, old_inside), clearness
    if best is None:
        return None
    text, column, inside, old_inside = best
    if measure(inside, old_inside, ~first_half)[2] < NormalDist().inv_cdf(1 - SIGNIFICANCE):
        return None
    rise, rise_elsewhere, _ = measure(inside, old_inside, np.ones(len(errors), dtype=bool))
    if rise_elsewhere > MAX_OUTSIDE_RATIO * rise:
        return None
    return ContradictedGroup(
        text=text,
        column=column,
        inside=inside,
        reference_error=float(old_errors[old_inside].mean()),
        data_error=float(errors[inside].mean()),
        error=float(data.errors[inside].mean()),
        rise_elsewhere=rise_elsewhere,
    )


def _measure_by_reference(
    context: CheckContext,
    data: JudgedRows,
    quick: ReferenceModel,
    reference: ReferenceRows,
    reference_labels: Floats,
    rows: npt.NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Return the errors on the data and on some rows of the reference, by quick models fitted to others of these rows."""
    points, labels = build_reference_points(context, reference, rows), reference_labels[rows]
    both = Points(context.space, np.asfortranarray(np.vstack([data.points.codes, points.codes])))
    targets, classes = quick.labels[np.searchsorted(quick.rows, data.rows)], len(quick.classes)
    count = len(targets)
    errors, old_errors = np.zeros(count), np.empty(len(rows))
    folds = np.arange(len(rows)) % FOLDS
    for fold in range(FOLDS):
        predictions = predict_by_other_rows(
            points.take(folds != fold), labels[folds != fold], both, class_count=classes, seed=context.seed
        )
        errors += _measure_errors(predictions[:count], targets, classes) / FOLDS
        old_errors[folds == fold] = _measure_errors(predictions[count:], labels, classes)[folds == fold]
    return errors, old_errors


def build_reference_points(context: CheckContext, reference: ReferenceRows, rows: npt.NDArray[np.intp]) -> Points:
    """Return rows of the reference for a quick model; what the data do not have is missing."""
    codes = reference.codes[rows]
    is_number = np.array([feature.kind in ("continuous", "integer") for feature in context.space.features])
    codes[np.isinf(codes) | ((codes == UNKNOWN_CATEGORY) & ~is_number)] = np.nan
    return Points(context.space, np.asfortranarray(codes))


def compute_low(differences: Floats) -> float:
    """Return the lower end of the interval of a mean."""
    margin = NormalDist().inv_cdf(1 - SIGNIFICANCE)
    return float(differences.mean() - margin * differences.std() / math.sqrt(max(1, len(differences))))


def _measure_errors(predictions: Floats, targets: Floats, classes: int) -> Floats:
    return (predictions != targets).astype(np.float64) if classes else np.abs(predictions - targets)


def _cross_validate(context: CheckContext, data: JudgedRows, targets: Floats, count: int, classes: int) -> Floats:
    """Return the errors of quick models fitted to `count` other rows of the data."""
    rng = np.random.default_rng([context.seed, 45])
    folds = rng.permutation(len(targets)) % FOLDS
    errors = np.empty(len(targets))
    for fold in range(FOLDS):
        others, rows = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        training = rng.permutation(others)[:count]
        predictions = predict_by_other_rows(
            data.points.take(training),
            targets[training],
            data.points.take(rows),
            class_count=classes,
            seed=context.seed,
            dates=context.date_columns,
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

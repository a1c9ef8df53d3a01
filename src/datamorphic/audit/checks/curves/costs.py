"""What it costs that a model does not see a feature, a category or values beyond a limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._stats import Z_95
from ....core.result import Measure
from ....space.points import Points
from ...check import CheckBudget
from ...context import CheckContext
from ...reference_model import ReferenceModel, fit_reference_model, predict_by_other_rows
from ...rivals import Rivals

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MIN_GAIN = 0.08  # of the loss of the quick model: by how much it falls with what the tested model does not see
MIN_GAIN_AT_LOWER_END = 0.03
MIN_ERROR_GAIN = 0.1  # of the errors of the quick model, unless the gain is clear
MIN_CLEAR_GAIN = 0.15
MIN_NOTICEABLE_GAIN = 0.03
MIN_LOSS_HERE = (
    0.05  # errors per row beyond the quick model's, or in standard deviations of the labels, at the lower end
)
MAX_LOSS_ELSEWHERE = 0.25  # of the loss in the rows concerned
MAX_ERROR_RATIO_HERE = 0.6  # of the quick model's error to the model's


@dataclass(frozen=True, eq=False, kw_only=True)
class Cost:
    """How much better a quick model is with some information than without it, on rows that it was not fitted to."""

    gain: Measure  # the part of its loss that it saves: of squared errors of probabilities, or of absolute errors
    seeing_error: float  # the error rate, or the mean error, of the quick model with the information
    blind_error: float
    model_error: float  # of the tested model
    lost: Measure  # the errors of the tested model beyond those of the quick one, per row
    lost_elsewhere: float  # the same in all other rows; 0 if there are none
    scale: float  # of errors: 1 for classes, the standard deviation of the labels for numbers

    @property
    def is_noticeable(self) -> bool:
        """Whether the information is worth a concern if it is sure otherwise that the model lacks it and the labels depend on it."""
        return self.gain.value >= MIN_NOTICEABLE_GAIN and self.seeing_error < min(self.blind_error, self.model_error)

    @property
    def is_far_worse(self) -> bool:
        """Whether the tested model is far worse than the quick one."""
        return self.lost.low > 0 and self.seeing_error <= MAX_ERROR_RATIO_HERE * self.model_error

    @property
    def is_local(self) -> bool:
        """Whether the tested model is far worse than the quick one in the rows concerned, and not elsewhere."""
        return (
            self.lost.low >= MIN_LOSS_HERE * self.scale
            and self.lost_elsewhere <= MAX_LOSS_ELSEWHERE * self.lost.value
            and self.seeing_error <= MAX_ERROR_RATIO_HERE * self.model_error
        )

    @property
    def matters(self) -> bool:
        """Whether the information is worth a concern: the quick model gains by it, and the tested model is worse."""
        return (
            self.gain.value >= MIN_GAIN
            and self.gain.low >= MIN_GAIN_AT_LOWER_END
            and (self.seeing_error <= (1 - MIN_ERROR_GAIN) * self.blind_error or self.gain.value >= MIN_CLEAR_GAIN)
            and self.seeing_error <= (1 - MIN_ERROR_GAIN) * self.model_error
            and self.lost.low > 0
        )


def fit_blind_model(context: CheckContext, budget: CheckBudget, rivals: Rivals, codes: Floats) -> ReferenceModel | None:
    """Return the quick model of the judged rows with other codes, in which some information is missing."""
    points = Points(context.space, codes)
    labels = np.asarray(rivals.data.labels)
    return fit_reference_model(
        points,
        labels,
        np.arange(len(codes)),
        numeric=not rivals.classes,
        seed=context.seed,
        seconds=budget.remaining().seconds,
        dates=context.date_columns,
    )


def measure_cost(rivals: Rivals, seeing: ReferenceModel | None, blind: ReferenceModel, rows: Mask) -> Cost | None:
    """Return what the information is worth in some rows; `seeing` is None for the quick model of all checks."""
    seeing_losses, seeing_errors = _measure_losses(rivals, seeing)
    blind_losses, blind_errors = _measure_losses(rivals, blind)
    if not rows.any() or not blind_losses[rows].any():
        return None
    differences = (blind_losses - seeing_losses)[rows]
    scale = float(blind_losses[rows].mean())
    mean, margin = float(differences.mean()), Z_95 * float(differences.std()) / math.sqrt(len(differences))
    own = rivals.data.errors[rows]
    lost = own - seeing_errors[rows]
    lost_margin = Z_95 * float(lost.std()) / math.sqrt(len(lost))
    return Cost(
        gain=Measure(mean / scale, (mean - margin) / scale, (mean + margin) / scale, len(differences)),
        seeing_error=float(seeing_errors[rows].mean()),
        blind_error=float(blind_errors[rows].mean()),
        model_error=float(own.mean()),
        lost=Measure(float(lost.mean()), float(lost.mean()) - lost_margin, float(lost.mean()) + lost_margin, len(lost)),
        lost_elsewhere=0.0 if rows.all() else float((rivals.data.errors - seeing_errors)[~rows].mean()),
        scale=float(rivals.labels.std()) if rivals.data.numeric else 1.0,
    )


def _measure_losses(rivals: Rivals, model: ReferenceModel | None) -> tuple[Floats, Floats]:
    """Return the losses of a quick model, which tell more than its errors do, and its errors."""
    predictions = rivals.predictions if model is None else model.predictions
    probabilities = rivals.probabilities if model is None else model.probabilities
    errors = rivals.measure_errors(predictions)
    if probabilities is None:
        return errors, errors
    truth = np.zeros(probabilities.shape)
    truth[np.arange(len(truth)), rivals.labels.astype(np.intp)] = 1.0
    return np.asarray(((probabilities - truth) ** 2).sum(axis=1)), errors


def measure_importances(
    rivals: Rivals, context: CheckContext, columns: list[int], max_rows: int = 400
) -> dict[int, float]:
    """Return by how much shuffling each feature raises the mean error of a quick model, on rows it was not fitted to."""
    rng = np.random.default_rng([context.seed, 37])
    order = rng.permutation(len(rivals.labels))
    half = len(order) // 2
    test_rows = order[half : half + max_rows]
    points = rivals.data.points
    parts = [points.codes[test_rows]]
    for column in columns:
        codes = parts[0].copy()
        codes[:, column] = rng.permutation(codes[:, column])
        parts.append(codes)
    predictions = predict_by_other_rows(
        points.take(order[:half]),
        rivals.labels[order[:half]],
        Points(points.space, np.concatenate(parts)),
        class_count=len(rivals.classes),
        seed=context.seed,
        dates=context.date_columns,
    ).reshape(len(parts), -1)
    labels = rivals.labels[test_rows]
    wrong = (predictions != labels) if rivals.classes else np.abs(predictions - labels)
    means = wrong.mean(axis=1)
    return {column: float(mean - means[0]) for column, mean in zip(columns, means[1:], strict=True)}

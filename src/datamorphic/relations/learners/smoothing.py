"""The effect of smoothing on a Gaussian naive Bayes whose training data change.

``var_smoothing`` times the largest variance of all rows is added to the variance of each class. Follow-up data have
another largest variance and so another smoothing. It rarely matters; `is_smoothing_decisive` returns when it can.
"""

from __future__ import annotations

import numpy as np

from ...systems.training import Floats, Training
from .base import compute_range, compute_widths, get_comparable_labels
from .requirement import INFORMATIVE_RELATIONS, EstimatorParameters

# By relation: the least and greatest factor between the smoothing of the source data and that of the follow-up data.
# Rows that count twice, or half, change a variance by a factor of at most 2; k*x + b with k from 1/2 to 2 by at most 4.
SMOOTHING_FACTORS: dict[str, tuple[float, float]] = {
    "MR-0 subset": (1 / 4, 4),
    "MR-2.2": (1, np.inf),
    "MR-2.2 shared": (1, np.inf),
    "MR-3.1": (1 / 2, np.inf),
    **dict.fromkeys(("MR-3.2", "MR-3.2 odds", "MR-4.1", "MR-4.1 subset", "weights"), (1 / 2, 2)),
    **dict.fromkeys(("MR-5.1", "zero weights", "class without weight"), (0, np.inf)),
}
DOUBLED_CLASS_RELATIONS = ("MR-3.2", "MR-3.2 odds")
STRONG_VAR_SMOOTHING = 1e-8  # above this var_smoothing no relation that changes the smoothing is necessary
TIED_LOG_LIKELIHOOD_GAP = 1e-5  # closer log-likelihoods are tied, and a slight perturbation separates them
SAME_SCORE_GAP = 5e-7  # scores that differ by less count as equal
NEGLIGIBLE_LOG_PROBABILITY = np.log(1e-8)  # of a class that does not affect the scores
MIN_VARIANCE = 1e-300  # replaces a variance of 0 without smoothing


def is_smoothing_decisive(relation: str, model: EstimatorParameters, data: Training) -> bool:
    """Return whether the smoothing of follow-up data can change a prediction.

    The log-likelihoods of all classes are bounded over every smoothing that the follow-up data may have.
    """
    if len(data.numeric) < data.x.shape[1]:
        return True  # booleans and categories may be numbers to the learner, but are not bounded here
    if model.priors is not None and len(model.priors) != len(data.classes):
        return True  # the learner rejects these data
    rows, share = len(data.y), model.var_smoothing
    numbers, cases, labels = data.numbers[:rows], data.numbers[rows:], get_comparable_labels(data)
    if data.weights is not None:
        repeats = data.weights.astype(np.intp)
        numbers, labels = np.repeat(numbers, repeats, axis=0), np.repeat(labels, repeats)
    low, high = 0.0, compute_widths(data).max()
    if relation in INFORMATIVE_RELATIONS:
        low, high = compute_range(data)
    with np.errstate(all="ignore"):
        groups = [numbers[labels == label] for label in data.classes.tolist()]
        classes = [members for members in groups if len(members)]  # a class may have no weight
        variances = np.array([members.var(axis=0) for members in classes])
        gaps = (cases[:, None] - np.array([members.mean(axis=0) for members in classes])) ** 2
        prior = np.log([len(members) for members in classes] if model.priors is None else model.priors)
        source_smoothing = share * numbers.var(axis=0).max()
        min_factor, max_factor = SMOOTHING_FACTORS[relation]
        min_smoothing = min_factor * source_smoothing
        # a variance is at most a quarter of the squared width
        max_smoothing = np.fmin(max_factor * source_smoothing, share * (high - low) ** 2 / 4)
        best = (prior + _sum_log_likelihoods(variances + source_smoothing, gaps)).argmax(axis=1)[:, None]
        ends = [_compute_log_likelihoods(variances + smoothing, gaps) for smoothing in (min_smoothing, max_smoothing)]
        lowest = prior + np.minimum(*ends).sum(axis=2)
        # a density is largest if the variance is the squared gap
        likeliest_variances = np.clip(gaps, variances + min_smoothing, variances + max_smoothing)
        highest = prior + _sum_log_likelihoods(likeliest_variances, gaps)
        lead = np.take_along_axis(lowest, best, axis=1) + _compute_gain(relation, model, len(classes)) - highest
        uncertainty = highest - lowest
        uncertainty = uncertainty + np.take_along_axis(uncertainty, best, axis=1)
        others = np.arange(len(classes)) != best
        if relation == "MR-3.2 odds":
            return bool((others & (lead < -NEGLIGIBLE_LOG_PROBABILITY) & (uncertainty > SAME_SCORE_GAP)).any())
        return bool((others & (lead < 0) & (uncertainty > TIED_LOG_LIKELIHOOD_GAP)).any())


def _compute_log_likelihoods(variances: Floats, gaps: Floats) -> Floats:
    """Return the log-likelihood per attribute, up to a constant."""
    variances = np.maximum(variances, MIN_VARIANCE)
    return np.asarray(-(np.log(variances) + gaps / variances) / 2)


def _sum_log_likelihoods(variances: Floats, gaps: Floats) -> Floats:
    return np.asarray(_compute_log_likelihoods(variances, gaps).sum(axis=2))


def _compute_gain(relation: str, model: EstimatorParameters, classes: int) -> float:
    """Return the least amount by which the predicted class gains on the others."""
    if relation in INFORMATIVE_RELATIONS:  # values are half a step apart, and spread by the smoothing at most
        return float(0.5 / (model.var_smoothing * (classes - 0.5) ** 2))
    doubled = relation in DOUBLED_CLASS_RELATIONS and model.priors is None
    return float(np.log(2)) if doubled else 0.0

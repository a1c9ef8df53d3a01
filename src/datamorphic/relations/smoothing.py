"""What smoothing makes of a Gaussian naive Bayes whose training data change.

``var_smoothing`` times the largest variance of all rows is added to the variance of each class. Other rows have another
largest variance, so follow-up data have another smoothing. It rarely matters; here is told when it can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sut.training import Floats, Training
from .learners import labels_of, usual_range, widths

# By relation: how many times the smoothing of the source data that of the follow-up data is, at least and at most.
# Rows that count twice, or half, change a variance by a factor of 2 at most; k*x + b with k from 1/2 to 2 by one of 4.
CHANGES: dict[str, tuple[float, float]] = {
    "MR-0 subset": (1 / 4, 4),
    "MR-2.2": (1, np.inf),
    "MR-2.2 shared": (1, np.inf),
    "MR-3.1": (1 / 2, np.inf),
    **dict.fromkeys(("MR-3.2", "MR-3.2 odds", "MR-4.1", "MR-4.1 subset", "weights"), (1 / 2, 2)),
    "MR-5.1": (0, np.inf),
}
STRONG = 1e-8  # var_smoothing from which on nothing is taken for granted
NEAR = 1e-5  # log-likelihoods nearer than this tie: numbers moved by a hair part them
CLOSE = 5e-7  # scores that differ by less are the same
UNLIKELY = np.log(1e-8)  # a class that has no part in the scores
LEAST = 1e-300  # a variance without smoothing


def smoothing_tells(relation: str, model: Any, data: Training) -> bool:
    """Tell whether the smoothing of follow-up data, which is not that of `data`, can change what is predicted.

    The log-likelihoods of all classes are bounded, for any smoothing that the follow-up data may have.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> x, t = np.array([[1.0], [2.0], [6.0], [8.0]]), np.array([[3.0]])
    >>> smoothing_tells("MR-3.2", GaussianNB(), Training(x, np.array(["a", "a", "b", "b"]), t))
    False
    >>> smoothing_tells("MR-5.1", GaussianNB(), Training(x, np.array(["a", "b", "c", "d"]), t))
    True
    """
    if len(data.numeric) < data.x.shape[1]:
        return True  # flags and categories may be numbers to the learner, and are none here
    if model.priors is not None and len(model.priors) != len(data.classes):
        return True  # it refuses to learn
    rows, share = len(data.y), model.var_smoothing
    numbers, cases, labels = data.numbers[:rows], data.numbers[rows:], labels_of(data)
    if data.weights is not None:
        often = data.weights.astype(np.intp)
        numbers, labels = np.repeat(numbers, often, axis=0), np.repeat(labels, often)
    low, high = usual_range(data) if relation.startswith("MR-2.2") else (0.0, widths(data).max())
    with np.errstate(all="ignore"):
        classes = [numbers[labels == label] for label in data.classes.tolist()]
        variances = np.array([each.var(axis=0) for each in classes])
        gaps = (cases[:, None] - np.array([each.mean(axis=0) for each in classes])) ** 2
        prior = np.log([len(each) for each in classes] if model.priors is None else model.priors)
        now = share * numbers.var(axis=0).max()
        fewest, most = CHANGES[relation]
        # no variance is larger than a quarter of the width squared
        least, largest = fewest * now, np.fmin(most * now, share * (high - low) ** 2 / 4)
        best = (prior + _densities(variances + now, gaps)).argmax(axis=1)[:, None]
        ends = [_each(variances + smoothing, gaps) for smoothing in (least, largest)]
        lowest = prior + np.minimum(*ends).sum(axis=2)
        # a density is largest where the variance is the squared gap
        highest = prior + _densities(np.clip(gaps, variances + least, variances + largest), gaps)
        lead = np.take_along_axis(lowest, best, axis=1) + _gain(relation, model, len(classes)) - highest
        apart = highest - lowest
        apart = apart + np.take_along_axis(apart, best, axis=1)
        others = np.arange(len(classes)) != best
        if relation == "MR-3.2 odds":
            return bool((others & (lead < -UNLIKELY) & (apart > CLOSE)).any())
        return bool((others & (lead < 0) & (apart > NEAR)).any())


def _each(variances: Floats, gaps: Floats) -> Floats:
    """Return the log-likelihood of each attribute, but for a constant."""
    variances = np.maximum(variances, LEAST)
    return np.asarray(-(np.log(variances) + gaps / variances) / 2)


def _densities(variances: Floats, gaps: Floats) -> Floats:
    return np.asarray(_each(variances, gaps).sum(axis=2))


def _gain(relation: str, model: Any, classes: int) -> float:
    """Return what the predicted class gains on the others besides, at least."""
    if relation.startswith("MR-2.2"):  # half a step apart, and no more spread than the smoothing
        return float(0.5 / (model.var_smoothing * (classes - 0.5) ** 2))
    doubled = relation.startswith("MR-3.2") and model.priors is None
    return float(np.log(2)) if doubled else 0.0

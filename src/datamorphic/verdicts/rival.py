"""Cross-validation as a test of learners, on simulated data whose error rate is known beforehand: the usual rival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sut.learner import Learner
from ..sut.training import Training, Trainings

ATTRIBUTES, CLASSES, EACH = 5, 5, 20
VARIANCE = 2.0
FIRST = 4.0  # mean of the first class: with the printed 1, no published error rate comes out
RATIOS = (1.0, 1.5, 2.0)  # of the means of successive classes: no signal, some, more
MOST_WRONG = {1.5: 0.20, 2.0: 0.05}  # error rates up to which a learner passes: all published verdicts come out
FOLDS = 10


@dataclass(frozen=True)
class Rules:
    """Simulated data for cross-validation: for each ratio of means so many data sets."""

    sets: int = 30
    seed: int = 0


def simulated(ratio: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return a data set of five classes of twenty samples, and its labels: normal, variance 2, means apart by a ratio."""
    labels = np.repeat(np.arange(1, CLASSES + 1), EACH)
    means = FIRST * ratio ** (labels - 1.0)
    return rng.normal(means[:, None], np.sqrt(VARIANCE), (len(labels), ATTRIBUTES)), labels


def errors_of(learner: Any, rules: Rules, telling: bool = False) -> tuple[float, ...]:
    """Return the error rate of a learner in cross-validation, for each ratio; no label at all is an error, too.

    NaN for ratios that tell nothing, if only those that tell are wanted.
    """
    system = Learner(learner, seed=rules.seed)
    return tuple(
        float("nan") if telling and ratio not in MOST_WRONG else _error(system, ratio, rules) for ratio in RATIOS
    )


def _error(system: Learner, ratio: float, rules: Rules) -> float:
    wrong = tried = 0
    for number in range(rules.sets):
        rng = np.random.default_rng([rules.seed, int(100 * ratio), number])
        x, y = simulated(ratio, rng)
        fold = np.concatenate([rng.permutation(EACH) % FOLDS for _ in range(CLASSES)])  # of each class as many
        sets = [Training(x[fold != k], y[fold != k], x[fold == k]) for k in range(FOLDS)]
        outputs = system.execute(Trainings(sets))
        truth = np.concatenate([y[fold == k] for k in range(FOLDS)])
        wrong += int((~outputs.ok | (outputs.values != truth)).sum())
        tried += len(truth)
    return wrong / tried


def passes(errors: tuple[float, ...]) -> bool:
    """Tell whether error rates are as low as those of a right learner.

    Examples
    --------
    >>> passes((0.8, 0.182, 0.035)), passes((0.8, 0.8, 0.054))
    (True, False)
    """
    rates = dict(zip(RATIOS, errors, strict=True))
    return all(rates[ratio] <= most for ratio, most in MOST_WRONG.items())

"""How far the score of an answer is ahead of the others: how decided a system is about a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..space.labels import to_label_key
from ..space.outputs import Outputs
from .base import Executor

DECISION_SCALE = 4.0  # decision values this many times their typical size count as certain
MAX_ROUNDING = 1e-3  # of sums of probabilities


def prefer_probabilities(system: Executor) -> Executor:
    """Return the system with probabilities as its scores, if it has them: those of two systems can be compared."""
    choose = getattr(system, "with_scores", None)
    return system if choose is None else choose("probability") or system


def are_probabilities(scores: npt.NDArray[np.float64]) -> bool:
    """Return whether the scores of every row add up to 1, and none is below 0."""
    known = scores[np.isfinite(scores).all(axis=1)]
    return bool(len(known) and (known >= -1e-9).all() and (np.abs(known.sum(axis=1) - 1) < MAX_ROUNDING).all())


def compute_leads(
    outputs: Outputs, labels: Sequence[object] | None, answers: npt.NDArray[np.object_]
) -> npt.NDArray[np.float64] | None:
    """Return how far the scores of some answers are ahead of the best of the others, from -1 to 1.

    `labels` are those of the scores, `answers` the keys of one answer per row (`to_label_keys`). It is NaN where the answer is
    no label, and None is returned if there is not one score per label.

    Examples
    --------
    >>> outputs = Outputs.of(np.array(["a", "b"]), np.array([[0.9, 0.1], [0.4, 0.6]]))
    >>> compute_leads(outputs, ["a", "b"], np.array(["a", "a"], dtype=object)).round(3).tolist()
    [0.8, -0.2]
    """
    scores = outputs.scores
    if scores is None or labels is None or len(labels) < 2 or scores.shape[1] != len(labels):
        return None
    place = {to_label_key(label): number for number, label in enumerate(labels)}
    chosen = np.array([place.get(answer, -1) for answer in answers.tolist()], dtype=np.intp)
    if not are_probabilities(scores):
        scale = DECISION_SCALE * (float(np.nanmedian(np.abs(scores))) or 1.0)
        scores = np.clip(scores / scale, -0.5, 0.5)
    rows, others = np.arange(len(scores)), scores.copy()
    own = others[rows, chosen].copy()
    others[rows, chosen] = -np.inf
    leads = np.clip(own - others.max(axis=1), -1.0, 1.0)
    return np.where(chosen >= 0, leads, np.nan)

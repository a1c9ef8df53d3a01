"""Repairs of learners from outside, to find out whether a known cause explains a violation.

The code of a learner may be unknown, so a repair changes what goes in or what comes out. If the relation holds then, the cause is
confirmed: an experiment, not a guess.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from ..._typing import SupportsFit
from ...systems.learner import list_fit_parameters
from ...systems.training import Array, Floats

TIE_TOLERANCE = 1e-9  # between scores that count as equal
MAGNIFICATION = 2.0**20


class LearnerRepair:
    """A change of a learner's input numbers or of its scores."""

    name: ClassVar[str]
    uses_scores: ClassVar[bool] = True  # whether answers are chosen by probabilities

    def learn(self, x: Any, y: Array) -> None:
        """See the training rows with their labels, before the learner does."""

    def convert(self, numbers: Floats) -> Floats:
        """Return the numbers of training rows or cases that the learner gets."""
        return numbers

    def correct(self, scores: Floats, classes: list[Any]) -> Floats:
        """Return the corrected scores of cases, one column per class."""
        return scores

    def choose(self, scores: Floats, classes: list[Any]) -> Array:
        """Return the column of the answer to each case: the first of those with the greatest score."""
        return scores.argmax(axis=1)


class TiesByRows(LearnerRepair):
    """Ties go to the label whose first training row comes first."""

    name = "ties by rows"

    def learn(self, x: Any, y: Array) -> None:
        """Note where each label occurs first."""
        self.first_rows = {label: row for row, label in reversed(list(enumerate(y.tolist())))}

    def choose(self, scores: Floats, classes: list[Any]) -> Array:
        """Return the tied label that occurs first."""
        order = np.array([self.first_rows.get(label, len(self.first_rows) + 1e9) for label in classes])
        top = scores >= scores.max(axis=1, keepdims=True) - TIE_TOLERANCE
        return np.where(top, -order, -np.inf).argmax(axis=1)


class _CountedLabels(LearnerRepair):
    def learn(self, x: Any, y: Array) -> None:
        """Count the training rows of each label."""
        labels, counts = np.unique(y, return_counts=True)
        self.counts = dict(zip(labels.tolist(), counts.tolist(), strict=True))

    def weigh(self, counts: Floats) -> Floats:
        """Return the factor of each label's score."""
        raise NotImplementedError

    def correct(self, scores: Floats, classes: list[Any]) -> Floats:
        """Multiply the scores of each label by its factor, and let them add up to 1 again."""
        corrected = scores * self.weigh(np.array([self.counts.get(label, 0) for label in classes], dtype=np.float64))
        sums = corrected.sum(axis=1, keepdims=True)
        return np.divide(corrected, sums, out=scores.copy(), where=sums > 0)


class SharesAsCounted(_CountedLabels):
    """Shares of labels without Laplace's correction."""

    name = "shares as counted"

    def weigh(self, counts: Floats) -> Floats:
        """Return rows / (rows + 1)."""
        return counts / (counts + 1)


class LabelsWithRows(_CountedLabels):
    """No label without training rows."""

    name = "labels with rows"

    def weigh(self, counts: Floats) -> Floats:
        """Return 0 for a label without rows, and 1 for any other."""
        return (counts > 0).astype(np.float64)


class CentredNumbers(LearnerRepair):
    """Attributes with a mean of 0."""

    name = "centred numbers"
    uses_scores = False

    def learn(self, x: Any, y: Array) -> None:
        """Compute the means."""
        self.means = np.nanmean(get_numbers(x), axis=0)

    def convert(self, numbers: Floats) -> Floats:
        """Subtract the means of the training rows."""
        return numbers - self.means


class MagnifiedNumbers(LearnerRepair):
    """Numbers so large that rounding to decimals does not matter."""

    name = "magnified numbers"
    uses_scores = False

    def convert(self, numbers: Floats) -> Floats:
        """Multiply all numbers by a power of two."""
        return numbers * MAGNIFICATION


REPAIRS: Mapping[str, type[LearnerRepair]] = {
    repair.name: repair for repair in (TiesByRows, SharesAsCounted, LabelsWithRows, CentredNumbers, MagnifiedNumbers)
}


def get_numbers(table: Any) -> Floats:
    """Return the numeric columns of rows."""
    return np.asarray(table.select_dtypes("number") if hasattr(table, "columns") else table, dtype=np.float64)


def _has_probabilities(learner: RepairedLearner) -> bool:
    return hasattr(learner.learner, "predict_proba")


class RepairedLearner(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A learner with a repair by name, which is applied from outside."""

    def __init__(self, learner: Any, repair: str) -> None:
        self.learner, self.repair = learner, repair

    def set_params(self, **parameters: Any) -> RepairedLearner:
        """Set parameters; those of the learner may be given by their own names."""
        own = ("learner", "repair")
        names = {name: name if name.partition("__")[0] in own else f"learner__{name}" for name in parameters}
        super().set_params(**{names[name]: value for name, value in parameters.items()})
        return self

    def fit(self, X: Any, y: Array, classes: Any = None, sample_weight: Any = None) -> RepairedLearner:
        """Fit a copy of the learner to converted rows."""
        self.repair_ = REPAIRS[self.repair]()
        self.repair_.learn(X, np.asarray(y))
        options = {"classes": classes, "sample_weight": sample_weight}
        learner: SupportsFit = self.learner
        known = list_fit_parameters(type(learner))
        options = {name: value for name, value in options.items() if value is not None and name in known}
        self.model_ = copy.deepcopy(self.learner)
        self.model_.fit(self._convert(X), y, **options)
        return self

    @property
    def classes_(self) -> Array:
        """The labels of the learner."""
        return np.asarray(self.model_.classes_)

    def predict(self, X: Any) -> Array:
        """Return the repaired answers."""
        if not self.repair_.uses_scores:
            return np.asarray(self.model_.predict(self._convert(X)))
        classes = list(self.model_.classes_)
        return self.classes_[self.repair_.choose(self.predict_proba(X), classes)]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the corrected probabilities."""
        scores = np.asarray(self.model_.predict_proba(self._convert(X)), dtype=np.float64)
        return self.repair_.correct(scores, list(self.model_.classes_))

    def _convert(self, table: Any) -> Any:
        if type(self.repair_).convert is LearnerRepair.convert:
            return table
        if not hasattr(table, "columns"):
            return self.repair_.convert(np.asarray(table, dtype=np.float64))
        names = table.select_dtypes("number").columns
        return table.assign(**dict(zip(names, self.repair_.convert(get_numbers(table)).T, strict=True)))

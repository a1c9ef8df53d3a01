"""Logistic regression with the stopping rule of scikit-learn 0.24, with which the case studies were made."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

MAX_ITERATIONS = 10_000
GRADIENT_TOLERANCE = 1e-4  # of the sum of losses: today scikit-learn minimises the mean


class EarlyLogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model without intercept that minimises the sum of losses by L-BFGS-B, with SciPy's own tolerance of the loss.

    For many classes the losses are multinomial; two classes have one vector of weights.
    """

    def __init__(self, C: float = 10_000.0) -> None:
        self.C = C

    def fit(self, inputs: npt.ArrayLike, labels: npt.ArrayLike) -> EarlyLogisticRegression:
        """Fit the weights."""
        rows = np.asarray(inputs, dtype=float)
        self.classes_, codes = np.unique(np.asarray(labels), return_inverse=True)
        classes, features = len(self.classes_), rows.shape[1]
        free = classes if classes > 2 else 1  # vectors of weights
        chosen = np.eye(classes)[codes]

        def compute_loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            weights = flat.reshape(free, features)
            scores = self._score(rows, weights)
            highest = scores.max(axis=1, keepdims=True)
            shares = np.exp(scores - highest)  # SciPy's softmax takes five times as long for a thousand rows
            totals = shares.sum(axis=1, keepdims=True)
            loss = (np.log(totals) + highest).sum() - (scores * chosen).sum() + 0.5 / self.C * (flat @ flat)
            slopes = (shares / totals - chosen)[:, -free:]
            return loss, (slopes.T @ rows).ravel() + flat / self.C

        optimum = minimize(
            compute_loss,
            np.zeros(free * features),
            method="L-BFGS-B",
            jac=True,
            options={"gtol": GRADIENT_TOLERANCE, "maxiter": MAX_ITERATIONS, "maxfun": 10**9},
        )
        self.coef_ = optimum.x.reshape(free, features)
        return self

    @staticmethod
    def _score(rows: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return a score per class; the first of two classes has none."""
        scores = rows @ weights.T
        return scores if len(weights) > 1 else np.column_stack([np.zeros(len(rows)), scores[:, 0]])

    def predict_proba(self, inputs: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the probability of each class."""
        return softmax(self._score(np.asarray(inputs, dtype=float), self.coef_), axis=1)

    def predict(self, inputs: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the most probable class."""
        return self.classes_[self._score(np.asarray(inputs, dtype=float), self.coef_).argmax(axis=1)]

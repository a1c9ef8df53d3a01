"""Decision values of support vector machines by matrix products.

libsvm computes one kernel value after another. A product of matrices gives the same values, apart from rounding, and is
several times as fast. In the search for a border they are only guides: every pair is certified by the labels of the model itself.
"""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd

Matrix = npt.NDArray[np.float64]

MAX_KERNEL_VALUES = 100_000  # in one block, which then stays in the processor's cache
TRIAL_ROWS = 50  # support vectors on which the values are compared with those of the model
RELATIVE_TOLERANCE = 1e-6


class SupportVectorScores:
    """The decision values of a fitted machine: one per pair of classes, or one if there are two classes."""

    def __init__(self, machine: Any) -> None:
        vectors = np.asarray(machine.support_vectors_, dtype=np.float64)
        self.kernel, self.degree, self.offset = machine.kernel, machine.degree, machine.coef0
        self.gamma = 1.0 if self.kernel == "linear" else float(machine._gamma)
        # squares lose fewer digits near the origin; kernels of inner products are not invariant to shifts
        self.centre = vectors.mean(axis=0) if self.kernel == "rbf" else np.zeros(vectors.shape[1])
        vectors = vectors - self.centre
        columns = [self.gamma * vectors]
        if self.kernel == "rbf":  # -gamma (x - v)^2 = 2 gamma x v - gamma v^2 - gamma x^2, as one product of matrices
            squares = (vectors**2).sum(axis=1, keepdims=True)
            columns = [2 * self.gamma * vectors, -self.gamma * squares, np.full_like(squares, -self.gamma)]
        self.factors = np.ascontiguousarray(np.hstack(columns).T)
        self.weights, self.intercepts = _arrange_weights(machine), machine.intercept_

    def __call__(self, inputs: Any) -> Matrix:
        """Return the decision values of some rows."""
        rows = np.asarray(inputs, dtype=np.float64) - self.centre
        if self.kernel == "rbf":
            rows = np.column_stack([rows, np.ones(len(rows)), (rows**2).sum(axis=1)])
        size = max(1, MAX_KERNEL_VALUES // self.factors.shape[1])
        blocks = [
            self._apply_kernel(rows[start : start + size] @ self.factors) @ self.weights
            for start in range(0, len(rows), size)
        ]
        values: Matrix = np.concatenate(blocks) + self.intercepts
        return values[:, 0] if values.shape[1] == 1 else values

    def _apply_kernel(self, products: Matrix) -> Matrix:
        if self.kernel == "rbf":
            return np.exp(np.minimum(products, 0.0, out=products), out=products)
        if self.kernel == "linear":
            return products
        products += self.offset
        if self.kernel == "sigmoid":
            return np.tanh(products, out=products)
        powers = products.copy()
        for _ in range(self.degree - 1):  # faster than the power of floats
            powers *= products
        return powers if self.degree else np.ones_like(products)


def _arrange_weights(machine: Any) -> Matrix:
    """Return the weight of each support vector (row) in each decision value (column)."""
    coefficients = np.asarray(machine.dual_coef_)
    if len(coefficients) == 1:
        return np.ascontiguousarray(coefficients.T)
    ends = np.cumsum(machine.n_support_)
    of_class = [slice(end - count, end) for end, count in zip(ends, machine.n_support_, strict=True)]
    pairs = list(combinations(range(len(of_class)), 2))
    weights = np.zeros((coefficients.shape[1], len(pairs)))
    for column, (first, second) in enumerate(pairs):
        weights[of_class[first], column] = coefficients[second - 1, of_class[first]]
        weights[of_class[second], column] = coefficients[first, of_class[second]]
    return weights


def make_support_vector_scores(machine: Any) -> SupportVectorScores | None:
    """Return a fast decision function for a support vector machine of scikit-learn, or None if there is none.

    `machine` has ``decision_function_shape="ovo"``. There is none for other kernels, or if the values on some support vectors
    differ from its own.
    """
    if "sklearn.svm" not in sys.modules:
        return None
    from sklearn.svm import SVC, NuSVC, OneClassSVM

    plain = type(machine) in (SVC, NuSVC, OneClassSVM) and machine.kernel in ("linear", "poly", "rbf", "sigmoid")
    if not plain or not isinstance(machine.support_vectors_, np.ndarray) or not len(machine.support_vectors_):
        return None
    scores = SupportVectorScores(machine)
    vectors = machine.support_vectors_
    rows = vectors[np.linspace(0, len(vectors) - 1, min(TRIAL_ROWS, len(vectors))).astype(np.intp)]
    own, ours = np.asarray(machine.decision_function(_name_columns(machine, rows))), scores(rows)
    if own.shape != ours.shape or not np.allclose(
        ours, own, rtol=RELATIVE_TOLERANCE, atol=RELATIVE_TOLERANCE * np.abs(own).max()
    ):
        return None
    return scores


def _name_columns(machine: Any, rows: Matrix) -> Any:
    """Return rows as the machine expects them: a frame if it was fitted on one."""
    names = getattr(machine, "feature_names_in_", None)
    if names is None:
        return rows
    return pd.DataFrame(rows, columns=names)

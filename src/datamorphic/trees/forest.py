"""The trees of a model, and how their answers are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralise
from ..errors import ModelError
from .descent import find_leaves
from .pipeline import Preprocessing
from .pmml.domains import Domain
from .tree import Floats, Tree


def _softmax(scores: Floats) -> Floats:
    parts = np.exp(scores - scores.max(axis=1, keepdims=True))
    return parts / parts.sum(axis=1, keepdims=True)


LINKS: dict[str, Callable[[Floats], Floats]] = {
    "": np.asarray,
    "exp": np.exp,
    "sigmoid": lambda scores: 1 / (1 + np.exp(-scores)),
    "softmax": _softmax,
    "softplus": lambda scores: np.log1p(np.exp(scores)),
    "square": lambda scores: np.sign(scores) * scores**2,
    "step": lambda scores: (scores > 0).astype(scores.dtype),
}


@dataclass(frozen=True, kw_only=True)
class Joining:
    """How the answers of trees are combined to the answer of a forest.

    A decision turns scores into an answer. "number": the score is the answer. "most": the label with the largest score.
    The others choose the second of two labels if the score is above 0, at least 0, or above one half after the link.
    """

    method: str = "mean"  # how the values of leaves are combined: "mean", "sum" or "median", which has weights
    start: tuple[float, ...] = ()  # the initial scores, to which trees add
    column: tuple[int, ...] = ()  # the first score that each tree adds to; empty if that is the first for all
    decision: str = "most"  # "number", "most", "above", "at least" or "half"
    link: str = ""  # the function that is applied to the final scores, a key of `LINKS`
    scale: float = 1.0  # the factor of the scores before the link
    single: bool = False  # whether scores are summed in single precision
    parts: tuple[int, ...] = ()  # the scores of each output of a multi-output model; empty for one output
    weights: tuple[float, ...] = ()  # of the trees, for the median


@dataclass(frozen=True, eq=False, kw_only=True)
class Forest:
    """The trees of a model, with all that is needed to compute its answers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from datamorphic.trees.read import read_forest
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> forest = read_forest(model)
    >>> forest
    Forest(5 trees, 44 leaves, of RandomForestClassifier)
    >>> bool((forest.predict(X) == model.predict(X)).all())
    True
    """

    trees: tuple[Tree, ...]
    owner: str  # the name of the model in messages
    columns: tuple[str, ...] | None  # that the model was fitted on; None if unknown
    width: int  # the number of columns
    labels: tuple[Any, ...] | None  # None if answers are numbers; one tuple per output of a multi-output model
    joining: Joining | None = Joining()  # how answers are combined; None if this cannot be derived from the trees
    takes_missing: bool = True  # whether values may be missing
    # the next ones are by index of the column
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)  # the values for the codes 0, 1, ...
    missing_markers: Mapping[int, float] = field(default_factory=dict)  # the number that stands for a missing value
    preprocessing: Preprocessing | None = None  # the steps of a pipeline before the trees
    domains: Mapping[int, Domain] = field(default_factory=dict)  # the allowed values; others count as missing

    def __repr__(self) -> str:
        leaves = pluralise(sum(len(tree.leaves) for tree in self.trees), "leaf", "leaves")
        tree_count = f"{len(self.trees):,} trees, " if len(self.trees) != 1 else ""
        return f"Forest({tree_count}{leaves}, of {self.owner})"

    @property
    def single(self) -> bool:
        """Whether values are rounded to single precision before they are compared."""
        return all(tree.single for tree in self.trees)

    @property
    def _joining(self) -> Joining:
        if self.joining is None:
            raise ModelError(
                f"It is unknown how this {self.owner} combines the answers of its trees: it starts from another model or "
                "has a custom objective. Judge each tree by itself."
            )
        return self.joining

    def scores(self, matrix: npt.ArrayLike) -> Floats:
        """Return the scores of rows given as the trees compare them."""
        return self.join_values(tree.value[find_leaves(tree, matrix)] for tree in self.trees)

    def join_values(self, values: Iterable[Floats]) -> Floats:
        """Combine what each tree adds, one array per tree, to scores."""
        joining = self._joining
        if joining.method == "median":
            return _compute_weighted_median(np.column_stack(list(values)), np.array(joining.weights))
        dtype = np.float32 if joining.single else np.float64
        scores: Any = None
        for number, value in enumerate(values):
            first = joining.column[number] if joining.column else 0
            if scores is None:
                width = len(joining.start) or max(joining.column, default=0) + value.shape[1]
                scores = np.tile(np.array(joining.start or np.zeros(width), dtype=dtype), (len(value), 1))
            scores[:, first : first + value.shape[1]] += value.astype(dtype, copy=False)
        return scores / self.trees_per_score if joining.method == "mean" else scores

    @property
    def trees_per_score(self) -> Any:
        """The divisor of a mean: the number of trees that add to each score."""
        column = self._joining.column
        return np.bincount(column) if column else len(self.trees)

    def decide(self, scores: Floats) -> npt.NDArray[Any]:
        """Return the answers for scores: numbers or indices of labels."""
        parts = self._joining.parts
        if not parts:
            return self._decide(scores)
        ends = np.cumsum((0, *parts))
        return np.column_stack([self._decide(scores[:, first:last]) for first, last in pairwise(ends)])

    def _decide(self, scores: Floats) -> npt.NDArray[Any]:
        joining = self._joining
        if joining.decision in ("above", "at least"):
            return (scores[:, 0] > 0 if joining.decision == "above" else scores[:, 0] >= 0).astype(np.intp)
        with np.errstate(over="ignore"):
            linked = LINKS[joining.link](scores * joining.scale if joining.scale != 1 else scores)
        if joining.decision == "most":
            return linked.argmax(axis=1)
        return linked[:, 0] if joining.decision == "number" else (linked[:, 0] > 0.5).astype(np.intp)

    def predict(self, matrix: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the answers of the model; `matrix` is what the trees compare."""
        decisions = self.decide(self.scores(matrix))
        if self.labels is None:
            return decisions
        if not self._joining.parts:
            return _to_label_array(self.labels)[decisions]
        outputs = zip(self.labels, decisions.T, strict=True)
        return np.column_stack([_to_label_array(labels)[places] for labels, places in outputs])


def _to_label_array(labels: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Return labels as an array that keeps large integers exact."""
    array = np.asarray(labels)
    has_integers = array.dtype.kind == "f" and any(isinstance(label, int) for label in labels)
    return np.array(labels, dtype=object) if has_integers else array


def _compute_weighted_median(numbers: Floats, weights: Floats) -> Floats:
    """Return the weighted median of each row."""
    order = np.argsort(numbers, axis=1)
    cumulated = np.cumsum(weights[order], axis=1)
    place = (cumulated >= 0.5 * cumulated[:, -1:]).argmax(axis=1)
    rows = np.arange(len(numbers))
    return numbers[rows, order[rows, place]][:, None]

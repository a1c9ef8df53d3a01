"""The trees of a model together: what they are given, and how their answers become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
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


@dataclass(frozen=True)
class Joining:
    """How the answers of trees become the answer of a forest.

    Attributes
    ----------
    how : {"mean", "sum", "median"}
        What is done with the values of the leaves; "median" weighs trees.
    start : tuple of float
        What scores are before the first tree adds to them, one for each score.
    column : tuple of int
        The first score each tree adds to; all the first if empty.
    decides : {"number", "most", "above", "at least", "half"}
        Whether the score is the answer, the largest score names it, or the second of two labels is the answer if the
        score is above 0, or at least 0, or above one half after the link.
    link : str
        What scores go through at the end, one of `LINKS`; a difference that is lost there decides nothing.
    scale : float
        What scores are multiplied by before the link.
    single : bool
        Whether scores are summed up in single precision.
    parts : tuple of int
        How many scores belong to each of several answers; empty where there is one.
    weights : tuple of float
        How much each tree counts, for the median.
    """

    method: str = "mean"
    start: tuple[float, ...] = ()
    column: tuple[int, ...] = ()
    decision: str = "most"
    link: str = ""
    scale: float = 1.0
    single: bool = False
    parts: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Forest:
    """One tree or many, with all that is known of the model they come from.

    Attributes
    ----------
    trees : tuple of Tree
        The trees.
    owner : str
        What the model is called in messages.
    columns : tuple of str or None
        The names of the columns it was fitted on; None if it knows none.
    width : int
        How many these are.
    labels : tuple or None
        What it answers, where that is no number; where it gives several answers at once, a tuple of labels for each.
    joining : Joining or None
        How the trees' answers become its own; None where that cannot be told from the trees.
    takes_missing : bool
        Whether values may be missing.
    categories : mapping
        For columns of categories, by their place: the values that the codes 0, 1, ... stand for. Others count as
        missing, if `domains` does not say otherwise.
    gone : mapping
        For columns where a number stands for a missing value, by their place: that number.
    before : Before or None
        What is done to the rows before the trees see them.
    domains : mapping
        For columns of which the model says what they may hold, by their place: that.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from datamorphic.trees.read import forest_of
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> forest = forest_of(model)
    >>> forest
    Forest(5 trees, 44 leaves, of RandomForestClassifier)
    >>> bool((forest.predict(X) == model.predict(X)).all())
    True
    """

    trees: tuple[Tree, ...]
    owner: str
    columns: tuple[str, ...] | None
    width: int
    labels: tuple[Any, ...] | None
    joining: Joining | None = Joining()
    takes_missing: bool = True
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    missing_markers: Mapping[int, float] = field(default_factory=dict)
    preprocessing: Preprocessing | None = None
    domains: Mapping[int, Domain] = field(default_factory=dict)

    def __repr__(self) -> str:
        leaves = pluralize(sum(len(tree.leaves) for tree in self.trees), "leaf", "leaves")
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
                f"How this {self.owner} makes one answer of those of its trees is not known: it starts from another "
                "model, or has an objective of its own. Look at each tree by itself."
            )
        return self.joining

    def scores(self, matrix: Any) -> Floats:
        """Return the scores of rows as the trees see them, a column for each."""
        return self.join_values(tree.value[find_leaves(tree, matrix)] for tree in self.trees)

    def join_values(self, values: Iterable[Floats]) -> Floats:
        """Return the scores that come of what each tree adds, a row for each case; trees in order."""
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
        """By what a mean divides each score: where trees take turns each gets but some of them."""
        column = self._joining.column
        return np.bincount(column) if column else len(self.trees)

    def decide(self, scores: Floats) -> npt.NDArray[Any]:
        """Return the answers that scores lead to: numbers, or places in `labels`; columns where there are several."""
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

    def predict(self, matrix: Any) -> npt.NDArray[Any]:
        """Return the answers to rows as the trees see them: what the model itself would say."""
        decisions = self.decide(self.scores(matrix))
        if self.labels is None:
            return decisions
        if self._joining.parts:
            return np.column_stack(
                [_to_label_array(labels)[places] for labels, places in zip(self.labels, decisions.T, strict=True)]
            )
        return _to_label_array(self.labels)[decisions]


def _to_label_array(labels: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Return labels as an array that changes none of them, as large integers of both signs would be."""
    array = np.asarray(labels)
    has_integers = array.dtype.kind == "f" and any(isinstance(label, int) for label in labels)
    return np.array(labels, dtype=object) if has_integers else array


def _compute_weighted_median(numbers: Floats, weights: Floats) -> Floats:
    """Return the smallest number of each row that, with all below it, has half of the weight."""
    order = np.argsort(numbers, axis=1)
    cumulated = np.cumsum(weights[order], axis=1)
    place = (cumulated >= 0.5 * cumulated[:, -1:]).argmax(axis=1)
    rows = np.arange(len(numbers))
    return numbers[rows, order[rows, place]][:, None]

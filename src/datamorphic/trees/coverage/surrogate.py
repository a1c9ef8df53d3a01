"""A tree in place of a system that is none: fitted to its answers, with how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._stats import compute_wilson_interval
from ..._text import format_short, pluralize
from ..._validation import reject, to_generator, validate_integer
from ...errors import DataError
from ...space.points import Points
from ...space.space import Space
from ..descent import find_leaves
from ..forest import Forest, Joining
from ..inputs import TreeInputs, read_table, to_single_precision
from ..read import read_trees
from ..tree import Tree
from .coverage import Coverage, measure_coverage

DEFAULT_MAX_LEAVES = 64  # as many rules as a person may still look through
HELD_OUT_SHARE = 0.25  # of the points
MIN_ANSWERED_POINTS = (
    20  # different points with an answer: with fewer, nothing could be said of how good the tree is
)
TOLERANCE_SHARE = 0.05  # of the range of answers: what counts as the same number

AnswerSource = Callable[[Any], Any] | Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Surrogate:
    """A tree that answers as a system does, for the most part.

    Attributes
    ----------
    tree : Tree
        The tree, on the codes of the space.
    fidelity : float
        The share of the points held out where it answers as the system does; where answers are numbers, where it
        comes within `tolerance`.
    interval : tuple of float
        Wilson's 95 % interval of that share.
    fitted, held_out : int
        How many points it was fitted to, and how many it was tried on.
    unanswered : int
        Points that the system gave no answer to.
    space : Space
        The inputs.
    tolerance : float or None
        What counts as the same number; None where answers are labels.
    note : str
        What a reader should know besides.
    """

    tree: Tree
    fidelity: float
    interval: tuple[float, float]
    fitted: int
    held_out: int
    unanswered: int
    space: Space = field(repr=False)
    tolerance: float | None = None
    note: str = ""

    def __repr__(self) -> str:
        leaves = pluralize(len(self.tree.leaves), "leaf", "leaves")
        return f"Surrogate({leaves}, fidelity {100 * self.fidelity:.1f} %)"

    @property
    def forest(self) -> Forest:
        """The tree, as a model that is one."""
        names = self.space.names
        labels = self.tree.labels
        joining = Joining(decision="number" if labels is None else "most")
        return Forest((self.tree,), "surrogate", names, len(names), labels, joining)

    def cover(self, data: Any, *, target: str | None = None) -> Coverage:
        """Return which leaves of the tree some rows reach."""
        names = list(self.space.names)
        frame, notes = read_table("The surrogate", data, names, len(names), target)
        inputs = TreeInputs("The surrogate", self.space.names, space=self.space, coded=True)
        return measure_coverage([self.tree], frame, inputs, [*notes, self.describe(), *filter(None, [self.note])])

    def describe(self) -> str:
        """Return how good it is in words."""
        low, high = (100 * end for end in self.interval)
        claim = "answers as the system does"
        if self.tolerance is not None:
            claim = f"comes within {format_short(float(f'{self.tolerance:.3g}'))} of the system's number"
        return (
            f"A surrogate tree with {pluralize(len(self.tree.leaves), 'leaf', 'leaves')} {claim} on "
            f"{100 * self.fidelity:.1f} % of {pluralize(self.held_out, 'point')} it was not fitted to (95 % interval "
            f"{low:.1f} to {high:.1f} %)."
        )


def fit_surrogate(
    answers: AnswerSource,
    points: Points,
    *,
    max_leaves: int = DEFAULT_MAX_LEAVES,
    numbers: bool | None = None,
    seed: int | np.random.Generator | None = 0,
) -> Surrogate:
    """Return a tree fitted to what a system answers.

    Points that occur twice count once. A quarter of them, drawn at random, is held out to measure how often the tree
    answers as the system does; the tree that is returned is the one that was measured.

    Parameters
    ----------
    answers : callable or sequence
        Takes a frame of inputs and returns as many answers, None or NaN where there is none; or the answers to
        `points` themselves, or the `Outputs` of a system.
    points : Points
        Inputs: real ones, and random ones if the tree is to be good elsewhere too.
    max_leaves : int
        How large the tree may grow.
    numbers : bool, optional
        Whether the answers are real numbers rather than labels; told by whether they have fractions if left out.
    seed : int
        For what is held out.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from datamorphic.trees.rules import rule
    >>> space = dm.Space([dm.Integer("age", 0, 100), dm.Categorical("card", ["Blue", "Silver", "Gold"])])
    >>> points = space.sample(2000, seed=1, points=True)
    >>> found = surrogate(lambda cases: (cases["age"] >= 18) & (cases["card"] != "Gold"), points, max_leaves=3)
    >>> [rule(found.tree, leaf, categories={"card": space["card"].values}) for leaf in found.tree.leaves]
    ['card is Gold', 'card is not Gold and age <= 17.5', 'card is not Gold and age > 17.5']
    >>> found.fidelity > 0.99
    True
    """
    if not isinstance(points, Points):
        reject("points", "surrogate", "Points of a space, as space.points(frame) gives them", points)
    validate_integer("max_leaves", "surrogate", max_leaves, low=2)
    rng = to_generator("seed", "surrogate", seed)
    first = np.sort(np.unique(points.codes, axis=0, return_index=True)[1])
    distinct = points.take(first)
    if callable(answers):
        raw_answers = answers(distinct.frame)
        _validate_length(raw_answers, len(distinct))
    else:
        _validate_length(answers, len(points))
        raw_answers = _to_array(answers)[first]
    codes, labels = _encode_answers(_to_array(raw_answers), numbers)
    answered = np.flatnonzero(codes >= 0 if labels is not None else np.isfinite(codes))
    if len(answered) < MIN_ANSWERED_POINTS:
        raise DataError(
            f"There are {pluralize(len(answered), 'different point')} with an answer, and a surrogate needs {MIN_ANSWERED_POINTS} at "
            "least. Give more points."
        )
    shuffled = rng.permutation(answered)
    held_out = shuffled[: max(1, int(HELD_OUT_SHARE * len(answered)))]
    training = shuffled[len(held_out) :]
    matrix = to_single_precision(distinct.codes)
    tree = _fit_tree(matrix[training], codes[training], labels, points.space.names, max_leaves)
    predicted = tree.answer[find_leaves(tree, matrix[held_out])]
    tolerance = None
    if labels is None:
        tolerance = TOLERANCE_SHARE * float(np.ptp(codes[answered]))
        agreement_count = int((np.abs(predicted - codes[held_out]) <= tolerance).sum())
    else:
        agreement_count = int((predicted == codes[held_out]).sum())
    return Surrogate(
        tree,
        agreement_count / len(held_out),
        compute_wilson_interval(agreement_count, len(held_out)),
        len(training),
        len(held_out),
        len(distinct) - len(answered),
        points.space,
        tolerance,
    )


def _fit_tree(
    matrix: npt.NDArray[np.float32],
    codes: npt.NDArray[Any],
    labels: tuple[Any, ...] | None,
    names: tuple[str, ...],
    max_leaves: int,
) -> Tree:
    """Return a tree of scikit-learn as ours, its answers pointing to `labels` where there are any."""
    from dataclasses import replace

    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeRegressor if labels is None else DecisionTreeClassifier
    # which of two equal splits is taken is settled, so that the same answers give the same tree
    [tree] = read_trees(kind(max_leaf_nodes=max_leaves, random_state=0).fit(matrix, codes))
    tree = tree.with_names(names)
    if labels is None:
        return tree
    assert tree.labels is not None  # codes, of the labels that occurred in what it was fitted to
    answer = np.asarray(tree.labels, dtype=np.int32)[tree.answer]
    return replace(tree, answer=answer, value=np.eye(len(labels))[answer], labels=labels)


def _to_array(answers: Any) -> npt.NDArray[Any]:
    """Return answers as an array with one element each; None or NaN stands for none."""
    is_answered = getattr(answers, "ok", None) if hasattr(answers, "status") else None  # outputs of a system
    answers = getattr(answers, "values", answers)
    if isinstance(answers, np.ndarray) and answers.ndim == 1:
        array = answers
    else:
        items = [tuple(answer) if isinstance(answer, list | np.ndarray) else answer for answer in answers]
        array = np.empty(len(items), dtype=object)
        array[:] = items
    if is_answered is None or is_answered.all():
        return array
    return np.where(is_answered, array, np.nan if array.dtype.kind == "f" else np.array(None))


def _validate_length(answers: Any, expected: int) -> None:
    count = len(answers) if hasattr(answers, "__len__") else -1
    if count != expected:
        got = f"{count:,}" if count >= 0 else type(answers).__name__
        raise DataError(f"There must be one answer for each of {expected:,} points. Got {got}.")


def _encode_answers(
    answers: npt.NDArray[Any], numbers: bool | None
) -> tuple[npt.NDArray[Any], tuple[Any, ...] | None]:
    """Return answers as numbers and None, or as places in a list of labels, -1 where there is none."""
    import pandas as pd

    values = pd.Series(answers).infer_objects()
    is_float = pd.api.types.is_float_dtype(values.dtype)
    if numbers is None:
        finite = values[np.isfinite(values)] if is_float else values
        numbers = is_float and bool((finite % 1 != 0).any())
    if numbers:
        try:
            return values.to_numpy(dtype=np.float64), None
        except (TypeError, ValueError):
            sample = next(value for value in values if not isinstance(value, int | float))
            raise DataError(
                f"The answers are said to be numbers, and {format_short(sample)!r} is none. Leave numbers=True out."
            ) from None
    codes, labels = pd.factorize(values)
    return codes.astype(np.int64), tuple(pd.Series(labels).tolist())

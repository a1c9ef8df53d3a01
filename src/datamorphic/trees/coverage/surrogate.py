"""Surrogates: trees fitted to the answers of any model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._stats import compute_wilson_interval
from ..._text import format_percent, format_short, pluralise
from ..._typing import DataLike
from ..._validation import reject, to_generator, validate_integer
from ...core.execute import Execution
from ...errors import BudgetSpent, DataError, OutOfBudget
from ...morphisms.subject import SubjectUnderTest
from ...runs.flow import Budget, Flow, Query
from ...space.labels import to_object_array
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.space import Space
from ...space.table_forms import accept_tables
from ..descent import find_leaves
from ..forest import Forest, Joining
from ..inputs import TreeInputs, read_table, to_single_precision
from ..read import read_trees
from ..tree import Tree
from .coverage import Coverage, measure_coverage

DEFAULT_MAX_LEAVES = 64  # as many rules as a person may still read
HELD_OUT_SHARE = 0.25  # of the points, to measure the fidelity
MIN_ANSWERED_POINTS = 20  # with fewer, the fidelity cannot be measured
INPUTS_PER_QUERY = 100  # if there is a budget
EXTRA_INPUTS = 2_000  # mixtures of rows, and as many random inputs if there is a space
TOLERANCE_SHARE = 0.05  # of the range of answers: numbers this close count as the same

SAME_ROWS_WARNING = (
    "Beware: the surrogate was fitted to the model's answers to these very rows and to mixtures of them. It knows nothing "
    "about inputs far from them, so poor tests may look good. Give it other rows, for example the training data: "
    "surrogate=rows (--train FILE)."
)

AnswerSource = Callable[[Any], Any] | Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Surrogate:
    """A tree that imitates a model, with how often both agree."""

    tree: Tree  # compares the codes of the space
    fidelity: float  # the share of held-out points with the same answer as the model; for numbers, within `tolerance`
    interval: tuple[float, float]  # Wilson's 95% interval of the fidelity
    fitted: int  # the number of points that the tree was fitted to
    held_out: int  # the number of points that measure the fidelity
    unanswered: int  # the number of points without an answer of the model
    space: Space = field(repr=False)
    tolerance: float | None = None  # the largest difference of numbers that count as the same; None for labels
    note: str = ""  # a remark for the reader

    def __repr__(self) -> str:
        leaves = pluralise(len(self.tree.leaves), "leaf", "leaves")
        return f"Surrogate({leaves}, fidelity {format_percent(self.fidelity)})"

    @property
    def forest(self) -> Forest:
        """The tree as a forest of one tree."""
        names, labels = self.space.names, self.tree.labels
        joining = Joining(decision="number" if labels is None else "most")
        trees = (self.tree,)
        return Forest(trees=trees, owner="surrogate", columns=names, width=len(names), labels=labels, joining=joining)

    @accept_tables
    def cover(self, data: DataLike, *, target: str | None = None) -> Coverage:
        """Measure which leaves of the tree rows reach."""
        names = list(self.space.names)
        frame, notes = read_table("The surrogate", data, names, len(names), target)
        inputs = TreeInputs(owner="The surrogate", names=self.space.names, space=self.space, coded=True)
        return measure_coverage([self.tree], frame, inputs, [*notes, self.describe(), *filter(None, [self.note])])

    def describe(self) -> str:
        """Return the fidelity as text."""
        low, high = map(format_percent, self.interval)
        claim = "gives the same answer as the model"
        if self.tolerance is not None:
            claim = f"comes within {format_short(float(f'{self.tolerance:.3g}'))} of the model's number"
        return (
            f"A surrogate tree with {pluralise(len(self.tree.leaves), 'leaf', 'leaves')} {claim} on "
            f"{format_percent(self.fidelity)} of {pluralise(self.held_out, 'point')} it was not fitted to (95% interval "
            f"{low} to {high})."
        )


def fit_surrogate_to_model(
    subject: SubjectUnderTest,
    execution: Execution[Any],
    space: Space | None = None,
    *,
    has_background: bool = False,
    seed: int = 0,
) -> Surrogate:
    """Fit a tree to the answers of a model.

    The model answers its seed cases, mixtures of two of them each, and random inputs if a space is given. Unless the seed cases
    are a background of their own, the result warns that the tree judges rows it was fitted to. If the budget is spent, the
    tree is fitted to the answers until then.
    """
    rng, seeds = execution.rng, subject.seeds
    first_codes, second_codes = (seeds.codes[rng.integers(len(seeds), size=EXTRA_INPUTS)] for _ in range(2))
    mixed = np.where(rng.random(first_codes.shape) < 0.5, first_codes, second_codes)
    if seeds.space.keeps_constraints:
        mixed = mixed[seeds.space.satisfied(mixed)]
    queries = [seeds, Points(seeds.space, mixed)]
    if space is not None:
        queries.append(space.sample(EXTRA_INPUTS, seed=rng, points=True))
    points = Points.concat(queries)
    has_budget = execution.options.limits != Budget()
    outputs = execution.drive(_answer_inputs(points, INPUTS_PER_QUERY if has_budget else len(points)), subject.sut)
    if len(outputs) < len(points):
        left = (
            f"the answers to {len(points) - len(outputs):,} of {len(points):,} inputs that the surrogate is fitted to"
        )
        if len(outputs) < MIN_ANSWERED_POINTS:
            raise BudgetSpent(f"The budget ended before {left}. Give a larger one.")
        execution.unfinished.append(left)
        points = points.take(slice(0, len(outputs)))
    numbers = True if subject.has_numeric_answers else None
    surrogate = fit_surrogate(outputs.to_objects(), points, numbers=numbers, seed=seed)
    return surrogate if has_background or space is not None else replace(surrogate, note=SAME_ROWS_WARNING)


def _answer_inputs(points: Points, size: int) -> Flow[Outputs]:
    """Query a model with inputs, so many at a time, and return the answers until the budget is spent."""
    answers: list[Outputs] = []
    for start in range(0, len(points), size):
        try:
            answers.append((yield Query(points.take(slice(start, start + size)), note="surrogate")))
        except OutOfBudget:
            break
    return Outputs.concat(answers)


def fit_surrogate(
    answers: AnswerSource,
    points: Points,
    *,
    max_leaves: int = DEFAULT_MAX_LEAVES,
    numbers: bool | None = None,
    seed: int | np.random.Generator | None = 0,
) -> Surrogate:
    """Fit a tree to the answers of a model.

    Duplicate points count once. A random quarter of the points is held out to measure how often the tree agrees with
    the model. The tree is not fitted again afterwards.

    Parameters
    ----------
    answers : callable or sequence
        A function that takes a frame of inputs and returns one answer per row, None or NaN if there is none; or the
        answers to `points`; or the `Outputs` of a system.
    points : Points
        The inputs: real ones, and random ones if the tree is to be good elsewhere too.
    max_leaves, seed : int
        The largest number of leaves, and the seed for choosing the held-out points.
    numbers : bool, optional
        Whether the answers are real numbers rather than labels; by default whether they have fractions.
    """
    if not isinstance(points, Points):
        reject("points", "fit_surrogate", "Points of a space, as space.points(frame) gives them", points)
    validate_integer("max_leaves", "fit_surrogate", max_leaves, low=2)
    rng = to_generator("seed", "fit_surrogate", seed)
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
            f"Only {pluralise(len(answered), 'different point')} have an answer, but a surrogate needs at least "
            f"{MIN_ANSWERED_POINTS}. Give more points."
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
        tree=tree,
        fidelity=agreement_count / len(held_out),
        interval=compute_wilson_interval(agreement_count, len(held_out)),
        fitted=len(training),
        held_out=len(held_out),
        unanswered=len(distinct) - len(answered),
        space=points.space,
        tolerance=tolerance,
    )


def _fit_tree(
    matrix: npt.NDArray[Any],
    codes: npt.NDArray[Any],
    labels: tuple[Any, ...] | None,
    names: Sequence[str],
    max_leaves: int,
) -> Tree:
    """Fit a tree of scikit-learn; answers are indices of `labels` if given."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeRegressor if labels is None else DecisionTreeClassifier
    # a fixed seed, so that the same answers give the same tree
    [tree] = read_trees(kind(max_leaf_nodes=max_leaves, random_state=0).fit(matrix, codes))
    tree = tree.with_names(names)
    if labels is None:
        return tree
    assert tree.labels is not None  # the codes of the labels that it was fitted to
    answer = np.asarray(tree.labels, dtype=np.int32)[tree.answer]
    return replace(tree, answer=answer, value=np.eye(len(labels))[answer], labels=labels)


def _to_array(answers: Any) -> npt.NDArray[Any]:
    """Return answers as a one-dimensional array; None or NaN stands for no answer."""
    is_answered = getattr(answers, "ok", None) if hasattr(answers, "status") else None  # outputs of a system
    answers = getattr(answers, "values", answers)
    if isinstance(answers, np.ndarray) and answers.ndim == 1:
        array = answers
    else:
        array = to_object_array(
            [tuple(answer) if isinstance(answer, list | np.ndarray) else answer for answer in answers]
        )
    if is_answered is None or is_answered.all():
        return array
    return np.where(is_answered, array, np.nan if array.dtype.kind == "f" else np.array(None))


def _validate_length(answers: Any, expected: int) -> None:
    got = f"{len(answers):,}" if hasattr(answers, "__len__") else type(answers).__name__
    if got != f"{expected:,}":
        raise DataError(f"One answer per point is expected, that is {expected:,}. Got {got}.")


def _encode_answers(answers: npt.NDArray[Any], numbers: bool | None) -> tuple[npt.NDArray[Any], tuple[Any, ...] | None]:
    """Return answers as numbers and None, or as codes and labels, -1 for no answer."""
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
                f"With numbers=True all answers must be numbers. Got {format_short(sample)!r}. Leave numbers=True out."
            ) from None
    codes, labels = pd.factorize(values)
    return codes.astype(np.int64), tuple(pd.Series(labels).tolist())

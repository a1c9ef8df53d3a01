"""Relations of learners: training data change in a known way, so labels do, too.

The learner is fitted on the source data and on the follow-up data, and each test case gets a verdict. Whether a
violation is a fault depends on the learner: see `datamorphic.relations.learners.necessity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np

from ..._text import pluralise
from ..._typing import SupportsFit
from ..._validation import reject_operand
from ...errors import TestSystemError
from ...space.labels import to_label_array, to_object_array
from ...space.partition import RowPartition
from ...systems.learner import find_parameter_values
from ...systems.training import Array, Floats, Places, Training
from ..algebra.base import MetamorphicRelation, split_statement

Rng = np.random.Generator


class TrainingChange:
    """A change of training data and test cases; with an expectation it is a relation: ``change >> SameLabels()``.

    Examples
    --------
    >>> class Backwards(TrainingChange):
    ...     clause = "training rows in reverse order"
    ...
    ...     def follow_up(self, data, labels, rng):
    ...         return data.rows(slice(None, None, -1))
    >>> Backwards() >> SameLabels()
    LearnerRelation('training rows in reverse order')
    """

    clause: str = ""  # the change in words
    needs: tuple[str, ...] = ()  # the assumptions, as sentences
    shares: Literal["all", "label", "case"] = "all"  # which test cases share one follow-up
    regressors: bool = False  # whether the labels of the rows may be numbers
    transformers: bool = False  # whether the answers may be the rows that a transformer makes
    firm: bool = True  # whether a violation must also occur in most slightly perturbed copies of the data
    any_data: bool = False  # whether it is about all data, also those from which a learner may refuse to learn
    same_data: bool = False  # whether the follow-up has the same data, so that a refusal is a violation
    # whether the source has the numbers that were drawn: then `answers` judges crashes on it
    same_numbers: bool = False

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        """Return why the change cannot be made; empty if it can.

        Every relation needs two classes, enough rows and an attribute that varies; that is checked elsewhere.
        """
        return ""

    def source(self, data: Training, rng: Rng) -> Training:
        """Return the source data, made from the drawn data; by default these themselves."""
        return data

    @property
    def changes_source(self) -> bool:
        """Whether the source data are not the drawn data."""
        return type(self).source is not TrainingChange.source

    def follow_up(self, data: Training, labels: Any, rng: Rng) -> Training | None:
        """Return the follow-up data; `labels` are those of the source fit.

        The test cases must keep their number and order. If they share a follow-up by label, all labels are the same. For an
        expectation about clusters, `labels` are the partition of the rows; None is returned if it has no suitable cluster.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement follow_up(), which makes the follow-up data.")

    def change(self, data: Training, made: Training) -> str:
        """Describe the change of the data in one line; empty by default."""
        return ""

    def groups(self, labels: Array) -> list[Places]:
        """Return, per follow-up, the positions of the test cases that share it."""
        if len(labels) == 1 or self.shares == "case":
            return [np.array([i]) for i in range(len(labels))]
        if self.shares == "all":
            return [np.arange(len(labels))]
        places_by_label: dict[Any, list[int]] = {}
        for place, label in enumerate(labels.tolist()):
            places_by_label.setdefault(label, []).append(place)
        return [np.array(places) for places in places_by_label.values()]

    def __rshift__(self, expectation: object) -> LearnerRelation:
        if not isinstance(expectation, SameLabels):
            reject_operand(">>", "an expectation about labels or clusters, as in SameLabels()", expectation)
        kind = _ComposedRelation if expectation.labelled else _ComposedClusterRelation
        return kind(self, expectation)


class SameLabels:
    """The labels of the test cases stay the same; subclasses expect others."""

    name: str = ""  # of the relation
    clause: str = "the same labels"  # the expectation in words
    scores: bool = True  # whether the scores of the classes must be as expected, too
    labelled: bool = True  # whether the training rows need labels; if not, the answer is a partition of the rows
    any_answer: bool = False  # whether any answer is as expected, but no crash
    seeded: bool = False  # whether violations are set aside if the answers depend on ``random_state``

    def expected(self, labels: Any, data: Training, made: Training) -> Any:
        """Return the labels that the follow-up fit must give; by default the same."""
        return labels

    def read_answers(self, answers: Array) -> Any:
        """Return the answers to a training set in the form that `follow_up` and `expected` take."""
        return answers

    def read_expected(self, expected: Any, made: Training) -> Array:
        """Return what `expected` returned, as an array with one entry per answer."""
        return np.asarray(expected)

    def are_as_expected(self, answers: Array, expected: Array) -> Array:
        """Return which answers of the follow-up fit are as expected; by default those that are equal."""
        return np.asarray(answers == expected, dtype=bool)

    def renamed(self, classes: Array, data: Training, made: Training) -> Array:
        """Return the names of the classes in the follow-up data."""
        return np.asarray(self.expected(classes, data, made))

    def expected_scores(self, scores: Floats, classes: list[Any], labels: Array) -> Floats:
        """Return the scores that the follow-up fit must give; by default the same."""
        return scores

    @property
    def about_scores(self) -> bool:
        """Whether scores are expected to change."""
        return type(self).expected_scores is not SameLabels.expected_scores


class SameLabel(SameLabels):
    """The label of each test case stays the same, whatever its scores."""

    clause = "the same label"
    scores = False


class AnyAnswer(SameLabel):
    """Each test case gets an answer, whatever it is."""

    clause = "an answer"
    any_answer = True

    def are_as_expected(self, answers: Array, expected: Array) -> Array:
        """Return that all answers are as expected."""
        return np.ones(len(answers), dtype=bool)


class SameClusters(SameLabels):
    """The rows are grouped as before, whatever the numbers of the clusters.

    Partitions agree if their adjusted Rand index is at least 0.99.
    """

    clause = "the same clusters"
    scores = False
    labelled = False
    seeded = True

    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition | Sequence[int]:
        """Return the cluster that each row of the follow-up data must have; by default the same as before."""
        return partition

    def read_answers(self, answers: Array) -> RowPartition:
        """Return the partition of the rows, the only answer to a training set."""
        partition: RowPartition = answers[0]
        return partition

    def read_expected(self, expected: RowPartition | Sequence[int], made: Training) -> Array:
        """Return the expected partition of the follow-up rows, which may be given as labels."""
        partition = expected if isinstance(expected, RowPartition) else RowPartition(expected)
        if len(partition.labels) != len(made.y):
            raise TestSystemError(
                f"The relation {self.name!r} expects clusters of {pluralise(len(partition.labels), 'row')}, but its "
                f"follow-up has {pluralise(len(made.y), 'row')}. expected() must return a label for each, in the same order."
            )
        return to_object_array([partition])

    def are_as_expected(self, answers: Array, expected: Array) -> Array:
        """Return which partitions agree with the expected ones."""
        pairs = zip(answers.tolist(), expected.tolist(), strict=True)
        return np.array([answer is not None and answer.agrees(goal) for answer, goal in pairs], dtype=bool)


class LearnerRelation(TrainingChange, SameLabels, MetamorphicRelation):
    """A relation of learners: a change of the training data and its effect.

    To write your own, implement `follow_up`, which makes the follow-up data. Without `expected`, the labels must stay the
    same. A change and an expectation that exist already are composed: ``change >> expectation``.

    Attributes
    ----------
    name, statement : str
        The name in reports and in the table of necessary relations, and the relation as "change: consequence".
    shares : {"all", "label", "case"}
        Which test cases share one follow-up: all, those with the same predicted label, or none.
    regressors, transformers, scores : bool
        Whether it applies to regressors and to transformers, too; whether the scores of the classes must stay the same, too.
    firm : bool
        Whether a violation must also occur in most slightly perturbed copies of the data. Otherwise it depends on
        a tie, such as the choice among neighbours at equal distance.

    Examples
    --------
    >>> class Backwards(LearnerRelation):
    ...     name = "backwards"
    ...     statement = "training rows in reverse order: the same labels"
    ...
    ...     def follow_up(self, data, labels, rng):
    ...         return data.rows(slice(None, None, -1))
    >>> print(Backwards())
    In the domain of learners
    assuming that
    - the input is training data and test cases, the output is a label per case
    the following metamorphic relation should hold
    - backwards:
      if training rows in reverse order,
      then the same labels.
    """

    domain_noun = "learners"
    input_noun = "the input is training data and test cases, the output is a label per case"


class ClusterRelation(SameClusters, LearnerRelation):
    """A relation of clusterers: a change of the rows and its effect on the clusters.

    To write your own, implement `follow_up`, which makes the follow-up data. Without `expected`, the rows must be grouped as
    before. The numbers of clusters do not matter. Partitions agree if their adjusted Rand index is at least 0.99.

    Attributes
    ----------
    name, statement : str
        The name in reports and in the table of necessary relations, and the relation as "change: consequence".
    seeded : bool
        Whether violations are set aside if the clusters depend on ``random_state``.

    Examples
    --------
    >>> class Backwards(ClusterRelation):
    ...     name = "rows backwards"
    ...     statement = "the rows in reverse order: the same clusters"
    ...
    ...     def follow_up(self, data, partition, rng):
    ...         return data.rows(slice(None, None, -1))
    ...
    ...     def expected(self, partition, data, made):
    ...         return partition.labels[::-1]
    >>> Backwards()
    Backwards('rows backwards')
    """

    domain_noun = "clusterers"
    input_noun = "the input is rows, the output is a partition of them into clusters and noise"
    regressors = True

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training | None:
        """Return the follow-up data; `partition` has the cluster of each row. None if it has no suitable cluster."""
        return super().follow_up(data, partition, rng)


class _ComposedRelation(LearnerRelation):
    """The relation that a change and an expectation make."""

    def __init__(self, change: TrainingChange, expectation: SameLabels) -> None:
        self.data_change, self.expectation = change, expectation
        clause = split_statement(change.statement)[0] if isinstance(change, LearnerRelation) else change.clause
        self.name, self.needs = clause, change.needs
        self.statement = f"{clause}: {expectation.clause}"
        self.shares, self.firm, self.any_data = change.shares, change.firm, change.any_data
        self.same_data = change.same_data
        self.same_numbers, self.any_answer = change.same_numbers, expectation.any_answer
        self.regressors = change.regressors or not expectation.labelled
        self.transformers = change.transformers
        self.scores, self.labelled = expectation.scores, expectation.labelled
        self.seeded = expectation.seeded and change.firm  # the same computation has the same random start

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return self.data_change.find_obstacle(learner, data)

    def source(self, data: Training, rng: Rng) -> Training:
        return self.data_change.source(data, rng)

    @property
    def changes_source(self) -> bool:
        return self.data_change.changes_source

    def follow_up(self, data: Training, labels: Any, rng: Rng) -> Training | None:
        return self.data_change.follow_up(data, labels, rng)

    def change(self, data: Training, made: Training) -> str:
        return self.data_change.change(data, made)

    def expected(self, labels: Any, data: Training, made: Training) -> Any:
        return self.expectation.expected(labels, data, made)

    def are_as_expected(self, answers: Array, expected: Array) -> Array:
        return self.expectation.are_as_expected(answers, expected)

    def renamed(self, classes: Array, data: Training, made: Training) -> Array:
        return self.expectation.renamed(classes, data, made)

    def expected_scores(self, scores: Floats, classes: list[Any], labels: Array) -> Floats:
        return self.expectation.expected_scores(scores, classes, labels)

    @property
    def about_scores(self) -> bool:
        return self.expectation.about_scores

    def __repr__(self) -> str:
        return f"{'LearnerRelation' if self.labelled else 'ClusterRelation'}({self.name!r})"


class _ComposedClusterRelation(_ComposedRelation, ClusterRelation):
    """The relation that a change and an expectation about clusters make."""


def name_relations(relations: Mapping[str, LearnerRelation]) -> dict[str, LearnerRelation]:
    """Return relations with the names of a table."""
    return {name: relation.named(name) for name, relation in relations.items()}


def compute_widths(data: Training, low: float = 0.0, high: float = 1.0) -> Floats:
    """Return the distance between two quantiles of each numeric attribute."""
    numbers = data.numbers
    if (low, high) == (0.0, 1.0) and np.isfinite(numbers).all():
        return np.asarray(np.ptp(numbers, axis=0))
    spans = np.zeros(numbers.shape[1])
    for column, values in enumerate(numbers.T):
        finite = values[np.isfinite(values)]
        if finite.size:
            spans[column] = np.subtract(*np.quantile(finite, [high, low]))
    return spans


def compute_range(data: Training) -> tuple[float, float]:
    """Return the least and the greatest number; 0 and 1 if they are equal."""
    finite = data.numbers[np.isfinite(data.numbers)]
    if finite.size and finite.min() < finite.max():
        return float(finite.min()), float(finite.max())
    return 0.0, 1.0


def shuffle_positions(n: int, rng: Rng) -> Places:
    """Return 0 to n - 1 in another order."""
    order = rng.permutation(n)
    return np.roll(order, 1) if (order == np.arange(n)).all() else order


def replace_labels(y: Array, old: Iterable[object], new: Array) -> Array:
    """Return labels with a new name for each old one."""
    names = dict(zip(list(old), new.tolist(), strict=True))
    return to_label_array([names[label] for label in y.tolist()])


def find_label_obstacle(data: Training) -> str:
    """Return why no new label can be derived from the labels; empty if one can."""
    kinds = {
        "number" if isinstance(label, Real) and not isinstance(label, bool) else type(label).__name__
        for label in data.classes.tolist()
    }
    if kinds in ({"str"}, {"number"}):
        return ""
    return f"new labels can be derived from texts and numbers only, but these are {' and '.join(sorted(kinds))}"


def star_labels(data: Training, rows: Places) -> Training:
    """Return data in which some rows have a new label per class, such as "B*"."""
    used_labels, old = {*data.declared, *data.classes.tolist()}, data.y.tolist()
    new: dict[Any, Any] = {}
    for label in sorted({old[row] for row in rows}):
        if isinstance(label, str):
            star = label + "*"
            while star in used_labels:
                star += "*"
        else:
            star = type(label)(max(used_labels) + 1)
        used_labels.add(star)
        new[label] = star
    chosen = set(rows.tolist())
    return data.labelled(to_label_array([new[label] if row in chosen else label for row, label in enumerate(old)]))


def has_named_class_weights(learner: object) -> bool:
    """Return whether the class weights of a learner are given by class."""
    return any(isinstance(weight, dict | list) for weight in find_parameter_values(learner, "class_weight"))


def get_comparable_labels(data: Training) -> Array:
    """Return the labels of the rows in a form that equals predicted labels."""
    return data.y if data.y.dtype.kind in "iuf" else data.y.astype(object)


def draw_subset(places: Places, rng: Rng) -> Places:
    """Return at least one of the positions, but not all of several."""
    return np.sort(rng.permutation(places)[: rng.integers(1, max(2, len(places)))])


def list_other_classes(data: Training, label: object) -> list[Any]:
    """Return the classes of data other than a label."""
    return [other for other in data.classes.tolist() if other != label]

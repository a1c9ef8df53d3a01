"""Relations of learners: change the training data in a known way, and the labels must change in a known way.

The learner is fitted on the source data and on the follow-up data, and each test case gets a verdict. Whether a
violation is a fault depends on the learner: `datamorphic.relations.learner.necessity` knows.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from ...systems.learner import find_parameter_values
from ...systems.training import Array, Floats, Places, Training
from ..base import format_relation

Rng = np.random.Generator
NUMERIC_DTYPE_KINDS = "iuf"  # kinds of labels that get a new number where others get a star


class LearnerRelation:
    """A promise about a learner: train it on data changed in a known way, and its labels change in a known way.

    To make one of your own, say how the follow-up data are made; without `expected` the labels must stay.

    Attributes
    ----------
    name, says : str
        What it is called in reports and in the table of necessity; the promise in a sentence, "change: what follows".
    shares : {"all", "label", "case"}
        Which test cases share one follow-up: all, those with one predicted label, or each has its own.
    regressors, scores : bool
        Whether it is about regressors, too; whether the scores of the classes must stay, too.
    firm : bool
        Whether a violation must show again in most copies of the data with all numbers moved by a hair. Of
        neighbours at equal distance one is taken by chance, and which one is nobody's promise.

    Examples
    --------
    >>> class Backwards(LearnerRelation):
    ...     name = "backwards"
    ...     says = "training rows in reverse order: the same labels"
    ...
    ...     def follow_up(self, data, labels, rng):
    ...         return data.rows(slice(None, None, -1))
    >>> print(Backwards())
    In the domain of learners
    assuming that
    - the input is training data and test cases, the output a label of each case
    the following metamorphic relation should hold
    - backwards:
      if training rows in reverse order,
      then the same labels.
    """

    name: str = ""
    says: str = ""
    needs: tuple[str, ...] = ()
    shares: ClassVar[Literal["all", "label", "case"]] = "all"
    regressors: ClassVar[bool] = False
    scores: ClassVar[bool] = True
    firm: ClassVar[bool] = True

    def why_not(self, learner: Any, data: Training) -> str:
        """Return why the relation says nothing about a learner and data; an empty text where it does.

        What every relation needs is looked at before: two classes, enough rows, an attribute that varies.
        """
        return ""

    def source(self, data: Training, rng: Rng) -> Training:
        """Return the source data, made of those that were drawn; by default these themselves."""
        return data

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        """Return the follow-up data; `labels` are those that the source fit gave ``data.t``.

        Test cases must be as many and in the same order. Where they share by label, the labels are all the same.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how follow-up data are made: follow_up()")

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        """Return the label expected of the follow-up fit in place of each source label; by default the same."""
        return labels

    def renamed(self, classes: Array, data: Training, made: Training) -> Array:
        """Return what the classes are called in the follow-up data; by default as `expected` has it."""
        return self.expected(classes, data, made)

    def expected_scores(self, scores: Floats, classes: list[Any], labels: Array) -> Floats:
        """Return the scores expected in place of those of the source fit, a column a class; by default the same."""
        return scores

    @property
    def about_scores(self) -> bool:
        """Whether it promises other scores, so that labels alone tell little."""
        return type(self).expected_scores is not LearnerRelation.expected_scores

    def change(self, data: Training, made: Training) -> str:
        """Return in a line how the follow-up data came from the source data, for an example; empty by default."""
        return ""

    def groups(self, labels: Array) -> list[Places]:
        """Return, for each follow-up, the places of the test cases that share it."""
        if len(labels) == 1 or self.shares == "case":
            return [np.array([i]) for i in range(len(labels))]
        if self.shares == "all":
            return [np.arange(len(labels))]
        places_by_label: dict[Any, list[int]] = {}
        for place, label in enumerate(labels.tolist()):
            places_by_label.setdefault(label, []).append(place)
        return [np.array(places) for places in places_by_label.values()]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __str__(self) -> str:
        assumption = "the input is training data and test cases, the output a label of each case"
        return format_relation("learners", (assumption, *self.needs), self.name, self.says)


def compute_widths(data: Training, low: float = 0.0, high: float = 1.0) -> Floats:
    """Return how far two quantiles of each numeric attribute are apart; 0 where it has no finite number."""
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
    """Return between which numbers those of the data lie; 0 and 1 where there are none, or only one."""
    finite = data.numbers[np.isfinite(data.numbers)]
    if finite.size and finite.min() < finite.max():
        return float(finite.min()), float(finite.max())
    return 0.0, 1.0


def shuffle_positions(n: int, rng: Rng) -> Places:
    """Return 0 to n - 1 in another order than that."""
    order = rng.permutation(n)
    return np.roll(order, 1) if (order == np.arange(n)).all() else order


def to_object_array(values: Any) -> Array:
    """Return values as an array of objects, whatever NumPy would make of them."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def rename_labels(data: Training, names: Array) -> Training:
    """Return data whose declared labels, as they stand, have other names."""
    new_data = replace(data, y=replace_labels(data.y, data.declared, names))
    return new_data if data.labels is None else replace(new_data, labels=tuple(names.tolist()))


def replace_labels(y: Array, old: Any, new: Array) -> Array:
    """Return labels with a new name for each old one."""
    names = dict(zip(list(old), new.tolist(), strict=True))
    return _to_label_array([names[label] for label in y.tolist()])


def find_label_obstacle(data: Training) -> str:
    """Return why no new label can be made of an old one; empty where it can."""
    kinds = {"number" if isinstance(label, Real) and not isinstance(label, bool) else type(label).__name__
             for label in data.classes.tolist()}  # fmt: skip
    if kinds in ({"str"}, {"number"}):
        return ""
    return f"new labels are made of texts and numbers, and these are {' and '.join(sorted(kinds))}"


def star_labels(data: Training, rows: Places) -> Training:
    """Return data in which some rows have a new label of their class's own: "B*" for "B", a new number for a number."""
    used_labels = {*data.declared, *data.classes.tolist()}
    old = data.y.tolist()
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
    chosen_rows = set(rows.tolist())
    return data.labelled(
        _to_label_array([new[label] if row in chosen_rows else label for row, label in enumerate(old)])
    )


def has_named_class_weights(learner: Any) -> bool:
    """Tell whether a learner's weights call the classes by name."""
    return any(isinstance(weight, dict | list) for weight in find_parameter_values(learner, "class_weight"))


def get_comparable_labels(data: Training) -> Array:
    """Return the labels of the rows so that each equals what was predicted."""
    return data.y if data.y.dtype.kind in NUMERIC_DTYPE_KINDS else data.y.astype(object)


def _to_label_array(labels: list[Any]) -> Array:
    kinds = {type(label) for label in labels}
    return np.array(labels) if len(kinds) == 1 and kinds <= {str, int, float, bool} else to_object_array(labels)


def draw_subset(places: Places, rng: Rng) -> Places:
    """Return at least one of the places and, where there are several, not all of them."""
    limit = max(2, len(places))
    return np.sort(rng.permutation(places)[: rng.integers(1, limit)])


def replace_positions(n: int, rows: Places, new: Places) -> Places:
    """Return 0 to n - 1 with others in some places."""
    places = np.arange(n)
    places[rows] = new
    return places

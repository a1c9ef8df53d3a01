"""The relations of Xie et al. (2011), with variants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..._text import pluralise
from ..._typing import SupportsFit
from ...space.labels import to_object_array
from ...systems.training import Array, Floats, Training
from .base import (
    Rng,
    SameLabel,
    SameLabels,
    TrainingChange,
    compute_range,
    compute_widths,
    draw_subset,
    find_label_obstacle,
    get_comparable_labels,
    list_other_classes,
    name_relations,
    replace_labels,
    shuffle_positions,
    star_labels,
)


class _SameMap(TrainingChange):
    clause = "all numbers of training rows and test cases mapped by k*x + b with k > 0"
    needs = ("a numeric attribute varies",)
    signs: ClassVar[tuple[int, ...]] = (1,)
    subset: ClassVar[bool] = False  # whether only some attributes are mapped

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if compute_widths(data).any() else "no numeric attribute varies"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        # a shift wider than the narrowest column would lose its precision, and labels would differ without a fault
        spans = compute_widths(data)
        b = spans[spans > 0].min() * rng.uniform(0.25, 1) * rng.choice([-1, 1])
        sign = self.signs[0] if len(self.signs) == 1 else rng.choice(self.signs)
        k = sign * rng.uniform(1.25, 2) ** rng.choice([-1, 1])
        new, count = k * data.numbers + b, data.numbers.shape[1]
        if self.subset:
            mapped_columns = rng.permutation(count)[: rng.integers(1, count)]
            new = np.where(np.isin(np.arange(count), mapped_columns), new, data.numbers)
        return data.with_numbers(new)

    def change(self, data: Training, made: Training) -> str:
        old, new = data.numbers, made.numbers
        mapped = (old != new).any(axis=0)
        mapped &= np.isfinite(old).all(axis=0) & (np.ptp(old, axis=0) > 0)
        if not mapped.any():
            return ""
        k, b = np.polyfit(old[:, mapped].ravel(), new[:, mapped].ravel(), 1)
        attributes = "" if mapped.all() else f" of {pluralise(int(mapped.sum()), 'attribute')}"
        return f"each number{attributes} x becomes {k:.6g} * x {'-' if b < 0 else '+'} {abs(b):.6g}"


class _MirroredMap(_SameMap):
    clause = "all numbers of training rows and test cases mapped by k*x + b with k < 0"
    signs = (-1,)


class _SubsetMap(_SameMap):
    clause = "the numbers of some attributes, in training rows and test cases, mapped by k*x + b with k not 0"
    signs = (-1, 1)
    subset = True

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        too_few = "" if len(data.numeric) > 1 else "there are fewer than two numeric attributes"
        return super().find_obstacle(learner, data) or too_few


class _PermutedLabels(TrainingChange):
    clause = "the labels of the classes are permuted"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        new = data.classes[shuffle_positions(len(data.classes), rng)]
        return data.labelled(replace_labels(data.y, data.classes, new))


class _PermutedAlike(SameLabels):
    clause = "predicted labels are permuted in the same way"

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        new = dict(zip(data.y.tolist(), made.y.tolist(), strict=True))
        return to_object_array([new.get(label, label) for label in labels.tolist()])


class PermutedAttributes(TrainingChange):
    """The attributes in another order."""

    clause = "the attributes in another order"
    needs = ("there are two attributes",)
    regressors = True
    noun: ClassVar[str] = "attribute"

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        """Return why the change cannot be made."""
        return "" if data.x.shape[1] > 1 else f"there is only one {self.noun}"

    def follow_up(self, data: Training, labels: Any, rng: Rng) -> Training:
        """Permute the columns."""
        return data.attributes(shuffle_positions(data.x.shape[1], rng))


class ConstantAttribute(TrainingChange):
    """One more attribute, with the same value everywhere."""

    clause = "one more attribute at the end, with the same value everywhere"
    regressors = True
    first: ClassVar[bool] = False

    def follow_up(self, data: Training, labels: Any, rng: Rng) -> Training:
        """Add a column with a number that occurs in the data."""
        numbers = data.numbers.ravel()  # a number that occurs has the right magnitude
        numbers = numbers[np.isfinite(numbers)]
        value = float(rng.choice(numbers)) if len(numbers) else 1.0
        return data.with_attribute(value, name="constant", first=self.first)


class _InformativeAttribute(TrainingChange):
    clause = "one more attribute, with one value per class; the case gets that of the predicted class"
    shares = "label"
    shared: ClassVar[bool] = False  # whether all other classes have the same value

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        others = list_other_classes(data, labels[0])
        low, high = compute_range(data)
        # at least half a step apart, so that the attribute separates the classes
        steps = rng.permutation(len(others) + 1) + rng.uniform(0, 0.5, len(others) + 1)
        values = low + (high - low) * steps / (len(others) + 0.5)
        if self.shared:
            values[1:] = values[-1]
        value = dict(zip([labels[0], *others], values, strict=True))
        return data.with_attribute([value[label] for label in data.y.tolist()], value[labels[0]])


class _InformativeShared(_InformativeAttribute):
    clause = "one more attribute, with one value for the predicted class and the case, another for all others"
    shared = True


class _RepredictedCase(TrainingChange):
    clause = "the case added to the training rows, with its predicted label"
    shares = "case"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        return data.appended(data.t, np.array(labels.tolist()))


class _DuplicatedClass(TrainingChange):
    clause = "each training row of the predicted class twice"
    shares = "label"  # one follow-up serves all test cases with this label

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        duplicates = np.flatnonzero(get_comparable_labels(data) == labels[0])
        return data.rows(np.concatenate([np.arange(len(data.y)), duplicates]))


class _DuplicatedProbableClass(_DuplicatedClass):
    needs = ("scores are probabilities",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if hasattr(learner, "predict_proba") else "the learner gives no probabilities"


class _DoubledOdds(SameLabels):
    clause = "the odds of the class against any other are doubled"

    def expected_scores(self, scores: Floats, classes: list[Any], labels: Array) -> Floats:
        doubled_scores = np.where(to_object_array(classes) == labels[0], 2 * scores, scores)
        return np.asarray(doubled_scores / np.nansum(doubled_scores, axis=1, keepdims=True))


class _OtherClasses(TrainingChange):
    """A change of rows of other classes than the predicted one."""

    shares = "label"


class _StarredCopies(_OtherClasses):
    clause = "the rows of each other class copied, with a new label per class"
    subset: ClassVar[bool] = False  # whether only some classes are copied

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return find_label_obstacle(data)

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        classes = list_other_classes(data, labels[0])
        if self.subset:
            places = rng.permutation(len(classes))[: rng.integers(1, len(classes) + 1)]
            classes = [classes[place] for place in places]
        copies = np.flatnonzero(np.isin(get_comparable_labels(data), to_object_array(classes)))
        doubled_data = data.rows(np.concatenate([np.arange(len(data.y)), copies]))
        return star_labels(doubled_data, np.arange(len(data.y), len(doubled_data.y)))


class _StarredSubset(_StarredCopies):
    clause = "the rows of some other classes copied, with a new label per class"
    subset = True


class _RelabelledRows(_OtherClasses):
    clause = "some rows of other classes relabelled, with a new label per class"

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return find_label_obstacle(data)

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        return star_labels(data, draw_subset(np.flatnonzero(get_comparable_labels(data) != labels[0]), rng))


class _RemovedClass(_OtherClasses):
    clause = "one class other than the predicted one removed"
    needs = ("there are three classes",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if len(data.classes) > 2 else "there are only two classes, and one must be removed"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        others = list_other_classes(data, labels[0])
        return data.rows(get_comparable_labels(data) != others[rng.integers(len(others))])


class _RemovedRows(_OtherClasses):
    clause = "some rows of classes other than the predicted one removed"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        removed_rows = draw_subset(np.flatnonzero(get_comparable_labels(data) != labels[0]), rng)
        return data.rows(np.setdiff1d(np.arange(len(data.y)), removed_rows))


class _PermutedValues(TrainingChange):
    clause = "the values of one attribute permuted within the training rows of a class"
    needs = ("a class has two rows",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if len(data.classes) < len(data.y) else "no class has two rows"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        class_labels = get_comparable_labels(data)
        large_classes = [label for label in data.classes.tolist() if (class_labels == label).sum() > 1]
        rows = np.flatnonzero(class_labels == large_classes[rng.integers(len(large_classes))])
        column = rng.integers(data.x.shape[1])
        x = data.x.copy()
        new = rows[shuffle_positions(len(rows), rng)]
        if data.framed:
            places = np.arange(len(x))
            places[rows] = new
            x.isetitem(column, x.iloc[:, column].take(places).set_axis(x.index))
        else:
            x[rows, column] = x[new, column]
        return replace(data, x=x)


XIE_RELATIONS = name_relations(
    {
        "MR-0": _SameMap() >> SameLabels(),
        "MR-0 mirrored": _MirroredMap() >> SameLabels(),
        "MR-0 subset": _SubsetMap() >> SameLabels(),
        "MR-1.1": _PermutedLabels() >> _PermutedAlike(),
        "MR-1.2": PermutedAttributes() >> SameLabels(),
        "MR-2.1": ConstantAttribute() >> SameLabels(),
        "MR-2.2": _InformativeAttribute() >> SameLabel(),
        "MR-2.2 shared": _InformativeShared() >> SameLabel(),
        "MR-3.1": _RepredictedCase() >> SameLabel(),
        "MR-3.2": _DuplicatedClass() >> SameLabel(),
        "MR-3.2 odds": _DuplicatedProbableClass() >> _DoubledOdds(),
        "MR-4.1": _StarredCopies() >> SameLabel(),
        "MR-4.1 subset": _StarredSubset() >> SameLabel(),
        "MR-4.2": _RelabelledRows() >> SameLabel(),
        "MR-5.1": _RemovedClass() >> SameLabel(),
        "MR-5.2": _RemovedRows() >> SameLabel(),
        "MR-NBC": _PermutedValues() >> SameLabels(),
    }
)

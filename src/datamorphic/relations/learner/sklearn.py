"""Further relations of learners, which scikit-learn's own checks of estimators hold, too; and all by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...systems.learner import has_weight_parameter
from ...systems.training import Array, Training
from .base import LearnerRelation, Rng, has_named_class_weights, rename_labels, shuffle_positions, to_object_array
from .xie import XIE_RELATIONS, ConstantAttribute


class _Refit(LearnerRelation):
    name = "refit"
    says = "fitted again on the same data, with the same random_state: the same labels"
    regressors = True
    firm = False  # what cannot be repeated cannot be judged by any relation

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        return data


class _SampleOrder(LearnerRelation):
    name = "sample order"
    says = "the training rows in another order: the same labels"
    regressors = True

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        return data.rows(shuffle_positions(len(data.y), rng))


class _RenamedLabels(LearnerRelation):
    name = "label renaming"
    says = "the classes get other names, which sort alike: predicted labels are renamed alike"
    needs = ("the labels are of one type",)
    firm = False  # the computation is the same to the last digit

    def why_not(self, learner: Any, data: Training) -> str:
        if has_named_class_weights(learner):
            return "the learner's class_weight calls the classes by name"
        mixed = len({isinstance(label, str) for label in data.classes}) > 1
        return "labels of several types have no order" if mixed else ""

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        class_count = len(data.declared)
        return rename_labels(data, np.array([f"class {i:0{len(str(class_count))}d}" for i in range(class_count)]))

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        new = dict(zip(data.declared, made.declared, strict=True))
        return to_object_array([new.get(label, label) for label in labels.tolist()])


class _OverruledCase(LearnerRelation):
    name = "overruled"
    says = "the case itself among the training rows, as often as there are rows, with another label: that label"
    shares = "case"
    scores = False

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        others = [label for label in data.classes.tolist() if label != labels[0]]
        row_count = len(data.y)
        copies = data.cases(np.zeros(row_count, dtype=np.intp)).t
        return data.appended(copies, to_object_array([others[rng.integers(len(others))]] * row_count))

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        return to_object_array(made.y[-1:].tolist())

    def renamed(self, classes: Array, data: Training, made: Training) -> Array:
        return classes


class _RowWeights(LearnerRelation):
    name = "weights"
    says = "some training rows twice instead of with a weight of 2: the same labels"
    needs = ("the learner takes weights of rows",)
    regressors = True

    def why_not(self, learner: Any, data: Training) -> str:
        return "" if has_weight_parameter(learner) else "the learner's fit takes no sample_weight"

    def source(self, data: Training, rng: Rng) -> Training:
        twice = rng.random(len(data.y)) < 0.5
        twice[rng.integers(len(twice))] = True
        return replace(data, weights=np.where(twice, 2.0, 1.0))

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        assert data.weights is not None
        rows = np.repeat(np.arange(len(data.y)), data.weights.astype(np.intp))
        return replace(data.rows(rows), weights=None)


class _SparseMatrix(LearnerRelation):
    name = "sparse"
    says = "the same numbers in a sparse matrix instead of a dense one: the same labels"
    needs = ("the learner takes sparse matrices", "all attributes are numbers")
    regressors = True

    def why_not(self, learner: Any, data: Training) -> str:
        if len(data.numeric) < data.x.shape[1] or not np.isfinite(data.numbers).all():
            return "a sparse matrix holds numbers only, and some attributes are none"
        from sklearn.utils import get_tags

        try:
            takes = get_tags(learner).input_tags.sparse
        except Exception:  # not of scikit-learn's kin: it says nothing of what it takes
            takes = False
        return "" if takes else "the learner does not say that it takes sparse matrices"

    def source(self, data: Training, rng: Rng) -> Training:
        rows = len(data.y)  # numbers alone: names of columns would be lost on the way
        return replace(data, x=data.numbers[:rows], t=data.numbers[rows:])

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        from scipy.sparse import csr_array

        return replace(data, x=csr_array(data.x), t=csr_array(data.t))


class _ConstantFirst(ConstantAttribute):
    name = "constant column"
    says = "one attribute more, the first, with one value everywhere: the same labels"
    first = True


LEARNER_RELATIONS: dict[str, LearnerRelation] = {
    relation.name: relation
    for relation in (
        *XIE_RELATIONS, _Refit(), _SampleOrder(), _RenamedLabels(), _OverruledCase(), _RowWeights(), _SparseMatrix(), _ConstantFirst()
    )
}  # fmt: skip

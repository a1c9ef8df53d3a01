"""Relations of learners from scikit-learn's checks, and all by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..._lazy import pd
from ..._typing import SupportsFit
from ...space.labels import to_object_array
from ...systems.learner import find_parameter_values, has_weight_parameter
from ...systems.training import Array, Places, QueryForm, Training, take_rows
from ...systems.traits import has_method
from .base import (
    AnyAnswer,
    Rng,
    SameLabel,
    SameLabels,
    TrainingChange,
    get_comparable_labels,
    has_named_class_weights,
    list_other_classes,
    name_relations,
    replace_labels,
    shuffle_positions,
)
from .xie import XIE_RELATIONS, ConstantAttribute


class Refit(TrainingChange):
    """No change: the learner is fitted again."""

    clause = "fitted again on the same data, with the same random_state"
    regressors = transformers = True
    firm = False  # a learner that is not repeatable cannot be judged by any relation

    def follow_up(self, data: Training, labels: Any, rng: Rng) -> Training:
        """Return the same data."""
        return data


class _Query(TrainingChange):
    """No change of the data: the fitted learner is queried in another way."""

    regressors = transformers = same_data = True
    form: ClassVar[QueryForm]

    def follow_up(self, data: Training, labels: Any, rng: Rng) -> Training:
        return replace(data, query=self.form)


class _QueriedAgain(_Query):
    clause = "the fitted learner is queried again with the same cases"
    form = "again"


class _QueriedAlone(_Query):
    clause = "each case is queried alone instead of together with others"
    form = "alone"


class _QueriedBackwards(_Query):
    clause = "the cases are queried in reverse order"
    form = "backwards"


class FittedToOtherData(_Query):
    """No change of the data: the learner was fitted to other data before."""

    clause = "the learner was fitted to other labels before, as many as there are rows"
    form = "after other data"

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        """Return why what was learnt before may count; empty if it may not."""
        warm = any(find_parameter_values(learner, "warm_start"))
        return "with warm_start, what was learnt before is kept" if warm else ""


class GivenAsFrames(_Query):
    """The same numbers in frames."""

    clause = "the same numbers in frames instead of arrays"
    form = "as frames"
    needs = ("the rows are arrays of numbers",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        """Return why nothing would change; empty if something does."""
        return "the rows are frames already" if data.framed else ""


class _QueriedWithScores(_Query):
    clause = "any training set that the learner accepts"
    form: ClassVar[QueryForm] = "with scores"
    any_data = True
    firm = False


class _QueriedWithProbabilities(_QueriedWithScores):
    form = "with probabilities"
    regressors = transformers = False
    needs = ("the learner gives probabilities",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if has_method(learner, "predict_proba") else "the learner gives no probabilities"


class _AddUp(AnyAnswer):
    clause = "probabilities that add up to 1, and none below 0"


class _Answered(AnyAnswer):
    clause = "an answer, finite numbers, and scores that are no NaN"


class _SampleOrder(TrainingChange):
    clause = "the training rows in another order"
    regressors = transformers = True

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        return data.rows(shuffle_positions(len(data.y), rng))


class _RenamedLabels(TrainingChange):
    clause = "the classes get other names in the same order"
    needs = ("the labels have one type",)
    firm = False  # the computation is exactly the same

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        if has_named_class_weights(learner):
            return "the learner's class_weight names the classes"
        mixed = len({isinstance(label, str) for label in data.classes}) > 1
        return "labels of different types have no order" if mixed else ""

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        if data.classes.dtype.kind in "iu":  # others from 1 on; a learner may have a meaning for 0 and below
            names = 1 + max(0, int(max(data.declared))) + np.arange(len(data.declared)).cumsum()
        else:
            width = len(str(len(data.declared)))
            names = np.array([f"class {i:0{width}d}" for i in range(len(data.declared))])
        new_data = replace(data, y=replace_labels(data.y, data.declared, names))
        return new_data if data.labels is None else replace(new_data, labels=tuple(names.tolist()))


class _LabelsOfOtherType(_RenamedLabels):
    """Labels in the same order: text or unsigned numbers."""

    clause = "labels of another type, text or unsigned numbers, in the same order"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        width, count = len(str(len(data.declared))), len(data.declared)
        names: Any = np.arange(count, dtype=np.uint8)
        if data.classes.dtype.kind in "iu" and rng.random() < 0.5:
            names = np.array([f"class {i:0{width}d}" for i in range(count)])
        y = replace_labels(data.y, data.declared, names)
        new_data = replace(data, y=y.astype(names.dtype))
        return new_data if data.labels is None else replace(new_data, labels=tuple(names.tolist()))


class _RenamedAlike(SameLabels):
    clause = "predicted labels are renamed in the same way"

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        new = dict(zip(data.declared, made.declared, strict=True))
        return to_object_array([new.get(label, label) for label in labels.tolist()])


class _OverruledCase(TrainingChange):
    clause = "the case added to the training rows, as often as there are rows, with another label"
    shares = "case"

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        others, row_count = list_other_classes(data, labels[0]), len(data.y)
        copies = data.cases(np.zeros(row_count, dtype=np.intp)).t
        return data.appended(copies, to_object_array([others[rng.integers(len(others))]] * row_count))


class _AddedLabel(SameLabel):
    clause = "that label"

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        return to_object_array(made.y[-1:].tolist())

    def renamed(self, classes: Array, data: Training, made: Training) -> Array:
        return classes


class _ContradictedRow(TrainingChange):
    """One row once more with another label; the test cases are training rows other than it."""

    clause = "one training row added once more, with another label"
    needs = ("two training rows have different attributes",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if len(_find_distinct_rows(data)) > 1 else "all training rows have the same attributes"

    def source(self, data: Training, rng: Rng) -> Training:
        rows = rng.permutation(_find_distinct_rows(data))[1:]  # one is left out, to be contradicted
        return replace(data, t=take_rows(data.x, np.resize(rows, len(data))))

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        row = rng.choice(np.setdiff1d(_find_distinct_rows(data), _find_training_rows(data)))
        others = list_other_classes(data, data.y.tolist()[row])
        return data.appended(take_rows(data.x, [row]), np.array([others[rng.integers(len(others))]]))


def _find_distinct_rows(data: Training) -> Places:
    """Return the first of the training rows with the same attributes, for each such group."""
    return np.flatnonzero(~pd.DataFrame(data.x).duplicated().to_numpy())


def _find_training_rows(data: Training) -> Places:
    """Return the first training row with the attributes of each test case that is one."""
    table = pd.concat([pd.DataFrame(data.t), pd.DataFrame(data.x)], ignore_index=True)
    groups = table.groupby(list(table.columns), dropna=False, sort=False, observed=True).ngroup().to_numpy()
    return np.flatnonzero(np.isin(groups[len(data) :], groups[: len(data)]))


class _RowWeights(TrainingChange):
    clause = "some training rows twice instead of with weight 2"
    needs = ("the learner accepts sample weights",)
    regressors = transformers = True

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if has_weight_parameter(learner) else "the learner's fit does not accept sample_weight"

    def source(self, data: Training, rng: Rng) -> Training:
        twice = rng.random(len(data.y)) < 0.5
        twice[rng.integers(len(twice))] = True
        return replace(data, weights=np.where(twice, 2.0, 1.0))

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        assert data.weights is not None
        rows = np.repeat(np.arange(len(data.y)), data.weights.astype(np.intp))
        return replace(data.rows(rows), weights=None)


class _UnitWeights(_RowWeights):
    clause = "every training row with weight 1 instead of without weights"

    def source(self, data: Training, rng: Rng) -> Training:
        return data

    @property
    def changes_source(self) -> bool:
        return False

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        return replace(data, weights=np.ones(len(data.y)))


class _ZeroWeights(_RowWeights):
    """Rows of weight 0; each class keeps a row, or one of them keeps none."""

    clause = "some training rows removed instead of with weight 0"

    def source(self, data: Training, rng: Rng) -> Training:
        weights = np.where(rng.random(len(data.y)) < 0.5, 0.0, 1.0)
        if data.y.dtype.kind == "f":
            weights[rng.integers(len(weights))] = 1.0
        else:
            for label in data.classes:
                weights[rng.choice(np.flatnonzero(get_comparable_labels(data) == label))] = 1.0
        return replace(data, weights=weights)

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        assert data.weights is not None
        return replace(data.rows(np.flatnonzero(data.weights)), weights=None)


class _ClassWithoutWeight(_ZeroWeights):
    clause = "the training rows of one class removed instead of with weight 0"
    regressors = transformers = False

    def source(self, data: Training, rng: Rng) -> Training:
        absent = get_comparable_labels(data) == rng.choice(data.classes)
        return replace(data, weights=np.where(absent, 0.0, 1.0))


class SparseMatrix(TrainingChange):
    """The same numbers in a sparse matrix."""

    clause = "the same numbers in a sparse matrix instead of a dense one"
    needs = ("the learner accepts sparse matrices", "all attributes are numbers")
    same_numbers = True
    regressors = transformers = True

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        """Return why no sparse matrix can be given; empty if one can."""
        if len(data.numeric) < data.x.shape[1] or not np.isfinite(data.numbers).all():
            return "a sparse matrix holds numbers only, but some attributes are not numbers"
        from sklearn.utils import get_tags

        try:
            takes = get_tags(learner).input_tags.sparse
        except Exception:  # it does not follow the conventions of scikit-learn
            takes = False
        return "" if takes else "the learner does not declare that it accepts sparse matrices"

    def source(self, data: Training, rng: Rng) -> Training:
        """Return the numbers as arrays."""
        rows = len(data.y)  # without column names, which a sparse matrix cannot have
        return replace(data, x=data.numbers[:rows], t=data.numbers[rows:])

    def follow_up(self, data: Training, labels: Array, rng: Rng) -> Training:
        """Return the numbers as sparse matrices."""
        from scipy.sparse import csr_array

        return replace(data, x=csr_array(data.x), t=csr_array(data.t))


class _ConstantFirst(ConstantAttribute):
    clause = "one more attribute at the front, with the same value everywhere"
    first = True


LEARNER_RELATIONS = XIE_RELATIONS | name_relations(
    {
        "refit": Refit() >> SameLabels(),
        "queried again": _QueriedAgain() >> SameLabels(),
        "queried alone": _QueriedAlone() >> SameLabels(),
        "queried backwards": _QueriedBackwards() >> SameLabels(),
        "sample order": _SampleOrder() >> SameLabels(),
        "label renaming": _RenamedLabels() >> _RenamedAlike(),
        "overruled": _OverruledCase() >> _AddedLabel(),
        "contradicted row": _ContradictedRow() >> SameLabel(),
        "label type": _LabelsOfOtherType() >> _RenamedAlike(),
        "weights": _RowWeights() >> SameLabels(),
        "unit weights": _UnitWeights() >> SameLabels(),
        "zero weights": _ZeroWeights() >> SameLabels(),
        "class without weight": _ClassWithoutWeight() >> SameLabel(),
        "sparse": SparseMatrix() >> SameLabels(),
        "accepts sparse": SparseMatrix() >> AnyAnswer(),
        "frames": GivenAsFrames() >> SameLabels(),
        "fitted before": FittedToOtherData() >> SameLabels(),
        "answers": _QueriedWithScores() >> _Answered(),
        "probabilities": _QueriedWithProbabilities() >> _AddUp(),
        "constant column": _ConstantFirst() >> SameLabels(),
    }
)

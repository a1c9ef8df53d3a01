"""The learner under check, how relations are judged, and the verdicts on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from ..._text import pluralise
from ..._validation import validate_choice
from ...systems.clusterer import find_cluster_count
from ...systems.learner import find_parameter_values, is_regressor, read_parameters
from ...systems.training import Array, Floats, Places, Training, TrainingBatch
from ...systems.traits import LearnerTraits, read_traits
from ..algebra.base import INAPPLICABLE, VIOLATED, JudgedCases, Mask
from .base import LearnerRelation
from .necessity import STRICTNESS


class FailedAnswer(str):
    """The error of a learner, in the place of its answer."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class LearnerSubject:
    """A learner, and the estimator whose necessary relations it must satisfy."""

    learner: Any
    like: Any = None

    @property
    def reference_learner(self) -> Any:
        """The learner whose necessary relations it must satisfy."""
        return self.learner if self.like is None else self.like

    def find_reference(self, data: Training) -> Any:
        """Return the learner whose necessary relations it must satisfy on data, which may set some of its parameters."""
        known = read_parameters(self.reference_learner) if data.parameters else {}
        parameters = {name: value for name, value in data.parameters if name in known}
        if not parameters:
            return self.reference_learner
        from sklearn.base import clone

        return clone(self.reference_learner).set_params(**parameters)

    @cached_property
    def neighbours(self) -> int:
        """The maximum number of neighbours it looks for; 0 if it looks for none."""
        like = getattr(
            self.reference_learner, "like", None
        )  # ensembles that are not fitted have no length, so no truth
        counts = find_parameter_values(self.reference_learner if like is None else like, "n_neighbors")
        return max((int(count) for count in counts if isinstance(count, Integral)), default=0)

    @cached_property
    def traits(self) -> LearnerTraits:
        """What the learner says about itself."""
        return read_traits(self.learner)

    @cached_property
    def is_regression(self) -> bool:
        """Whether it says that it is a regressor."""
        return is_regressor(self.learner)

    def has_numeric_target(self, data: Training) -> bool:
        """Return whether it learns numbers instead of labels."""
        return self.is_regression or (data.y.dtype.kind == "f" and bool((data.y % 1 > 0).any()))

    def find_obstacle(self, relation: LearnerRelation, data: Training) -> str:
        """Return why a relation does not apply; empty if it applies."""
        return self.find_data_obstacle(relation, data) or relation.find_obstacle(self.learner, data)

    def find_data_obstacle(self, relation: LearnerRelation, data: Training) -> str:
        """Return why nothing can be learnt from data; empty if something can."""
        if relation.any_data:
            return "some training rows have no label" if relation.labelled and _has_missing_label(data.y) else ""
        if not relation.labelled:
            return self._find_cluster_obstacle(data)
        if self.traits.kind == "transformer":
            if not relation.transformers:
                return "the relation is about labels, but a transformer answers rows"
            return "" if _has_variation(data.x) else "no attribute of the training rows varies"
        if _has_missing_label(data.y):
            return "some training rows have no label"
        if self.traits.kind == "outlier detector" and not relation.regressors:
            return "the relation is about labels of training rows, which an outlier detector does not see"
        if self.has_numeric_target(data):
            if not relation.regressors:
                return "the relation is about labels, but the learner learns numbers"
        elif len(data.classes) < 2:
            return "all training rows have the same class"
        elif isinstance(data.classes[0], tuple):
            return "the labels are tuples, but relations need texts, numbers or booleans"
        if self.neighbours > len(data.y):
            rows = pluralise(len(data.y), "training row")
            return f"the learner looks for {self.neighbours} neighbours, and there are {rows}"
        return "" if _has_variation(data.x) else "no attribute of the training rows varies"

    def _find_cluster_obstacle(self, data: Training) -> str:
        count = find_cluster_count(self.learner)
        if count is not None:
            clusters = count[1] if data.labels is None else len(data.labels)
            if clusters > len(data.y):
                return f"the learner looks for {pluralise(clusters, 'cluster')}, and there are {pluralise(len(data.y), 'row')}"
        return "" if _has_variation(data.x) else "no attribute of the rows varies"


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnerVerdicts(JudgedCases):
    """The verdicts of one relation on training sets, one per test case.

    `before` and `after` are the labels of the two fits, `expected` the labels that the second fit should have given.
    Scores have a column for each declared label of the source data. The follow-up of case i is
    ``follow_ups[follow_up_index[i]]``; the index is -1 if there is none. Where `tied`, a violation was set aside.
    `messages` explain by case why it could not be judged; `fit_failures` are those of them where a fit raised.
    """

    relation: str
    data: TrainingBatch
    before: Array
    after: Array
    expected: Array
    tied: Mask
    follow_up_index: Places
    follow_ups: list[Training] = field(default_factory=list)
    scores_before: Floats | None = None
    scores_after: Floats | None = None
    messages: dict[int, str] = field(default_factory=dict)
    fit_failures: dict[int, str] = field(default_factory=dict)

    def add_failure(self, row: int, text: str) -> None:
        """Record the error of a fit as the message of a case."""
        self.messages[row] = self.fit_failures[row] = text

    def set_aside(self, rows: Iterable[int], text: str, verdict: int = INAPPLICABLE) -> None:
        """Record why cases are not judged."""
        for row in rows:
            self.verdicts[row], self.messages[int(row)] = verdict, text

    def select_training_set(self, number: int) -> LearnerVerdicts:
        """Return the verdicts on one of the training sets."""
        rows = np.flatnonzero(self.data.training_index == number)
        indices, follow_up = np.unique(self.follow_up_index[rows], return_inverse=True)
        shift = int(indices[0] < 0) if len(indices) else 0  # the index of cases without a follow-up is -1
        scores = [None if table is None else table[rows] for table in (self.scores_before, self.scores_after)]
        return LearnerVerdicts(
            relation=self.relation,
            data=TrainingBatch([self.data.trainings[number]]),
            verdicts=self.verdicts[rows],
            before=self.before[rows],
            after=self.after[rows],
            expected=self.expected[rows],
            tied=self.tied[rows],
            follow_up_index=follow_up - shift,
            follow_ups=[self.follow_ups[k] for k in indices if k >= 0],
            scores_before=scores[0],
            scores_after=scores[1],
            messages={new: self.messages[old] for new, old in enumerate(rows.tolist()) if old in self.messages},
        )

    @property
    def violations(self) -> Places:
        """The cases that violate the relation."""
        return np.flatnonzero(self.verdicts == VIOLATED)

    @property
    def message(self) -> str:
        """The first message; empty if there is none."""
        return next(iter(self.messages.values()), "")


@dataclass(frozen=True)
class JudgingOptions:
    """How a relation is judged: by labels or scores, with ties set aside or counted.

    `with_scores` queries scores even if they are not judged, so that an example can show them.
    """

    strictness: str = "class_exact"
    ties: str = "aside"
    seed: int = 0
    with_scores: bool = False

    def __post_init__(self) -> None:
        validate_choice("strictness", "check", self.strictness, STRICTNESS)
        validate_choice("ties", "check", self.ties, ("aside", "count"))

    @property
    def statistical(self) -> bool:
        """Whether distributions are compared, instead of single cases."""
        return self.strictness in ("class_stat", "score_stat")

    @property
    def needs_scores(self) -> bool:
        """Whether scores are queried."""
        return self.with_scores or self.strictness in ("score_exact", "score_stat")


def _has_missing_label(y: Array) -> bool:
    if y.dtype.kind in "iubU":
        return False
    if y.dtype.kind == "f":
        return bool(np.isnan(y).any())
    return any(label is None or label != label for label in y.tolist())


def _has_variation(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return bool((x != x[:1]).any())
    if not hasattr(x, "nunique"):
        return True
    return any(column.nunique(dropna=False) > 1 for _, column in x.items())  # the first one that varies will do

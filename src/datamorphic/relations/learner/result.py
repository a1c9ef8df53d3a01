"""Who is asked, how it is judged, and what came out, when a relation is put to a learner."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from ..._text import pluralize
from ..._validation import validate_choice
from ...systems.learner import find_parameter_values, is_regressor
from ...systems.training import Array, Floats, Places, Training, TrainingBatch
from ..base import VIOLATED, Mask, Verdicts
from .base import LearnerRelation
from .necessity import STRICTNESS


@dataclass(frozen=True, eq=False)
class LearnerSubject:
    """A learner, and what a relation has to know of it; `like` is the one whose promises it must keep, if not its own."""

    learner: Any
    like: Any = None

    @property
    def reference_learner(self) -> Any:
        """The learner whose promises it must keep."""
        return self.learner if self.like is None else self.like

    @cached_property
    def neighbours(self) -> int:
        """How many neighbours it looks for, at most; 0 if it looks for none."""
        reference = getattr(self.reference_learner, "like", None) or self.reference_learner
        return max(
            (int(k) for k in find_parameter_values(reference, "n_neighbors") if isinstance(k, Integral)), default=0
        )

    @cached_property
    def is_regression(self) -> bool:
        """Whether it says that it is a regressor."""
        return is_regressor(self.learner)

    def has_numeric_target(self, data: Training) -> bool:
        """Tell whether what it learns are numbers and no labels."""
        return self.is_regression or (data.y.dtype.kind == "f" and bool((data.y % 1 > 0).any()))

    def find_obstacle(self, relation: LearnerRelation, data: Training) -> str:
        """Return why a relation says nothing about the learner and data; an empty text where it does."""
        return self.find_data_obstacle(relation, data) or relation.why_not(self.learner, data)

    def find_data_obstacle(self, relation: LearnerRelation, data: Training) -> str:
        """Return why nobody can learn from data; an empty text where one can."""
        if _has_missing_label(data.y):
            return "some training rows have no label"
        if self.has_numeric_target(data):
            if not relation.regressors:
                return "it is about labels, and the learner is given numbers"
        elif len(data.classes) < 2:
            return "the training rows are all of one class"
        elif isinstance(data.classes[0], tuple):
            return "the labels are tuples, and relations are about texts, numbers and flags"
        if self.neighbours > len(data.y):
            rows = pluralize(len(data.y), "training row")
            return f"the learner looks for {self.neighbours} neighbours, and there are {rows}"
        return "" if _has_variation(data.x) else "no attribute of the training rows varies"


@dataclass(frozen=True, eq=False)
class LearnerVerdicts:
    """What became of a relation on training sets, test case by test case.

    `before` and `after` are the labels of the two fits, `expected` what the second should have given; scores have a
    column for each declared label of the source data. Case i was asked with the follow-up ``made[follow_up[i]]``. Where
    `tied`, a violation was set aside; `messages` say, by case, why there is nothing to judge, or why answers are missing.
    """

    relation: str
    data: TrainingBatch
    verdicts: Verdicts
    before: Array
    after: Array
    expected: Array
    tied: Mask
    follow_up_index: Places
    follow_ups: list[Training] = field(default_factory=list)
    scores_before: Floats | None = None
    scores_after: Floats | None = None
    messages: dict[int, str] = field(default_factory=dict)

    def count(self, verdict: int) -> int:
        """Return how many test cases have a verdict."""
        return int((self.verdicts == verdict).sum())

    def select_training_set(self, number: int) -> LearnerVerdicts:
        """Return what became of it on one of the training sets."""
        rows = np.flatnonzero(self.data.training_index == number)
        indices, follow_up = np.unique(self.follow_up_index[rows], return_inverse=True)
        shift = int(indices[0] < 0) if len(indices) else 0  # cases without a follow-up have -1 for it
        scores = [None if table is None else table[rows] for table in (self.scores_before, self.scores_after)]
        return LearnerVerdicts(
            self.relation, TrainingBatch([self.data.trainings[number]]), self.verdicts[rows], self.before[rows], self.after[rows],
            self.expected[rows], self.tied[rows], follow_up - shift, [self.follow_ups[k] for k in indices if k >= 0],
            scores[0], scores[1], {new: self.messages[old] for new, old in enumerate(rows.tolist()) if old in self.messages},
        )  # fmt: skip

    @property
    def violations(self) -> Places:
        """The cases that violate the relation."""
        return np.flatnonzero(self.verdicts == VIOLATED)

    @property
    def message(self) -> str:
        """The first thing to be said, if anything."""
        return next(iter(self.messages.values()), "")


@dataclass(frozen=True)
class JudgingOptions:
    """How a relation is judged: on labels or scores, with ties set aside or counted, from which seed.

    `with_scores` asks for scores whether or not they are judged: an example shows them.
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
        """Whether distributions are compared, and not case by case."""
        return self.strictness.endswith("_stat")

    @property
    def needs_scores(self) -> bool:
        """Whether scores are looked at."""
        return self.with_scores or self.strictness.startswith("score")


def _has_missing_label(y: Array) -> bool:
    if y.dtype.kind in "iubU":
        return False
    if y.dtype.kind == "f":
        return bool(np.isnan(y).any())
    return any(label is None or label != label for label in y.tolist())


def _has_variation(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return bool((x != x[:1]).any())
    return not hasattr(x, "nunique") or bool((x.nunique(dropna=False) > 1).any())

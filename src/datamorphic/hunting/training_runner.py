"""Hunt violations by learners among training sets that are drawn by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import DataLike, SupportsFit
from ..errors import ArgumentError, ModelError
from ..relations.check.learner_session import make_system, make_training_source, prepare_outcomes
from ..relations.learner.base import LearnerRelation
from ..relations.learner.necessity import find_requirement
from ..relations.learner.result import LearnerSubject, LearnerVerdicts
from ..relations.learner.runner import check_relation
from ..runs.flow import Flow
from ..systems.learner import Learner, format_learner
from ..systems.training import TrainingBatch
from .loop import Trial
from .result import ViolatingGroup
from .row_runner import JudgedSources, Places, SourceTrial

#: the name of this way to choose sources, in place of that of a generator
TRAINING_SETS = "training sets"
SETS_PER_TRIAL = 1 << 40  # the distance between the numbers of training sets of two trials


class TrainingJudge:
    """Judges training sets, each with one test case."""

    def __init__(
        self,
        learner: SupportsFit,
        relations: Sequence[LearnerRelation],
        data: DataLike | None,
        target: str | None,
        seed: int,
    ) -> None:
        self.name = format_learner(learner)
        if len({relation.labelled for relation in relations}) > 1:
            raise ArgumentError(
                "Relations of clusterers compare clusters, and other relations of learners labels. Hunt with each kind alone."
            )
        if not hasattr(learner, "fit"):
            raise ModelError(f"The relation {relations[0].name!r} is about learners, but {self.name} has no fit.")
        clusters = not relations[0].labelled
        self.system: Learner = make_system(learner, seed, clusters=clusters)
        self.subject = LearnerSubject(learner)
        self.source = make_training_source(learner, data, target, clusters=clusters, cases=1, seed=seed)
        requirements = {relation.name: find_requirement(relation.name, learner) for relation in relations}
        self.outcomes = prepare_outcomes(relations, requirements, seed)
        self.columns = tuple(str(name) for name in getattr(self.source.draw_training(0).t, "columns", ()))


class TrainingTrial(SourceTrial):
    """Hunts among training sets."""

    def __init__(self, trial: Trial, training_judge: TrainingJudge) -> None:
        super().__init__(trial, len(training_judge.outcomes))
        self.training_judge = training_judge

    def judge(self, number: int, sources: Places, groups: Places) -> Flow[JudgedSources]:
        """Judge some training sets, by their numbers, with one relation."""
        outcome, subject = self.training_judge.outcomes[number], self.training_judge.subject
        numbers = [self.trial.number * SETS_PER_TRIAL + source for source in sources.tolist()]
        sets = TrainingBatch([self.training_judge.source.draw_training(source).cases([0]) for source in numbers])
        result = yield from check_relation(
            outcome.relation, subject, sets, numbers, outcome.judging, requirement=outcome.requirement
        )
        violations = [self._to_violating_group(result, row, int(groups[row]) + 1, number) for row in result.violations]
        return JudgedSources(result.verdicts, violations)

    def _to_violating_group(self, result: LearnerVerdicts, row: int, number: int, relation: int) -> ViolatingGroup:
        """Return the test case with the answers of both fits."""
        sets = (result.data.trainings[row], result.follow_ups[result.follow_up_index[row]])
        return ViolatingGroup(
            trial=self.trial.number,
            number=number,
            relation=relation,
            inputs=tuple(_read_case(training.t) for training in sets),
            outputs=(result.before[row], result.after[row]),
        )


def _read_case(table: Any) -> Any:
    """Return the values of the test case."""
    dense = table.toarray() if hasattr(table, "toarray") else table
    return np.asarray(dense, dtype=object)[0]

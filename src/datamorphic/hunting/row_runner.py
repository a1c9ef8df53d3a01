"""Hunt violations among sources that cannot be drawn: rows of data, such as texts and routes, and training sets by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._typing import DataLike, SupportsFit
from ..errors import ArgumentError, ModelError
from ..relations.algebra.base import (
    INAPPLICABLE,
    VIOLATED,
    JudgedGroups,
    Relation,
    SystemRelation,
    Verdicts,
    find_worst_verdicts,
)
from ..relations.algebra.change import ChangeRelation
from ..relations.check.learner_session import make_system, make_training_source, prepare_outcomes
from ..relations.learners.base import LearnerRelation
from ..relations.learners.necessity import find_requirement
from ..relations.learners.result import LearnerSubject, LearnerVerdicts
from ..relations.learners.runner import check_relation
from ..relations.patterns.relation import PatternRelation
from ..runs.flow import Flow
from ..space.points import Batch, Points
from ..systems.base import Executor
from ..systems.learner import Learner, format_learner
from ..systems.training import TrainingBatch
from .loop import MAX_VIOLATIONS_KEPT, JudgedBatch, Trial
from .options import HuntOptions
from .result import ViolatingGroup

Places = npt.NDArray[np.intp]
#: the names of these ways to choose sources, in place of that of a generator
ROWS, TRAINING_SETS = "rows", "training sets"
SETS_PER_TRIAL = 1 << 40  # the distance between the numbers of training sets of two trials


def uses_rows(relations: Sequence[object], options: HuntOptions, inputs: Points | None) -> bool:
    """Return whether sources are rows of the data: on request, for texts and images, and if a relation needs it.

    Relations made of patterns, and those that try all values of a column, judge cases that cannot be drawn.
    """
    if isinstance(options.generator, str) and options.generator == ROWS:
        if inputs is None:
            raise ArgumentError("The generator 'rows' takes sources from data. Give them: hunt(..., data=...).")
        return True
    if inputs is None or options.generator is not None or options.selector is not None:
        return False
    return any(feature.kind == "text" for feature in inputs.space.features) or any(
        isinstance(relation, PatternRelation)
        or (isinstance(relation, Relation) and type(relation).follow_up is Relation.follow_up)
        for relation in relations
    )


def prepare_executor(relations: Sequence[SystemRelation], executor: Executor) -> Executor:
    """Return the system as the relations query it: with probabilities if one compares those, or with bare frames."""
    changes = [relation for relation in relations if isinstance(relation, ChangeRelation)]
    others = [relation for relation in relations if not isinstance(relation, ChangeRelation)]
    special = [relation for relation in others if relation.system(executor) is not executor]
    if special and len(special) < len(relations):
        raise ArgumentError(
            f"The relation {special[0].name!r} queries {executor.name} in another way than the other relations do. Hunt with it "
            "alone."
        )
    return [*special, *changes, *others][0].system(executor)


def fit_relations(relations: Sequence[object], executor: Executor, inputs: Points) -> tuple[SystemRelation, ...]:
    """Return relations with what they need to know of the system; raise if one cannot be judged row by row."""
    fitted_relations = []
    for relation in relations:
        if not isinstance(relation, SystemRelation) or relation.draws_inputs:
            raise ArgumentError(
                f"The relation {getattr(relation, 'name', relation)!r} is not about rows of data. Choose another "
                "generator than 'rows', or check it with dm.check."
            )
        if reason := relation.find_obstacle(executor, inputs):
            raise ArgumentError(f"The relation {relation.name!r} does not apply to {executor.name}: {reason}")
        fitted_relations.append(relation.fitted_to(executor, inputs))
    return tuple(fitted_relations)


class JudgedSources(NamedTuple):
    """The verdict on each of some sources, and the violating groups."""

    verdicts: Verdicts
    violations: list[ViolatingGroup]


class SourceTrial:
    """Hunts among sources in an order, relations in turn, until every source was tried with every relation.

    Without `sources`, which are positions, these are the whole numbers from 0.
    """

    def __init__(self, trial: Trial, relation_count: int, sources: Places | None = None) -> None:
        self.trial, self.relation_count, self.sources = trial, relation_count, sources

    def judge(self, number: int, sources: Places, groups: Places) -> Flow[JudgedSources]:
        """Judge some sources with a relation, by its number; the numbers of the groups count from 0."""
        raise NotImplementedError

    def run(self) -> Flow[None]:
        """Run the trial."""
        budget = self.trial.options.max_groups
        if self.sources is not None:
            budget = min(budget, len(self.sources) * self.relation_count)
        self.trial.monitor.start_clock()
        yield from self.trial.run(self._judge_batch, self.relation_count, budget)

    def _judge_batch(self, count: int) -> Flow[JudgedBatch]:
        groups = self.trial.record.groups + np.arange(count)
        relation_numbers = groups % self.relation_count
        verdicts = np.full(count, INAPPLICABLE, dtype=np.int8)
        violations: list[ViolatingGroup] = []
        for number in np.unique(relation_numbers):
            places = np.flatnonzero(relation_numbers == number)
            positions = groups[places] // self.relation_count
            sources = positions if self.sources is None else self.sources[positions]
            judged = yield from self.judge(int(number), sources, groups[places])
            verdicts[places] = judged.verdicts
            violations += judged.violations
        return JudgedBatch(relation_numbers, verdicts, violations)


class RowTrial(SourceTrial):
    """Hunts among rows of data."""

    def __init__(self, trial: Trial, relations: Sequence[SystemRelation], inputs: Points) -> None:
        super().__init__(trial, len(relations), trial.make_rng().permutation(len(inputs)))
        self.relations, self.inputs = relations, inputs

    def judge(self, number: int, sources: Places, groups: Places) -> Flow[JudgedSources]:
        """Judge some rows with one relation."""
        record = self.trial.record
        rng = self.trial.make_rng(record.groups, number)
        judged = yield from self.relations[number].check(self.inputs.take(sources), rng)
        if self.trial.is_plotted:
            record.first_rows.append((number, groups[judged.rows] + 1, judged))
        violating = np.flatnonzero(judged.verdicts == VIOLATED)
        # a relation of batches may judge a row several times
        _, first = np.unique(judged.rows[violating], return_index=True)
        violations = [
            _to_violating_group(judged, i, self.trial.number, int(groups[judged.rows[i]]) + 1, number)
            for i in violating[first][:MAX_VIOLATIONS_KEPT]
        ]
        return JudgedSources(find_worst_verdicts(judged, len(sources)), violations)


def _to_violating_group(judged: JudgedGroups, place: int, trial: int, number: int, relation: int) -> ViolatingGroup:
    """Return a group with the values of its rows; follow-ups may lie outside the space, so there are no codes."""
    pairs = [(judged.source, judged.before), (judged.follow_up, judged.after), *judged.further]
    return ViolatingGroup(
        trial=trial,
        number=number,
        relation=relation,
        inputs=tuple(_read_row(batch, place) for batch, _ in pairs),
        outputs=tuple(outputs.values[place] for _, outputs in pairs),
    )


def _read_row(batch: Batch, place: int) -> Any:
    """Return the values of a row as an array of objects."""
    frame = batch.take(np.array([place])).frame
    values = np.empty(frame.shape[1], dtype=object)
    for column in range(frame.shape[1]):
        values[column] = frame.iloc[:, column].tolist()[0]
    return values


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

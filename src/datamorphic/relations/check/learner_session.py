"""Check relations on a learner: train, judge, shrink and replay violations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..._estimates import LIMIT_TIME, WorkPace, refuse_many_rows
from ..._typing import ModelLike, SupportsFit
from ...errors import DataError
from ...runs.flow import Budget, Flow, ask
from ...space.outputs import Outputs
from ...systems.base import Executor
from ...systems.clusterer import Clusterer
from ...systems.learner import Learner, is_regressor
from ...systems.pairs import LearnerPair
from ...systems.training import TrainingBatch
from ...systems.traits import is_transformer, read_traits
from ...systems.transformer import Transformer
from ..algebra.base import HOLDS, VIOLATED
from ..algebra.outcome import ViolatingCase
from ..algebra.shrink import shrink_training_data
from ..learners.base import LearnerRelation
from ..learners.cluster_sampling import describe_random_groups, make_cluster_sampler, make_rows_sampler
from ..learners.clusterers import CLUSTER_RELATIONS
from ..learners.hyperparameters import VariedParameters, list_parameter_values
from ..learners.mixed_data import CASES_PER_MIXED_SET, DataForm, MixedSampler, describe_mixed_data, draw_trial
from ..learners.requirement import Requirement, must_hold
from ..learners.result import JudgingOptions, LearnerSubject
from ..learners.sampling import (
    CASES_PER_TRAINING_SET,
    MAX_TRAINING_ROWS,
    MIXED_DATA,
    RANDOM_ATTRIBUTE_COUNT,
    TrainingSampler,
    describe_random_data,
    draw_random_training,
    make_data_sampler,
)
from ..learners.sklearn import LEARNER_RELATIONS
from ..learners.waves import LearnerRelationOutcome, TrainingSource, check_again, check_in_waves
from .causes import (
    MAX_COMPARED_SETS,
    MAX_TRIED_SETS,
    MAX_VIOLATING_CASES,
    MIN_AGREEMENT,
    MIN_CASES_TO_SPARE_ONE,
    MIN_HOLDING_SHARE,
    MIN_VIOLATING_CASES,
    ConfirmedCause,
    KnownCause,
    has_equal_steps,
    list_candidates,
    place_along_attribute,
)
from .session import CheckSession
from .violation import LearnerViolation, build_violation, training_from_json, training_to_json

Result = TypeVar("Result")
FITTED_AGAIN = "fitted again"  # the relation of clusterers that needs no other one
MIN_TRAINING_ROWS = 20  # of a random training set, so that most relations apply
# on which to find out whether a learner gives the same labels twice: few if its random_state can be set, and it says so itself
REPEATABILITY_INPUTS, MAX_REPEATABILITY_INPUTS = 20, 300
REPEATABILITY_BUDGET_SHARE = 0.1


@dataclass(kw_only=True)
class LearnerSession(CheckSession[LearnerRelationOutcome, LearnerViolation]):
    """A learner, the relations to check on it, and their outcomes so far."""

    learner: Any
    inputs: TrainingSource
    random_data: str = ""  # "random" or "mixed" if the training sets are drawn
    like: Any = None  # the estimator whose necessary relations the learner must satisfy, if not its own
    other: Any = None  # a second learner, which is trained on the data that are for it

    def __post_init__(self) -> None:
        self.subject = LearnerSubject(self.learner, self.like)
        self.is_clusterer = any(not outcome.relation.labelled for outcome in self.outcomes)
        self._judged_outcomes = self.outcomes
        self._systems: dict[int, Executor] = {}  # by seed; reused, so that their processes stay alive

    def use_random_data(self, data: str, max_rows: int) -> str:
        """Draw random training sets of at most `max_rows` rows, "random" or "mixed" ones; return what they are in words."""
        refuse_many_rows("check", "rows", max_rows, RANDOM_ATTRIBUTE_COUNT)
        run_flow = partial(self._drive, budget=None)
        if data == MIXED_DATA and not self.is_clusterer:
            mixed_sampler = make_mixed_sampler(self.learner, max_rows, run_flow)
            self.inputs = replace(self.inputs, draw=mixed_sampler, cases=CASES_PER_MIXED_SET)
            return describe_mixed_data(mixed_sampler)
        sampler = make_random_sampler(self.learner, max_rows=max_rows, run_flow=run_flow, clusters=self.is_clusterer)
        self.inputs = replace(self.inputs, draw=sampler)
        return describe_random_groups(self.learner, max_rows) if self.is_clusterer else describe_random_data(max_rows)

    def vary_parameters(self) -> str:
        """Draw training sets for other values of the learner's parameters, too; return what they are in words."""
        sampler = VariedParameters(draw=self.inputs.draw, values=list_parameter_values(self.learner))
        self.inputs = replace(self.inputs, draw=sampler)
        return sampler.describe()

    def accept_unrepeatable(self) -> str:
        """Judge relations by the distribution of labels, since these change from fit to fit; return a note about it.

        Partitions have no distribution, so only the fit to the same rows is judged.
        """
        condition = "when it is fitted again on the same data, and it has no random_state to fix"
        if self.is_clusterer:
            self._judged_outcomes = [outcome for outcome in self.outcomes if outcome.name == FITTED_AGAIN]
            for outcome in self.outcomes:
                outcome.complete = outcome.name != FITTED_AGAIN
            return f"This clusterer gives different clusters {condition}. No other relation can be judged."
        for outcome in self.outcomes:
            if outcome.relation.name != "refit" and not outcome.statistical:
                outcome.judging = replace(outcome.judging, strictness="class_stat")
        return f"This learner gives different labels {condition}. Labels are judged by their distribution."

    def run(self, **details: Any) -> None:
        """Check all relations on as many inputs as the budget allows; `details` are further options of `drive`."""
        pace = WorkPace("check", {"inputs": self.inputs.count}, remedy=LIMIT_TIME)
        self._drive(check_in_waves(self._judged_outcomes, self.subject, self.inputs), pace=pace, **details)

    def shrink(self, outcome: LearnerRelationOutcome, violating_case: ViolatingCase) -> LearnerViolation | None:
        """Return the smallest violation of a case, or the case itself if none is smaller; None if not reproducible."""
        number, data = violating_case.input, self.inputs.draw_training(violating_case.input)
        smallest = self._drive(shrink_training_data(outcome, self.subject, data, number, violating_case.case))
        if smallest is not None:
            return build_violation(outcome, *smallest, shrunk=True)
        result = self._drive(check_again(outcome, self.subject, [data], [number], scores=True))
        if violating_case.case not in result.violations:
            return None
        return build_violation(outcome, result, number, shrunk=False, row=violating_case.case)

    def find_cause(self, violation: LearnerViolation) -> ConfirmedCause | None:
        """Return the known cause of the violations of a relation that an experiment confirms; None if there is none."""
        violated = {outcome.name for outcome in self.outcomes if outcome.violated_count}
        outcome = next(outcome for outcome in self.outcomes if outcome.name == violation.relation)
        for cause in list_candidates(violation, violated):
            if "scores on a grid" in cause.properties and not self._has_grid(outcome.violations[0]):
                continue
            confirmed_cause = self._try_repair(outcome, cause)
            if confirmed_cause is not None:
                return confirmed_cause
        return None

    def _has_grid(self, case: ViolatingCase) -> bool:
        """Return whether scores change in equal steps when a violating case moves along one of its attributes."""
        cases = place_along_attribute(self.inputs.draw_training(case.input).cases([case.case]))
        if cases is None:
            return False
        outputs = self._drive(ask(TrainingBatch([cases]), scores=True))
        return outputs.scores is not None and bool(outputs.ok.all()) and has_equal_steps(outputs.scores)

    def _try_repair(self, outcome: LearnerRelationOutcome, cause: KnownCause) -> ConfirmedCause | None:
        """Return the cause if its repair restores the relation; otherwise None."""
        from ..learners.repairs import REPAIRS, RepairedLearner  # imports scikit-learn

        if REPAIRS[cause.repair].uses_scores and not hasattr(self.learner, "predict_proba"):
            return None
        repaired = make_system(RepairedLearner(self.learner, cause.repair), self.inputs.seed, clusters=False)
        # all inputs up to the last of some violations: a repair that only changes answers would move violations to other inputs
        last_input = outcome.violations[:MAX_VIOLATING_CASES][-1].input
        numbers = range(min(last_input + 1, MAX_TRIED_SETS))
        sets = [self.inputs.draw_training(number) for number in numbers]
        violated = {(case.input, case.case) for case in outcome.violations if case.input < len(numbers)}
        result = self._drive(check_again(outcome, self.subject, sets, numbers), system=repaired)
        violated_after = result.count(VIOLATED)
        places = zip(result.data.training_index.tolist(), result.data.case_index.tolist(), strict=True)
        verdicts = dict(zip(places, result.verdicts.tolist(), strict=True))
        held = sum(verdicts.get(place) == HOLDS for place in violated)
        # one case may have another cause, unless there are few
        max_violated = max(len(violated) >= MIN_CASES_TO_SPARE_ONE, round((1 - MIN_HOLDING_SHARE) * len(violated)))
        if len(violated) < MIN_VIOLATING_CASES or max(len(violated) - held, violated_after) > max_violated:
            return None
        agreement = self._compare_answers(repaired)
        if agreement < MIN_AGREEMENT:
            return None
        names = ("name", "explanation", "experiment", "remedy", "source")
        facts = {name: getattr(cause, name) for name in names}
        return ConfirmedCause(
            relation=outcome.name,
            violated_before=len(violated),
            violated_after=violated_after,
            cases=len(result.verdicts),
            agreement=agreement,
            **facts,
        )

    def _compare_answers(self, repaired: Executor) -> float:
        """Return the share of the answers to some training sets that a repair does not change."""
        batch = TrainingBatch([self.inputs.draw_training(number) for number in range(MAX_COMPARED_SETS)])
        before, after = self._drive(ask(batch)), self._drive(ask(batch), system=repaired)
        answered = before.ok & after.ok
        return float(np.mean(before.values[answered] == after.values[answered])) if answered.any() else 0.0

    def replay(self, outcome: LearnerRelationOutcome, case: Mapping[str, Any]) -> LearnerViolation | None:
        """Return a stored violation of an earlier run if it still occurs, else None."""
        data, seed, number = training_from_json(case), int(case["seed"]), int(case.get("number", 0))
        earlier_outcome = replace(outcome, judging=replace(outcome.judging, seed=seed))
        flow = check_again(earlier_outcome, self.subject, [data], [number], scores=True)
        # not part of the journal: the next run replays what is known then
        result = self._drive(flow, seed, budget=None, journal=None)
        return build_violation(outcome, result, number, shrunk=True) if result.count(VIOLATED) else None

    def to_stored_case(self, violation: LearnerViolation) -> dict[str, Any] | None:
        """Return a violation as a store keeps it; None if JSON cannot hold it."""
        try:
            return {**training_to_json(violation.source), "seed": self.inputs.seed, "number": violation.number}
        except DataError:
            return None

    def is_repeatable(self, budget: Budget) -> bool:
        """Return whether the learner gives the same labels when fitted again, as far as a small share of the budget allows to see."""
        relation = CLUSTER_RELATIONS[FITTED_AGAIN] if self.is_clusterer else LEARNER_RELATIONS["refit"]
        (refit,) = prepare_outcomes([relation], {relation.name: must_hold("")}, self.inputs.seed)
        says_so = hasattr(self.learner, "get_params") and read_traits(self.learner).repeatable
        limit = REPEATABILITY_INPUTS if says_so else MAX_REPEATABILITY_INPUTS
        small_source = replace(self.inputs, count=min(limit, self.inputs.count))
        small_budget = budget.scale(REPEATABILITY_BUDGET_SHARE)
        self._drive(check_in_waves([refit], self.subject, small_source, progress=0.0), budget=small_budget)
        return not refit.changed_count

    def _drive(
        self, flow: Flow[Result], seed: int | None = None, *, system: Executor | None = None, **details: Any
    ) -> Result:
        seed = self.inputs.seed if seed is None else seed
        system = system or self._systems.get(seed)
        if system is None:
            learners = [self.learner] if self.other is None else [self.learner, self.other]
            systems = [make_system(learner, seed, clusters=self.is_clusterer) for learner in learners]
            system = self._systems[seed] = systems[0] if self.other is None else LearnerPair(*systems)
        # no cache and no second query: relations find out themselves whether labels repeat
        return self.drive(flow, system, recheck=0, alive=True, cache=None, **details)


def make_system(learner: Any, seed: int, *, clusters: bool) -> Learner:
    """Return a learner as a system whose cases are training sets with test cases."""
    if clusters:
        return Clusterer(learner, seed=seed)
    return Transformer(learner, seed=seed) if is_transformer(learner) else Learner(learner, seed=seed)


def make_training_source(
    learner: Any,
    data: object,
    target: str | None,
    *,
    clusters: bool,
    cases: int = CASES_PER_TRAINING_SET,
    count: int = 1,
    seed: int = 0,
) -> TrainingSource:
    """Return a source of random training sets that most relations apply to or, with data, of parts of them."""
    if data is None:
        sampler = make_random_sampler(learner, min_rows=MIN_TRAINING_ROWS, clusters=clusters)
    else:
        sampler = make_rows_sampler(learner, data, target) if clusters else make_data_sampler(data, target)
    return TrainingSource(sampler, count, cases, seed)


def make_random_sampler(
    learner: SupportsFit | ModelLike,
    *,
    min_rows: int = 1,
    max_rows: int = MAX_TRAINING_ROWS,
    clusters: bool = False,
    run_flow: Callable[[Flow[Outputs]], Outputs] | None = None,
) -> TrainingSampler:
    """Return a sampler of random training sets in the form the learner needs.

    `run_flow` answers the trial query with the guards of a run, since a learner may hang or crash at once.
    """
    first_set = (
        make_cluster_sampler(learner)(np.random.default_rng(0), 1)
        if clusters
        else draw_random_training(np.random.default_rng(0), min_rows=MAX_TRAINING_ROWS)
    )
    batch = TrainingBatch([first_set])
    if run_flow is None:
        outputs = make_system(learner, 0, clusters=clusters).execute(batch)
    else:
        outputs = run_flow(ask(batch))
    if clusters:
        return make_cluster_sampler(learner, max_rows, framed=not outputs.ok.all())
    return partial(draw_random_training, min_rows=min_rows, max_rows=max_rows, framed=not outputs.ok.all())


def make_mixed_sampler(
    learner: SupportsFit | ModelLike, max_rows: int, run_flow: Callable[[Flow[Outputs]], Outputs]
) -> MixedSampler:
    """Return a sampler of training sets of many kinds, in the forms that the learner answers on plain ones.

    `run_flow` answers the trial query with the guards of a run, since a learner may hang or crash at once.
    """
    traits = read_traits(learner)
    if not traits.kind and is_regressor(learner):
        traits = replace(traits, kind="regressor")
    trials = [
        DataForm(framed=framed, text_labels=text, number_labels=not text)
        for framed in (False, True)
        for text in (True, False)
    ]
    trials.append(DataForm(text_labels=False, categories=True))
    answered = run_flow(ask(TrainingBatch([draw_trial(form, traits) for form in trials]))).ok.tolist()
    framed = any(answered[2:4]) and not any(answered[:2])
    text_labels, number_labels = answered[2:4] if framed else answered[:2]
    if traits.kind == "regressor" and not any(answered):
        positive = replace(traits, positive_targets=True)
        if run_flow(ask(TrainingBatch([draw_trial(DataForm(), positive)]))).ok.all():
            traits = positive
    form = DataForm(
        framed=framed, text_labels=text_labels, number_labels=number_labels or not text_labels, categories=answered[4]
    )
    return MixedSampler(traits=traits, form=form, max_rows=max_rows)


def prepare_outcomes(
    relations: Iterable[LearnerRelation], requirements: Mapping[str, Requirement], seed: int, ties: str = "aside"
) -> list[LearnerRelationOutcome]:
    """Return an empty outcome per relation."""
    outcomes = []
    for relation in relations:
        requirement = requirements[relation.name]
        default_strictness = "score_exact" if relation.about_scores else "class_exact"
        strictness = default_strictness if requirement.strictness == "expected_failure" else requirement.strictness
        judging = JudgingOptions(strictness, ties, seed)
        outcomes.append(LearnerRelationOutcome(relation=relation, requirement=requirement, judging=judging))
    return outcomes

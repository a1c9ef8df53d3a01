"""Check one relation on one learner for an assertion."""

from __future__ import annotations

from .._clock import read_clock
from .._typing import DataLike, ModelLike, SupportsFit
from ..errors import DataError
from ..relations.algebra.base import INAPPLICABLE, UNDEFINED
from ..relations.check.learner_session import LearnerSession, make_training_source, prepare_outcomes
from ..relations.learners.base import ClusterRelation, LearnerRelation
from ..relations.learners.necessity import Requirement
from ..runs.driver import Driver
from ..runs.flow import Budget
from ..systems.learner import format_learner
from .assert_relation import AssertionOutcome
from .replay import Memory


def check_learner_relation(
    relation: LearnerRelation,
    learner: SupportsFit | ModelLike,
    requirement: Requirement,
    memory: Memory,
    *,
    data: DataLike | None = None,
    target: str | None = None,
    cases: int,
    seed: int,
    budget: Budget | str | float | None = None,
    shrink: bool = True,
) -> AssertionOutcome:
    """Check a relation on a learner: known violations first, then new training sets.

    Without `shrink`, violations are neither shrunk nor kept; for relations that need not hold.
    """
    name, began = relation.name, read_clock()
    clusters = isinstance(relation, ClusterRelation)
    inputs = make_training_source(learner, data, target, clusters=clusters, count=cases, seed=seed)
    (outcome,) = prepare_outcomes([relation], {name: requirement}, seed)
    driver = Driver({"progress": False})
    session = LearnerSession(learner=learner, outcomes=[outcome], inputs=inputs, drive=driver.drive)
    replay_results, violations = [], []
    for failure in [] if outcome.statistical or not shrink else memory.recall(name):
        try:
            violation = session.replay(outcome, failure.case)
        except (DataError, KeyError, TypeError, ValueError):
            continue  # the case belongs to another learner of this name
        replay_results.append((failure, violation is not None))
        if violation is not None:
            violations.append(violation)
    session.run(budget=budget)
    smallest, note = None, ""
    if outcome.statistical:
        note = f"{outcome.changed_count:,} changed, judged by their distribution"
    elif outcome.changed_count and shrink:
        smallest = session.shrink(outcome, outcome.violations[0])
    case = None if smallest is None else session.to_stored_case(smallest)
    memory.update(name, replay_results, [] if case is None else [case])
    example = violations[0] if violations else smallest
    notes = [
        note,
        f"{len(violations)} of {len(replay_results)} replayed" if replay_results else "",
        "the budget is spent" if driver.counter.exhausted else "",
    ]
    has_unjudged = bool(outcome.counts[UNDEFINED] or outcome.counts[INAPPLICABLE])
    messages = [text for text in outcome.messages if text and has_unjudged]
    return AssertionOutcome(
        relation=name,
        says=relation.statement,
        system=format_learner(learner),
        cases=outcome.judged_count,
        violated_count=outcome.violated_count,
        undefined_count=int(outcome.counts[UNDEFINED]),
        calls=driver.counter.all_calls,
        seconds=read_clock() - began,
        example="" if example is None else example.describe(),
        unjudged_reason=messages[0] if messages else "",
        tried_count=len(replay_results),
        replayed_count=len(violations),
        note=", ".join(filter(None, notes)),
        remark="" if requirement.necessary else f"A correct learner of this kind may violate it: {requirement.reason}.",
    )

"""Check one relation on one system and find its smallest violation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._estimates import WorkPace
from ...runs.driver import CallCounter, Driver, FlowDriver
from ...runs.flow import Budget, Query
from ...space.features import Codes
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.space import Space
from ...systems.base import Executor
from ..algebra.base import JudgedGroups, SystemRelation
from ..algebra.change import ChangeRelation
from ..algebra.shrink import shrink_violation

DRIVE_OPTIONS: Mapping[str, Any] = {"recheck": 0, "alive": True}  # of `drive`, where a relation compares answers itself


@dataclass(frozen=True, eq=False)
class RelationCheck:
    """The outcome of one relation on one system."""

    relation: SystemRelation  # fitted to the system
    inputs: Points
    groups: JudgedGroups
    smallest: JudgedGroups | None  # the smallest violation; None if there is none, or it was not searched


class QueryPace:
    """Counts the rows that relations have queried so far, to estimate how long their answers take."""

    def __init__(self, owner: str, numbers: Mapping[str, int], remedy: str) -> None:
        self.count = self.answered_count = 0
        self.pace = WorkPace(owner, numbers, remedy=remedy, measure=lambda: self.answered_count / self.count)

    def add_answers(self, piece: int, answers: Outputs) -> None:
        """Count the rows of an answered piece of a query."""
        self.answered_count += len(answers)

    def begin_query(self, query: Query) -> None:
        """Count the rows of a query before it is answered; all earlier ones are, from a cache if not by the system."""
        self.answered_count = self.count
        self.count += len(query.batch)


def run_relation_check(
    relation: SystemRelation,
    sut: Executor,
    inputs: Points,
    *,
    counter: CallCounter | None = None,
    budget: Budget | str | float | None = None,
    seed: int = 0,
    usual_values: Codes | None = None,
    plausible_space: Space | None = None,
    **drive_options: Any,
) -> RelationCheck:
    """Check a relation within a budget, and add what it cost to the counter; see `check_system_relation`.

    The other keyword arguments are options of `drive`.
    """
    driver = Driver({"progress": False, **drive_options}, Budget.parse(budget))
    try:
        return check_system_relation(
            relation, sut, inputs, driver.drive, seed=seed, usual_values=usual_values, plausible_space=plausible_space
        )
    finally:
        if counter is not None:
            counter.runs += driver.counter.runs
            counter.calls += driver.counter.all_calls
            counter.interrupted |= driver.counter.interrupted  # a flow may return what it has


def check_system_relation(
    relation: SystemRelation,
    sut: Executor,
    inputs: Points,
    drive: FlowDriver,
    *,
    seed: int = 0,
    usual_values: Codes | None = None,
    plausible_space: Space | None = None,
    source_answers: Outputs | None = None,
    shrink: bool = True,
    query_pace: QueryPace | None = None,
) -> RelationCheck:
    """Query a system, judge its answers, and shrink the first violation.

    `inputs` are what `relation.draw_inputs` returns.
    `usual_values` replace the values of an example that do not matter, by default those usual among the inputs, as far as the
    example satisfies the constraints of `plausible_space`. `source_answers` are the answers to the inputs, if another
    relation about changes queried them. Without `shrink`, no smallest violation is searched. `query_pace` refuses the
    check if the rows that it queries would take too long. The caller has to find out whether the relation applies, with
    ``relation.find_obstacle(sut, inputs)``.
    """
    fitted_relation, system = relation.fitted_to(sut, inputs), relation.system(sut)
    if relation.draws_inputs:
        usual_values = plausible_space = None  # those of the data

    details = dict(DRIVE_OPTIONS)
    if query_pace is not None:
        details |= {"pace": query_pace.pace, "on_query": query_pace.begin_query, "on_piece": query_pace.add_answers}

    groups: JudgedGroups
    if source_answers is not None and isinstance(fitted_relation, ChangeRelation):
        groups = drive(fitted_relation.check_answered(inputs, source_answers), system, **details)
    else:
        groups = drive(fitted_relation.check(inputs, np.random.default_rng(seed)), system, **details)
    smallest = None
    if shrink and len(groups.violations):
        flow = shrink_violation(fitted_relation, inputs, groups, seed, usual_values, plausible_space)
        smallest = drive(flow, system, **details)
    return RelationCheck(fitted_relation, inputs, groups, smallest)

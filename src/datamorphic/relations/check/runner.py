"""Check one relation on one system and find its smallest violation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...runs.driver import CallCounter, drive
from ...runs.flow import Budget, Flow
from ...space.features import Codes
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.space import Space
from ...systems.base import Executor
from ..base import JudgedGroups, Relation
from ..change import ChangeRelation
from ..shrink import shrink_violation

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class RelationCheck:
    """The outcome of one relation on one system."""

    relation: Relation  # fitted to the system
    inputs: Points
    groups: JudgedGroups
    smallest: JudgedGroups | None  # the smallest violation; None if there is none, or it was not searched


def run_relation_check(
    relation: Relation,
    sut: Executor,
    inputs: Points,
    *,
    seed: int = 0,
    counter: CallCounter | None = None,
    usual_values: Codes | None = None,
    plausible_space: Space | None = None,
    budget: Budget | str | float | None = None,
    source_answers: Outputs | None = None,
    shrink: bool = True,
    **drive_options: Any,
) -> RelationCheck:
    """Query a system, judge its answers, and shrink the first violation.

    `usual_values` replace the values of an example that do not matter, by default those usual among the inputs, as far as the
    example satisfies the constraints of `plausible_space`. `source_answers` are the answers to the inputs, if another
    relation about changes queried them. Without `shrink`, no smallest violation is searched. The other keyword arguments are
    options of `drive`. The caller has to find out whether the relation applies, with ``relation.why_not(sut, inputs)``.
    """
    fitted_relation, system = relation.fitted_to(sut, inputs), relation.system(sut)
    drive_options = {"progress": False, "recheck": 0, "alive": True, **drive_options}
    remaining = Budget.parse(budget)
    total = counter if counter is not None else CallCounter()

    def run_flow(flow: Flow[Result]) -> Result:
        nonlocal remaining
        cost = CallCounter()  # a drive overwrites the figures of its counter
        try:
            return drive(flow, system, tally=cost, budget=remaining, **drive_options)
        finally:
            remaining = remaining.subtract(cost.runs, cost.seconds)
            total.runs += cost.runs
            total.calls += cost.calls + cost.health.repeated_rows

    groups: JudgedGroups
    if source_answers is not None and isinstance(fitted_relation, ChangeRelation):
        groups = run_flow(fitted_relation.check_answered(inputs, source_answers))
    else:
        groups = run_flow(fitted_relation.check(inputs, np.random.default_rng(seed)))
    smallest = None
    if shrink and len(groups.violations):
        smallest = run_flow(shrink_violation(fitted_relation, inputs, groups, seed, usual_values, plausible_space))
    return RelationCheck(fitted_relation, inputs, groups, smallest)

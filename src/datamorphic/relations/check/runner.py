"""A relation put to a system: asked, judged, and its smallest violation found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...runs.driver import CallCounter, drive
from ...runs.flow import Budget, Flow
from ...space.features import Codes
from ...space.points import Points
from ...systems.base import Executor
from ..base import JudgedGroups, Relation
from ..shrink import shrink_violation

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class RelationCheck:
    """What became of a relation.

    Attributes
    ----------
    relation : Relation
        The relation, fitted to the system.
    inputs : Points
        The source cases.
    groups : Groups
        All groups with their verdicts.
    smallest : Groups or None
        The smallest violation; None if there is none.
    """

    relation: Relation
    inputs: Points
    groups: JudgedGroups
    smallest: JudgedGroups | None


def run_relation_check(
    relation: Relation,
    sut: Executor,
    inputs: Points,
    *,
    seed: int = 0,
    counter: CallCounter | None = None,
    usual_values: Codes | None = None,
    **drive_options: Any,
) -> RelationCheck:
    """Put a relation to a system: ask, judge, shrink; `driving` are options of `drive`.

    `ordinary` are the usual values that an example may have wherever they do not matter, by default those of the inputs.
    Whether the relation applies is for the caller to ask, with ``relation.why_not(sut, inputs)``.
    """
    fitted_relation, system = relation.fitted_to(sut, inputs), relation.system(sut)
    drive_options = {"progress": False, "recheck": 0, "alive": True, **drive_options}
    remaining = Budget.parse(drive_options.pop("budget", None))
    total = counter if counter is not None else CallCounter()

    def run_flow(flow: Flow[Result]) -> Result:
        nonlocal remaining
        cost = CallCounter()  # one tally a drive: it sets what it counts
        try:
            return drive(flow, system, tally=cost, budget=remaining, **drive_options)
        finally:
            remaining = remaining.subtract(cost.runs, cost.seconds)
            total.runs += cost.runs
            total.calls += cost.calls + cost.health.repeated_rows

    groups = run_flow(fitted_relation.check(inputs, np.random.default_rng(seed)))
    smallest = None
    if len(groups.violations):
        smallest = run_flow(shrink_violation(fitted_relation, inputs, groups, seed, usual_values))
    return RelationCheck(fitted_relation, inputs, groups, smallest)

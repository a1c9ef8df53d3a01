"""A relation put to a system: asked, judged, and its smallest violation found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..relations.base import Groups, Relation
from ..relations.shrinking import shrunk
from ..runs.drive import Tally, drive
from ..space.features import Codes
from ..space.points import Points
from ..strategies.flow import Budget, Flow
from ..sut.base import Executor

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Checked:
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
    groups: Groups
    smallest: Groups | None


def checked(
    relation: Relation,
    sut: Executor,
    inputs: Points,
    *,
    seed: int = 0,
    tally: Tally | None = None,
    ordinary: Codes | None = None,
    **driving: Any,
) -> Checked:
    """Put a relation to a system: ask, judge, shrink; `driving` are options of `drive`.

    `ordinary` are the usual values that an example may have wherever they do not matter, by default those of the inputs.
    Whether the relation applies is for the caller to ask, with ``relation.why_not(sut, inputs)``.
    """
    fitted, system = relation.fitted_to(sut, inputs), relation.system(sut)
    driving = {"progress": False, "recheck": 0, "alive": True, **driving}
    left = Budget.parse(driving.pop("budget", None))
    total = tally if tally is not None else Tally()

    def asked(flow: Flow[Result]) -> Result:
        nonlocal left
        cost = Tally()  # one tally a drive: it sets what it counts
        try:
            return drive(flow, system, tally=cost, budget=left, **driving)
        finally:
            left = left.less(cost.runs, cost.seconds)
            total.runs += cost.runs
            total.calls += cost.calls + cost.health.asked_again

    groups = asked(fitted.check(inputs, np.random.default_rng(seed)))
    smallest = None
    if len(groups.violations):
        smallest = asked(shrunk(fitted, inputs, groups, seed, ordinary))
    return Checked(fitted, inputs, groups, smallest)

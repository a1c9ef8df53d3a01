"""`find_disagreements`: search for cases on which two systems that must be one answer differently."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from ..._clock import measure_slowdown, read_clock
from ...core.result import Finding
from ...errors import OutOfBudget
from ...runs.flow import Budget
from ...space.outputs import Outputs
from ...space.points import Batch, Points
from ...systems.base import Executor, ScoreRequest
from .findings import build_findings
from .foreign import ForeignSite, FormSite, find_foreign_sites, find_form_sites
from .shrinking import Site, shrink
from .twins import QUERY_OPTIONS, SystemQuery, Twins, ask_twin, query_directly
from .walks import Search

if TYPE_CHECKING:
    from ..context import ComparisonContext

DEFAULT_SECONDS = 20.0
SEARCH_BUDGET_SHARE = 0.7  # of what is left of the budget of a comparison, on a busy machine
SEARCH_END_SHARE = 0.6  # of the time, after which cases are shrunk
SHRINKING_END_SHARE = 0.9  # of the time, after which findings are built


def find_disagreements(context: ComparisonContext, budget: Budget) -> list[Finding]:
    """Return the differences between two systems that must be one, on given rows and beyond them."""

    def query(system: Executor, batch: Batch, scores: ScoreRequest) -> Outputs:
        return context.execution.drive(ask_twin(batch, scores), system, **QUERY_OPTIONS)

    return compare_twins(
        context.old.sut,
        context.new.sut,
        context.inputs,
        query=query,
        tolerance=context.tolerance,
        seconds=_find_seconds(context, budget),
        seed=context.seed,
    )


def _find_seconds(context: ComparisonContext, budget: Budget) -> float:
    """Return the seconds for the search: more on a busy machine, as far as the budget of the comparison allows."""
    seconds = DEFAULT_SECONDS if budget.seconds is None else budget.seconds
    left = context.seconds_left
    wanted = seconds * context.execution.recall(measure_slowdown)
    return wanted if left is None else max(min(wanted, SEARCH_BUDGET_SHARE * left), min(seconds, left))


def compare_twins(
    old: Executor,
    new: Executor,
    points: Points,
    *,
    query: SystemQuery = query_directly,
    tolerance: float | None = None,
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
) -> list[Finding]:
    """Return the differences between two systems on given rows and beyond them, within a number of seconds."""
    start = read_clock()
    end = start + seconds * SEARCH_END_SHARE
    twins = Twins(old, new, query=query, tolerance=tolerance, is_late=lambda: read_clock() > end)
    search = Search(twins=twins, points=points, seed=seed)
    foreign_sites: list[ForeignSite] = []
    form_sites: list[FormSite] = []
    search.ask_given_rows()
    with suppress(OutOfBudget):  # what was found so far is reported
        if len(search.agreeing):
            form_sites = find_form_sites(search)
            foreign_sites = find_foreign_sites(search)
            search.explore()
    sites: list[Site] = []
    end = start + seconds * SHRINKING_END_SHARE
    with np.errstate(all="ignore"):
        with suppress(OutOfBudget):
            sites = shrink(search)
        end = start + seconds
        return build_findings(search, sites, foreign_sites, form_sites)

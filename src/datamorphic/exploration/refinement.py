"""`Refinement`: narrow brackets by one of several methods.

With every method, a case is an end of a pair only by the label that the system itself gave to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .._text import pluralize
from ..morphisms.terrain import Terrain, build_native_terrain
from ..runs.flow import Flow
from ..space import geometry
from ..space.space import Space
from .borders import Border
from .brackets import Brackets, ExplorationRecord
from .changes import Rows
from .narrowing import Narrowing
from .score_guides import Guide

REFINEMENT_METHODS = ("auto", "bisect", "score", "multisection")
UNLIMITED_HALVINGS = 1100  # a float64 interval cannot be halved more often
PILOT_BRACKETS = 32  # brackets on which `auto` tries the scores
MAX_SCORE_COST_SHARE = 0.6  # scores are used if they need at most this share of the cases of bisection


@dataclass
class Refinement:
    """The method by which brackets are narrowed, and its limits."""

    terrain: Terrain
    steps: int  # the maximum number of halvings per bracket
    delta: float | None = None  # a bracket of at most this width is not narrowed
    method: str = "auto"  # tries scores on the first brackets, and uses them if they need fewer cases
    #: returns the guide for a border once that is known; without a guide, the method `score` is bisection
    guide_factory: Callable[[Border], Guide | None] | None = None
    guide: Guide | None = field(default=None, init=False)
    _case_counts: list[tuple[float, float]] = field(default_factory=list, init=False)
    _leftover_count: int = field(default=0, init=False)

    def __call__(
        self,
        border: Border,
        brackets: Brackets,
        walk_runs: Rows,
        record: ExplorationRecord,
        progress: float,
        share: float = 0.0,
    ) -> Flow[None]:
        """Narrow brackets in place, and add the cases used to the runs of their walks."""
        if not len(brackets):
            return
        # Guides compute points on a straight line, which custom midpoints need not follow.
        if self.guide is None and self.guide_factory is not None and self.terrain.straight and self.terrain.continuous:
            self.guide = self.guide_factory(border)
        if self.guide is None and self.method in ("auto", "score"):
            if self.method == "score":
                record.add_note("There are no scores to be guided by here: pairs are narrowed by halving.")
            self.method = "bisect"
        narrowing = Narrowing(
            terrain=self.terrain,
            border=border,
            brackets=brackets,
            steps=self.steps,
            delta=self.delta,
            guide=self.guide,
            progress=progress,
            share=share,
        )
        try:
            yield from self._narrow(narrowing, record)
        finally:  # the budget may end at any query
            walk_runs += np.bincount(brackets.walk, brackets.runs, len(walk_runs)).astype(np.intp)
            if border.min_gap > 0:  # a steep slope looks like a jump in a wide bracket
                is_jump = border.measure_gap(brackets.x_state, brackets.y_state, brackets.part) > border.min_gap
                record.slopes += int((~is_jump).sum())
                brackets.keep_rows(is_jump)

    def _narrow(self, narrowing: Narrowing, record: ExplorationRecord) -> Flow[None]:
        rows = np.arange(len(narrowing.brackets))
        if self.method == "multisection":
            yield from narrowing.multisect()
            return
        pilot_rows = rows[:0]
        if self.method == "auto":
            pilot_size = PILOT_BRACKETS - len(self._case_counts)
            pilot_rows, rows = rows[:pilot_size], rows[pilot_size:]
            pilot_rows = yield from self._run_pilot(narrowing, pilot_rows, record)
        if self.method in ("auto", "score"):
            rows = yield from narrowing.narrow_by_scores(rows)
        yield from narrowing.bisect(np.union1d(pilot_rows, rows))

    def _run_pilot(self, narrowing: Narrowing, rows: Rows, record: ExplorationRecord) -> Flow[Rows]:
        """Narrow the first brackets by scores, choose the method, and return the brackets left to bisection."""
        remaining = yield from narrowing.narrow_by_scores(rows, doubtful=True)
        self._leftover_count += len(remaining)
        for guided_cases, halved_cases in narrowing.case_counts:
            self._case_counts += zip(guided_cases.tolist(), halved_cases.tolist(), strict=True)
        narrowing.case_counts.clear()
        trial_count = len(self._case_counts)
        if trial_count >= PILOT_BRACKETS or (trial_count and len(rows) < len(narrowing.brackets)):
            guided_median, halved_median = np.median(np.array(self._case_counts), axis=0)
            helped = guided_median <= MAX_SCORE_COST_SHARE * halved_median and 2 * self._leftover_count < trial_count
            self.method = "score" if helped else "bisect"
            trials = f"(tried on {pluralize(trial_count, 'pair')})"
            note = f"Scores lead to a border no faster than halving {trials}: not used."
            if helped:
                cases = f"{guided_median:g} cases where halving takes {halved_median:g}"
                note = f"Scores narrow a pair with {cases} {trials}: used."
            record.add_note(note)
        return remaining


def make_bisection(space: Space, delta: float) -> Refinement:
    """Return a bisection that halves brackets to a width of at most `delta`, numbers divided by their ranges.

    It stops after as many halvings as a bracket across the whole space needs: cases of different categories never get
    that near, and their numbers need not be halved for ever.
    """
    terrain = build_native_terrain(space)
    scaled = replace(terrain, distance=lambda a, b: geometry.distance(space, a.codes, b.codes, scaled=True))
    return Refinement(scaled, math.ceil(math.log2(len(space) / delta)), delta, "bisect")

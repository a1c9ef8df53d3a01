"""`Refinement`: which way brackets are narrowed.

Whatever way is taken, a case stays an end of a pair only by the label that the system gave to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .._text import pluralize
from ..morphisms.terrain import Terrain
from ..runs.flow import Flow
from .borders import Border
from .brackets import Brackets, ExplorationRecord, Rows
from .score_guides import Guide
from .score_narrowing import GuidedNarrowing

REFINEMENT_METHODS = ("auto", "bisect", "score", "multisection")
UNLIMITED_HALVINGS = 1100  # halvings: a float64 interval has no more
PILOT_BRACKETS = 32  # brackets on which `auto` tries the scores
MAX_SCORE_COST_SHARE = 0.6  # scores are used if they need at most this share of bisection's cases


@dataclass
class Refinement:
    """How brackets are narrowed.

    Attributes
    ----------
    ground : Terrain
        Midpoint and distance.
    steps : int
        How often a bracket is halved at most.
    delta : float, optional
        A bracket at most this wide is left alone.
    method : {"auto", "bisect", "score", "multisection"}
        `auto` tries scores on the first brackets and keeps to what needed fewer cases.
    guide_for : callable, optional
        Gives the `Guide` for the border, once that is known; without one `score` is bisection.
    """

    ground: Terrain
    steps: int
    delta: float | None = None
    method: str = "auto"
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
        """Narrow brackets in place, by the method that was chosen, and count what that took with their walks."""
        if not len(brackets):
            return
        self._resolve_guide(border, record)
        narrowing = GuidedNarrowing(
            self.ground, border, brackets, self.steps, self.delta, self.guide, progress, share
        )
        try:
            yield from self._narrow(narrowing, record)
        finally:  # a budget may end it anywhere
            walk_runs += np.bincount(brackets.walk, brackets.runs, len(walk_runs)).astype(np.intp)
            if border.min_gap > 0:  # a steep slope looks like a jump from afar
                is_jump = border.measure_gap(brackets.x_state, brackets.y_state, brackets.part) > border.min_gap
                record.slopes += int((~is_jump).sum())
                brackets.keep_rows(is_jump)

    def _resolve_guide(self, border: Border, record: ExplorationRecord) -> None:
        """Find out whether there is something to be guided by."""
        # Other midpoints than the space's own lead who knows where: nothing but they themselves can be between.
        if (
            self.guide is None
            and self.guide_factory is not None
            and self.ground.straight
            and self.ground.continuous
        ):
            self.guide = self.guide_factory(border)
        if self.guide is None and self.method in ("auto", "score"):
            if self.method == "score":
                record.add_note("There are no scores to be guided by here: pairs are narrowed by halving.")
            self.method = "bisect"

    def _narrow(self, narrowing: GuidedNarrowing, record: ExplorationRecord) -> Flow[None]:
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

    def _run_pilot(self, narrowing: GuidedNarrowing, rows: Rows, record: ExplorationRecord) -> Flow[Rows]:
        """Narrow the first brackets by scores, decide when there were enough, and return those left to halving."""
        remaining = yield from narrowing.narrow_by_scores(rows, doubtful=True)
        self._leftover_count += len(remaining)
        for guided_cases, halved_cases in narrowing.case_counts:
            self._case_counts += zip(guided_cases.tolist(), halved_cases.tolist(), strict=True)
        narrowing.case_counts.clear()
        trial_count = len(self._case_counts)
        if trial_count >= PILOT_BRACKETS or (trial_count and len(rows) < len(narrowing.brackets)):
            guided_median, halved_median = np.median(np.array(self._case_counts), axis=0)
            helped = (
                guided_median <= MAX_SCORE_COST_SHARE * halved_median and 2 * self._leftover_count < trial_count
            )
            self.method = "score" if helped else "bisect"
            summary = (
                f"Scores narrow a pair with {guided_median:g} cases where halving takes {halved_median:g}"
                if helped
                else "Scores lead to a border no faster than halving"
            )
            verdict = "used" if helped else "not used"
            record.add_note(f"{summary} (tried on {pluralize(trial_count, 'pair')}): {verdict}.")
        return remaining

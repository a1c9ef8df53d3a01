"""`Refinement`: which way brackets are narrowed.

Whatever way is taken, a case stays an end of a pair only by the label that the system gave to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .._checks import plural
from .borders import Border
from .brackets import Brackets, Found, Rows
from .flow import Flow
from .guided import GuidedNarrowing
from .guides import Guide
from .terrain import Terrain

METHODS = ("auto", "bisect", "score", "multisection")
UNLIMITED = 1100  # halvings: a float64 interval has no more
PILOT = 32  # brackets on which `auto` tries the scores
WORTH = 0.6  # scores are used if they need at most this share of bisection's cases


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
    guide_for: Callable[[Border], Guide | None] | None = None
    guide: Guide | None = field(default=None, init=False)
    _taken: list[tuple[float, float]] = field(default_factory=list, init=False)
    _left: int = field(default=0, init=False)

    def __call__(
        self,
        border: Border,
        brackets: Brackets,
        walk_runs: Rows,
        found: Found,
        done: float,
        share: float = 0.0,
    ) -> Flow[None]:
        """Narrow brackets in place, by the method that was chosen, and count what that took with their walks."""
        if not len(brackets):
            return
        self._settle(border, found)
        wave = GuidedNarrowing(self.ground, border, brackets, self.steps, self.delta, self.guide, done, share)
        try:
            yield from self._narrow(wave, found)
        finally:  # a budget may end it anywhere
            walk_runs += np.bincount(brackets.walk, brackets.runs, len(walk_runs)).astype(np.intp)
            if border.least > 0:  # a steep slope looks like a jump from afar
                real = border.gap(brackets.x_state, brackets.y_state, brackets.part) > border.least
                found.slopes += int((~real).sum())
                brackets.keep(real)

    def _settle(self, border: Border, found: Found) -> None:
        """Find out whether there is something to be guided by."""
        # Other midpoints than the space's own lead who knows where: nothing but they themselves can be between.
        if self.guide is None and self.guide_for is not None and self.ground.straight and self.ground.continuous:
            self.guide = self.guide_for(border)
        if self.guide is None and self.method in ("auto", "score"):
            if self.method == "score":
                found.note("There are no scores to be guided by here: pairs are narrowed by halving.")
            self.method = "bisect"

    def _narrow(self, wave: GuidedNarrowing, found: Found) -> Flow[None]:
        rows = np.arange(len(wave.brackets))
        if self.method == "multisection":
            yield from wave.multisect()
            return
        tried = rows[:0]
        if self.method == "auto":
            untried = PILOT - len(self._taken)
            tried, rows = rows[:untried], rows[untried:]
            tried = yield from self._try_out(wave, tried, found)
        if self.method in ("auto", "score"):
            rows = yield from wave.guided(rows)
        yield from wave.bisect(np.union1d(tried, rows))

    def _try_out(self, wave: GuidedNarrowing, rows: Rows, found: Found) -> Flow[Rows]:
        """Narrow the first brackets by scores, decide when there were enough, and return those left to halving."""
        left = yield from wave.guided(rows, doubtful=True)
        self._left += len(left)
        for took, plain in wave.taken:
            self._taken += zip(took.tolist(), plain.tolist(), strict=True)
        wave.taken.clear()
        tried = len(self._taken)
        if tried >= PILOT or (tried and len(rows) < len(wave.brackets)):
            guided, halved = np.median(np.array(self._taken), axis=0)
            helped = guided <= WORTH * halved and 2 * self._left < tried
            self.method = "score" if helped else "bisect"
            told = (
                f"Scores narrow a pair with {guided:g} cases where halving takes {halved:g}"
                if helped
                else "Scores lead to a border no faster than halving"
            )
            verdict = "used" if helped else "not used"
            found.note(f"{told} (tried on {plural(tried, 'pair')}): {verdict}.")
        return left

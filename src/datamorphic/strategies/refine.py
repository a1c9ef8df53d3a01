"""Refinement: narrow every bracket until its two cases are as near to each other as was asked.

The plain rule, shared by all strategies: z is half-way between x and y; it replaces y if its answer differs
from x's, else x. The others reach the same end faster: with the scores of the system as a guide (fewer cases),
or by asking several levels of midpoints at once (fewer questions). All narrow in lock-step, and whatever they
compute, a case replaces an end only by the answer the system gave to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from .._checks import plural
from ..errors import OutOfBudget
from ..space import geometry
from ..space.features import Codes
from ..space.points import Points
from ..space.space import Space
from .borders import Border
from .brackets import Brackets, Found
from .flow import Flow, Question
from .guides import Guide, Scores, interpolated
from .terrain import Terrain

METHODS = ("auto", "bisect", "score", "multisection")
UNLIMITED = 1100  # halvings: a float64 interval has no more
LEVELS = 4  # of midpoints that multisection asks at once: 15 cases a bracket
PILOT = 32  # brackets on which `auto` tries the scores
GLANCES = 4  # cases after which it looks whether they are steps
WORTH = 0.6  # scores are used if they need at most this share of bisection's cases

Rows = npt.NDArray[np.intp]
Still = Callable[[Codes, Codes], npt.NDArray[np.bool_]]


@dataclass
class Refinement:
    """How brackets are narrowed, and the flows that do it.

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
    guide : callable, optional
        Gives the `Guide` for the border, once that is known; without one `score` is bisection.
    """

    ground: Terrain
    steps: int
    delta: float | None = None
    method: str = "auto"
    guide_for: Callable[[Border], Guide | None] | None = None
    guide: Guide | None = field(default=None, init=False)

    def _settle(self, border: Border, found: Found) -> None:
        """Find out whether there is something to be guided by."""
        # Other midpoints than the space's own lead who knows where: nothing but they themselves can be between.
        if self.guide is None and self.guide_for is not None and self.ground.straight and self.ground.continuous:
            self.guide = self.guide_for(border)
        if self.guide is None and self.method in ("auto", "score"):
            if self.method == "score":
                found.note("There are no scores to be guided by here: pairs are narrowed by halving.")
            self.method = "bisect"

    def __call__(
        self, border: Border, brackets: Brackets, walk_runs: Rows, found: Found, done: float
    ) -> Flow[None]:
        """Narrow brackets in place, by the method that was chosen."""
        if not len(brackets):
            return
        self._settle(border, found)
        wave = _Wave(self, border, brackets, done)
        rows = np.arange(len(brackets))
        try:
            if self.method == "multisection":
                yield from wave.multisect()
                return
            tried = rows[:0]
            if self.method == "auto":
                tried, rows = rows[:PILOT], rows[PILOT:]
                tried = yield from self._try_out(wave, tried, found)
            if self.method == "score":
                rows = yield from wave.guided(rows)
            yield from wave.bisect(np.union1d(tried, rows))
        finally:  # a budget may end it anywhere
            walk_runs += np.bincount(brackets.walk, brackets.runs, len(walk_runs)).astype(np.intp)
        if border.least > 0:  # a steep slope looks like a jump from afar
            real = border.gap(brackets.x_state, brackets.y_state, brackets.part) > border.least
            found.slopes += int((~real).sum())
            brackets.keep(real)

    def _try_out(self, wave: _Wave, rows: Rows, found: Found) -> Flow[Rows]:
        """Narrow the first brackets by scores, and decide; return those that are left to halving."""
        brackets = wave.brackets
        plain = self._halvings(brackets.x[rows], brackets.y[rows])
        left = yield from wave.guided(rows, doubtful=True)
        guided, halved = float(np.median(brackets.runs[rows])), float(np.median(plain))
        helped = guided <= WORTH * halved and 2 * len(left) < len(rows)
        self.method = "score" if helped else "bisect"
        if helped:
            told = f"Scores narrow a pair with {guided:g} cases where halving takes {halved:g}"
        else:
            told = "Scores lead to a border no faster than halving"
        found.note(f"{told} (tried on {plural(len(rows), 'pair')}): {'used' if helped else 'not used'}.")
        return left

    def _halvings(self, x: Codes, y: Codes) -> Codes:
        """Return how many cases plain bisection would take at most."""
        if self.delta is None:
            return np.full(len(x), float(self.steps))
        with np.errstate(divide="ignore"):
            needed = np.ceil(np.log2(self.ground.apart(x, y) / self.delta))
        return np.clip(needed, 0, self.steps)


@dataclass
class _Wave:
    """The brackets of one wave of walks while they are narrowed."""

    plan: Refinement
    border: Border
    brackets: Brackets
    done: float
    extra: Rows = field(init=False)  # cases beyond the limit that a bracket may have: its first were in vain

    def __post_init__(self) -> None:
        self.extra = np.zeros(len(self.brackets), dtype=np.intp)

    # -- asking and deciding ------------------------------------------------------------------------

    def _ask(
        self, codes: Codes, rows: Rows, scores: bool | Literal["only"] = False
    ) -> Flow[tuple[Codes, Scores | None]]:
        """Execute new cases, each to narrow one of some brackets, and count them."""
        ground = self.plan.ground
        outputs = yield Question(
            Points(ground.space, codes), scores, self.done, "narrowing", fresh=ground.continuous
        )
        self.brackets.runs += np.bincount(rows, minlength=len(self.brackets))
        return self.border.read(outputs), outputs.scores

    def _narrow(self, rows: Rows, z: Codes, state: Codes) -> npt.NDArray[np.bool_]:
        """Let new cases replace an end of their brackets, and tell which took the place of the second."""
        here, first_side = self.brackets, self.border.on_first_side
        if len(rows) == len(here):  # all of them, as is usual among real numbers: no need to pick rows
            second = first_side(here.x_state, state, here.y_state, here.part)
            here.x, here.y = np.where(second, here.x.T, z.T).T, np.where(second, z.T, here.y.T).T
            here.x_state = np.where(second, here.x_state, state)
            here.y_state = np.where(second, state, here.y_state)
            return second
        second = first_side(here.x_state[rows], state, here.y_state[rows], here.part[rows])
        here.y[rows[second]], here.y_state[rows[second]] = z[second], state[second]
        here.x[rows[~second]], here.x_state[rows[~second]] = z[~second], state[~second]
        return second

    def _open(self, rows: Rows) -> Rows:
        """Return the brackets that are still too wide."""
        if self.plan.delta is None or not rows.size:
            return rows
        x, y = self.brackets.x[rows], self.brackets.y[rows]
        apart = self.plan.ground.apart(x, y)
        if self.plan.ground.mixed:  # a last category or unit may have to stay: then what counts is the rest
            discrete = geometry.discrete_distance(self.plan.ground.space, x, y)
            apart = np.where(discrete <= 1, apart - discrete, apart)
        return rows[apart > self.plan.delta]

    # -- the plain rule -----------------------------------------------------------------------------

    def bisect(self, rows: Rows, still: Still | None = None) -> Flow[None]:
        """Halve brackets until they are narrow, nothing lies between, or there is no answer.

        With `still`, only as long as that holds of their ends.
        """
        here, space = self.brackets, self.plan.ground.space
        fresh = not here.runs.any()  # none of them has been narrowed before: all have as many halvings left
        wide = self.plan.ground.straight and _wide(space, here.x[rows], here.y[rows], self.plan.steps)
        for _ in range(self.plan.steps):
            rows = self._open(rows if fresh else rows[here.runs[rows] - self.extra[rows] < self.plan.steps])
            if still is not None and rows.size:
                rows = rows[still(here.x[rows], here.y[rows])]
            if not rows.size:
                return
            x, y = (here.x, here.y) if rows.size == len(here) else (here.x[rows], here.y[rows])
            z = self.plan.ground.between(x, y)
            if not wide:
                new = ~(_same(space, z, x) | _same(space, z, y))
                if not new.all():
                    rows, z = rows[new], z[new]
                    if not rows.size:
                        return
            state, _ = yield from self._ask(z, rows)
            answered = ~np.isnan(state)
            if not answered.all():  # the pair as it stands is what can be known here
                rows, z, state = rows[answered], z[answered], state[answered]
            self._narrow(rows, z, state)

    # -- guided by scores ---------------------------------------------------------------------------

    def guided(self, rows: Rows, doubtful: bool = False) -> Flow[Rows]:
        """Narrow brackets by ITP: interpolate, stay near the middle, never need more than one case beyond bisection.

        What cannot be interpolated (categories, integers, missing values) is halved first. On the way labels may
        be guessed from scores; in the end the system is asked for them. Returns the brackets that are left to
        halving: where scores misled, or the straight line leads through invalid cases, or, where it is doubtful
        that scores help, they turn out to be steps.
        """
        plan, here = self.plan, self.brackets
        space = plan.ground.space
        if not space.smooth:

            def discrete(x: Codes, y: Codes) -> npt.NDArray[np.bool_]:
                return geometry.discrete_distance(space, x, y) > 0

            yield from self.bisect(rows, discrete)
            rows = rows[~discrete(here.x[rows], here.y[rows])]
        rows = self._open(rows[here.runs[rows] < plan.steps])
        if not rows.size:
            return rows
        before = here.take(rows)
        try:
            left = yield from self._interpolate(rows, doubtful)
            wrong = (yield from self._uncertified(rows)) if self._wants_scores else rows[:0]
        except OutOfBudget:
            if self._wants_scores:
                here.put(rows, before)  # guessed labels are no labels
            raise
        self.extra[left] = 1  # what interpolation may take longer than halving
        started = before.take(np.searchsorted(rows, wrong))
        here.put(wrong, started)
        self.extra[wrong] = here.runs[wrong] - started.runs
        return np.union1d(wrong, left)

    def _interpolate(self, rows: Rows, doubtful: bool) -> Flow[Rows]:
        """Narrow brackets that differ in real numbers only; return those that are left to halving."""
        plan, here = self.plan, self.brackets
        space = plan.ground.space
        low, high = np.zeros(len(rows)), np.ones(len(rows))
        start = here.x[rows]
        way = np.nan_to_num(here.y[rows] - start)  # a value missing on both sides stays missing
        target = 2.0 ** -(plan.steps - here.runs[rows]).astype(np.float64)
        if plan.delta is not None:
            target = np.maximum(target, plan.delta / plan.ground.apart(here.x[rows], here.y[rows]))
        most = np.ceil(np.log2(1 / target)) + 1  # cases that halving would need, and one
        low_scores, high_scores = yield from self._scores_of_ends(rows)
        last = np.full(len(rows), np.nan)
        left, seen = [rows[:0]], [np.empty(0)]
        live = np.arange(len(rows))
        made = 0
        while (live := live[high[live] - low[live] > target[live]]).size:
            ends = here.x_state[rows[live]], here.y_state[rows[live]]
            f_low = self._value(ends[0], low_scores, live, ends)
            f_high = self._value(ends[1], high_scores, live, ends)
            t, last[live] = interpolated(
                low[live], high[live], f_low, f_high, last[live], target[live], most[live] - made
            )
            made += 1
            z = start[live] + t[:, None] * way[live]
            x, y = here.x[rows[live]], here.y[rows[live]]
            np.clip(z, np.fmin(x, y), np.fmax(x, y), out=z)
            new = ~(_same(space, z, x) | _same(space, z, y))
            if space.keeps_constraints:
                kept = space.satisfied(z)
                left.append(rows[live[~kept]])
                new &= kept
            live, t, z = live[new], t[new], z[new]
            if not live.size:
                break
            state, scores = yield from self._ask(z, rows[live], "only" if self._wants_scores else False)
            answered = np.flatnonzero(~np.isnan(state))
            live, t, z = live[answered], t[answered], z[answered]
            second = self._narrow(rows[live], z, state[answered])
            high[live[second]], low[live[~second]] = t[second], t[~second]
            if scores is not None and high_scores is not None and low_scores is not None:
                high_scores[live[second]] = scores[answered[second]]
                low_scores[live[~second]] = scores[answered[~second]]
            if doubtful and made <= GLANCES:
                narrowed = here.x_state[rows[live]], here.y_state[rows[live]]
                seen.append(self._value(state[answered], scores, answered, narrowed))
                if made == GLANCES and _steps(np.concatenate(seen)):
                    left.append(rows[live])
                    break
        return np.concatenate(left)

    def _uncertified(self, rows: Rows) -> Flow[Rows]:
        """Ask for the labels of both ends of brackets, and return those that have no border between them."""
        here, count = self.brackets, len(rows)
        ends = Points(self.plan.ground.space, np.concatenate([here.x[rows], here.y[rows]]))
        outputs = yield Question(ends, False, self.done, "asking for labels", fresh=True, runs=0)
        x, y = np.split(self.border.read(outputs), [count])
        good, _ = self.border.parts(x, y)
        here.x_state[rows[good]], here.y_state[rows[good]] = x[good], y[good]
        return np.delete(rows, good)

    @property
    def _wants_scores(self) -> bool:
        return self.plan.guide is not None and self.plan.guide.wants_scores

    def _scores_of_ends(self, rows: Rows) -> Flow[tuple[Scores | None, Scores | None]]:
        """Ask for the scores of both ends: these cases were executed before, so they are no new runs."""
        if not self._wants_scores:
            return None, None
        ends = Points(self.plan.ground.space, np.concatenate([self.brackets.x[rows], self.brackets.y[rows]]))
        outputs = yield Question(ends, "only", self.done, "asking for scores", fresh=True, runs=0)
        if outputs.scores is None:
            return None, None
        return outputs.scores[: len(rows)].copy(), outputs.scores[len(rows) :].copy()

    def _value(self, states: Codes, scores: Scores | None, live: Rows, ends: tuple[Codes, Codes]) -> Codes:
        assert self.plan.guide is not None
        return self.plan.guide.value(states, None if scores is None else scores[live], *ends)

    # -- several levels of midpoints at once ----------------------------------------------------------

    def multisect(self) -> Flow[None]:
        """Ask several levels of midpoints at once and go down among the answers: bisection with fewer questions."""
        here, ground = self.brackets, self.plan.ground
        rows = np.arange(len(here))
        halved = 0
        while rows.size and halved < self.plan.steps:
            rows = self._open(rows)
            levels = min(LEVELS, self.plan.steps - halved)
            grid = [here.x[rows], here.y[rows]]
            states = [here.x_state[rows], here.y_state[rows]]
            for _ in range(levels):
                middles = [ground.between(a, b) for a, b in pairwise(grid)]
                grid = [point for both in zip(grid[:-1], middles, strict=True) for point in both] + grid[-1:]
            new = [_new(ground, grid, i, levels) for i in range(1, len(grid) - 1)]
            asked = np.concatenate([z[fresh] for z, fresh in zip(grid[1:-1], new, strict=True)])
            if not len(asked):
                return
            read, _ = yield from self._ask(asked, np.concatenate([rows[fresh] for fresh in new]))
            inner, start = [], 0
            for fresh in new:
                state = np.full(len(rows), np.nan)
                state[fresh] = read[start : start + int(fresh.sum())]
                start += int(fresh.sum())
                inner.append(state)
            states = [states[0], *inner, states[1]]
            rows = self._descend(rows, grid, states, levels)
            halved += levels

    def _descend(self, rows: Rows, grid: list[Codes], states: list[Codes], levels: int) -> Rows:
        """Halve as bisection would, with answers that are known already; return the brackets to go on with."""
        points, answers = np.stack(grid), np.stack(states)
        left = np.zeros(len(rows), dtype=np.intp)
        right = np.full(len(rows), 2**levels, dtype=np.intp)
        live = np.arange(len(rows))
        for _ in range(levels):
            wide = self._open(rows[live])
            live = live[np.isin(rows[live], wide)]
            middle = (left[live] + right[live]) // 2
            state = answers[middle, live]
            known = ~np.isnan(state)  # unknown: nothing between, or no answer
            live, middle, state = live[known], middle[known], state[known]
            second = self._narrow(rows[live], points[middle, live], state)
            right[live[second]], left[live[~second]] = middle[second], middle[~second]
        return rows[live]


def _new(ground: Terrain, grid: list[Codes], place: int, levels: int) -> npt.NDArray[np.bool_]:
    """Tell which points of a grid of midpoints differ from the two they are the midpoint of."""
    stride = place & -place  # the midpoint of its neighbours at this distance
    z, x, y = grid[place], grid[place - stride], grid[place + stride]
    return ~(_same(ground.space, z, x) | _same(ground.space, z, y))


def _steps(values: Codes) -> bool:
    """Tell whether the values of a guide are steps: no smooth function takes the same value again and again."""
    return len(np.unique(values)) < 0.9 * len(values)


def _wide(space: Space, x: Codes, y: Codes, halvings: int) -> bool:
    """Tell whether all pairs of real numbers are so far apart that no halving of so many comes to an end."""
    if not space.smooth or halvings > 40:
        return False
    digits = np.spacing(np.maximum(np.abs(x), np.abs(y)))
    return bool((np.abs(x - y) > digits * 2.0 ** (halvings + 2)).any(axis=1).all())


def _same(space: Space, a: Codes, b: Codes) -> npt.NDArray[np.bool_]:
    return Points(space, a).same(Points(space, b))

"""`Narrowing`: narrow brackets by bisection, or by several levels of midpoints at once.

The rule of bisection: z is half-way between x and y. It replaces y if its answer differs from that of x, else x.
Querying several levels of midpoints at once gives the same result with fewer queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..morphisms.terrain import Terrain
from ..runs.flow import Flow, Query
from ..space import geometry
from ..space.features import Codes
from ..space.points import Points
from ..space.space import Space
from .borders import Border
from .brackets import Brackets, Rows
from .score_guides import Guide, Scores

LEVELS_PER_QUERY = 4  # levels of midpoints in one query of multisection: 15 cases per bracket

BracketPredicate = Callable[[Codes, Codes], npt.NDArray[np.bool_]]


@dataclass(kw_only=True)
class Narrowing:
    """Narrows the brackets of one wave, all together.

    Attributes
    ----------
    ground, border, brackets
        The terrain, the border, and the brackets.
    steps : int
        The maximum number of halvings per bracket.
    delta : float, optional
        A bracket of at most this width is not narrowed.
    guide : Guide, optional
        Measures how far a case is from the border.
    progress, share : float
        The share of the whole work that is done, and the share that these brackets are.
    extra : ndarray
        Extra cases per bracket beyond `steps`, to make up for cases that did not narrow it.
    """

    ground: Terrain
    border: Border
    brackets: Brackets
    steps: int
    delta: float | None = None
    guide: Guide | None = None
    progress: float = 0.0
    share: float = 0.0
    extra: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.extra = np.zeros(len(self.brackets), dtype=np.intp)

    # -- one step ----------------------------------------------------------------------------------------------

    def query(
        self, codes: Codes, rows: Rows, scores: bool | Literal["only"] = False
    ) -> Flow[tuple[Codes, Scores | None]]:
        """Query new cases, one per bracket, and count them.

        With several labels, brackets of the same walk may need the same case: it is queried and counted once.
        """
        here, inverse = self.brackets, None
        if self.border.has_several_parts:
            keyed_codes = np.column_stack([here.walk[rows], codes])
            _, first, inverse = np.unique(keyed_codes, axis=0, return_index=True, return_inverse=True)
            codes, rows = codes[first], rows[first]
        batch = Points(self.ground.space, codes)
        self.progress += self.share / max(1, self.steps)
        self.share -= self.share / max(1, self.steps)  # so that any number of queries stays below 1
        outputs = yield Query(batch, scores, self.progress, "narrowing", fresh=self.ground.continuous)
        here.runs += np.bincount(rows, minlength=len(here))
        state, output_scores = self.border.read(outputs), outputs.scores
        if inverse is None:
            return state, output_scores
        return state[inverse.ravel()], None if output_scores is None else output_scores[inverse.ravel()]

    def narrow(self, rows: Rows, z: Codes, state: Codes) -> npt.NDArray[np.bool_]:
        """Replace an end of each bracket by its new case, and return where the second end was replaced."""
        here, first_side = self.brackets, self.border.is_in_first_half
        if len(rows) == len(here):  # all brackets, the usual case with real numbers: no need to select rows
            second = first_side(here.x_state, state, here.y_state, here.part)
            here.x, here.y = np.where(second, here.x.T, z.T).T, np.where(second, z.T, here.y.T).T
            here.x_state = np.where(second, here.x_state, state)
            here.y_state = np.where(second, state, here.y_state)
            return second
        second = first_side(here.x_state[rows], state, here.y_state[rows], here.part[rows])
        here.y[rows[second]], here.y_state[rows[second]] = z[second], state[second]
        here.x[rows[~second]], here.x_state[rows[~second]] = z[~second], state[~second]
        return second

    def find_wide_brackets(self, rows: Rows) -> Rows:
        """Return those of the brackets that are still too wide."""
        if self.delta is None or not rows.size:
            return rows
        x, y = self.brackets.x[rows], self.brackets.y[rows]
        distance = self.ground.compute_distances(x, y)
        if self.ground.mixed:
            # One category or integer step may have to remain. If it alone exceeds delta, the rest counts.
            discrete_distance = geometry.discrete_distance(self.ground.space, x, y)
            is_last_step = (geometry.unit_distance(self.ground.space, x, y) <= 1) & (discrete_distance > self.delta)
            distance = np.where(is_last_step, distance - discrete_distance, distance)
        return rows[distance > self.delta]

    # -- bisection ---------------------------------------------------------------------------------------------

    def bisect(self, rows: Rows, condition: BracketPredicate | None = None) -> Flow[None]:
        """Halve brackets until they are narrow, have no case in between, or get no answer.

        With a `condition`, only as long as it holds for their ends.
        """
        here, space = self.brackets, self.ground.space
        unnarrowed = not here.runs.any()  # all brackets have the same number of halvings left
        always_wide = self.ground.straight and _is_always_wide(space, here.x[rows], here.y[rows], self.steps)
        for _ in range(self.steps):
            rows = self.find_wide_brackets(
                rows if unnarrowed else rows[here.runs[rows] - self.extra[rows] < self.steps]
            )
            if condition is not None and rows.size:
                rows = rows[condition(here.x[rows], here.y[rows])]
            if not rows.size:
                return
            x, y = (here.x, here.y) if rows.size == len(here) else (here.x[rows], here.y[rows])
            z = self.ground.compute_midpoints(x, y)
            if not always_wide:
                new = ~(is_same_row(space, z, x) | is_same_row(space, z, y))
                if not new.all():
                    rows, z = rows[new], z[new]
                    if not rows.size:
                        return
            state, _ = yield from self.query(z, rows)
            answered = ~np.isnan(state)
            if not answered.all():  # brackets without an answer stay as they are
                rows, z, state = rows[answered], z[answered], state[answered]
            self.narrow(rows, z, state)

    # -- several levels of midpoints at once -------------------------------------------------------------------

    def multisect(self) -> Flow[None]:
        """Bisect with fewer queries: query several levels of midpoints at once, then descend among the answers."""
        here, ground = self.brackets, self.ground
        rows = np.arange(len(here))
        halvings = 0
        while rows.size and halvings < self.steps:
            rows = self.find_wide_brackets(rows)
            levels = min(LEVELS_PER_QUERY, self.steps - halvings)
            grid = [here.x[rows], here.y[rows]]
            states = [here.x_state[rows], here.y_state[rows]]
            for _ in range(levels):
                middles = [ground.compute_midpoints(a, b) for a, b in pairwise(grid)]
                grid = [point for both in zip(grid[:-1], middles, strict=True) for point in both] + grid[-1:]
            new = [_is_new_point(ground.space, grid, i) for i in range(1, len(grid) - 1)]
            query_codes = np.concatenate([z[fresh] for z, fresh in zip(grid[1:-1], new, strict=True)])
            if not len(query_codes):
                return
            answer_states, _ = yield from self.query(query_codes, np.concatenate([rows[fresh] for fresh in new]))
            inner, start = [], 0
            for fresh in new:
                state = np.full(len(rows), np.nan)
                state[fresh] = answer_states[start : start + int(fresh.sum())]
                start += int(fresh.sum())
                inner.append(state)
            states = [states[0], *inner, states[1]]
            rows = self._descend(rows, grid, states, levels)
            halvings += levels

    def _descend(self, rows: Rows, grid: list[Codes], states: list[Codes], levels: int) -> Rows:
        """Halve brackets by answers that are known already, and return those to continue with."""
        points, answers = np.stack(grid), np.stack(states)
        left = np.zeros(len(rows), dtype=np.intp)
        right = np.full(len(rows), 2**levels, dtype=np.intp)
        live = np.arange(len(rows))
        for _ in range(levels):
            wide_rows = self.find_wide_brackets(rows[live])
            live = live[np.isin(rows[live], wide_rows)]
            middle = (left[live] + right[live]) // 2
            state = answers[middle, live]
            is_known = ~np.isnan(state)  # unknown: no case in between, or no answer
            live, middle, state = live[is_known], middle[is_known], state[is_known]
            second = self.narrow(rows[live], points[middle, live], state)
            right[live[second]], left[live[~second]] = middle[second], middle[~second]
        return rows[live]


def _is_new_point(space: Space, grid: list[Codes], place: int) -> npt.NDArray[np.bool_]:
    """Return which midpoints of a grid differ from the two points that they are between."""
    stride = place & -place  # the midpoint of its neighbours at this distance
    z, x, y = grid[place], grid[place - stride], grid[place + stride]
    return ~(is_same_row(space, z, x) | is_same_row(space, z, y))


def _is_always_wide(space: Space, x: Codes, y: Codes, halvings: int) -> bool:
    """Return whether all brackets can be halved that often before floating-point numbers become equal."""
    if not space.smooth or space.keeps_constraints or halvings > 40:
        return False
    digits = np.spacing(np.maximum(np.abs(x), np.abs(y)))
    return bool((np.abs(x - y) > digits * 2.0 ** (halvings + 2)).any(axis=1).all())


def is_same_row(space: Space, a: Codes, b: Codes) -> npt.NDArray[np.bool_]:
    """Return which rows of two matrices of codes are equal."""
    return Points(space, a).same(Points(space, b))

"""`Refinement`: narrow brackets by bisection, by several levels of midpoints at once, or guided by scores.

The rule of bisection: z is half-way between x and y. It replaces y if its answer differs from that of x, else x. Querying
several levels of midpoints at once gives the same result with fewer queries. With every method, a case is an end of a pair only
by the label that the system itself gave to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from .._text import pluralise
from ..errors import OutOfBudget
from ..morphisms.terrain import Terrain, build_native_terrain
from ..runs.flow import Flow, Query
from ..space import geometry
from ..space.features import Codes, Mask
from ..space.points import Points
from ..space.space import Space
from .borders import Border
from .brackets import Brackets, ExplorationRecord
from .changes import Rows
from .score_guides import Guide, Scores, interpolate_root

LEVELS_PER_QUERY = 4  # levels of midpoints in one query of multisection: 15 cases per bracket
TRIAL_CASES = 4  # cases per bracket after which a trial tests whether the scores are a step function
MAX_STEPWISE_SHARE = 0.9  # of different values of a guide: a step function repeats its values
MAX_HALVINGS = 1000.0  # more would leave the range of floats
REFINEMENT_METHODS = ("auto", "bisect", "score", "multisection")
UNLIMITED_HALVINGS = 1100  # a float64 interval cannot be halved more often
PILOT_BRACKETS = 32  # brackets on which `auto` tries the scores
MAX_SCORE_COST_SHARE = 0.6  # scores are used if they need at most this share of the cases of bisection


@dataclass(kw_only=True)
class Narrowing:
    """Narrows the brackets of one wave, all together."""

    terrain: Terrain
    border: Border
    brackets: Brackets
    steps: int  # the maximum number of halvings per bracket
    delta: float | None = None  # a bracket of at most this width is not narrowed
    guide: Guide | None = None  # measures how far a case is from the border
    progress: float = 0.0  # the share of the whole work that is done
    share: float = 0.0  # the share of the whole work that these brackets are
    extra: Rows = field(init=False)  # cases per bracket beyond `steps`, to make up for cases that did not narrow it
    #: the cases used per interpolated bracket, and those that bisection would have used
    case_counts: list[tuple[Rows, Codes]] = field(default_factory=list)

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
        batch = Points(self.terrain.space, codes)
        self.progress += self.share / max(1, self.steps)
        self.share -= self.share / max(1, self.steps)  # so that any number of queries stays below 1
        outputs = yield Query(batch, scores, self.progress, "narrowing", fresh=self.terrain.continuous)
        here.runs += np.bincount(rows, minlength=len(here))
        state, output_scores = self.border.read(outputs), outputs.scores
        if inverse is None:
            return state, output_scores
        return state[inverse.ravel()], None if output_scores is None else output_scores[inverse.ravel()]

    def narrow(self, rows: Rows, z: Codes, state: Codes) -> Mask:
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
        distance = self.terrain.compute_distances(x, y)
        if self.terrain.mixed:
            # One category or integer step may have to remain. If it alone exceeds delta, the rest counts.
            discrete_distance = geometry.discrete_distance(self.terrain.space, x, y)
            is_last_step = (geometry.unit_distance(self.terrain.space, x, y) <= 1) & (discrete_distance > self.delta)
            distance = np.where(is_last_step, distance - discrete_distance, distance)
        return rows[distance > self.delta]

    # -- bisection ---------------------------------------------------------------------------------------------

    def bisect(self, rows: Rows, condition: Callable[[Codes, Codes], Mask] | None = None) -> Flow[None]:
        """Halve brackets until they are narrow, have no case in between, or get no answer.

        With a `condition`, only as long as it holds for their ends.
        """
        here, space = self.brackets, self.terrain.space
        unnarrowed = not here.runs.any()  # all brackets have the same number of halvings left
        always_wide = self.terrain.straight and _is_always_wide(space, here.x[rows], here.y[rows], self.steps)
        for _ in range(self.steps):
            rows = self.find_wide_brackets(
                rows if unnarrowed else rows[here.runs[rows] - self.extra[rows] < self.steps]
            )
            if condition is not None and rows.size:
                rows = rows[condition(here.x[rows], here.y[rows])]
            if not rows.size:
                return
            x, y = (here.x, here.y) if rows.size == len(here) else (here.x[rows], here.y[rows])
            z = self.terrain.compute_midpoints(x, y)
            if not always_wide:
                new = _is_new(space, x, z, y)
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
        here, terrain = self.brackets, self.terrain
        rows = np.arange(len(here))
        halvings = 0
        while rows.size and halvings < self.steps:
            rows = self.find_wide_brackets(rows)
            levels = min(LEVELS_PER_QUERY, self.steps - halvings)
            grid = [here.x[rows], here.y[rows]]
            for _ in range(levels):
                middles = [terrain.compute_midpoints(a, b) for a, b in pairwise(grid)]
                grid = [point for both in zip(grid[:-1], middles, strict=True) for point in both] + grid[-1:]
            strides = [(i, i & -i) for i in range(1, len(grid) - 1)]  # the distances of the ends of each midpoint
            new = [_is_new(terrain.space, grid[i - step], grid[i], grid[i + step]) for i, step in strides]
            query_codes = np.concatenate([z[fresh] for z, fresh in zip(grid[1:-1], new, strict=True)])
            if not len(query_codes):
                return
            answer_states, _ = yield from self.query(query_codes, np.concatenate([rows[fresh] for fresh in new]))
            inner = np.full((len(new), len(rows)), np.nan)
            inner[np.stack(new)] = answer_states
            states = np.vstack([here.x_state[rows], inner, here.y_state[rows]])
            rows = self._descend(rows, np.stack(grid), states, levels)
            halvings += levels

    def _descend(self, rows: Rows, points: Codes, answers: Codes, levels: int) -> Rows:
        """Halve brackets by answers that are known already, and return those to continue with."""
        left = np.zeros(len(rows), dtype=np.intp)
        right = np.full(len(rows), 2**levels, dtype=np.intp)
        live = np.arange(len(rows))
        for _ in range(levels):
            live = live[np.isin(rows[live], self.find_wide_brackets(rows[live]))]
            middle = (left[live] + right[live]) // 2
            state = answers[middle, live]
            is_known = ~np.isnan(state)  # unknown: no case in between, or no answer
            live, middle, state = live[is_known], middle[is_known], state[is_known]
            second = self.narrow(rows[live], points[middle, live], state)
            right[live[second]], left[live[~second]] = middle[second], middle[~second]
        return rows[live]

    # -- guided by scores ----------------------------------------------------------------------------------------

    def narrow_by_scores(self, rows: Rows, doubtful: bool = False) -> Flow[Rows]:
        """Narrow brackets, and return those that are left to bisection.

        These are brackets that scores misled, whose straight line leads through invalid cases, or that got no answer. If
        it is `doubtful` that scores help, also those whose scores turn out to be a step function.
        """
        here, space = self.brackets, self.terrain.space
        if not space.smooth:

            def has_discrete_difference(x: Codes, y: Codes) -> Mask:
                return geometry.discrete_distance(space, x, y) > 0

            yield from self.bisect(rows, has_discrete_difference)
            rows = rows[~has_discrete_difference(here.x[rows], here.y[rows])]
        rows = self.find_wide_brackets(rows[here.runs[rows] < self.steps])
        if not rows.size:
            return rows
        before = here.take(rows)
        halvings = np.minimum(self.steps - before.runs, MAX_HALVINGS)
        if self.delta is not None:
            halvings = np.minimum(halvings, np.log2(self.terrain.compute_distances(before.x, before.y) / self.delta))
        try:
            remaining = yield from self._interpolate(rows, halvings, doubtful)
            wrong_rows = (yield from self._find_uncertified(rows)) if self._wants_scores else rows[:0]
        except OutOfBudget:
            if self._wants_scores:
                here.replace_ends(rows, before)  # the labels were only guessed
            raise
        self.case_counts.append((here.runs[rows] - before.runs, np.ceil(halvings)))
        self.extra[remaining] = 1  # interpolation may take one case more than bisection
        originals = before.take(np.searchsorted(rows, wrong_rows))
        here.replace_ends(wrong_rows, originals)
        self.extra[wrong_rows] = here.runs[wrong_rows] - originals.runs
        return np.union1d(wrong_rows, remaining)

    def _interpolate(self, rows: Rows, halvings: Codes, doubtful: bool) -> Flow[Rows]:
        """Narrow brackets that differ only in real numbers, and return those that are left to bisection."""
        here, space = self.brackets, self.terrain.space
        target, max_cases = 2.0**-halvings, np.ceil(halvings) + 1
        width = np.ones(len(rows))  # relative to the first width
        low_scores, high_scores = yield from self._query_end_scores(rows)
        last_root = np.full(len(rows), np.nan)
        remaining, guide_values = [rows[:0]], [np.empty(0)]
        live, case_count = np.arange(len(rows)), 0
        while (live := live[width[live] > target[live]]).size:
            ends = here.x_state[rows[live]], here.y_state[rows[live]]
            f_low = self._compute_guide_values(ends[0], low_scores, live, ends)
            f_high = self._compute_guide_values(ends[1], high_scores, live, ends)
            t, last_root[live] = interpolate_root(
                f_low, f_high, last_root[live], width[live], target[live], max_cases[live] - case_count
            )
            case_count += 1
            x, y = here.x[rows[live]], here.y[rows[live]]
            z = _interpolate_points(x, y, t)
            is_unchanged = ~_is_new(space, x, z, y)
            if is_unchanged.any():  # rounding gave an end of the bracket: try the midpoint
                t[is_unchanged] = 0.5
                z[is_unchanged] = _interpolate_points(x[is_unchanged], y[is_unchanged], t[is_unchanged])
            new = _is_new(space, x, z, y)
            if space.keeps_constraints:
                satisfied = space.satisfied(z)
                remaining.append(rows[live[~satisfied]])
                new &= satisfied
            live, t, z = live[new], t[new], z[new]
            if not live.size:
                break
            state, scores = yield from self.query(z, rows[live], "only" if self._wants_scores else False)
            answered = np.flatnonzero(~np.isnan(state))
            remaining.append(np.delete(rows[live], answered))
            live, t, z = live[answered], t[answered], z[answered]
            second = self.narrow(rows[live], z, state[answered])
            width[live] *= np.where(second, t, 1 - t)
            last_root[live] = np.where(second, last_root[live] / t, (last_root[live] - t) / (1 - t))
            if scores is not None and high_scores is not None and low_scores is not None:
                high_scores[live[second]] = scores[answered[second]]
                low_scores[live[~second]] = scores[answered[~second]]
            if doubtful and case_count <= TRIAL_CASES:
                narrowed_ends = here.x_state[rows[live]], here.y_state[rows[live]]
                guide_values.append(self._compute_guide_values(state[answered], scores, answered, narrowed_ends))
                values = np.concatenate(guide_values)
                if case_count == TRIAL_CASES and len(np.unique(values)) < MAX_STEPWISE_SHARE * len(values):
                    remaining.append(rows[live])
                    break
        return np.concatenate(remaining)

    def _find_uncertified(self, rows: Rows) -> Flow[Rows]:
        """Query the labels of both ends of brackets, and return the brackets without a border between them."""
        here = self.brackets
        outputs = yield self._query_ends(rows, False, "asking for labels")
        x, y = np.split(self.border.read(outputs), 2)
        good_rows, _ = self.border.find_borders(x, y)
        here.x_state[rows[good_rows]], here.y_state[rows[good_rows]] = x[good_rows], y[good_rows]
        return np.delete(rows, good_rows)

    @property
    def _wants_scores(self) -> bool:
        return self.guide is not None and self.guide.wants_scores

    def _query_end_scores(self, rows: Rows) -> Flow[tuple[Scores | None, Scores | None]]:
        """Query the scores of both ends."""
        if self._wants_scores:
            outputs = yield self._query_ends(rows, "only", "asking for scores")
            if outputs.scores is not None:
                return outputs.scores[: len(rows)].copy(), outputs.scores[len(rows) :].copy()
        return None, None

    def _query_ends(self, rows: Rows, scores: bool | Literal["only"], note: str) -> Query:
        """Return a query of both ends. These cases were executed before, so they are not new runs."""
        ends = Points(self.terrain.space, np.concatenate([self.brackets.x[rows], self.brackets.y[rows]]))
        return Query(ends, scores, self.progress, note, fresh=True, runs=0)

    def _compute_guide_values(
        self, states: Codes, scores: Scores | None, live: Rows, ends: tuple[Codes, Codes]
    ) -> Codes:
        assert self.guide is not None
        return self.guide.value(states, None if scores is None else scores[live], *ends)


def _interpolate_points(x: Codes, y: Codes, t: Codes) -> Codes:
    """Return the points at the share `t` of the way from `x` to `y`; values missing in both stay missing."""
    z = x + t[:, None] * np.nan_to_num(y - x)
    return np.clip(z, np.fmin(x, y), np.fmax(x, y))


def _is_always_wide(space: Space, x: Codes, y: Codes, halvings: int) -> bool:
    """Return whether all brackets can be halved that often before floating-point numbers become equal."""
    if not space.smooth or space.keeps_constraints or halvings > 40:
        return False
    digits = np.spacing(np.maximum(np.abs(x), np.abs(y)))
    return bool((np.abs(x - y) > digits * 2.0 ** (halvings + 2)).any(axis=1).all())


def _is_new(space: Space, x: Codes, z: Codes, y: Codes) -> Mask:
    """Return which rows of `z` differ from the same rows of `x` and of `y`."""
    points = Points(space, z)
    return ~(points.same(Points(space, x)) | points.same(Points(space, y)))


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
            trials = f"(tried on {pluralise(trial_count, 'pair')})"
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

"""`GuidedNarrowing`: narrow brackets with fewer cases, guided by the scores of the system or by its answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..runs.flow import Flow, Query
from ..space import geometry
from ..space.features import Codes
from ..space.points import Points
from .bisection import Narrowing, is_same_row
from .brackets import Rows
from .score_guides import Scores, interpolate_root

TRIAL_CASES = 4  # cases per bracket after which a trial tests whether the scores are a step function
MAX_HALVINGS = 1000.0  # more would leave the range of floats


@dataclass(kw_only=True)
class GuidedNarrowing(Narrowing):
    """Narrows by interpolation, with at most one case more than bisection (see `interpolate_root`).

    Features that cannot be interpolated (categories, integers, missing values) are halved first. In between, labels may
    be guessed from scores; at the end the system is queried for them.

    Attributes
    ----------
    case_counts : list
        The number of cases per interpolated bracket, and the number that bisection would have used.
    """

    case_counts: list[tuple[Rows, Codes]] = field(default_factory=list)

    def narrow_by_scores(self, rows: Rows, doubtful: bool = False) -> Flow[Rows]:
        """Narrow brackets, and return those that are left to bisection.

        These are brackets that scores misled, whose straight line leads through invalid cases, or that got no answer. If
        it is `doubtful` that scores help, also those whose scores turn out to be a step function.
        """
        here, space = self.brackets, self.ground.space
        if not space.smooth:

            def has_discrete_difference(x: Codes, y: Codes) -> npt.NDArray[np.bool_]:
                return geometry.discrete_distance(space, x, y) > 0

            yield from self.bisect(rows, has_discrete_difference)
            rows = rows[~has_discrete_difference(here.x[rows], here.y[rows])]
        rows = self.find_wide_brackets(rows[here.runs[rows] < self.steps])
        if not rows.size:
            return rows
        before = here.take(rows)
        halvings = np.minimum(self.steps - before.runs, MAX_HALVINGS)
        if self.delta is not None:
            halvings = np.minimum(halvings, np.log2(self.ground.compute_distances(before.x, before.y) / self.delta))
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
        here, space = self.brackets, self.ground.space
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
            blunt = is_same_row(space, z, x) | is_same_row(space, z, y)
            if blunt.any():  # rounding gave an end of the bracket: try the midpoint
                t[blunt] = 0.5
                z[blunt] = _interpolate_points(x[blunt], y[blunt], t[blunt])
            new = ~(is_same_row(space, z, x) | is_same_row(space, z, y))
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
                if case_count == TRIAL_CASES and _is_stepwise(np.concatenate(guide_values)):
                    remaining.append(rows[live])
                    break
        return np.concatenate(remaining)

    def _find_uncertified(self, rows: Rows) -> Flow[Rows]:
        """Query the labels of both ends of brackets, and return the brackets without a border between them."""
        here, count = self.brackets, len(rows)
        ends = Points(self.ground.space, np.concatenate([here.x[rows], here.y[rows]]))
        outputs = yield Query(ends, False, self.progress, "asking for labels", fresh=True, runs=0)
        x, y = np.split(self.border.read(outputs), [count])
        good_rows, _ = self.border.find_borders(x, y)
        here.x_state[rows[good_rows]], here.y_state[rows[good_rows]] = x[good_rows], y[good_rows]
        return np.delete(rows, good_rows)

    @property
    def _wants_scores(self) -> bool:
        return self.guide is not None and self.guide.wants_scores

    def _query_end_scores(self, rows: Rows) -> Flow[tuple[Scores | None, Scores | None]]:
        """Query the scores of both ends. These cases were executed before, so they are not new runs."""
        if not self._wants_scores:
            return None, None
        ends = Points(self.ground.space, np.concatenate([self.brackets.x[rows], self.brackets.y[rows]]))
        outputs = yield Query(ends, "only", self.progress, "asking for scores", fresh=True, runs=0)
        if outputs.scores is None:
            return None, None
        return outputs.scores[: len(rows)].copy(), outputs.scores[len(rows) :].copy()

    def _compute_guide_values(
        self, states: Codes, scores: Scores | None, live: Rows, ends: tuple[Codes, Codes]
    ) -> Codes:
        assert self.guide is not None
        return self.guide.value(states, None if scores is None else scores[live], *ends)


def _interpolate_points(x: Codes, y: Codes, t: Codes) -> Codes:
    """Return the points at the share `t` of the way from `x` to `y`; values missing in both stay missing."""
    z = x + t[:, None] * np.nan_to_num(y - x)
    return np.clip(z, np.fmin(x, y), np.fmax(x, y))


def _is_stepwise(values: Codes) -> bool:
    """Return whether the values of a guide are those of a step function, which repeat."""
    return len(np.unique(values)) < 0.9 * len(values)

"""`GuidedNarrowing`: brackets narrowed with fewer cases, by the scores of the system or by its own answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..space import geometry
from ..space.features import Codes
from ..space.points import Points
from .brackets import Rows
from .flow import Flow, Question
from .guides import Scores, interpolated
from .narrowing import Narrowing, same

GLANCES = 4  # cases after which a trial looks whether the scores are steps
DEEPEST = 1000.0  # halvings: more would leave the range of floats


@dataclass
class GuidedNarrowing(Narrowing):
    """Narrows by ITP: interpolate, stay near the middle, never need more than one case beyond bisection.

    What cannot be interpolated (categories, integers, missing values) is halved first. On the way labels may be
    guessed from scores; in the end the system is asked for them.

    Attributes
    ----------
    taken : list
        How many cases each bracket that was interpolated took, and how many halving would have.
    """

    taken: list[tuple[Rows, Codes]] = field(default_factory=list)

    def guided(self, rows: Rows, doubtful: bool = False) -> Flow[Rows]:
        """Narrow brackets and return those that are left to halving.

        These are the ones that scores misled, whose straight line leads through invalid cases, where there was no
        answer, or, if it is doubtful that scores help, whose scores turn out to be steps.
        """
        here, space = self.brackets, self.ground.space
        if not space.smooth:

            def discrete(x: Codes, y: Codes) -> npt.NDArray[np.bool_]:
                return geometry.discrete_distance(space, x, y) > 0

            yield from self.bisect(rows, discrete)
            rows = rows[~discrete(here.x[rows], here.y[rows])]
        rows = self.open(rows[here.runs[rows] < self.steps])
        if not rows.size:
            return rows
        before = here.take(rows)
        halvings = np.minimum(self.steps - before.runs, DEEPEST)
        if self.delta is not None:
            halvings = np.minimum(halvings, np.log2(self.ground.apart(before.x, before.y) / self.delta))
        try:
            left = yield from self._interpolate(rows, halvings, doubtful)
            wrong = (yield from self._uncertified(rows)) if self._wants_scores else rows[:0]
        except OutOfBudget:
            if self._wants_scores:
                here.put(rows, before)  # guessed labels are no labels
            raise
        self.taken.append((here.runs[rows] - before.runs, np.ceil(halvings)))
        self.extra[left] = 1  # what interpolation may take longer than halving
        started = before.take(np.searchsorted(rows, wrong))
        here.put(wrong, started)
        self.extra[wrong] = here.runs[wrong] - started.runs
        return np.union1d(wrong, left)

    def _interpolate(self, rows: Rows, halvings: Codes, doubtful: bool) -> Flow[Rows]:
        """Narrow brackets that differ in real numbers only; return those that are left to halving."""
        here, space = self.brackets, self.ground.space
        target, most = 2.0**-halvings, np.ceil(halvings) + 1
        width = np.ones(len(rows))  # of what the brackets were
        low_scores, high_scores = yield from self._scores_of_ends(rows)
        last = np.full(len(rows), np.nan)
        left, seen = [rows[:0]], [np.empty(0)]
        live, made = np.arange(len(rows)), 0
        while (live := live[width[live] > target[live]]).size:
            ends = here.x_state[rows[live]], here.y_state[rows[live]]
            f_low = self._value(ends[0], low_scores, live, ends)
            f_high = self._value(ends[1], high_scores, live, ends)
            t, last[live] = interpolated(f_low, f_high, last[live], width[live], target[live], most[live] - made)
            made += 1
            x, y = here.x[rows[live]], here.y[rows[live]]
            z = _at(x, y, t)
            blunt = same(space, z, x) | same(space, z, y)
            if blunt.any():  # rounding put it on an end: there may still be a middle
                t[blunt] = 0.5
                z[blunt] = _at(x[blunt], y[blunt], t[blunt])
            new = ~(same(space, z, x) | same(space, z, y))
            if space.keeps_constraints:
                kept = space.satisfied(z)
                left.append(rows[live[~kept]])
                new &= kept
            live, t, z = live[new], t[new], z[new]
            if not live.size:
                break
            state, scores = yield from self.ask(z, rows[live], "only" if self._wants_scores else False)
            answered = np.flatnonzero(~np.isnan(state))
            left.append(np.delete(rows[live], answered))
            live, t, z = live[answered], t[answered], z[answered]
            second = self.narrow(rows[live], z, state[answered])
            width[live] *= np.where(second, t, 1 - t)
            last[live] = np.where(second, last[live] / t, (last[live] - t) / (1 - t))
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
        ends = Points(self.ground.space, np.concatenate([here.x[rows], here.y[rows]]))
        outputs = yield Question(ends, False, self.done, "asking for labels", fresh=True, runs=0)
        x, y = np.split(self.border.read(outputs), [count])
        good, _ = self.border.parts(x, y)
        here.x_state[rows[good]], here.y_state[rows[good]] = x[good], y[good]
        return np.delete(rows, good)

    @property
    def _wants_scores(self) -> bool:
        return self.guide is not None and self.guide.wants_scores

    def _scores_of_ends(self, rows: Rows) -> Flow[tuple[Scores | None, Scores | None]]:
        """Ask for the scores of both ends: these cases were executed before, so they are no new runs."""
        if not self._wants_scores:
            return None, None
        ends = Points(self.ground.space, np.concatenate([self.brackets.x[rows], self.brackets.y[rows]]))
        outputs = yield Question(ends, "only", self.done, "asking for scores", fresh=True, runs=0)
        if outputs.scores is None:
            return None, None
        return outputs.scores[: len(rows)].copy(), outputs.scores[len(rows) :].copy()

    def _value(self, states: Codes, scores: Scores | None, live: Rows, ends: tuple[Codes, Codes]) -> Codes:
        assert self.guide is not None
        return self.guide.value(states, None if scores is None else scores[live], *ends)


def _at(x: Codes, y: Codes, t: Codes) -> Codes:
    """Return the points a share of the way from `x` to `y`; what is missing on both sides stays missing."""
    z = x + t[:, None] * np.nan_to_num(y - x)
    return np.clip(z, np.fmin(x, y), np.fmax(x, y))


def _steps(values: Codes) -> bool:
    """Tell whether the values of a guide are steps: no smooth function takes the same value again and again."""
    return len(np.unique(values)) < 0.9 * len(values)

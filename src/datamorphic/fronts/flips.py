"""The smallest change of a case that flips its answer, as far as asking finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..space import geometry
from ..space.features import Codes, Feature
from ..space.neighbours import nearest
from ..space.points import Points
from ..space.space import Space
from ..strategies.borders import Border, Hierarchy, Jump, MultiLabel, Threshold
from ..strategies.brackets import Brackets, Found
from ..strategies.flow import Flow, Question
from .reading import Mask, Rows, border_of, narrowing, parts_of_change, said, states_of

if TYPE_CHECKING:
    from .front import Front

DELTA = 1e-4  # of a range: how exactly the border is met
ROUGHLY = 1e-2  # how exactly at first, to see which ways are worth more
ENDS = 10  # with another answer, the nearest ones, from which each case is approached
BEST = 3  # of these ways that are followed to the end
RUNGS = 7  # of a ladder of single-feature changes: as far as is known to flip, a half of that, ... a 64th
MOST_VALUES = 24  # of one feature that are tried where there is no way between them


def flip(front: Front, points: Points, case: Rows, pair: Rows) -> Flow[tuple[Codes, Any, Any]]:
    """Look for small changes of cases that flip their answers.

    Parameters
    ----------
    front : Front
        Where borders are.
    points : Points
        The cases.
    case, pair : ndarray
        What is wanted: the number of a case, those of one case together, and a pair at which to change it. The
        first of each case gets the smallest change that is found anywhere.

    Returns
    -------
    tuple
        For each of them what the case becomes (codes), its own answer, and the answer it flips to; None if none.
    """
    space, border = front.space, border_of(front)
    if isinstance(border, Hierarchy | MultiLabel):
        border = Border()  # any other path, any other set of labels is another answer
    outputs = yield Question(points, note="explaining")
    own = border.read(outputs)
    a, b, _ = states_of(front, border)
    ends, states = np.concatenate([front.a.codes, front.b.codes]), np.concatenate([a, b])
    owners, at = _starts(space, border, points.codes, own, ends, states)
    wanted = [np.concatenate([case, case, owners]), np.concatenate([pair, pair + len(front), at])]
    tried = _Tried(space, border, points.codes[wanted[0]], own[wanted[0]])
    yield from tried.begin(ends[wanted[1]], states[wanted[1]])
    count = len(case)
    for delta in (ROUGHLY, DELTA):
        yield from tried.narrow(delta)
        yield from tried.put_back()
        tried.drop(2 * count + _worst(tried.far[2 * count :], owners))
    least = np.full(len(points), np.inf)
    np.minimum.at(least, wanted[0], tried.far)
    units = np.tile(np.arange(len(points)), len(space.units))
    alone = _Tried(space, border, points.codes[units], own[units])
    yield from alone.climb(least, ends[at], owners)
    yield from alone.narrow(DELTA)

    # the nearer end of each pair; and for the first of each case the best of all
    row = np.where(tried.far[:count] <= tried.far[count : 2 * count], np.arange(count), np.arange(count) + count)
    to, state, far = tried.to[row], tried.state[row], tried.far[row]
    first = np.flatnonzero(np.diff(case, prepend=-1))
    for others, owner in ((tried, wanted[0]), (alone, units)):
        order = np.lexsort((others.far, owner))
        best = order[np.searchsorted(owner[order], case[first])]
        better = others.far[best] < far[first]
        at_first, best = first[better], best[better]
        to[at_first], state[at_first], far[at_first] = others.to[best], others.state[best], others.far[best]
    becomes = np.full(count, None, dtype=object)
    found = np.flatnonzero(np.isfinite(far))
    becomes[found] = border.answer(state[found])
    return to, said(outputs)[case], becomes


def _starts(
    space: Space, border: Border, cases: Codes, own: Codes, ends: Codes, states: Codes
) -> tuple[Rows, Rows]:
    """Return the nearest ends with another answer than each case: numbers of cases, and of ends."""
    sides = own > border.value if isinstance(border, Threshold) else own
    if isinstance(border, Jump):  # no two answers need be the same: take the nearest ends, whatever they said
        sides = np.where(np.isnan(own), np.nan, 0.0)
    owners, found = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for side in np.unique(sides[~np.isnan(own)]):
        some = np.flatnonzero((sides == side) & ~np.isnan(own))
        like = np.full(len(ends), own[some[0]])
        apart = np.ones(len(ends), dtype=bool)
        if not isinstance(border, Jump):
            apart = border.gap(like, states, np.zeros(len(ends), dtype=np.intp)) > border.least
        others = np.flatnonzero(apart)
        near = nearest(space, cases[some], ends[others], min(ENDS, len(others)))[1]
        owners.append(np.repeat(some, near.shape[1]))
        found.append(others[near.ravel()])
    return np.concatenate(owners), np.concatenate(found)


def _worst(far: Codes, owner: Rows) -> Rows:
    """Return the numbers of all but the best few changes of each owner."""
    order = np.lexsort((far, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    return order[rank >= BEST]


@dataclass
class _Tried:
    """Changes that are being made smaller, all together.

    Attributes
    ----------
    start, own : ndarray
        Each case and its answer.
    to, state, far : ndarray
        What it becomes, the answer to that, and how far that is; infinitely where nothing flips.
    """

    space: Space
    border: Border
    start: Codes
    own: Codes

    def __post_init__(self) -> None:
        self.to, self.state = self.start.copy(), np.full(len(self.start), np.nan)
        self.far = np.full(len(self.start), np.inf)

    @property
    def live(self) -> Rows:
        """The rows that flip."""
        return np.flatnonzero(np.isfinite(self.far))

    def flips(self, states: Codes, rows: Rows) -> Mask:
        """Tell which answers are others than those of the cases of some rows."""
        known = np.flatnonzero(~np.isnan(states) & ~np.isnan(self.own[rows]))
        apart = np.zeros(len(rows), dtype=bool)
        part = np.zeros(len(known), dtype=np.intp)
        apart[known] = self.border.gap(self.own[rows[known]], states[known], part) > self.border.least
        return apart

    def take(self, rows: Rows, codes: Codes, states: Codes) -> None:
        """Let changes that flip take the place of larger ones."""
        if not len(rows):
            return
        far = geometry.distance(self.space, self.start[rows], codes, scaled=True)
        better = np.flatnonzero(self.flips(states, rows) & (far < self.far[rows]))
        better = better[np.argsort(-far[better], kind="stable")]  # of several for one row the nearest comes last
        rows = rows[better]
        self.to[rows], self.state[rows], self.far[rows] = codes[better], states[better], far[better]

    def begin(self, ends: Codes, states: Codes) -> Flow[None]:
        """Start from ends of pairs, if the system still says what it said."""
        outputs = yield Question(Points(self.space, ends), note="explaining")
        self.take(np.arange(len(ends)), ends, self.border.read(outputs))

    def drop(self, rows: Rows) -> None:
        """Forget some changes."""
        self.far[rows] = np.inf

    def narrow(self, delta: float) -> Flow[None]:
        """Come back towards the cases as far as the answers stay others."""
        live = self.live
        brackets = Brackets(len(self.space))
        part = np.zeros(len(live), dtype=np.intp)
        brackets.add(self.start[live], self.to[live], self.own[live], self.state[live], part, live)
        runs = np.zeros(len(self.start), dtype=np.intp)
        yield from narrowing(self.space, delta)(self.border, brackets, runs, Found(self.space), 0.5)
        self.take(brackets.walk, brackets.y, brackets.y_state)

    def put_back(self) -> Flow[None]:
        """Put each feature back to the case's own value where the answer stays another; smallest change first.

        Features that a constraint ties together go back together.
        """
        space, live = self.space, self.live
        if not live.size:
            return
        parts = parts_of_change(space, self.start[live], self.to[live])
        change = np.column_stack([parts[:, list(unit)].sum(axis=1) for unit in space.units])
        member = np.array([np.isin(np.arange(len(space)), unit) for unit in space.units])
        for unit in np.argsort(change, axis=1, kind="stable").T:
            changed = change[np.arange(len(live)), unit] > 0
            rows, unit = live[changed], unit[changed]
            trial = np.where(member[unit], self.start[rows], self.to[rows])
            fit = ~Points(space, trial).same(Points(space, self.start[rows]))
            yield from self._try(rows[fit], trial[fit])

    def climb(self, least: Codes, ends: Codes, owners: Rows) -> Flow[None]:
        """Change one feature alone, by ever less; the rows are all cases for the first unit, for the second, ...

        `least` is how far the best flip known of each case is: what is clearly farther is not worth asking. The values of
        features that are tied together are those of `ends`, each near to one of the cases `owners`.
        """
        space, count = self.space, len(least)
        for number, unit in enumerate(space.units):
            rows, columns = np.arange(count), list(unit)
            if len(unit) > 1:
                rows, values = owners, ends[:, columns]
            else:
                own, longest = self.start[:count, unit[0]], np.minimum(least, 1.0)
                column, rows = _values(space, space.features[unit[0]], own, longest)
                values = column[:, None]
            trial = self.start[rows].copy()
            trial[:, columns] = values
            far = geometry.distance(space, self.start[rows], trial, scaled=True) if len(rows) else np.empty(0)
            fit = (far > 0) & (far < 1.5 * least[rows]) & ~np.isnan(self.own[rows])
            yield from self._try(rows[fit] + number * count, trial[fit])

    def _try(self, rows: Rows, codes: Codes) -> Flow[None]:
        """Ask about changes that keep the constraints, several of a row at once, and take the best that is better."""
        if self.space.keeps_constraints:
            fit = self.space.satisfied(codes)
            rows, codes = rows[fit], codes[fit]
        if rows.size:
            outputs = yield Question(Points(self.space, codes), note="explaining")
            self.take(rows, codes, self.border.read(outputs))


def _values(space: Space, feature: Feature, own: Codes, longest: Codes) -> tuple[Codes, Rows]:
    """Return other values of a feature to try for each case, no farther than so long, and which case each is for."""
    count = len(own)
    columns = []
    if feature.kind == "categorical":
        columns = [np.full(count, float(code)) for code in range(min(int(feature.high) + 1, MOST_VALUES))]
    else:
        for rung in range(RUNGS):
            for way in (-1, 1):
                to = own + way * longest / feature.scale / 2**rung
                to = np.rint(to) if feature.kind == "integer" else to
                if feature.kind == "integer" or space.moves == "clip":
                    to = np.clip(to, feature.low, feature.high)
                columns.append(to)
    if feature.nullable:
        columns.append(np.where(np.isnan(own), feature.default, np.nan))
    values = np.stack(columns, axis=1) if columns else np.empty((count, 0))
    case = np.repeat(np.arange(count), values.shape[1])
    values = values.ravel()
    proper = ~np.isnan(values) if not feature.nullable else np.ones(len(values), dtype=bool)
    return values[proper], case[proper]

"""Find small changes of cases that flip their answers, by querying the system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runs.flow import Flow, Query
from ..space import geometry
from ..space.features import Codes, Feature
from ..space.neighbours import find_nearest
from ..space.points import Points
from ..space.space import Space
from .borders import Border, Hierarchy, Jump, MultiLabel, Threshold
from .brackets import Brackets, ExplorationRecord
from .changes import Answers, Mask, Rows, measure_changes
from .front_data import FrontData
from .refinement import make_bisection

FINAL_DELTA = 1e-4  # share of a range: the precision of the result
ROUGH_DELTA = 1e-2  # the precision of the first pass, which selects the best ways
MAX_ENDS_PER_CASE = 10  # nearest ends with another answer, from which each case is approached
MAX_WAYS_PER_CASE = 3  # ways that are followed to the final precision
LADDER_RUNGS = 7  # single-feature changes: the distance known to flip, half of it, ... a 64th of it
MAX_CATEGORY_VALUES = 24  # categories of one feature that are tried


def find_flips(front: FrontData, points: Points, case: Rows, pair: Rows) -> Flow[tuple[Codes, Answers, Answers]]:
    """Search for small changes of cases that flip their answers.

    `case` and `pair` are the requested changes: the number of a case, sorted, and of a pair at which to change it. The
    first request of each case gets the smallest change that is found anywhere. Return the codes of the changed
    cases, the answers to the cases, and the answers to the changed cases; None where no flip was found.
    """
    space, border = front.space, front.restore_border()
    if isinstance(border, Hierarchy | MultiLabel):
        border = Border()  # any other path or set of labels is another answer
    outputs = yield Query(points, note="explaining")
    own_states = border.read(outputs)
    a, b, _ = front.read_states(border)
    ends, states = np.concatenate([front.a.codes, front.b.codes]), np.concatenate([a, b])
    owners, end_rows = _find_start_ends(space, border, points.codes, own_states, ends, states)
    target_rows = [np.concatenate([case, case, owners]), np.concatenate([pair, pair + len(front), end_rows])]
    search = _FlipSearch(space, border, points.codes[target_rows[0]], own_states[target_rows[0]])
    end_outputs = yield Query(Points(space, ends[target_rows[1]]), note="explaining")
    search.keep_better(np.arange(len(target_rows[1])), ends[target_rows[1]], border.read(end_outputs))
    count = len(case)
    for delta in (ROUGH_DELTA, FINAL_DELTA):
        yield from search.narrow(delta)
        yield from search.restore_features()
        search.distance[2 * count + _find_worst(search.distance[2 * count :], owners)] = np.inf
    best_distance = np.full(len(points), np.inf)
    np.minimum.at(best_distance, target_rows[0], search.distance)
    units = np.tile(np.arange(len(points)), len(space.units))
    single_search = _FlipSearch(space, border, points.codes[units], own_states[units])
    yield from single_search.change_single_features(best_distance, ends[end_rows], owners)
    yield from single_search.narrow(FINAL_DELTA)

    # take the nearer end of each pair, and for the first request of each case the best of all
    is_second_nearer = search.distance[:count] > search.distance[count : 2 * count]
    targets, target_states, distance = search.take(np.arange(count) + count * is_second_nearer)
    first_rows = np.flatnonzero(np.diff(case, prepend=-1))
    for candidates, owner in ((search, target_rows[0]), (single_search, units)):
        order = np.lexsort((candidates.distance, owner))
        best = order[np.searchsorted(owner[order], case[first_rows])]
        better = candidates.distance[best] < distance[first_rows]
        at_first, best = first_rows[better], best[better]
        targets[at_first], target_states[at_first], distance[at_first] = candidates.take(best)
    new_answers = np.full(count, None, dtype=object)
    flipped_rows = np.flatnonzero(np.isfinite(distance))
    new_answers[flipped_rows] = border.to_answers(target_states[flipped_rows])
    return targets, outputs.to_objects()[case], new_answers


def _find_start_ends(
    space: Space, border: Border, cases: Codes, own_states: Codes, ends: Codes, states: Codes
) -> tuple[Rows, Rows]:
    """Return the numbers of cases, and of their nearest ends with another answer."""
    sides = own_states > border.value if isinstance(border, Threshold) else own_states
    if isinstance(border, Jump):  # any two answers may differ: take the nearest ends, whatever their answers
        sides = np.where(np.isnan(own_states), np.nan, 0.0)
    owners, end_rows = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for side in np.unique(sides[~np.isnan(own_states)]):
        case_rows = np.flatnonzero((sides == side) & ~np.isnan(own_states))
        reference = np.full(len(ends), own_states[case_rows[0]])
        differs = np.ones(len(ends), dtype=bool)
        if not isinstance(border, Jump):
            differs = border.measure_gap(reference, states, np.zeros(len(ends), dtype=np.intp)) > border.min_gap
        candidates = np.flatnonzero(differs)
        k = min(MAX_ENDS_PER_CASE, len(candidates))
        _, nearest_rows = find_nearest(space, cases[case_rows], ends[candidates], k)
        owners.append(np.repeat(case_rows, nearest_rows.shape[1]))
        end_rows.append(candidates[nearest_rows.ravel()])
    return np.concatenate(owners), np.concatenate(end_rows)


def _find_worst(distance: Codes, owner: Rows) -> Rows:
    """Return the numbers of all but the best few changes per owner."""
    order = np.lexsort((distance, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    return order[rank >= MAX_WAYS_PER_CASE]


@dataclass
class _FlipSearch:
    """A batch of changes that flip answers, made smaller step by step."""

    space: Space
    border: Border
    start: Codes  # the cases
    start_state: Codes  # their answers

    def __post_init__(self) -> None:
        self.candidate, self.candidate_state = self.start.copy(), np.full(len(self.start), np.nan)
        self.distance = np.full(len(self.start), np.inf)  # the sizes of the changes; inf where no flip is known

    def take(self, rows: Rows) -> tuple[Codes, Codes, Codes]:
        """Return the changed cases of some rows, their answers, and the sizes of the changes."""
        return self.candidate[rows], self.candidate_state[rows], self.distance[rows]

    @property
    def flipped_rows(self) -> Rows:
        """The rows with a known flip."""
        return np.flatnonzero(np.isfinite(self.distance))

    def is_flip(self, states: Codes, rows: Rows) -> Mask:
        """Return which answers differ from those of the cases of some rows."""
        known_rows = np.flatnonzero(~np.isnan(states) & ~np.isnan(self.start_state[rows]))
        flipped, part = np.zeros(len(rows), dtype=bool), np.zeros(len(known_rows), dtype=np.intp)
        gap = self.border.measure_gap(self.start_state[rows[known_rows]], states[known_rows], part)
        flipped[known_rows] = gap > self.border.min_gap
        return flipped

    def keep_better(self, rows: Rows, codes: Codes, states: Codes) -> None:
        """Replace candidates by changes that flip and are smaller."""
        if not len(rows):
            return
        distance = geometry.distance(self.space, self.start[rows], codes, scaled=True)
        better = np.flatnonzero(self.is_flip(states, rows) & (distance < self.distance[rows]))
        better = better[np.argsort(-distance[better], kind="stable")]  # the smallest change of a row is assigned last
        rows, distance = rows[better], distance[better]
        self.candidate[rows], self.candidate_state[rows], self.distance[rows] = codes[better], states[better], distance

    def narrow(self, delta: float) -> Flow[None]:
        """Move candidates towards their cases as long as the answers differ."""
        live, brackets = self.flipped_rows, Brackets(len(self.space))
        ends, states = (self.start[live], self.candidate[live]), (self.start_state[live], self.candidate_state[live])
        brackets.add(*ends, *states, np.zeros(len(live), dtype=np.intp), live)
        runs = np.zeros(len(self.start), dtype=np.intp)
        yield from make_bisection(self.space, delta)(self.border, brackets, runs, ExplorationRecord(self.space), 0.5)
        self.keep_better(brackets.walk, brackets.y, brackets.y_state)

    def restore_features(self) -> Flow[None]:
        """Restore the value of the case, feature by feature, where the answer still differs; smallest change first.

        Features tied by a constraint are restored together.
        """
        space, live = self.space, self.flipped_rows
        if not live.size:
            return
        parts = measure_changes(space, self.start[live], self.candidate[live])
        change = np.column_stack([parts[:, list(unit)].sum(axis=1) for unit in space.units])
        member = np.array([np.isin(np.arange(len(space)), unit) for unit in space.units])
        for unit in np.argsort(change, axis=1, kind="stable").T:
            changed = change[np.arange(len(live)), unit] > 0
            rows, unit = live[changed], unit[changed]
            trial = np.where(member[unit], self.start[rows], self.candidate[rows])
            trial = geometry.repair(space, trial, self.candidate[rows])
            fit = ~Points(space, trial).same(Points(space, self.start[rows]))
            yield from self._query_changes(rows[fit], trial[fit])

    def change_single_features(self, best_distance: Codes, ends: Codes, owners: Rows) -> Flow[None]:
        """Try changes of one feature alone, from large to small.

        The rows are all cases for the first unit of features, then all cases for the second unit, and so on.
        `best_distance` is the size of the best known flip of each case: clearly larger changes are not tried. Features
        tied by a constraint get the values of `ends`, each near one of the cases `owners`.
        """
        space, count = self.space, len(best_distance)
        for number, unit in enumerate(space.units):
            rows, columns = np.arange(count), list(unit)
            if len(unit) > 1:
                rows, values = owners, ends[:, columns]
            else:
                own_values, max_distance = self.start[:count, unit[0]], np.minimum(best_distance, 1.0)
                column, rows = _list_trial_values(space, space.features[unit[0]], own_values, max_distance)
                values = column[:, None]
            trial = self.start[rows].copy()
            trial[:, columns] = values
            trial = geometry.repair(space, trial, self.start[rows])
            distance = geometry.distance(space, self.start[rows], trial, scaled=True) if len(rows) else np.empty(0)
            fit = (distance > 0) & (distance < 1.5 * best_distance[rows]) & ~np.isnan(self.start_state[rows])
            yield from self._query_changes(rows[fit] + number * count, trial[fit])

    def _query_changes(self, rows: Rows, codes: Codes) -> Flow[None]:
        """Query changes that satisfy the constraints, and keep those that are better."""
        if self.space.keeps_constraints:
            fit = self.space.satisfied(codes)
            rows, codes = rows[fit], codes[fit]
        if rows.size:
            outputs = yield Query(Points(self.space, codes), note="explaining")
            self.keep_better(rows, codes, self.border.read(outputs))


def _list_trial_values(space: Space, feature: Feature, own_values: Codes, max_distance: Codes) -> tuple[Codes, Rows]:
    """Return values of a feature to try, within `max_distance` of each case, and the case that each is for."""
    count = len(own_values)
    if feature.kind == "text":
        columns = [feature.moved(own_values, direction, clip=True) for direction in (1, -1)]
    elif feature.kind == "categorical":
        columns = [np.full(count, float(code)) for code in range(min(int(feature.high) + 1, MAX_CATEGORY_VALUES))]
    else:
        ladder = [way * max_distance / feature.scale / 2**rung for rung in range(LADDER_RUNGS) for way in (-1, 1)]
        columns = [own_values + step for step in ladder]
        if feature.kind == "integer":
            columns = [np.rint(targets) for targets in columns]
        if feature.kind == "integer" or space.moves == "clip":
            columns = [np.clip(targets, feature.low, feature.high) for targets in columns]
    if feature.nullable:
        columns.append(np.where(np.isnan(own_values), feature.default, np.nan))
    values, case = np.stack(columns, axis=1).ravel(), np.repeat(np.arange(count), len(columns))
    valid = ~np.isnan(values) | feature.nullable
    return values[valid], case[valid]

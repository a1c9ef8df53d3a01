"""Small changes of real rows that change the answer, in as few features as can be found with few queries."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..runs.flow import Flow, Query
from ..space import geometry
from ..space.features import Codes
from ..space.neighbours import find_nearest
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from .changes import Answers, Rows, measure_changes
from .front_data import FrontData, get_extra_call_limit, query_quietly

MAX_CANDIDATE_CALLS = 6_000  # rows that the system is queried with
MAX_UNITS_PER_PAIR = 60  # features tried per pair, those that differ most
COMMON_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of a feature, tried alone
OVERSHOOT_SHARE = 0.01  # of the range of a feature
SIGNIFICANT_DIGITS = 3  # of a value, relative to the range of its feature


@dataclass(frozen=True, kw_only=True)
class SmallChanges:
    """Real rows, changed rows with another answer, and both answers."""

    seed_rows: Rows  # the position of each row among the seeds of the front
    before: Points
    after: Points
    answer: Answers
    becomes: Answers

    def __len__(self) -> int:
        return len(self.seed_rows)


def find_small_changes(front: FrontData, pairs: Rows) -> SmallChanges | None:
    """Return changes of the real rows next to border pairs that the system confirms, fewest features first.

    The real row nearest to each pair is changed in one feature, to a common value of it. It is also changed towards the
    end of the pair with another answer: in one feature, or in as many of those that differ most as it takes, with
    rounded values. None is returned if the system cannot be queried; pairs without such a change are left out.
    """
    if not len(pairs) or not len(front.seeds) or not get_extra_call_limit(front, MAX_CANDIDATE_CALLS):
        return None
    calls = min(MAX_CANDIDATE_CALLS, front.calls)  # in two queries
    units = min(len(front.space.units), MAX_UNITS_PER_PAIR)
    pairs = pairs[: max(1, calls // ((2 + len(COMMON_QUANTILES)) * units + 1))]
    return query_quietly(front, _query_candidates(front, pairs))


def _query_candidates(front: FrontData, pairs: Rows) -> Flow[SmallChanges]:
    space, border = front.space, front.restore_border()
    seed_rows = find_nearest(space, front.a.codes[pairs], front.seeds.codes)[1][:, 0]
    _, first = np.unique(seed_rows, return_index=True)
    chosen_rows = np.sort(first)  # one change per real row
    pairs, seed_rows = pairs[chosen_rows], seed_rows[chosen_rows]
    own_outputs: Outputs = yield Query(front.seeds.take(seed_rows), note="finding small changes")
    own_states = border.read(own_outputs)
    answered = np.flatnonzero(~np.isnan(own_states))
    pairs, seed_rows, own_states = pairs[answered], seed_rows[answered], own_states[answered]
    own_outputs, real = own_outputs.take(answered), front.seeds.codes[seed_rows]
    a, b, part = front.read_states(border)
    towards_b = border.measure_gap(own_states, b[pairs], part[pairs]) >= border.measure_gap(
        own_states, a[pairs], part[pairs]
    )
    ends = np.where(towards_b[:, None], front.b.codes[pairs], front.a.codes[pairs])
    ends = _round_codes(space, _overshoot(space, real, ends))
    common_values = _find_common_values(front)
    candidates, owners, sizes = [], [], []
    for row in range(len(pairs)):
        for column, value in common_values:
            if value != real[row, column]:
                candidate = real[row].copy()
                candidate[column] = value
                candidates.append(candidate)
                owners.append(row)
                sizes.append(1)
        for unit_set in _choose_unit_sets(space, real[row], ends[row]):
            candidate = real[row].copy()
            candidate[unit_set] = ends[row][unit_set]
            candidates.append(candidate)
            owners.append(row)
            sizes.append(len(unit_set))
    codes = np.array(candidates).reshape(-1, len(space))
    owner, size = np.array(owners, dtype=np.intp), np.array(sizes, dtype=np.intp)
    if space.keeps_constraints and len(codes):
        codes = geometry.repair(space, codes, real[owner])
        valid = space.satisfied(codes)
        codes, owner, size = codes[valid], owner[valid], size[valid]
        size = (measure_changes(space, real[owner], codes) > 0).sum(axis=1)  # a repair changes more features
    outputs = Outputs.empty()
    if len(codes):
        outputs = yield Query(Points(space, codes), note="finding small changes")
    states = border.read(outputs)
    known = ~np.isnan(states)
    flips = np.zeros(len(codes), dtype=bool)
    flips[known] = (
        border.measure_gap(own_states[owner[known]], states[known], part[pairs][owner[known]]) > border.min_gap
    )
    distances = measure_changes(space, real[owner], codes).sum(axis=1)
    order = np.lexsort((distances, size, owner))
    order = order[flips[order]]
    _, best = np.unique(owner[order], return_index=True)
    chosen = order[best]
    rows = owner[chosen]
    return SmallChanges(
        seed_rows=seed_rows[rows],
        before=Points(space, real[rows]),
        after=Points(space, codes[chosen]),
        answer=own_outputs.to_objects()[rows],
        becomes=outputs.to_objects()[chosen],
    )


def _find_common_values(front: FrontData) -> list[tuple[int, float]]:
    """Return columns with values to try alone: quantiles of numbers, and the most frequent categories."""
    values = []
    for column, feature in enumerate(front.space.features[:MAX_UNITS_PER_PAIR]):
        codes = front.seeds.codes[:, column]
        codes = codes[~np.isnan(codes)]
        if not codes.size or feature.kind == "text":
            continue
        if feature.kind == "categorical":
            names, counts = np.unique(codes, return_counts=True)
            chosen = names[np.argsort(-counts, kind="stable")][: len(COMMON_QUANTILES)]
        else:
            chosen = np.unique(np.quantile(codes, COMMON_QUANTILES, method="nearest"))
        values += [(column, float(value)) for value in chosen]
    return values


def _choose_unit_sets(space: Space, real: Codes, end: Codes) -> list[list[int]]:
    """Return sets of features to change: each alone, then the two, three, ... that differ most."""
    changes = measure_changes(space, real[None], end[None])[0]
    sizes = [float(changes[list(unit)].max()) for unit in space.units]
    order = [unit for unit in np.argsort([-size for size in sizes], kind="stable").tolist() if sizes[unit] > 0]
    order = order[:MAX_UNITS_PER_PAIR]
    sets = [list(space.units[unit]) for unit in order]
    together: list[int] = []
    for count, unit in enumerate(order, start=1):
        together = [*together, *space.units[unit]]
        if count > 1:
            sets.append(together)
    return sets


def _overshoot(space: Space, real: Codes, ends: Codes) -> Codes:
    """Return ends moved a little further away from the real rows, so that rounding does not undo a change."""
    moved = ends.copy()
    for column, feature in enumerate(space.features):
        if feature.kind == "continuous" and feature.scale > 0:
            gap = ends[:, column] - real[:, column]
            is_large = np.abs(gap) * feature.scale > OVERSHOOT_SHARE / 2
            moved[:, column] += np.where(is_large, np.sign(gap) * OVERSHOOT_SHARE / feature.scale, 0.0)
    return moved


def _round_codes(space: Space, codes: Codes) -> Codes:
    """Return codes whose numbers have no more digits than people need, within the bounds."""
    rounded = codes.copy()
    for column, feature in enumerate(space.features):
        if feature.kind != "continuous" or not feature.scale > 0:
            continue
        decimals = SIGNIFICANT_DIGITS - math.floor(math.log10(1 / feature.scale)) - 1
        values = np.round(codes[:, column], decimals)
        rounded[:, column] = np.clip(values, feature.low, feature.high)
    return rounded

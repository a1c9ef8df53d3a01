"""Follow a border: find it in another system, or among the pairs of another front."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...runs.flow import Flow, Query
from ...space import geometry
from ...space.features import Codes
from ...space.neighbours import find_nearest
from ...space.points import Points
from ...space.space import Space
from ..borders import SideIndex
from ..brackets import Brackets, ExplorationRecord
from ..changes import Answers, Mask, Rows, thin_rows
from ..front_data import FrontData
from ..refinement import make_bisection

TARGETS_PER_PAIR = 3  # nearest pairs of the other front towards which the border is searched
CANDIDATES_PER_PAIR = 12  # nearest pairs among which one should have the same direction
SPACING_QUANTILE = 0.95  # the spacing is the distance within which this share of pairs has a neighbour
#: distances along a line are the tolerance, its doubles and halves: rounding, which depends on the processor, decides nothing
ROUNDING_SLACK = 1 + 1e-9
MAX_MEASURED_PAIRS = 5_000  # pairs of a front, evenly chosen, to which distances are measured


@dataclass(frozen=True, kw_only=True)
class OrientedPairs:
    """The pairs of a front, ordered so that pairs of the same border have the same side first."""

    space: Space
    kinds: Rows  # the number of the border, by `SideIndex`
    first: Codes  # the codes of the first ends
    second: Codes
    first_state: Codes  # the answers to the first ends, as numbers of the border
    second_state: Codes
    swapped: Mask  # where `first` is the `b` of the front

    @staticmethod
    def from_front(front: FrontData, space: Space, sides: SideIndex) -> OrientedPairs:
        """Return the pairs of a front in this order."""
        a, b, part = front.read_states(sides.border)
        kinds, swapped = sides.number_kinds(a, b, part)
        swapped_rows = swapped[:, None]
        return OrientedPairs(
            space=space,
            kinds=kinds,
            first=np.where(swapped_rows, front.b.codes, front.a.codes),
            second=np.where(swapped_rows, front.a.codes, front.b.codes),
            first_state=np.where(swapped, b, a),
            second_state=np.where(swapped, a, b),
            swapped=swapped,
        )

    def __len__(self) -> int:
        return len(self.kinds)

    def take(self, rows: Rows) -> OrientedPairs:
        """Return some of the pairs."""
        return replace(self, **{name: values[rows] for name, values in vars(self).items() if name != "space"})

    def compute_distances(self, rows: Rows, first: Codes, second: Codes) -> Codes:
        """Return the distances to other pairs, each the larger of the distances between the two ends."""
        first_distances = geometry.distance(self.space, self.first[rows], first, scaled=True)
        return np.maximum(first_distances, geometry.distance(self.space, self.second[rows], second, scaled=True))

    def compute_cosines(self, rows: Rows, other_pairs: OrientedPairs, other_rows: Rows) -> Codes:
        """Return the cosines of the angles to other pairs; below 0 the sides are swapped."""
        own_ends = self.first[rows], self.second[rows]
        other_ends = other_pairs.first[other_rows], other_pairs.second[other_rows]
        length = _compute_dot_products(self.space, *own_ends, *own_ends)
        length *= _compute_dot_products(self.space, *other_ends, *other_ends)
        return _compute_dot_products(self.space, *own_ends, *other_ends) / np.sqrt(np.where(length > 0, length, 1.0))

    def compute_offsets(self, rows: Rows, other_pairs: OrientedPairs, other_rows: Rows) -> Codes:
        """Return the offsets of other pairs along the direction from the first end to the second."""
        first, second = self.first[rows], self.second[rows]
        length = _compute_dot_products(self.space, first, second, first, second)
        products = _compute_dot_products(self.space, first, second, first, other_pairs.first[other_rows])
        return products / np.sqrt(np.where(length > 0, length, 1.0))


def _compute_dot_products(space: Space, a: Codes, b: Codes, c: Codes, d: Codes) -> Codes:
    """Return the scaled dot products of the vectors from `a` to `b` and from `c` to `d`.

    The same change of a category counts 1, the reverse change -1, and any other change 0.
    """
    total = np.zeros(len(a))
    for j, feature in enumerate(space.features):
        columns = [matrix[:, j] for matrix in (a, b, c, d)]
        if not feature.numeric:
            w, x, y, z = (np.nan_to_num(column, nan=-1.0) for column in columns)
            total += ((w == y) & (x == z)).astype(float) - ((w == z) & (x == y))
            continue
        w, x, y, z = columns
        total += np.nan_to_num(x - w) * np.nan_to_num(z - y) * feature.scale**2
        if feature.nullable:
            w, x, y, z = (np.isnan(column).astype(float) for column in columns)
            total += (x - w) * (z - y)
    return total


def find_nearest_of_kind(
    pairs: OrientedPairs, other_pairs: OrientedPairs, k: int = CANDIDATES_PER_PAIR
) -> tuple[Codes, Rows]:
    """Return the distances and the numbers of the `k` nearest other pairs of the same border, for each pair.

    They are nearest by their first ends. A distance is inf where there are fewer pairs, and where the two classes are
    the other way round.
    """
    shift = np.full((len(pairs), k), np.inf)
    partner = np.full((len(pairs), k), -1, dtype=np.intp)
    for kind in np.unique(other_pairs.kinds):
        own_rows, other_rows = np.flatnonzero(pairs.kinds == kind), np.flatnonzero(other_pairs.kinds == kind)
        if not own_rows.size:
            continue
        neighbours = find_nearest(pairs.space, pairs.first[own_rows], other_pairs.first[other_rows], k)[1]
        for rank in range(min(k, other_rows.size)):
            candidates = other_rows[neighbours[:, rank]]
            partner[own_rows, rank] = candidates
            distance = pairs.compute_distances(own_rows, other_pairs.first[candidates], other_pairs.second[candidates])
            is_swapped = pairs.compute_cosines(own_rows, other_pairs, candidates) < 0
            shift[own_rows, rank] = np.where(is_swapped, np.inf, distance)
    return shift, partner


def measure_shifts(pairs: OrientedPairs, other_pairs: OrientedPairs) -> tuple[Codes, Rows]:
    """Return the distance and the number of the nearest other pair of the same border and direction."""
    rows = thin_rows(len(other_pairs), MAX_MEASURED_PAIRS)
    shift, partner = find_nearest_of_kind(pairs, other_pairs.take(rows))
    best = shift.argmin(axis=1)[:, None]
    partner = np.where(partner >= 0, rows[partner] if rows.size else partner, -1)
    return np.take_along_axis(shift, best, axis=1)[:, 0], np.take_along_axis(partner, best, axis=1)[:, 0]


def measure_spacing(*pair_sets: OrientedPairs) -> dict[int, float]:
    """Return the spacing per border: 19 of 20 pairs have a neighbour that near, in the sparsest front."""
    quantiles: dict[int, list[float]] = {}
    distance_lists = []
    for pairs in pair_sets:
        pairs = pairs.take(thin_rows(len(pairs), MAX_MEASURED_PAIRS))
        shift, partner = find_nearest_of_kind(pairs, pairs)
        shift[partner == np.arange(len(pairs))[:, None]] = np.inf  # itself
        neighbour_distance = shift.min(axis=1, initial=np.inf)
        for kind in np.unique(pairs.kinds).tolist():
            distance = neighbour_distance[(pairs.kinds == kind) & np.isfinite(neighbour_distance)]
            quantile = [float(np.quantile(distance, SPACING_QUANTILE))] if distance.size else []
            quantiles[kind] = quantiles.get(kind, []) + quantile
        distance_lists.append(neighbour_distance[np.isfinite(neighbour_distance)])
    all_distances = np.concatenate(distance_lists)
    overall = float(np.quantile(all_distances, SPACING_QUANTILE)) if all_distances.size else np.inf
    return {kind: max(values, default=overall) for kind, values in quantiles.items()}


@dataclass(frozen=True)
class BorderTrace:
    """The answers of a system at the pairs of another front, and the distance to its own border.

    `shift` is the distance from each pair to the nearest border between the same classes that was found: 0 where the
    border still separates the two cases, inf where none was found or the two classes are swapped.
    """

    answers: Mapping[str, Answers]  # at the ends "a" and "b" of each pair; None where there is no answer
    shift: Codes


def follow_border(
    pairs: OrientedPairs, own_pairs: OrientedPairs, sides: SideIndex, tolerance: float, reach: float
) -> Flow[BorderTrace]:
    """Query a system about the pairs of another front, and search its border near those that it does not separate.

    The border of the system is known at `own_pairs`, those of its own front. `tolerance` is the precision of the search,
    and `reach` the distance to search along the line through each pair.
    """
    count, space, border = len(pairs), pairs.space, sides.border
    outputs = yield Query(Points(space, np.concatenate([pairs.first, pairs.second])), note="comparing")
    state = border.read(outputs)
    states = state[:count], state[count:]
    orientation, _ = match_border_kind(sides, *states, pairs.kinds)
    shift = np.where(orientation > 0, 0.0, np.inf)
    lost_rows = np.flatnonzero(orientation == 0)
    known_distance, partner = find_nearest_of_kind(pairs.take(lost_rows), own_pairs)
    shift[lost_rows] = known_distance.min(axis=1, initial=np.inf)
    brackets = Brackets(len(space))
    # distances from the tolerance to the reach, each twice the previous one
    rungs = [min(reach, tolerance * 2.0**i) for i in range(int(np.ceil(np.log2(reach / tolerance))) + 1)]
    yield from _extend_lines(pairs, sides, lost_rows, pairs.first, states[0], [-rung for rung in rungs], brackets)
    yield from _extend_lines(pairs, sides, lost_rows, pairs.second, states[1], rungs, brackets)
    for rank in range(TARGETS_PER_PAIR):
        _add_target_brackets(pairs, own_pairs, sides, lost_rows, partner[:, rank], states[0], brackets)
    walk_runs, record = np.zeros(count, dtype=np.intp), ExplorationRecord(space)
    yield from make_bisection(space, tolerance / 2 * ROUNDING_SLACK)(border, brackets, walk_runs, record, 0.5)
    orientation, _ = match_border_kind(sides, brackets.x_state, brackets.y_state, pairs.kinds[brackets.walk])
    for direction, first, second in ((1, brackets.x, brackets.y), (-1, brackets.y, brackets.x)):
        rows = np.flatnonzero(orientation == direction)
        pair_rows = brackets.walk[rows]
        ends = pairs.first[pair_rows], pairs.second[pair_rows]
        rows = rows[_compute_dot_products(space, *ends, first[rows], second[rows]) >= 0]
        pair_rows = brackets.walk[rows]
        np.minimum.at(shift, pair_rows, pairs.compute_distances(pair_rows, first[rows], second[rows]))
    first, second = outputs.to_objects()[:count], outputs.to_objects()[count:]
    a, b = np.where(pairs.swapped, second, first), np.where(pairs.swapped, first, second)
    return BorderTrace({"a": a, "b": b}, shift)


def match_border_kind(sides: SideIndex, x: Codes, y: Codes, kinds: Rows) -> tuple[npt.NDArray[np.int8], Rows]:
    """Return where a border of a given kind separates two answers, and the number of the label that changes.

    The first array is 1 where it does, -1 where the two sides are swapped, and 0 where it does not.
    """
    orientation, label_part = np.zeros(len(x), dtype=np.int8), np.zeros(len(x), dtype=np.intp)
    rows, part = sides.border.find_borders(x, y)
    row_kinds, swapped = sides.number_kinds(x[rows], y[rows], part)
    matches = row_kinds == kinds[rows]
    orientation[rows[matches]] = np.where(swapped[matches], -1, 1)
    label_part[rows[matches]] = part[matches]
    return orientation, label_part


def _extend_lines(
    pairs: OrientedPairs,
    sides: SideIndex,
    rows: Rows,
    end: Codes,
    states: Codes,
    rungs: list[float],
    brackets: Brackets,
) -> Flow[None]:
    """Search along the line through each pair, away from one end, until a border of its kind is found."""
    space = pairs.space
    numeric = np.array([feature.numeric for feature in space.features])
    direction = np.where(numeric, np.nan_to_num(pairs.second[rows] - pairs.first[rows]), 0.0)
    length = geometry.distance(space, direction, np.zeros((1, len(space))), scaled=True)
    moving = (length > 0) & ~np.isnan(states[rows])
    rows, direction = rows[moving], direction[moving] / length[moving, None]
    here, state = end[rows], states[rows]
    for rung in rungs:
        there = _clip_to_space(space, end[rows] + rung * direction)
        new = ~Points(space, here).same(Points(space, there))
        if space.keeps_constraints:
            new &= space.satisfied(there)
        query_rows = np.flatnonzero(new)
        if not query_rows.size:
            continue
        outputs = yield Query(Points(space, there[query_rows]), note="following the border")
        new_state = state.copy()
        new_state[query_rows] = sides.border.read(outputs)
        orientation, part = match_border_kind(sides, state, new_state, pairs.kinds[rows])
        met = orientation != 0
        brackets.add(here[met], there[met], state[met], new_state[met], part[met], rows[met])
        unfinished = ~met & ~np.isnan(new_state)
        here, state = np.where(new[:, None], there, here)[unfinished], new_state[unfinished]
        rows, direction = rows[unfinished], direction[unfinished]


def _add_target_brackets(
    pairs: OrientedPairs,
    own_pairs: OrientedPairs,
    sides: SideIndex,
    rows: Rows,
    partners: Rows,
    states: Codes,
    brackets: Brackets,
) -> None:
    """Add a bracket between each pair and an end of a partner pair that has the other answer."""
    has_partner = partners >= 0
    rows, partners = rows[has_partner], partners[has_partner]
    for codes, target_states in ((own_pairs.first, own_pairs.first_state), (own_pairs.second, own_pairs.second_state)):
        orientation, part = match_border_kind(sides, states[rows], target_states[partners], pairs.kinds[rows])
        met = orientation != 0
        pair_rows, partner_rows = rows[met], partners[met]
        ends, end_states = (
            (pairs.first[pair_rows], codes[partner_rows]),
            (states[pair_rows], target_states[partner_rows]),
        )
        brackets.add(*ends, *end_states, part[met], pair_rows)


def _clip_to_space(space: Space, codes: Codes) -> Codes:
    """Return codes as valid values: integers rounded, and clipped to the bounds that moves respect."""
    for j, feature in enumerate(space.features):
        if feature.kind == "integer":
            codes[:, j] = np.rint(codes[:, j])
        if feature.kind != "continuous" or space.moves == "clip":
            codes[:, j] = np.clip(codes[:, j], feature.low, feature.high)
    return codes

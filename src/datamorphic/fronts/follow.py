"""Following a border: where is it in another system, or among the pairs of another front?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..space import geometry
from ..space.features import Codes
from ..space.neighbours import nearest
from ..space.points import Points
from ..space.space import Space
from ..strategies.brackets import Brackets, Found
from ..strategies.flow import Flow, Question
from .reading import Mask, Rows, Sides, narrowing, said, states_of, thinned

if TYPE_CHECKING:
    from .front import Front

NEAR = 3  # pairs of the other front, for each pair, towards which its border is looked for
AROUND = 12  # among so many there should be one that looks the same way
NEIGHBOURS = 0.95  # this share of pairs has a neighbour within what is called the spacing
MOST_MEASURED = 5_000  # pairs of a front, evenly chosen, that distances are measured to


@dataclass(frozen=True)
class Oriented:
    """The pairs of a front, all with the same one of their two sides first.

    Attributes
    ----------
    kinds : ndarray
        The numbers that `Sides` gives to the two sides.
    first, second : ndarray
        The codes of the two ends.
    first_state, second_state : ndarray
        The answers to them, as the border reads them.
    swapped : ndarray of bool
        Where `first` is the front's `b`.
    """

    space: Space
    kinds: Rows
    first: Codes
    second: Codes
    first_state: Codes
    second_state: Codes
    swapped: Mask

    @staticmethod
    def of(front: Front, space: Space, sides: Sides) -> Oriented:
        """Orient the pairs of a front."""
        a, b, part = states_of(front, sides.border)
        kinds, swapped = sides.kinds(a, b, part)
        ends = [(front.a.codes, front.b.codes), (a, b)]
        (first, second), (first_state, second_state) = (
            (np.where(_like(swapped, x), y, x), np.where(_like(swapped, x), x, y)) for x, y in ends
        )
        return Oriented(space, kinds, first, second, first_state, second_state, swapped)

    def __len__(self) -> int:
        return len(self.kinds)

    def take(self, rows: Rows) -> Oriented:
        """Return some of the pairs."""
        return Oriented(self.space, *(values[rows] for name, values in vars(self).items() if name != "space"))

    def apart(self, rows: Rows, first: Codes, second: Codes) -> Codes:
        """Return how far other pairs are from some of these: the distance of the ends that are farther apart."""
        space = self.space
        return np.maximum(
            geometry.distance(space, self.first[rows], first, scaled=True),
            geometry.distance(space, self.second[rows], second, scaled=True),
        )

    def agreement(self, rows: Rows, others: Oriented, numbers: Rows) -> Codes:
        """Return the cosine of the ways from side to side of some pairs and of others: below 0, sides are swapped."""
        ways = self.first[rows], self.second[rows]
        theirs = others.first[numbers], others.second[numbers]
        length = _product(self.space, *ways, *ways) * _product(self.space, *theirs, *theirs)
        return _product(self.space, *ways, *theirs) / np.sqrt(np.where(length > 0, length, 1.0))

    def ahead(self, rows: Rows, others: Oriented, numbers: Rows) -> Codes:
        """Return how far others lie beyond some of these pairs, on the way from the first side to the second."""
        ways, aside = (self.first[rows], self.second[rows]), (self.first[rows], others.first[numbers])
        length = _product(self.space, *ways, *ways)
        return _product(self.space, *ways, *aside) / np.sqrt(np.where(length > 0, length, 1.0))


def _like(mask: Mask, values: Codes) -> Mask:
    return mask[:, None] if values.ndim == 2 else mask


def _product(space: Space, a: Codes, b: Codes, c: Codes, d: Codes) -> Codes:
    """Return the scaled dot products of the ways from `a` to `b` and from `c` to `d`.

    The same change of a category counts 1, the reverse -1, and any other 0: from b to c and from c to d are no opposites.
    """
    total = np.zeros(len(a))
    for j, feature in enumerate(space.features):
        columns = [each[:, j] for each in (a, b, c, d)]
        if feature.kind == "categorical":
            w, x, y, z = (np.nan_to_num(each, nan=-1.0) for each in columns)
            total += ((w == y) & (x == z)).astype(float) - ((w == z) & (x == y))
            continue
        w, x, y, z = columns
        total += np.nan_to_num(x - w) * np.nan_to_num(z - y) * feature.scale**2
        if feature.nullable:
            w, x, y, z = (np.isnan(each).astype(float) for each in columns)
            total += (x - w) * (z - y)
    return total


def nearest_of_kind(pairs: Oriented, others: Oriented, k: int = AROUND) -> tuple[Codes, Rows]:
    """Return for each pair how far the `k` nearest others between the same classes are, and their numbers.

    Nearest by their first ends; the distances are those of `Oriented.apart`, inf where there are fewer, and where the
    two classes lie the other way round.
    """
    shift = np.full((len(pairs), k), np.inf)
    number = np.full((len(pairs), k), -1, dtype=np.intp)
    for kind in np.unique(others.kinds):
        mine, theirs = np.flatnonzero(pairs.kinds == kind), np.flatnonzero(others.kinds == kind)
        if not mine.size:
            continue
        at = nearest(pairs.space, pairs.first[mine], others.first[theirs], k)[1]
        for rank in range(min(k, theirs.size)):
            chosen = theirs[at[:, rank]]
            number[mine, rank] = chosen
            far = pairs.apart(mine, others.first[chosen], others.second[chosen])
            shift[mine, rank] = np.where(pairs.agreement(mine, others, chosen) < 0, np.inf, far)
    return shift, number


def measured(pairs: Oriented, others: Oriented) -> tuple[Codes, Rows]:
    """Return how far the nearest other of its kind that looks the same way is from each pair, and its number."""
    rows = thinned(len(others), MOST_MEASURED)
    shift, number = nearest_of_kind(pairs, others.take(rows))
    best = shift.argmin(axis=1)[:, None]
    number = np.where(number >= 0, rows[number] if rows.size else number, -1)
    return np.take_along_axis(shift, best, axis=1)[:, 0], np.take_along_axis(number, best, axis=1)[:, 0]


def spacing(*fronts: Oriented) -> dict[int, float]:
    """Return for each two classes how near to a neighbour 19 of 20 pairs are, in the sparsest of the fronts."""
    seen: dict[int, list[float]] = {}
    everything = []
    for front in fronts:
        front = front.take(thinned(len(front), MOST_MEASURED))
        shift, number = nearest_of_kind(front, front)
        shift[number == np.arange(len(front))[:, None]] = np.inf  # itself
        near = shift.min(axis=1, initial=np.inf)
        for kind in np.unique(front.kinds).tolist():
            some = near[(front.kinds == kind) & np.isfinite(near)]
            seen.setdefault(kind, []).extend([float(np.quantile(some, NEIGHBOURS))] if some.size else [])
        everything.append(near[np.isfinite(near)])
    all_near = np.concatenate(everything)
    overall = float(np.quantile(all_near, NEIGHBOURS)) if all_near.size else np.inf
    return {kind: max(found, default=overall) for kind, found in seen.items()}


@dataclass(frozen=True)
class Followed:
    """What a system makes of the pairs of another system's front.

    Attributes
    ----------
    answers : dict
        What it answers at the ends ``"a"`` and ``"b"`` of each pair; None where it did not.
    shift : ndarray
        How far from each pair the nearest border between the same classes is that was found: 0 where it still
        parts the two cases, inf where there is none or where the two classes have changed places.
    """

    answers: Mapping[str, npt.NDArray[Any]]
    shift: Codes


def follow(pairs: Oriented, own: Oriented, sides: Sides, tolerance: float, reach: float) -> Flow[Followed]:
    """Ask a system about the pairs of another's front and look for its border near those that it does not part.

    Parameters
    ----------
    pairs : Oriented
        The pairs to follow.
    own : Oriented
        The system's own front: places where its border is known to be.
    sides : Sides
        What counts as a border, and of which kind it is.
    tolerance, reach : float
        How exactly to find it, and how far along the line through each pair to look.
    """
    count, space, border = len(pairs), pairs.space, sides.border
    outputs = yield Question(Points(space, np.concatenate([pairs.first, pairs.second])), note="comparing")
    state = border.read(outputs)
    states = state[:count], state[count:]
    way, _ = of_kind(sides, *states, pairs.kinds)
    shift = np.where(way > 0, 0.0, np.inf)
    lost = np.flatnonzero(way == 0)
    known, number = nearest_of_kind(pairs.take(lost), own)
    shift[lost] = known.min(axis=1, initial=np.inf)
    brackets = Brackets(len(space))
    rungs = _rungs(tolerance, reach)
    yield from _walk_on(pairs, sides, lost, pairs.first, states[0], [-rung for rung in rungs], brackets)
    yield from _walk_on(pairs, sides, lost, pairs.second, states[1], rungs, brackets)
    for rank in range(NEAR):
        _aim(pairs, own, sides, lost, number[:, rank], states[0], brackets)
    yield from narrowing(space, tolerance / 2)(border, brackets, np.zeros(count, dtype=np.intp), Found(space), 0.5)
    way, _ = of_kind(sides, brackets.x_state, brackets.y_state, pairs.kinds[brackets.walk])
    for direction, first, second in ((1, brackets.x, brackets.y), (-1, brackets.y, brackets.x)):
        rows = np.flatnonzero(way == direction)
        at = brackets.walk[rows]
        rows = rows[_product(space, pairs.first[at], pairs.second[at], first[rows], second[rows]) >= 0]
        at = brackets.walk[rows]
        np.minimum.at(shift, at, pairs.apart(at, first[rows], second[rows]))
    first, second = said(outputs)[:count], said(outputs)[count:]
    a, b = np.where(pairs.swapped, second, first), np.where(pairs.swapped, first, second)
    return Followed({"a": a, "b": b}, shift)


def of_kind(sides: Sides, x: Codes, y: Codes, kinds: Rows) -> tuple[npt.NDArray[np.int8], Rows]:
    """Tell where a border of a given kind lies between two answers, and which of several labels it is about.

    The first is 1 where it does, -1 where its two sides have changed places, 0 where it does not.
    """
    way, of_label = np.zeros(len(x), dtype=np.int8), np.zeros(len(x), dtype=np.intp)
    rows, part = sides.border.parts(x, y)
    found, swapped = sides.kinds(x[rows], y[rows], part)
    same = found == kinds[rows]
    way[rows[same]] = np.where(swapped[same], -1, 1)
    of_label[rows[same]] = part[same]
    return way, of_label


def _rungs(tolerance: float, reach: float) -> list[float]:
    """Return distances from the tolerance to the reach, each twice the one before."""
    doublings = int(np.ceil(np.log2(reach / tolerance)))
    return [min(reach, tolerance * 2.0**i) for i in range(doublings + 1)]


def _walk_on(
    pairs: Oriented,
    sides: Sides,
    rows: Rows,
    end: Codes,
    states: Codes,
    rungs: list[float],
    brackets: Brackets,
) -> Flow[None]:
    """Go on from one end of each pair, away from the other, until there is a border of its kind."""
    space = pairs.space
    numbers = np.array([feature.kind != "categorical" for feature in space.features])
    way = np.where(numbers, np.nan_to_num(pairs.second[rows] - pairs.first[rows]), 0.0)
    zero = np.zeros((1, len(space)))
    length = geometry.distance(space, way, zero, scaled=True)
    moving = (length > 0) & ~np.isnan(states[rows])
    rows, way = rows[moving], way[moving] / length[moving, None]
    here, state = end[rows], states[rows]
    for rung in rungs:
        there = _inside(space, end[rows] + rung * way)
        new = ~Points(space, here).same(Points(space, there))
        if space.keeps_constraints:
            new &= space.satisfied(there)
        asked = np.flatnonzero(new)
        if not asked.size:
            continue
        outputs = yield Question(Points(space, there[asked]), note="following the border")
        told = state.copy()
        told[asked] = sides.border.read(outputs)
        kind, part = of_kind(sides, state, told, pairs.kinds[rows])
        met = kind != 0
        brackets.add(here[met], there[met], state[met], told[met], part[met], rows[met])
        on = ~met & ~np.isnan(told)
        here = np.where(new[:, None], there, here)
        rows, way, here, state = rows[on], way[on], here[on], told[on]


def _aim(
    pairs: Oriented, own: Oriented, sides: Sides, rows: Rows, numbers: Rows, states: Codes, brackets: Brackets
) -> None:
    """Put a bracket between each pair and the end of a pair of the other front that has the other answer."""
    some = numbers >= 0
    rows, numbers = rows[some], numbers[some]
    for codes, answers in ((own.first, own.first_state), (own.second, own.second_state)):
        kind, part = of_kind(sides, states[rows], answers[numbers], pairs.kinds[rows])
        met = kind != 0
        mine, theirs = rows[met], numbers[met]
        brackets.add(pairs.first[mine], codes[theirs], states[mine], answers[theirs], part[met], mine)


def _inside(space: Space, codes: Codes) -> Codes:
    """Return codes as proper values: whole numbers whole, and within the bounds that moves keep."""
    for j, feature in enumerate(space.features):
        if feature.kind == "integer":
            codes[:, j] = np.rint(codes[:, j])
        if feature.kind != "continuous" or space.moves == "clip":
            codes[:, j] = np.clip(codes[:, j], feature.low, feature.high)
    return codes

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
from ..strategies.borders import Border
from ..strategies.brackets import Brackets, Found
from ..strategies.flow import Flow, Question
from .reading import Mask, Rows, narrowing, said, states_of

if TYPE_CHECKING:
    from .front import Front

NEAR = 3  # pairs of the other front, for each pair, towards which its border is looked for
NEIGHBOURS = 0.95  # this share of pairs has a neighbour within what is called the spacing


@dataclass(frozen=True)
class Oriented:
    """The pairs of a front, the end on the side that is named first in its kind first.

    Attributes
    ----------
    first, second : ndarray
        The codes of the two ends.
    first_state, second_state : ndarray
        The answers to them, as the border reads them.
    swapped : ndarray of bool
        Where `first` is the front's `b`.
    """

    space: Space
    kinds: npt.NDArray[Any]
    first: Codes
    second: Codes
    first_state: Codes
    second_state: Codes
    swapped: Mask

    @staticmethod
    def of(front: Front, space: Space, border: Border) -> Oriented:
        """Orient the pairs of a front."""
        a, b, part = states_of(front, border)
        names = border.sides(a, b, part)
        swapped = np.array([x > y for x, y in zip(*names, strict=True)], dtype=bool)
        ends = [(front.a.codes, front.b.codes), (a, b)]
        (first, second), (first_state, second_state) = (
            (np.where(_like(swapped, x), y, x), np.where(_like(swapped, x), x, y)) for x, y in ends
        )
        kinds = np.array(front.kinds, dtype=object)
        return Oriented(space, kinds, first, second, first_state, second_state, swapped)

    def __len__(self) -> int:
        return len(self.kinds)

    def apart(self, rows: Rows, first: Codes, second: Codes) -> Codes:
        """Return how far other pairs are from some of these: the distance of the ends that are farther apart."""
        space = self.space
        return np.maximum(
            geometry.distance(space, self.first[rows], first, scaled=True),
            geometry.distance(space, self.second[rows], second, scaled=True),
        )


def _like(mask: Mask, values: Codes) -> Mask:
    return mask[:, None] if values.ndim == 2 else mask


def nearest_of_kind(pairs: Oriented, others: Oriented, k: int = NEAR) -> tuple[Codes, Rows]:
    """Return for each pair how far the `k` nearest others between the same classes are, and their numbers.

    Nearest by their first ends; the distances are those of `Oriented.apart`, inf where there are fewer.
    """
    shift = np.full((len(pairs), k), np.inf)
    number = np.full((len(pairs), k), -1, dtype=np.intp)
    for kind in dict.fromkeys(others.kinds.tolist()):
        mine, theirs = np.flatnonzero(pairs.kinds == kind), np.flatnonzero(others.kinds == kind)
        if not mine.size:
            continue
        at = nearest(pairs.space, pairs.first[mine], others.first[theirs], k)[1]
        for rank in range(min(k, theirs.size)):
            chosen = theirs[at[:, rank]]
            number[mine, rank] = chosen
            shift[mine, rank] = pairs.apart(mine, others.first[chosen], others.second[chosen])
    return shift, number


def spacing(*fronts: Oriented) -> dict[str, float]:
    """Return for each two classes how near to a neighbour 19 of 20 pairs are, in the sparsest of the fronts."""
    seen: dict[str, list[float]] = {}
    everything = []
    for front in fronts:
        shift, number = nearest_of_kind(front, front, NEAR)
        shift[number == np.arange(len(front))[:, None]] = np.inf  # itself
        near = shift.min(axis=1, initial=np.inf)
        for kind in dict.fromkeys(front.kinds.tolist()):
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


def follow(pairs: Oriented, own: Oriented, border: Border, tolerance: float, reach: float) -> Flow[Followed]:
    """Ask a system about the pairs of another's front and look for its border near those that it does not part.

    Parameters
    ----------
    pairs : Oriented
        The pairs to follow.
    own : Oriented
        The system's own front: places where its border is known to be.
    border : Border
        What counts as one.
    tolerance, reach : float
        How exactly to find it, and how far along the line through each pair to look.
    """
    count, space = len(pairs), pairs.space
    outputs = yield Question(Points(space, np.concatenate([pairs.first, pairs.second])), note="comparing")
    state = border.read(outputs)
    states = state[:count], state[count:]
    way, _ = of_kind(border, *states, pairs.kinds)
    shift = np.where(way > 0, 0.0, np.inf)
    lost = np.flatnonzero(way == 0)
    known, number = nearest_of_kind(_some(pairs, lost), own)
    shift[lost] = known.min(axis=1, initial=np.inf)
    brackets = Brackets(len(space))
    rungs = _rungs(tolerance, reach)
    yield from _walk_on(pairs, border, lost, pairs.first, states[0], [-rung for rung in rungs], brackets)
    yield from _walk_on(pairs, border, lost, pairs.second, states[1], rungs, brackets)
    for rank in range(number.shape[1]):
        _aim(pairs, own, border, lost, number[:, rank], states[0], brackets)
    yield from narrowing(space, tolerance / 2)(border, brackets, np.zeros(count, dtype=np.intp), Found(space), 0.5)
    way, _ = of_kind(border, brackets.x_state, brackets.y_state, pairs.kinds[brackets.walk])
    for direction, first, second in ((1, brackets.x, brackets.y), (-1, brackets.y, brackets.x)):
        rows = np.flatnonzero(way == direction)
        at = brackets.walk[rows]
        np.minimum.at(shift, at, pairs.apart(at, first[rows], second[rows]))
    first, second = said(outputs)[:count], said(outputs)[count:]
    a, b = np.where(pairs.swapped, second, first), np.where(pairs.swapped, first, second)
    return Followed({"a": a, "b": b}, shift)


def of_kind(border: Border, x: Codes, y: Codes, kinds: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], Rows]:
    """Tell where a border of a given kind lies between two answers, and which of several labels it is about.

    The first is 1 where it does, -1 where its two sides have changed places, 0 where it does not.
    """
    way, of_label = np.zeros(len(x), dtype=np.int8), np.zeros(len(x), dtype=np.intp)
    rows, part = border.parts(x, y)
    names = border.sides(x[rows], y[rows], part)
    for row, label, one, other in zip(rows.tolist(), part.tolist(), *names, strict=True):
        if kinds[row] in (f"{one} | {other}", f"{other} | {one}"):
            way[row] = 1 if kinds[row] == f"{one} | {other}" else -1
            of_label[row] = label
    return way, of_label


def _some(pairs: Oriented, rows: Rows) -> Oriented:
    return Oriented(pairs.space, *(values[rows] for name, values in vars(pairs).items() if name != "space"))


def _rungs(tolerance: float, reach: float) -> list[float]:
    """Return distances from the tolerance to the reach, each twice the one before."""
    doublings = int(np.ceil(np.log2(reach / tolerance)))
    return [min(reach, tolerance * 2.0**i) for i in range(doublings + 1)]


def _walk_on(
    pairs: Oriented,
    border: Border,
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
        told[asked] = border.read(outputs)
        kind, part = of_kind(border, state, told, pairs.kinds[rows])
        met = kind != 0
        brackets.add(here[met], there[met], state[met], told[met], part[met], rows[met])
        on = ~met & ~np.isnan(told)
        here = np.where(new[:, None], there, here)
        rows, way, here, state = rows[on], way[on], here[on], told[on]


def _aim(
    pairs: Oriented, own: Oriented, border: Border, rows: Rows, numbers: Rows, states: Codes, brackets: Brackets
) -> None:
    """Put a bracket between each pair and the end of a pair of the other front that has the other answer."""
    some = numbers >= 0
    rows, numbers = rows[some], numbers[some]
    for codes, answers in ((own.first, own.first_state), (own.second, own.second_state)):
        kind, part = of_kind(border, states[rows], answers[numbers], pairs.kinds[rows])
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

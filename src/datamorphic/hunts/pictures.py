"""Pictures of hunts: where a relation is violated, and how generators spread their sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from .._checks import plural, reject, whole_number
from ..errors import ArgumentError
from ..groups.base import Groups
from ..groups.classify import Classification, classify
from ..relations.base import VIOLATED, Mask
from ..relations.boxes import Box, Floats
from ..relations.numeric import FunctionRelation
from ..reports.summary import Drawing, Mark, Words
from .asking import Asked
from .panels import GAP, SQUARE, STRIP, WIDE, Panel, Shown

TRIED = 100_000  # sources, as many as the stored regions of programs rest on
DOTS, FAINT = 2_000, 800  # violating sources of a picture, and others
BINS, FULL = 124, 8  # of a strip; sources that a bin has at least
NEAR = 0.25  # a region in less of each side than this is drawn again, larger
LEFT = 52.0  # room for the numbers of the first plane
MOST_STRIPS = 8  # inputs, where there are too many for a plane
SEEN = 3  # dimensions that are drawn as planes


@dataclass(frozen=True, eq=False)
class Tried:
    """Random sources of a relation, and which of their groups violate it.

    Attributes
    ----------
    sources : ndarray
        What was drawn for each group.
    violated : ndarray of bool
        Whether the group violates the relation.
    low, high : ndarray
        The source domain.
    names : tuple of str
        What its columns are called.
    """

    sources: Floats
    violated: Mask
    low: Floats
    high: Floats
    names: tuple[str, ...]

    @cached_property
    def found(self) -> Classification:
        """The kind of the region, and why."""
        return classify(self.sources, self.violated, self.low, self.high)

    def describe(self) -> str:
        """Return how often the relation is violated, and in what kind of region, in words."""
        kind = {
            "none": "It is nowhere violated",
            "not classified": "The region is not classified",
        }.get(self.found.kind, f"A {self.found.kind} region")
        share = f"{self.violated.mean():.3%} of {plural(len(self.sources), 'random source')} violate it."
        return f"{share} {kind}: {self.found.why}."


def names_of(relation: FunctionRelation | Box) -> tuple[str, ...]:
    """Return what the numbers that are drawn for a group are called.

    Examples
    --------
    >>> names_of(Box.of([(0, 1), (0, 1)]))
    ('x', 'y')
    """
    boxes = relation.domain if isinstance(relation, FunctionRelation) else (relation,)
    if isinstance(relation, FunctionRelation) and relation.given is not None:
        return tuple(f"p{i}" for i in range(1, relation.width + 1))  # what inputs are made of
    each = [list("xyzuvw"[: box.dimension]) if box.dimension <= 6 else _numbered(box.dimension) for box in boxes]
    if len(boxes) == 1:
        return tuple(each[0])
    return tuple(f"{name}{i}" for i, names in enumerate(each, 1) for name in names)


def _numbered(count: int) -> list[str]:
    return [f"x{j}" for j in range(1, count + 1)]


def tried(function: Callable[..., Any], relation: FunctionRelation, n: int = TRIED, seed: int = 0) -> Tried:
    """Put random groups of a relation to a function.

    Examples
    --------
    >>> import datamorphic as dm
    >>> tanh = dm.programs["tanh"]
    >>> tried(tanh.mutants["emu10"], tanh.relations["tripling"]).found.kind
    'block'
    """
    whole_number("n", "tried", n, 1)
    rng = np.random.default_rng(whole_number("seed", "tried", seed))
    drawn = np.concatenate([box.sample(n, rng) for box in relation.domain], axis=1)
    asked = Asked(function)
    there = np.ones(n, dtype=bool)

    def answered(inputs: list[Floats]) -> list[Any]:
        parts = [asked(each) for each in inputs]
        for _, known in parts:
            there[~known] = False
        return [values for values, _ in parts]

    sources = relation.source_inputs(drawn)
    outputs = answered(sources)
    follow = relation.follow_inputs(relation.follow(drawn, outputs))
    outputs += answered(follow)
    verdicts, _ = relation.judge([*sources, *follow], outputs, there)
    low, high = (np.concatenate([getattr(box, end) for box in relation.domain]) for end in ("low", "high"))
    return Tried(drawn, verdicts == VIOLATED, low, high, names_of(relation))


# -- where a relation is violated --------------------------------------------------------------------------------------


def region_picture(
    function: Callable[..., Any] | Tried, relation: FunctionRelation | None = None, n: int = TRIED, seed: int = 0
) -> Drawing:
    """Return where in its source domain a relation is violated.

    One input is a strip: how many of the sources at a place violate. Two are a plane, three are three planes; more are a
    strip each. A small region is drawn a second time, larger. The caption says what kind of region it is, and why.

    Parameters
    ----------
    function : callable or Tried
        Called with an array for each input; or what was tried already.
    relation : FunctionRelation
        What is put to it.
    n, seed : int
        How many random sources are tried, and where randomness starts.

    Examples
    --------
    >>> import datamorphic as dm
    >>> tanh = dm.programs["tanh"]
    >>> region_picture(tanh.mutants["emu10"], tanh.relations["tripling"], 20_000).caption[-79:]
    'A block region: one part holds 100% of it and is no slender band between sides.'
    """
    if isinstance(function, Tried):
        found = function
    elif isinstance(relation, FunctionRelation):
        found = tried(function, relation, n, seed)
    else:
        reject("relation", "region_picture", "a FunctionRelation", relation)
    windows = [(found.low, found.high), *_nearer(found)]
    if len(found.low) == 1:
        shown, width, height = _strips(found, [(0, *window) for window in windows])
    elif len(found.low) > SEEN:
        some = range(min(len(found.low), MOST_STRIPS))
        shown, width, height = _strips(found, [(axis, *windows[0]) for axis in some])
    else:
        pairs = [(a, b, *window) for window in windows for a, b in combinations(range(len(found.low)), 2)]
        shown, width, height = _planes(found, pairs, 3 if len(found.low) == SEEN else 2)
    told = found.describe()
    return Drawing(width, height, shown, f"Where the relation is violated. {told}", told)


def _nearer(found: Tried) -> list[tuple[Floats, Floats]]:
    """Return a window about a region that takes little of the domain, if there is one."""
    if not found.violated.any():
        return []
    hit = found.sources[found.violated]
    low, high = hit.min(axis=0), hit.max(axis=0)
    whole = found.high - found.low
    if not ((high - low) < NEAR * whole).all():
        return []
    margin = np.maximum(0.5 * (high - low), 1e-3 * whole)
    return [(np.maximum(low - margin, found.low), np.minimum(high + margin, found.high))]


def _strips(found: Tried, wanted: list[tuple[int, Floats, Floats]]) -> tuple[list[Shown], float, float]:
    """Draw how many of the sources at a place violate, a strip for each input or window."""
    shown: list[Shown] = []
    top = 24.0
    left = 74.0
    for place, (axis, low, high) in enumerate(wanted):
        within = ((found.sources >= low) & (found.sources <= high)).all(axis=1)
        column, broken = found.sources[within, axis], found.violated[within]
        bins = int(np.clip(len(column) // FULL, 8, BINS))
        ends = (float(low[axis]), float(high[axis]))
        edges = np.linspace(*ends, bins + 1)
        counts, bad = (np.histogram(values, edges)[0] for values in (column, column[broken]))
        panel = Panel(left, top, WIDE - left - 20, STRIP, ends, (0.0, 1.0))
        heading = "the whole domain" if place == 0 else "where it is violated"
        if len(found.low) > SEEN:
            heading = f"input {found.names[axis]}"
        shown.append(Words(panel.left, top - 8, heading, "strong"))
        shown += panel.bars(edges, bad / np.maximum(counts, 1), "killable", "of the sources violate")
        shown += panel.frame(found.names[axis], y_marks=((0.0, "0 %"), (1.0, "100 %")))
        top += STRIP + 66
    return shown, WIDE, top - 14


def _planes(
    found: Tried, wanted: list[tuple[int, int, Floats, Floats]], across: int
) -> tuple[list[Shown], float, float]:
    """Draw violating sources over some others, a plane for each two inputs and each window."""
    shown: list[Shown] = []
    rng = np.random.default_rng(0)  # which points are drawn where there are too many
    for place, (a, b, low, high) in enumerate(wanted):
        within = ((found.sources >= low) & (found.sources <= high)).all(axis=1)
        panel = _placed(place, across, (low, high), a, b)
        for flag, most, kind in ((False, FAINT, "edge w2"), (True, DOTS, "killable")):
            some = np.flatnonzero(within & (found.violated == flag))
            some = rng.permutation(some)[:most]
            shown += panel.dots(found.sources[some][:, [a, b]], kind)
        heading = "the whole domain" if (low == found.low).all() and (high == found.high).all() else "nearer"
        shown.append(Words(panel.left, panel.top - 12, heading, "strong"))
        shown += panel.frame(found.names[a], found.names[b])
    last = _placed(len(wanted) - 1, across, wanted[0][2:], 0, 0)
    width = LEFT + min(across, len(wanted)) * (SQUARE + GAP)
    return shown, width, last.top + SQUARE + 50


def _placed(place: int, across: int, window: tuple[Floats, Floats], a: int, b: int) -> Panel:
    row, column = divmod(place, across)
    low, high = window
    x, y = ((float(low[axis]), float(high[axis])) for axis in (a, b))
    return Panel(LEFT + column * (SQUARE + GAP), 28 + row * (SQUARE + 78), SQUARE, SQUARE, x, y)


# -- how generators spread sources -------------------------------------------------------------------------------------


def spread_picture(
    spread: Mapping[str, Any],
    region: Any = None,
    *,
    domain: Any,
    window: Any = None,
    names: tuple[str, ...] | None = None,
) -> Drawing:
    """Return how generators spread their sources, beside each other.

    One input is drawn as bars: how many sources lie at a place, where 1 is as many as random ones; follow-ups, where these
    are given, hang below. Two inputs are a plane for each generator, three are three planes.

    Parameters
    ----------
    spread : Mapping of str to array or Groups
        The sources of each generator, of one trial or of many together; with follow-ups, if they are groups.
    region : Region or Box, optional
        Where a relation is violated: outlined, and the sources in it are coloured.
    domain : Box or pairs of limits
        The source domain.
    window : Box or pairs of limits, optional
        The part of it to look at.
    names : tuple of str, optional
        What the inputs are called.

    Examples
    --------
    >>> import datamorphic as dm
    >>> made = {name: dm.generate((0, 1), name, n=200) for name in ("MT-RT", "Sobol")}
    >>> spread_picture(made, Box.of((0.2, 0.3)), domain=(0, 1)).alt
    'Where sources lie. MT-RT: 8.00 % of 200 in the region, 0.80 times as many as random ones. Sobol: ...'
    """
    whole = Box.of(domain, "spread_picture")
    seen = whole if window is None else Box.of(window, "spread_picture")
    d = whole.dimension
    if not spread or d > SEEN or seen.dimension != d:
        raise ArgumentError(
            f"A picture of sources shows at least one generator, in a domain of one to {SEEN} inputs and a window of as "
            f"many. Got {plural(len(spread), 'generator')}, a domain of {d} and a window of {seen.dimension}."
        )
    if region is not None and not hasattr(region, "contains"):
        region = Box.of(region, "spread_picture")
    names = names or names_of(whole)
    made = {name: _parts(name, given, d) for name, given in spread.items()}
    alt = "Where sources lie. " + " ".join(
        f"{name}: {_told(sources, region, whole)}." for name, (sources, _) in made.items()
    )
    draw = _spread_strips if d == 1 else _spread_planes
    shown, width, height = draw(made, region, whole, seen, names)
    return Drawing(width, height, shown, alt)


def _parts(name: str, given: Any, d: int) -> tuple[Floats, Floats | None]:
    """Return sources and, of groups, follow-ups with as many columns."""
    groups = isinstance(given, Groups)
    sources = np.asarray(given.sources if groups else given, dtype=float)
    sources = sources.reshape(-1, 1) if sources.ndim == 1 else sources
    if sources.ndim != 2 or sources.shape[1] != d or not len(sources):
        reject("spread", "spread_picture", f"sources with {d} columns for {name!r}", given)
    follow = given.follow_ups if groups else None
    return sources, follow if follow is not None and follow.shape[1] and follow.shape[1] % d == 0 else None


def _told(sources: Floats, region: Any, whole: Box) -> str:
    if region is None:
        return f"{len(sources):,} sources"
    share = float(region.contains(sources).mean())
    usual = _volume(region, whole)
    beside = f", {share / usual:.2f} times as many as random ones" if usual else ""
    return f"{share:.2%} of {len(sources):,} in the region{beside}".replace("%", " %", 1)


def _volume(region: Any, whole: Box) -> float:
    """Return the share of a domain that a region takes."""
    size = float((whole.high - whole.low).prod())
    taken = (region.high - region.low).prod() if isinstance(region, Box) else getattr(region, "volume", 0.0)
    return float(taken) / size


Made = Mapping[str, tuple[Floats, Floats | None]]


def _spread_strips(
    made: Made, region: Any, whole: Box, seen: Box, names: tuple[str, ...]
) -> tuple[list[Shown], float, float]:
    ends = (float(seen.low[0]), float(seen.high[0]))
    fewest = min(int(((s >= seen.low) & (s <= seen.high)).sum()) for s, _ in made.values())
    edges = np.linspace(*ends, int(np.clip(fewest // FULL, 8, BINS)) + 1)
    usual = np.diff(edges) / float(whole.high[0] - whole.low[0])

    def dense(values: Floats, groups: int) -> Floats:
        return np.asarray(np.histogram(values, edges)[0] / groups / usual)

    heights = {name: dense(sources, len(sources)) for name, (sources, _) in made.items()}
    most = max(2.0, *(float(each.max()) for each in heights.values()))
    shown: list[Shown] = []
    top, left, high = 24.0, 44.0, 2 * STRIP
    for place, (name, (sources, follow)) in enumerate(made.items()):
        panel = Panel(left, top, WIDE - left - 20, high, ends, (0.0, most))
        shown.append(Words(left, top - 8, name, "strong"))
        shown.append(Words(WIDE - 20, top - 8, _told(sources, region, whole), "small end"))
        if region is not None:
            shown += panel.stretches(region)
        shown += panel.bars(edges, heights[name], "bar", "times as many sources as random ones", "{:.2f}")
        shown.append(Mark(f"M{left} {panel.up(1.0):.1f}h{panel.width}", "edge w0"))
        marks = ((0.0, "0"), (1.0, "1"), (most, f"{most:.2g}"))
        label = names[0] if place == len(made) - 1 else ""
        shown += panel.frame(label if follow is None else "", y_marks=marks, x_marks=follow is None)
        top += high
        if follow is not None:  # on the same scale, downwards
            below = Panel(left, top, panel.width, STRIP, ends, (most / 2, 0.0))
            hanging = np.minimum(dense(follow, len(sources)), most / 2)
            shown += below.bars(edges, hanging, "asks", "times as many follow-ups as random sources", "{:.2f}")
            shown.append(Words(WIDE - 20, top + STRIP - 6, "follow-ups", "small end"))
            shown += below.frame(label, y_marks=())
            top += STRIP
        top += 66 if label else 50
    return shown, WIDE, top - 14


def _spread_planes(
    made: Made, region: Any, whole: Box, seen: Box, names: tuple[str, ...]
) -> tuple[list[Shown], float, float]:
    shown: list[Shown] = []
    axes = list(combinations(range(whole.dimension), 2))
    across = 2 if len(axes) == 1 and len(made) in (2, 4) else 3
    place = 0
    for name, (sources, _) in made.items():
        within = seen.contains(sources)
        inside = np.zeros(len(sources), dtype=bool) if region is None else region.contains(sources)
        for a, b in axes:
            panel = _placed(place, across, (seen.low, seen.high), a, b)
            if region is not None and whole.dimension == 2:
                shown.append(panel.outline(region))
            for some, kind in ((within & ~inside, "edge w2"), (within & inside, "killable")):
                shown += panel.dots(sources[some][:DOTS][:, [a, b]], kind)
            shown.append(Words(panel.left, panel.top - 12, name, "strong"))
            shown += panel.frame(names[a], names[b])
            place += 1
    last = _placed(place - 1, across, (seen.low, seen.high), 0, 0)
    return shown, LEFT + min(across, place) * (SQUARE + GAP), last.top + SQUARE + 50

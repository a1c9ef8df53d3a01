"""A front as a picture: on two features, or on the two directions in which the inputs vary most."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import plural, short
from ..errors import ArgumentError
from ..reports.plots import scatter_figure
from ..reports.summary import Axis, Scatter
from ..space.features import Categorical, Codes
from ..space.projection import Projection
from .reading import answers, changes, thinned

if TYPE_CHECKING:
    from .front import Front

MOST_PAIRS = 5_000  # drawn: more cover each other, and make the page slow
MOST_SEEDS = 2_000
SPREAD = 0.3  # categories are drawn up to this far from their place, so that points do not hide each other
EDGE = 0.06  # of the range: how far outside of it missing numbers are drawn
CHANGES = 6  # features told of one pair
MOST_KINDS = 12  # of border that have a colour of their own


def figure(front: Front, x: str | None = None, y: str | None = None) -> Any:
    """Return a front as a plotly figure; see `scatter`."""
    return scatter_figure(scatter(front, x, y))


def scatter(front: Front, x: str | None = None, y: str | None = None) -> Scatter:
    """Return a front as a picture.

    On two features; if one is given, the other is the one that decides most often apart from it. Without any, a
    space of more than two features is shown on its two principal directions. A space of one feature gets a line
    for each two classes.
    """
    space = front.space
    rows, seeds = thinned(len(front), MOST_PAIRS), thinned(len(front.seeds), MOST_SEEDS)
    codes, real = front.a.codes[rows], front.seeds.codes[seeds]
    kinds, rest = _few([front.borders[row] for row in rows])
    said = []
    if len(space) == 1:
        for name in (x, y):
            if name is not None:
                space.position(name)
        lines = list(dict.fromkeys(kinds))
        across, along, behind = _axis(front, 0, codes, real)
        axes = (across, Axis("", [*lines, "real inputs"]))
        place = {kind: i for i, kind in enumerate(lines)}
        flat = np.column_stack([along, [place[kind] for kind in kinds]])
        flat_real = np.column_stack([behind, _jitter(np.full(len(real), len(lines)), 1)])
    elif len(space) == 2 or x is not None or y is not None:
        shown = [_axis(front, j, codes, real) for j in _features(front, x, y)]
        axes = (shown[0][0], shown[1][0])
        flat = np.column_stack([along for _, along, _ in shown])
        flat_real = np.column_stack([behind for _, _, behind in shown])
        if any(axis.names for axis in axes):
            said.append("points are spread a little around their category")
    else:
        view = Projection(space, front.seeds.codes)
        axes = (Axis(view.axes[0]), Axis(view.axes[1]))
        flat, flat_real = view(codes), view(real)
        said.append(f"the two directions keep {view.kept:.0%} of the variance of the inputs")
    if len(rows) < len(front):
        said.append(f"{plural(len(rows), 'pair')} of {len(front):,} drawn, evenly chosen")
    return Scatter(
        f"Where answers of {front.subject} change: {plural(len(front), 'pair')}",
        "; ".join(said),
        *axes,
        flat[:, 0].tolist(),
        flat[:, 1].tolist(),
        kinds,
        _notes(front, rows),
        (flat_real[:, 0].tolist(), flat_real[:, 1].tolist()),
        rest,
    )


def _features(front: Front, x: str | None, y: str | None) -> tuple[int, int]:
    """Return the places of the two features to show."""
    position = front.space.position
    if x is not None and x == y:
        raise ArgumentError(f"A picture needs two different features. Got {short(x)!r} for both; leave one out.")
    if x is None and y is None:
        return 0, 1
    if x is not None and y is not None:
        return position(x), position(y)
    given = x if x is not None else y
    assert given is not None
    place = position(given)
    other = next(name for name in front.deciding()["feature"] if name != given)
    return (place, position(other)) if x is not None else (position(other), place)


def _axis(front: Front, position: int, codes: Codes, real: Codes) -> tuple[Axis, Codes, Codes]:
    """Return a feature as an axis, with the places of pairs and of real inputs on it."""
    feature = front.space.features[position]
    column, behind = codes[:, position], real[:, position]
    both = np.concatenate([column, behind])
    missing = bool(np.isnan(both).any())
    if isinstance(feature, Categorical):
        names = [short(value) for value in feature.values] + ["missing"] * missing
        column, behind = (np.where(np.isnan(each), len(feature.values), each) for each in (column, behind))
        return Axis(feature.name, names), _jitter(column, position), _jitter(behind, position + 1)
    if not missing:
        return Axis(feature.name), column, behind
    low, high = (np.nanmin(both), np.nanmax(both)) if not np.isnan(both).all() else (0.0, 0.0)
    edge = low - EDGE * ((high - low) or 1.0)
    column, behind = (np.where(np.isnan(each), edge, each) for each in (column, behind))
    return Axis(f"{feature.name} (missing: at {edge:.4g})"), column, behind


def _few(kinds: list[str]) -> tuple[list[str], str]:
    """Return kinds of border, the rare ones as one if there are many, and its name.

    A legend must leave room for the picture.
    """
    counts = Counter(kinds)
    if len(counts) <= MOST_KINDS + 1:
        return kinds, ""
    common = {kind for kind, _ in counts.most_common(MOST_KINDS)}
    rest = f"{len(counts) - MOST_KINDS} other borders"
    return [kind if kind in common else rest for kind in kinds], rest


def _jitter(column: Codes, seed: int) -> Codes:
    return column + np.random.default_rng(seed).uniform(-SPREAD, SPREAD, len(column))


def _notes(front: Front, rows: Any) -> list[str]:
    """Return what changes at each pair, in words."""
    told = changes(front.a.take(rows), front.b.take(rows), CHANGES)
    ends = zip(answers(front.a_output[rows]), answers(front.b_output[rows]), told, strict=True)
    return [f"{a} becomes {b}: {change}" for a, b, change in ends]

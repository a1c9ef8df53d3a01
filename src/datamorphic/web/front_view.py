"""`FrontView`: a front of border pairs as a plot and a table read it: columns of positions, colours, single pairs.

All of it runs in threads of the studio or in routes, never on the event loop: reading a large front takes seconds.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralise
from ..errors import UsageError
from ..exploration.changes import format_answers, format_changes, format_value, measure_changes, thin_rows
from ..exploration.front import Front
from ..exploration.page import draw_pairs
from ..exploration.plot import CATEGORY_JITTER, HUE_COLOURS, MAX_DRAWN_SEEDS, REST_COLOUR, build_axis
from ..exploration.plot import merge_rare_borders as merge_borders
from ..exploration.views import MAX_EMBEDDED_PAIRS, MAX_EMBEDDED_SEEDS, MIN_EMBEDDED_CASES, embed_cases
from ..reporting.html import render_drawing
from ..reporting.marked_text import MarkedText
from ..space.projection import Projection

MAX_AXIS_FEATURES = 200  # features offered as axes: the first ones of wide data
MAX_MEASURED_PAIRS = 5_000  # to find the features that differ most
MAX_EQUAL_FEATURES = 40  # equal features of a pair that are listed
MAX_CHANGES_PER_ROW = 4  # of the table of pairs
MAX_VIEWS_KEPT = 6  # in memory, of all people together
DISTANCE_AXIS, ANSWERS_AXIS = "distance of the two cases", "answers that meet"
EMBEDDING_AXES = ("t-SNE 1", "t-SNE 2")  # computed when one of them is chosen
Column = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlotAxis:
    """One choice for an axis; a position of 0 in a column is `low`, one of 1 is `high`."""

    label: str
    low: float
    high: float
    names: Sequence[str] = ()  # of categories, at 0, 1, ...

    def to_json(self) -> dict[str, Any]:
        """Return the axis as the script of the plot reads it."""
        return {"label": self.label, "low": self.low, "high": self.high, "names": list(self.names)}


@dataclass(frozen=True)
class PlotBorder:
    """One entry of the legend: two answers that meet."""

    name: str
    colour: str
    shape: int  # 0 circle, 1 diamond, 2 square
    pairs: int

    def to_json(self) -> dict[str, Any]:
        """Return the entry as the script of the plot reads it."""
        return {"name": self.name, "colour": self.colour, "shape": self.shape, "pairs": self.pairs}


@dataclass(frozen=True, kw_only=True)
class FeatureValues:
    """The values of one feature in the two cases of a pair."""

    feature: str
    first: str
    second: str
    differs: bool


@dataclass(frozen=True, kw_only=True)
class PairDetails:
    """All that is known about one pair."""

    number: int
    answers: tuple[str, str]
    distance: float
    changes: str  # HTML: what differs, in words, with marked words of texts
    features: Sequence[FeatureValues]
    omitted_features: int
    history: Sequence[str]
    pictures: Sequence[tuple[str, str]]  # SVG and its description, one per image or sequence


class FrontView:
    """A front that was read from a file, with what a page asks about it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.front = Front.load(path)
        self._lock = threading.Lock()
        self._columns: dict[str, tuple[PlotAxis, Column, Column, Column]] = {}
        self._seed_rows = thin_rows(len(self.front.seeds), MAX_DRAWN_SEEDS)
        self.axes = self._list_axes()
        self.borders, self.border_numbers = self._number_borders()

    def __len__(self) -> int:
        return len(self.front)

    @property
    def seed_count(self) -> int:
        """The number of real inputs in the background."""
        return len(self._seed_rows)

    def _list_axes(self) -> list[str]:
        space = self.front.space
        names = [*space.names[:MAX_AXIS_FEATURES], DISTANCE_AXIS, ANSWERS_AXIS]
        if len(space) > 2 and len(self.front.seeds):
            self._projection = Projection(space, self.front.seeds.codes)
            names = [*self._name_directions(), *names]
            if len(self.front) + len(self.front.seeds) >= MIN_EMBEDDED_CASES:
                names += EMBEDDING_AXES
        return list(dict.fromkeys(names))

    def _name_directions(self) -> list[str]:
        return list(self._projection.axes)

    def choose_axes(self) -> tuple[str, str]:
        """Return the axes to begin with: the two features that the pairs differ in most, numbers first."""
        space = self.front.space
        if len(space) == 1:
            return space.names[0], ANSWERS_AXIS
        if space.blocks or len(space) == 2:
            return self.axes[0], self.axes[1]
        rows = thin_rows(len(self.front), MAX_MEASURED_PAIRS)
        sizes = measure_changes(space, self.front.a.codes[rows], self.front.b.codes[rows]).sum(axis=0)
        ranks = sorted(
            range(min(len(space), MAX_AXIS_FEATURES)),
            key=lambda j: (space.features[j].kind in ("categorical", "text"), -sizes[j], j),
        )
        return space.names[ranks[0]], space.names[ranks[1]]

    def _number_borders(self) -> tuple[list[PlotBorder], npt.NDArray[np.uint8]]:
        """Return the entries of the legend, the most frequent first, and the number of the entry of every pair."""
        kinds, rest = merge_borders(list(self.front.borders))
        names, inverse, counts = np.unique(np.array(kinds, dtype=object), return_inverse=True, return_counts=True)
        order = sorted(range(len(names)), key=lambda i: (names[i] == rest, -counts[i]))
        borders = [
            PlotBorder(
                name=str(names[i]),
                colour=REST_COLOUR if names[i] == rest else HUE_COLOURS[place % len(HUE_COLOURS)],
                shape=place // len(HUE_COLOURS) % 3,
                pairs=int(counts[i]),
            )
            for place, i in enumerate(order)
        ]
        places = np.empty(len(names), dtype=np.uint8)
        places[order] = np.arange(len(names))
        return borders, places[inverse.ravel()] if len(kinds) else np.empty(0, dtype=np.uint8)

    # -- columns -------------------------------------------------------------------------------------------------------

    def get_axis(self, name: str) -> PlotAxis:
        """Return an axis."""
        return self._get_column(name)[0]

    def pack_column(self, name: str) -> bytes:
        """Return the positions of all first cases, all second cases, and some real inputs, as 32-bit numbers.

        They are shares of the range of the axis, so that 32 bits suffice for numbers of any size.
        """
        _, first, second, real = self._get_column(name)
        return np.concatenate([first, second, real]).astype("<f4").tobytes()

    def pack_borders(self) -> bytes:
        """Return the number of the border of every pair, as bytes."""
        return self.border_numbers.tobytes()

    def _get_column(self, name: str) -> tuple[PlotAxis, Column, Column, Column]:
        if name not in self.axes:
            raise UsageError(f"There is no axis {name!r}.")
        with self._lock:
            if name not in self._columns:
                self._columns[name] = self._compute_column(name)
            return self._columns[name]

    def _compute_column(self, name: str) -> tuple[PlotAxis, Column, Column, Column]:
        front = self.front
        seed_codes = front.seeds.codes[self._seed_rows]
        names: Sequence[str] = ()
        label = name
        if name == DISTANCE_AXIS:
            first = second = front.distance
            real = np.full(len(seed_codes), np.nan)
        elif name == ANSWERS_AXIS:
            names = [border.name for border in self.borders]
            shifts = np.random.default_rng(0).uniform(-CATEGORY_JITTER, CATEGORY_JITTER, len(front))
            first = second = self.border_numbers + shifts
            real = np.full(len(seed_codes), np.nan)
        elif name in front.space.names:
            codes = np.concatenate([front.a.codes, front.b.codes])
            axis, both, real = build_axis(front, front.space.position(name), codes, seed_codes)
            first, second, names, label = both[: len(front)], both[len(front) :], axis.names, axis.label
            if names:  # a category that does not change stays at its place
                same = front.a.codes[:, front.space.position(name)] == front.b.codes[:, front.space.position(name)]
                second = np.where(same, first, second)
        elif name in EMBEDDING_AXES:
            first, real = (places[:, EMBEDDING_AXES.index(name)] for places in self._embedding)
            second = first  # the two cases of a pair are one point
        else:
            direction = self._name_directions().index(name)
            first, second, real = (
                self._projection(codes)[:, direction] for codes in (front.a.codes, front.b.codes, seed_codes)
            )
        values = np.concatenate([first, second, real])
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if names:
            low, high = -0.6, len(names) - 0.4
        if high <= low:
            low, high = low - 0.5, high + 0.5
        first, second, real = ((column - low) / (high - low) for column in (first, second, real))
        return PlotAxis(str(label), low, high, [str(item) for item in names]), first, second, real

    @cached_property
    def _embedding(self) -> tuple[Column, Column]:
        """Places of pairs and real inputs by t-SNE; NaN for those that there are too many of."""
        rows, seeds = thin_rows(len(self), MAX_EMBEDDED_PAIRS), thin_rows(len(self._seed_rows), MAX_EMBEDDED_SEEDS)
        places = embed_cases(self.front, rows, self._seed_rows[seeds], "tsne")
        pairs, real = (np.full((count, 2), np.nan) for count in (len(self), len(self._seed_rows)))
        pairs[rows], real[seeds] = places[: len(rows)], places[len(rows) :]
        return pairs, real

    # -- pairs ---------------------------------------------------------------------------------------------------------

    def select_rows(self, border: str | None = None, order: str = "number") -> npt.NDArray[np.intp]:
        """Return the numbers of the pairs of a border, or of all, by their number or by their distance."""
        rows = np.arange(len(self))
        if border is not None:
            rows = np.array([row for row, kind in enumerate(self.front.borders) if kind == border], dtype=np.intp)
        if order in ("smallest distance first", "largest distance first"):
            distances = self.front.distance[rows] * (1 if order.startswith("smallest") else -1)
            rows = rows[np.argsort(distances, kind="stable")]
        return rows

    def list_pairs(self, rows: npt.NDArray[np.intp]) -> list[dict[str, Any]]:
        """Return pairs as rows of a table."""
        front = self.front
        changes = format_changes(front.a.take(rows), front.b.take(rows), MAX_CHANGES_PER_ROW)
        answers, becomes = (format_answers(outputs[rows]) for outputs in (front.a_output, front.b_output))
        return [
            {
                "pair": number,
                "answer": answers[place],
                "becomes": becomes[place],
                "when": str(changes[place]),
                "distance": f"{front.distance[number]:.3g}",
                "walk": int(front.walk[number]),
            }
            for place, number in enumerate(rows.tolist())
        ]

    def describe_pair(self, number: int) -> PairDetails:
        """Return all that is known about one pair."""
        front = self.front
        if not 0 <= number < len(front):
            raise UsageError(f"There is no pair {number}. Pairs are numbered from 0 to {len(front) - 1}.")
        rows = np.array([number])
        first, second = front.a.take(rows), front.b.take(rows)
        answers = [format_answers(outputs[rows])[0] for outputs in (front.a_output, front.b_output)]
        sizes = measure_changes(front.space, first.codes, second.codes)[0]
        blocks = {position for block in front.space.blocks for position in block.positions}
        positions = [int(j) for j in np.argsort(-sizes, kind="stable") if int(j) not in blocks]
        equal_count = sum(not sizes[j] for j in positions)
        positions = positions[: len(positions) - max(0, equal_count - MAX_EQUAL_FEATURES)]
        before, after = (frame.frame.iloc[0] for frame in (first, second))
        features = []
        for j in positions:
            name = front.space.names[j]
            texts = _format_two(before[name], after[name], bool(sizes[j]))
            features.append(FeatureValues(feature=name, first=texts[0], second=texts[1], differs=bool(sizes[j])))
        change = format_changes(first, second)[0]
        pictures = [
            (render_drawing(drawing), drawing.alt)
            for block in front.space.blocks
            for drawing in [draw_pairs(block, first, second, [answers[0]], [answers[1]], [f"pair {number}"])]
        ]
        return PairDetails(
            number=number,
            answers=(answers[0], answers[1]),
            distance=float(front.distance[number]),
            changes=change.to_html() if isinstance(change, MarkedText) else "",
            features=features,
            omitted_features=max(0, equal_count - MAX_EQUAL_FEATURES),
            history=self._describe_history(number),
            pictures=pictures,
        )

    def _describe_history(self, number: int) -> list[str]:
        """Return how a pair was found: the start of its walk, the walk, and the narrowing."""
        front = self.front
        walk = int(front.walk[number])
        lines = []
        starts = [] if front.walk_starts is None else [int(seed) for seed in front.walk_starts[walk] if seed >= 0]
        if starts:
            case = front.seeds.take(np.array(starts[:1]))
            change = format_changes(case, front.a.take(np.array([number])), MAX_CHANGES_PER_ROW)[0]
            goal = f" and went towards seed case {starts[1]}" if len(starts) > 1 else ""
            lines.append(f"Walk {walk} started from seed case {starts[0]}{goal}.")
            lines.append(f"From the start to the first case: {change}." if change else "The start is the first case.")
        else:
            lines.append(f"Found by walk {walk}. The file does not say which seed case it started from.")
        others = int((front.walk == walk).sum()) - 1
        lines.append(
            f"The walk ({str(front.walked_by[number]).replace('_', ' ')}) ran {pluralise(int(front.walk_runs[walk]), 'new case')}"
            + (f" and found {pluralise(others, 'other pair')}." if others else ".")
        )
        narrowing = int(front.pair_runs[number])
        lines.append(
            f"Narrowing the pair took {pluralise(narrowing, 'case')}." if narrowing else "The pair was not narrowed."
        )
        return lines


def _format_two(before: object, after: object, differs: bool) -> tuple[str, str]:
    """Return two values as text, with as many digits as it takes to see that they differ."""
    if differs and isinstance(before, float) and isinstance(after, float):
        for digits in range(6, 18):
            texts = f"{before:.{digits}g}", f"{after:.{digits}g}"
            if texts[0] != texts[1]:
                return texts
    return format_value(before), format_value(after)


class FrontViews:
    """The views of all people, by a key that only pages of the same person know; the least recently used are dropped."""

    def __init__(self, limit: int = MAX_VIEWS_KEPT) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._views: OrderedDict[tuple[str, int], FrontView] = OrderedDict()
        self._paths: dict[str, Path] = {}

    def open(self, owner: Path, path: Path) -> tuple[str, FrontView]:
        """Return the key of a front for the person with this folder, and its view; this reads the file."""
        key = hashlib.sha256(f"{owner}\0{path}".encode()).hexdigest()[:24]
        view = self._read(path)
        self._paths[f"{owner}\0{key}"] = path
        return key, view

    def find(self, owner: Path, key: str) -> FrontView:
        """Return a view that this person has opened."""
        path = self._paths.get(f"{owner}\0{key}")
        if path is None:
            raise UsageError("There is no such front here. Load the page again.")
        return self._read(path)

    def _read(self, path: Path) -> FrontView:
        try:
            name = (str(path), path.stat().st_mtime_ns)
        except OSError:
            raise UsageError("The file of the border pairs is gone. Start the exploration again.") from None
        with self._lock:
            view = self._views.get(name)
            if view is None:
                view = self._views[name] = FrontView(path)
            self._views.move_to_end(name)
            while len(self._views) > self._limit:
                self._views.popitem(last=False)
        return view


#: the views of this studio
FRONT_VIEWS = FrontViews()

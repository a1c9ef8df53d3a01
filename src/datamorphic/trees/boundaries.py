"""Boundary values: rows that lie just inside the limits of a leaf, and which of given rows do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import is_number, reject
from .allowed import Allowed, Column, as_seen, column_of, shortest
from .examples import as_column, keeps, precise, values_of
from .inputs import Inputs
from .model import Floats, Nodes, Tree, leaf_of
from .rules import Range, box, told_limit

if TYPE_CHECKING:
    import pandas as pd

STEP, UNIT, BEYOND = "step", "unit", "beyond"
TRIES = 20  # choices of sides for one leaf, where a constraint or rounding is in the way

Offset = str | float


@dataclass(frozen=True)
class Limit:
    """One value of a row that lies at a limit.

    Attributes
    ----------
    column : str
        Where.
    value : float
        What was put there.
    limit : str
        The limit, in words: "petal width (cm) <= 0.8".
    holds : bool
        Whether the comparison of the limit holds for the value.
    """

    column: str
    value: Any
    limit: str
    holds: bool


def check_offset(offset: Any, owner: str, *, beyond: bool = True) -> None:
    """Raise `ArgumentError` if this does not say how far from a limit a boundary value lies."""
    words = (STEP, UNIT, BEYOND) if beyond else (STEP, UNIT)
    fraction = is_number(offset) and 0 < float(offset) < math.inf
    if offset not in words and not fraction:
        listed = ", ".join(map(repr, words))
        reject("offset", owner, f"{listed}, or a positive share of the spacing of a column's values", offset)


def spacing(own: Floats) -> float:
    """Return how far values of a column usually are from the next: the middle one of all gaps.

    Examples
    --------
    >>> spacing(np.array([1.0, 1.0, 1.5, 2.0, 7.0, np.nan]))
    0.5
    """
    different = np.unique(own[~np.isnan(own)])
    return float(np.median(np.diff(different))) if len(different) > 1 else 1.0


class Boundaries:
    """Makes boundary rows for the leaves of a tree out of rows of a frame, and recognises them."""

    def __init__(self, tree: Tree, frame: pd.DataFrame, inputs: Inputs, offset: Offset = STEP) -> None:
        self.tree, self.frame, self.inputs, self.offset = tree, frame, inputs, offset
        self.single = precise(tree)
        self.values = values_of(frame, inputs)
        self._facts: dict[int, tuple[Column, float]] = {}
        self._boxes: dict[int, dict[int, Range]] = {}

    def _fact(self, column: int) -> tuple[Column, float]:
        """Return what a column may hold, and the spacing of its values: the step of its feature where one was given."""
        if column not in self._facts:
            own = self.values[:, column]
            space = self.inputs.space
            feature = space[self.inputs.names[column]] if space is not None else None
            step = getattr(feature, "step", None) if getattr(feature, "step_given", False) else None
            facts = column_of(column, self.single, self.frame, own, self.inputs)
            self._facts[column] = facts, spacing(own) if step is None else float(step)
        return self._facts[column]

    def ends(self, column: int, range_: Range, *, inside: bool = True) -> dict[bool, float]:
        """Return the values just inside the limits of a range: below its upper limit (True), above its lower (False).

        Where it is narrower than the offset, its outermost values have to do if they are to lie inside.
        """
        facts, gap = self._fact(column)
        allowed = facts.within(range_)
        if allowed.choices is not None or allowed.low > allowed.high:
            return {}
        outermost = {
            upper: end
            for upper, limit, end in ((True, range_.high, allowed.high), (False, range_.low, allowed.low))
            if math.isfinite(limit) and math.isfinite(end)
        }
        found = {
            upper: self._just(range_.high if upper else range_.low, end, -1 if upper else 1, gap, allowed)
            for upper, end in outermost.items()
        }
        if inside:
            found = {
                side: each for side, each in found.items() if allowed.low <= each <= allowed.high
            } or outermost
        return {upper: shortest(value, self.single) for upper, value in found.items()}

    def _just(self, limit: float, end: float, inwards: int, gap: float, allowed: Allowed) -> float:
        """Return the value just inside a limit, whose outermost value inside is `end`."""
        if self.offset in (STEP, BEYOND) or (self.offset == UNIT and allowed.whole):
            return end
        distance = 1.0 if self.offset == UNIT else float(self.offset) * gap
        value = limit + inwards * distance
        if allowed.whole:
            return float(math.floor(value) if inwards < 0 else math.ceil(value))
        return value

    def _all_ends(self, leaf: int) -> dict[int, dict[bool, float]]:
        """Return the values just inside the limits of a leaf, by column, where there are any."""
        ends = {column: self.ends(column, range_) for column, range_ in self._box(leaf).items()}
        if self.tree.told is not None:
            ends = self._settled(leaf, ends)
        return {column: each for column, each in ends.items() if each}

    @property
    def _plain(self) -> bool:
        """Whether trees see the numbers of the frame as they are, so that rows can be tried as a matrix."""
        inputs = self.inputs
        bound = inputs.space is not None and bool(inputs.space.constraints)
        return not (inputs.before or inputs.coded or inputs.categories or inputs.gone or bound)

    def all_made(
        self, leaves: Sequence[int], rows: Sequence[int], rng: np.random.Generator
    ) -> list[tuple[pd.DataFrame, list[Limit]] | None]:
        """Return a boundary row for each of some leaves: what `made` returns, faster where that can be."""
        if self.offset == BEYOND or not self._plain:
            return [self.made(leaf, row, rng) for leaf, row in zip(leaves, rows, strict=True)]
        ends = [self._all_ends(leaf) for leaf in leaves]
        matrix = self.values[list(rows)]
        sides: list[dict[int, bool]] = [{} for _ in leaves]
        open_ = np.arange(len(leaves))
        for _ in range(TRIES):
            for place in open_.tolist():
                sides[place] = {column: bool(rng.choice(list(each))) for column, each in ends[place].items()}
                for column, upper in sides[place].items():
                    matrix[place, column] = ends[place][column][upper]
            open_ = open_[leaf_of(self.tree, matrix[open_]) != np.asarray(leaves)[open_]]
            if not open_.size:
                break
        frame = self.frame.iloc[list(rows)].copy()
        for column in sorted({column for each in sides for column in each}):
            changed = [place for place, each in enumerate(sides) if column in each]
            kept = frame.iloc[:, column].copy()
            values = matrix[changed, column]
            if kept.dtype.kind in "iu":  # they are whole: what the dtype suggests is kept to
                values = values.astype(kept.dtype if isinstance(kept.dtype, np.dtype) else np.int64)
            kept.iloc[changed] = values.astype(kept.dtype) if kept.dtype == np.float32 else values
            frame[frame.columns[column]] = kept
        landed = leaf_of(self.tree, self.inputs.seen(frame)) == np.asarray(leaves)
        return [
            (
                frame.iloc[[place]],
                [
                    self._told(column, leaf, upper, ends[place][column][upper])
                    for column, upper in sides[place].items()
                ],
            )
            if landed[place]
            else self.made(leaf, rows[place], rng)
            for place, leaf in enumerate(leaves)
        ]

    def made(self, leaf: int, row: int, rng: np.random.Generator) -> tuple[pd.DataFrame, list[Limit]] | None:
        """Return a boundary row for a leaf, made of a row of the frame that reaches it; None if none lands there.

        Every column that the path to the leaf compares is put to one of its limits, drawn at random where it has two.
        """
        if self.offset == BEYOND:
            return self._beyond(leaf, row, rng)
        ends = self._all_ends(leaf)
        for _ in range(TRIES):
            sides = {column: bool(rng.choice(list(each))) for column, each in ends.items()}
            made = self.frame.iloc[[row]].copy()
            limits = []
            for column, upper in sides.items():
                value = ends[column][upper]
                name = made.columns[column]
                made[name] = as_column(value, made[name], column, self.inputs)
                limits.append(self._told(column, leaf, upper, value))
            if leaf_of(self.tree, self.inputs.seen(made))[0] == leaf and keeps(self.inputs, made):
                return made, limits
        return None

    def _settled(self, leaf: int, ends: dict[int, dict[bool, float]]) -> dict[int, dict[bool, float]]:
        """Return ends moved inwards until they lie inside in the tree's own units, where these are others."""
        before, own = self.inputs.before, box(self.tree, leaf)
        assert before is not None
        found: dict[int, dict[bool, float]] = {}
        for column, sides in ends.items():
            for upper, end in sides.items():
                inwards = -1 if upper else 1
                tried = end + inwards * np.r_[0.0, math.ulp(end) * 2.0 ** np.arange(52)]
                seen = before.forth(np.full(len(tried), column), tried).astype(np.float32).astype(np.float64)
                inside = np.flatnonzero((seen > own[column].low) & (seen <= own[column].high))
                if inside.size:
                    found.setdefault(column, {})[upper] = float(tried[inside[0]])
        return found

    def _beyond(self, leaf: int, row: int, rng: np.random.Generator) -> tuple[pd.DataFrame, list[Limit]]:
        """Return a row with values drawn beyond limits of a leaf, up to the end of the column's range: it lands anywhere."""
        made = self.frame.iloc[[row]].copy()
        limits = []
        for column, range_ in self._box(leaf).items():
            ends = self.ends(column, range_)
            if not ends:
                continue
            upper = bool(rng.choice(list(ends)))
            facts, _ = self._fact(column)
            own = self.values[:, column]
            limit = range_.high if upper else range_.low
            far = max(float(np.nanmax(own)), limit) if upper else min(float(np.nanmin(own)), limit)
            value = float(np.clip(rng.uniform(min(limit, far), max(limit, far)), facts.low, facts.high))
            value = round(value) if facts.whole else value
            name = made.columns[column]
            made[name] = as_column(value, made[name], column, self.inputs)
            limits.append(self._told(column, leaf, upper, value))
        return made, limits

    def _box(self, leaf: int) -> dict[int, Range]:
        if leaf not in self._boxes:
            self._boxes[leaf] = box(self.tree, leaf, told=True)
        return self._boxes[leaf]

    def _told(self, column: int, leaf: int, upper: bool, value: float) -> Limit:
        range_ = self._box(leaf)[column]
        limit = range_.high if upper else range_.low
        text, below = told_limit(limit, self.single)
        name = self.inputs.names[column]
        holds = as_seen(value, self.single) <= limit
        return Limit(name, value, f"{name} {'<=' if below else '<'} {text}", holds)

    def at_limits(self, leaves: Nodes) -> npt.NDArray[np.bool_]:
        """Return which rows of the frame lie at the limits of the leaf they come to, in every column of its path."""
        found = np.ones(len(self.frame), dtype=bool)
        for leaf in np.unique(leaves).tolist():
            rows = np.flatnonzero(leaves == leaf)
            ends_of = self._all_ends(leaf)
            if self.offset != STEP and self.tree.told is None:  # no farther from a limit than the offset
                ends_of = {
                    column: self.ends(column, range_, inside=False) for column, range_ in self._box(leaf).items()
                }
            for column, ends in ends_of.items():
                if not ends:
                    continue
                own = self.values[rows, column]
                near = np.zeros(len(rows), dtype=bool)
                for upper, end in ends.items():
                    seen = (own.astype(np.float32) if self.single else own).astype(np.float64)
                    inner = as_seen(end, self.single)
                    near |= seen >= inner if upper else seen <= inner
                found[rows] &= near
        return found

"""Boundary values: make and recognise rows just inside the limits of a leaf."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._validation import is_number, reject
from .column_domain import AllowedValues, ColumnDomain, build_column_domain, round_to_precision, shorten_number
from .descent import find_leaves
from .examples import is_single_precision, is_within_constraints, to_column, to_user_values
from .inputs import TreeInputs
from .rules import Range, find_box, format_limit
from .tree import Floats, Nodes, Tree

STEP, UNIT, BEYOND = "step", "unit", "beyond"
MAX_SIDE_CHOICES_PER_LEAF = 20  # attempts, since a constraint or rounding may prevent some

Offset = str | float


@dataclass(frozen=True)
class Limit:
    """A value of a row that lies at a limit."""

    column: str
    value: Any
    limit: str  # such as "petal width (cm) <= 0.8"
    holds: bool  # whether the limit holds for the value


def validate_offset(offset: object, owner: str, *, beyond: bool = True) -> None:
    """Raise `ArgumentError` if `offset` is not a valid distance from a limit."""
    choices = (STEP, UNIT, BEYOND) if beyond else (STEP, UNIT)
    if not (isinstance(offset, str) and offset in choices) and not (is_number(offset) and 0 < float(offset) < math.inf):
        listed = ", ".join(map(repr, choices))
        reject("offset", owner, f"{listed}, or a positive share of the spacing of a column's values", offset)


def measure_spacing(values: Floats) -> float:
    """Return the median gap between neighbouring values of a column."""
    distinct = np.unique(values[~np.isnan(values)])
    return float(np.median(np.diff(distinct))) if len(distinct) > 1 else 1.0


class Boundaries:
    """Makes and recognises rows at the limits of the leaves of a tree."""

    def __init__(self, tree: Tree, frame: pd.DataFrame, inputs: TreeInputs, offset: Offset = STEP) -> None:
        self.tree, self.frame, self.inputs, self.offset = tree, frame, inputs, offset
        self.single = is_single_precision(tree)
        self.values = to_user_values(frame, inputs)
        self._column_facts: dict[int, tuple[ColumnDomain, float]] = {}
        self._boxes: dict[int, dict[int, Range]] = {}

    def _get_column_facts(self, column: int) -> tuple[ColumnDomain, float]:
        """Return the domain of a column, and its step or the spacing of its values."""
        if column not in self._column_facts:
            column_values = self.values[:, column]
            space = self.inputs.space
            feature = space[self.inputs.names[column]] if space is not None else None
            step = getattr(feature, "step", None) if getattr(feature, "step_given", False) else None
            domain = build_column_domain(column, self.single, self.frame, column_values, self.inputs)
            self._column_facts[column] = domain, measure_spacing(column_values) if step is None else float(step)
        return self._column_facts[column]

    def find_end_values(self, column: int, range_: Range, *, inside: bool = True) -> dict[bool, float]:
        """Return the values just inside the upper (True) and lower (False) limit, or else the outermost values."""
        domain, gap = self._get_column_facts(column)
        allowed_values = domain.restrict(range_)
        if allowed_values.choices is not None or allowed_values.low > allowed_values.high:
            return {}
        outermost = {
            upper: end
            for upper, limit, end in ((True, range_.high, allowed_values.high), (False, range_.low, allowed_values.low))
            if math.isfinite(limit) and math.isfinite(end)
        }
        end_values = {
            upper: self._step_inside(range_.high if upper else range_.low, end, -1 if upper else 1, gap, allowed_values)
            for upper, end in outermost.items()
        }
        if inside:
            low, high = allowed_values.low, allowed_values.high
            end_values = {side: value for side, value in end_values.items() if low <= value <= high} or outermost
        return {upper: shorten_number(value, self.single) for upper, value in end_values.items()}

    def _step_inside(self, limit: float, end: float, inwards: int, gap: float, allowed_values: AllowedValues) -> float:
        """Return the value just inside a limit; `end` is the outermost value inside."""
        if self.offset in (STEP, BEYOND) or (self.offset == UNIT and allowed_values.domain.whole):
            return end
        value = limit + inwards * (1.0 if self.offset == UNIT else float(self.offset) * gap)
        if allowed_values.domain.whole:
            return float(math.floor(value) if inwards < 0 else math.ceil(value))
        return value

    def _find_all_end_values(self, leaf: int) -> dict[int, dict[bool, float]]:
        """Return the values just inside the limits of a leaf, by column."""
        ends = {column: self.find_end_values(column, range_) for column, range_ in self._get_box(leaf).items()}
        if self.tree.data_thresholds is not None:
            ends = self._move_ends_inside(leaf, ends)
        return {column: sides for column, sides in ends.items() if sides}

    def make_rows(
        self, leaves: Sequence[int], rows: Sequence[int], rng: np.random.Generator
    ) -> list[tuple[pd.DataFrame, list[Limit]] | None]:
        """Make one boundary row per leaf, faster than `make_row` where possible."""
        inputs = self.inputs
        is_bound = inputs.space is not None and bool(inputs.space.constraints)
        if (
            self.offset == BEYOND
            or is_bound
            or (inputs.preprocessing or inputs.coded or inputs.categories or inputs.missing_markers)
        ):  # trees do not compare the numbers of the frame unchanged
            return [self.make_row(leaf, row, rng) for leaf, row in zip(leaves, rows, strict=True)]
        ends = [self._find_all_end_values(leaf) for leaf in leaves]
        matrix = self.values[list(rows)]
        sides: list[dict[int, bool]] = [{} for _ in leaves]
        open_places = np.arange(len(leaves))
        for _ in range(MAX_SIDE_CHOICES_PER_LEAF):
            for place in open_places.tolist():
                choices = ends[place].items()
                sides[place] = {column: bool(rng.choice(list(end_values))) for column, end_values in choices}
                for column, upper in sides[place].items():
                    matrix[place, column] = ends[place][column][upper]
            open_places = open_places[find_leaves(self.tree, matrix[open_places]) != np.asarray(leaves)[open_places]]
            if not open_places.size:
                break
        frame = self.frame.iloc[list(rows)].copy()
        for column in sorted(set().union(*sides)):
            changed = [place for place, row_sides in enumerate(sides) if column in row_sides]
            series = frame.iloc[:, column].copy()
            values = matrix[changed, column]
            if series.dtype.kind in "iu":  # the values are integers
                values = values.astype(series.dtype if isinstance(series.dtype, np.dtype) else np.int64)
            series.iloc[changed] = values.astype(series.dtype) if series.dtype == np.float32 else values
            frame[frame.columns[column]] = series
        landed = find_leaves(self.tree, self.inputs.to_tree_matrix(frame)) == np.asarray(leaves)
        boundary_rows: list[tuple[pd.DataFrame, list[Limit]] | None] = []
        for place, leaf in enumerate(leaves):
            if not landed[place]:
                boundary_rows.append(self.make_row(leaf, rows[place], rng))
                continue
            limits = [self._build_limit(j, leaf, upper, ends[place][j][upper]) for j, upper in sides[place].items()]
            boundary_rows.append((frame.iloc[[place]], limits))
        return boundary_rows

    def make_row(self, leaf: int, row: int, rng: np.random.Generator) -> tuple[pd.DataFrame, list[Limit]] | None:
        """Make a boundary row for a leaf from a row that reaches it, or return None.

        Every column on the path is set to one of its limits, at random if it has two.
        """
        if self.offset == BEYOND:
            return self._make_row_beyond(leaf, row, rng)
        ends = self._find_all_end_values(leaf)
        for _ in range(MAX_SIDE_CHOICES_PER_LEAF):
            sides = {column: bool(rng.choice(list(end_values))) for column, end_values in ends.items()}
            candidate = self.frame.iloc[[row]].copy()
            limits = []
            for column, upper in sides.items():
                limits.append(self._set_value(candidate, column, leaf, upper, ends[column][upper]))
            reached_leaf = find_leaves(self.tree, self.inputs.to_tree_matrix(candidate))[0]
            if reached_leaf == leaf and is_within_constraints(self.inputs, candidate):
                return candidate, limits
        return None

    def _set_value(self, candidate: pd.DataFrame, column: int, leaf: int, upper: bool, value: float) -> Limit:
        """Set a value of a row, and return its limit."""
        name = candidate.columns[column]
        candidate[name] = to_column(value, candidate[name], column, self.inputs)
        return self._build_limit(column, leaf, upper, value)

    def _move_ends_inside(self, leaf: int, ends: dict[int, dict[bool, float]]) -> dict[int, dict[bool, float]]:
        """Move values inwards until they also lie inside in the units of the tree."""
        preprocessing, ranges = self.inputs.preprocessing, find_box(self.tree, leaf)
        assert preprocessing is not None
        settled_ends: dict[int, dict[bool, float]] = {}
        for column, sides in ends.items():
            for upper, end in sides.items():
                inwards = -1 if upper else 1
                candidates = end + inwards * np.r_[0.0, math.ulp(end) * 2.0 ** np.arange(52)]
                scaled = preprocessing.to_tree_units(np.full(len(candidates), column), candidates)
                scaled = scaled.astype(np.float32).astype(np.float64)
                inside = np.flatnonzero((scaled > ranges[column].low) & (scaled <= ranges[column].high))
                if inside.size:
                    settled_ends.setdefault(column, {})[upper] = float(candidates[inside[0]])
        return settled_ends

    def _make_row_beyond(self, leaf: int, row: int, rng: np.random.Generator) -> tuple[pd.DataFrame, list[Limit]]:
        """Make a row with values beyond the limits of a leaf; it may reach any leaf."""
        candidate = self.frame.iloc[[row]].copy()
        limits = []
        for column, range_ in self._get_box(leaf).items():
            ends = self.find_end_values(column, range_)
            if not ends:
                continue
            upper = bool(rng.choice(list(ends)))
            domain, _ = self._get_column_facts(column)
            column_values = self.values[:, column]
            limit = range_.high if upper else range_.low
            low = limit if upper else min(float(np.nanmin(column_values)), limit)
            high = max(float(np.nanmax(column_values)), limit) if upper else limit
            value = float(np.clip(rng.uniform(low, high), domain.low, domain.high))
            limits.append(self._set_value(candidate, column, leaf, upper, round(value) if domain.whole else value))
        return candidate, limits

    def _get_box(self, leaf: int) -> dict[int, Range]:
        if leaf not in self._boxes:
            self._boxes[leaf] = find_box(self.tree, leaf, in_data_units=True)
        return self._boxes[leaf]

    def _build_limit(self, column: int, leaf: int, upper: bool, value: float) -> Limit:
        range_ = self._get_box(leaf)[column]
        limit = range_.high if upper else range_.low
        text, is_below = format_limit(limit, self.single)
        name = self.inputs.names[column]
        holds = round_to_precision(value, self.single) <= limit
        return Limit(name, value, f"{name} {'<=' if is_below else '<'} {text}", holds)

    def find_rows_at_limits(self, leaves: Nodes) -> npt.NDArray[np.bool_]:
        """Return which rows lie at the limits of their leaf in every column of its path."""
        at_limits = np.ones(len(self.frame), dtype=bool)
        for leaf in np.unique(leaves).tolist():
            rows = np.flatnonzero(leaves == leaf)
            ends_by_column = self._find_all_end_values(leaf)
            if self.offset != STEP and self.tree.data_thresholds is None:  # at most the offset away from a limit
                ends_by_column = {
                    column: self.find_end_values(column, range_, inside=False)
                    for column, range_ in self._get_box(leaf).items()
                }
            for column, ends in ends_by_column.items():
                if not ends:
                    continue
                column_values = self.values[rows, column]
                near = np.zeros(len(rows), dtype=bool)
                for upper, end in ends.items():
                    rounded = (column_values.astype(np.float32) if self.single else column_values).astype(np.float64)
                    inner = round_to_precision(end, self.single)
                    near |= rounded >= inner if upper else rounded <= inner
                at_limits[rows] &= near
        return at_limits

"""The path to a node: the range of each column, and the rule as text."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._text import format_short
from .tree import BELOW, EQUAL, FROM, UP_TO, WITHOUT, Tree


@dataclass(frozen=True, kw_only=True)
class Range:
    """The numbers above `low` and at most `high` of one column."""

    low: float = -math.inf
    high: float = math.inf
    missing: bool = True  # whether missing values pass too
    only: frozenset[float] | None = None  # the codes of categories that pass
    never: frozenset[float] = frozenset()  # those that do not

    @property
    def empty(self) -> bool:
        """Whether no number passes."""
        if self.only is not None:
            return not any(map(self.has_value, self.only))
        return self.low >= self.high

    def has_value(self, value: float) -> bool:
        """Return whether a number passes."""
        is_listed = self.only is None or value in self.only
        return is_listed and value not in self.never and self.low < value <= self.high

    def intersect(self, other: Range) -> Range:
        """Return the values that pass both ranges."""
        only = self.only if other.only is None else other.only if self.only is None else self.only & other.only
        return Range(
            low=max(self.low, other.low),
            high=min(self.high, other.high),
            missing=self.missing and other.missing,
            only=only,
            never=self.never | other.never,
        )


def find_side(tree: Tree, node: int, goes_left: bool, *, in_data_units: bool = False) -> Range:
    """Return the values that go left at a node, or right; in the units of the data if the tree gets scaled columns."""
    thresholds = tree.data_thresholds if in_data_units and tree.data_thresholds is not None else tree.threshold
    operator, limit = int(tree.operator[node]), float(thresholds[node])
    return build_range(operator, limit, goes_left, bool(tree.missing_left[node]) == goes_left, tree.sets)


def build_range(operator: int, limit: float, holds: bool, missing: bool, sets: Sequence[frozenset[int]] = ()) -> Range:
    """Return the values for which a comparison holds, or does not hold."""
    if operator >= EQUAL:
        codes = frozenset([limit] if operator == EQUAL else sets[int(limit)])
        is_listed = holds != (operator == WITHOUT)
        return Range(missing=missing, only=codes) if is_listed else Range(missing=missing, never=codes)
    if operator in (BELOW, FROM):  # the lower side ends at the largest number below the limit
        limit = math.nextafter(limit, -math.inf)
    if holds == (operator in (UP_TO, BELOW)):
        return Range(high=limit, missing=missing)
    return Range(low=limit, missing=missing)


def find_box(tree: Tree, node: int, *, in_data_units: bool = False) -> dict[int, Range]:
    """Return the range of each column on the path to a node, in path order; see `find_side`."""
    ranges: dict[int, Range] = {}
    for ancestor, goes_left in tree.path(int(node)):
        column, side = int(tree.feature[ancestor]), find_side(tree, ancestor, goes_left, in_data_units=in_data_units)
        ranges[column] = ranges.get(column, Range()).intersect(side)
    return ranges


def format_rule(
    tree: Tree, node: int, *, missing: Collection[str] = (), categories: Mapping[str, Sequence[Any]] | None = None
) -> str:
    """Return the conditions on the path to a node as text, each column once.

    Numbers have as few digits as the precision of the comparison allows. scikit-learn rounds values to single
    precision and then compares them with "<=", so 2.45 may lie above a threshold of 2.4499999. The rule then says "<
    2.45", which is true of the 2.45 in the data. `find_box` has the exact thresholds.

    Only for columns in `missing`, the rule says where missing values go. `categories` are the values that the codes 0, 1,
    ... stand for, by categorical column.
    """
    parts = []
    for column, range_ in find_box(tree, node, in_data_units=True).items():
        name = tree.names[column]
        if categories is not None and name in categories:
            text = format_categories(name, range_, categories[name])
        elif range_.only is not None:
            text = f"{name} is " + " or ".join(map(format_short, filter(range_.has_value, sorted(range_.only))))
        else:
            text = _format_interval(name, range_, tree.single and tree.data_thresholds is None)
        if range_.missing and range_.empty:
            text = f"{name} is missing"
        elif range_.missing and text and name in missing:
            text = f"({text} or missing)"
        elif not range_.missing and not text:
            text = f"{name} is given"
        if text:
            parts.append(text)
    return " and ".join(parts) if parts else "always"


def _format_interval(name: str, range_: Range, single: bool) -> str:
    """Return the numbers that a range lets through as text; empty if all pass."""
    if range_.never:
        others = " or ".join(format_short(code) for code in sorted(range_.never))
        within = _format_interval(name, replace(range_, never=frozenset()), single)
        return " and ".join(filter(None, (within, f"{name} is not {others}")))
    (low, is_open_low), (high, is_closed_high) = (format_limit(limit, single) for limit in (range_.low, range_.high))
    if range_.empty or (math.isfinite(range_.low) and math.isfinite(range_.high)):
        return f"{low} {'<' if is_open_low else '<='} {name} {'<=' if is_closed_high else '<'} {high}"
    if math.isfinite(range_.low):
        return f"{name} {'>' if is_open_low else '>='} {low}"
    return f"{name} {'<=' if is_closed_high else '<'} {high}" if math.isfinite(range_.high) else ""


def format_categories(name: str, range_: Range, values: Sequence[Any]) -> str:
    """Return the categories that pass as text; empty if all pass."""
    included = [format_short(value) for code, value in enumerate(values) if range_.has_value(code)]
    excluded = [format_short(value) for code, value in enumerate(values) if not range_.has_value(code)]
    if not excluded:
        return ""
    if not included:
        return f"{name} is not one of its categories"
    if len(excluded) < len(included):
        return f"{name} is not " + " or ".join(excluded)
    return f"{name} is " + " or ".join(included)


def format_limit(threshold: float, single: bool = True) -> tuple[str, bool]:
    """Return a threshold with few digits, and whether these do not exceed it.

    Examples
    --------
    >>> format_limit(0.800000011920929), format_limit(2.449999988079071), format_limit(1234.5678)
    (('0.8', True), ('2.45', False), ('1234.5678', True))
    """
    if not math.isfinite(threshold):
        return format_short(threshold), True
    step = float(np.spacing(np.float32(abs(threshold)))) if single else 2 * math.ulp(threshold)
    for digits in range(1, 18):
        rounded = float(f"{threshold:.{digits}g}")
        if abs(rounded - threshold) <= step:
            break
    is_below = float(np.float32(rounded)) <= threshold if single else rounded <= threshold
    return f"{rounded:.{max(digits, 10)}g}", is_below

"""The values that a column may hold, and those of them that lie in a range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._lazy import pd
from .._validation import is_number
from ..space.features import Categorical, Feature
from .inputs import TreeInputs
from .rules import Range
from .tree import Floats

MAX_ROUNDING_SHARE = 0.01  # of the range of a column: how far inside a box a rounder number may lie


@dataclass(frozen=True, kw_only=True)
class ColumnDomain:
    """The values that a column may hold, in the units of the data."""

    single: bool  # whether trees compare it in single precision
    low: float  # its bounds, both included
    high: float
    whole: bool  # whether it holds integers only
    choices: Floats | None  # the only values it may hold, if these are few; categories as codes
    missing: bool  # whether values may be missing
    missing_visible: bool  # whether trees get missing values
    width: float  # its range
    typical: float  # its median
    unrestricted: ColumnDomain | None = None  # a wider domain to use if need be, since a dtype only suggests one

    def restrict(self, range_: Range) -> AllowedValues:
        """Return the values of the domain that pass a range."""
        allowed_values = self._restrict(range_)
        if allowed_values.empty and self.unrestricted is not None:
            return self.unrestricted._restrict(range_)
        return allowed_values

    def _restrict(self, range_: Range) -> AllowedValues:
        inside, single = _close_range(range_, self.single), self.single
        low, high, choices = max(inside.low, self.low), min(inside.high, self.high), self.choices
        # a bound may round to a number beyond it, which then counts as inside
        if low > self.high and round_to_precision(self.high, single) >= inside.low:
            low = high = self.high
        if high < self.low and round_to_precision(self.low, single) <= inside.high:
            low = high = self.low
        if self.whole:
            low = math.ceil(low) if math.isfinite(low) else low
            high = math.floor(high) if math.isfinite(high) else high
        if inside.only is not None and choices is None:
            codes = sorted(code for code in inside.only if not self.whole or code == int(code))
            listed = [shorten_number(code, single) for code in codes]
            end_values = {round_to_precision(low, single), round_to_precision(high, single)} if low <= high else set()
            fitting = [code for code in listed if low <= code <= high or round_to_precision(code, single) in end_values]
            choices = np.array(fitting)
        elif choices is not None:
            rounded = choices.astype(np.float32) if single else choices
            fits = (rounded >= inside.low) & (rounded <= inside.high) & ~np.isin(rounded, list(inside.never))
            choices = choices[fits if inside.only is None else fits & np.isin(rounded, list(inside.only))]
        missing_passes = inside.missing and self.missing_visible
        return AllowedValues(
            domain=self,
            box=replace(inside, missing=missing_passes),
            low=float(low),
            high=float(high),
            choices=choices,
            missing=self.missing and missing_passes,
        )


def build_column_domain(
    column: int, single: bool, frame: pd.DataFrame, values: Floats, inputs: TreeInputs
) -> ColumnDomain:
    """Build the domain of a column from its feature, or from dtype and values."""
    known_values = values[~np.isnan(values)]
    feature = inputs.space[inputs.names[column]] if inputs.space is not None else None
    largest = float(np.finfo(np.float32 if single else np.float64).max)
    low, high, whole, choices, suggested = -largest, largest, False, None, False
    if feature is not None:
        missing = feature.nullable or column in inputs.missing_markers
        if isinstance(feature, Categorical):
            choices = _list_choices(feature, inputs.coded, inputs.categories.get(column))
        else:
            low, high, whole = max(low, feature.low), min(high, feature.high), feature.kind == "integer"
    elif column in inputs.categories:
        missing, choices = True, np.arange(len(inputs.categories[column]), dtype=np.float64)
    else:
        low, high, whole, choices, missing = _read_dtype_limits(frame.dtypes.iloc[column], low, high)
        # a dtype only suggests a domain: a model fitted on fractions may be given rows that happen to hold integers
        suggested = getattr(frame.dtypes.iloc[column], "kind", "O") != "b"
    is_imputed = inputs.preprocessing is not None and inputs.preprocessing.fills
    domain = ColumnDomain(
        single=single,
        low=low,
        high=high,
        whole=whole,
        choices=choices,
        missing=missing,
        missing_visible=inputs.takes_missing and not is_imputed,
        width=_measure_width(feature, known_values),
        typical=float(np.median(known_values)) if len(known_values) else 0.0,
    )
    if not suggested:
        return domain
    unrestricted = replace(domain, low=-largest, high=largest, whole=False, choices=None, missing=True)
    return replace(domain, unrestricted=unrestricted)


def _read_dtype_limits(dtype: Any, low: float, high: float) -> tuple[float, float, bool, Floats | None, bool]:
    """Return bounds, integrality, choices and missingness that a dtype suggests."""
    kind = getattr(dtype, "kind", "O")
    missing = kind not in "iub" or not isinstance(dtype, np.dtype)
    choices = np.array([0.0, 1.0]) if kind == "b" else None
    if kind in "iu" and isinstance(dtype, np.dtype):
        limits = np.iinfo(dtype)
        low, high = max(low, float(limits.min)), min(high, float(limits.max))
    if hasattr(dtype, "categories"):  # they are numbers, since trees compare them
        choices = np.array([float(category) for category in dtype.categories])
    return low, high, kind in "iu", choices, missing


@dataclass(frozen=True, kw_only=True)
class AllowedValues:
    """The values that may be put into a column to get into a box."""

    domain: ColumnDomain
    box: Range  # the range as trees compare values, with both ends included
    low: float  # the part of the box that the column may hold
    high: float
    choices: Floats | None  # the only values, as in the domain
    missing: bool  # whether a missing value passes

    @property
    def empty(self) -> bool:
        """Whether no value of the column lies in the box."""
        has_number = not math.isnan(self._find_passing(self.low)) if self.choices is None else len(self.choices) > 0
        return not has_number and not self.missing

    def measure_gaps(self, values: Floats) -> Floats:
        """Return distances to the box as shares of the range; inf if unreachable."""
        rounded = (values.astype(np.float32) if self.domain.single else values).astype(np.float64)
        mask = (rounded >= self.box.low) & (rounded <= self.box.high) & ~np.isin(rounded, list(self.box.never))
        if self.box.only is not None:
            mask &= np.isin(rounded, list(self.box.only))
        passes = np.where(np.isnan(values), self.box.missing, mask)
        if self.empty:
            return np.where(passes, 0.0, np.inf)
        distances = np.ones(len(values))
        if self.choices is None and self.low <= self.high:
            mask = ~np.isnan(values)
            distances[mask] = np.maximum(self.low - values[mask], values[mask] - self.high) / self.domain.width
        return np.where(passes, 0.0, distances.clip(min=np.finfo(float).tiny))

    def find_nearest(self, value: float) -> float:
        """Return an allowed value near a value that is not allowed."""
        value = self.domain.typical if math.isnan(value) else value
        if self.choices is not None:
            return float(self.choices[np.argmin(np.abs(self.choices - value))]) if len(self.choices) else math.nan
        if self.low > self.high:
            return math.nan
        value = float(round(value)) if self.domain.whole else value
        if self.low <= value <= self.high:
            return self._find_passing(value)
        is_below = value < self.low
        if self.domain.whole:
            return self._find_passing(self.low if is_below else self.high)
        margin = MAX_ROUNDING_SHARE * self.domain.width
        low, high = (self.low, self.low + margin) if is_below else (self.high - margin, self.high)
        roundest = find_roundest(max(low, self.low), min(high, self.high), upwards=is_below)
        return shorten_number(self._find_passing(roundest), self.domain.single)

    def _find_passing(self, value: float) -> float:
        """Return the value, or one next to it that passes; NaN if there is none."""
        if self.low > self.high:
            return math.nan
        for step in range(len(self.box.never) + 1):
            for ahead in (step, -step):
                candidate = value + ahead if self.domain.whole else step_number(value, ahead, self.domain.single)
                is_excluded = round_to_precision(candidate, self.domain.single) in self.box.never
                if self.low <= candidate <= self.high and not is_excluded:
                    return candidate
        return math.nan


def round_to_precision(value: float, single: bool) -> float:
    """Return a number as trees compare it."""
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if single else value


def shorten_number(value: float, single: bool) -> float:
    """Return the shortest number that trees do not distinguish from `value`, such as 1.65 for 1.649999976158142."""
    return float(str(np.float32(value))) if single and math.isfinite(round_to_precision(value, single)) else value


def step_number(value: float, steps: int, single: bool) -> float:
    """Return the number some representable steps above another, or below if negative."""
    dtype = np.float32 if single else np.float64
    number = dtype(value) if steps else value
    for _ in range(abs(steps)):
        number = np.nextafter(number, dtype(math.copysign(math.inf, steps)))
    return float(number)


def find_roundest(low: float, high: float, *, upwards: bool = True) -> float:
    """Return the lowest or highest number with the fewest decimals in an interval."""
    for decimals in range(16):
        factor = 10.0**decimals
        rounded = (math.ceil(low * factor) if upwards else math.floor(high * factor)) / factor
        if low <= rounded <= high:
            return rounded
    return low if upwards else high


def _close_range(range_: Range, single: bool) -> Range:
    """Return a range whose ends are the outermost values inside it."""
    if range_.empty:
        return Range(low=math.inf, high=-math.inf, missing=range_.missing)
    only = range_.only
    if only is not None:
        only = frozenset(code for code in only if range_.has_value(code) and round_to_precision(code, single) == code)
    low, high = _find_ends(range_, single)
    return Range(low=low, high=high, missing=range_.missing, only=only, never=range_.never)


def _find_ends(range_: Range, single: bool) -> tuple[float, float]:
    """Return the lowest and the highest number of the given precision in a range."""
    dtype = np.float32 if single else np.float64
    with np.errstate(over="ignore"):
        low, high = dtype(range_.low), dtype(range_.high)
        if float(low) <= range_.low and range_.low > -math.inf:
            low = np.nextafter(low, dtype(np.inf))
        if float(high) > range_.high:
            high = np.nextafter(high, dtype(-np.inf))
    return float(low), float(high)


def _measure_width(feature: Feature | None, known_values: Floats) -> float:
    """Return the range of a column, for relative distances."""
    if feature is not None and not isinstance(feature, Categorical):
        return 1 / feature.scale
    width = float(np.ptp(known_values)) if len(known_values) else 0.0
    return width or max(1.0, float(np.abs(known_values).max(initial=0.0)))


def _list_choices(feature: Categorical, coded: bool, codebook: Sequence[Any] | None = None) -> Floats:
    """Return categories as trees compare them: as codes, or as numbers."""
    if coded:
        return np.arange(len(feature.values), dtype=np.float64)
    if codebook is not None:
        return np.array([code for code, value in enumerate(codebook) if value in feature.values], dtype=np.float64)
    return np.array([float(v) for v in feature.values if is_number(v) or isinstance(v, bool)])

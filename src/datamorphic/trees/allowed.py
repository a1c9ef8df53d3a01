"""What a column may hold: what trees can tell apart, what its feature or dtype allows, and what of that lies in a range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import is_number
from ..space.features import Categorical, Feature
from .inputs import Inputs
from .rules import Range

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
JUST = 0.01  # of the range of a column: how far inside the box a rounder number may lie


@dataclass(frozen=True)
class Column:
    """What a column may hold, in the units of the user.

    Attributes
    ----------
    single : bool
        Whether trees see it in single precision.
    low, high : float
        Its bounds, both inside.
    whole : bool
        Whether it holds whole numbers only.
    choices : array or None
        The few values it may hold, where it holds no others; categories as their codes.
    missing : bool
        Whether values may be missing.
    gone : bool
        Whether trees get to see missing values.
    width, typical : float
        Its range and its middle value.
    free : Column or None
        What it may hold if need be, where the rest is but suggested by how the rows at hand are written.
    """

    single: bool
    low: float
    high: float
    whole: bool
    choices: Floats | None
    missing: bool
    gone: bool
    width: float
    typical: float
    free: Column | None = None

    def within(self, range_: Range) -> Allowed:
        """Return what it may hold of what comes through a range."""
        found = self._within(range_)
        return self.free._within(range_) if found.empty and self.free is not None else found

    def _within(self, range_: Range) -> Allowed:
        inside, single = _inside(range_, self.single), self.single
        low, high, choices = max(inside.low, self.low), min(inside.high, self.high), self.choices
        # a bound may round to a number beyond it, and is as good as that
        if low > self.high and as_seen(self.high, single) >= inside.low:
            low = high = self.high
        if high < self.low and as_seen(self.low, single) <= inside.high:
            low = high = self.low
        if self.whole:
            low = math.ceil(low) if math.isfinite(low) else low
            high = math.floor(high) if math.isfinite(high) else high
        if inside.only is not None and choices is None:
            listed = sorted(each for each in inside.only if not self.whole or each == int(each))
            if single:
                listed = [shortest(each, single) for each in listed]
            ends = {as_seen(low, single), as_seen(high, single)} if low <= high else set()
            choices = np.array([each for each in listed if low <= each <= high or as_seen(each, single) in ends])
        elif choices is not None:
            seen = choices.astype(np.float32) if single else choices
            fits = (seen >= inside.low) & (seen <= inside.high) & ~np.isin(seen, list(inside.never))
            choices = choices[fits if inside.only is None else fits & np.isin(seen, list(inside.only))]
        gone = inside.missing and self.gone
        return Allowed(
            replace(inside, missing=gone),
            single,
            float(low),
            float(high),
            self.whole,
            choices,
            missing=self.missing and gone,
            width=self.width,
            typical=self.typical,
        )


def column_of(column: int, single: bool, frame: pd.DataFrame, own: Floats, inputs: Inputs) -> Column:
    """Return what a column may hold: what its feature allows, or what its dtype suggests; `own` are its values.

    Where a model was fitted on fractions, and the rows at hand happen to be whole, fractions are possible all the same.
    """
    known = own[~np.isnan(own)]
    feature = inputs.space[inputs.names[column]] if inputs.space is not None else None
    largest = float(np.finfo(np.float32 if single else np.float64).max)
    low, high, whole, choices, suggested = -largest, largest, False, None, False
    if feature is not None:
        missing = feature.nullable or column in inputs.gone
        if isinstance(feature, Categorical):
            choices = _choices(feature, inputs.coded, inputs.categories.get(column))
        else:
            low, high, whole = max(low, feature.low), min(high, feature.high), feature.kind == "integer"
    elif column in inputs.categories:
        missing, choices = True, np.arange(len(inputs.categories[column]), dtype=np.float64)
    else:
        low, high, whole, choices, missing = _suggested(frame.dtypes.iloc[column], low, high)
        suggested = getattr(frame.dtypes.iloc[column], "kind", "O") != "b"
    filled = inputs.before is not None and inputs.before.fills
    found = Column(
        single,
        low,
        high,
        whole,
        choices,
        missing,
        gone=inputs.takes_missing and not filled,
        width=_width(feature, known),
        typical=float(np.median(known)) if len(known) else 0.0,
    )
    if not suggested:
        return found
    return replace(found, free=replace(found, low=-largest, high=largest, whole=False, choices=None, missing=True))


def _suggested(dtype: Any, low: float, high: float) -> tuple[float, float, bool, Floats | None, bool]:
    """Return what a dtype suggests: bounds, whether numbers are whole, the few values, whether some may be missing."""
    kind = getattr(dtype, "kind", "O")
    missing = kind not in "iub" or not isinstance(dtype, np.dtype)
    if kind == "b":
        return low, high, False, np.array([0.0, 1.0]), missing
    if kind in "iu" and isinstance(dtype, np.dtype):
        limits = np.iinfo(dtype)
        low, high = max(low, float(limits.min)), min(high, float(limits.max))
    choices = None
    if hasattr(dtype, "categories"):
        choices = np.array([float(each) for each in dtype.categories])  # trees have seen them: they are numbers
    return low, high, kind in "iu", choices, missing


@dataclass(frozen=True)
class Allowed:
    """What may be put into a column to get into a box.

    Attributes
    ----------
    box : Range
        From its low to its high end, both inside, as trees see values; but for what `never` comes through.
    single : bool
        Whether they see them in single precision.
    low, high : float
        What of that the column may hold.
    whole : bool
        Whether it holds whole numbers only.
    choices : array or None
        What it may hold of a few values, where it holds no others.
    missing : bool
        Whether nothing may be put there.
    width, typical : float
        The range of the column and its middle value.
    """

    box: Range
    single: bool
    low: float
    high: float
    whole: bool
    choices: Floats | None
    missing: bool
    width: float
    typical: float

    @property
    def empty(self) -> bool:
        """Whether nothing that the column may hold lies in the box."""
        some = not math.isnan(self._kept(self.low)) if self.choices is None else len(self.choices) > 0
        return not some and not self.missing

    def gaps(self, values: Floats) -> Floats:
        """Return how far values lie outside the box, as shares of the range of the column; inf if nothing helps."""
        seen = (values.astype(np.float32) if self.single else values).astype(np.float64)
        known = (seen >= self.box.low) & (seen <= self.box.high) & ~np.isin(seen, list(self.box.never))
        if self.box.only is not None:
            known &= np.isin(seen, list(self.box.only))
        inside = np.where(np.isnan(values), self.box.missing, known)
        if self.empty:
            return np.where(inside, 0.0, np.inf)
        gaps = np.ones(len(values))
        if self.choices is None and self.low <= self.high:
            known = ~np.isnan(values)
            gaps[known] = np.maximum(self.low - values[known], values[known] - self.high) / self.width
        return np.where(inside, 0.0, gaps.clip(min=np.finfo(float).tiny))

    def nearest(self, value: float) -> float:
        """Return an allowed value next to one that is not."""
        value = self.typical if math.isnan(value) else value
        if self.choices is not None:
            return float(self.choices[np.argmin(np.abs(self.choices - value))]) if len(self.choices) else math.nan
        if self.low > self.high:
            return math.nan
        value = float(round(value)) if self.whole else value
        if self.low <= value <= self.high:
            return self._kept(value)
        below = value < self.low
        if self.whole:
            return self._kept(self.low if below else self.high)
        just = JUST * self.width
        low, high = (self.low, self.low + just) if below else (self.high - just, self.high)
        return shortest(self._kept(roundest(max(low, self.low), min(high, self.high), upwards=below)), self.single)

    def _kept(self, value: float) -> float:
        """Return a value from the low to the high end, or one next to it that comes through; NaN if there is none."""
        if self.low > self.high:
            return math.nan
        for step in range(len(self.box.never) + 1):
            for ahead in (step, -step):
                tried = value + ahead if self.whole else stepped(value, ahead, self.single)
                if self.low <= tried <= self.high and float(as_seen(tried, self.single)) not in self.box.never:
                    return tried
        return math.nan


def as_seen(value: float, single: bool) -> float:
    """Return a number as trees compare it."""
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if single else value


def shortest(value: float, single: bool) -> float:
    """Return the number with the fewest digits that trees see as the same.

    Examples
    --------
    >>> shortest(1.649999976158142, True), shortest(1.649999976158142, False), shortest(math.nan, True)
    (1.65, 1.649999976158142, nan)
    """
    return float(str(np.float32(value))) if single and math.isfinite(as_seen(value, single)) else value


def stepped(value: float, steps: int, single: bool) -> float:
    """Return the number some representable steps above another, or below."""
    kind = np.float32 if single else np.float64
    number = kind(value) if steps else value
    for _ in range(abs(steps)):
        number = np.nextafter(number, kind(math.copysign(math.inf, steps)))
    return float(number)


def roundest(low: float, high: float, *, upwards: bool = True) -> float:
    """Return the number with the fewest decimals from `low` to `high`, the lowest of these or the highest.

    Examples
    --------
    >>> roundest(2.4500003, 2.509), roundest(0.7123, 0.79999, upwards=False), roundest(-3.7, 12)
    (2.5, 0.79, -3.0)
    """
    for decimals in range(16):
        factor = 10.0**decimals
        scaled = math.ceil(low * factor) if upwards else math.floor(high * factor)
        rounded = scaled / factor
        if low <= rounded <= high:
            return rounded
    return low if upwards else high


def _inside(range_: Range, single: bool) -> Range:
    """Return a range with the outermost values that lie inside as its ends."""
    if range_.empty:
        return Range(math.inf, -math.inf, range_.missing)
    only = range_.only
    if only is not None:
        only = frozenset(each for each in only if range_.lets(each) and as_seen(each, single) == each)
    return Range(*_ends(range_, single), range_.missing, only, range_.never)


def _ends(range_: Range, single: bool) -> tuple[float, float]:
    """Return the lowest and the highest number of the trees' precision that lie in a range."""
    kind = np.float32 if single else np.float64
    with np.errstate(over="ignore"):
        low, high = kind(range_.low), kind(range_.high)
        if float(low) <= range_.low and range_.low > -math.inf:
            low = np.nextafter(low, kind(np.inf))
        if float(high) > range_.high:
            high = np.nextafter(high, kind(-np.inf))
    return float(low), float(high)


def _width(feature: Feature | None, known: Floats) -> float:
    """Return what counts as the range of a column."""
    if feature is not None and not isinstance(feature, Categorical):
        return 1 / feature.scale
    width = float(np.ptp(known)) if len(known) else 0.0
    return width or max(1.0, float(np.abs(known).max(initial=0.0)))


def _choices(feature: Categorical, coded: bool, known: Sequence[Any] | None = None) -> Floats:
    """Return the categories as trees see them: their codes, or themselves where they are numbers."""
    if coded:
        return np.arange(len(feature.values), dtype=np.float64)
    if known is not None:
        return np.array([code for code, value in enumerate(known) if value in feature.values], dtype=np.float64)
    return np.array([float(v) for v in feature.values if is_number(v) or isinstance(v, bool)])  # type: ignore[arg-type]

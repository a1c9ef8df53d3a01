"""Changes of columns that may undo a difference between training and serving."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ...._tables import read_document
from ...._text import format_short
from ....space.dates import DateColumn
from ....space.features import Feature
from ....space.points import Points
from ...columns import split_name
from ...edits import UNKNOWN_CATEGORY, set_column

Floats = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.intp]
NumberFunction = Callable[[Floats], Floats]

SCREENED_FACTORS = (1.25, 1.8, 3.0, 10.0, 40.0, 1_000.0)  # and their reciprocals
FITTED_FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0)  # tried with those of units if one of the same direction helps
SCREENED_SHIFTS = (-1.5, -0.5, 0.5, 1.5)  # in standard deviations
FITTED_SHIFTS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)  # the same, tried if one of the same direction helps
SHIFTED_HOURS = tuple(step for step in range(-12, 13) if step)
SHIFTED_DAYS = (-365, -30, -7, -3, -2, -1, 1, 2, 3, 7, 30, 365)
CYCLES = {"hour": (0, 24), "hr": (0, 24), "month": (1, 12), "weekday": (0, 7), "dow": (0, 7), "dayofweek": (0, 7)}
FILLERS_OF_GAPS = (0.0, -1.0)
SENTINELS = (-999.0, -99.0, -9.0, -1.0, 0.0, 99.0, 999.0, 9999.0)
MIN_SHARE = 0.02  # of the rows that a change of missing values, or of one category, touches
MAX_SWAPPED_PAIRS = 60
MAX_PIXEL_VALUE = 255.0

#: How implausible a change is. Of changes that explain about the same, the least implausible one is reported.
PLAIN, USUAL, UNUSUAL, FITTED, SUBSTITUTED = range(5)


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnChange:
    """A change of the values of some columns."""

    columns: tuple[str, ...]
    text: str  # in words, after "with": "distance divided by 1.609"
    implausibility: int = USUAL
    risky: bool = (
        False  # whether the system may refuse the changed values, which are of a kind that the data do not have
    )
    #: gets rows and their positions among the inputs, and returns the changed columns
    make: Callable[[pd.DataFrame, RowNumbers], Mapping[str, object]]
    similar: tuple[ColumnChange, ...] = ()  # changes that are tried if this one seems to help
    rarity: int = 0  # of the unit; of equally plausible changes, the most usual one is reported
    is_specific: bool = (
        False  # whether a model that is not misread hardly ever gains by it, as by a swap of day and month
    )
    is_renaming: bool = False  # of answers that all have another label most often: no preference for a frequent class
    is_erasing: bool = False  # whether it only takes the information away, as a category that the system does not know


def _make_nothing(frame: pd.DataFrame, _: RowNumbers) -> Mapping[str, object]:
    return {}


NO_CHANGE = ColumnChange(columns=(), text="no change", make=_make_nothing)


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A factor between two units."""

    factor: float
    text: str
    only: str = ""  # the word in the names of the columns that it is usual for; empty for all

    def rate(self, name: str) -> int:
        """Return how common the factor is for a column: 0 if it is a decimal one, or usual for the name, and more for others."""
        if self.only:
            return 0 if self.only in split_name(name) else 2
        return 0 if math.log10(self.factor).is_integer() else 1


@dataclass(frozen=True, kw_only=True)
class Units:
    """All of units.toml."""

    units: tuple[Unit, ...]


@cache
def read_units() -> tuple[Unit, ...]:
    """Return the factors between units."""
    return read_document(__package__, "units.toml", Units).units


def list_changes(
    inputs: Points, reference: pd.DataFrame | None = None, dates: Sequence[DateColumn] = ()
) -> list[ColumnChange]:
    """Return the changes to try, for all columns of the inputs; those of codings are found by `codings`."""
    frame, space = inputs.frame, inputs.space
    date_names = {column.name for column in dates}
    changes: list[ColumnChange] = []
    numbers: dict[str, Floats] = {}
    for position in space.scalars:
        feature = space.features[position]
        if feature.kind in ("continuous", "integer"):
            numbers[feature.name] = inputs.codes[:, position]
            changes += _list_number_changes(feature, numbers[feature.name], feature.name in date_names, reference)
        else:
            changes += _list_text_changes(feature, frame[feature.name])
            changes.append(_make_erasing_change(feature.name))
        changes += _list_row_shifts(feature.name, frame[feature.name])
    for column in dates:
        changes += _list_date_changes(column, numbers)
    plain_numbers = {name: values for name, values in numbers.items() if name not in date_names}
    changes += _list_swaps(plain_numbers, frame, space.features)
    changes += _list_changes_of_all(plain_numbers)
    return changes


# -- numbers -----------------------------------------------------------------------------------------------------------


def make_product(factor: float) -> NumberFunction:
    """Return the function that multiplies by a factor."""
    return lambda values: values * factor


def make_sum(step: float) -> NumberFunction:
    """Return the function that adds a number."""
    return lambda values: values + step


def _change_number(
    name: str,
    text: str,
    function: NumberFunction,
    implausibility: int = USUAL,
    *,
    risky: bool = False,
    similar: tuple[ColumnChange, ...] = (),
    rarity: int = 0,
) -> ColumnChange:
    def make(frame: pd.DataFrame, _: RowNumbers) -> dict[str, object]:
        return {name: function(frame[name].to_numpy(dtype=np.float64, na_value=np.nan))}

    return ColumnChange(
        columns=(name,),
        text=f"{name} {text}",
        implausibility=implausibility,
        risky=risky,
        make=make,
        similar=similar,
        rarity=rarity,
    )


def _list_number_changes(
    feature: Feature, values: Floats, is_date: bool, reference: pd.DataFrame | None
) -> Iterator[ColumnChange]:
    known = values[np.isfinite(values)]
    if len(np.unique(known)) < 2:
        return
    change = partial(_change_number, feature.name)
    if is_date:
        for hours in SHIFTED_HOURS:
            yield change(f"{format_shift(hours)} hours", make_sum(hours / 24))
        for days in SHIFTED_DAYS:
            yield change(f"{format_shift(days)} days", make_sum(days))
        return
    low, high = float(known.min()), float(known.max())
    yield from _list_gap_changes(feature, values, known)
    cycle = next((CYCLES[word] for word in split_name(feature.name) if word in CYCLES), None)
    if cycle is not None and low >= 0 and high <= sum(cycle):
        start, length = cycle
        for step in range(1, length):
            signed = step if step <= length // 2 else step - length
            text = f"{format_shift(signed)}, round the {length} values"
            yield change(text, _make_rotation(step, start, length), PLAIN)
    if set(np.unique(known).tolist()) <= {0.0, 1.0}:
        yield change("negated (0 and 1 swapped)", lambda x: 1 - x, PLAIN)
        return
    yield from _list_linear_changes(feature.name, known, low, high)
    yield from _list_curved_changes(feature.name, low, high)
    if (known != np.rint(known)).any():
        yield change("rounded to whole numbers", np.rint)
        yield change("rounded down", np.floor)
    yield from _list_alignments(feature.name, known, reference)


def _list_linear_changes(name: str, known: Floats, low: float, high: float) -> Iterator[ColumnChange]:
    """Yield units, other factors and shifts, and reversed scales."""
    change, mean, spread = partial(_change_number, name), float(known.mean()), float(known.std())
    for verb, power in (("multiplied", 1), ("divided", -1)):
        similar = tuple(
            change(
                f"{verb} by {format_short(unit.factor)} ({unit.text})",
                make_product(unit.factor**power),
                PLAIN,
                rarity=unit.rate(name),
            )
            for unit in read_units()
        ) + tuple(
            change(f"{verb} by about {format_short(factor)}", make_product(factor**power), FITTED)
            for factor in FITTED_FACTORS
        )
        for factor in SCREENED_FACTORS:
            text = f"{verb} by about {format_short(factor)}"
            yield change(text, make_product(factor**power), FITTED, similar=similar)
    for step in (-1.0, 1.0):
        yield change(format_shift(step), make_sum(step))
    for part in SCREENED_SHIFTS:
        steps = [float(f"{np.sign(part) * size * spread:.2g}") for size in FITTED_SHIFTS]
        similar = tuple(change(f"about {format_shift(step)}", make_sum(step), FITTED) for step in steps)
        step = float(f"{part * spread:.2g}")
        yield change(f"about {format_shift(step)}", make_sum(step), FITTED, similar=similar)
    yield change("multiplied by -1", np.negative, PLAIN)
    yield change("in Fahrenheit instead of Celsius", lambda x: 1.8 * x + 32)
    yield change("in Celsius instead of Fahrenheit", lambda x: (x - 32) / 1.8)
    if low >= 0 and high <= 1:
        yield change("subtracted from 1", lambda x: 1 - x, PLAIN)
    elif low >= 0 and high <= 100:
        yield change("subtracted from 100", lambda x: 100 - x, UNUSUAL)
    yield change("turned round (high values low)", lambda x: low + high - x, UNUSUAL)
    yield change("standardised (mean 0, deviation 1)", lambda x: (x - mean) / spread)
    yield change("scaled to 0 to 1", lambda x: (x - low) / (high - low))


def _list_curved_changes(name: str, low: float, high: float) -> Iterator[ColumnChange]:
    """Yield logarithms, exponentials and the like, where all values allow them."""
    change = partial(_change_number, name)
    if low < 0 < high:
        yield change("without its sign", np.abs)
    if low > 0:
        yield change("as its logarithm", np.log)
        yield change("as its logarithm to base 10", np.log10, UNUSUAL)
        yield change("as its reciprocal", np.reciprocal, UNUSUAL)
    if low > -1:
        yield change("as log(1 + value)", np.log1p)
    if low >= 0:
        yield change("as its square root", np.sqrt, UNUSUAL)
    if high < 40 and low > -40:
        yield change("as its exponential", np.exp)
        yield change("as exp(value) - 1", np.expm1)
        yield change("as a power of 10", lambda x: 10**x, UNUSUAL)
    if max(abs(low), abs(high)) < 1e6:
        yield change("squared", np.square, UNUSUAL)


def _make_rotation(step: int, start: int, length: int) -> NumberFunction:
    return lambda values: (values - start + step) % length + start


def _make_replacement(old: float, new: float) -> NumberFunction:
    return lambda values: np.where(np.isnan(values) if np.isnan(old) else values == old, new, values)


def _list_gap_changes(feature: Feature, values: Floats, known: Floats) -> Iterator[ColumnChange]:
    """Yield other values for missing ones, and missing ones for values that may stand for them."""
    change = partial(_change_number, feature.name)
    missing = float(np.isnan(values).mean())
    if missing >= MIN_SHARE:
        usual, counts = np.unique(known, return_counts=True)
        fillers = {
            "the median": float(np.median(known)),
            "the mean": float(known.mean()),
            "the most frequent value": float(usual[counts.argmax()]),
            "the lowest value": float(known.min()),
            "the highest value": float(known.max()),
        } | {format_short(filler): filler for filler in FILLERS_OF_GAPS}
        for text, filler in fillers.items():
            yield change(f"filled with {text} where it is missing", _make_replacement(np.nan, filler))
    for sentinel in SENTINELS:
        if MIN_SHARE <= (known == sentinel).mean() < 0.9 and len(np.unique(known)) > 2:
            text = format_short(sentinel)
            yield change(f"missing where it is {text}", _make_replacement(sentinel, np.nan), risky=missing == 0)
            median = float(np.median(known[known != sentinel]))
            yield change(f"at its median where it is {text}", _make_replacement(sentinel, median))


def _list_alignments(name: str, known: Floats, reference: pd.DataFrame | None) -> Iterator[ColumnChange]:
    """Yield the factor and the shift that bring a column to the scale that it has in the training data."""
    if reference is None or name not in reference.columns:
        return
    old = pd.to_numeric(reference[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    old = old[np.isfinite(old)]
    if len(old) < 20:
        return
    old_low, old_middle, old_high = np.quantile(old, [0.25, 0.5, 0.75]).tolist()
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75]).tolist()
    if high > low and old_high > old_low:
        scale = (old_high - old_low) / (high - low)
        text = "brought to the quartiles of the training data"
        yield _change_number(name, text, lambda x: (x - middle) * scale + old_middle, FITTED)
    if middle and old_middle and 0 < old_middle / middle < np.inf:
        factor = float(f"{old_middle / middle:.3g}")
        text = f"multiplied by {format_short(factor)}, as its medians in both data sets suggest"
        yield _change_number(name, text, lambda x: x * factor, FITTED)


def format_shift(step: float) -> str:
    """Return a shift in words.

    Examples
    --------
    >>> format_shift(2), format_shift(-1.5)
    ('plus 2', 'minus 1.5')
    """
    return f"{'plus' if step > 0 else 'minus'} {format_short(abs(step))}"


# -- texts and dates ---------------------------------------------------------------------------------------------------


_FORMS_OF_TEXT: dict[str, Callable[[str], str]] = {
    "in lower case": str.lower,
    "in upper case": str.upper,
    "with a capital": str.capitalize,
    "in title case": str.title,
    "without spaces around it": str.strip,
    "with a space after it": lambda text: text + " ",
    "with a space before it": lambda text: " " + text,
    "with _ for spaces": lambda text: text.replace(" ", "_"),
    "with - for spaces": lambda text: text.replace(" ", "-"),
    "with spaces for _": lambda text: text.replace("_", " "),
    "with spaces for -": lambda text: text.replace("-", " "),
    "without leading zeros": lambda text: text.lstrip("0") or text,
}


def _list_text_changes(feature: Feature, column: pd.Series) -> Iterator[ColumnChange]:
    values = [value for value in column.unique().tolist() if isinstance(value, str)]
    forms: set[tuple[str, ...]] = {tuple(values)}
    for text, function in _FORMS_OF_TEXT.items():
        form = tuple(map(function, values))
        if form in forms:
            continue
        forms.add(form)

        def make(frame: pd.DataFrame, _: RowNumbers, function: Callable[[str], str] = function) -> dict[str, object]:
            texts = frame[feature.name].astype(object)
            return {feature.name: texts.map(lambda value: function(value) if isinstance(value, str) else value)}

        yield ColumnChange(
            columns=(feature.name,), text=f"{feature.name} {text}", implausibility=UNUSUAL, risky=True, make=make
        )


def _make_erasing_change(name: str) -> ColumnChange:
    def make(frame: pd.DataFrame, _: RowNumbers) -> dict[str, object]:
        return {name: set_column(frame, name, UNKNOWN_CATEGORY)[name]}

    return ColumnChange(columns=(name,), text=f"{name} unknown", is_erasing=True, risky=True, make=make)


def _list_row_shifts(name: str, column: pd.Series) -> Iterator[ColumnChange]:
    """Yield the column with the values of the row before, and of the row after."""
    for step, place in ((1, "before"), (-1, "after")):

        def make(_: pd.DataFrame, rows: RowNumbers, step: int = step) -> dict[str, object]:
            return {name: column.iloc[(rows - step) % len(column)].to_numpy()}

        yield ColumnChange(columns=(name,), text=f"{name} taken from the row {place}", make=make)


def _list_date_changes(column: DateColumn, numbers: Mapping[str, Floats]) -> Iterator[ColumnChange]:
    """Yield dates with day and month swapped, where that is a date."""
    values = numbers.get(column.name)
    if values is None:
        return

    def swap(days: Floats) -> Floats:
        dates = column.first + pd.to_timedelta(days, unit="D")
        swapped = pd.to_datetime({"year": dates.year, "month": dates.day, "day": dates.month}, errors="coerce")
        shift = (pd.DatetimeIndex(swapped) - dates.normalize()) / pd.Timedelta(days=1)
        return np.asarray(days + np.nan_to_num(np.asarray(shift, dtype=np.float64)), dtype=np.float64)

    yield replace(_change_number(column.name, "read with day and month swapped", swap, PLAIN), is_specific=True)


# -- several columns ---------------------------------------------------------------------------------------------------


def _list_swaps(
    numbers: Mapping[str, Floats], frame: pd.DataFrame, features: Sequence[Feature]
) -> Iterator[ColumnChange]:
    """Yield pairs of columns, swapped: numbers, those of similar size first, and columns that share categories."""
    ranges = {
        name: np.quantile(values[~np.isnan(values)], [0.0, 0.25, 0.75, 1.0])
        for name, values in numbers.items()
        if (~np.isnan(values)).any()
    }
    overlap = {
        (first, second): all(
            one[0] <= other[2] and other[1] <= one[3]
            for one, other in ((ranges[first], ranges[second]), (ranges[second], ranges[first]))
        )
        for first, second in combinations(ranges, 2)
    }
    categories = {
        feature.name: set(frame[feature.name].dropna().unique().tolist())
        for feature in features
        if feature.kind == "categorical"
    }
    pairs = [
        (first, second)
        for first, second in combinations(categories, 2)
        if len(categories[first] & categories[second]) > 1
    ] + sorted(overlap, key=lambda pair: not overlap[pair])
    for first, second in pairs[:MAX_SWAPPED_PAIRS]:

        def make(rows: pd.DataFrame, _: RowNumbers, first: str = first, second: str = second) -> dict[str, object]:
            return {first: rows[second].to_numpy(), second: rows[first].to_numpy()}

        yield ColumnChange(
            columns=(first, second),
            text=f"{first} and {second} swapped",
            implausibility=PLAIN if first in ranges else USUAL,
            is_specific=True,
            make=make,
        )


def _list_changes_of_all(numbers: Mapping[str, Floats]) -> Iterator[ColumnChange]:
    """Yield changes of all numbers at once."""
    if len(numbers) < 2:
        return
    known = {name: values[~np.isnan(values)] for name, values in numbers.items()}
    scales = {name: (float(values.mean()), float(values.std()) or 1.0) for name, values in known.items() if len(values)}
    names = tuple(scales)

    def build(text: str, function: Callable[[str, Floats], Floats]) -> ColumnChange:
        def make(frame: pd.DataFrame, _: RowNumbers) -> dict[str, object]:
            return {name: function(name, frame[name].to_numpy(dtype=np.float64, na_value=np.nan)) for name in names}

        return ColumnChange(columns=names, text=f"all numbers {text}", make=make)

    yield build("standardised (mean 0, deviation 1)", lambda name, x: (x - scales[name][0]) / scales[name][1])
    if max(abs(values).max() for values in known.values() if len(values)) <= 1:
        yield build("multiplied by 255", lambda _, x: x * MAX_PIXEL_VALUE)
    yield build("divided by 255", lambda _, x: x / MAX_PIXEL_VALUE)

"""Inference of features from the columns of a frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._lazy import pd
from .._text import format_short, suggest_name
from .._validation import is_number
from ..errors import AmbiguousData, DataError, SpaceError
from .blocks import Block, infer_block, is_array_column
from .dates import DATE_KINDS
from .encoding import reject_unhashable, to_numbers
from .features import Categorical, Continuous, Feature, Integer
from .text_feature import MAX_EXAMPLES, Text

MIN_UNAMBIGUOUS_INTEGER_VALUES = 10  # an int column with fewer distinct values may hold codes of categories
STEPS_PER_RANGE = 20
#: Free text: values of several words, most of which occur once. Names of categories are shorter and repeat.
MIN_WORDS_PER_TEXT = 4
MIN_DISTINCT_TEXTS = 20
MIN_DISTINCT_SHARE = 0.5
MAX_TEXTS_TO_LOOK_AT = 1_000
FEATURE_KINDS = ("continuous", "integer", "categorical", "text")


def validate_frame(frame: object) -> pd.DataFrame:
    """Return `frame` if it is a frame with unique column names, or raise `DataError`."""
    if isinstance(frame, pd.Series):
        raise DataError("Expected a DataFrame. Got a Series (one column); use series.to_frame() for one feature.")
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"Expected a DataFrame. Got {type(frame).__name__} instead; for arrays use Space.from_arrays.")
    if isinstance(frame.columns, pd.MultiIndex):
        raise DataError(
            "The columns have several levels of names. Join them first: "
            "frame.columns = ['_'.join(map(str, names)) for names in frame.columns]"
        )
    if not len(frame.columns):
        raise DataError("The frame has no columns. Give it at least one feature.")
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise DataError(f"The column name {repeated[0]!r} occurs more than once. Rename the columns first.")
    return frame


def validate_hints(hints: Mapping[str, Any]) -> None:
    """Raise `SpaceError` unless hints are dicts by column with known kinds."""
    for hint, by_column in hints.items():
        if not isinstance(by_column, Mapping):
            raise SpaceError(f"{hint} must be a dict by column. Got {by_column!r}.")
    for name, kind in hints.get("kinds", {}).items():
        if kind not in (*FEATURE_KINDS, *DATE_KINDS):
            kind_names = ", ".join(map(repr, (*FEATURE_KINDS, *DATE_KINDS)))
            raise SpaceError(f"kinds[{name!r}] must be one of {kind_names}. Got {kind!r}.")


def infer_features(
    frame: pd.DataFrame,
    kinds: Mapping[str, str],
    steps: Mapping[str, float],
    bounds: Mapping[str, tuple[float | None, float | None]],
    orders: Mapping[str, Sequence[Any]],
    target: str | None = None,
) -> list[Feature | Block]:
    """Return one feature or block per column; hints override what the values suggest."""
    validate_frame(frame)
    if not len(frame):
        raise DataError("The frame has no rows, so kinds, bounds and categories cannot be inferred. Give it rows.")
    hints = {"kinds": kinds, "steps": steps, "bounds": bounds, "orders": orders}
    validate_hints(hints)
    kinds = {name: kind for name, kind in kinds.items() if kind not in DATE_KINDS}  # dates are numbers or texts by now
    for hint, by_column in hints.items():
        for name in by_column:
            if name == target and target is not None:
                raise SpaceError(f"{hint} names the column {name!r}, which is the target and not a feature.")
            if name not in frame.columns:
                suggestion = suggest_name(name, frame.columns)
                raise SpaceError(f"{hint} names the column {name!r}, which the frame does not have. {suggestion}")
    ambiguous_names: list[str] = []
    features: list[Feature | Block] = []
    for name in frame.columns:
        column = frame[name]
        if name not in kinds and name not in orders and is_array_column(column):
            features.append(infer_block(name, column, steps.get(name), bounds.get(name)))
            continue
        kind = kinds.get(name) or ("categorical" if name in orders else _infer_kind(name, column))
        has_hint = any(name in by_column for by_column in hints.values())
        if kind == "integer" and not has_hint and column.nunique() < MIN_UNAMBIGUOUS_INTEGER_VALUES:
            ambiguous_names.append(name)
        features.append(_infer_feature(name, column, kind, steps.get(name), bounds.get(name), orders.get(name)))
    if ambiguous_names:
        names_text = ", ".join(map(repr, ambiguous_names))
        warnings.warn(
            f"These columns of whole numbers have fewer than {MIN_UNAMBIGUOUS_INTEGER_VALUES} different values: "
            f"{names_text}. They are read as integers; if they are codes for categories, declare them: "
            f'kinds={{"{ambiguous_names[0]}": "categorical"}}. Naming them "integer" silences this.',
            AmbiguousData,
            stacklevel=4,  # the caller of Space.from_frame, which is decorated
        )
    rounded_names = [feature.name for feature in features if isinstance(feature, Integer) and feature.rounds]
    if rounded_names:
        warnings.warn(
            f"These columns are declared integers and have values that are not whole: {', '.join(map(repr, rounded_names))}."
            ' The values are rounded; declare the columns "continuous" to keep them.',
            AmbiguousData,
            stacklevel=4,  # the caller of Space.from_frame, which is decorated
        )
    return features


def _infer_kind(name: str, column: pd.Series[Any]) -> str:
    types, dtype = pd.api.types, column.dtype
    if isinstance(dtype, pd.CategoricalDtype) or types.is_bool_dtype(dtype):
        return "categorical"
    if types.is_integer_dtype(dtype):
        return "integer"
    if types.is_float_dtype(dtype):
        return "continuous"
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype) or types.is_complex_dtype(dtype):
        raise DataError(_describe_dates(name, dtype))
    _reject_objects(name, column)
    return "text" if is_free_text(column) else "categorical"


def _describe_dates(name: str, dtype: object) -> str:
    """Return why a column of dates, durations or complex numbers is no feature, and the line that makes it one."""
    values = f"frame[{name!r}]"
    if str(dtype).startswith("datetime"):
        line = f"{values} = ({values} - {values}.min()).dt.days"
        return (
            f"Column {name!r} holds dates ({dtype}), which have no moves and no midpoint here. Turn it into numbers, such as "
            f"days since a date: {line}. Or drop it."
        )
    if str(dtype).startswith("timedelta"):
        return (
            f"Column {name!r} holds durations ({dtype}), which have no moves and no midpoint here. Turn it into numbers: "
            f"{values} = {values}.dt.total_seconds(). Or drop it."
        )
    return (
        f"Column {name!r} holds {dtype} values, which have no moves and no midpoint here. Turn it into two columns of "
        "numbers, or drop it."
    )


def _reject_objects(name: str, column: pd.Series[Any]) -> None:
    """Raise `DataError` for images and sequences: they are neither numbers nor categories."""
    values = column.dropna()
    if not len(values):
        return
    first = values.iloc[0]
    is_unhashable = getattr(first, "__hash__", None) is None
    if is_unhashable or isinstance(first, bytes):
        reason = "which is not hashable and cannot be a category" if is_unhashable else "which is not a category"
        text = " ".join(format_short(first).split())
        raise DataError(
            f"Column {name!r} holds a {type(first).__name__} ({text}), {reason}. Convert it to numbers, strings or "
            "arrays of numbers of one shape (images and sequences), or drop the column."
        )


def is_free_text(column: pd.Series[Any]) -> bool:
    """Return whether the values of a column are texts of several words, most of which occur once."""
    sample = column.dropna().iloc[:MAX_TEXTS_TO_LOOK_AT]
    if not len(sample) or not all(isinstance(text, str) for text in sample):
        return False
    distinct = sample.nunique()
    if distinct < MIN_DISTINCT_TEXTS or distinct <= MIN_DISTINCT_SHARE * len(sample):
        return False
    return bool(sample.str.count(r"\S+").mean() >= MIN_WORDS_PER_TEXT)


def _infer_feature(
    name: str,
    column: pd.Series[Any],
    kind: str,
    step: float | None,
    bounds: tuple[float | None, float | None] | None,
    order: Sequence[Any] | None,
) -> Feature:
    nullable = bool(column.isna().any())
    if kind == "text":
        if bounds is not None or step is not None or order is not None:
            raise SpaceError(f"Column {name!r} is text and takes no bounds, step or order. Leave them out.")
        return _infer_text(name, column, nullable)
    if kind == "categorical":
        if bounds is not None or step is not None:
            raise SpaceError(
                f"Column {name!r} is categorical and takes no bounds or step. "
                f'Give its order with orders, or say kinds={{"{name}": "integer"}}.'
            )
        return Categorical(name, _infer_categories(name, column) if order is None else order, nullable=nullable)
    if order is not None:
        raise SpaceError(f"Column {name!r} is {kind} and takes no order. Orders are for categorical features.")
    numbers = _read_numbers(name, column, kind)
    low, high = _resolve_bounds(name, bounds, numbers)
    if bounds is None and kind == "integer":
        low, high = float(np.rint(numbers).min()), float(np.rint(numbers).max())
    step_given = step is not None
    if step is None:
        width = numbers.max() - numbers.min() if low is None or high is None else high - low
        step = width / STEPS_PER_RANGE if width > 0 else None
        if kind == "integer":
            step = max(1.0, float(np.rint(step or 1)))  # also a twentieth of the range, but at least 1
    options: dict[str, Any] = {"low": low, "high": high, "step": step, "nullable": nullable}
    if kind == "continuous":
        return Continuous(name, **options).with_step_given(step_given)
    has_fractions = bool((numbers != np.rint(numbers)).any())
    return Integer(name, **options, rounds=has_fractions).with_step_given(step_given)


def _infer_text(name: str, column: pd.Series[Any], nullable: bool) -> Text:
    texts = column.dropna().drop_duplicates().iloc[:MAX_EXAMPLES].tolist()
    if wrong_values := [value for value in texts if not isinstance(value, str)]:
        raise DataError(
            f"Column {name!r} is declared text and holds {format_short(wrong_values[0])!r} of type {type(wrong_values[0]).__name__}. "
            f"Convert the column: frame[{name!r}] = frame[{name!r}].astype(str)."
        )
    return Text(name, nullable=nullable, examples=texts)


def _read_numbers(name: str, column: pd.Series[Any], kind: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    codes, is_text = to_numbers(column)
    if is_text.any():
        sample = format_short(column.iloc[int(np.argmax(is_text))])
        raise DataError(
            f"Column {name!r} is declared {kind} and holds {sample!r}, which is not a number. "
            "Convert the column, or declare it categorical."
        )
    codes = np.ascontiguousarray(codes)  # of a matrix, whose columns are slow to read
    missing = np.isnan(codes)
    numbers = codes[~missing] if missing.any() else codes
    if not numbers.size:
        raise DataError(f"Column {name!r} has no values at all. Drop it: frame.drop(columns=[{name!r}]).")
    if not np.isfinite(numbers).all():
        row = column.index[int(np.argmax(np.isinf(codes)))]
        row = row.item() if isinstance(row, np.generic) else row
        raise DataError(
            f"Column {name!r}, row {row!r}: the value is infinite. Replace it by a number or a missing value."
        )
    return numbers


def _resolve_bounds(
    name: str, bounds: tuple[float | None, float | None] | None, numbers: np.ndarray[Any, np.dtype[np.float64]]
) -> tuple[float | None, float | None]:
    if bounds is None:
        return float(numbers.min()), float(numbers.max())
    try:
        low, high = bounds
        assert all(end is None or is_number(end) for end in (low, high))
    except (TypeError, ValueError, AssertionError):
        raise SpaceError(f"bounds[{name!r}] must be a pair (low, high), None if open. Got {bounds!r}.") from None
    return low, high


def _infer_categories(name: str, column: pd.Series[Any]) -> list[Any]:
    """Return the categories: in the order of their dtype, sorted, or as they occur."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.dtype.categories)
    try:
        values = list(pd.unique(column.dropna()))
    except Exception:  # values that pandas cannot hash; the type of the error depends on their type
        reject_unhashable(name, column)
    if not values:
        raise DataError(f"Column {name!r} has no values at all. Drop it: frame.drop(columns=[{name!r}]).")
    try:
        return sorted(values)
    except TypeError:
        return values

"""Encoding of a column of user values as float64 codes, and decoding of codes to values in the dtypes of the user's columns.

Every value that is encoded is validated, and an error names the first invalid row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import format_short, suggest_name
from ..errors import DataError
from .features import LARGEST_INTEGER, LARGEST_NUMBER, Categorical, Codes, Feature, Integer, Mask
from .labels import to_object_array
from .text_feature import Text

if TYPE_CHECKING:
    from pandas.api.extensions import ExtensionDtype

    Dtype: TypeAlias = np.dtype[Any] | ExtensionDtype

UNKNOWN_CATEGORY_CODE = -1.0  # given by a lenient encoding
MASKED_DTYPE_NAMES = {f"{kind}{bits}Dtype" for kind in ("Int", "UInt", "Float") for bits in (8, 16, 32, 64)}


@dataclass(frozen=True)
class Fault:
    """Invalid codes of one kind: their rows, the problem and the remedy."""

    rows: Mask
    problem: str
    remedy: str


def encode(feature: Feature, column: pd.Series[Any], *, open_ends: bool, lenient: bool = False) -> Codes:
    """Return the codes of a column, or raise `DataError` about its first invalid row.

    With `open_ends`, a continuous value may lie outside the bounds. A `lenient` encoding accepts invalid values: a number
    keeps its value, text in a column of numbers becomes inf, and an unknown category `UNKNOWN_CATEGORY_CODE`.
    """
    unknown_hint = ""
    if isinstance(feature, Text):
        return _encode_texts(feature, column, lenient)
    if isinstance(feature, Categorical):
        codes, unknown_hint = _encode_categories(feature, column)
    else:
        codes, is_text = to_numbers(column)
        if lenient:
            return np.where(is_text, np.inf, codes) if is_text.any() else codes
        remedy = f"The feature is {feature.kind}: convert the column first."
        _reject_rows(feature, column, Fault(is_text, "is not a number", remedy))
        codes = snap_to_bounds(feature, codes, column.dtype)
    if lenient:
        return codes
    if isinstance(feature, Integer) and feature.rounds:
        codes = np.rint(codes)
    fault = find_fault(feature, codes, open_ends)
    if fault is not None:
        _reject_rows(feature, column, Fault(fault.rows, fault.problem, unknown_hint or fault.remedy))
    return codes


def find_fault(feature: Feature, codes: Codes, open_ends: bool) -> Fault | None:
    """Return the first fault in the codes of a feature, or None."""
    if not codes.size:
        return None
    limit = LARGEST_INTEGER if isinstance(feature, Integer) else LARGEST_NUMBER
    is_discrete = feature.kind != "continuous"
    low, high = (-limit, limit) if open_ends and not is_discrete else (feature.low, feature.high)
    # Two passes suffice for valid codes. Only if these fail, as they do for NaN, masks are computed.
    inside = max(low, -limit) <= codes.min() and codes.max() <= min(high, limit)
    if inside and (not is_discrete or (np.rint(codes) == codes).all()):
        return None
    missing = np.isnan(codes)
    if not feature.nullable and missing.any():
        return Fault(missing, "is missing", "Declare the feature nullable=True, or fill the gaps.")
    if isinstance(feature, Categorical):
        unknown = ~missing & ((codes < 0) | (codes > feature.high) | (codes != np.rint(codes)))
        return Fault(unknown, "is not one of the categories", "") if unknown.any() else None
    faults = [Fault(np.abs(codes) > limit, f"is beyond {limit:.3g}", "Replace or rescale it.")]
    if is_discrete:
        fraction = (np.rint(codes) != codes) & ~missing
        faults.append(Fault(fraction, "is not a whole number", "Use Continuous, or Integer(..., rounds=True)."))
    widen = "Widen the bounds." if is_discrete else 'Widen the bounds, or make the space with moves="open".'
    out_of_bounds = (codes < low) | (codes > high)
    bounds_text = f"[{format_short(low)}, {format_short(high)}]"
    faults.append(Fault(out_of_bounds, f"lies outside the bounds {bounds_text}", widen))
    return next((fault for fault in faults if fault.rows.any()), None)


def to_numbers(column: pd.Series[Any]) -> tuple[Codes, Mask]:
    """Return a column as floats, and which of its values are not numbers.

    Numbers written as text count as text.
    """
    types = pd.api.types
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(len(column), dtype=bool)
    codes = np.full(len(column), np.nan)
    is_text = np.zeros(len(column), dtype=bool)
    for i, value in enumerate(column.astype(object)):
        if isinstance(value, str | bytes | complex):
            is_text[i] = True
        elif not is_missing(value):
            try:
                codes[i] = float(value)
            except (TypeError, ValueError, OverflowError):
                is_text[i] = True
    return codes, is_text


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or NA."""
    if value is None or isinstance(value, str | int | float):
        return value is None or value != value
    missing = pd.isna(value)
    return isinstance(missing, bool) and missing


def snap_to_bounds(feature: Feature, codes: Codes, dtype: Dtype) -> Codes:
    """Replace bounds rounded to a shorter float (0.1 as float32) by the exact bounds."""
    inner = to_numpy_dtype(dtype)
    if inner is None or inner.kind != "f" or inner.itemsize >= 8:
        return codes
    for bound in (feature.low, feature.high):
        if abs(bound) <= float(np.finfo(inner).max):
            codes = np.where(codes == np.asarray(bound, dtype=inner), bound, codes)
    return codes


def to_numpy_dtype(dtype: Dtype) -> np.dtype[Any] | None:
    """Return the NumPy dtype behind a numeric dtype, None for other dtypes."""
    if isinstance(dtype, np.dtype):
        return dtype if dtype.kind in "iuf" else None
    if isinstance(dtype, pd.ArrowDtype) or type(dtype).__name__ in MASKED_DTYPE_NAMES:
        inner = np.dtype(dtype.numpy_dtype)
        return inner if inner.kind in "iuf" else None
    return None


@lru_cache(maxsize=1024)
def build_category_index(feature: Categorical) -> pd.Index[Any]:
    """Return the categories as an index that preserves their types."""
    kinds = {type(v) for v in feature.values}
    # By itself pandas would convert [1, 2.5] to floats.
    dtype = None if len(kinds) == 1 and kinds <= {str, int, float, bool} else object
    return pd.Index(list(feature.values), dtype=dtype, tupleize_cols=False)


def _encode_categories(feature: Categorical, column: pd.Series[Any]) -> tuple[Codes, str]:
    """Return the codes, and a hint about the first value that is not a category."""
    try:
        places, uniques = pd.factorize(column)
        unique_codes = build_category_index(feature).get_indexer(uniques).astype(np.float64)
    except Exception:  # values that pandas cannot hash or compare; the type of the error depends on their type
        reject_unhashable(feature.name, column)
    codes: Codes = np.append(unique_codes, np.nan)[places]  # factorize gives missing values -1: the last
    hint = ""
    if (unique_codes == UNKNOWN_CATEGORY_CODE).any():
        unknown = uniques[int(np.argmax(unique_codes == UNKNOWN_CATEGORY_CODE))]
        twin = next((v for v in feature.values if str(v) == str(unknown)), None)
        hint = suggest_name(unknown, feature.values)
        if twin is not None:
            hint = f"There is {twin!r}, of type {type(twin).__name__}; this is of type {type(unknown).__name__}."
    return codes, hint


def _encode_texts(feature: Text, column: pd.Series[Any], lenient: bool) -> Codes:
    """Return the codes of texts; a lenient encoding takes other values for missing."""
    values, missing, is_other = feature.split_column(column)
    if not lenient:
        _reject_rows(feature, column, Fault(is_other, "is not a text", "Convert the column first: column.astype(str)."))
        if not feature.nullable:
            remedy = 'Declare the feature nullable=True, or fill the gaps: column.fillna("").'
            _reject_rows(feature, column, Fault(missing, "is missing", remedy))
    no_text = missing | is_other
    codes = feature.encode_texts("" if absent else text for text, absent in zip(values, no_text.tolist(), strict=True))
    return np.where(no_text, np.nan, codes)


def reject_unhashable(name: str, column: pd.Series[Any]) -> NoReturn:
    """Raise `DataError` about a column with values that cannot be hashed, and so cannot be categories."""
    value = next((v for v in column if getattr(v, "__hash__", None) is None), column.iloc[0])
    raise DataError(
        f"Column {name!r} holds a {type(value).__name__} ({format_short(value)}), which is not hashable and "
        "cannot be a category. Convert the column to strings, numbers or tuples."
    ) from None


def _reject_rows(feature: Feature, column: pd.Series[Any], fault: Fault) -> None:
    """Raise `DataError` about the first invalid row, if there is one."""
    if not fault.rows.any():
        return
    row, other_count = int(np.argmax(fault.rows)), int(fault.rows.sum()) - 1
    others_text = f" ({other_count:,} more like it)" if other_count else ""
    label = column.index[row]
    label = label.item() if isinstance(label, np.generic) else label
    raise DataError(
        f"Column {feature.name!r}, row {label!r}: {format_short(column.iloc[row])!r} "
        f"{fault.problem}{others_text}. {fault.remedy}"
    )


def encode_floats(features: Sequence[Feature], frame: pd.DataFrame, open_ends: bool) -> Codes | None:
    """Return the codes of a frame of valid floats; None for other frames."""
    names = [feature.name for feature in features]
    values = (frame if list(frame.columns) == names else frame[names]).to_numpy()
    if values.dtype != np.float64 or values.shape[1] != len(features):
        return None
    codes = np.array(values, order="F")
    fits = (np.abs(codes) <= LARGEST_NUMBER).all()
    if not open_ends:
        low, high = np.array([(feature.low, feature.high) for feature in features]).T
        fits = fits and (codes >= low).all() and (codes <= high).all()
    return codes if fits else None


def decode(feature: Feature, codes: Codes, dtype: Dtype | None = None) -> Any:
    """Return the values of a column of codes, in `dtype` where it can hold them.

    Real numbers are never cast to integers and no number wraps around: a dtype that is too narrow is widened.
    """
    if isinstance(feature, Text):
        return _decode_texts(feature, codes, dtype)
    if isinstance(feature, Categorical):
        return _decode_categories(feature, codes, dtype)
    return _decode_real(codes, dtype) if feature.kind == "continuous" else _decode_whole(feature, codes, dtype)


def _decode_texts(feature: Text, codes: Codes, dtype: Dtype | None) -> Any:
    texts = np.empty(len(codes), dtype=object)
    texts[:] = feature.decode_texts(codes)
    if dtype is None or dtype == np.dtype(object) or isinstance(dtype, pd.CategoricalDtype):
        return texts
    try:
        return pd.array(texts, dtype=dtype)
    except (TypeError, ValueError):
        return texts


def _decode_real(codes: Codes, dtype: Dtype | None) -> Any:
    inner = to_numpy_dtype(dtype)
    if inner is None or inner.kind != "f":
        # An integer dtype cannot hold fractions: float64 instead, nullable if the user's dtype was.
        return pd.array(codes, dtype="Float64") if type(dtype).__name__ in MASKED_DTYPE_NAMES else codes.copy()
    if (np.abs(codes) > np.finfo(inner).max).any():
        return codes.copy()  # too large for the dtype
    return codes.astype(inner) if isinstance(dtype, np.dtype) else pd.array(codes.astype(inner), dtype=dtype)


def _decode_whole(feature: Feature, codes: Codes, dtype: Dtype | None) -> Any:
    has_missing = feature.nullable and bool(np.isnan(codes).any())
    inner = to_numpy_dtype(dtype)
    if inner is not None and inner.kind == "f":
        if (np.abs(codes) > 2.0 ** (np.finfo(inner).nmant + 1)).any():
            return codes.copy()  # beyond that limit, neighbouring integers share a float
        return codes.astype(inner) if isinstance(dtype, np.dtype) else pd.array(codes, dtype=dtype)
    int_codes = np.nan_to_num(codes).astype(np.int64)  # a copy, with 0 for missing values
    if inner is not None:
        limits = np.iinfo(inner)
        fits = not int_codes.size or (limits.min <= int_codes.min() and int_codes.max() <= limits.max)
    is_extension = dtype is not None and not isinstance(dtype, np.dtype)
    if not has_missing and inner is not None and fits and not is_extension:
        return int_codes.astype(inner)
    if has_missing or (is_extension and inner is not None) or (dtype is None and feature.nullable):
        integer_array = pd.arrays.IntegerArray(int_codes, np.isnan(codes))
        return integer_array.astype(dtype) if is_extension and inner is not None and fits else integer_array
    return int_codes


@lru_cache(maxsize=1024)
def _build_value_array(feature: Categorical) -> Any:
    """Return the categories as an array."""
    index = build_category_index(feature)
    if index.dtype == object:
        return to_object_array(feature.values)
    return index.to_numpy() if index.dtype.kind in "iufb" else pd.array(index)


def _decode_categories(feature: Categorical, codes: Codes, dtype: Dtype | None) -> Any:
    known = (codes >= 0) & (codes <= feature.high)  # others are missing, or unknown from a lenient encoding
    all_known = bool(known.all())
    places = codes.astype(np.intp) if all_known else np.where(known, codes, -1).astype(np.intp)
    if isinstance(dtype, pd.CategoricalDtype):
        return _decode_to_category_dtype(feature, places, dtype)
    values = _build_value_array(feature)
    if all_known:
        decoded_values = values.take(places)
    elif not isinstance(values, np.ndarray):
        decoded_values = values.take(places, allow_fill=True)
    elif values.dtype.kind in "iub":
        nullable = pd.array(values, dtype="boolean" if values.dtype.kind == "b" else "Int64")
        decoded_values = nullable.take(places, allow_fill=True)
    else:
        decoded_values = values.astype(object)[places]
        decoded_values[~known] = None
    wanted_dtype = decoded_values.dtype if dtype is None else dtype
    if isinstance(wanted_dtype, np.dtype) and wanted_dtype.kind == "O":
        return np.asarray(decoded_values, dtype=object)
    if decoded_values.dtype == wanted_dtype:
        return decoded_values
    if not all_known and isinstance(dtype, np.dtype) and dtype.kind in "iub":
        return decoded_values  # the dtype cannot hold missing values
    try:
        return pd.Series(decoded_values).astype(dtype).array
    except (TypeError, ValueError):
        return decoded_values


def _decode_to_category_dtype(feature: Categorical, places: npt.NDArray[np.intp], dtype: pd.CategoricalDtype) -> Any:
    if dtype.categories is None:
        dtype = pd.CategoricalDtype(list(feature.values))
    dtype_codes = dtype.categories.get_indexer(build_category_index(feature))
    if (dtype_codes < 0).any():  # the user's dtype lacks some categories
        dtype = pd.CategoricalDtype(list(feature.values), ordered=dtype.ordered)
        dtype_codes = np.arange(len(feature.values))
    return pd.Categorical.from_codes(np.append(dtype_codes, -1)[places], dtype=dtype)

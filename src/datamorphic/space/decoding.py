"""Decoding of float64 codes to values in the dtypes of the user's columns."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .encoding import MASKED_DTYPE_NAMES, build_category_index, to_numpy_dtype
from .features import Categorical, Codes, Feature
from .labels import to_object_array
from .text_feature import Text

if TYPE_CHECKING:
    from .encoding import Dtype


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

"""One column of user values to float64 codes and back.

`encode` checks everything a column can have wrong and says which row; `decode` gives values of the dtype
the user's frame had. pandas is imported here and not at the top: `import datamorphic` must stay light.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, short
from ..errors import DataError
from .features import LARGEST_INTEGER, LARGEST_NUMBER, Categorical, Codes, Feature, Integer

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = -1.0  # the code a lenient encoding gives to what is no category


def encode(feature: Feature, column: pd.Series[Any], *, open_ends: bool, lenient: bool = False) -> Codes:
    """Return the codes of a column.

    Parameters
    ----------
    feature : Feature
        What the column stands for.
    column : Series
        The user's values.
    open_ends : bool
        Whether a continuous value may lie outside the bounds.
    lenient : bool
        Take the column as it is: values that do not fit keep their number, or become `UNKNOWN`.

    Raises
    ------
    DataError
        Naming the column, the first row that does not fit, and the remedy.
    """
    if isinstance(feature, Categorical):
        return _encode_categories(feature, column, lenient)
    codes = _as_numbers(feature, column, lenient)
    if lenient:
        return codes
    if not feature.nullable:
        _refuse(feature, column, np.isnan(codes), "is missing", "Declare the feature nullable=True, or fill it.")
    limit = LARGEST_INTEGER if isinstance(feature, Integer) else LARGEST_NUMBER
    _refuse(feature, column, np.abs(codes) > limit, f"is beyond {limit:.3g}", "Replace or rescale it.")
    if isinstance(feature, Integer):
        whole = np.rint(codes)
        if feature.rounds:
            codes = whole
        else:
            fraction = (whole != codes) & ~np.isnan(codes)
            _refuse(
                feature,
                column,
                fraction,
                "is not a whole number",
                "Use Continuous, or Integer(..., rounds=True).",
            )
    if isinstance(feature, Integer) or not open_ends:
        outside = (codes < feature.low) | (codes > feature.high)
        remedy = "Widen the bounds" + (
            "." if isinstance(feature, Integer) else ', or make the space with moves="open".'
        )
        _refuse(
            feature,
            column,
            outside,
            f"lies outside the bounds [{short(feature.low)}, {short(feature.high)}]",
            remedy,
        )
    return codes


def _plainly_fits(feature: Feature, codes: Codes, open_ends: bool) -> bool:
    """Tell in two passes that nothing is wrong, so that the searches for what is wrong can be left out."""
    if not codes.size:
        return True
    limit = LARGEST_INTEGER if isinstance(feature, Integer) else LARGEST_NUMBER
    free = open_ends and not isinstance(feature, Integer)
    low, high = (-limit, limit) if free else (max(feature.low, -limit), min(feature.high, limit))
    inside = bool(low <= codes.min() and codes.max() <= high)  # false for NaN too
    return inside and (not isinstance(feature, Integer) or bool((np.rint(codes) == codes).all()))


def _as_numbers(feature: Feature, column: pd.Series[Any], lenient: bool) -> Codes:
    try:
        codes: Codes = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        import pandas as pd

        codes = np.asarray(pd.to_numeric(column.astype(object), errors="coerce"), dtype=np.float64)
        text = np.isnan(codes) & ~column.isna().to_numpy()
        if lenient:
            return np.where(text, np.inf, codes)
        _refuse(
            feature,
            column,
            text,
            "is not a number",
            f"The feature is {feature.kind}: convert the column first.",
        )
    return codes


@lru_cache(maxsize=1024)
def _index(feature: Categorical) -> pd.Index[Any]:
    import pandas as pd

    kinds = {type(v) for v in feature.values}
    # Left alone, pandas would make one dtype of [1, "a"] or [1, 2.5] and blur what the values are.
    return pd.Index(list(feature.values), dtype=None if len(kinds) == 1 else object, tupleize_cols=False)


def _encode_categories(feature: Categorical, column: pd.Series[Any], lenient: bool) -> Codes:
    import pandas as pd

    try:
        places, uniques = pd.factorize(column)
        of_unique = _index(feature).get_indexer(uniques).astype(np.float64)
    except TypeError:
        value = next((v for v in column if getattr(v, "__hash__", None) is None), "?")
        raise DataError(
            f"Column {feature.name!r} holds a {type(value).__name__} ({short(value)}), which is not hashable and so "
            "no category. Use strings, numbers or tuples."
        ) from None
    codes: Codes = np.append(of_unique, np.nan)[places]  # factorize marks what is missing with -1: the last
    if lenient:
        return codes
    if (of_unique == UNKNOWN).any():
        unknown = uniques[int(np.argmax(of_unique == UNKNOWN))]
        hint = did_you_mean(unknown, feature.values)
        _refuse(feature, column, codes == UNKNOWN, "is not one of the categories", hint)
    if not feature.nullable:
        _refuse(feature, column, np.isnan(codes), "is missing", "Declare the feature nullable=True, or fill it.")
    return codes


def _refuse(feature: Feature, column: pd.Series[Any], bad: npt.NDArray[np.bool_], what: str, remedy: str) -> None:
    """Raise an error about the first bad row, if there is one."""
    if not bad.any():
        return
    row = int(np.argmax(bad))
    more = int(bad.sum()) - 1
    others = f" ({more:,} more like it)" if more else ""
    raise DataError(
        f"Column {feature.name!r}, row {column.index[row]!r}: {short(column.iloc[row])!r} {what}{others}. {remedy}"
    )


def decode(feature: Feature, codes: Codes, dtype: Any = None) -> Any:
    """Return the values of a column of codes, of `dtype` where it can hold them."""
    import pandas as pd

    if isinstance(feature, Categorical):
        return _decode_categories(feature, codes, dtype)
    if dtype is None:
        dtype = np.dtype("float64") if feature.kind == "continuous" else np.dtype("int64")
    if dtype == np.float64:
        return codes
    missing = np.isnan(codes) if feature.nullable else np.zeros(0, dtype=bool)
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        if missing.any():
            return pd.arrays.IntegerArray(np.where(missing, 0, codes).astype(np.int64), missing)
        return _narrowed(codes, dtype)
    return (
        pd.array(codes, dtype="Float64").astype(dtype) if missing.any() else pd.Series(codes).astype(dtype).array
    )


def _narrowed(codes: Codes, dtype: np.dtype[Any]) -> Any:
    """Cast to an integer dtype, or to int64 where a value does not fit (int8 and 128)."""
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    if limits is None or (codes.size and (codes.min() < limits.min or codes.max() > limits.max)):
        return codes.astype(np.int64)
    return codes.astype(dtype)


@lru_cache(maxsize=1024)
def _value_array(feature: Categorical) -> Any:
    """The categories as an array with a missing value behind them, so that code NaN becomes place -1."""
    import pandas as pd

    index = _index(feature)
    if index.dtype.kind in "iub":
        return index.to_numpy()
    if index.dtype == object:
        values = np.empty(len(index), dtype=object)
        values[:] = list(feature.values)
        return values
    return pd.array(index)


def _decode_categories(feature: Categorical, codes: Codes, dtype: Any) -> Any:
    import pandas as pd

    has_missing = feature.nullable and bool(np.isnan(codes).any())
    places = np.where(np.isnan(codes), -1, codes).astype(np.intp) if has_missing else codes.astype(np.intp)
    values = _value_array(feature)
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.categories is None:
            dtype = pd.CategoricalDtype(list(feature.values))
        own = dtype.categories.get_indexer(_index(feature))
        if (own >= 0).all():
            return pd.Categorical.from_codes(np.append(own, -1)[places], dtype=dtype)
        return pd.Categorical(pd.Series(values.take(places)).mask(places < 0), categories=list(feature.values))
    if not has_missing:
        taken = values.take(places)
    elif isinstance(values, np.ndarray):
        taken = np.where(places < 0, None, values.astype(object).take(places))  # type: ignore[call-overload]
    else:
        taken = values.take(places, allow_fill=True)
    if dtype is None or taken.dtype == dtype:
        return taken
    try:
        return pd.Series(taken).astype(dtype).array
    except (TypeError, ValueError):
        return taken

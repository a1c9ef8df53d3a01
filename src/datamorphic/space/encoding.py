"""One column of user values to float64 codes; `decoding` has the way back.

Everything a column can have wrong is checked, and the first row that has it is named. pandas is imported
here and not at the top: `import datamorphic` must stay light.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import format_short, suggest_name
from ..errors import DataError
from .features import LARGEST_INTEGER, LARGEST_NUMBER, Categorical, Codes, Feature, Integer

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN_CATEGORY_CODE = -1.0  # the code a lenient encoding gives to what is no category
Mask = npt.NDArray[np.bool_]
MASKED_DTYPE_NAMES = {f"{kind}{bits}Dtype" for kind in ("Int", "UInt", "Float") for bits in (8, 16, 32, 64)}


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
        Take the column as it is: numbers that do not fit keep their value, text among them becomes inf, and
        what is no category becomes `UNKNOWN`.

    Raises
    ------
    DataError
        Naming the column, the first row that does not fit, and the remedy.
    """
    if isinstance(feature, Categorical):
        codes, unknown_hint = _encode_categories(feature, column)
    else:
        codes, unknown_hint = _encode_numbers(feature, column, lenient), ""
    if lenient:
        return codes
    if isinstance(feature, Integer) and feature.rounds:
        codes = np.rint(codes)
    fault = find_fault(feature, codes, open_ends)
    if fault is not None:
        bad_rows, problem, remedy = fault
        _reject_rows(feature, column, bad_rows, problem, unknown_hint or remedy)
    return codes


def find_fault(feature: Feature, codes: Codes, open_ends: bool) -> tuple[Mask, str, str] | None:
    """Return which codes are none of the feature's, what is wrong with them and what to do; None if all fit."""
    if not codes.size:
        return None
    limit = LARGEST_INTEGER if isinstance(feature, Integer) else LARGEST_NUMBER
    low, high = (-limit, limit) if open_ends and feature.kind == "continuous" else (feature.low, feature.high)
    is_discrete = feature.kind != "continuous"
    # Two passes tell that nothing is wrong; only if something is are masks made to find out what. NaN fails too.
    inside = max(low, -limit) <= codes.min() and codes.max() <= min(high, limit)
    if inside and (not is_discrete or (np.rint(codes) == codes).all()):
        return None
    missing = np.isnan(codes)
    if not feature.nullable and missing.any():
        return missing, "is missing", "Declare the feature nullable=True, or fill it."
    if isinstance(feature, Categorical):
        unknown = ~missing & ((codes < 0) | (codes > feature.high) | (codes != np.rint(codes)))
        return (unknown, "is not one of the categories", "") if unknown.any() else None
    checks = [(np.abs(codes) > limit, f"is beyond {limit:.3g}", "Replace or rescale it.")]
    if is_discrete:
        fraction = (np.rint(codes) != codes) & ~missing
        checks.append((fraction, "is not a whole number", "Use Continuous, or Integer(..., rounds=True)."))
    widen = "Widen the bounds." if is_discrete else 'Widen the bounds, or make the space with moves="open".'
    out_of_bounds = (codes < low) | (codes > high)
    checks.append((out_of_bounds, f"lies outside the bounds [{format_short(low)}, {format_short(high)}]", widen))
    return next((check for check in checks if check[0].any()), None)


def _encode_numbers(feature: Feature, column: pd.Series[Any], lenient: bool) -> Codes:
    codes, is_text = to_numbers(column)
    if lenient:
        return np.where(is_text, np.inf, codes) if is_text.any() else codes
    _reject_rows(
        feature, column, is_text, "is not a number", f"The feature is {feature.kind}: convert the column first."
    )
    return snap_to_bounds(feature, codes, column.dtype)


def to_numbers(column: pd.Series[Any]) -> tuple[Codes, Mask]:
    """Return a column as floats, and which of its values are no numbers; numbers written as text are text."""
    import pandas as pd

    types = pd.api.types
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(len(column), dtype=bool)
    codes = np.full(len(column), np.nan)
    is_text = np.zeros(len(column), dtype=bool)
    for i, value in enumerate(column.astype(object)):
        if isinstance(value, str | bytes | complex):
            is_text[i] = True
        elif not _is_missing(value):
            try:
                codes[i] = float(value)
            except (TypeError, ValueError, OverflowError):
                is_text[i] = True
    return codes, is_text


def _is_missing(value: Any) -> bool:
    import pandas as pd

    missing = pd.isna(value)
    return isinstance(missing, bool) and missing


def snap_to_bounds(feature: Feature, codes: Codes, dtype: Any) -> Codes:
    """Take a bound that a shorter float could not hold exactly (0.1 as float32) for the bound itself."""
    inner = to_numpy_dtype(dtype)
    if inner is None or inner.kind != "f" or inner.itemsize >= 8:
        return codes
    for bound in (feature.low, feature.high):
        if abs(bound) <= float(np.finfo(inner).max):
            codes = np.where(codes == np.asarray(bound, dtype=inner), bound, codes)
    return codes


def to_numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    """Return the NumPy dtype behind a plain, nullable or Arrow dtype of numbers; None for any other."""
    import pandas as pd

    if isinstance(dtype, np.dtype):
        return dtype if dtype.kind in "iuf" else None
    if isinstance(dtype, pd.ArrowDtype) or type(dtype).__name__ in MASKED_DTYPE_NAMES:
        inner = np.dtype(dtype.numpy_dtype)
        return inner if inner.kind in "iuf" else None
    return None


@lru_cache(maxsize=1024)
def build_category_index(feature: Categorical) -> pd.Index[Any]:
    """Return the categories as an index that keeps their types."""
    import pandas as pd

    kinds = {type(v) for v in feature.values}
    # Left alone, pandas would make one dtype of [1, "a"] or [1, 2.5] and blur what the values are.
    dtype = None if len(kinds) == 1 and kinds <= {str, int, float, bool} else object
    return pd.Index(list(feature.values), dtype=dtype, tupleize_cols=False)


def _encode_categories(feature: Categorical, column: pd.Series[Any]) -> tuple[Codes, str]:
    """Return the codes, `UNKNOWN` for what is no category, and a hint for the first of these."""
    import pandas as pd

    try:
        places, uniques = pd.factorize(column)
        unique_codes = build_category_index(feature).get_indexer(uniques).astype(np.float64)
    except Exception:  # values pandas cannot hash or compare: which error it raises depends on their type
        value = next((v for v in column if getattr(v, "__hash__", None) is None), column.iloc[0])
        raise DataError(
            f"Column {feature.name!r} holds a {type(value).__name__} ({format_short(value)}), which is not hashable and so "
            "no category. Use strings, numbers or tuples."
        ) from None
    codes: Codes = np.append(unique_codes, np.nan)[places]  # factorize marks what is missing with -1: the last
    hint = ""
    if (unique_codes == UNKNOWN_CATEGORY_CODE).any():
        unknown = uniques[int(np.argmax(unique_codes == UNKNOWN_CATEGORY_CODE))]
        twin = next((v for v in feature.values if str(v) == str(unknown)), None)
        if twin is None:
            hint = suggest_name(unknown, feature.values)
        else:
            hint = f"There is {twin!r}, of type {type(twin).__name__}; this is of type {type(unknown).__name__}."
    return codes, hint


def _reject_rows(feature: Feature, column: pd.Series[Any], bad_rows: Mask, problem: str, remedy: str) -> None:
    """Raise an error about the first bad row, if there is one."""
    if not bad_rows.any():
        return
    row = int(np.argmax(bad_rows))
    other_count = int(bad_rows.sum()) - 1
    others_text = f" ({other_count:,} more like it)" if other_count else ""
    label = column.index[row]
    label = label.item() if isinstance(label, np.generic) else label
    raise DataError(
        f"Column {feature.name!r}, row {label!r}: {format_short(column.iloc[row])!r} {problem}{others_text}. {remedy}"
    )


def encode_floats(features: Sequence[Feature], frame: pd.DataFrame, open_ends: bool) -> Codes | None:
    """Return the codes of a frame of proper floats at once; None where a column needs a closer look."""
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

"""Rows with another value in one column, in the type that the column has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._lazy import pd

UNKNOWN_CATEGORY = "never seen before"


def set_column(frame: pd.DataFrame, name: str, value: Any) -> pd.DataFrame:
    """Return rows with another value in a column, or with an array of values, one for each row."""
    column = frame[name]
    if isinstance(value, np.ndarray):
        return frame.assign(**{name: value[: len(frame)]})
    if column.dtype.kind in "iufb" or isinstance(value, float):
        is_whole = column.dtype.kind in "iu" and not math.isnan(value) and float(value).is_integer()
        in_range = is_whole and abs(value) < 2**62
        return frame.assign(**{name: np.full(len(frame), int(value) if in_range else float(value))})
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = [*column.cat.categories, *([] if value in column.cat.categories else [value])]
        return frame.assign(**{name: pd.Categorical([value] * len(frame), categories=categories)})
    dtype = column.dtype if isinstance(column.dtype, pd.StringDtype) else object
    return frame.assign(**{name: pd.Series([value] * len(frame), index=frame.index, dtype=dtype)})

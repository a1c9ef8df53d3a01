"""Conversion of cases in any form (arrays, dicts, sequences) to frames and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from .._text import pluralize
from .._typing import DataLike
from ..errors import DataError
from .inference import validate_frame

if TYPE_CHECKING:
    import pandas as pd


def to_frame(names: Sequence[str], data: DataLike) -> pd.DataFrame:
    """Return cases in any form as a frame whose columns are named by the features."""
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return validate_frame(data)
    if isinstance(data, pd.Series) and set(names) <= set(data.index):
        data = data.to_dict()  # a row of a frame
    if isinstance(data, Mapping):
        try:
            return pd.DataFrame({name: [data[name]] for name in names if name in data})
        except OverflowError:
            raise DataError("A value of the case is not a number that a float can hold.") from None
    if _is_list_of_dicts(data):
        return pd.DataFrame(list(data))
    if isinstance(data, np.ndarray) and data.ndim != 1:
        rows: Any = data
    elif isinstance(data, Sequence | np.ndarray) and not isinstance(data, str):
        rows = [list(data)]
    else:
        raise DataError(f"Expected a DataFrame, an array, a dict or a sequence of values. Got {type(data).__name__}.")
    try:
        frame = pd.DataFrame(rows)
    except ValueError as error:
        raise DataError(f"An array of shape {np.shape(rows)} is not a table of cases: {error}.") from None
    if len(frame.columns) != len(names):
        names_text = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        raise DataError(f"Expected {pluralize(len(names), 'value')} per case ({names_text}). Got {len(frame.columns)}.")
    frame.columns = pd.Index(names)
    return frame


def restore_form(data: DataLike, frame: pd.DataFrame) -> Any:
    """Return the rows of a frame in the form of `data`."""
    import pandas as pd

    if isinstance(data, np.ndarray) and data.ndim == 2:
        return frame.to_numpy(dtype=data.dtype if data.dtype.kind in "fO" else None)
    names = list(frame)
    cases = [dict(zip(names, row, strict=True)) for row in zip(*(frame[name].tolist() for name in names), strict=True)]
    if _is_list_of_dicts(data):
        return cases
    case = cases[0]
    if isinstance(data, Mapping):
        return case
    if isinstance(data, pd.Series):
        return pd.Series(case, name=data.name)
    if isinstance(data, np.ndarray):
        return np.array(list(case.values()), dtype=data.dtype if data.dtype.kind in "fO" else None)
    return tuple(case.values()) if isinstance(data, tuple) else list(case.values())


def is_single_case(data: DataLike) -> bool:
    """Return whether data is a single case rather than a table."""
    import pandas as pd

    if isinstance(data, np.ndarray):
        return data.ndim == 1
    return isinstance(data, Mapping | pd.Series | Sequence) and not _is_list_of_dicts(data)


def _is_list_of_dicts(data: DataLike) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return isinstance(data, Sequence) and len(data) > 0 and all(isinstance(case, Mapping) for case in data)

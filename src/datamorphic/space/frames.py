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

TEXT_COLUMN = "text"  # the name of a column of texts that has none


def to_frame(names: Sequence[str], data: DataLike) -> pd.DataFrame:
    """Return cases in any form as a frame whose columns are named by the features."""
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return validate_frame(data)
    if len(names) == 1 and is_text_list(data):
        return name_texts(data, names[0])
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

    if len(frame.columns) == 1 and is_text_list(data):
        column = frame.iloc[:, 0]
        if isinstance(data, pd.Series):
            return pd.Series(column.to_numpy(), index=data.index, name=data.name, dtype=object)
        return column.to_numpy(dtype=object) if isinstance(data, np.ndarray) else type(data)(column.tolist())  # type: ignore[call-arg]
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

    if is_text_list(data):
        return len(data) == 1
    if isinstance(data, np.ndarray):
        return data.ndim == 1
    return isinstance(data, Mapping | pd.Series | Sequence) and not _is_list_of_dicts(data)


def _is_list_of_dicts(data: DataLike) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return isinstance(data, Sequence) and len(data) > 0 and all(isinstance(case, Mapping) for case in data)


def is_text_list(data: object) -> TypeGuard[Sequence[str]]:
    """Return whether data are texts in a list, a tuple, a Series or an array of one dimension."""
    import pandas as pd

    if isinstance(data, pd.Series | np.ndarray):
        if data.ndim != 1 or data.dtype.kind in "iufcbmM" or isinstance(data.dtype, pd.CategoricalDtype):
            return False
    elif not isinstance(data, list | tuple):
        return False
    values = list(data)
    return len(values) > 0 and all(isinstance(value, str) for value in values)


def name_texts(data: Any, name: str = TEXT_COLUMN) -> Any:
    """Return texts in a list, a Series or an array as a frame of one column; anything else as it is."""
    import pandas as pd

    if not is_text_list(data):
        return data
    index = data.index if isinstance(data, pd.Series) else None
    return pd.DataFrame({name: pd.Series(list(data), index=index, dtype=object)})

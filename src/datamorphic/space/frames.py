"""Conversion of cases in any form (arrays, dicts, sequences) to frames and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise
from .._typing import DataLike
from .._validation import is_series
from ..errors import DataError
from .blocks import DEFAULT_IMAGE_NAME, PlacedBlock, is_array_data, to_array_frame
from .table_forms import to_plain_data

TEXT_COLUMN = "text"  # the name of a column of texts that has none


def to_frame(names: Sequence[str], data: DataLike) -> pd.DataFrame:
    """Return cases in any form as a frame whose columns are named by the features."""
    if isinstance(data, pd.DataFrame):
        return data
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
        raise DataError(f"Expected {pluralise(len(names), 'value')} per case ({names_text}). Got {len(frame.columns)}.")
    frame.columns = pd.Index(names)
    return frame


def to_array(data: object, name: str = "array") -> npt.NDArray[Any]:
    """Return data as an array, or raise `DataError` if rows have different lengths."""
    try:
        return np.asarray(data)
    except ValueError:
        raise DataError(f"The rows of the {name} have different lengths. Each case needs all values.") from None


def join_target(data: Any, target: Any, space_blocks: Sequence[PlacedBlock] = ()) -> tuple[Any, str | None]:
    """Return data with their labels as a column, and the name of that column.

    `target` may be the name of a column, which is returned unchanged, or one label per case. Texts become a column, and
    images a column of arrays; `space_blocks` are the images and sequences of the declared space, if there are any.
    """
    if isinstance(target, Mapping | Set):
        raise DataError(f"target must be the name of a column, or one label per case. Got {target!r}.")
    if target is None or isinstance(target, str) or to_array(target, "target").ndim == 0:
        return data, target
    if isinstance(target, pd.DataFrame) and len(target.columns) == 1:
        target = target.iloc[:, 0]
    labels = target.to_numpy() if isinstance(target, pd.Series) else np.asarray(to_plain_data(target))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(
            f"target must be the name of a column, or one label per case. Got an array of shape {labels.shape}."
        )
    data = name_texts(data)
    if isinstance(data, pd.DataFrame):
        frame = data
    elif is_array_data(data):
        frame = to_array_frame(data, space_blocks[0].block.name if space_blocks else DEFAULT_IMAGE_NAME)
    elif isinstance(data, np.ndarray | list) and np.ndim(data) == 2:
        matrix = np.asarray(data)
        names = [f"x{j}" for j in range(matrix.shape[1])]
        if len(space_blocks) == 1 and space_blocks[0].block.size == matrix.shape[1]:
            names = space_blocks[0].names
        frame = pd.DataFrame(matrix, columns=names, copy=False)
    else:
        raise DataError(
            "Labels were given as target, but the data are neither a frame, nor an array, nor a list of texts or images. "
            f"Got {type(data).__name__}."
        )
    if len(labels) != len(frame):
        raise DataError(f"There are {len(labels):,} labels for {pluralise(len(frame), 'case')}. Give one per case.")
    name = target.name if isinstance(target, pd.Series) and isinstance(target.name, str) and target.name else "target"
    while name in frame.columns:
        name += "_"
    joined = frame.copy(deep=False)
    joined[name] = labels
    return joined, name


def restore_form(data: DataLike, frame: pd.DataFrame) -> Any:
    """Return the rows of a frame in the form of `data`."""
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
    if is_text_list(data):
        return len(data) == 1
    if isinstance(data, np.ndarray):
        return data.ndim == 1
    return (is_series(data) or isinstance(data, Mapping | Sequence)) and not _is_list_of_dicts(data)


def _is_list_of_dicts(data: DataLike) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return isinstance(data, Sequence) and len(data) > 0 and all(isinstance(case, Mapping) for case in data)


def is_text_list(data: object) -> TypeGuard[Sequence[str]]:
    """Return whether data are texts in a list, a tuple, a Series or an array of one dimension."""
    if is_series(data) or isinstance(data, np.ndarray):
        if data.ndim != 1 or data.dtype.kind in "iufcbmM" or str(data.dtype) == "category":
            return False
    elif not isinstance(data, list | tuple):
        return False
    values = list(data)
    return len(values) > 0 and all(isinstance(value, str) for value in values)


def name_texts(data: Any, name: str = TEXT_COLUMN) -> Any:
    """Return texts in a list, a Series or an array as a frame of one column; anything else as it is."""
    if not is_text_list(data):
        return data
    index = data.index if isinstance(data, pd.Series) else None
    return pd.DataFrame({name: pd.Series(list(data), index=index, dtype=object)})

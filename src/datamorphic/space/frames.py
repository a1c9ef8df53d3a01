"""The forms callers give cases in, frames, arrays, dicts or sequences, and the way back to the same form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import pluralize
from ..errors import DataError
from .points import Points

if TYPE_CHECKING:
    import pandas as pd

    from .space import Space


def to_frame(space: Space, data: Any) -> pd.DataFrame:
    """Return what the caller gave as a frame, its columns named by the features."""
    import pandas as pd

    from .inference import validate_frame

    if isinstance(data, pd.DataFrame):
        return validate_frame(data)
    if isinstance(data, pd.Series) and set(space.names) <= set(data.index):
        data = data.to_dict()  # a row of a frame
    if isinstance(data, Mapping):
        return pd.DataFrame({name: [data[name]] for name in space.names if name in data})
    if _is_list_of_dicts(data):
        return pd.DataFrame(list(data))
    if isinstance(data, np.ndarray) and data.ndim != 1:
        rows: Any = data
    elif isinstance(data, Sequence | np.ndarray) and not isinstance(data, str):
        rows = [list(data)]
    else:
        raise DataError(
            f"Expected a DataFrame, an array, a dict or a sequence of values. Got {type(data).__name__}."
        )
    try:
        frame = pd.DataFrame(rows)
    except ValueError as error:
        raise DataError(f"An array of shape {np.shape(rows)} is no table of cases: {error}.") from None
    if len(frame.columns) != len(space):
        names_text = ", ".join(space.names[:6]) + (", ..." if len(space) > 6 else "")
        raise DataError(
            f"{pluralize(len(space), 'value')} a case expected ({names_text}). Got {len(frame.columns)}."
        )
    frame.columns = pd.Index(space.names)
    return frame


def restore_form(space: Space, data: Any, points: Points) -> Any:
    """Return points in the form the caller used for `data`."""
    import pandas as pd

    if isinstance(data, Points):
        return points
    if isinstance(data, pd.DataFrame):
        return space.frame(points, like=data)
    frame = space.frame(points)
    if isinstance(data, np.ndarray) and data.ndim == 2:
        return frame.to_numpy(dtype=data.dtype if data.dtype.kind in "fO" else None)
    cases = [
        dict(zip(space.names, row, strict=True))
        for row in zip(*(frame[name].tolist() for name in frame), strict=True)
    ]
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


def _is_list_of_dicts(data: Any) -> bool:
    return isinstance(data, Sequence) and len(data) > 0 and all(isinstance(case, Mapping) for case in data)


def is_single_case(data: Any) -> bool:
    """Tell whether the caller gave a single case rather than a table."""
    import pandas as pd

    if isinstance(data, Points | pd.DataFrame) or _is_list_of_dicts(data):
        return False
    return not isinstance(data, np.ndarray) or data.ndim == 1

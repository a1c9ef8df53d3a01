"""A row that reaches a leaf: a real one, changed no more than it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..space.decoding import decode
from .allowed import Column, column_of
from .inputs import Inputs, table
from .model import Tree, leaf_of
from .rules import Range, box

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
TRIES = 100  # rows to start from, where constraints forbid what comes of the nearest


def example(
    tree: Tree, node: int, frame: pd.DataFrame, inputs: Inputs, near: Any = None, *, told: str = ""
) -> pd.DataFrame:
    """Return a frame of one row that reaches a node; see `Coverage.example`."""

    def lands(made: pd.DataFrame) -> bool:
        return bool(leaf_of(tree, inputs.seen(made))[0] == node)

    return row_within(box(tree, node, told=True), precise(tree), frame, inputs, lands, near, told=told, again=True)


def precise(tree: Tree) -> bool:
    """Tell whether a tree compares the user's own numbers in single precision."""
    return tree.single and tree.told is None


def row_within(
    ranges: Mapping[int, Range],
    single: bool,
    frame: pd.DataFrame,
    inputs: Inputs,
    lands: Callable[[pd.DataFrame], bool],
    near: Any = None,
    *,
    told: str = "",
    columns: Callable[[int], Column] | None = None,
    values: Floats | None = None,
    again: bool = False,
) -> pd.DataFrame:
    """Return a row of a frame, changed no more than it takes to come through some ranges, by column, and to land.

    `columns` and `values` spare a caller who asks again and again the reading of the same frame.
    """
    known = values_of(frame, inputs) if values is None else values
    if columns is None:

        def columns(column: int) -> Column:
            return column_of(column, single, frame, known[:, column], inputs)

    allowed = {column: columns(column).within(range_) for column, range_ in ranges.items()}
    values = known
    if near is not None:
        frame = _given(near, inputs, frame)
        values = values_of(frame, inputs)
    gaps = np.zeros(len(frame))
    for column, each in allowed.items():
        gaps += each.gaps(values[:, column])
    if not np.isfinite(gaps).any():
        column = next(column for column, each in allowed.items() if each.empty)
        raise DataError(f"No row reaches {told}: nothing that {inputs.names[column]!r} may hold lies there.")
    order = np.argsort(gaps, kind="stable")
    for row in order[np.isfinite(gaps[order])][:TRIES]:
        made = frame.iloc[[row]].copy()
        for column, each in allowed.items():
            now = values[row : row + 1, column]
            if each.gaps(now)[0] > 0:
                name = frame.columns[column]
                made[name] = as_column(each.nearest(float(now[0])), made[name], column, inputs)
        if lands(made) and keeps(inputs, made):
            return made
    bound = inputs.space is not None and bool(inputs.space.constraints)
    why = "a constraint of the space" if bound else "how numbers are rounded, or what the steps before do,"
    hint = " Start from another row: near=..." if near is None and again else ""
    raise DataError(f"No row was found that reaches {told}: {why} is in the way.{hint}")


def _given(near: Any, inputs: Inputs, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the row to start from as a frame."""
    import pandas as pd

    if isinstance(near, pd.Series):
        near = near.to_dict()
    if isinstance(near, dict):
        near = pd.DataFrame({name: [value] for name, value in near.items()})
    elif not isinstance(near, pd.DataFrame) and np.ndim(near) == 1:
        near = [list(near)]
    rows, _ = table(inputs.owner, near, list(frame.columns), len(frame.columns))
    if len(rows) > 1:
        raise DataError(f"One row to start from is expected. Got {len(rows):,}.")
    return pd.DataFrame({name: _as_in(frame[name].dtype, rows[name]) for name in rows}, index=rows.index)


def _as_in(dtype: Any, column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column with another dtype if that changes no value."""
    try:
        cast = column.astype(dtype)
        return cast if (cast == column).all() else column
    except (TypeError, ValueError):
        return column


def values_of(frame: pd.DataFrame, inputs: Inputs) -> Floats:
    """Return the rows as numbers, in the units of the user."""
    if inputs.coded:
        assert inputs.space is not None
        return inputs.space.points(frame).codes
    return inputs.plain(frame).astype(np.float64)


def as_column(value: float, old: pd.Series[Any], column: int, inputs: Inputs) -> Any:
    """Return a column of one value, of the dtype the column has if that can hold it."""
    import pandas as pd

    if inputs.coded:
        assert inputs.space is not None
        return pd.Series(decode(inputs.space.features[column], np.array([value]), old.dtype), index=old.index)
    if column in inputs.categories:
        category = inputs.categories[column][int(value)] if not math.isnan(value) else None
        return pd.Series([category], index=old.index, dtype=old.dtype)
    known = getattr(old.dtype, "categories", None)
    if not math.isnan(value) and (known is None or value in known):
        plain = int(value) if value == int(value) and old.dtype.kind in "iu" else value
        try:
            cast = pd.Series([plain], index=old.index).astype(old.dtype)
            if old.dtype.kind == "f" or float(cast.iloc[0]) == plain:
                return cast
        except (TypeError, ValueError, OverflowError):
            pass  # that dtype cannot hold it
    return pd.Series([value], index=old.index)


def keeps(inputs: Inputs, made: pd.DataFrame) -> bool:
    """Tell whether a row keeps the constraints of the space."""
    space = inputs.space
    if space is None or not space.constraints:
        return True
    return bool(space.satisfied(space.points(made, lenient=True).codes)[0])

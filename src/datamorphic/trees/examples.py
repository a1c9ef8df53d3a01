"""Find a row that reaches a leaf: a real row, changed as little as possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .._lazy import pd
from .._typing import DataLike
from .._validation import reject
from ..errors import DataError
from ..space import geometry
from ..space.encoding import decode
from .column_domain import ColumnDomain, build_column_domain
from .descent import find_leaves
from .inputs import TreeInputs, read_table
from .rules import Range, find_box
from .tree import Floats, Tree

MAX_START_ROWS = 100  # attempts, since constraints may forbid the nearest rows


def find_example(
    tree: Tree, node: int, frame: pd.DataFrame, inputs: TreeInputs, near: DataLike | None = None, *, goal: str = ""
) -> pd.DataFrame:
    """Find a row that reaches a node; see `Coverage.example`."""

    def is_at_node(candidate: pd.DataFrame) -> bool:
        return bool(find_leaves(tree, inputs.to_tree_matrix(candidate))[0] == node)

    ranges, single = find_box(tree, node, in_data_units=True), is_single_precision(tree)
    return find_row_within(ranges, single, frame, inputs, is_at_node, near, goal=goal, suggest_near=True)


def is_single_precision(tree: Tree) -> bool:
    """Return whether a tree compares the user's own numbers in single precision."""
    return tree.single and tree.data_thresholds is None


def find_row_within(
    ranges: Mapping[int, Range],
    single: bool,
    frame: pd.DataFrame,
    inputs: TreeInputs,
    is_accepted: Callable[[pd.DataFrame], bool],
    near: DataLike | None = None,
    *,
    goal: str = "",
    get_column: Callable[[int], ColumnDomain] | None = None,
    values: Floats | None = None,
    suggest_near: bool = False,
) -> pd.DataFrame:
    """Find the row that needs the smallest changes; `get_column` and `values` avoid reading the frame again."""
    known_values = to_user_values(frame, inputs) if values is None else values
    if get_column is None:

        def get_column(column: int) -> ColumnDomain:
            return build_column_domain(column, single, frame, known_values[:, column], inputs)

    allowed_values = {column: get_column(column).restrict(range_) for column, range_ in ranges.items()}
    values = known_values
    if near is not None:
        frame = _read_start_row(near, inputs, frame)
        values = to_user_values(frame, inputs)
    gaps = np.zeros(len(frame))
    for column, domain in allowed_values.items():
        gaps += domain.measure_gaps(values[:, column])
    if not np.isfinite(gaps).any():
        column = next(column for column, domain in allowed_values.items() if domain.empty)
        raise DataError(
            f"No row reaches {goal}: the column {inputs.names[column]!r} cannot hold any value in this range."
        )
    order = np.argsort(gaps, kind="stable")
    for row in order[np.isfinite(gaps[order])][:MAX_START_ROWS]:
        candidate = frame.iloc[[row]].copy()
        for column, domain in allowed_values.items():
            current = values[row : row + 1, column]
            if domain.measure_gaps(current)[0] > 0:
                name = frame.columns[column]
                candidate[name] = to_column(domain.find_nearest(float(current[0])), candidate[name], column, inputs)
        candidate = _repair_row(inputs, frame.iloc[[row]], candidate)
        if is_accepted(candidate) and is_within_constraints(inputs, candidate):
            return candidate
    has_constraints = inputs.space is not None and bool(inputs.space.constraints)
    reason = "a constraint of the space" if has_constraints else "rounding, or a step before the trees,"
    hint = " Start from another row with near=..." if near is None and suggest_near else ""
    raise DataError(f"No row was found that reaches {goal}: {reason} prevents it.{hint}")


def _read_start_row(near: DataLike, inputs: TreeInputs, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the row to start from as a frame."""
    if isinstance(near, pd.Series):
        near = near.to_dict()
    if isinstance(near, dict):
        near = pd.DataFrame({name: [value] for name, value in near.items()})
    elif isinstance(near, Sequence | np.ndarray) and not isinstance(near, str):
        try:
            near = [list(near)] if np.ndim(near) == 1 else near
        except ValueError:  # lists of different lengths
            reject("near", "example", "one row", near)
    rows, _ = read_table(inputs.owner, near, list(frame.columns), len(frame.columns))
    if len(rows) > 1:
        raise DataError(f"near must be one row. Got {len(rows):,}.")
    rows = rows.copy()
    for name in rows:
        with suppress(TypeError, ValueError):
            cast = rows[name].astype(frame[name].dtype)
            if (cast == rows[name]).all():  # nothing is lost
                rows[name] = cast
    return rows


def to_user_values(frame: pd.DataFrame, inputs: TreeInputs) -> Floats:
    """Return rows as numbers in the units of the data."""
    if inputs.coded:
        assert inputs.space is not None
        return inputs.space.points(frame).codes
    return inputs.to_numbers(frame).astype(np.float64)


def to_column(value: float, old: pd.Series[Any], column: int, inputs: TreeInputs) -> Any:
    """Return a column of one value, with the old dtype if that can hold it."""
    if inputs.coded:
        assert inputs.space is not None
        return pd.Series(decode(inputs.space.features[column], np.array([value]), old.dtype), index=old.index)
    if column in inputs.categories:
        category = inputs.categories[column][int(value)] if not math.isnan(value) else None
        return pd.Series([category], index=old.index, dtype=old.dtype)
    known_categories = getattr(old.dtype, "categories", None)
    if not math.isnan(value) and (known_categories is None or value in known_categories):
        number = int(value) if value == int(value) and old.dtype.kind in "iu" else value
        with suppress(TypeError, ValueError, OverflowError):  # the dtype cannot hold the value
            cast = pd.Series([number], index=old.index).astype(old.dtype)
            if old.dtype.kind == "f" or float(cast.iloc[0]) == number:
                return cast
    return pd.Series([value], index=old.index)


def _repair_row(inputs: TreeInputs, origin: pd.DataFrame, candidate: pd.DataFrame) -> pd.DataFrame:
    """Return a changed row with more columns changed, if the constraints of the space need that."""
    space = inputs.space
    if space is None or is_within_constraints(inputs, candidate):
        return candidate
    codes = space.points(candidate, lenient=True).codes
    repaired = geometry.repair(space, codes, space.points(origin, lenient=True).codes)
    repaired_columns = [name for j, name in enumerate(space.names) if repaired[0, j] != codes[0, j]]
    if not repaired_columns or np.isnan(repaired).any():
        return candidate
    return candidate.assign(**{name: space.decode(repaired, like=candidate)[name] for name in repaired_columns})


def is_within_constraints(inputs: TreeInputs, candidate: pd.DataFrame) -> bool:
    """Return whether a row meets the constraints of the space."""
    space = inputs.space
    if space is None or not space.constraints:
        return True
    return bool(space.satisfied(space.points(candidate, lenient=True).codes)[0])

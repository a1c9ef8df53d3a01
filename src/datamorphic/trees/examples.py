"""A row that reaches a leaf: a real one, changed no more than it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import is_number
from ..errors import DataError
from ..space.decoding import decode
from ..space.features import Categorical, Feature
from .inputs import Inputs, numbers, table
from .model import Tree, leaf_of
from .rules import Range, box

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
TRIES = 100  # rows to start from, where constraints forbid what comes of the nearest
JUST = 0.01  # of the range of a column: how far inside the box a rounder number may lie


@dataclass(frozen=True)
class Allowed:
    """What may be put into a column to get into a box.

    Attributes
    ----------
    box : Range
        From its low to its high end, both inside, as trees see values.
    single : bool
        Whether they see them in single precision.
    low, high : float
        What of that the column may hold.
    whole : bool
        Whether it holds whole numbers only.
    choices : array or None
        What it may hold of a few values, where it holds no others.
    missing : bool
        Whether nothing may be put there.
    width, typical : float
        The range of the column and its middle value.
    """

    box: Range
    single: bool
    low: float
    high: float
    whole: bool
    choices: Floats | None
    missing: bool
    width: float
    typical: float

    @property
    def empty(self) -> bool:
        """Whether nothing that the column may hold lies in the box."""
        some = self.low <= self.high if self.choices is None else len(self.choices) > 0
        return not some and not self.missing

    def gaps(self, values: Floats) -> Floats:
        """Return how far values lie outside the box, as shares of the range of the column; inf if nothing helps."""
        seen = values.astype(np.float32) if self.single else values
        inside = np.where(np.isnan(values), self.box.missing, (seen >= self.box.low) & (seen <= self.box.high))
        if self.empty:
            return np.where(inside, 0.0, np.inf)
        gaps = np.ones(len(values))
        if self.choices is None and self.low <= self.high:
            known = ~np.isnan(values)
            gaps[known] = np.maximum(self.low - values[known], values[known] - self.high) / self.width
        return np.where(inside, 0.0, gaps.clip(min=np.finfo(float).tiny))

    def nearest(self, value: float) -> float:
        """Return an allowed value next to one that is not."""
        value = self.typical if math.isnan(value) else value
        if self.choices is not None:
            return float(self.choices[np.argmin(np.abs(self.choices - value))]) if len(self.choices) else math.nan
        if self.low > self.high:
            return math.nan
        value = float(round(value)) if self.whole else value
        if self.low <= value <= self.high:
            return value
        below = value < self.low
        if self.whole:
            return self.low if below else self.high
        just = JUST * self.width
        low, high = (self.low, self.low + just) if below else (self.high - just, self.high)
        return roundest(max(low, self.low), min(high, self.high), upwards=below)


def roundest(low: float, high: float, *, upwards: bool = True) -> float:
    """Return the number with the fewest decimals from `low` to `high`, the lowest of these or the highest.

    Examples
    --------
    >>> roundest(2.4500003, 2.509), roundest(0.7123, 0.79999, upwards=False), roundest(-3.7, 12)
    (2.5, 0.79, -3.0)
    """
    for decimals in range(16):
        factor = 10.0**decimals
        scaled = math.ceil(low * factor) if upwards else math.floor(high * factor)
        rounded = scaled / factor
        if low <= rounded <= high:
            return rounded
    return low if upwards else high


def example(
    tree: Tree, node: int, frame: pd.DataFrame, inputs: Inputs, near: Any = None, *, told: str = ""
) -> pd.DataFrame:
    """Return a frame of one row that reaches a node; see `Coverage.example`."""
    values = _values(frame, inputs)
    single = tree.single and tree.told is None
    allowed = {
        column: _allowed(inside, single, column, frame, values[:, column], inputs)
        for column, inside in _insides(tree, node, single).items()
    }
    if near is not None:
        frame = _given(near, inputs, frame)
        values = _values(frame, inputs)
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
                made[name] = _as_column(each.nearest(float(now[0])), made[name], column, inputs)
        if leaf_of(tree, inputs.seen(made))[0] == node and _keeps(inputs, made):
            return made
    bound = inputs.space is not None and bool(inputs.space.constraints)
    why = "a constraint of the space is in the way" if bound else "rounding is in the way"
    raise DataError(f"No row was found that reaches {told}: {why}. Start from another row: near=...")


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


def _values(frame: pd.DataFrame, inputs: Inputs) -> Floats:
    """Return the rows as numbers, in the units of the user."""
    if inputs.coded:
        assert inputs.space is not None
        return inputs.space.points(frame).codes
    return numbers(frame)


def _insides(tree: Tree, node: int, single: bool) -> dict[int, Range]:
    """Return the box of a node in the units of the user, its ends being the outermost values that lie inside."""
    ranges = box(tree, node, told=True)
    return {
        column: Range(math.inf, -math.inf, range_.missing)
        if range_.empty
        else Range(*_ends(range_, single), range_.missing)
        for column, range_ in ranges.items()
    }


def _ends(range_: Range, single: bool) -> tuple[float, float]:
    """Return the lowest and the highest number of the trees' precision that lie in a range."""
    kind = np.float32 if single else np.float64
    low, high = kind(range_.low), kind(range_.high)
    if float(low) <= range_.low and math.isfinite(range_.low):
        low = np.nextafter(low, kind(np.inf))
    if float(high) > range_.high:
        high = np.nextafter(high, kind(-np.inf))
    return float(low), float(high)


def _allowed(
    inside: Range, single: bool, column: int, frame: pd.DataFrame, own: Floats, inputs: Inputs
) -> Allowed:
    """Return what a column may hold of what lies inside: what its feature allows, or what its dtype suggests."""
    known = own[~np.isnan(own)]
    feature = inputs.space[inputs.names[column]] if inputs.space is not None else None
    low, high, whole, choices = inside.low, inside.high, False, None
    if feature is not None:
        missing = feature.nullable
        if isinstance(feature, Categorical):
            choices = _choices(feature, inputs.coded)
        else:
            low, high, whole = max(low, feature.low), min(high, feature.high), feature.kind == "integer"
    else:
        kind = getattr(frame.dtypes.iloc[column], "kind", "O")
        whole, missing = kind in "iu", kind not in "iub"
        choices = np.array([0.0, 1.0]) if kind == "b" else None
    if whole:
        low = math.ceil(low) if math.isfinite(low) else low
        high = math.floor(high) if math.isfinite(high) else high
    if choices is not None:
        seen = choices.astype(np.float32) if single else choices
        choices = choices[(seen >= inside.low) & (seen <= inside.high)]
    filled = inputs.before is not None and inputs.before.fills
    gone = inside.missing and inputs.takes_missing and not filled
    return Allowed(
        Range(inside.low, inside.high, gone),
        single,
        float(low),
        float(high),
        whole,
        choices,
        missing=missing and gone,
        width=_width(feature, known),
        typical=float(np.median(known)) if len(known) else 0.0,
    )


def _width(feature: Feature | None, known: Floats) -> float:
    """Return what counts as the range of a column."""
    if feature is not None and not isinstance(feature, Categorical):
        return 1 / feature.scale
    width = float(np.ptp(known)) if len(known) else 0.0
    return width or max(1.0, float(np.abs(known).max(initial=0.0)))


def _choices(feature: Categorical, coded: bool) -> Floats:
    """Return the categories as trees see them: their codes, or themselves where they are numbers."""
    if coded:
        return np.arange(len(feature.values), dtype=np.float64)
    return np.array([float(v) for v in feature.values if is_number(v) or isinstance(v, bool)])  # type: ignore[arg-type]


def _as_column(value: float, old: pd.Series[Any], column: int, inputs: Inputs) -> Any:
    """Return a column of one value, of the dtype the column has if that can hold it."""
    import pandas as pd

    if inputs.coded:
        assert inputs.space is not None
        return pd.Series(decode(inputs.space.features[column], np.array([value]), old.dtype), index=old.index)
    if not math.isnan(value):
        plain = int(value) if value == int(value) and old.dtype.kind in "iu" else value
        try:
            return pd.Series([plain], index=old.index).astype(old.dtype)
        except (TypeError, ValueError):
            pass  # that dtype cannot hold it
    return pd.Series([value], index=old.index)


def _keeps(inputs: Inputs, made: pd.DataFrame) -> bool:
    """Tell whether a row keeps the constraints of the space."""
    space = inputs.space
    if space is None or not space.constraints:
        return True
    return bool(space.satisfied(space.points(made, lenient=True).codes)[0])

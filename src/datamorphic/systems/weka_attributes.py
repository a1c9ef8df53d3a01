"""Tables and labels in Weka's encoding: nominal values are indices into the declared values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import format_short, pluralise, suggest_name
from .._validation import reject
from ..errors import DataError
from .weka_jvm import Attribute, Floats

Array = npt.NDArray[Any]
TableLike: TypeAlias = "pd.DataFrame | Array | Sequence[Sequence[Any]]"


class NominalValues:
    """The values of a nominal attribute."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = tuple(values)
        try:
            self._code_of_value = {value: float(place) for place, value in enumerate(self.values)}
        except TypeError:
            raise _build_unhashable_error(list(self.values)) from None
        if len(self._code_of_value) < len(self.values):
            raise DataError(f"Declared values must be unique. Got {format_short(list(self.values))}.")
        self.texts = make_unique_texts(self.values)

    def encode(self, values: list[Any]) -> Floats:
        """Return the codes of values; NaN for undeclared ones."""
        get_code, unknown_code = self._code_of_value.get, np.nan
        try:
            return np.array([get_code(value, unknown_code) for value in values], dtype=np.float64)
        except TypeError:
            raise _build_unhashable_error(values) from None


def make_unique_texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Return values as unique texts that Java can read.

    Examples
    --------
    >>> make_unique_texts([1, 2]), make_unique_texts([1, "1"])
    (('1', '2'), ('0: 1', '1: 1'))
    """
    strings = [str(value).encode("utf-8", "replace").decode() for value in values]
    if len(set(strings)) < len(strings):
        strings = [f"{place}: {text}" for place, text in enumerate(strings)]
    return tuple(strings)


# -- rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WekaColumns:
    """The attributes of training rows: names, nominal values, whether it was a frame."""

    names: tuple[Any, ...]
    values: tuple[NominalValues | None, ...]
    framed: bool

    @classmethod
    def from_table(cls, table: TableLike) -> WekaColumns:
        """Return the attributes of a table."""
        framed, numbers = _is_frame(table), _to_numbers(table)
        frame: Any = table if framed else _to_frame(table) if numbers is None else numbers
        names = tuple(frame.columns) if framed else tuple(f"x{i}" for i in range(frame.shape[1]))
        if numbers is not None:
            return cls._build_numeric(names, framed)
        return cls(names, tuple(_find_nominal_values(frame.iloc[:, i], name) for i, name in enumerate(names)), framed)

    @classmethod
    @lru_cache(maxsize=64)
    def _build_numeric(cls, names: tuple[Any, ...], framed: bool) -> WekaColumns:
        return cls(names, (None,) * len(names), framed)

    def to_attributes(self, labels: NominalValues | None) -> tuple[Attribute, ...]:
        """Return the attributes in Weka's form, followed by the class."""
        nominal_texts = [None if nominal is None else nominal.texts for nominal in (*self.values, labels)]
        return tuple(zip(self._attribute_names, nominal_texts, strict=True))

    @cached_property
    def _attribute_names(self) -> tuple[str, ...]:
        return make_unique_texts((*self.names, "class"))

    def encode_rows(self, table: TableLike) -> Floats:
        """Return rows as numbers, with a last column for the class, which is missing."""
        table = self._reorder_columns(table)
        numbers = _to_numbers(table) if not any(self.values) else None
        frame: Any = _to_frame(table) if numbers is None else numbers
        if frame.shape[1] != len(self.names):
            problem = f"was fitted on {pluralise(len(self.names), 'column')}, but the data have {frame.shape[1]}"
            raise DataError(f"The classifier {problem}. Leave out columns that are not features, such as the target.")
        rows = np.empty((len(frame), len(self.names) + 1))
        rows[:, -1] = np.nan
        if numbers is not None:
            rows[:, :-1] = numbers
        else:
            for i, (name, values) in enumerate(zip(self.names, self.values, strict=True)):
                rows[:, i] = _encode_column(frame.iloc[:, i], name, values)
        return rows

    def _reorder_columns(self, table: TableLike) -> Any:
        """Return a frame with the columns of training in their order."""
        if not (self.framed and _is_frame(table)) or tuple(table.columns) == self.names:
            return table
        for name in self.names:
            if name not in table.columns:
                problem = f"The classifier was fitted on a column {name!r}, which is not in the data"
                raise DataError(f"{problem}. {suggest_name(name, table.columns)}")
        return table[list(self.names)]


def _is_frame(table: object) -> TypeGuard[pd.DataFrame]:
    return hasattr(table, "iloc") and hasattr(table, "columns")


def _to_numbers(table: TableLike) -> Array | None:
    """Return a numeric table as an array; None if a column is not numeric."""
    if _is_frame(table):
        array = table.to_numpy()
        # a single column of numeric categories would be converted to numbers
        if table.shape[1] == 1 and table.dtypes.iloc[0].kind not in "iuf":
            return None
    else:
        try:
            array = np.asarray(table)
        except ValueError:
            array = np.empty(0)
    if array.ndim != 2:
        raise DataError(f"Rows must be a frame, or a table of rows and columns. Got {type(table).__name__}.")
    return array if array.dtype.kind in "iuf" else None


def _to_frame(table: TableLike) -> Any:
    return table if _is_frame(table) else pd.DataFrame(table).infer_objects()


def _find_nominal_values(column: pd.Series, name: Hashable) -> NominalValues | None:
    """Return the values of a nominal column; None for a numeric one."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return NominalValues(column.cat.categories.tolist())
    kind = column.dtype.kind
    content_type = pd.api.types.infer_dtype(column) if kind in "OSU" else ""
    if kind in "iuf" or content_type in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
        return None
    if kind == "b" or content_type == "boolean":
        return NominalValues((False, True))
    if kind in "OSU" and content_type in ("string", "mixed", "mixed-integer", "bytes"):
        return NominalValues(_find_unique(_drop_missing(column)))
    problem = f"The column {name!r} is of type {content_type or column.dtype}"
    remedy = "Convert it to one of these, or leave it out"
    raise DataError(f"{problem}. Weka takes numbers, texts, categories and truth values. {remedy}.")


def _encode_column(column: pd.Series, name: Hashable, values: NominalValues | None) -> Floats:
    if values is not None:
        return values.encode(column.tolist())
    try:
        if column.dtype.kind in "iufbO":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        pass
    raise DataError(
        f"The classifier was fitted on numbers in the column {name!r}. Got {format_short(column.tolist()[:3])}."
    )


# -- labels ----------------------------------------------------------------------------------------------------


def to_labels(y: Iterable[Any]) -> Array:
    """Return labels as an array that keeps mixed types."""
    if not hasattr(y, "dtype"):
        items = list(y)
        y = np.fromiter(items, dtype=object, count=len(items))
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"Labels must be a sequence with one label per row. Got an array of shape {labels.shape}.")
    if labels.dtype.kind in "biufUO":
        return labels
    return pd.Series(labels).astype(object).to_numpy()


def find_declared_labels(y: Array, classes: Sequence[Any] | None) -> NominalValues | None:
    """Return the declared labels, or those that occur, sorted; None if `y` has fractional numbers."""
    if isinstance(classes, str):
        reject("classes", "fit", "a sequence of labels", classes)
    if classes is not None:
        declared_labels = tuple(to_labels(classes).tolist())
        try:
            return _make_label_values(declared_labels, tuple(map(type, declared_labels)))
        except TypeError:
            raise _build_unhashable_error(list(declared_labels)) from None
    if y.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            if (y % 1 > 0).any():
                return None
    return NominalValues(_find_unique(_drop_missing(y)))


@lru_cache(maxsize=64)
def _make_label_values(labels: tuple[Any, ...], types: tuple[type, ...]) -> NominalValues:
    """Return labels as nominal values; the cache key includes the types, because 1 and True are equal keys."""
    if len(_drop_missing(to_labels(labels))) < len(labels):
        raise DataError(f"None and NaN are missing values and cannot be labels. Got {format_short(list(labels))}.")
    return NominalValues(labels)


def encode_labels(y: Array, labels: NominalValues) -> Floats:
    """Return the code of each label; NaN if it is missing."""
    codes = labels.encode(y.tolist())
    if unknown_labels := _drop_missing(y[np.isnan(codes)]):
        declared = format_short(list(labels.values))
        raise DataError(f"The label {unknown_labels[0]!r} is not among those declared, {declared}.")
    return codes


def build_class_array(labels: NominalValues, y: Array) -> Array:
    """Return the declared labels as an array like that of the training labels."""
    if y.dtype.kind in "biufU" and len({type(value) for value in labels.values}) == 1:
        return np.array(labels.values)
    return np.fromiter(labels.values, dtype=object, count=len(labels.values))


def _drop_missing(y: pd.Series | Array) -> list[Any]:
    """Return labels or values without missing ones."""
    if y.dtype.kind in "biuU":
        return list(y.tolist())
    return list(y[~pd.isna(y)].tolist())


def _find_unique(values: list[Any]) -> list[Any]:
    """Return the values that occur, sorted."""
    try:
        unique_values = list(dict.fromkeys(values))
    except TypeError:
        raise _build_unhashable_error(values) from None
    try:
        return sorted(unique_values)
    except TypeError:  # of several types
        return sorted(unique_values, key=lambda value: (type(value).__name__, str(value)))


def _build_unhashable_error(values: list[Any]) -> DataError:
    unhashable = next((value for value in values if getattr(value, "__hash__", None) is None), values)
    kind = type(unhashable).__name__
    return DataError(f"Values and labels must be hashable. Got {format_short(unhashable)}, a {kind}.")

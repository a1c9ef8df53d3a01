"""Tables and labels as Weka writes them: all values are numbers, a nominal one is its place among those declared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, plural, reject, short
from ..errors import DataError
from .jvm import Attribute, Floats

Array = npt.NDArray[Any]


class Values:
    """The values of a nominal attribute.

    Examples
    --------
    >>> colours = Values(["red", "blue"])
    >>> colours.codes(["blue", "pink"])
    array([ 1., nan])
    """

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = tuple(values)
        try:
            self._places = {value: float(place) for place, value in enumerate(self.values)}
        except TypeError:
            raise _unhashable(list(self.values)) from None
        if len(self._places) < len(self.values):
            raise DataError(f"Each value is declared once. Got {short(list(self.values))}.")
        self.texts = texts(self.values)

    def codes(self, given: list[Any]) -> Floats:
        """Return the places of values; NaN for those that are not declared."""
        find, nowhere = self._places.get, np.nan
        try:
            return np.array([find(each, nowhere) for each in given], dtype=np.float64)
        except TypeError:
            raise _unhashable(given) from None


def texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Return values in words, no two alike, as Java can read them.

    Examples
    --------
    >>> texts([1, 2]), texts([1, "1"])
    (('1', '2'), ('0: 1', '1: 1'))
    """
    found = [str(value).encode("utf-8", "replace").decode() for value in values]
    if len(set(found)) < len(found):
        found = [f"{place}: {text}" for place, text in enumerate(found)]
    return tuple(found)


# -- rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """The attributes of training rows: names, the values of those that are nominal, and whether it was a frame."""

    names: tuple[Any, ...]
    values: tuple[Values | None, ...]
    framed: bool

    @classmethod
    def of(cls, table: Any) -> Columns:
        """Return the attributes of a table."""
        framed, numbers = _is_frame(table), _numbers(table)
        frame: Any = table if framed else _frame(table) if numbers is None else numbers
        names = tuple(frame.columns) if framed else tuple(f"x{i}" for i in range(frame.shape[1]))
        if numbers is not None:
            return cls._plain(names, framed)
        return cls(names, tuple(_values(frame.iloc[:, i], name) for i, name in enumerate(names)), framed)

    @classmethod
    @lru_cache(maxsize=64)
    def _plain(cls, names: tuple[Any, ...], framed: bool) -> Columns:
        return cls(names, (None,) * len(names), framed)

    def attributes(self, labels: Values | None) -> tuple[Attribute, ...]:
        """Return the attributes in Weka's words, and after them the class."""
        known = [None if each is None else each.texts for each in (*self.values, labels)]
        return tuple(zip(self._texts, known, strict=True))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return texts((*self.names, "class"))

    def codes(self, table: Any) -> Floats:
        """Return rows as Weka's numbers, with a column more, the last, that is missing: the class."""
        table = self._in_order(table)
        numbers = _numbers(table) if not any(self.values) else None
        frame: Any = _frame(table) if numbers is None else numbers
        if frame.shape[1] != len(self.names):
            raise DataError(
                f"It was fitted on {plural(len(self.names), 'column')} and the data have {frame.shape[1]}. "
                "Leave out the columns that are no features, the target for one."
            )
        rows = np.empty((len(frame), len(self.names) + 1))
        rows[:, -1] = np.nan
        if numbers is not None:
            rows[:, :-1] = numbers
        else:
            for i, (name, values) in enumerate(zip(self.names, self.values, strict=True)):
                rows[:, i] = _codes(frame.iloc[:, i], name, values)
        return rows

    def _in_order(self, table: Any) -> Any:
        """Return a frame with the columns it was fitted on, in their order; what has no names stays as it is."""
        if not (self.framed and _is_frame(table)) or tuple(table.columns) == self.names:
            return table
        for name in self.names:
            if name not in table.columns:
                raise DataError(
                    f"It was fitted on a column {name!r}, which is not in the data. {did_you_mean(name, table.columns)}"
                )
        return table[list(self.names)]


def _is_frame(table: Any) -> bool:
    return hasattr(table, "iloc") and hasattr(table, "columns")


def _numbers(table: Any) -> Array | None:
    """Return a table of numbers as an array; None where some column is none of numbers."""
    if _is_frame(table):
        found = table.to_numpy()
        # a lone column of categories that are numbers would come as numbers
        if table.shape[1] == 1 and table.dtypes.iloc[0].kind not in "iuf":
            return None
    else:
        try:
            found = np.asarray(table)
        except ValueError:
            found = np.empty(0)
    if found.ndim != 2:
        raise DataError(f"Rows must be a frame, or a table of rows and columns. Got {type(table).__name__}.")
    return found if found.dtype.kind in "iuf" else None


def _frame(table: Any) -> Any:
    import pandas as pd

    return table if _is_frame(table) else pd.DataFrame(table).infer_objects()


def _values(column: Any, name: Any) -> Values | None:
    """Return the values of a nominal column; None for one of numbers."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return Values(column.cat.categories.tolist())
    kind = column.dtype.kind
    held = pd.api.types.infer_dtype(column) if kind in "OSU" else ""
    if kind in "iuf" or held in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
        return None
    if kind == "b" or held == "boolean":
        return Values((False, True))
    if kind in "OSU" and held in ("string", "mixed", "mixed-integer", "bytes"):
        return Values(_different(_present(column)))
    raise DataError(
        f"The column {name!r} is of type {held or column.dtype}. Weka takes numbers, texts, categories and truth values: "
        "turn it into one of these, or leave it out."
    )


def _codes(column: Any, name: Any, values: Values | None) -> Floats:
    if values is not None:
        return values.codes(column.tolist())
    try:
        if column.dtype.kind in "iufbO":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        pass
    raise DataError(f"It was fitted on numbers in the column {name!r}. Got others: {short(column.tolist()[:3])}.")


# -- labels ----------------------------------------------------------------------------------------------------


def as_labels(y: Any) -> Array:
    """Return labels as an array; labels of several types stay what they are."""
    if not hasattr(y, "dtype"):
        plain = list(y)
        y = np.fromiter(plain, dtype=object, count=len(plain))
    found = np.asarray(y)
    if found.ndim != 1:
        raise DataError(f"There is one label a row. Got an array of shape {found.shape}.")
    if found.dtype.kind in "biufUO":
        return found
    import pandas as pd

    return pd.Series(found).astype(object).to_numpy()


def declared(y: Array, classes: Sequence[Any] | None) -> Values | None:
    """Return the labels there are: as declared, or those that occur, sorted; None where `y` are real numbers."""
    if isinstance(classes, str):
        reject("classes", "fit", "a sequence of labels", classes)
    if classes is not None:
        given = tuple(as_labels(classes).tolist())
        try:
            return _values_of(given, tuple(map(type, given)))
        except TypeError:
            raise _unhashable(list(given)) from None
    if y.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            if (y % 1 > 0).any():
                return None
    return Values(_different(_present(y)))


@lru_cache(maxsize=64)
def _values_of(given: tuple[Any, ...], types: tuple[type, ...]) -> Values:
    """Return labels as values; remembered, with their types, as 1 and True are one key."""
    if len(_present(as_labels(given))) < len(given):
        raise DataError(f"None and NaN are missing values, and no labels. Got {short(list(given))}.")
    return Values(given)


def places(y: Array, labels: Values) -> Floats:
    """Return the place of each label; NaN where it is missing."""
    codes = labels.codes(y.tolist())
    if unknown := _present(y[np.isnan(codes)]):
        raise DataError(f"The label {unknown[0]!r} is not among those declared, {short(list(labels.values))}.")
    return codes


def label_array(labels: Values, y: Array) -> Array:
    """Return the labels that are declared as an array like that of the training labels."""
    if y.dtype.kind in "biufU" and len({type(value) for value in labels.values}) == 1:
        return np.array(labels.values)
    return np.fromiter(labels.values, dtype=object, count=len(labels.values))


def _present(y: Any) -> list[Any]:
    """Return labels or values without those that are missing."""
    if y.dtype.kind in "biuU":
        return list(y.tolist())
    import pandas as pd

    return list(y[~pd.isna(y)].tolist())


def _different(values: list[Any]) -> list[Any]:
    """Return the values that occur, sorted."""
    try:
        found = list(dict.fromkeys(values))
    except TypeError:
        raise _unhashable(values) from None
    try:
        return sorted(found)
    except TypeError:  # of several types
        return sorted(found, key=lambda value: (type(value).__name__, str(value)))


def _unhashable(values: list[Any]) -> DataError:
    bad = next((value for value in values if getattr(value, "__hash__", None) is None), values)
    return DataError(f"Values and labels must be hashable. Got {short(bad)}, a {type(bad).__name__}.")

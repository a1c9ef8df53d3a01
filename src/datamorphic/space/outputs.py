"""`Outputs`: the answers of a system to a batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from .features import Mask
from .labels import to_object_array
from .points import RowSelection
from .serialisation import value_from_json, value_to_json

if TYPE_CHECKING:
    import pyarrow as pa

#: The relative difference that rounding may cause, by precision. Sums of some ten thousand terms lose about a hundred
#: times the distance between neighbouring numbers (1e-7 in single precision) when their order changes.
SINGLE_ROUNDING = 1e-5
HALF_ROUNDING = 1e-2
MAX_CLASSES_AS_FLOATS = 20  # more different whole floats are numbers


class Status(IntEnum):
    """The outcome of one query to the system under test."""

    OK = 0
    ERROR = 1  #: the system raised an exception
    TIMEOUT = 2  #: the system did not answer in time
    DIED = 3  #: the process of the system ended
    MISSING = 4  #: the answer is NaN or None
    MALFORMED = 5  #: the answer is not a label
    NEW_LABEL = 6  #: the answer is a label that the system did not declare; the value is valid
    REFUSED = 7  #: a learner raised an error that says what it does not accept


@dataclass(frozen=True, eq=False)
class Outputs:
    """The answers of a system to a batch, one entry per row.

    Attributes
    ----------
    values : ndarray
        The labels (or numbers). A value is meaningless unless its `status` is OK or NEW_LABEL.
    status : ndarray of int8
        One `Status` per row.
    scores : ndarray, optional
        Decision values or probabilities, one column per class, if they were requested and exist.
    messages : dict
        The error message by row number, for at most a thousand rows per batch.
    """

    values: npt.NDArray[Any]
    status: npt.NDArray[np.int8]
    scores: npt.NDArray[np.float64] | None = None
    messages: dict[int, str] = field(default_factory=dict)

    @staticmethod
    def of(values: npt.NDArray[Any], scores: npt.NDArray[np.float64] | None = None) -> Outputs:
        """Return outputs whose status is OK in every row."""
        return Outputs(values, np.zeros(len(values), dtype=np.int8), scores)

    @staticmethod
    def empty() -> Outputs:
        """Return the outputs of no rows."""
        return Outputs.of(np.empty(0, dtype=object))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def ok(self) -> Mask:
        """Which rows have a valid answer."""
        if not self.status.any():  # nearly always
            return np.ones(len(self.status), dtype=bool)
        return (self.status == Status.OK) | (self.status == Status.NEW_LABEL)

    def to_objects(self) -> npt.NDArray[Any]:
        """Return the answers as an object array, with None where there is no answer."""
        values = self.values.astype(object)
        values[~self.ok] = None
        return values

    def are_numbers(self, *, if_constant: bool) -> bool:
        """Return whether the answers are numbers rather than classes: floats, unless they are a few whole ones.

        A function may answer the classes 0 and 1 as floats. `if_constant` is what a single whole number counts as.
        """
        values = self.values[self.ok]
        if values.dtype.kind != "f":
            return False
        values = values[np.isfinite(values)]
        if (values % 1 != 0).any():
            return True
        count = len(np.unique(values))
        return if_constant if count < 2 else count > MAX_CLASSES_AS_FLOATS

    def take(self, rows: RowSelection) -> Outputs:
        """Return the outputs of some rows."""
        messages: dict[int, str] = {}
        if self.messages:
            failed_rows = np.flatnonzero(self.status[rows])  # only rows that are not OK have messages
            numbers = zip(failed_rows.tolist(), np.arange(len(self))[rows][failed_rows].tolist(), strict=True)
            messages = {i: self.messages[row] for i, row in numbers if row in self.messages}
        scores = None if self.scores is None else self.scores[rows]
        return Outputs(self.values[rows], self.status[rows], scores, messages)

    def same(self, other: Outputs, rounding: float = 0.0) -> Mask:
        """Return which rows have equal labels, or failures of the same kind.

        Real numbers may differ by the relative tolerance `rounding`, since the last bits of a model's answer may depend
        on the size of the batch. Numbers of lower precision may differ by as much as their type rounds.
        """
        if len(self) != len(other):
            raise DataError(f"Outputs are compared row by row, and there are {len(self):,} and {len(other):,} of them.")
        both_ok = self.ok & other.ok
        numbers = (to_real_rows(self.values), to_real_rows(other.values)) if rounding else (None, None)
        if numbers[0] is not None and numbers[1] is not None and numbers[0].shape == numbers[1].shape:
            equal = _find_close(numbers[0], numbers[1], rounding)
        else:
            equal = np.asarray(self.values == other.values)
        if equal.shape != both_ok.shape:  # labels of types that NumPy does not compare
            equal = np.array([a == b for a, b in zip(self.values, other.values, strict=True)], dtype=bool)
        return np.where(both_ok, equal.astype(bool), (self.status == other.status) & ~both_ok)

    @staticmethod
    def concat(parts: Sequence[Outputs]) -> Outputs:
        """Return the outputs of all parts as one."""
        parts = [part for part in parts if len(part)] or list(parts[:1])
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Outputs.empty()
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        messages = {
            start + row: text for start, p in zip(starts, parts, strict=False) for row, text in p.messages.items()
        }
        width = next((part.scores.shape[1] for part in parts if part.scores is not None), None)
        scores = None
        if width is not None:  # failed rows have no scores: NaN
            scores = np.concatenate([np.full((len(p), width), np.nan) if p.scores is None else p.scores for p in parts])
        values = join_values([part.values for part in parts])
        return Outputs(values, np.concatenate([part.status for part in parts]), scores, messages)

    def columns(self) -> dict[str, Any]:
        """Return all outputs as columns of a file; labels of mixed types become JSON text."""
        values: Any = self.values
        if self.values.dtype == object:
            encode_text = cache(json.dumps)  # there are few different labels
            labels_and_ok = zip(self.values.tolist(), self.ok.tolist(), strict=True)
            values = [_encode_label(label, encode_text) if ok else None for label, ok in labels_and_ok]
        elif self.values.dtype.kind == "U":
            values = self.values.tolist()
        messages = np.array([self.messages.get(i) for i in range(len(self))], dtype=object)
        columns = {"output": values, "status": self.status, "message": messages}
        for c in range(0 if self.scores is None else self.scores.shape[1]):
            columns[f"score.{c}"] = self.scores[:, c]  # type: ignore[index]
        return columns

    @property
    def kind_of_values(self) -> str:
        """The type of the labels: "object", "text" or a numeric dtype."""
        kind = self.values.dtype.kind
        if kind not in "OUiufb":
            raise DataError(f"Labels of dtype {self.values.dtype} cannot be stored in a file. Use strings or numbers.")
        return {"O": "object", "U": "text"}.get(kind, self.values.dtype.name)

    @staticmethod
    def from_table(table: pa.Table, dtype: str) -> Outputs:
        """Return the outputs from an Arrow table with the columns that `columns` returned."""
        raw = table["output"].to_pylist()
        if dtype == "object":
            decode_text = cache(lambda text: value_from_json(json.loads(text)))  # there are few different labels
            values = to_object_array([None if text is None else decode_text(text) for text in raw])
        elif dtype == "text":
            values = np.array(raw, dtype=np.str_)
        else:
            if np.dtype(dtype).kind not in "iufb":
                raise DataError(f"The file declares labels of dtype {dtype!r}, which is not numeric.")
            values = table["output"].to_numpy().astype(np.dtype(dtype), copy=True)
        scores = [np.asarray(table[name].to_numpy()) for name in table.column_names if name.startswith("score.")]
        messages = {i: text for i, text in enumerate(table["message"].to_pylist()) if text is not None}
        status = np.asarray(table["status"].to_numpy())
        return Outputs(values, status, np.column_stack(scores) if scores else None, messages)


def find_rounding(values: npt.NDArray[Any]) -> float:
    """Return the relative difference that rounding may cause between real numbers of this precision; 0 for doubles.

    Doubles that all are single-precision numbers were computed in single precision and converted.
    """
    if values.dtype.kind != "f" or not values.size:
        return 0.0
    if values.dtype.itemsize <= 2:
        return HALF_ROUNDING
    if values.dtype.itemsize <= 4:
        return SINGLE_ROUNDING
    with np.errstate(over="ignore", invalid="ignore"):
        single = values.astype(np.float32)
        return SINGLE_ROUNDING if bool(((single == values) | np.isnan(values)).all()) else 0.0


def to_real_rows(values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return answers that are real numbers, or equally many of them per row, as an array; None for other answers."""
    if values.dtype.kind == "f":
        return values
    if values.dtype != object or not len(values):
        return None
    first = values[0]
    if not isinstance(first, tuple) or not first or not isinstance(first[0], float):
        return None
    if any(type(row) is not tuple or len(row) != len(first) for row in values):
        return None
    try:
        rows = np.array(values.tolist())
    except ValueError:
        return None
    return rows if rows.dtype.kind == "f" else None


def _find_close(a: npt.NDArray[Any], b: npt.NDArray[Any], rounding: float) -> Mask:
    """Return which rows of numbers are equal up to rounding."""
    type_rounding = max(find_rounding(a), find_rounding(b))
    relative = max(rounding, type_rounding)
    finite = np.abs(a[np.isfinite(a)])
    absolute = max(rounding, type_rounding * float(finite.max(initial=0.0)))
    close = np.isclose(a, b, rtol=relative, atol=absolute)
    return close if close.ndim == 1 else close.all(axis=1)


def _encode_label(label: object, encode_text: Callable[[str], str]) -> str:
    return encode_text(label) if type(label) is str else json.dumps(value_to_json(label, "label"))


def join_values(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Concatenate arrays of labels. Unlike NumPy, it does not convert numbers to text."""
    arrays = [array for array in arrays if len(array)] or list(arrays[:1])
    families = {"text" if array.dtype.kind in "US" else array.dtype.kind == "O" for array in arrays}
    if len(families) > 1:
        arrays = [array.astype(object) for array in arrays]
    return np.concatenate(arrays)

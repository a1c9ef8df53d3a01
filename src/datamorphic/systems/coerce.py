"""Conversion of the answers that a system returns to `Outputs`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import format_short, pluralise, redact
from ..errors import BadAnswer, SystemDied, SystemHung, format_error_line
from ..space.answers import is_collection, to_hashable
from ..space.labels import MAX_LABEL_CHARACTERS, shorten_label, to_object_array
from ..space.outputs import Outputs, Status

Labels = tuple[Any, ...]
Mask = npt.NDArray[np.bool_]
MAX_LABELS_TO_COMPARE = 32
MAX_MESSAGES_PER_BATCH = 1000  # every row has its status all the same
#: the status of a row whose answer is an error of this type; of any other type: ERROR
STATUS_BY_ERROR: dict[type, Status] = {SystemHung: Status.TIMEOUT, SystemDied: Status.DIED, BadAnswer: Status.MALFORMED}


def to_outputs(
    answer: object,
    rows: int,
    labels: Labels | None = None,
    scores: npt.NDArray[np.float64] | None = None,
    *,
    scalar: bool = False,
) -> Outputs:
    """Convert what a system returned to `Outputs`.

    NaN and None get the status MISSING. A label that is not among `labels` gets NEW_LABEL. A row of several values
    becomes a tuple (multi-label), as does an answer that is a list. Sets and dicts become hashable, see `space.answers`.

    Raises
    ------
    BadAnswer
        If there is not exactly one answer per row.
    """
    if isinstance(answer, np.ndarray) and answer.shape == (rows,) and _has_only_known_labels(answer, labels):
        return Outputs(answer, np.zeros(rows, dtype=np.int8), scores)
    values = _to_vector(answer, rows, scalar)
    missing, known = _find_missing_and_known(values, labels)
    status = np.zeros(rows, dtype=np.int8)
    if not known.all():
        status[~known] = Status.NEW_LABEL
    if missing.any():
        status[missing] = Status.MISSING
    message_templates = {
        Status.MISSING: "it answered {!r}, which is not a label",
        Status.NEW_LABEL: "it answered {!r}, a label it was not known to have",
    }
    flagged_rows = np.flatnonzero(status)[:MAX_MESSAGES_PER_BATCH]
    messages = {int(i): message_templates[Status(status[i])].format(format_short(values[i])) for i in flagged_rows}
    return Outputs(values, status, scores, messages)


def _has_only_known_labels(values: npt.NDArray[Any], labels: Labels | None) -> bool:
    """Return quickly whether integers are all labels of a range; False means only that a closer look is needed."""
    if values.dtype.kind not in "iu" or labels is None or not len(values):
        return False
    low, high = _find_label_range(labels)
    return low <= high and bool(values.min() >= low) and bool(values.max() <= high)


@lru_cache(maxsize=64)
def _find_label_range(labels: Labels) -> tuple[int, int]:
    """Return the first and last label of an integer range; (0, -1) if none."""
    if all(type(label) is int for label in labels) and len(set(labels)) == max(labels) - min(labels) + 1:
        return min(labels), max(labels)
    return 0, -1


def to_plain_array(answer: object, *, scalar: bool = False) -> npt.NDArray[Any]:
    """Return what a system answered as an array of NumPy: a list, a frame, a sparse matrix or a tensor of any library.

    The answers of a function of one case (`scalar`) are kept as they are. In the answer of a function of a frame, lists of one
    label each are a column of labels.
    """
    if hasattr(answer, "toarray"):  # a sparse matrix, multi-label
        answer = answer.toarray()
    if hasattr(answer, "detach") and hasattr(answer, "cpu"):  # a tensor of torch, perhaps on a GPU
        tensor: Any = answer.detach().cpu()
        if "bfloat16" in str(getattr(tensor, "dtype", "")):  # NumPy does not have it
            tensor = tensor.float()
        answer = tensor.numpy()
    if isinstance(answer, np.ma.MaskedArray):
        unmasked_values = np.asarray(answer.data, dtype=object)
        unmasked_values[np.ma.getmaskarray(answer)] = None
        answer = unmasked_values
    if isinstance(answer, list | tuple):
        rows = [to_plain_array(row) if hasattr(row, "detach") else row for row in answer]
        if rows and all(isinstance(row, np.ndarray) and row.shape == rows[0].shape for row in rows):
            answer = np.stack(rows)  # one array per row, such as probabilities
        else:
            answer = _from_list(rows, scalar)
    array = np.asarray(answer)
    if array.dtype == object and array.ndim == 1 and any(map(is_collection, array)):
        array = to_object_array([to_hashable(item) for item in array])
    return array


def _to_vector(answer: object, rows: int, scalar: bool) -> npt.NDArray[Any]:
    values = to_plain_array(answer, scalar=scalar)
    if values.ndim == 0:
        raise BadAnswer(
            f"it gave a single {type(answer).__name__} for {pluralise(rows, 'row')}, not one answer per row. "
            "Wrap a function of one case with scalar=True"
        )
    if len(values) != rows:
        raise BadAnswer(f"it gave {pluralise(len(values), 'answer')} for {pluralise(rows, 'row')}")
    if values.ndim == 2 and values.shape[1] == 1 and not scalar:
        values = values[:, 0]
    if values.ndim > 1:
        values = to_object_array([tuple(row.ravel().tolist()) for row in values])
    if values.dtype == object or (values.dtype.kind == "U" and values.itemsize > 4 * MAX_LABEL_CHARACTERS):
        return to_object_array([shorten_label(value) for value in values])
    return values


def _from_list(answers: Sequence[object], scalar: bool) -> npt.NDArray[Any]:
    """Return a list as an array that keeps types: NumPy would turn mixed numbers into text, NaN into a label."""
    items: list[Any] = [shorten_label(to_hashable(answer)) for answer in answers]
    item_types = {type(a) for a in items}
    if (len(item_types) == 1 and item_types <= {str, int, float, bool}) or item_types == {int, float}:
        return np.array(items)
    if item_types == {tuple} and {len(a) for a in items} == {1} and not scalar:
        return _from_list([a[0] for a in items], scalar)
    return to_object_array(items)


def _find_missing_and_known(values: npt.NDArray[Any], labels: Labels | None) -> tuple[Mask, Mask]:
    """Return masks of missing answers and of known labels."""
    if values.dtype.kind in "iufb":
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        return missing, np.ones(len(values), dtype=bool) if labels is None else _find_labels(values, labels)
    if values.dtype.kind == "U" and labels is None:  # text is never missing
        return np.zeros(len(values), dtype=bool), np.ones(len(values), dtype=bool)
    try:
        codes, unique_values = pd.factorize(values)
    except TypeError:
        unhashable = next(value for value in values if getattr(value, "__hash__", None) is None)
        raise BadAnswer(
            f"it gave a {type(unhashable).__name__} ({format_short(unhashable)}), which is not hashable and "
            "cannot be a label"
        ) from None
    # factorize codes missing values as -1, the last element below; a tuple with a missing value is missing as well
    has_missing = [isinstance(value, tuple) and bool(pd.isna(list(value)).any()) for value in unique_values]
    is_label = [labels is None or value in labels for value in unique_values.tolist()]
    return np.array([*has_missing, True], dtype=bool)[codes], np.array([*is_label, False], dtype=bool)[codes]


def _find_labels(values: npt.NDArray[Any], labels: Labels) -> Mask:
    """Return a mask of the numbers that are labels."""
    numbers = [label for label in labels if isinstance(label, int | float | np.number)]
    if len(numbers) > MAX_LABELS_TO_COMPARE:
        return np.isin(values, np.array(numbers))
    known = np.zeros(len(values), dtype=bool)
    for label in numbers:  # a few comparisons are faster than isin, which sorts
        known |= values == label
    return known


def join_row_answers(answers: Sequence[object], labels: Labels | None = None) -> Outputs:
    """Convert answers that came row by row to `Outputs`; an exception is the outcome of its row.

    Examples
    --------
    >>> outputs = join_row_answers(["yes", BadAnswer("its answer is not JSON"), "no"])
    >>> outputs.ok.tolist(), outputs.messages
    ([True, False, True], {1: 'its answer is not JSON'})
    """
    failed_rows = [row for row, answer in enumerate(answers) if isinstance(answer, BaseException)]
    if not failed_rows:
        return to_outputs(list(answers), len(answers), labels, scalar=True)
    valid_rows = np.setdiff1d(np.arange(len(answers)), failed_rows)
    valid_outputs = to_outputs([answers[row] for row in valid_rows], len(valid_rows), labels, scalar=True)
    values = np.zeros(len(answers), dtype=valid_outputs.values.dtype if len(valid_outputs) else object)
    status = np.zeros(len(answers), dtype=np.int8)
    values[valid_rows], status[valid_rows] = valid_outputs.values, valid_outputs.status
    messages = {int(valid_rows[row]): text for row, text in valid_outputs.messages.items()}
    for row in failed_rows:
        error: Any = answers[row]
        status[row] = STATUS_BY_ERROR.get(type(error), Status.ERROR)
        if len(messages) < MAX_MESSAGES_PER_BATCH:
            messages[row] = redact(format_error_line(error))
    return Outputs(values, status, None, messages)

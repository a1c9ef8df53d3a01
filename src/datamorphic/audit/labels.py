"""Compare the answers of a classifier with the labels of the data, whatever types they were read as."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import to_text
from ..space.labels import shorten_label

UNMATCHED_LABELS = "the labels of the data are not classes of the model: classes="
MAX_MATCHED_CLASSES = 50
#: The chi-square of two labels and two classes above which they are not paired by chance: p = 0.0001 for one pair.
MIN_PAIRING_CHI_SQUARE = 15.1


def find_missing_labels(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which labels are missing: NaN, None or NaT."""
    return np.asarray(pd.isna(pd.Series(list(values), dtype=object)), dtype=bool)


def to_label_texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as text, equal for equal labels: files turn 1 into 1.0 or "1".

    Examples
    --------
    >>> to_label_texts(np.array([1.0, 2.5])).tolist(), to_label_texts(np.array(["1", "a"])).tolist()
    (['1', '2.5'], ['1', 'a'])
    """
    codes, unique_values = pd.factorize(np.asarray(values, dtype=object), use_na_sentinel=False)
    texts = np.array([_format_label(value) for value in unique_values], dtype=object)
    return texts[codes] if len(texts) else np.empty(0, dtype=object)


def _format_label(value: object) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return to_text(shorten_label(value))


def align_labels(
    labels: npt.NDArray[Any], answers: npt.NDArray[Any], declared: tuple[Any, ...] = ()
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """Return the labels of the data and the answers as comparable texts; None if they have no value in common.

    True and False count as 1 and 0 if only one side has them. `declared` are the classes of the model.
    """
    label_texts, answer_texts = to_label_texts(labels), to_label_texts(answers)
    known = {_format_label(value) for value in declared} | set(answer_texts.tolist())
    if not set(label_texts.tolist()) & known:
        numbers = {"True": "1", "False": "0"}
        label_texts, answer_texts = (
            np.array([numbers.get(text, text) for text in texts.tolist()], dtype=object)
            for texts in (label_texts, answer_texts)
        )
        known = {numbers.get(text, text) for text in known}
        if not set(label_texts.tolist()) & known:
            return None
    return label_texts, answer_texts


def match_labels(
    labels: npt.NDArray[Any], answers: npt.NDArray[Any], declared: tuple[Any, ...] = ()
) -> dict[str, Any] | None:
    """Return the class that each label of the data stands for, by its text; None if the rows do not say it clearly.

    Each label belongs to a different class. For any two labels, the counts of the two classes must show which belongs to
    which, more clearly than chance would, whatever their frequencies.

    Examples
    --------
    >>> labels, answers = np.repeat(["no", "yes"], [90, 30]), np.repeat([0, 1, 0, 1], [85, 5, 10, 20])
    >>> match_labels(labels, answers)
    {'no': 0, 'yes': 1}
    >>> match_labels(labels, np.zeros(120, dtype=int), (0, 1)) is None
    True
    """
    from scipy.optimize import linear_sum_assignment

    texts, answer_texts = to_label_texts(labels), to_label_texts(answers)
    names = sorted(set(texts.tolist()))
    classes = {_format_label(value): value for value in [*declared, *dict.fromkeys(answers.tolist())]}
    if not 2 <= len(names) == len(classes) <= MAX_MATCHED_CLASSES:
        return None
    counts = np.array([[((texts == name) & (answer_texts == key)).sum() for key in classes] for name in names])
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / max(1, counts.sum())
    order = linear_sum_assignment(counts - expected, maximize=True)[1]
    counts = counts[:, order].astype(np.float64)
    for i, j in combinations(range(len(names)), 2):
        table = counts[np.ix_([i, j], [i, j])]
        excess, margins = np.linalg.det(table), np.prod([*table.sum(axis=0), *table.sum(axis=1)])
        if margins == 0 or excess <= 0 or table.sum() * excess**2 / margins < MIN_PAIRING_CHI_SQUARE:
            return None
    values = list(classes.values())
    return {name: values[position] for name, position in zip(names, order.tolist(), strict=True)}

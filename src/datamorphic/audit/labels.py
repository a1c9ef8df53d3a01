"""Compare the answers of a classifier with the labels of the data, whatever types they were read as."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import to_text
from ..space.labels import shorten_label


def find_missing_labels(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which labels are missing: NaN, None or NaT."""
    import pandas as pd

    return np.asarray(pd.isna(pd.Series(list(values), dtype=object)), dtype=bool)


def to_label_texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as text, equal for equal labels: files turn 1 into 1.0 or "1".

    Examples
    --------
    >>> to_label_texts(np.array([1.0, 2.5])).tolist(), to_label_texts(np.array(["1", "a"])).tolist()
    (['1', '2.5'], ['1', 'a'])
    """
    import pandas as pd

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

"""Comparison of labels that come from different places: files, models, options."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import to_text
from .._validation import is_number
from .features import Mask

MAX_LABEL_CHARACTERS = 100_000
SHORTENED_CHARACTERS = 40  # of a huge label, which its text begins with
MAX_FLOAT_BITS = 1023  # of integers that a float can hold
TRUTH_WORDS = {"True": "1", "true": "1", "False": "0", "false": "0"}


def shorten_label(label: Any) -> Any:
    """Return a short text instead of a huge label: a text as long as a book, or an integer beyond the range of floats.

    Equal labels have equal texts, and different ones different texts. All other labels are returned as they are.

    Examples
    --------
    >>> shorten_label("yes"), shorten_label(10**400)
    ('yes', '1000000000000000000000000000000000000000... (401 characters, 397fc667)')
    """
    is_huge = type(label) is int and label.bit_length() > MAX_FLOAT_BITS
    if not is_huge and not (isinstance(label, str) and len(label) > MAX_LABEL_CHARACTERS):
        return label
    return _shorten(label)


@lru_cache(maxsize=1024)
def _shorten(label: int | str) -> str:
    text = to_text(label)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[:SHORTENED_CHARACTERS]}... ({len(text):,} characters, {digest})"


def to_label_key(label: object) -> str:
    """Return the text by which a label is compared with labels from elsewhere.

    Files turn numbers into text, a missing value turns integers into floats, and a model may answer True for the
    label 1. None of these makes it another label.

    Examples
    --------
    >>> [to_label_key(label) for label in (True, 1, 1.0, "1", "True", np.float32(0.5), "yes")]
    ['1', '1', '1', '1', '1', '0.5', 'yes']
    """
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool):
        return str(int(label))
    if is_number(label):
        number = float(label)
        return str(int(number)) if number.is_integer() else str(number)
    text = to_text(shorten_label(label))
    return TRUTH_WORDS.get(text, text)


def to_object_array(values: Collection[object]) -> npt.NDArray[Any]:
    """Return values as an array of objects, without NumPy's conversions."""
    return np.fromiter(values, dtype=object, count=len(values))  # tuples stay tuples


def to_label_array(labels: Collection[object]) -> npt.NDArray[Any]:
    """Return labels as an array that keeps their types."""
    types = {type(label) for label in labels}
    return np.array(list(labels)) if len(types) == 1 and types <= {str, int, float, bool} else to_object_array(labels)


def to_label_keys(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the keys of a column of labels as an object array; None for a missing label."""
    keys = np.empty(len(labels), dtype=object)
    if any(isinstance(label, tuple) for label in labels[:1]):  # several labels at once
        keys[:] = [str(label) for label in labels.tolist()]
        return keys
    codes, uniques = pd.factorize(labels)
    unique_keys = np.array([*(to_label_key(label) for label in uniques.tolist()), None], dtype=object)
    keys[:] = unique_keys[codes]  # factorize gives missing values -1: the last
    return keys


def find_agreement(answers: npt.NDArray[Any], labels: npt.NDArray[Any]) -> Mask:
    """Return which answers mean the same as the labels of the data; a missing label agrees with nothing.

    Examples
    --------
    >>> find_agreement(np.array([True, False, True]), np.array([1, 0, 0])).tolist()
    [True, True, False]
    """
    answer_keys, label_keys = to_label_keys(np.asarray(answers)), to_label_keys(np.asarray(labels))
    missing = np.array([key is None for key in label_keys], dtype=bool)
    return np.asarray((answer_keys == label_keys) & ~missing, dtype=bool)

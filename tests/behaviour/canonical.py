"""Turn results into plain values and short digests that ignore wording, timings and rounding noise."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Set
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

SIGNIFICANT_DIGITS = 9
DIGEST_LENGTH = 16  # hexadecimal digits
MAX_DEPTH = 40


def to_plain(value: Any, depth: int = 0) -> Any:
    """Return `value` as JSON types, with floats rounded to nine significant digits."""
    if depth > MAX_DEPTH:
        raise ValueError("The value is nested too deeply to be recorded.")
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _to_plain_float(float(value))
    if value is pd.NA or value is pd.NaT:
        return "missing"
    if isinstance(value, pd.DataFrame):
        columns = {str(name): to_plain(value[name].tolist(), depth + 1) for name in value.columns}
        return {"index": to_plain(value.index.tolist(), depth + 1), "columns": columns}
    if isinstance(value, pd.Series):
        return {"index": to_plain(value.index.tolist(), depth + 1), "values": to_plain(value.tolist(), depth + 1)}
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "values": to_plain(value.tolist(), depth + 1)}
    if isinstance(value, Mapping):
        return {str(name): to_plain(item, depth + 1) for name, item in value.items()}
    if isinstance(value, Set):
        return sorted((to_plain(item, depth + 1) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [to_plain(item, depth + 1) for item in value]
    raise TypeError(f"A {type(value).__name__} cannot be recorded. Choose its numbers in the section.")


def _to_plain_float(number: float) -> Any:
    if not math.isfinite(number):
        return str(number)
    rounded = float(f"{number:.{SIGNIFICANT_DIGITS}g}")
    return 0.0 if rounded == 0 else rounded  # no negative zero


def digest(value: Any) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 hash of the canonical form."""
    text = json.dumps(to_plain(value), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def numeric_columns(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return the numeric and boolean columns of a frame, and the text columns in `names`."""
    numeric = [column for column in frame.columns if column in names or pd.api.types.is_numeric_dtype(frame[column])]
    return frame[numeric]


def key_structure(document: Any) -> Any:
    """Return the keys of a JSON document with the types of their values; lists are collapsed to one item."""
    if isinstance(document, dict):
        return {name: key_structure(item) for name, item in document.items()}
    if isinstance(document, list):
        return ["list", *_merge([key_structure(item) for item in document])]
    if document is None:
        return "null"
    if isinstance(document, bool):
        return "boolean"
    return "number" if isinstance(document, int | float) else "text"


def _merge(structures: list[Any]) -> list[Any]:
    """Return the different structures of a list, all objects merged into one with every key."""
    objects = [structure for structure in structures if isinstance(structure, dict)]
    lists = [structure for structure in structures if isinstance(structure, list)]
    merged: list[Any] = sorted({structure for structure in structures if isinstance(structure, str)})
    if objects:
        names = sorted({name for structure in objects for name in structure})
        merged.append({name: _merge([structure[name] for structure in objects if name in structure]) for name in names})
    if lists:
        merged.append(["list", *_merge([item for structure in lists for item in structure[1:]])])
    return merged

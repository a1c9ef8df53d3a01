"""Turn results into plain values, and these into short fingerprints that can be compared on any processor."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Set
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

DIGEST_LENGTH = 16  # hexadecimal digits
MAX_DEPTH = 40
#: the last digits of a number depend on the processor: some 1e-16 of its size, or of the size of what it is a difference of.
#: Coordinates are of order 1, distances between border pairs go down to 1e-7, and what is recorded adds up some thousand.
SMALLEST_SIZE = 1e-3  # smaller numbers are compared as if they were of this size
BOUND_PER_NUMBER = 1e-10  # a thousand times the noise that was seen


def to_plain(value: Any, depth: int = 0) -> Any:
    """Return `value` as JSON types."""
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
    return (number or 0.0) if math.isfinite(number) else str(number)  # no negative zero


def compute_fingerprint(plain: Any) -> dict[str, Any]:
    """Return a digest of a plain value without its floats, the number of floats, and a weighted sum of their sizes.

    Floats are not hashed, because two that are equal up to noise may still be rounded to different digits. Sums can be
    compared within a bound. Every float counts by the logarithm of its size, so that a change of a small one is seen beside
    large ones, and by a weight of its place, so that two that change places are seen.
    """
    floats: list[float] = []
    text = json.dumps(_take_floats(plain, floats), sort_keys=True, ensure_ascii=True)
    sizes = np.arcsinh(np.array(floats) / SMALLEST_SIZE)
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]
    return {"digest": digest, "floats": len(floats), "sum": math.fsum(sizes * _make_weights(len(floats)))}


def _make_weights(count: int) -> Any:
    """Return weights between 1 and 2, different for every place."""
    return 1 + np.modf(np.arange(count) * (math.sqrt(5) - 1) / 2)[0]


def _take_floats(plain: Any, floats: list[float]) -> Any:
    """Return a plain value with its floats replaced by a mark, and append them to `floats`, in the order of sorted keys."""
    if isinstance(plain, float):
        floats.append(plain)
        return "a float"
    if isinstance(plain, dict):
        return {name: _take_floats(plain[name], floats) for name in sorted(plain)}
    return [_take_floats(item, floats) for item in plain] if isinstance(plain, list) else plain


def is_same_fingerprint(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether the exact parts are equal, and the floats within the bound of rounding noise."""
    bound = BOUND_PER_NUMBER * _make_weights(before["floats"]).sum()
    is_exact = all(before[name] == after[name] for name in ("digest", "floats"))
    return is_exact and abs(before["sum"] - after["sum"]) <= bound


def is_close(before: Any, after: Any, share: float, count: int = 3) -> bool:
    """Return whether the numbers of two summaries differ by at most `share` of them, or by `count`, and all else is equal."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(
            is_close(before[name], after[name], share, count) for name in before
        )
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(
            is_close(*pair, share, count) for pair in zip(before, after, strict=True)
        )
    numbers = [x for x in (before, after) if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) < 2:
        return bool(before == after)
    margin = share * max(abs(x) for x in numbers)
    return abs(before - after) <= (max(margin, count) if all(isinstance(x, int) for x in numbers) else margin)


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

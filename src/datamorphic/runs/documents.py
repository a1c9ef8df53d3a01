"""Documents of a run store: values as JSON has them, written without secrets and read with care."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .._checks import discreet, names_a_secret

DEEPEST = 64  # levels that are read: what is deeper would end in a RecursionError somewhere


class Damaged:
    """What is read where there should be a document."""


DAMAGED = Damaged()


def canonical(value: Any) -> str:
    """Return the one way to write a value as JSON."""
    return json.dumps(value, sort_keys=True)


def parsed(text: Any) -> Any:
    """Return the document that a text stands for, DAMAGED if none: an error would hide all rows beside this one."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return DAMAGED
    few = text.count("[") + text.count("{") < DEEPEST  # as nearly always
    return value if few or not _is_deep(value, DEEPEST) else DAMAGED


def _is_deep(value: Any, left: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left == 0 or any(_is_deep(each, left - 1) for each in inner)


def plain(value: Any, words: Callable[[str], str] = str) -> Any:
    """Return a value as JSON has it, each text in it passed through `words`."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return words(str(value))
    if isinstance(value, int):  # Python refuses to write longer ones in decimal
        return value if value.bit_length() < 10_000 else hex(value)
    if isinstance(value, Mapping):
        return {words(str(key)): plain(each, words) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, words) for each in value]
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return plain(value.tolist(), words)
    return words(str(value))


def safe(value: Any) -> Any:
    """Return a value as JSON has it, without secrets."""
    if isinstance(value, Mapping):
        return {discreet(str(name)): _safe_as(str(name), each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [safe(each) for each in value]
    return plain(value, discreet)


def _safe_as(name: str, value: Any) -> Any:
    harmless = value is None or isinstance(value, bool | int | float | Mapping)
    return safe(value) if harmless or not names_a_secret(name) else "***"

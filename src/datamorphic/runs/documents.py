"""Documents of a run store: values as JSON has them, written without secrets and read with care."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._checks import discreet, jsonable, names_a_secret

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


def plain(value: Any) -> Any:
    """Return a value as JSON has it, to the letter: NaN and infinity too, as they may be what fails."""
    return jsonable(value, finite=False)


def safe(value: Any) -> Any:
    """Return a value as JSON has it, without secrets."""
    if isinstance(value, Mapping):
        return {discreet(str(name)): _safe_as(str(name), each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [safe(each) for each in value]
    return jsonable(value, words=discreet, finite=False)


def _safe_as(name: str, value: Any) -> Any:
    harmless = value is None or isinstance(value, bool | int | float | Mapping)
    return safe(value) if harmless or not names_a_secret(name) else "***"

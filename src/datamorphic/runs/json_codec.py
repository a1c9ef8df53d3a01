"""Documents of a run store: values as JSON has them, written without secrets and read with care."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._text import is_secret_name, redact_parameter, to_jsonable

MAX_JSON_DEPTH = 64  # levels that are read: what is deeper would end in a RecursionError somewhere


class DamagedDocument:
    """What is read where there should be a document."""


DAMAGED = DamagedDocument()


def to_canonical_json(value: Any) -> str:
    """Return the one way to write a value as JSON."""
    return json.dumps(value, sort_keys=True)


def parse_document(text: Any) -> Any:
    """Return the document that a text stands for, DAMAGED if none: an error would hide all rows beside this one."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return DAMAGED
    is_shallow = text.count("[") + text.count("{") < MAX_JSON_DEPTH  # as nearly always
    return value if is_shallow or not _is_deep(value, MAX_JSON_DEPTH) else DAMAGED


def _is_deep(value: Any, max_depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max_depth == 0 or any(_is_deep(child, max_depth - 1) for child in inner)


def to_json_value(value: Any) -> Any:
    """Return a value as JSON has it, to the letter: NaN and infinity too, as they may be what fails."""
    return to_jsonable(value, finite=False)


def to_safe_json_value(value: Any) -> Any:
    """Return a value as JSON has it, without secrets."""
    if isinstance(value, Mapping):
        return {redact_parameter(str(name)): _hide_secret(str(name), item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_safe_json_value(item) for item in value]
    return to_jsonable(value, convert_text=redact_parameter, finite=False)


def _hide_secret(name: str, value: Any) -> Any:
    is_harmless = value is None or isinstance(value, bool | int | float | Mapping)
    return to_safe_json_value(value) if is_harmless or not is_secret_name(name) else "***"

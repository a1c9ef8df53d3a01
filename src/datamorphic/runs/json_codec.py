"""JSON documents of a run store, written without secrets and read defensively."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._text import is_secret_name, redact_parameter, to_jsonable

MAX_JSON_DEPTH = 64  # deeper documents could cause a RecursionError


class DamagedDocument:
    """The type of `DAMAGED`, which is read in place of an invalid document."""


DAMAGED = DamagedDocument()


def to_canonical_json(value: object) -> str:
    """Return a value as JSON in its canonical form."""
    return json.dumps(value, sort_keys=True)


def parse_document(text: str) -> Any:
    """Return the value of a JSON text, or DAMAGED if it is invalid.

    An exception would hide all other rows of the store.
    """
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return DAMAGED
    is_shallow = text.count("[") + text.count("{") < MAX_JSON_DEPTH  # the usual case
    return value if is_shallow or not _is_deep(value, MAX_JSON_DEPTH) else DAMAGED


def _is_deep(value: object, max_depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max_depth == 0 or any(_is_deep(child, max_depth - 1) for child in inner)


def to_json_value(value: object) -> Any:
    """Return a JSON-serialisable value, with NaN and infinity unchanged.

    They may be what makes a case fail.
    """
    return to_jsonable(value, finite=False)


def to_safe_json_value(value: object) -> Any:
    """Return a JSON-serialisable value without secrets."""
    if isinstance(value, Mapping):
        return {redact_parameter(str(name)): _hide_secret(str(name), item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_safe_json_value(item) for item in value]
    return to_jsonable(value, convert_text=redact_parameter, finite=False)


def _hide_secret(name: str, value: object) -> Any:
    is_harmless = value is None or isinstance(value, bool | int | float | Mapping)
    return to_safe_json_value(value) if is_harmless or not is_secret_name(name) else "***"

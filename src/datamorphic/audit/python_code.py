"""Format values as Python code that holds data only.

Column names, labels and paths come from users. They are written as literals, and in comments without line breaks, so that
nothing in them can become code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

MAX_LINE_CHARACTERS = 110


def format_literal(value: object, indent: int = 0) -> str:
    """Return a value as a Python literal, on several lines if one would be too long.

    Examples
    --------
    >>> format_literal({"income": [1.5, float("inf"), None]})
    '{"income": [1.5, float("inf"), None]}'
    >>> print(format_literal('"; import os #'), format_literal("two\\nlines"), format_literal(("a", 1.5, True)))
    '"; import os #' "two\\nlines" ("a", 1.5, True)
    """
    text = _format_inline(value)
    if indent + len(text) <= MAX_LINE_CHARACTERS or not isinstance(value, dict | list) or not value:
        return text
    if isinstance(value, dict):
        parts = [f"{_format_inline(key)}: {format_literal(item, indent + 4)}" for key, item in value.items()]
    else:
        parts = [format_literal(item, indent + 4) for item in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    lines = "".join(f"{' ' * (indent + 4)}{part},\n" for part in parts)
    return f"{start}\n{lines}{' ' * indent}{end}"


def _format_inline(value: object) -> str:
    if hasattr(value, "item") and not isinstance(value, str | bytes):  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{float(value)}")'
    if isinstance(value, str):
        text = str.__repr__(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and "'" not in value and '"' not in value else text
    for kind in (int, float):  # of the base class: a subclass may have any __repr__
        if isinstance(value, kind):
            return kind.__repr__(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_format_inline(key)}: {_format_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_inline, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_inline, value))}]"
    return _format_inline(str(value))

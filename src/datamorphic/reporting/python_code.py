"""Format values as Python code that holds data only.

Column names, labels and paths come from users. They are written as literals, and in comments without line breaks, so that
nothing in them can become code.
"""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from .._typing import FilePath

MAX_LINE_CHARACTERS = 110
MAX_COMMENT_CHARACTERS = 88
MAX_SLUG_CHARACTERS = 40


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


def format_path(path: str, folder: FilePath) -> str:
    """Return the code of a path relative to the folder of a file, so that both can be moved together."""
    absolute = os.path.abspath(path)
    try:
        relative = os.path.relpath(absolute, folder)
    except ValueError:  # on another drive of Windows
        return f"Path({format_literal(absolute)})"
    return f"HERE / {format_literal(Path(relative).as_posix())}"


def to_slug(value: object) -> str:
    """Return a column or label as part of a Python name: lower-case letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", str(value).lower()).strip("_")
    return name[:MAX_SLUG_CHARACTERS].rstrip("_") or "it"


def format_comment(text: str, indent: int = 4, width: int = MAX_COMMENT_CHARACTERS) -> str:
    """Return a text as wrapped lines of comment."""
    start = " " * indent + "# "
    lines = textwrap.wrap(text, width, initial_indent=start, subsequent_indent=start, break_on_hyphens=False)
    return "\n".join(lines)


def render_template(file: Traversable, filters: Mapping[str, Callable[..., str]], **values: object) -> str:
    """Return a Python file from a template; the values must be code already."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    environment.filters.update(filters)
    return environment.from_string(file.read_text(encoding="utf-8")).render(values)


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

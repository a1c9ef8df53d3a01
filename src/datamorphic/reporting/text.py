"""Words of others, made harmless and short enough to show."""

from __future__ import annotations

import math
import re
from typing import Any

from .._text import format_short
from .._validation import is_number

#: what no page, no XML file and no terminal should get: control characters, halves of a character, marks that turn
#: the direction of writing round (and with it what a reader believes to read), and what Unicode says is no character
_HARMFUL_PATTERN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
NO_VALUE_TEXT = "–"  # shown where there is no value


def clean(text: str) -> str:
    """Return a text whose harmful characters are replaced by the sign for that.

    Examples
    --------
    >>> clean("a\\x00b\\x1b[31mc")
    'a�b�[31mc'
    """
    return _HARMFUL_PATTERN.sub("�", text.replace("\r\n", "\n").replace("\r", "\n"))


def to_one_line(text: str) -> str:
    """Return a clean text on one line."""
    return " ".join(clean(text).split())


def to_printable(text: str) -> str:
    """Return a text without anything that could drive a terminal; lines stay."""
    return "".join(
        character if character.isprintable() or character == "\n" else "?"
        for character in clean(text).replace("\t", " ")
    )


def cut(text: str, limit: int) -> str:
    """Return a clean text of at most so many characters; where some are left out, an ellipsis says so.

    Examples
    --------
    >>> cut("a very long name", 8)
    'a very …'
    """
    return clean(text) if len(text) <= limit else clean(text[: max(0, limit - 1)]) + "…"


def format_cell(value: Any) -> Any:
    """Return a value as a table shows it: what is no value as a dash, a number with its last digits rounded."""
    if value is None or (is_number(value) and math.isnan(value)):
        return NO_VALUE_TEXT
    if isinstance(value, str):
        return value
    return format_short(value) if is_number(value) else str(value)


def split_blocks(text: str) -> list[tuple[str, list[str]]]:
    """Return a text as paragraphs and lists: lines that begin with a bullet are the items of one.

    Examples
    --------
    >>> split_blocks("Two things:\\n• one\\n• two")
    [('p', ['Two things:']), ('ul', ['one', 'two'])]
    """
    blocks: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if not line.strip():
            blocks.append(("", []))
            continue
        kind = "ul" if line.startswith("• ") else "p"
        if not blocks or blocks[-1][0] != kind:
            blocks.append((kind, []))
        blocks[-1][1].append(line.removeprefix("• "))
    return [block for block in blocks if block[0]]

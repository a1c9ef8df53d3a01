"""Make text from users harmless and short enough to show."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from numbers import Real

from .._text import format_short

#: Characters that no page, XML file or terminal should get: control characters, lone surrogates, marks that reverse the
#: direction of writing, and noncharacters of Unicode.
_HARMFUL_PATTERN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
NO_VALUE_TEXT = "–"  # shown for a missing value
_NUMBER = re.compile(r"[<>≈~]?\s*[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?\s*(?:%|s|ms)?")


def clean(text: str) -> str:
    """Return a text with harmful characters replaced by the replacement character."""
    return _HARMFUL_PATTERN.sub("�", text.replace("\r\n", "\n").replace("\r", "\n"))


def to_one_line(text: str) -> str:
    """Return a clean text on one line."""
    return " ".join(clean(text).split())


def to_printable(text: str) -> str:
    """Return a text without control characters except line breaks."""
    return "".join(
        character if character.isprintable() or character == "\n" else "?"
        for character in clean(text).replace("\t", " ")
    )


def cut(text: str, limit: int) -> str:
    """Return a clean text of at most `limit` characters; a shortened text ends with an ellipsis.

    Examples
    --------
    >>> cut("a very long name", 8)
    'a very …'
    """
    return clean(text) if len(text) <= limit else clean(text[: max(0, limit - 1)]) + "…"


def format_cell(value: object) -> str:
    """Return a value as the text of a cell: a dash if it is missing, a number with its last digits rounded."""
    if value is None or (isinstance(value, Real) and math.isnan(value)):
        return NO_VALUE_TEXT
    if isinstance(value, str):
        return value
    return format_short(value) if isinstance(value, Real) else str(value)


def find_numeric_columns(rows: Sequence[Sequence[str]], column_count: int) -> list[bool]:
    """Return for each column whether its cells hold numbers, which are right-aligned and sorted as numbers."""
    return [
        any(cell != NO_VALUE_TEXT for cell in column)
        and all(cell == NO_VALUE_TEXT or (any(map(str.isdigit, cell)) and _NUMBER.fullmatch(cell)) for cell in column)
        for column in zip(*rows, strict=True)
    ] or [False] * column_count


def split_blocks(text: str) -> list[tuple[str, list[str]]]:
    """Split a text into paragraphs and lists, whose lines start with a bullet.

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

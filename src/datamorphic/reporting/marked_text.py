"""`MarkedText`: the difference of two texts, as a sentence with marked words."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Literal

from ..space.token_edits import mark_edits
from .text import clean

PieceKind = Literal["same", "drop", "add"]
CONTEXT_CHARACTERS = 80  # on each side of a marked word, in a text that is too long
MAX_PIECE_CHARACTERS = 200  # of one marked piece
MARKS: dict[str, tuple[str, str]] = {"same": ("", ""), "drop": ("[-", "-]"), "add": ("{+", "+}")}
TAGS = {"drop": "del", "add": "ins"}


class MarkedText(str):
    """A text whose dropped and added words are marked: ``a [-good-]{+bad+} film``.

    As a string it has the marks of `wdiff`, for terminals and Markdown. Pages show them as struck out and underlined words.

    Examples
    --------
    >>> MarkedText.compare("A good film.", "A bad film.")
    'A [-good-]{+bad+} film.'
    """

    pieces: tuple[tuple[str, str], ...]

    def __new__(cls, pieces: Iterable[tuple[str, str]]) -> MarkedText:
        """Make a text of pieces: ("same", text), ("drop", text) or ("add", text)."""
        parts = tuple((str(kind), str(text)) for kind, text in pieces if text)
        marked = super().__new__(cls, "".join(f"{MARKS[kind][0]}{text}{MARKS[kind][1]}" for kind, text in parts))
        marked.pieces = parts
        return marked

    def __reduce__(self) -> tuple[object, ...]:
        return MarkedText, (self.pieces,)

    @classmethod
    def compare(cls, before: str, after: str, prefix: str = "") -> MarkedText:
        """Return how one text becomes another one, after a `prefix` that is not marked."""
        return cls([("same", prefix), *_move_spaces(mark_edits(before, after))])

    def shorten(self, limit: int) -> MarkedText:
        """Return the text with clean characters and, if it is longer than `limit`, only with the words around the marks."""
        pieces = [(kind, clean(text)) for kind, text in self.pieces]
        if len(self) <= limit:
            return MarkedText(pieces)
        context = max(10, min(CONTEXT_CHARACTERS, limit // 4))
        last = len(pieces) - 1
        short: list[tuple[str, str]] = []
        length = 0
        for place, (kind, text) in enumerate(pieces):
            if kind != "same":
                text = text if len(text) <= MAX_PIECE_CHARACTERS else f"{text[:MAX_PIECE_CHARACTERS]}…"
            elif place == 0 and last and len(text) > context:
                text = f"…{text[-context:]}"
            elif place == last and len(text) > context:
                text = f"{text[:context]}…"
            elif len(text) > 2 * context:
                text = f"{text[:context]} … {text[-context:]}"
            short.append((kind, text))
            length += len(text)
            if length > limit and place < last:
                short.append(("same", " …"))
                break
        return MarkedText(short)

    def split_sides(self) -> tuple[MarkedText, MarkedText]:
        """Return the text before, with the dropped words marked, and the text after, with the added words marked."""
        before, after = (
            [(kind, text) for kind, text in self.pieces if kind != other_kind] for other_kind in ("add", "drop")
        )
        return MarkedText(before), MarkedText(after)

    def to_html(self) -> str:
        """Return the text as HTML, with all of it escaped but the marks."""
        parts = []
        for kind, text in self.pieces:
            escaped = html.escape(clean(text))
            if not text.strip() and kind != "same":
                escaped = escaped.replace(" ", "␣").replace("\n", "↵")  # otherwise it could not be seen
            parts.append(f"<{TAGS[kind]}>{escaped}</{TAGS[kind]}>" if kind in TAGS else escaped)
        return f'<bdi class="edits">{"".join(parts)}</bdi>'


def is_wordy(value: object) -> bool:
    """Return whether a value is a text of several words, whose changes are worth marking word by word."""
    return isinstance(value, str) and len(value.split(maxsplit=2)) > 1


def _move_spaces(pieces: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pieces in which the space before a replaced word is not marked."""
    moved: list[tuple[str, str]] = []
    waiting: tuple[str, str] | None = None
    for kind, text in [*pieces, ("same", "")]:
        if waiting is not None:
            dropped = waiting[1]
            if kind == "add" and dropped[:1] == " " == text[:1] and dropped.strip() and text.strip():
                moved += [("same", " "), ("drop", dropped[1:]), ("add", text[1:])]
                waiting = None
                continue
            moved.append(waiting)
            waiting = None
        if kind == "drop":
            waiting = (kind, text)
        else:
            moved.append((kind, text))
    return moved

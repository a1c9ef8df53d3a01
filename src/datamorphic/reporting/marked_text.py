"""`MarkedText`: the difference of two texts, as a sentence with marked words."""

from __future__ import annotations

import html
from collections.abc import Iterable

from ..space.token_edits import mark_edits
from .text import clean

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
        marked_text = super().__new__(cls, "".join(f"{MARKS[kind][0]}{text}{MARKS[kind][1]}" for kind, text in parts))
        marked_text.pieces = parts
        return marked_text

    def __reduce__(self) -> tuple[object, ...]:
        return MarkedText, (self.pieces,)

    @classmethod
    def compare(cls, before: str, after: str, prefix: str = "") -> MarkedText:
        """Return how one text becomes another one, after a `prefix` that is not marked."""
        return cls([("same", prefix), *_move_spaces(mark_edits(before, after))])

    def shorten(self, limit: int) -> MarkedText:
        """Return the text with clean characters, and at most about `limit` of them.

        Of a longer text, only the words around the marks are returned.
        """
        pieces = [(kind, clean(text)) for kind, text in self.pieces]
        if len(self) <= limit:
            return MarkedText(pieces)
        context = max(10, min(CONTEXT_CHARACTERS, limit // 4))
        last = len(pieces) - 1
        short_pieces: list[tuple[str, str]] = []
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
            short_pieces.append((kind, text))
            length += len(text)
            if length > limit and place < last:
                short_pieces.append(("same", " …"))
                break
        return MarkedText(short_pieces)

    def split_sides(self) -> tuple[MarkedText, MarkedText]:
        """Return the text before the change and the text after it.

        The dropped words are marked in the first, the added words in the second.
        """
        before, after = (
            [(kind, text) for kind, text in self.pieces if kind != other_kind] for other_kind in ("add", "drop")
        )
        return MarkedText(before), MarkedText(after)

    def to_html(self) -> str:
        """Return the text as HTML, with all of it escaped but the marks."""
        parts = []
        for kind, text in self.pieces:
            escaped_text = html.escape(clean(text))
            if not text.strip() and kind != "same":
                escaped_text = escaped_text.replace(" ", "␣").replace("\n", "↵")  # otherwise it could not be seen
            parts.append(f"<{TAGS[kind]}>{escaped_text}</{TAGS[kind]}>" if kind in TAGS else escaped_text)
        return f'<bdi class="edits">{"".join(parts)}</bdi>'


def has_several_words(value: object) -> bool:
    """Return whether a value is a text of several words, whose changes are worth marking word by word."""
    return isinstance(value, str) and len(value.split(maxsplit=2)) > 1


def _move_spaces(pieces: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pieces in which the space before a replaced word is not marked."""
    new_pieces: list[tuple[str, str]] = []
    last_drop: tuple[str, str] | None = None
    for kind, text in [*pieces, ("same", "")]:
        if last_drop is not None:
            dropped_text = last_drop[1]
            if kind == "add" and dropped_text[:1] == " " == text[:1] and dropped_text.strip() and text.strip():
                new_pieces += [("same", " "), ("drop", dropped_text[1:]), ("add", text[1:])]
                last_drop = None
                continue
            new_pieces.append(last_drop)
            last_drop = None
        if kind == "drop":
            last_drop = (kind, text)
        else:
            new_pieces.append((kind, text))
    return new_pieces

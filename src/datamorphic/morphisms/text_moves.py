"""Token-level moves of texts: plain functions of a text, and `TextMoves`, a test system made of them.

Where a move has a choice, a number from 0 to 1 decides, so that the same text and number give the same new text. A text that
a move cannot change stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._lazy import pd
from ..space.token_edits import split_tokens
from .decorators import datamorphism

NEUTRAL_WORDS = ("today", "here", "again", "also", "there", "then")
SECOND_CHOICE_FACTOR = 7919  # a large prime, so that a second choice does not follow from the first
MIN_TYPO_LETTERS = 4  # shorter words become other words too easily


def _is_word(token: str) -> bool:
    return token.strip()[:1].isalnum()


def _choose(places: Sequence[int], choice: float) -> int:
    return places[min(int(choice * len(places)), len(places) - 1)]


def _replace_token(tokens: list[str], place: int, word: str) -> str:
    token = tokens[place]
    space = token[: len(token) - len(token.lstrip())]
    return "".join([*tokens[:place], space + word, *tokens[place + 1 :]])


def add_word(text: str, choice: float, words: Sequence[str] = NEUTRAL_WORDS) -> str:
    """Return the text with one more word after one of its words.

    Examples
    --------
    >>> add_word("It works.", 0.9, ["here"])
    'It works here.'
    """
    tokens = split_tokens(text)
    places = [place for place, token in enumerate(tokens) if _is_word(token)]
    word = words[int(choice * SECOND_CHOICE_FACTOR) % len(words)]
    if not places:
        return f"{text} {word}" if text.strip() else word
    place = _choose(places, choice) + 1
    return "".join([*tokens[:place], f" {word}", *tokens[place:]])


def drop_word(text: str, choice: float) -> str:
    """Return the text without one of its words.

    Examples
    --------
    >>> drop_word("It works well.", 0.5)
    'It well.'
    """
    tokens = split_tokens(text)
    places = [place for place, token in enumerate(tokens) if _is_word(token)]
    if not places:
        return text
    place = _choose(places, choice)
    shorter = "".join(tokens[:place] + tokens[place + 1 :])
    return shorter if place else shorter.lstrip(" ")


def swap_words(text: str, choice: float) -> str:
    """Return the text with two neighbouring words in the other order.

    Examples
    --------
    >>> swap_words("It works well.", 0.9)
    'It well works.'
    """
    tokens = split_tokens(text)
    places = [place for place in range(len(tokens) - 1) if _is_word(tokens[place]) and _is_word(tokens[place + 1])]
    if not places:
        return text
    place = _choose(places, choice)
    first, second = tokens[place].strip(), tokens[place + 1].strip()
    return _replace_token(split_tokens(_replace_token(tokens, place, second)), place + 1, first)


def change_case(text: str, choice: float) -> str:
    """Return the text with one of its words in capitals, or in small letters if it is in capitals.

    Examples
    --------
    >>> change_case("It works well.", 0.5)
    'It WORKS well.'
    """
    tokens = split_tokens(text)
    places = [place for place, token in enumerate(tokens) if token.upper() != token.lower()]
    if not places:
        return text
    place = _choose(places, choice)
    word = tokens[place].strip()
    return _replace_token(tokens, place, word.lower() if word.isupper() else word.upper())


def make_typo(text: str, choice: float) -> str:
    """Return the text with two inner letters of one word in the other order.

    Examples
    --------
    >>> make_typo("It works well.", 0.4)
    'It wokrs well.'
    """
    tokens = split_tokens(text)
    first = int(choice * len(tokens))
    for place in (*range(first, len(tokens)), *range(first)):  # the first word from there that allows a typo
        word = tokens[place].strip()
        if letters := _find_typo_places(word):
            letter = letters[int(choice * SECOND_CHOICE_FACTOR) % len(letters)]
            typo = word[:letter] + word[letter + 1] + word[letter] + word[letter + 2 :]
            return _replace_token(tokens, place, typo)
    return text


def _find_typo_places(word: str) -> list[int]:
    """Return the places of inner letters that differ from the next inner letter."""
    if len(word) < MIN_TYPO_LETTERS or not word.isalpha():
        return []
    return [place for place in range(1, len(word) - 2) if word[place] != word[place + 1]]


def use_synonym(text: str, choice: float, synonyms: Mapping[str, Sequence[str]]) -> str:
    """Return the text with one word replaced by a synonym; capital letters at the start are kept.

    Examples
    --------
    >>> use_synonym("A Film.", 0.0, {"film": ["movie"]})
    'A Movie.'
    """
    tokens = split_tokens(text)
    synonyms_by_word = {word.lower(): tuple(others) for word, others in synonyms.items()}
    places = [place for place, token in enumerate(tokens) if token.strip().lower() in synonyms_by_word]
    if not places:
        return text
    place = _choose(places, choice)
    word = tokens[place].strip()
    others = synonyms_by_word[word.lower()]
    other = others[int(choice * SECOND_CHOICE_FACTOR) % len(others)]
    return _replace_token(tokens, place, other[:1].upper() + other[1:] if word[:1].isupper() else other)


class TextMoves:
    """A test system with the token-level moves of one column of texts.

    Parameters
    ----------
    column : str
        The column of the texts.
    words : sequence of str
        Words to add.
    synonyms : dict, optional
        Words with the words that may replace them.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> moves = TextMoves("text")
    >>> moves.make_typo(pd.DataFrame({"text": ["It works well."]}), rng=np.random.default_rng(0))["text"].tolist()
    ['It works wlel.']
    """

    def __init__(
        self,
        column: str = "text",
        *,
        words: Sequence[str] = NEUTRAL_WORDS,
        synonyms: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.column, self.words, self.synonyms = column, tuple(words), dict(synonyms or {})

    def _apply(self, frame: pd.DataFrame, rng: np.random.Generator, move: Callable[[str, float], str]) -> Any:
        choices = rng.random(len(frame)).tolist()
        texts = [
            move(text, choice) if isinstance(text, str) else text
            for text, choice in zip(frame[self.column].tolist(), choices, strict=True)
        ]
        return frame.assign(**{self.column: texts})

    @datamorphism
    def add_word(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Add a word to each text."""
        return self._apply(frame, rng, lambda text, choice: add_word(text, choice, self.words))

    @datamorphism
    def drop_word(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Drop a word of each text."""
        return self._apply(frame, rng, drop_word)

    @datamorphism
    def swap_words(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Swap two neighbouring words of each text."""
        return self._apply(frame, rng, swap_words)

    @datamorphism
    def change_case(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Change the case of a word of each text."""
        return self._apply(frame, rng, change_case)

    @datamorphism
    def make_typo(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Make a typo in each text."""
        return self._apply(frame, rng, make_typo)

    @datamorphism
    def use_synonym(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Replace a word of each text by a synonym, where one is known."""
        return self._apply(frame, rng, lambda text, choice: use_synonym(text, choice, self.synonyms))

"""`Text`: a feature whose values are texts, with an edit distance by tokens.

The code of a text is a hash of its characters, so that equal texts have equal codes in every space and every process, whichever
text is encoded first. The texts behind the codes are kept in one table per process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._lazy import pd
from .._text import format_short
from ..errors import DataError, SpaceError
from . import token_edits
from .features import Codes, Feature, FeatureKind, Mask

CODE_BITS = 52  # a float holds whole numbers of this size exactly
TYPICAL_TOKENS = 20  # per text, if no example is known
MAX_COUNTED_EXAMPLES = 1_000  # for the typical number of tokens and the words to add
MAX_EXAMPLES = 10_000  # texts of the data that a feature keeps


class TextTable:
    """The texts behind codes, of this process."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._codes: dict[str, int] = {}

    def encode(self, texts: Iterable[str]) -> list[int]:
        """Return the codes of texts, and keep the texts."""
        codes = self._codes
        return [codes[text] if text in codes else self._add(text) for text in texts]

    def decode(self, codes: Iterable[int]) -> list[str]:
        """Return the texts of codes."""
        try:
            return [self._texts[code] for code in codes]
        except KeyError as error:
            raise DataError(f"There is no text with the code {error} in this process. Encode it first.") from None

    def _add(self, text: str) -> int:
        salt = 0
        while True:
            digest = hashlib.blake2b(
                text.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt.to_bytes(2, "little")
            ).digest()
            code = int.from_bytes(digest, "little") >> (64 - CODE_BITS)
            if self._texts.setdefault(code, text) == text:
                self._codes[text] = code
                return code
            salt += 1  # another text has this code, which is likely only among a hundred million texts


TEXTS = TextTable()


@dataclass(frozen=True, eq=False)
class Text(Feature):
    """A text, such as a sentence or a review.

    The distance of two texts is the number of tokens (words, punctuation marks) to insert, drop or replace. A move up adds a
    word of the examples and a move down drops a token; which one, and where, depends on the text alone.

    Parameters
    ----------
    name : str
        The name of its column.
    nullable : bool
        Whether the value may be missing.
    examples : sequence of str
        Typical texts, to draw samples and words from. Inferred spaces have those of the data.
    synonyms : dict, optional
        Words that may replace a word: ``{"film": ["movie"]}``. They are used by moves and relations of texts.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Text("review")])
    >>> a, b = {"review": "A very good film."}, {"review": "A bad film!"}
    >>> space.distance(a, b)
    3.0
    >>> space.midpoint(a, b)
    {'review': 'A good film.'}
    """

    kind: ClassVar[FeatureKind] = "text"
    numeric: ClassVar[bool] = False
    low: ClassVar[float] = 0.0  # type: ignore[misc]
    high: ClassVar[float] = 2.0**CODE_BITS - 1  # type: ignore[misc]
    step: ClassVar[float] = 1.0  # type: ignore[misc]  # a move changes one token
    name: str
    nullable: bool = field(default=False, kw_only=True)
    examples: Sequence[str] = field(default=(), kw_only=True, repr=False)
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        self._validate_name()
        object.__setattr__(self, "synonyms", _read_synonyms(self.name, self.synonyms))
        if isinstance(self.examples, str) or not isinstance(self.examples, Iterable):
            raise SpaceError(f"Feature {self.name!r}: examples must be a list of texts. Got {self.examples!r}.")
        texts = tuple(self.examples)
        if wrong_values := [text for text in texts if not isinstance(text, str)]:
            raise SpaceError(
                f"Feature {self.name!r}: examples must be texts. Got {format_short(wrong_values[0])!r} of type "
                f"{type(wrong_values[0]).__name__}."
            )
        object.__setattr__(self, "examples", tuple(dict.fromkeys(texts))[:MAX_EXAMPLES])

    def _comparison_key(self) -> tuple[object, ...]:
        return (self.name, self.nullable, tuple(self.synonyms.items()))  # examples are not part of the domain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self._comparison_key() == other._comparison_key()

    def __hash__(self) -> int:
        return hash((self.name, self.nullable))

    def without_examples(self) -> Text:
        """Return the feature without its examples, to be sent to another process."""
        return Text(self.name, nullable=self.nullable, synonyms=self.synonyms) if self.examples else self

    @cached_property
    def scale(self) -> float:
        """One divided by the typical number of tokens."""
        lengths = token_edits.count_tokens(self.examples[:MAX_COUNTED_EXAMPLES])
        return 1 / max(1.0, float(np.mean(lengths))) if len(lengths) else 1 / TYPICAL_TOKENS

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the examples, sorted, each with one space before it."""
        tokens = (
            token.strip() for text in self.examples[:MAX_COUNTED_EXAMPLES] for token in token_edits.split_tokens(text)
        )
        return tuple(f" {token}" for token in sorted({token for token in tokens if token and token[0].isalnum()}))

    @property
    def default(self) -> float:
        """The code of the first example, or of the empty text."""
        return float(TEXTS.encode(self.examples[:1] or [""])[0])

    def describe(self) -> str:
        """Return a description of the domain."""
        return "text" + (", or missing" if self.nullable else "")

    def encode_texts(self, texts: Iterable[str]) -> Codes:
        """Return the codes of texts."""
        return np.array(TEXTS.encode(texts), dtype=np.float64)

    def decode_texts(self, codes: Codes) -> list[str | None]:
        """Return the texts of codes, None for missing ones."""
        missing = np.isnan(codes)
        if not missing.any():
            return list(TEXTS.decode(codes.astype(np.int64).tolist()))
        texts: list[str | None] = [None] * len(codes)
        places = np.flatnonzero(~missing)
        for place, text in zip(places.tolist(), TEXTS.decode(codes[places].astype(np.int64).tolist()), strict=True):
            texts[place] = text
        return texts

    def moved(self, codes: Codes, direction: int, clip: bool) -> Codes:
        """Return a column with one token added (+1) or dropped (-1) per text; missing values stay missing."""
        distinct_codes, inverse = np.unique(codes, return_inverse=True)
        moved_codes = distinct_codes.copy()
        for place, text in enumerate(self.decode_texts(distinct_codes)):
            if text is not None:
                new_text = self._add_word(text) if direction > 0 else _drop_token(text)
                moved_codes[place] = TEXTS.encode([new_text])[0]
        return moved_codes[inverse.ravel()]

    def _add_word(self, text: str) -> str:
        tokens, number = token_edits.split_tokens(text), TEXTS.encode([text])[0]
        last_words = [token for token in tokens if token.strip()[:1].isalnum()][-1:]
        words = self.words or tuple(f" {word.strip()}" for word in last_words)
        if not words:
            return text
        word = words[number % len(words)]
        if not tokens:
            return word.strip()
        for offset in range(len(tokens)):
            place = (number // len(words) + offset) % len(tokens) + 1
            new_tokens = [*tokens[:place], word, *tokens[place:]]
            new_text = "".join(new_tokens)
            if token_edits.split_tokens(new_text) == new_tokens:
                return new_text
        return text + word

    def measure_gaps(self, x: Codes, y: Codes) -> Codes:
        """Return the number of edits between the texts of two columns.

        A value that is missing on one side only counts 1.
        """
        x, y = np.broadcast_arrays(x, y)
        gaps = (np.isnan(x) != np.isnan(y)).astype(np.float64)
        rows = np.flatnonzero((x != y) & ~np.isnan(x) & ~np.isnan(y))
        if rows.size:
            before, after = (TEXTS.decode(side[rows].astype(np.int64).tolist()) for side in (x, y))
            gaps[rows] = token_edits.count_edits(before, after)
        return gaps

    def halve(self, x: Codes, y: Codes, to_first: Mask) -> tuple[Codes, Mask]:
        """Return the texts half-way between two columns, and where the middle edit could not be halved."""
        middles = np.where(to_first, x, y)
        gaps = self.measure_gaps(x, y)
        rows = np.flatnonzero((gaps > 1) & ~np.isnan(x) & ~np.isnan(y))
        if rows.size:
            before, after = (TEXTS.decode(side[rows].astype(np.int64).tolist()) for side in (x, y))
            halves = token_edits.halve(before, after, to_first=to_first[rows].tolist())
            middles[rows] = TEXTS.encode(halves)
        return middles, gaps % 2 == 1

    def split_column(self, column: pd.Series[Any]) -> tuple[list[str], Mask, Mask]:
        """Return the texts of a column, which values are missing, and which are not texts."""
        missing = column.isna().to_numpy(dtype=bool)
        values = column.astype(object).to_list()
        is_text = np.fromiter((isinstance(value, str) for value in values), dtype=bool, count=len(values))
        return values, missing, ~is_text & ~missing


def _drop_token(text: str) -> str:
    tokens, number = token_edits.split_tokens(text), TEXTS.encode([text])[0]
    for offset in range(len(tokens)):
        place = (number + offset) % len(tokens)
        new_tokens = tokens[:place] + tokens[place + 1 :]
        new_text = "".join(new_tokens)
        if token_edits.split_tokens(new_text) == new_tokens:
            return new_text
    return text


def _read_synonyms(name: str, synonyms: object) -> dict[str, tuple[str, ...]]:
    """Return synonyms as tuples, or raise `SpaceError`."""
    if synonyms is None:
        return {}
    if isinstance(synonyms, Mapping):
        table = {
            word: (others,) if isinstance(others, str) else tuple(others)
            for word, others in synonyms.items()
            if isinstance(others, Iterable)
        }
        if len(table) == len(synonyms) and all(
            isinstance(word, str) and word and others and all(isinstance(other, str) and other for other in others)
            for word, others in table.items()
        ):
            return table
    raise SpaceError(
        f"Feature {name!r}: synonyms must be a dict of words and lists of words, as in {{'film': ['movie']}}. Got {synonyms!r}."
    )

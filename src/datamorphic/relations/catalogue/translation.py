"""Relations of machine translation systems: Ying (2024), section 6.7.

Two translations are compared by their words. Punctuation makes no difference, nor do upper and lower case. A violation has one of
the types of Ying's Table 18; they are decided by the words of both inputs and both translations.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._validation import check_types, reject, validate_share
from ...reporting.marked_text import MarkedText
from ..algebra.base import Mask
from ..patterns.inputs import AddElement, Condition, FeedBack, RemoveElement, ReplaceElement, TextInput
from ..patterns.outputs import FullyEqual
from ..patterns.relation import Answers, InputPattern, OutputPattern, PatternRelation, Promise, explain

DOMAIN = "machine translation"
UNTRANSLATED, OTHER_WORDS, SURPLUS = "A", "B", "C"
#: the types of violations of Ying (2024), Table 18
VIOLATION_TYPES: Mapping[str, str] = {
    UNTRANSLATED: "part of one of the two texts is not translated",
    OTHER_WORDS: "the same part of the two texts is translated differently",
    SURPLUS: "something is translated that is not in the text",
}
MIN_SIMILAR_SHARE = 0.95  # of the words of highly similar translations: one word in twenty may differ
MIN_ROUND_TRIP_SHARE = 0.8  # of the words of a text that is translated there and back
DIRECTIONS: Mapping[str, str] = {"eng-spa": "spa-eng"}
#: phrases with their well-known abbreviations
ABBREVIATIONS: Mapping[str, str] = {"as soon as possible": "ASAP", "Mister": "Mr."}
_PLURAL_LIST = """
apples bags birds books cars cats chairs coins cups dogs doors eggs emails flowers friends games gifts guests hats
horses houses keys lamps lemons letters maps oranges papers pencils pens phones photos pictures plants plates
questions rings roads rooms seeds ships shirts shoes songs spoons stamps stars students tables teachers tickets tools
toys trees walls windows words
"""
#: English nouns whose plural is the singular with an s
PLURALS: tuple[str, ...] = tuple(_PLURAL_LIST.split())
_VERB_LIST = """
answered bought brings brought broke buys called carries cleaned cleans closed collects counts draws drinks drives
eats fixed found gave has helps is keeps knows left likes lives lost loves made makes needs opened opens paid paints
plants plays reads repaired saw sees sells sent sings sold takes teaches took used visited visits wants washed washes
watches wears works writes wrote
"""
#: English verb forms that a sentence cannot do without
VERBS: tuple[str, ...] = tuple(_VERB_LIST.split())
_WORD = re.compile(r"[*#@]?\w+(?:['’]\w+)*")
_INNER_MARK = re.compile(r"[.!?](?=\s+\w)")
#: short Spanish words of the plural with those of the singular, for comparisons without number
_SINGULARS = {
    **{"los": "el", "las": "la", "unos": "un", "unas": "una", "sus": "su", "mis": "mi", "tus": "tu", "les": "le"},
    **{"son": "es", "han": "ha"},
}
_UNKNOWN_MARKS = "*#@"  # Apertium's marks of words that it cannot translate or inflect

__all__ = ["translation_relations"]


# -- words -------------------------------------------------------------------------------------------------------------


def list_words(text: str, *, ignore_number: bool = False) -> list[str]:
    """Return the words of a text in lower case, with Apertium's marks of unknown words.

    With `ignore_number`, a Spanish plural and its singular are the same word.

    Examples
    --------
    >>> list_words("*mary Gusta agua."), list_words("Los libros.", ignore_number=True)
    (['*mary', 'gusta', 'agua'], ['el', 'libro'])
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    return [_drop_number(word) for word in words] if ignore_number else words


def _drop_number(word: str) -> str:
    """Return a Spanish word without its accents and without the endings of the plural of nouns and verbs."""
    plain = "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))
    if plain in _SINGULARS:
        return _SINGULARS[plain]
    if len(plain) < 4:
        return plain
    if plain.endswith("ces"):
        return plain[:-3] + "z"  # lápices, lápiz
    return plain.removesuffix("s").removesuffix("n").removesuffix("e").removesuffix("n")


def compare_words(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of words that two texts have in common, in the same order.

    Examples
    --------
    >>> compare_words(["el", "gato", "bebe"], ["el", "gato"])
    0.8
    """
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def mark_difference(first: str, second: str) -> MarkedText:
    """Return two texts as one: words of the first only in [-...-], of the second only in {+...+}.

    Words that differ in punctuation, upper and lower case alone are the same.

    Examples
    --------
    >>> mark_difference("A Mary le gusta el agua.", "*mary Gusta agua.")
    '[-A Mary le-] {+*mary+} Gusta [-el-] agua.'
    """
    old_words, new_words = first.split(), second.split()
    keys, new_keys = ([" ".join(list_words(word)) or word for word in words] for words in (old_words, new_words))
    pieces: list[tuple[str, str]] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, keys, new_keys, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(("same", " ".join(new_words[new_start:new_end])))
            continue
        pieces += [("drop", " ".join(old_words[start:end])), ("add", " ".join(new_words[new_start:new_end]))]
    texts = [piece for piece in pieces if piece[1]]
    separated_pieces = [part for piece in texts for part in (("same", " "), piece)]
    return MarkedText(separated_pieces[1:])


def find_violation_type(source: str, follow_up: str, before: str, after: str) -> str:
    """Return the type of a violation: "A", "B" or "C"; see `VIOLATION_TYPES`.

    `source` and `follow_up` are the texts, `before` and `after` their translations.

    Examples
    --------
    >>> find_violation_type("She sees ASAP.", "She sees it.", "Ve *ASAP.", "Lo ve.")
    'A'
    """
    words, new_words = list_words(before), list_words(after)
    opcodes = SequenceMatcher(None, words, new_words, autojunk=False).get_opcodes()
    changes = [opcode for opcode in opcodes if opcode[0] != "equal"]
    if not changes:
        return SURPLUS  # the same words, though a part of the text is absent
    removed_words = {word for _, start, end, _, _ in changes for word in words[start:end]}
    added_words = {word for _, _, _, start, end in changes for word in new_words[start:end]}
    only_before, only_after = removed_words - set(new_words), added_words - set(words)
    if _has_untranslated(only_before, source) or _has_untranslated(only_after, follow_up):
        return UNTRANSLATED
    if not added_words:
        return UNTRANSLATED
    return SURPLUS if not removed_words else OTHER_WORDS


def _has_untranslated(words: set[str], text: str) -> bool:
    """Return whether some words of a translation are marked as unknown, or are those of the text."""
    own_words = set(list_words(text))
    return any(word[0] in _UNKNOWN_MARKS or (word in own_words and not word.isdigit()) for word in words)


# -- input patterns ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DoubleMark(TextInput):
    """The punctuation mark between two sentences is doubled."""

    pattern = "Addition"
    clause = "the punctuation mark between two sentences of {self.column} is doubled"

    def rewrite(self, text: str) -> str | None:
        """Return the text with one more mark."""
        mark = _INNER_MARK.search(text)
        return None if mark is None else text[: mark.end()] + mark[0] + text[mark.end() :]


@dataclass(frozen=True, kw_only=True)
class DropMark(TextInput):
    """The punctuation mark between two sentences is left out."""

    pattern = "Subtraction"
    clause = "the punctuation mark between two sentences of {self.column} is left out"

    def rewrite(self, text: str) -> str | None:
        """Return the text without the mark."""
        mark = _INNER_MARK.search(text)
        return None if mark is None else text[: mark.start()] + text[mark.end() :]


@dataclass(frozen=True, kw_only=True)
class DropSpace(TextInput):
    """The space between two sentences is left out."""

    pattern = "Subtraction"
    clause = "the space between two sentences of {self.column} is left out"

    def rewrite(self, text: str) -> str | None:
        """Return the text without the space."""
        mark = _INNER_MARK.search(text)
        return None if mark is None else text[: mark.end()] + text[mark.end() :].lstrip()


@dataclass(frozen=True, kw_only=True)
class LowerFirstLetter(TextInput):
    """The first letter of the text becomes a small one."""

    pattern = "Substitution"
    clause = "{self.column} starts with a small letter"

    def rewrite(self, text: str) -> str | None:
        """Return the text with a small first letter; the word "I" is always a capital letter."""
        first = text[:1]
        is_pronoun = not text[1:2].isalpha() and first == "I"
        return None if not first.isupper() or is_pronoun else first.lower() + text[1:]


# -- output patterns ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SameWords(OutputPattern):
    """The translations are the same or highly similar.

    Most of their words are the same, in the same order.
    """

    pattern = "Similar"
    types = VIOLATION_TYPES
    column: str = explain("The column with the text that is translated.", "text")
    at_least: float = explain("The smallest share of words in common, from 0 to 1.", MIN_SIMILAR_SHARE)
    ignore_number: bool = explain("Whether a plural and its singular are the same word.", False)

    def __post_init__(self) -> None:
        validate_share("at_least", type(self).__name__, self.at_least)

    def describe(self) -> str:
        """Return the expectation in words."""
        number = ", apart from singular and plural" if self.ignore_number else ""
        return f"the translations are the same or highly similar (at least {self.at_least:.0%} of their words in the same order{number})"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether all follow-ups have the words of the source."""
        words = list_words(str(before), ignore_number=self.ignore_number)
        return all(
            compare_words(words, list_words(str(after), ignore_number=self.ignore_number)) >= self.at_least
            for after in afters
        )

    def classify(
        self, source: pd.DataFrame, follow_ups: Sequence[pd.DataFrame], before: Answers, afters: Sequence[Answers]
    ) -> list[str]:
        """Return the type of each violation, by the words of its first follow-up."""
        columns = (source[self.column], follow_ups[0][self.column], before, afters[0])
        return [find_violation_type(*map(str, texts)) for texts in zip(*columns, strict=True)]

    def explain_difference(self, before: Any, afters: Sequence[Any]) -> list[tuple[str, str]]:
        """Return both translations as one text, with the differences marked."""
        return [("differs", mark_difference(str(before), str(after))) for after in afters]


@dataclass(frozen=True, kw_only=True)
class DifferentWords(OutputPattern):
    """The translations differ in at least one word."""

    pattern = "Difference"
    clause = "the translations differ in at least one word"
    types = VIOLATION_TYPES

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether no follow-up has exactly the words of the source."""
        return all(list_words(str(before)) != list_words(str(after)) for after in afters)

    def classify(
        self, source: pd.DataFrame, follow_ups: Sequence[pd.DataFrame], before: Answers, afters: Sequence[Answers]
    ) -> list[str]:
        """Return type C: the translation has what the text lacks."""
        return [SURPLUS] * len(before)


@dataclass(frozen=True, kw_only=True)
class ReturnedWords(OutputPattern):
    """The text that is translated back is the same as the original, or similar to it."""

    pattern = "Round Trip"
    clause = (
        "the last translation has at least {self.at_least:.0%} of the words of the original {self.column}, in order"
    )
    types = VIOLATION_TYPES
    column: str = explain("The column with the original text.", "text")
    at_least: float = explain("The smallest share of words in common, from 0 to 1.", MIN_ROUND_TRIP_SHARE)

    def __post_init__(self) -> None:
        validate_share("at_least", type(self).__name__, self.at_least)

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return which texts came back."""
        if frame is None:
            reject("frame", type(self).__name__, "the source cases", frame)
        pairs = zip(frame[self.column], afters[-1], strict=True)
        shares = [compare_words(list_words(str(text)), list_words(str(last))) for text, last in pairs]
        return np.array(shares) >= self.at_least

    def classify(
        self, source: pd.DataFrame, follow_ups: Sequence[pd.DataFrame], before: Answers, afters: Sequence[Answers]
    ) -> list[str]:
        """Return the type of each violation: the original is compared with what came back."""
        types = []
        for text, last in zip(source[self.column], afters[-1], strict=True):
            words, new_words = set(list_words(str(text))), set(list_words(str(last)))
            untranslated = any(word[0] in _UNKNOWN_MARKS for word in new_words) or not new_words - words
            types.append(UNTRANSLATED if untranslated else OTHER_WORDS if words - new_words else SURPLUS)
        return types


# -- the relations -----------------------------------------------------------------------------------------------------


@check_types
def translation_relations(
    *,
    column: str = "text",
    at_least: float = MIN_SIMILAR_SHARE,
    abbreviations: Mapping[str, str] | None = None,
    plurals: Sequence[str] | None = None,
    verbs: Sequence[str] | None = None,
    directions: Mapping[str, str] | None = None,
) -> dict[str, PatternRelation]:
    """Return the relations of Ying (2024) for machine translation, by name.

    "Identical or highly similar" is a share of words in the same order, by default 95%. Punctuation, upper and lower case make no
    difference. Violations have the types A (not translated), B (translated differently) and C (translated though absent).

    Parameters
    ----------
    column : str
        The column with the texts.
    at_least : float
        The share of words that highly similar translations have in common.
    abbreviations : mapping, optional
        Phrases with their abbreviations (HMR5).
    plurals : sequence of str, optional
        Words whose plural is the singular with an s (MRR3).
    verbs : sequence of str, optional
        Words that a sentence cannot do without (MRR8).
    directions : mapping, optional
        Translation directions with their opposites, for texts that are translated there and back. The data need a column
        ``direction`` for that relation.

    Returns
    -------
    dict of str to PatternRelation
        "translation.MR3", "translation.HMR5", "translation.MRR1" to "translation.MRR8" and "translation.round trip".

    Examples
    --------
    >>> import datamorphic as dm
    >>> relations = dm.relations.translation_relations()
    >>> print(relations["translation.MRR7"])
    In the domain of machine translation
    assuming that
    - the input has text
    the following metamorphic relation for robustness should hold
    - translation.MRR7:
      if text starts with a small letter,
      then the translations are the same or highly similar (at least 95% of their words in the same order).
    """
    owner = "translation_relations"
    abbreviations = ABBREVIATIONS if abbreviations is None else abbreviations
    if not isinstance(abbreviations, Mapping) or not abbreviations:
        reject("abbreviations", owner, "a mapping of phrases to abbreviations", abbreviations)
    plurals = _validate_words("plurals", PLURALS if plurals is None else plurals)
    verbs = _validate_words("verbs", VERBS if verbs is None else verbs)
    if not all(word.endswith("s") and len(word) > 2 for word in plurals):
        reject("plurals", owner, "words that end with an s", plurals)
    similar_words = SameWords(column=column, at_least=at_least)
    similar_but_number = replace(similar_words, ignore_number=True)
    singulars = {word: word[:-1] for word in plurals}
    returned_words = ReturnedWords(column=column)
    round_trip = FeedBack(column=column, direction="direction", directions=dict(directions or DIRECTIONS))
    phrase, abbreviation = next(iter(abbreviations.items()))
    # with a statement where the description of the input pattern is too general
    specifications: list[tuple[str, Promise, InputPattern, OutputPattern, str]] = [
        ("MR3", "MR", Condition(), FullyEqual(), f"the same {column} is translated again"),
        (
            "HMR5",
            "HMR",
            ReplaceElement(column=column, forms=dict(abbreviations)),
            similar_words,
            f"a phrase of {column} is abbreviated, such as {phrase!r} by {abbreviation!r}",
        ),
        (
            "MRR1",
            "MRR",
            AddElement(column=column, element=" ", place="final mark"),
            similar_words,
            f"a space is added before the final mark of {column}",
        ),
        ("MRR2", "MRR", DropSpace(column=column), similar_words, ""),
        (
            "MRR3",
            "MRR",
            ReplaceElement(column=column, forms=singulars),
            similar_but_number,
            f"a plural of {column} loses its s",
        ),
        ("MRR4", "MRR", DropMark(column=column), similar_words, ""),
        ("MRR5", "MRR", DoubleMark(column=column), similar_words, ""),
        (
            "MRR6",
            "MRR",
            ReplaceElement(column=column, forms={". ": ", "}),
            similar_words,
            f"a comma replaces the period between two sentences of {column}",
        ),
        ("MRR7", "MRR", LowerFirstLetter(column=column), similar_words, ""),
        (
            "MRR8",
            "MRR",
            RemoveElement(column=column, elements=verbs),
            DifferentWords(),
            f"a verb of {column} is left out",
        ),
        ("round trip", "HMR", round_trip, returned_words, f"{column} is translated there and back"),
    ]
    return {
        f"translation.{name}": (change >> output).named(
            f"translation.{name}",
            promise=promise,
            domain=DOMAIN,
            statement=f"{statement or change.describe()}: {output.describe()}",
        )
        for name, promise, change, output, statement in specifications
    }


def _validate_words(name: str, words: Sequence[str]) -> tuple[str, ...]:
    if isinstance(words, str) or not all(isinstance(word, str) and word for word in words) or not words:
        reject(name, "translation_relations", "a list of words", words)
    return tuple(words)

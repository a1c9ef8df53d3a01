"""Relations of text classifiers: changes of a text that must not change its class.

They are instances of the pattern catalogue. Where a change has a choice, a checksum of the text decides, so that a text always
gets the same follow-up.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..._validation import check_types, is_list, reject, validate_choice
from ...morphisms.text_moves import make_typo, use_synonym
from ...space.frames import TEXT_COLUMN
from ..patterns.inputs import AddElement, TextInput
from ..patterns.outputs import Equal
from ..patterns.relation import PatternRelation, explain
from .first_names import FIRST_NAMES, build_name_pattern, find_group

TEXT_DOMAIN = "text classification"
FINAL_MARKS = ".!?…。！？"
NEUTRAL_PHRASES = ("By the way, ", "As I said, ", "Well, ")


def choose_number(text: str) -> int:
    """Return a number that depends on the text alone."""
    return zlib.crc32(text.encode("utf-8", "replace"))


def _choose_share(text: str) -> float:
    return choose_number(text) / 2**32


@dataclass(frozen=True, kw_only=True)
class ChangeCase(TextInput):
    """The text is written in other letters: capitals, or small letters."""

    pattern = "Input Equivalence"
    way: str = explain("'upper' or 'lower'.", "upper")

    def __post_init__(self) -> None:
        validate_choice("way", "ChangeCase", self.way, ("upper", "lower"))

    def describe(self) -> str:
        """Return the change in words."""
        return f"{self.column} is written in {'capitals' if self.way == 'upper' else 'small letters'}"

    def rewrite(self, text: str) -> str:
        """Return the text in the other letters."""
        return text.upper() if self.way == "upper" else text.lower()


@dataclass(frozen=True, kw_only=True)
class ChangeFinalMark(TextInput):
    """The text loses its final mark, or gets one if it has none."""

    pattern = "Input Equivalence"
    clause = "{self.column} loses the mark at its end, or gets one"

    def rewrite(self, text: str) -> str | None:
        """Return the text with or without its final mark."""
        stripped_text = text.rstrip()
        if not stripped_text:
            return None
        return stripped_text.rstrip(FINAL_MARKS) if stripped_text[-1] in FINAL_MARKS else f"{stripped_text}."


@dataclass(frozen=True, kw_only=True)
class WidenSpaces(TextInput):
    """Every space is doubled, and there is one at the end."""

    pattern = "Input Equivalence"
    clause = "the spaces in {self.column} are doubled"

    def rewrite(self, text: str) -> str:
        """Return the text with wider spaces."""
        return f"{text.replace(' ', '  ')} "


@dataclass(frozen=True, kw_only=True)
class MisspellWord(TextInput):
    """Two neighbouring letters of one word change places."""

    pattern = "Noise"
    clause = "one word of {self.column} has two of its letters swapped"

    def rewrite(self, text: str) -> str:
        """Return the text with a typo."""
        return make_typo(text, _choose_share(text))


def _is_words(words: object) -> bool:
    return isinstance(words, str) or (is_list(words) and all(isinstance(word, str) for word in words))


@dataclass(frozen=True, kw_only=True)
class UseSynonym(TextInput):
    """One word is replaced by a synonym."""

    pattern = "Query-Meaning"
    synonyms: Mapping[str, Sequence[str]] = explain("Words with the words that may replace them.")

    def __post_init__(self) -> None:
        is_table = isinstance(self.synonyms, Mapping) and all(map(_is_words, self.synonyms.values()))
        if not is_table or not self.synonyms:
            reject(
                "synonyms", "UseSynonym", "a dict of words and lists of words, as in {'film': ['movie']}", self.synonyms
            )
        table = {
            word: (others,) if isinstance(others, str) else tuple(others) for word, others in self.synonyms.items()
        }
        object.__setattr__(self, "synonyms", table)

    def describe(self) -> str:
        """Return the change in words."""
        word, others = next(iter(self.synonyms.items()))
        return f"one word of {self.column} is replaced by a synonym, such as {word!r} by {others[0]!r}"

    def rewrite(self, text: str) -> str:
        """Return the text with a synonym."""
        return use_synonym(text, _choose_share(text), self.synonyms)


@dataclass(frozen=True, kw_only=True)
class SwapFirstName(TextInput):
    """A first name is replaced by a first name of another group, everywhere in the text."""

    pattern = "Substitution"
    clause = "a first name in {self.column} becomes one of another group"
    groups: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: FIRST_NAMES, metadata={"help": "Groups with their first names."}
    )

    def __post_init__(self) -> None:
        is_table = isinstance(self.groups, Mapping) and len(self.groups) > 1
        if not is_table or not all(not isinstance(names, str) and len(names) for names in self.groups.values()):
            reject(
                "groups", "SwapFirstName", "a dict of at least two groups and lists of their first names", self.groups
            )

    def rewrite(self, text: str) -> str | None:
        """Return the text with the other name."""
        pattern = build_name_pattern(tuple(name for names in self.groups.values() for name in names))
        match = pattern.search(text)
        if match is None:
            return None
        name, number = match[0], choose_number(text)
        own_group = find_group(name, self.groups)
        others = [group for group in self.groups if group != own_group]
        names = self.groups[others[number % len(others)]]
        other_name = names[number // len(others) % len(names)]
        return build_name_pattern((name,)).sub(other_name, text)


@check_types
def text_relations(
    column: str = TEXT_COLUMN,
    *,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, PatternRelation]:
    """Return relations of text classifiers by name: the class stays the same.

    "text.letter case", "text.punctuation", "text.spaces" and "text.neutral words" are hypotheses: a classifier may have reasons
    to break them. "text.typo" is a relation for robustness. "text.first name" replaces a first name by one of another group.
    "text.synonym" is there if `synonyms` are given.

    Parameters
    ----------
    column : str
        The column of the texts.
    synonyms : dict, optional
        Words with the words that may replace them: ``{"film": ["movie"]}``.
    names : dict, optional
        Groups with their first names; by default short built-in lists.

    Returns
    -------
    dict of PatternRelation

    Examples
    --------
    >>> import datamorphic as dm
    >>> predict = lambda texts: ["loud" if text.isupper() else "quiet" for text in texts]
    >>> texts = [f"This is text number {i}, and it is fine." for i in range(50)]
    >>> relations = dm.relations.text_relations()
    >>> report = dm.check(predict, texts, relations=[relations["text.letter case"], relations["text.spaces"]])
    >>> report.table[["relation", "violated"]].values.tolist()
    [['text.letter case', 50], ['text.spaces', 0]]
    """
    if not isinstance(column, str) or not column:
        reject("column", "text_relations", "the name of a column", column)
    same_class = Equal()
    relations = {
        "letter case": (ChangeCase(column=column) >> same_class, "HMR"),
        "punctuation": (ChangeFinalMark(column=column) >> same_class, "HMR"),
        "spaces": (WidenSpaces(column=column) >> same_class, "HMR"),
        "neutral words": (AddElement(column=column, element=NEUTRAL_PHRASES[0], place="start") >> same_class, "HMR"),
        "typo": (MisspellWord(column=column) >> same_class, "MRR"),
        "first name": (
            (SwapFirstName(column=column) if names is None else SwapFirstName(column=column, groups=names))
            >> same_class,
            "HMR",
        ),
    }
    if synonyms is not None:
        relations["synonym"] = (UseSynonym(column=column, synonyms=synonyms) >> same_class, "HMR")
    return {
        f"text.{name}": relation.named(f"text.{name}", promise=promise, domain=TEXT_DOMAIN)  # type: ignore[arg-type]
        for name, (relation, promise) in relations.items()
    }

"""Simple English texts of our own, as source cases for machine translation systems."""

from __future__ import annotations

from dataclasses import dataclass

from .._lazy import pd
from .._tables import read_document


@dataclass(frozen=True)
class TranslationTexts:
    """The texts of sentences.toml."""

    sentences: tuple[str, ...]  # one sentence each, with a verb and a plural
    pairs: tuple[str, ...]  # two sentences each, with a phrase that has a well-known abbreviation


def read_texts() -> TranslationTexts:
    """Return the texts, of one sentence and of two."""
    return read_document(__package__, "sentences.toml", TranslationTexts)


def load_sentences() -> pd.DataFrame:
    """Return the texts as a frame with the columns ``text`` and ``direction``.

    They are 114 texts, of one or two sentences. The relations of ``dm.relations.translation_relations`` apply to at least 50 of them each.

    Examples
    --------
    >>> from datamorphic.data.sentences import load_sentences
    >>> load_sentences().iloc[0].to_dict()
    {'text': 'Mary likes apples.', 'direction': 'eng-spa'}
    """
    texts = read_texts()
    return pd.DataFrame({"text": [*texts.sentences, *texts.pairs], "direction": "eng-spa"})

"""Our own sentences: enough of them for every relation of machine translation."""

from __future__ import annotations

import datamorphic as dm
from datamorphic.data.sentences import load_sentences, read_texts

MIN_GROUPS = 50  # per relation


def test_every_relation_applies_to_enough_sentences() -> None:
    frame = load_sentences()
    assert len(frame) == len(read_texts().sentences) + len(read_texts().pairs) >= 100
    assert not frame["text"].duplicated().any()
    assert set(frame["direction"]) == {"eng-spa"}
    counts = {
        name: int(relation.applies(frame).sum()) for name, relation in dm.relations.translation_relations().items()
    }
    assert min(counts.values()) >= MIN_GROUPS, counts


def test_sentences_are_simple() -> None:
    for text in read_texts().sentences:
        assert text[0].isupper()
        assert text.endswith(".")
        assert text.count(".") == 1
    for text in read_texts().pairs:
        assert text[0].isupper()
        assert text.endswith(".")
        assert text.count(". ") == 1

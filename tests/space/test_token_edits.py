"""Tokens of texts and the edits between them."""

from __future__ import annotations

import pytest

from datamorphic.space import token_edits
from datamorphic.space.token_edits import count_edits, halve, mark_edits, split_tokens
from support.cases import LONG, in_one_test


@in_one_test(
    ("text", "tokens"),
    [
        ("", []),
        ("   ", ["   "]),
        ("Don't go, Anna! ", ["Don't", " go", ",", " Anna", "!", " "]),
        ("日本 go", ["日", "本", " go"]),
        ("ok 👩‍👩‍👧👍🏽 🇩🇪", ["ok", " 👩‍👩‍👧", "👍🏽", " 🇩🇪"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", " עולם"]),
        ("a\r\n\tb", ["a", "\r\n\tb"]),
    ],
)
def test_tokens_join_to_the_text(text, tokens):
    assert split_tokens(text) == tokens
    assert "".join(tokens) == text


def test_no_half_lies_between_texts_of_one_edit():
    assert halve(["a b", "a b"], ["a c", "a c"], to_first=[True, False]) == ["a b", "a c"]
    assert halve(["same"], ["same"], to_first=[False]) == ["same"]


def test_words_are_not_glued_together():
    (half,) = halve(["x-y"], ["x y"], to_first=[True])
    assert half == "x- y"
    assert count_edits(["x-y", half], [half, "x y"]).tolist() == [1, 1]


def test_long_texts_are_compared_position_by_position(monkeypatch):
    monkeypatch.setattr(token_edits, "MAX_CELLS_PER_PAIR", 20)
    a, b = "p " + "a b c d e f " * 5, "q " + "a c b d e g " * 5 + "more words"
    edits = count_edits([a], [b])[0]
    (half,) = halve([a], [b], to_first=[True])
    assert 15 < edits < 25
    assert half.startswith("q a c b")
    assert half.endswith("c d e f ")
    assert mark_edits(a, b)[-2:] == [("drop", a[:-1]), ("add", b)] or mark_edits(a, b)[0][0] == "drop"


@pytest.mark.slow
def test_very_long_texts_do_not_hang():
    words = 70_000 if LONG else 20_000
    a, b = "word and more " * words, "other and less " * words
    assert count_edits([a], [b])[0] == 2 * words
    assert len(halve([a], [b], to_first=[True])[0]) > 12 * words

"""The batched edit distance of texts equals the plain one, and halves lie half-way."""

from __future__ import annotations

import numpy as np
import plain_token_edits as plain

from datamorphic.space.token_edits import bound_edits, count_edits, halve, mark_edits, split_tokens

PIECES = ["a", " a", " b", " bb", ",", "-", "!", " x", "  y", " 日", "本", " 👩‍👩‍👧", "\n", " שלום", " don't"]


def draw_texts(seed: int, count: int = 400) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(PIECES, rng.integers(0, 12))) for _ in range(count)]


def test_edits_equal_the_plain_table():
    a, b = draw_texts(0), draw_texts(1)
    expected = [plain.count_edits(split_tokens(x), split_tokens(y)) for x, y in zip(a, b, strict=True)]
    assert count_edits(a, b).tolist() == expected
    assert count_edits(a, b).tolist() == expected  # from the cache


def test_halves_lie_on_a_shortest_path():
    a, b = draw_texts(2), draw_texts(3)
    to_first = [row % 2 == 0 for row in range(len(a))]
    halves = halve(a, b, to_first=to_first)
    whole, before, after = count_edits(a, b), count_edits(a, halves), count_edits(halves, b)
    assert (before + after == whole).all()
    assert (np.abs(before - after) <= 1).mean() > 0.99  # words without a space between them force another cut
    odd = (whole % 2 == 1) & (np.abs(before - after) == 1)
    assert (before[odd] < after[odd]).tolist() == np.array(to_first)[odd].tolist()


def test_bound_is_no_more_than_the_edits():
    a, b = draw_texts(4, 40), draw_texts(5, 30)
    bound = bound_edits(a, b)
    exact = np.array([[plain.count_edits(split_tokens(x), split_tokens(y)) for y in b] for x in a])
    assert (bound <= exact).all()
    assert (bound == 0).sum() >= sum(x == y for x in a for y in b)


def test_marks_contain_both_texts():
    for a, b in zip(draw_texts(6, 100), draw_texts(7, 100), strict=True):
        pieces = mark_edits(a, b)
        assert "".join(text for kind, text in pieces if kind != "add") == a
        assert "".join(text for kind, text in pieces if kind != "drop") == b

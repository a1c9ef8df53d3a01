"""Token-level moves of texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.system import TestSystem
from datamorphic.morphisms.text_moves import (
    TextMoves,
    add_word,
    change_case,
    drop_word,
    make_typo,
    swap_words,
    use_synonym,
)
from datamorphic.space.token_edits import count_edits
from support.cases import in_one_test

TEXT = "The quick film, by Anna, works well."
MOVES = {
    "add": lambda text, choice: add_word(text, choice, ["also"]),
    "drop": drop_word,
    "case": change_case,
    "typo": make_typo,
    "synonym": lambda text, choice: use_synonym(text, choice, {"film": ["movie"]}),
}


@in_one_test("name", MOVES)
@in_one_test("choice", [0.0, 0.3, 0.6, 0.999])
def test_a_move_is_one_edit(name, choice):
    moved = MOVES[name](TEXT, choice)
    assert count_edits([TEXT], [moved])[0] == (2 if name == "drop" and choice == 0.0 else 1)  # "quick" loses its space
    assert MOVES[name](TEXT, choice) == moved


def test_swapped_words_are_the_same_words():
    swapped = swap_words(TEXT, 0.1)
    assert swapped != TEXT
    assert sorted(swapped.lower()) == sorted(TEXT.lower())


@pytest.mark.parametrize("text", ["", "   ", "!?", "👍"])
def test_texts_without_words_are_left_alone(text):
    for move in (drop_word, swap_words, change_case, make_typo):
        assert move(text, 0.5) == text
    assert add_word(text, 0.5, ["so"]).strip().endswith("so")


def test_test_system():
    system = TestSystem.collect(TextMoves("t", synonyms={"film": ["movie"]}))
    assert set(system.datamorphisms) == {
        "add_word",
        "drop_word",
        "swap_words",
        "change_case",
        "make_typo",
        "use_synonym",
    }
    frame = pd.DataFrame({"t": [TEXT, "A film."], "x": [1, 2]})
    moves = TextMoves("t", synonyms={"film": ["movie"]})
    for name in system.datamorphisms:
        moved = getattr(moves, name)(frame, np.random.default_rng(1))
        assert moved["x"].tolist() == [1, 2]
        assert moved["t"].tolist() != frame["t"].tolist()
    assert moves.use_synonym(frame, np.random.default_rng(0))["t"].tolist() == [
        TEXT.replace("film", "movie"),
        "A movie.",
    ]


def test_laws_of_a_text_space():
    report = dm.laws(
        dm.Space([dm.Text("t", examples=[TEXT, "A film.", "No good at all!"]), dm.Integer("n", 0, 5)]), examples=60
    )
    assert report.holds, report.describe()

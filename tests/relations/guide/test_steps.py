"""Questions and the reading of answers."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamorphic.errors import WrongAnswer
from datamorphic.relations.guide.steps import (
    MAX_ANSWER_CHARACTERS,
    Choice,
    Question,
    format_item,
    format_list,
    pick_names,
    read_list,
    read_number,
    read_pairs,
    read_range,
    read_whole_number,
    read_yes_no,
    split_settings,
)
from support.cases import in_one_test

COLOURS = Question(id="side", text="Which?", choices=(Choice("red"), Choice("green"), Choice("grey")))


@pytest.mark.parametrize(("text", "value"), [("1", "red"), ("GREEN", "green"), ("r", "red"), (" 3 ", "grey")])
def test_a_choice_is_named_by_number_value_or_beginning(text, value):
    assert COLOURS.accept(text) == value


@in_one_test(
    ("text", "message"),
    [
        ("", "The answer is empty. Expected one of: red, green, grey."),
        ("4", "There is no choice 4. Expected a number from 1 to 3, or a name."),
        ("0", "There is no choice 0. Expected a number from 1 to 3, or a name."),
        ("gr", "'gr' may be 'green' or 'grey'. Expected one of them."),
        ("geen", "'geen' is not among the choices. Did you mean 'green'?"),
        ("re\x00d", "The answer has control characters. Expected one line of plain text."),
        ("re\nd", "The answer has control characters. Expected one line of plain text."),
        ("x" * (MAX_ANSWER_CHARACTERS + 1), "The answer has 2,001 characters. Expected at most 2,000."),
    ],
)
def test_a_wrong_answer_says_what_was_expected(text, message):
    with pytest.raises(WrongAnswer) as caught:
        COLOURS.accept(text)
    assert str(caught.value) == message


def test_an_empty_answer_is_the_default_and_numbers_may_be_answers():
    question = Question(id="side", text="?", choices=(Choice("10"), Choice("20")), open=True, default="10")
    assert question.accept(" ") == "10"
    assert question.accept("2") == "2"  # not the second choice
    assert question.document()["choices"][1] == {"value": "20", "text": "", "depth": 0}


@in_one_test(
    ("read", "text", "message"),
    [
        (read_number, "ten", "'ten' is not a number"),
        (read_number, "inf", "'inf' is not a number"),
        (read_number, "nan", "'nan' is not a number"),
        (read_number, "1_0", "'1_0' is not a number"),
        (read_whole_number, "0", "'0' is out of range. Expected a whole number from 1 to 1,000."),
        (read_whole_number, "1.5", "out of range"),
        (read_yes_no, "perhaps", "'perhaps' is neither yes nor no."),
        (read_list, "a,,b", "An item of the list is empty"),
        (read_list, "'a", "A quotation mark (') is not closed"),
        (read_list, ",".join("ab" * 30), "The list has 60 items. Expected at most 50."),
        (read_pairs, "up", "Expected pairs with an arrow"),
        (read_pairs, "a -> b -> c", "Expected pairs with an arrow"),
        (read_range, "3 to 1", "The range 3 to 1 is empty"),
        (split_settings, "age 18 to 70", "'age 18 to 70' is not understood"),
    ],
)
def test_values_that_are_wrong(read, text, message):
    with pytest.raises(WrongAnswer) as caught:
        read(text)
    assert message in str(caught.value)


def test_names_are_known_and_different():
    assert pick_names(["Age", "income"], ["age", "income"]) == ["age", "income"]
    with pytest.raises(WrongAnswer, match=r"There is no column 'agee'\. Did you mean 'age'\?"):
        pick_names(["agee"], ["age", "income"])
    with pytest.raises(WrongAnswer, match="'age' is named twice"):
        pick_names(["age", "AGE"], ["age", "income"])


@given(
    st.lists(st.text(st.characters(exclude_characters="'\"", exclude_categories=["C", "Z"])), min_size=1, max_size=5)
)
def test_a_list_is_read_back_as_it_was_written(items):
    assert read_list(format_list(items)) == items


@given(st.text())
def test_reading_returns_or_says_what_is_wrong(text):
    for read in (read_number, read_whole_number, read_yes_no, read_list, read_pairs, read_range, split_settings):
        with suppress(WrongAnswer):  # nothing else may be raised
            read(text)


PAIR_TEXTS = st.text(st.characters(exclude_characters="'\"", exclude_categories=["C", "Z"]), min_size=1)


@given(st.dictionaries(PAIR_TEXTS, PAIR_TEXTS, min_size=1, max_size=4))
def test_pairs_are_read_back_as_they_were_written(pairs):
    text = ", ".join(f"{format_item(key)} -> {format_item(value)}" for key, value in pairs.items())
    assert read_pairs(text) == pairs

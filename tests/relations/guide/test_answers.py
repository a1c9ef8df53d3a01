"""Files of answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamorphic.errors import UsageError
from datamorphic.relations.guide.answers import Answer, AnswerFile, format_answers
from datamorphic.relations.guide.tables import list_question_ids

IDS = st.sampled_from(
    [name for name in list_question_ids() if not name.endswith("*")] + ["input.columns", "output.part"]
)


@given(st.lists(st.tuples(IDS, st.text(max_size=30)), max_size=6))
def test_a_file_is_read_back_as_it_was_written(pairs):
    text = format_answers([Answer(*pair) for pair in pairs], "a remark\nin two lines")
    assert [(answer.id, answer.text) for answer in AnswerFile.parse(text).unused] == pairs


def test_answers_are_taken_in_order_and_keep_their_lines():
    answers = AnswerFile.parse("# a comment\n\npattern = Noise\nside=\npattern = Sets = x\n", "a.txt")
    first, second = answers.take("pattern"), answers.take("pattern")
    assert (first, second) == (Answer("pattern", "Noise", 3), Answer("pattern", "Sets = x", 5))
    assert answers.take("pattern") is None
    assert answers.unused == [Answer("side", "", 4)]
    assert answers.locate(second) == "a.txt:5: pattern = Sets = x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("side = input\nNoise", "a.txt:2: 'Noise' has no equals sign. Expected: id = answer."),
        ("sied = input", "a.txt:1: There is no question 'sied'. Did you mean 'side'?"),
        ("\x00 = 1", "a.txt:1: There is no question '\\x00'."),
        (f"side = {'x' * 3000}", "a.txt:1: The answer to side has 3,000 characters. Expected fewer."),
        ("#" * 1_000_001, "a.txt has 1,000,001 characters. Expected at most 1,000,000."),
    ],
)
def test_a_wrong_file_is_reported_with_its_line(text, message):
    with pytest.raises(UsageError) as caught:
        AnswerFile.parse(text, "a.txt")
    assert str(caught.value).startswith(message)

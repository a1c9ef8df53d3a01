"""The walk as a state machine: from either side to a relation, back, and through any wrong answers."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import datamorphic as dm
from datamorphic.errors import DataError, WrongAnswer
from datamorphic.relations.algebra.base import VIOLATED
from datamorphic.relations.guide.session import GuideSession
from datamorphic.relations.guide.tables import list_question_ids
from support.cases import LONG, in_one_test

FRAME = pd.DataFrame(
    {"x": [-3.0, -1.0, 0.5, 2.0, 4.0], "n": [1, 2, 3, 4, 5], "sort": ["up", "down", "up", "up", "down"]}
)


def load_model(text):
    if text == "search":
        return dm.data.example_systems["product search"]
    if text == "sum":
        return lambda frame: frame.x + frame.n
    raise DataError(f"There is no model {text!r}.")


def load_data(text):
    if text != "data:frame":
        raise DataError(f"There are no data {text!r}.")
    return FRAME


def start(*answers):
    session = GuideSession(load_model=load_model, load_data=load_data)
    for text in answers:
        session.answer(text)
    return session


def finish(session):
    while session.question is not None:
        session.answer("")
    return session.result


def test_a_walk_from_the_input_ends_in_a_relation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = start("sum", "data:frame", "none", "x = -3 to 3", "input", "Monotone", "own", "x", "1", "2")
    assert session.question.id == "output.pattern"
    assert any("grew" in message for message in session.take_messages())
    result = finish(session)
    assert result.relation.statement == "x is increased by 2: the answer does not fall"
    assert result.relation.promise == "HMR"
    assert result.relation.needs == ("the input has x", "x is from -3 to 3")
    assert (len(result.groups), result.violated) == (4, 0)  # one of the five cases is outside the range
    assert "hypothesised metamorphic relation" in str(result.relation)
    assert result.document()["output"]["pattern"] == "Monotone"


@pytest.mark.slow
def test_a_walk_from_the_output_proposes_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = start("search", "", "output", "Subset", "take")
    assert session.question.id == "input.pattern"
    labels = {choice.text: choice.value for choice in session.question.choices}
    text = next(text for text in labels if text.startswith("brand is"))
    session.answer(labels[text])
    result = finish(session)
    assert result.relation.output.pattern == "Subset"
    assert not result.violated


def test_a_known_relation_fills_in_the_answers():
    session = start("search", "", "input", "Conjunctive Conditions", "take", "2")
    defaults = {}
    while session.question.id.startswith("input."):
        defaults[session.question.id] = session.question.default
        session.answer("")
    assert defaults == {"input.column": "brand", "input.values": "Acme", "input.unset": "any"}


def test_neighbours_in_the_tree_can_be_chosen_instead():
    session = start("search", "", "input", "Shuffling", "Change Direction", "take")
    assert [answer.id for answer in session.answers][-3:] == ["pattern", "pattern.take", "pattern.take"]
    assert session.question.id == "input.start"


def test_back_takes_the_last_answer_back():
    session = start("sum", "data:frame", "none", "", "input")
    session.back()
    assert session.question.id == "side"
    session.back()
    session.back()
    assert session.question.id == "system.target"
    assert len(session.answers) == 2


@in_one_test(
    ("answers", "wrong", "message"),
    [
        ((), "nothing", "There is no model 'nothing'."),
        (("sum",), "rows", "There are no data 'rows'."),
        (("sum", "data:frame"), "price", "'price' is not among the choices."),
        (("sum", "data:frame", "none"), "z = 1 to 2", "There is no input 'z'."),
        (("sum", "data:frame", "none"), "x = 90 to 99", "No case is inside these ranges."),
        (("sum", "data:frame", "none"), "sort = 1 to 2", "sort = 1 to 2 is not understood."),
        (("sum", "data:frame", "none", "", "input"), "Monotonous", "'Monotonous' is not among the choices."),
        (("sum", "data:frame", "none", "", "input", "Monotone", "own"), "sort", "There is no column 'sort'."),
        (("sum", "data:frame", "none", "", "input", "Monotone", "own", "x"), "-1", "factor must be a positive number."),
        (("sum", "data:frame", "none", "", "input", "Monotone", "own", "x", "1"), "1e999", "'1e999' is not a number."),
        (
            ("sum", "data:frame", "none", "", "input", "Symmetry", "take", "own"),
            "x",
            "columns must be at least 2 column(s).",
        ),
        (
            ("sum", "data:frame", "none", "", "input", "Affine", "take", "own", "x", "1"),
            "0",
            "AffineChange with factor 1 and amount 0 changes nothing.",
        ),
        (
            ("sum", "data:frame", "none", "", "input", "Change Direction", "take", "own", "sort"),
            "a -> b",
            "The change (the direction of sort is reversed) applies to none of them",
        ),
        (
            ("sum", "data:frame", "none", "", "input", "Monotone", "own", "x", "1", "1"),
            "Subset of",
            "There is no pattern",
        ),
    ],
)
def test_a_wrong_answer_leaves_the_question_open(answers, wrong, message):
    session = start(*answers)
    question = session.question.id
    with pytest.raises(WrongAnswer) as caught:
        session.answer(wrong)
    assert str(caught.value).startswith(message)
    assert session.question.id == question
    assert len(session.answers) == len(answers)


def test_a_file_that_exists_is_overwritten_only_on_request(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_x.py").write_text("mine")
    session = start("sum", "data:frame", "none", "", "input", "Monotone", "own", "x", "1", "1", "", "", "", "")
    for wrong in ("test.txt", "class.py", "no/such/folder.py", "a b.py"):
        with pytest.raises(WrongAnswer):
            session.answer(wrong)
    session.answer("test_x.py")
    assert session.question.id == "overwrite"
    session.answer("")
    assert session.question.id == "save"
    session.answer("test_x.py")
    session.answer("yes")
    assert session.question.id == "derive"


@pytest.mark.parametrize(("way", "parents"), [("lower", ["Monotone"]), ("same", [])])
def test_a_pattern_is_derived_from_the_settings(way, parents, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = start("sum", "data:frame", "none", "", "input", "Monotone", "own", "x", "1", "1", "", "", "", "", "", way)
    session.answer("input")
    if way == "same":
        for text in ("own", "x", "1", "-2"):
            session.answer(text)
    with pytest.raises(WrongAnswer, match="There is a pattern 'Noise' already"):
        session.answer("Noise")
    session.answer("A bit more")
    derived = finish(session).derived
    assert (derived.kind, [edge.parent for edge in derived.edges]) == ("MRIP", parents)
    assert derived.input.amount == (1 if way == "lower" else -2)


def test_a_more_abstract_pattern_is_between_its_children_and_what_they_have_in_common(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = start(
        "sum", "data:frame", "none", "", "input", "Noise", "take", "own", "x", "", "", "", "", "", "", "raise"
    )
    with pytest.raises(WrongAnswer, match="There is no such pattern 'Symmetry'"):
        session.answer("Symmetry")  # it is more abstract already
    for text in ("Similar, Irrelevance", "Stability", "Small differences do not matter."):
        session.answer(text)
    derived = finish(session).derived
    assert derived.children == ("Noise", "Similar", "Irrelevance")
    assert [edge.parent for edge in derived.edges] == ["Symmetry"]


JUNK = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", "x", "n", "sort", "x, n", "1", "0", "-1", "1e308", "up -> down", "'", "None", "9" * 400, "\x1b[2J"]
    ),
)


@pytest.mark.slow
@settings(
    max_examples=500 if LONG else 3,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),  # to shrink a walk takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.data())
def test_random_answers_are_accepted_or_asked_again(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    session = start(
        *data.draw(
            st.sampled_from([("sum", "data:frame", "none", ""), ("sum", "data:frame", "sort", ""), ("search", "")])
        )
    )
    for _ in range(18):
        question = session.question
        if question is None:
            assert session.result is not None
            break
        ids = list_question_ids()
        assert question.id in ids or f"{question.id.partition('.')[0]}.*" in ids
        choices = st.sampled_from([choice.value for choice in question.choices] or [""])
        text = data.draw(choices | st.just(question.default or "") | JUNK)
        answered = len(session.answers)
        try:
            session.answer(text)
        except WrongAnswer as error:
            assert str(error).strip()  # noqa: PT017
            assert session.question.id == question.id
            assert len(session.answers) == answered


def test_violations_are_counted_in_the_result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = start("sum", "data:frame", "none", "", "input", "Monotone", "own", "x", "1", "1", "Equality", "0", "MR")
    result = finish(session)
    assert result.violated == int((result.groups.verdicts == VIOLATED).sum()) == 5

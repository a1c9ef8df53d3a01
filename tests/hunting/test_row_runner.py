"""Hunts whose sources are rows of data."""

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.algebra.change import Change, ChangeRelation

TEXTS = [f"this is the text with number {number}" for number in range(40)]


def count_letters(frame):
    """Answer the length of a text; wrong for one text in upper case."""
    return np.array([99 if text == TEXTS[7].upper() else len(text) for text in frame["text"]])


class UpperCase(dm.Relation):
    name = "upper case"
    statement = "a text in upper case: the answer stays"

    def follow_up(self, frame, rng):
        return frame.assign(text=frame["text"].str.upper())


@pytest.fixture
def texts():
    return pd.DataFrame({"text": TEXTS})


def hunt(texts, relations, **options):
    return dm.hunt(count_letters, relations, data=texts, progress=False, **options)


def test_every_row_is_tried_once_with_every_relation(texts):
    class LowerCase(UpperCase):
        name = "lower case"

        def follow_up(self, frame, rng):
            return frame.assign(text=frame["text"].str.lower())

    result = hunt(texts, [UpperCase, LowerCase], stop_after=None)
    assert result.generator == "rows"
    assert result.table["groups"].tolist() == [40, 40]
    assert result.table["violated"].tolist() == [1, 0]
    (row,) = result.violations.to_dict("records")
    assert (row["x1.text"], row["x2.text"], row["y1"], row["y2"]) == (TEXTS[7], TEXTS[7].upper(), len(TEXTS[7]), 99)
    assert result.trials[0].exhausted


def test_a_trial_ends_at_the_first_violation_and_equals_a_plain_loop(texts):
    for seed in range(5):
        result = hunt(texts, UpperCase, seed=seed, trials=3)
        for trial in range(3):
            order = np.random.default_rng([seed, trial]).permutation(len(texts)).tolist()
            assert result.f_measures[trial] == order.index(7) + 1


@pytest.mark.parametrize("batch", [1, 7, None])
def test_the_size_of_batches_does_not_matter(texts, batch):
    expected = hunt(texts, UpperCase, seed=3)
    result = hunt(texts, UpperCase, seed=3, batch=batch)
    assert result.f_measures.tolist() == expected.f_measures.tolist()
    assert result.violations.equals(expected.violations)


def test_a_budget_below_the_number_of_rows_is_kept(texts):
    result = hunt(texts, UpperCase, budget=10, stop_after=None)
    assert result.groups == 10


def test_a_relation_with_several_follow_ups():
    frame = pd.DataFrame({"income": [1.0, 5.0, 9.0]})
    several = dm.patterns["Irrelevance"].input(column="income", values=(1.0, 2.0)) >> dm.patterns["Equality"].output()
    result = dm.hunt(
        lambda frame: frame["income"].to_numpy() > 1.5, several, data=frame, stop_after=None, progress=False
    )
    assert result.violated == 3
    assert {"x3.income", "y3"} <= set(result.violations.columns)


def test_exports_name_the_texts(texts):
    result = hunt(texts, UpperCase, stop_after=None)
    assert f"f({TEXTS[7]}) = {len(TEXTS[7])}, f({TEXTS[7].upper()}) = 99" in result.describe()
    for text in (result.to_html(), result.to_json(), result.to_junit()):
        assert TEXTS[7].upper() in text


def test_rows_can_be_chosen_for_numbers():
    frame = pd.DataFrame({"x": np.arange(30.0)})

    class Shifted(dm.Relation):
        name = "shifted"

        def follow_up(self, frame, rng):
            return frame.assign(x=frame["x"] + 1)

    def step(frame):
        return np.where(frame["x"] > 12, "high", "low")

    result = dm.hunt(step, Shifted, "rows", data=frame, stop_after=None, progress=False)
    assert result.violations["x1.x"].tolist() == [12.0]


def test_wrong_requests_say_what_to_do(texts):
    words = pd.DataFrame({"text": ["a", "b"] * 20})
    with pytest.raises(ArgumentError, match="rows of data"):
        hunt(words, UpperCase)
    with pytest.raises(ArgumentError, match="Give them: hunt"):
        dm.hunt(abs, dm.FunctionRelation(name="even", domain=(0, 1), follow_up=lambda x: -x), "rows")
    relation = dm.FunctionRelation(name="even", domain=(0, 1), follow_up=lambda x: -x)
    with pytest.raises(ArgumentError, match="'even' is not about rows of data"):
        hunt(texts, relation, generator="rows")


def decide(frame):
    """Answer yes for a high income, unless it is one of a few in the middle."""
    income = frame["income"].to_numpy()
    return np.where((income > 40) & ~((income > 60) & (income < 70)), "yes", "no")


def test_relations_that_try_all_values_take_rows_and_are_drawn_with_their_follow_ups():
    frame = pd.DataFrame({"income": np.arange(0.0, 100, 2), "a": 0.0, "b": 1.0, "c": np.tile(["x", "y"], 25)})
    result = dm.hunt(
        decide, [dm.monotone("income", outcome="yes"), dm.invariant("c")], data=frame, stop_after=None, progress=False
    )
    assert result.generator == "rows"
    assert result.table["violated"].tolist() == [50, 0]
    executed = result.executed(0)
    assert executed.inputs[0].shape == executed.follow_ups[0].shape == (50, 4)
    assert executed.violated.all()
    page = result.page()
    (section,) = [section for section in page.sections if section.anchor == "sources"]
    assert "Of 4 inputs, income, c, a are drawn." in section.text
    assert [part.picture.x_axis.label for part in section.parts] == ["income", "income"]
    assert {"source of a violation", "follow-up of a violation"} == set(section.parts[0].picture.groups)


def test_rows_that_a_relation_leaves_out_are_not_applicable():
    frame = pd.DataFrame({"income": [10.0, np.nan, 50.0, 65.0] * 5})
    result = dm.hunt(decide, dm.monotone("income", outcome="yes"), data=frame, stop_after=None, progress=False)
    assert result.table[["groups", "violated", "inapplicable"]].values.tolist() == [[20, 15, 5]]


def test_changes_of_columns_and_other_relations_are_hunted_together_among_rows():
    from sklearn.linear_model import LogisticRegression

    frame = pd.DataFrame({"income": np.arange(30.0), "debt": np.tile([1.0, 2.0, 3.0], 10)})
    model = LogisticRegression().fit(frame, np.where(frame["income"] - frame["debt"] > 14, "yes", "no"))
    change = ChangeRelation("less", Change(column="income", amount=-5.0), outcome="yes", direction="up")
    result = dm.hunt(model, [change, dm.invariant("debt")], data=frame, stop_after=None, progress=False)
    assert result.table["relation"].tolist() == ["less", "invariant debt"]
    assert result.table["violated"].tolist()[0] > 20  # it compares probabilities

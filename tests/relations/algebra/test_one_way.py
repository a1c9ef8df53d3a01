"""`OneWay`: the level of an outcome, and which way it moves."""

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.relations.algebra.one_way import OneWay, compute_wrongness, find_label
from datamorphic.space.outputs import Outputs

LABELS = ("no", "yes")


@pytest.mark.parametrize(
    ("direction", "wrongness"), [("up", [1.0, -1.0, 0.0]), ("down", [-1.0, 1.0, 0.0]), ("same", [1.0, 1.0, 0.0])]
)
def test_wrongness_is_positive_in_the_wrong_direction(direction, wrongness):
    before, after = np.array([2.0, 2.0, 2.0]), np.array([1.0, 3.0, 2.0])
    assert compute_wrongness(before, after, direction).tolist() == wrongness


def test_an_equal_label_comes_before_one_with_the_same_text():
    assert find_label(("1", 1), 1) == 1
    assert find_label(("1", "2"), 1) == "1"
    assert find_label(("a", "b"), "c") is None


@pytest.mark.parametrize(
    ("options", "outcome"),
    [({}, "yes"), ({"outcome": "no"}, "no"), ({"guesses": ("bad", "no")}, "no"), ({"guesses": ("bad",)}, None)],
)
def test_the_outcome_is_named_guessed_or_the_second_of_two_classes(options, outcome):
    assert OneWay(**options).find_outcome(LABELS) == outcome


def test_levels_are_probabilities_or_standings_of_the_outcome():
    outputs = Outputs.of(np.array(["no", "yes"]), np.array([[0.7, 0.3], [0.2, 0.8]]))
    assert OneWay(labels=LABELS, score_kind="probability").read_scores(outputs).tolist() == [0.3, 0.8]
    standing = OneWay(labels=LABELS, score_kind="decision").read_scores(outputs)
    assert standing == pytest.approx([-0.4, 0.6])
    assert OneWay(labels=LABELS, score_kind="pairwise").read_scores(outputs) is None
    assert OneWay(labels=LABELS).match(outputs.values).tolist() == [0.0, 1.0]
    assert OneWay(outcome="yes").match(outputs.values).tolist() == [0.0, 1.0]


class Scored:
    """The probability of yes falls with x, but the label is always no."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, frame):
        share = 0.4 - 0.3 * frame["x"].to_numpy()
        return np.column_stack([1 - share, share])

    def predict(self, frame):
        return np.full(len(frame), "no")


@pytest.mark.parametrize(("direction", "violated"), [("down", 0), ("up", 20), ("same", 20)])
def test_every_change_composes_with_one_way(direction, violated):
    table = pd.DataFrame({"x": np.linspace(0, 0.9, 20)})
    more = dm.patterns["Additive"].input(columns=("x",), amount=0.1)
    one_way = OneWay(direction=direction, outcome="yes")
    for relation in (more >> one_way, more.then(more) >> one_way, more >> (one_way & dm.patterns["Equality"].output())):
        assert dm.check(Scored(), table, relation).table["violated"].tolist() == [violated]
    assert dm.check(Scored(), table, more >> dm.patterns["Equality"].output()).table["violated"].tolist() == [0]


def test_one_way_of_numbers_and_of_labels_without_scores():
    table = pd.DataFrame({"x": np.linspace(0, 1, 20)})
    more = dm.patterns["Additive"].input(columns=("x",), amount=0.5)
    assert dm.check(lambda frame: frame["x"] ** 2, table, more >> OneWay()).table["violated"].tolist() == [0]
    assert dm.check(lambda frame: -frame["x"], table, more >> OneWay()).table["violated"].tolist() == [20]
    tolerant = more >> OneWay(tolerance=0.6)
    assert dm.check(lambda frame: -frame["x"], table, tolerant).table["violated"].tolist() == [0]
    assert (more >> OneWay()).with_tolerance(0.6).output.tolerance == 0.6
    decide = lambda frame: np.where(frame["x"] > 0.7, "no", "yes")  # noqa: E731
    assert dm.check(decide, table, more >> OneWay(outcome="yes")).table["violated"].tolist() == [10]
    with pytest.raises(dm.errors.ArgumentError, match="Name the class that 'Monotone' is about"):
        dm.check(decide, table, more >> OneWay())


def test_one_way_knows_the_classes_of_a_model():
    table = pd.DataFrame({"x": np.linspace(0, 0.9, 20)})
    more = dm.patterns["Additive"].input(columns=("x",), amount=0.1)
    with pytest.raises(dm.errors.ArgumentError, match="The model has no class 'maybe', which 'more' is about"):
        dm.check(Scored(), table, (more >> OneWay(outcome="maybe")).named("more"))
    second = dm.check(Scored(), table, more >> OneWay(direction="up"))  # by default the second class, yes
    assert second.table["violated"].tolist() == [20]

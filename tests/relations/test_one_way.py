"""`OneWay`: the level of an outcome, and which way it moves."""

import numpy as np
import pytest

from datamorphic.relations.one_way import OneWay, compute_wrongness, find_label
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

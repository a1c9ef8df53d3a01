"""The two rules: reject above a threshold, then take the fewest violations within the band of the best model."""

from __future__ import annotations

import numpy as np
import pytest

from datamorphic.core.result import Measure
from datamorphic.relations.algebra.change import Change, ChangeRelation
from datamorphic.risk.credit.judging import RelationTally, find_directions
from datamorphic.risk.credit.ladder import Rung
from datamorphic.risk.credit.measures import Measurement
from datamorphic.risk.credit.model_result import ModelResult, RepetitionResult
from datamorphic.risk.credit.selection import choose_model, compare_twins, find_rejections

SCORES = np.array([0.1, 0.9])


def make_tally(relation, strong, weak, cases=1000):
    return RelationTally(
        relation=relation,
        cases=cases,
        strong=strong,
        weak=weak,
        clipped=0,
        inapplicable=0,
        undefined=0,
        histogram=(0, 0, 0, weak, strong, 0),
    )


def make_model(name, auc, strong=(0, 0), weak=(0, 0), variance=0.0001, complexity=1.0, twin=""):
    """Return a model of one repetition with violations of two relations."""
    tallies = tuple(make_tally(f"R{number}", *counts) for number, counts in enumerate(zip(strong, weak, strict=True)))
    measured = None if auc is None else Measurement(auc, variance)
    rung = Rung(name=name, family=name, size="", complexity=complexity, twin=twin)
    return ModelResult(
        rung=rung, repetitions=(RepetitionResult(repetition=0, tallies=tallies, scores=SCORES, auc=measured),)
    )


def compare(first, second):
    difference = first.auc.value - second.auc.value
    return Measure(difference, difference - 0.01, difference + 0.01)


def choose(*models, threshold=0.01):
    return choose_model(models, threshold, compare)


def test_the_fewest_violations_within_the_band_win():
    choice = choose(
        make_model("best", 0.80, strong=(9, 0)), make_model("clean", 0.79), make_model("cleaner but worse", 0.70)
    )
    assert (choice.best, choice.selected) == ("best", "clean")
    assert choice.band_low == pytest.approx(0.8 - 1.96 * 0.01, abs=1e-4)
    assert choice.candidates == ("best", "clean")
    assert choice.auc_cost.value == pytest.approx(0.01)
    assert choice.within_band


def test_a_model_is_rejected_for_its_worst_relation():
    models = [
        make_model("a", 0.8, strong=(11, 0)),
        make_model("b", 0.8, strong=(10, 10)),
        make_model("c", 0.8, weak=(900, 0)),
    ]
    rejections = find_rejections(models, 0.01)
    assert list(rejections) == ["a"]
    assert (rejections["a"].relation, rejections["a"].share) == ("R0", 0.011)
    assert choose(*models).selected == "c"  # strong violations count before weak ones


def test_ties_are_broken_by_weak_violations_then_auc_then_size():
    assert choose(make_model("a", 0.80, weak=(1, 0)), make_model("b", 0.79)).selected == "b"
    assert choose(make_model("a", 0.79), make_model("b", 0.80)).selected == "b"
    assert choose(make_model("a", 0.80, complexity=9), make_model("b", 0.80, complexity=2)).selected == "b"


def test_if_all_models_in_the_band_are_rejected_the_best_of_the_others_is_taken():
    choice = choose(make_model("best", 0.8, strong=(500, 0)), make_model("fair", 0.7), make_model("poor", 0.6))
    assert (choice.selected, choice.within_band, choice.candidates) == ("fair", False, ())
    assert choice.auc_cost.value == pytest.approx(0.1)


def test_if_all_models_are_rejected_none_is_taken():
    choice = choose(make_model("a", 0.8, strong=(500, 0)), make_model("b", 0.7, strong=(0, 20)))
    assert choice.selected is None
    assert choice.auc_cost is None
    assert list(choice.document()["rejected"]) == ["a", "b"]


def test_without_known_outcomes_violations_alone_decide():
    choice = choose(make_model("a", None, strong=(3, 0)), make_model("b", None, strong=(1, 0)))
    assert (choice.best, choice.selected, choice.band_low) == (None, "b", None)


def test_relations_that_apply_to_nobody_reject_nobody():
    rung = Rung(name="a", family="a", size="", complexity=1)
    tallies = (make_tally("R0", 0, 0, cases=0),)
    model = ModelResult(rung=rung, repetitions=(RepetitionResult(repetition=0, tallies=tallies, scores=SCORES),))
    assert choose(model).selected == "a"


def test_twins_are_compared():
    models = [
        make_model("free", 0.8, strong=(50, 0)),
        make_model("held", 0.79, twin="free"),
        make_model("x", 0.7, twin="gone"),
    ]
    (mitigation,) = compare_twins(models, compare)
    assert (mitigation.unconstrained, mitigation.constrained) == ("free", "held")
    assert (mitigation.strong_before.value, mitigation.strong_after.value) == (0.025, 0)
    assert mitigation.auc_price.value == pytest.approx(0.01)


def test_repetitions_without_any_violation_are_counted():
    rung = Rung(name="a", family="a", size="", complexity=1)
    repetitions = tuple(
        RepetitionResult(repetition=number, tallies=(make_tally("R0", 0, weak),), scores=SCORES)
        for number, weak in enumerate((0, 0, 4))
    )
    model = ModelResult(rung=rung, repetitions=repetitions)
    assert model.violation_free == (2, 3)
    assert model.weak_share.value == pytest.approx(4 / 3000)
    assert model.histogram == {"R0": (0, 0, 0, 4, 0, 0)}


def test_directions_follow_from_single_changes():
    def relate(name, direction, **change):
        return ChangeRelation(name, Change(**change), direction=direction)

    relations = [
        relate("a", "down", column="score", factor=1.1),
        relate("b", "up", column="debt", amount=5),
        relate("c", "down", column="debt", factor=0.9),
        relate("d", "same", column="name", value="x"),
        relate("e", "down", column="both", amount=1),
        relate("f", "down", column="both", amount=-1),
        ChangeRelation("g", [Change(column="p", amount=1), Change(column="q", amount=1)]),
    ]
    assert find_directions(relations) == {"score": -1, "debt": 1}

"""The effectiveness of strategies by formula: the parts of the formula, and that walks do what it says."""

from __future__ import annotations

import itertools
import math
import zlib

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.data.subjects import RULES
from datamorphic.errors import ArgumentError
from datamorphic.exploration.effectiveness import measure_reach, predict_cost, predict_effectiveness
from datamorphic.studies import effectiveness as study
from datamorphic.studies.workload import SCALES, Workbench

#: of a normal distribution: one of 2,000 agreeing comparisons is farther away
DEVIATIONS_99_95 = 3.5
MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))


def test_reach_is_that_of_all_paths():
    for length in (1, 2, 3, 4):
        distances = [
            sum(math.hypot(*np.sum(path[:k], axis=0)) / k for k in range(1, length + 1))
            for path in itertools.product(MOVES, repeat=length)
        ]
        assert measure_reach(length)[-1] == pytest.approx(np.mean(distances))


def test_reach_is_twice_the_mean_maximum_of_a_walk_in_any_direction():
    # Spitzer's identity, on which the formula relies: here by all paths and many directions
    angles = (np.arange(720) + 0.5) * math.pi / 360
    directions = np.stack([np.cos(angles), np.sin(angles)])
    paths = np.cumsum(np.array(list(itertools.product(MOVES, repeat=5))), axis=1) @ directions
    maxima = np.maximum(paths.max(axis=1), 0)
    assert math.pi * maxima.mean() == pytest.approx(measure_reach(5)[-1], rel=1e-4)


def test_reach_grows_as_the_root_of_the_distance():
    reach = measure_reach(200)
    assert reach[199] == pytest.approx(math.sqrt(math.pi * 200), rel=0.06)
    assert reach[199] - reach[99] == pytest.approx(math.sqrt(math.pi) * (math.sqrt(200) - 10), rel=0.01)


def test_cost_counts_the_steps_that_are_taken():
    rng = np.random.default_rng(0)
    capabilities = [0.1, 0.25, 0.3]
    end = rng.choice([1, 2, 3, 4], p=[0.1, 0.15, 0.05, 0.7], size=400_000)  # the step that meets a border; 4 for none
    runs = np.minimum(end, 3) + np.where(end < 4, 20, 0)
    assert predict_cost(capabilities) == pytest.approx(runs.sum() / (2 * (end < 4).sum()), rel=0.01)
    assert predict_cost([0.0, 0.0]) == math.inf


def test_wrong_arguments_are_refused():
    def predict(shares=(0.5, 0.5), length=1, area=1, **options):
        return predict_effectiveness(shares, length, area, **{"step": 0.1, **options})

    for wrong in ({"shares": (0.5, 0.6)}, {"shares": ()}, {"length": 0}, {"area": -1}, {"step": 0}, {"width": 0}):
        with pytest.raises(ArgumentError):
            predict(**wrong)
    with pytest.raises(ArgumentError):
        predict(walk_distance=0)
    assert (predict(length=1_000).capability <= 1).all()


@pytest.mark.parametrize(
    ("subject", "length"), [("Box 1", 2 * (1 + 0.9)), ("Circle 1", 2 * math.pi * 0.7), ("Line 1", math.hypot(6, 1.8))]
)
def test_the_length_of_a_border_is_counted(subject, length):
    assert study.measure_border_length(subject) == pytest.approx(length, rel=0.01)


def test_the_width_of_a_box_is_that_of_its_sides():
    assert study.measure_border_width("Box 1") == pytest.approx((2 * 1 + 2 * 0.9) / 2, rel=0.005)
    assert study.measure_border_width("Circle 1") == pytest.approx(4 * 0.7, rel=0.005)


def measure(subject, strategy, step, walks):
    seed = zlib.crc32(f"{subject} {strategy} {step}".encode())
    figure = study.estimate_capability(study.measure_walks(subject, strategy, step, walks, seed), strategy)
    return figure.value / 100, figure.margin / 100 / 1.96


@pytest.mark.parametrize("subject", RULES)
def test_walks_find_what_the_integral_says(subject):
    for strategy in study.STRATEGIES:
        value, deviation = measure(subject, strategy, 0.2, 2_000)
        assert abs(value - study.integrate_capability(subject, strategy, 0.2)[-1]) < DEVIATIONS_99_95 * deviation


@pytest.mark.slow
@pytest.mark.parametrize("subject", RULES)
def test_short_random_walks_find_what_the_length_of_the_border_says(subject):
    formula = study.predict(subject, 0.02).loc["random_walk"]
    value, deviation = measure(subject, "random_walk", 0.02, 8_000)
    # ends of borders at corners and at the edge of the domain take up to a tenth
    assert abs(value - formula.capability) < DEVIATIONS_99_95 * deviation + 0.1 * formula.capability
    integrated = study.integrate_capability(subject, "random_walk", 0.02)[-1]
    assert integrated == pytest.approx(formula.capability, rel=0.1)


@pytest.mark.parametrize("subject", RULES)
def test_no_walk_finds_more_than_its_steps_allow(subject):
    for strategy in ("directed_walk", "random_walk"):
        curve = study.integrate_capability(subject, strategy, 0.2)
        rises = np.diff([0.0, *curve])
        assert (rises >= 0).all()
        assert (np.diff(rises) < 0.01).all()  # each step finds at most what the step before found, but for the edges


def test_stripes_show_that_no_formula_of_the_length_alone_exists(monkeypatch):
    # two lines of equal length each time, near to each other or far apart
    monkeypatch.setitem(study.RULES, "near", lambda x, y: np.where(abs(y) < 0.05, "in", "out"))
    monkeypatch.setitem(study.RULES, "far", lambda x, y: np.where(abs(y) < 0.5, "in", "out"))
    lengths = [study.measure_border_length(name) for name in ("near", "far")]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.01)
    capabilities = [study.integrate_capability(name, "directed_walk", 0.02)[-1] for name in ("near", "far")]
    assert capabilities[0] == pytest.approx((0.4 + 0.1) / 4, abs=0.01)  # two of four directions
    assert capabilities[1] == pytest.approx((0.4 + 0.4) / 4, abs=0.01)


def test_the_study_has_three_figures_for_each_measure():
    scale = SCALES["tiny"]
    rows = study.build_table(Workbench(scale))
    assert len(rows) == len(scale.subjects) * 5 * 6
    assert {row.column for row in rows} == {
        f"{measure}, {way}" for measure in ("capability", "cost") for way in ("measured", "formula", "integrated")
    }


def test_a_plan_predicts_by_formula():
    plan = dm.plan(dm.subjects["Line 1"], walks=4_000, strategy="auto", seed=1, progress=False)
    table = plan.predict(walk_distance=20).set_index("strategy")
    assert plan.planar
    differ = 1 - sum(share**2 for share in plan.shares.values())
    assert table.loc["random_target", "capability"] == pytest.approx(differ)
    assert table.loc["random_target", "cost"] == pytest.approx(10)
    measured = plan.curve[(plan.curve.step_factor == 1) & (plan.curve.walk_distance == 1)].set_index("strategy")
    first = measured.loc["random_walk", "capability"]
    assert table.loc["random_walk", "capability"] == pytest.approx(min(1, first * measure_reach(20)[-1]))
    first = measured.loc["directed_walk", "capability"]
    assert table.loc["directed_walk", "capability"] == pytest.approx(min(1, 20 * first))
    page = plan.page()
    assert page.sections[-1].heading == f"By formula, at walk distance {plan.walk_distance}"
    assert "By formula" not in plan.describe()  # a terminal shows what was measured


def test_a_plan_of_more_features_predicts_upper_bounds():
    space = dm.Space([dm.Continuous(name, 0, 10, step=0.5) for name in "abc"])
    plan = dm.plan(lambda f: np.where(f["a"] > 5, "x", "y"), space, walks=2_000, progress=False)
    assert not plan.planar
    table = plan.predict(walk_distance=5).set_index("strategy")
    first = plan.curve[(plan.curve.step_factor == 1) & (plan.curve.walk_distance == 1)].set_index("strategy")
    for strategy in ("directed_walk", "random_walk"):
        assert table.loc[strategy, "capability"] == pytest.approx(min(1, 5 * first.loc[strategy, "capability"]))
        measured = plan.curve[(plan.curve.step_factor == 1) & (plan.curve.walk_distance == 5)].set_index("strategy")
        assert measured.loc[strategy, "capability"] <= table.loc[strategy, "capability"] + 0.05
    with pytest.raises(ArgumentError, match="walk_distance"):
        plan.predict(walk_distance=0)

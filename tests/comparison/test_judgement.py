"""Is a change more than chance, and in which group: on made margins and losses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.comparison.findings import build_error_findings
from datamorphic.comparison.groups import build_row_conditions, find_group
from datamorphic.comparison.judgement import fit_spread, judge_changes
from datamorphic.comparison.measures import compare_classes, compare_means_of_pairs, compare_numbers


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"x": rng.normal(size=2000), "n": rng.integers(0, 50, 2000), "c": rng.choice(list("abc"), 2000)}
    )
    return dm.Space.from_frame(frame).points(frame)


def draw(seed, spread=0.2, count=2000):
    """Return the leads of the old answers in the scores of both models, after the same training with another seed."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(-1, 1, count)
    old, new = (truth + rng.normal(0, spread / np.sqrt(2), count) for _ in range(2))
    sign = np.sign(old)
    return np.clip(old * sign, -1, 1), np.clip(new * sign, -1, 1)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("with_losses", [True, False])
def test_random_changes_are_chance(points, seed, with_losses):
    old, new = draw(seed)
    judgement = judge_changes(points, new < 0, np.abs(old), losses=old - new if with_losses else None, seed=seed)
    assert judgement.verdict == "reseed"
    assert judgement.groups == ()


@pytest.mark.parametrize("with_losses", [True, False])
def test_a_group_is_found_with_its_threshold(points, with_losses):
    old, new = draw(0)
    inside = points.frame.n.to_numpy() <= 12
    new = np.where(inside & (np.arange(2000) % 2 == 0), -old, new)
    judgement = judge_changes(points, new < 0, np.abs(old), losses=old - new if with_losses else None)
    assert judgement.verdict == "group"
    assert judgement.groups[0].columns == ("n",)
    assert (judgement.groups[0].inside == inside).mean() > 0.9
    assert judgement.groups[0].share.low > judgement.groups[0].outside.high


def test_changes_of_decided_rows_everywhere_are_no_chance(points):
    old, _ = draw(0)
    changed = np.random.default_rng(5).random(2000) < 0.4
    judgement = judge_changes(points, changed, np.abs(old), losses=np.where(changed, 2 * old, 0.0))
    assert judgement.verdict == "everywhere"


def test_nothing_changed(points):
    judgement = judge_changes(points, np.zeros(2000, dtype=bool), None)
    assert (judgement.verdict, judgement.changed) == ("unchanged", 0)


def test_without_scores_few_changes_are_chance(points):
    changed = np.zeros(2000, dtype=bool)
    changed[np.random.default_rng(0).permutation(2000)[:20]] = True
    assert judge_changes(points, changed, None).verdict == "reseed"
    changed[np.random.default_rng(0).permutation(2000)[:200]] = True
    assert judge_changes(points, changed, None).verdict == "everywhere"


@pytest.mark.parametrize("spread", [0.05, 0.2, 0.4])
def test_the_spread_of_scores_is_recovered(spread):
    old, new = draw(3, spread, 20_000)
    assert fit_spread(np.abs(old), new < 0) == pytest.approx(spread, rel=0.15)


def test_a_pair_of_conditions_beats_each_alone(points):
    frame = points.frame
    inside = ((frame.c == "b") & (frame.x > 0.5)).to_numpy()
    group = find_group(points, build_row_conditions(points), inside.astype(float), np.ones(2000, dtype=bool))
    assert group.columns == ("x", "c")
    assert (group.inside == inside).mean() > 0.98


def test_missing_values_are_a_group():
    frame = pd.DataFrame({"x": np.where(np.arange(400) % 4, np.arange(400) % 7, np.nan).astype(float)})
    points = dm.Space.from_frame(frame).points(frame)
    missing = frame.x.isna().to_numpy()
    group = find_group(points, build_row_conditions(points), missing.astype(float), np.ones(400, dtype=bool))
    assert group.text == "x is missing"


# -- figures -------------------------------------------------------------------------------------------------------------


def test_figures_by_hand():
    truth = np.array(["a"] * 60 + ["b"] * 40, dtype=object)
    old = truth.copy()
    new = truth.copy()
    new[:30] = "b"
    wrong, recall_a, precision_a, recall_b, precision_b = compare_classes(truth, old, new)
    assert (wrong.old, wrong.new, wrong.outcome) == (0.0, 0.3, "worse")
    assert wrong.p_value == pytest.approx(2 * 0.5**30)
    assert (recall_a.label, recall_a.new, recall_a.outcome) == ("a", 0.5, "worse")
    assert (precision_a.old, precision_a.new) == (1.0, 1.0)
    assert (recall_b.old, recall_b.new, recall_b.outcome) == (1.0, 1.0, "no clear difference")
    assert (precision_b.new, precision_b.outcome) == (pytest.approx(40 / 70), "worse")


def test_equal_figures_have_an_interval():
    figure = compare_means_of_pairs("wrong answers", np.zeros(100), np.zeros(100), better="down")
    assert figure.low < 0 < figure.high
    assert figure.p_value == 1.0
    assert figure.surely_worse_by == 0.0


def test_errors_of_numbers():
    truth = np.arange(200.0)
    absolute, squared = compare_numbers(truth, truth + 1, truth + np.where(np.arange(200) % 2, 3.0, -3.0))
    assert (absolute.old, absolute.new, absolute.outcome) == (1.0, 3.0, "worse")
    assert (squared.old, squared.new) == (1.0, 9.0)
    assert compare_numbers(np.full(5, np.nan), truth[:5], truth[:5]) == []


def test_a_class_that_is_missed_is_a_concern_unless_a_group_explains_it():
    truth = np.array(["a"] * 900 + ["b"] * 100, dtype=object)
    new = truth.copy()
    new[900:950] = "a"
    figures = compare_classes(truth, truth, new)
    titles = [finding.title for finding in build_error_findings(figures, has_group_concern=False)]
    assert titles == [
        "The new model is worse: wrong answers 0% → 5%",
        "The new model misses more of b: 100% → 50% of them are recognised",
    ]
    assert build_error_findings(figures, has_group_concern=True) == []
    assert build_error_findings(compare_classes(truth, new, truth), has_group_concern=False) == []

"""Measures of fronts, and the features that decide."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.exploration.page import build_front_page
from datamorphic.reporting.html import render_page
from support.cases import in_one_test
from support.fronts import explore, step, without


def test_plausibility_is_exact_and_nan_where_it_is_not_computed(mixed_front, monkeypatch):
    from dataclasses import replace

    from datamorphic.exploration import front_data as module

    space, seeds = mixed_front.space, mixed_front.seeds
    far = np.column_stack([space.distance(mixed_front.a, seeds.take([row]), scaled=True) for row in range(len(seeds))])
    np.testing.assert_allclose(mixed_front.plausibility, far.min(axis=1))
    monkeypatch.setattr(module, "MAX_PLAUSIBILITY_DISTANCES", 20 * len(mixed_front.seeds))
    some = replace(mixed_front)
    known = ~np.isnan(some.plausibility)
    assert known.sum() == 20
    np.testing.assert_allclose(some.plausibility[known], far.min(axis=1)[known])
    assert "measured for 20 of the pairs" in some.describe()
    assert render_page(build_front_page(some))
    assert len(some.diff(mixed_front).table) == 2 * len(some)


def test_only_features_that_the_model_uses_decide():
    space = dm.Space([dm.Continuous(name, 0, 1) for name in "xyzuvw"])
    front = explore(step(0.9), space, walks=600, strategy="random_target")
    calls, runs = front.calls, front.runs
    table = front.deciding().set_index("feature")
    assert table["decides"].to_dict() == {"x": 1.0} | dict.fromkeys("wuzyv", 0.0)
    assert table.loc["x", "share"] < 0.5  # which is all that can be known without asking
    assert (front.calls, front.runs) == (calls, runs)
    assert "Deciding features: x (100%) of pairs" in front.describe()
    bare = without(front)
    assert bare.deciding()["decides"].isna().all()
    assert bare.deciding()["share"].is_monotonic_decreasing
    assert "decid" not in bare.describe()
    assert "differ most" in bare.describe()
    heading = next(section.heading for section in build_front_page(bare).sections if "feature" in section.heading)
    assert "decide" not in heading


def test_deciding_features_are_queried_once_without_output_and_within_a_limit(capsys):
    batch_sizes = []

    def rule(f):
        batch_sizes.append(len(f))
        print("busy")
        return np.where(f["x"] + f["y"] > 10, "a", "b")

    front = explore(rule, walks=100, strategy="random_target")
    before = sum(batch_sizes)
    capsys.readouterr()
    front.deciding(), front.deciding(), front.describe()
    assert capsys.readouterr().out == ""
    assert 0 < sum(batch_sizes) - before <= max(100, front.calls // 4)


def test_tied_features_decide_together():
    space = dm.Space(
        [*(dm.Integer(name, 0, 1) for name in "abc"), dm.Continuous("x", 0, 1)],
        constraints=[dm.OneHot(["a", "b", "c"])],
    )
    front = explore(lambda f: np.where(f["c"] == 1, "yes", "no"), space, strategy="random_target")
    table = front.deciding().set_index("feature")
    assert table.loc["c", "decides"] == 1.0
    assert table.loc["x", "decides"] == 0.0


def test_quality_is_computed_once_and_counts_invalid_values(mixed_front, monkeypatch):
    from dataclasses import replace

    from datamorphic.exploration import quality
    from datamorphic.space.points import Points

    assert mixed_front.quality().loc["validity", "value"] == 1.0
    codes = mixed_front.a.codes.copy()
    codes[0, 0], codes[1, 0], codes[2, 1], codes[3, 2] = 18.5, 500.0, 7.0, np.nan
    broken = replace(mixed_front, a=Points(mixed_front.space, codes))
    assert broken.quality().loc["validity", "value"] == pytest.approx(1 - 4 / len(broken))
    monkeypatch.setattr(quality, "MAX_SPREAD_POINTS", 50)
    some = replace(mixed_front)
    assert f"50 of {len(some)}, evenly chosen" in some.quality().loc["spread", "meaning"]
    assert some.quality().loc["spread", "value"] == pytest.approx(mixed_front.quality().loc["spread", "value"], rel=0.3)
    monkeypatch.setattr(quality, "measure_quality", None)
    assert len(some.quality()) == 5


@in_one_test("confidence", [0, 1, 1.5, -1, "a", True, np.nan])
def test_intervals_need_a_valid_confidence(mixed_front, confidence):
    for interval in (mixed_front.capability_interval, mixed_front.cost_interval):
        with pytest.raises(ArgumentError, match="'confidence' parameter of Front"):
            interval(confidence)


def test_unstable_answers_are_reported():
    rng = np.random.default_rng(0)
    front = explore(lambda f: rng.choice(["heads", "tails"], len(f)), walks=20)
    line = " ".join(front.describe().partition("Asked twice")[2].split())
    assert "heads and tails" in line or "tails and heads" in line
    assert "to x " in line

"""Fairness: planted dependences are found and fair twins raise no alarm, whatever the seed; intervals cover the truth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from datamorphic.core.result import Measure
from datamorphic.risk.fairness.intervals import measure_auc, measure_gap, measure_mean
from datamorphic.risk.fairness.run import fairness
from support import fairness as planted
from support.cases import LONG

SEEDS = range(3 if LONG else 1)
TWINS = {  # the model, and what it is blamed for
    "gender": {("attribute", ("gender",), ())},
    "area": {("stand-in", ("origin",), ("area",))},
    "both": {("combination", ("gender", "origin"), ())},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_planted_dependences_are_found_with_every_seed(name):
    for seed in SEEDS:
        people = planted.draw_people(400, seed)
        report = fairness(
            getattr(planted, f"judge_{name}"), people, ["gender", "origin"], outcome="approved", seed=seed
        )
        dependences = {(finding.kind, finding.attributes, finding.columns) for finding in report.defects}
        assert dependences == TWINS[name], seed


@pytest.mark.slow
def test_fair_twins_raise_no_alarm():
    """The twin of each model decides about the same people by the same threshold, without looking at who they are."""
    for seed in SEEDS:
        people = planted.draw_people(400, seed)
        report = fairness(planted.judge_fairly, people, ["gender", "origin", "age"], outcome="approved", seed=seed)
        assert report.passed, (seed, report.headline)
        blind = people.drop(columns=["gender", "origin"])
        assert fairness(
            planted.judge_fairly, blind.assign(origin=people.origin), ["origin"], outcome="approved", seed=seed
        ).passed


@pytest.mark.slow
def test_a_noisy_column_that_decides_is_no_stand_in():
    """It carries the decision, but tells nothing about the group."""
    for seed in SEEDS:
        people = planted.draw_people(400, seed)
        people["lot"] = np.random.default_rng(seed + 100).choice(["a", "b"], len(people))

        def decide(frame):
            return planted.decide(frame.income - frame.debt - 15 * (frame.lot == "a"))

        assert fairness(decide, people, ["gender", "origin"], outcome="approved", seed=seed).passed, seed


@pytest.mark.slow
def test_intervals_cover_the_truth():
    """95% intervals hold the true value in 93% to 97% of 1,000 samples, apart from chance (a standard error is 0.7%)."""
    rng = np.random.default_rng(0)
    samples = 1_000

    def cover(build, truth):
        return np.mean([interval.low <= truth <= interval.high for interval in (build() for _ in range(samples))])

    assert 0.93 < cover(lambda: Measure.from_counts(int(rng.binomial(120, 0.08)), 120), 0.08) < 0.975
    assert 0.92 < cover(lambda: measure_mean(rng.exponential(1, 80)), 1.0) < 0.97

    def draw_gap():
        return measure_gap((rng.random(90) < 0.4).astype(float), (rng.random(60) < 0.25).astype(float))

    assert 0.93 < cover(draw_gap, 0.15) < 0.975
    shift = 1.0  # two normal distributions, so that the area is that of their difference
    truth = 0.760249938906523

    def draw_auc():
        positive = np.repeat([True, False], [60, 90])
        return measure_auc(rng.normal(size=150) + shift * positive, positive)

    assert 0.93 < cover(draw_auc, truth) < 0.98


@pytest.mark.slow
def test_intervals_of_reports_cover_the_truth():
    """The effect of gender on one's own decision, and of the area on foreigners, are known: 20,000 people tell them."""
    many = planted.draw_people(20_000, 999)
    men = many[many.gender == "m"]
    share = (planted.judge_gender(men) != planted.judge_gender(men.assign(gender="f"))).mean()
    foreigners = many[many.origin == "foreign"]
    approved = {
        area: (planted.judge_area(foreigners.assign(area=area)) == "approved").mean() for area in ("north", "south")
    }
    carried = 0.8 * (approved["north"] - approved["south"])  # 90% of foreigners live in the north, and 10% of natives
    covered, proxies_covered = [], []
    for seed in range(14):
        people = planted.draw_people(300, seed).drop(columns=["relationship", "years"])
        options = {"outcome": "approved", "combinations": 1, "seed": seed}
        effect = fairness(planted.judge_gender, people, "gender", **options).get_effect("gender")
        covered.append(effect.share.low <= share <= effect.share.high)
        inputs = people[["income", "debt", "area", "origin"]]
        (proxy,) = (
            item
            for item in fairness(planted.judge_area, inputs, "origin", **options).proxies
            if item.columns == ("area",)
        )
        sign = 1 if proxy.group == "foreign" else -1
        proxies_covered.append(proxy.effect.low <= sign * carried <= proxy.effect.high)
    assert np.mean(covered) >= 0.85
    assert np.mean(proxies_covered) >= 0.85


@pytest.mark.slow
def test_a_model_that_knows_its_training_rows_by_heart_has_no_stand_ins():
    """It answers any changed row differently; that says nothing about groups. The labels do not depend on the area."""
    for seed in SEEDS:
        people = planted.draw_people(400, seed)
        noise = np.random.default_rng(seed).normal(0, 15, len(people))
        labels = planted.decide(people.income - people.debt + noise)
        inputs = people[["income", "debt", "age", "area"]].assign(area=people.area == "north")
        model = RandomForestClassifier(20, random_state=seed, n_jobs=1).fit(inputs, labels)
        report = fairness(model, inputs.assign(origin=people.origin), "origin", outcome="approved", seed=seed)
        assert report.passed, (seed, report.headline)

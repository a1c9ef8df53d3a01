"""Families of models: all sizes from one training equal models of that size trained alone."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from datamorphic.errors import ArgumentError, MissingExtra
from datamorphic.risk.credit.ladder import (
    ForestFamily,
    HistogramBoostingFamily,
    LightGBMFamily,
    LogisticFamily,
    NetworkFamily,
    PublishedBoostingFamily,
    TrainingLoans,
    TreeFamily,
    XGBoostFamily,
    resolve_ladder,
)


@pytest.fixture(autouse=True)
def one_thread():
    """Train in one thread, as reports do: threads that wait for each other are slow on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def training():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(300, 3))
    defaulted = rng.random(300) < 1 / (1 + np.exp(1.5 - matrix[:, 0] + np.sin(3 * matrix[:, 1])))
    return TrainingLoans(
        matrix=matrix, defaulted=defaulted, columns=["risk", "wave", "noise"], signs={"risk": 1, "wave": -1}
    )


@pytest.fixture(scope="module")
def inputs():
    return np.random.default_rng(1).normal(size=(80, 3))


def answer(family, training, inputs):
    return {item.rung.name: item.probabilities for item in family.answer(training, inputs, seed=7)}


@pytest.mark.parametrize(
    "family",
    [LogisticFamily(), TreeFamily(), NetworkFamily(shapes=((1, 1), (2, 1))), ForestFamily(sizes=(1, 3), chunk_trees=2)],
    ids=lambda family: family.name,
)
def test_parts_of_a_family_answer_as_the_family(family, training, inputs):
    parts = {}
    for part in family.split():
        parts |= answer(part, training, inputs)
    whole = answer(family, training, inputs)
    assert list(parts) == list(whole) == [rung.name for rung in family.rungs]
    for name, probabilities in whole.items():
        assert (parts[name] == probabilities).all()


def test_boosting_as_published_gives_every_size_from_one_training(training, inputs):
    answers = answer(PublishedBoostingFamily(sizes=(1, 4, 12)), training, inputs)
    for size, probabilities in zip((1, 4, 12), answers.values(), strict=True):
        alone = GradientBoostingClassifier(n_estimators=size, random_state=7).fit(training.matrix, training.defaulted)
        assert probabilities == pytest.approx(alone.predict_proba(inputs)[:, 1])
    assert next(iter(answers)).endswith("1 tree")


@pytest.mark.parametrize("constrained", [False, True])
def test_boosting_adds_trees(training, inputs, constrained):
    answers = answer(HistogramBoostingFamily(sizes=(2, 9), constrained=constrained), training, inputs)
    for size, probabilities in zip((2, 9), answers.values(), strict=True):
        alone = HistGradientBoostingClassifier(
            max_iter=size,
            max_depth=3,
            early_stopping=False,
            random_state=7,
            monotonic_cst=[1, -1, 0] if constrained else None,
        )
        alone.fit(training.matrix, training.defaulted)
        assert probabilities == pytest.approx(alone.predict_proba(inputs)[:, 1])


@pytest.mark.parametrize("family", [HistogramBoostingFamily, XGBoostFamily, LightGBMFamily])
def test_constraints_hold_in_every_library(family, training):
    if family is not HistogramBoostingFamily:
        pytest.importorskip({"XGBoost": "xgboost", "LightGBM": "lightgbm"}[family.name])
    ramp = np.zeros((50, 3))
    ramp[:, 1] = np.linspace(-3, 3, 50)
    free = next(iter(answer(family(sizes=(60,)), training, ramp).values()))
    held = next(iter(answer(family(sizes=(60,), constrained=True), training, ramp).values()))
    assert (np.diff(free) > 1e-3).any()
    assert (np.diff(held) <= 1e-7).all()


def test_forests_grown_in_chunks_are_means_of_all_their_trees(training, inputs, monkeypatch):
    from sklearn.ensemble import RandomForestClassifier

    sizes, forests = [], []
    fit = RandomForestClassifier.fit

    def spy(self, *data):
        sizes.append(self.n_estimators)
        forests.append(fit(self, *data))
        return forests[-1]

    monkeypatch.setattr(RandomForestClassifier, "fit", spy)
    answers = answer(ForestFamily(sizes=(1, 7), chunk_trees=3), training, inputs)
    assert sizes == [1, 3, 3]
    trees = [tree for forest in forests for tree in forest.estimators_]
    mean = np.mean([tree.predict_proba(inputs)[:, 1] for tree in trees], axis=0)
    assert answers["random forest, 7 trees"] == pytest.approx(mean)
    assert len(np.unique([tree.predict_proba(inputs)[:, 1] for tree in trees], axis=0)) == 7  # no tree twice


def test_logistic_regression_reports_its_signs(training, inputs):
    (item,) = LogisticFamily().answer(training, inputs, seed=0)
    assert set(item.coefficients) == {"risk", "wave"}
    assert item.coefficients["risk"] > 0


@pytest.mark.slow
def test_trees_and_networks_have_one_model_per_size(training, inputs):
    assert list(answer(TreeFamily(depths=(1, 2)), training, inputs)) == [
        "decision tree, depth 1",
        "decision tree, depth 2",
    ]
    answers = answer(NetworkFamily(shapes=((2, 1), (1, 2))), training, inputs)
    assert list(answers) == ["neural network, 2*1", "neural network, 1*2"]


def test_ladders_by_name():
    names = [family.name for family in resolve_ladder("short", constraints=False)]
    assert names[0] == "logistic regression"
    assert len(names) == 5
    published = resolve_ladder("published", constraints=False)
    assert sum(len(family.rungs) for family in published) == 1 + 3 + 15 + 13 + 8 + 13
    twins = resolve_ladder(["gradient_boosting", "random_forest"], constraints=True)
    assert [family.name for family in twins] == ["gradient boosting", "random forest", "gradient boosting"]
    assert [rung.twin for rung in twins[-1].rungs] == [rung.name for rung in twins[0].rungs]
    rungs = [
        rung.name for family in resolve_ladder(["published", "xgboost"], constraints=True) for rung in family.rungs
    ]
    assert len(set(rungs)) == len(rungs)


@pytest.mark.parametrize(
    ("request_", "message"), [("shorter", "Did you mean 'short'"), ([], "families"), (3, "families")]
)
def test_unknown_ladders(request_, message):
    with pytest.raises(ArgumentError, match=message):
        resolve_ladder(request_, constraints=False)


def test_missing_libraries_are_named(monkeypatch, training, inputs):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingExtra, match="pip install"):
        answer(XGBoostFamily(sizes=(1,)), training, inputs)

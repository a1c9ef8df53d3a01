"""Trees read from scikit-learn answer as their source does: labels, numbers, scores and leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from datamorphic.errors import ModelError
from datamorphic.trees.descent import find_leaves
from datamorphic.trees.read import read_forest
from support.tree_rows import make_rows, seen

RNG = np.random.default_rng(3)
ROWS = 300
PLAIN = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, ROWS),
        "income": np.round(RNG.gamma(3, 900, ROWS), 1),
        "debt": RNG.normal(0, 1, ROWS).astype(np.float32),
        "owner": RNG.random(ROWS) < 0.4,
    }
)
HOLED = PLAIN.assign(debt=PLAIN.debt.mask(RNG.random(ROWS) < 0.2), income=PLAIN.income.mask(RNG.random(ROWS) < 0.1))
GROUPED = HOLED.assign(
    town=pd.Categorical(RNG.choice(["Oslo", "Rome", "Bonn", None], ROWS)),
    grade=pd.Categorical(RNG.choice([1, 2, 5], ROWS)),
)[["age", "town", "income", "grade", "debt", "owner"]]
AMOUNT = (PLAIN.income / 1000 + (PLAIN.age > 60) * PLAIN.debt + RNG.random(ROWS)).round(3).clip(0.001).to_numpy()
TWO = np.where((PLAIN.income > 2500) ^ (PLAIN.age > 60) ^ (RNG.random(ROWS) < 0.1), "yes", "no")
THREE = np.where(PLAIN.debt > 0.7, "perhaps", TWO)
CODES = np.where(THREE == "yes", 7, np.where(THREE == "no", 3, 5))
PAIR = np.column_stack([TWO, THREE])
SMALL = {"random_state": 0}


MODELS = [
    (DecisionTreeClassifier(**SMALL), PLAIN, THREE),
    (DecisionTreeClassifier(max_depth=5, **SMALL), HOLED, CODES),
    (DecisionTreeClassifier(max_leaf_nodes=20, class_weight="balanced", **SMALL), PLAIN.to_numpy(float), TWO),
    (DecisionTreeClassifier(max_depth=4, **SMALL), PLAIN, PAIR),
    (DecisionTreeRegressor(max_depth=7, **SMALL), HOLED, AMOUNT),
    (DecisionTreeRegressor(max_depth=3, **SMALL), PLAIN, np.column_stack([AMOUNT, PLAIN.age])),
    (ExtraTreeClassifier(**SMALL), PLAIN, THREE),
    (RandomForestClassifier(10, max_depth=5, **SMALL), HOLED, THREE),
    (RandomForestClassifier(4, max_depth=2, **SMALL), PLAIN, TWO),  # few leaves: ties
    (RandomForestClassifier(5, max_depth=4, **SMALL), PLAIN, PAIR),
    (RandomForestRegressor(10, max_depth=5, **SMALL), HOLED, AMOUNT),
    (RandomForestRegressor(5, max_depth=4, **SMALL), PLAIN, np.column_stack([AMOUNT, PLAIN.age])),
    (ExtraTreesClassifier(10, max_depth=6, **SMALL), PLAIN, CODES),
    (ExtraTreesRegressor(10, max_depth=6, **SMALL), PLAIN, AMOUNT),
    (GradientBoostingClassifier(n_estimators=8, **SMALL), PLAIN, TWO),
    (GradientBoostingClassifier(n_estimators=8, subsample=0.5, **SMALL), PLAIN, THREE),
    (GradientBoostingClassifier(n_estimators=5, loss="exponential", **SMALL), PLAIN, TWO),
    (GradientBoostingClassifier(n_estimators=5, init="zero", **SMALL), PLAIN, THREE),
    (GradientBoostingRegressor(n_estimators=10, **SMALL), PLAIN, AMOUNT),
    (GradientBoostingRegressor(n_estimators=5, loss="huber", init="zero", **SMALL), PLAIN, AMOUNT),
    (GradientBoostingRegressor(n_estimators=5, loss="quantile", init=DummyRegressor(), **SMALL), PLAIN, AMOUNT),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10, **SMALL), PLAIN, TWO),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10, **SMALL), PLAIN, THREE),
    (AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=10, **SMALL), PLAIN, TWO),  # ends after one tree
    (AdaBoostRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=10, **SMALL), PLAIN, AMOUNT),
    (BaggingClassifier(DecisionTreeClassifier(), 9, max_features=0.5, **SMALL), PLAIN, THREE),
    (BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, max_samples=4, **SMALL), PLAIN, THREE),  # labels unseen
    (BaggingRegressor(DecisionTreeRegressor(max_depth=5), 9, max_features=3, **SMALL), HOLED, AMOUNT),
    (HistGradientBoostingClassifier(max_iter=8, **SMALL), HOLED, TWO),
    (HistGradientBoostingClassifier(max_iter=6, **SMALL), GROUPED, THREE),
    (HistGradientBoostingRegressor(max_iter=8, **SMALL), PLAIN.to_numpy(float), AMOUNT),
    (HistGradientBoostingRegressor(max_iter=6, loss="poisson", **SMALL), GROUPED, AMOUNT),
    (HistGradientBoostingRegressor(max_iter=6, loss="absolute_error", **SMALL), HOLED, AMOUNT),
    (make_pipeline(StandardScaler(), RandomForestClassifier(5, max_depth=4, **SMALL)), PLAIN, THREE),
    (make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=4, **SMALL)), HOLED, THREE),
]


def named(model):
    return type(model[-1] if hasattr(model, "steps") else model).__name__


@pytest.mark.slow
@pytest.mark.parametrize(("model", "X", "y"), MODELS, ids=[named(model) for model, _, _ in MODELS])
def test_answers_equal_those_of_the_model(model, X, y):
    if X is GROUPED:
        model.set_params(categorical_features="from_dtype")
    model.fit(X, y)
    forest = read_forest(model)
    rows = make_rows(forest, pd.DataFrame(X))
    if X is GROUPED:
        rows["town"] = rows.town.cat.add_categories(["Paris"])
        rows.loc[::7, "town"] = "Paris"
    inputs = rows if isinstance(X, pd.DataFrame) else rows.to_numpy()
    predicted = forest.predict(seen(forest, rows))
    expected = model.predict(inputs)
    assert len(rows) == 4 * ROWS
    assert predicted.shape == expected.shape
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(predicted, expected, rtol=1e-12)
    else:
        assert (predicted == expected).all()
        assert predicted.dtype.kind == expected.dtype.kind


@pytest.mark.parametrize(
    ("model", "y", "scores"),
    [
        (GradientBoostingClassifier(n_estimators=5, **SMALL), THREE, "decision_function"),
        (GradientBoostingClassifier(n_estimators=5, **SMALL), TWO, "decision_function"),
        (HistGradientBoostingClassifier(max_iter=5, **SMALL), THREE, "decision_function"),
        (RandomForestClassifier(5, max_depth=4, **SMALL), THREE, "predict_proba"),
        (DecisionTreeClassifier(max_depth=4, **SMALL), THREE, "predict_proba"),
    ],
    ids=lambda case: type(case).__name__ if hasattr(case, "fit") else "",
)
def test_scores_equal_those_of_the_model(model, y, scores):
    forest = read_forest(model.fit(PLAIN, y))
    rows = make_rows(forest, PLAIN)
    forest_scores = forest.scores(seen(forest, rows))
    expected = getattr(model, scores)(rows)
    np.testing.assert_allclose(forest_scores, expected.reshape(forest_scores.shape), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(**SMALL),
        RandomForestClassifier(5, **SMALL),
        GradientBoostingClassifier(n_estimators=3, **SMALL),
    ],
    ids=named,
)
def test_leaves_equal_those_of_the_model(model):
    matrix = PLAIN.to_numpy(float)
    forest = read_forest(model.fit(matrix, THREE))
    rows = make_rows(forest, pd.DataFrame(matrix)).to_numpy()
    leaves = np.column_stack([find_leaves(tree, rows) for tree in forest.trees])
    assert (leaves == model.apply(rows).reshape(leaves.shape)).all()


def test_values_and_weights_of_histogram_trees():
    model = HistGradientBoostingClassifier(max_iter=2, **SMALL).fit(HOLED, THREE)
    forest = read_forest(model)
    assert [tree.meaning for tree in forest.trees[:3]] == [
        f"added to the score of {x!r}" for x in ("no", "perhaps", "yes")
    ]
    assert all(tree.weight[tree.leaves].sum() == pytest.approx(1) for tree in forest.trees)
    assert not forest.single
    assert forest.takes_missing
    gamma_forest = read_forest(HistGradientBoostingRegressor(loss="gamma", max_iter=1).fit(PLAIN, AMOUNT))
    assert gamma_forest.trees[0].meaning == "added to the logarithm of the answer"


def test_categories_of_histogram_models():
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype").fit(GROUPED, THREE)
    assert dict(read_forest(model).categories) == {1: ("Bonn", "Oslo", "Rome"), 3: (1, 2, 5)}


def test_a_model_that_starts_from_another_has_no_known_answer():
    model = GradientBoostingRegressor(n_estimators=3, init=LinearRegression()).fit(PLAIN, AMOUNT)
    forest = read_forest(model)
    assert len(forest.trees) == 3
    with pytest.raises(ModelError, match="starts from another model"):
        forest.predict(seen(forest, PLAIN))

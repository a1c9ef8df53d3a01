"""Trees of XGBoost, LightGBM and CatBoost answer as their source does: labels, numbers, scores and leaves."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import datamorphic as dm
from datamorphic.errors import ModelError
from datamorphic.trees.coverage.mutation import find_kills_by_tree
from datamorphic.trees.descent import find_leaves
from datamorphic.trees.mutants import generate_mutants
from datamorphic.trees.pmml.files import read_pmml
from datamorphic.trees.read import load_trees, read_forest
from datamorphic.trees.rules import format_rule
from datamorphic.trees.write import write_pmml
from support.tree_rows import joint_kills_one_by_one, make_rows, seen

NEEDS = "needs the extra: pip install 'datamorphic[boost]'"
xgb = pytest.importorskip("xgboost", reason=NEEDS)
lgb = pytest.importorskip("lightgbm", reason=NEEDS)
cb = pytest.importorskip("catboost", reason=NEEDS)

KEEPS_CATEGORIES = tuple(int(part) for part in xgb.__version__.split(".")[:2]) >= (3, 1)
NO_CATEGORIES = "XGBoost before 3.1 does not keep the names of categories"
# LightGBM 4.6 takes the names it generates for an array for names of columns, and finds them missing
allow_generated_names = pytest.mark.filterwarnings("ignore:X does not have valid feature names")

RNG = np.random.default_rng(5)
ROWS = 200
PLAIN = pd.DataFrame(
    {
        "income": np.round(RNG.gamma(3, 0.9, ROWS), 2),
        "debt": RNG.normal(0, 1, ROWS),
        "change": RNG.choice([0.0, 0.0, -1.5, 2.25], ROWS) * RNG.integers(1, 4, ROWS),
    }
)
HOLED = PLAIN.assign(debt=PLAIN.debt.mask(RNG.random(ROWS) < 0.2))
TOWN, GRADE = RNG.choice(["Oslo", "Rome", "Bonn", "Cork"], ROWS), RNG.choice([1, 2, 5], ROWS)
GROUPED = HOLED.assign(town=pd.Categorical(TOWN), grade=pd.Categorical(GRADE))[
    ["income", "town", "debt", "grade", "change"]
]
AMOUNT = (PLAIN.income + (TOWN == "Rome") * PLAIN.debt + RNG.random(ROWS)).clip(0.01).to_numpy()
TWO = ((PLAIN.income > 2.5) ^ (GRADE > 1) ^ (PLAIN.debt > 0.5)).astype(int).to_numpy()
THREE = np.where(TOWN == "Bonn", 2, TWO)
WORDS = np.array(["no", "yes", "perhaps"])[THREE]
QUERIES = np.repeat(np.arange(10), ROWS // 10)
EARLY = (HOLED.iloc[::3].reset_index(drop=True), 1 - TWO[::3])


def xg(kind="Classifier", **settings):
    return getattr(xgb, f"XGB{kind}")(
        **({"n_estimators": 6, "max_depth": 4, "enable_categorical": True, "n_jobs": 1} | settings)
    )


def lg(kind="Classifier", **settings):
    common = {
        "n_estimators": 6,
        "num_leaves": 9,
        "min_child_samples": 3,
        "verbose": -1,
        "min_data_per_group": 3,
        "n_jobs": 1,
    }
    return getattr(lgb, f"LGBM{kind}")(**(common | settings))


def cat(kind="Classifier", **settings):
    common = {
        "iterations": 6,
        "depth": 4,
        "verbose": 0,
        "allow_writing_files": False,
        "one_hot_max_size": 9,
        "thread_count": 1,
    }
    return getattr(cb, f"CatBoost{kind}")(**(common | settings))


XGBOOST = [
    (xg(), HOLED, TWO, {}),
    (xg(), GROUPED, THREE, {}),
    (xg(max_cat_to_onehot=1), GROUPED, TWO, {}),
    (xg(gamma=1.5), HOLED, THREE, {}),
    (xg(gamma=1.5, tree_method="exact", enable_categorical=False), HOLED, THREE, {}),  # leaves out nodes
    (xg(booster="dart", rate_drop=0.4), HOLED, THREE, {}),
    (xg(missing=2.25), PLAIN, THREE, {}),
    (xg(missing=0), PLAIN, TWO, {}),
    (xg(num_parallel_tree=2, subsample=0.6, objective="multi:softmax"), HOLED, THREE, {}),
    (xg(objective="binary:hinge"), HOLED, TWO, {}),
    (xg(objective="binary:logitraw"), HOLED, TWO, {}),
    (xg(early_stopping_rounds=1, n_estimators=50), HOLED, TWO, {"eval_set": [EARLY], "verbose": False}),
    (xg(), HOLED.to_numpy(), np.column_stack([TWO, TWO ^ (THREE == 2)]), {}),
    (xg("RFClassifier"), HOLED, THREE, {}),
    (xg("RFRegressor"), HOLED, AMOUNT, {}),
    (xg("Regressor"), GROUPED, AMOUNT, {}),
    (xg("Regressor", booster="dart", rate_drop=0.4), HOLED, AMOUNT, {}),
    (xg("Regressor"), HOLED, np.column_stack([AMOUNT, TWO]), {}),
    *((xg("Regressor", objective=f"reg:{name}"), HOLED, AMOUNT / 20, {}) for name in ("gamma", "tweedie", "logistic")),
    (xg("Regressor", objective="reg:absoluteerror"), HOLED, AMOUNT, {}),
    (xg("Regressor", objective="reg:quantileerror", quantile_alpha=[0.2, 0.7]), HOLED, AMOUNT, {}),
    (xg("Regressor", objective="count:poisson"), HOLED, THREE, {}),
    (xg("Regressor", objective="survival:cox"), HOLED, AMOUNT, {}),
    (xg("Ranker"), HOLED, THREE, {"qid": QUERIES}),
]
LIGHTGBM = [
    (lg(), HOLED, TWO, {}),
    (lg(), GROUPED, WORDS, {}),
    (lg(max_cat_to_onehot=1, cat_smooth=1), GROUPED, TWO, {}),
    (lg(zero_as_missing=True), PLAIN, THREE, {}),
    (lg(use_missing=False), HOLED, THREE, {}),
    (lg(), PLAIN, TWO, {}),  # NaN is taken for 0
    (lg(objective="multiclassova"), HOLED.to_numpy(), WORDS, {}),
    (lg(boosting_type="rf", subsample=0.6, subsample_freq=1), HOLED, THREE, {}),
    (lg("Regressor", boosting_type="rf", subsample=0.6, subsample_freq=1), HOLED, AMOUNT, {}),
    (lg(boosting_type="dart"), HOLED, THREE, {}),
    (
        lg(n_estimators=50, min_child_samples=20),
        HOLED,
        TWO,
        {"eval_set": [EARLY], "callbacks": [lgb.early_stopping(1, verbose=False)]},
    ),
    (lg("Regressor"), GROUPED, AMOUNT, {}),
    (lg("Regressor", reg_sqrt=True), HOLED, AMOUNT - 2, {}),
    (lg("Regressor", objective="binary", sigmoid=0.7), HOLED, TWO, {}),
    *(
        (lg("Regressor", objective=name), HOLED, AMOUNT / 20, {})
        for name in ("poisson", "gamma", "tweedie", "quantile", "huber", "cross_entropy", "cross_entropy_lambda")
    ),
    (lg("Regressor"), HOLED, np.full(ROWS, 3.5), {}),  # one leaf
    (lg("Ranker"), HOLED, THREE, {"group": [20] * 10}),
]
GROUPS = {"cat_features": ["town", "grade"]}
CATBOOST = [
    (cat(), HOLED, TWO, {}),
    (cat(), GROUPED, WORDS, GROUPS),
    (cat(nan_mode="Max"), GROUPED, TWO == 1, GROUPS),
    (cat(grow_policy="Depthwise"), GROUPED, TWO, GROUPS),
    (cat(grow_policy="Lossguide", max_leaves=9), GROUPED, THREE, GROUPS),
    (cat(loss_function="MultiClassOneVsAll"), HOLED.to_numpy(), WORDS, {}),
    (cat(loss_function="MultiLogloss"), HOLED, np.column_stack([TWO, THREE == 2]).astype(int), {}),
    (cat("Regressor"), GROUPED, AMOUNT, GROUPS),
    (cat("Regressor", grow_policy="Lossguide"), HOLED, AMOUNT, {}),
    (cat("Regressor", loss_function="Poisson"), HOLED, AMOUNT, {}),
    (cat("Regressor", loss_function="Quantile:alpha=0.3"), HOLED, AMOUNT, {}),
    (cat("Regressor", loss_function="MultiRMSE"), HOLED, np.column_stack([AMOUNT, TWO]), {}),
    (cat("Ranker"), HOLED, THREE, {"group_id": QUERIES}),
]


def fitted(model, X, y, settings):
    if X is GROUPED and isinstance(model, xgb.XGBModel) and not KEEPS_CATEGORIES:
        pytest.skip(NO_CATEGORIES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM 4.7 finds fault with eval_set, which older ones need
        return model.fit(X, y, **settings)


def named(cases):
    return [type(case[0]).__name__ for case in cases]


def rows_for(forest, X, unknown=False):
    rows = make_rows(forest, pd.DataFrame(X))
    if "town" in rows and unknown:
        rows["town"] = rows.town.cat.add_categories(["Paris"])
        rows.loc[::7, "town"] = "Paris"
    return rows, rows if isinstance(X, pd.DataFrame) else rows.to_numpy()


def same(predicted, expected):
    """Tell whether labels agree exactly, and numbers but for the order and precision of sums."""
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(predicted, expected, rtol=1e-6, atol=1e-7)
    else:
        assert (predicted == expected).all()


def compare(model, forest, rows, inputs, raw, leaves, first_leaf=lambda tree: 0, exact=False):
    matrix = seen(forest, rows)
    predicted = forest.predict(matrix)
    same(predicted, np.asarray(model.predict(inputs)).reshape(predicted.shape))
    if raw:
        scores = forest.scores(matrix)
        expected = model.predict(inputs, **raw).reshape(scores.shape)
        assert scores.dtype == expected.dtype
        np.testing.assert_allclose(scores, expected, rtol=0 if exact else 1e-6, atol=0 if exact else 1e-6)
    own_leaves = np.column_stack([find_leaves(tree, matrix) - first_leaf(tree) for tree in forest.trees])
    return own_leaves, np.asarray(leaves).reshape(own_leaves.shape)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "X", "y", "settings"), XGBOOST, ids=named(XGBOOST))
def test_xgboost(model, X, y, settings):
    forest = read_forest(fitted(model, X, y, settings))
    rows, inputs = rows_for(forest, X)
    # dropped trees are weighed as they are added; a start may go through a logarithm of another library
    exact = model.get_params().get("booster") != "dart" and forest.joining.link in ("", "softmax")
    raw, leaves = {"output_margin": True}, model.apply(inputs)
    own_leaves, leaves = compare(model, forest, rows, inputs, raw, leaves, exact=exact)
    if model.get_params().get("tree_method") != "exact":  # nodes that were cut off leave no gap here
        assert (own_leaves == leaves).all()


@pytest.mark.slow
@allow_generated_names
@pytest.mark.parametrize(("model", "X", "y", "settings"), LIGHTGBM, ids=named(LIGHTGBM))
def test_lightgbm(model, X, y, settings):
    forest = read_forest(fitted(model, X, y, settings))
    rows, inputs = rows_for(forest, X, unknown=True)
    if model.get_params().get("zero_as_missing"):
        rows.loc[::5, "change"] = np.resize([0.0, 1e-35, -1e-36, 1.1e-35], len(rows[::5]))
    averages = model.get_params()["boosting_type"] == "rf"  # its raw scores are sums, its answers means
    raw = {} if averages else {"raw_score": True}
    leaves = model.predict(inputs, pred_leaf=True)
    own_leaves, leaves = compare(model, forest, rows, inputs, raw, leaves, lambda tree: len(tree.inner), exact=True)
    assert (own_leaves == leaves).all()


@pytest.mark.parametrize(("model", "X", "y", "settings"), CATBOOST, ids=named(CATBOOST))
def test_catboost(model, X, y, settings):
    forest = read_forest(fitted(model, X, y, settings), X)
    rows, inputs = rows_for(forest, X, unknown=True)
    raw = {} if isinstance(model, cb.CatBoostRanker) else {"prediction_type": "RawFormulaVal"}
    own_leaves, leaves = compare(model, forest, rows, inputs, raw, model.calc_leaf_indexes(inputs))
    for ours, theirs in zip(own_leaves.T, leaves.T, strict=True):
        assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs))


@pytest.mark.parametrize(
    ("params", "y"),
    [
        ({"objective": "binary:logistic"}, TWO),
        ({"objective": "multi:softprob", "num_class": 3}, THREE),
        ({"objective": "multi:softmax", "num_class": 3}, THREE),
        ({}, AMOUNT),
    ],
    ids=lambda case: str(case) if isinstance(case, dict) else "",
)
def test_a_booster_of_xgboost(params, y):
    frame = GROUPED if KEEPS_CATEGORIES else HOLED
    booster = xgb.train(params, xgb.DMatrix(frame, y, enable_categorical=True), 4)
    forest = read_forest(booster)
    rows, _ = rows_for(forest, frame)
    expected = booster.predict(xgb.DMatrix(rows, enable_categorical=True))
    same(forest.predict(seen(forest, rows)), expected.argmax(1) if expected.ndim == 2 else expected)


@pytest.mark.parametrize(
    ("params", "y"),
    [({"objective": "binary"}, TWO), ({"objective": "multiclass", "num_class": 3}, THREE), ({}, AMOUNT)],
    ids=lambda case: str(case) if isinstance(case, dict) else "",
)
def test_a_booster_of_lightgbm(params, y):
    booster = lgb.train(params | {"verbose": -1}, lgb.Dataset(GROUPED, y), 4)
    forest = read_forest(booster)
    rows, _ = rows_for(forest, GROUPED)
    expected = booster.predict(rows)
    same(forest.predict(seen(forest, rows)), expected.argmax(1) if expected.ndim == 2 else expected)


@allow_generated_names
@pytest.mark.parametrize("model", [xg(missing=0.5), lg(), cat()], ids=lambda model: type(model).__name__)
def test_behind_a_scaler(model):
    model = make_pipeline(StandardScaler(), model).fit(PLAIN, TWO)
    forest = read_forest(model)
    rows = make_rows(forest, PLAIN)
    assert (forest.predict(seen(forest, rows)) == model.predict(rows)).all()


@pytest.mark.parametrize(
    ("model", "X", "y", "settings"),
    [XGBOOST[1], XGBOOST[7], XGBOOST[15], LIGHTGBM[1], LIGHTGBM[3], LIGHTGBM[7], CATBOOST[1], CATBOOST[3]],
    ids=lambda case: type(case).__name__ if hasattr(case, "predict") else "",
)
def test_through_a_file_of_pmml(model, X, y, settings, tmp_path):
    forest = read_forest(fitted(model, X, y, settings), X)
    rows, _ = rows_for(forest, X, unknown=True)
    write_pmml(forest, tmp_path / "model.pmml")
    again = read_pmml(tmp_path / "model.pmml")
    same(again.predict(seen(again, rows)), forest.predict(seen(forest, rows)))


# -- what the trees are like --------------------------------------------------------------------------


def test_column_names_and_generated_ones():
    for model in (xg(n_estimators=1), lg(n_estimators=1), cat(iterations=1)):
        assert read_forest(model.fit(PLAIN, TWO)).columns == ("income", "debt", "change")
        nameless = read_forest(model.fit(PLAIN.to_numpy(), TWO))
        assert nameless.columns is None
        assert nameless.trees[0].names == ("x0", "x1", "x2")
    spaced = PLAIN.rename(columns={"income": "yearly income"})
    model = fitted(lg(n_estimators=1), spaced, TWO, {})
    assert read_forest(model, spaced).columns == ("yearly income", "debt", "change")


def test_values_and_weights_of_leaves():
    cases = [
        (xg(n_estimators=1), THREE, ["added to the score of 0", "added to the score of 1", "added to the score of 2"]),
        (xg(n_estimators=1), TWO, ["added to the score of 1"]),
        (lg(n_estimators=1), WORDS, [f"added to the score of {word!r}" for word in ("no", "perhaps", "yes")]),
        (lg("Regressor", n_estimators=1, objective="poisson"), TWO, ["added to the logarithm of the answer"]),
        (cat(iterations=1), THREE, ["gets the most added to its score"]),
        (cat("Regressor", iterations=1), AMOUNT, ["added to the answer"]),
    ]
    for model, y, meanings in cases:
        trees = read_forest(model.fit(PLAIN, y)).trees
        assert [tree.meaning for tree in trees] == meanings
        assert all(tree.weight[tree.leaves].sum() == pytest.approx(1) for tree in trees)


def test_a_leaf_that_no_row_can_reach_is_left_out():
    line = pd.DataFrame({"x": np.arange(64.0)})
    model = cat(depth=5, iterations=3).fit(line, (line.x // 9) % 2)
    forest = read_forest(model)
    rows = pd.DataFrame({"x": np.arange(-1, 65, 0.25)})
    matrix = seen(forest, rows)
    np.testing.assert_allclose(forest.scores(matrix)[:, 0], model.predict(rows, prediction_type="RawFormulaVal"))
    for tree, size in zip(forest.trees, model.get_tree_leaf_counts(), strict=True):
        reached = np.unique(find_leaves(tree, matrix))
        assert len(tree.leaves) < size
        assert reached.tolist() == tree.leaves.tolist()


@pytest.mark.parametrize(
    ("model", "settings"),
    [(xg(max_cat_to_onehot=1), {}), (lg(cat_smooth=1), {}), (cat(), GROUPS)],
    ids=lambda case: type(case).__name__ if hasattr(case, "predict") else "",
)
def test_rules_name_categories(model, settings):
    forest = read_forest(fitted(model, GROUPED, THREE, settings), GROUPED)
    assert sorted(forest.categories[1]) == ["Bonn", "Cork", "Oslo", "Rome"]
    assert sorted(forest.categories[3]) == [1, 2, 5]
    known = {"town": forest.categories[1], "grade": forest.categories[3]}
    rules = [format_rule(tree, leaf, categories=known) for tree in forest.trees for leaf in tree.leaves]
    assert any("town is Bonn" in rule for rule in rules)


# -- what cannot be read ------------------------------------------------------------------------------


def latin():
    frame = GROUPED.assign(town=pd.Categorical(np.where(TOWN == "Rome", "Århus", TOWN)))
    return xg().fit(frame, TWO)


def half_grouped():
    frame = GROUPED.assign(grade=GRADE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lg().fit(frame, TWO, categorical_feature=["town", "grade"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: xgb.XGBClassifier(), "This XGBClassifier is not fitted. Fit it first"),
        (lambda: lgb.LGBMRegressor(), "This LGBMRegressor is not fitted. Fit it first"),
        (lambda: cb.CatBoostClassifier(), "This CatBoostClassifier is not fitted. Fit it first"),
        (lambda: xgb.XGBClassifier, "XGBClassifier is a class"),
        (lambda: xgb.XGBRegressor(booster="gblinear", n_estimators=1).fit(PLAIN, AMOUNT), "linear .* has no trees"),
        (
            lambda: xg("Regressor", multi_strategy="multi_output_tree").fit(PLAIN, np.column_stack([AMOUNT, TWO])),
            "one_output_per_tree",
        ),
        (latin, "non-ASCII letters" if KEEPS_CATEGORIES else "which did not keep their names. Fit it with XGBoost 3.1"),
        (lambda: xgb.DMatrix(PLAIN), "DMatrix is not a readable decision tree"),
        (lambda: lg("Regressor", linear_tree=True).fit(PLAIN, AMOUNT), "linear_tree=True"),
        (half_grouped, "categorical_feature"),
        (lambda: cat(one_hot_max_size=1).fit(GROUPED, TWO, **GROUPS), "'town'.*one_hot_max_size"),
        (lambda: cat().fit(GROUPED, TWO, **GROUPS), "hashes of their names. Pass the data"),
        (lambda: cb.Pool(PLAIN), "Pool is not a readable decision tree"),
    ],
    ids=lambda case: "" if callable(case) else case,
)
def test_unsupported_models_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        read_forest(make())


def test_a_custom_objective_has_no_known_answer():
    def squared(truth, predicted):
        return predicted - truth, np.ones_like(predicted)

    for model in (lg("Regressor", objective=squared), cat("Regressor", loss_function="RMSEWithUncertainty")):
        forest = read_forest(model.fit(PLAIN, AMOUNT))
        assert len(forest.trees) == 6
        with pytest.raises(ModelError, match="a custom objective"):
            forest.predict(seen(forest, PLAIN))


JOINT = {
    "XGBoost, two": (lambda: xg(n_estimators=3).fit(HOLED, TWO), HOLED, 0.0),
    "XGBoost, three": (lambda: fitted(xg(n_estimators=2), GROUPED, THREE, {}), GROUPED, 0.0),
    "XGBoost, numbers": (lambda: xg("Regressor", n_estimators=3, objective="reg:gamma").fit(PLAIN, AMOUNT), PLAIN, 0.1),
    "LightGBM": (lambda: lg(n_estimators=2).fit(GROUPED, WORDS), GROUPED, 0.0),
    "LightGBM, forest": (
        lambda: lg(n_estimators=2, boosting_type="rf", bagging_freq=1, bagging_fraction=0.7).fit(HOLED, THREE),
        HOLED,
        0.0,
    ),
    "CatBoost": (lambda: cat(iterations=3, depth=3).fit(PLAIN, THREE), PLAIN, 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JOINT)
def test_joint_kills_equal_those_of_evaluating_mutated_forests(name):
    model, frame, tolerance = JOINT[name]
    forest = read_forest(model(), frame)
    matrix = seen(forest, frame.iloc[:40])
    of = tuple(generate_mutants(tree) for tree in forest.trees)
    rows_by_mutant = [
        kills.get_rows(mutant).tolist()
        for kills in find_kills_by_tree(forest, matrix, of, True, tolerance)
        for mutant in range(len(kills))
    ]
    assert rows_by_mutant == list(joint_kills_one_by_one(forest, matrix, of, tolerance))
    assert 0 < sum(map(bool, rows_by_mutant)) < len(rows_by_mutant)


def test_models_in_files_of_their_libraries(tmp_path):
    models = {
        "a.json": xg(n_estimators=3).fit(PLAIN, TWO),
        "a.ubj": xg(n_estimators=3).fit(PLAIN, TWO),
        "a.txt": lg(n_estimators=3).fit(PLAIN, TWO),
        "a.cbm": cat(iterations=3, depth=3).fit(PLAIN, TWO),
    }
    for name, model in models.items():
        file = tmp_path / name
        saved = model.booster_ if name == "a.txt" else model
        saved.save_model(str(file))
        forest = read_forest(load_trees(file), PLAIN)
        expected = read_forest(model, PLAIN)
        assert [len(tree) for tree in forest.trees] == [len(tree) for tree in expected.trees]
        matrix = seen(expected, PLAIN)
        np.testing.assert_allclose(forest.scores(matrix), expected.scores(matrix), rtol=1e-6)
        file.write_text("nothing of the kind")
        with pytest.raises(ModelError, match=f"{name} is not a readable model of"):
            load_trees(file)
    with pytest.raises(ModelError, match="does not exist"):
        load_trees(tmp_path / "b.ubj")


def test_a_regressor_has_leaves_to_cover_and_needs_a_tolerance_for_mutants():
    model = xg("Regressor", n_estimators=3).fit(PLAIN, AMOUNT)
    assert dm.cover(model, PLAIN).share > 0.9
    with pytest.raises(ModelError, match=r"this XGBRegressor answers with numbers.*tolerance=0\.1"):
        dm.cover(model, PLAIN, criterion="DTMT")
    scores = [dm.cover(model, PLAIN, criterion="DTMT", tolerance=value).score for value in (0, 0.3)]
    assert scores[0] > scores[1] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["XGBoost", "LightGBM", "CatBoost"])
def test_rules_name_categories_and_fix_covers_them(name):
    frame = GROUPED.assign(town=GROUPED.town.astype(str)) if name == "CatBoost" else GROUPED
    models = {
        "XGBoost": lambda: fitted(xg(n_estimators=1, max_depth=5), frame, TWO, {}),
        "LightGBM": lambda: lg(n_estimators=1, num_leaves=15).fit(frame, TWO),
        "CatBoost": lambda: cat(iterations=2, depth=4, cat_features=["town", "grade"], one_hot_max_size=9).fit(
            frame, TWO
        ),
    }
    model = models[name]()
    coverage = dm.cover(model, frame.iloc[:8])
    rules = " ".join(coverage.rule(leaf) for leaf in range(coverage.leaves))
    kinds = [*(f"town is {item}" for item in TOWN), *(f"grade is {item}" for item in GRADE)]
    assert any(kind in rules.replace("is not", "is") for kind in kinds), rules
    extra = coverage.fix()
    again = dm.cover(model, pd.concat([frame.iloc[:8], extra.astype(frame.dtypes)], ignore_index=True))
    assert again.covered.sum() == coverage.covered.sum() + len(extra)
    assert again.share > 0.9 > coverage.share
    whole = dm.cover(model, frame.iloc[:8], criterion="DTMT")
    assert whole.joint
    assert "killed" in whole.describe()

"""Structure of booster files: an index that leads outside the model is refused, whatever the rows."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from datamorphic.systems.booster_structure import StructureError, validate_booster

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=200), "town": pd.Categorical(RNG.choice(["Oslo", "Rome", "Bonn"], 200))})
LABELS = ((FRAME.a > 0) ^ (FRAME.town == "Rome")).astype(int)


@pytest.fixture(scope="module")
def xgboost_text():
    library = pytest.importorskip("xgboost")
    model = library.XGBClassifier(n_estimators=2, max_depth=3, enable_categorical=True, max_cat_to_onehot=1, n_jobs=1)
    return model.fit(FRAME, LABELS).get_booster().save_raw("json").decode()


@pytest.fixture(scope="module")
def lightgbm_text():
    library = pytest.importorskip("lightgbm")
    model = library.LGBMClassifier(
        n_estimators=2, num_leaves=6, min_data_per_group=3, cat_smooth=1, max_cat_to_onehot=1, n_jobs=1, verbose=-1
    )
    return model.fit(FRAME, LABELS).booster_.model_to_string()


def change(learner, *path, to):
    """Set one value of a nested document."""
    *parents, last = path
    for key in parents:
        learner = learner[key]
    learner[last] = to


TREES = ("gradient_booster", "model", "trees", 0)
FORGED_XGBOOST = {
    "uses a column beyond the 2 of the model": [(*TREES, "split_indices", 0, 1_000_000)],
    "uses a column": [(*TREES, "split_indices", 0, -3)],
    "but a child 5000": [(*TREES, "left_children", 0, 5000)],
    "but a child -7": [(*TREES, "right_children", 0, -7)],
    "as a child twice": [(*TREES, "left_children", 1, 0)],
    "whose parent is not": [(*TREES, "parents", 1, 65_537)],
    "differ in length": [(*TREES, "right_children", [1])],
    "compares with a set": [(*TREES, "categories_sizes", 0, 99)],
    "adds to a group": [("gradient_booster", "model", "tree_info", 0, 4)],
    "the iterations": [("gradient_booster", "model", "iteration_indptr", 0, 9)],
    "one group per tree": [("gradient_booster", "model", "tree_info", [])],
    "the numbers of classes": [("objective", "softmax_multiclass_param", {"num_class": "7"})],
    "a part is missing": [(*TREES, "split_indices", 0, None)],
}


@pytest.mark.parametrize("problem", FORGED_XGBOOST)
def test_forged_indices_of_xgboost_are_refused(xgboost_text, problem):
    document = json.loads(xgboost_text)
    booster = SimpleNamespace(save_raw=lambda kind: json.dumps(document))
    validate_booster("xgboost", booster)
    for *path, value in FORGED_XGBOOST[problem]:
        change(document["learner"], *path, to=value)
    with pytest.raises(StructureError, match=problem):
        validate_booster("xgboost", booster)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("offsets", [0, 99, 4, 12], "the names of categories"),
        ("offsets", [0, 4], "the names of categories"),
        ("values", [], "the names of categories"),
        ("sorted_idx", [0, 1, 50], "the order of categories"),
        ("feature_segments", [0, 2, 1], "the categories are out of order"),
    ],
)
def test_forged_categories_of_xgboost_are_refused(xgboost_text, name, value, problem):
    document = json.loads(xgboost_text)
    categories = document["learner"]["gradient_booster"]["model"].get("cats")
    if not categories or not categories["enc"]:
        pytest.skip("XGBoost before 3.1 does not keep the names of categories")
    owner = categories if name in categories else categories["enc"][1]
    owner[name] = value
    with pytest.raises(StructureError, match=problem):
        validate_booster("xgboost", SimpleNamespace(save_raw=lambda kind: json.dumps(document)))


@pytest.mark.parametrize(
    ("pattern", "replacement", "problem"),
    [
        (r"left_child=\S+", "left_child=500", "but a child 500"),
        (r"left_child=\S+", "left_child=-500", "but a child -500"),
        (r"left_child=\S+", "left_child=0", "as a child twice"),
        (r"right_child=\S+ ", "right_child=", "differ in length"),
        (r"split_feature=\S+", "split_feature=12345", "uses a column beyond the 2 of the model"),
        (r"leaf_value=\S+ ", "leaf_value=", "one value per leaf"),
        (r"num_leaves=\d", "num_leaves=9", "differ in length"),
        (r"cat_boundaries=0 \d+", "cat_boundaries=0 77", "sets of categories"),
        (r"num_cat=\d+", "num_cat=0", "a set of categories that does not exist"),
        (r"num_class=1", "num_class=5", "one tree per class"),
        (r"objective=binary", "objective=multiclass num_class:5", "numbers of classes"),
        (r"max_feature_idx=1", "max_feature_idx=zero", "a part is missing"),
    ],
)
def test_forged_indices_of_lightgbm_are_refused(lightgbm_text, pattern, replacement, problem):
    validate_booster("lightgbm", SimpleNamespace(model_to_string=lambda num_iteration: lightgbm_text))
    assert re.search(pattern, lightgbm_text)
    forged_text = re.sub(pattern, replacement, lightgbm_text, count=1)
    with pytest.raises(StructureError, match=problem):
        validate_booster("lightgbm", SimpleNamespace(model_to_string=lambda num_iteration: forged_text))


FORGED_CATBOOST = {
    "uses a column beyond the 2 of the model": [("features_info", "float_features", 0, "flat_feature_index", 2049)],
    "two columns have the same place": [("features_info", "float_features", 0, "flat_feature_index", 1)],
    "tree 1 uses a column": [("oblivious_trees", 1, "splits", 0, {"float_feature_index": 44})],
    "tree 0 has 1 values": [("oblivious_trees", 0, "leaf_values", [0.5])],
}


@pytest.mark.parametrize("problem", FORGED_CATBOOST)
def test_forged_indices_of_catboost_are_refused(problem):
    numbers = [{"flat_feature_index": 0, "feature_index": 0}]
    categories = [{"flat_feature_index": 1, "feature_index": 0}]
    tree = {"splits": [{"float_feature_index": 0}, {"cat_feature_index": 0}], "leaf_values": [0.0] * 4}
    document = {
        "features_info": {"float_features": numbers, "categorical_features": categories},
        "scale_and_bias": [1, [0.0]],
        "oblivious_trees": [copy.deepcopy(tree), copy.deepcopy(tree)],
    }

    def save_model(path, format):
        Path(path).write_text(json.dumps(document), encoding="utf-8")

    booster = SimpleNamespace(save_model=save_model, feature_names_=["a", "town"])
    validate_booster("catboost", booster)
    for *path, value in FORGED_CATBOOST[problem]:
        change(document, *path, to=value)
    with pytest.raises(StructureError, match=problem):
        validate_booster("catboost", booster)

"""Neutral trees fall as scikit-learn's do and as a plain loop does; their coverage is what a plain loop counts."""

from __future__ import annotations

import operator
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from datamorphic.trees.coverage import coverage as coverage_module
from datamorphic.trees.coverage.run import cover
from datamorphic.trees.descent import find_leaves
from datamorphic.trees.read import read_trees
from datamorphic.trees.rules import find_box, format_rule
from support.versions import splits_missing_values_well

NAMES = ["age", "income (k)", "a <= b", "n"]
LABELS = np.array(["no", "perhaps", "yes"])
FEW = {"n_estimators": 4, "random_state": 0}

MODELS = {
    "tree": (DecisionTreeClassifier(random_state=0), "labels"),
    "small tree": (DecisionTreeClassifier(max_leaf_nodes=4, random_state=0), "labels"),
    "regression tree": (DecisionTreeRegressor(max_leaf_nodes=30, random_state=0), "numbers"),
    "extra tree": (ExtraTreeClassifier(random_state=0), "labels"),
    "extra regression tree": (ExtraTreeRegressor(max_depth=6, random_state=0), "numbers"),
    "two labels at once": (DecisionTreeClassifier(max_leaf_nodes=20, random_state=0), "two labels"),
    "two numbers at once": (DecisionTreeRegressor(max_leaf_nodes=20, random_state=0), "two numbers"),
    "forest": (RandomForestClassifier(**FEW), "labels"),
    "forest of two labels at once": (RandomForestClassifier(**FEW, max_leaf_nodes=20), "two labels"),
    "regression forest": (RandomForestRegressor(**FEW, max_depth=5), "numbers"),
    "extra trees": (ExtraTreesClassifier(**FEW), "labels"),
    "extra regression trees": (ExtraTreesRegressor(**FEW, max_depth=5), "numbers"),
    "boosting": (GradientBoostingClassifier(**FEW), "labels"),
    "boosting of two classes": (GradientBoostingClassifier(**FEW), "two classes"),
    "regression boosting": (GradientBoostingRegressor(**FEW), "numbers"),
    "AdaBoost": (AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), **FEW), "labels"),
    "bagging": (BaggingClassifier(DecisionTreeClassifier(), **FEW, max_features=0.5, max_samples=30), "labels"),
}
NO_HOLES = {"boosting", "boosting of two classes", "regression boosting", "AdaBoost"}


def rows(n, seed, holes=0.0):
    rng = np.random.default_rng(seed)
    matrix = np.column_stack(
        [rng.uniform(0, 100, n), np.round(rng.normal(50, 20, n), 1), rng.normal(size=n), rng.integers(-3, 9, n)]
    )
    matrix[rng.random(matrix.shape) < holes] = np.nan
    return pd.DataFrame(matrix, columns=NAMES)


def answers(frame, what, seed=1):
    rng = np.random.default_rng(seed)
    filled = frame.fillna(7.0).to_numpy()
    score = (
        filled[:, 0] / 30
        + np.sin(filled[:, 1] / 9)
        + filled[:, 2] * (filled[:, 3] > 2)
        + rng.normal(0, 0.3, len(frame))
    )
    places = np.digitize(score, np.quantile(score, [0.4, 0.8]))
    return {
        "labels": LABELS[places],
        "two classes": LABELS[np.minimum(places, 1)],
        "numbers": score,
        "two labels": np.column_stack([LABELS[places], np.where(filled[:, 3] > 1, "big", "small")]),
        "two numbers": np.column_stack([score, filled[:, 1]]),
    }[what]


def fitted(name, holes):
    model, what = MODELS[name]
    frame = rows(240, 0, holes)
    return model.fit(frame, answers(frame, what))


def members(model):
    """The source trees, with the columns each sees and a function from its labels to those of the model."""
    if not hasattr(model, "estimators_"):
        return [(model, slice(None), lambda labels: labels)]
    flat = np.ravel(model.estimators_) if isinstance(model.estimators_, np.ndarray) else model.estimators_
    seen = getattr(model, "estimators_features_", [slice(None)] * len(flat))

    def meant(numbers):
        classes = getattr(model, "classes_", None)
        if classes is None or isinstance(model, (AdaBoostClassifier, GradientBoostingClassifier)):
            return numbers
        if isinstance(classes, list):
            return np.column_stack([c[numbers[:, i].astype(int)] for i, c in enumerate(classes)])
        return classes[numbers.astype(int)]

    return [(value, columns, meant) for value, columns in zip(flat, seen, strict=True)]


def plain_leaf(tree, row):
    """One row, one node at a time."""
    node = 0
    while tree.left[node] >= 0:
        value = np.float32(row[tree.feature[node]])
        left = tree.missing_left[node] if np.isnan(value) else float(value) <= tree.threshold[node]
        node = tree.left[node] if left else tree.right[node]
    return int(node)


def probes(model, holes, seed=2):
    """Random rows, and rows with the thresholds themselves and their neighbours in single and double precision."""
    frame = rows(300, seed, holes)
    at = [frame]
    for tree in read_trees(model):
        inner = np.flatnonzero(np.isfinite(tree.threshold))[:20]
        for step in (
            lambda t: t,
            lambda t: np.nextafter(t, np.inf),
            lambda t: np.nextafter(np.float32(t), np.float32(np.inf)).astype(float),
            lambda t: np.nextafter(np.float32(t), np.float32(-np.inf)).astype(float),
        ):
            some = rows(len(inner), seed + 1)
            for k, node in enumerate(inner):
                some.iloc[k, tree.feature[node]] = step(tree.threshold[node])
            at.append(some)
    return pd.concat(at, ignore_index=True)


def cases():
    for name in MODELS:
        yield pytest.param(name, 0.0, id=name)
        if name not in NO_HOLES:
            yield pytest.param(name, 0.15, id=f"{name}, holes")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(("name", "holes"), list(cases()))
def test_leaves_and_answers_equal_those_of_the_library(name, holes):
    model = fitted(name, holes)
    frame = probes(model, holes)
    matrix = frame.to_numpy()
    trees = read_trees(model)
    sources = members(model)
    assert len(trees) == len(sources)
    for tree, (source, columns, meant) in zip(trees, sources, strict=True):
        singles = np.ascontiguousarray(matrix[:, columns], dtype=np.float32)
        leaves = find_leaves(tree, frame)
        assert np.array_equal(leaves, source.tree_.apply(singles))
        assert leaves[:150].tolist() == [plain_leaf(tree, row) for row in matrix[:150]]
        paths = source.tree_.decision_path(singles[:100])
        for row in range(100):
            by_source = set(paths.indices[paths.indptr[row] : paths.indptr[row + 1]].tolist())
            assert {node for node, _ in tree.path(leaves[row])} | {int(leaves[row])} == by_source
        predicted = meant(
            source.predict(singles) if not hasattr(source, "feature_names_in_") else source.predict(frame)
        )
        own_answers = [tree.answer_at(leaf) for leaf in leaves]
        if predicted.ndim == 2:
            assert own_answers == [tuple(item) for item in predicted.tolist()]
        else:
            assert own_answers == predicted.tolist()


@pytest.mark.parametrize("name", ["tree", "forest", "bagging", "boosting", "small tree"])
@pytest.mark.parametrize("n", [1, 30, 300])
def test_coverage_equals_that_of_a_plain_loop(name, n, monkeypatch):
    model = fitted(name, 0.0)
    data = rows(n, 5)
    coverage = cover(model, data)
    counts, shares = [], []
    for tree in read_trees(model):
        reached = [plain_leaf(tree, row) for row in data.to_numpy()]
        counts += [reached.count(leaf) for leaf in range(len(tree)) if tree.left[leaf] < 0]
        shares.append(len(set(reached)) / sum(tree.left < 0))
    assert coverage.counts.tolist() == counts
    assert coverage.leaves == len(counts)
    assert coverage.share == sum(count > 0 for count in counts) / len(counts)
    assert coverage.shares == pytest.approx(shares, abs=0)
    monkeypatch.setattr(coverage_module, "MIN_THREADED_CELLS", 0)
    assert cover(model, data).counts.tolist() == counts


SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
NUMBER = r"-?[\d.]+(?:e[+-]?\d+)?"


def holds(text, frame):
    """Which rows a rule is true of, by what it says and nothing else."""
    true = np.ones(len(frame), dtype=bool)
    if text == "always":
        return true
    rest = text
    while rest:
        for name in NAMES:
            column, this = frame[name].to_numpy(), re.escape(name)
            comparison = rf"(?:(?P<low>{NUMBER}) (?P<low_sign><=?) )?{this}(?: (?P<sign>[<>]=?) (?P<limit>{NUMBER}))?"
            match = re.match(rf"{this} is (?P<word>missing|given)(?: and |$)", rest)
            if match:
                part = np.isnan(column) == (match["word"] == "missing")
                break
            match = re.match(rf"(?P<open>\()?{comparison}(?P<or> or missing\))?(?: and |$)", rest)
            if match and match["limit"]:
                part = SIGNS[match["sign"]](column, float(match["limit"]))
                if match["low"]:
                    part &= SIGNS[match["low_sign"]](float(match["low"]), column)
                part |= np.isnan(column) & bool(match["or"])
                break
        else:
            raise AssertionError(f"no such rule: {rest}")
        true &= part
        rest = rest[match.end() :]
    return true


@pytest.mark.parametrize(
    ("name", "holes"),
    [
        ("tree", 0.0),
        pytest.param("tree", 0.3, marks=splits_missing_values_well),
        ("extra trees", 0.3),
        ("boosting", 0.0),
        ("small tree", 0.3),
    ],
)
@pytest.mark.slow
def test_a_rule_is_true_of_the_rows_that_reach_its_leaf_and_of_no_others(name, holes):
    model = fitted(name, holes)
    data = rows(400, 6, holes)
    for tree in read_trees(model)[:2]:
        leaves = find_leaves(tree, data)
        for leaf in tree.leaves:
            assert np.array_equal(holds(format_rule(tree, leaf, missing=NAMES), data), leaves == leaf), format_rule(
                tree, leaf
            )


def test_a_rule_is_right_about_the_very_numbers_it_names():
    """Data with few decimals have values where midpoints of others lie: a rule told in these must know their side."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(np.round(rng.uniform(0, 10, (500, 4)), 1), columns=NAMES)
    strict = 0
    [tree] = read_trees(DecisionTreeClassifier(random_state=0).fit(data[::2], answers(data[::2], "labels")))
    leaves = find_leaves(tree, data)
    for leaf in tree.leaves:
        text = format_rule(tree, leaf)
        assert np.array_equal(holds(text, data), leaves == leaf), text
        strict += re.search(r" < [-\d]|>=", text) is not None
    assert strict
    on_a_threshold = [
        np.isclose(data.iloc[:, f], t, atol=1e-6).any()
        for f, t in zip(tree.feature, tree.threshold, strict=True)
        if f >= 0
    ]
    assert sum(on_a_threshold) > 5


@pytest.mark.parametrize(("name", "holes"), [("tree", 0.0), ("tree", 0.3), ("extra trees", 0.3)])
def test_a_box_is_exact(name, holes):
    model = fitted(name, holes)
    frame = probes(model, holes)
    singles = frame.to_numpy(dtype=np.float32)
    for tree in read_trees(model)[:2]:
        leaves = find_leaves(tree, frame)
        for leaf in tree.leaves:
            inside = np.ones(len(frame), dtype=bool)
            for column, range_ in find_box(tree, leaf).items():
                values = singles[:, column].astype(float)
                inside &= np.where(np.isnan(values), range_.missing, (values > range_.low) & (values <= range_.high))
            assert np.array_equal(inside, leaves == leaf)


def test_the_parser_of_rules():
    frame = pd.DataFrame([[1.0, 2.0, 3.0, np.nan]], columns=NAMES)
    assert holds("0.5 < age <= 1 and income (k) >= 2 and (n <= 3 or missing)", frame).all()
    assert holds("a <= b > 2 and n is missing and age is given", frame).all()
    for false in (
        "age <= 0.5",
        "n <= 3",
        "n is given",
        "a <= b <= 2",
        "age > 1",
        "1 < age <= 5",
        "age < 1",
        "0.5 <= age < 1",
    ):
        assert not holds(false, frame).any()
    with pytest.raises(AssertionError, match="no such rule"):
        holds("height > 3", frame)

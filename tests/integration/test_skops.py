"""skops files: models without pickle."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.audit.draft.api import draft_system
from datamorphic.cli.main import app
from datamorphic.systems.files import load_model
from datamorphic.systems.untrusted import validate_trees
from datamorphic.testing.conformance import check_executor

SPACE = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)])


@pytest.fixture(scope="module", autouse=True)
def io():
    """The library, imported where these tests run: two seconds that other processes are spared."""
    return pytest.importorskip("skops.io", reason="pip install 'datamorphic[skops]'")


class Mine(ClassifierMixin, BaseEstimator):
    """A class skops has never heard of."""

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, x):
        return self.classes_[np.zeros(len(x), dtype=int)]


def test_a_model_from_a_file(io, tmp_path):
    frame = SPACE.sample(100, seed=0)
    model = LogisticRegression().fit(frame, frame["x"] > frame["y"])
    io.dump(model, tmp_path / "model.skops")
    sut = dm.wrap(tmp_path / "model.skops", space=SPACE)
    check_executor(sut, SPACE.sample(30, seed=1, points=True))
    np.testing.assert_array_equal(sut.execute(frame).values, model.predict(frame))


def test_unknown_types_are_refused_by_name_unless_trusted(io, tmp_path):
    io.dump(Mine().fit(np.zeros((2, 1)), [0, 1]), tmp_path / "mine.skops")
    with pytest.raises(dm.errors.UntrustedError, match=r"Mine.*trust=True \(--trust"):
        dm.wrap(tmp_path / "mine.skops")
    assert isinstance(load_model(tmp_path / "mine.skops", trust=True), Mine)


@pytest.mark.slow
def test_a_forest_is_looked_over_and_needs_no_trust(io, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = SPACE.sample(100, seed=0)
    frame["label"] = np.where(frame["x"] > frame["y"], "over", "under")
    model = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0))
    model.fit(frame[["x", "y"]], frame["label"])
    io.dump(model, "forest.skops")
    frame.to_csv("data.csv", index=False)
    told = dm.wrap("forest.skops", space=SPACE).execute(frame[["x", "y"]]).values
    np.testing.assert_array_equal(told, model.predict(frame[["x", "y"]]))
    arguments = ["test", "forest.skops", "data.csv", "--target", "label", "--only", "repeats", "--store", "none"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    text = draft_system("forest.skops", "data.csv", "label", out="test_forest.py", trust=True).text
    assert 'MODEL = dm.wrap(HERE / "forest.skops", trust=True)' in text
    assert "It is a pickle" not in text


def forged(tree, **changes):
    """A tree of scikit-learn with other numbers at its root, or another count of nodes."""
    kind, arguments, state = tree.__reduce__()
    count = changes.pop("node_count", state["node_count"])
    nodes = state["nodes"].copy()
    for name, value in changes.items():
        nodes[name][0] = value
    made = kind(*arguments)
    made.__setstate__({**state, "nodes": nodes, "node_count": count})
    return made


FORGED = {
    "a child that is not there": {"left_child": 10_000},
    "a circle": {"right_child": 0},
    "no child on one side": {"right_child": -1},
    "a child before the first": {"left_child": -7},
    "a column that is not there": {"feature": 2},
    "a column before the first": {"feature": -9},
    "no nodes": {"node_count": 0},
    "fewer than none": {"node_count": -5},
}


@pytest.mark.parametrize("what", FORGED)
@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_forged_trees_are_refused(io, what, kind, tmp_path):
    frame = SPACE.sample(100, seed=0)
    kinds = {"tree": DecisionTreeClassifier(), "forest": RandomForestClassifier(2)}
    model = kinds[kind].fit(frame.to_numpy(), frame["x"] > frame["y"])
    holder = model if kind == "tree" else model.estimators_[1]
    holder.tree_ = forged(holder.tree_, **FORGED[what])
    with pytest.raises(dm.errors.UntrustedError, match=r"forged.*--trust"):
        validate_trees(model, "model.skops")
    if FORGED[what] != {"node_count": -5}:
        io.dump(model, tmp_path / "model.skops")
        with pytest.raises(dm.errors.ModelError):
            dm.wrap(tmp_path / "model.skops")


def test_trees_are_looked_over_even_if_skops_trusts_them(io, tmp_path, monkeypatch):
    frame = SPACE.sample(100, seed=0)
    tree = DecisionTreeClassifier().fit(frame.to_numpy(), frame["x"] > frame["y"])
    boosted = HistGradientBoostingClassifier(max_iter=2).fit(frame.to_numpy(), frame["x"] > frame["y"])
    # as in skops up to 0.14, which may be installed without the extra
    monkeypatch.setattr(io, "get_untrusted_types", lambda file: [])
    monkeypatch.setattr(io, "load", lambda file, trusted: tree if file.stem == "tree" else boosted)
    for name in ("tree.skops", "boosted.skops"):
        (tmp_path / name).touch()
    assert load_model(tmp_path / "tree.skops") is tree
    with pytest.raises(
        dm.errors.UntrustedError, match="HistGradientBoostingClassifier, which is not known to use them"
    ):
        load_model(tmp_path / "boosted.skops")
    assert load_model(tmp_path / "boosted.skops", trust=True) is boosted
    boosted = clone(boosted)  # a learner without trees does no harm
    assert load_model(tmp_path / "boosted.skops") is boosted
    tree.tree_ = forged(tree.tree_, left_child=10_000)
    with pytest.raises(dm.errors.UntrustedError, match=r"forged.*--trust"):
        load_model(tmp_path / "tree.skops")


def test_trees_that_are_handed_other_columns_are_refused():
    frame = SPACE.sample(100, seed=0)
    wide = np.hstack([frame.to_numpy()] * 3)
    forest = RandomForestClassifier(3).fit(wide, frame["x"] > frame["y"])
    validate_trees(forest, "model.skops")
    forest.n_features_in_ = 2  # and its trees look at six
    with pytest.raises(dm.errors.UntrustedError, match="have other columns"):
        validate_trees(forest, "model.skops")
    loose = LogisticRegression().fit(frame, frame["x"] > 0.5)
    loose.hidden = [{"deep": (forest.estimators_[0].tree_,)}]
    with pytest.raises(dm.errors.UntrustedError, match="does not belong to a decision tree"):
        validate_trees(loose, "model.skops")
    bag = BaggingClassifier(DecisionTreeClassifier(), 3, max_features=0.5).fit(wide, frame["x"] > frame["y"])
    validate_trees(bag, "model.skops")
    bag.estimators_features_[0] = np.array([0, 1, 9])
    validate_trees(bag, "model.skops")  # no harm: NumPy looks at what it is asked for
    with pytest.raises(IndexError):
        bag.predict(wide)
    for nothing in ([], None, np.array([])):
        forest.estimators_ = nothing
        with pytest.raises(dm.errors.UntrustedError) if nothing is not None else nullcontext():
            validate_trees(forest, "model.skops")


def test_trees_are_taken_only_where_it_is_known_who_asks_them(io, tmp_path):
    frame = SPACE.sample(100, seed=0)
    labels = frame["x"] > frame["y"]
    tree = DecisionTreeClassifier().fit(frame, labels)
    boosted = GradientBoostingClassifier(n_estimators=2).fit(frame, labels)
    vote = VotingClassifier([("a", tree)]).fit(frame, labels)
    for model in (boosted, vote):
        io.dump(model, tmp_path / "model.skops")
        with pytest.raises(dm.errors.UntrustedError, match=r"not (known to use them safely|trust).*--trust"):
            dm.wrap(tmp_path / "model.skops")
        assert len(dm.wrap(tmp_path / "model.skops", space=SPACE, trust=True).execute(frame).values) == 100
    bare = VotingClassifier([("a", LogisticRegression())]).fit(frame, labels)
    bare.decoy, bare.estimators_ = tree, [tree.tree_]  # a tree that would be asked by itself, and one that owns it
    with pytest.raises(dm.errors.UntrustedError, match=r"use them safely|does not belong to a decision tree"):
        validate_trees(bare, "model.skops")
    del bare.decoy
    with pytest.raises(dm.errors.UntrustedError, match="does not belong to a decision tree"):
        validate_trees(bare, "model.skops")
    hidden = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(frame, labels)
    validate_trees(hidden, "model.skops")
    hidden.steps.append(("tree", hidden[-1].tree_))
    with pytest.raises(dm.errors.UntrustedError, match="does not belong to a decision tree"):
        validate_trees(hidden, "model.skops")

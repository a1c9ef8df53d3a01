"""skops files: models without pickle."""

from __future__ import annotations

import zipfile
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.random_projection import SparseRandomProjection
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.audit.draft.run import draft_system
from datamorphic.cli.main import app
from datamorphic.systems.files import load_model
from datamorphic.systems.untrusted import list_unsafe_types, validate_parts
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
    answers = dm.wrap("forest.skops", space=SPACE).execute(frame[["x", "y"]]).values
    np.testing.assert_array_equal(answers, model.predict(frame[["x", "y"]]))
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
    forgery = kind(*arguments)
    forgery.__setstate__({**state, "nodes": nodes, "node_count": count})
    return forgery


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
        validate_parts(model, "model.skops")
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
    assert load_model(tmp_path / "boosted.skops") is boosted
    boosted._predictors[0][0].nodes["left"][0] = 10_000
    with pytest.raises(dm.errors.UntrustedError, match=r"forged.*--trust"):
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
    validate_parts(forest, "model.skops")
    forest.n_features_in_ = 2  # and its trees look at six
    with pytest.raises(dm.errors.UntrustedError, match="have other columns"):
        validate_parts(forest, "model.skops")
    loose = LogisticRegression().fit(frame, frame["x"] > 0.5)
    loose.hidden = [{"deep": (forest.estimators_[0].tree_,)}]
    with pytest.raises(dm.errors.UntrustedError, match="does not belong to a decision tree"):
        validate_parts(loose, "model.skops")
    bag = BaggingClassifier(DecisionTreeClassifier(), 3, max_features=0.5).fit(wide, frame["x"] > frame["y"])
    validate_parts(bag, "model.skops")
    bag.estimators_features_[0] = np.array([0, 1, 9])
    validate_parts(bag, "model.skops")  # no harm: NumPy looks at what it is asked for
    with pytest.raises(IndexError):
        bag.predict(wide)
    for nothing in ([], None, np.array([])):
        forest.estimators_ = nothing
        with pytest.raises(dm.errors.UntrustedError) if nothing is not None else nullcontext():
            validate_parts(forest, "model.skops")


def test_trees_are_taken_only_where_it_is_known_who_asks_them(io, tmp_path):
    frame = SPACE.sample(100, seed=0)
    labels = frame["x"] > frame["y"]
    tree = DecisionTreeClassifier().fit(frame, labels)
    kernel = LogisticRegression().fit(frame, labels)
    kernel.helper = tree  # no estimator of scikit-learn with such a part is known
    io.dump(kernel, tmp_path / "model.skops")
    with pytest.raises(
        dm.errors.UntrustedError, match=r"LogisticRegression, which is not known to use them safely.*--trust"
    ):
        dm.wrap(tmp_path / "model.skops")
    assert len(dm.wrap(tmp_path / "model.skops", space=SPACE, trust=True).execute(frame).values) == 100
    bare = VotingClassifier([("a", LogisticRegression())]).fit(frame, labels)
    bare.estimators_ = [tree.tree_]  # a tree that would be queried without a decision tree
    with pytest.raises(dm.errors.UntrustedError, match="does not belong to a decision tree"):
        validate_parts(bare, "model.skops")
    hidden = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(frame, labels)
    validate_parts(hidden, "model.skops")
    hidden.steps.append(("tree", hidden[-1].tree_))
    with pytest.raises(dm.errors.UntrustedError, match="does not belong to a decision tree"):
        validate_parts(hidden, "model.skops")


def make_typical_models():
    """Return estimators whose files hold types that skops does not trust."""
    towns = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((towns, ["town"]), (SimpleImputer(), ["x", "y"]))
    forest = RandomForestClassifier(3, random_state=0)
    numbers = {
        "histograms": HistGradientBoostingClassifier(max_iter=3),
        "boosting": GradientBoostingClassifier(n_estimators=3),
        "boosted regression": GradientBoostingRegressor(n_estimators=3),
        "neighbours": KNeighborsClassifier(algorithm="kd_tree"),
        "balls": KNeighborsRegressor(algorithm="ball_tree"),
        "network": MLPClassifier((4,), max_iter=20),
        "vote": VotingClassifier([("forest", forest), ("line", LogisticRegression())]),
        "stack": StackingClassifier([("forest", forest), ("line", LogisticRegression())], cv=2),
        "calibrated": CalibratedClassifierCV(forest, cv=2),
        "search": GridSearchCV(forest, {"max_depth": [1, 2]}, cv=2),
        "isolation": IsolationForest(n_estimators=3, random_state=0),
        "process": GaussianProcessClassifier(),
        "spline": make_pipeline(SplineTransformer(), LogisticRegression()),
        "selection": make_pipeline(SelectKBest(k=1), LogisticRegression()),
        "projection": make_pipeline(SparseRandomProjection(2, random_state=0), LogisticRegression()),
    }
    finals = {"line": LogisticRegression(), "forest": forest, "boosting": GradientBoostingClassifier(n_estimators=3)}
    return numbers | {f"columns and {name}": make_pipeline(clone(columns), final) for name, final in finals.items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", make_typical_models())
def test_files_of_scikit_learn_load_as_they_are(io, name, tmp_path):
    frame = SPACE.sample(100, seed=0).assign(town=np.resize(["Oslo", "Rome", None], 100))
    model, rows = make_typical_models()[name], frame if "columns" in name else frame[["x", "y"]]
    model.fit(rows, (frame["x"] > frame["y"]).astype(int))
    io.dump(model, tmp_path / "model.skops")
    loaded_model = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded_model.predict(rows), model.predict(rows))


def test_what_compiled_code_follows_is_validated_or_rebuilt():
    rows = SPACE.sample(100, seed=0).to_numpy()
    labels = (rows[:, 0] > rows[:, 1]).astype(int)
    neighbours = KNeighborsClassifier(algorithm="kd_tree").fit(rows, labels)
    expected = neighbours.predict(rows)
    state = list(neighbours._tree.__getstate__())
    state[1] = np.full_like(state[1], 10**9)  # rows that are not there
    neighbours._tree.__setstate__(tuple(state))
    validate_parts(neighbours, "model.skops")
    np.testing.assert_array_equal(neighbours.predict(rows), expected)

    spline = SplineTransformer().fit(rows)
    spline.bsplines_[0].t = spline.bsplines_[0].t[:3]
    boosted = GradientBoostingClassifier(n_estimators=2).fit(rows, labels)
    boosted.estimators_ = np.hstack([boosted.estimators_, boosted.estimators_])
    three_classes = GradientBoostingClassifier(n_estimators=2).fit(rows, np.resize([0, 1, 2], 100))
    three_classes.init_ = DummyClassifier().fit(rows, labels)
    sparse = SparseRandomProjection(2, random_state=0).fit(rows)
    sparse.components_.indices = np.full_like(sparse.components_.indices, 10**6)
    isolation = IsolationForest(n_estimators=3, random_state=0).fit(rows)
    isolation.estimators_features_ = [np.array([0])] * 3
    for model in (spline, boosted, three_classes, sparse, isolation):
        with pytest.raises(dm.errors.UntrustedError, match=r"damaged or forged: .*--trust"):
            validate_parts(model, "model.skops")


@pytest.mark.parametrize(("name", "value"), [("left", 10**6), ("right", 0), ("feature_idx", 2), ("is_categorical", 1)])
def test_forged_histogram_trees_are_refused(name, value):
    rows = SPACE.sample(100, seed=0).to_numpy()
    model = HistGradientBoostingClassifier(max_iter=2).fit(rows, rows[:, 0] > rows[:, 1])
    validate_parts(model, "model.skops")
    model._predictors[1][0].nodes[name][0] = value
    with pytest.raises(dm.errors.UntrustedError, match="HistGradientBoostingClassifier is not valid"):
        validate_parts(model, "model.skops")


def test_a_type_is_safe_only_as_its_own_loader_makes_it(io, tmp_path):
    imputer = SimpleImputer().fit(np.zeros((3, 1)))
    io.dump(imputer, tmp_path / "model.skops")
    assert list_unsafe_types(tmp_path / "model.skops", ["numpy.dtype"]) == []
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        schema = archive.read("schema.json").decode()
    with zipfile.ZipFile(tmp_path / "forged.skops", "w") as archive:
        archive.writestr("schema.json", schema.replace("DTypeNode", "ObjectNode"))
    assert list_unsafe_types(tmp_path / "forged.skops", ["numpy.dtype"]) == ["numpy.dtype"]
    assert list_unsafe_types(tmp_path / "model.skops", ["os.system"]) == ["os.system"]


def test_functions_of_the_author_need_trust(io, tmp_path):
    io.dump(FunctionTransformer(np.save), tmp_path / "model.skops")
    with pytest.raises(dm.errors.UntrustedError, match=r"not known to be safe: numpy\.save"):
        load_model(tmp_path / "model.skops")

"""Models in files: those of boosters without pickle, and packages that are not installed."""

from __future__ import annotations

import importlib
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import MissingExtra, ModelError
from datamorphic.systems import missing_packages
from datamorphic.systems.missing_packages import MissingPackage, build_missing_package_error
from support.cases import LONG, rotate


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"mean radius": rng.normal(size=200), "b": rng.normal(size=200), "c": rng.normal(size=200)})
    return frame.assign(target=(frame["mean radius"] + frame["b"] > 0).astype(int))


def fit(kind, frame, target):
    """Return a fitted model, and what writes it to its own file."""
    library = pytest.importorskip(kind.partition(" ")[0])
    if kind.startswith("xgboost"):
        cls = library.XGBRegressor if kind.endswith("regressor") else library.XGBClassifier
        model = cls(n_estimators=5).fit(frame, target)
        return model, model.save_model
    if kind.startswith("lightgbm"):
        cls = library.LGBMRegressor if kind.endswith("regressor") else library.LGBMClassifier
        model = cls(n_estimators=5, verbose=-1).fit(frame, target)
        return model, model.booster_.save_model
    cls = library.CatBoostRegressor if kind.endswith("regressor") else library.CatBoostClassifier
    model = cls(iterations=5, verbose=False, allow_writing_files=False).fit(frame, target)
    return model, model.save_model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "classes"),
    rotate(["xgboost .json", "lightgbm .txt", "catboost .cbm", *(["xgboost .ubj"] if LONG else [])], [2, 3]),
)
def test_classifiers_in_their_own_files(data, tmp_path, file, classes):
    kind, suffix = file.split()
    features = data.drop(columns="target")
    target = data["target"] + (classes == 3) * (features["c"] > 0)
    model, save = fit(kind, features, target)
    save(str(tmp_path / f"model{suffix}"))
    shuffled = data[["target", "c", "b", "mean radius"]].assign(target=target)
    result = dm.test(
        tmp_path / f"model{suffix}", shuffled, target="target", budget="2s", only=["answers", "column order"]
    )
    assert not result.at_least("concern")
    front = dm.explore(tmp_path / f"model{suffix}", shuffled, target="target", walks=5)
    outputs = front.sut.execute(features, scores=True)
    assert front.sut.labels == tuple(range(classes))
    np.testing.assert_array_equal(outputs.values, np.ravel(model.predict(features)))
    np.testing.assert_allclose(outputs.scores, model.predict_proba(features), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "suffix"), [("xgboost", ".ubj"), ("lightgbm", ".txt"), ("catboost", ".cbm")])
def test_regressors_in_their_own_files(data, tmp_path, kind, suffix):
    features = data.drop(columns="target")
    model, save = fit(f"{kind} regressor", features, data["b"])
    save(str(tmp_path / f"model{suffix}"))
    result = dm.test(tmp_path / f"model{suffix}", features, budget="2s", only=["answers", "repeats"])
    assert result.kind.startswith("a fitted regressor")
    sut = dm.explore(tmp_path / f"model{suffix}", features, walks=5).sut
    np.testing.assert_allclose(sut.execute(features).values, model.predict(features))


def test_a_file_of_another_kind_is_named(tmp_path):
    pytest.importorskip("xgboost")
    (tmp_path / "settings.json").write_text("{}")
    with pytest.raises(ModelError, match=r"settings\.json is not a readable model of xgboost"):
        dm.wrap(tmp_path / "settings.json")


@pytest.fixture
def categories():
    rng = np.random.default_rng(0)
    towns, grades = rng.choice(["Oslo", "Rome", "Bonn"], 300), rng.choice([1, 2, 5], 300)
    return pd.DataFrame({"income": rng.gamma(3, 1, 300).round(2), "town": towns, "grade": grades})


@pytest.mark.slow
def test_categories_of_xgboost_come_from_its_file(categories, tmp_path):
    xgboost = pytest.importorskip("xgboost", minversion="3.1")
    typed = categories.astype({"town": "category", "grade": "category"})
    labels = ((categories["income"] > 2.5) ^ (categories["town"] == "Rome") ^ (categories["grade"] == 5)).astype(int)
    model = xgboost.XGBClassifier(n_estimators=20, enable_categorical=True, n_jobs=1).fit(typed, labels)
    assert model.score(typed, labels) > 0.9
    model.save_model(tmp_path / "model.json")
    categories.assign(label=labels).to_csv(tmp_path / "data.csv", index=False)
    rows = pd.read_csv(tmp_path / "data.csv")[["income", "town", "grade"]]
    sut = dm.wrap(tmp_path / "model.json")
    for frame in (rows, rows.head(1), rows.iloc[::-1], typed, rows.astype({"grade": float})):
        np.testing.assert_array_equal(sut.execute(frame).values, model.predict(typed.loc[frame.index]))
    np.testing.assert_array_equal(sut.execute(rows, scores=True).scores, model.predict_proba(typed))
    unknown_rows = rows.assign(town="Paris")
    missing_rows = typed.assign(town=pd.Categorical([None] * len(rows), categories=typed["town"].cat.categories))
    np.testing.assert_array_equal(sut.execute(unknown_rows).values, model.predict(missing_rows))
    assert dm.wrap(tmp_path / "model.json", timeout=60).execute(rows.head(3)).ok.all()  # it can be sent to a process
    result = dm.test(
        tmp_path / "model.json", tmp_path / "data.csv", target="label", budget=100, only=["answers", "repeats"]
    )
    assert not result.at_least("concern")


def test_categories_without_names_say_what_to_do(categories, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    from datamorphic.systems.boosters import XGBoostCategoryModel

    typed = categories.astype({"town": "category", "grade": "category"})
    model = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True, n_jobs=1)
    wrapped = XGBoostCategoryModel(model.fit(typed, categories["town"] == "Rome"))
    wrapped.categories = {}  # as in a file of XGBoost before 3.1
    assert len(wrapped.predict(typed)) == 300
    with pytest.raises(ModelError, match=r"codes of categories in 'town', which holds text.*or a Parquet file\.$"):
        wrapped.predict(categories)


def test_a_long_message_of_a_library_is_cut_between_words():
    from datamorphic.errors import format_error_line

    remedy = "Set the parameter of the library. " * 10
    assert format_error_line(ValueError(remedy)) == f"ValueError: {remedy.strip()}"
    line = format_error_line(ValueError("word " * 1000))
    assert line.endswith("word ...")
    assert len(format_error_line(ValueError("w" * 10_000))) < 600


@pytest.fixture
def without_xgboost(monkeypatch):
    """Make xgboost a package that is not installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "xgboost"]:
        monkeypatch.delitem(sys.modules, name)

    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "xgboost":
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(sys, "meta_path", [Blocked(), *sys.meta_path])


def test_a_missing_package_of_a_pickle_is_the_users_to_install(data, tmp_path, request, capfd):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=2).fit(data.drop(columns="target"), data["target"])
    joblib.dump(model, tmp_path / "model.joblib")
    model.save_model(tmp_path / "model.ubj")
    data.to_csv(tmp_path / "data.csv", index=False)
    request.getfixturevalue("without_xgboost")
    for call in (dm.wrap, dm.test):
        arguments = (data,) if call is dm.test else ()
        with pytest.raises(MissingPackage, match=r"^model.joblib needs the package 'xgboost', .* pip install xgboost$"):
            call(tmp_path / "model.joblib", *arguments, trust=True)
    with pytest.raises(MissingExtra, match=r"needs the package 'xgboost', .* pip install 'datamorphic\[boost\]'"):
        dm.wrap(tmp_path / "model.ubj")

    from typer.testing import CliRunner

    from datamorphic.cli.main import app

    arguments = ["test", str(tmp_path / "model.joblib"), str(tmp_path / "data.csv"), "--trust", "--store", "none"]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 2
    (line,) = outcome.stderr.strip().splitlines()
    assert (
        line
        == "datamorphic: model.joblib needs the package 'xgboost', which is not installed. Install it: pip install xgboost"
    )


def test_a_module_that_imports_a_missing_package_is_named(tmp_path, monkeypatch):
    from datamorphic.cli.load import load_object

    (tmp_path / "my_model_module.py").write_text("import package_that_nobody_has\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ModelError, match=r"my_model_module needs the module 'package_that_nobody_has', which was not"):
        load_object("my_model_module:predict")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ModuleNotFoundError("No module named 'imblearn'", name="imblearn"), "pip install imbalanced-learn$"),
        (
            ModuleNotFoundError("No module named 'feat'", name="feat.columns"),
            "module 'feat', .* PYTHONPATH=FOLDER before",
        ),
        (
            ModuleNotFoundError("No module", name="sklearn.ensemble._old"),
            "'sklearn.ensemble._old' of the package 'scikit-learn'",
        ),
        (ImportError("cannot import name 'x' from 'numpy'", name="numpy"), "installed version [0-9.]+ does not have"),
        (ImportError("broken"), "cannot be imported: broken"),
    ],
)
def test_what_to_install(error, message, monkeypatch):
    absent = ("imblearn", "feat")
    monkeypatch.setattr(missing_packages, "_is_installed", lambda module: module not in absent)  # also where they are
    with pytest.raises(MissingPackage, match=message):
        raise build_missing_package_error(error, "model.pkl needs")


@pytest.mark.parametrize("place", ["beside", "here", "nowhere"])
def test_a_pickle_finds_the_users_own_modules(data, tmp_path, monkeypatch, place):
    (tmp_path / "models").mkdir()
    (tmp_path / "here").mkdir()
    module = f"feat_{place}"
    for name, text in {
        module: f"from {module}_tools import double\nclass Model:\n    def predict(self, rows): return double(rows['b']) > 0",
        f"{module}_tools": "def double(values): return 2 * values",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    joblib.dump(importlib.import_module(module).Model(), tmp_path / "models" / "model.pkl")
    monkeypatch.setattr(sys, "path", sys.path[:-1])
    for name in (module, f"{module}_tools"):
        monkeypatch.delitem(sys.modules, name)
        folder = {"beside": "models", "here": "here", "nowhere": "models/deeper"}[place]
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").rename(tmp_path / folder / f"{name}.py")
    monkeypatch.chdir(tmp_path / "here")
    if place == "nowhere":
        with pytest.raises(
            MissingPackage, match=r"^model.pkl needs the module 'feat_nowhere', .*PYTHONPATH="
        ) as caught:
            dm.wrap(tmp_path / "models" / "model.pkl", trust=True)
        assert "pip install" not in str(caught.value)
        return
    answers = dm.wrap(tmp_path / "models" / "model.pkl", trust=True).execute(data).values
    np.testing.assert_array_equal(answers, data["b"] > 0)
    for name in (module, f"{module}_tools"):
        monkeypatch.delitem(sys.modules, name)


def write_onnx(path, weights, *, softmax):
    """Write a model of one matrix product, as other libraries export them: without a label."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    nodes = [helper.make_node("MatMul", ["input", "weights"], ["logits"])]
    if softmax:
        nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"]))
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [None, weights.shape[0]])],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, [None, weights.shape[1]])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))


@pytest.mark.slow
@pytest.mark.parametrize("softmax", [True, False])
def test_rows_of_scores_from_onnx(data, tmp_path, softmax):
    pytest.importorskip("onnxruntime")
    weights = np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)
    write_onnx(tmp_path / "network.onnx", weights, softmax=softmax)
    features = data.drop(columns="target")
    expected = (features.to_numpy(dtype=np.float32) @ weights).argmax(axis=1)
    front = dm.explore(tmp_path / "network.onnx", features, walks=20)
    assert front.sut.labels == (0, 1, 2, 3)
    assert front.sut.score_kind == ("probability" if softmax else "decision")
    np.testing.assert_array_equal(front.sut.execute(features).values, expected)
    sut = dm.wrap(tmp_path / "network.onnx", classes=["a", "b", "c", "d"])
    assert sut.execute(features).values.tolist() == ["abcd"[place] for place in expected]
    assert sut.execute(features, scores=True).scores.shape == (200, 4)
    result = dm.test(tmp_path / "network.onnx", features, budget="3s", only=["answers", "repeats", "scores"])
    assert not result.at_least("concern")


@pytest.mark.slow
def test_names_for_the_codes_of_onnx(data, tmp_path):
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    from sklearn.linear_model import LogisticRegression

    features = data.drop(columns="target")
    model = LogisticRegression().fit(features.to_numpy(dtype=np.float32), data["target"])
    converted = skl2onnx.to_onnx(model, features.to_numpy(dtype=np.float32)[:1])
    (tmp_path / "model.onnx").write_bytes(converted.SerializeToString())
    front = dm.explore(tmp_path / "model.onnx", features, walks=20, classes=["no", "yes"])
    outputs = front.sut.execute(features, scores=True)
    assert (outputs.values == np.where(model.predict(features.to_numpy()), "yes", "no")).all()
    np.testing.assert_allclose(outputs.scores, model.predict_proba(features.to_numpy()), atol=1e-5)

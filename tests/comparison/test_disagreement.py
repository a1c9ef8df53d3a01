"""Two that must be one: what differs is found, shrunk and explained; what is equal is left alone."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.comparison.disagreement.cases import format_outcome, to_json_row, to_json_value
from datamorphic.comparison.disagreement.findings import build_findings
from datamorphic.comparison.disagreement.foreign import find_foreign_sites, find_form_sites, list_foreign_columns
from datamorphic.comparison.disagreement.search import compare_twins
from datamorphic.comparison.disagreement.shrinking import shrink
from datamorphic.comparison.disagreement.twins import Twins, find_different_labels, query_directly
from datamorphic.comparison.disagreement.values import (
    bisect_codes,
    build_grid,
    count_decimals,
    describe_values,
    find_decimals,
    find_inner_numbers,
    find_roundest,
    from_ordinals,
    to_ordinals,
)
from datamorphic.comparison.disagreement.walks import Search
from datamorphic.core.result import Finding
from datamorphic.systems.base import Executor

GRADES = ["low", "mid", "high", "top"]
Answer = Callable[[pd.DataFrame], Any]


def make_rows(count: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return rows with whole ages and without the values at which the planted differences show."""
    rng = np.random.default_rng(seed)
    age, ratio = rng.integers(19, 80, count), np.round(rng.beta(2, 4, count), 2)
    return pd.DataFrame(
        {
            "age": np.where(age == 65, 66, age).astype(float),
            "income": np.round(rng.lognormal(10, 0.5, count)),
            "ratio": np.where(ratio == 0.3, 0.31, ratio),
            "visits": rng.integers(0, 12, count),
            "grade": pd.Categorical(rng.choice(GRADES[:2], count), categories=GRADES),
            "region": rng.choice(["north", "south"], count),
        }
    )


def score(frame: pd.DataFrame, change: str = "") -> Any:
    """Return risk points; `change` names the step that is done in another way."""
    grades = {"low": 0, "mid": 1, "high": 2, "top": 3}
    if change == "order of categories":
        grades |= {"high": 3, "top": 2}
    age, income = frame["age"].to_numpy(dtype=float), frame["income"].to_numpy(dtype=float)
    ratio = frame["ratio"].to_numpy(dtype=np.float32 if change == "float32" else np.float64).astype(float)
    if change == "rounding":
        age = np.round(age)
    income = np.where(np.isnan(income), 0.0 if change == "default" else 22_000.0, income)
    if change == "clipping":
        income = income.clip(max=5_000_000)
    is_old = age > 65 if change == "bin edge" else age >= 65
    points = 0.8 * is_old + 1.2 * (ratio > 0.3) - 0.02 * age - income / 40_000
    points += 0.5 * frame["grade"].astype(object).map(grades).fillna(0).to_numpy(dtype=float)
    return points + 0.1 * np.nan_to_num(frame["visits"].to_numpy(dtype=float))


def classify(change: str = "") -> Answer:
    return lambda frame: np.where(score(frame, change) > -0.4, "late", "paid")


def compare(old: Any, new: Any, frame: pd.DataFrame, seconds: float = 120.0) -> list[Finding]:
    """Compare two systems, with time enough for a busy machine: the search ends when everything was tried."""
    space = dm.Space.from_frame(frame, kinds={name: "integer" for name in ("visits",) if name in frame})
    systems = [dm.wrap(model, space=space) for model in (old, new)]
    return compare_twins(*systems, space.points(frame), seconds=seconds)


@pytest.mark.parametrize(
    "answer",
    [pytest.param(classify, marks=pytest.mark.slow), lambda change="": lambda frame: score(frame, change)],
    ids=["labels", "numbers"],
)
@pytest.mark.parametrize(
    ("change", "feature", "words"),
    [
        ("rounding", "age", "has decimals"),
        ("order of categories", "grade", "is high or top"),
        ("float32", "ratio", "is 0.3"),
        ("default", "income", "income is missing"),
        ("bin edge", "age", "is 65"),
    ],
)
def test_a_difference_that_no_row_shows_is_found_and_shrunk(
    answer: Callable[..., Answer], change: str, feature: str, words: str
) -> None:
    frame = make_rows()
    assert np.array_equal(answer()(frame), answer(change)(frame))
    findings = compare(answer(), answer(change), frame)
    assert [(finding.about, finding.level) for finding in findings] == [(feature, "fault")]
    assert words in findings[0].title
    assert "None of the 300 given rows" in findings[0].detail
    for example in findings[0].examples:
        assert list(example.changed) == [feature]
        case = pd.DataFrame([{**example.case, **example.changed}]).astype({"income": float})
        assert answer()(case)[0] != answer(change)(case)[0]


def test_differences_with_several_causes_are_several_findings() -> None:
    def both(frame: pd.DataFrame) -> Any:
        return score(frame.assign(income=frame.income.fillna(0.0)), "bin edge")

    findings = compare(score, both, make_rows())
    assert {finding.about for finding in findings} == {"age", "income"}


def test_a_difference_far_outside_of_the_data_is_advice() -> None:
    findings = compare(score, lambda frame: score(frame, "clipping"), make_rows())
    assert [(finding.about, finding.level) for finding in findings] == [("income", "advice")]
    assert findings[0].title.startswith("Old and new differ where income is at least 500000")


def test_given_rows_that_differ_are_explained_by_the_feature_at_fault() -> None:
    frame = make_rows()
    frame.loc[:9, "age"] = 65.0
    findings = compare(score, lambda rows: score(rows, "bin edge"), frame)
    assert [(finding.about, finding.level, finding.affected_rows) for finding in findings] == [("age", "fault", 10)]
    assert "10 of the 300 given rows differ" in findings[0].detail


def test_models_that_differ_on_all_rows_are_one_finding() -> None:
    findings = compare(score, lambda frame: score(frame) + 1, make_rows())
    assert len(findings) == 1
    assert (findings[0].level, findings[0].affected_rows) == ("fault", 300)


def test_a_combination_of_values_that_no_row_has_is_found_at_both_features() -> None:
    def combine(frame: pd.DataFrame, grade: str) -> Any:
        return score(frame) + 2.0 * ((frame["grade"] == grade) & (frame["region"] == "south")).to_numpy()

    frame = make_rows()
    frame["grade"] = np.where(frame.region == "south", "low", "mid")
    findings = compare(lambda rows: combine(rows, "none"), lambda rows: combine(rows, "mid"), frame)
    assert {finding.about for finding in findings} == {"grade", "region"}
    assert {finding.level for finding in findings} == {"fault"}


def test_answers_by_position_of_the_columns_are_advice() -> None:
    frame = make_rows()[["age", "ratio"]]
    old = lambda rows: rows["age"].to_numpy() * 0.01 + rows["ratio"].to_numpy()  # noqa: E731
    new = lambda rows: rows.to_numpy()[:, 0] * 0.01 + rows.to_numpy()[:, 1]  # noqa: E731
    findings = compare(old, new, frame)
    assert [finding.level for finding in findings] == ["advice"]
    assert "the columns come in another order: the answers of new change" in findings[0].title


def test_answers_that_depend_on_the_other_rows_are_a_fault() -> None:
    def rank(frame: pd.DataFrame) -> Any:
        return score(frame) + (0.0 if len(frame) > 1 else 0.5)

    findings = compare(score, rank, make_rows())
    assert any("rows are asked one by one" in finding.title and finding.level == "fault" for finding in findings)


def test_a_system_that_refuses_what_the_other_answers_is_one_advice() -> None:
    def refuse(frame: pd.DataFrame) -> Any:
        if frame[["income", "ratio", "visits"]].isna().any(axis=None):
            raise ValueError("missing values are not allowed")
        return score(frame)

    findings = compare(score, refuse, make_rows())
    assert [finding.level for finding in findings] == ["advice"]
    assert findings[0].title.startswith("New refuses and old answers where one of income, ratio and visits is missing")


def test_other_spellings_and_unseen_categories_are_found() -> None:
    def strip(frame: pd.DataFrame) -> Any:
        return np.where(frame["region"].str.strip().str.lower() == "north", 1.0, 2.5)

    old = lambda frame: np.where(frame["region"] == "north", 1.0, 2.5)  # noqa: E731
    findings = compare(old, strip, make_rows()[["region", "age"]])
    assert [(finding.about, finding.level) for finding in findings] == [("region", "fault")]
    assert "spelt" in findings[0].title

    default = lambda frame: np.where(frame["region"] == "north", 1.0, np.where(frame["region"] == "south", 2.5, 1.0))  # noqa: E731
    findings = compare(old, default, make_rows()[["region", "age"]])
    assert any("unseen category" in finding.title for finding in findings)


# -- equal twins ---------------------------------------------------------------------------------------------------


class Noisy:
    """A model whose probabilities differ in the last digits, as those of another library."""

    def __init__(self, model: Any) -> None:
        self.model, self.classes_ = model, model.classes_

    def predict_proba(self, frame: pd.DataFrame) -> Any:
        shares = self.model.predict_proba(frame)
        shift = 1e-12 * np.sin(1e6 * shares[:, :1])
        return shares + np.hstack([shift, -shift])

    def predict(self, frame: pd.DataFrame) -> Any:
        return self.classes_[self.predict_proba(frame).argmax(axis=1)]


NUMBERS = ["age", "income", "ratio", "visits"]


@pytest.mark.slow
@pytest.mark.parametrize("labels_only", [False, True], ids=["scores", "labels"])
@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        DecisionTreeClassifier(max_depth=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=10, random_state=0),
        GaussianNB(),
    ],
    ids=["logistic", "tree", "boosting", "naive Bayes"],
)
def test_nothing_is_reported_about_equal_classifiers(model: Any, labels_only: bool) -> None:
    frame = make_rows(400)[NUMBERS]
    model.fit(frame, classify()(make_rows(400)))
    twin = Noisy(pickle.loads(pickle.dumps(model)))
    old, new = (model.predict, twin.predict) if labels_only else (model, twin)
    assert compare(old, new, frame) == []


@pytest.mark.slow
@pytest.mark.parametrize("model", [make_pipeline(StandardScaler(), Ridge()), RandomForestRegressor(10, random_state=0)])
def test_nothing_is_reported_about_equal_models_of_numbers(model: Any) -> None:
    frame = make_rows()[NUMBERS]
    model.fit(frame, score(make_rows()))
    noisy = lambda rows: model.predict(rows) * (1 + 1e-12)  # noqa: E731
    assert compare(model, noisy, frame) == []


@pytest.mark.slow
def test_nothing_is_reported_about_a_model_and_its_formula() -> None:
    frame = make_rows(400)[NUMBERS]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, classify()(make_rows(400)))
    scaler, last = model[0], model[1]

    def formula(rows: pd.DataFrame) -> Any:
        values = rows[NUMBERS].to_numpy(dtype=float)
        if np.isnan(values).any():
            raise ValueError("missing values")
        logits = values @ (last.coef_[0] / scaler.scale_) + (
            last.intercept_[0] - scaler.mean_ @ (last.coef_[0] / scaler.scale_)
        )
        return last.classes_[(logits > 0).astype(int)]

    assert compare(model, formula, frame) == []


# -- exports -------------------------------------------------------------------------------------------------------


def test_nothing_is_reported_about_the_same_function_twice() -> None:
    assert compare(score, lambda frame: score(frame) * (1 + 1e-12), make_rows(100)) == []


@pytest.mark.slow
def test_only_what_truly_differs_is_reported_about_an_onnx_export(tmp_path: Any) -> None:
    pytest.importorskip("onnxruntime")
    convert = pytest.importorskip("skl2onnx").to_onnx
    frame = make_rows(400)[["income", "ratio"]]
    labels = (score(make_rows(400)) > -0.4).astype(int)
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=5, random_state=0)).fit(
        frame.to_numpy(), labels
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(convert(model, frame.to_numpy()[:1].astype(np.float32)).SerializeToString())
    findings = compare(model, path, frame)
    exported = dm.wrap(path)
    for finding in findings:
        for example in finding.examples:
            row = pd.DataFrame([{**example.case, **example.changed}]).astype(float)
            old, new = (system.execute(row, scores=True) for system in (dm.wrap(model), exported))
            assert old.scores is not None
            assert old.values[0] != new.values[0] or not np.allclose(old.scores, new.scores, atol=1e-5)
    assert any("single precision" in finding.title and finding.level == "advice" for finding in findings)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame.to_numpy(), labels)
    path.write_bytes(convert(logistic, frame.to_numpy()[:1].astype(np.float32)).SerializeToString())
    assert all(finding.level == "advice" for finding in compare(logistic, path, frame))


# -- hostile input -------------------------------------------------------------------------------------------------


HOSTILE = {
    "one row": pd.DataFrame({"a": [1.0], "b": ["x"]}),
    "constant": pd.DataFrame({"a": [0.0] * 5, "b": [3] * 5}),
    "missing": pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": ["x", None, "y"]}),
    "huge": pd.DataFrame({"a": [1e149, -1e149, 1e-300], "b": [2**51, 1, -(2**51)]}),
    "mixed": pd.DataFrame({"a": [True, False, True], "b": pd.Series([1, "x", 2.5], dtype=object)}),
}


@pytest.mark.filterwarnings("ignore:These columns of whole numbers")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_data_raise_nothing(name: str) -> None:
    frame = HOSTILE[name]
    count = lambda rows: np.arange(len(rows)) * 0 + len(rows.columns)  # noqa: E731
    space = dm.Space.from_frame(frame)
    systems = [dm.wrap(count, space=space) for _ in range(2)]
    assert compare_twins(*systems, space.points(frame), seconds=120) == []


def test_a_system_that_fails_on_every_row_is_one_finding() -> None:
    def fail(frame: pd.DataFrame) -> Any:
        raise RuntimeError("no model")

    findings = compare(score, fail, make_rows(40))
    assert [(finding.level, finding.affected_rows) for finding in findings] == [("fault", 40)]


def test_an_expired_budget_still_reports_given_rows() -> None:
    frame = make_rows()
    frame.loc[:9, "age"] = 65.0
    findings = compare(score, lambda rows: score(rows, "bin edge"), frame, seconds=0.0)
    assert sum(finding.affected_rows for finding in findings) >= 10


# -- parts ---------------------------------------------------------------------------------------------------------


def test_labels_of_other_types_are_equal() -> None:
    assert not find_different_labels(np.array([1, 0]), np.array([True, False])).any()
    assert not find_different_labels(np.array([1.0, 0.0]), np.array(["1", "0"], dtype=object)).any()
    assert find_different_labels(np.array(["a", "b"]), np.array(["a", "c"])).tolist() == [False, True]


def test_ordinals_keep_the_order_of_floats() -> None:
    numbers = np.array([-np.inf, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, np.nextafter(1, 2), 1e300])
    ordinals = to_ordinals(numbers)
    assert (np.diff(ordinals) > 0).all()
    assert np.array_equal(from_ordinals(ordinals), numbers)
    assert ordinals[7] - ordinals[6] == 1
    assert to_ordinals(np.array([-0.0]))[0] == to_ordinals(np.array([0.0]))[0]


def test_bisection_ends_at_neighbouring_floats() -> None:
    limits = np.array([0.3, 65.0, -1e-200, 1e12])
    left, right = np.array([-10.0, 0.0, -1.0, -1e300]), np.array([10.0, 100.0, 1.0, 1e300])

    def decide(numbers: Any, lanes: Any) -> Any:
        return numbers <= limits[lanes], np.zeros(len(numbers))

    low, high = bisect_codes(left, right, np.array([False, True, False, False]), decide)
    assert low.tolist() == limits.tolist()
    assert high.tolist() == [np.nextafter(0.3, 1), 66.0, np.nextafter(-1e-200, 1), np.nextafter(1e12, 1e13)]


def test_inner_numbers_lie_between_their_ends() -> None:
    left, right = np.array([-1e308, 1.0, 0.0]), np.array([1e308, 2.0, 9.0])
    inner = find_inner_numbers(left, right, np.array([False, False, True]), 5)
    assert ((inner >= left[:, None]) & (inner <= right[:, None])).all()
    assert (np.diff(inner, axis=1) >= 0).all()
    assert (inner[2] % 1 == 0).all()


def test_a_grid_has_edges_and_neighbours() -> None:
    grid = build_grid(np.array([20.0, 30.5, 61.0]), whole=False, decimals=1)
    assert {25.0, 65.0, np.nextafter(25.0, 0), np.nextafter(25.0, 99), 0.0, 24.999999}.issubset(grid.tolist())
    assert (np.diff(grid) > 0).all()


def test_decimals_and_round_values() -> None:
    assert find_decimals(np.array([1.5, 2.0])) == 1
    assert find_decimals(np.array([np.pi])) is None
    assert (count_decimals(0.1), count_decimals(-250.0)) == (1, 0)
    assert find_roundest(64.2, 64.9, near=50.0) == 64.2
    assert find_roundest(64.2, np.inf, near=50.0) == 65.0


def test_parts_of_a_search_agree_with_the_whole() -> None:
    frame = make_rows()
    space = dm.Space.from_frame(frame, kinds={"visits": "integer"})
    points = space.points(frame)
    systems: list[Executor] = [dm.wrap(model, space=space) for model in (score, lambda rows: score(rows, "default"))]
    search = Search(twins=Twins(*systems, query=query_directly), points=points)
    search.ask_given_rows()
    assert describe_values(points, 0).decimals == 0
    assert [site.kind for site in find_foreign_sites(search)] == ["missing"]
    assert find_form_sites(search) == []
    assert shrink(search) == []
    search.explore()
    assert len(build_findings(search, shrink(search), find_foreign_sites(search), [])) == 1


def test_foreign_columns_keep_the_type_of_the_column_where_they_can() -> None:
    frame = make_rows(10)
    space = dm.Space.from_frame(frame, kinds={"visits": "integer"})
    kinds = {
        name: {kind for kind, _, _ in list_foreign_columns(feature, frame[name])}
        for name, feature in zip(space.names, space.features, strict=True)
    }
    assert kinds["visits"] == {"missing", "type", "fraction"}
    assert {"missing", "unseen", "spelling", "empty"} <= kinds["region"]
    assert {"missing", "negative zero"} <= kinds["ratio"]


def test_rows_and_answers_become_plain_values() -> None:
    frame = pd.DataFrame({"a": [np.int64(3)], "b": [np.nan], "c": ["x"]})
    assert to_json_row(frame) == {"a": 3, "b": None, "c": "x"}
    assert to_json_value(np.float64(0.5)) == 0.5
    outputs = dm.wrap(lambda rows: rows["b"].to_numpy()).execute(frame)
    assert format_outcome(outputs, 0).startswith("no answer")

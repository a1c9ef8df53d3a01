"""The check "numbers": impossible, repeated and rounded answers, answers beyond the data, and honest models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeRegressor

import datamorphic as dm


def make_data(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"area": rng.gamma(4, 25, rows).round(1), "rooms": rng.integers(1, 8, rows).astype(float)})
    price = 3 * frame["area"] + 20 * frame["rooms"] + rng.normal(0, 25, rows)
    return frame.assign(target=price.clip(lower=5).round(1))


TRAINING, DATA = make_data(), make_data(seed=1)
INPUTS = ["area", "rooms"]
LINEAR = LinearRegression().fit(TRAINING[INPUTS], TRAINING["target"])


def run(model, data=DATA, **options):
    result = dm.test(model, data, target="target", only="numbers", progress=False, **options)
    return next(item for item in result.outcomes if item.check == "numbers")


def predict(frame):
    return LINEAR.predict(frame[INPUTS])


def find_one(change, data=DATA):
    """Return the only finding about the answers of a good model after a change."""
    (finding,) = run(lambda frame: change(predict(frame), frame), data).findings
    return finding


def test_negated_answers():
    finding = find_one(lambda answers, frame: -answers)
    assert finding.level == "concern"
    assert finding.title.startswith("Answers are negative, although no label is: typically -")
    assert finding.interval[0] > 0.9
    assert finding.examples[0].row is not None
    assert "its label is" in finding.examples[0].text


def test_answers_in_another_scale():
    finding = find_one(lambda answers, frame: answers * 100)
    assert (finding.level, finding.about) == ("concern", "range")
    assert "far outside the range of the labels" in finding.title
    close = DATA.assign(target=DATA["target"] + 1_000)  # within one standard deviation, but outside
    finding = find_one(lambda answers, frame: 950 + (answers - 300) / 300, close)
    assert finding.level == "concern"
    assert "600 of 600 answers" in finding.detail


def test_a_few_negative_answers_are_advice():
    finding = find_one(lambda answers, frame: np.where(frame["area"] < 40, answers - 250, answers))
    assert (finding.level, finding.title) == ("advice", "Some answers are negative, although no label is")


def test_negative_answers_that_are_far_more_wrong_than_necessary():
    finding = find_one(lambda answers, frame: np.where(answers < 190, answers - 200, answers))
    assert (finding.level, finding.title) == ("concern", "Answers are negative, although no label is")


@pytest.mark.parametrize(
    ("change", "title"),
    [
        (lambda answers, frame: np.minimum(answers, 420.0), "No answer is above 420, although labels are"),
        (lambda answers, frame: np.minimum(answers, 250.0), "No answer is above 250, although labels are"),
        (lambda answers, frame: np.maximum(answers, 300.0), "No answer is below 300, although labels are"),
        (
            lambda answers, frame: np.where(frame["area"] % 10 < 1, 1.5, answers),
            "The model answers exactly 1.5 for many rows with other labels",
        ),
        (
            lambda answers, frame: np.where((frame["area"] % 10 < 3) & (abs(answers - 300) < 160), 300.0, answers),
            "The model answers exactly 300 for many rows with other labels",
        ),
    ],
    ids=["cap", "low cap", "floor", "default", "usual default"],
)
def test_one_answer_for_many_rows(change, title):
    finding = find_one(change)
    assert (finding.level, finding.title) == ("concern", title)
    assert "quick model fitted to other rows" in finding.detail


def test_a_bound_that_labels_keep():
    bounded = DATA.assign(target=DATA["target"].clip(upper=420))
    assert not run(lambda frame: np.minimum(predict(frame), 420.0), bounded).findings
    assert not run(lambda frame: np.maximum(predict(frame), 0)).findings


def test_rounded_answers():
    finding = find_one(lambda answers, frame: np.round(answers / 100) * 100)
    assert (finding.level, finding.title) == ("concern", "Answers are rounded to steps of 100, labels are finer")
    finding = find_one(lambda answers, frame: np.round(answers / 25) * 25)
    assert (finding.level, finding.about) == ("advice", "steps")
    assert not run(lambda frame: predict(frame).round()).findings  # too fine to matter
    whole = DATA.assign(target=(DATA["target"] / 100).round() * 100)
    assert not run(lambda frame: (predict(frame) / 100).round() * 100, whole).findings


def test_few_answers():
    tree = DecisionTreeRegressor(max_depth=2).fit(TRAINING[INPUTS], TRAINING["target"])
    assert not run(tree).findings
    (finding,) = run(lambda frame: tree.predict(frame[INPUTS])).findings
    assert (finding.level, finding.about) == ("advice", "few answers")


def test_low_answers_where_labels_are_large():
    finding = find_one(lambda answers, frame: 300 + 30 * np.tanh((answers - 300) / 100))
    assert (finding.level, finding.about) == ("advice", "large")


def test_answers_that_run_away():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, len(DATA))
    wide = pd.DataFrame({"rooms": x, "target": np.sin(6 * x) + rng.normal(0, 0.2, len(x))})
    powers = make_pipeline(PolynomialFeatures(18), LinearRegression()).fit(wide[["rooms"]], wide["target"])
    (finding,) = run(lambda frame: powers.predict(frame[["rooms"]]), wide).findings
    assert (finding.level, finding.columns) == ("concern", ("rooms",))
    assert finding.examples[0].case["rooms"] > 1 or finding.examples[0].case["rooms"] < 0


@pytest.mark.parametrize(("degree", "count"), [(1, 0), (3, 0), (6, 1)])
def test_answers_may_grow_beyond_the_data_as_a_cubic_polynomial_does(degree, count):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, len(DATA))
    data = pd.DataFrame({"x": x, "target": x**degree - 0.5 + 0.01 * rng.normal(size=len(x))})
    findings = run(lambda frame: frame["x"].to_numpy() ** degree - 0.5, data).findings
    assert [finding.title for finding in findings] == ["Answers run away beyond the data: x"] * count


def test_exponentials_do_not_run_away():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, len(DATA))
    data = pd.DataFrame({"x": x, "target": np.exp(5 * x) * rng.lognormal(0, 0.1, len(x))})
    assert not run(lambda frame: np.exp(5 * frame["x"].to_numpy()), data).findings


@pytest.mark.parametrize(
    "model",
    [LINEAR, RandomForestRegressor(20, random_state=0), DecisionTreeRegressor(), KNeighborsRegressor(5)],
    ids=["linear", "forest", "tree", "neighbours"],
)
def test_honest_models(model):
    outcome = run(model.fit(TRAINING[INPUTS], TRAINING["target"]))
    assert (outcome.state, outcome.findings) == ("passed", ())


def test_a_linear_model_of_skewed_labels():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=800)})
    data = frame.assign(target=np.exp(frame["x"] + rng.normal(0, 0.3, 800)))
    findings = run(LinearRegression().fit(data[["x"]][:400], data["target"][:400]), data[400:]).findings
    assert [finding.level for finding in findings] == ["advice"] * len(findings)
    assert any("negative" in finding.title for finding in findings)


@pytest.mark.parametrize(
    "data",
    [DATA.head(1), DATA.assign(target=1.0), DATA.assign(target=np.nan), DATA.assign(target="a"), DATA.head(40)],
    ids=["one row", "equal labels", "missing labels", "texts", "few rows"],
)
def test_labels_that_allow_no_judgement(data):
    outcome = run(predict, data)
    assert (outcome.state, outcome.skip_reason) == ("not run", "inapplicable")


def test_hostile_numbers():
    labels = DATA["target"].astype(object).tolist()
    labels[:4] = [None, np.inf, 1e300, -1e300]
    outcome = run(lambda frame: np.where(frame["rooms"] > 6, np.nan, predict(frame)), DATA.assign(target=labels))
    assert outcome.state in ("passed", "found", "not run")
    assert run(lambda frame: np.where(frame["rooms"] > 3, "a", "b"), DATA).why == "the answers are classes"


def test_notes():
    result = dm.test(predict, DATA, target="target", only="numbers", progress=False)
    note = result.notes[-1]
    assert "The answers have a mean absolute error of" in note
    assert "a quick model fitted to other rows has a mean absolute error of" in note
    assert "R² 0)" in note  # of the mean
    plain = dm.test(predict, DATA, target="target", only="answers", progress=False).notes[-1]
    assert "The answers have a mean absolute error of" in plain
    assert "quick model" not in plain


def test_notes_of_classes():
    data = DATA.assign(target=np.where(DATA["target"] > 300, "large", "small"))
    result = dm.test(
        lambda frame: np.where(frame["area"] > 70, "large", "small"),
        data,
        target="target",
        only="slices",
        progress=False,
    )
    assert "The answer agrees with the label for" in result.notes[-1]
    assert "Recognised by class (by the quick model):" in result.notes[-1]

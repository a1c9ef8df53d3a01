"""The checks of identifiers, leaks and duplicates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic.errors import DataError
from support.cases import LONG

ROWS = 400


def make_data(seed=0, rows=ROWS):
    """Return data whose label depends on two features, with noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"income": rng.normal(size=rows), "debt": rng.normal(size=rows), "noise": rng.normal(size=rows)}
    )
    chance = 1 / (1 + np.exp(-2 * frame["income"] + 2 * frame["debt"]))
    return frame.assign(label=np.where(rng.random(rows) < chance, "yes", "no"))


def fit(data, model=None):
    model = DecisionTreeClassifier(max_depth=6, random_state=0) if model is None else model
    return model.fit(data.drop(columns="label"), data["label"])


def run(check, model, data, **options):
    result = dm.test(model, data, **({"target": "label"} | options), only=check, progress=False)
    return next(outcome for outcome in result.outcomes if outcome.check == check)


def add_identifier(data):
    data = data.sort_values("label", kind="stable").reset_index(drop=True)
    data.insert(0, "client_id", 100_000 + np.arange(len(data)))
    return data.sample(frac=1, random_state=0).reset_index(drop=True)


def test_an_identifier_that_decides_is_a_concern():
    data = add_identifier(make_data())
    (finding,) = run("identifiers", fit(data), data).findings
    assert (finding.level, finding.about) == ("concern", "client_id")
    assert "client_id" in finding.title
    assert finding.cases >= 0.2 * finding.cases_tried
    assert list(finding.examples[0].changed) == ["client_id"]
    assert finding.examples[0].answer != finding.examples[0].new_answer


def test_text_that_is_different_in_every_row_is_an_identifier():
    data = add_identifier(make_data())
    data["client_id"] = "C" + data["client_id"].astype(str)

    def predict(frame):
        return np.where(frame["client_id"] < "C100200", "no", "yes")

    assert [finding.about for finding in run("identifiers", predict, data).findings] == ["client_id"]


def test_an_identifier_that_is_ignored_is_left_alone():
    data = add_identifier(make_data())
    model = fit(data.drop(columns="client_id"))
    outcome = run("identifiers", lambda frame: model.predict(frame.drop(columns="client_id")), data)
    assert (outcome.state, outcome.findings) == ("passed", ())
    assert "client_id" in outcome.why


def test_a_declared_identifier_is_left_to_its_own_check():
    data = add_identifier(make_data())
    assert run("identifiers", fit(data), data, expect={"invariant": ["client_id"]}).state == "passed"


def test_good_models_have_no_identifiers():
    data = make_data()
    assert run("identifiers", fit(data), data).state == "passed"
    assert run("identifiers", fit(data), data.head(12)).state == "not run"


def test_an_identifier_that_was_given_out_by_label_is_a_concern_if_the_model_uses_it():
    data = add_identifier(make_data())
    first = data["client_id"].min() + 10
    for predict, level in (
        (lambda frame: np.where(frame["client_id"] < first - 50, "no", "yes"), "concern"),  # on other rows only
        (lambda frame: np.where(frame["income"] > frame["debt"], "yes", "no"), "advice"),
    ):
        (finding,) = run("leaks", predict, data).findings
        assert (finding.level, finding.about) == (level, "client_id")
        assert "its values were assigned by label" in finding.title
    mixed = data.assign(client_id=np.random.default_rng(0).permutation(data["client_id"]))
    assert run("leaks", fit(mixed), mixed).state == "passed"


@pytest.mark.slow
@pytest.mark.parametrize("codes", [{"no": "open", "yes": "closed"}, *([{"no": 0, "yes": 10}] if LONG else [])])
def test_a_feature_that_is_the_label_in_disguise_is_a_concern(codes):
    data = make_data()
    data["status"] = data["label"].map(codes)
    model = fit(data.assign(status=data["status"].astype("category").cat.codes))

    def predict(frame):
        return model.predict(
            frame.assign(status=frame["status"].map(dict(zip(sorted(codes.values()), [0, 1], strict=True))))
        )

    (finding,) = run("leaks", predict, data).findings
    assert (finding.level, finding.about) == ("concern", "status")


@pytest.mark.slow
def test_a_leak_that_the_model_ignores_is_advice():
    data = make_data()
    model = fit(data)
    data["status"] = (data["label"] == "yes") * 10
    (finding,) = run("leaks", lambda frame: model.predict(frame.drop(columns="status")), data).findings
    assert (finding.level, finding.about) == ("advice", "status")


@pytest.mark.slow
def test_a_strong_feature_among_other_strong_ones_is_left_alone():
    rng = np.random.default_rng(0)
    label = rng.random(ROWS) < 0.5
    data = pd.DataFrame(
        {name: label * 4 + rng.normal(size=ROWS) * scale for name, scale in (("a", 0.7), ("b", 1.2), ("c", 1.2))}
    )
    data["label"] = np.where(label, "yes", "no")
    outcome = run("leaks", fit(data), data)
    assert outcome.state == "passed", outcome.findings


@pytest.mark.slow
def test_leaks_of_numbers():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)})
    data["label"] = data["a"] + rng.normal(size=ROWS)
    assert run("leaks", fit(data, LinearRegression()), data).state == "passed"
    data["paid"] = data["label"] * 3 + rng.normal(size=ROWS) * 0.01
    (finding,) = run("leaks", fit(data, DecisionTreeRegressor(max_depth=8)), data).findings
    assert (finding.level, finding.about) == ("concern", "paid")


def test_leaks_need_labels_of_two_classes_and_two_features():
    data = make_data()
    model = fit(data)
    assert run("leaks", model, data.drop(columns="label"), target=None).state == "not run"
    assert run("leaks", model, data.head(20)).state == "not run"
    assert run("leaks", model, data.assign(label="no")).state == "not run"
    assert run("leaks", fit(data[["income", "label"]]), data[["income", "label"]]).state == "not run"
    with_missing = data.assign(label=data["label"].where(data.index % 2 == 0))
    assert run("leaks", model, with_missing).state == "passed"


def test_rows_of_the_training_data_are_found():
    data = make_data()
    train, rest = data.iloc[:200], data.iloc[200:]
    test = pd.concat([rest, train.head(60)]).reset_index(drop=True)
    model = fit(train, RandomForestClassifier(20, random_state=0))
    (finding,) = run("duplicates", model, test, reference=train).findings
    assert (finding.level, finding.cases, finding.cases_tried) == ("concern", 60, 260)
    assert "row 200 of the test data equals row 0 of the training data" in finding.examples[0].text
    assert run("duplicates", model, rest.reset_index(drop=True), reference=train).state == "passed"


def test_repeats_within_discrete_data_are_natural():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.integers(0, 4, ROWS), "b": rng.integers(0, 4, ROWS)})
    data["label"] = np.where(data["a"] > data["b"], "yes", "no")
    outcome = run("duplicates", fit(data), data.iloc[:200], reference=data.iloc[200:])
    assert outcome.state == "passed"
    assert "repeat among themselves" in outcome.why


def test_the_reference_may_be_a_file_with_other_types(tmp_path):
    data = make_data().assign(n=range(ROWS), word="x")
    model = fit(data.drop(columns="word"))
    data.astype({"n": float}).to_csv(tmp_path / "train.csv", index=False)
    result = dm.test(
        lambda frame: model.predict(frame.drop(columns="word")),
        data,
        "label",
        reference=tmp_path / "train.csv",
        only="duplicates",
        progress=False,
    )
    assert result.findings[0].cases == ROWS
    assert "reference=" in result.code()


def test_the_last_digit_of_a_fraction_does_not_hide_duplicates():
    data = make_data().assign(big=2**45 + np.arange(ROWS))

    def model(frame):
        return np.where(frame["income"] > frame["debt"], "yes", "no")

    names = ["income", "debt", "noise"]
    other_digit = data.assign(**{name: np.nextafter(data[name], np.inf) for name in names}).astype({"big": float})
    largest = other_digit.iloc[:1].assign(noise=np.finfo(float).max)
    (finding,) = run("duplicates", model, data, reference=pd.concat([other_digit, largest])).findings
    assert (finding.level, finding.cases) == ("concern", ROWS)
    assert run("duplicates", model, data, reference=data.assign(big=data["big"] + ROWS)).state == "passed"


def test_rows_that_are_nearly_those_of_the_training_data_are_advice():
    data = make_data()
    train, rest = data.iloc[:200], data.iloc[200:].reset_index(drop=True)
    copies = train.head(60).assign(income=train["income"].head(60) * 1.0001)
    test = pd.concat([rest, copies]).reset_index(drop=True)
    (finding,) = run("duplicates", fit(train), test, reference=train).findings
    assert (finding.level, finding.title) == ("advice", "Rows of the test data are nearly rows of the training data")
    assert finding.cases > 40
    assert "nearly equals row" in finding.examples[0].text
    coarse = data.assign(debt=0.0, noise=0.0)  # one column with three digits: many rows agree so by nature
    outcome = run("duplicates", fit(data), coarse.iloc[:200], reference=coarse.iloc[200:])
    assert outcome.state == "passed"


def test_wrong_references_are_refused():
    data = make_data()
    model = fit(data)
    assert run("duplicates", model, data).why == "no training data are given: reference=frame (--reference FILE)"
    with pytest.raises(DataError, match="no column 'debt'"):
        run("duplicates", model, data, reference=data.drop(columns="debt"))
    with pytest.raises(dm.ArgumentError if hasattr(dm, "ArgumentError") else Exception, match="reference"):
        run("duplicates", model, data, reference=[1, 2])


def test_too_small_a_budget_is_not_a_pass():
    data = add_identifier(make_data())
    outcome = run("identifiers", fit(data), data, budget="20 runs")
    assert (outcome.state, outcome.unfinished) == ("not run", True)

"""The check of data in another form."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import datamorphic as dm
from support.cases import LONG

ROWS = 200
NAMES = ["income", "age", "colour"]


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50, 10, ROWS),
            "age": rng.integers(18, 80, ROWS),
            "colour": rng.choice(["red", "green", "blue"], ROWS),
        }
    )
    return frame.assign(label=np.where(frame["income"] + (frame["colour"] == "red") * 10 > 53, "yes", "no"))


def fit(data, unknown="ignore"):
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown=unknown), ["colour"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["income", "age"]),
    )
    return make_pipeline(encoder, LogisticRegression()).fit(data[NAMES], data["label"])


DATA = make_data()
MODEL = fit(DATA)


def decide(frame):
    """Answer by a rule that copes with the same inputs as the model, and takes less time: numbers may be missing or text, and colours unknown."""
    numbers = frame[["income", "age"]].to_numpy(dtype=float)
    income = np.where(np.isnan(numbers[:, 0]), 50, numbers[:, 0])
    return np.where(income + (frame["colour"] == "red").to_numpy(dtype=bool) * 10 > 53, "yes", "no")


def run(model, data=DATA, **options):
    result = dm.test(model, data, **({"target": "label"} | options), only="interface", progress=False)
    return next(outcome for outcome in result.outcomes if outcome.check == "interface")


def read_table(outcome):
    return {row[0]: row[1:] for row in outcome.sections[0].table.rows}


@pytest.mark.slow
def test_a_good_model_is_left_alone():
    outcome = run(MODEL)
    assert (outcome.state, outcome.findings) == ("passed", ())
    table = read_table(outcome)
    assert table["a single row"] == ["copes: the same answers", ""]
    assert table["a category that the data do not have"][0] == "answers"
    assert table["numbers in 32 bits"][0] == "copes: the same answers"
    assert table["an extra column"][0] == "copes: the same answers"
    assert table["columns in another order"][0] == "copes: the same answers"
    assert "ValueError" in table["a frame without rows"][1]
    assert any(name.startswith("without the column") and row[0] == "gives no answer" for name, row in table.items())


@pytest.mark.slow
def test_an_encoder_that_fails_on_a_new_category_is_a_concern():
    (finding,) = run(fit(DATA, unknown="error")).findings
    assert (finding.level, finding.about) == ("concern", "colour")
    assert "category" in finding.title
    assert "unknown categories" in finding.detail
    assert finding.examples[0].changed == {"colour": "never seen before"}


def test_a_model_that_fails_on_a_single_row_is_a_fault():
    findings = run(lambda frame: np.squeeze(decide(frame))).findings
    assert [(finding.level, finding.title) for finding in findings] == [
        ("fault", "The model gives no answer to a single row")
    ]


def test_a_single_row_with_another_answer_is_a_fault():
    def predict(frame):
        answers = decide(frame)
        return answers if len(frame) > 1 else np.where(answers == "yes", "no", "yes")

    assert run(predict).findings[0].level == "fault"


@pytest.mark.slow
def test_numbers_as_text_that_become_zero_are_a_concern():
    def predict(frame):
        numbers = frame[["income", "age"]].map(lambda value: 0.0 if isinstance(value, str) else value)
        return decide(frame.assign(**{name: numbers[name].astype(float) for name in numbers}))

    (finding,) = run(predict).findings
    assert (finding.level, finding.about) == ("concern", "as text")


def test_a_column_that_is_silently_filled_is_a_concern():
    def predict(frame):
        return decide(frame.reindex(columns=NAMES).fillna({"income": 0.0, "age": 0.0, "colour": "red"}))

    (finding,) = run(predict).findings
    assert finding.level == "concern"
    assert "income" in finding.about
    assert "without" in finding.title


@pytest.mark.slow
def test_an_error_beyond_the_data_is_a_concern():
    highest = DATA["age"].max()

    def predict(frame):
        if (frame["age"] > highest).any():
            raise KeyError("no bin")
        return decide(frame)

    (finding,) = run(predict).findings
    assert (finding.level, finding.about) == ("concern", "age")
    assert run(predict, bounds={"age": (18, 80)}).findings == ()


@pytest.mark.slow
def test_refusing_negative_values_is_fine():
    def predict(frame):
        if (frame["age"] < 0).any():
            raise ValueError("an age below zero")
        return decide(frame)

    outcome = run(predict)
    assert outcome.state == "passed"
    assert "gives no answer" in read_table(outcome)["negative values, where the data have none"][0]


def test_columns_that_are_read_by_position_are_left_to_the_other_check():
    def predict(frame):
        return np.where(frame.to_numpy()[:, 0].astype(float) > 53, "yes", "no")

    outcome = run(predict, DATA[["income", "age", "label"]])
    assert "column" not in " ".join(finding.about for finding in outcome.findings if finding.about == "column order")


@pytest.mark.slow
def test_refusing_missing_values_is_fine_if_the_data_have_none():
    data = DATA.drop(columns="colour")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data[["income", "age"]], data["label"])
    outcome = run(model, data)
    assert outcome.state == "passed"
    assert "NaN" in read_table(outcome)["missing values, in columns that have none"][1]


def test_missing_values_and_nullable_types():
    data = DATA.drop(columns="colour").convert_dtypes()
    data.loc[::7, "income"] = pd.NA
    model = HistGradientBoostingClassifier(max_iter=5).fit(data[["income", "age"]].astype(float), data["label"])
    outcome = run(lambda frame: model.predict(frame[["income", "age"]].astype(float)), data)
    assert outcome.state == "passed"
    assert read_table(outcome)["missing values, in columns that have some"][0] == "answers"


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2] if LONG else [1])
def test_few_rows(rows):
    assert run(MODEL, DATA.head(rows)).state == "passed"


@pytest.mark.slow
def test_regressors_arrays_and_scalar_functions():
    data = DATA.drop(columns="colour").assign(label=DATA["income"] * 2)
    model = LinearRegression().fit(data[["income", "age"]], data["label"])
    assert run(model, data).state == "passed"
    on_arrays = LinearRegression().fit(data[["income", "age"]].to_numpy(), data["label"])
    assert "numbers as text" not in read_table(run(on_arrays, data))
    assert run(lambda case: float(case["income"] or 0) > 50, data, target=None, scalar=True).state in (
        "passed",
        "found",
    )


def test_systems_without_data_are_not_tried():
    result = dm.test(dm.subjects["Box 1"], only="interface", progress=False)
    outcome = next(outcome for outcome in result.outcomes if outcome.check == "interface")
    assert (outcome.state, outcome.why) == ("not run", "no data are given")


def test_too_small_a_budget_is_not_a_pass():
    outcome = run(MODEL, budget="40 runs")
    assert outcome.unfinished


@pytest.mark.slow
def test_what_the_model_prints_about_provoked_errors_is_not_shown(capfd):
    def predict(frame):
        if list(frame.columns) != NAMES:
            os.write(2, b"[Fatal] a column is absent\n")  # as libraries in C do
            raise ValueError("a column is absent")
        os.write(1, b"[Info] an answer\n")
        return decide(frame)

    assert run(predict).state == "passed"
    out, err = capfd.readouterr()
    assert "[Info]" in out
    assert "[Fatal]" not in err


@pytest.mark.slow
def test_no_answer_inside_and_beyond_the_data_is_one_finding():
    def predict(frame):
        return np.where(frame["age"] > 60, None, decide(frame))

    result = dm.test(predict, DATA, target="label", only=["answers", "interface"], progress=False)
    (finding,) = result.findings
    assert (finding.check, finding.level) == ("answers", "fault")
    assert finding.title.startswith("The model gives no answer where age > 6")
    assert [(piece.check, piece.about) for piece in finding.evidence] == [("interface", "age")]


@pytest.mark.slow
def test_lightgbm_prints_nothing_about_absent_columns(capfd):
    lightgbm = pytest.importorskip("lightgbm")
    data = DATA.drop(columns="colour")
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(data[["income", "age"]], data["label"])
    outcome = run(model, data)
    assert "number of features" in str(read_table(outcome))
    out, err = capfd.readouterr()
    assert "Fatal" not in out + err


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S.%f+01:00", "%d.%m.%y", "%Y-%m", "%H:%M"])
def test_a_date_is_never_a_new_category(form):
    times = pd.Timestamp("2026-01-01 10:00:00.125") + pd.to_timedelta(np.arange(ROWS) * 37, unit="h")
    data = DATA.assign(seen=times.strftime(form)[np.arange(ROWS) % 20])

    def predict(frame):
        pd.to_datetime(frame["seen"], format=form.replace("+01:00", "%z"))  # raises for what is no date
        return decide(frame)

    outcome = run(predict, data)
    assert not [finding for finding in outcome.findings if "category" in finding.title]
    values = data["seen"].where(
        data.index % 2 == 0, "shift " + (data.index % 20).astype(str)
    )  # half of them are no dates

    def refuse(frame):
        if not frame["seen"].isin(values).all():
            raise ValueError("unknown")
        return decide(frame)

    findings = [finding for finding in run(refuse, data.assign(seen=values)).findings if "category" in finding.title]
    assert [finding.about for finding in findings] == ["seen"]

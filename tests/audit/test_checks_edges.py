"""The check of values at the edge: missing, unseen, huge, and in types that do not hold them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import datamorphic as dm

ROWS = 400
COLOURS = ["blue", "green", "red", "white"]
NUMBERS = ["income", "area"]


def make_data(seed=0, missing=0.0, effects=(-12, -5, 5, 14)):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"income": rng.normal(50, 10, ROWS), "area": rng.integers(40, 400, ROWS), "colour": rng.choice(COLOURS, ROWS)}
    )
    level = (
        frame["income"]
        - 50
        + (frame["area"] - 220) / 10
        + frame["colour"].map(dict(zip(COLOURS, effects, strict=True)))
    )
    frame["label"] = np.where(level + rng.normal(0, 4, ROWS) > 0, "yes", "no")
    if missing:
        frame["income"] = frame["income"].mask(rng.random(ROWS) < missing)
    return frame


DATA = make_data()


def fit(data=DATA, model=None, encoder=None):
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False) if encoder is None else encoder, ["colour"]),
    )
    return make_pipeline(prepare, LogisticRegression() if model is None else model).fit(
        data.drop(columns="label"), data["label"]
    )


MODEL = fit()


class Service:
    """A model whose inputs are changed on the way to it."""

    classes_ = MODEL.classes_

    def __init__(self, change, model=MODEL):
        self.change, self.model = change, model

    def predict(self, frame):
        return self.model.predict(self.change(frame))

    def predict_proba(self, frame):
        return self.model.predict_proba(self.change(frame))


def find(model, data=DATA, **options):
    result = dm.test(model, data, **({"target": "label"} | options), only="edges", progress=False)
    (outcome,) = [outcome for outcome in result.outcomes if outcome.check == "edges"]
    assert outcome.state in ("passed", "found"), outcome.why
    return list(outcome.findings)


def read(findings):
    return [(finding.level, finding.about) for finding in findings]


@pytest.mark.parametrize(
    ("model", "encoder"),
    [
        (LogisticRegression(), None),
        (
            RandomForestClassifier(20, random_state=0),
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        ),
    ],
)
def test_usual_practice_is_left_alone(model, encoder):
    data = make_data(missing=0.1)
    assert [finding for finding in find(fit(data, model, encoder), data) if finding.level != "advice"] == []


def test_a_booster_that_reads_missing_values_is_left_alone():
    data = make_data(missing=0.1)[["income", "area", "label"]]
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(data[NUMBERS], data["label"])
    assert find(model, data) == []


@pytest.mark.parametrize("share", [0.0, 0.02, 0.2])
def test_missing_values_that_are_answered_as_zero_are_a_concern(share):
    data = make_data(missing=share)
    findings = find(Service(lambda frame: frame.assign(income=frame["income"].fillna(0.0))), data)
    assert read(findings) == [("concern", "income")]
    assert "A missing income is answered as zero" in findings[0].title


def test_zero_for_missing_values_is_left_alone_where_it_is_usual_or_fits_the_labels():
    data = make_data(missing=0.2)
    fill = Service(lambda frame: frame.assign(income=frame["income"].fillna(0.0)))
    assert find(Service(lambda frame: frame.assign(income=frame["income"].fillna(52.0))), data) == []
    poor = data.assign(label=data["label"].mask(data["income"].isna(), "no"))  # who says nothing has nothing
    assert find(fill, poor) == []
    centred = data.assign(income=data["income"] - 50)  # zero is the middle
    model = Service(lambda frame: frame.assign(income=frame["income"].fillna(0.0) + 50))
    assert find(model, centred) == []


@pytest.mark.parametrize("known", ["green", "white"])
def test_unseen_categories_that_are_answered_as_a_known_one_are_a_concern(known):
    findings = find(
        Service(lambda frame: frame.assign(colour=frame["colour"].where(frame["colour"].isin(COLOURS), known)))
    )
    assert read(findings) == [("concern", "colour")]
    assert f"exactly as '{known}'" in findings[0].title


@pytest.mark.parametrize(("known", "level"), [("blue", None), ("white", "concern")])
def test_unseen_categories_of_a_weak_column_may_be_answered_as_the_first_one_in_order(known, level):
    data = make_data(effects=(-4, 0, 1, 6)).iloc[::-1].reset_index(drop=True)
    data.loc[:200, "colour"] = "red"  # the majority, which a model may fall back to
    service = Service(
        lambda frame: frame.assign(colour=frame["colour"].where(frame["colour"].isin(COLOURS), known)), fit(data)
    )
    assert read(find(service, data)) == ([] if level is None else [(level, "colour")])


@pytest.mark.parametrize(("share", "count"), [(1.0, 1), (0.35, 1), (0.0, 0)])
def test_codes_of_times_that_lose_their_digits_are_a_concern_if_they_matter(share, count):
    times = pd.date_range("2024-01-01", periods=ROWS, freq="3h")
    data = DATA.assign(ordered=times.strftime("%Y%m%d%H%M").astype(np.int64))

    def predict(frame):
        codes = frame["ordered"].to_numpy().astype(np.float32).astype(np.int64)
        late = (codes // 16_384 % 2 == 0) & (frame["area"] <= DATA["area"].quantile(share)) & (share > 0)
        return np.where(late, "yes", MODEL.predict(frame))

    assert [finding.about for finding in find(predict, data)] == ["ordered"] * count


def test_unseen_categories_of_a_column_that_hardly_matters_are_left_alone():
    flat = lambda frame: frame.assign(colour="red")  # noqa: E731
    assert find(Service(flat)) == []


def test_values_that_overflow_are_a_concern():
    findings = find(
        Service(
            lambda frame: frame.assign(area=frame["area"].to_numpy().astype(np.int64).astype(np.int8).astype(float))
        )
    )
    assert read(findings) == [("concern", "area")]
    assert "256" in findings[0].title


def test_sums_in_a_narrow_type_are_advice():
    def add(frame):
        area = frame["area"].to_numpy()
        return frame.assign(area=np.add(area * 100, 0).astype(float) / 100)

    assert read(find(Service(add))) == [("advice", "narrow")]


def test_answers_that_depend_on_32_bits_or_on_the_sign_of_zero_are_a_concern():
    def short(frame):
        income = frame["income"].to_numpy()
        return frame.assign(income=income if income.dtype == np.float64 else income * 1.5)

    assert ("concern", "float32") in read(find(Service(short)))
    data = DATA.assign(income=DATA["income"].where(DATA.index % 2 == 0, 0.0))

    def signed(frame):
        income = frame["income"].to_numpy(dtype=float)
        return frame.assign(income=np.where(np.signbit(income), 100.0, income))

    assert ("concern", "zero") in read(find(Service(signed), data))


def test_numbers_too_large_for_32_bits_are_a_concern():
    rng = np.random.default_rng(1)
    data = DATA.assign(stamp=202_400_000_000 + rng.integers(0, 20_000, ROWS) * 10)

    def use(frame):
        stamp = frame["stamp"].to_numpy().astype(np.float32).astype(np.float64)
        return frame.drop(columns="stamp").assign(income=frame["income"] + (stamp - 202_400_000_000) / 5_000)

    assert ("concern", "stamp") in read(find(Service(use), data))


def test_probabilities_that_are_no_numbers_far_out_are_advice():
    class Softmax:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, frame):
            level = frame["income"].to_numpy(dtype=float) - 50
            with np.errstate(all="ignore"):
                weights = np.exp(np.column_stack([-level, level]))
                return weights / weights.sum(axis=1, keepdims=True)

        def predict(self, frame):
            return self.classes_[(frame["income"] > 50).to_numpy().astype(int)]

    findings = find(Softmax())
    assert read(findings) == [("advice", "income")]
    assert "NaN" in findings[0].detail


@pytest.mark.parametrize("rows", [1, 12, 60])
def test_hostile_data(rows):
    data = pd.DataFrame(
        {
            "constant": [1] * rows,
            "huge": [10.0**140] * rows,
            "nothing": [None if i % 2 else 2.0 for i in range(rows)],
            "mixed": [i if i % 3 else f"t{i % 6}" for i in range(rows)],
            "flag": [bool(i % 2) for i in range(rows)],
            "seen": pd.date_range("2026-01-01", periods=rows),
        }
    )
    for model in (
        lambda frame: ["a" if i % 2 else "b" for i in range(len(frame))],
        lambda frame: frame["constant"] * 1.0,
    ):
        result = dm.test(model, data, only="edges", progress=False, budget="20s")
        assert next(outcome for outcome in result.outcomes if outcome.check == "edges").state != "broke"

"""The check "curves": features, categories and values that change no answer although the labels depend on them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.audit.checks.curves.bins import MISSING, Means, average, build_bins
from datamorphic.audit.checks.curves.shapes import describe_difference
from datamorphic.space.space import Space


def make_data(rows=1_200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50, 15, rows).round(1),
            "age": rng.integers(18, 80, rows),
            "region": rng.choice(["north", "south", "west"], rows),
        }
    )
    score = (frame["income"] - 50) / 10 + frame["region"].map({"north": 0.0, "south": 1.5, "west": -2.0})
    return frame.assign(target=np.where(score + 0.7 * rng.normal(size=rows) > 0, "yes", "no"))


DATA = make_data()
TRAINING = make_data(seed=1)


def prepare():
    return make_column_transformer((StandardScaler(), ["income", "age"]), (OneHotEncoder(), ["region"]))


class Served:
    """A model whose inputs are changed on the way."""

    def __init__(self, change=lambda frame: frame, model=None):
        inputs = TRAINING.drop(columns="target")
        model = model or make_pipeline(prepare(), LogisticRegression())
        self.model, self.change = model.fit(inputs, TRAINING["target"]), change
        self.classes_ = self.model.classes_

    def predict(self, frame):
        return self.model.predict(self.change(frame))

    def predict_proba(self, frame):
        return self.model.predict_proba(self.change(frame))


def put(name, change):
    return lambda frame: frame.assign(**{name: change(frame[name])})


def outcome(model, data=DATA, target="target", only="curves"):
    result = dm.test(model, data, target=target, only=only, progress=False)
    return next(item for item in result.outcomes if item.check == only), result


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("income", lambda values: 0 * values + 50), "No answer depends on income"),
        (put("region", lambda values: "north"), "All categories of region are treated alike"),
        (
            put("region", lambda values: values.replace("west", "south")),
            "region 'west' is treated exactly like 'south'",
        ),
        (put("income", lambda values: values.clip(upper=50)), "income is cut off at"),
    ],
    ids=["a number", "a column of categories", "a category", "large values"],
)
def test_what_the_model_does_not_see(change, words):
    (finding,) = outcome(Served(change))[0].findings
    assert finding.level == "concern"
    assert words in finding.title
    assert finding.about in words
    (section,) = finding.sections
    assert section.chart.panels[0].shapes
    assert "labels" in section.chart.panels[0].alt
    assert finding.examples[0].row is not None


def test_a_category_that_the_model_does_not_know():
    """Rows of the west were never seen: their category is encoded as any other unknown one."""
    seen = TRAINING[TRAINING["region"] != "west"]
    encoder = make_column_transformer(
        (StandardScaler(), ["income", "age"]), (OneHotEncoder(handle_unknown="ignore"), ["region"])
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(seen.drop(columns="target"), seen["target"])
    (finding,) = outcome(model)[0].findings
    assert finding.about == "region"
    assert finding.title.startswith("The model does not know region 'west'")
    assert DATA["region"][finding.examples[0].row] == "west"


def test_an_unknown_category_answered_as_a_known_one_is_harmless_if_the_answers_are_right():
    encoder = make_column_transformer(
        (StandardScaler(), ["income", "age"]), (OneHotEncoder(drop="first", handle_unknown="ignore"), ["region"])
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(TRAINING.drop(columns="target"), TRAINING["target"])
    assert not outcome(model)[0].findings


def test_a_number_that_is_rounded_on_the_way():
    (finding,) = outcome(Served(put("income", lambda values: (values / 40).round() * 40)))[0].findings
    assert finding.about == "income"
    assert "rounded on the way" in finding.title
    assert not outcome(Served(put("income", lambda values: values.round())))[0].findings


def test_a_good_model_has_a_table_and_no_finding():
    result, audit = outcome(Served())
    assert result.state == "passed"
    (section,) = result.sections
    assert {row[0] for row in section.table.rows} == {"income", "age", "region"}
    assert "Labels and answers along each feature" in audit.to_html()


def test_a_simple_model_may_leave_features_out():
    tree = make_pipeline(prepare(), DecisionTreeClassifier(max_depth=2, random_state=0))
    assert not outcome(Served(model=tree))[0].findings


def test_a_feature_without_labels_may_be_left_out():
    assert not outcome(Served(put("age", lambda values: 0 * values + 40)))[0].findings


def test_numbers():
    rng = np.random.default_rng(2)
    inputs = DATA.drop(columns="target")
    labels = (
        2 * DATA["income"] + DATA["region"].map({"north": 0, "south": 20, "west": 60}) + 5 * rng.normal(size=len(DATA))
    )
    data = inputs.assign(target=labels)
    model = make_pipeline(prepare(), LinearRegression()).fit(inputs, labels)
    assert not outcome(model, data)[0].findings
    (finding,) = outcome(lambda frame: model.predict(frame.assign(region="north")), data)[0].findings
    assert finding.about == "region"


def test_dependence_gives_no_advice_about_the_same_feature():
    model = Served(put("income", lambda values: 0 * values + 50))
    result = dm.test(model, DATA, target="target", only=["curves", "dependence"], progress=False)
    assert [finding.check for finding in result.findings if "income" in finding.title] == ["curves"]


@pytest.mark.parametrize(
    "data",
    [
        DATA.head(1),
        DATA.head(60),
        DATA.assign(target="yes"),
        DATA.assign(target=None),
        DATA.assign(income=1e100 * DATA["income"], region=np.arange(len(DATA)).astype(str)),
        DATA.assign(income=DATA["income"].where(DATA["income"] < 30)),
    ],
    ids=["one row", "few rows", "one label", "no labels", "huge numbers and many categories", "mostly missing"],
)
def test_odd_data(data):
    def predict(frame):
        return np.where(frame["age"] > 50, "yes", "no")

    assert outcome(predict, data)[0].state in ("passed", "not run", "found")


def build(numbers):
    return build_bins(Space.from_frame(pd.DataFrame({"x": numbers})).points(pd.DataFrame({"x": numbers})), 0)


def test_bins():
    numbers = np.arange(400.0)
    bins = build(np.where(numbers < 40, np.nan, numbers))
    assert bins.names[-1] == MISSING
    assert (np.bincount(bins.bin_of_row) >= 30).all()
    means = average(bins, np.where(bins.bin_of_row == 0, 1.0, 0.0))
    assert means.values[0] == 1
    assert means.total == pytest.approx((bins.bin_of_row == 0).mean())
    assert means.measure_spread() > 0
    assert build(np.ones(50)) is None


def make_means(values, margin=0.01):
    values = np.asarray(values, dtype=np.float64)
    return Means(counts=np.full(len(values), 40), values=values, margins=np.full(len(values), margin))


RISE = np.linspace(0, 1, 10)
STEEP = 1 / (1 + np.exp(-3 * (np.arange(10) - 4.5)))


@pytest.mark.parametrize(
    ("labels", "answers", "word"),
    [
        (RISE, RISE, ""),
        (RISE, np.full(10, 0.5), "nearly constant"),
        (RISE, 0.25 + RISE / 2, "flattened"),
        (RISE, 2 * RISE - 0.5, "stretched"),
        (RISE, 1 - RISE, "reversed"),
        (RISE, RISE + 0.3, "higher"),
        (RISE, np.minimum(RISE, 0.55), "cut off"),
        (RISE, np.where(RISE > 0.5, 0.8, 0.2), "stepwise"),
        (STEEP, np.roll(STEEP, 2) * (np.arange(10) > 1), "shifted"),
    ],
)
def test_shapes(labels, answers, word):
    words = describe_difference(build(np.arange(400.0)), make_means(labels), make_means(answers))
    assert words.startswith(word)
    assert bool(words) is bool(word)

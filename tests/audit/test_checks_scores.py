"""The checks "scores" and "calibration": planted defects, good models, and data that allow no judgement."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import datamorphic as dm
from support.cases import rotate

CHECKS = ["scores", "calibration"]


def make_data(rows=400, classes=2, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["x", "y", "z"])
    level = frame["x"] + frame["y"] + noise * rng.normal(size=rows)
    names = np.array(["no", "yes", "perhaps"])
    return frame.assign(target=names[np.digitize(level, [0, 1.2][: classes - 1])])


DATA = make_data()
MODEL = LogisticRegression().fit(DATA.drop(columns="target"), DATA["target"])


class Scored:
    """A model whose answers and scores are changed on the way."""

    def __init__(self, model=MODEL, scores=lambda p: p, predict=None):
        self.model, self.scores, self.classes_ = model, scores, model.classes_
        self.answer = predict or (lambda frame: self.model.predict(frame))

    def predict(self, frame):
        return self.answer(frame)

    def predict_proba(self, frame):
        return self.scores(self.model.predict_proba(frame))


def audit(model, data=DATA, target="target", only=CHECKS, **options):
    return dm.test(model, data, target=target, only=only, progress=False, **options)


def findings(model, *arguments, check="scores", **options):
    return [item for item in audit(model, *arguments, **options).findings if item.check == check]


def outcome(result, check):
    return next(item for item in result.outcomes if item.check == check)


# -- probabilities and answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "title"),
    [
        (lambda p: 1.2 * p, "do not sum to 1"),
        (lambda p: 3 * p - 1, "outside 0 to 1"),
        (lambda p: np.where(p > 0.9, np.nan, p), "missing"),
    ],
)
def test_invalid_probabilities_are_a_fault(scores, title):
    (finding,) = findings(Scored(scores=scores))
    assert finding.level == "fault"
    assert title in finding.title
    assert 0 < finding.cases <= finding.cases_tried == 400
    assert finding.examples[0].case["x"] == DATA["x"][finding.examples[0].row]
    assert not findings(Scored(scores=scores), check="calibration")


def test_a_number_of_columns_other_than_that_of_the_classes():
    (finding,) = findings(Scored(scores=lambda p: np.column_stack([p, 0 * p[:, 0]])))
    assert "one probability per class" in finding.title


def test_swapped_columns():
    (finding,) = findings(Scored(scores=lambda p: p[:, ::-1]))
    assert (finding.level, finding.about) == ("concern", "columns")
    assert "the column of 'yes' holds the probability of 'no'" in finding.detail


def test_columns_of_three_classes_in_another_order():
    data = make_data(classes=3)
    model = LogisticRegression().fit(data.drop(columns="target"), data["target"])
    assert not findings(model, data)
    (finding,) = findings(Scored(model, scores=lambda p: p[:, [1, 2, 0]]), data)
    assert finding.about == "columns"


def test_another_threshold_is_named():
    def predict(frame):
        return np.where(MODEL.predict_proba(frame)[:, 1] > 0.25, "yes", "no")

    (finding,) = findings(Scored(predict=predict))
    assert finding.level == "concern"
    assert "threshold of about 0.25" in finding.title
    assert "threshold of about 0.25 for 'yes'" in finding.detail
    assert finding.interval[0] > 0.05


def test_a_few_contradictions_are_advice():
    def predict(frame):
        answers = MODEL.predict(frame)
        return np.where(frame["x"] == DATA["x"].max(), "no", answers)

    (finding,) = findings(Scored(predict=predict))
    assert (finding.level, finding.cases) == ("advice", 1)


def test_a_decision_function_with_the_wrong_sign():
    class Reversed(LinearSVC):
        def decision_function(self, frame):
            return -super().decision_function(frame)

        def predict(self, frame):
            return self.classes_[(-self.decision_function(frame) > 0).astype(int)]

    model = Reversed().fit(DATA.drop(columns="target"), DATA["target"])
    (finding,) = findings(model)
    assert (finding.level, finding.about) == ("concern", "decision_function")


def test_probabilities_that_are_offered_and_raise():
    def fail(probabilities):
        raise NotImplementedError("no probabilities")

    (finding,) = findings(Scored(scores=fail))
    assert finding.level == "concern"
    assert "no probabilities" in finding.examples[0].text


def test_what_is_known_of_a_model_is_advice():
    from sklearn.model_selection import FixedThresholdClassifier

    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.2, response_method="predict_proba")
    model.fit(DATA.drop(columns="target"), DATA["target"])
    result = findings(model)
    assert {finding.level for finding in result} == {"advice"}
    assert "threshold of its own" in result[0].detail


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "classes"),
    rotate(
        [
            LogisticRegression(),
            RandomForestClassifier(20, random_state=0),
            GaussianNB(),
            make_pipeline(StandardScaler(), SVC()),
            LinearSVC(),
        ],
        [2, 3],
    ),
)
def test_good_models(model, classes):
    data = make_data(classes=classes)
    result = audit(model.fit(data.drop(columns="target"), data["target"]), data)
    assert not result.at_least("concern")
    assert not outcome(result, "scores").findings


def test_rounded_and_float32_probabilities_are_valid():
    assert not findings(Scored(scores=lambda p: p.astype(np.float32)))
    assert not findings(Scored(scores=lambda p: np.round(p, 2)))


# -- calibration ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_far_too_sure():
    data = make_data(rows=1_500)  # with fewer, the probabilities of the reference model are not calibrated either
    result = audit(Scored(scores=lambda p: np.where(p > 0.5, 0.99, 0.01)), data)
    (finding,) = [item for item in result.findings if item.check == "calibration"]
    assert finding.level == "concern"
    assert "far too sure" in finding.title
    assert "calibrated" in finding.title
    assert finding.sections[0].table.rows


@pytest.mark.slow
def test_a_little_too_sure_is_advice():
    def sharpen(p):
        odds = (p / (1 - p)) ** 2.5
        return odds / (1 + odds)

    (finding,) = findings(Scored(scores=sharpen), check="calibration")
    assert finding.level == "advice"


def test_rows_that_a_forest_was_fitted_to_do_not_count_against_it():
    model = RandomForestClassifier(30, random_state=0).fit(DATA.drop(columns="target"), DATA["target"])
    result = audit(model)
    assert not [item for item in result.findings if item.check == "calibration"]
    assert "rows they were fitted to" in outcome(result, "calibration").why


@pytest.mark.slow
def test_only_zero_and_one_is_no_concern():
    from sklearn.tree import DecisionTreeClassifier

    new = make_data(seed=1)
    model = DecisionTreeClassifier(random_state=0).fit(DATA.drop(columns="target"), DATA["target"])
    (finding,) = findings(model, new, check="calibration")
    assert finding.level == "advice"


# -- no judgement ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_reasons_why_they_do_not_apply():
    inputs = DATA.drop(columns="target")
    result = audit(MODEL, inputs, target=None)
    assert outcome(result, "scores").state == "passed"
    assert outcome(result, "calibration").why == "the data have no labels: target="
    result = audit(lambda frame: np.where(frame["x"] > 0, "yes", "no"))
    assert "no scores" in outcome(result, "scores").why
    result = audit(LinearRegression().fit(inputs, inputs["x"]), inputs.assign(target=inputs["x"]))
    assert outcome(result, "scores").why == "the answers are numbers"
    result = audit(MODEL, DATA.head(1))
    assert outcome(result, "scores").state == "passed"
    assert outcome(result, "calibration").skip_reason == "inapplicable"
    result = audit(MODEL, DATA.assign(target="neither"))
    assert "not classes of the model" in outcome(result, "calibration").why
    result = audit(MODEL, DATA.assign(target=None))
    assert outcome(result, "calibration").skip_reason == "inapplicable"


def test_a_spent_budget_is_not_a_pass():
    result = audit(MODEL, budget="1100 runs", only=["answers", "scores"])
    assert outcome(result, "scores").state != "broke"
    tiny = audit(MODEL, budget="30 runs")
    assert outcome(tiny, "calibration").state == "not run"

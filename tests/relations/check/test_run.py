"""``dm.check``: what it says of right, wrong, odd and hostile learners and models, and what it costs."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import datamorphic as dm
from datamorphic._stats import compute_wilson_interval
from datamorphic._text import format_percent
from datamorphic.data.knn import KNN
from datamorphic.data.naive_bayes import NaiveBayes
from datamorphic.errors import ArgumentError, DataError, ModelError, TestSystemError
from datamorphic.relations.catalogue.predictor import PREDICTOR_RELATIONS
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS
from datamorphic.runs import failures
from datamorphic.runs.engine_base import Engine
from datamorphic.runs.store import Store
from datamorphic.systems.learner import Learner
from support.cases import LONG, in_one_test

COLUMNS = [
    "relation",
    "purpose",
    "necessary",
    "strictness",
    "inputs",
    "violated",
    "inapplicable",
    "undefined",
    "rate",
    "low",
    "high",
]
EVIL = "<script>alert(1)</script>"


class First(KNN):
    """Claims to be a kNN, and answers the label of the first training row."""

    def predict(self, X):
        return np.repeat(self.classes_[self._codes[0]], len(X))


class Stranger:
    """A right nearest neighbour of which nobody knows that it is one."""

    def __init__(self, k=1):
        self.inner = KNN(k)

    def fit(self, X, y):
        self.inner.fit(X, y)
        return self

    def predict(self, X):
        return self.inner.predict(X)


class Backwards(dm.LearnerRelation):
    name = "backwards"
    statement = "training rows in reverse order: the same labels"

    def follow_up(self, data, labels, rng):
        return data.rows(slice(None, None, -1))


def table(n=40, labels=("a", "b", "c"), seed=0):
    """Rows with numbers, a text, and labels by chance."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.normal(size=n), "z": rng.integers(0, 50, n), "colour": rng.choice(["red", "blue"], n)}
    )
    frame["y"] = [labels[k] for k in rng.integers(len(labels), size=n)]
    return frame


NUMBERS = table()[["x", "z", "y"]]


def check(learner, *arguments, **options):
    """Check with few inputs; the smallest violations are looked for where a test wants them."""
    return dm.check(learner, *arguments, **{"inputs": 20, "progress": False, "shrink": False, **options})


def entry(report, name):
    return next(item for item in report.entries if item.relation == name)


@pytest.fixture(scope="module")
def whole():
    """A right learner, everything that applies, random data."""
    return check(KNN(3), inputs=20, shrink=True)


# -- the report ------------------------------------------------------------------------------------------------


def test_ties_that_decide_often_are_a_finding_of_their_own():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, (80, 3)), columns=list("abc")).assign(y=rng.integers(3, size=80))
    report = dm.check(KNeighborsClassifier(3), frame, ["MR-2.1", "sample order"], target="y", inputs=40)
    assert [entry.relation for entry in report.often_tied] == ["sample order"]
    order = entry(report, "sample order")
    assert order.tied > 4
    verdict = f"sample order ({order.tied} of 40 set aside as ties)"
    text = report.describe()
    assert verdict in text.replace("\n  ", " ")
    assert "Ties decide often" in text
    assert "--count-ties" in text
    assert "ties decide often in 1 relation" in report.headline
    assert f"{order.tied} of 40 set aside as ties" in report.to_junit()
    assert not report.faults


@pytest.mark.slow
def test_the_table(whole):
    rows = whole.table
    assert rows.columns[: len(COLUMNS)].tolist() == COLUMNS
    assert rows["relation"].tolist() == list(LEARNER_RELATIONS)
    assert (rows["inputs"] == 20).all()
    assert (rows["holds"] + rows["violated"] + rows["inapplicable"] + rows["undefined"] == 20).all()
    for row in rows.itertuples():
        judged = row.holds + row.violated
        assert (row.low, row.high) == compute_wilson_interval(row.violated, judged)
        assert row.rate == row.violated / judged if judged else np.isnan(row.rate)
        assert row.low <= row.rate <= row.high or not judged
        assert row.reason


@pytest.mark.slow
def test_verification_and_validation_are_separate(whole):
    assert (whole.table["purpose"] == np.where(whole.table["necessary"], "verification", "validation")).all()
    assert whole.passed
    assert not whole.faults
    assert (whole.table.query("necessary")["violated"] == 0).all()
    taught = whole.table.query("not necessary")
    assert taught.set_index("relation")["violated"]["MR-1.1"] > 0  # a tied vote goes to the label that sorts first
    assert not any(surprise.expected for surprise in whole.surprises)
    text = whole.describe()
    assert (
        text.index("\nVerification\n") < text.index(" MR-0,") < text.index("\nValidation\n") < text.index("  MR-1.1 ")
    )
    assert whole.headline.startswith("all 21 necessary relations hold, ")


def test_only_violations_of_necessary_relations_are_faults():
    report = check(First(1), relations=["sample order", "MR-0 subset", "MR-NBC", "MR-1.2"], shrink=True)
    assert [fault.relation for fault in report.faults] == ["sample order"]
    assert not report.passed
    assert report.headline.startswith("1 of 2 necessary relations violated")
    assert set(report.examples) == {"sample order"}


@pytest.mark.slow
def test_violations_of_necessary_relations_come_first(whole):
    both = check(First(1), relations=[Backwards, "sample order"])
    violations = both.violations
    assert violations.columns.tolist() == ["relation", "necessary", "input", "case", "before", "expected", "after"]
    assert violations["relation"].iloc[0] == "sample order"
    assert violations["necessary"].is_monotonic_decreasing
    assert len(violations) == both.table["violated"].sum()
    assert (violations["after"] != violations["expected"]).all()
    assert len(whole.violations) == whole.table["violated"].sum()


def test_a_shrunk_violation_still_violates():
    report = check(First(1), "random", relations=["sample order"], shrink=True)
    smallest, last = report.shrunk(0), report.shrunk(len(report.violations) - 1)
    assert smallest is report.shrunk(0) is report.examples["sample order"]
    for item in (smallest, last):
        assert item.shrunk
        assert item.size == (2, 1)  # two rows can be exchanged, and one attribute is the least there can be
        assert sorted(item.source.numbers.ravel().tolist()) == [1, 2, 3]  # plain numbers
        before, after = (First(1).fit(data.x, data.y).predict(data.t)[0] for data in (item.source, item.follow_up))
        assert (before, after) == (item.before, item.after)
        assert after != item.expected == before
    assert last.number == report.violations["input"].iloc[-1]
    text = smallest.describe()
    assert "trained on 2 rows of 1 attribute" in text
    assert f"becomes  {smallest.after!r}" in text.replace("np.str_(", "").replace(")", "")
    for number in (-1, len(report.violations)):
        with pytest.raises(ArgumentError, match="Count from 0"):
            report.shrunk(number)


def test_violations_are_shrunk_on_demand():
    report = check(First(1), relations=["sample order"])
    assert not report.examples
    assert report.shrunk(0).size == (2, 1)


@pytest.mark.slow
def test_one_test_case_of_many_is_enough_for_an_example():
    report = check(First(1), NUMBERS, ["sample order"], "y", inputs=30, rows=12)
    row = int(np.flatnonzero(report.violations["case"])[0])
    smallest = report.shrunk(row)
    assert len(smallest.source) == len(smallest.follow_up) == 1
    assert smallest.size == (2, 1)


# -- which relations, and what they are to whom ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("relations", "names"),
    [
        ("MR-1.2", ["MR-1.2"]),
        (["MR-1.2", "refit", "MR-1.2"], ["MR-1.2", "refit"]),
        (("MR-0", Backwards), ["MR-0", "backwards"]),
        (Backwards(), ["backwards"]),
        (LEARNER_RELATIONS["MR-2.1"], ["MR-2.1"]),
    ],
)
def test_relations_by_name_and_as_objects(relations, names):
    assert check(KNN(1), relations=relations, inputs=3).table["relation"].tolist() == names


def test_only_necessary_relations_are_checked_on_request():
    report = check(KNN(3), relations="necessary", inputs=3)
    assert report.table["necessary"].all()
    assert "MR-1.1" not in report.table["relation"].tolist()
    assert len(report.table) < len(check(KNN(1), relations="necessary", inputs=3).table)


def test_like_names_the_algorithm_of_a_learner():
    names = ["MR-1.1", "sample order"]
    nobody = check(Stranger(), relations=names)
    assert not nobody.known
    assert not nobody.table["necessary"].any()
    nearest, voters = (check(Stranger(k), relations=names, like=KNeighborsClassifier(k)) for k in (1, 3))
    assert nearest.known
    assert nearest.table["necessary"].tolist() == [True, True]
    assert voters.table["necessary"].tolist() == [False, True]
    assert check(KNN(3), relations=names).table["necessary"].tolist() == [False, True]


def test_an_unknown_learner_is_described_by_its_violations():
    report = check(Stranger(), relations=["MR-1.2", "MR-NBC", "MR-3.2 odds", "weights"], inputs=60)
    assert [item.relation for item in report.never_violated] == ["MR-1.2"]
    high = entry(report, "MR-1.2").interval[1]
    assert 0 < high < 0.1
    text = report.describe()
    assert "It is unknown which relations this learner must satisfy" in text
    assert f"MR-1.2 (at most {format_percent(high)})" in text
    assert "MR-NBC" in text.partition("share (95%)")[2]  # of the violated ones
    assert report.passed  # nothing that must hold is violated
    assert "the learner gives no probabilities" in entry(report, "MR-3.2 odds").messages
    assert "Relations by how often they were violated" in report.to_html()


@pytest.mark.slow
def test_odds_are_judged_by_scores_whether_or_not_they_must_double():
    hoped = check(KNN(3), relations="MR-3.2 odds")
    assert entry(hoped, "MR-3.2 odds").expected
    assert entry(hoped, "MR-3.2 odds").changed
    unknown = type(
        "Probable",
        (Stranger,),
        {
            "predict_proba": lambda self, X: self.inner.predict_proba(X),
            "classes_": property(lambda self: self.inner.classes_),
        },
    )
    assert entry(check(unknown(3), relations="MR-3.2 odds"), "MR-3.2 odds").changed
    labels = check(KNN(3), relations="MR-3.2 odds", strictness={"MR-3.2 odds": "class_exact"})
    assert not entry(labels, "MR-3.2 odds").changed


@pytest.mark.slow
def test_strictness_and_expected_failures_can_be_overridden():
    report = check(First(1), relations=["sample order", "MR-1.2"], expected_failures={"sample order": "we know"})
    known = entry(report, "sample order")
    assert (known.necessary, known.strictness, known.reason) == (False, "expected_failure", "we know")
    assert known.violated
    assert report.passed
    assert not report.surprises
    assert "we know" in report.to_html()
    as_strictness = check(First(1), relations="sample order", strictness={"sample order": "expected_failure"})
    assert as_strictness.passed
    by_counts = check(First(1), "random", "sample order", inputs=40, strictness={"sample order": "class_stat"})
    assert entry(by_counts, "sample order").changed > 10
    assert entry(by_counts, "sample order").violated == 0  # each label is the first as often as before
    scores = check(KNN(3), relations="MR-1.2", strictness={"MR-1.2": "score_exact"})
    assert entry(scores, "MR-1.2").strictness == "score_exact"
    assert scores.passed


@pytest.mark.slow
def test_scores_show_violations_that_labels_hide():
    class Vague(NaiveBayes):
        """Its labels are right, its probabilities hang on the place of the columns."""

        def predict_proba(self, X):
            shift = 0.1 * (np.asarray(self._means)[:, 0] > np.asarray(self._means)[:, -1])
            return super().predict_proba(X) + shift

    labels, scores = (
        check(Vague(), relations="MR-1.2", strictness={"MR-1.2": how}) for how in ("class_exact", "score_exact")
    )
    assert labels.passed
    assert not scores.passed
    smallest = scores.shrunk(0)
    assert smallest.before == smallest.after
    assert (smallest.scores_before != smallest.scores_after).any()
    assert "scores 0: " in smallest.describe()


def test_a_user_defined_relation_is_a_hypothesis():
    report = check(First(1), relations=[Backwards])
    own = entry(report, "backwards")
    assert own.violated
    assert (own.necessary, own.reason) == (False, "a relation of your own")
    assert report.passed
    assert check(KNN(1), relations=[Backwards]).violations.empty
    assert "if training rows in reverse order,\n  then the same labels." in str(Backwards())


def relation(name, **methods):
    return type("Own", (dm.LearnerRelation,), {"name": name, "statement": "a: b", **methods})()


@in_one_test(
    ("methods", "says"),
    [
        (
            {"follow_up": lambda self, data, labels, rng: 1 / 0},
            r"follow_up\(\) of the relation 'own' failed: ZeroDivision",
        ),
        ({"follow_up": lambda self, data, labels, rng: None}, "must return training data.* Got NoneType"),
        ({"follow_up": lambda self, data, labels, rng: data.x}, "must return training data.* Got ndarray"),
        ({"follow_up": lambda self, data, labels, rng: data.cases([0, 0])}, "gave 2 test cases .* for 1 test case"),
        (
            {"follow_up": lambda self, data, labels, rng: data, "expected": lambda self, *arguments: "a"},
            r"labels of shape \(\)",
        ),
        (
            {"follow_up": lambda self, data, labels, rng: data, "find_obstacle": lambda self, *arguments: {}["k"]},
            r"find_obstacle\(\) of the relation 'own'",
        ),
        (
            {"follow_up": lambda self, data, labels, rng: data, "source": lambda self, *arguments: {}["k"]},
            r"source\(\) of the relation 'own'",
        ),
    ],
)
def test_an_invalid_relation_is_named(methods, says):
    with pytest.raises(TestSystemError, match=says):
        check(KNN(1), "random", relations=[relation("own", **methods)], inputs=3)


# -- learners and data of all kinds ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fitted_model_is_also_queried():
    x, y = NUMBERS[["x", "z"]], NUMBERS["y"]
    model = KNeighborsClassifier(1).fit(x, y)
    report = check(model, x[:12])
    assert report.table["relation"].tolist() == list(PREDICTOR_RELATIONS)
    assert (report.table["about"] == "model").all()
    assert report.passed
    both = check(model, NUMBERS, ["row order", "batches", "MR-1.2"], "y", rows=20)
    assert both.table.set_index("relation")["about"].to_dict() == {
        "MR-1.2": "learner",
        "row order": "model",
        "batches": "model",
    }


def test_a_model_that_violates_relations_of_every_model():
    def centred(frame):
        return np.where(frame["x"] > frame["x"].mean(), "high", "low")

    report = check(centred, NUMBERS[["x"]], ["batches", "row order"], shrink=True)
    assert [fault.relation for fault in report.faults] == ["batches"]
    smallest = report.shrunk(0)
    assert smallest.describe().startswith("case     x=")
    assert report.violations["necessary"].all()
    page = report.to_html()
    assert "answer" in page
    assert "object at 0x" not in page
    (failure,) = ET.fromstring(report.to_junit()).iter("failure")
    assert failure.text.startswith("case     x=")
    assert json.loads(report.to_json())["examples"]["batches"]["source"].keys() == {"x"}


class Voter(ClassifierMixin, BaseEstimator):
    """One of our own learners, as scikit-learn wants them."""

    def fit(self, X, y):
        self.fitted_ = KNN(1).fit(X, y)
        self.classes_ = self.fitted_.classes_
        return self

    def predict(self, X):
        return self.fitted_.predict(X)


@pytest.mark.slow
def test_text_columns_work_with_a_pipeline():
    before = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["colour"]), remainder="passthrough")
    names = ["MR-0", "MR-1.1", "MR-2.1", "MR-4.1", "sparse"]
    report = check(make_pipeline(before, Voter()), table(), names, "y", rows=20)
    judged = report.table.set_index("relation")["holds"] + report.table.set_index("relation")["violated"]
    assert judged.to_dict() == {name: 20 * (name != "sparse") for name in names}
    assert entry(report, "sparse").messages == {
        "a sparse matrix holds numbers only, but some attributes are not numbers": 20
    }


@pytest.mark.parametrize("learner", [KNeighborsRegressor(2), LinearRegression()], ids=["neighbours", "linear"])
def test_regressors(learner):
    data = NUMBERS.assign(y=2 * NUMBERS["x"] + NUMBERS["z"])
    report = check(learner, data, ["MR-1.1", "MR-1.2", "sample order", "refit"], "y", rows=20)
    assert entry(report, "MR-1.1").messages == {"the relation is about labels, but the learner learns numbers": 20}
    for name in ("MR-1.2", "sample order", "refit"):
        assert (entry(report, name).holds, entry(report, name).violated) == (20, 0)


@pytest.mark.slow
def test_a_regressor_that_depends_on_the_order_of_rows():
    class Start:
        def fit(self, X, y):
            self.mean = np.mean(y[:3])
            return self

        def predict(self, X):
            return np.repeat(self.mean, len(X))

    report = check(Start(), NUMBERS.assign(y=NUMBERS["x"]), "sample order", "y", rows=20)
    assert entry(report, "sample order").violated == 20
    assert report.shrunk(0).size == (4, 1)


def test_missing_values_and_labels():
    data = NUMBERS.copy()
    data.loc[::4, "x"] = np.nan
    refused = check(KNeighborsClassifier(1), data, ["MR-1.2"], "y", rows=20)
    assert entry(refused, "MR-1.2").undefined == 20
    assert not refused.passed
    assert refused.headline == "nothing could be judged: 20 cases without an answer"
    (message,) = entry(refused, "MR-1.2").messages
    assert message.startswith("the learner failed on the source data: ValueError: Input X contains NaN")
    data = NUMBERS.assign(y=NUMBERS["y"].where(NUMBERS["x"] > 0))
    assert check(KNN(1), data, ["MR-1.2"], "y", rows=10).passed  # rows without a label are left out


def test_one_class_only():
    report = check(KNN(1), NUMBERS.assign(y="a"), ["MR-1.2", "MR-3.1"], "y", rows=20)
    assert not report.passed
    assert report.headline == "nothing could be judged"
    for item in report.entries:
        assert item.messages == {"all training rows have the same class": 20}


@pytest.mark.parametrize(
    ("labels", "silent", "says"),
    [
        (
            (True, False),
            {"MR-4.1", "MR-4.2"},
            "new labels can be derived from texts and numbers only, but these are bool",
        ),
        (((0, 1), (1, 0)), {"MR-1.1", "MR-4.1", "MR-4.2", "label renaming"}, "the labels are tuples"),
        ((3, 1, 2), set(), ""),
        (("b", "a*", "a"), set(), ""),
    ],
    ids=["flags", "tuples", "numbers", "texts"],
)
def test_labels_from_which_no_new_label_can_be_derived(labels, silent, says):
    names = ["MR-1.1", "MR-4.1", "MR-4.2", "label renaming"]
    report = check(KNN(1), table(labels=labels)[["x", "z", "y"]], names, "y", rows=20)
    assert {item.relation for item in report.entries if item.inapplicable == 20} == silent
    for name in silent:
        assert [says in text for text in entry(report, name).messages] == [True]
    assert not report.violations["necessary"].any()


@pytest.mark.slow
def test_learners_that_need_frames_get_frames():
    class ByName(KNN):
        def fit(self, X, y):
            return super().fit(X[sorted(X.columns)], y)

        def predict(self, X):
            return super().predict(X[sorted(X.columns)])

    report = check(ByName(1), relations=["MR-1.2", "refit"])
    assert report.passed
    assert not report.table["undefined"].any()


# -- learners that fail ----------------------------------------------------------------------------------------


class Moody(KNN):
    """Refuses some training sets."""

    def fit(self, X, y):
        if len(y) % 3 == 0:
            raise RuntimeError("no threes")
        return super().fit(X, y)


def test_errors_of_a_learner_are_counted():
    report = check(Moody(1), relations=["MR-1.2", "MR-3.1"], inputs=60)
    order, added = report.entries
    assert 10 < order.undefined == added.undefined
    assert not order.violated
    assert added.violated  # with one row more, others make it fail
    assert order.messages["the learner failed on the source data: RuntimeError: no threes"] == order.undefined
    assert (
        report.table["holds"] + report.table["undefined"] + report.table["inapplicable"] == [60, 60 - added.violated]
    ).all()
    cases = {
        case.get("name"): [part.tag for part in case] for case in ET.fromstring(report.to_junit()).iter("testcase")
    }
    assert cases == {"MR-1.2": [], "MR-3.1": ["failure"]}


@pytest.mark.parametrize("error", [RuntimeError("no weights"), SystemExit(3), MemoryError()], ids=repr)
def test_a_learner_that_always_fails_is_reported(error):
    class Broken(KNN):
        def fit(self, X, y):
            raise error

    report = check(Broken(1), relations=["MR-1.2", "refit"])
    assert not report.passed
    assert "cases without an answer" in report.headline
    (suite,) = ET.fromstring(report.to_junit())
    assert (suite.get("errors"), suite.get("failures")) == ("2", "0")


@pytest.mark.slow
def test_a_learner_that_hangs_or_crashes_is_reported(hang_clock):
    path = hang_clock.path

    class Dangerous(KNN):  # here, so that it travels as it is: a process would import this whole file
        def fit(self, X, y):
            if len(X) > 20:  # rows that are there twice
                path.touch()
                time.sleep(3600)
            if len(np.asarray(X)[0]) > 2:  # an attribute more
                os._exit(3)
            return super().fit(X, y)

    names = ["refit", "MR-1.2", "MR-3.2", "MR-2.1"]
    report = check(Dangerous(1), NUMBERS, names, "y", inputs=1, rows=20, timeout=1, batch=1, engine="processes:1")
    assert report.table["holds"].tolist() == [1, 1, 0, 0]
    assert report.table["undefined"].tolist() == [0, 0, 1, 0]
    (hung,) = entry(report, "MR-3.2").messages
    assert hung == "the learner failed on the follow-up data: it did not answer 1 row within 1 s"
    assert report.table["violated"].tolist() == [0, 0, 0, 1]
    assert "its process ended while it answered 1 row" in report.violations["after"][0]


def test_an_isolated_learner_never_runs_in_this_process():
    """It may hang, or die, the first time already."""
    timeouts = []

    class Elsewhere(Engine):
        def open_lanes(self, system, timeout):
            timeouts.append(timeout)
            return [Learner(KNN(1))]

    class Deadly(KNN):
        def fit(self, X, y):
            raise AssertionError("here")

    report = check(Deadly(1), relations="MR-1.2", engine=Elsewhere(), timeout=7)
    assert report.passed
    assert timeouts == [7]


def test_a_learner_that_changes_its_input_affects_no_other_fit():
    class Scribbles(KNN):
        def fit(self, X, y):
            super().fit(X.copy(), y.copy())
            X[:] = 0
            y[:] = y[0]
            return self

        def predict(self, X):
            answers = super().predict(X.copy())
            X[:] = 0
            return answers

    names = ["MR-0", "MR-1.1", "MR-3.2", "sample order"]
    pd.testing.assert_frame_equal(check(Scribbles(1), relations=names).table, check(KNN(1), relations=names).table)


class Chance(Stranger):
    """Answers by chance, each time anew; never the first label when there are many attributes."""

    chance = np.random.default_rng(0)  # no copy of the learner has one of its own

    def predict(self, X):
        classes = self.inner.classes_
        return self.chance.choice(classes[1:] if np.shape(X)[1] > 4 else classes, len(X))


@pytest.mark.slow
def test_an_unrepeatable_learner_is_judged_by_distribution():
    report = check(Chance(), "random", ["refit", "MR-1.2", "MR-2.1"], inputs=200, shrink=True)
    assert set(report.examples) <= {"refit"}  # where distributions differ no single case is to blame
    refit, order, constant = report.entries
    assert "judged by their distribution" in report.notes[0]
    assert refit.violated > 50
    assert refit.chance is None
    assert (order.strictness, order.violated) == ("class_stat", 0)
    assert order.changed > 50
    assert order.chance > 0.001 > constant.chance
    assert constant.violated == constant.changed > 50
    assert order.tied == 0  # cases are compared as many: none may be set aside since it differs
    assert "by distribution" in report.describe()
    seeded = check(GaussianNB(), relations=["refit"], inputs=5)
    assert not seeded.notes


class RareChance(Stranger):
    """Answers by chance once in fifty times."""

    chance = np.random.default_rng(0)

    def predict(self, X):
        answers, classes = super().predict(X), self.inner.classes_
        return np.where(self.chance.random(len(X)) < 0.02, self.chance.choice(classes, len(X)), answers)


def test_a_learner_without_parameters_is_asked_often_whether_it_repeats_itself():
    assert not hasattr(RareChance(), "get_params")
    report = check(RareChance(), "random", ["MR-1.2"], inputs=300)
    assert "gives different labels" in report.notes[0]


# -- what it costs ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report():
    reports = [check(KNN(3), relations=["MR-1.1"], seed=seed, shrink=True, inputs=40) for seed in (5, 5, 6)]
    one, two, other = ({**json.loads(report.to_json()), "seconds": 0} for report in reports)
    assert one == two
    assert one["violations"] != other["violations"]
    assert check(KNN(1), relations="MR-0", inputs=2, seed=None).seed > 0


@pytest.mark.parametrize("learner", [KNN(3), First(3)], ids=["right", "wrong"])
@pytest.mark.parametrize("most", [5, 400])
def test_a_budget_of_runs_is_never_exceeded(learner, most):
    report = check(learner, inputs=300, budget=f"{most} runs", shrink=True)
    assert report.runs <= most
    assert not report.complete
    assert "The budget was spent before everything was tried." in report.notes
    assert (report.table["holds"].sum() > 0) == (most == 400)


def test_a_budget_of_runs_is_never_exceeded_by_models_either():
    def centred(frame):
        return np.where(frame["x"] > frame["x"].mean(), "high", "low")

    free, bound = (
        check(centred, NUMBERS[["x"]], ["batches", "row order"], shrink=True, budget=budget)
        for budget in (None, "60 runs")
    )
    assert bound.runs <= 60 < free.runs
    assert free.complete
    assert not bound.complete
    assert [fault.relation for fault in bound.faults] == ["batches"]


@pytest.mark.slow
def test_results_before_the_end_of_a_time_budget_are_kept():
    report = check(KNN(3), inputs=10_000_000, budget="0.5s")
    assert not report.complete
    assert 0 < report.table["holds"].sum() < 10_000_000
    assert not report.passed  # as far as is known
    enough = check(KNN(3), relations="MR-0", budget="1h")
    assert enough.complete
    assert not enough.notes


def test_ctrl_c_reports_results_so_far():
    class Interrupted(First):
        fits = 0

        def fit(self, X, y):
            Interrupted.fits += 1
            if Interrupted.fits == 300:
                signal.raise_signal(signal.SIGINT)
            return super().fit(X, y)

    report = check(Interrupted(1), inputs=100_000, budget="20000 runs", shrink=True)
    assert not report.complete
    assert report.interrupted
    assert "The check was stopped before everything was tried." in report.notes
    assert Interrupted.fits < 600  # no violation is made small any more
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    calls = []

    def model(frame):
        calls.append(len(frame))
        if len(calls) > 1:  # at first it is only tried
            signal.raise_signal(signal.SIGINT)
        return [0] * len(frame)

    of_model = dm.check(model, NUMBERS[["x"]], inputs=5)
    assert of_model.notes == ("The check was stopped before everything was tried.",)


@pytest.mark.slow
def test_processes_stay_alive_between_queries():
    class Counting(Engine):
        begun = ended = 0

        def open_lanes(self, system, timeout):
            Counting.begun += 1
            return super().open_lanes(system, timeout)

        def close(self):
            Counting.ended += 1
            super().close()

    report = check(First(1), relations=["sample order", Backwards], engine=Counting(), shrink=True)
    assert len(report.examples) == 2
    assert (Counting.begun, Counting.ended) == (1, 1)
    report.shrunk(len(report.violations) - 1)  # later ones are on their own
    assert (Counting.begun, Counting.ended) == (2, 2)


# -- kept, and tried first -------------------------------------------------------------------------------------


class Mendable(First):
    broken = True

    def predict(self, X):
        return super().predict(X) if self.broken else KNN.predict(self, X)


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "runs.sqlite")


def known(url):
    with Store.open(url) as store:
        return failures.recall_all(store)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["random", "frame"] if LONG else ["frame"])
def test_violations_are_stored_replayed_and_forgotten_when_fixed(url, data, monkeypatch):
    arguments = () if data == "random" else (table(),)
    learner = Mendable(1) if data == "random" else Worded(1)
    options = {"relations": ["sample order", "MR-1.2"], "target": None if data == "random" else "y", "rows": 20}
    first = check(learner, *arguments, **options, inputs=30, store=url, shrink=True)
    (stored_failure,) = known(url)
    assert (stored_failure.relation, stored_failure.verdict) == ("check: sample order", "VIOLATED")
    assert stored_failure.case["y"] == first.examples["sample order"].source.y.tolist()
    assert "expected" in stored_failure.message

    again = check(learner, *arguments, **options, inputs=1, seed=2, store=url)
    (fault,) = again.faults
    assert (fault.relation, fault.replayed) == ("sample order", 1)
    assert "1 violation of earlier checks was replayed" in again.describe()
    assert again.examples["sample order"].size == first.examples["sample order"].size
    (failure,) = ET.fromstring(again.to_junit()).iter("failure")
    assert failure.text == again.examples["sample order"].describe()
    monkeypatch.setattr(Mendable, "broken", False)
    mended = check(learner, *arguments, **options, store=url, seed=3)
    assert mended.passed
    assert not known(url)
    assert not mended.examples
    with Store.open(url) as store:
        runs = store.runs()
    assert [(run.verb, run.state, run.summary["passed"]) for run in runs] == [
        ("check", "finished", False),
        ("check", "finished", False),
        ("check", "finished", True),
    ]
    assert {verdict["relation"]: verdict["verdict"] for verdict in runs[1].verdicts} == {
        "sample order": "VIOLATED",
        "MR-1.2": "HOLDS",
    }


class Worded(Mendable):
    """Takes texts as numbers."""

    def fit(self, X, y):
        return super().fit(X.replace({"red": 0.0, "blue": 1.0}), y)

    def predict(self, X):
        return super().predict(X.replace({"red": 0.0, "blue": 1.0}))


@pytest.mark.slow
def test_violations_are_stored_per_learner(url):
    check(First(1), relations="sample order", store=url, shrink=True)
    other = check(Mendable(1), relations="MR-1.2", inputs=3, store=url)
    assert other.passed
    assert len(known(url)) == 1
    with Store.open(url) as store:
        (stored_failure,) = failures.recall_all(store)
        failures.remember(store, stored_failure.system, stored_failure.relation, [{"case": {"x": "odd"}}])
    still = check(First(1), relations="sample order", inputs=1, store=url)
    assert entry(still, "sample order").replayed == 1  # what cannot be read is passed over


# -- for others ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_hostile_names_are_escaped():
    data = table(labels=(EVIL, "[red]b\x1b[31m", "c"))[["x", "z", "y"]]
    data = data.rename(columns={"x": EVIL, "z": "[red]z\x1b[31m"})
    evil = type(
        "Evil",
        (Backwards,),
        {"name": EVIL, "statement": f"{EVIL} \x1b[31m\x00: {EVIL}", "change": lambda self, *arguments: EVIL},
    )
    report = check(First(1), data, [evil, "sample order"], "y", rows=12, inputs=40, name=EVIL, shrink=True)
    assert {EVIL, "sample order"} == set(report.examples)
    page = report.to_html()
    body = page[page.index("<body") :]
    assert EVIL not in body
    assert "&lt;script&gt;alert(1)" in body
    for text in (page, report.describe(), report.to_junit()):
        assert "\x1b" not in text
        assert "\x00" not in text
    suite = ET.fromstring(report.to_junit())[0]
    assert suite.get("name") == EVIL
    assert [case.get("name") for case in suite.iter("testcase")] == [EVIL, "sample order"]
    document = json.loads(report.to_json())
    assert document["examples"][EVIL]["source"]["columns"] is not None
    assert document["subject"] == EVIL


def test_json_and_junit_agree_with_the_report(whole, tmp_path):
    document = json.loads(whole.to_json(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text()) == document
    assert [row["relation"] for row in document["relations"]] == whole.table["relation"].tolist()
    assert set(COLUMNS) <= set(document["relations"][0])
    assert document["passed"] is True
    assert len(document["violations"]) == len(whole.violations)
    assert document["examples"].keys() == whole.examples.keys()
    whole.to_junit(tmp_path / "junit.xml")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (str(len(whole.table)), "0", "0")
    skipped = [case.get("name") for case in suite if case.find("skipped") is not None]
    assert skipped == whole.table.query("holds + violated == 0")["relation"].tolist()
    described_names = {case.get("name") for case in suite if case.find("system-out") is not None}
    assert described_names == set(whole.table.query("violated > 0")["relation"])
    assert "KNN" in whole.to_html(tmp_path / "page.html")
    assert "&lt;table" in whole._repr_html_()
    assert repr(whole).startswith("CheckReport(KNN(k=3): all 21 necessary relations hold")


# -- wrong use -------------------------------------------------------------------------------------------------


@in_one_test(
    ("arguments", "options", "error", "says"),
    [
        ((KNN,), {}, ModelError, "KNN is a class, not a learner"),
        ((KNN(1), "random", "MR-9"), {}, ArgumentError, "no relation 'MR-9'. Did you mean"),
        ((KNN(1), "random", []), {}, ArgumentError, "at least one relation"),
        ((KNN(1), "random", [3]), {}, ArgumentError, "the name of one"),
        ((KNN(1), "random", relation("")), {}, ArgumentError, "The relation Own has no name"),
        ((KNN(1), "random", [relation("own"), relation("own")]), {}, ArgumentError, "Two relations are called 'own'"),
        ((KNN(1), "iris"), {}, ArgumentError, "must be a frame, the path of a CSV or Parquet file, or 'random'"),
        ((KNN(1), NUMBERS), {}, ArgumentError, "Give their column as target="),
        ((KNN(1), NUMBERS, "MR-0"), {}, ArgumentError, "target="),
        ((KNN(1), NUMBERS), {"target": "yy"}, DataError, "no target column 'yy'"),
        ((KNN(1), NUMBERS[:1]), {"target": "y"}, DataError, "The data have 1 row with a label"),
        ((KNN(1), NUMBERS[["y"]]), {"target": "y"}, DataError, "need columns"),
        ((KNN(1), NUMBERS.to_numpy()), {"target": "y"}, ArgumentError, "needs labelled data"),
        ((KNN(1), "random", "row order"), {}, ArgumentError, "Give a frame of inputs"),
        ((print,), {}, ArgumentError, "Random data are for learners"),
        ((print, NUMBERS, "MR-0"), {"target": "y"}, ModelError, "'MR-0' is about learners"),
        ((object(), NUMBERS), {}, ModelError, "cannot be tested"),
        ((LinearRegression(), "random"), {}, ArgumentError, "LinearRegression learns numbers"),
        ((KNN(1),), {"inputs": 0}, ArgumentError, "'inputs' parameter of check"),
        ((KNN(1),), {"rows": 0}, ArgumentError, "'rows' parameter of check"),
        ((KNN(1),), {"seed": -1}, ArgumentError, "'seed' parameter of check"),
        ((KNN(1),), {"seed": "x"}, ArgumentError, "'seed' parameter of check"),
        ((KNN(1),), {"ties": "x"}, ArgumentError, "'ties' parameter of check"),
        ((KNN(1),), {"timeout": 0}, ArgumentError, "'timeout' parameter of check"),
        ((KNN(1),), {"budget": "soon"}, ArgumentError, "not understood"),
        ((KNN(1),), {"engine": "x"}, ArgumentError, "engine"),
        ((KNN(1),), {"strictness": "class_exact"}, ArgumentError, "must be a dict"),
        ((KNN(1),), {"strictness": {"MR-0": "exact"}}, ArgumentError, "class_exact"),
        ((KNN(1),), {"strictness": {"MR-00": "class_exact"}}, ArgumentError, "'MR-00', which is not checked"),
        ((KNN(1),), {"expected_failures": ["MR-0"]}, ArgumentError, "must be a dict"),
        ((KNN(1),), {"expected_failures": {"MR-00": "x"}}, ArgumentError, "Did you mean 'MR-0'"),
        (("nowhere.skops",), {}, ModelError, "nowhere.skops"),
    ],
)
def test_wrong_use_raises_a_helpful_error(arguments, options, error, says):
    with pytest.raises(error, match=says):
        check(*arguments, **options)


def test_a_learner_that_cannot_be_copied():
    class Socket(KNN):
        def __deepcopy__(self, memory):
            raise TypeError("cannot pickle a socket")

    with pytest.raises(ModelError, match="every fit needs a copy: TypeError: cannot pickle a socket"):
        check(Socket(1))


# -- as the guide has it ---------------------------------------------------------------------------------------

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "promises-of-learners.md"


def test_the_guide_names_all_relations():
    text = GUIDE.read_text(encoding="utf-8").partition("## The relations")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE) == list(LEARNER_RELATIONS)


def test_the_guide_shows_the_printed_text(capsys):
    code, text = re.search(
        r"```python\n(import numpy as np\n.*?)```.*?```text\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL
    ).groups()
    exec(code, {"dm": dm, "KNeighborsClassifier": KNeighborsClassifier})
    assert capsys.readouterr().out == text


# -- what a review found ---------------------------------------------------------------------------------------


class WithoutClasses:
    """Naive Bayes whose scores nobody can read: it does not say of which classes they are."""

    def fit(self, x, y):
        self.inner = NaiveBayes().fit(x, y)
        return self

    def predict(self, x):
        return self.inner.predict(x)

    def predict_proba(self, x):
        return self.inner.predict_proba(x)


def test_a_relation_of_scores_needs_scores():
    report = dm.check(WithoutClasses(), "random", ["MR-3.2 odds"], inputs=20, like=GaussianNB())
    entry = report.entries[0]
    assert entry.judged == 0 < entry.undefined
    assert not report.passed
    assert "no scores" in report.describe()


@pytest.mark.parametrize("like", [KNeighborsClassifier, "KNeighborsClassifier", np])
def test_like_must_be_in_the_table(like):
    with pytest.raises(dm.errors.ArgumentError, match="like"):
        dm.check(KNN(3), "random", ["MR-0"], inputs=5, like=like)


@pytest.mark.slow
def test_an_example_with_dates_can_be_exported():
    class LastColumn:
        def fit(self, x, y):
            self.low = x.iloc[:, -1].astype("int64").mean() if x.dtypes.iloc[-1].kind == "M" else x.iloc[:, -1].mean()
            self.labels = sorted(set(y))
            return self

        def predict(self, x):
            last = x.iloc[:, -1]
            values = last.astype("int64") if last.dtype.kind == "M" else last
            return np.where(values > self.low, self.labels[0], self.labels[-1])

    frame = pd.DataFrame({"number": np.arange(40.0), "day": pd.date_range("2026-01-01", periods=40)[::-1]})
    frame["target"] = ["a", "b"] * 20
    report = dm.check(LastColumn(), frame, ["MR-1.2"], target="target", inputs=20)
    assert report.entries[0].violated
    assert report.document()["examples"]["MR-1.2"]

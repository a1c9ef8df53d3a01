"""Two systems that get the same inputs: which relations hold in one only, and where answers differ."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

RELATIONS = ["MR-0", "MR-1.2", "queried backwards"]


class WithoutLastColumn(KNeighborsClassifier):
    """Neighbours that ignore the last attribute, a planted bug."""

    like = KNeighborsClassifier(3)

    def fit(self, X, y):
        X = np.asarray(X)
        return super().fit(X[:, : max(1, X.shape[1] - 1)], y)

    def predict(self, X):
        return super().predict(np.asarray(X)[:, : self.n_features_in_])

    def predict_proba(self, X):
        return super().predict_proba(np.asarray(X)[:, : self.n_features_in_])


class Regularly(KNeighborsClassifier):
    """Other neighbours, which satisfy the same relations."""

    like = KNeighborsClassifier(3)


def check(model, against, **options):
    return dm.check(model, against=against, **{"data": "random", "relations": RELATIONS, "inputs": 20} | options)


@pytest.fixture(scope="module")
def planted():
    return check(WithoutLastColumn(3), KNeighborsClassifier(3))


def test_the_relation_that_only_one_violates_comes_first(planted):
    assert planted.headline.startswith(
        "MR-1.2 (the attributes in another order) violated here, but not by KNeighborsClassifier(n_neighbors=3); "
        "the answers differ in "
    )
    lost, gained = planted.against.list_changes(planted.entries)
    assert [pair.here.relation for pair in lost] == ["MR-1.2"]
    assert not gained
    first_lines = planted.describe().splitlines()
    assert first_lines[0].startswith("WithoutLastColumn(n_neighbors=3): MR-1.2")
    assert not planted.passed


def test_the_other_direction_is_no_fault():
    report = check(KNeighborsClassifier(3), WithoutLastColumn(3))
    assert report.headline.startswith("MR-1.2 (the attributes in another order) violated only by WithoutLastColumn")
    assert report.passed
    assert not report.faults


def test_the_smallest_case_with_different_answers_has_both_answers(planted):
    answers, scores = planted.against.comparisons
    assert answers.noun == "answers"
    assert scores.noun == "scores"
    assert 0 < answers.differing <= answers.examined == answers.candidates < answers.compared
    example = answers.example
    assert example.before != example.after
    assert example.shrunk
    models = [
        model.fit(example.source.x, example.source.y) for model in (WithoutLastColumn(3), KNeighborsClassifier(3))
    ]
    assert [model.predict(example.source.t)[0] for model in models] == [example.before, example.after]
    assert scores.example.before == scores.example.after  # only the scores differ
    text = planted.describe()
    assert "The smallest case with different answers" in text
    assert "The smallest case with different scores" in text


def test_every_rendering_has_the_comparison(planted):
    document = json.loads(planted.to_json())["against"]
    assert document["subject"] == "KNeighborsClassifier(n_neighbors=3)"
    assert document["violated_here_only"] == ["MR-1.2"]
    assert document["violated_there_only"] == []
    assert document["answers"]["share"] > 0
    assert document["answers"]["example"]["before"]
    assert "The smallest case with different answers" in planted.to_html()
    assert "MR-1.2" in planted.to_markdown()
    junit = planted.to_junit()
    assert "It holds for KNeighborsClassifier(n_neighbors=3)." in junit
    assert 'name="the same answers"' in junit


def test_equal_learners_differ_in_nothing():
    report = check(KNeighborsClassifier(3), KNeighborsClassifier(3))
    assert report.headline.startswith(
        "no relation holds in only one of this and the other KNeighborsClassifier(n_neighbors=3); the answers are the same in "
    )
    assert report.passed
    assert not report.against.one_sided
    assert all(not comparison.candidates for comparison in report.against.comparisons)


def test_answers_may_differ_although_all_relations_hold():
    report = check(KNeighborsClassifier(3), Regularly(5))
    assert report.headline.startswith("no relation holds in only one of this and Regularly")
    answers = report.against.comparisons[0]
    assert answers.share > 0.05
    assert answers.example is not None
    assert report.passed
    assert report.page().state == "warn"


def test_what_the_random_state_explains_is_set_aside():
    forests = (RandomForestClassifier(5, random_state=seed) for seed in (0, 1))
    report = check(*forests, relations="refit", inputs=12)
    answers = report.against.comparisons[0]
    assert answers.candidates > answers.confirmed
    assert answers.set_aside["the random state decides"] > 0
    assert "the random state decides" in report.describe()


def test_what_a_tie_explains_is_set_aside():
    class LastLabel(KNeighborsClassifier):
        """A tie of distances goes to the rows that come last."""

        def fit(self, X, y):
            return super().fit(np.asarray(X)[::-1], np.asarray(y)[::-1])

    data = pd.DataFrame({"a": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0] * 6, "y": list("abcabd" * 6)})
    report = dm.check(KNeighborsClassifier(1), data, "refit", "y", against=LastLabel(1), inputs=30)
    answers = report.against.comparisons[0]
    assert answers.candidates
    assert answers.set_aside["a tie decides"] > 0


def test_the_last_bits_of_numbers_are_set_aside():
    class Noisy(LinearRegression):
        def predict(self, X):
            return super().predict(X) * (1 + 1e-13)

    report = dm.check(LinearRegression(), against=Noisy(), relations="refit", inputs=20)
    answers = report.against.comparisons[0]
    assert not answers.differing
    assert answers.set_aside["they differ in the last bits only"] > 0


def test_crashes_of_one_of_both_are_counted():
    class Picky(KNeighborsClassifier):
        def fit(self, X, y):
            if len(y) > 25:
                raise ZeroDivisionError("too many rows")
            return super().fit(X, y)

    report = check(KNeighborsClassifier(1), Picky(1), relations="refit")
    (reason,) = report.against.one_sided
    assert reason.startswith("the other gives no answer: ")
    assert "too many rows" in reason
    assert "too many rows" in report.describe()


def test_answers_that_change_from_fit_to_fit_are_not_compared():
    class Guessing(KNeighborsClassifier):
        def predict(self, X):
            return np.random.default_rng().choice(self.classes_, len(X))

    report = check(KNeighborsClassifier(3), Guessing(3), relations="refit")
    assert "answers cannot be compared" in report.headline
    assert "gives different answers when it is fitted again" in report.describe()


@pytest.mark.parametrize("learner", [KMeans(2, n_init=1, random_state=0), StandardScaler()])
def test_clusterers_and_transformers_are_compared(learner):
    class Other(type(learner)):
        """Answers otherwise on large tables."""

        def fit(self, X, y=None, sample_weight=None):
            X = np.asarray(X)
            return super().fit(X + np.arange(len(X))[:, None] ** 2 if len(X) > 15 else X)

    other = Other(**learner.get_params())
    name = "fitted again" if isinstance(learner, KMeans) else "refit"
    report = dm.check(learner, against=other, relations=name, inputs=10)
    (answers,) = report.against.comparisons
    assert answers.differing
    assert answers.example is not None
    assert "The smallest case with different answers" in report.to_html()
    assert dm.check(learner, against=learner, relations=name, inputs=5).against.comparisons[0].differing == 0


def test_functions_are_compared():
    turn = dm.FunctionRelation(name="full turn", domain=(0, 6), follow_up=lambda x: x + 2 * np.pi)

    def wrong(x):
        return np.where(x > 5, np.sin(x) + 0.1, np.sin(x))

    report = dm.check(wrong, against=np.sin, relations=[turn], inputs=50)
    assert report.headline.startswith("full turn violated here, but not by sin; the answers differ in ")
    (answers,) = report.against.comparisons
    case = answers.example.groups.source.frame.iloc[0, 0]
    assert case > 5
    assert round(case, 1) == case
    assert "wrong:" in report.describe()
    assert "sin:" in report.describe()


def test_fitted_models_are_compared():
    data = load_iris(as_frame=True)
    models = [LogisticRegression(C=c, max_iter=500).fit(data.data, data.target) for c in (1, 0.01)]
    report = dm.check(models[0], data.data, against=models[1], inputs=50)
    assert "no relation holds in only one" in report.headline
    (answers,) = report.against.comparisons
    case = answers.example.groups
    assert [model.predict(case.source.frame)[0] for model in models] == [case.before.values[0], case.after.values[0]]


def test_necessary_relations_are_those_of_the_first():
    report = check(KNeighborsClassifier(3), Regularly(3), relations="necessary", inputs=3, shrink=False)
    assert {entry.relation for entry in report.entries} == {entry.relation for entry in report.against.entries}
    assert all(entry.necessary for entry in report.entries)


@pytest.mark.parametrize(
    ("against", "reason"),
    [
        (LinearRegression(), "is a classifier, and LinearRegression() is a regressor"),
        (KMeans(2), "is a classifier, and KMeans(n_clusters=2) is a clusterer"),
        ("python:/somewhere", "names no object"),
    ],
)
def test_another_kind_of_system_is_refused(against, reason):
    with pytest.raises(dm.errors.DatamorphicError) as error:
        dm.check(KNeighborsClassifier(3), against=against, inputs=5)
    assert reason in str(error.value)


def test_a_class_is_refused():
    with pytest.raises(dm.errors.ModelError, match="is a class"):
        dm.check(KNeighborsClassifier(3), against=KNeighborsClassifier, inputs=5)


def test_a_budget_that_is_spent_is_said():
    report = check(WithoutLastColumn(3), KNeighborsClassifier(3), budget="100 runs")
    assert report.headline.startswith("incomplete: ")
    assert not report.passed


def test_both_get_a_share_of_the_budget():
    report = check(WithoutLastColumn(3), KNeighborsClassifier(3), relations="auto", inputs=200, budget="2000 runs")
    assert not report.complete
    tried = [sum(entry.judged for entry in entries) for entries in (report.entries, report.against.entries)]
    assert min(tried) > 0.5 * max(tried)
    assert report.against.comparisons[0].confirmed


def test_trees_name_missing_values():
    class Confused(DecisionTreeClassifier):
        """Answers the first label if a value is missing."""

        like = DecisionTreeClassifier()

        def predict(self, X):
            X = np.asarray(X, float)
            return np.where(np.isnan(X).any(axis=1), self.classes_[0], super().predict(X))

    report = dm.check(
        Confused(random_state=0), against=DecisionTreeClassifier(random_state=0), relations="refit", inputs=60
    )
    assert report.headline.endswith("all of them with missing values")

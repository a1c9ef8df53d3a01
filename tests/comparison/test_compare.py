"""`dm.compare`: what changed, for whom, more than chance or not, for the worse or not."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, DatamorphicError, ModelError
from support.scorers import Scorer, make_scorer, squash

QUICK = {"progress": False}


def test_the_same_model_changes_nothing(people):
    result = dm.compare(make_scorer(), make_scorer(), people, "label", **QUICK)
    assert (result.passed, result.complete, result.findings, len(result.rows)) == (True, True, (), 0)
    assert result.headline == "All 1,500 rows get the same answer"


@pytest.mark.parametrize("target", ["label", None])
def test_training_again_is_advice(people, target):
    data = people if target else people.drop(columns="label")
    result = dm.compare(make_scorer(0), make_scorer(1), data, target, **QUICK)
    assert len(result.rows) > 20
    assert result.passed
    assert result.judgement.verdict == "reseed"
    assert "no more than training again" in result.findings[0].title
    assert result.groups == ()


@pytest.mark.parametrize("target", ["label", None])
def test_a_group_that_got_worse_is_a_concern_with_its_name(people, target):
    data = people if target else people.drop(columns="label")
    result = dm.compare(make_scorer(0), make_scorer(1, group=-3.0), data, target, **QUICK)
    assert not result.passed
    assert {"age", "region"} <= set(result.groups[0].columns)  # and income, since refused people are refused anyway
    assert result.groups[0].text.startswith("age ≤ 3")
    assert "region is north" in result.groups[0].text
    concern = result.findings[0]
    assert concern.level == "concern"
    assert "region is north" in concern.title
    assert ("worse" in concern.title) == (target is not None)
    assert concern.sections  # pictures
    truly_inside = ((people.age <= 35) & (people.region == "north")).to_numpy()
    assert truly_inside[result.groups[0].inside].mean() > 0.9


def test_a_group_that_got_better_is_advice(people):
    result = dm.compare(make_scorer(1, group=-3.0), make_scorer(0), people, "label", **QUICK)
    assert result.passed
    assert result.findings[0].level == "advice"
    assert "fit the labels better" in result.findings[0].title


def test_the_wrong_answers_of_all_rows_are_compared(people):
    blurred = Scorer(lambda frame: squash((frame.income - 62) / 8))
    result = dm.compare(make_scorer(), blurred, people, "label", **QUICK)
    assert not result.passed
    figures = {(figure.name, figure.label): figure for figure in result.figures}
    assert figures["wrong answers", ""].outcome == "worse"
    assert figures["recall", "yes"].outcome == "worse"
    assert {"precision", "recall", "wrong answers"} <= {name for name, _ in figures}
    assert "worse" in result.findings[0].title


def test_rows_hold_inputs_label_and_both_answers(people):
    result = dm.compare(make_scorer(0), make_scorer(1), people, "label", **QUICK)
    assert list(result.rows.columns) == ["age", "income", "region", "label", "old_answer", "new_answer"]
    assert (result.rows.old_answer != result.rows.new_answer).all()
    pd.testing.assert_frame_equal(result.rows.iloc[:, :4], people.loc[result.rows.index])


def test_reports_in_every_form(people, tmp_path):
    result = dm.compare(make_scorer(0), make_scorer(1, group=-3.0), people, "label", **QUICK)
    document = json.loads(result.to_json())
    assert document["groups"][0]["columns"][0] == "age"
    assert document["passed"] is False
    assert document["changed"] == len(result.rows)
    page = result.to_html(tmp_path / "page.html")
    assert page.index("Changed answers along age") < page.rindex("For the better or the worse")  # groups first
    assert 'failures="1"' in result.to_junit()
    assert "CONCERN" in result.describe()
    assert "region is north" in result.to_markdown()


def test_the_same_seed_gives_the_same_result(people):
    results = [dm.compare(make_scorer(0), make_scorer(2), people, "label", seed=3, **QUICK) for _ in range(2)]
    documents = [result.document() for result in results]
    for document in documents:
        document.pop("seconds")
        document.pop("seconds_per_row")
    assert documents[0] == documents[1]


# -- numbers -----------------------------------------------------------------------------------------------------------


class Predictor(Scorer):
    """A model of numbers."""

    _estimator_type = "regressor"
    classes_ = None
    predict_proba = None  # type: ignore[assignment]

    def predict(self, X):
        """Return a number per row."""
        return np.asarray(self.probability(X), dtype=float)


def read_price(frame):
    return 3 * frame.income + frame.age


def price(frame, seed=0, group=0.0):
    noise = np.random.default_rng(seed).normal(0, 1, len(frame))
    return read_price(frame) + noise + group * (frame.region == "north")


def test_numbers_that_shift_in_a_group(people):
    data = people.drop(columns="label").assign(price=read_price(people))
    result = dm.compare(price, lambda frame: price(frame, 1, group=40.0), data, "price", **QUICK)
    assert not result.passed
    assert result.groups[0].text == "region is north"
    assert "mean absolute error" in result.findings[0].title
    quiet = dm.compare(price, lambda frame: price(frame, 1), data, "price", **QUICK)
    assert quiet.passed
    assert quiet.groups == ()


# -- what cannot be compared, and odd data -------------------------------------------------------------------------------


def test_numbers_and_classes_are_refused(people):
    with pytest.raises(ArgumentError, match="The old model answers classes and the new one numbers"):
        dm.compare(make_scorer(), price, people, "label", **QUICK)


def test_a_missing_column_is_named(people):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(people[["age", "income"]], people["label"])
    with pytest.raises(ModelError, match="'income'"):
        dm.compare(model, model, people[["age", "label"]], "label", **QUICK)
    with pytest.raises(DataError, match="no rows"):
        dm.compare(model, model, people.head(0), "label", **QUICK)
    with pytest.raises(DataError, match="target column 'nope'"):
        dm.compare(model, model, people, "nope", **QUICK)


def test_models_with_different_columns(people):
    from sklearn.linear_model import LogisticRegression

    numbers = people[["age", "income"]]
    old = LogisticRegression().fit(numbers[["income"]], people["label"])
    new = LogisticRegression().fit(numbers, people["label"])
    result = dm.compare(old, new, people, "label", **QUICK)
    assert result.complete
    assert result.passed
    assert (result.rows.old_answer == old.predict(result.rows[["income"]])).all()
    assert (result.rows.new_answer == new.predict(result.rows[["age", "income"]])).all()


def test_a_class_that_is_gone_and_rows_without_an_answer(people):
    class Strict(Scorer):
        def predict(self, X):
            if (np.asarray(X["age"]) > 70).any():
                raise ValueError("too old")
            return super().predict(X)

    result = dm.compare(make_scorer(), Strict(make_scorer().probability), people, "label", **QUICK)
    faults = [finding for finding in result.findings if finding.level == "fault"]
    assert len(faults) == 1
    assert "get no answer from the new model" in faults[0].title
    assert not result.passed


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0]}),
        pd.DataFrame({"a": [np.nan] * 40, "b": ["x"] * 40}),
        pd.DataFrame({"a": [1.0, np.inf, -np.inf, np.nan] * 20}),
        pd.DataFrame({"a": [10**15, 1] * 30, "b": ["text", None] * 30}),
        pd.DataFrame({"a": range(60), "b": ["one", 2] * 30}),
    ],
    ids=["one row", "missing", "infinite", "huge", "mixed"],
)
def test_hostile_data_end_in_a_result_or_an_error_of_ours(frame):
    def old(rows):
        return np.where(np.arange(len(rows)) % 2, "yes", "no")

    def new(rows):
        return np.array(["yes"] * len(rows))

    with suppress(DatamorphicError):
        assert dm.compare(old, new, frame, budget="5s", **QUICK).describe()


def test_a_spent_budget_is_said_first(people):
    result = dm.compare(make_scorer(0), make_scorer(1), people, "label", budget="1 runs", **QUICK)
    assert not result.complete
    assert result.headline.startswith("incomplete")


# -- chance, measured --------------------------------------------------------------------------------------------------


def test_chance_is_measured_by_training_again(people):
    from sklearn.ensemble import RandomForestClassifier

    inputs = people[["age", "income"]]
    old, new = (
        RandomForestClassifier(15, random_state=seed).fit(inputs[:700], people["label"][:700]) for seed in (0, 1)
    )
    data, training = people[700:][["age", "income", "label"]], people[:700][["age", "income", "label"]]
    result = dm.compare(old, new, data, "label", reference=training, **QUICK)
    assert result.chance.seeds >= 2
    assert result.chance.max_share > 0
    assert "with other seeds" in result.basis
    assert result.passed


def test_without_training_data_the_rule_is_said(people):
    result = dm.compare(make_scorer(0), make_scorer(1), people, "label", **QUICK)
    assert result.chance is None
    assert "by a rule" in result.basis


# -- directions and promises ---------------------------------------------------------------------------------------------


def test_a_new_constraint_is_said(people):
    wavy = Scorer(lambda frame: squash((frame.income - 50) / 20 + 2 * np.sin(frame.income / 4)))
    straight = Scorer(lambda frame: squash((frame.income - 50) / 20))
    result = dm.compare(wavy, straight, people, "label", **QUICK)
    titles = [finding.title for finding in result.findings]
    assert any(title.startswith("More income never lowers the probability of yes now") for title in titles)
    reverse = dm.compare(straight, wavy, people, "label", **QUICK)
    assert any("before, it never did" in finding.title for finding in reverse.findings)


def test_a_promise_that_is_broken_now(people, tmp_path):
    promises = tmp_path / "bank.promises"
    promises.write_text("outcome: yes\nincome: raises yes\n")
    wavy = Scorer(lambda frame: squash((frame.income - 50) / 20 + 2 * np.sin(frame.income / 4)))
    straight = Scorer(lambda frame: squash((frame.income - 50) / 20))
    result = dm.compare(straight, wavy, people, "label", promises=promises, **QUICK)
    fault = result.findings[0]
    assert (fault.level, fault.about) == ("fault", "income")
    assert "line 2" in fault.detail
    reverse = dm.compare(wavy, straight, people, "label", promises=promises, **QUICK)
    assert not any(finding.level == "fault" for finding in reverse.findings)

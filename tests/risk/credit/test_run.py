"""`dm.credit` on a ladder and on models of users."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, PromiseError, StoreError, SystemFailed
from datamorphic.relations.algebra.change import Change, ChangeRelation
from datamorphic.relations.catalogue.credit import credit_relations
from datamorphic.risk.credit.ladder import LogisticFamily, TreeFamily
from datamorphic.risk.credit.options import CreditOptions
from support.cases import in_one_test

ONE = {"ladder": [LogisticFamily()], "repetitions": 1}


def honest(frame):
    """The known law itself."""
    return dm.data.default_probability(frame)


def wrong(frame):
    """Takes a better score for a higher risk, for scores around 700."""
    score = frame.credit_score.to_numpy()
    return dm.data.default_probability(frame) + np.where((score > 700) & (score < 800), 0.05, 0.0)


# -- a ladder ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_ladder_names_the_model_to_use_and_its_cost(report):
    assert [model.name for model in report.models] == [
        "logistic regression",
        *(f"gradient boosting, {size} trees" for size in (5, 30, 60)),
        *(f"gradient boosting with constraints, {size} trees" for size in (5, 30, 60)),
    ]
    assert report.selected in report.choice.candidates
    assert report.choice.auc_cost.low <= report.choice.auc_cost.value <= report.choice.auc_cost.high
    assert report[report.selected].strong_share.value == 0
    assert report.passed


def test_constraints_remove_all_violations_at_a_stated_price(report):
    assert [mitigation.size for mitigation in report.mitigations] == ["5 trees", "30 trees", "60 trees"]
    assert any(mitigation.strong_before.value > 0 for mitigation in report.mitigations)
    for mitigation in report.mitigations:
        assert mitigation.strong_after.value == 0
        price = report[mitigation.unconstrained].auc.value - report[mitigation.constrained].auc.value
        assert mitigation.auc_price.value == pytest.approx(price)
        assert mitigation.auc_price.low < price < mitigation.auc_price.high


def test_tables_have_a_row_per_model_and_relation(report):
    assert len(report.table) == 7
    assert (report.table.auc_low < report.table.auc).all()
    assert report.table.gini.to_numpy() == pytest.approx(2 * report.table.auc.to_numpy() - 1)
    assert len(report.violations) == 7 * 5
    row = report.violations.iloc[0]
    assert row.cases + row.inapplicable == 2 * report.settings["test_loans"]
    assert row.strong_low <= row.strong <= row.strong_high


def test_the_same_seed_gives_the_same_report_and_another_seed_another(loans, report):
    again = dm.credit(data=loans, **ONE)
    assert again["logistic regression"].auc.value == pytest.approx(
        report["logistic regression"].repetitions[0].auc.value, abs=1e-9
    )
    other = dm.credit(data=loans, seed=1, **ONE)
    assert other["logistic regression"].auc.value != again["logistic regression"].auc.value


def test_later_loans_are_tested_instead_of_held_out_ones(loans):
    later = dm.data.make_loan_book(700, vintage=2018, seed=2)
    report = dm.credit(data=loans, later=later, **ONE)
    assert report.settings["test_loans"] == 700
    assert "later" in report.describe()


def test_columns_may_have_other_names_and_some_may_be_missing(loans):
    renamed = loans.rename(columns={"credit_score": "fico"}).drop(columns="dti")
    report = dm.credit(data=renamed, columns={"credit_score": "fico"}, **ONE)
    assert [relation.name for relation in report.relations] == ["credit.HMR1", "credit.HMR3", "credit.HMR4"]
    assert "credit.HMR2" in report.notes[0]
    assert report.relations[0].about == ("fico",)


def test_outcomes_may_be_numbers_or_other_words(loans):
    flags = (loans["default"] == "default").astype(int)
    reports = [
        dm.credit(data=loans.assign(default=flags), **ONE),
        dm.credit(data=loans.assign(default=flags.map({0: "ok", 1: "lost"})), outcome="lost", **ONE),
    ]
    assert reports[0].default_rate == reports[1].default_rate == flags.mean()


def test_a_budget_ends_the_run_and_keeps_what_was_measured(loans):
    ladder = [LogisticFamily(), TreeFamily(depths=(2, 3))]
    report = dm.credit(data=loans, ladder=ladder, repetitions=50, budget=5_000)
    assert report.out_of_budget
    assert 1 <= len(report.models) <= 3
    assert report.answers < 10_000
    assert "budget" in report.notes[-1]


def test_ctrl_c_keeps_what_was_measured(loans, monkeypatch):
    import signal

    answer = TreeFamily.answer

    def interrupted(self, *arguments):
        for item in answer(self, *arguments):
            signal.raise_signal(signal.SIGINT)
            yield item

    monkeypatch.setattr(TreeFamily, "answer", interrupted)
    report = dm.credit(data=loans, ladder=[LogisticFamily(), TreeFamily(depths=(2, 3))], repetitions=3)
    assert report.interrupted
    assert [model.name for model in report.models] == ["logistic regression", "decision tree, depth 2"]
    assert "interrupted" in report.notes[-1]


def test_a_training_that_fails_is_reported_and_the_others_are_measured(loans, monkeypatch):
    answer = TreeFamily.answer

    def fail_at_depth_3(self, *arguments):
        if self.depths == (3,):
            raise RuntimeError("out of luck")
        return answer(self, *arguments)

    monkeypatch.setattr(TreeFamily, "answer", fail_at_depth_3)
    report = dm.credit(data=loans, ladder=TreeFamily(depths=(2, 3)), repetitions=1)
    assert [model.name for model in report.models] == ["decision tree, depth 2"]
    assert report.unfinished == ("decision tree, depth 3",)
    assert not report.complete
    assert not report.out_of_budget
    assert report.describe().startswith("Incomplete: decision tree, depth 3 could not be measured in every repetition.")
    assert "out of luck" in report.notes[-1]
    with pytest.raises(SystemFailed, match=r"No model could be trained. .*out of luck"):
        dm.credit(data=loans, ladder=TreeFamily(depths=(3,)), repetitions=1)


@pytest.mark.slow
def test_trainings_on_an_engine_give_the_same_report(loans):
    settings = {"data": loans, "ladder": [LogisticFamily(), TreeFamily(depths=(2, 3))], "repetitions": 2}
    reports = [dm.credit(**settings), dm.credit(**settings, engine="processes:2", timeout=60)]
    documents = [report.document() | {"seconds": None} for report in reports]
    assert documents[0] == documents[1]


def test_a_stored_report_is_resumed_with_the_same_loans_only(loans, tmp_path):
    store = tmp_path / "runs.sqlite"
    report = dm.credit(data=loans, store=store, **ONE)
    with dm.Store.open(store) as runs:
        assert runs.run(1).summary["headline"] == report.headline
        assert runs.run(1).system == "loans"
    with pytest.raises(StoreError, match="Run 1 is finished"):
        dm.credit(data=loans, store=store, resume=1, **ONE)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE runs SET state = 'interrupted'")
    with pytest.raises(StoreError, match="The data have changed"):
        dm.credit(data=loans.assign(ltv=loans.ltv + 1), store=store, resume=1, **ONE)
    with pytest.raises(StoreError, match=r"other arguments: strong=0\.01"):
        dm.credit(data=loans, store=store, resume=1, strong=0.02, **ONE)


# -- models of users ---------------------------------------------------------------------------------------------------


def test_functions_are_judged_and_rejected(loans):
    report = dm.credit({"law": honest, "wrong": wrong}, loans, "default")
    assert report["law"].strong_share.value == report["law"].weak_share.value == 0
    assert list(report.choice.rejections) == ["wrong"]
    assert report.selected == "law"
    assert not report.passed
    worst = report["wrong"].worst_cases["credit.HMR1"][0]
    before, after = worst.changes["credit_score"]
    assert after == round(before * 1.1)
    assert worst.wrongness == pytest.approx(
        wrong(pd.DataFrame([{**worst.applicant, "credit_score": after}]))[0] - wrong(pd.DataFrame([worst.applicant]))[0]
    )


def test_estimators_are_judged_by_the_probability_of_default(loans):
    numbers = ["credit_score", "ltv", "dti"]
    model = make_pipeline(make_column_transformer((StandardScaler(), numbers)), LogisticRegression())
    model.fit(loans.drop(columns=["default", "state"]), loans["default"])
    report = dm.credit(model, loans)
    (result,) = report.models
    assert result.name == "LogisticRegression"
    expected = model.predict_proba(loans.drop(columns="default"))[:, list(model.classes_).index("default")]
    assert result.repetitions[0].scores == pytest.approx(expected)
    assert report.passed


def test_models_can_be_judged_without_known_outcomes(loans):
    report = dm.credit({"law": honest, "wrong": wrong}, loans.drop(columns="default"))
    assert report.selected == "law"
    assert report["law"].auc is None
    assert report.choice.best is None
    assert report.choice.auc_cost is None
    text = report.describe()
    assert "Rejected: wrong" in text
    assert json.loads(report.to_json())["models"][0]["auc"] is None
    assert "law" in report.to_html()


def test_rows_without_an_answer_are_counted_apart(loans):
    def partial(frame):
        return np.where(frame.state == "CA", np.nan, honest(frame))

    report = dm.credit({"partial": partial}, loans)
    share = report["partial"].shares["credit.HMR2"]
    assert share.undefined == (loans.state == "CA").sum() - ((loans.state == "CA") & (loans.dti == 999)).sum()
    assert report["partial"].auc is not None


def test_own_relations(loans):
    relation = ChangeRelation("cheaper", Change(column="interest_rate", amount=-0.5), outcome="default")
    report = dm.credit({"law": honest}, loans, relations=[relation, "credit.HMR2"])
    assert list(report["law"].shares) == ["cheaper", "credit.HMR2"]
    assert report.directions == {"interest_rate": 1, "dti": 1}
    by_name = dm.credit({"law": honest}, loans, relations=credit_relations(additive=True))
    assert next(iter(by_name["law"].shares)) == "credit.HMR1+"


# -- promises ----------------------------------------------------------------------------------------------------------


def test_a_file_of_promises_builds_the_relations(loans, tmp_path):
    file = tmp_path / "bank.promises"
    file.write_text(
        "outcome: default\n"
        "credit_score: lowers default, 300 to 850, 9999 means unavailable\n"
        "ltv: raises default, 999 means unavailable\n"
        "borrowers: lowers default, 99 means unavailable\n"
        "state: protected\n"
        "better: credit_score x 1.10\n"
        "safer: better, ltv x 0.90\n"
    )
    report = dm.credit({"law": honest, "wrong": wrong}, loans, promises=file)
    assert [(relation.name, [str(change) for change in relation.changes]) for relation in report.relations] == [
        ("better", ["credit_score x 1.1"]),
        ("safer", ["credit_score x 1.1", "ltv x 0.9"]),
        ("ltv", ["ltv x 0.9"]),
        ("borrowers", ["borrowers + 1"]),
    ]
    assert report.directions == {"credit_score": -1, "ltv": 1, "borrowers": -1}
    assert report["law"].strong_share.value == 0
    assert report["wrong"].name in report.choice.rejections
    assert "state" in report.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("outcome: default\nfico: lowers default\n", "promises:2: 'fico' is not an input"),
        ("outcome: lost\nltv: raises lost\n", "promises:1: the model has no class 'lost'"),
    ],
)
def test_wrong_promises_name_their_line(loans, tmp_path, text, message):
    file = tmp_path / "bank.promises"
    file.write_text(text)
    with pytest.raises(PromiseError, match=message):
        dm.credit({"law": honest}, loans, promises=file)


def test_promises_without_a_direction_are_refused(loans, tmp_path):
    file = tmp_path / "bank.promises"
    file.write_text("state: protected\n")
    with pytest.raises(ArgumentError, match="promises no direction"):
        dm.credit({"law": honest}, loans, promises=file)


# -- wrong use ---------------------------------------------------------------------------------------------------------


@in_one_test(
    ("change", "message"),
    [
        ({"target": "lost"}, "The data have no column 'lost'"),
        ({"outcome": "lost"}, "No loan has the outcome 'lost'"),
        ({"columns": {"credit_score": "fico"}}, "The data have no column 'fico'"),
        ({"columns": {"score": "fico"}}, "which no relation changes"),
        ({"columns": ["fico"]}, "must be a dict"),
        ({"relations": "credit.HMR9"}, "There is no relation 'credit.HMR9'"),
        ({"relations": []}, "relations about changes"),
        ({"relations": [3]}, "relations about changes"),
        ({"relations": "credit.HMR1", "promises": "x"}, "Give only one"),
        ({"promises": "no such file"}, "cannot be read"),
        ({"repetitions": 0}, "an int in the range"),
        ({"threshold": 1.5}, "a share from 0 to below 1"),
        ({"strong": 0}, "above 0 and below 1"),
        ({"seed": -1}, "an int in the range"),
        ({"budget": "soon"}, "not understood"),
        ({"ladder": "tall"}, "no family of models 'tall'"),
    ],
)
def test_wrong_arguments(loans, change, message):
    with pytest.raises((ArgumentError, DataError), match=message):
        dm.credit(**{"data": loans, **ONE, **change})


def test_wrong_data(loans):
    with pytest.raises(ArgumentError, match="Name that column"):
        dm.credit(data=loans.drop(columns="default"), **ONE)
    with pytest.raises(DataError, match="row 4"):
        dm.credit(data=loans.assign(default=loans["default"].where(loans.index != 4)), **ONE)
    with pytest.raises(DataError, match="1 default among"):
        dm.credit(data=loans.assign(default=np.where(loans.index == 0, "default", "paid")), **ONE)
    with pytest.raises(ArgumentError, match="unclear which outcome"):
        dm.credit(data=loans.assign(default=loans["default"].map({"default": "x", "paid": "y"})), **ONE)
    with pytest.raises(ArgumentError, match="none of the columns"):
        dm.credit(data=loans.drop(columns=["credit_score", "dti", "ltv"]), **ONE)


def test_wrong_models(loans):
    with pytest.raises(ArgumentError, match="Give them: data="):
        dm.credit(honest)
    with pytest.raises(ArgumentError, match="at least one model"):
        dm.credit({}, loans)
    with pytest.raises(ArgumentError, match="later="):
        dm.credit(honest, loans, later=loans)
    model = LogisticRegression().fit(loans[["ltv"]], np.where(loans.ltv > 80, "high", "low"))
    with pytest.raises(ArgumentError, match="has no class 'default'"):
        dm.credit(model, loans)


def test_options_know_their_families():
    assert [family.name for family in CreditOptions(ladder="decision_tree").families] == ["decision tree"]

"""Rows that an audit makes keep the relations between columns that the data keep."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.audit.checks.answers import make_probes
from datamorphic.audit.examples import build_example_table, locate_examples
from datamorphic.audit.outcome import Outcome
from datamorphic.audit.page import format_example
from datamorphic.audit.ranking import rank_findings
from datamorphic.core.result import Example, Finding

RELATION = "limit = balance + available"


@pytest.fixture(scope="module")
def accounts():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 400), "balance": rng.integers(0, 2500, 400)})
    frame["available"] = np.round(rng.gamma(2, 3000, 400), 1)
    frame["limit"] = frame["balance"] + frame["available"]
    frame["used"] = np.round(frame["limit"] * rng.uniform(0, 1, 400), 1)
    risk = frame["balance"] / 500 - frame["available"] / 4000 + frame["used"] / 9000
    frame["target"] = np.where(risk + rng.normal(0, 0.3, 400) > 1, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def model(accounts):
    steps = make_pipeline(StandardScaler(), LogisticRegression())
    return steps.fit(accounts.drop(columns="target"), accounts["target"])


def keeps(frame, prefix=""):
    sums = frame[f"{prefix}balance"] + frame[f"{prefix}available"]
    return np.isclose(frame[f"{prefix}limit"], sums, rtol=1e-6) & (frame[f"{prefix}used"] <= frame[f"{prefix}limit"])


@pytest.mark.slow
def test_an_audit_lists_the_relations_and_its_walks_keep_them(accounts, model):
    result = dm.test(model, accounts, target="target", budget="20s", only=["borders", "answers"])
    assert result.column_relations == (RELATION, "used ≤ limit")
    assert RELATION in result.describe()
    assert RELATION in result.to_html()
    assert len(result.front) > 20
    for prefix in ("a.", "b."):
        assert keeps(result.front.pairs, prefix).all()
    assert type(result).from_json(result.to_json()).column_relations == result.column_relations


@pytest.mark.slow
def test_a_credit_limit_is_the_balance_plus_what_is_available(real_data):
    frame = real_data("bank_churners").select_dtypes(["number"]).iloc[:1500]
    frame["target"] = real_data("bank_churners")["target"].iloc[:1500]
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(frame.drop(columns="target"), frame["target"])
    result = dm.test(model, frame, target="target", budget="20s", only=["borders"])
    assert result.column_relations == ("Credit_Limit = Total_Revolving_Bal + Avg_Open_To_Buy",)
    pairs = result.front.pairs
    assert len(pairs) > 20
    for end in "ab":
        parts = pairs[f"{end}.Total_Revolving_Bal"] + pairs[f"{end}.Avg_Open_To_Buy"]
        np.testing.assert_allclose(pairs[f"{end}.Credit_Limit"], parts, rtol=1e-9)


@pytest.mark.slow
def test_there_may_be_no_time_for_relations(accounts, model, monkeypatch):
    def look_forever(points):
        while True:
            sum(range(1000))

    monkeypatch.setattr("datamorphic.audit.run.find_point_constraints", look_forever)
    result = dm.test(model, accounts, target="target", budget="3s", only=["repeats"])
    assert result.column_relations == ()
    assert "no time to look for relations" in result.describe()


@pytest.mark.slow
def test_small_changes_of_real_rows_keep_the_relations(accounts, model):
    from datamorphic.exploration.small_changes import find_small_changes

    front = dm.test(model, accounts, target="target", budget="20s", only=["borders"]).front
    changes = find_small_changes(front, np.arange(len(front)))
    assert len(changes) > 3
    assert keeps(changes.after.frame).all()
    changed = (changes.before.codes != changes.after.codes).sum(axis=1)
    assert changed.max() <= 4
    assert (changes.after.frame["balance"] % 1 == 0).all()


@pytest.mark.slow
def test_a_declared_space_is_taken_as_it_is(accounts, model):
    inputs = accounts.drop(columns="target")
    result = dm.test(model, inputs, space=dm.Space.from_frame(inputs), budget="10s", only=["borders"])
    assert result.column_relations == ()
    assert not keeps(result.front.pairs, "a.").all()


def test_generated_inputs_keep_the_relations(accounts, model, monkeypatch):
    probes = []

    def spy(context, limit):
        probes.append(make_probes(context, limit))
        return probes[0]

    monkeypatch.setattr("datamorphic.audit.checks.answers.make_probes", spy)
    dm.test(model, accounts, target="target", budget="10s", only=["answers"])
    assert len(probes[0]) > 300
    assert keeps(probes[0].frame).all()


def test_examples_of_unreached_leaves_keep_the_relations(accounts):
    inputs = accounts.drop(columns="target")
    tree = DecisionTreeClassifier(random_state=0).fit(inputs, accounts["target"])
    few = accounts.iloc[:40]
    result = dm.test(tree, few, target="target", budget="20s", only=["adequacy"])
    [finding] = result.findings
    [example] = finding.examples
    assert example.breaks == ()
    assert keeps(pd.DataFrame([example.case])).all()


def test_shrunk_examples_keep_the_relations_that_do_not_concern_the_changed_feature(accounts, model):
    result = dm.test(model, accounts, target="target", protected=["age"], budget="20s", only=["protected"])
    examples = [example for finding in result.findings for example in finding.examples if "age" in example.changed]
    assert examples
    assert keeps(pd.DataFrame([example.case for example in examples])).all()
    assert not any(example.breaks for example in examples)


def test_dates_are_compared_with_each_other():
    rng = np.random.default_rng(1)
    ordered = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 400, 300), "D")
    paid = ordered + pd.to_timedelta(rng.integers(0, 200, 300), "D")
    frame = pd.DataFrame({"ordered": ordered, "paid": paid, "amount": rng.normal(50, 9, 300)})

    def is_late(rows):
        assert (rows["ordered"] <= rows["paid"]).all()
        return (rows["paid"] - rows["ordered"]).dt.days > 90

    result = dm.test(is_late, frame, budget="20s", only=["borders"])
    assert result.column_relations == ("ordered ≤ paid",)
    assert len(result.front) > 20


# -- examples and ranks ---------------------------------------------------------------------------------------------------


def build_finding(examples, **options):
    texts = {"title": "", "detail": "", "remedy": "", "level": "concern", "confidence": 1.0}
    return Finding(**{"check": "response", "about": "limit", **texts, "examples": tuple(examples), **options})


def test_examples_that_break_a_relation_say_so_and_come_last(accounts):
    space = dm.Space.from_frame(accounts.drop(columns="target"))
    points = space.points(accounts)
    relations = dm.find_constraints(points)
    case = points.frame.iloc[3].to_dict() | {"age": int(accounts["age"][3]), "balance": int(accounts["balance"][3])}
    broken = Example(text="limit rises", case=case, changed={"limit": case["limit"] + 9000.0}, answer=1, new_answer=2)
    unbroken = Example(text="age rises", case=case, changed={"age": 60}, answer=1, new_answer=2)
    outcome = Outcome(check="response", asks="", state="found", findings=(build_finding([broken, unbroken]),))
    [located] = locate_examples([outcome], points, relations)
    first, second = located.findings[0].examples
    assert (first.text, first.breaks, first.row) == ("age rises", (), 3)
    assert second.breaks == (RELATION,)
    assert f"breaks a relation that all given rows keep: {RELATION}." in format_example(second)
    assert RELATION in build_example_table(second).note
    assert "relation" not in format_example(first)


def test_findings_whose_examples_all_break_a_relation_rank_lower():
    broken, unbroken = Example(text="", breaks=(RELATION,)), Example(text="")
    implausible = build_finding([broken], inputs="changed", about="a")
    plausible = build_finding([unbroken, broken], inputs="changed", about="b")
    from_data = build_finding([broken], inputs="given", about="c")
    assert [finding.about for finding in rank_findings([implausible, plausible, from_data])] == ["c", "b", "a"]

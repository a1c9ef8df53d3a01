"""Composition with >> and then, several follow-ups, promises, and bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.relations.patterns.inputs import Transform
from datamorphic.relations.patterns.relation import validate_frames
from support.cases import in_one_test

PATTERNS = dm.patterns
STOCK = {"red shoes": "Acme", "blue shoes": "Bolt", "red hat": "Acme", "green hat": "Bolt"}


def search(query, brand):
    return [item for item, maker in STOCK.items() if query in item and brand in ("any", maker)]


def search_as_set(query, brand):
    return set(search(query, brand))


def search_as_dict(query, brand):
    items = search(query, brand)
    return {"total": len(items), "items": items}


@pytest.fixture(scope="module")
def queries():
    return pd.DataFrame({"query": ["shoes", "hat", "red", "e"], "brand": "any"})


PARTS = PATTERNS["Complete Partitions"].input(column="brand", values=("Acme", "Bolt"))


@pytest.mark.parametrize(
    ("system", "part"), [(search, None), (search_as_set, None), (search_as_dict, "items")], ids=["list", "set", "dict"]
)
def test_all_follow_ups_of_a_case_are_judged_together(system, part, queries):
    parts_and_whole = (PARTS >> PATTERNS["Partition Difference"].output(part=part)).named("search.MR1")
    report = dm.check(system, queries, relations=[parts_and_whole])
    assert report.passed
    assert report.table.holds.tolist() == [4]
    only_one_part = PATTERNS["Conjunctive Conditions"].input(column="brand", values=("Acme",))
    report = dm.check(system, queries, relations=[only_one_part >> PATTERNS["Complete"].output(part=part)])
    assert report.table.violated.tolist() == [3]  # all but the query whose items are all of one brand


def test_a_violation_shows_every_follow_up(queries):
    relation = (PARTS >> PATTERNS["Disjoint"].output()).named("search.MR2")
    report = dm.check(search, queries, relations=[relation])
    example = report.shrunk(0)
    assert example.describe().count("changed") == 2
    assert [item["follow_up"]["brand"] for item in example.to_json()["further"]] == ["Bolt"]
    assert "brand='Bolt'" in report.describe()
    assert "brand=&#39;Bolt&#39;" in report.to_html() or "Bolt" in report.to_html()


def test_the_report_keeps_the_three_kinds_of_promise_apart(queries):
    noise = PATTERNS["Noise"].input(columns=("query",)) >> PATTERNS["Equality"].output()
    restriction = PATTERNS["Conjunctive Conditions"].input(column="brand", values=("Acme",))
    relations = [
        (restriction >> PATTERNS["Subset"].output()).named("search.MR1"),
        (restriction >> PATTERNS["Equality"].output()).named("search.HMR1", promise="HMR"),
        noise.named("search.MRR1", promise="MRR"),
    ]
    report = dm.check(search, queries, relations=relations)
    assert report.table.purpose.tolist() == ["verification", "validation", "robustness"]
    expected = "the necessary relation holds, 1 of 1 relation for robustness violated, 1 of 1 hypothesis violated"
    assert report.headline == expected
    assert report.passed
    text = report.describe()
    assert text.index("\nVerification\n") < text.index("\nRobustness\n") < text.index("\nValidation\n")


def test_a_relation_prints_itself_in_the_template_of_its_promise():
    relation = (PARTS >> PATTERNS["Subset"].output()).named(
        "search.HMR1", promise="HMR", domain="product searches", needs=["brands exclude each other"]
    )
    assert str(relation) == (
        "In the domain of product searches\nassuming that\n- brands exclude each other\n"
        "the following hypothesised metamorphic relation should hold\n- search.HMR1:\n"
        "  if brand is restricted to each of its values,\n"
        "  then all items of the follow-up's answer are in the source's answer."
    )
    assert "for robustness should hold" in str(relation.named("search.MRR1", promise="MRR"))


def test_a_chain_changes_what_the_first_pattern_made():
    add, double = PATTERNS["Additive"].input(columns="x", amount=1), PATTERNS["Multiplicative"].input(columns="x")
    frame = pd.DataFrame({"x": [1.0, 5.0]})
    assert add.then(double).follow_ups(frame)[0].x.tolist() == [4.0, 12.0]
    assert double.then(add).follow_ups(frame)[0].x.tolist() == [3.0, 11.0]
    relation = add.then(double) >> PATTERNS["Monotone"].output(strict=True)
    assert relation.statement == "x is increased by 1, then x is multiplied by 2: the answer rises"
    both = (
        PATTERNS["Conjunctive Conditions"]
        .input(column="brand", values=("Acme", "Bolt"))
        .then(PATTERNS["Disjunctive Conditions"].input(column="query", alternatives=("hat",)))
    )
    frames = both.follow_ups(pd.DataFrame({"query": ["shoes"], "brand": ["any"]}))
    assert [frame.iloc[0].tolist() for frame in frames] == [["shoes OR hat", "Acme"], ["shoes OR hat", "Bolt"]]
    assert both.applies(pd.DataFrame({"query": ["a", "b"], "brand": ["any", "Acme"]})).tolist() == [True, False]


def test_cases_that_the_pattern_does_not_apply_to_are_inapplicable(queries):
    mixed = queries.assign(brand=["any", "Acme", "any", "Bolt"])
    report = dm.check(search, mixed, relations=[PARTS >> PATTERNS["Subset"].output()])
    assert report.table[["holds", "inapplicable"]].values.tolist() == [[2, 2]]


def test_the_same_case_is_queried_past_the_cache(queries):
    answers = iter(range(1000))

    def unstable(query, brand):
        return next(answers)

    again = PATTERNS["Irrelevance"].input() >> PATTERNS["Fully-Equal"].output()
    assert dm.check(dm.wrap(unstable, scalar=True), queries, relations=[again]).table.violated.tolist() == [4]


def test_assertions_replay_a_violation_with_several_follow_ups(queries, tmp_path):
    relation = (PARTS >> PATTERNS["Disjoint"].output()).named("search.MR2")
    store = tmp_path / "runs.db"
    for message in ("4 of 4 cases violate it", "still do"):
        with pytest.raises(AssertionError, match=message):
            dm.assert_holds(search, queries, relation, store=store)
    dm.assert_holds(search, queries, (PARTS >> PATTERNS["Complete"].output()).named("search.MR2"), store=store)


def test_a_search_that_finds_nothing_is_recognised_as_a_function_of_one_case(queries):
    report = dm.check(search, queries.assign(query="umbrella"), relations=[PARTS >> PATTERNS["Subset"].output()])
    assert report.table.holds.tolist() == [4]


@pytest.mark.slow
def test_a_relation_of_patterns_can_be_an_expectation_of_an_audit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.gamma(4, 10, 60), "debt": rng.gamma(2, 5, 60)})

    def decide(frame):
        return np.where(frame.income > 2 * frame.debt, "yes", "no")

    richer = PATTERNS["Monotone"].input(columns=("income",), factor=3.0) >> PATTERNS["Equality"].output()
    result = dm.test(decide, frame, expect=[richer.named("bank.HMR1", promise="HMR")], budget=None)
    assert any("bank.HMR1" in finding.title for finding in result.findings)


def test_both_output_patterns_must_hold(queries):
    both = PATTERNS["Disjoint"].output(among="follow-ups") & PATTERNS["Complete"].output()
    assert dm.check(search, queries, relations=[PARTS >> both]).passed
    assert not dm.check(search, queries, relations=[PARTS >> (both & PATTERNS["Disjoint"].output())]).passed


def test_a_relation_of_patterns_can_be_used_with_a_fitted_model():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.normal(size=60), "debt": rng.normal(size=60)})
    model = LogisticRegression().fit(frame, np.where(frame.income - frame.debt > 0, "yes", "no"))
    noise = PATTERNS["Noise"].input(size=1e-9) >> PATTERNS["Equality"].output()
    more = PATTERNS["Monotone"].input(columns=("income",), amount=9.0) >> PATTERNS["Equality"].output()
    report = dm.check(model, frame, relations=[noise.named("noise"), more.named("income")])
    assert report.table.violated.tolist() == [0, int((model.predict(frame) == "no").sum())]


def test_violations_are_hunted_with_one_follow_up():
    def decide(frame):
        return np.where(frame.income > 7, -1.0, frame.income)

    space = dm.Space([dm.Continuous("income", 0, 10)], moves="open")
    more = PATTERNS["Monotone"].input(columns=("income",), amount=1.0)
    hunt = dm.hunt(
        dm.wrap(decide, space=space), (more >> PATTERNS["Monotone"].output()).named("bank.MR1"), "MT-RT", budget=400
    )
    assert len(hunt.violations)
    several = PATTERNS["Irrelevance"].input(column="income", values=(1.0, 2.0)) >> PATTERNS["Equality"].output()
    with pytest.raises(dm.errors.ArgumentError, match="has 2 follow-ups per case"):
        dm.hunt(dm.wrap(decide, space=space), several, "MT-RT", budget=400)


def test_sets_are_shown_in_the_same_order_in_every_process(queries):
    report = dm.check(search_as_set, queries, relations=[(PARTS >> PATTERNS["Disjoint"].output()).named("search.MR2")])
    assert "{'blue shoes', 'green hat', 'red hat', 'red shoes'}" in report.shrunk(0).describe()
    answers = [violation["before"] for violation in report.document()["violations"]]
    assert answers == [sorted(answer) for answer in answers]


@in_one_test(
    ("mistake", "message"),
    [
        (lambda: PATTERNS["Subset"].input(), "says nothing about inputs"),
        (lambda: PATTERNS["Query-Meaning"].output(), "says nothing about outputs"),
        (lambda: PATTERNS["Additive"].input(column="x"), "no parameter 'column'. Did you mean"),
        (lambda: PATTERNS["Additive"].input(), "needs the parameter columns. The numeric"),
        (lambda: PATTERNS["Similr"], "There is no pattern 'Similr'. Did you mean 'Similar'"),
        (lambda: PARTS >> PARTS, "an output pattern"),
        (lambda: PARTS.then("x"), "an input pattern"),
        (lambda: (PARTS >> PATTERNS["Subset"].output()).named("x", promise="XMR"), "promise"),
        (lambda: PATTERNS["Similar"].output(at_least=2), "at_least"),
        (lambda: PATTERNS["Additive"].input(columns="x", amount=0), "changes nothing"),
        (lambda: PATTERNS["Conjunctive Conditions"].input(column="b", values="any"), "not set"),
        (lambda: PATTERNS["Change Direction"].input(column="b", directions={}), "directions"),
        (lambda: validate_frames([pd.DataFrame({"x": [1]})], 2, "Mine"), "made 1 rows for 2 source cases"),
        (lambda: validate_frames([], 2, "Mine"), "no follow-up"),
    ],
)
def test_a_mistake_gets_one_clear_line(mistake, message):
    with pytest.raises(dm.errors.DatamorphicError, match=message) as caught:
        mistake()
    assert "\n" not in str(caught.value)


def test_a_missing_column_is_named(queries):
    relation = PATTERNS["Conjunctive Conditions"].input(column="brnd", values="Acme") >> PATTERNS["Subset"].output()
    with pytest.raises(dm.errors.ArgumentError, match=r"needs the column 'brnd'.*Did you mean 'brand'"):
        dm.check(search, queries, relations=[relation])


def test_an_answer_without_the_part_is_named(queries):
    relation = PARTS >> PATTERNS["Subset"].output(part="hits")
    with pytest.raises(dm.errors.TestSystemError, match="has no part 'hits'"):
        dm.check(search_as_dict, queries, relations=[relation])


def test_any_change_can_be_a_function():
    upper = Transform(change=lambda frame: frame.assign(query=frame["query"].str.upper()), statement="in capitals")
    assert (upper >> PATTERNS["Equality"].output()).statement == "in capitals: the answers are the same"
    with pytest.raises(dm.errors.ArgumentError, match="must be a function"):
        Transform(change="upper")

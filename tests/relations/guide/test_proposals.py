"""What the other side did, and which patterns are proposed."""

from __future__ import annotations

import datamorphic as dm
from datamorphic.relations.guide.proposals import count_effects, propose_inputs, propose_outputs
from datamorphic.relations.guide.systems import describe_answers, open_system, read_space
from datamorphic.relations.patterns import inputs, outputs
from support.cases import in_one_test


def open_function(function, ranges="x = -4 to 4; y = 1 to 9"):
    return open_system(
        model_name="f", model=function, data_name="none", data=read_space(ranges), target=None, trust=False, seed=0
    )


def open_example(name, *faults):
    system = dm.data.example_systems[name].with_fault(*faults)
    return open_system(
        model_name="e", model=system, data_name="cases", data=system.cases, target=None, trust=False, seed=0
    )


@in_one_test(
    ("function", "change", "says"),
    [
        (lambda frame: frame.x**2, inputs.Negate(columns=("x",)), "the answer stays the same"),
        (lambda frame: frame.x**3, inputs.Negate(columns=("x",)), "is the negative"),
        (lambda frame: 2 * frame.y, inputs.Add(columns=("y",), amount=3), "increased by 6"),
        (lambda frame: frame.y**2, inputs.Multiply(columns=("y",), factor=3), "multiplied by 9"),
        (lambda frame: frame.x * frame.y, inputs.Swap(columns=("x", "y")), "the answers are the same"),
        (lambda frame: frame.x - frame.y, inputs.Increase(columns=("x",)), "does not fall"),
    ],
)
def test_the_pattern_that_the_function_keeps_comes_first_or_is_listed(function, change, says):
    proposals = propose_outputs(dm.patterns, open_function(function).try_input(change))
    texts = [f"{item.pattern}: {item.side.describe()}" for item in proposals if item.met_count == item.judged]
    assert any(says in text for text in texts), texts
    assert all(item.share >= 0.5 for item in proposals[1:])


def test_a_relation_that_is_broken_in_few_cases_is_proposed_all_the_same():
    system = open_function(lambda frame: frame.x.abs() + 1e3 * (frame.x > 3.5))
    proposals = propose_outputs(dm.patterns, system.try_input(inputs.Negate(columns=("x",))))
    best = proposals[0]
    assert (best.pattern, best.side) == ("Symmetric", outputs.EvenOrOdd(odd=False))
    assert 80 < best.met_count < 100
    assert f"in {best.met_count} of 100 cases" in best.describe()


def test_what_the_pattern_expects_is_proposed_first_even_if_the_system_does_something_else():
    search = open_example("product search", "filters ignore the query")
    tried = search.try_input(inputs.Restrict(column="brand", values=("Acme",)))
    first = propose_outputs(dm.patterns, tried)[0]
    assert (first.pattern, type(first.side)) == ("Conjunctive Conditions", outputs.Within)
    assert first.share < 0.5


def test_effects_are_counted_for_numbers_and_lists():
    numbers = open_function(lambda frame: frame.x.clip(lower=0)).try_input(inputs.Increase(columns=("x",), amount=1))
    assert set(count_effects(numbers)) == {"stayed the same", "grew"}
    assert sum(count_effects(numbers).values()) == 100
    search = open_example("product search")
    assert describe_answers(search.answers) == "It answers lists of 0 to 8 items."
    narrowed = search.try_input(inputs.Restrict(column="brand", values=("Acme",)))
    assert set(count_effects(narrowed)) <= {"stayed the same", "lost items only", "changed otherwise"}
    best = propose_outputs(dm.patterns, narrowed)[0]
    assert (best.pattern, best.met_count) == ("Conjunctive Conditions", best.judged)


def test_parts_of_records_that_stay_are_proposed():
    routes = open_example("route finder").try_input(inputs.Swap(columns=("start", "goal")))
    proposals = {item.pattern: item for item in propose_outputs(dm.patterns, routes)}
    assert proposals["Partially-Equal"].side.parts == ("km",)


def test_changes_are_proposed_for_an_output_pattern():
    proposals = propose_inputs(open_function(lambda frame: frame.x**2 + 0 * frame.y), outputs.Equal())
    changes = {item.side.describe(): item.share for item in proposals}
    assert changes["the same case is queried again"] == 1
    assert changes["x changes its sign"] == 1
    assert any("y is" in text for text in changes)
    assert not any(text.startswith("x is") for text in changes)

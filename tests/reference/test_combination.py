"""Combination in batches makes the cases of plain recursive code, and as many as the formulas say."""

from __future__ import annotations

from math import factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_combination import combine_plainly, compose_plainly, count_compositions, list_chains

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.morphisms.decorators import MorphismMark
from datamorphic.morphisms.morphism import Morphism
from datamorphic.morphisms.system import TestSystem
from datamorphic.synthesis.combination.chains import RULES, STRATEGIES, parse_strategy
from support.cases import FEW_EXAMPLES

SPACE = dm.Space([dm.Integer("x", 0, 10**12)])
BASE = 16
ARITIES = st.lists(st.sampled_from([1, 1, 2, 3]), min_size=1, max_size=3)


def make_system(functions, forbidden=()):
    """A test system of functions of whole numbers; a step is forbidden for some values by its case filter."""
    morphisms = []
    for number, (function, arity) in enumerate(functions):
        vectorised = np.vectorize(function, otypes=[np.float64])
        mark = MorphismMark(kind="datamorphism", points=True, filter=f"allowed_{number}" if forbidden else None)
        morphisms.append(
            Morphism(
                name=f"d{number}",
                mark=mark,
                function=lambda *points, f=vectorised: dm.Points(SPACE, f(*(p.codes for p in points))),
                arity=arity,
                location=f"d{number}",
            )
        )
        if forbidden:
            morphisms.append(
                Morphism(
                    name=f"allowed_{number}",
                    mark=MorphismMark(kind="case_filter"),
                    function=lambda tests, n=number: np.array([(n, int(x)) not in forbidden for x in tests.input.x]),
                    arity=1,
                    location="filter",
                )
            )
    return TestSystem("numbers", morphisms, space=SPACE)


def combine(functions, seeds, strategy, order=None, forbidden=(), **options):
    order = order if strategy == "kOrderComplete" else None
    frame = pd.DataFrame({"x": seeds})
    return dm.combine(make_system(functions, forbidden), strategy, order=order, seeds=frame, progress=False, **options)


def list_new_values(combination):
    return combination.tests.input.x.tolist()[combination.seed_count :]


@pytest.mark.slow
@FEW_EXAMPLES
@given(n=st.integers(1, 4), s=st.integers(1, 4), k=st.integers(1, 3))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_distinct_results_are_as_many_as_the_formula_says(strategy, n, s, k):
    functions = [(lambda x, d=d: BASE * x + d + 1, 1) for d in range(n)]  # writes the chain into the number
    combination = combine(functions, list(range(1, s + 1)), strategy, k)
    expected = {
        "firstOrderMutantComplete": n,
        "combinatorialComplete": 2**n - 1,
        "permutationComplete": sum(factorial(n) // factorial(n - size) for size in range(1, n + 1)),
        "kOrderComplete": sum(n**size for size in range(1, k + 1)),
    }[strategy]
    plain_values = combine_plainly(strategy, range(1, s + 1), functions, k)
    assert combination.estimate == s * expected == len(plain_values)
    new_values = list_new_values(combination)
    assert set(new_values) == set(plain_values) - set(range(1, s + 1))
    assert len(new_values) == len(set(new_values))


@st.composite
def tables(draw, arities=ARITIES, max_size=6):
    """Functions of one to three small numbers, whose chains meet often, and steps that are forbidden."""
    size = draw(st.integers(2, max_size))
    values = st.integers(0, size - 1)
    arities = draw(arities)
    functions = []
    for arity in arities:
        results = draw(st.lists(values, min_size=size**arity, max_size=size**arity))
        place = [size**power for power in range(arity)]
        functions.append(
            (lambda *xs, r=results, p=place: r[sum(int(x) * y for x, y in zip(xs, p, strict=True))], arity)
        )
    seeds = draw(st.lists(values, min_size=1, max_size=3, unique=True))
    forbidden = draw(st.sets(st.tuples(st.integers(0, len(arities) - 1), values), max_size=3))
    return functions, seeds, forbidden


@pytest.mark.slow
@FEW_EXAMPLES
@given(tables(), st.integers(1, 3))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_cases_equal_those_of_plain_recursive_code(strategy, table, order):
    functions, seeds, forbidden = table
    plain_values = combine_plainly(
        strategy, seeds, functions, order, lambda step, value: (step, int(value)) not in forbidden
    )
    combination = combine(functions, seeds, strategy, order, forbidden)
    new_values = list_new_values(combination)
    assert set(new_values) == set(plain_values) - set(seeds)
    assert len(new_values) == len(set(new_values))
    assert_lineage(combination, functions, list(list_chains(strategy, len(functions), order)))


@pytest.mark.slow
@FEW_EXAMPLES
@given(tables(st.sampled_from([[1], [2], [3], [1, 2], [2, 1], [1, 1]]), max_size=4), st.integers(1, 2))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_compositions_equal_those_of_plain_code(strategy, table, order):
    functions, seeds, forbidden = table
    plain_values = compose_plainly(
        strategy, seeds, functions, order, lambda step, value: (step, int(value)) not in forbidden
    )
    combination = combine(functions, seeds, strategy, order, forbidden, arguments="cases", limit=10**9)
    new_values = list_new_values(combination)
    assert set(new_values) == plain_values - set(seeds)
    assert len(new_values) == len(set(new_values)) <= combination.estimate
    assert_lineage(combination, functions, list(list_chains(strategy, len(functions), order)))


@pytest.mark.parametrize("arities", [[1], [2], [1, 2], [2, 1], [1, 1, 2], [1, 3]])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_compositions_are_counted_as_they_are_listed(strategy, arities):
    order = 2 if strategy == "kOrderComplete" else None
    rule = RULES[strategy]((1,) * len(arities), order)
    for seed_count in (1, 2) if 3 in arities else (1, 2, 3):
        assert rule.count_compositions(seed_count, arities) == count_compositions(strategy, seed_count, arities, order)


def test_any_argument_may_be_a_new_case():
    functions = [(lambda x: 10 * x, 1), (lambda x, y: 1000 * x + y, 2)]
    seeds_only = combine(functions, [1, 2], "combinatorialComplete")
    assert sorted(list_new_values(seeds_only)) == [10, 20, 1002, 2001, 10002, 20001]
    everything = combine(functions, [1, 2], "combinatorialComplete", arguments="cases")
    assert everything.estimate == 2 + 4 * 3
    pairs = {1000 * x + y for x in (1, 2, 10, 20) for y in (1, 2, 10, 20) if x != y}
    assert set(list_new_values(everything)) == {10, 20} | pairs
    case_id = int(everything.tests.ids[everything.tests.input.x.tolist().index(1020)])
    assert everything.chain(case_id) == ["d1(3)"]
    assert everything.chain(3) == ["d0"]
    first_order = combine(functions, [1, 2], "firstOrderMutantComplete", arguments="cases")
    assert sorted(list_new_values(first_order)) == [10, 20, 1002, 2001]
    permuted = combine(functions, [1, 2], "permutationComplete", arguments="cases")
    assert set(list_new_values(permuted)) == {10, 20, 10020, 20010} | pairs


def test_too_many_compositions_are_refused():
    functions = [(lambda x, y: x + y, 2)]
    with pytest.raises(ArgumentError, match=r"more than 10\^100 cases"):
        combine(functions, [1, 2, 3], "kOrderComplete", 20, arguments="cases")
    with pytest.raises(ArgumentError, match="more than the budget of 5"):
        combine(functions, [1, 2, 3], "kOrderComplete", 2, arguments="cases", budget=5)
    assert combine(functions, [1, 2, 3], "kOrderComplete", 1, arguments="cases", budget=6).case_count == 2


def test_datamorphisms_of_three_inputs_take_every_sequence_of_other_seed_cases():
    functions = [(lambda x, y, z: 100 * x + 10 * y + z, 3)]
    combination = combine(functions, [1, 2, 3, 4], "firstOrderMutantComplete")
    assert combination.estimate == combination.case_count == 4 * 3 * 2
    assert 432 in list_new_values(combination)
    row = combination.tests.input.x.tolist().index(432)
    assert combination.chain(int(combination.tests.ids[row])) == ["d0(2, 1)"]
    assert combination.tests.origins[row].tolist() == [3, 2, 1]
    drawn = combine(functions, [1, 2, 3, 4], "firstOrderMutantComplete", budget=23)
    assert drawn.case_count == 23
    assert set(list_new_values(drawn)) < set(list_new_values(combination))
    assert combine(functions, [1, 2], "firstOrderMutantComplete").case_count == 0


def test_a_duplicate_leads_on():
    # both steps lead from 0 to 1, but each may only be followed by the other
    functions = [(lambda x: {0: 1, 1: 2}.get(int(x), 9), 1), (lambda x: {0: 1, 1: 3}.get(int(x), 9), 1)]
    combination = combine(functions, [0], "permutationComplete")
    assert sorted(list_new_values(combination)) == [1, 2, 3]
    assert [combination.chain(case_id) for case_id in (1, 2, 3)] == [["d0"], ["d1", "d0"], ["d0", "d1"]]
    assert len(combination.cases.repeats) == 1


@pytest.mark.slow
@FEW_EXAMPLES
@given(tables(), st.integers(1, 30))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_drawn_cases_are_among_all_cases(strategy, table, budget):
    functions, seeds, forbidden = table
    combination = combine(functions, seeds, strategy, 2, forbidden, budget=budget)
    everything = combine(functions, seeds, strategy, 2, forbidden)
    assert set(list_new_values(combination)) <= set(list_new_values(everything))
    assert combination.case_count <= budget or not combination.is_sampled
    assert_lineage(combination, functions, list(list_chains(strategy, len(functions), 2)))
    # a case that was not drawn is there because another was made from it
    origins = set(combination.tests.origins.ravel().tolist())
    assert set(combination.tests.ids[combination.ancestors].tolist()) <= origins


def assert_lineage(combination, functions, chains):
    """Every case follows from its origins, and its chain is one of the strategy that leads from a seed case to it."""
    values = dict(zip(combination.tests.ids.tolist(), combination.tests.input.x.tolist(), strict=True))
    all_tests = combination.cases.tests
    seed_values = dict(zip(all_tests.ids.tolist(), all_tests.input.x.tolist(), strict=True))
    rows = zip(combination.tests.ids, combination.tests.made_by_names, combination.tests.origins.tolist(), strict=True)
    seed_ids = set(combination.tests.ids[: combination.seed_count].tolist())
    for case_id, name, origins in rows:
        if case_id in seed_ids:
            assert combination.chain(case_id) == []
            continue
        function, arity = functions[int(name[1:])]
        assert values[case_id] == function(*(values[origin] for origin in origins[:arity]))
        words = combination.chain(case_id)
        assert tuple(int(word[1:].partition("(")[0]) for word in words) in chains
        ((seed, _),) = combination.cases.read_chains(
            combination.derivations.states[combination.tests.rows_of(np.array([case_id]))]
        )
        value = combination.cases.tests.input.x.tolist()[seed]
        # the other arguments may be seed cases that were left out because the case can be made without them
        for word in words:
            step, _, partners = word[1:].rstrip(")").partition("(")
            value = functions[int(step)][0](value, *(seed_values[int(id)] for id in partners.split(", ") if id))
        assert value == values[case_id]


@pytest.mark.parametrize("weights", [(1,), (1, 1, 1), (1, 3, 1), (3, 3), (1, 0, 1), (1, 1, 4, 4), (6, 1, 3)])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_rank_is_another_chain(strategy, weights):
    rule = RULES[strategy](weights, 2 if strategy == "kOrderComplete" else None)
    steps, choices = rule.unrank(np.arange(rule.count))
    chains = {tuple(zip(*row, strict=True)) for row in zip(steps.tolist(), choices.tolist(), strict=True)}
    assert len(chains) == rule.count
    known = set(list_chains(parse_strategy(strategy, rule.order)[0], len(weights), rule.order))
    for chain in chains:
        assert tuple(step for step, _ in chain if step >= 0) in known
        assert all(step < 0 or 0 <= choice < weights[step] for step, choice in chain)
    # more chains than 64 bits count are numbered by Python's integers
    same_steps, same_choices = rule.unrank(np.array(range(rule.count), dtype=object))
    assert (same_steps == steps).all()
    assert (same_choices == choices).all()

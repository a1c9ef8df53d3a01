"""Selectors: one contract for all, what they are given, and what they are asked."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.hunting.selectors import SELECTORS, find_selector
from datamorphic.relations.algebra.base import HOLDS, VIOLATED
from datamorphic.testing.conformance import check_selector
from support.cases import in_one_test, thin


def relation(name, domain, *factors, **more):
    dimension = dm.relations.Box.of(domain).dimension
    return dm.FunctionRelation(
        name=name,
        domain=domain,
        follow_up=[dm.relations.Affine.scaled(factor, dimension) for factor in factors],
        **more,
    )


PLANE = [(0, 4), (-1, 1)]
AFFINE = [relation("double", PLANE, 2), relation("mirror", PLANE, -1, 1), relation("three", PLANE, 1, 3, 0.5)]
BY_FUNCTION = [
    AFFINE[0],
    dm.FunctionRelation(name="squares", domain=PLANE, follow_up=lambda x: x**2),
    dm.FunctionRelation(name="at most", domain=PLANE, follow_up=lambda x: x, at_most=lambda x, y: y),
]
MIXED = [relation(name, dm.Space([dm.Continuous("x", 0, 1), dm.Integer("n", 0, 9)]), 1) for name in "ab"]
CASES = {"affine": AFFINE, "by a function": BY_FUNCTION, "whole numbers": MIXED}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), thin([*SELECTORS], [*CASES]))
def test_every_selector_keeps_the_contract(name, case):
    check_selector(SELECTORS[name], CASES[case], opens=name != "random")


def test_conformance_suite_detects_wrong_selectors():
    class Forgetful(SELECTORS["MRGS-ART"]):
        def clone(self, seed):
            return self

    class Leaving(SELECTORS["MRGS-ART"]):
        def propose(self, count=1):
            picks = super().propose(count)
            picks.sources[-1] += 10
            return picks

    for broken, why in ((Forgetful, "start again"), (Leaving, "left the source domain")):
        with pytest.raises(AssertionError, match=why):
            check_selector(broken, AFFINE)


def test_names():
    assert find_selector("mrgs-art+") is SELECTORS["MRGS-ART+"] is find_selector(SELECTORS["MRGS-ART+"])
    with pytest.raises(ArgumentError, match="MRGS-ART"):
        find_selector("MRGS-ATR")
    assert all(selector.summary for selector in SELECTORS.values())
    assert repr(SELECTORS["MRGS-ART"](AFFINE)) == "MRGS-ART(3 relations, k=3, 0 groups)"


# -- domains ----------------------------------------------------------------------------------------------------------


def test_relations_with_different_source_domains_are_refused_by_name():
    with pytest.raises(ArgumentError, match=r"'a' takes them from \(0, 10\), 'b' from \(2, 12\).*domains='meet'"):
        SELECTORS["MRGS-ART"]([relation("a", (0, 10), 2), relation("b", (2, 12), 2)])


@in_one_test("name", SELECTORS)
def test_different_source_domains_can_meet(name):
    selector = SELECTORS[name]([relation("a", (0, 10), 2), relation("b", (2, 12), 2)], domains="meet")
    drawn = selector.propose(200).sources
    assert 2 <= drawn.min() < 2.5
    assert 9.5 < drawn.max() <= 10
    assert [str(item.domain[0]) for item in selector.relations] == ["(2, 10)"] * 2


def test_meeting_keeps_declared_follow_up_domains():
    """Or follow-ups outside of it, to which the relation does not apply, would be judged."""
    relations = [relation("a", (0, 10), 3, follow_domain=(0, 10)), relation("b", (0, 8), 1)]
    met = SELECTORS["MRGS-ART"](relations, domains="meet").relations[0]
    assert met.follow_domain is not None
    assert str(met.follow_domains()[0]) == "(0, 10)"


def test_meeting_of_integers_and_numbers_is_integers():
    whole, numbers = relation("whole", dm.Space([dm.Integer("n", 0, 10)]), 1), relation("numbers", (0, 10), 1)
    for relations in ([whole, numbers], [numbers, whole]):
        with pytest.raises(ArgumentError, match="domains='meet'"):
            SELECTORS["MRGS-ART"](relations)
        assert (SELECTORS["MRGS-ART"](relations, domains="meet").propose(30).sources % 1 == 0).all()


def test_disjoint_source_domains_are_refused():
    with pytest.raises(ArgumentError, match=r"'a', 'b' have nothing in common"):
        SELECTORS["MRGS-ART"]([relation("a", (0, 1), 2), relation("b", (2, 3), 2)], domains="meet")


def test_source_domains_of_different_dimensions_are_refused():
    relations = [relation("a", (0, 1), 2), relation("b", [(0, 1), (0, 1)], 2)]
    for domains in ("refuse", "meet"):
        with pytest.raises(ArgumentError, match="'b' from"):
            SELECTORS["MRGS-ART"](relations, domains=domains)


def test_small_domains_are_distinguished():
    with pytest.raises(ArgumentError, match="'b' from"):
        SELECTORS["MRGS-ART"]([relation("a", (0, 1e-9), 2), relation("b", (0, 5e-9), 2)])


def test_several_sources_are_drawn_from_the_source_domain_whichever_relation_comes_first():
    wide = dm.FunctionRelation(name="two", domain=(0, 1), sources=2, follow_up=dm.relations.Affine.of([[0.5, 0.5]]))
    narrow = relation("far", (0, 1), 100)
    for relations in ([wide, narrow], [narrow, wide]):
        for name in SELECTORS:
            drawn = SELECTORS[name](relations, seed=1).propose(80).sources
            assert drawn.shape == (80, 2)
            assert drawn.max() <= 1, name


# -- arguments --------------------------------------------------------------------------------------------------------


@in_one_test(
    ("relations", "options", "why"),
    [
        ([], {}, "one or more FunctionRelation"),
        (["a"], {}, "one or more FunctionRelation"),
        (AFFINE, {"k": 0}, "'k'"),
        (AFFINE, {"k": 2.5}, "'k'"),
        (AFFINE, {"domains": "union"}, "'domains'"),
        (AFFINE, {"candidates": [[1.0]]}, "rows of 2 finite numbers"),
        (AFFINE, {"candidates": np.zeros((0, 2))}, "rows of 2 finite numbers"),
        (AFFINE, {"candidates": [[np.nan, 0.0]]}, "rows of 2 finite numbers"),
        (AFFINE, {"candidates": [[1.0, 0.0], [50.0, 0.0]]}, "candidates"),
        (AFFINE, {"candidates": "no such"}, "no generator 'no such'"),
        (AFFINE, {"seed": "one"}, "'seed'"),
    ],
)
@in_one_test("name", ["random", "MRGS-ART", "near-miss"])
def test_bad_arguments(name, relations, options, why):
    with pytest.raises(ArgumentError, match=why):
        SELECTORS[name](relations, **options)


def test_bad_sources_are_refused():
    selector = SELECTORS["MRGS-ART"](AFFINE)
    for ask in (
        lambda: selector.propose(0),
        lambda: selector.choose_group(3, [[1.0, 0.0]]),
        lambda: selector.choose_group(0, [[1.0]]),
        lambda: selector.choose_group(0, np.zeros((0, 2))),
        lambda: selector.choose_relation([1.0]),
    ):
        with pytest.raises(ArgumentError):
            ask()


def test_candidates_of_a_generator_are_single_sources():
    two = dm.FunctionRelation(name="two", domain=(0, 1), sources=2, follow_up=dm.relations.Affine.of([[0.5, 0.5]]))
    with pytest.raises(ArgumentError, match="single sources"):
        SELECTORS["MRGS-ART"]([two], candidates="FSCS-ART")


def test_rpart_takes_few_columns():
    with pytest.raises(ArgumentError, match="up to 8 columns"):
        SELECTORS["MRGS-RPART"]([relation("nine", [(0, 1)] * 9, 1)])


# -- what they choose ---------------------------------------------------------------------------------------------------


def test_the_emptier_half_is_chosen():
    """After one group in the lower half of its domain, the upper half is empty."""
    selector = SELECTORS["MRGS-ART"]([relation("same", (0, 1), 1)], candidates=[[0.1], [0.9]], seed=0)
    first = selector.propose(1).sources[0, 0]
    assert selector.choose_group(0, [[0.2], [0.8]]) == int(first < 0.5)
    assert selector.propose(1).sources[0, 0] != first


def test_the_relation_whose_follow_up_goes_somewhere_new_is_chosen():
    relations = [relation("same", (0, 1), 1), relation("same too", (0, 1), 1)]
    selector = SELECTORS["MRGS-ART"](relations, candidates=[[0.1], [0.9]], seed=1)
    opening = selector.propose(2)
    assert sorted(opening.sources.ravel()) == [0.1, 0.9]
    assert selector.choose_relation([0.1]) == opening.relation[opening.sources.argmax()]


def test_counting_prefers_relations_with_more_follow_ups():
    """As published, a 1-3 relation can have 4 inputs in empty cells, a 1-1 relation only 2; shares are even."""
    relations = [relation("one", (0, 1), 1), relation("three", (0, 1), 1, -1, 0.5)]
    share, counted = (
        (SELECTORS[name](relations, seed=1).propose(600).relation == 0).mean() for name in ("MRGS-ART-fair", "MRGS-ART")
    )
    assert counted < 0.3 < share < 0.7


@pytest.mark.parametrize("name", ["feedback", "near-miss"])
def test_learning_selectors_repeat_violated_relations(name):
    selector = SELECTORS[name](AFFINE, seed=3)
    for _ in range(10):
        picks = selector.propose(20)
        broken = (picks.relation == 1) & (picks.sources[:, 0] > 3)
        selector.tell(picks, np.where(broken, VIOLATED, HOLDS).astype(np.int8), np.full(20, 0.9))
    assert (selector.propose(300).relation == 1).mean() > 0.45


def test_near_miss_selector_prefers_relations_close_to_failing():
    selector = SELECTORS["near-miss"](AFFINE, seed=3)
    for _ in range(10):
        picks = selector.propose(20)
        room = np.where(picks.relation == 2, 0.01, 1.0)
        selector.tell(picks, np.zeros(20, dtype=np.int8), room)
    assert (selector.propose(300).relation == 2).mean() > 0.45

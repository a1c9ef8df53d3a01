"""Ranges and domains: where inputs are drawn, and that constraints hold."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic import FunctionRelation
from datamorphic.errors import ArgumentError, SpaceError
from datamorphic.relations import NumberRange
from datamorphic.relations.algebra.base import HOLDS, INAPPLICABLE, VIOLATED
from datamorphic.relations.algebra.domain import RangeDomain


def draw(domain, count=2000, seed=0):
    return domain.sample(count, np.random.default_rng(seed))


def test_logarithmic_ranges_draw_all_powers_of_ten_alike():
    rng = np.random.default_rng(0)
    powers = np.log10(NumberRange(1e-3, 1e3, scale="log").draw(5000, rng))
    counts, _ = np.histogram(powers, bins=6, range=(-3, 3))
    assert counts.min() > 700
    both = NumberRange(-100, 100, scale="log").draw(5000, rng)
    assert 0.45 < (both < 0).mean() < 0.55
    assert np.abs(both).min() >= 1e-4
    assert (NumberRange(-100, -1, scale="log").draw(100, rng) <= -1).all()
    assert (NumberRange(0, 0, scale="log").draw(5, rng) == 0).all()


def test_whole_numbers_and_special_values():
    rng = np.random.default_rng(0)
    values = NumberRange(1, 6, whole=True).draw(6000, rng)
    counts = np.unique(values, return_counts=True)
    assert counts[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert counts[1].min() > 850
    mixed = NumberRange(0, 1, special=(0, 1), special_share=0.3).draw(5000, rng)
    assert 0.27 < np.isin(mixed, (0, 1)).mean() < 0.33


@pytest.mark.parametrize(
    "parameters",
    [
        {"low": 1, "high": 0},
        {"low": 0, "high": np.inf},
        {"low": 0.1, "high": 0.9, "whole": True},
        {"low": 0, "high": 1, "special": (2,)},
        {"low": 0, "high": 1, "special_share": 2},
        {"low": 0, "high": 1, "scale": "cubic"},
    ],
)
def test_ranges_without_numbers_are_refused(parameters):
    with pytest.raises(ArgumentError):
        NumberRange(**parameters)


def test_triangles_simplices_and_functions_of_rows():
    triangle = RangeDomain.build({"a": (0, 1), "b": (0, 1)}, ["a <= b"])
    assert (draw(triangle)[:, 0] <= draw(triangle)[:, 1]).all()
    names = [f"p{i}" for i in range(20)]
    simplex = draw(RangeDomain.build(dict.fromkeys(names, (0, 1)), [" + ".join(names) + " == 1"]))
    assert np.allclose(simplex.sum(axis=1), 1)
    assert simplex.min() >= 0
    wholes = draw(RangeDomain.build({"n": range(1, 30), "x": (0, 30)}, [lambda frame: frame.n > frame.x]))
    assert (wholes[:, 0] > wholes[:, 1]).all()
    assert len(np.unique(wholes[:, 0])) == 29


def test_draws_depend_on_the_seed_alone():
    domain = RangeDomain.build({"a": (0, 1), "b": NumberRange(0.1, 9, scale="log")}, ["a <= b"])
    assert np.array_equal(draw(domain), draw(domain))
    assert not np.array_equal(draw(domain), draw(domain, seed=1))


def test_a_domain_that_is_nearly_impossible_to_hit_says_so():
    domain = RangeDomain.build({"a": (0, 1), "b": (0, 1)}, ["a == b"])
    with pytest.raises(SpaceError, match=r"Of .* points drawn, only 0 satisfy the constraints.*Give closer limits"):
        draw(domain, 10)


def test_domains_need_names_for_constraints_and_ranges_for_names():
    with pytest.raises(ArgumentError, match="Give the domain by name"):
        FunctionRelation(name="r", domain=(0, 1), constraints=["a <= b"], follow_up=lambda x: x)
    for domain in ({}, {"not a name": (0, 1)}, {"a": "low"}, {"a": range(0, 10, 2)}):
        with pytest.raises(ArgumentError):
            FunctionRelation(name="r", domain=domain, follow_up=lambda a: {"a": a})


def test_rows_that_break_the_constraints_are_not_judged():
    relation = FunctionRelation(
        name="swapped",
        domain={"a": (0, 1), "b": (0, 1)},
        constraints=["a <= b"],
        follow_up=lambda a, b: {"a": b, "b": a},
    )
    y = [np.zeros(3), np.array([0.0, 1.0, 1.0])]
    x = [np.array([[0.1, 0.2], [0.1, 0.2], [0.3, 0.2]])] * 2
    assert relation.judge(x, y)[0].tolist() == [HOLDS, VIOLATED, INAPPLICABLE]
    report = dm.check(lambda a, b: np.minimum(a, b) * np.maximum(a, b), relations=relation)
    assert report.passed
    assert not report.table["inapplicable"].any()


def test_spaces_with_constraints_keep_them():
    space = dm.Space([dm.Continuous("a", 0, 1), dm.Continuous("b", 0, 1)], constraints=["a <= b"])
    relation = FunctionRelation(name="swapped", domain=space, follow_up=lambda x: x[:, ::-1])
    drawn = relation.draw_sources(500, np.random.default_rng(0))
    assert (drawn[:, 0] <= drawn[:, 1]).all()
    assert relation.names == ()


def test_domains_within_other_limits_keep_constraints():
    relation = FunctionRelation(
        name="tripled",
        domain={"a": (0, 9), "b": (0, 9)},
        constraints=["a <= b"],
        follow_up=dm.relations.Affine.scaled(3.0, 2),
    )
    drawn = relation.within([(0, 9), (0, 9)]).draw_sources(200, np.random.default_rng(0))
    assert drawn.max() <= 3
    assert (drawn[:, 0] <= drawn[:, 1]).all()

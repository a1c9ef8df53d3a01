"""Follow-up functions that are affine, or only look so."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.hunting.affine_form import find_affine_form
from datamorphic.hunting.generators import make_generator
from datamorphic.relations.algebra.function import FunctionRelation

AFFINE = {
    "reflected": ((0, 1000), lambda x: np.pi - x),
    "scaled and shifted": ((-3, 5), lambda x: 0.1 * x + 0.3),
    "far from zero": ((100, 200), lambda x: 1.5 * x - 20),
    "constant": ((0, 1), lambda x: np.full(len(x), 7.0)),
    "swapped": ([(0, 1), (-2, 2)], lambda x: x[:, ::-1]),
    "a column without extent": ([(0, 1), (2, 2)], lambda x: 2.0 * x),
    "whole numbers": (dm.Space([dm.Integer("n", 0, 9), dm.Integer("m", 5, 9)]), lambda x: 9.0 - x),
}
OTHERS = {
    "curved": ((0, 1), np.square),
    "bent": ((-1, 1), np.abs),
    "rounded": ((0, 100), np.floor),
    "without numbers": ((-1, 1), lambda x: np.where(x < 0, np.nan, x)),
    "rounded differently": ((0, 1), lambda x: x / 3),
}


def relate(domain, follow_up, **options):
    return FunctionRelation(name="tested", domain=domain, follow_up=follow_up, **options)


@pytest.mark.parametrize("name", AFFINE)
def test_affine_functions_are_recognised(name):
    domain, follow_up = AFFINE[name]
    relation = relate(domain, follow_up)
    change = find_affine_form(relation)
    sources = relation.source_box.sample(1000, np.random.default_rng(7))
    assert change(sources).tobytes() == relation.follow(sources).tobytes()


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_are_not(name):
    domain, follow_up = OTHERS[name]
    assert find_affine_form(relate(domain, follow_up)) is None


def test_functions_that_fail_or_depend_on_outputs_are_not():
    def fail(x):
        raise ZeroDivisionError

    assert find_affine_form(relate((0, 1), fail, follow_domain=(0, 1))) is None
    by_output = relate((0, 1), lambda x, outputs: x, uses_outputs=True, follow_domain=(0, 1))
    assert find_affine_form(by_output) is None
    assert find_affine_form(relate([(0, 1)] * 100, lambda x: 3.0 * x)) is None


KINDS = dm.Space([dm.Continuous("x", 0, 10), dm.Integer("n", 0, 9), dm.Categorical("c", ["a", "b", "c"])])
DOMAINS = {"one column": (0, 10), "five columns": [(0, 10)] * 5, "kinds": KINDS}


@pytest.mark.parametrize("name", ["SFIDMT-ART", "SFIDMT-ART-joint", "MT-ART-Min"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_groups_of_a_function_that_only_looks_affine(name, domain, monkeypatch):
    def follow(x):
        first = x if x.ndim == 1 else x[:, 0]
        jumps = (first > 3.33) & (first < 3.36)
        return x + (
            0.001 * jumps if x.ndim == 1 else np.column_stack([0.001 * jumps, *np.zeros((x.shape[1] - 1, len(x)))])
        )

    relation = relate(DOMAINS[domain], follow)
    generator = make_generator(name, relation, k=5, seed=1)
    assert generator._assumed_affine
    groups = [generator.propose(count) for count in (16, 300, 1)]
    assert not generator._assumed_affine
    monkeypatch.setattr("datamorphic.hunting.generator_base.find_affine_form", lambda relation: None)
    expected = make_generator(name, relation, k=5, seed=1).propose(317)
    np.testing.assert_array_equal(np.concatenate([part.sources for part in groups]), expected.sources)
    np.testing.assert_array_equal(np.concatenate([part.follow_ups for part in groups]), expected.follow_ups)


def test_groups_that_cannot_be_compared_do_not_count():
    fails = False

    def triple(x):
        if fails:
            raise ZeroDivisionError
        return 3.0 * x

    generator = make_generator("SFIDMT-ART", relate([(0, 1)] * 2, triple), seed=1)
    again = generator.clone(1)
    first = generator.propose(50)
    fails = True
    with pytest.raises(ZeroDivisionError):
        generator.propose(500)
    assert generator.count == 50
    fails = False
    second = generator.propose(500)
    np.testing.assert_array_equal(np.concatenate([first.sources, second.sources]), again.propose(550).sources)

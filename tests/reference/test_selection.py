"""Selectors choose the same pairs as plain code that makes everything anew, to the last bit."""

from __future__ import annotations

import numpy as np
import plain_selection
import pytest

import datamorphic as dm
from datamorphic.hunting.selectors import SELECTORS
from datamorphic.relations.algebra.box import Affine
from support.cases import thin

PAIRS = {1: 90, 2: 130, 3: 80, 6: 50}


def relations(dimension, wrap, several=True):
    """Return 1-1, 1-2 and 1-3 relations of one source domain, and a 2-2 one; the widest is the last."""
    one = np.eye(dimension)
    both = np.concatenate([one, one], axis=1)
    kinds = {
        "1-1": [3 * one],
        "1-2": [-one, one[::-1]],
        "1-3": [0.5 * one, one[::-1] + one, 2 * one],
        "2-2": [both, np.concatenate([one, -one], axis=1)],
    }
    domain = [(-1.0, 2.0 + j) for j in range(dimension)]
    return [
        dm.FunctionRelation(
            name=name,
            domain=domain,
            sources=int(name[0]),
            follow_up=[wrap(Affine.of(matrix, 0.25)) for matrix in matrices],
        )
        for name, matrices in kinds.items()
        if several or name != "2-2"
    ]


def as_function(change):
    return lambda *parts: change(np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1))


def same_pairs(name, relation_list, count, seed=5, k=3, data=None, **options):
    pairs = SELECTORS[name](relation_list, k=k, seed=seed, candidates=data, **options).propose(count)
    plain_options = {"published": not SELECTORS[name].fair, **options}
    which, sources = plain_selection.PLAIN[name](relation_list, k, seed, data=data, **plain_options).run(count)
    np.testing.assert_array_equal(pairs.relation, which)
    np.testing.assert_array_equal(pairs.sources, np.array(sources))
    assert len(set(which)) == len(relation_list)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dimension"), thin([*plain_selection.PLAIN], [*PAIRS], keep=2))
def test_affine_follow_ups(name, dimension):
    same_pairs(name, relations(dimension, lambda change: change), PAIRS[dimension])


@pytest.mark.slow
@pytest.mark.parametrize("name", plain_selection.PLAIN)
def test_as_published(name):
    same_pairs(name, relations(2, lambda change: change), 80, published=True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dimension"), thin([*plain_selection.PLAIN], [1, 3]))
def test_follow_ups_by_a_function(name, dimension):
    """Their domains are known from samples only, so some follow-ups lie outside."""
    same_pairs(name, relations(dimension, as_function), 70)


@pytest.mark.slow
@pytest.mark.parametrize("name", plain_selection.PLAIN)
def test_other_numbers_of_candidates_and_relations(name):
    relation_list = relations(2, lambda change: change, several=False)
    for k, seed in ((1, 2), (7, 3)):
        same_pairs(name, relation_list, 30, seed=seed, k=k)
    same_pairs(name, relation_list[:1], 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", plain_selection.PLAIN)
def test_candidates_from_data(name):
    data = np.random.default_rng(0).uniform(-1, 2, (37, 2)).tolist()
    same_pairs(name, relations(2, lambda change: change, several=False), 60, data=data)


@pytest.mark.slow
@pytest.mark.parametrize("name", plain_selection.PLAIN)
def test_whole_numbers_and_columns_without_extent(name):
    box = dm.relations.Box(np.array([0.0, 0.0, 2.0]), np.array([9.0, 1.0, 2.0]), np.array([1, 0, 0], dtype=np.int8))
    relation_list = [
        dm.FunctionRelation(name="same", domain=box, follow_up=Affine.scaled(1.0, 3)),
        dm.FunctionRelation(name="far", domain=box, follow_up=[Affine.scaled(5.0, 3), Affine.scaled(-1.0, 3)]),
    ]
    same_pairs(name, relation_list, 100)


@pytest.mark.parametrize("name", ["MRGS-ART", "MRGS-RPART", "MRGS-distance"])
def test_follow_ups_that_are_not_numbers_lie_at_the_lower_limit(name):
    def root(x):
        with np.errstate(invalid="ignore"):
            return np.sqrt(x)

    relation_list = [
        dm.FunctionRelation(name="root", domain=(-1, 1), follow_up=root),
        dm.FunctionRelation(name="twice", domain=(-1, 1), follow_up=Affine.scaled(2.0, 1)),
    ]
    same_pairs(name, relation_list, 80)


def test_jaccard_distances():
    """Of sets of values; these have many in common."""
    space = dm.Space([dm.Categorical("c", ["a", "b"]), dm.Integer("n", 0, 2), dm.Continuous("x", 0, 1)])
    relation_list = [
        dm.FunctionRelation(name="same", domain=space, follow_up=Affine.scaled(1.0, 3)),
        dm.FunctionRelation(name="other", domain=space, follow_up=[Affine.of(np.diag([1, -1, 0]), [0, 2, 0.5])] * 2),
    ]
    same_pairs("MRGS-distance", relation_list, 100, metric="jaccard")
    same_pairs("MRGS-distance", relation_list, 100)

"""Kernels as plain Python: the same groups, and compiling only for hunts that are long enough."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.hunting import generator_base, plain_kernels
from datamorphic.hunting.generators import GENERATORS, make_generator
from datamorphic.hunting.kernels import compiling

TRIPLED = dm.FunctionRelation(name="tripled", domain=[(0, 100)] * 2, follow_up=dm.relations.Affine.scaled(3.0, 2))
CURVED = dm.FunctionRelation(
    name="curved", domain=(0, 100), follow_up=lambda x: 3.0 * x + 0.01 * x * x, follow_domain=(0, 400)
)


@pytest.fixture
def nothing_compiled(monkeypatch):
    """Pretend that no kernel is compiled yet, and return how long each was called as plain Python."""
    seconds = {}
    monkeypatch.setattr(compiling.Kernel, "is_ready", False)
    monkeypatch.setattr(plain_kernels, "_seconds_used", seconds)
    return seconds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "relation"),
    [*((name, TRIPLED) for name in GENERATORS), ("SFIDMT-ART", CURVED), ("MT-ART-Min", CURVED)],
    ids=lambda value: getattr(value, "name", value),
)
def test_groups_are_the_same_before_and_after_compiling(name, relation, monkeypatch, nothing_compiled):
    monkeypatch.setattr(generator_base, "MAX_PLAIN_GROUPS", 40)
    generator = make_generator(name, relation, seed=3)
    plain, later = generator.propose(40), generator.propose(40)
    monkeypatch.setattr(compiling.Kernel, "is_ready", True)
    compiled = make_generator(name, relation, seed=3).propose(80)
    np.testing.assert_array_equal(np.concatenate([plain.sources, later.sources]), compiled.sources)
    np.testing.assert_array_equal(np.concatenate([plain.follow_ups, later.follow_ups]), compiled.follow_ups)
    assert bool(nothing_compiled) == hasattr(GENERATORS[name], "kernels")


@pytest.mark.parametrize("is_cached", [False, True])
def test_plain_kernels_have_a_limit_of_time(is_cached, monkeypatch, nothing_compiled):
    monkeypatch.setitem(GENERATORS["SFIDMT-ART"].kernels.advance.__dict__, "is_cached", is_cached)
    monkeypatch.setattr(plain_kernels, "MAX_PLAIN_SECONDS_IF_CACHED" if is_cached else "MAX_PLAIN_SECONDS", 0.0)
    make_generator("SFIDMT-ART", TRIPLED).propose(plain_kernels.GROUPS_PER_CALL)
    [seconds] = nothing_compiled.values()
    make_generator("SFIDMT-ART", TRIPLED).propose(10)
    assert list(nothing_compiled.values()) == [seconds]


def test_a_short_hunt_compiles_nothing(nothing_compiled, monkeypatch):
    def refuse(kernel, *arguments):
        raise AssertionError("compiled")

    monkeypatch.setattr(compiling.Kernel, "__call__", refuse)
    hunt = dm.hunt(dm.programs["tanh"].mutants["m1"], "tripling", trials=3, budget=1000, progress=False)
    assert hunt.found
    assert list(nothing_compiled) == [GENERATORS["SFIDMT-ART"].kernels.advance]


def bend(x):
    return 3.0 * x + 0.01 * x * x


def test_a_generator_is_pickled_and_cloned_after_it_was_compiled():
    relation = dm.FunctionRelation(name="bent", domain=(0, 100), follow_up=bend, follow_domain=(0, 400))
    generator = make_generator("SFIDMT-ART", relation, seed=2)
    generator.propose(plain_kernels.MAX_PLAIN_GROUPS + 100)
    restored = pickle.loads(pickle.dumps(generator))
    np.testing.assert_array_equal(restored.propose(50).sources, generator.propose(50).sources)
    expected = make_generator("SFIDMT-ART", relation, seed=5).propose(200)
    np.testing.assert_array_equal(generator.clone(5).propose(200).sources, expected.sources)


def test_follow_ups_in_any_order_of_memory():
    domains = {"domain": [(0, 100)] * 2, "follow_domain": [(0, 400)] * 2}
    rows, columns = (
        dm.FunctionRelation(name="bent", follow_up=follow_up, **domains)
        for follow_up in (bend, lambda x: np.asfortranarray(bend(x)))
    )
    expected, groups = (make_generator("SFIDMT-ART", relation, seed=1).propose(300) for relation in (rows, columns))
    np.testing.assert_array_equal(groups.sources, expected.sources)
    np.testing.assert_array_equal(groups.follow_ups, expected.follow_ups)

"""New cases: in range, new, and traceable to their parents."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import TestSystemError
from datamorphic.morphisms.cases import CaseKind, TestSet
from datamorphic.morphisms.stock import derive
from datamorphic.morphisms.system import TestSystem
from datamorphic.synthesis.optimisation.breeding import Breeder

BOX = dm.subjects["Box 1"]


def start(n=30, seed=0):
    return TestSet.of_seeds(BOX.known_space().sample(n, seed=seed, points=True))


def test_new_cases_are_in_range_different_and_traceable():
    tests = start()
    breeder, rng = Breeder(BOX, None, tests), np.random.default_rng(0)
    first, second = breeder.breed(tests, 60, None, rng), breeder.breed(tests, 60, None, rng)
    for mutants in (first, second):
        assert 30 < len(mutants) <= 60
        assert (mutants.kinds == CaseKind.MUTANT).all()
        assert mutants.input["x"].between(0, 2 * np.pi).all()
        assert mutants.input["y"].between(-1, 1).all()
        assert not mutants.input.duplicated().any()
        rows = tests.rows_of(mutants.origins[:, 0])
        assert (rows >= 0).all()
        upward = mutants.made_by_names == "upward"
        np.testing.assert_allclose(mutants.input["y"][upward], tests.input["y"].to_numpy()[rows][upward] + 0.2)
        middle = mutants.made_by_names == "mid"
        partners = tests.rows_of(mutants.origins[:, 1])
        mean = (tests.inputs.codes[rows] + tests.inputs.codes[partners]) / 2
        np.testing.assert_allclose(mutants.inputs.codes[middle], mean[middle])
    assert not set(first.ids) & set(second.ids)
    assert not set(first.ids) & set(tests.ids)


def test_crossover_and_mutation_share_the_new_cases():
    mutants = Breeder(BOX, None, start()).breed(start(), 400, None, np.random.default_rng(0))
    assert 0.35 < (mutants.made_by_names == "mid").mean() < 0.75  # moves out of the domain are lost


def test_only_the_chosen_datamorphisms_are_used():
    for names in (["upward"], ["mid"], ["Up ward", "mid"]):
        mutants = Breeder(BOX, names, start()).breed(start(), 40, None, np.random.default_rng(0))
        assert set(mutants.made_by_names) == {name.replace(" ", "").lower() for name in names}
    with pytest.raises(TestSystemError, match="no datamorphism named 'sideward'"):
        Breeder(BOX, ["sideward"], start())


def test_better_parents_are_drawn_more_often():
    tests = start()
    scores = np.zeros(30)
    scores[:15] = 1.0
    mutants = Breeder(BOX, ["mid"], tests).breed(tests, 400, scores, np.random.default_rng(0))
    assert 0.65 < (mutants.origins[:, 0] < 15).mean() < 0.85


def test_constraints_and_missing_bounds_are_kept():
    space = dm.Space([dm.Continuous("a"), dm.Continuous("b")], constraints=["a <= b"])
    tests = TestSet.of_seeds(space.points(pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [2.0, 3.0, 4.0]})))
    mutants = Breeder(derive(space), None, tests).breed(tests, 200, None, np.random.default_rng(0))
    assert len(mutants)
    assert (mutants.input["a"] <= mutants.input["b"]).all()
    assert mutants.input["a"].between(0, 2).all()
    assert mutants.input["b"].between(2, 4).all()


def test_cases_that_leave_the_bounds_are_dropped_and_other_faults_are_reported():
    class Growing:
        space = dm.Space([dm.Integer("n", 0, 100), dm.Categorical("colour", ["red", "blue"])])

        @dm.datamorphism
        def double(self, p):
            return p.assign(n=2 * p.n)

        @dm.datamorphism
        def paint(self, p):
            return p.assign(colour="green")

        @dm.datamorphism
        def halve(self, p):
            return p.assign(n=p.n / 2)

    system, frame = TestSystem.collect(Growing), pd.DataFrame({"n": [3, 40, 51, 90], "colour": ["red"] * 4})
    tests = TestSet.of_seeds(Growing.space.points(frame))
    mutants = Breeder(system, ["double"], tests).breed(tests, 50, None, np.random.default_rng(0))
    assert set(mutants.input["n"]) == {6, 80}
    assert (
        mutants.input["n"].to_numpy() == 2 * tests.input["n"].to_numpy()[tests.rows_of(mutants.origins[:, 0])]
    ).all()
    for name, message in (("paint", "not one of the categories"), ("halve", "not a whole number")):
        with pytest.raises(TestSystemError, match=f"Growing.{name}, .*{message}"):
            Breeder(system, [name], tests).breed(tests, 50, None, np.random.default_rng(0))


def test_a_filter_of_a_datamorphism_is_applied():
    class Filtered:
        space = dm.Space([dm.Continuous("x", 0, 1)])

        @dm.case_filter
        def is_low(self, tests):
            return tests.input["x"] < 0.5

        @dm.datamorphism(filter="is_low")
        def raised(self, p):
            return p.assign(x=p.x + 0.4)

    tests = TestSet.of_seeds(Filtered.space.sample(20, points=True))
    mutants = Breeder(TestSystem.collect(Filtered), None, tests).breed(tests, 50, None, np.random.default_rng(0))
    assert len(mutants)
    assert (tests.input["x"].to_numpy()[tests.rows_of(mutants.origins[:, 0])] < 0.5).all()


def test_a_system_without_datamorphisms_is_rejected():
    class Still:
        space = dm.Space([dm.Continuous("x", 0, 1)])

        @dm.set_metric
        def size(self, tests):
            return len(tests)

    with pytest.raises(TestSystemError, match="no datamorphism to make new cases with"):
        Breeder(TestSystem.collect(Still), None, TestSet.of_seeds(Still.space.sample(3, points=True)))

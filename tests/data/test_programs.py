"""Programs by name, their mutants, and what was measured of these."""

from __future__ import annotations

import ast
import os
import pickle
from dataclasses import replace

import numpy as np
import pytest

from datamorphic._stats import compute_wilson_interval
from datamorphic.data.programs import programs
from datamorphic.data.programs.program import NumericMutant
from datamorphic.errors import DataError
from datamorphic.mutation.operators import find_changes
from datamorphic.studies.program_regions import measure_regions
from support.cases import in_one_test
from support.program_mutants import OPERATORS

LONG = "DATAMORPHIC_LONG" in os.environ
KNOWN = {"emu10", "branch3.1", "sign2.5"}  # of tanh, as published, and of Erf


def test_names_are_found_whatever_their_case():
    assert programs["TANH"] is programs["tanh"]
    assert programs["sin"].relations["sin13"] is programs["Sin"].relations["Sin13"]
    assert programs["tanh"].relations["tanh"] is programs["tanh"].relations["tripling"]
    assert programs["tanh"].mutants["EMU10"].id == "emu10"
    assert len(programs) == 10
    assert "erf" in programs
    assert list(programs["tanh"].relations) == ["tripling"]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: programs["tan"], "no program 'tan'. Did you mean 'tanh'"),
        (lambda: programs["Sin"].relations["Sin14"], "no relation of Sin 'Sin14'. Did you mean"),
        (lambda: programs["tanh"].mutants["emu1"], "no mutant of tanh 'emu1'. Did you mean 'emu10'"),
        (lambda: programs["rj"].misprints["rj1"], "no misprint of rj 'rj1'"),
    ],
)
def test_unknown_names_are_refused_with_a_hint(ask, message):
    with pytest.raises(DataError, match=message):
        ask()


@in_one_test("name", programs)
def test_a_program_answers_arrays_and_single_numbers(name):
    program = programs[name]
    middle = (program.domain.low + program.domain.high) / 2 + 0.25 * np.arange(program.dimension)
    one = program(*middle.tolist())
    many = program(*np.tile(middle[:, None], 3))
    assert len(many) == 3
    assert np.isfinite(one).all()
    assert (many == one).all()


@pytest.mark.slow
@in_one_test("name", programs)
def test_each_mutant_violates_some_relation_on_some_inputs(name):
    program = programs[name]
    assert len(program.mutants) >= 10
    possible = {
        (change.operator, change.before.lineno, ast.unparse(change.before), ast.unparse(change.after))
        for change in find_changes(ast.parse(program.source))
        if change.operator in OPERATORS
    }
    for id, mutant in program.mutants.items():
        ours = (mutant.operator, mutant.line, mutant.before, mutant.after)
        assert (ours in possible) == (id not in KNOWN)
    regions = program.regions
    assert set(regions["mutant"]) == set(program.mutants)
    assert set(regions["relation"]) == set(program.relations)
    assert regions["kind"].isin(["block", "strip", "point", "none", "not classified"]).all()
    assert regions["rate"].between(regions["low"], regions["high"]).all()
    for id, rates in regions.groupby("mutant")["rate"]:
        assert 1e-4 <= rates.max() <= 0.55, id
    operators = {id: mutant.operator for id, mutant in program.mutants.items()}
    assert dict(zip(regions["mutant"], regions["operator"], strict=True)) == operators


@pytest.mark.slow
@in_one_test("name", programs)
def test_stored_rates_agree_with_other_inputs(name):
    program = programs[name]
    stored = program.regions
    telling = stored[stored["rate"].between(0.01, 0.6)].iloc[[0, -1]]
    for row in telling.itertuples():
        seen = measure_regions(
            program,
            3_000,
            seed=11,
            mutants={row.mutant: program.mutants[row.mutant]},
            relations={row.relation: program.relations[row.relation]},
        ).iloc[0]
        low, high = compute_wilson_interval(round(seen["rate"] * 3_000), 3_000, 0.9999)
        assert low <= row.high
        assert high >= row.low


@pytest.mark.slow
@pytest.mark.parametrize("name", programs)
def test_mutants_work_row_by_row_and_differ_from_the_program(name):
    program = programs[name]
    inputs = program.domain.sample(3_000, np.random.default_rng(3)).T
    right = program(*inputs)
    differ = 0
    for mutant in program.mutants.values():
        answers = mutant(*inputs)
        assert answers.shape == right.shape
        alone = mutant(*inputs[:, 20::-1])[::-1]
        assert np.allclose(alone, answers[:21], rtol=1e-6, equal_nan=True), mutant
        differ += not np.array_equal(answers, right, equal_nan=True)
    # some differ so rarely, or only at negative or small numbers, that these inputs do not show it
    assert differ >= 7


def test_the_known_mutants_of_tanh():
    tanh = programs["tanh"]
    emu10, branch = tanh.mutants["emu10"], tanh.mutants["branch3.1"]
    assert (emu10.operator, emu10.before, emu10.after) == ("CRP", "1.0", "10.0")
    x = np.array([0.05, 1.0, 3.0])
    up, down = np.exp(x), 10 / np.exp(x)
    assert emu10(x)[1:] == pytest.approx(((up - down) / (up + down))[1:])
    assert (branch(x) != tanh(x)).tolist() == [False, True, True]
    assert "np.abs(x) < 3.1" in branch.source.split("\n")[branch.line - 1]
    tripling = tanh.relations["tripling"]
    assert tripling.domain[0].high == pytest.approx([1000 / 3])
    # a number above 709 has no exponential: its tanh is NaN, which is undefined and no violation
    seen = measure_regions(tanh, 50_000, mutants={"emu10": emu10, "branch3.1": branch})
    assert seen["undefined"].tolist() == pytest.approx([0.29, 0.29], abs=0.01)
    assert seen["rate"].tolist() == pytest.approx([0.0105, 0.00156], rel=0.25)
    assert seen["kind"].tolist() == ["block", "block"]


def test_mutants_are_built_lazily_and_can_be_pickled():
    mutant = programs["Sin"].mutants["m1"]
    again = replace(mutant)
    assert "function" not in vars(again)
    x = np.linspace(0, 1000, 500)
    assert (again(x) == mutant(x)).all()
    assert "function" in vars(again)
    assert pickle.loads(pickle.dumps(mutant)) is mutant
    assert pickle.loads(pickle.dumps(programs["Sin"])) is programs["Sin"]


def test_mutant_of_changed_source_text_is_refused():
    row = {"id": "m9", "operator": "CRP", "before": "1", "after": "2"}
    with pytest.raises(DataError, match=r"occurs 0 times, not once\. The source text of the program has changed"):
        NumericMutant.from_row(programs["Sin"], old="x = 1", new="x = 2", **row)


def test_a_relation_that_cannot_share_a_domain_is_left_out_with_a_reason():
    sin, rj = programs["Sin"], programs["rj"]
    shared = replace(sin, relations={"Sin1": sin.relations["Sin1"], "rj2": rj.relations["rj2"]}).shared()
    assert list(shared) == ["Sin1"]
    assert "4 numbers" in shared.left_out["rj2"]

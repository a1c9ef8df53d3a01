"""The choice of mutants for the programs, and their violation regions."""

from __future__ import annotations

import os

import pytest

from datamorphic.data.programs import programs
from datamorphic.data.programs.program import NumericMutant
from datamorphic.errors import ArgumentError
from datamorphic.studies.program_regions import measure_regions
from support.program_mutants import choose_mutants

LONG = "DATAMORPHIC_LONG" in os.environ


@pytest.mark.slow
def test_choice_of_mutants():
    name, count, inputs = ("PntLinePos", 12, 10_000) if LONG else ("tanh", 3, 2_000)
    program = programs[name]
    rows = choose_mutants(program, count, inputs)
    stored = [mutant.source.split("\n")[mutant.line - 1].strip() for mutant in program.mutants.values()]
    if LONG:
        assert [row["new"] for row in rows] == stored
    assert len({row["new"] for row in rows}) == count
    mutants = {
        row["id"]: NumericMutant.from_row(program, **{key: row[key] for key in row if key != "program"}) for row in rows
    }
    rates = measure_regions(program, inputs, mutants=mutants).groupby("mutant")["rate"].max()
    assert rates.between(1e-4, 0.5).all()


def test_measuring_needs_inputs():
    with pytest.raises(ArgumentError, match="inputs"):
        measure_regions(programs["tanh"], 0)

"""Tables 14 and 19 of Ying (2024) beside our catalogue and our programs."""

from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic.studies.pattern_scopes import build_program_table, build_scope_table
from datamorphic.studies.run import study
from datamorphic.studies.workload import SCALES, Workbench


@pytest.fixture(scope="module")
def bench():
    return Workbench(SCALES["tiny"], 0)


def test_the_catalogue_has_every_pattern_of_table_14(bench):
    rows = build_scope_table("002-14", bench)
    listed = [row for row in rows if row.column == "listed"]
    assert len(listed) == 4 + 6 + 4 + 9 + 4
    assert all(row.ours == 1 for row in listed)
    differing = {row.row: (row.published, row.note) for row in listed if row.published != row.ours}
    assert differing == {
        "query-based systems, Disjunctive Conditions": (2, "Listed twice."),
        "query-based systems, Partition Difference": (0, "Omitted, though section 2.2.2.1 defines it."),
    }
    totals = {row.row: (row.published, row.ours) for row in rows if row.column == "patterns"}
    assert all(printed == ours for printed, ours in totals.values())
    kinds = {(row.row, row.column) for row in rows if row.published != row.ours and row.column.endswith("s")}
    assert kinds == {("query-based systems", "MRPs"), ("query-based systems", "MRIPs")}


def test_programs_and_relations_of_table_19(bench):
    rows = {(row.row, row.column): row for row in build_program_table("002-19", bench)}
    for program in ("Sin", "Erf", "sncndn", "BesselJ", "TriSquarePlus", "rj", "PntLinePos"):
        for column in ("dimensions", "from", "to"):
            assert rows[program, column].published == rows[program, column].ours
        more = rows[program, "MRs"].ours - rows[program, "MRs"].published
        assert more == (1 if program in ("Sin", "TriSquarePlus") else 0)
        assert rows[program, "mutants"].ours == len(dm.programs[program].mutants)
    assert rows["Sin", "MRs"].note == "The appendix has one more."
    assert rows["sncndn", "RSR"].published == 1


@pytest.mark.parametrize("name", ["002-1", "002-2", "002-4", "002-10", "002-14", "002-19"])
def test_nothing_is_run(name):
    result = study(name, scale="tiny")
    assert "nothing is run" in result.describe()
    assert result.rows.ours.notna().all()

"""Every published table can be built: each of its figures has a row before anything is measured."""

from __future__ import annotations

import math

import pytest

from datamorphic.studies import learner_relations
from datamorphic.studies.catalogue import TABLES
from datamorphic.studies.published import published
from datamorphic.studies.run import study
from datamorphic.studies.workload import SCALES, Workbench

#: tables of which some figures have no row: mutants without a stand-in, or mutants that are ours
IN_PART = {"002-5", "002-27", "002-28", "003-6", "003-7", "003-8", "003-9"}


@pytest.mark.parametrize("table", [table for table in TABLES if table != "000-2"])  # 000-2 reads three large files
def test_every_figure_has_a_row(table):
    _, build = TABLES[table]
    rows = build(table, Workbench(SCALES["full"]))
    assert all(row.row and row.column for row in rows)
    printed_count = sum(not math.isnan(row.published) for row in rows)
    verdicts = published(table)["measure"].str.endswith(" necessary")  # they are in the notes of rows
    assert printed_count >= (1 if table in IN_PART else (~verdicts).sum())


def test_every_figure_of_weka_has_a_row_without_weka(monkeypatch):
    monkeypatch.setattr(learner_relations, "explain_missing_weka", lambda: "Weka was not found.")
    test_every_figure_has_a_row("003-1")


def test_figures_of_trees_that_were_not_all_measured_are_missing():
    result = study("004-3", scale="tiny", seed=77, budget="1 runs", progress=False)
    assert result.unfinished
    assert result.rows["ours"].isna().all()

"""The studies of credit models: each runs, and stands beside what is in print."""

from __future__ import annotations

import pytest

from datamorphic.data.sets import available
from datamorphic.studies import credit_models
from datamorphic.studies.published import erratum, published
from datamorphic.studies.rows import Row
from datamorphic.studies.run import study
from datamorphic.studies.workload import SCALES, Workbench

pytestmark = pytest.mark.quality
LADDERS = [f"002-{number}" for number in range(33, 40)]
QUICK = ["002-32", "002-36", "002-39", "credit_wrongness", "credit_constraints"]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_every_study_runs(name):
    result = study(name, scale="tiny", progress=False)
    assert result.rows.columns.tolist() == [*Row._fields, "verdict"]
    assert not result.rows.duplicated(["row", "column"]).any()
    assert result.rows["ours"].notna().all()
    assert "nan" not in result.describe()


@pytest.mark.slow
def test_german_credit_runs():
    if "german_credit" not in available():
        pytest.skip("German credit is not here: set $DATAMORPHIC_DATA")
    rows = study("german_credit", scale="tiny", progress=False).rows
    logistic = rows[(rows.row == "logistic regression") & (rows.column == "AUC mean")]
    assert logistic.ours.between(0.7, 0.9).all()


def test_sizes_of_the_sets_are_as_published():
    rows = credit_models.build_size_table("002-32", Workbench(SCALES["tiny"]))
    assert len(rows) == 20
    for row in rows:
        assert row.ours == pytest.approx(row.published, abs=0.006)


@pytest.mark.parametrize("table", LADDERS)
def test_a_full_study_has_every_figure_in_print(table):
    bench = Workbench(SCALES["full"])
    rows = credit_models.build_ladder_table(table, bench)
    printed = [row.published for row in rows if row.column != "repetitions without violations, %"]
    assert printed == published(table)["published"].tolist()
    (job,) = bench.figures_by_job
    assert job.repetition_count == 100
    assert all("cannot match" in row.note for row in rows)


@pytest.mark.parametrize(
    ("table", "subject", "measure", "figure"),
    [
        ("002-33", "3*1", "AUC mean", 0.728),
        ("002-34", "5*3", "HMR3 weak", 13.48),
        ("002-35", "1000", "HMR3 strong", 33.28),
        ("002-36", "90", "AUC mean", 0.760),
        ("002-37", "20000", "HMR4 strong", 43.77),
        ("002-38", "1", "HMR5 strong", 2.05),
        ("002-39", "1000", "HMR2 weak", 18.64),
        ("002-36", "500", "AUC SD", 1e-4),
    ],
)
def test_figures_are_as_printed(table, subject, measure, figure):
    rows = published(table)
    row = rows[(rows["subject"] == subject) & (rows["measure"] == measure)]
    assert row["published"].tolist() == [figure]


def test_what_is_wrong_with_the_tables_is_said():
    assert "did not vary" in erratum("002-35", subject="10", measure="AUC SD")
    assert "swaps" in erratum("002-37", measure="HMR1 strong")
    assert not erratum("002-37", measure="HMR2 strong")

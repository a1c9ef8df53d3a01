"""Tables 15 to 17 of Ying (2024): what is printed, and our engines beside it."""

from __future__ import annotations

import pytest

from datamorphic.studies.published import misprints, published
from datamorphic.studies.searches import SETTINGS, SearchCheck, build_violation_table, format_amount
from datamorphic.studies.workload import SCALES, Workbench
from support.studies import measure_jobs


@pytest.mark.parametrize("table", list(SETTINGS))
def test_violations_by_powers_of_ten_add_up_to_the_total_except_for_misprints(table):
    frame = published(table).pivot(index="subject", columns="measure", values="published")
    sums = frame.filter(like="10^").sum(axis=1)
    wrong = {name: sums[name] for name in frame.index if sums[name] != frame["violations"][name]}
    rows = misprints()
    rows = rows[rows["table"] == table]
    assert wrong == {row.subject: float(row.fits) for row in rows.itertuples()}
    assert frame["groups"].nunique() == 1


@pytest.mark.slow
def test_our_engines_beside_the_shops():
    pytest.importorskip("tantivy", reason="pip install 'datamorphic[search]'")
    bench = Workbench(SCALES["tiny"])
    build_violation_table("002-16", bench)
    measure_jobs(bench, "002-16")
    rows = {(row.row, row.column): row for row in build_violation_table("002-16", bench)}
    for engine in ("tantivy", "SQLite", "tantivy, any word, rounded"):
        for relation in ("MR1", "HMR1", "HMR2", "HMR3"):
            place = f"{engine}, {relation}"
            total = rows[place, "violations"].ours
            assert sum(row.ours for (name, column), row in rows.items() if name == place and "10^" in column) == total
            assert rows[place, "groups"].ours == 20
            assert (total == 0) == (relation in ("MR1", "HMR1"))
            assert rows[place, "violations, % of groups"].ours == 100 * total / 20
    assert "levels cannot" in rows["SQLite, MR1", "violations"].note
    assert "2321" in rows["SQLite, MR1", "violations"].note


def test_a_full_study_has_as_many_groups_as_published():
    bench = Workbench(SCALES["full"])
    build_violation_table("002-17", bench)
    jobs = [job for job in bench.figures_by_job if isinstance(job, SearchCheck)]
    assert [job.group_count for job in jobs] == [2621] * 3
    assert format_amount(SCALES["full"]) == "as many groups as published per relation on 200,000 products"
    assert format_amount(SCALES["tiny"]) == "20 groups per relation on 1,000 products"

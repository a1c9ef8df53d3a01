"""Further measures of generators, kinds of regions, failures beside violations, and larger k."""

from __future__ import annotations

import math

import pytest

from datamorphic.studies.group_measures import (
    FailureRegions,
    Measuring,
    build_failure_table,
    build_k_table,
    build_measure_table,
    build_region_share_table,
)
from datamorphic.studies.workload import SCALES, Workbench
from support.studies import measure_jobs


def test_random_testing_has_the_measures_that_follow_from_the_rate():
    rate, bench = 0.0105, Workbench(SCALES["tiny"])
    job = Measuring("tanh", "emu10", "tripling", "MT-RT", 300, 760, 95)
    bench.figure(job, "F")
    measure_jobs(bench)
    expected = {"F": 1 / rate, "F2": 1 / rate, "P, %": 100 * (1 - (1 - rate) ** 95), "E": 95 * rate}
    for measure, value in expected.items():
        ours = bench.estimate(job, measure)
        assert ours.value == pytest.approx(value, abs=2 * ours.margin), measure
        assert 0 < ours.margin < 0.25 * value
        assert ours.trials == 300 or measure == "F2"


def test_a_violation_needs_a_failure():
    bench, job = Workbench(SCALES["tiny"]), FailureRegions("Sin", "Sin13", 3_000)
    bench.figure(job, "m9 violations, %")
    measure_jobs(bench)
    by_source = bench.estimate(job, "m9 violations where sources fail, %")
    assert by_source.trials == pytest.approx(30 * bench.figure(job, "m9 failures of sources, %"))
    assert 0 < by_source.value < 100
    assert bench.figure(job, "m4 violations, %") <= bench.figure(job, "m9 violations, %")
    assert bench.has_figure(job, "m3 MRVR-S block")


def test_shares_of_kinds_add_up():
    rows = [row for row in build_region_share_table(Workbench(SCALES["tiny"])) if row.row == "Sin"]
    assert math.fsum(row.ours for row in rows) == pytest.approx(100)
    assert all(row.margin > 0 for row in rows)


def test_tables_have_their_rows_before_anything_is_measured():
    bench = Workbench(SCALES["full"])
    columns = {row.column for row in build_k_table(bench)}
    assert columns == {f"k={k}" for k in range(1, 11)}
    assert {row.column for row in build_measure_table(bench)} == {"F", "F2", "P, %", "E"}
    assert len(build_failure_table(bench)) > 300

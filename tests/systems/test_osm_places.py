from __future__ import annotations

import pytest

from datamorphic.errors import ModelError, SystemRaised
from datamorphic.systems.osm_places import Place, PlaceIndex, read_places
from support.osm_files import write_extract

NODES = [
    (10, 60.0, 24.0, {"name": "Kiasma", "tourism": "museum"}),
    (12, 60.2, -24.2, {}),
    (11, -60.4, 24.4, {"amenity": "bench"}),
    (99, 60.1, 24.1, {"name": "Café Söder", "amenity": "cafe"}),
    (7, 60.3, 24.3, {"name": "Shop"}),
    (8, 60.3, 24.4, {"name": "Shop", "shop": "yes"}),
]
WAYS = [
    (1, [10, 12, 99], {"highway": "residential", "name": "Long Street"}),
    (2, [99, 7, 8], {"highway": "residential", "name": "Long Street"}),
    (3, [10, 12, 11, 10], {"leisure": "park", "name": "Park"}),
    (4, [10, 12], {"highway": "path"}),
    (5, [777], {"name": "Beyond the border"}),
]


def test_named_nodes_and_ways_are_read(tmp_path):
    places = read_places(write_extract(tmp_path / "x.osm.pbf", NODES, WAYS))
    coordinates = {(place.name, place.kind): place.coordinates for place in places if place.name != "Long Street"}
    assert coordinates == {
        ("Kiasma", "tourism"): (60.0, 24.0),
        ("Café Söder", "amenity"): (60.1, 24.1),
        ("Shop", "other"): (60.3, 24.3),
        ("Shop", "shop"): (60.3, 24.4),
        ("Park", "leisure"): (pytest.approx(59.8 / 3, abs=1e-6), pytest.approx(24.2 / 3, abs=1e-6)),
    }
    middles = [place.coordinates for place in places if place.name == "Long Street"]
    assert middles == [(60.2, -24.2), (60.3, 24.3)]


def test_a_name_is_looked_up(tmp_path):
    index = PlaceIndex(read_places(write_extract(tmp_path / "x.osm.pbf", NODES, WAYS)))
    assert index.find("kiasma ").name == "Kiasma"
    assert index.find("CAFÉ SÖDER").coordinates == (60.1, 24.1)
    assert index.find("Long Street").kind == "highway"
    with pytest.raises(SystemRaised, match=r"^the map has no place 'Kiasm'. Did you mean 'Kiasma'\?$"):
        index.find("Kiasm")
    with pytest.raises(
        SystemRaised, match=r"^the map has 2 places 'Shop'. Give the coordinates of the one that is meant$"
    ):
        index.find("shop")
    with pytest.raises(SystemRaised, match="It has no names at all"):
        PlaceIndex([]).find("x")


def test_the_middle_part_of_a_street_is_its_place():
    parts = [Place(name="S", latitude=60 + x, longitude=24.0, kind="highway") for x in (0.0, 0.1, 0.4, 0.5, 0.9)]
    assert PlaceIndex(parts).find("S").latitude == 60.4


def test_a_street_and_a_stop_of_the_same_name_are_two_places():
    street = [Place(name="S", latitude=60, longitude=24.0, kind="highway")] * 3
    index = PlaceIndex([*street, Place(name="S", latitude=60, longitude=24.1, kind="railway")])
    assert index.shared_names == {"S": 2}


@pytest.mark.parametrize("cut", [10, 30, 60])
def test_a_damaged_file_is_one_line(tmp_path, cut):
    file = write_extract(tmp_path / "x.osm.pbf", NODES, WAYS)
    file.write_bytes(file.read_bytes()[:-cut])
    with pytest.raises(ModelError, match=r"x.osm.pbf cannot be read as an extract of OpenStreetMap"):
        read_places(file)


def test_something_else_is_one_line(tmp_path):
    file = tmp_path / "x.osm.pbf"
    file.write_bytes(b"hello, this is a text and no map")
    with pytest.raises(ModelError, match=r"cannot be read as an extract"):
        read_places(file)


def test_a_map_of_a_country_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("datamorphic.systems.osm_places.MAX_EXTRACT_BYTES", 10)
    with pytest.raises(ModelError, match="too large to look for names"):
        read_places(write_extract(tmp_path / "x.osm.pbf", NODES))

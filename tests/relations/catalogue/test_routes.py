"""Relations of routes on a small town without obstacles, and on routers with planted faults."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.catalogue.routes import NameToCoordinates, SimilarRoute, SplitRoute, ViaPlace
from datamorphic.systems.router import parse_coordinates
from support.cases import in_one_test

PLACES = {f"Place {i}": (60 + 0.013 * (i % 5), 24 + 0.007 * (i * 7 % 11)) for i in range(20)}
KM_PER_DEGREE = 100.0


def encode(points):
    text, last = "", (0, 0)
    for point in points:
        numbers = [round(value * 1e6) for value in point]
        for number, old in zip(numbers, last, strict=True):
            value = (number - old) << 1 ^ (number - old) >> 63
            while value >= 0x20:
                text += chr((value & 0x1F | 0x20) + 63)
                value >>= 5
            text += chr(value + 63)
        last = numbers
    return text


class Town:
    """Straight routes at 5 km/h; `fault` spoils them."""

    def __init__(self, fault=""):
        self.fault, self.count = fault, 0

    def find(self, place):
        return parse_coordinates(place) or PLACES[place]

    def route(self, start, goal, via="", mode="pedestrian"):
        self.count += 1
        stops = [self.find(stop) for stop in (start, via, goal) if stop]
        km = sum(KM_PER_DEGREE * math.dist(a, b) for a, b in pairwise(stops))
        if self.fault == "uphill" and stops[0][0] < stops[-1][0]:
            km *= 1.1
        if self.fault == "names" and start in PLACES:
            km *= 1.3
        if self.fault == "stops" and via:
            km *= 0.4
        if self.fault == "parts" and goal not in PLACES:
            km *= 1.5
        if self.fault == "unstable" and self.count % 7 == 0:
            km += 0.5
        middle = tuple(np.mean(stops[:2], axis=0).tolist())
        return {"km": km, "minutes": 12 * km, "shape": encode([stops[0], middle, stops[-1]])}

    def __call__(self, frame):
        return [self.route(*row) for row in frame[["start", "goal", "via", "mode"]].itertuples(index=False)]


@pytest.fixture(scope="module")
def routes():
    rng = np.random.default_rng(0)
    pairs = [rng.choice(list(PLACES), 2, replace=False) for _ in range(30)]
    return pd.DataFrame(
        {"start": [a for a, _ in pairs], "goal": [b for _, b in pairs], "via": "", "mode": "pedestrian"}
    )


def count_violations(town, routes):
    report = dm.check(town, routes, list(dm.relations.route_relations(PLACES).values()), shrink=False)
    assert not report.table["undefined"].any()
    return {row.relation: row.violated for row in report.table.itertuples() if row.violated}


def test_all_relations_hold_without_a_fault(routes):
    assert count_violations(Town(), routes) == {}


@pytest.mark.parametrize(
    ("fault", "relation"),
    [
        ("unstable", "routes.MR2"),
        ("names", "routes.HMR4"),
        ("uphill", "routes.symmetry"),
        ("parts", "routes.sub-route"),
        ("stops", "routes.waypoint"),
    ],
)
def test_every_fault_is_found(routes, fault, relation):
    assert relation in count_violations(Town(fault), routes)


def test_the_relations_are_instances_of_the_catalogue():
    relations = dm.relations.route_relations(PLACES)
    assert list(relations) == ["routes.MR2", "routes.HMR4", "routes.symmetry", "routes.sub-route", "routes.waypoint"]
    for relation in relations.values():
        assert relation.input.pattern in dm.patterns
        assert relation.output.pattern in dm.patterns
    assert [relation.promise for relation in relations.values()] == ["MR", "HMR", "HMR", "HMR", "HMR"]
    assert relations["routes.MR2"].input.fresh
    assert "10% or 0.1 km, and the times by at most 10% or 1 min" in relations["routes.HMR4"].statement


def test_symmetry_is_for_walkers_only(routes):
    relation = dm.relations.route_relations(PLACES)["routes.symmetry"]
    assert relation.applies(routes.assign(mode=["auto", *["pedestrian"] * 29])).tolist() == [False, *[True] * 29]


def test_similar_routes_have_thresholds():
    similar = SimilarRoute()
    route = {"km": 1.0, "minutes": 12.0}
    assert similar.holds(route, ({"km": 1.1, "minutes": 13.2},))
    assert not similar.holds(route, ({"km": 1.12, "minutes": 12.0},))
    assert not similar.holds(route, ({"km": 1.0, "minutes": 13.4},))
    assert similar.holds({"km": 0.1, "minutes": 1}, ({"km": 0.2, "minutes": 2},))


def test_names_become_coordinates_as_precise_as_a_click(routes):
    changed = NameToCoordinates(places=PLACES).make(routes, np.random.default_rng(0))[0]
    assert changed["start"][0] == "{:.4f}, {:.4f}".format(*PLACES[routes["start"][0]])
    unknown = routes.assign(start="x", goal="y")
    assert not NameToCoordinates(places=PLACES).applies(unknown).any()


@in_one_test(
    ("make", "message"),
    [
        (lambda: dm.relations.route_relations({}), "need a router, or a mapping"),
        (lambda: dm.relations.route_relations("Helsinki"), "need a router, or a mapping"),
        (lambda: dm.relations.route_relations(PLACES, digits=0), r"range \[1, 9\]"),
        (lambda: dm.relations.route_relations(PLACES, km=-1), "a number from 0"),
        (lambda: SplitRoute(share=1), "between 0 and 1"),
        (lambda: ViaPlace(stops=()), "at least one place"),
    ],
)
def test_wrong_parameters_are_one_line(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()

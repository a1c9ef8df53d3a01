"""Violation regions as they are drawn, as scenarios place them, and as a sample names them."""

from __future__ import annotations

import numpy as np
import pytest

from datamorphic.errors import ArgumentError, DataError
from datamorphic.hunting.region_kinds import classify
from datamorphic.hunting.regions import BoxRegion, draw_region, from_sample, make_box_region
from datamorphic.hunting.scenarios import SCENARIOS, draw_scenario
from support.cases import LONG, in_one_test, rotate

KINDS = ("block", "strip", "point")


def domain(d):
    """Sides of different lengths, not at zero."""
    return np.arange(d) - 3.0, np.arange(d) * 4.0 + 2.0


def grid(side, d):
    axis = (np.arange(side) + 0.5) / side
    return np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)


@in_one_test("kind", KINDS)
@in_one_test("d, rate", rotate([1, 2, 3, 6], [0.001, 0.01, 0.15]))
def test_regions_have_the_given_volume(kind, d, rate):
    rng = np.random.default_rng(1)
    low, high = domain(d)
    # in many dimensions small boxes have long sides: few fit at random
    boxes = 50 if d < 6 else 5
    rate = rate / 10 if (kind, d) == ("point", 6) else rate
    regions = [draw_region(kind, rate, low, high, rng, boxes=boxes) for _ in range(20)]
    shares = [region.contains(rng.uniform(low, high, (2000, d))).mean() for region in regions]
    assert abs(np.mean(shares) - rate) < 4 * np.sqrt(rate * (1 - rate) / (20 * 2000))
    for region in regions:
        assert region.kind == kind
        assert region.volume == pytest.approx(rate * (high - low).prod())


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_boxes_lie_inside_the_domain_and_do_not_overlap(d):
    rng = np.random.default_rng(2)
    low, high = domain(d)
    for kind, rate in [("block", 0.9), ("block", 0.01), ("point", 0.02)] * 20:
        region = draw_region(kind, rate, low, high, rng, boxes=20)
        assert len(region.lows) == (1 if kind == "block" else 20)
        assert (region.lows >= low).all()
        assert (region.highs <= high).all()
        sides = (region.highs - region.lows) / (high - low)
        assert sides == pytest.approx(np.full(sides.shape, (rate / len(sides)) ** (1 / d)))
        make_box_region(region.lows, region.highs)


def test_blocks_are_drawn_anywhere():
    rng = np.random.default_rng(3)
    starts = np.array([draw_region("block", 0.04, [0, 0], [1, 1], rng).lows[0] for _ in range(2000)])
    assert starts.min() < 0.01
    assert starts.max() > 0.79
    assert abs(starts.mean(axis=0) - 0.4).max() < 4 * 0.8 / np.sqrt(12 * 2000)


@pytest.mark.parametrize("d", [2, 3])
def test_strips_connect_adjacent_sides_at_any_corner(d):
    rng = np.random.default_rng(4)
    side = 200
    edge = (np.arange(side) + 0.5) / side
    corners = set()
    for _ in range(60):
        region = draw_region("strip", 0.02, [0] * d, [1] * d, rng)
        first, second = np.flatnonzero(region.normal)
        touched = []
        for axis, other in ((first, second), (second, first)):
            for end in (0.0, 1.0):
                along = np.full((side, d), 0.5)
                along[:, axis], along[:, other] = end, edge
                hits = region.contains(along)
                # never in a corner, so the band has no bend
                assert not hits[[0, -1]].any()
                touched += [(int(axis), end)] * int(hits.any())
        assert len(touched) == 2
        assert {axis for axis, _ in touched} == {first, second}
        corners.add(tuple(touched))
    assert len(corners) == (4 if d == 2 else 12)


def test_points_outside_the_domain_are_in_no_region():
    rng = np.random.default_rng(5)
    outside = rng.uniform(1.0001, 3, (2000, 2)) * rng.choice([-1, 1], (2000, 2))
    for kind in KINDS:
        assert not draw_region(kind, 0.1, [0, 0], [1, 1], rng).contains(outside).any()
    whole = from_sample(grid(10, 2), np.ones(100, dtype=bool), [0, 0], [1, 1])
    assert not whole.contains(outside).any()
    assert whole.contains([[0, 0], [1, 1]]).all()
    assert whole.contains(np.empty((0, 2))).shape == (0,)


def test_many_boxes_are_looked_up_in_parts(monkeypatch):
    rng = np.random.default_rng(6)
    region = draw_region("point", 0.3, [0, 0], [1, 1], rng)
    points = rng.random((1000, 2))
    whole = region.contains(points)
    assert region.contains(np.empty((0, 2))).shape == (0,)
    monkeypatch.setattr("datamorphic.hunting.regions.MAX_COMPARISONS_PER_CHUNK", 50 * 7)
    assert (region.contains(points) == whole).all()
    assert (whole == [region.contains(point)[0] for point in points]).all()


def test_a_seed_draws_the_same_region():
    for kind in KINDS:
        points = np.random.default_rng(0).random((500, 2))
        one, same, other = (draw_region(kind, 0.1, [0, 0], [1, 1], seed).contains(points) for seed in (1, 1, 2))
        assert (one == same).all()
        assert (one != other).any()


@pytest.mark.parametrize("how", ["grid", "random"])
def test_region_from_a_sample(how):
    rng = np.random.default_rng(7)
    truth = draw_region("block", 0.05, [0, 0], [1, 1], rng)
    tried = grid(100, 2) if how == "grid" else rng.random((10_000, 2))
    region = from_sample(tried, truth.contains(tried), [0, 0], [1, 1])
    points = rng.random((10_000, 2))
    assert (region.contains(points) == truth.contains(points)).mean() > 0.98
    assert region.volume == pytest.approx(0.05, abs=0.005)


def test_impossible_rates_are_refused():
    with pytest.raises(ArgumentError, match=r"of 50 boxes .* Lower the rate"):
        draw_region("point", 0.7, [0, 0], [1, 1], 1)
    with pytest.raises(ArgumentError, match=r"at most 0\.2 for a strip"):
        draw_region("strip", 0.3, [0, 0], [1, 1], 1)
    assert draw_region("strip", 0.3, 0, 1, 1).volume == pytest.approx(0.3)


@in_one_test(
    ("call", "error", "message"),
    [
        (lambda: draw_region("blob", 0.1, 0, 1), ArgumentError, "'block', 'strip', 'point'"),
        (lambda: draw_region("block", 0, 0, 1), ArgumentError, "above 0 and below 1"),
        (lambda: draw_region("block", 1, 0, 1), ArgumentError, "above 0 and below 1"),
        (lambda: draw_region("block", float("nan"), 0, 1), ArgumentError, "above 0 and below 1"),
        (lambda: draw_region("block", 0.1, [], []), ArgumentError, "at least one dimension"),
        (lambda: draw_region("block", 0.1, [0, 0], [1]), ArgumentError, "as long as"),
        (lambda: draw_region("block", 0.1, [0, 1], [1, 1]), ArgumentError, "empty or infinite"),
        (lambda: draw_region("block", 0.1, 0, float("inf")), ArgumentError, "empty or infinite"),
        (lambda: draw_region("block", 0.1, "a", "b"), ArgumentError, "numbers"),
        (lambda: draw_region("point", 0.1, 0, 1, boxes=0), ArgumentError, r"\[1, inf"),
        (lambda: draw_region("block", 0.1, 0, 1).contains([[1, 2]]), ArgumentError, r"\(n, 1\)"),
        (lambda: draw_region("block", 0.1, 0, 1).contains(["x"]), ArgumentError, "numbers"),
        (lambda: make_box_region([1], [0]), ArgumentError, "lows below highs"),
        (lambda: make_box_region([[0, 0], [1, 1]], [[2, 2], [3, 3]]), ArgumentError, "0 and 1 overlap"),
        (lambda: from_sample([0.5, 0.7], [True], 0, 1), ArgumentError, "2 flags"),
        (lambda: from_sample([0.5, 1.7], [True, False], 0, 1), DataError, "outside the domain"),
        (lambda: from_sample([[0.5] * 3] * 7, [True] * 7, [0] * 3, [1] * 3), DataError, "at least 8"),
        (lambda: classify([0.5], [1], 0, 1), ArgumentError, "flags"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


WIDE, NARROW = ([0.0, 0.0], [300.0, 300.0]), ([0.0, 0.0], [100.0, 100.0])
DOMAINS = {"A": (NARROW, WIDE), "B": (WIDE, ([0.0, 0.0], [290.0, 300.0])), "C": (WIDE, NARROW)}


@in_one_test("name", SCENARIOS)
def test_a_scenario_places_its_region(name):
    rng = np.random.default_rng(9)
    source, follow_up = DOMAINS[name[0]]
    low, high, top = source[0][0], source[1][0], follow_up[1][0]
    for _ in range(50):
        region = draw_scenario(name, 0.01, source, follow_up, rng)
        assert isinstance(region, BoxRegion)
        assert region.volume == pytest.approx(0.01 * high * high)
        assert (region.lows >= low).all()
        assert (region.highs <= high).all()
        at, to = region.lows[0], region.highs[0]
        off_centre = np.abs((at + to) / 2 - high / 2).max()
        match name[1], name[0]:
            case "1", _:
                assert off_centre <= 0.05 * high + 1e-9
            case "2", _:
                assert min((at - low).min(), (high - to).min()) <= 0.05 * high
            case "3", _:
                assert len(region.lows) == 50
            case "4", "A":
                # the centre of the follow-up domain is outside the source domain, whose nearest corner is this
                assert (to >= high * 0.99).all()
            case "5", "A":
                assert at.min() <= 0.05 * high
            case "4", "C":
                assert (at >= top).any()
            case _:
                assert (to <= top).all()


def test_scenarios_that_the_domains_do_not_allow_are_refused():
    inner, outer = ([45.0, 45.0], [55.0, 55.0]), ([0.0, 0.0], [100.0, 100.0])
    with pytest.raises(ArgumentError, match="not near an edge"):
        draw_scenario("A5", 0.01, inner, outer, 1)
    with pytest.raises(ArgumentError, match="near the centre"):
        draw_scenario("A4", 0.01, (0, 10), (0, 100), 1)
    with pytest.raises(ArgumentError, match="too big"):
        draw_scenario("C5", 0.5, outer, inner, 1)
    with pytest.raises(ArgumentError, match="too little room"):
        draw_scenario("C4", 0.8, (0, 100), (0, 90), 1)
    # a block that does not fit outside, but mostly: pushed to the side
    mostly = draw_scenario("C4", 0.15, (0, 100), (0, 90), 1)
    assert mostly.highs[0, 0] == pytest.approx(100)
    with pytest.raises(ArgumentError, match="case C: try C1"):
        draw_scenario("A1", 0.01, outer, inner, 1)
    with pytest.raises(ArgumentError, match=r"which is case B\."):
        draw_scenario("C5", 0.01, ([0], [10]), ([0], [10]), 1)
    with pytest.raises(ArgumentError, match="neither is inside"):
        draw_scenario("B1", 0.01, (0, 10), (5, 15), 1)
    with pytest.raises(ArgumentError, match="2 dimensions and the follow-up domain 1"):
        draw_scenario("B1", 0.01, outer, (0, 10), 1)
    with pytest.raises(ArgumentError, match="no scenario 'D1'"):
        draw_scenario("D1", 0.01, outer, outer, 1)
    with pytest.raises(ArgumentError, match="above 0 and below 1"):
        draw_scenario("B1", 1.0, outer, outer, 1)
    draw_scenario("B1", 0.01, inner, (inner[0], [55.2, 55.2]), 1)  # nearly the same domains are case B


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "rate", "side", "how"),
    [
        (1, 0.02, 5000, "grid"),
        (3, 0.05, 30, "random"),
        *([(1, 0.02, 5000, "random"), (3, 0.05, 30, "grid")] if LONG else []),
    ],
)
def test_classification_in_one_and_three_dimensions(d, rate, side, how):
    _named_rightly(d, rate, side, how, regions=15, least=0.93)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["grid", "random"])
def test_classification_in_two_dimensions(how):
    _named_rightly(2, 0.01, 100, how, regions=40 if LONG else 20, least=0.95 if LONG else 0.9)


def _named_rightly(d, rate, side, how, regions, least):
    rng = np.random.default_rng(10)
    low, high = domain(d)
    points = low + (high - low) * (grid(side, d) if how == "grid" else rng.random((side**d, d)))
    for kind in KINDS:
        drawn = [draw_region(kind, rate, low, high, rng, boxes=20) for _ in range(regions)]
        named = [classify(points, region.contains(points), low, high) for region in drawn]
        # an interval is a block: in one dimension there are no strips
        expected = "block" if d == 1 and kind == "strip" else kind
        assert np.mean([item.kind == expected for item in named]) >= least, kind


def test_classification_of_regions_of_mutants():
    points = grid(100, 2)
    x, y = points.T

    def named(violated):
        return classify(points, violated, [0, 0], [1, 1])

    across = named((y > 0.4) & (y < 0.45))
    assert (across.kind, across.components, across.touched_sides) == ("strip", 1, ((0, "low"), (0, "high")))
    assert "opposite sides" in across.reason
    assert across.rate == pytest.approx(0.05)
    assert across.elongation > 10
    # long, but away from the sides
    assert named((y > 0.4) & (y < 0.45) & (x > 0.2) & (x < 0.8)).kind == "block"
    # many bands, as a periodic function has them
    bands = named(((x + y) * 5) % 1 < 0.3)
    assert (bands.kind, bands.components) == ("strip", 10)
    ring = named(np.abs(np.hypot(x, y) - 0.7) < 0.02)
    assert (ring.kind, ring.touched_sides) == ("strip", ((0, "low"), (1, "low")))
    assert "adjacent sides" in ring.reason
    two = named((np.hypot(x - 0.2, y - 0.2) < 0.1) | (np.hypot(x - 0.7, y - 0.7) < 0.1))
    assert (two.kind, two.components) == ("not classified", 2)
    assert named(np.ones(len(points), dtype=bool)).kind == "block"
    assert named(np.zeros(len(points), dtype=bool)).kind == "none"
    few = named(np.arange(len(points)) < 29)
    assert few.kind == "not classified"
    assert "29 violations" in few.reason


def test_a_sample_is_not_enough_in_four_dimensions():
    points = np.random.default_rng(11).random((500, 4))
    named = classify(points, points[:, 0] < 0.5, [0] * 4, [1] * 4)
    assert (named.kind, named.components) == ("not classified", 0)
    assert "needs the function" in named.reason
    assert classify(points, np.zeros(500, dtype=bool), [0] * 4, [1] * 4).kind == "none"

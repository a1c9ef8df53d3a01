"""Violation regions in any number of dimensions, measured by queries around violating points."""

from __future__ import annotations

import numpy as np
import pytest

from datamorphic.hunting.region_kinds import classify, probe_region
from datamorphic.hunting.regions import draw_region
from support.cases import LONG

KINDS = ("block", "strip", "point")


def make_domain(d):
    """Return the ends of a domain with sides of different lengths."""
    return np.arange(d) - 3.0, np.arange(d) * 4.0 + 2.0


def classify_by_queries(violates, d, seed=0):
    low, high = make_domain(d)
    points = low + (high - low) * np.random.default_rng(seed).random((50_000, d))
    return classify(points, violates(points), low, high, violates, seed)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 4, 5, 6])
def test_planted_regions_are_recognised(d):
    rng = np.random.default_rng(d)
    low, high = make_domain(d)
    for seed in range(20 if LONG else 1):
        for kind in KINDS:
            rate = rng.choice([0.002, 0.005] if kind == "point" else [0.002, 0.01, 0.1])
            region = draw_region(kind, rate, low, high, rng, boxes=12)
            if d < 4:  # where a sample is enough to classify
                points = low + (high - low) * rng.random((50_000, d))
                shape = probe_region(region.contains, points[region.contains(points)], low, high, seed)
                assert (shape.elongation >= 3) == (kind == "strip"), kind
                assert (shape.parts > 3) == (kind == "point"), kind
                assert (shape.touched_sides.sum(axis=(1, 2)) >= 2).all()
            else:
                named = classify_by_queries(region.contains, d, seed)
                assert named.kind == kind, (rate, named)


@pytest.mark.slow
def test_curved_sheets_between_sides_are_strips_and_closed_ones_are_not():
    def is_near_a_sphere(points, centre):
        low, high = make_domain(4)
        scaled = (points - low) / (high - low)
        return np.abs(np.linalg.norm(scaled - centre, axis=1) - 0.45) < 0.01

    corner = classify_by_queries(lambda points: is_near_a_sphere(points, 0.0), 4)
    assert corner.kind == "strip"
    assert {(axis, "low") for axis in range(4)} <= set(corner.touched_sides)
    closed = classify_by_queries(lambda points: is_near_a_sphere(points, 0.5), 4)
    assert closed.kind in ("block", "not classified")


def test_the_same_seed_gives_the_same_shape():
    def violates(points):
        return (points < 0.6).all(axis=1)

    low, high, points = np.zeros(4), np.ones(4), np.random.default_rng(0).random((200, 4)) * 0.6
    first, second = (probe_region(violates, points, low, high, 3) for _ in range(2))
    assert (first.elongation, first.parts, first.biggest_share) == (second.elongation, 1, 1.0)
    assert first.elongation < 2

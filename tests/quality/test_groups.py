"""What generators and selectors are for: fewer groups until the first violation, in seeded trials."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.hunting.measures import f_ratio
from support.cases import LONG, rotate


def ratio_and_error(measured, rate):
    """Return the F-ratio to random testing of a known violation rate, and its standard error."""
    return measured.mean * rate, measured.standard_error * rate


@pytest.mark.parametrize(
    ("generator", "published"), [("FSCS-ART", 0.67), ("RPART", 0.76), ("BART", 0.75), ("IPART", 0.63)]
)
def test_blocks_are_found_as_soon_as_published(generator, published):
    """Table 9: a square block of .01 of a plane."""
    f_measures = dm.simulate(generator, "block", rate=0.01, trials=600 if LONG else 250, seed=1).found
    ratio, error = ratio_and_error(f_measures, 0.01)
    assert abs(ratio - published) < 0.03 + 4 * error
    assert error < (0.03 if LONG else 0.05)


@pytest.mark.parametrize(
    ("generator", "place"),
    rotate(["RPART", "BART", "IPART", "MT-BART", "MT-IPART"], [("point", 0.01), ("strip", 0.005)]),
)
def test_points_and_strips_are_found_as_soon_as_by_chance(generator, place):
    region, rate = place
    ratio, error = ratio_and_error(dm.simulate(generator, region, rate=rate, trials=150, seed=2).found, rate)
    assert abs(ratio - 1) < 0.1 + 3 * error
    assert error < 0.1


def rate_of(mutant, relation):
    """Return which share of sources violates, nearly exactly."""
    box = relation.domain[0]
    drawn = np.linspace(box.low, box.high, 1_000_001)
    x = [drawn, relation.follow(drawn)]
    with np.errstate(all="ignore"):
        return (relation.judge(x, [mutant(item[:, 0]) for item in x])[0] == 1).mean()


@pytest.mark.parametrize(
    ("mutant", "generator", "trials", "between"),
    [
        ("emu10", "SFIDMT-ART", 75, (0.55, 0.61)),
        ("emu10", "MT-ART-Min", 75, (0.35, 0.5)),
        ("branch3.1", "SFIDMT-ART", 25, (0.55, 0.61)),
        ("branch3.1", "MT-ART-Min", 25, (0.8, 1.0)),
    ],
)
def test_one_pool_for_two_domains_helps_one_mutant_and_not_the_other(mutant, generator, trials, between):
    """The input-domain difference problem: tripled sources fill a domain three times as wide."""
    tanh = dm.programs["tanh"]
    relation = tanh.relations["tripling"].over((0, 333.33))
    wrong = tanh.mutants[mutant]
    hunt = dm.hunt(wrong, relation, generator, trials=3 * trials if LONG else trials, seed=3)
    ratio, error = ratio_and_error(hunt.measured, rate_of(wrong, relation))
    assert between[0] - 2 * error < ratio < between[1] + 2 * error
    assert error < 0.22


def relations(dimension, kinds):
    """Return 1-N relations on the unit cube whose follow-ups mix inputs."""
    one = np.eye(dimension)
    changes = [one[::-1] * 0.5, np.tril(np.ones((dimension, dimension))) / dimension, 1.5 * one[::-1] - 0.5 * one]
    return [
        dm.FunctionRelation(
            name=f"1-{kind} {i}",
            domain=[(0, 1)] * dimension,
            follow_up=[dm.relations.Affine.of(matrix, 0.1) for matrix in changes[:kind]],
        )
        for i, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(("dimension", "violating"), rotate([1, 2, 3], [0, 1, 2]))
def test_mrgs_art_is_never_worse_than_random_selection(dimension, violating):
    simulation = dm.simulate(
        relation=relations(dimension, (1, 2, 3)),
        selector="MRGS-ART-fair",
        violating=violating,
        rate=0.03,
        trials=100,
        seed=1,
    )
    ratio, error = ratio_and_error(simulation.found, 0.01)
    assert ratio < 1.05 + 3 * error
    # and much better in one dimension
    assert dimension > 1 or ratio + 3 * error < 1


def test_counting_open_cells_starves_relations_with_few_follow_ups():
    """As published, one 1-1 relation beside two 1-3 ones comes too seldom; by shares it does not."""
    counted, shared = (
        dm.simulate(relation=relations(2, (1, 3, 3)), selector=name, rate=0.03, trials=100, seed=1).found
        for name in ("MRGS-ART", "MRGS-ART-fair")
    )
    assert counted.mean * 0.01 > 1.1
    assert f_ratio(shared, counted).high < 0.8

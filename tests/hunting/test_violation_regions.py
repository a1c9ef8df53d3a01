"""Violation regions of real programs: their kinds among sources and follow-ups, and simulations in them."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.hunting.measures import f_ratio
from datamorphic.hunting.violation_regions import GroupSample, judge_groups, measure_predicate, name_columns
from datamorphic.relations.algebra.base import VIOLATED
from datamorphic.relations.algebra.box import Box
from datamorphic.reporting.html import render_page

TANH = dm.programs["tanh"]


def make_relation(dimension, follow_up, **options):
    return dm.FunctionRelation(
        name="changed",
        domain=[(0, 1)] * dimension,
        follow_up=follow_up,
        expects=lambda x, y: ~(np.asarray(y[0]) > 0.5),
        **options,
    )


def make_wrong(contains):
    """Return a function that answers 1 where it is wrong, else 0, whatever the follow-up."""
    return lambda *x: contains(np.column_stack(x)).astype(float)


BLOCK = make_wrong(lambda x: ((x > 0.3) & (x < 0.6)).all(axis=1))
BAND = make_wrong(lambda x: abs(x[:, 0] + x[:, 1] - 0.8) < 0.05)
DOTS = make_wrong(lambda x: ((x * 5) % 1 < 0.3).all(axis=1))


@pytest.mark.parametrize(("function", "kind"), [(BLOCK, "block"), (BAND, "strip"), (DOTS, "point")])
def test_kinds_of_sources_and_follow_ups(function, kind):
    relation = make_relation(2, dm.relations.Affine.scaled(3.0, 2, 1.0))
    region = dm.hunting.classify_region(function, relation, n=40_000)
    assert region.kind == region.sources.kind == kind
    assert [part.kind for part in region.follow_ups] == [kind]  # a change of scale keeps the shape
    assert region.document()["regions"][1]["kind"] == kind
    assert repr(region.headline) in repr(region.test_cases()[0].output)


def test_follow_ups_may_have_another_kind_than_sources():
    flattened = dm.relations.Affine.of([[1.0, 1.0], [1.0, -1.0]])  # the band lies along a side of the rotated square
    projected = dm.relations.Affine.of([[1.0, 0.0], [0.0, 0.0]], [0.0, 2.0])  # its second input is always 2
    region = dm.hunting.classify_region(BAND, make_relation(2, [flattened, projected]), n=40_000)
    assert region.kind == "strip"
    assert [row["inputs"] for row in region.rows] == ["sources", "follow-ups 1", "follow-ups 2"]
    assert [part.kind for part in region.follow_ups] != ["strip", "strip"]


def test_four_inputs_are_probed_where_follow_ups_can_be_undone():
    undone, lost = dm.relations.Affine.scaled(-2.0, 4, 1.0), dm.relations.Affine.of(np.ones((4, 4)))
    region = dm.hunting.classify_region(BLOCK, make_relation(4, [undone, lost]), n=20_000)
    assert [part.kind for part in (region.sources, *region.follow_ups)] == ["block", "block", "not classified"]


def test_region_is_where_groups_violate():
    function, relation = TANH.mutants["emu10"], TANH.relations["tripling"]
    region = dm.hunting.classify_region(function, "tripling", n=20_000, seed=3)
    assert region.relation is relation
    points = relation.domain[0].sample(500, np.random.default_rng(1))
    points[::2] /= 100
    expected = np.array([bool(judge_groups(function, relation, row[None]).verdicts[0] == VIOLATED) for row in points])
    assert 0 < expected.sum() < len(points)
    assert region.contains(points).tolist() == expected.tolist()
    assert not region.contains([[-5.0], [1e9]]).any()
    assert region.rate.value == GroupSample.draw(relation, 20_000, 3).judge(function).tolist().count(VIOLATED) / 20_000
    assert region.rate.low < dm.programs["tanh"].regions.set_index("mutant")["rate"]["emu10"] < region.rate.high
    assert region.undefined > 0.2  # follow-ups overflow


def test_relations_of_a_program_by_name():
    sin = dm.programs["Sin"]
    assert dm.hunting.classify_region(sin, "sin1", n=100).kind == "none"
    with pytest.raises(
        ArgumentError, match=r"classify_region\(\) got no relation, but Sin has 1\d relations. Name one"
    ):
        dm.hunting.classify_region(sin)
    with pytest.raises(ArgumentError, match="'relation' parameter of classify_region"):
        dm.hunting.classify_region(np.sin, "Sin1")


def test_columns_are_named():
    assert name_columns(Box.of([(0, 1)] * 2)) == ("x", "y")
    assert name_columns(make_relation(2, lambda x, y: x, sources=2)) == ("x1", "y1", "x2", "y2")


def test_page_names_the_kinds_and_draws_the_region():
    region = dm.hunting.classify_region(BLOCK, make_relation(2, dm.relations.Affine.scaled(2.0, 2)), n=5_000)
    html = render_page(region.page())
    assert "<svg" in html
    assert "MRVR-F" in html
    assert "follow-ups  block" in region.describe()


# -- simulations -------------------------------------------------------------------------------------------------------


def test_trials_in_a_real_region_are_those_of_a_plain_loop():
    mutant, relation = TANH.mutants["emu10"], TANH.relations["tripling"]
    simulation = dm.simulate("SFIDMT-ART", mutant, trials=5, seed=2)
    expected = []
    for trial in range(5):
        generator = dm.hunting.make_generator("SFIDMT-ART", relation).clone(np.random.default_rng([2, trial]))
        while True:
            if judge_groups(mutant, relation, generator.propose(1).sources).verdicts[0] == VIOLATED:
                expected.append(generator.count)
                break
    assert simulation.f_measures.tolist() == expected
    assert "tanh/emu10 violates 'tripling'" in simulation.describe()


def test_hunts_programs_and_regions_give_the_same_simulation():
    mutant = TANH.mutants["emu10"]
    hunt = dm.hunt(mutant, "tripling", regions=100_000)
    regions = [mutant, hunt, dm.hunt(mutant, "tripling"), dm.hunting.classify_region(mutant)]
    assert {dm.simulate("MT-RT", region, trials=10).ratio for region in regions[1:]} == {
        dm.simulate("MT-RT", mutant, trials=10).ratio
    }


def test_uncertain_rate_widens_the_interval():
    def corner(x, y):
        return (x < 0.1) & (y < 0.1)

    simulation = dm.simulate("MT-RT", corner, trials=200)
    measured, exact = simulation.ratio, f_ratio(simulation.found, simulation.chance)
    assert measured.value == exact.value
    assert measured.high - measured.low > exact.high - exact.low
    assert measured.low < 1 < measured.high
    assert simulation.setting.measured_rate.low < 0.01 < simulation.setting.measured_rate.high


def test_own_function_is_judged_by_its_relation_and_a_predicate_by_its_answer():
    relation = dm.FunctionRelation(name="mirrored", domain=(0, 1), follow_up=lambda x: 1 - x)

    def notch(x):
        return np.where((x > 0.2) & (x < 0.3), 1.0, 0.0)

    judged = dm.simulate("MT-RT", notch, relation=relation, trials=5).setting
    predicate = dm.simulate("MT-RT", lambda x: notch(x) > 0, relation=relation, trials=5).setting
    assert judged.rate == pytest.approx(0.2, abs=0.01)  # the follow-ups of two tenths lie in the notch
    assert predicate.rate == pytest.approx(0.1, abs=0.01)


def test_regions_without_violations_and_wrong_ones_are_refused():
    with pytest.raises(ArgumentError, match="None of 100,000 random groups lies in the region"):
        dm.simulate("MT-RT", TANH, trials=5)
    with pytest.raises(ArgumentError, match="a hunt that found a violation of a function"):
        dm.simulate("MT-RT", dm.hunt(TANH, "tripling", budget=10), trials=5)
    with pytest.raises(ArgumentError, match="True or False for each point"):
        measure_predicate(np.hypot, Box.of([(0, 1)] * 2), 0)
    with pytest.raises(ArgumentError, match="scenario draws its own regions"):
        dm.simulate("MT-RT", TANH.mutants["emu10"], scenario="A1", trials=5)


# -- hunts -------------------------------------------------------------------------------------------------------------


def test_a_hunt_measures_the_regions_of_violated_relations():
    sin = dm.programs["Sin"]

    def broken(x):
        return np.sin(x) + 0.1 * ((x > 100) & (x < 200))

    hunt = dm.hunt(broken, [sin.relations["Sin1"], sin.relations["Sin3"]], regions=5_000, budget=500, stop_after=None)
    violated = [row.relation for row in hunt.table.itertuples() if row.violated]
    assert [region.relation.name for region in hunt.regions] == violated
    assert [region["relation"] for region in hunt.document()["regions"]] == violated
    assert "Kinds of violation regions" in hunt.describe()
    assert "regions" not in dm.hunt(broken, sin.relations["Sin1"], budget=20).document()


def test_regions_of_models_are_refused():
    class Constant:
        def predict(self, frame):
            return np.zeros(len(frame))

    space = dm.Space([dm.Continuous("x", 0, 1)])
    with pytest.raises(ArgumentError, match="The option regions is for plain functions"):
        dm.hunt(Constant(), make_relation(1, lambda x: x), space=space, regions=100)

"""Simulation: F-measures of generators and selectors on regions that stand for wrong programs."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.hunting.generators import make_generator
from datamorphic.hunting.regions import draw_region, make_box_region
from datamorphic.hunting.scenarios import SCENARIOS, draw_scenario
from datamorphic.hunting.selectors import SELECTORS
from datamorphic.hunting.simulation import make_default_relation
from support.cases import LONG, in_one_test, thin


def relation(name, *factors, dimension=2, **more):
    return dm.FunctionRelation(
        name=name,
        domain=[(0, 1)] * dimension,
        follow_up=[dm.relations.Affine.scaled(f, dimension) for f in factors],
        **more,
    )


THREE = [relation("one", 3), relation("two", -1, 2), relation("three", 0.5, 1, 2)]


def plain(proposing, region, seed, trial, budget=10_000, **drawing):
    """Propose one by one until the region is hit."""
    rng = np.random.default_rng([seed, trial])
    if isinstance(region, str):
        region = draw_region(region, low=[0.0, 0.0], high=[1.0, 1.0], rng=rng, **drawing)
    elif callable(region):
        region = region(rng)
    proposing = proposing.clone(rng)
    for i in range(1, budget + 1):
        if region.contains(proposing.propose(1).sources)[0]:
            return i
    return budget


@in_one_test(
    "generator, region",
    thin(["MT-RT", "FSCS-ART", "SFIDMT-ART", "MT-IPART", "RPART", "Sobol"], ["block", "strip", "point"]),
)
def test_trials_are_those_of_a_plain_loop(generator, region):
    simulation = dm.simulate(generator, region, rate=0.05, trials=8, seed=3, boxes=7)
    kind = type(instance := make_generator(generator, make_default_relation(2)))
    proposing = kind(dm.relations.Box.of([(0, 1), (0, 1)])) if instance.sources_only else instance
    expected = [plain(proposing, region, 3, trial, rate=0.05, boxes=7) for trial in range(8)]
    assert simulation.f_measures.tolist() == expected
    assert simulation.f_measure == np.mean(expected)
    assert simulation.f_ratio == pytest.approx(np.mean(expected) * 0.05)
    assert simulation.censored == 0


@in_one_test("violating", [0, 2])
@in_one_test("selector", ["random", "MRGS-ART", "MRGS-distance"])
def test_trials_of_selectors_are_those_of_a_plain_loop(selector, violating):
    simulation = dm.simulate(relation=THREE, selector=selector, violating=violating, rate=0.1, trials=6, seed=2)
    expected = []
    for trial in range(6):
        rng = np.random.default_rng([2, trial])
        region = draw_region("block", 0.1, [0.0, 0.0], [1.0, 1.0], rng)
        chosen = SELECTORS[selector](THREE).clone(rng)
        picks = (chosen.propose(1) for _ in range(10_000))
        expected.append(
            next(i for i, p in enumerate(picks, 1) if p.relation[0] == violating and region.contains(p.sources)[0])
        )
    assert simulation.f_measures.tolist() == expected
    assert simulation.chance == pytest.approx(0.1 / 3)
    assert "one of 3 relations violated" in simulation.describe()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"generator": "SFIDMT-ART", "rate": 0.03, "trials": 40},
        {"relation": THREE, "selector": "MRGS-ART", "rate": 0.1, "trials": 40},
    ],
    ids=["SFIDMT-ART", "MRGS-ART"],
)
def test_the_number_of_workers_changes_nothing(options):
    one, two = (dm.simulate(**options, seed=5, workers=workers).f_measures for workers in (1, 2))
    assert one.tolist() == two.tolist()


def test_trials_do_not_depend_on_how_many_there_are():
    few, many = (dm.simulate("BART", rate=0.05, trials=trials, seed=1).f_measures for trials in (10, 60))
    assert few.tolist() == many[:10].tolist()
    assert dm.simulate("BART", rate=0.05, trials=10, seed=2).f_measures.tolist() != few.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("region", ["block", "strip", "point"] if LONG else ["block"])
def test_random_testing_is_geometric(region):
    simulation = dm.simulate("MT-RT", region, rate=0.02, trials=400, seed=1)
    assert simulation.f_ratio == pytest.approx(1, abs=4 / np.sqrt(400))
    for groups in (1, 20, 50, 150):
        missed = 0.98**groups
        error = np.sqrt(missed * (1 - missed) / 400)
        assert (simulation.f_measures > groups).mean() == pytest.approx(missed, abs=4 * error)
    assert simulation.p_value > 1e-4


@pytest.mark.slow
def test_random_selection_is_geometric_too():
    simulation = dm.simulate(relation=THREE, selector="random", violating=1, rate=0.1, trials=600, seed=1)
    assert simulation.f_ratio == pytest.approx(1, abs=4 / np.sqrt(600))


# -- where violations lie -----------------------------------------------------------------------------------------------


def test_region_of_the_user_decides_the_rate():
    quarter = make_box_region([[0.0, 0.0]], [[0.5, 0.5]])
    simulation = dm.simulate("MT-RT", quarter, trials=800, seed=1)
    assert simulation.chance == pytest.approx(0.25)
    assert simulation.f_ratio == pytest.approx(1, abs=4 / np.sqrt(800))
    assert simulation.f_measures[:5].tolist() == [
        plain(make_generator("MT-RT", [(0, 1), (0, 1)]), quarter, 1, trial) for trial in range(5)
    ]


@in_one_test("scenario", SCENARIOS if LONG else list(SCENARIOS)[::3])
def test_scenarios(scenario):
    simulation = dm.simulate("MT-BART", rate=0.01, scenario=scenario.lower(), trials=3, seed=1)
    scenario_relation = make_default_relation(2, scenario)
    (follow,) = scenario_relation.follow_domains()
    unit = np.zeros(2), np.ones(2)
    expected = [
        plain(
            make_generator("MT-BART", scenario_relation),
            lambda rng: draw_scenario(scenario, 0.01, unit, (follow.low, follow.high), rng),
            1,
            trial,
        )
        for trial in range(3)
    ]
    assert simulation.f_measures.tolist() == expected
    assert simulation.document()["scenario"] == scenario
    assert scenario in simulation.describe()


@pytest.mark.parametrize("dimension", [1, 3, 6])
def test_dimensions_and_relations(dimension):
    simulation = dm.simulate("SFIDMT-ART", rate=0.1, dimension=dimension, trials=5)
    assert simulation.document()["dimension"] == dimension
    with_relation = dm.simulate("SFIDMT-ART", rate=0.1, relation=relation("own", 2, dimension=dimension), trials=5)
    assert with_relation.document()["dimension"] == dimension


def test_a_violated_relation_with_fewer_sources_than_others():
    two = dm.FunctionRelation(name="two", domain=(0, 1), sources=2, follow_up=dm.relations.Affine.of([[0.5, 0.5]]))
    one = relation("one", 1, dimension=1)
    for violating in (0, 1):
        for relations in ([one, two], [two, one]):
            simulation = dm.simulate(
                relation=relations, selector="MRGS-ART", violating=violating, rate=0.2, trials=20, seed=1
            )
            assert simulation.censored == 0
            assert simulation.f_measure < 30


def test_the_budget_ends_trials():
    simulation = dm.simulate("MT-RT", rate=0.001, trials=20, budget=25, seed=1)
    assert simulation.f_measures.max() == 25
    assert simulation.censored > 0.9
    assert np.isnan(simulation.cohens_d)
    assert "so its F-measure is a lower bound" in simulation.describe()
    # the last group may hit
    exact = dm.simulate("MT-RT", rate=0.05, trials=200, seed=1)
    at = int(np.median(exact.f_measures))
    ended = dm.simulate("MT-RT", rate=0.05, trials=200, seed=1, budget=at)
    assert ended.f_measures.tolist() == np.minimum(exact.f_measures, at).tolist()
    assert ended.found.censored.tolist() == (exact.f_measures > at).tolist()


def test_options_go_to_the_generator_or_the_selector():
    one, ten = (dm.simulate("FSCS-ART", rate=0.02, trials=30, seed=1, k=k).f_measures for k in (1, 10))
    assert one.tolist() != ten.tolist()
    raw, share = (
        dm.simulate(relation=THREE, selector="MRGS-ART", rate=0.02, trials=10, seed=1, published=published).f_measures
        for published in (True, False)
    )
    assert raw.tolist() != share.tolist()


@in_one_test(
    ("options", "why"),
    [
        ({"rate": 0}, "'rate'"),
        ({"rate": 1}, "'rate'"),
        ({"rate": np.nan}, "'rate'"),
        ({"rate": "0.1"}, "'rate'"),
        ({"rate": 0.5, "region": "strip"}, "'rate'"),
        ({"dimension": 0}, "'dimension'"),
        ({"dimension": 1.5}, "'dimension'"),
        ({"generator": "nobody"}, "no generator 'nobody'"),
        ({"region": "circle"}, "'region'"),
        ({"region": None}, "'region'"),
        ({"scenario": "D1"}, "'scenario'"),
        ({"scenario": "A1", "region": make_box_region([[0, 0]], [[0.1, 0.1]])}, "both a scenario and a region"),
        ({"scenario": "A1", "relation": THREE[1]}, "Scenario A1 needs"),
        ({"selector": "nobody"}, "no selector 'nobody'"),
        ({"relation": []}, "one or more FunctionRelation"),
        ({"relation": [], "selector": "random"}, "one or more FunctionRelation"),
        ({"relation": "sin"}, "'relation'"),
        ({"relation": THREE, "violating": 3}, "'violating'"),
        ({"relation": THREE, "violating": -1}, "'violating'"),
        ({"budget": 0}, "'budget'"),
        ({"trials": 0}, "'trials'"),
        ({"workers": 0}, "'workers'"),
        ({"seed": -1}, "'seed'"),
        ({"boxes": 0, "region": "point"}, "'boxes'"),
        ({"k": 0}, "'k'"),
        ({"nonsense": 1}, "nonsense"),
        ({"region": make_box_region([[0.0]], [[0.5]])}, "shape"),
        ({"relation": [THREE[0], relation("line", 2, dimension=1)]}, "'line' from"),
    ],
)
def test_bad_input(options, why):
    with pytest.raises(ArgumentError, match=why):
        dm.simulate(**{"trials": 3, **options})


# -- runs ---------------------------------------------------------------------------------------------------------------


@in_one_test("engine", ["serial", "threads:3", "processes:2"])
def test_engines_do_not_change_a_simulation(engine):
    settings = {"rate": 0.1, "trials": 60, "seed": 4, "progress": False}
    assert (
        dm.simulate("RT", engine=engine, **settings).f_measures.tolist()
        == dm.simulate("RT", **settings).f_measures.tolist()
    )


def test_several_generators_are_one_simulation():
    both = dm.simulate(["RT", "Sobol"], rate=0.1, trials=30, seed=1)
    assert [part.name for part in both.compared] == ["MT-RT", "Sobol"]
    alone = dm.simulate("Sobol", rate=0.1, trials=30, seed=1)
    assert both.others[0].f_measures.tolist() == alone.f_measures.tolist()
    assert [figures["generator"] for figures in both.document()["simulations"]] == ["MT-RT", "Sobol"]
    assert "the least of 2" in both.describe()


def test_a_budget_of_time_ends_a_simulation():
    simulation = dm.simulate("RT", rate=0.01, trials=10**6, budget="0.3s", progress=False)
    assert 0 < len(simulation.f_measures) < 10**6
    assert not simulation.complete
    assert simulation.unfinished[0].endswith("of 1,000,000 trials of MT-RT")


def test_censored_trials_are_told_from_others():
    simulation = dm.simulate("RT", rate=0.2, trials=40, budget=2, seed=3)
    assert set(simulation.f_measures[simulation.found.censored]) == {2}
    assert 0 < simulation.censored < 1


def test_a_simulation_is_resumed(tmp_path):
    calls = []

    def make_relation(limit):
        def mirror(x):
            calls.append(len(x))
            if len(calls) == limit:
                raise KeyboardInterrupt
            return np.abs(1 - x)  # not affine for all that is known

        return dm.FunctionRelation(name="mirrored", domain=[(0, 1)] * 2, follow_up=mirror)

    settings = {"rate": 0.1, "trials": 80, "seed": 4, "progress": False, "engine": "serial"}
    whole = dm.simulate("SFIDMT-ART", relation=make_relation(None), **settings)
    calls.clear()
    store = tmp_path / "runs.sqlite"
    part = dm.simulate("SFIDMT-ART", relation=make_relation(50), store=store, **settings)
    assert part.interrupted
    assert not part.complete
    calls.clear()
    again = dm.simulate("SFIDMT-ART", relation=make_relation(None), store=store, resume=1, **settings)
    assert again.f_measures.tolist() == whole.f_measures.tolist()
    assert 0 < len(calls) < 80  # the first trials are not made again

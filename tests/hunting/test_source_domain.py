"""Source domains that are no boxes: groups come from inside for every generator and selector, evenly."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.spatial import cKDTree
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError, SpaceError
from datamorphic.hunting.generators import GENERATORS, make_generator
from datamorphic.hunting.selectors import SELECTORS, make_selector
from datamorphic.hunting.source_domain import SourceDomain
from datamorphic.relations.algebra.box import Affine
from datamorphic.relations.algebra.domain import NumberRange, RangeDomain
from datamorphic.relations.algebra.function import FunctionRelation
from datamorphic.testing.conformance import check_generator

HALF = {"domain": {"a": (0, 10), "b": (0, 10)}, "constraints": ["a + b < 10"]}  # a triangle
HALVED = FunctionRelation(name="halved", follow_up=Affine.scaled(0.5, 2), **HALF)
SWAPPED = FunctionRelation(name="swapped", follow_up=lambda a, b: {"a": b, "b": a}, **HALF)
SUMMED = FunctionRelation(
    name="summed",
    domain=dict.fromkeys("abc", (0, 1)),
    constraints=["a + b + c == 1"],
    follow_up=lambda a, b: {"a": b, "b": a},
)
POWERS = FunctionRelation(
    name="powers",
    domain={"x": NumberRange(1e-3, 1e3, scale="log", special=(1,)), "n": range(5)},
    constraints=["x >= n"],
    follow_up=Affine.scaled(2.0, 2),
)
PAIRS = FunctionRelation(name="pairs", sources=2, follow_up=lambda a, b: {"a": a["a"], "b": b["a"] / 10}, **HALF)


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("relation", [HALVED, SWAPPED, SUMMED, POWERS, PAIRS], ids=lambda relation: relation.name)
def test_groups_come_from_inside_and_have_their_follow_ups(name, relation):
    groups = make_generator(name, relation, seed=1).propose(12)
    for box, part in zip(relation.domain, relation.split(groups.sources), strict=True):
        assert box.accepts(part).all()
    assert len(np.unique(groups.sources, axis=0)) > 8
    np.testing.assert_array_equal(groups.follow_ups, relation.follow(groups.sources))


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATORS)
def test_conformance(name):
    for relation in (HALVED, SWAPPED, SUMMED):
        check_generator(lambda seed, relation=relation: make_generator(name, relation, seed=seed), relation, groups=9)


def test_random_sources_are_uniform_in_the_domain():
    a, b = make_generator("MT-RT", HALVED, seed=2).propose(4000).sources.T
    # in a triangle with the right angle at 0: of points (a, b), the share with a sum below s is (s/10)^2
    assert stats.kstest(((a + b) / 10) ** 2, "uniform").pvalue > 0.01
    assert stats.kstest(a / (a + b), "uniform").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FSCS-ART", "SFIDMT-ART", "MT-BART", "Sobol"])
def test_spreading_generators_spread_over_the_domain(name):
    def find_nearest(generator, seed):
        rows = make_generator(generator, HALVED, seed=seed).propose(40).sources
        return cKDTree(rows).query(rows, k=2)[0][:, 1].mean()

    spread, random = ([find_nearest(generator, seed) for seed in range(12)] for generator in (name, "MT-RT"))
    assert np.mean(spread) > 1.15 * np.mean(random)
    pooled = np.concatenate([make_generator(name, HALVED, seed=seed).propose(40).sources for seed in range(12)])
    third = (pooled.sum(axis=1) > 10 * np.sqrt(2 / 3)).mean()  # of the area, at the long side
    assert 0.25 < third < 0.42


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_choose_inside(name):
    selector = make_selector(name, [HALVED, SWAPPED], seed=3)
    for _ in range(3):
        picks = selector.propose(6)
        assert HALVED.domain[0].accepts(picks.sources).all()
        selector.tell(picks, np.ones(6, dtype=np.int8))  # violated: learning selectors draw nearby
    assert set(picks.relation) <= {0, 1}


def test_selectors_refuse_domains_with_other_constraints_or_let_them_meet():
    other = FunctionRelation(
        name="other", domain=HALF["domain"], constraints=["a <= b"], follow_up=lambda a, b: {"a": b, "b": a}
    )
    with pytest.raises(ArgumentError, match="Give all the same domain"):
        make_selector("MRGS-ART", [HALVED, other])
    sources = make_selector("MRGS-ART", [HALVED, other], domains="meet").propose(10).sources
    assert (sources[:, 0] <= sources[:, 1]).all()
    assert (sources.sum(axis=1) < 10).all()
    with pytest.raises(ArgumentError, match="Row 1 of the candidates lies outside"):
        make_selector("MRGS-ART", [HALVED], candidates=[[1, 1], [9, 9]])


def test_a_hunt_asks_only_inside():
    inputs = []

    def area(a, b):
        inputs.append(np.stack([a, b], axis=1))
        return np.where(a + b > 10, np.nan, a * b)

    hunt = dm.hunt(area, [SWAPPED], budget=50)
    assert not hunt.found
    assert hunt.table["holds"].sum() == 50
    assert (np.concatenate(inputs).sum(axis=1) <= 10).all()
    assert not dm.hunt(area, [SWAPPED], selector="MRGS-ART", budget=20).found


def test_a_space_with_constraints_is_hunted_inside():
    space = dm.Space([dm.Continuous("a", 0, 10), dm.Continuous("b", 0, 10)], constraints=["a + b < 10"])

    class Swapped(dm.Relation):
        name = "swapped"

        def follow_up(self, frame, rng):
            return frame.assign(a=frame.b, b=frame.a)

    def larger(frame):
        assert (frame.a + frame.b < 10 + 1e-9).all()
        return np.where(frame.a + frame.b > 9.9, "a", "sum")

    assert not dm.hunt(larger, Swapped, space=space, budget=40).found
    groups = dm.generate(space, "IPART", n=30)
    assert (groups.sources.sum(axis=1) < 10).all()


def test_an_impossible_domain_is_refused():
    never = FunctionRelation(
        name="never", domain={"a": (0, 1), "b": (0, 1)}, constraints=["a + b > 3"], follow_up=lambda a: {"a": a}
    )
    for name in ("MT-RT", "MT-ART-Max"):
        with pytest.raises((ArgumentError, SpaceError), match="too few to continue"):
            dm.generate(never, name, n=5)
    affine = FunctionRelation(name="a", domain=never.domain[0], follow_up=Affine.scaled(1.0, 2))
    with pytest.raises(ArgumentError, match="of which 0 satisfy its constraints: too few to continue"):
        dm.generate(affine, "SFIDMT-BART", n=5)


def test_simulated_regions_lie_in_the_domain():
    simulation = dm.simulate("MT-RT", "block", rate=0.05, relation=HALVED, trials=300, seed=1)
    assert 0.035 < simulation.chance < 0.055  # parts of blocks stick out
    ratio = simulation.ratio
    assert ratio.low < 1 < ratio.high  # random testing needs as many groups as random testing


def test_shares_are_the_inverse_of_quantiles():
    for part in (
        NumberRange(1e-3, 1e3, scale="log"),
        NumberRange(-10, 10, scale="log"),
        NumberRange(-10, -1, scale="log"),
        NumberRange(2, 9),
    ):
        shares = np.linspace(0.01, 0.99, 50)
        np.testing.assert_allclose(part.find_shares(part.take_quantiles(shares)), shares, atol=2e-3)
        values = part.draw(20_000, np.random.default_rng(0))
        np.testing.assert_allclose(np.quantile(part.find_shares(values), shares), shares, atol=0.02)
    special = NumberRange(0, 4, special=(1, 3), special_share=0.5)
    assert special.take_quantiles(np.array([0.1, 0.3, 0.5, 0.75])).tolist() == [1, 3, 0, 2]
    whole = NumberRange(0, 2, whole=True, scale="log")
    assert set(whole.take_quantiles(np.linspace(0, 1, 9))) <= {0, 1, 2}


def test_domains_are_the_same_if_limits_ranges_and_constraints_are():
    plain = RangeDomain.build({"a": (0, 1)})
    log = RangeDomain.build({"a": NumberRange(0, 1, scale="log")})
    below = RangeDomain.build({"a": (0, 1)}, ["a < 0.5"])
    box = dm.relations.Box.of((0, 1))
    assert box.same(plain)
    assert plain.same(box)
    for other in (log, below):
        assert not other.same(plain)
        assert not plain.same(other)
        assert not box.same(other)
        assert other.same(other)
    assert SourceDomain((plain,)).is_box
    assert not SourceDomain((log,)).is_box


def test_generate_from_the_command_line_within_constraints(tmp_path):
    file = tmp_path / "inputs.csv"
    words = ["--domain", "a=0,10", "--domain", "b=0,10", "--constraint", "a + b < 10", "--generator", "Halton"]
    result = CliRunner().invoke(app, ["generate", *words, "--n", "20", "--out", str(file), "--store", "none"])
    assert result.exit_code == 0, result.output
    frame = pd.read_csv(file)
    assert list(frame) == ["source_a", "source_b"]
    assert (frame.sum(axis=1) < 10).all()
    for bad, complaint in (
        (["--domain", "0,1", "--constraint", "a < b"], "Give every input a name"),
        (["program:tanh/tripling", "--constraint", "a < b"], "--domain, which is missing"),
    ):
        result = CliRunner().invoke(app, ["generate", *bad])
        assert result.exit_code == 2
        assert complaint in " ".join(result.output.split())

"""Sources drawn from distributions, in Python and on the command line, for every generator."""

import json

import numpy as np
import pytest
import scipy.stats
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError
from datamorphic.hunting.generators import GENERATORS, make_generator
from datamorphic.hunting.selectors import SELECTORS, make_selector
from datamorphic.relations.algebra.box import Affine
from datamorphic.relations.algebra.domain import NumberRange
from datamorphic.relations.algebra.function import FunctionRelation
from datamorphic.relations.algebra.source_distribution import KINDS, find_distribution, format_distribution

LINE = FunctionRelation(name="line", domain=[(-50, 50), (0, 1)], follow_up=Affine.scaled(2.0, 2))
NORMAL = LINE.drawn_from({"x": "normal(10, 2)"})
EXAMPLES = {
    "normal": ("normal(3, 2)", 3, 2),
    "lognormal": ("lognormal(1, 0.5)", np.exp(0.125), None),
    "uniform": ("uniform(2, 6)", 4, None),
    "exponential": ("exponential(4)", 4, 4),
    "triangular": ("triangular(0, 3, 6)", 3, None),
    "beta": ("beta(2, 6)", 0.25, None),
    "gamma": ("gamma(3, 2)", 6, None),
    "student": ("student(5)", 0, None),
    "poisson": ("poisson(7)", 7, None),
}


@pytest.mark.parametrize("name", KINDS)
def test_texts_name_distributions(name):
    text, mean, deviation = EXAMPLES[name]
    distribution = find_distribution(text, "here")
    assert distribution.mean() == pytest.approx(mean)
    assert deviation is None or distribution.std() == pytest.approx(deviation)
    part = NumberRange.from_distribution(text)
    drawn = part.draw(4000, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(mean, abs=4 * distribution.std() / 4000**0.5)
    assert part.whole is (name == "poisson")


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ({"q": "normal(0, 1)"}, "There are: 'x'"),
        ({"x": "normal(0)"}, r"Its parameters are numbers: normal\(mean, deviation\)"),
        ({"x": "normal(0, -1)"}, "Its parameters are numbers"),
        ({"x": "norml(0, 1)"}, "Did you mean 'normal'"),
        ({"x": "__import__('os')"}, "is not known"),
        ({"x": "normal(500, 1)"}, "draws hardly any number between 0 and 1"),
        ({"x": 3}, "a text such as 'normal"),
    ],
)
def test_other_distributions_are_refused(bad, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        dm.generate((0, 1), "MT-RT", n=3, source_distribution=bad)


@pytest.mark.parametrize("name", GENERATORS)
def test_groups_follow_the_distribution_and_have_their_follow_ups(name):
    sources = np.concatenate([make_generator(name, NORMAL, seed=seed).propose(12).sources for seed in range(4)])
    shares = scipy.stats.norm(10, 2).cdf(sources[:, 0])
    assert (abs(sources[:, 0] - 10) < 6.1 * 2).all()
    if name not in ("MT-ART-Avg", "MT-ART-Max"):  # these prefer edges
        assert scipy.stats.kstest(shares, "uniform").pvalue > 0.001
    groups = make_generator(name, NORMAL, seed=1).propose(5)
    np.testing.assert_array_equal(groups.follow_ups, 2 * groups.sources)


def test_random_sources_have_the_distribution_truncated_to_the_domain():
    half = FunctionRelation(name="half", domain=(0, 50), follow_up=Affine.scaled(1.0, 1))
    drawn = dm.generate(half, "MT-RT", n=4000, source_distribution={"x": scipy.stats.norm(0, 3)}).sources[:, 0]
    assert scipy.stats.kstest(drawn / 3, scipy.stats.halfnorm.cdf).pvalue > 0.01


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_draw_candidates_from_the_distribution(name):
    sources = make_selector(name, [NORMAL], seed=1).propose(20).sources
    assert abs(sources[:, 0].mean() - 10) < 2.5
    assert (abs(sources[:, 0] - 10) < 10).all()  # five deviations; the domain is 100 wide


def test_a_domain_may_be_a_distribution():
    relation = FunctionRelation(
        name="r", domain={"a": "exponential(2)", "b": range(3)}, constraints=["a >= b"], follow_up=lambda a: {"a": a}
    )
    a, b = dm.generate(relation, "Halton", n=300).sources.T
    assert (a >= b).all()
    assert set(b) == {0, 1, 2}
    assert dm.check(lambda a, b: a - b, relations=relation, inputs=50).passed


def test_hunts_use_distributions_and_refuse_them_for_rows():
    inputs = []

    def line(x, y):
        inputs.append(x)
        return x + y

    dm.hunt(line, [LINE], budget=30, source_distribution={"x": "normal(10, 1)"})
    sources = inputs[0]
    assert (abs(sources - 10) < 8).all()
    space = dm.Space([dm.Continuous("income", 0, 100), dm.Continuous("age", 0, 1)])
    inputs.clear()
    model = dm.wrap(lambda income, age: line(income, age), space=space, scalar=True)
    dm.hunt(model, [LINE.over(space)], budget=10, source_distribution={"income": "normal(10, 1)"})
    assert inputs
    with pytest.raises(ArgumentError, match="the sources of this hunt are training sets"):
        dm.hunt(KNeighborsClassifier(), "MR-1.1", source_distribution={"x": "normal(0, 1)"})


def test_the_command_line_names_distributions():
    words = ["program:tanh/emu10", "tripling", "--budget", "50", "--store", "none", "--json"]
    result = CliRunner().invoke(app, ["hunt", *words, "--source-distribution", "x=normal(0, 0.5)"])
    assert result.exit_code in (0, 1), result.output
    tanh = dm.programs["tanh"]
    hunt = dm.hunt(tanh.mutants["emu10"], "tripling", budget=50, source_distribution={"x": "normal(0, 0.5)"})
    assert json.loads(result.stdout)["groups"] == json.loads(hunt.to_json())["groups"]
    result = CliRunner().invoke(app, ["generate", "--domain", "0,1", "--source-distribution", "normal(0, 1)"])
    assert result.exit_code == 2
    assert "takes an input and a distribution" in " ".join(result.output.split())


def test_frozen_distributions_have_texts():
    assert format_distribution(scipy.stats.norm(0, scale=2)) == "norm(0, scale=2)"
    assert format_distribution("normal(0, 2)") == "normal(0, 2)"

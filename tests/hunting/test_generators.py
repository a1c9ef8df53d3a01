"""Generators of groups: what all of them promise, what they refuse, and how evenly they spread."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import cKDTree

import datamorphic as dm
from datamorphic.errors import ArgumentError, TestSystemError
from datamorphic.hunting import partition_generators as partition
from datamorphic.hunting.generators import GENERATORS, VARIANTS, find_generator, make_generator
from datamorphic.hunting.measures import dispersion
from datamorphic.relations.algebra.box import Affine
from datamorphic.relations.algebra.function import FunctionRelation
from datamorphic.testing.conformance import check_generator
from support.cases import LONG, in_one_test, thin

NAMES = [name for name in (*GENERATORS, *VARIANTS) if name not in ("RT", "FSCS")]  # other names for the same
CUTTING = ["MT-BART", "MT-IPART", "SFIDMT-BART", "BART", "IPART", "MT-RPART", "RPART"]
POOLED = [name for name in NAMES if name.startswith("MT-ART")]


def follows(follow_up, domain=((0, 1),) * 2, **options):
    return FunctionRelation(name="asked", domain=domain, follow_up=follow_up, **options)


TRIPLED = follows(Affine.scaled(3.0, 1), (0, 333))
MEETING = FunctionRelation(
    name="meeting", domain=[(-2, 3)] * 2, sources=2, follow_up=lambda a, b: (a + b) / 2, follow_domain=[(-2, 3)] * 2
)
WHOLE = dm.Space([dm.Continuous("x", 0, 6), *(dm.Integer(name, 0, 10) for name in "nm")])
KINDS = dm.Space([*WHOLE.features, dm.Categorical("c", ["a", "b", "c"])])


# -- what all of them promise -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), thin(NAMES, ["one number", "two sources by hand", "a space"]))
def test_conformance(name, case):
    space = WHOLE if name in CUTTING else KINDS
    target = {"one number": TRIPLED, "two sources by hand": MEETING, "a space": space}[case]
    check_generator(lambda seed: make_generator(name, target, seed=seed), target, groups=50 if LONG else 20)


def test_conformance_suite_detects_wrong_generators():
    class Stubborn(GENERATORS["MT-RT"]):
        name = "Stubborn"

        def _advance(self, out):
            out[:] = 0.5
            return len(out)

    class Astray(GENERATORS["MT-RT"]):
        name = "Astray"

        def _place_inputs(self, shares):
            return 2 + shares

    class Hasty(GENERATORS["MT-RT"]):
        name = "Hasty"

        def propose(self, count=1):
            self.rng.random()
            return super().propose(count)

    for kind, complaint in (
        (Stubborn, "ignores its seed"),
        (Astray, "left the domain"),
        (Hasty, "depends on the sizes of proposals"),
    ):
        with pytest.raises(AssertionError, match=complaint):
            check_generator(lambda seed, kind=kind: kind((0, 1), seed=seed), (0, 1))


#: these look at all 3^d cells around a cell
MANY = {"IPART": 8, "MT-IPART": 8, "SFIDMT-BART": 8, "RPART": 8, "MT-RPART": 8}  # beyond that they refuse


@in_one_test("name", NAMES)
def test_many_columns(name):
    d = MANY.get(name, 30)
    groups = make_generator(name, follows(Affine.scaled(3.0, d), [(0, 1)] * d), seed=0).propose(20)
    assert groups.sources.shape == groups.follow_ups.shape == (20, d)
    assert np.unique(groups.sources).size == 20 * d


CONSTANT = {
    "matrix": follows(Affine.scaled(0.0, 2, 0.5)),
    "function": follows(lambda x: np.full_like(x, 0.5)),
    "number": follows(lambda x: 0.5, (0, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), thin(NAMES, [*CONSTANT]))
def test_constant_follow_ups(name, case):
    groups = make_generator(name, CONSTANT[case], seed=0).propose(40)
    assert (groups.follow_ups == 0.5).all()
    assert np.unique(groups.sources[:, 0]).size == 40


@in_one_test("name", NAMES)
def test_follow_ups_that_are_not_numbers(name):
    nowhere = follows(lambda x: x * np.nan, follow_domain=[(0, 1)] * 2)
    groups = make_generator(name, nowhere, seed=0).propose(30)
    assert np.isnan(groups.follow_ups).all()
    assert np.unique(groups.sources[:, 0]).size == 30


@pytest.mark.parametrize("name", ["SFIDMT-ART", "MT-ART-Min", "MT-BART", "MT-RPART"])
def test_undeclared_domain_of_follow_ups_that_are_not_numbers(name):
    with pytest.raises(ArgumentError, match="returns no finite numbers for any of 4,096 sources"):
        make_generator(name, follows(lambda x: x * np.nan))


@pytest.mark.parametrize("name", ["SFIDMT-ART", "MT-ART-Min", "MT-BART", "MT-RPART"])
def test_groups_proposed_before_an_error_count(name):
    """Or there would be no room for them, when memory is made for the groups that count."""
    calls = []

    def moody(x):
        calls.append(len(x))
        if len(calls) == 5:
            raise ZeroDivisionError
        return x**2

    generator = make_generator(name, follows(moody, follow_domain=[(0, 1)] * 2), seed=0)
    calls.clear()
    with pytest.raises(ZeroDivisionError):
        generator.propose(10)
    assert generator.count == 4
    assert len(generator.propose(3)) == 3


@pytest.mark.parametrize("name", ["SFIDMT-ART", "MT-RT"])
def test_follow_ups_that_depend_on_outputs(name):
    steered = follows(lambda x, outputs: x + outputs[0], (0, 1), uses_outputs=True, follow_domain=(0, 3))
    generator = make_generator(name, steered, seed=0)
    with pytest.raises(
        ArgumentError, match=r"depend on outputs\. Set the function that answers sources: generator\.answer_with"
    ):
        generator.propose()
    generator = make_generator(name, steered, seed=0)
    generator.answer_with(lambda inputs: [2 * inputs[0][:, 0]])
    groups = generator.propose(9)
    np.testing.assert_array_equal(groups.follow_ups, groups.sources + 2 * groups.sources)


# -- what they refuse ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@in_one_test("name", ["MT-RT", "SFIDMT-ART", "BART", "RPART", "Sobol"])
@in_one_test(
    ("domain", "complaint"),
    [
        ((1, 0), "is empty: a lower limit is above the upper one"),
        ([(0, 1), (5, 4)], "is empty"),
        ((math.nan, 1), "limits that are not finite"),
        ((0, math.inf), "limits that are not finite"),
        ((-1.7e308, 1.7e308), "too wide"),
        ((3, 3), "a single input, so there is nothing to choose from"),
        ([(3, 3), (4, 4)], "a single input"),
        ([], "a pair"),
        ((0, 1, 2), "a pair"),
        ("ab", "a pair"),
        (None, "a pair"),
        (dm.Space([dm.Continuous("x")]), "has none"),
    ],
)
def test_invalid_domains_are_refused(name, domain, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        make_generator(name, domain)


@in_one_test("name, k", thin(NAMES, [0, -3, 1.5, "3", math.nan], keep=2))
def test_numbers_of_candidates(name, k):
    with pytest.raises(ArgumentError, match="'k'"):
        make_generator(name, (0, 1), k=k)


@pytest.mark.parametrize("name", ["RPART", "MT-RPART"])
def test_boxes_have_few_columns(name):
    assert len(make_generator(name, [(0, 1)] * 8).propose(3)) == 3
    with pytest.raises(ArgumentError, match=rf"{name} .*up to 8 columns; these inputs have 9\. Use MT-BART"):
        make_generator(name, [(0, 1)] * 9)


@pytest.mark.parametrize("relation", [[(0, 1)] * 3, follows(lambda x: x, [(0, 1)] * 3)])
@pytest.mark.parametrize("name", ["IPART", "MT-IPART"])
def test_cells_can_become_too_many(name, relation, monkeypatch):
    monkeypatch.setattr(partition, "MAX_CELLS", 1500)
    with pytest.raises(
        ArgumentError, match=rf"{name} would cut a domain of 3 columns into 1,7\d\d cells after \d+ groups"
    ):
        make_generator(name, relation).propose(500)


@in_one_test("name", POOLED)
def test_a_pool_holds_inputs_of_one_width(name):
    with pytest.raises(ArgumentError, match=r"one pool.*\[2, 1\]\. Use SFIDMT-ART"):
        make_generator(name, follows(lambda x: x[:, 0]))


@pytest.mark.parametrize("name", ["SFIDMT-ARD", "MT-BERT", "Sobel"])
def test_misspelt_names_get_a_suggestion(name):
    with pytest.raises(ArgumentError, match=f"There is no generator '{name}'. Did you mean '.*'?"):
        make_generator(name, (0, 1))


@pytest.mark.parametrize("name", ["", None, 3, "something else", int])
def test_unknown_names(name):
    with pytest.raises(ArgumentError, match=r"There is no generator .*There are: 'MT-RT', "):
        find_generator(name)


def test_names_ignore_case_and_hyphens():
    for name in (*GENERATORS, *VARIANTS):
        assert (
            find_generator(name)
            == find_generator(name.lower().replace("-", "_"))
            == find_generator(name.replace("-", " "))
        )
    assert find_generator(GENERATORS["BART"]) == (GENERATORS["BART"], {})
    assert isinstance(make_generator("mt art min 2", TRIPLED, k=4), GENERATORS["MT-ART-Min"])
    assert repr(make_generator("sobol", (0, 1))).startswith("Sobol((0, 1)")


@in_one_test(
    ("name", "options", "complaint"),
    [
        ("RRT", {"ratio": 0}, "'ratio'"),
        ("RRT", {"ratio": math.nan}, "'ratio'"),
        ("RRT", {"tries": 0}, "'tries'"),
        ("MT-ART-Min", {"strategy": 3}, "must be 1 or 2"),
        ("MT-ART-Min", {"criterion": "Median"}, "'criterion'"),
        ("MT-RT", {"seed": "one"}, "'seed'"),
        ("MT-RT", {"seed": -1}, "'seed'"),
    ],
)
def test_options(name, options, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        make_generator(name, (0, 1), **options)


@pytest.mark.slow
@in_one_test("name", ["MT-RT", "SFIDMT-ART", "MT-BART", "BART"])
@in_one_test(
    "wrong", [lambda x: x[:-1], lambda x: np.concatenate([x, x]), lambda x: x[None], lambda x: np.zeros(len(x) + 1)]
)
def test_follow_ups_of_too_few_or_too_many_rows(name, wrong):
    with pytest.raises(TestSystemError, match=r"must return one row for each of .* groups"):
        make_generator(name, follows(wrong, follow_domain=[(0, 1)] * 2)).propose()


@in_one_test("wrong", [lambda x: x[:, 0], lambda x: np.hstack([x, x])])
@in_one_test("name", ["SFIDMT-ART", "MT-BART", "MT-RPART"])
def test_follow_ups_of_too_few_or_too_many_columns(name, wrong):
    with pytest.raises(TestSystemError, match=r"columns, but its declared domain has 2"):
        make_generator(name, follows(wrong, follow_domain=[(0, 1)] * 2)).propose()


@pytest.mark.parametrize("name", MANY)
def test_too_many_columns_are_refused(name):
    with pytest.raises(ArgumentError, match="takes up to 8 columns"):
        make_generator(name, [(0, 1)] * 9)


def test_splits_of_integers_reach_all_of_them():
    grid = dm.Space([dm.Integer("a", 0, 9), dm.Integer("b", 0, 9)])
    assert len(np.unique(make_generator("RPART", grid, seed=0).propose(2000).sources, axis=0)) == 100


# -- how they spread ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_first_group_is_uniform(name):
    relation = follows(Affine.scaled(3.0, 2))
    first = np.concatenate([make_generator(name, relation, seed=seed).propose().sources for seed in range(80)])
    for column in first.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(first.T)[0, 1]) < 4 / math.sqrt(80)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_candidates_come_from_shells_that_are_empty(d):
    drawn = make_generator("FSCS-EC", [(-1, 1)] * d, k=1, seed=3).propose(200).sources
    share = np.abs(drawn).max(axis=1) ** d
    for n in range(1, 200):
        shells = np.floor(share[: n + 1] * (n + 1))
        assert shells[n] not in shells[:n]
    # all sides, and along them everywhere
    assert abs((drawn > 0).mean(axis=0) - 0.5).max() < 4 * 0.5 / math.sqrt(200)
    if d > 1:
        along = drawn[:, 0] / np.abs(drawn).max(axis=1)
        inner = along[np.abs(along) < 1]
        assert abs(len(inner) / 200 - (1 - 1 / d)) < 4 * 0.5 / math.sqrt(200)
        assert stats.kstest(inner, stats.uniform(-1, 2).cdf).pvalue > 1e-4


@pytest.fixture(scope="module")
def nearest_of_random_ones():
    return nearest_distances("MT-RT")


def nearest_distances(name):
    """Mean distance to the nearest other source, for twelve seeds."""
    distances = []
    for seed in range(12):
        sources = make_generator(name, [(0, 1)] * 2, seed=seed).propose(150).sources
        distances.append(cKDTree(sources).query(sources, k=2)[0][:, 1].mean())
    return np.array(distances)


@pytest.mark.slow
@in_one_test(
    "name", ["FSCS-ART", "FSCS-EC", "RRT", "BART", "IPART", "RPART", "SFIDMT-ART", "MT-ART-Min", "SFIDMT-BART", "Sobol"]
)
def test_groups_are_farther_apart_than_random_ones(name, nearest_of_random_ones):
    apart = nearest_distances(name) - nearest_of_random_ones
    assert apart.mean() > 3 * apart.std(ddof=1) / math.sqrt(len(apart))


def test_fscs_keeps_inputs_apart():
    spread, chance = (
        np.array(
            [
                dispersion(make_generator(name, [(0, 1)] * 2, seed=seed).propose(200).sources).minimum
                for seed in range(10)
            ]
        )
        for name in ("FSCS-ART", "RT")
    )
    assert spread.min() > chance.max()

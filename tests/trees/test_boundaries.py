"""Boundary rows lie just inside their leaf, keep to the kinds and bounds of columns, and are known again."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic.trees.boundaries import Boundaries, measure_spacing
from datamorphic.trees.descent import find_leaves
from datamorphic.trees.rules import find_box
from support.cases import LONG, in_one_test

RNG = np.random.default_rng(3)
LOANS = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 300),
        "income": np.round(RNG.gamma(3, 900, 300), 2),
        "owner": RNG.random(300) < 0.4,
        "grade": RNG.choice([1, 2, 5], 300),
    },
    index=np.arange(300) + 1000,
)
GIVEN = np.where((LOANS.income > 2500) ^ (LOANS.age > 60) | LOANS.owner & (LOANS.grade > 1), "yes", "no")
DATA = LOANS.assign(given=GIVEN)
TREE = DecisionTreeClassifier(random_state=0).fit(LOANS, GIVEN)
SPACE = dm.Space(
    [
        dm.Integer("age", 18, 90),
        dm.Continuous("income", 0, 20_000, step=10),
        dm.Categorical("owner", [False, True]),
        dm.Categorical("grade", [1, 2, 5]),
    ]
)


def made_with(offset, **options):
    return dm.select(TREE, DATA, "BVA", target="given", offset=offset, **options)


@pytest.mark.slow
@in_one_test("offset", ["step", "unit", 0.5, 3.0])
@in_one_test("space", [None, SPACE])
def test_every_row_lands_in_its_leaf_within_its_columns(offset, space):
    chosen = made_with(offset, space=space)
    tree = chosen.leaves.trees[0]
    leaves = find_leaves(tree, chosen.leaves.inputs.to_tree_matrix(chosen.rows[LOANS.columns]))
    assert sorted(leaves.tolist()) == tree.leaves.tolist()  # one a leaf, each where it belongs
    origins = find_leaves(tree, chosen.leaves.inputs.to_tree_matrix(LOANS.iloc[chosen.places]))
    assert leaves.tolist() == origins.tolist()
    assert chosen.rows.index.tolist() == LOANS.index[chosen.places].tolist()
    assert chosen.rows.given.tolist() == TREE.predict(chosen.rows[LOANS.columns]).tolist()
    assert chosen.rows.dtypes[LOANS.columns].tolist() == LOANS.dtypes.tolist()
    assert "holds the answer of the model" in chosen.describe()
    if space is not None:
        assert space.valid(chosen.rows[LOANS.columns]).all()
    changed = 0
    for leaf, (name, row), limits in zip(leaves, chosen.rows.iterrows(), chosen.limits, strict=True):
        ranges = {tree.names[column]: range_ for column, range_ in find_box(tree, leaf).items()}
        for limit in limits:
            assert row[limit.column] == limit.value
            range_ = ranges[limit.column]
            near = range_.high if limit.holds else range_.low
            assert limit.limit.startswith(f"{limit.column} <")
            text = float(limit.limit.split()[-1])
            assert text == pytest.approx(near, rel=1e-6)
            assert limit.holds == (float(np.float32(limit.value)) <= near)
            changed += row[limit.column] != LOANS.loc[name, limit.column]
            if offset == "step" or (offset == "unit" and limit.column != "income"):
                beyond = limit.value + (1 if limit.holds else -1) if limit.column in ("age", "grade") else None
                if limit.column == "income":
                    towards = np.float32(math.inf if limit.holds else -math.inf)
                    beyond = float(np.nextafter(np.float32(limit.value), towards))
                if beyond is not None and not (space is not None and limit.column == "grade"):
                    assert not range_.low < beyond <= range_.high  # one step more, and it is another leaf
    assert changed > 10


@pytest.mark.slow
def test_rows_at_limits_are_recognised_and_others_are_not():
    for offset in ("step", "unit", 0.5):
        chosen = made_with(offset, space=SPACE)
        again = dm.cover(TREE, chosen.rows, target="given", criterion="BVA", offset=offset, space=SPACE)
        assert again.share == 1
        assert "The tests reach 16 of 16 leaves at their limits (100%)" in again.describe()
    real = dm.cover(TREE, DATA, target="given", criterion="BVA")
    assert real.share < 0.3
    extra = real.fix()
    lifted = dm.cover(TREE, pd.concat([LOANS, extra]), criterion="BVA")
    assert lifted.share == 1


def test_fractions_are_shares_of_the_spacing():
    data = pd.DataFrame({"x": np.arange(0, 20, 0.5)})
    tree = DecisionTreeClassifier().fit(data, data.x > 10)
    limits = {offset: dm.select(tree, data, "BVA", offset=offset).rows.x.tolist() for offset in (0.5, 2, "unit")}
    [threshold] = tree.tree_.threshold[:1]
    assert measure_spacing(data.x.to_numpy()) == 0.5
    assert limits[0.5] == pytest.approx([threshold - 0.25, threshold + 0.25])
    assert limits[2] == pytest.approx([threshold - 1, threshold + 1])
    assert limits["unit"] == pytest.approx([threshold - 1, threshold + 1])


def test_a_leaf_narrower_than_the_offset():
    data = pd.DataFrame({"x": [0.0, 5.0, 5.2, 5.4]})
    tree = DecisionTreeClassifier().fit(data, list("abca"))
    rows = dm.select(tree, data, "BVA", offset="unit")
    assert tree.predict(rows.rows).tolist() == list("abca")
    narrow = rows.limits[2]  # no room for a unit: it lies at the very limit that is told
    assert [float(item.limit.split()[-1]) for item in narrow] == pytest.approx(
        [item.value for item in narrow], rel=1e-6
    )


def test_values_beyond_the_limits_leave_their_leaf_and_keep_to_the_columns():
    chosen = made_with("beyond", space=SPACE)
    tree = chosen.leaves.trees[0]
    rows = chosen.rows[LOANS.columns]
    assert SPACE.valid(rows).all()
    leaves = find_leaves(tree, chosen.leaves.inputs.to_tree_matrix(rows))
    origins = find_leaves(tree, chosen.leaves.inputs.to_tree_matrix(LOANS.iloc[chosen.places]))
    assert (leaves != origins).mean() > 0.5
    for limits, leaf in zip(chosen.limits, origins, strict=True):
        ranges = {tree.names[column]: range_ for column, range_ in find_box(tree, leaf).items()}
        for limit in limits:
            range_ = ranges[limit.column]
            assert limit.value >= range_.high or limit.value <= range_.low


@pytest.mark.slow
def test_forests_scaled_trees_and_numbers_have_limits_too():
    forest = RandomForestClassifier(3, max_depth=4, random_state=0).fit(LOANS, GIVEN)
    chosen = dm.select(forest, DATA, "BVA", target="given")
    assert len(chosen.rows) == dm.cover(forest, LOANS).covered.sum()
    for steps in (
        ([StandardScaler()], [MinMaxScaler(), RobustScaler()]) if LONG else ([MinMaxScaler(), RobustScaler()],)
    ):
        scaled = make_pipeline(*steps, DecisionTreeClassifier(max_leaf_nodes=12, random_state=0)).fit(LOANS, GIVEN)
        selection = dm.select(scaled, DATA, "BVA", target="given")
        assert len(selection.rows) == scaled[-1].get_n_leaves()
        assert dm.cover(scaled, selection.rows, target="given", criterion="BVA").share == 1 == selection.score
        extra = dm.cover(scaled, LOANS[:40], criterion="BVA").fix()
        assert dm.cover(scaled, pd.concat([LOANS[:40], extra]), criterion="BVA").share > 0.9
    numbers = DecisionTreeRegressor(max_leaf_nodes=6).fit(LOANS, LOANS.income)
    assert len(dm.select(numbers, LOANS, "BVA").rows) == 6


def test_boundary_rows_meet_constraints():
    data = pd.DataFrame({"low": [1.0, 4.0, 2.0, 8.0], "high": [2.0, 9.0, 6.0, 9.0]})
    tree = DecisionTreeClassifier(random_state=0).fit(data, [0, 1, 0, 1])
    space = dm.Space([dm.Continuous("low", 0, 10), dm.Continuous("high", 0, 10)], constraints=["low <= high"])
    rows = dm.select(tree, data, "BVA", space=space).rows
    assert (rows.low <= rows.high).all()
    assert len(rows) == 2


@pytest.mark.parametrize("offset", ["step", "unit", 0.7])
def test_making_rows_together_equals_making_them_one_by_one(offset):
    leaves = dm.cover(TREE, LOANS)
    at = Boundaries(leaves.trees[0], LOANS, leaves.inputs, offset)
    reached = find_leaves(leaves.trees[0], leaves.inputs.to_tree_matrix(LOANS))
    there, first = np.unique(reached, return_index=True)
    together = at.make_rows(there.tolist(), first.tolist(), np.random.default_rng(5))
    rng = np.random.default_rng(5)
    for leaf, row, (frame, limits) in zip(there, first, together, strict=True):
        alone, own_limits = at.make_row(int(leaf), int(row), rng)
        pd.testing.assert_frame_equal(frame, alone)
        assert limits == own_limits


def test_leaves_without_numbers_have_no_limits():
    data = pd.DataFrame({"a": [False, True] * 10, "n": np.arange(20.0)})
    chosen = dm.select(DecisionTreeClassifier().fit(data, data.a), data, "BVA")
    assert chosen.limits == ((), ())
    assert "2 leaves compare no numbers" in chosen.describe()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "category", *(["Int64", "int32"] if LONG else [])])
def test_boundary_rows_of_columns_with_other_dtypes(dtype):
    numbers = pd.DataFrame({"n": RNG.integers(0, 250, 200), "m": RNG.normal(size=200)})
    tree = DecisionTreeClassifier(random_state=0, max_leaf_nodes=20).fit(
        numbers, (numbers.n // 40 + (numbers.m > 0)) % 2
    )
    some = numbers[:6].astype({"n": dtype})
    for criterion in ("DTC", "DTMT"):
        coverage = dm.cover(tree, some, criterion=criterion)
        extra = coverage.fix()
        assert len(extra)
        whole = pd.concat([some.astype({"n": float}), extra.astype({"n": float})], ignore_index=True)
        again = dm.cover(tree, whole, criterion=criterion)
        left = coverage.proved if criterion == "DTMT" else 0
        assert (~again.covered).sum() == left
    assert len(dm.select(tree, some, "BVA").rows) == dm.cover(tree, some).covered.sum()


@in_one_test("offset", ["step", 0.5])
def test_boundary_rows_from_any_row_reach_their_leaf_and_are_new_to_it(offset):
    for base in ("leaf", "any"):
        chosen = made_with(offset, base=base, seed=1)
        inputs = chosen.rows.drop(columns="given")
        assert sorted(TREE.apply(inputs).tolist()) == sorted(set(TREE.apply(LOANS)))
        assert chosen.rows["given"].tolist() == TREE.predict(inputs).tolist()
        at_home = TREE.apply(LOANS.iloc[chosen.places]) == TREE.apply(inputs)
        assert at_home.all() == (base == "leaf")
        for row, origin, limits in zip(inputs.to_dict("records"), chosen.places, chosen.limits, strict=True):
            changed = {name for name, value in row.items() if value != LOANS.iloc[origin][name]}
            assert changed - {"owner", "grade"} <= {limit.column for limit in limits}  # these two have no limits

"""Kills of tree mutants are what asking each mutant says; what lives is proved by trying every input there is."""

from __future__ import annotations

import itertools
import operator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic.trees.coverage.mutation import find_kills_by_tree
from datamorphic.trees.descent import find_leaves
from datamorphic.trees.kills import find_kills
from datamorphic.trees.mutants import CCCR, ORRN, build_mutant, format_change, generate_mutants
from datamorphic.trees.read import read_forest, read_trees
from datamorphic.trees.set_cover import find_greedy_cover, find_smallest_cover
from datamorphic.trees.tree import OPERATORS, Tree
from support.cases import LONG
from support.tree_rows import joint_kills_one_by_one

PLAIN = {"<=": operator.le, "<": operator.lt, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


def plain_leaf(tree, row):
    """One row, one node at a time."""
    node = 0
    while tree.left[node] >= 0:
        value = float(np.float32(row[tree.feature[node]])) if tree.single else float(row[tree.feature[node]])
        how = OPERATORS[tree.operator[node]]
        if np.isnan(value):
            left = tree.missing_left[node]
        elif how in PLAIN:
            left = PLAIN[how](value, tree.threshold[node])
        else:
            left = (value in tree.sets[int(tree.threshold[node])]) == (how == "in")
        node = tree.left[node] if left else tree.right[node]
    return int(node)


def kills_one_by_one(tree, matrix, mutants, tolerance=0.0):
    """Each mutant made, and asked every row."""
    own = np.array([tree.answer[plain_leaf(tree, row)] for row in matrix], dtype=float)
    kills = []
    for number in range(len(mutants)):
        mutant = build_mutant(tree, mutants, number)
        answers = np.array([tree.answer[plain_leaf(mutant, row)] for row in matrix], dtype=float)
        kills.append(np.flatnonzero(np.abs(answers - own) > tolerance).tolist())
    return kills


def rows(n, seed, holes=0.0):
    rng = np.random.default_rng(seed)
    matrix = np.column_stack([rng.integers(0, 9, n), np.round(rng.normal(0, 2, n), 1), rng.normal(size=n)])
    matrix[rng.random(matrix.shape) < holes] = np.nan
    return matrix


def answers(matrix):
    filled = np.nan_to_num(matrix, nan=1.0)
    return (filled[:, 0] > 4) * 1 + (np.sin(filled[:, 1] * 2) + filled[:, 2] > 0.3) * 1


def with_other_comparisons(tree, seed):
    """The same shape, with every kind of comparison: as other libraries, PMML files and mutants have them."""
    rng = np.random.default_rng(seed)
    operators = np.where(tree.left >= 0, rng.integers(0, len(OPERATORS), len(tree)), 0).astype(np.int8)
    sets = tuple(frozenset(rng.choice(9, 4, replace=False).tolist()) for _ in range(3))
    first = (operators >= 5) & (tree.feature == 0)
    operators[(operators >= 5) & ~first] = 4
    threshold = np.where(first, rng.integers(0, 3, len(tree)), np.round(tree.threshold, 1))
    return replace(tree, operator=operators, threshold=threshold, sets=sets)


def trees():
    for holes in (0.0, 0.2):
        X = rows(150, 1, holes)
        [tree] = read_trees(DecisionTreeClassifier(max_leaf_nodes=20, random_state=0).fit(X, answers(X)))
        yield pytest.param(tree, holes, 0.0, id=f"tree, holes {holes}")
        yield pytest.param(with_other_comparisons(tree, 3), holes, 0.0, id=f"all comparisons, holes {holes}")
        yield pytest.param(
            replace(with_other_comparisons(tree, 4), single=False), holes, 0.0, id=f"double precision, holes {holes}"
        )
    X = rows(150, 2)
    [tree] = read_trees(DecisionTreeRegressor(max_leaf_nodes=15, random_state=0).fit(X, answers(X) + X[:, 2] / 3))
    yield pytest.param(tree, 0.0, 0.4, id="numbers")


def interpret_kernels(monkeypatch):
    """Run the code of the kernels without compiling it."""
    from datamorphic.trees import kernels

    for name, kernel in vars(kernels).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(kernels, name, kernel.py_func)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True], ids=["NumPy", "numba"])
@pytest.mark.parametrize(("tree", "holes", "tolerance"), list(trees()))
def test_kills_equal_those_of_evaluating_each_mutant(tree, holes, tolerance, compiled, monkeypatch):
    if compiled:
        pytest.importorskip("numba", reason='needs the extra "fast"')
        if not (tree.single or LONG):  # compiling for a second type of numbers takes five seconds
            interpret_kernels(monkeypatch)
    X = np.vstack([rows(40, 5, holes), rows(10, 6)])
    X[-10:, 1] = np.resize(tree.threshold[(tree.feature == 1) & (tree.operator < 5)], 10)
    mutants = generate_mutants(tree)
    expected = kills_one_by_one(tree, X, mutants, tolerance)
    kills = find_kills(tree, X, mutants, tolerance=tolerance, compiled=compiled)
    assert [kills.get_rows(number).tolist() for number in range(len(mutants))] == expected
    assert kills.counts.tolist() == [len(item) for item in expected]
    dense = kills.to_matrix().toarray()
    assert dense.shape == (len(mutants), 50)
    assert [np.flatnonzero(line).tolist() for line in dense] == expected
    assert 0.3 < kills.killed.mean() < 1
    leaves = [plain_leaf(tree, row) for row in X]
    assert find_leaves(tree, X, compiled=compiled).tolist() == leaves


@pytest.mark.slow
def test_no_rows_and_one_row():
    X = rows(150, 1)
    [tree] = read_trees(DecisionTreeClassifier(random_state=0).fit(X, answers(X)))
    mutants = generate_mutants(tree)
    for compiled in (False, True):
        assert not find_kills(tree, X[:0], mutants, compiled=compiled).killed.any()
        one = find_kills(tree, X[:1], mutants, compiled=compiled)
        assert [one.get_rows(i).tolist() for i in range(len(mutants))] == kills_one_by_one(tree, X[:1], mutants)


# -- which mutants there are ----------------------------------------------------------------------------


def test_mutants_are_counted_as_published():
    X, y = load_iris(return_X_y=True)
    [tree] = read_trees(DecisionTreeClassifier(random_state=0).fit(X, y))
    mutants = generate_mutants(tree)
    kills = find_kills(tree, X, mutants)
    assert [(mutants.kind == kind).sum() for kind in (ORRN, CCCR)] == [32, 10]
    live = np.flatnonzero(~kills.killed)
    assert len(live) == 8
    assert {OPERATORS[item] for item in mutants.operator[live]} == {"<"}
    assert round(100 * kills.killed.mean(), 2) == 80.95


def test_a_constant_replaced_by_an_equal_one_is_no_mutant(real_data):
    data = real_data("pima")
    model = DecisionTreeClassifier(random_state=0).fit(data.drop(columns="target"), data.target)
    [tree] = read_trees(model)
    for per_node in ("neighbours", 2, None):
        mutants = generate_mutants(tree, per_node)
        changed = mutants.kind == CCCR
        assert (mutants.threshold[changed] != tree.threshold[mutants.node[changed]]).all()
    assert (generate_mutants(tree).kind == CCCR).sum() == 240  # two neighbours have equal thresholds


def test_banknote_as_published(real_data):
    data = real_data("banknote")
    tree = DecisionTreeClassifier(random_state=0).fit(data.drop(columns="target"), data.target)
    chosen = dm.select(tree, data, criterion="DTMT", target="target")
    kinds = chosen.mutants.kind.value_counts()
    assert (kinds["ORRN"], kinds["Cccr"], (~chosen.mutants.killed).sum()) == (104, 44, 29)
    assert round(100 * chosen.score, 2) == 80.41
    assert chosen.decision_nodes == 26
    assert chosen.nodes == 53


@pytest.mark.parametrize("per_node", ["neighbours", 0, 1, 2, None])
def test_constants_come_from_nodes_that_compare_the_same_column(per_node):
    X = rows(300, 1)
    [tree] = read_trees(DecisionTreeClassifier(random_state=0).fit(X, answers(X)))
    mutants = generate_mutants(tree, per_node)
    order = []

    def walk(node):
        if tree.left[node] >= 0:
            order.append(node)
            walk(tree.left[node])
            walk(tree.right[node])

    walk(0)
    assert tree.inner.tolist() == order
    expected = []
    for place, node in enumerate(order):
        same = [item for item in order if tree.feature[item] == tree.feature[node]]
        if per_node == "neighbours":
            before = [item for item in order[:place] if item in same][-1:]
            after = [item for item in order[place + 1 :] if item in same][:1]
            others = [tree.threshold[item] for item in before + after]
        else:
            different = dict.fromkeys(tree.threshold[item] for item in same)
            others = [item for item in different if item != tree.threshold[node]][:per_node]
        expected += [(node, other) for other in others]
    constants = mutants.kind == CCCR
    assert list(zip(mutants.node[constants], mutants.threshold[constants], strict=True)) == expected
    relational = mutants.node[mutants.kind == ORRN]
    assert np.bincount(relational, minlength=len(tree))[order].tolist() == [4] * len(order)
    if per_node == "neighbours":
        sizes = np.bincount(tree.feature[order])
        assert constants.sum() == (2 * (sizes[sizes > 0] - 1)).sum()


@pytest.mark.slow
def test_a_tree_that_is_not_numbered_in_pre_order():
    """scikit-learn numbers nodes as it grows them: best first with max_leaf_nodes."""
    X = rows(300, 1)
    [tree] = read_trees(DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, answers(X)))
    assert tree.inner.tolist() != sorted(tree.inner.tolist())
    mutants = generate_mutants(tree)
    for compiled in (False, True):
        kills = find_kills(tree, X[:60], mutants, compiled=compiled)
        assert [kills.get_rows(i).tolist() for i in range(len(mutants))] == kills_one_by_one(tree, X[:60], mutants)


def test_changes_as_text():
    [tree] = read_trees(DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)))
    tree = tree.with_names(["sl", "sw", "pl", "pw"])
    changes = [format_change(tree, generate_mutants(tree), number) for number in range(6)]
    assert changes == [
        "pw <= 0.8 becomes pw < 0.8",
        "pw <= 0.8 becomes pw > 0.8",
        "pw <= 0.8 becomes pw >= 0.8",
        "pw <= 0.8 becomes pw == 0.8",
        "pw <= 0.8 becomes pw <= 1.75",
        "pw <= 1.75 becomes pw < 1.75",
    ]


# -- forests --------------------------------------------------------------------------------------------

FORESTS = {
    "random forest": (RandomForestClassifier(6, max_depth=4, random_state=0), 0.0),
    "few rows, many ties": (
        RandomForestClassifier(4, max_depth=2, bootstrap=False, max_features=1, random_state=0),
        0.0,
    ),
    "boosting": (GradientBoostingClassifier(n_estimators=3, learning_rate=1.0, random_state=0), 0.0),
    "AdaBoost": (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0), 0.0),
    "bagging": (BaggingClassifier(DecisionTreeClassifier(max_depth=3), 4, max_features=0.7, random_state=0), 0.0),
    "regression boosting": (GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0), 0.05),
    "regression forest": (ExtraTreesRegressor(4, max_depth=3, random_state=0), 0.2),
    "weighted median": (AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=4, random_state=0), 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORESTS)
def test_joint_kills_equal_those_of_evaluating_mutated_forests(name):
    model, tolerance = FORESTS[name]
    X = np.round(rows(120, 1), 0 if "ties" in name else 3)
    forest = read_forest(model.fit(X, answers(X)))
    tried = np.round(rows(40, 2), 0)
    of = tuple(generate_mutants(tree) for tree in forest.trees)
    rows_by_mutant = [
        kills.get_rows(mutant).tolist()
        for kills in find_kills_by_tree(forest, tried, of, True, tolerance)
        for mutant in range(len(kills))
    ]
    assert rows_by_mutant == list(joint_kills_one_by_one(forest, tried, of, tolerance))
    assert 0 < sum(map(bool, rows_by_mutant)) < len(rows_by_mutant)


@pytest.mark.slow
def test_a_forest_by_tree_and_as_a_whole():
    X = rows(150, 1)
    model = RandomForestClassifier(5, random_state=0).fit(X, answers(X))
    alone = dm.cover(model, X[:60], criterion="DTMT")
    whole = dm.cover(model, X[:60], criterion="DTMT", joint=True)
    assert len(alone.shares) == 5
    sizes = [len(item) for item in alone.of]
    assert alone.score == pytest.approx(np.average(alone.shares, weights=sizes))
    assert (whole.killed <= alone.killed).all()  # what turns the vote turned the tree
    assert whole.score < alone.score
    assert "the answer of the whole forest changes" in " ".join(whole.describe().split())


# -- those that live ------------------------------------------------------------------------------------


def every_input(tree, facts):
    """Rows with every combination of values that a tree, or a mutant of it, could tell apart."""
    return np.array(list(itertools.product(*facts)), dtype=float)


def critical(tree, column):
    """All thresholds of a column, and the single-precision numbers next to them."""
    limits = np.unique(tree.threshold[(tree.feature == column) & (tree.left >= 0)]).astype(np.float32)
    near = [limits, np.nextafter(limits, np.float32(np.inf)), np.nextafter(limits, np.float32(-np.inf))]
    return np.unique(np.concatenate([*near, [np.float32(0)]])).astype(float)


@pytest.mark.parametrize("seed", range(4 if LONG else 1))
def test_no_input_kills_mutants_that_are_proved_equivalent(seed):
    X = rows(80, seed)
    X[:, 1] = np.round(X[:, 1] * 4) / 4  # many of the midpoints are numbers of single precision
    model = DecisionTreeClassifier(max_leaf_nodes=9, random_state=seed).fit(X, answers(X))
    coverage = dm.cover(model, X[:12], criterion="DTMT")
    [tree] = read_trees(model)
    inputs = every_input(tree, [critical(tree, column) for column in range(3)])
    possible = find_kills(tree, inputs, generate_mutants(tree)).killed
    verdicts = {number: coverage.why(number) for number in coverage.live}
    assert {number: value.killable for number, value in verdicts.items()} == {
        number: bool(possible[number]) for number in coverage.live
    }
    assert {True, False} <= {verdict.killable for verdict in verdicts.values()}
    assert coverage.proved == sum(not possible[number] for number in coverage.live)
    for number, why in verdicts.items():
        if why.killable:
            row = coverage.example(number)
            assert find_kills(tree, row.to_numpy(), generate_mutants(tree)).killed[number]


@pytest.mark.parametrize("seed", range(3 if LONG else 1))
def test_proofs_use_integers_bounds_and_categories(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"n": rng.integers(0, 7, 120), "flag": rng.random(120) < 0.5, "grade": rng.choice([1, 2, 5], 120)}
    )
    y = (frame.n > 3) ^ frame.flag & (frame.grade > 1) ^ (rng.random(120) < 0.15)
    model = DecisionTreeClassifier(random_state=0).fit(frame, y)
    space = dm.Space([dm.Integer("n", 0, 5), dm.Categorical("flag", [False, True]), dm.Categorical("grade", [1, 2, 5])])
    inside = frame[frame.n <= 5]
    coverage = dm.cover(model, inside[:4], space=space, criterion="DTMT")
    [tree] = read_trees(model)
    inputs = every_input(tree, [range(6), (0, 1), (1, 2, 5)])
    possible = find_kills(tree, inputs, generate_mutants(tree)).killed
    assert {n: coverage.why(n).killable for n in coverage.live} == {n: bool(possible[n]) for n in coverage.live}
    extra = coverage.fix()
    assert space.valid(extra).all()
    again = dm.cover(model, pd.concat([inside[:4], extra]), space=space, criterion="DTMT")
    assert again.killed.tolist() == possible.tolist()


def test_fix_raises_the_score_to_its_maximum():
    iris = dm.data.load("iris")
    inputs = iris.drop(columns="target")
    tree = DecisionTreeClassifier(random_state=0).fit(inputs, iris.target)
    coverage = dm.cover(tree, inputs[:70], criterion="DTMT")
    extra = coverage.fix()
    assert list(extra.columns) == list(inputs.columns)
    again = dm.cover(tree, pd.concat([inputs[:70], extra]), criterion="DTMT")
    assert (~again.killed).sum() == coverage.proved < len(coverage.live)
    assert len(coverage.fix(2)) == 2
    text = " ".join(coverage.describe().split())
    assert f"no possible input kills {coverage.proved}" in text
    assert "petal width (cm) > 1.75 and petal length (cm) > 4.85" in text
    assert coverage.leaves.share == 2 / 9


def test_killing_rows_for_categories_and_sets():
    X = rows(150, 1)
    [plain] = read_trees(DecisionTreeClassifier(max_leaf_nodes=8, random_state=1).fit(X, answers(X)))
    for seed in range(3):
        tree = with_other_comparisons(plain, seed)
        model = read_forest(DecisionTreeClassifier(random_state=0).fit(X, answers(X)))
        forest = replace(model, trees=(tree,))
        space = dm.Space([dm.Integer("x0", 0, 9), dm.Continuous("x1", -8, 8), dm.Continuous("x2", -8, 8)])
        frame = pd.DataFrame(X[:5], columns=["x0", "x1", "x2"])
        coverage = dm.cover(forest, frame, criterion="DTMT", space=space)
        inputs = every_input(tree, [range(10), critical(tree, 1), critical(tree, 2)])
        possible = find_kills(tree, inputs, generate_mutants(tree)).killed
        assert {n: coverage.why(n).killable for n in coverage.live} == {n: bool(possible[n]) for n in coverage.live}
        for number in coverage.live[::5]:
            if coverage.why(number).killable:
                row = coverage.example(number)
                assert find_kills(tree, row.to_numpy(), generate_mutants(tree)).killed[number]


# -- the fewest rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_set_is_the_smallest(seed):
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    meets = rng.random((9, 8)) < 0.3
    meets[4] = False  # what nothing meets is not asked for
    columns, exact = find_smallest_cover(csr_array(meets))
    wanted = meets.any(axis=1)
    best = next(
        size
        for size in range(9)
        if any(meets[:, list(rows)].any(axis=1)[wanted].all() for rows in itertools.combinations(range(8), size))
    )
    assert exact
    assert len(columns) == best
    assert meets[:, columns].any(axis=1)[wanted].all()
    few = find_greedy_cover(csr_array(meets[wanted]))
    assert len(few) == len(set(few.tolist())) >= best
    assert meets[:, few].any(axis=1)[wanted].all()


@pytest.mark.parametrize("criterion", ["DTC", "DTMT"])
@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_selected_rows_cover_what_all_the_data_cover(criterion, kind):
    X = rows(300, 1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(300) * 3).assign(y=answers(X))
    kinds = {"tree": DecisionTreeClassifier(random_state=0), "forest": RandomForestClassifier(4, random_state=0)}
    model = kinds[kind].fit(frame[["a", "b", "c"]], frame.y)
    whole = dm.cover(model, frame, target="y", criterion=criterion)
    sizes = {}
    for minimal in (False, True):
        chosen = dm.select(model, frame, criterion, target="y", minimal=minimal, seed=1)
        assert dm.cover(model, chosen.rows, target="y", criterion=criterion).share == whole.share == chosen.score
        assert chosen.rows.equals(frame.iloc[chosen.places])
        assert chosen.answers.tolist() == model.predict(chosen.rows[["a", "b", "c"]]).tolist()
        sizes[minimal] = len(chosen.rows)
    assert sizes[True] < sizes[False] if (criterion, kind) != ("DTC", "tree") else sizes[True] == sizes[False]
    again = dm.select(model, frame, criterion, target="y", seed=1)
    other = dm.select(model, frame, criterion, target="y", seed=2)
    assert again.places.tolist() != other.places.tolist()


def test_a_hand_made_tree_of_two_leaves():
    tree = Tree(
        feature=np.array([0, -1, -1], dtype=np.int32),
        operator=np.array([1, 0, 0], dtype=np.int8),
        threshold=np.array([0.5, np.nan, np.nan]),
        left=np.array([1, -1, -1], dtype=np.int32),
        right=np.array([2, -1, -1], dtype=np.int32),
        missing_left=np.zeros(3, dtype=bool),
        answer=np.array([0, 0, 1]),
        value=np.eye(2)[[0, 0, 1]],
        weight=np.ones(3),
        names=("x",),
        labels=("no", "yes"),
    )
    assert find_leaves(tree, [[0.4], [0.5], [0.6], [np.nan]]).tolist() == [1, 2, 2, 2]
    mutants = generate_mutants(tree)
    assert [OPERATORS[item] for item in mutants.operator] == ["<=", ">", ">=", "=="]
    kills = find_kills(tree, [[0.4], [0.5], [0.6], [np.nan]], mutants)
    assert [kills.get_rows(i).tolist() for i in range(4)] == [[1], [0, 2], [0, 1, 2], [0, 1]]


def test_a_split_that_only_parts_missing_values_from_others():
    """scikit-learn then compares with infinity: what no number reaches cannot tell a mutant."""
    data = dm.data.load("iris")
    inputs = data.drop(columns="target")
    inputs.iloc[::7, 3] = np.nan
    model = DecisionTreeClassifier(random_state=0).fit(inputs, data.target)
    assert np.isinf(model.tree_.threshold).any()
    coverage = dm.cover(model, inputs[:70], criterion="DTMT")
    again = dm.cover(model, pd.concat([inputs[:70], coverage.fix()]), criterion="DTMT")
    assert (~again.killed).sum() == coverage.proved
    endless = [number for number in coverage.live if "< inf" in coverage.change(number)]
    assert [coverage.why(number).killable for number in endless] == [False]


def test_changes_name_categories():
    space = dm.Space([dm.Integer("age", 0, 100), dm.Categorical("card", ["Blue", "Silver", "Gold"])])
    frame = space.sample(400, seed=1)
    model = lambda cases: (cases["age"] >= 18) & (cases["card"] != "Blue")  # noqa: E731
    coverage = dm.cover(model, frame, space=space, surrogate=True, criterion="DTMT")
    changes = " ".join(coverage.change(number) for number in range(len(coverage.counts)))
    assert "card is Blue becomes card is not Blue" in changes
    assert "card <=" not in changes


@pytest.mark.slow
def test_integer_rows_prove_nothing_about_fractions():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(0, 4, (60, 2)).round(1), columns=["x", "y"])
    model = DecisionTreeClassifier(random_state=0).fit(data, (data.x * 2 + data.y) % 3 > 1.3)
    [tree] = read_trees(model)
    inputs = every_input(tree, [critical(tree, column) for column in range(2)])
    possible = find_kills(tree, inputs, generate_mutants(tree)).killed
    whole = pd.DataFrame({"x": [0, 1, 2, 3], "y": [0, 1, 2, 3]})
    coverage = dm.cover(model, whole, criterion="DTMT")
    assert {n: coverage.why(n).killable for n in coverage.live} == {n: bool(possible[n]) for n in coverage.live}
    again = dm.cover(model, pd.concat([whole, coverage.fix()]), criterion="DTMT")
    assert again.killed.tolist() == possible.tolist()
    assert dm.cover(model, pd.concat([whole, dm.cover(model, whole).fix()])).share == 1


def test_nothing_is_proved_behind_imputers():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"n": rng.integers(0, 9, 200), "m": rng.integers(0, 9, 200)})
    model = make_pipeline(SimpleImputer(missing_values=3), DecisionTreeClassifier(random_state=0))
    coverage = dm.cover(model.fit(data, (data.n + data.m) % 3), data[:9], criterion="DTMT")
    assert len(coverage.live)
    assert not any(coverage.why(number).killable is False for number in coverage.live)
    assert "at most 100% can be killed" in " ".join(coverage.describe().split())


def test_missing_values_can_kill_mutants():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"n": rng.integers(0, 9, 200).astype(float), "m": rng.normal(size=200)})
    data.loc[::5, "n"] = np.nan
    model = DecisionTreeClassifier(random_state=0).fit(data, data.n.isna() | (data.m > 0.5))
    whole = data.dropna()[:20].astype({"n": int})
    for rows in (whole, whole.astype({"n": "Int64"})):
        coverage = dm.cover(model, rows)
        extra = coverage.fix()
        assert extra.n.isna().any()
        assert dm.cover(model, pd.concat([rows.astype(float), extra.astype(float)])).share == 1


def test_several_numbers_at_once_are_compared_as_a_whole():
    X = rows(120, 1)
    y = np.column_stack([X[:, 2], X[:, 1]]) / 1e6
    model = DecisionTreeRegressor(max_leaf_nodes=9).fit(X, y)
    with pytest.raises(dm.errors.ModelError, match="tolerance"):
        dm.cover(model, X, criterion="DTMT")
    with pytest.raises(dm.errors.ModelError, match="joint=True"):
        dm.cover(model, X, criterion="DTMT", tolerance=0, joint=False)
    assert dm.cover(model, X, criterion="DTMT", tolerance=0.1).score == 0
    assert dm.cover(model, X, criterion="DTMT", tolerance=0).score > 0.5


@pytest.mark.slow
def test_the_rows_that_kill_most_come_first():
    data = dm.data.load("breast_cancer")
    inputs = data.drop(columns="target")
    model = DecisionTreeClassifier(random_state=0).fit(inputs, data.target)
    coverage = dm.cover(model, inputs[:20], criterion="DTMT")
    [tree] = read_trees(model)
    gains = []
    for row in coverage.fix().to_numpy():
        gains.append(find_kills(tree, row[None], generate_mutants(tree)).killed[coverage.live].sum())
    one = find_kills(tree, coverage.fix(1).to_numpy(), generate_mutants(tree)).killed[coverage.live].sum()
    assert one == max(gains) > min(gains)
    killed = int(np.flatnonzero(coverage.killed)[0])
    assert coverage.why(killed).why.startswith("it does not")


def test_a_decision_with_nan_as_threshold_is_refused():
    data = dm.data.load("iris")
    inputs = data.drop(columns="target")
    forest = dm.trees.read_forest(DecisionTreeClassifier(random_state=0).fit(inputs, data.target))
    threshold = forest.trees[0].threshold.copy()
    threshold[0] = np.nan
    damaged = replace(forest, trees=(replace(forest.trees[0], threshold=threshold),))
    for verb in (dm.cover, dm.select):
        with pytest.raises(
            dm.errors.ModelError, match=r"Node 0 of tree 0 .*'petal width \(cm\)' with NaN.*fit it again"
        ):
            verb(damaged, inputs)

"""Coverage of trees: what is not reached, rows that would, trees behind pipelines, surrogates, and bad input."""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic._stats import compute_wilson_interval
from datamorphic.errors import ArgumentError, DataError, DatamorphicError, ModelError
from datamorphic.trees.column_domain import _find_ends as ends
from datamorphic.trees.column_domain import find_roundest
from datamorphic.trees.coverage.run import cover
from datamorphic.trees.coverage.surrogate import fit_surrogate
from datamorphic.trees.descent import find_leaves
from datamorphic.trees.read import read_trees
from datamorphic.trees.rules import Range, find_box, format_rule
from datamorphic.trees.tree import Tree
from support.cases import LONG, in_one_test, thin
from support.versions import splits_missing_values_well

RNG = np.random.default_rng(7)
LOANS = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 400),
        "income": np.round(RNG.gamma(3, 900, 400), 2),
        "debt": RNG.normal(0, 1, 400).astype(np.float32),
        "owner": RNG.random(400) < 0.4,
        "grade": RNG.choice([1, 2, 5], 400),
    }
)
GIVEN = np.where(
    (LOANS.income > 2500) ^ (LOANS.age > 60) | LOANS.owner & (LOANS.grade > 1) ^ (RNG.random(400) < 0.1), "yes", "no"
)
TREE = DecisionTreeClassifier(random_state=0).fit(LOANS, GIVEN)
FEW = LOANS.iloc[:15]
SPACE = dm.Space(
    [
        dm.Integer("age", 18, 90),
        dm.Continuous("income", 0, 20_000),
        dm.Continuous("debt", -5, 5),
        dm.Categorical("owner", [False, True]),
        dm.Categorical("grade", [1, 2, 5]),
    ]
)


def same(a, b):
    return a == b or (a != a and b != b)


# -- figures ------------------------------------------------------------------------------------------


def test_the_training_rows_reach_every_leaf():
    coverage = cover(TREE, LOANS)
    assert coverage.share == 1
    assert coverage.covered.all()
    assert coverage.counts.sum() == coverage.rows == 400
    assert coverage.uncovered().empty
    assert "that no row reaches" not in coverage.describe()
    assert list(coverage.uncovered().columns) == ["tree", "node", "answer", "training", "rule"]


def test_uncovered_leaves_are_sorted_by_training_rows_and_depth():
    coverage = cover(TREE, FEW)
    absent = coverage.uncovered(None)
    assert len(absent) == (~coverage.covered).sum() > 5
    assert not coverage.covered[absent.index].any()
    counts = TREE.tree_.n_node_samples[absent.node]
    depths = read_trees(TREE)[0].depth[absent.node]
    keys = list(zip(-counts, depths, absent.index, strict=True))
    assert keys == sorted(keys)
    assert absent.training.tolist() == (counts / 400).tolist()
    for row in absent.itertuples():
        assert row.answer == TREE.classes_[TREE.tree_.value[row.node, 0].argmax()]
        assert row.rule == format_rule(read_trees(TREE)[0], row.node)
    assert coverage.uncovered(3).equals(absent[:3])
    text = " ".join(coverage.describe(n=2).split())
    assert f"The first 2 of {len(absent):,} are listed." in text
    assert absent.rule.iloc[1] in text
    assert absent.rule.iloc[2] not in text


def test_a_forest_counts_the_leaves_of_all_its_trees():
    forest = RandomForestClassifier(7, random_state=0, max_depth=6).fit(LOANS, GIVEN)
    coverage = cover(forest, FEW)
    sizes = [item.get_n_leaves() for item in forest.estimators_]
    assert coverage.leaves == sum(sizes)
    assert coverage.share == pytest.approx(np.average(coverage.shares, weights=sizes))
    for leaf in range(0, coverage.leaves, 17):
        tree, node = coverage.place(leaf)
        assert coverage.rule(leaf) == format_rule(coverage.trees[tree], node)
        assert forest.estimators_[tree].tree_.children_left[node] == -1
    assert f"of {sum(sizes)} leaves of 7 trees" in repr(coverage)
    assert "\nPer tree\n  From " in coverage.describe()


def test_boosting_reports_the_meaning_of_its_numbers():
    three = np.where(LOANS.debt > 1, "perhaps", GIVEN)
    text = str(cover(GradientBoostingClassifier(n_estimators=2).fit(LOANS, three), FEW).page(brief=True, n=100))
    assert all(f"(added to the score of {label!r})" in text for label in ("no", "perhaps", "yes"))
    text = str(cover(GradientBoostingClassifier(n_estimators=2).fit(LOANS, GIVEN), FEW).page(brief=True, n=100))
    assert "of 'yes'" in text
    assert "of 'no'" not in text


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(3)], ids=["tree", "forest"])
@pytest.mark.parametrize("verb", [cover, dm.select], ids=["cover", "select"])
def test_a_tree_with_one_leaf(model, verb):
    with pytest.raises(ModelError, match="makes no decision: it has one leaf and answers 'no' to every input"):
        verb(model.fit(LOANS, np.full(400, "no")), FEW)


def test_arrays_and_points_are_rows_too():
    matrix = LOANS.astype(float).to_numpy()
    nameless = DecisionTreeClassifier(random_state=0).fit(matrix, GIVEN)
    expected = cover(TREE, FEW).counts.tolist()
    assert cover(nameless, matrix[:15]).counts.tolist() == expected
    assert cover(TREE, matrix[:15].tolist()).counts.tolist() == expected
    assert cover(nameless, FEW).rule(0).startswith(("age", "income", "(", "owner", "grade", "debt"))
    assert cover(TREE, SPACE.points(FEW)).counts.tolist() == expected
    assert cover(dm.wrap(TREE), FEW).counts.tolist() == expected
    assert "x0" in " ".join(cover(nameless, matrix[:15]).uncovered(None).rule)


def test_columns_that_are_not_inputs_are_ignored():
    labelled = FEW[["grade", "owner", "debt", "income", "age"]].assign(given=GIVEN[:15], id="a")
    coverage = cover(TREE, labelled, target="given")
    assert coverage.counts.tolist() == cover(TREE, FEW).counts.tolist()
    assert coverage.notes == ("Columns that are not inputs of the model were ignored: id.",)


def test_nullable_and_other_dtypes_are_numbers():
    other = FEW.astype({"age": "Int64", "income": "Float64", "owner": "boolean", "grade": object})
    assert cover(TREE, other).counts.tolist() == cover(TREE, FEW).counts.tolist()


# -- rows that would reach a leaf -----------------------------------------------------------------------


def check_example(coverage, leaf, near=None):
    """A row that reaches the leaf, and differs from the row it came from on the path alone, and as little as need be."""
    row = coverage.example(leaf, near)
    tree, node = coverage.place(leaf)
    assert find_leaves(coverage.trees[tree], coverage.inputs.to_tree_matrix(row)).tolist() == [node]
    assert list(row.columns) == list(coverage.frame.columns)
    start = (coverage.frame if near is None else near).loc[row.index[0]]
    on_path = {coverage.inputs.names[column] for column in find_box(coverage.trees[tree], node)}
    changed = {name for name in row if not same(row[name].item(), start[name])}
    assert changed <= on_path
    for name in changed:  # nothing was changed without need
        back = row.assign(**{name: start[name]})
        assert find_leaves(coverage.trees[tree], coverage.inputs.to_tree_matrix(back)).tolist() != [node]
    return row, changed


@pytest.mark.slow
def test_examples_land_where_intended_and_keep_dtypes():
    coverage = cover(TREE, FEW)
    kinds = set()
    for leaf in coverage.uncovered(None).index:
        row, changed = check_example(coverage, leaf)
        assert row.dtypes.tolist() == FEW.dtypes.tolist()
        assert TREE.apply(row)[0] == coverage.place(leaf)[1]
        kinds |= changed
    assert len(kinds) > 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2 if LONG else 1))
def test_examples_of_forests_and_from_any_row(seed):
    rng = np.random.default_rng(seed)
    forest = ExtraTreesClassifier(5, random_state=seed).fit(LOANS, GIVEN)
    coverage = cover(forest, FEW)
    for leaf in rng.permutation(coverage.uncovered(None).index)[: 8 if LONG else 3]:
        check_example(coverage, leaf)
        near = LOANS.iloc[[rng.integers(400)]]
        row, _ = check_example(coverage, leaf, near)
        assert row.equals(coverage.example(leaf, near.iloc[0].to_dict()).set_index(near.index))
        for form in (near.iloc[0], near.astype(float).to_numpy()[0], near.astype(float).to_numpy()):
            assert row.equals(coverage.example(leaf, form).set_index(near.index))


def test_the_nearest_row_is_the_one_that_is_changed_least():
    tree = DecisionTreeRegressor().fit([[0.0, 0], [10, 0]], [0, 1])
    coverage = cover(tree, pd.DataFrame({"a": [0.0, 4.0, 1.0], "b": [1.0, 2.0, 3.0]}))
    [leaf] = coverage.uncovered().index
    assert coverage.example(leaf).to_dict("list") == {
        "a": [5.01],
        "b": [2.0],
    }  # above 5, by at most a hundredth of 0 to 4


@pytest.mark.slow
def test_examples_keep_to_a_space():
    tight = dm.Space(
        [
            dm.Integer("age", 18, 90),
            dm.Continuous("income", 0, 20_000),
            dm.Continuous("debt", -5, 5),
            dm.Categorical("owner", [False]),
            dm.Categorical("grade", [1, 5]),
        ]
    )
    coverage = cover(TREE, FEW, space=tight)
    near = LOANS[~LOANS.owner & (LOANS.grade != 2)][:1]
    examples, refused = 0, 0
    for leaf in range(coverage.leaves):
        if "owner > 0.5" in coverage.rule(leaf):
            refused += 1
            with pytest.raises(DataError, match="the column 'owner' cannot hold any value"):
                coverage.example(leaf, near)
        else:
            examples += 1
            row, _ = check_example(coverage, leaf, near)
            assert row.grade.item() in (1, 5)
            assert tight.valid(row).all()
    assert min(examples, refused) > 5


def test_examples_respect_bounds_and_integers():
    tree = DecisionTreeClassifier(random_state=0).fit(pd.DataFrame({"n": [1.0, 1.5, 4.0, 9.0]}), list("abca"))
    data = pd.DataFrame({"n": [8.0]})
    free = cover(tree, data)
    assert [free.rule(leaf) for leaf in range(4)] == ["n <= 1.25", "1.25 < n <= 2.75", "2.75 < n <= 6.5", "n > 6.5"]
    assert [free.example(leaf).n.item() for leaf in range(3)] == [
        1.2,
        2.7,
        6.5,
    ]  # no range to measure 1 % of: 8 stands in
    whole = cover(tree, data, space=dm.Space([dm.Integer("n", 1, 20)]))
    assert [whole.example(leaf).n.item() for leaf in range(3)] == [1, 2, 6]
    bounded = cover(tree, data, space=dm.Space([dm.Integer("n", 4, 20)]))
    assert bounded.example(2).n.item() == 6
    with pytest.raises(
        DataError, match=r"No row reaches leaf 1 \(1.25 < n <= 2.75\): the column 'n' cannot hold any value"
    ):
        bounded.example(1)
    counts = cover(tree, pd.DataFrame({"n": [8]}))
    assert counts.example(1).to_dict("list") == {"n": [2]}


def test_values_that_single_precision_moves_over_the_limit():
    """2.45 is 2.4500000477 in single precision, which is above the threshold of 2.449999988."""
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"x": [1.9, 3.0]}), [0, 1])
    choices = dm.Space([dm.Categorical("x", [1.9, 2.45])])
    coverage = cover(tree, pd.DataFrame({"x": [1.9]}), space=choices)
    assert [coverage.rule(0), coverage.rule(1)] == ["x < 2.45", "x >= 2.45"]
    assert coverage.example(1).x.item() == 2.45
    assert coverage.example(1, {"x": 2.45}).x.item() == 2.45
    assert cover(tree, pd.DataFrame({"x": [1.9]})).example(1, {"x": 2.45}).x.item() == 2.45


def test_a_value_inside_the_box_stays_whatever_the_space_says():
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"n": [1.0, 2.0]}), [0, 1])
    coverage = cover(tree, pd.DataFrame({"n": [1.0, 5.5]}), space=dm.Space([dm.Integer("n", 0, 1)]))
    assert coverage.example(1).n.item() == 5.5
    with pytest.raises(DataError, match="the column 'n' cannot hold any value"):
        coverage.example(1, {"n": 0.5})


def test_examples_keep_constraints():
    data = pd.DataFrame({"free": [1.0, 9.0, 5.0], "total": [2.0, 10.0, 30.0]})
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"free": [0.0, 20.0], "total": [5.0, 5.0]}), [0, 1])
    space = dm.Space([dm.Continuous("free", 0, 50), dm.Continuous("total", 0, 50)], constraints=["free <= total"])
    [leaf] = cover(tree, data).uncovered().index
    assert cover(tree, data).example(leaf).total.item() == 10  # the nearest to more than 10
    row = cover(tree, data, space=space).example(leaf)
    assert row.free.item() > 10
    assert row.free.item() == row.total.item()  # raised as little as the constraint needs
    impossible = dm.Space(space.features, constraints=["free <= 9.5"])
    with pytest.raises(DataError, match="constraint of the space prevents it"):
        cover(tree, data, space=impossible).example(leaf, data[:1])


# -- missing values -------------------------------------------------------------------------------------


def test_leaves_for_missing_values():
    data = pd.DataFrame({"a": [1.0, 2.0, np.nan, np.nan], "b": [0.0, 1.0, 0.0, 1.0]})
    tree = DecisionTreeClassifier(random_state=0).fit(data, ["given", "given", "gone", "gone"])
    coverage = cover(tree, data[:2])
    [leaf] = coverage.uncovered().index
    assert coverage.rule(leaf) == "a is missing"
    assert coverage.rule(1 - leaf) == "a is given"
    assert coverage.example(leaf).a.isna().all()
    other = cover(tree, data[2:])
    [leaf] = other.uncovered().index
    assert other.example(leaf).a.item() == 0  # nothing is known of the column
    assert cover(tree, data[1:]).example(leaf, data[3:]).a.item() == 2  # the middle of what is known
    closed = dm.Space([dm.Continuous("a", 0, 3), dm.Continuous("b", 0, 1)])
    with pytest.raises(DataError, match="the column 'a' cannot hold any value"):
        cover(tree, data[:2], space=closed).example(1 - leaf)
    assert cover(tree, data[:2].astype(int).astype({"b": float})).share == 0.5


@pytest.mark.slow
@splits_missing_values_well
def test_rules_mention_missing_values_where_they_occur():
    data = LOANS.astype(float)
    data.loc[::3, "income"] = np.nan
    tree = DecisionTreeClassifier(random_state=0).fit(data, GIVEN)
    coverage = cover(tree, data[:15])
    rules = " ".join(coverage.uncovered(None).rule)
    assert " or missing)" in rules
    assert "age <= 59.5 or" not in rules
    for leaf in coverage.uncovered(None).index:
        check_example(coverage, leaf)


# -- pipelines ------------------------------------------------------------------------------------------

SCALED = {
    "scaler": make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
    "imputer, scaler": make_pipeline(SimpleImputer(), RobustScaler(), RandomForestClassifier(3, random_state=0)),
    "pipeline within": Pipeline(
        [
            ("before", make_pipeline(MinMaxScaler(), "passthrough", FunctionTransformer())),
            ("tree", DecisionTreeClassifier(random_state=0)),
        ]
    ),
    "scalers": make_pipeline(
        StandardScaler(),
        MinMaxScaler((-5, 7)),
        BaggingClassifier(DecisionTreeClassifier(), 3, max_features=0.7, random_state=0),
    ),
    "nothing before": make_pipeline("passthrough", DecisionTreeClassifier(random_state=0)),
    "search": GridSearchCV(
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
        {"decisiontreeclassifier__max_depth": [2, 9]},
        cv=2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), thin(list(SCALED), ["frame", "array"]))
def test_trees_behind_steps_that_keep_the_columns(name, form):
    numbers = LOANS.astype(float)
    model = SCALED[name].fit(numbers if form == "frame" else numbers.to_numpy(), GIVEN)
    inner = getattr(model, "best_estimator_", model)
    few = numbers[:40]
    coverage = cover(model, few)
    last = inner[-1]
    inputs = np.asarray(inner[:-1].transform(few if form == "frame" else few.to_numpy()))
    assert coverage.counts.tolist() == cover(last, inputs).counts.tolist()
    # told in the units of the data: the splits at owner, which is 0 or 1, are
    rules = [coverage.rule(leaf) for leaf in range(coverage.leaves)]
    conditions = [word for word in " and ".join(rules).split(" and ") if "owner" in word or "age" in word]
    assert len(conditions) > 3
    for item in conditions:  # owner is 0 or 1, and age is whole
        assert re.fullmatch(r"owner (<=|<|>|>=) 0.5|([\d.]+ <=? )?age (<=|<|>|>=) \d+(.5)?", item), item
    for leaf in coverage.uncovered(None).index[:: 6 if LONG else 12]:
        check_example(coverage, leaf)


def test_rows_of_scaled_trees_match_their_rules():
    numbers = LOANS.astype(float)
    model = SCALED["scaler"].fit(numbers, GIVEN)
    coverage = cover(model, numbers)
    leaves = find_leaves(coverage.trees[0], coverage.inputs.to_tree_matrix(numbers))
    for leaf in coverage.trees[0].leaves:
        inside = np.ones(400, dtype=bool)
        for column, range_ in find_box(coverage.trees[0], leaf, in_data_units=True).items():
            values = numbers.iloc[:, column]
            inside &= (values > range_.low) & (values <= range_.high)
        assert np.array_equal(inside, leaves == leaf)


def test_what_an_imputer_fills_is_not_missing_to_the_tree():
    numbers = LOANS.astype(float)
    model = SCALED["imputer, scaler"].fit(numbers, GIVEN)
    holed = numbers[:15].copy()
    holed.loc[:, "income"] = np.nan
    coverage = cover(model, holed)
    assert coverage.missing == frozenset()
    rows = coverage.uncovered(None)
    assert not rows.rule.str.contains("missing").any()
    check = [leaf for leaf in rows.index if "income" in rows.rule[leaf]][:5]
    for leaf in check:
        row = coverage.example(leaf)
        assert row.income.notna().all()


# -- surrogates -----------------------------------------------------------------------------------------


def rich(frame):
    return np.where(
        (frame["income"] > 5000) & (frame["grade"] != 2) | (frame["age"] < 30) & frame["owner"], "yes", "no"
    )


def answers_of(tree, matrix):
    return np.array([tree.answer_at(leaf) for leaf in find_leaves(tree, matrix)])


def test_a_surrogate_agrees_with_a_simple_model():
    points = SPACE.sample(3000, seed=1, points=True)
    surrogate = fit_surrogate(rich, points)
    fresh = SPACE.sample(4000, seed=2, points=True)
    predicted = answers_of(surrogate.tree, fresh.codes)
    low, high = surrogate.interval
    true = (predicted == rich(fresh.frame)).mean()
    assert low <= surrogate.fidelity <= high
    assert (surrogate.fitted, surrogate.held_out, surrogate.unanswered) == (2250, 750, 0)
    assert surrogate.interval == compute_wilson_interval(round(surrogate.fidelity * 750), 750)
    assert low - 0.01 < true < high + 0.01
    assert true > 0.97
    assert len(surrogate.tree.leaves) <= 64
    again = fit_surrogate(rich(points.frame), points)
    assert np.array_equal(again.tree.threshold, surrogate.tree.threshold, equal_nan=True)
    assert again.fidelity == surrogate.fidelity
    assert "750 points it was not fitted to" in surrogate.describe()


def test_fidelity_is_measured_on_held_out_points():
    """Answers at random cannot be foretold: a tree that knew the held-out points by heart would seem to."""
    space = dm.Space([dm.Continuous("x", 0, 1)])
    answers = np.random.default_rng(0).integers(0, 2, 2000)
    points = space.sample(2000, points=True)
    surrogate = fit_surrogate(answers, points, max_leaves=2000)
    assert 0.4 < surrogate.fidelity < 0.6
    twice = dm.Points.concat([points, points])
    assert fit_surrogate(np.tile(answers, 2), twice, max_leaves=2000).fidelity == surrogate.fidelity


def test_rules_and_examples_name_categories():
    space = dm.Space(
        [dm.Continuous("x", 0, 1), dm.Categorical("card", ["Blue", "Silver", "Gold", "Black"], nullable=True)]
    )
    points = space.sample(1000, points=True)

    def system(frame):
        return np.where(
            frame.card.isna(), "none", np.where(frame.card.isin(["Gold", "Black"]), frame.x > 0.5, "cheap")
        ).tolist()

    surrogate = fit_surrogate(system, points)
    assert surrogate.fidelity > 0.98
    data = pd.DataFrame({"x": [0.1, 0.2], "card": ["Blue", "Silver"], "label": [0, 1]})
    reached = surrogate.cover(data, target="label")
    assert cover(surrogate, data.drop(columns="label")).counts.tolist() == reached.counts.tolist()
    texts = reached.uncovered(None).rule
    assert texts.str.contains("card is Gold or Black").any() or texts.str.contains("card is not Blue or Silver").any()
    for leaf in texts.index:
        row, _ = check_example(reached, leaf)
        assert system(row)[0] == reached.uncovered(None).answer[leaf]
    assert reached.notes[-1].startswith("A surrogate tree with")


def test_a_surrogate_of_numbers():
    space = dm.Space([dm.Continuous("x", 0, 10), dm.Integer("n", 0, 10)])
    points = space.sample(4000, points=True)
    surrogate = fit_surrogate(lambda frame: frame.x.to_numpy() ** 2 + frame.n.to_numpy(), points, max_leaves=300)
    assert surrogate.tolerance == pytest.approx(0.05 * 110, rel=0.05)
    assert surrogate.tree.labels is None
    fresh = space.sample(2000, seed=9, points=True)
    off = np.abs(
        surrogate.tree.answer[find_leaves(surrogate.tree, fresh.codes)] - fresh.codes[:, 0] ** 2 - fresh.codes[:, 1]
    )
    assert surrogate.interval[0] - 0.02 < (off <= surrogate.tolerance).mean() < surrogate.interval[1] + 0.02
    assert "comes within 5." in surrogate.describe()
    whole = fit_surrogate(lambda frame: frame.n.tolist(), points)
    assert whole.tree.labels is not None
    assert fit_surrogate(lambda frame: frame.n.tolist(), points, numbers=True).tree.labels is None


def test_points_without_an_answer_are_ignored():
    space = dm.Space([dm.Continuous("x", 0, 1)])
    points = space.sample(400, points=True)
    x = points.codes[:, 0]
    for empty in (None, float("nan")):
        labels = [empty if value < 0.25 else ("low" if value < 0.5 else ("high", 1)) for value in x]
        surrogate = fit_surrogate(labels, points)
        assert surrogate.unanswered == (x < 0.25).sum()
        assert set(surrogate.tree.labels) == {"low", ("high", 1)}
        assert surrogate.fidelity > 0.95
    status = np.where(x < 0.25, 1, np.where(x < 0.5, dm.Status.NEW_LABEL, 0)).astype(np.int8)
    for values in (x, x.tolist(), (x > 0.5).astype(int), np.where(x > 0.5, "high", "low")):
        answer_sets = [values] if isinstance(values, list) else [values, dm.Outputs(values, status)]
        if not isinstance(values, list) and values.dtype.kind == "f":
            answer_sets += [np.where(x < 0.25, np.nan, x), [None if value < 0.25 else value for value in x]]
        for k, answers in enumerate(answer_sets):
            surrogate = fit_surrogate(answers, points, max_leaves=200)
            assert surrogate.unanswered == ((x < 0.25).sum() if k else 0)
            assert (surrogate.tolerance is not None) == isinstance(values[0], float)
            assert surrogate.fidelity > 0.95
    one = fit_surrogate(["always"] * 400, points)
    assert (len(one.tree.leaves), one.fidelity) == (1, 1.0)


def test_a_label_that_only_held_out_points_have():
    space = dm.Space([dm.Continuous("x", 0, 1)])
    points = space.sample(100, points=True)
    labels = np.where(points.codes[:, 0] > 0.5, "high", "low").astype(object)
    labels[0] = "rare"
    for seed in range(12):
        surrogate = fit_surrogate(labels, points, seed=seed)
        predicted = answers_of(surrogate.tree, points.codes)
        assert (predicted == labels).mean() > 0.9


def test_huge_numbers_do_not_break_a_surrogate():
    space = dm.Space([dm.Continuous("x", -1e100, 1e100)])
    points = space.sample(400, points=True)
    assert fit_surrogate(points.codes[:, 0] > 0, points).fidelity > 0.9
    assert fit_surrogate(points.codes[:, 0] > 0, points).cover(points).share == 1


# -- small parts ----------------------------------------------------------------------------------------


def test_find_roundest_returns_the_roundest_number_in_the_interval():
    rng = np.random.default_rng(0)
    for _ in range(300):
        low = rng.normal() * 10.0 ** rng.integers(-6, 7)
        high = low + abs(rng.normal()) * 10.0 ** rng.integers(-6, 3)
        for upwards in (True, False):
            number = find_roundest(low, high, upwards=upwards)
            assert low <= number <= high
            decimals = max(0, -Decimal(repr(number)).normalize().as_tuple().exponent)
            if decimals < 14:
                unit = Decimal(10) ** (1 - decimals)
                fewer = (Decimal(high) / unit).to_integral_value(ROUND_FLOOR)
                assert decimals == 0 or fewer < Decimal(low) / unit  # none with one decimal less


def test_the_ends_of_a_range_are_the_outermost_numbers_inside():
    rng = np.random.default_rng(0)
    for low, width in zip(rng.normal(size=200) * 10.0 ** rng.integers(-3, 5, 200), rng.random(200), strict=True):
        for single, kind in ((True, np.float32), (False, np.float64)):
            first, last = (kind(end) for end in ends(Range(low=low, high=low + 1 + width), single))
            assert float(first) > low >= float(np.nextafter(first, kind(-np.inf)))
            assert float(last) <= low + 1 + width < float(np.nextafter(last, kind(np.inf)))
    assert ends(Range(), True) == (-np.inf, np.inf)


def test_a_path_that_compares_a_column_twice():
    """scikit-learn never does; other libraries, and pruned or mutated trees, do."""
    every = np.zeros(7, dtype=np.int32)
    tree = Tree(
        feature=np.array([0, -1, 0, 0, -1, -1, -1], dtype=np.int32),
        operator=np.zeros(7, dtype=np.int8),
        threshold=np.array([2.0, np.nan, 1.0, 5.0, np.nan, np.nan, np.nan]),
        left=np.array([1, -1, 6, 4, -1, -1, -1], dtype=np.int32),
        right=np.array([2, -1, 3, 5, -1, -1, -1], dtype=np.int32),
        missing_left=np.array([True, False, False, True, False, False, False]),
        answer=every,
        value=np.zeros((7, 1)),
        weight=np.ones(7),
        names=("x",),
        labels=("a",),
    )
    assert [format_rule(tree, leaf) for leaf in tree.leaves] == ["x <= 2", "2 < x <= 5", "x > 5", "2 < x <= 1"]
    assert find_leaves(tree, [[0.0], [2.0], [3.0], [5.5], [np.nan]]).tolist() == [1, 1, 4, 5, 1]
    assert tree.depth.tolist() == [0, 1, 1, 2, 3, 3, 2]
    assert find_box(tree, 6)[0].empty


# -- bad input ------------------------------------------------------------------------------------------

MATRIX = LOANS.astype(float).to_numpy()
NAMELESS = DecisionTreeClassifier(random_state=0).fit(MATRIX, GIVEN)
BOOSTED = GradientBoostingClassifier(n_estimators=2).fit(LOANS, GIVEN)
POINTS = SPACE.sample(50, points=True)


def holed(value, column="income"):
    data = FEW.astype({column: object})
    data.loc[3, column] = value
    return data


BAD = {
    "an unfitted tree": (
        lambda: cover(DecisionTreeClassifier(), FEW),
        ModelError,
        "This DecisionTreeClassifier is not fitted",
    ),
    "an unfitted forest": (lambda: cover(RandomForestClassifier(), FEW), ModelError, "not fitted"),
    "an unfitted pipeline": (
        lambda: cover(make_pipeline(StandardScaler(), DecisionTreeClassifier()), FEW),
        ModelError,
        "not fitted",
    ),
    "a class": (lambda: cover(DecisionTreeClassifier, FEW), ModelError, "is a class, not a fitted model"),
    "another model": (
        lambda: cover(KNeighborsClassifier().fit(LOANS, GIVEN), FEW),
        ModelError,
        "KNeighborsClassifier is not a readable decision tree",
    ),
    "another model has a way": (
        lambda: cover(LogisticRegression().fit(MATRIX[:, :1], GIVEN), FEW),
        ModelError,
        "surrogate=True (--surrogate",
    ),
    "a function": (lambda: cover(lambda frame: frame, FEW), ModelError, "function is not a readable decision tree"),
    "a string": (lambda: cover("tree.joblib", FEW), ModelError, "There is no file 'tree.joblib'"),
    "an isolation forest": (
        lambda: cover(IsolationForest(n_estimators=2).fit(LOANS), FEW),
        ModelError,
        "IsolationForest is not a readable decision tree",
    ),
    "bagging of others": (
        lambda: cover(BaggingClassifier(KNeighborsClassifier(), 2).fit(LOANS, GIVEN), FEW),
        ModelError,
        "an ensemble of KNeighborsClassifier",
    ),
    "bagging of forests": (
        lambda: cover(BaggingClassifier(RandomForestClassifier(2), 2).fit(LOANS, GIVEN), FEW),
        ModelError,
        "an ensemble of RandomForestClassifier",
    ),
    "a step that makes columns": (
        lambda: cover(make_pipeline(StandardScaler(), PCA(2), DecisionTreeClassifier()).fit(LOANS, GIVEN), FEW),
        ModelError,
        "step 'pca' (PCA) before the trees does not keep the columns",
    ),
    "a step that mixes columns": (
        lambda: cover(make_pipeline(Normalizer(), DecisionTreeClassifier()).fit(LOANS, GIVEN), FEW),
        ModelError,
        "surrogate=True (--surrogate on the command line)",
    ),
    "a step that adds columns": (
        lambda: cover(
            make_pipeline(SimpleImputer(add_indicator=True), DecisionTreeClassifier()).fit(
                LOANS.mask(LOANS.age > 80).astype(float), GIVEN
            ),
            FEW,
        ),
        ModelError,
        "'simpleimputer' (SimpleImputer) before the trees does not keep",
    ),
    "encoded columns": (
        lambda: cover(
            make_pipeline(ColumnTransformer([("hot", OneHotEncoder(), ["grade"])]), DecisionTreeClassifier()).fit(
                LOANS, GIVEN
            ),
            FEW,
        ),
        ModelError,
        "ColumnTransformer",
    ),
    "a column that is not there": (
        lambda: cover(TREE, FEW.drop(columns="age")),
        ModelError,
        "1 of them are not in the data: 'age'",
    ),
    "a column by another name": (
        lambda: cover(TREE, FEW.rename(columns={"income": "incomes"})),
        ModelError,
        "Did you mean 'incomes'?",
    ),
    "a column too many": (
        lambda: cover(NAMELESS, FEW.assign(given=1)),
        ModelError,
        "fitted on 5 columns but the data have 6. Give",
    ),
    "an array with the target": (lambda: cover(NAMELESS, np.ones((3, 6))), ModelError, "such as the target"),
    "a target that is not there": (lambda: cover(TREE, FEW, target="givn"), DataError, "'givn' is not in the data"),
    "a target among the inputs": (lambda: cover(TREE, FEW, target="age"), DataError, "'age' is one of the inputs"),
    "a target of an array": (lambda: cover(NAMELESS, MATRIX, target="age"), ArgumentError, "the data are not a frame"),
    "no rows": (lambda: cover(TREE, FEW[:0]), DataError, "The data have no rows"),
    "a vector": (lambda: cover(TREE, [1.0, 2.0]), DataError, "a matrix with one row per case. Got list of shape (2,)"),
    "a series": (lambda: cover(TREE, FEW["age"]), DataError, "Got a Series (one column)"),
    "nothing": (lambda: cover(TREE, None), DataError, "Got NoneType"),
    "rows of different lengths": (lambda: cover(TREE, [[1, 2], [3]]), DataError, "different lengths"),
    "text": (lambda: cover(TREE, holed("much")), DataError, "Column 'income', row 3: 'much' is not a number"),
    "infinity": (lambda: cover(TREE, holed(np.inf)), DataError, "Column 'income', row 3: 'inf' is infinite"),
    "a number too large": (lambda: cover(TREE, holed(1e39)), DataError, "too large for single precision"),
    "missing values where none may be": (
        lambda: cover(BOOSTED, holed(None)),
        DataError,
        "is missing, but GradientBoostingClassifier takes no missing values",
    ),
    "what a step does not take": (
        lambda: cover(SCALED["imputer, scaler"].fit(LOANS.astype(float), GIVEN), holed("much")),
        DataError,
        "steps before the trees failed on",
    ),
    "another criterion": (lambda: cover(TREE, FEW, criterion="MCDC"), ArgumentError, "must be one of 'DTC'"),
    "a space that is none": (lambda: cover(TREE, FEW, space=FEW), ArgumentError, "must be a Space"),
    "a space of other features": (
        lambda: cover(TREE, FEW, space=dm.Space([dm.Continuous("x")])),
        ArgumentError,
        "no feature 'age'",
    ),
    "a leaf that is not there": (lambda: cover(TREE, FEW).rule(10_000), ArgumentError, "an int in the range [0, "),
    "a leaf by name": (lambda: cover(TREE, FEW).example("a"), ArgumentError, "Got 'a' instead"),
    "rows below nought": (lambda: cover(TREE, FEW).uncovered(-1), ArgumentError, "'n' parameter"),
    "several rows to start from": (lambda: cover(TREE, FEW).example(0, FEW), DataError, "near must be one row. Got 15"),
    "half a row to start from": (
        lambda: cover(TREE, FEW).example(0, {"age": 3}),
        ModelError,
        "4 of them are not in the data",
    ),
    "a matrix too narrow": (
        lambda: find_leaves(read_trees(TREE)[0], MATRIX[:, :3]),
        ArgumentError,
        "a matrix of 5 columns",
    ),
    "a surrogate of few points": (
        lambda: fit_surrogate(lambda f: f.age > 40, POINTS[:10]),
        DataError,
        "Only 10 different points have an answer, but a surrogate needs at least 20",
    ),
    "a surrogate of no answers": (lambda: fit_surrogate([None] * 50, POINTS), DataError, "0 different points"),
    "answers too few": (
        lambda: fit_surrogate(lambda f: [1, 2], POINTS),
        DataError,
        "One answer per point is expected, that is 50. Got 2",
    ),
    "answers that are none": (lambda: fit_surrogate(lambda f: None, POINTS), DataError, "Got NoneType"),
    "a frame as points": (lambda: fit_surrogate([1] * 15, FEW), ArgumentError, "must be Points of a space"),
    "labels as numbers": (
        lambda: fit_surrogate(["a"] * 50, POINTS, numbers=True),
        DataError,
        "must be numbers. Got 'a'",
    ),
    "a surrogate of one leaf": (
        lambda: fit_surrogate([1] * 50, POINTS, max_leaves=1),
        ArgumentError,
        "'max_leaves' parameter",
    ),
    "a space for a surrogate": (
        lambda: cover(fit_surrogate([1] * 50, POINTS), FEW, space=SPACE),
        ArgumentError,
        "A surrogate has its own space",
    ),
}


@in_one_test("name", BAD)
def test_bad_input_is_refused(name):
    call, kind, words = BAD[name]
    with pytest.raises(DatamorphicError) as caught:
        call()
    assert type(caught.value) is kind, caught.value
    assert words in str(caught.value)

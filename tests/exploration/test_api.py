"""Exploration: what it is asked, what it is given, what goes wrong."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, ModelError, SystemFailed, TestSystemError
from datamorphic.space.outputs import Outputs
from datamorphic.systems.base import Executor
from support.cases import LONG, in_one_test, rotate, thin

SQUARE = dm.Space([dm.Continuous("x", 0, 1, step=0.1), dm.Continuous("y", 0, 1, step=0.1)])


def three(frame):
    return np.where(frame["x"] + frame["y"] < 0.7, "low", np.where(frame["x"] > 0.6, "right", "left"))


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    frame["target"] = np.select([frame.a + frame.b**2 > 1, frame.c > 0.5], ["one", "two"], "three")
    return frame


# -- arguments ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random_target", "directed_walk", "random_walk", "auto"])
def test_every_strategy_finds_certified_pairs(strategy):
    front = dm.explore(three, SQUARE, strategy=strategy, walks=300)
    assert front.walks == 300
    assert len(front) > 30
    assert (three(front.a.frame) == front.a_output).all()
    assert (three(front.b.frame) == front.b_output).all()
    assert (front.a_output != front.b_output).all()
    assert front.distance.max() < 0.2
    assert set(front.kinds) == {"left | low", "left | right", "low | right"}


def test_pairs_are_a_frame_with_both_cases_and_their_answers():
    pairs = dm.explore(three, SQUARE, walks=200, strategy="random_walk").pairs
    assert {"a.x", "a.y", "b.x", "b.y", "a_output", "b_output", "distance", "plausibility"} <= set(pairs.columns)
    apart = np.hypot(pairs["a.x"] - pairs["b.x"], pairs["a.y"] - pairs["b.y"])
    np.testing.assert_allclose(pairs["distance"], apart, rtol=1e-6, atol=1e-12)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_front():
    first, second, other = (
        dm.explore(three, SQUARE, walks=200, seed=seed, strategy="random_walk") for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first.pairs, second.pairs)
    assert not first.pairs.equals(other.pairs)


@pytest.mark.slow
def test_data_may_be_a_frame_with_its_target_an_array_or_points(blobs):
    inputs = blobs.drop(columns="target")
    model = DecisionTreeClassifier(random_state=0).fit(inputs, blobs["target"])
    fronts = [
        dm.explore(model, blobs, target="target", walks=100, strategy="random_walk"),
        dm.explore(model, blobs, walks=100, strategy="random_walk"),  # the model knows its columns
        dm.explore(model, dm.Space.from_frame(inputs).points(inputs), walks=100, strategy="random_walk"),
    ]
    plain = DecisionTreeClassifier(random_state=0).fit(inputs.to_numpy(), blobs["target"])
    fronts.append(dm.explore(plain, inputs.to_numpy(), walks=100, strategy="random_walk"))
    for front in fronts[1:]:
        np.testing.assert_array_equal(front.a.codes, fronts[0].a.codes)
    assert any("target" in note for note in fronts[1].notes)


@pytest.mark.slow
def test_seeds_may_be_counted_or_given(blobs):
    inputs = blobs.drop(columns="target")
    model = GaussianNB().fit(inputs, blobs["target"])
    assert len(dm.explore(model, inputs, walks=5, seeds=20).seeds) == 20
    assert len(dm.explore(model, inputs, walks=5, seeds=inputs[:7]).seeds) == 7
    assert len(dm.explore(dm.subjects["Box 1"], walks=5, seeds=30).seeds) == 30
    assert len(dm.explore(three, SQUARE, walks=5).seeds) == 200


@pytest.mark.slow
def test_moves_are_chosen_by_name_or_by_feature():
    along_x = dm.explore(three, SQUARE, moves=["x"], walks=200)
    np.testing.assert_array_equal(along_x.a.codes[:, 1], along_x.b.codes[:, 1])
    assert along_x.settings["moves"] == ["up_x", "down_x"]
    up = dm.explore(dm.subjects["Box 1"], strategy="directed_walk", moves=["Upward"], walks=100)
    assert up.settings["moves"] == ["upward"]


def test_directed_walks_take_the_moves_in_turn_from_the_same_starts():
    batches = []

    def spy(frame):
        batches.append(frame.to_numpy().copy())
        return np.zeros(len(frame), dtype=int)

    inner = dm.Space([dm.Continuous("x", 0, 1, step=0.01), dm.Continuous("y", 0, 1, step=0.01)])
    seeds = pd.DataFrame({"x": [0.2, 0.4, 0.6], "y": [0.3, 0.5, 0.7]})
    dm.explore(spy, inner, "directed_walk", walks=8, walk_distance=1, seeds=seeds, labels="plain")
    steps = next(batch for batch in batches if len(batch) == 8)
    assert len(batches[1]) == 2  # after the rows on which it was tried: eight walks, four moves each
    for start, four in zip((steps[:4], steps[4:]), (steps[:4], steps[4:]), strict=True):
        centre = start.mean(axis=0)
        assert np.isclose(seeds.to_numpy(), centre).all(axis=1).any()
        np.testing.assert_allclose(four - centre, [[0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]], atol=1e-12)


@pytest.mark.slow
def test_a_growing_pool_finds_more():
    fixed, growing = (
        dm.explore(dm.subjects["Box 1"], strategy="random_walk", walks=150, pool=pool) for pool in ("fixed", "growing")
    )
    assert len(growing) > 1.2 * len(fixed)


def test_refinement_stops_at_delta():
    coarse = dm.explore(three, SQUARE, "random_target", walks=300, delta=0.01)
    assert 0.004 < coarse.distance.max() <= 0.01
    fine = dm.explore(three, SQUARE, "random_target", walks=300, delta=1e-12)
    assert fine.distance.max() <= 1e-12  # more than twenty halvings
    assert coarse.runs < fine.runs


@pytest.mark.slow
def test_constraints_are_kept():
    space = dm.Space([dm.Continuous("free", 0, 10), dm.Continuous("total", 0, 10)], constraints=["free <= total"])
    for strategy in ("random_target", "random_walk", "auto"):
        front = dm.explore(lambda f: f["free"] * f["total"] > 20, space, strategy=strategy, walks=150)
        assert len(front) > 20
        assert space.valid(front.a).all()
        assert space.valid(front.b).all()


@pytest.mark.slow
def test_auto_records_its_choices_and_prefers_productive_strategies():
    front = dm.explore(dm.subjects["Sin 2"], strategy="auto", walks=1200)
    by = pd.DataFrame(front.choices).groupby("strategy")["walks"].sum()
    assert set(by.index) == {"random_target", "directed_walk", "random_walk"}
    assert by.sum() == 1200
    assert by["random_target"] > by["directed_walk"]  # a pair costs a third of a walk's
    assert pd.DataFrame(front.choices)["pairs"].sum() == len(front)
    assert set(front.pairs["strategy"]) == set(by.index)


# -- yield and cost --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_intervals_have_their_nominal_coverage():
    """Box 1 has the area 0.9 of 4 pi: the capability of random target is known."""
    p = 0.9 / (4 * np.pi)
    truth = 2 * p * (1 - p)
    held = 0
    for seed in range(60 if LONG else 30):
        front = dm.explore(
            dm.subjects["Box 1"], strategy="random_target", walks=200, seeds=5000, max_halvings=2, seed=seed
        )
        low, high = front.capability_interval()
        held += low <= truth <= high
        least, most = front.cost_interval()
        assert least <= front.cost <= most
    assert held >= (51 if LONG else 24)  # 57 of 60 expected; fewer than 51 once in a hundred


def test_an_estimate_agrees_with_more_walks():
    subject = dm.subjects["Circle 2"]
    small = dm.explore(subject, strategy="random_walk", walks=500, seed=1)
    large = dm.explore(subject, strategy="random_walk", walks=5000, seed=2)
    estimate = small.estimate(5000)
    assert estimate.pairs == pytest.approx(len(large), rel=0.15)
    assert estimate.runs == pytest.approx(large.runs, rel=0.05)


@pytest.mark.slow
def test_a_plan_predicts_the_yield():
    plan = dm.plan(dm.subjects["Circle 2"], walks=4000, trial=300)
    assert plan.best == "random_target"
    for row in plan.table.itertuples():
        front = dm.explore(dm.subjects["Circle 2"], strategy=row.strategy, walks=4000, seed=5)
        assert row.pairs == pytest.approx(len(front), rel=0.35)
    assert sum(plan.shares.values()) == pytest.approx(1)
    assert "random_target" in str(plan)


# -- narrowing by scores -----------------------------------------------------------------------------------------

SMOOTH = {
    "logistic regression": LogisticRegression(),
    "two classes": LogisticRegression(),
    "support vectors, two classes": SVC(),
    "support vectors": SVC(),
    "naive Bayes": GaussianNB(),
    "neural network": make_pipeline(
        StandardScaler(), MLPClassifier((30,), solver="lbfgs", alpha=1, max_iter=5000, random_state=0)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH if LONG else list(SMOOTH)[:3])
def test_scores_narrow_with_few_cases_on_smooth_models(name, blobs):
    inputs, labels = blobs.drop(columns="target"), blobs["target"]
    labels = labels == "one" if "two" in name else labels
    model = SMOOTH[name].fit(inputs, labels)
    plain, guided = (
        dm.explore(model, inputs, "random_target", walks=150 if LONG else 60, refine=refine)
        for refine in ("bisect", "score")
    )
    assert len(plain) == len(guided)  # the same walks
    assert np.median(guided.pair_runs) <= 8
    assert guided.pair_runs.max() <= 21
    assert (guided.distance <= plain.distance * (1 + 1e-6) + 1e-12).all() or (
        guided.distance.max() <= 1.01 * plain.distance.max()
    )
    assert (model.predict(guided.a.frame) == guided.a_output).all()
    assert (model.predict(guided.b.frame) == guided.b_output).all()
    assert dm.explore(model, inputs, "random_target", walks=150).notes[-1].endswith(": used.")


@pytest.mark.slow
@pytest.mark.parametrize("model", [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(5)])
def test_scores_that_are_steps_need_at_most_one_case_more_than_bisection(model, blobs):
    inputs = blobs.drop(columns="target")
    model.fit(inputs, blobs["target"])
    guided = dm.explore(model, inputs, "random_target", walks=400, refine="score")
    assert guided.pair_runs.max() <= 21
    auto = dm.explore(model, inputs, "random_target", walks=400)
    assert auto.notes[-1].endswith(": not used.")


def test_misleading_scores_only_cost_cases():
    """A pair is certified by labels: scores of noise, of NaN, or against the labels change no answer."""

    class Liar(Executor):
        space, labels, score_kind, name = SQUARE, (0, 1), "decision", "liar"

        def __init__(self, kind):
            self.kind, self.rng = kind, np.random.default_rng(0)

        def answer(self, batch, scores):
            values = (batch.codes.sum(axis=1) > 1).astype(int)
            noise = {
                "noise": self.rng.normal(size=(len(batch), 2)),
                "nan": np.full((len(batch), 2), np.nan),
                "against": np.column_stack([values, 1 - values]).astype(float),
                "infinite": np.where(self.rng.random((len(batch), 2)) > 0.5, np.inf, -np.inf),
            }
            return Outputs(values, np.zeros(len(batch), np.int8), noise[self.kind] if scores else None)

    for kind in ("noise", "nan", "against", "infinite"):
        liar = Liar(kind)
        front = dm.explore(liar, SQUARE, "random_target", walks=200, refine="score")
        assert len(front) > 50
        assert front.pair_runs.max() <= 41  # misled, and then halved
        assert (liar.execute(front.a).values == front.a_output).all()
        assert (front.a_output != front.b_output).all()
        assert front.distance.max() <= math.sqrt(2) / 2**20 * 1.001


@pytest.mark.slow
def test_mixed_data_are_bisected_first_and_then_narrowed_by_scores(blobs):
    rng = np.random.default_rng(1)
    inputs = blobs.drop(columns="target").assign(n=rng.integers(0, 50, 400), b=blobs.b.round())
    model = LogisticRegression(max_iter=2000).fit(inputs, blobs["target"])
    space = dm.Space.from_frame(inputs, kinds={"n": "integer"})
    plain, guided = (
        dm.explore(model, inputs, "random_target", walks=300, refine=refine, space=space)
        for refine in ("bisect", "score")
    )
    assert len(plain) == len(guided)
    assert guided.runs < 0.8 * plain.runs
    assert (model.predict(guided.a.frame) == guided.a_output).all()
    discrete = np.abs(guided.a.codes[:, -1] - guided.b.codes[:, -1])
    assert (discrete <= 1).all()


# -- beyond single labels -------------------------------------------------------------------------------------


def test_regressors_cross_a_threshold(blobs):
    inputs = blobs[list("abcd")]
    model = LinearRegression().fit(inputs, inputs.a * 3 - inputs.d)
    front = dm.explore(model, inputs, "random_target", walks=300, threshold=1.5)
    below, above = np.minimum(front.a_output, front.b_output), np.maximum(front.a_output, front.b_output)
    assert ((below <= 1.5) & (above > 1.5)).all()
    assert np.abs(above - below).max() < 1e-3
    assert np.median(front.pair_runs) <= 4  # its own answers guide it
    unsaid = dm.explore(model, inputs, "random_target", walks=300)
    assert len(unsaid) > 80
    assert "threshold" in unsaid.notes[-1]


@pytest.mark.slow
def test_jumps_of_regressors_are_found_and_slopes_are_not(blobs):
    inputs = blobs[list("abcd")]
    values = inputs.a * 3
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(inputs, values)
    jumps = dm.explore(tree, inputs, walks=300, jump=0.5, strategy="random_walk")
    assert len(jumps) > 30
    assert (np.abs(jumps.a_output - jumps.b_output) > 0.5).all()
    line = LinearRegression().fit(inputs, values)
    slopes = dm.explore(line, inputs, walks=300, jump=0.5, strategy="random_walk")
    assert len(slopes) == 0
    assert slopes.slopes > 0
    assert math.isinf(slopes.cost)


def test_each_of_several_labels_has_its_own_border():
    x, y = make_multilabel_classification(200, 3, n_classes=3, random_state=0)
    inputs = pd.DataFrame(x, columns=list("abc"))
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(inputs, y)
    front = dm.explore(model, inputs, "random_target", walks=200)
    parts = pd.Series(front.kinds).str.extract(r"label (\d)")[0].unique()
    assert set(parts) == {"0", "1", "2"}
    for kind, a, b in zip(front.kinds, front.a_output, front.b_output, strict=True):
        label = int(kind.removeprefix("label ")[0])
        assert a[label] != b[label]
    assert len(front) > len(np.unique(front.walk))  # a walk between two answers meets several borders
    assert front.capability <= 1


def test_borders_of_paths_are_as_near_the_root_as_possible():
    def rule(frame):
        kind = np.where(frame["x"] < 0.5, "plant", "animal")
        return [f"{k}/{'small' if y < 0.3 else 'large'}" for k, y in zip(kind, frame["y"], strict=True)]

    front = dm.explore(rule, SQUARE, "random_target", walks=400)
    roots = [(a.split("/")[0], b.split("/")[0]) for a, b in zip(front.a_output, front.b_output, strict=True)]
    start = dm.explore(rule, SQUARE, "random_target", walks=400, max_halvings=0)
    parted = [a.split("/")[0] != b.split("/")[0] for a, b in zip(start.a_output, start.b_output, strict=True)]
    # whoever began with different roots ends with different roots
    assert [a != b for a, b in roots] == parted
    assert 0 < sum(parted) < len(parted)


@pytest.mark.slow
def test_clusterers_with_and_without_predict(blobs):
    inputs = blobs[["a", "c"]]
    means = KMeans(3, n_init=2, random_state=0).fit(inputs)
    assert len(dm.explore(means, inputs, walks=200, strategy="random_walk")) > 20
    dense = DBSCAN(eps=0.4).fit(inputs)
    front = dm.explore(dense, inputs, walks=200, strategy="random_walk")
    assert len(front) > 20
    assert any("nearest row" in note for note in front.notes)
    with pytest.raises(ModelError, match="fitted on"):
        dm.explore(dense, inputs[:50], walks=10)


# -- errors and limits ------------------------------------------------------------------------------------------


@in_one_test(
    ("arguments", "error", "says"),
    [
        ({"strategy": "random"}, ArgumentError, "'random_walk'"),
        ({"walks": -1}, ArgumentError, "walks"),
        ({"walks": 1.5}, ArgumentError, "walks"),
        ({"max_halvings": -1}, ArgumentError, "max_halvings"),
        ({"walk_distance": 0}, ArgumentError, "walk_distance"),
        ({"delta": 0}, ArgumentError, "delta"),
        ({"refine": "newton"}, ArgumentError, "refine"),
        ({"pool": "shrinking"}, ArgumentError, "pool"),
        ({"moves": ["sideways"]}, TestSystemError, "no move 'sideways'"),
        ({"moves": []}, TestSystemError, "at least one move"),
        ({"seeds": 0}, ArgumentError, "seeds"),
        ({"seed": "x"}, ArgumentError, "seed"),
        ({"threshold": "high"}, ArgumentError, "threshold"),
        ({"jump": -1}, ArgumentError, "jump"),
        ({"jump": 1, "threshold": 2}, ArgumentError, "only one of them"),
        ({"labels": "tree"}, ArgumentError, "labels"),
        ({"budget": "soon"}, ArgumentError, "budget"),
        ({"engine": "abacus"}, ArgumentError, "engine"),
        ({"strategy": "auto", "pool": "growing"}, ArgumentError, "fixed"),
        ({"space": 3}, ArgumentError, "Space"),
    ],
)
def test_wrong_arguments_are_rejected_with_a_message(arguments, error, says):
    with pytest.raises(error, match=says):
        dm.explore(three, SQUARE, **arguments)


def test_models_without_inputs_are_rejected():
    with pytest.raises(ArgumentError, match="inputs to start from"):
        dm.explore(three, strategy="random_walk")
    with pytest.raises(DataError, match="no rows"):
        dm.explore(three, SQUARE.sample(3).iloc[:0], space=SQUARE, strategy="random_walk")
    with pytest.raises(ArgumentError, match="numbers"):
        dm.explore(three, SQUARE, threshold=1, strategy="random_walk")


def test_no_walks_find_nothing():
    front = dm.explore(three, SQUARE, walks=0)
    assert (front.walks, len(front), front.runs, front.capability) == (0, 0, 0, 0.0)
    assert math.isinf(front.cost)
    assert front.pairs.empty
    assert "No border" in front.describe()
    assert front.estimate(100).pairs == 0
    front.quality()


@pytest.mark.slow
@in_one_test(
    "space, strategy",
    thin(
        [
            dm.Space([dm.Continuous("x", 0, 1)]),
            dm.Space([dm.Continuous("x", 3, 3)]),
            dm.Space([dm.Integer("x", 3, 3)]),
            dm.Space([dm.Categorical("x", ["only"])]),
            dm.Space([dm.Categorical("x", ["a", "b"], nullable=True)]),
        ],
        ["random_target", "directed_walk", "random_walk", "auto"],
        keep=2,
    ),
)
def test_small_spaces_can_be_explored(space, strategy):
    front = dm.explore(lambda frame: frame["x"].astype(str), space, strategy=strategy, walks=20, seeds=5)
    assert front.walks == 20
    assert (front.a_output != front.b_output).all()
    front.describe(), front.quality(), front.deciding()


@pytest.mark.parametrize("strategy", ["random_target", "directed_walk", "random_walk", "auto"])
def test_a_system_with_one_answer_has_no_border(strategy):
    front = dm.explore(lambda frame: np.full(len(frame), "same"), SQUARE, strategy=strategy, walks=50)
    assert len(front) == 0
    assert front.capability == 0
    assert front.capability_interval()[1] < 0.12


@pytest.mark.slow
def test_walks_need_one_seed_and_random_target_needs_two():
    assert len(dm.explore(three, SQUARE, walks=100, seeds=1, strategy="random_walk")) > 0
    front = dm.explore(three, SQUARE, "random_target", walks=100, seeds=1)
    assert len(front) == 0
    assert "needs 2 cases" in front.notes[-1]
    assert len(dm.explore(three, SQUARE, "auto", walks=100, seeds=1)) > 0


@pytest.mark.slow
def test_a_missing_answer_ends_only_its_own_walk():
    def moody(frame):
        answers = three(frame).astype(object)
        answers[frame["x"].to_numpy() > 0.9] = np.nan
        return answers

    for strategy in ("random_target", "directed_walk", "random_walk", "auto"):
        front = dm.explore(moody, SQUARE, strategy=strategy, walks=150)
        assert len(front) > 30
        assert front.lost > 0
        assert set(front.incidents["status"]) == {"MISSING"}
        assert (moody(front.a.frame) == front.a_output).all()
        assert all(isinstance(answer, str) for answer in front.b_output)


@pytest.mark.slow
def test_an_exception_loses_only_the_rows_that_cause_it():
    def raising(frame):
        if (frame["y"] > 0.93).any():
            raise ValueError("too high")
        return three(frame)

    front = dm.explore(raising, SQUARE, walks=200, strategy="random_walk")
    assert len(front) > 20
    assert front.lost > 0
    assert front.a.codes[:, 1].max() <= 0.93
    with pytest.raises(SystemFailed):
        dm.explore(lambda frame: 1 / 0, SQUARE, walks=200, strategy="random_walk")


@pytest.mark.slow
def test_a_spent_budget_keeps_what_was_found():
    for strategy, budget in rotate(
        ["random_target", "random_walk", "directed_walk", "auto"], [250, 1500] if LONG else [250, 500]
    ):
        front = dm.explore(three, SQUARE, strategy=strategy, walks=500, budget=budget)
        assert front.exhausted
        assert front.runs <= budget
        assert (three(front.a.frame) == front.a_output).all()
        assert (front.a_output != front.b_output).all()
        assert len(front) > budget / 100
    assert "budget" in front.describe()


@pytest.mark.slow
def test_a_random_move_draws_from_the_run_seed():
    class Drunk:
        space = SQUARE

        @dm.datamorphism
        def stagger(self, p, rng):
            return (p + rng.normal(scale=0.1, size=p.shape)).clip(0, 1)

        @dm.executor
        def classify(self, p):
            return three(p)

    first, second = (dm.explore(Drunk, walks=200, seed=3, strategy="random_walk") for _ in range(2))
    assert len(first) > 20
    pd.testing.assert_frame_equal(first.pairs, second.pairs)
    assert len(np.unique(first.a.codes[:, 0])) > 10


def test_a_filter_keeps_rejected_cases_in_place():
    class Filtered:
        space = SQUARE

        @dm.case_filter
        def left_half(self, tests):
            return tests.input["x"].to_numpy() < 0.5

        @dm.datamorphism(filter="left_half", feature="x")
        def right(self, p):
            return p.assign(x=p["x"] + 0.1)

        @dm.executor
        def classify(self, p):
            return np.where(p["x"] > 0.45, "in", "out")

    front = dm.explore(Filtered, strategy="directed_walk", walks=100)
    assert len(front) > 20
    assert front.b.codes[:, 0].max() <= 0.6


@pytest.mark.slow
def test_a_front_is_the_same_after_saving_and_loading(tmp_path):
    for labels, strategy in (
        (three, "auto"),
        (lambda frame: (frame["x"] > 0.5) * 1, "random_target"),
        (lambda frame: frame["x"] * 7 > 3, "random_walk"),
    ):
        front = dm.explore(labels, SQUARE, strategy, walks=30)
        front.save(tmp_path / "front.parquet")
        back = dm.Front.load(tmp_path / "front.parquet")
        pd.testing.assert_frame_equal(front.pairs, back.pairs)
        assert (back.runs, back.calls, back.walks, back.capability) == (
            front.runs,
            front.calls,
            front.walks,
            front.capability,
        )
        assert back.cost_interval() == front.cost_interval()
        assert back.choices == list(front.choices)
        expected = front.estimate(1000)
        assert (back.estimate(1000).pairs, back.estimate(1000).runs) == (expected.pairs, expected.runs)
        assert np.isnan(back.seconds)  # the same front is the same file, however long it took
    with pytest.raises(DataError, match="no file"):
        dm.Front.load(tmp_path / "none.parquet")
    front.pairs.to_parquet(tmp_path / "other.parquet")
    with pytest.raises(DataError, match=r"not written by Front\.save"):
        dm.Front.load(tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("front")
    with pytest.raises(DataError, match="cannot be read as a Parquet file"):
        dm.Front.load(tmp_path / "text.parquet")


class Guessing(Executor):
    """Guesses labels from scores that are wrong near the border: only the labels count."""

    space, labels, score_kind, name = SQUARE, (0, 1), "decision", "guessing"

    def answer(self, batch, scores):
        total = batch.codes.sum(axis=1)
        value = total - 1 if scores == "only" else total - 1.1
        both = np.column_stack([-value, value])
        return Outputs((value > 0).astype(int), np.zeros(len(batch), np.int8), both if scores else None)


@pytest.mark.parametrize("budget", [None, 120, 300, *([200, 500, 1000] if LONG else [])])
def test_guessed_labels_are_confirmed_by_the_system(budget):
    sut = Guessing()
    front = dm.explore(sut, SQUARE, "random_target", walks=200, seeds=50, refine="score", budget=budget)
    assert (sut.execute(front.a).values == front.a_output).all()
    assert (sut.execute(front.b).values == front.b_output).all()
    assert (front.a_output != front.b_output).all()
    if budget is None:
        assert len(front) > 40
        assert front.distance.max() <= math.sqrt(2) / 2**20 * 1.001
    else:
        assert front.runs <= budget


# -- special cases ----------------------------------------------------------------------------------------


def confirmed(model, front):
    """Whether the model gives the answers of a front to its rows, as a user would ask it."""
    return all(
        (np.asarray(model.predict(points.frame)) == outputs).all()
        for points, outputs in ((front.a, front.a_output), (front.b, front.b_output))
    )


@pytest.fixture(scope="module")
def several(blobs):
    inputs = blobs[list("abc")]
    labels = np.column_stack([inputs.a > 0, inputs.b > 0, inputs.c > 0]).astype(int)
    return inputs, labels


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "walks"), thin(["directed_walk", "random_walk", "auto", "random_target"], [1, 2, 3, 30])
)
def test_several_labels_do_not_depend_on_the_batch_size(several, strategy, walks):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(*several)
    front = dm.explore(model, several[0], strategy, walks=walks, walk_distance=40, moves=["up_a"], seed=walks)
    assert front.walks == walks


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [MLPClassifier((5,), solver="lbfgs", max_iter=2000, random_state=0), KNeighborsClassifier()]
)
def test_several_labels_are_inferred_from_the_answers(several, learner):
    front = dm.explore(learner.fit(*several), several[0], "random_target", walks=60)
    assert front.settings["border_kind"] == "multilabel"


def test_a_case_needed_by_several_labels_is_run_once(several):
    inputs, labels = several
    thrice = np.column_stack([labels[:, 0]] * 3)
    model = DecisionTreeClassifier(max_depth=1).fit(inputs, thrice)
    front = dm.explore(model, inputs, "random_target", walks=50)
    single = dm.explore(
        DecisionTreeClassifier(max_depth=1).fit(inputs, labels[:, 0]),
        inputs,
        "random_target",
        walks=50,
        refine="bisect",
    )
    assert len(front) == 3 * len(single)
    assert front.runs == single.runs


@pytest.mark.slow
def test_several_labels_that_sometimes_fail():
    def rule(frame):
        return [None if x > 0.9 else (int(x > 0.3), int(y > 0.5)) for x, y in zip(frame["x"], frame["y"], strict=True)]

    for strategy in ("random_walk", "random_target", "auto"):
        front = dm.explore(rule, SQUARE, strategy, walks=100)
        assert len(front) > 10
        assert front.lost > 0
    with pytest.raises(ArgumentError, match="as a tuple"):
        dm.explore(three, SQUARE, labels="multi", strategy="random_walk")
    with pytest.raises(ArgumentError, match="single numbers"):
        dm.explore(rule, SQUARE, threshold=0.5, strategy="random_walk")


@pytest.mark.parametrize("everywhere", [True, False])
def test_pairs_without_scores_are_bisected(blobs, everywhere):
    class Scoreless:
        classes_ = np.array([0, 1])
        feature_names_in_ = np.array(list("abcd"), dtype=object)

        def predict(self, frame):
            return (frame["a"] + frame["b"] > 0).astype(int).to_numpy()

        def predict_proba(self, frame):
            if everywhere or (frame["c"] > 0).any():
                raise NotImplementedError
            p = 1 / (1 + np.exp(-(frame["a"] + frame["b"]).to_numpy()))
            return np.column_stack([1 - p, p])

    model = Scoreless()
    front = dm.explore(model, blobs, "random_target", walks=200)
    assert front.distance.max() < 1e-4
    assert confirmed(model, front)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "options"),
    rotate(
        [LogisticRegression(), *([SVC()] if LONG else []), GaussianNB()],
        [{"max_halvings": 60}, {"delta": 1e-30}, *([{"delta": 1e-14}, {"max_halvings": 1100}] if LONG else [])],
    ),
)
def test_narrowing_by_scores_is_as_precise_as_bisection(blobs, learner, options):
    inputs = blobs[list("abcd")]
    model = learner.fit(inputs, blobs["target"] == "one")
    plain, guided = (
        dm.explore(model, inputs, "random_target", walks=50, refine=refine, **options) for refine in ("bisect", "score")
    )
    assert guided.distance.max() <= max(4 * plain.distance.max(), options.get("delta", 0))
    # so close to the border the label of a row may depend on the other rows of its batch, on some processors
    answers = [np.asarray(model.predict(points.frame)) for points in (guided.a, guided.b)]
    agreement = np.mean([answers[0] == guided.a_output, answers[1] == guided.b_output])
    assert agreement > 0.9


@pytest.mark.slow
def test_a_jump_under_a_budget_is_still_a_jump(blobs):
    inputs = blobs[list("abcd")]
    model = LinearRegression().fit(inputs, inputs.a * 3)
    for budget in (300, 1500) if LONG else (300,):
        front = dm.explore(model, inputs, "random_target", walks=100, jump=0.5, budget=budget)
        assert (np.abs(front.a_output - front.b_output) > 0.5).all()


def test_answers_match_the_returned_rows_for_every_dtype(blobs):
    numbers = blobs[list("abcd")].to_numpy(dtype=np.float32)
    model = LogisticRegression().fit(numbers, blobs["target"])
    front = dm.explore(model, numbers, walks=400, refine="bisect", strategy="random_walk")
    assert len(front) > 50
    assert (model.predict(front.a.frame.to_numpy()) == front.a_output).all()
    assert (model.predict(front.b.frame.to_numpy()) == front.b_output).all()


def test_models_may_modify_their_input(blobs):
    numbers = blobs[list("abcd")].to_numpy() * 3 + 20
    model = make_pipeline(StandardScaler(copy=False), LogisticRegression()).fit(numbers.copy(), blobs["target"])
    front = dm.explore(model, numbers.copy(), "random_target", walks=200, refine="bisect")
    assert (model.predict(front.a.codes.copy()) == front.a_output).all()
    assert front.distance.max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "budget"),
    rotate(
        ["random_target", "directed_walk", "random_walk", "auto"], ["900 runs", "3000 runs"] if LONG else ["900 runs"]
    ),
)
def test_a_budget_of_runs_is_spent_on_finished_walks(strategy, budget):
    subject, walks = dm.subjects["Sin 2"], 2000 if LONG else 400
    moves = ["upward"] if strategy == "directed_walk" else None
    whole = dm.explore(subject, strategy=strategy, walks=walks, moves=moves, seeds=400)
    part = dm.explore(subject, strategy=strategy, walks=walks, moves=moves, seeds=400, budget=budget)
    assert part.exhausted
    assert 0 < part.walks < whole.walks
    assert part.runs > 0.8 * int(budget.split()[0])
    if strategy != "auto":
        low, high = part.capability_interval(0.999)
        assert low <= whole.capability <= high
        assert np.median(part.pair_runs) == 20


def test_nothing_is_run_where_constraints_leave_no_case_in_between():
    gap = dm.Space([dm.Continuous("x", 0, 1)], constraints=[dm.Rule(lambda f: (f["x"] < 0.4) | (f["x"] > 0.6))])
    queries = []

    def rule(frame):
        queries.extend(frame["x"])
        return frame["x"] > 0.5

    front = dm.explore(rule, gap, "random_target", walks=100, refine="bisect")
    assert len(front) > 20
    assert front.runs <= len(set(queries))


def test_numbers_may_be_missing_or_infinite():
    def holes(frame):
        return [None if x > 0.95 else float(x) for x in frame["x"]]

    assert dm.explore(holes, SQUARE, walks=50).settings["border_kind"] == "threshold"
    front = dm.explore(
        lambda f: np.where(f["x"] > 0.5, np.inf, f["x"]), SQUARE, walks=100, threshold=0.3, strategy="random_walk"
    )
    assert front.lost == 0
    assert len(front) > 20


@pytest.mark.parametrize("delta", [3.0, 1.5, 0.01])
def test_delta_is_reached_on_mixed_data_where_possible(delta):
    space = dm.Space([dm.Continuous("x", 0, 10), dm.Categorical("c", ["a", "b"])])
    front = dm.explore(lambda f: (f["x"] > 5) ^ (f["c"] == "b"), space, "random_target", walks=200, delta=delta)
    whole = front.a.codes[:, 1] != front.b.codes[:, 1]
    limit = np.where(whole & (delta < 1), 1 + delta, delta)
    assert (front.distance <= limit).all()
    assert front.pair_runs.max() <= 12


def test_refinement_of_one_hot_groups_ends():
    group = [dm.Integer(name, 0, 1) for name in "rgb"]
    space = dm.Space([dm.Continuous("x", 0, 10), *group], constraints=[dm.OneHot(list("rgb"))])
    front = dm.explore(lambda f: (f["x"] > 5) ^ (f["r"] == 1), space, "random_target", walks=200, delta=0.01)
    assert front.pair_runs.max() <= 16


@pytest.mark.slow
def test_wrapped_models_and_files_know_their_columns(blobs, tmp_path):
    import joblib

    inputs = blobs[list("abcd")]
    model = DecisionTreeRegressor(max_depth=2).fit(inputs, inputs.a)
    joblib.dump(model, tmp_path / "model.joblib")
    fronts = [
        dm.explore(model, blobs, walks=5),
        dm.explore(dm.wrap(model), blobs, walks=5),
        dm.explore(tmp_path / "model.joblib", blobs, walks=5, trust=True),
    ]
    for front in fronts:
        assert front.space.names == ("a", "b", "c", "d")
        assert front.settings["border_kind"] == "threshold"
    wrapped = dm.wrap(model)
    dm.explore(wrapped, inputs, walks=3)
    assert wrapped.space is None  # the caller's own is left as it was


def test_seeds_can_replace_data():
    assert len(dm.explore(three, SQUARE, seeds=SQUARE.sample(30), walks=50).seeds) == 30


@pytest.mark.slow
def test_of_large_data_some_rows_are_seed_cases():
    data = np.random.default_rng(0).normal(size=(20_100, 2))
    front = dm.explore(three_quadrants, data, walks=20)
    assert len(front.seeds) == 20_000
    assert "A random sample of 20,000 of the 20,100 rows was used; it depends on the seed." in front.notes
    assert front.space.features[0].low == data[:, 0].min()
    assert len(dm.explore(three_quadrants, data, walks=10_050).seeds) == 20_100  # two per walk
    few = dm.explore(three_quadrants, data, walks=20, seeds=50)
    assert (few.seeds.codes == data[np.random.default_rng(0).permutation(20_100)[:50]]).all()


def three_quadrants(frame):
    return np.where(frame["x0"] > 0, "right", np.where(frame["x1"] > 0, "upper", "lower"))


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, lambda array: pd.DataFrame(array, columns=[f"x{j}" for j in range(10)])])
def test_memory_does_not_depend_on_the_number_of_rows(form):
    peaks = []
    for rows in (20_000, 20_000, 200_000):  # the first also loads modules
        data = form(np.random.default_rng(0).normal(size=(rows, 10)))
        tracemalloc.start()
        dm.explore(three_quadrants, data, walks=20)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]


def test_an_interrupted_exploration_keeps_its_pairs():
    calls = 0

    def impatient(frame):
        nonlocal calls
        calls += 1
        if calls == 30:
            raise KeyboardInterrupt
        return three(frame)

    front = dm.explore(impatient, SQUARE, walks=300, strategy="random_walk")
    assert front.exhausted
    assert len(front) > 0
    assert (three(front.a.frame) == front.a_output).all()


def test_the_order_of_labels_does_not_change_the_meaning_of_scores(blobs):
    inputs = blobs[list("abcd")]
    model = LogisticRegression().fit(inputs, blobs["target"])
    front = dm.explore(dm.wrap(model, labels=["two", "three", "one"]), inputs, "random_target", walks=100)
    assert confirmed(model, front)


@pytest.mark.slow
def test_the_kind_of_answers_is_inferred_from_several_of_them():
    def grades(frame):
        return np.floor(frame["x"] * 3) + 0.5

    for options in ({"seeds": 15, "pool": "growing", "strategy": "random_walk"}, {"seeds": 30}, {}):
        front = dm.explore(grades, SQUARE, walks=30, **options)
        assert front.settings["border_kind"] == "labels"
        assert len(front) > 5

"""Hunts: what is found, how soon, and what becomes of systems that do not answer."""

from __future__ import annotations

import math
import sys
import time

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic import FunctionRelation
from datamorphic.errors import ArgumentError, SystemFailed
from datamorphic.hunting.generators import make_generator
from datamorphic.hunting.loop import RoundRobin
from datamorphic.hunting.selectors import SELECTORS
from datamorphic.relations import Affine
from datamorphic.relations.algebra.base import VIOLATED
from datamorphic.relations.catalogue.predictor import PREDICTOR_RELATIONS
from datamorphic.systems.function_runner import FunctionRunner
from support.cases import LONG, in_one_test, rotate


def mirrored(**more):
    return FunctionRelation(**{"name": "even", "domain": (-10, 10), "follow_up": Affine.scaled(-1, 1), **more})


def wrong_between_2_and_3(x):
    """Even, but for a tenth of the sources: a twentieth by themselves, as many by their follow-ups."""
    return np.where((x > 2) & (x < 3), -1.0, x**2)


def violates(x):
    return 2 < abs(x) < 3


def picked(relations, generator, count, seed, trial=0, **options):
    """Propose groups one by one, as a user who drives generators by hand."""
    turns = RoundRobin([make_generator(generator, relation, **options) for relation in relations])
    turns = turns.clone(np.random.default_rng([seed, trial]))
    for _ in range(count):
        picks = turns.propose(1)
        yield int(picks.relation[0]), picks.sources[0]


# -- measures -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["MT-RT", "SFIDMT-ART", *(["MT-BART", "FSCS-ART", "Sobol"] if LONG else [])])
def test_measures_against_a_plain_loop(generator):
    trials, budget, seed = 6, 150, 4
    hunt = dm.hunt(wrong_between_2_and_3, mirrored(), generator, None, budget, trials, seed, stop_after=None)
    rows = [
        [violates(sources[0]) for _, sources in picked([mirrored()], generator, budget, seed, trial)]
        for trial in range(trials)
    ]
    numbers = [[i for i, hit in enumerate(row, 1) if hit] for row in rows]
    assert [trial.violated for trial in hunt.trials] == numbers
    assert hunt.f_measures.tolist() == [number[0] for number in numbers]
    assert hunt.f2_measures.tolist() == [number[1] - number[0] for number in numbers]
    for groups in (1, 5, 20, 150):
        assert hunt.p_measure(groups).value == sum(any(row[:groups]) for row in rows) / trials
        assert hunt.e_measure(groups).value == pytest.approx(sum(sum(row[:groups]) for row in rows) / trials)
    assert (hunt.groups, hunt.calls) == (trials * budget, 2 * trials * budget)
    assert hunt.violated == sum(map(sum, rows)) == len(hunt.violations) == hunt.table["violated"].sum()


@in_one_test("generator", ["MT-RT", "SFIDMT-ART", "MT-ART-Min", "MT-IPART", "MT-RPART", "Halton"])
def test_f_measures_equal_those_of_a_plain_loop(generator):
    hunt = dm.hunt(wrong_between_2_and_3, mirrored(), generator, trials=4, seed=9)
    for trial, groups in enumerate(hunt.f_measures):
        loop = picked([mirrored()], generator, 10_000, 9, trial)
        assert groups == next(i for i, (_, sources) in enumerate(loop, 1) if violates(sources[0]))
    assert hunt.groups == hunt.f_measures.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "several"),
    rotate(
        [{"generator": "MT-RT"}, {"generator": "SFIDMT-ART"}, {"selector": "MRGS-ART"}, {"selector": "random"}],
        [False, True],
    ),
)
def test_batch_size_does_not_change_the_hunt(how, several):
    relations = [mirrored(), mirrored(name="also even"), mirrored(name="fine", expects=lambda x, y: y[0] == y[0])]
    hunts = [
        dm.hunt(wrong_between_2_and_3, relations if several else relations[0], trials=5, seed=2, batch=size, **how)
        for size in ((None, 1, 7, 1000) if LONG else (None, 7))
    ]
    for other in hunts[1:]:
        assert other.f_measures.tolist() == hunts[0].f_measures.tolist()
        pd.testing.assert_frame_equal(other.violations, hunts[0].violations)
        pd.testing.assert_frame_equal(other.table, hunts[0].table)


@pytest.mark.parametrize("batch", [1, 2, 3, None])
def test_batch_size_does_not_change_hunts_with_several_outputs(batch):
    """Two outputs of two inputs could be read either way."""
    hunt = dm.hunt(
        lambda x: (wrong_between_2_and_3(x), x),
        mirrored(equal=lambda x, y: (y[0][:, 0], y[1][:, 0])),
        seed=3,
        batch=batch,
    )
    assert hunt.f_measures.tolist() == dm.hunt(wrong_between_2_and_3, mirrored(), seed=3).f_measures.tolist()


def test_same_seed_same_hunt():
    one, two, other = (
        dm.hunt(wrong_between_2_and_3, mirrored(), trials=5, seed=seed, stop_after=3) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(one.violations, two.violations)
    assert not one.violations.equals(other.violations)


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_enough_violations_end_a_trial(stop_after):
    hunt = dm.hunt(wrong_between_2_and_3, mirrored(), trials=3, seed=1, stop_after=stop_after)
    assert [len(trial.violated) for trial in hunt.trials] == [stop_after] * 3
    assert [trial.groups for trial in hunt.trials] == [trial.violated[-1] for trial in hunt.trials]
    assert not any(trial.exhausted for trial in hunt.trials)
    assert len(hunt.f2_measures) == (3 if stop_after > 1 else 0)


@pytest.mark.parametrize("budget", [1, 15, 16, 17, 100])
def test_the_budget_is_exact(budget):
    sizes = []
    hunt = dm.hunt(lambda x: sizes.append(len(x)) or np.cos(x), mirrored(), budget=budget, trials=2)
    assert [trial.groups for trial in hunt.trials] == [budget] * 2
    assert hunt.f_measures.tolist() == [budget] * 2
    assert hunt.measured.censored.all()
    assert not hunt.found
    assert sum(sizes) == hunt.calls == 4 * budget


def test_e_measure_refuses_more_groups_than_executed():
    hunt = dm.hunt(wrong_between_2_and_3, mirrored(), trials=3, seed=1)
    with pytest.raises(ArgumentError):
        hunt.e_measure(100_000)
    with pytest.raises(ArgumentError):
        hunt.e_measure(-1)
    with pytest.raises(ArgumentError):
        dm.hunt(np.cos, mirrored(), budget=10).p_measure(11)


def test_describe_and_document_show_violations():
    hunt = dm.hunt(wrong_between_2_and_3, mirrored(), seed=1)
    (row,) = hunt.violations.to_dict("records")
    assert set(row) == {"trial", "group", "relation", "x1.x", "x2.x", "y1", "y2"}
    assert row["x2.x"] == -row["x1.x"]
    assert violates(row["x1.x"])
    assert [row["y1"], row["y2"]] == [wrong_between_2_and_3(row[x]) for x in ("x1.x", "x2.x")]
    assert "wrong_between_2_and_3 violates 'even': 1 violation" in hunt.describe()
    document = hunt.document()
    assert document["violated"] == 1
    assert len(document["violations"]) == 1
    nothing = dm.hunt(np.cos, mirrored(), budget=20)
    assert "No violation of 'even' by cos in 20 groups." in nothing.describe()
    assert nothing.violations.empty


# -- relations and who chooses -------------------------------------------------------------------------------------------


def test_relations_take_turns_without_a_selector():
    shifted = FunctionRelation(name="period", domain=(-10, 10), follow_up=lambda x: x + 2 * np.pi, tolerance=1e-3)
    pair = FunctionRelation(
        name="pair", domain=(-10, 10), sources=2, follow_up=lambda a, b: a + b, expects=lambda x, y: y[2] < 5
    )
    hunt = dm.hunt(np.cos, [mirrored(), shifted, pair], budget=100)
    assert hunt.table["groups"].tolist() == [34, 33, 33]
    assert hunt.calls == 34 * 2 + 33 * 2 + 33 * 3


@pytest.mark.slow
@in_one_test("selector", SELECTORS)
def test_selectors(selector):
    good = mirrored(name="fine", equal=lambda x, y: (x[0], -x[1]))
    hunt = dm.hunt(wrong_between_2_and_3, [good, mirrored()], selector=selector, seed=5, trials=3)
    assert hunt.generator == selector
    assert set(hunt.violations["relation"]) == {"even"}
    if selector in ("feedback", "near-miss"):  # what these choose depends on what they were told
        return
    for trial, groups in enumerate(hunt.f_measures):
        turn = SELECTORS[selector]([good, mirrored()]).clone(np.random.default_rng([5, trial]))
        hits = (turn.propose(1) for _ in range(10_000))
        assert groups == next(
            i for i, picks in enumerate(hits, 1) if picks.relation[0] == 1 and violates(picks.sources[0, 0])
        )


def test_follow_ups_that_use_outputs():
    """f(x + f(x)) = f(x): for f = floor it holds on [0, 1) only."""
    sizes = []
    step = FunctionRelation(
        name="step", domain=(0, 4), follow_up=lambda x, outputs: x + outputs[0], uses_outputs=True, follow_domain=(0, 8)
    )

    def floor(x):
        sizes.append(np.size(x))
        return np.floor(x)

    hunt = dm.hunt(floor, step, stop_after=None, budget=40)
    assert hunt.table.iloc[0].to_dict() == {
        "relation": "step",
        "groups": 40,
        "holds": 40 - hunt.violated,
        "violated": hunt.violated,
        "inapplicable": 0,
        "undefined": 0,
    }
    assert (hunt.violations["x1.x"] >= 1).all()
    assert 20 <= hunt.violated < 40
    # candidates are asked about, too
    assert hunt.calls == sum(sizes) > 80
    with pytest.raises(ArgumentError, match="depend on outputs"):
        dm.hunt(floor, [step], selector="MRGS-ART")


def test_follow_ups_outside_their_declared_domain():
    hunt = dm.hunt(np.cos, mirrored(follow_domain=(-10, 0)), "MT-RT", budget=200)
    below = sum(sources[0] < 0 for _, sources in picked([mirrored()], "MT-RT", 200, 0))
    assert hunt.table["inapplicable"].tolist() == [below]
    gone = dm.hunt(np.cos, mirrored(follow_domain=(50, 60)), "MT-RT", budget=20)
    assert "No group could be judged" in gone.notes[0]


# -- functions that do not answer ----------------------------------------------------------------------------------------


def scalar(x):
    return math.cos(x)


def by_case(x):
    return x * x if x > 0 else -x * -x


def raising_vector(x):
    if (x < -9).any():
        raise ValueError("too low")
    return x**2


def raising_scalar(x):
    if x < -9:
        raise ValueError("too low")
    return math.pow(x, 2)


def leaving(x):
    if (x < -9).any():
        sys.exit("too low")
    return x**2


def raising_with_two_outputs(x):
    if (x < -9).any():
        raise ValueError("too low")
    return np.stack([x**2, np.abs(x)], axis=1)


@pytest.mark.parametrize("function", [np.cos, scalar, by_case, lambda x: [math.cos(item) for item in x]])
def test_functions_of_arrays_and_of_numbers(function):
    hunt = dm.hunt(function, mirrored(), budget=300)
    assert hunt.table["holds"].tolist() == [300]


@pytest.mark.parametrize("function", [raising_vector, raising_scalar, leaving, raising_with_two_outputs])
def test_inputs_without_an_answer_are_undefined_and_the_rest_is_judged(function):
    hunt = dm.hunt(function, mirrored(), "MT-RT", budget=300, seed=1)
    without = sum(abs(sources[0]) > 9 for _, sources in picked([mirrored()], "MT-RT", 300, 1))
    assert 0 < without < 100
    assert hunt.table[["holds", "undefined"]].iloc[0].tolist() == [300 - without, without]
    assert hunt.failed == without
    assert any("too low" in note for note in hunt.notes)


def test_one_input_of_very_many_without_an_answer():
    def bad(x):
        if (x == 5).any():
            raise ValueError("5")
        return x

    _, there = (runner := FunctionRunner(bad))(np.arange(100_010.0)[:, None])
    assert np.flatnonzero(~there).tolist() == [5]
    assert runner.failures == 1


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: 1 / 0, "ZeroDivisionError"),
        (lambda x: sys.exit(3), "SystemExit"),
        (lambda x, y: x, "missing 1 required positional argument"),
        (lambda x: np.zeros((2, 2, 2)), "shape"),
        (lambda x: np.zeros(len(x) + 1) if np.ndim(x) else [[0]], "shape"),
    ],
)
def test_functions_that_never_answer(function, why):
    with pytest.raises(SystemFailed, match=why):
        dm.hunt(function, mirrored())


def test_few_groups_without_any_answer():
    hunt = dm.hunt(lambda x: 1 / 0, mirrored(), budget=5)
    assert hunt.table["undefined"].tolist() == [5]
    assert not hunt.found
    assert any("No group could be judged" in note for note in hunt.notes)


@pytest.mark.parametrize("function", [lambda x: x * np.nan, lambda x: None, lambda x: math.nan])
def test_nan_everywhere(function):
    hunt = dm.hunt(function, mirrored(), budget=100)
    assert hunt.table["undefined"].tolist() == [100]
    assert "No group could be judged: 100 groups without a numeric answer" in hunt.describe()


def test_overflows_are_not_violations():
    hunt = dm.hunt(lambda x: np.exp(1000 + abs(x)) - np.exp(1000 + x), mirrored(), budget=50)
    assert not hunt.found
    assert hunt.table["undefined"].tolist() == [50]


def test_several_outputs_and_labels():
    assert not dm.hunt(lambda x: (np.cos(x), np.abs(x)), mirrored(), budget=50).found
    assert dm.hunt(lambda x: (np.cos(x), np.sin(x)), mirrored(), budget=50).found
    assert not dm.hunt(lambda x: np.where(abs(x) > 3, "far", "near"), mirrored(), budget=50).found
    hunt = dm.hunt(lambda x: "above" if x > 3 else "below", mirrored(), budget=50)
    assert set(hunt.violations.iloc[0][["y1", "y2"]]) == {"above", "below"}


def test_answers_of_different_shapes():
    """Some with one number, some with two: they are never the same."""
    hunt = dm.hunt(lambda x: [1.0] if float(x) > 0 else [1.0, 2.0], mirrored(), budget=20, stop_after=None)
    assert hunt.table[["groups", "holds"]].iloc[0].tolist() == [20, 0]


@pytest.mark.parametrize("at", [1, 3, 20])
def test_interrupted_hunt_keeps_earlier_violations(at):
    calls = []

    def interrupted(x):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return wrong_between_2_and_3(x)

    hunt = dm.hunt(interrupted, mirrored(), budget=10_000, trials=50, stop_after=None)
    assert hunt.interrupted
    assert "interrupted" in hunt.describe()
    assert hunt.groups == len(hunt.trials) * 10_000 - 10_000 + hunt.trials[-1].groups
    assert len(hunt.violations) == hunt.violated
    assert hunt.found == (at > 1)


# -- systems ------------------------------------------------------------------------------------------------------------

SPACE = dm.Space([dm.Continuous("x", 0, 10), dm.Integer("n", 0, 4), dm.Categorical("c", ["a", "b", "c"])])


class NextNumber(dm.Relation):
    name = "next number"
    statement = "n changed: the answer stays"

    def follow_up(self, cases, rng):
        return cases.assign(n=(cases["n"] + 1) % 5)

    def expects(self, before, after):
        return before == after


class LargerX(dm.Relation):
    name = "larger x"
    statement = "x grows: never from high to low"

    def follow_up(self, cases, rng):
        return cases.assign(x=np.minimum(cases["x"] + 1, 10.0))

    def applies(self, cases):
        return (cases["x"] < 9).to_numpy()

    def expects(self, before, after):
        return ~((before == "high") & (after == "low"))


def high_but_for_b3(frame):
    return np.where((frame["x"] > 5) & ~((frame["n"] == 3) & (frame["c"] == "b")), "high", "low")


def test_models_of_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    cases = SPACE.frame(SPACE.sample(400, seed=1, points=True)).assign(c=lambda frame: frame["n"] * 1.0)
    labels = np.where((cases["x"] > 5) & (cases["n"] != 3), "high", "low")
    model = DecisionTreeClassifier(random_state=0).fit(cases, labels)
    space = dm.Space([SPACE.features[0], SPACE.features[1], dm.Continuous("c", 0, 4)])
    hunt = dm.hunt(model, NextNumber, "MT-RT", data=cases, space=space, budget=200, seed=1)
    assert hunt.found
    row = hunt.violations.iloc[0]
    assert {"x1.x", "x1.n", "x2.n"} <= set(row.index)
    two = pd.DataFrame({name: [row[f"x1.{name}"], row[f"x2.{name}"]] for name in "xnc"})
    assert model.predict(two).tolist() == [row["y1"], row["y2"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [{}, {"selector": "MRGS-ART"}, *([{"selector": "MRGS-distance"}, {"selector": "near-miss"}] if LONG else [])]
)
def test_systems_with_integers_and_categories(how):
    hunt = dm.hunt(
        dm.wrap(high_but_for_b3, space=SPACE),
        [LargerX, NextNumber()],
        space=SPACE,
        budget=60,
        seed=2,
        stop_after=None,
        **how,
    )
    assert set(hunt.violations["relation"]) <= {"next number"}
    inputs = hunt.violations.filter(regex=r"^x\d\.n$").to_numpy()
    assert (inputs % 1 == 0).all()
    assert hunt.table["groups"].sum() == 60
    assert hunt.table.set_index("relation").loc["larger x", "inapplicable"] > 0
    for row in hunt.violations.to_dict("records"):
        assert row["x1.x"] > 5
        assert row["x1.c"] == "b"
        assert 3 in (row["x1.n"], row["x2.n"])


@pytest.mark.slow
def test_batch_size_does_not_change_hunts_of_systems():
    system = dm.wrap(high_but_for_b3, space=SPACE)
    one, other = (
        dm.hunt(system, NextNumber, "MT-RT", space=SPACE, seed=3, batch=batch, trials=2).f_measures.tolist()
        for batch in (3, None)
    )
    assert one == other


def test_systems_that_raise():
    def raising(frame):
        if (frame["x"] > 9).any():
            raise ValueError("too much")
        return high_but_for_b3(frame)

    hunt = dm.hunt(dm.wrap(raising, space=SPACE), NextNumber, "MT-RT", space=SPACE, budget=60, stop_after=None)
    assert 0 < hunt.table["undefined"].iloc[0] < 20
    assert hunt.table["holds"].iloc[0] > 30
    with pytest.raises(SystemFailed, match="failed on all"):
        dm.hunt(dm.wrap(lambda frame: 1 / 0, space=SPACE), NextNumber, "MT-RT", space=SPACE, budget=60)


def test_systems_that_are_interrupted():
    calls = []

    def interrupted(frame):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return high_but_for_b3(frame)

    hunt = dm.hunt(dm.wrap(interrupted, space=SPACE), NextNumber, "MT-RT", space=SPACE, budget=1000, stop_after=None)
    assert hunt.interrupted
    assert 0 < hunt.groups < 1000
    assert hunt.table["groups"].sum() == hunt.groups


def hanging(frame):
    if (frame["x"] > 10).any():
        time.sleep(60)
    return np.full(len(frame), "low")


@pytest.mark.slow
def test_systems_that_hang():
    space = dm.Space([dm.Continuous("x", 0, 20)])
    shifted = FunctionRelation(name="shifted", domain=(0, 10), follow_up=Affine.scaled(1, 1, 10))
    hunt = dm.hunt(dm.wrap(hanging, space=space), shifted, "MT-RT", space=space, budget=1, timeout=0.5)
    assert hunt.table["undefined"].tolist() == [1]


def test_timeout_of_a_function_is_refused():
    with pytest.raises(ArgumentError, match="timeout"):
        dm.hunt(np.cos, mirrored(), budget=10, timeout=1)


# -- wrong use ----------------------------------------------------------------------------------------------------------


@in_one_test(
    ("options", "why"),
    [
        ({"relations": None}, "got no relations"),
        ({"relations": []}, "at least one relation"),
        ({"relations": "even"}, "no relation 'even'"),
        ({"relations": 3}, "relations, or names"),
        ({"relations": NextNumber}, "data= or space="),
        ({"generator": "nobody"}, "no generator 'nobody'"),
        ({"selector": "nobody"}, "no selector 'nobody'"),
        ({"budget": 0}, "'budget'"),
        ({"trials": 0}, "'trials'"),
        ({"seed": -1}, "'seed'"),
        ({"stop_after": 0}, "'stop_after'"),
        ({"batch": 0}, "'batch'"),
        ({"k": 0}, "'k'"),
        ({"nonsense": 1}, "nonsense"),
        ({"relations": FunctionRelation(name="p", domain=(1, 1), follow_up=np.cos)}, "single input"),
    ],
)
def test_bad_arguments(options, why):
    with pytest.raises(ArgumentError, match=why):
        dm.hunt(**{"model": np.cos, "relations": mirrored(), **options})


def test_relations_with_wrong_columns_are_refused():
    with pytest.raises(ArgumentError, match="even"):
        dm.hunt(dm.wrap(high_but_for_b3, space=SPACE), mirrored(), "MT-RT", space=SPACE, budget=20)


def test_relations_a_hunt_cannot_use():
    with pytest.raises(ArgumentError, match="does not make one follow-up"):
        dm.hunt(
            dm.wrap(high_but_for_b3, space=SPACE),
            next(iter(PREDICTOR_RELATIONS.values())),
            "MT-RT",
            space=SPACE,
            budget=20,
        )


def test_programs_and_names():
    tanh = dm.programs["tanh"]
    hunt = dm.hunt(tanh.mutants["emu10"], "tripling", seed=1)
    assert hunt.found
    assert hunt.violations["relation"].tolist() == ["tripling"]
    assert not dm.hunt(tanh, budget=200).found
    with pytest.raises(ArgumentError, match="tripling"):
        dm.hunt(tanh, "trippling")


def test_verdicts_of_violations_are_those_of_the_relation():
    hunt = dm.hunt(wrong_between_2_and_3, mirrored(), seed=1, stop_after=5)
    x = [np.array([item.inputs[i] for item in hunt.examples]) for i in (0, 1)]
    y = [np.array([item.outputs[i] for item in hunt.examples]) for i in (0, 1)]
    assert mirrored().judge(x, y)[0].tolist() == [VIOLATED] * 5


# -- runs ---------------------------------------------------------------------------------------------------------------


ROWS = {"queried": 0, "stop_at": None}


def stepping(frame):
    """Answer whether x is high, count the rows, and stop when told to."""
    if ROWS["stop_at"] is not None and ROWS["queried"] >= ROWS["stop_at"]:
        raise KeyboardInterrupt
    ROWS["queried"] += len(frame)
    return high_but_for_b3(frame)


def wrong_and_stepping(x):
    stepping(pd.DataFrame({"x": x, "n": 0, "c": "a"}))
    return wrong_between_2_and_3(x)


def count_rows(call, stop_at=None):
    """Return the result of a call, and the number of rows it queried."""
    ROWS.update(queried=0, stop_at=stop_at)
    return call(), ROWS["queried"]


def drop_times(hunt):
    fleeting = {"seconds", "f_times", "generation_seconds"}
    return {name: value for name, value in hunt.document().items() if name not in fleeting}


def test_a_resumed_hunt_is_the_same_and_queries_nothing_twice(tmp_path):
    settings = {"budget": 60, "trials": 4, "stop_after": None, "space": SPACE, "name": "s"}
    store = tmp_path / "runs.sqlite"
    whole, all_rows = count_rows(lambda: dm.hunt(stepping, NextNumber, "MT-RT", **settings))
    part, _ = count_rows(lambda: dm.hunt(stepping, NextNumber, "MT-RT", store=store, **settings), stop_at=250)
    assert part.interrupted
    assert not part.complete
    assert part.groups < whole.groups
    again, rows = count_rows(lambda: dm.hunt(stepping, NextNumber, "MT-RT", store=store, resume=1, **settings))
    assert drop_times(again) == drop_times(whole)
    assert rows < all_rows - 150
    with dm.Store.open(store) as runs:
        run = runs.run(1)
    assert (run.verb, run.state, run.system) == ("hunt", "finished", "s")
    assert (run.parameters["relations"], run.parameters["budget"]) == (["next number"], 60)


def test_a_stored_hunt_of_a_function_is_made_again(tmp_path):
    settings = {"budget": 200, "trials": 3, "seed": 2, "stop_after": None}
    store = tmp_path / "runs.sqlite"
    whole, _ = count_rows(lambda: dm.hunt(wrong_and_stepping, mirrored(), **settings))
    part, _ = count_rows(lambda: dm.hunt(wrong_and_stepping, mirrored(), store=store, **settings), stop_at=500)
    assert part.interrupted
    again, _ = count_rows(lambda: dm.hunt(wrong_and_stepping, mirrored(), store=store, resume=1, **settings))
    assert drop_times(again) == drop_times(whole)


def test_a_budget_of_time_that_is_spent_leaves_trials_unfinished():
    hunt = dm.hunt(np.cos, mirrored(), "MT-RT", budget="0.2s", trials=10**6, progress=False)
    assert hunt.timed_out
    assert not hunt.complete
    assert len(hunt.trials) < 10**6
    assert hunt.unfinished[0].startswith(f"trial {len(hunt.trials):,} of 1,000,000")
    assert any("ended after 0.2 s, its budget" in note for note in hunt.notes)


def test_a_budget_of_runs_is_refused():
    with pytest.raises(ArgumentError, match="groups per trial, or a time"):
        dm.hunt(np.cos, mirrored(), budget="100 runs")


def test_the_first_parameter_has_a_former_name():
    with pytest.warns(DeprecationWarning, match="'sut' of hunt is now called 'model'"):
        dm.hunt(sut=np.cos, relations=mirrored(), budget=5)

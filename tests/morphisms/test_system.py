"""Test systems: collecting marks, naming what is wrong, invoking morphisms; derived ones; stock metrics."""

from __future__ import annotations

import signal
import types

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import TestSystemError
from datamorphic.morphisms import stock as derived
from datamorphic.morphisms.cases import Correctness, TestSet, Verdict
from datamorphic.runs.driver import CallCounter
from datamorphic.space import neighbours
from datamorphic.space.outputs import Outputs, Status
from support.cases import in_one_test

LINE = dm.Space([dm.Continuous("x", 0, 10, step=1.0)], moves="open")


class Line:
    """One morphism of each kind."""

    space = LINE

    @dm.seed_maker
    def RandomValue20(self, rng, n=20):
        return pd.DataFrame({"x": rng.uniform(0, 10, n)})

    @dm.datamorphism(feature="x", step=1.0, filter="small")
    def forward(self, p):
        return p + 1

    @dm.datamorphism(scalar=True)
    def backward(self, case):
        return {"x": case["x"] - 1}

    @dm.datamorphism
    def mid(self, a, b):
        return (a + b) / 2

    @dm.metamorphism(of="forward", applies_to="mutant", message="forward never goes from high to low")
    def never_falls(self, case, origin):
        return ~((origin.output == "high") & (case.output == "low"))

    @dm.metamorphism(scalar=True)
    def is_known(self, case):
        return case.output in ("high", "low")

    @dm.case_metric
    def size(self, tests):
        return tests.input["x"]

    @dm.case_filter
    def small(self, tests):
        return tests.input["x"] < 9

    @dm.set_metric
    def count(self, tests):
        return len(tests)

    @dm.set_filter
    def first_three(self, tests):
        return tests.take(slice(0, 3))

    @dm.executor
    def classify(self, p):
        return np.where(p["x"] > 5, "high", "low")

    @staticmethod
    @dm.analyser
    def report(tests):
        return f"{len(tests)} cases"

    @property
    def costly(self):
        raise AssertionError("properties are not touched")


def as_module():
    module = types.ModuleType("line_tests")
    module.space = LINE
    for name in ("RandomValue20", "forward", "mid", "small", "classify"):
        function = getattr(Line(), name)
        module.__dict__[name] = function
    return module


@pytest.mark.parametrize("source", [Line, Line(), as_module()], ids=["class", "instance", "module"])
def test_a_test_system_collects_its_marked_functions(source):
    system = dm.TestSystem.collect(source)
    assert set(system.datamorphisms) >= {"forward", "mid"}
    assert system.midpoint.name == "mid"
    assert "forward" in system.moves
    assert system.find("seed_maker", "random_value_20").name == "RandomValue20"
    assert system.sut.execute(pd.DataFrame({"x": [1.0, 9.0]})).values.tolist() == ["low", "high"]
    assert dm.TestSystem.collect(system) is system


def test_every_kind_of_morphism_can_be_applied():
    system = dm.TestSystem.collect(Line)
    seeds = system.make_seeds(seed=3)
    assert len(seeds) == 20
    assert len(system.make_seeds(n=7)) == 7
    pd.testing.assert_frame_equal(seeds.input, system.make_seeds(seed=3).input)
    forward = system.mutate("forward", seeds)
    assert len(forward) == (seeds.input["x"] < 9).sum()  # the filter keeps the large ones out
    back = system.mutate("Backward", seeds)
    np.testing.assert_allclose(back.input["x"], seeds.input["x"] - 1)
    middle = system.mutate("mid", seeds, back)
    np.testing.assert_allclose(middle.input["x"], seeds.input["x"] - 0.5)
    assert middle.ids.min() > back.ids.max()
    assert middle.origins[0].tolist() == [seeds.ids[0], back.ids[0]]
    assert system.case_metrics["size"].evaluate_cases(seeds).tolist() == seeds.input["x"].tolist()
    assert system.set_metrics["count"].evaluate_set(seeds) == 20
    assert len(system.set_filters["first_three"].evaluate_set(seeds)) == 3
    assert system.analysers["report"].evaluate_set(seeds) == "20 cases"


def test_metamorphisms_give_four_verdicts():
    system = dm.TestSystem.collect(Line)
    seeds = TestSet.of_seeds(LINE.points(pd.DataFrame({"x": [1.0, 6.0, 7.0]})))
    tests = TestSet.concat([seeds, system.mutate("forward", seeds)])
    values = np.array(["low", "high", "high", "low", "low", "high"])
    status = np.array([0, 0, 0, 0, 0, 4], dtype=np.int8)
    verdicts = system.check(tests.with_outputs(Outputs(values, status)))
    assert verdicts["never_falls"].tolist() == [
        *[Verdict.INAPPLICABLE] * 3,
        Verdict.HOLDS,
        Verdict.VIOLATED,
        Verdict.UNDEFINED,
    ]
    assert verdicts["is_known"].tolist() == [Verdict.HOLDS] * 5 + [Verdict.UNDEFINED]
    not_run = system.check(tests)
    assert set(not_run["is_known"]) == {Verdict.UNDEFINED}


def test_a_case_is_judged_by_all_metamorphisms_that_apply():
    system = dm.TestSystem.collect(Line)
    seeds = TestSet.of_seeds(LINE.points(pd.DataFrame({"x": [1.0, 6.0, 7.0]})))
    tests = TestSet.concat([seeds, system.mutate("forward", seeds)])
    values = np.array(["low", "high", "odd", "low", "low", "high"])
    status = np.array([0, 0, 0, 0, 0, 4], dtype=np.int8)
    judged = system.judge(tests.with_outputs(Outputs(values, status)))
    assert [Correctness(number).name for number in judged.correctness] == [
        *("CORRECT", "CORRECT", "INCORRECT", "CORRECT", "INCORRECT", "NOT_JUDGED")
    ]
    del system.metamorphisms["is_known"]  # then nothing applies to seed cases
    assert system.judge(tests.with_outputs(Outputs.of(values))).correctness.tolist() == [0, 0, 0, 1, 2, 1]
    system.metamorphisms.clear()
    with pytest.raises(TestSystemError, match="has no metamorphism to judge by"):
        system.judge(tests)


def test_cases_are_executed_once_within_a_budget():
    system = dm.TestSystem.collect(Line)
    seeds = TestSet.of_seeds(LINE.points(pd.DataFrame({"x": [1.0, 6.0, 6.0, 9.0]})))
    tally = CallCounter()
    tests = system.execute(seeds, tally=tally)
    assert tests.output.tolist() == ["low", "high", "high", "high"]
    assert (tally.runs, tally.calls) == (4, 3)  # equal inputs are queried once
    partly = system.execute(seeds, budget=3)
    assert partly.outputs.status.tolist() == [0, 0, 0, Status.MISSING]
    judged = partly.with_correctness([1, 1, 2, 2])
    completed = system.execute(judged, only_missing=True, tally=(rest := CallCounter()))
    assert completed.output.tolist() == tests.output.tolist()
    assert completed.correctness.tolist() == [1, 1, 2, 0]
    assert rest.runs == 1
    assert not system.execute(judged).correctness.any()
    assert len(system.execute(seeds.take(slice(0, 0))).outputs) == 0
    system.sut = None
    with pytest.raises(dm.errors.ModelError, match="has no system under test"):
        system.execute(seeds)


def test_what_was_executed_before_ctrl_c_is_kept():
    space = dm.Space([dm.Integer("n", 0, 99)])
    calls = []

    @dm.executor
    def slow(self, p):
        calls.append(len(p))
        if len(calls) == 20:
            signal.raise_signal(signal.SIGINT)
        return p["n"] > 50

    system = dm.TestSystem.collect(type("Slow", (), {"space": space, "slow": slow}))
    seeds = TestSet.of_seeds(space.points(pd.DataFrame({"n": range(50)})))
    tally = CallCounter()
    tests = system.execute(seeds, batch=1, tally=tally)
    assert tally.interrupted
    assert 8 <= tests.outputs.ok.sum() < 50
    assert system.execute(tests, only_missing=True).outputs.ok.all()


def test_an_unknown_option_is_rejected():
    with pytest.raises(TestSystemError, match="@datamorphism has no option 'stepp'"):
        dm.datamorphism(stepp=3)


def faulty_system(**members):
    return type("Faulty", (), {"space": LINE, **members})


@in_one_test(
    ("members", "message"),
    [
        ({}, "Faulty has no marked functions"),
        (
            {"f": dm.seed_maker(lambda self, size: 1)},
            r"Faulty.f, marked @seed_maker, must take no arguments but n and rng. It takes \(size\)",
        ),
        (
            {"f": dm.datamorphism(lambda self: 1)},
            r"Faulty.f, marked @datamorphism, must take one input or more. It takes \(\)",
        ),
        ({"f": dm.executor(lambda self, a, b: 1)}, "Faulty.f, marked @executor, must take the inputs"),
        ({"f": dm.set_metric(lambda self: 1)}, "Faulty.f, marked @set_metric, must take the test set"),
        ({"f": dm.datamorphism(feature="z")(lambda self, p: p)}, "names the feature 'z'. There are: 'x'"),
        ({"f": dm.datamorphism(step=0)(lambda self, p: p)}, "declares the step 0, which must be a number above 0"),
        (
            {"f": dm.datamorphism(filter="g")(lambda self, p: p)},
            "names the filter 'g', but no @case_filter has that name",
        ),
        (
            {"f": dm.metamorphism(of="g")(lambda self, p: p), "h": dm.datamorphism(lambda self, p: p)},
            "is of 'g', but no @datamorphism",
        ),
        (
            {"f": dm.metamorphism(applies_to="all")(lambda self, p: p)},
            "applies to 'all', which must be 'original' or 'mutant'",
        ),
        ({"f": dm.executor(lambda self, p: p), "g": dm.executor(lambda self, p: p)}, "are both marked @executor"),
        ({"space": None, "f": dm.executor(points=True)(lambda self, p: p)}, "takes points, but there is no space"),
        (
            {"a": dm.datamorphism(name="c")(lambda self, p: p), "b": dm.datamorphism(name="c")(lambda self, p: p)},
            "are both datamorphisms named 'c'",
        ),
        ({"f": dm.datamorphism(lambda self, p, *, k: p)}, "keyword-only parameter"),
        ({"space": "plane", "f": dm.datamorphism(lambda self, p: p)}, "Faulty.space must be a Space"),
        ({"distance": 3, "f": dm.datamorphism(lambda self, p: p)}, "Faulty.distance must be a function"),
        (
            {"__init__": lambda self, needed: None, "f": dm.datamorphism(lambda self, p: p)},
            "is created without arguments",
        ),
    ],
)
def test_an_invalid_function_is_named(members, message):
    with pytest.raises(TestSystemError, match=message):
        dm.TestSystem.collect(faulty_system(**members))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda self, p: p.iloc[:1], "returned 1 row for 3 rows"),
        (lambda self, p: 7, "must return a frame of inputs. It returned int"),
        (lambda self, p: p.rename(columns={"x": "y"}), "not in the space: The data lack 1 column"),
        (lambda self, p: p["no such column"], "raised KeyError"),
        (lambda self, p: p * np.nan, "not in the space: Column 'x', row 0: 'nan' is missing"),
    ],
)
def test_the_result_of_a_datamorphism_is_validated(function, message):
    system = dm.TestSystem.collect(faulty_system(f=dm.datamorphism(function)))
    seeds = TestSet.of_seeds(LINE.sample(3, points=True))
    with pytest.raises(TestSystemError, match=message) as caught:
        system.mutate("f", seeds)
    assert "Faulty.f, marked @datamorphism" in str(caught.value)


@pytest.mark.parametrize(
    ("mark", "function", "message"),
    [
        (dm.case_filter, lambda self, t: [1, 0, 1], "must return True or False for each case"),
        (dm.case_metric, lambda self, t: 5.0, "must return one value for each of 3 cases. It returned a single float"),
        (dm.case_metric, lambda self, t: ["a", "b", "c"], "must return a number for each case"),
        (dm.set_metric, lambda self, t: "many", "must return a number. It returned str"),
        (dm.set_filter, lambda self, t: t.input, "must return a TestSet. It returned DataFrame"),
    ],
)
def test_the_result_of_metrics_and_filters_is_validated(mark, function, message):
    system = dm.TestSystem.collect(faulty_system(f=mark(function)))
    seeds = TestSet.of_seeds(LINE.sample(3, points=True))
    morphism = next(m for kind in system._by_kind.values() for m in kind.values())
    call = morphism.evaluate_set if mark in (dm.set_metric, dm.set_filter) else morphism.evaluate_cases
    with pytest.raises(TestSystemError, match=message):
        call(seeds)


def test_a_space_is_inferred_from_seeds_if_none_is_declared():
    class Undeclared:
        @dm.seed_maker
        def seeds(self):
            return [{"x": 1.0, "c": "a"}, {"x": 3.0, "c": "b"}]

        @dm.datamorphism
        def up(self, p):
            return p.assign(x=p["x"] + 10)

    system = dm.TestSystem.collect(Undeclared)
    assert system.mutate("up", system.make_seeds()).input["x"].tolist() == [11, 13]

    class Nothing:
        @dm.datamorphism
        def up(self, p):
            return p

    with pytest.raises(TestSystemError, match="declares no space and has no seed maker"):
        dm.TestSystem.collect(Nothing).known_space()


def test_morphisms_derived_from_a_space(mixed):
    system = derived.derive(mixed)
    assert list(system.moves) == ["up_x", "down_x", "up_n", "down_n", "up_c", "down_c"]
    seeds = TestSet.of_seeds(mixed.sample(6, points=True))
    pd.testing.assert_frame_equal(system.mutate("up_n", seeds).input, mixed.up(seeds.input, "n"))
    pd.testing.assert_frame_equal(
        system.mutate("midpoint", seeds, seeds.take(slice(None, None, -1))).input,
        mixed.midpoint(seeds.input, seeds.input.iloc[::-1]).reset_index(drop=True),
    )


# -- stock metrics and filters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mixed", "real"])
@pytest.mark.parametrize("scaled", [True, False])
def test_nearest_distances_equal_a_plain_computation(monkeypatch, mixed, kind, scaled):
    monkeypatch.setattr(neighbours, "MAX_DISTANCES_PER_BLOCK", 100)  # several chunks even for a few cases
    space = mixed if kind == "mixed" else dm.Space([dm.Continuous("x", 0, 3), dm.Continuous("y", 0, 50)])
    tests = TestSet.of_seeds(space.sample(40, seed=5, points=True))
    plain = [
        min(space.distance(tests.inputs[[i]], tests.inputs[[j]], scaled=scaled)[0] for j in range(40) if j != i)
        for i in range(40)
    ]
    np.testing.assert_allclose(derived.nearest_distance(tests, scaled=scaled), plain)
    assert derived.mean_nearest_distance(tests, scaled=scaled) == pytest.approx(np.mean(plain))
    assert derived.std_nearest_distance(tests, scaled=scaled) == pytest.approx(np.std(plain))
    limit = float(np.median(plain))
    assert derived.too_close(tests, limit, scaled=scaled).sum() == (np.array(plain) < limit).sum()
    thin = derived.thin_out(tests, limit, scaled=scaled)
    assert not derived.too_close(thin, limit, scaled=scaled).any()
    gone = tests.filter(~np.isin(tests.ids, thin.ids))
    for i in range(len(gone)):  # nothing was dropped without need
        assert space.distance(gone.inputs[[i]], thin.inputs, scaled=scaled).min() < limit


def test_label_balance():
    tests = TestSet.of_seeds(LINE.sample(4, points=True))
    assert derived.label_balance(tests.with_outputs(Outputs.of(np.array(["a", "b", "a", "b"])))) == pytest.approx(1)
    assert derived.label_balance(tests.with_outputs(Outputs.of(np.array(["a", "a", "a", "a"])))) == 0
    skewed = derived.label_balance(tests.with_outputs(Outputs.of(np.array(["a", "a", "a", "b"]))))
    assert skewed == pytest.approx(0.8113, abs=1e-4)
    with pytest.raises(dm.errors.DataError, match="needs outputs"):
        derived.label_balance(tests)


def test_a_single_case_has_no_neighbour():
    assert derived.nearest_distance(TestSet.of_seeds(LINE.sample(1, points=True))).tolist() == [np.inf]


def test_an_executor_of_points_gets_codes_in_the_declared_space():
    class Plane:
        space = dm.Space([dm.Continuous("x", 0, 1), dm.Categorical("c", ["a", "b"])])

        @dm.executor(points=True)
        def classify(self, points):
            assert isinstance(points, dm.Points)
            return np.where(points.codes[:, 0] + points.codes[:, 1] > 1, "high", "low")

    sut = dm.TestSystem.collect(Plane).sut
    cases = pd.DataFrame({"c": ["a", "b"], "x": [0.5, 0.5]})  # in another order
    assert sut.execute(cases).values.tolist() == ["low", "high"]
    assert sut.execute(Plane.space.points(cases)).values.tolist() == ["low", "high"]
    assert sut.call(cases).tolist() == ["low", "high"]


def test_a_seed_maker_may_return_points():
    class Points:
        space = LINE

        @dm.seed_maker
        def values(self, rng, n=5):
            return LINE.sample(n, seed=rng, points=True)

    assert dm.TestSystem.collect(Points).make_seeds(n=3, seed=1).input.equals(LINE.sample(3, seed=1))
    Points.space = None
    assert (
        dm.TestSystem.collect(Points).make_seeds(n=3, seed=1).input["x"].tolist()
        == LINE.sample(3, seed=1)["x"].tolist()
    )

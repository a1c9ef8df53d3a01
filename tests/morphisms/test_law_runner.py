"""The law check is fair: sound systems in every style pass, and faults are pinned on whoever has them."""

from __future__ import annotations

import os
import types

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.law_context import split_words

LONG = "DATAMORPHIC_LONG" in os.environ
PLANE = dm.Space([dm.Continuous("x", 0, 10, step=1), dm.Continuous("y", 0, 10, step=1)], moves="open")


def seeds_of(frame):
    @dm.seed_maker
    def seeds(self):
        return frame

    return seeds


def stepping(name, step):
    @dm.datamorphism
    def move(self, p):
        return p.assign(**{name: p[name] + step})

    return move


def to_next(name, values, last=None):
    """Each value to the one after it, and the last to `last`, or to itself."""
    after = dict(zip(values, [*values[1:], last if last is not None else values[-1]], strict=True))

    @dm.datamorphism
    def move(self, p):
        return p.assign(**{name: p[name].map(after).astype(p[name].dtype)})

    return move


@dm.datamorphism
def mean(self, a, b):
    return (a + b) / 2


@dm.datamorphism
def first_category_and_mean(self, a, b):
    return a.assign(x=(a["x"] + b["x"]) / 2)


@dm.datamorphism
def second_category_and_mean(self, a, b):
    return b.assign(x=(a["x"] + b["x"]) / 2)


FRAME = pd.DataFrame({"x": np.linspace(0, 5, 40), "c": ["low", "mid", "high", "top"] * 10})
ORDER = ["low", "mid", "high", "top"]  # not the alphabet's
WITH_MOVES = {
    "seeds": seeds_of(FRAME),
    "up_x": stepping("x", 3.0),  # far longer than a twentieth of the range
    "down_x": stepping("x", -3.0),
    "up_c": to_next("c", ORDER),
    "down_c": to_next("c", ORDER[::-1]),
}
NUMBER = {"space": dm.Space([dm.Integer("n", 0, 50)]), "up": stepping("n", 1), "down": stepping("n", -1)}


@dm.datamorphism
def clipped_up(self, p):
    return p.assign(n=(p["n"] + 1).clip(upper=50))


@dm.datamorphism
def clipped_down(self, p):
    return p.assign(n=(p["n"] - 1).clip(lower=0))


@dm.datamorphism
def floor_mid(self, a, b):
    return (a + b) // 2


@dm.datamorphism(scalar=True)
def scalar_right(self, case):
    return {**case, "x": case["x"] + 1}


SOUND = {
    "no space, an order of its own": WITH_MOVES,
    "no space, a midpoint that takes the first category": {**WITH_MOVES, "mid": first_category_and_mean},
    "no space, a midpoint that takes the second category": {**WITH_MOVES, "mid": second_category_and_mean},
    "a wheel of categories": {
        "seeds": seeds_of(FRAME),
        "up_x": stepping("x", 1.0),
        "down_x": stepping("x", -1.0),
        "next_c": to_next("c", ORDER, last="low"),
    },
    "one whole number with a floor midpoint": {
        "space": NUMBER["space"],
        "up": clipped_up,
        "down": clipped_down,
        "mid": floor_mid,
    },
    "moves named like other features": {
        "space": dm.Space([dm.Continuous("x", 0, 1), dm.Integer("n", 0, 9), dm.Categorical("c", ["a", "b"])]),
        **{
            f"{kind}_{name}": dm.datamorphism(lambda self, p, k=kind, f=name: self.space.move(p, k, f))
            for kind in ("up", "down")
            for name in ("x", "n", "c")
        },
    },
    "moves longer than a default step nobody declared": {
        "space": dm.Space([dm.Continuous("x", 0, 100), dm.Continuous("y", 0, 100)], moves="open"),
        "east": stepping("x", 9.0),
        "west": stepping("x", -9.0),
        "north": stepping("y", 9.0),
        "south": stepping("y", -9.0),
        "mid": mean,
    },
    "moves longer than a step read from data": {
        "space": dm.Space.from_frame(FRAME[["x"]], moves="open"),
        "up_x": stepping("x", 3.0),
        "down_x": stepping("x", -3.0),
    },
    "scalar moves": {
        "space": PLANE,
        "right": scalar_right,
        "left": stepping("x", -1),
        "up": stepping("y", 1),
        "down": stepping("y", -1),
    },
    "names of other scripts": {
        "space": dm.Space([dm.Continuous("温度", 0, 1), dm.Continuous("湿度", 0, 1)], moves="open"),
        "上": stepping("温度", 0.1),
        "下": stepping("温度", -0.1),
        "左": stepping("湿度", -0.1),
        "右": stepping("湿度", 0.1),
    },
    "a regressor whose last bits depend on the batch": {
        "space": PLANE,
        "right": stepping("x", 1),
        "left": stepping("x", -1),
        "up": stepping("y", 1),
        "down": stepping("y", -1),
        "fine": dm.executor(lambda self, p: p["x"] * (1 + 1e-15 * len(p))),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("seed", range(10 if LONG else 1))
def test_sound_systems_break_no_law(name, seed):
    report = dm.laws(type("Sound", (), SOUND[name]), examples=200 if LONG else 15, seed=seed)
    assert report.holds, str(report)


@pytest.mark.parametrize("names", [("a+", "a-"), ("x1", "x_1"), ("温度", "湿度")])
def test_features_may_have_any_name(names):
    assert dm.laws(dm.Space([dm.Integer(name, 0, 5) for name in names]), examples=50).holds


@pytest.mark.slow
def test_only_the_faulty_move_is_blamed():
    @dm.datamorphism(feature="y")
    def up(self, p):
        far = (p["x"] > 7) & (p["y"] > 3)
        return p.assign(y=p["y"] + np.where(far, 2, 1))

    system = type(
        "OneFault",
        (),
        {
            "space": PLANE,
            "right": stepping("x", 1),
            "left": stepping("x", -1),
            "up": up,
            "down": stepping("y", -1),
            "mid": mean,
        },
    )
    for seed in range(12 if LONG else 1):
        broken = dm.laws(system, examples=200 if LONG else 80, seed=seed).broken
        assert [(result.law, result.culprit) for result in broken] == [("step", "up")]
        assert broken[0].words.startswith("up goes 2 where its step is 1: 'y' from ")


CONSTRAINED = dm.Space(
    [dm.Continuous("free", 0, 70), dm.Continuous("total", 0, 300), dm.Categorical("c", ["a", "b", "c"])],
    constraints=["free <= total"],
)


def constrained(**changes):
    members = {
        f"{kind}_{name}": dm.datamorphism(feature=name)(lambda self, p, k=kind, f=name: CONSTRAINED.move(p, k, f))
        for kind in ("up", "down")
        for name in CONSTRAINED.names
    }
    mid = dm.datamorphism(lambda self, a, b: CONSTRAINED.midpoint(a, b))
    return type("Constrained", (), {"space": CONSTRAINED, **members, "mid": mid, **changes})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "law", "words"),
    [
        (
            {
                "up_free": dm.datamorphism(feature="free")(
                    lambda self, p: p.assign(free=(p["free"] + 3.5).clip(upper=70))
                )
            },
            "closure",
            "up_free breaks the constraint free <= total",
        ),
        ({"mid": dm.datamorphism(lambda self, a, b: a)}, "midpoint", "mid(x, y) lies 0 from x"),
        (
            {"up_c": dm.datamorphism(feature="c")(lambda self, p: p.assign(c=p["c"].replace("a", "b")))},
            "completeness",
            "leads from c = a to c",
        ),
    ],
)
def test_laws_are_checked_in_spaces_with_constraints(changes, law, words):
    broken = {result.law: result.words for result in dm.laws(constrained(**changes), examples=200).broken}
    assert words in broken[law]


@pytest.mark.slow
def test_constraints_cause_no_false_violation():
    assert dm.laws(constrained(), examples=80).holds


@pytest.mark.slow
def test_moves_must_lead_to_and_from_missing_values():
    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1, nullable=True)])
    moves = {
        f"{kind}_x": dm.datamorphism(feature="x")(lambda self, p, k=kind: space.move(p, k, "x"))
        for kind in ("up", "down", "clear", "fill")
    }
    assert dm.laws(type("Whole", (), {"space": space, **moves}), examples=60).holds
    del moves["clear_x"]
    broken = dm.laws(type("NoWayOut", (), {"space": space, **moves}), examples=100).broken
    assert [result.law for result in broken] == ["completeness"]
    assert "from x = a value to missing, which is never reached" in broken[0].words


def test_all_features_of_wide_spaces_are_drawn():
    class Wide:  # without 600 moves: they are not what is looked at here
        space = dm.Space([dm.Continuous(f"x{j}", 0, 1) for j in range(300)])

        @dm.datamorphism
        def mid(self, a, b):
            return (a + b) / 2

    report = dm.laws(Wide, examples=60)
    assert report.holds
    assert report.examples >= 50


@pytest.mark.slow
def test_an_error_of_a_function_quotes_its_input():
    @dm.datamorphism(feature="x")
    def right(self, p):
        if (p["x"] > 5).any():
            raise ValueError("unlucky")
        return p.assign(x=p["x"] + 1)

    broken = dm.laws(type("Raises", (), {"space": PLANE, "right": right}), examples=100).broken
    closure = next(result for result in broken if result.law == "closure")
    assert "raised ValueError: unlucky" in closure.words
    assert "Its input was x = " in closure.words


@pytest.mark.slow
def test_occasional_failures_of_a_system_are_mentioned():
    @dm.executor
    def picky(self, p):
        if (p["x"] > 9).any():
            raise ValueError("too far")
        return p["x"] > 5

    results = dm.laws(type("Picky", (), {"space": PLANE, "ask": picky}), examples=100).results
    assert "failed on some inputs" in next(result.words for result in results if result.law == "determinism")


def test_names_are_split_into_words():
    assert split_words("up_TotalSO2") == ["up", "total", "so2"]
    assert split_words("down_c") == ["down", "c"]
    assert split_words("free sulfur dioxide") == ["free", "sulfur", "dioxide"]


def test_marking_a_foreign_method_does_not_change_it():
    class Model:
        def predict(self, p):
            return p["x"] > 5

    module = types.ModuleType("mine")
    module.space = PLANE
    module.ask = dm.executor(Model().predict)
    assert dm.TestSystem.collect(module).sut.execute(PLANE.sample(3)).ok.all()
    assert not hasattr(Model.predict, "__datamorphic__")
    with pytest.raises(dm.errors.TestSystemError, match="@datamorphism marks functions"):
        dm.datamorphism("up")


def test_seed_makers_may_return_arrays_of_any_length():
    class Arrays:
        space = PLANE

        @dm.seed_maker
        def some(self, rng, n=10):
            return rng.uniform(0, 10, (n, 2))

        @dm.executor(scalar=True)
        def ask(self, x, y, k=3):
            return x * k > y

    system = dm.TestSystem.collect(Arrays)
    tests = system.make_seeds(n=25)
    assert system.sut.execute(tests.inputs).ok.all()

    class NoSpace:
        @dm.seed_maker
        def some(self, rng, n=10):
            return pd.DataFrame({"n": rng.integers(0, n, n), "x": rng.uniform(0, n, n)})

        up = stepping("n", 100)

    system = dm.TestSystem.collect(NoSpace)
    assert len(system.make_seeds(n=1000)) == 1000
    assert system.mutate("up", system.make_seeds(n=5)).input["n"].min() >= 100

"""The law check: it finds what is broken, says it in words, and is quiet about what is in order."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis.internal.conjecture import providers

import datamorphic as dm
from datamorphic.errors import TestSystemError
from datamorphic.morphisms import law_runner
from datamorphic.morphisms.law_context import LawContext
from datamorphic.morphisms.options import LawOptions
from datamorphic.morphisms.stock import derive
from support import faulty_systems as faulty
from support.cases import LONG


def outcome(report):
    return {result.law: result.state for result in report.results}


@pytest.mark.slow
def test_the_wine_midpoint_is_found():
    report = dm.laws(faulty.WineMidpoint, examples=200 if LONG else 40)
    assert not report.holds
    broken = {result.law: result for result in report.broken}
    assert set(broken) == {"midpoint", "completeness"}
    assert "'total sulfur dioxide' from 6 to 3.5" in broken["midpoint"].words  # the smallest value there is
    assert broken["midpoint"].culprit == "mid"
    assert list(broken["midpoint"].cases.index) == ["x", "y", "z"]


@pytest.mark.slow
def test_the_bank_moves_that_reset_other_kinds_are_found():
    broken = {result.law: result for result in dm.laws(faulty.BankReset, examples=200 if LONG else 20).broken}
    assert "locality" in broken
    words = broken["locality"].words
    assert "up_Gender is a move of 'Gender' and changes others too: 'Customer_Age' from 20 to 0" in words
    assert "So do 37 others" in words


@pytest.mark.slow
def test_the_bank_moves_that_never_reach_the_last_category_are_found():
    report = dm.laws(faulty.BankLastCategory, examples=60 if LONG else 10)
    assert [result.law for result in report.broken] == ["completeness"]
    assert report.broken[0].words == (
        "no sequence of up_Gender and down_Gender leads from Gender = F to M, which is never reached "
        "(and likewise for Education_Level, Marital_Status, Income_Category, Card_Category)"
    )


@pytest.mark.slow
def test_the_sound_bank_system_breaks_no_law():
    assert dm.laws(faulty.BankSound, examples=40 if LONG else 10).holds


@pytest.mark.slow
@pytest.mark.parametrize("name", list(dm.subjects))
def test_all_laws_hold_for_the_ten_subjects(name):
    assert set(outcome(dm.laws(dm.subjects[name], examples=60 if LONG else 10)).values()) == {"HOLDS"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["red_wine", "mushroom", "bank_churners"])
@pytest.mark.filterwarnings("ignore::datamorphic.errors.AmbiguousData")
def test_all_laws_hold_for_the_moves_derived_from_real_data(real_data, name):
    hints = faulty.BANK_HINTS if name == "bank_churners" else {}
    report = dm.laws(dm.Space.from_frame(real_data(name), target="target", **hints), examples=60 if LONG else 10)
    assert report.holds, str(report)
    assert sum(state == "HOLDS" for state in outcome(report).values()) == 8


@pytest.mark.slow
def test_laws_hold_with_missing_values_steps_and_constraints():
    hybrid = dm.Space(
        [
            dm.Integer("a", 0, 20, step=3, nullable=True),
            dm.Integer("b", 0, 20, step=3),
            dm.Continuous("x", nullable=True),
            dm.Categorical("c", ["p", "q", "r"], nullable=True),
        ]
    )
    assert dm.laws(hybrid, examples=80).holds
    tied = dm.Space(
        [dm.Integer("r", 0, 1), dm.Integer("g", 0, 1), dm.Integer("free", 0, 9), dm.Integer("total", 0, 20)],
        constraints=[dm.OneHot(["r", "g"]), "free <= total"],
    )
    assert dm.laws(tied, examples=80).holds


SQUARE = dm.Space([dm.Continuous("x", 0, 10, step=1), dm.Continuous("y", 0, 10, step=1)], moves="open")


class Sound:
    space = SQUARE

    @dm.datamorphism(feature="x")
    def right(self, p):
        return p.assign(x=p["x"] + 1)

    @dm.datamorphism(feature="x")
    def left(self, p):
        return p.assign(x=p["x"] - 1)

    @dm.datamorphism(feature="y")
    def up(self, p):
        return p.assign(y=p["y"] + 1)

    @dm.datamorphism(feature="y")
    def down(self, p):
        return p.assign(y=p["y"] - 1)

    @dm.datamorphism
    def mid(self, a, b):
        return (a + b) / 2

    @dm.executor
    def classify(self, p):
        return p["x"] > p["y"]


def variant(**members):
    return type("Variant", (Sound,), members)


class Moody:
    """A system that answers by the weather, or by the company a row is in."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def weather(self, p):
        return self.rng.random(len(p)) > 0.5

    @staticmethod
    def company(p):
        return p["x"] > p["x"].mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("members", "law", "words"),
    [
        ({"distance": lambda self, a, b: np.abs(a["x"] - b["x"])}, "identity", "the distance is 0 between x and y"),
        ({"distance": lambda self, a, b: np.ones(len(a))}, "identity", "a point lies 1 from itself"),
        (
            {"distance": lambda self, a, b: np.maximum(b["x"] - a["x"], 0) + np.abs(a["y"] - b["y"])},
            "symmetry",
            "y to x is",
        ),
        (
            {"distance": lambda self, a, b: (a["x"] - b["x"]) ** 2 + (a["y"] - b["y"]) ** 2},
            "triangle",
            "by way of z only",
        ),
        ({"mid": dm.datamorphism(lambda self, a, b: a)}, "midpoint", "mid(x, y) lies 0 from x"),
        (
            {"up": dm.datamorphism(feature="y")(lambda self, p: p.assign(y=p["y"] + 2))},
            "step",
            "up goes 2 where its step is 1",
        ),
        ({"up": dm.datamorphism(lambda self, p: p + 1)}, "locality", "changes others too"),
        ({"up": dm.datamorphism(feature="y")(lambda self, p: p)}, "completeness", "which is never reached"),
        (
            {"up": dm.datamorphism(feature="y")(lambda self, p: p.drop(columns="y"))},
            "closure",
            "The data lack 1 column",
        ),
        ({"up": dm.datamorphism(feature="y")(lambda self, p: p / 0 if len(p) else p)}, "closure", "up set 'x' to"),
        ({"up": dm.datamorphism(feature="y")(lambda self, p: p["z"])}, "closure", "raised KeyError"),
        ({"classify": dm.executor(Moody().weather)}, "determinism", "queried twice, it answers"),
        ({"classify": dm.executor(lambda self, p: Moody.company(p))}, "batches", "in a batch of 40 and"),
    ],
)
def test_every_law_can_be_broken_and_is_reported(members, law, words):
    broken = {result.law: result for result in dm.laws(variant(**members), examples=40).broken}
    assert law in broken, broken
    assert words in broken[law].words
    assert len(broken[law].words) < 600


@pytest.mark.slow
def test_a_sound_system_satisfies_all_laws_and_a_seed_is_reproducible():
    assert dm.laws(Sound, examples=30).holds
    bad = variant(mid=dm.datamorphism(lambda self, a, b: a.assign(y=b["y"] + 3)))
    first, second = (dm.laws(bad, examples=20, seed=5) for _ in range(2))
    assert str(first) == str(second)
    # shrunk: nothing but the fault is left
    midpoint = next(result for result in first.broken if result.law == "midpoint")
    assert midpoint.words == "mid of a point with itself is another point: it moved 'y' from 0 to 3"


def test_laws_that_are_not_checked_have_a_reason():
    class Bare:
        space = SQUARE

        @dm.metamorphism
        def anything(self, case):
            return case.output == case.output

    states = {result.law: (result.state, result.words) for result in dm.laws(Bare, examples=20).results}
    assert states["midpoint"] == ("NOT CHECKED", "no binary datamorphism is called mid or midpoint")
    assert states["locality"] == ("NOT CHECKED", "there are no unary datamorphisms")
    assert states["determinism"] == ("NOT CHECKED", "there is no executor")
    assert states["triangle"] == ("HOLDS", "")


@pytest.mark.slow
def test_a_system_without_a_declared_space_is_not_held_to_bounds_or_steps():
    class Seeds:
        @dm.seed_maker
        def seeds(self):
            return pd.DataFrame({"x": np.linspace(0, 1, 30), "n": range(30)})

        @dm.datamorphism
        def up_x(self, p):
            return p.assign(x=p["x"] + 5)

        @dm.datamorphism
        def down_x(self, p):
            return p.assign(x=p["x"] - 5)

        @dm.datamorphism
        def up_n(self, p):
            return p.assign(n=p["n"] + 1)

        @dm.datamorphism
        def down_n(self, p):
            return p.assign(n=p["n"] - 1)

    report = dm.laws(Seeds, examples=50)
    assert outcome(report)["step"] == "NOT CHECKED"
    assert outcome(report)["closure"] == "HOLDS"
    assert outcome(report)["locality"] == "HOLDS"


def test_a_distance_of_the_wrong_shape_is_an_error():
    with pytest.raises(TestSystemError, match="must return one number per row"):
        dm.laws(variant(distance=lambda self, a, b: 5), examples=10)


def test_progress_is_shown_on_request(monkeypatch, capsys):
    from datamorphic.runs import progress

    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    dm.laws(Sound, examples=20, progress=True)
    output = capsys.readouterr()
    assert output.out == ""
    assert "the law of locality" in output.err


def test_triples_do_not_depend_on_the_modules_that_are_loaded(monkeypatch, tmp_path):
    """Hypothesis would draw numbers that occur in the source of local modules."""
    monkeypatch.setattr(providers, "is_local_module_file", lambda path: path.endswith("numerous.py"))

    def draw():
        drawn = []
        space = dm.Space([dm.Integer(f"x{i}", 0, 255) for i in range(4)])
        law_runner._run_hypothesis(drawn.append, LawContext(derive(space)), LawOptions(space, examples=100))
        return np.array(drawn)

    before = draw()
    (tmp_path / "numerous.py").write_text(f"NUMBERS = {list(range(101, 255))}")
    monkeypatch.syspath_prepend(tmp_path)
    import_module("numerous")
    np.testing.assert_array_equal(draw(), before)

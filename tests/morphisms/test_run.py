"""Law checks in a run store: kept as runs, and what broke a law is tried first the next time."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError, TestSystemError
from datamorphic.morphisms.strategies import build_pool
from datamorphic.runs import failures
from datamorphic.runs.store import Store
from support.cases import LONG

pytest_plugins = ["support.postgres"]

MIXED = dm.Space(
    [
        dm.Continuous("x", 0, 10, step=1, nullable=True),
        dm.Integer("n", 0, 40),
        dm.Categorical("c", ["p", "q", ("r", 1)], nullable=True),
        dm.Continuous("y", 0, 10, step=1),
    ]
)
MANY = 150  # enough to find the faults here
NOTHING = {"tried": 0, "breaking": 0, "mended": 0}


def cornered(p):
    """Where the faults are: far from the simplest points, and large enough for a few hundred to find them."""
    return (p["n"] >= 25) & (p["x"] >= 5)


class Mended:
    """The midpoint of the space, as it should be."""

    space = MIXED

    @dm.datamorphism
    def mid(self, a, b):
        return self.space.midpoint(a, b)


class Moving(Mended):
    """A move too, as it should be."""

    @dm.datamorphism(feature="n")
    def more(self, p):
        return self.space.move(p, "up", "n")


class WrongMidpoint(Mended):
    """In the corner the midpoint is wrong by far."""

    @dm.datamorphism
    def mid(self, a, b):
        middle = self.space.midpoint(a, b)
        return middle.assign(y=middle["y"].where(~cornered(a), 10.0 - (a["y"] > 5) * 10))


class WrongMove(Moving):
    """In the corner a move changes a category too."""

    @dm.datamorphism(feature="n")
    def more(self, p):
        moved = self.space.move(p, "up", "n")
        return moved.assign(c=moved["c"].where(~cornered(p), "q"))


def called(name, system=Mended, **members):
    return type(name, (system,), members)


def outcome(report):
    return {result.law: result.state for result in report.results}


def kept_cases(store, law=None):
    with Store.open(store) as opened:
        return [failure for failure in failures.recall_all(opened) if law in (None, failure.relation)]


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / "runs.sqlite")


@pytest.fixture(scope="module")
def found_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("found") / "runs.sqlite"
    dm.laws(called("S", WrongMidpoint), examples=MANY, store=path)
    return path


@pytest.fixture
def store_of_midpoint(store, found_once):
    """A store of one check, which found the wrong midpoint of S."""
    shutil.copy(found_once, store)
    assert kept_cases(store, "midpoint")
    return store


# -- found once, tried first -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("faulty", "sound", "law"), [(WrongMidpoint, Mended, "midpoint"), (WrongMove, Moving, "locality")]
)
def test_counterexamples_are_tried_first_until_they_are_fixed(store, faulty, sound, law):
    broken, mended = called("S", faulty), called("S", sound)
    for seed in (1, 2):  # or it would prove nothing that it is found below
        assert outcome(dm.laws(broken, examples=1, seed=seed))[law] == "HOLDS"

    report = dm.laws(broken, examples=MANY, store=store)
    assert outcome(report)[law] == "BROKEN"
    assert report.tried_first == NOTHING
    (case,) = kept_cases(store, law)
    assert (case.system, case.verdict, case.times) == ("S", "BROKEN", 1)
    words = {result.law: result.words for result in report.broken}
    assert case.message == words[law]

    for seed in (1,):
        again = dm.laws(broken, examples=1, seed=seed, store=store)
        (broken_law,) = (result for result in again.broken if result.law == law)
        assert broken_law.words == words[law]
        pd.testing.assert_frame_equal(
            broken_law.cases, next(result.cases for result in report.broken if result.law == law)
        )
        assert broken_law.first == (True,)
    assert kept_cases(store, law)[0].times == 2

    after = dm.laws(mended, examples=1, seed=5, store=store)
    assert outcome(after)[law] == "HOLDS"
    assert after.tried_first["mended"] == 1 == after.tried_first["tried"] - after.tried_first["breaking"]
    assert "1 fixed" in str(after)
    assert kept_cases(store, law) == []
    assert outcome(dm.laws(broken, examples=1, seed=1, store=store))[law] == "HOLDS"  # it is forgotten


@pytest.mark.slow
def test_stored_counterexamples_are_readable(store_of_midpoint):
    (case,) = (failure.case for failure in kept_cases(store_of_midpoint, "midpoint"))
    assert set(case) == set("xyz")
    for row in case.values():
        assert set(row) == set("xncy")
        assert type(row["n"]) is int
        assert row["c"] in ("p", "q", {"tuple": ["r", 1]}, None)
    assert case["x"]["n"] >= 36
    assert case["x"]["x"] >= 7


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", [lambda p: p["c"].isna(), lambda p: p["c"] == ("r", 1), lambda p: p["x"].isna() & (p["n"] > 20)]
)
def test_missing_values_categories_and_integers_survive_the_store(store, wrong):
    class Odd(Moving):
        @dm.datamorphism(feature="n")
        def more(self, p):
            moved = self.space.move(p, "up", "n")
            picked = np.array([bool(wrong(p.iloc[[i]]).iloc[0]) for i in range(len(p))])
            return moved.assign(y=np.where(picked, 10 - moved["y"], moved["y"]))

    assert outcome(dm.laws(Odd, examples=150 if LONG else 60, store=store))["locality"] == "BROKEN"
    assert outcome(dm.laws(Odd, examples=1, seed=1))["locality"] == "HOLDS"
    assert outcome(dm.laws(Odd, examples=1, seed=1, store=store))["locality"] == "BROKEN"


@pytest.mark.slow
def test_short_floats_survive_the_store(store):
    low = np.float64(0.1)
    space = dm.Space([dm.Continuous("x", low, 0.7, step=0.1)], dtypes={"x": np.dtype("float32")})

    class Short:
        @dm.datamorphism(feature="x", step=0.1)
        def up(self, p):
            return p.assign(x=p["x"] + np.float32(0.3) * (p["x"] <= np.float32(0.1)))

    Short.space = space
    assert outcome(dm.laws(Short, examples=MANY, store=store))["step"] == "BROKEN"
    (case,) = kept_cases(store, "step")
    assert case.case["x"]["x"] == 0.1
    assert dm.laws(Short, examples=1, seed=1, store=store).tried_first["breaking"] >= 1


CORNER = {name: {"x": 10.0, "n": 40, "c": None, "y": 2.5} for name in "xyz"}  # breaks the law, and nothing finds it


@pytest.mark.slow
@pytest.mark.parametrize(("most", "remembered"), [(2, 2), (1, 1)])
def test_a_new_counterexample_is_reported_before_a_remembered_one(store, monkeypatch, most, remembered):
    import datamorphic.morphisms.run as verb

    monkeypatch.setattr(verb, "MAX_REMEMBERED_PER_LAW", most)  # no more are remembered than are tried
    with Store.open(store) as opened:
        failures.remember(opened, "S", "midpoint", [{"case": CORNER}])
    broken = called("S", WrongMidpoint)
    within = dm.laws(broken, examples=MANY, store=store)
    assert list(map(str, within.broken)) == list(map(str, dm.laws(broken, examples=MANY).broken))
    assert within.tried_first == {"tried": 1, "breaking": 1, "mended": 0}
    cases = kept_cases(store, "midpoint")
    assert len(cases) == remembered
    assert next(failure.times for failure in cases if failure.case == CORNER) == 2


@pytest.mark.slow
def test_the_first_check_in_a_store_equals_one_without_a_store(store):
    for faulty in (WrongMidpoint, Mended):
        system = called("S" + faulty.__name__, faulty)
        assert dm.laws(system, examples=40, store=store) == dm.laws(system, examples=40)


# -- laws of many points ---------------------------------------------------------------------------------------


class Stuck(Mended):
    """From some places no move leads to the left; no row of the pool is there, but mixed ones are."""

    space = dm.Space([dm.Continuous("x", 0, 10, step=1), dm.Continuous("y", 0, 10, step=1)])

    @staticmethod
    def stuck(p):
        pool = set(map(tuple, build_pool(Stuck.space)))
        mixed = [row not in pool for row in zip(p["x"], p["y"], strict=True)]
        return p["x"].between(8.5, 9.5) & np.array(mixed, dtype=bool)

    @dm.datamorphism(feature="x")
    def right(self, p):
        return self.space.move(p, "up", "x")

    @dm.datamorphism(feature="x")
    def left(self, p):
        left = self.space.move(p, "down", "x")
        return left.assign(x=left["x"].where(~self.stuck(p), p["x"]))

    @dm.datamorphism(feature="y")
    def up(self, p):
        return self.space.move(p, "up", "y")

    @dm.datamorphism(feature="y")
    def down(self, p):
        return self.space.move(p, "down", "y")


@pytest.mark.slow
def test_completeness_remembers_the_row_that_is_stuck(store):
    report = dm.laws(Stuck, examples=MANY, store=store)
    assert [result.law for result in report.broken] == ["completeness"]
    (case,) = kept_cases(store)
    assert 8.5 <= case.case["x"]["x"] <= 9.5
    assert case.case["x"]["y"] not in build_pool(Stuck.space)[build_pool(Stuck.space)[:, 0] == case.case["x"]["x"], 1]
    assert dm.laws(Stuck, examples=1, seed=1).holds
    assert outcome(dm.laws(Stuck, examples=1, seed=1, store=store))["completeness"] == "BROKEN"

    class Sound(Stuck):
        @dm.datamorphism(feature="x")
        def left(self, p):
            return self.space.move(p, "down", "x")

    after = dm.laws(called("Stuck", Sound), examples=1, seed=1, store=store)
    assert after.holds
    assert after.tried_first == {"tried": 1, "breaking": 0, "mended": 1}
    assert kept_cases(store) == []


class Crowded(Mended):
    """A system whose answer depends on the company."""

    @dm.executor
    def classify(self, p):
        return p["y"] > p["y"].mean()


class Moody(Mended):
    """A system that says now this, now that of one point in ten."""

    rng = np.random.default_rng(0)

    @dm.executor
    def classify(self, p):
        return (p["n"] < 4) & (self.rng.random(len(p)) < 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("system", "law"), [(Crowded, "batches"), (Moody, "determinism")])
def test_laws_about_batches_are_tried_again_with_the_pool(store, system, law):
    assert outcome(dm.laws(system, examples=MANY, store=store))[law] == "BROKEN"
    for seed in (1,):
        assert outcome(dm.laws(system, examples=1, seed=seed, store=store))[law] == "BROKEN"

    class Steady(system):
        @dm.executor
        def classify(self, p):
            return p["y"] > 5

    after = dm.laws(called(system.__name__, Steady), examples=1, store=store)
    assert outcome(after)[law] == "HOLDS"
    assert kept_cases(store, law) == []


# -- what is not tried -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "features",
    [
        [dm.Continuous("x", 0, 10), dm.Integer("n", 0, 40)],  # fewer
        [dm.Continuous("x", 0, 10, nullable=True), dm.Integer("m", 0, 40), MIXED.features[2], MIXED.features[3]],
        [MIXED.features[0], dm.Integer("n", 0, 3), MIXED.features[2], MIXED.features[3]],  # values outside
        [MIXED.features[0], MIXED.features[1], dm.Categorical("c", ["no", "yes"]), MIXED.features[3]],
        [dm.Categorical("x", ["a"]), dm.Categorical("y", ["a"]), dm.Categorical("z", ["a"])],
    ],
)
def test_counterexamples_of_another_space_are_neither_tried_nor_removed(store_of_midpoint, features):
    broken = called("S", WrongMidpoint)
    before = kept_cases(store_of_midpoint)

    class Other:
        space = dm.Space(features)

        @dm.datamorphism
        def mid(self, a, b):
            return self.space.midpoint(a, b)

    other = dm.laws(type("S", (Other,), {}), examples=5, store=store_of_midpoint)
    assert other.tried_first == NOTHING
    assert "tried first" not in str(other)
    assert kept_cases(store_of_midpoint) == before
    assert outcome(dm.laws(broken, examples=1, seed=1, store=store_of_midpoint))["midpoint"] == "BROKEN"


@pytest.mark.slow
def test_counterexamples_that_break_a_new_constraint_are_not_tried(store_of_midpoint):
    tied = dm.Space(list(MIXED.features), constraints=["x <= n", "n <= 30"])
    report = dm.laws(called("S", space=tied), examples=30, store=store_of_midpoint)
    assert report.tried_first == NOTHING
    assert kept_cases(store_of_midpoint)


def test_invalid_counterexamples_in_the_store_are_not_tried(store):
    row = {"x": 1.0, "n": 1, "c": "p", "y": 1.0}
    rows = [
        {},
        {"x": 1, "y": 2, "z": 3},
        {"x": None, "y": row, "z": row},
        {"x": [], "y": [], "z": []},
        {"x": row | {"c": {"list": []}}, "y": row, "z": row},
        {"x": row | {"n": "many"}, "y": row, "z": row},
        {"x": row | {"n": None}, "y": row, "z": row},
        {"x": row | {"x": 10**400}, "y": row, "z": row},
    ]
    with Store.open(store) as opened:
        failures.remember(opened, "Mended", "midpoint", [{"case": row} for row in rows])
    assert dm.laws(Mended, examples=20, store=store).tried_first == NOTHING
    assert len(kept_cases(store)) == len(rows)


def test_a_law_that_is_not_checked_keeps_its_counterexamples(store_of_midpoint):
    before = kept_cases(store_of_midpoint, "midpoint")

    class Without:
        space = MIXED

        @dm.datamorphism(feature="n")
        def more(self, p):
            return self.space.move(p, "up", "n")

    report = dm.laws(type("S", (Without,), {}), examples=20, store=store_of_midpoint)
    assert outcome(report)["midpoint"] == "NOT CHECKED"
    assert kept_cases(store_of_midpoint, "midpoint") == before


def test_features_of_moves_are_inferred_from_many_points(store):
    """`go` moves y, which its name does not tell, and the one point that is drawn, 0 and 0, does not either."""

    class Nameless:
        space = dm.Space([dm.Continuous("x", 0, 10, step=1), dm.Continuous("y", 0, 10, step=1)])

        @dm.datamorphism
        def go(self, p):
            return p.assign(y=(p["y"] + (p["y"] > 5)).clip(upper=10))

    cases = [{"case": {name: {"x": 1.0, "y": y} for name in "xyz"}} for y in (2.0, 7.0)]
    with Store.open(store) as opened:
        failures.remember(opened, "Nameless", "locality", cases)
    report = dm.laws(Nameless, examples=1, store=store)
    assert report.tried_first == {"tried": 2, "breaking": 0, "mended": 2}
    assert outcome(report)["locality"] == "HOLDS"


@pytest.mark.slow
def test_values_that_no_store_can_hold_are_reported(store):
    days = pd.to_datetime(["2024-01-01", "2024-01-02"]).tolist()

    class Dated:
        space = dm.Space([dm.Categorical("day", days), dm.Integer("n", 0, 9)])

        @dm.datamorphism(feature="day")
        def later(self, p):
            return p.assign(n=9 - p["n"])

    assert outcome(dm.laws(Dated, examples=50, store=store))["locality"] == "BROKEN"
    assert kept_cases(store) == []
    with Store.open(store) as opened:
        assert "cannot be stored and tried again" in opened.run(1).message


# -- the run ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_check_is_kept_as_a_run(store):
    report = dm.laws(called("S", WrongMidpoint), examples=MANY, seed=7, store=store)
    dm.laws(called("S", WrongMidpoint), examples=1, store=store)
    with Store.open(store) as opened:
        run, second = opened.runs()
    assert (run.verb, run.system, run.state, run.seed) == ("laws", "S", "finished", 7)
    assert {name: value for name, value in run.parameters.items() if value is not None} == {"examples": MANY}
    assert run.versions["numpy"] == np.__version__
    assert run.environment["cores"]
    assert run.seconds > 0
    assert run.done == 1
    assert run.data_hash == second.data_hash != ""
    assert [verdict["relation"] for verdict in run.verdicts] == [result.law for result in report.results]
    verdict = next(entry for entry in run.verdicts if entry["relation"] == "midpoint")
    words = next(result.words for result in report.broken if result.law == "midpoint")
    says = "the midpoint is nearer to both ends than they are to each other"
    assert verdict == {"relation": "midpoint", "says": says, "verdict": "BROKEN", "cases": 1, "words": words}
    assert {verdict["verdict"] for verdict in run.verdicts} == {"HOLDS", "BROKEN", "NOT CHECKED"}
    assert all(verdict["cases"] == (verdict["verdict"] == "BROKEN") for verdict in run.verdicts)
    assert run.summary == {"laws": 10, "broken": len(report.broken), "examples": MANY, "tried_first": NOTHING}
    assert second.summary["tried_first"]["breaking"] >= 1


@pytest.mark.parametrize(
    ("error", "state", "message"),
    [(KeyboardInterrupt, "interrupted", "stopped by the user"), (TestSystemError("no luck"), "failed", "no luck")],
)
def test_an_interrupted_check_keeps_its_counterexamples(store_of_midpoint, error, state, message):
    before = kept_cases(store_of_midpoint)

    def distance(self, a, b):
        raise error

    with pytest.raises(error if isinstance(error, type) else type(error)):
        dm.laws(called("S", distance=distance), examples=20, store=store_of_midpoint)
    with Store.open(store_of_midpoint) as opened:
        run = opened.runs()[-1]
    assert (run.state, run.message) == (state, message)
    assert run.seconds > 0
    assert kept_cases(store_of_midpoint) == before


def test_invalid_arguments_start_no_run(store):
    with pytest.raises(ArgumentError, match="'examples' parameter of laws"):
        dm.laws(Mended, examples=0, store=store)
    with Store.open(store) as opened:
        assert opened.runs() == []


@pytest.mark.slow
def test_an_open_store_stays_open(store):
    with Store.open(store) as opened:
        dm.laws(Mended, examples=20, store=opened)
        dm.laws(Mended, examples=20, store=opened)
        assert len(opened.runs()) == 2


@pytest.mark.slow
def test_without_a_store_no_database_is_imported():
    code = "import sys, datamorphic as dm; dm.laws(dm.subjects['Box 1'], examples=5); print('datamorphic.runs.store' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False"]


@pytest.mark.slow
def test_counterexamples_are_kept_in_postgresql(postgres_url, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_ARTIFACTS", str(tmp_path))
    broken = called("S", WrongMidpoint)
    dm.laws(broken, examples=MANY, store=postgres_url)
    again = dm.laws(broken, examples=1, seed=1, store=postgres_url)
    assert outcome(again)["midpoint"] == "BROKEN"
    assert max(failure.times for failure in kept_cases(postgres_url, "midpoint")) == 2  # the same case to the letter
    after = dm.laws(called("S"), examples=1, store=postgres_url)
    assert after.tried_first["mended"] == after.tried_first["tried"] > 0
    assert kept_cases(postgres_url, "midpoint") == []


# -- the command -----------------------------------------------------------------------------------------------

MODULE = """
import datamorphic as dm

class Corner:
    space = dm.Space([dm.Continuous("x", 0, 10, step=1), dm.Continuous("y", 0, 10, step=1)])

    @dm.datamorphism
    def mid(self, a, b):
        middle = self.space.midpoint(a, b)
        return middle.assign(x=middle["x"].where(~((a["x"] > 6) & (a["y"] > 6)), 0.0))

class Stopped(Corner):
    @dm.datamorphism
    def mid(self, a, b):
        raise KeyboardInterrupt
"""


@pytest.fixture
def run(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "cornered_system", raising=False)
    (tmp_path / "cornered_system.py").write_text(MODULE)
    monkeypatch.setenv("DATAMORPHIC_STORE", store)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


@pytest.mark.slow
def test_the_command_keeps_counterexamples_and_tries_them_first(run):
    first = run("laws", "cornered_system:Corner", "--examples", "60")
    assert first.exit_code == 1
    assert "tried first" not in first.stdout
    assert first.stdout.endswith("kept as run 1: datamorphic runs show 1\n")
    again = run("laws", "cornered_system:Corner", "--examples", "1", "--seed", "3")
    assert again.exit_code == 1
    assert "\nEarlier counter-examples: 1 tried first, 1 still breaking, 0 fixed\n" in again.stdout
    document = json.loads(run("laws", "cornered_system:Corner", "--examples", "1", "--seed", "3", "--json").stdout)
    assert document["tried_first"] == {"tried": 1, "breaking": 1, "mended": 0}
    assert document["run"] == 3
    assert {entry["law"] for entry in document["laws"] if entry["state"] == "BROKEN"} == {"midpoint"}


@pytest.mark.slow
def test_the_command_works_without_a_store(run, store, tmp_path):
    for _ in range(2):  # the second one knows nothing of the first
        result = run("laws", "cornered_system:Corner", "--examples", "40", "--store", "none", "--json")
        document = json.loads(result.stdout)
        assert result.exit_code == 1
        assert document["run"] is None
        assert document["tried_first"] == NOTHING
    assert "kept as run" not in run("laws", "--subject", "Box 1", "--examples", "5", "--store", "none").stdout
    assert not list(tmp_path.glob("*.sqlite"))
    other = str(tmp_path / "other.sqlite")
    assert (
        json.loads(run("laws", "--subject", "Box 1", "--examples", "5", "--store", other, "--json").stdout)["run"] == 1
    )
    assert [path.name for path in tmp_path.glob("*.sqlite")] == ["other.sqlite"]


def test_a_terminal_shows_what_was_tried_first(run, store_of_midpoint, monkeypatch, capsys):
    from rich.console import Console

    from datamorphic.cli import console

    screen = Console(width=100, force_terminal=True, no_color=True, highlight=False)
    monkeypatch.setattr(console, "make_console", lambda: screen)
    console.print_text(dm.laws(called("S", WrongMidpoint), examples=1, store=store_of_midpoint).describe())
    assert "still breaking, 0 fixed" in capsys.readouterr().out


@pytest.mark.slow
def test_stored_checks_can_be_listed_shown_and_exported(run, tmp_path):
    run("laws", "cornered_system:Corner", "--examples", "60", "--seed", "4")
    run("laws", "--subject", "Box 1", "--examples", "5")
    listed = run("runs", "list").stdout.splitlines()
    assert "1 of 10 laws broken" in listed[1]
    assert "0 of 10 laws broken" in listed[2]
    text = run("runs", "show", "1").stdout
    assert "run 1: laws of Corner, finished" in text
    assert "cornered_system:Corner" in text
    assert ": mid of a point with itself is another point" in text
    assert "0 runs" not in text
    assert json.loads(run("runs", "show", "1", "--json").stdout)["verdicts"][4]["verdict"] == "BROKEN"
    assert run("runs", "export", "1").exit_code == 0
    assert sorted(file.name for file in (tmp_path / "run-1").iterdir()) == ["result.json", "run.json"]
    resumed = run("runs", "resume", "1")
    assert resumed.exit_code == 2
    assert "Run 1 is finished and cannot be resumed" in resumed.stderr
    compared = run("runs", "diff", "1", "2")
    assert compared.exit_code == 2
    assert "Run 1 is a check of laws: it has no border" in compared.stderr
    assert "WrongMidpoint" not in run("runs", "failures").stdout
    assert "midpoint" in run("runs", "failures").stdout


def test_a_check_started_in_python_is_resumed_in_python(run, store):
    dm.laws(Mended, examples=5, store=store)
    assert "Repeat the call with resume=1" in run("runs", "resume", "1").stderr


@pytest.mark.slow
def test_an_interrupted_check_offers_to_resume(run):
    stopped = run("laws", "cornered_system:Stopped", "--examples", "20")
    assert stopped.exit_code == 130
    assert "datamorphic runs resume 1" in stopped.stderr
    text = run("runs", "show", "1").stdout
    assert "laws of Stopped, interrupted" in text
    assert "Resume it: datamorphic runs resume 1" in text


class Interruptible(Crowded):
    """A system whose user ends the check at the call `stop_at`."""

    calls, stop_at = 0, 0

    @dm.executor
    def classify(self, p):
        type(self).calls += 1
        if self.calls == self.stop_at:
            signal.raise_signal(signal.SIGINT)
        return p["y"] > p["y"].mean()


@pytest.mark.slow
def test_a_resumed_check_begins_with_the_counterexamples_of_its_beginning(store, monkeypatch):
    dm.laws(Interruptible, examples=MANY, store=store)
    assert len(kept_cases(store, "batches")) == 1
    with Store.open(store) as opened:
        known_case = kept_cases(store, "batches")[0]
        whole = dm.laws(Interruptible, examples=20, seed=1, store=store)
        failures.forget(opened, [failure.id for failure in kept_cases(store)])
        failures.remember(opened, "Interruptible", "batches", [{"case": known_case.case}])
    monkeypatch.setattr(Interruptible, "calls", 0)
    monkeypatch.setattr(Interruptible, "stop_at", 20)
    stopped = dm.laws(Interruptible, examples=20, seed=1, store=store)
    assert (stopped.interrupted, stopped.complete, stopped.unfinished) == (True, False, ("the law of batches",))
    assert outcome(stopped)["batches"] == "NOT CHECKED"
    with Store.open(store) as opened:
        assert opened.runs()[-1].state == "interrupted"
        failures.forget(opened, [failure.id for failure in kept_cases(store)])  # as another check would
    monkeypatch.setattr(Interruptible, "calls", 0)
    monkeypatch.setattr(Interruptible, "stop_at", 0)
    resumed = dm.laws(Interruptible, examples=20, seed=1, store=store, resume=3)
    assert resumed == whole
    assert resumed.tried_first == {"tried": 1, "breaking": 1, "mended": 0}


def test_hints_say_how_to_read_data():
    frame = pd.DataFrame({"n": range(30), "label": ["a", "b"] * 15})
    report = dm.laws(frame, examples=5, target="label", kinds={"n": "continuous"}, column_steps={"n": 2})
    assert report.holds
    for name, value in {"kinds": {"x": "integer"}, "target": "y", "space": Mended.space}.items():
        with pytest.raises(ArgumentError, match=rf"how to read data \({name}\), but its model is not a frame"):
            dm.laws(Mended, **{name: value})


def test_the_former_name_of_the_test_system_warns():
    with pytest.warns(DeprecationWarning, match="'test_system' of laws is now called 'model'"):
        dm.laws(test_system=Mended, examples=2, progress=False)


def test_a_budget_ends_a_check():
    report = dm.laws(Crowded, examples=50, budget="120 runs")
    assert report.unfinished == ("the law of batches",)
    assert not report.complete
    assert dm.laws(Crowded, examples=50, budget="0.0001s").unfinished[0] == "the points to try"

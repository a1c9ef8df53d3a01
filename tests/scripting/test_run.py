"""Playing scripts: identical files, errors with their place, real data, stores and resuming."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ScriptError, StoreError, SystemFailed
from datamorphic.runs.store import Store
from datamorphic.scripting.result import ScriptResult

SCRIPT = """\
analyse([saveMessageHead])
repeat(3)
    makeSeed([RandomValue40])
    randomTargetExplore(20,mid)
    randomWalkExplore([upward, mid, leftward];20;20)
    analyse([saveStatistics])
    clean()
endRepeat()
makeSeed([RandomValue10])
executeTestCases()
saveTestResult(results/cases.tcs)
saveMessage(log.csv;done)
displayMessage(ready)
"""


def read_files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(folder, text=SCRIPT):
    folder.mkdir(exist_ok=True)
    (folder / "a.scr").write_text(text)
    return folder / "a.scr"


@pytest.mark.slow
def test_the_same_seed_writes_the_same_files(tmp_path):
    for name, seed, engine in (("one", 3, None), ("two", 3, "threads:2"), ("three", 4, None)):
        result = dm.play(write(tmp_path / name), "Box 1", seed=seed, engine=engine)
        assert result.files == ["ExpDataFile.csv", "results/cases.tcs", "log.csv"]
        assert result.pool.messages == ["ready"]
    files = [read_files(tmp_path / name) for name in ("one", "two", "three")]
    assert files[0] == files[1]
    assert files[0] != files[2]


@pytest.mark.slow
def test_exports_of_a_result(tmp_path):
    result = dm.play(write(tmp_path / "s"), "Box 1")
    assert isinstance(result, ScriptResult)
    assert "a.scr: 21 commands run" in result.describe()
    document = result.document()
    assert (document["commands"], document["cases"], len(document["statistics"])) == (21, 10, 3)
    assert "Explorations" in result.to_html()
    assert "Statistics" in result.to_markdown()
    assert 'tests="1"' in result.to_junit()
    assert repr(result).startswith("ScriptResult(a.scr: 21 commands")


def test_violations_are_reported(tmp_path):
    class Broken:
        space = dm.Space([dm.Integer("n", 0, 9)])

        @dm.seed_maker
        def all_numbers(self):
            return pd.DataFrame({"n": np.arange(9)})

        @dm.datamorphism
        def up(self, p):
            return p.assign(n=p.n + 1)

        @dm.metamorphism(of="up", message="larger is never worse")
        def monotone(self, cases, origins):
            return cases.output >= origins.output

        @dm.executor
        def rate(self, p):
            return p.n % 4

    result = dm.play(
        write(tmp_path / "s", "makeSeed([ALL])\nmakeMutant([up])\nexecuteTestCases()\ncheckMetamorphisms([ALL])\n"),
        Broken,
    )
    assert result.violations == 2
    assert "monotone: 2 violations in 9 cases" in result.describe()
    assert "larger is never worse" in result.to_junit()
    assert result.page().state == "bad"


def test_errors_while_running_name_the_line(tmp_path):
    (tmp_path / "bad.csv").write_text("x,y\n1,two\n")
    with pytest.raises(ScriptError) as caught:
        dm.play(write(tmp_path, "clean()\nloadTestSet(bad.csv)\n"), "Box 1")
    assert str(caught.value).startswith("a.scr:2:1: ")

    class Dead:
        space = dm.Space([dm.Continuous("x", 0, 1)])

        @dm.executor
        def fail(self, p):
            raise RuntimeError("no")

    with pytest.raises(SystemFailed, match=r"a\.scr:2:1: "):
        dm.play(write(tmp_path, "makeSeed([RandomValue5])\nrandomTargetExplore(5)\n"), Dead)


@pytest.mark.slow
def test_a_script_for_red_wine(tmp_path, real_data):
    """In the published style: all cases loaded from a file, a number of walks, statistics of each repetition."""
    frame = real_data("red_wine")
    inputs = frame.drop(columns="target").iloc[:150]
    space = dm.Space.from_frame(inputs, kinds=dict.fromkeys(inputs, "continuous"), moves="open")
    dm.TestSet.of_seeds(space.points(inputs)).save(tmp_path / "TrainingData.tcs")
    moves = "[citricAcidUp, densityDown, alcoholDown, pHUp, mid, sulphateslUp]"
    (tmp_path / "once.scr").write_text(
        "repeat(2)\n\tmakeSeed([ResetTestSuite])\n\tloadTestResults(TrainingData.tcs)\n\trandomTargetExplore(30,mid)\n"
        "\tanalyse([saveStatistics])\nendRepeat()\nsaveMessage(Exp.csv;Avg of 30)\n"
        "makeSeed([ResetTestSuite])\nloadTestResults(TrainingData.tcs)\nmakeSeed([Select100RandomTestCases])\n"
        f"randomWalkExplore({moves};20;30)\nanalyse([saveStatistics])\n"
    )
    (tmp_path / "all.scr").write_text(
        "clean()\nsaveMessage(Exp.csv;Random Target -- DT)\nanalyse([start_DT_Invoker])\nplayTestScript(once.scr)\n"
        "analyse([stop_Invoker])\n"
    )
    result = dm.play(tmp_path / "all.scr", "RedWine_TestSpec.class", seed=2)

    from datamorphic.data.learners import reference_model, reference_space

    model, space = reference_model("red_wine", "DT", frame), reference_space("red_wine", frame)
    options = {"space": space, "max_halvings": 20, "refine": "bisect"}
    draws = [np.random.SeedSequence(2, spawn_key=(number,)) for number in range(7)]
    expected = [
        dm.explore(model, inputs, strategy="random_target", walks=30, seed=draws[number], **options)
        for number in (1, 3)
    ]
    chosen = inputs.iloc[np.random.default_rng(draws[5]).permutation(150)[:100]]
    names = ["up_citric acid", "down_density", "down_alcohol", "up_pH", "up_sulphates"]
    expected.append(dm.explore(model, chosen, strategy="random_walk", walks=30, moves=names, seed=draws[6], **options))
    lines = (tmp_path / "Exp.csv").read_text().splitlines()
    figures = [line.split(",")[1:5] for line in lines if line.startswith(",")]
    assert figures == [
        [str(front.runs), str(len(front.seeds) + front.mutants), str(len(front.seeds)), str(front.mutants)]
        for front in expected
    ]
    assert [line for line in lines if not line.startswith(",")] == ["Random Target -- DT", "Avg of 30"]
    assert sum(map(len, expected)) > 20
    assert result.pool.source.spec == "red_wine"


# -- budgets ------------------------------------------------------------------------------------------------------

BUDGET_SCRIPT = """\
makeSeed([RandomValue20])
executeTestCases()
explore(walks=200;seeds=pool;budget=60 runs)
makeSeed([RandomValue50])
executeTestCases()
displayMessage(ready)
"""


def test_a_spent_budget_ends_the_script(tmp_path):
    script = write(tmp_path, BUDGET_SCRIPT)
    whole = dm.play(script, "Box 1")
    assert whole.complete, "an exploration may have a budget of its own"
    assert (whole.commands, whole.unfinished) == (6, [])
    result = dm.play(script, "Box 1", budget="100 runs")
    assert (result.commands, result.complete) == (4, False)
    assert result.unfinished == ["2 of 6 commands, from executeTestCases() on"]
    assert "the budget was spent after 4 of 6 commands" in result.describe()
    assert "not run: 2 of 6 commands" in result.describe()
    assert result.page().state == "warn"
    assert 'failures="1"' in result.to_junit()
    assert dm.play(script, "Box 1", budget="1000 runs").complete


def test_a_search_that_cannot_begin_ends_the_script(tmp_path):
    script = write(tmp_path, "makeSeed([RandomValue20])\nGAOptimizeWeakestRemoval([ALL];[label_balance])\n")
    result = dm.play(script, "Box 1", budget="10 runs")
    assert result.unfinished == ["1 of 2 commands, from GAOptimizeWeakestRemoval([ALL];[label_balance]) on"]


def test_the_former_name_of_the_test_system_is_accepted(tmp_path):
    with pytest.warns(DeprecationWarning, match="'test_system' of play is now called 'model'"):
        assert dm.play(write(tmp_path, "clean()\n"), test_system="Box 1").commands == 1


# -- stores -------------------------------------------------------------------------------------------------------


class Flaky:
    """Fails after a number of queries, once."""

    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1), dm.Continuous("y", 0, 1, step=0.1)], moves="open")
    queries, fails_at, rows = 0, None, 0

    @dm.executor
    def classify(self, p):
        Flaky.queries += 1
        if Flaky.fails_at == Flaky.queries:
            raise KeyboardInterrupt
        Flaky.rows += len(p)
        return np.where(p.x * p.y > 0.3, "in", "out")


FLAKY_SCRIPT = """\
saveMessage(log.csv;begin)
loadTestSet(cases.csv)
repeat(4)
    makeSeed([RandomValue30])
    randomTargetExplore(30,mid)
    analyse([saveStatistics])
    saveTestResult(cases.csv)
endRepeat()
"""


@pytest.fixture
def flaky(tmp_path):
    """A folder with a script that appends to one file and overwrites what it has read."""
    Flaky.queries, Flaky.fails_at, Flaky.rows = 0, None, 0

    def prepare(name):
        path = write(tmp_path / name, FLAKY_SCRIPT)
        (path.parent / "log.csv").write_text("before\n")
        (path.parent / "cases.csv").write_text("x,y\n0.5,0.5\n0.1,0.9\n")
        return path

    return prepare


@pytest.mark.slow
def test_an_interrupted_script_resumes_to_the_same_files(tmp_path, flaky):
    whole = dm.play(flaky("whole"), Flaky, seed=6)
    queries, rows = Flaky.queries, Flaky.rows
    path = flaky("broken")
    with Store.open(tmp_path / "runs.sqlite") as store:
        Flaky.queries, Flaky.fails_at = 0, queries // 2
        partial = dm.play(path, Flaky, seed=6, store=store)
        assert partial.interrupted
        assert "interrupted after" in partial.describe()
        run = store.runs()[-1]
        assert (run.verb, run.state) == ("script", "interrupted")
        assert (path.parent / "log.csv").read_text() != "before\n"
        Flaky.rows, Flaky.fails_at = 0, None
        again = dm.play(path, Flaky, seed=6, store=store, resume=run.id)
        assert Flaky.rows < 0.8 * rows  # the rest was answered before
        assert store.runs()[-1].state == "finished"
        assert [artifact.name for artifact in store.runs()[-1].artifacts] == ["tests.parquet"]
        with pytest.raises(StoreError, match="is finished"):
            dm.play(path, Flaky, seed=6, store=store, resume=run.id)
    assert read_files(tmp_path / "broken") == read_files(tmp_path / "whole")
    assert again.pool.runs == whole.pool.runs
    assert np.array_equal(again.tests.inputs.codes, whole.tests.inputs.codes)


def test_a_changed_script_is_not_resumed(tmp_path, flaky):
    path = flaky("broken")
    with Store.open(tmp_path / "runs.sqlite") as store:
        Flaky.fails_at = 20
        assert dm.play(path, Flaky, seed=6, store=store).interrupted
        path.write_text(FLAKY_SCRIPT + "clean()\n")
        with pytest.raises(StoreError, match="other arguments"):
            dm.play(path, Flaky, seed=6, store=store, resume=1)


def test_a_damaged_store_names_no_other_folder(tmp_path, flaky):
    path = flaky("broken")
    (tmp_path / "precious").mkdir()
    with Store.open(tmp_path / "runs.sqlite") as store:
        Flaky.fails_at = 20
        assert dm.play(path, Flaky, seed=6, store=store).interrupted
        with sqlite3.connect(tmp_path / "runs.sqlite") as database:
            (parameters,) = database.execute("select parameters from runs").fetchone()
            changed = json.loads(parameters) | {"backup": "x/../../precious"}
            database.execute("update runs set parameters = ?", [json.dumps(changed)])
        database.close()
        with pytest.raises(StoreError, match="is damaged"):
            dm.play(path, Flaky, seed=6, store=store, resume=1)
    assert (tmp_path / "precious").is_dir()


def test_a_refused_script_leaves_nothing(tmp_path):
    path = write(tmp_path / "s", "saveMessage(log.csv;x)\nmakeSeedy([a])\n")
    with Store.open(tmp_path / "runs.sqlite") as store, dm.record(tmp_path / "out.scr"):
        with pytest.raises(ScriptError):
            dm.play(path, "Box 1", store=store)
        assert store.runs() == []
        assert read_files(tmp_path / "s").keys() == {path.relative_to(path.parent)}
        assert not (tmp_path / "out.scr").exists()

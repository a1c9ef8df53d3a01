"""A run that is killed at any moment and resumed ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app
from datamorphic.runs.store import Store
from support.waiting import wait_until

pytest_plugins = ["support.postgres"]
pytestmark = pytest.mark.slow

LONG = "DATAMORPHIC_LONG" in os.environ

SYSTEM = """
import os, time
import numpy as np

def slow(frame):
    time.sleep(0.02)
    with open("asked", "ab", buffering=0) as file:
        file.write(b"." * len(frame))
    return np.where(frame["x"] ** 2 + frame["y"] > 2, "in", "out")
"""


@pytest.fixture(params=["sqlite", "postgresql"] if LONG else ["sqlite"])
def store(request, tmp_path):
    """A fresh store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.sqlite")
    return f"{request.getfixturevalue('postgres_url')}?artifacts={tmp_path}/files"


def test_killed_at_random_moments_it_ends_as_if_nothing_had_happened(store, tmp_path):
    program = Path(__file__).parents[1].joinpath("support/killing.py")
    kills = 25 if LONG else 2
    done = subprocess.run(
        [sys.executable, program, store, tmp_path, str(kills), "1"],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["kills"] >= kills
    assert record["different"] == []  # pairs, verdicts and counts
    assert min(record["shares"]) < 0.4  # killed early
    assert max(record["shares"]) > 0.6  # and late
    assert max(record["asked twice"]) <= record["may be lost"] < record["rows"] / 2


def runs():
    with Store.open() as store:
        return store.runs()


def has_ended_or_written(process, file, size):
    return process.poll() is not None or (file.exists() and file.stat().st_size >= size)


def test_the_command_killed_with_two_workers_goes_on_with_one(tmp_path, monkeypatch):
    """Only what is killed has a process of its own: half of its time goes to imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "runs.sqlite"))
    log, chance = tmp_path / "asked", random.Random(0)
    (tmp_path / "slow_system.py").write_text(SYSTEM)
    rows = "\n".join(f"{chance.uniform(-2, 2)},{chance.uniform(-2, 2)}" for _ in range(40))
    (tmp_path / "data.csv").write_text(f"x,y\n{rows}\n")

    def answer(*words):
        done = CliRunner().invoke(app, [*words, "--json"])
        sys.modules.pop("slow_system", None)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    explore = ["explore", "slow_system:slow", "data.csv", "--walks", "40", "--max-halvings", "12", "--batch", "20"]
    whole = answer(*explore)
    log_size = log.stat().st_size
    for _ in range(5 if LONG else 1):
        log.unlink()
        command = [sys.executable, "-m", "datamorphic", *explore, "--workers", "2"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        enough = chance.uniform(0.4, 0.9) * log_size  # more than may be lost
        wait_until(partial(has_ended_or_written, process, log, enough), "answers")
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=120)  # ends when its workers have ended, too: they hold the same pipes
        newest = runs()[-1]
        assert newest.state == "killed"
        again = answer("runs", "resume", str(newest.id))
        figures = set(whole) - {"seconds", "run"}
        assert {name: again[name] for name in figures} == {name: whole[name] for name in figures}
        # the fronts are the same, byte for byte
        assert len({run.artifacts[0].sha256 for run in runs()}) == 1
        assert log.stat().st_size <= log_size + 20 * (0.1 / 0.02 * 2 + 4)


DEADLY_SYSTEM = """
import os, signal
import numpy as np
import datamorphic as dm

calls = 0

def count_call():
    global calls
    calls += 1
    if calls == int(os.environ.get("KILL_AT", 0)):
        os.kill(os.getpid(), signal.SIGKILL)

def model(frame):
    count_call()
    return np.where(frame["x"] ** 2 + frame["y"] > 2, "in", "out")

class Line:
    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])

    @dm.seed_maker
    def left(self, rng, n=20):
        return self.space.sample(n, seed=rng) * 0.7

    @dm.datamorphism
    def right(self, p):
        return p.assign(x=(p.x + 0.1).clip(upper=1))

    @dm.set_metric
    def mean_x(self, tests):
        count_call()
        return tests.input["x"].mean()

    @dm.executor
    def classify(self, p):
        return p.x > 0.5
"""
KILLED_COMMANDS = {
    "test": ["test", "deadly:model", "data.csv", "--html", "out.html"],
    "check": ["check", "deadly:model", "data.csv", "--html", "out.html"],
    "optimise": [
        "optimise",
        "deadly:Line",
        "--strategy",
        "GAOptimizeWeakestRemoval",
        "--metric",
        "mean_x",
        "--steps",
        "3",
    ],
}


@pytest.mark.parametrize("command", KILLED_COMMANDS.values(), ids=KILLED_COMMANDS)
def test_a_killed_command_leaves_nothing_but_a_run_that_is_not_finished(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "store" / "runs.sqlite"))
    (tmp_path / "store").mkdir()
    (tmp_path / "deadly.py").write_text(DEADLY_SYSTEM)
    (tmp_path / "data.csv").write_text("x,y\n" + "".join(f"{i / 20},{i % 3}\n" for i in range(40)))
    (tmp_path / "out.html").write_text("the previous report")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("KILL_AT", "12")
    process = subprocess.run([sys.executable, "-m", "datamorphic", *command], capture_output=True, timeout=300)
    assert process.returncode == -signal.SIGKILL, process.stderr
    [run] = runs()
    assert run.state == "killed"
    assert run.done != 1
    assert not run.summary
    assert (tmp_path / "out.html").read_text() == "the previous report"
    files = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert files == {"store", "deadly.py", "data.csv", "out.html", "temporary"}
    monkeypatch.delenv("KILL_AT")
    if command[0] == "optimise":
        summaries = []
        for words in (["runs", "resume", "1"], command):
            assert CliRunner().invoke(app, words).exit_code == 0
            summaries.append(runs()[-1].summary)
        assert runs()[0].state == "finished"
        assert summaries[0] == summaries[1]
    sys.modules.pop("deadly", None)

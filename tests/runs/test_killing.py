"""A run that is killed at any moment and resumed ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from killing import PAUSE

from datamorphic.runs.journal import OFTEN

pytest_plugins = ["postgres"]

BATCH = 30  # rows
LOST = (OFTEN / PAUSE + 2) * BATCH  # answered since the last time that answers were written, and under way

SYSTEM = """
import os, time
import numpy as np

def slow(frame):
    time.sleep(0.03)
    with open("asked", "ab", buffering=0) as file:
        file.write(b"." * len(frame))
    return np.where(frame["x"] ** 2 + frame["y"] > 2, "in", "out")
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    """A fresh store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.sqlite")
    return f"{request.getfixturevalue('postgres_url')}?artifacts={tmp_path}/files"


def test_killed_at_random_moments_it_ends_as_if_nothing_had_happened(store, tmp_path):
    program = Path(__file__).with_name("killing.py")
    often = {True: (25, 25), False: (8, 8)}["DATAMORPHIC_LONG" in os.environ]
    kills = often["://" in store]  # a server takes twice the time
    done = subprocess.run(
        [sys.executable, program, store, tmp_path, str(kills), "1"],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] >= kills
    assert told["different"] == []  # pairs, verdicts and counts
    assert min(told["shares"]) < 0.4  # killed early
    assert max(told["shares"]) > 0.6  # and late
    assert max(told["asked twice"]) <= LOST


def command(folder, store, *words):
    environment = os.environ | {"DATAMORPHIC_STORE": str(store)}
    words = [sys.executable, "-m", "datamorphic", *words]
    return subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def answer(process):
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return json.loads(out)


def test_the_command_killed_with_two_workers_goes_on_with_one(tmp_path):
    store, chance = tmp_path / "runs.sqlite", random.Random(0)
    (tmp_path / "mine.py").write_text(SYSTEM)
    rows = "\n".join(f"{chance.uniform(-2, 2)},{chance.uniform(-2, 2)}" for _ in range(60))
    (tmp_path / "data.csv").write_text(f"x,y\n{rows}\n")
    words = ["explore", "mine:slow", "data.csv", "--walks", "60", "--steps", "12", "--batch", "20", "--json"]
    whole = answer(command(tmp_path, store, *words))
    asked = (tmp_path / "asked").stat().st_size
    for _ in range(2):
        (tmp_path / "asked").unlink()
        process = command(tmp_path, store, *words, "--workers", "2")
        while not (tmp_path / "asked").exists():
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.7))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        newest = answer(command(tmp_path, store, "runs", "list", "--json"))[-1]
        assert newest["state"] == "killed"
        time.sleep(1.2)  # its workers end by themselves
        again = answer(command(tmp_path, store, "runs", "resume", str(newest["id"]), "--json"))
        figures = set(whole) - {"seconds", "run"}
        assert {name: again[name] for name in figures} == {name: whole[name] for name in figures}
        files = [
            run["artifacts"][0]["sha256"] for run in answer(command(tmp_path, store, "runs", "list", "--json"))
        ]
        assert len(set(files)) == 1  # the fronts are the same, byte for byte
        assert (tmp_path / "asked").stat().st_size <= asked + 20 * (0.1 / 0.03 * 2 + 4)

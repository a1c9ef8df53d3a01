"""A script that is killed and resumed writes the files it would have written without the break."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app
from datamorphic.runs.store import Store
from support.waiting import wait_until

pytestmark = pytest.mark.slow

SYSTEM = """
import time
import numpy as np
import datamorphic as dm

class Slow:
    space = dm.Space([dm.Continuous("x", -2, 2, step=0.2), dm.Continuous("y", -2, 2, step=0.2)])

    @dm.executor
    def classify(self, p):
        time.sleep(0.01)
        with open("asked", "ab", buffering=0) as file:
            file.write(b"." * len(p))
        return np.where(p.x**2 + p.y > 1, "in", "out")
"""
SCRIPT = """\
loadTestSet(cases.csv)
repeat(6)
    makeSeed([RandomValue20])
    randomTargetExplore(20,mid)
    saveMessage(log.csv;one more)
    analyse([saveStatistics])
    saveTestResult(cases.csv)
endRepeat()
"""


def prepare(folder):
    folder.mkdir()
    (folder / "a.scr").write_text(SCRIPT)
    (folder / "cases.csv").write_text("x,y\n0.5,0.5\n-1,1.5\n")
    (folder / "log.csv").write_text("from before\n")
    return folder / "a.scr"


def test_a_killed_script_resumes_to_the_same_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "runs.sqlite"))
    (tmp_path / "slow_tests.py").write_text(SYSTEM)
    log = tmp_path / "asked"

    def answer(*words):
        done = CliRunner().invoke(app, [*words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    options = ["--system", "slow_tests:Slow", "--seed", "4"]
    whole = answer("script", str(prepare(tmp_path / "whole")), *options)
    log_size = log.stat().st_size
    log.unlink()
    command = [sys.executable, "-m", "datamorphic", "script", str(prepare(tmp_path / "killed")), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    enough = 0.6 * log_size
    wait_until(lambda: process.poll() is not None or (log.exists() and log.stat().st_size >= enough), "answers")
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    with Store.open() as store:
        killed = store.runs()[-1]
    assert (killed.verb, killed.state) == ("script", "killed")
    assert 0.1 < killed.done < 1
    assert (tmp_path / "killed" / "log.csv").read_text().count("one more") in range(1, 6)
    again = answer("runs", "resume", str(killed.id))
    figures = set(whole) - {"seconds", "run", "calls"}
    assert {name: again[name] for name in figures} == {name: whole[name] for name in figures}
    files = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("whole", "killed")]
    assert files[0] == files[1]  # the copies of the files are gone, too
    assert log.stat().st_size < 1.5 * log_size

"""Runs that are cut short in the middle of something delicate, and go on."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import datamorphic as dm
from datamorphic.runs import journal as journals
from datamorphic.runs.driver import drive
from datamorphic.runs.flow import ask
from datamorphic.runs.store import Store
from datamorphic.space.outputs import Status
from datamorphic.systems import isolation as isolated
from support.cases import LONG

NUMBERS = dm.Space([dm.Integer("n", 0, 10_000)])


class Cut(BaseException):
    """What ends a run and is nobody's fault."""


def saved(front, path):
    front.save(path)
    return Path(path).read_bytes()


def cut_after(pieces, monkeypatch):
    """Let a run end right after some pieces were kept."""
    plain = journals.RunJournal.keep
    left = [pieces]

    def keep(self, piece, solved):
        plain(self, piece, solved)
        left[0] -= 1
        if left[0] == 0:
            raise Cut

    monkeypatch.setattr(journals, "WRITE_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(journals.RunJournal, "keep", keep)


@pytest.fixture(scope="module")
def squares():
    inputs, labels = make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=0
    )
    return pd.DataFrame(inputs, columns=list("abcd")), labels


@pytest.fixture(scope="module")
def pairwise(squares):
    """A model whose decision values are a pair of classes each, options, and its whole front."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        machine = SVC(decision_function_shape="ovo", probability=True, random_state=0)
        model = GridSearchCV(machine, {"C": [1.0]}, cv=2).fit(*squares)
    options = {"walks": 20, "seed": 1, "walk_distance": 8, "max_halvings": 8}
    return model, options, dm.explore(model, squares[0], **options)


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [2, 3, 12, 26] if LONG else [3, 12])  # after the first scores; among labels
def test_a_model_whose_scores_turned_out_to_be_others_goes_on(pieces, squares, pairwise, tmp_path, monkeypatch):
    """Its decision values are a pair of classes each, so probabilities are asked for instead, then and after a cut."""
    frame, (model, options, whole) = squares[0], pairwise
    assert len(whole) > 5
    with monkeypatch.context() as patched:
        cut_after(pieces, patched)
        with pytest.raises(Cut):
            dm.explore(model, frame, store=tmp_path / "runs.sqlite", **options)
    again = dm.explore(model, frame, store=tmp_path / "runs.sqlite", resume=1, **options)
    assert saved(again, tmp_path / "f") == saved(whole, tmp_path / "g")
    assert (again.calls, again.tally.health) == (whole.calls, whole.tally.health)


@pytest.mark.slow
def test_a_model_that_counts_its_questions_is_still_the_same(squares, tmp_path, monkeypatch):
    frame, labels = squares
    model = KNeighborsClassifier().fit(frame, labels)
    options = {"walks": 20, "max_halvings": 8, "strategy": "random_target", "store": tmp_path / "runs.sqlite"}
    with monkeypatch.context() as patched:
        cut_after(4, patched)
        with pytest.raises(Cut):
            dm.explore(model, frame, **options)
    assert len(dm.explore(model, frame, resume=1, **options))
    other = KNeighborsClassifier(7).fit(frame, labels)
    with monkeypatch.context() as patched:
        cut_after(4, patched)
        with pytest.raises(Cut):
            dm.explore(model, frame, **options)
    with pytest.raises(dm.errors.StoreError, match="model has changed"):
        dm.explore(other, frame, resume=2, **options)


def test_code_that_has_changed_is_noticed(tmp_path, monkeypatch):
    """An object is what it holds and what its class does."""
    program = "class M:\n    classes_ = [0, 1]\n    def predict(self, frame):\n        return (frame['n'] > {}) * 1\n"
    (tmp_path / "changing_model.py").write_text(program.format(50))
    monkeypatch.syspath_prepend(tmp_path)
    import changing_model

    options = {"walks": 20, "store": tmp_path / "runs.sqlite"}
    with monkeypatch.context() as patched:
        cut_after(2, patched)
        with pytest.raises(Cut):
            dm.explore(changing_model.M(), NUMBERS, **options)
    (tmp_path / "changing_model.py").write_text(program.format(60))
    with pytest.raises(dm.errors.StoreError, match="model has changed"):
        dm.explore(changing_model.M(), NUMBERS, resume=1, **options)
    sys.modules.pop("changing_model")


@pytest.mark.slow
@pytest.mark.parametrize("engine", [None, "processes:2"] if LONG else ["processes:2"])
def test_sorted_data_whose_first_rows_fail_and_the_rest_is_slow(engine):
    """The lane that looks whether anything is answered must not be in use by another."""

    def model(frame):
        if (frame["n"] < 30).any():
            raise ValueError("too small")
        time.sleep(0.1)
        return frame["n"] % 2

    cases = NUMBERS.points(pd.DataFrame({"n": np.arange(60)}))
    outputs = drive(ask(cases), dm.wrap(model, space=NUMBERS), engine=engine, batch=12, timeout=60, recheck=0)
    assert np.flatnonzero(outputs.status).tolist() == list(range(30))
    assert set(outputs.status[:30]) == {Status.ERROR}


def loky_children(parent):
    process_list = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return [
        int(line.split()[0]) for line in process_list.stdout.splitlines() if "loky" in line and "resource" not in line
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # semaphores that it did not live to see
def test_a_worker_that_is_killed_while_it_starts_is_started_again():
    killed = []

    def kill():
        deadline = time.monotonic() + 30
        while not killed and time.monotonic() < deadline:
            for pid in loky_children(os.getpid()):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    cases = NUMBERS.points(pd.DataFrame({"n": np.arange(20)}))
    outputs = drive(ask(cases), dm.wrap(lambda frame: frame["n"] % 2, space=NUMBERS), engine="processes:1")
    killer.join()
    assert killed
    assert outputs.ok.all()


def test_what_cannot_be_sent_is_said_to_be_so(monkeypatch):
    class Stubborn:
        classes_ = np.array([0, 1])

        def predict(self, frame):
            return frame["n"] % 2

        def __getstate__(self):
            raise ValueError("not me")

    cases = NUMBERS.points(pd.DataFrame({"n": np.arange(20)}))
    with pytest.raises(dm.errors.ModelError, match="pickle"):
        drive(ask(cases), dm.wrap(Stubborn(), space=NUMBERS), engine="processes:1")


PROGRAM = """
import sys, time
import datamorphic as dm

class Slow:  # it has classes, so it need not be tried in a process of its own before the workers start
    classes_ = [False, True]

    def predict(self, frame):
        time.sleep(0.05)
        return frame["n"] % 2 == 0

space = dm.Space([dm.Integer("n", 0, 1000)])
front = dm.explore(Slow(), space, walks=40, batch=10, engine="processes:1", progress=False)
print("told", len(front), front.tally.interrupted, flush=True)
"""


def started(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen([sys.executable, str(tmp_path / "program.py")], **options)
    deadline = time.monotonic() + 60
    while not loky_children(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return process


@pytest.mark.slow
def test_control_c_while_workers_start_is_a_control_c(tmp_path):
    process = started(tmp_path)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: parent and workers
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert out.startswith("told")
    assert "True" in out


@pytest.mark.slow
def test_a_store_that_fails_on_the_way_leaves_a_run_that_can_go_on(tmp_path, monkeypatch):
    options = {"strategy": "random_walk", "walks": 30, "batch": 20, "store": tmp_path / "runs.sqlite"}
    whole = dm.explore(dm.subjects["Box 2"], strategy="random_walk", walks=30, batch=20)
    from datamorphic.runs.store import Store

    with monkeypatch.context() as patched:
        patched.setattr(journals, "WRITE_INTERVAL_SECONDS", 0.0)
        plain, left = Store.commit, [6]

        def commit(self, *arguments, **more):
            left[0] -= 1
            if left[0] < 0:
                raise dm.errors.StoreError("the disk is full")
            return plain(self, *arguments, **more)

        patched.setattr(Store, "commit", commit)
        with pytest.raises(dm.errors.StoreError, match="disk is full"):
            dm.explore(dm.subjects["Box 2"], **options)
    again = dm.explore(dm.subjects["Box 2"], resume=1, **options)  # in the same process
    assert saved(again, tmp_path / "f") == saved(whole, tmp_path / "g")


@pytest.mark.parametrize("jump", [-10 * 86_400.0, 10 * 86_400.0], ids=["back", "forward"])
def test_setting_the_time_of_the_computer_changes_nothing(jump, tmp_path, monkeypatch):
    """The date jumps by days at every look, during a run with a budget of time that nobody else may claim."""
    wall_time, looks, claims = time.time, itertools.count(), []

    def decide(frame):
        if Path(tmp_path, "runs.db").exists():
            with Store.open(tmp_path / "runs.db") as store, pytest.raises(dm.errors.StoreError, match="still running"):
                claims.append(store.claim(1))
        return (frame["n"] > 5_000).to_numpy()

    options = {"walks": 3, "max_halvings": 3, "budget": "1h", "progress": False}
    expected = dm.explore(decide, NUMBERS, **options)
    monkeypatch.setattr(time, "time", lambda: wall_time() + jump * next(looks))
    front = dm.explore(decide, NUMBERS, store=tmp_path / "runs.db", **options)
    assert (front.runs, len(front), front.tally.exhausted) == (expected.runs, len(expected), False)
    with Store.open(tmp_path / "runs.db") as store:
        run = store.run(1)
    assert (run.state, claims) == ("finished", [])
    assert run.seconds == front.seconds < 3600


def test_a_coarse_clock_divides_nothing_by_zero(clock):
    assert dm.explore(dm.subjects["Box 1"], walks=10, max_halvings=4, batch=20, engine="threads:2").runs
    assert isolated.MAX_START_ATTEMPTS > 1

"""The same seed gives the same front on every engine, byte for byte; lost workers change nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.runs.driver import CallCounter, drive
from datamorphic.runs.engine_base import Engine
from datamorphic.runs.engines import make_engine
from datamorphic.runs.flow import ask
from datamorphic.space.outputs import Status
from datamorphic.systems.isolation import IsolatedSystem
from support.cases import LONG
from support.waiting import wait_until

NUMBERS = dm.Space([dm.Integer("n", 0, 10_000)])
MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "neighbours": KNeighborsClassifier(),
    "svm": SVC(),
}


@pytest.fixture(scope="module")
def wine():
    return dm.data.load("wine")


def saved(front, path):
    front.save(path)
    return Path(path).read_bytes()


def alive(pids):
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and _state(pid) != "Z"]


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def children():
    """The child processes, without the resource trackers of Python and joblib, which stay."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(os.getpid())]
    processes = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return {int(line.split()[0]) for line in processes if "resource_tracker" not in line}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS if LONG else ["tree"])
def test_fronts_are_the_same_on_all_engines(name, wine, tmp_path):
    model = MODELS[name].fit(wine.drop(columns="target"), wine["target"])
    options = {
        "target": "target",
        "walks": 20,
        "batch": 10,
        "strategy": "random_walk" if name == "logistic" else "auto",
    }
    alone = saved(dm.explore(model, wine, **options), tmp_path / "f")
    assert saved(dm.explore(model, wine, engine="threads:3", **options), tmp_path / "f") == alone


@pytest.mark.slow
def test_answers_of_several_processes_are_those_of_one(wine, tmp_path):
    inputs = wine.drop(columns="target")
    means, rng = inputs.mean().to_numpy(), np.random.default_rng(0)
    scales, hidden, last = inputs.std().to_numpy(), rng.normal(size=(13, 30)), rng.normal(size=(30, 3))

    class Network:  # here, as the next ones: a process that need not import scikit-learn starts in half the time
        classes_ = np.array([0, 1, 2])

        def decision_function(self, frame):
            return np.tanh((frame.to_numpy() - means) / scales @ hidden) @ last

        def predict(self, frame):
            return self.decision_function(frame).argmax(axis=1)

    class Several:
        classes_ = np.array([False, True])

        def predict(self, frame):
            return np.column_stack([frame["flavanoids"] > 2, frame["alcohol"] > 13])

    class Numbers:
        def predict(self, frame):
            return np.floor(frame["alcohol"] * frame["flavanoids"] / 5)

    before = children()
    runs = [
        (Network(), "processes:2", {"walks": 30}),
        (Several(), "processes:1", {"strategy": "random_walk", "walks": 20}),
        (Numbers(), "processes:1", {"strategy": "random_walk", "walks": 20, "jump": 0.3}),
    ]
    for model, engine, more in runs if LONG else runs[:1]:
        alone = dm.explore(model, inputs, batch=20, **more)
        shared = dm.explore(model, inputs, batch=20, engine=engine, **more)
        assert saved(shared, tmp_path / "f") == saved(alone, tmp_path / "g")
        assert len(alone)
        assert not alive(children() - before)  # no worker is left behind


@pytest.mark.slow
def test_what_a_system_finds_out_about_itself_is_known_here_too():
    class Several:
        classes_ = np.array([False, True])  # of each of its labels

        def predict(self, frame):
            return np.column_stack([frame["n"] > 2, frame["n"] > 3])

    isolated = IsolatedSystem(dm.wrap(Several(), space=NUMBERS))
    assert isolated.labels == (False, True)
    isolated.execute(pd.DataFrame({"n": [1, 2, 3]}))
    isolated.close()
    assert isolated.labels is None


@pytest.mark.slow
def test_a_system_that_kills_its_worker_is_reported_as_such():
    def faulty(frame):  # here, so that it travels as it is: a process would import this whole file
        if (frame["n"] == 31).any():
            os._exit(1)
        if (frame["n"] == 27).any():
            raise ValueError("twenty-seven")
        return frame["n"] % 2

    numbers = np.array([1, 27, 30, 31])
    cases = NUMBERS.points(pd.DataFrame({"n": numbers}))
    outputs = drive(ask(cases), dm.wrap(faulty, space=NUMBERS), engine="processes:1", batch=2)
    failures = {int(row): Status(outputs.status[row]) for row in np.flatnonzero(outputs.status)}
    assert failures == {1: Status.ERROR, 3: Status.DIED}
    assert "process ended" in outputs.messages[3]
    np.testing.assert_array_equal(outputs.values[outputs.ok], numbers[outputs.ok] % 2)


@pytest.mark.slow
def test_a_worker_that_is_lost_once_is_replaced(tmp_path):
    """A batch whose process is killed from outside is asked again, whole, and nobody sees a difference."""

    def model(frame):
        flag = tmp_path / "killed"
        if (frame["n"] == 120).any() and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return frame["n"] % 3

    cases = NUMBERS.points(pd.DataFrame({"n": np.arange(400)}))
    tally = CallCounter()
    outputs = drive(ask(cases), dm.wrap(model, space=NUMBERS), engine="processes:1", batch=50, tally=tally)
    assert outputs.ok.all()
    np.testing.assert_array_equal(outputs.values, np.arange(400) % 3)
    assert (tally.calls, tally.health.status_counts, tally.health.remarks) == (400, {}, [])


@pytest.mark.parametrize("engine", [None, "threads:3"])
def test_rows_that_fail_are_the_same_whoever_answers(engine):
    def model(frame):
        if (frame["n"] < 60).any():  # sorted data: the first batches fail as a whole
            raise ValueError("too small")
        return frame["n"] % 2

    cases = NUMBERS.points(pd.DataFrame({"n": np.arange(200)}))
    outputs = drive(ask(cases), dm.wrap(model, space=NUMBERS), engine=engine, batch=25)
    assert np.flatnonzero(~outputs.ok).tolist() == list(range(60))

    def dead(frame):
        raise KeyError("nothing")

    with pytest.raises(dm.errors.SystemFailed, match="all 25 rows"):
        drive(ask(cases), dm.wrap(dead, space=NUMBERS), engine=engine, batch=25)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads:2", "processes:1"])
def test_wrong_use_found_by_a_worker_is_wrong_use(engine, wine):
    class Picky:
        classes_ = np.array([0, 1])

        def predict(self, frame):
            raise dm.errors.ModelError("fitted on other columns")

    with pytest.raises(dm.errors.ModelError, match="other columns"):
        dm.explore(Picky(), wine, target="target", walks=200, batch=20, engine=engine, strategy="random_walk")


@pytest.mark.parametrize(
    ("name", "workers", "expected"),
    [
        (None, None, "serial"),
        (None, 1, "serial"),
        (None, 3, "processes:3"),
        ("processes:2", None, "processes:2"),
        ("processes", 4, "processes:4"),
        ("threads", 2, "threads:2"),
        ("serial", 1, "serial"),
    ],
)
def test_engines_by_name(name, workers, expected):
    engine = make_engine(name, workers)
    assert isinstance(engine, Engine)
    assert engine.name == expected
    assert make_engine(engine) is engine


@pytest.mark.parametrize(
    ("name", "workers", "message"),
    [
        ("cluster", None, "'processes:2'"),
        ("processes:0", None, "workers"),
        ("processes:2", 3, "contradicts"),
        ("serial", 2, "processes:2"),
        ("dask://127.0.0.1:1", 2, "Leave workers out"),
        (3, None, "engine"),
        ("processes:x", None, "engine"),
        (None, 0, "workers"),
    ],
)
def test_engines_that_cannot_be(name, workers, message):
    with pytest.raises(dm.errors.ArgumentError, match=message):
        make_engine(name, workers)


def test_a_thread_cannot_be_stopped(wine):
    with pytest.raises(dm.errors.ArgumentError, match="processes"):
        dm.explore(dm.subjects["Box 1"], walks=10, engine="threads:2", timeout=1.0)


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(tmp_path):
    program = tmp_path / "parent.py"
    program.write_text(
        "import os, time\n"
        "import datamorphic as dm\n"
        "from datamorphic.runs.driver import drive\n"
        "from datamorphic.runs.flow import ask\n"
        "space = dm.Space([dm.Integer('n', 0, 9)])\n"
        f"def model(frame):\n    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n    time.sleep(100)\n"
        "drive(ask(space.sample(5, points=True)), dm.wrap(model, space=space), engine='processes:1')\n"
    )
    parent = subprocess.Popen([sys.executable, program], stderr=subprocess.DEVNULL)
    file = tmp_path / "pid"
    wait_until(lambda: parent.poll() is not None or (file.exists() and file.read_text()), "a query")
    worker = int(file.read_text())
    parent.kill()
    parent.wait()
    wait_until(lambda: not alive([worker]), "the end of the worker")

"""Runs on a Dask cluster: the same fronts, whoever is lost on the way."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.runs.driver import drive
from datamorphic.runs.flow import ask
from datamorphic.space.outputs import Status
from support.cases import LONG

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'datamorphic[dask]'")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of workers that are killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed.*"),
]

NUMBERS = dm.Space([dm.Integer("n", 0, 10_000)])


@pytest.fixture(scope="module")
def client():
    options = {"dashboard_address": ":0", "silence_logs": 50}
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options)
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def address(client):
    return client.scheduler.address.replace("tcp://", "dask://")


def saved(front, path):
    front.save(path)
    return Path(path).read_bytes()


def test_a_cluster_gives_the_same_front(client, address, tmp_path):
    inputs, options = (
        dm.data.load("wine").drop(columns="target"),
        {"strategy": "random_walk", "walks": 100, "batch": 50},
    )
    means, rng = inputs.mean().to_numpy(), np.random.default_rng(0)
    scales, hidden, last = inputs.std().to_numpy(), rng.normal(size=(13, 30)), rng.normal(size=(30, 3))

    class Network:  # here, so that no worker has to import scikit-learn
        classes_ = np.array([0, 1, 2])

        def decision_function(self, frame):
            return np.tanh((frame.to_numpy() - means) / scales @ hidden) @ last

        def predict(self, frame):
            return self.decision_function(frame).argmax(axis=1)

    whole = dm.explore(Network(), inputs, **options)
    assert len(whole)
    alone = saved(whole, tmp_path / "f")
    for engine in (client, address):  # processes: tests/runs/test_engines.py
        assert saved(dm.explore(Network(), inputs, engine=engine, **options), tmp_path / "f") == alone


def test_the_command_gives_the_same_front_with_one_and_with_dask_workers(address, tmp_path):
    words = ["explore", "--subject", "Box 2", "--strategy", "random_walk", "--walks", "150", "--batch", "30"]
    ways = {"one": ["--workers", "1"], "dask": ["--engine", address]}
    for name, more in ways.items():
        done = CliRunner().invoke(app, [*words, *more, "--store", "none", "--json", "--save", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
    assert len({(tmp_path / name).read_bytes() for name in ways}) == 1


def test_killing_a_worker_changes_nothing(client, tmp_path):
    def slow(frame):
        time.sleep(0.02)
        return np.where(frame["x"] ** 2 + frame["y"] > 20, "in", "out")

    space = dm.Space([dm.Continuous("x", -6, 6), dm.Continuous("y", -6, 6)])
    options = {"strategy": "random_walk", "walks": 200, "batch": 40, "max_halvings": 10, "walk_distance": 10}
    alone = saved(dm.explore(slow, space, **options), tmp_path / "f")
    killed = []

    def kill():
        time.sleep(0.7)
        pids = client.run(os.getpid)
        victim = sorted(pids)[0]
        killed.append(victim)
        os.kill(pids[victim], 9)

    killer = threading.Thread(target=kill)
    killer.start()
    shared = dm.explore(slow, space, engine=client, **options)
    killer.join()
    assert killed
    assert saved(shared, tmp_path / "g") == alone
    client.wait_for_workers(2, timeout=60)  # its nanny has replaced it


def test_a_module_the_workers_do_not_have_goes_with_the_system(client, tmp_path, monkeypatch):
    (tmp_path / "my_private_system.py").write_text("def model(frame):\n    return frame['n'] % 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    import my_private_system

    cases = NUMBERS.points(pd.DataFrame({"n": np.arange(50)}))
    outputs = drive(ask(cases), dm.wrap(my_private_system.model, space=NUMBERS), engine=client)
    np.testing.assert_array_equal(outputs.values, np.arange(50) % 2)
    sys.modules.pop("my_private_system")


def test_workers_are_compared_with_this_machine(address, monkeypatch):
    same = CliRunner().invoke(app, ["worker-check", address])
    assert same.exit_code == 0
    assert "2 workers, all with the versions of this machine" in same.output
    from datamorphic.runs import dask_engine as cluster

    here = cluster.read_versions()
    monkeypatch.setattr(cluster, "read_versions", lambda: here | {"numpy": "1.0", "no-such-package": "2.0"})
    other = CliRunner().invoke(app, ["worker-check", address, "--json"])
    assert other.exit_code == 1
    differences = {(row["package"], row["here"], row["there"]) for row in json.loads(other.output)["differences"]}
    assert differences == {("numpy", "1.0", here["numpy"]), ("no-such-package", "2.0", "missing")}


def test_a_cluster_that_is_not_there(monkeypatch):
    monkeypatch.setattr("datamorphic.runs.dask_engine.CONNECT_TIMEOUT_SECONDS", 1)
    with pytest.raises(dm.errors.ArgumentError, match="dask scheduler"):
        dm.explore(dm.subjects["Box 1"], walks=5, engine="dask://127.0.0.1:1")


def test_a_cluster_without_workers():
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        with pytest.raises(dm.errors.ArgumentError, match="no workers"):
            dm.explore(dm.subjects["Box 1"], walks=5, engine=address)
        assert CliRunner().invoke(app, ["worker-check", address]).exit_code == 2


def test_a_system_that_hangs_or_dies_is_told_row_by_row(
    client, address, monkeypatch
):  # the last test: it harms the cluster
    # one death is enough: a new worker takes seconds to start
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)

    def lethal(frame):
        if (frame["n"] == 31).any():
            os._exit(1)
        return frame["n"] % 2

    def hanging(frame):
        if (frame["n"] == 13).any():
            time.sleep(600)
        return frame["n"] % 2

    for system, row, status, options in (
        *([(hanging, 13, Status.TIMEOUT, {"timeout": 1.0})] if LONG else []),
        (lethal, 31, Status.DIED, {}),
    ):
        cases = NUMBERS.points(pd.DataFrame({"n": [row - 1, row]}))
        outputs = drive(ask(cases), dm.wrap(system, space=NUMBERS), engine=address, batch=1, **options)
        assert {int(i): Status(outputs.status[i]) for i in np.flatnonzero(outputs.status)} == {1: status}

"""The run store on PostgreSQL: what is so only there. All the rest is in tests/runs/test_store.py, for both."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import StoreError
from datamorphic.runs import errors as store_errors
from datamorphic.runs import journal
from datamorphic.runs.store import Store
from support.cases import LONG

pytest_plugins = ["support.postgres"]
pytestmark = pytest.mark.slow
psycopg = pytest.importorskip("psycopg", reason="pip install 'datamorphic[postgres]'")


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("DATAMORPHIC_ARTIFACTS", raising=False)


def write(path):
    path.write_text("text")
    return 1


def finished(store):
    run = store.begin("explore", "m", {})
    store.finish(run, "finished", artifacts={"a.txt": write})
    return run


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_schemes(postgres_url, scheme):
    with Store.open(postgres_url.replace("postgresql", scheme, 1)) as store:
        assert "hunter2" not in store.url
        assert "ada:***@127.0.0.1" in store.url
        assert store.begin("explore", "m", {}) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("hunter2", "hunter2wrong", "cannot be reached.*password authentication failed"),
        ("/test_", "/hunter2_", "cannot be reached.*does not exist"),
        ("ada:", "nobody:", "cannot be reached"),
    ],
)
def test_doors_that_stay_shut(postgres_url, old, new, message):
    with pytest.raises(StoreError, match=message) as caught:
        Store.open(postgres_url.replace(old, new))
    assert ":hunter2" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    assert "\n" not in str(caught.value)


def test_no_right_to_make_tables(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'hunter2'")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    with pytest.raises(StoreError, match=r"denies access.*Ask its administrator"):
        Store.open(postgres_url.replace("ada:", "guest:"))


def test_a_database_with_other_tables(postgres_url):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE bookmarks (url text)")
    with Store.open(postgres_url) as store:
        assert store.begin("explore", "m", {}) == 1


def test_a_database_with_other_tables_of_our_names(postgres_url):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE runs (distance float)")
    with pytest.raises(StoreError, match="another program: it has a table 'runs'"):
        Store.open(postgres_url)


def test_a_connection_that_broke_is_made_again(postgres_url):
    with Store.open(postgres_url) as store:
        run = finished(store)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
            connection.execute(f"SELECT pg_terminate_backend(pid) {others}")
        assert [item.id for item in store.runs()] == [run]


def test_a_server_that_is_restarted_ends_no_run(postgres_server, postgres_url):
    with Store.open(postgres_url) as store:
        run = store.begin("explore", "m", {})
        assert postgres_server.control("-m", "fast", "stop")
        restarted = Thread(target=lambda: (time.sleep(1), postgres_server.control("start")))
        restarted.start()
        store.commit(run, runs=1)
        restarted.join()
        assert store.run(run).runs == 1


def test_a_server_that_ends_in_the_middle(postgres_server, postgres_url):
    with Store.open(postgres_url) as store:
        tries = []

        def work(connection):
            connection.execute("CREATE TABLE IF NOT EXISTS notes (note text)")
            connection.execute("INSERT INTO notes VALUES ('once')")
            if not tries:
                tries.append(1)
                assert postgres_server.control("-m", "fast", "restart")
            return connection.execute("SELECT * FROM notes").fetchall()

        assert store.database.write(work) == [("once",)]


def test_ctrl_c_during_a_statement(postgres_url):
    def interrupt(*_):
        raise KeyboardInterrupt

    with Store.open(postgres_url) as store:
        run = store.begin("explore", "m", {})
        previous = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            with pytest.raises(KeyboardInterrupt):
                store.database.write(lambda connection: connection.execute("SELECT pg_sleep(600)"))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
        store.finish(run, "interrupted", message="stopped by the user")
        assert store.run(run).state == "interrupted"


def test_a_server_that_does_not_come_back(postgres_server, postgres_url, monkeypatch):
    monkeypatch.setattr(store_errors, "MAX_SERVER_WAIT_SECONDS", 0.5)
    with Store.open(postgres_url) as store:
        run = store.begin("explore", "m", {})
        assert postgres_server.control("-m", "fast", "stop")
        try:
            with pytest.raises(StoreError, match=f"cannot be reached.*runs resume {run}") as caught:
                store.commit(run)
            assert "hunter2" not in "".join(traceback.format_exception(caught.value))
            monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail(f"waited for {seconds} s"))
            with pytest.raises(StoreError, match="cannot be reached"):  # nobody waits for what was never there
                Store.open(postgres_url)
        finally:
            assert postgres_server.control("start")


def test_nobody_waits_at_a_door_that_is_shut(postgres_url, monkeypatch):
    with Store.open(postgres_url) as store, psycopg.connect(postgres_url, autocommit=True) as connection:
        run = store.begin("explore", "m", {})
        try:
            connection.execute("ALTER ROLE ada PASSWORD 'another'")
            store.database.close()  # connects anew
            pauses = []
            monkeypatch.setattr(time, "sleep", pauses.append)
            with pytest.raises(StoreError, match="password authentication failed"):
                store.commit(run)
            assert len(pauses) == 1  # at the first refusal, the server may have been starting
        finally:
            connection.execute("ALTER ROLE ada PASSWORD 'hunter2'")


def test_files_in_memory_are_refused(postgres_url, monkeypatch):
    with pytest.raises(StoreError, match="memory://: they would be lost with this process"):
        Store.open(f"{postgres_url}?artifacts=memory://files")
    monkeypatch.setenv("DATAMORPHIC_ARTIFACTS", "memory://files")
    with pytest.raises(StoreError, match="memory://"):
        Store.open(postgres_url)


def test_files_that_are_looked_for_elsewhere(postgres_url, tmp_path):
    with Store.open(f"{postgres_url}?artifacts={tmp_path}/one") as store:
        run = finished(store)
    with Store.open(f"{postgres_url}?artifacts={tmp_path}/two") as store:
        message = rf"is missing\. It was written to {tmp_path}/one\. .*\?artifacts=.*DATAMORPHIC_ARTIFACTS"
        with pytest.raises(StoreError, match=message), store.fetch(run, "a.txt"):
            pass


def test_a_store_of_the_first_schema(postgres_url):
    with Store.open(postgres_url) as store:
        run = finished(store)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("ALTER TABLE artifacts DROP COLUMN root")
        connection.execute("UPDATE schema SET version = 1")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN PASSWORD 'hunter2'")
    as_reader = postgres_url.replace("ada:", "reader:")
    with pytest.raises(StoreError, match=r"earlier version of datamorphic \(schema 1.*cannot be upgraded"):
        Store.open(as_reader, reading=True)
    with Store.open(postgres_url) as store, store.fetch(run, "a.txt") as path:
        assert path.read_text() == "text"
    with Store.open(as_reader, reading=True) as store:
        assert [item.id for item in store.runs()] == [run]


def test_two_make_the_tables_at_once(postgres_url):
    code = (
        "import psycopg, sys; from datamorphic.runs.store import Store\n"
        "print('ready', flush=True); input(); Store.open(sys.argv[1]).begin('e', 'm', {})"
    )
    pipe = subprocess.PIPE
    for _ in range(5 if LONG else 1):
        pair = [
            subprocess.Popen([sys.executable, "-c", code, postgres_url], stdin=pipe, stdout=pipe, stderr=pipe)
            for _ in range(2)
        ]
        assert [process.stdout.readline() for process in pair] == [b"ready\n"] * 2  # so that they really meet
        for process in pair:
            process.stdin.write(b"\n")
            process.stdin.flush()
        assert [process.communicate()[1] for process in pair] == [b"", b""]
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)
            assert connection.execute("SELECT version FROM schema").fetchall() == [(2,)]
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")


def test_files_stay_on_their_host_by_default(postgres_url, tmp_path, monkeypatch):
    with Store.open(postgres_url) as store:
        run = finished(store)
        with store.fetch(run, "a.txt") as path:
            assert path.is_relative_to(tmp_path)
        monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
        with pytest.raises(StoreError, match=r"on the host .*\?artifacts=.*DATAMORPHIC_ARTIFACTS"):
            store.fetch(run, "a.txt")


def test_files_in_a_folder_that_is_shared(postgres_url, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_ARTIFACTS", str(tmp_path / "by-variable"))
    with Store.open(postgres_url) as store:
        run = finished(store)
        monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
        with store.fetch(run, "a.txt") as path:
            assert path.is_relative_to(tmp_path / "by-variable")
    with Store.open(f"{postgres_url}?artifacts={tmp_path}/by-url&application_name=test") as store:
        assert "by-url" not in store.url
        with store.fetch(finished(store), "a.txt") as path:
            assert path.is_relative_to(tmp_path / "by-url")


def test_files_at_a_url(postgres_url, tmp_path):
    pytest.importorskip("fsspec", reason="pip install fsspec")
    with Store.open(f"{postgres_url}?artifacts=file://{tmp_path}/remote") as store:
        run = finished(store)
        with store.fetch(run, "a.txt") as path:
            assert path.read_text() == "text"
        (file,) = (path for path in Path(tmp_path, "remote").rglob("*") if path.is_file())
        file.write_text("tex")
        with pytest.raises(StoreError, match="3 bytes instead of 4"), store.fetch(run, "a.txt"):
            pass
        store.remove(run)
        assert not file.exists()


def test_two_stores_share_a_folder(postgres_url, tmp_path):
    with (
        Store.open(f"{postgres_url}?artifacts={tmp_path}/one.sqlite.files") as store,
        Store.open(tmp_path / "one.sqlite") as other,
    ):
        assert finished(store) == finished(other) == 1
        store.remove(1)
        with other.fetch(1, "a.txt") as path:
            assert path.read_text() == "text"


# -- servers that are lost in the middle of a run ------------------------------------------------------------------------


class ActingModel:
    """A model that counts its calls, and runs `action` at one of them."""

    classes_ = np.array(["in", "out"])

    def __init__(self, at=0, action=None):
        self.calls, self.at, self.action = 0, at, action

    def __getstate__(self):  # the same model, whatever happens beside it
        return {}

    def predict(self, frame):
        self.calls += 1
        if self.calls == self.at:
            self.action()
        return np.where(frame["x"] ** 2 + frame["y"] > 2, "in", "out")


SQUARE = dm.Space([dm.Continuous("x", 0, 2), dm.Continuous("y", 0, 2)])


def explore(model, store, resume=None):
    options = {"walks": 40, "strategy": "random_walk", "batch": 20, "seed": 1, "progress": False}
    return dm.explore(model, SQUARE, store=store, resume=resume, **options)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_run_whose_server_is_lost_goes_on_when_it_is_back(
    share, postgres_server, postgres_url, tmp_path, monkeypatch
):
    monkeypatch.setattr(store_errors, "MAX_SERVER_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(journal, "WRITE_INTERVAL_SECONDS", 0.0)
    url = f"{postgres_url}?artifacts={tmp_path}"
    plain = ActingModel()
    whole = explore(plain, url)
    lost = ActingModel(int(share * plain.calls), lambda: postgres_server.control("-m", "immediate", "stop"))
    try:
        with pytest.raises(StoreError, match=r"cannot be reached.*then: datamorphic runs resume 2 --store"):
            explore(lost, url)
    finally:
        assert postgres_server.control("start")
    with Store.open(url) as store:
        assert store.run(2).state != "finished"
        assert sum(1 for _ in store.entries(2)) > 0
    resumed = ActingModel()
    pd.testing.assert_frame_equal(explore(resumed, url, resume=2).pairs, whole.pairs)
    assert resumed.calls < plain.calls
    with Store.open(url) as store:
        assert store.run(2).state == "finished"


def test_a_run_whose_connections_are_ended_notices_nothing(postgres_url, tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "WRITE_INTERVAL_SECONDS", 0.0)
    url = f"{postgres_url}?artifacts={tmp_path}"

    def end_connections():
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            others = "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity {others}")

    whole = explore(ActingModel(), url)
    ended = explore(ActingModel(10, end_connections), url)
    pd.testing.assert_frame_equal(ended.pairs, whole.pairs)
    with Store.open(url) as store:
        assert [run.state for run in store.runs()] == ["finished", "finished"]


@pytest.mark.parametrize(
    "test", [lambda *case, **options: dm.test(*case, only="answers", **options), dm.check], ids=["test", "check"]
)
def test_a_run_whose_store_is_lost_is_resumed(test, postgres_server, postgres_url, monkeypatch):
    monkeypatch.setattr(store_errors, "MAX_SERVER_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(journal, "WRITE_INTERVAL_SECONDS", 0.0)
    frame = SQUARE.sample(60, seed=0)
    whole = test(ActingModel(), frame, progress=False)
    model = ActingModel(4, lambda: postgres_server.control("-m", "immediate", "stop"))
    try:
        with pytest.raises(StoreError, match=r"The run store .* cannot be reached .* runs resume 1"):
            test(model, frame, store=postgres_url, progress=False)
    finally:
        assert postgres_server.control("start")
    resumed = test(ActingModel(), frame, store=postgres_url, resume=1, progress=False)
    assert resumed.document()["headline"] == whole.document()["headline"]
    with Store.open(postgres_url) as store:
        assert [run.state for run in store.runs()] == ["finished"]

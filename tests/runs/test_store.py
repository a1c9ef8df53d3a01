"""The run store: nothing half-written, nothing lost, nothing leaked; on SQLite and on PostgreSQL."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamorphic._text import is_secret_name, redact, to_jsonable
from datamorphic._validation import reject
from datamorphic.errors import ArgumentError, StoreError
from datamorphic.runs import artifacts, database, failures
from datamorphic.runs import errors as store_errors
from datamorphic.runs import ownership as owners
from datamorphic.runs import store as store_module
from datamorphic.runs import tables as sql
from datamorphic.runs.run import JournalEntry
from datamorphic.runs.store import Store
from datamorphic.runs.tables import to_safe_json_value
from datamorphic.runs.url import get_default_path, read_store_variable

pytest_plugins = ["support.postgres"]

LONG = os.environ.get("DATAMORPHIC_LONG") == "1"
FOLDER = "0123456789abcdef"
NASTY = {"nul": "a\0b", "lone": "\ud800", "emoji": "🦜", "huge": 10**30, "nan": math.nan, "inf": -math.inf}


# Both where the database may make a difference; what is decided without one is tested `on_sqlite`.
@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def url(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "runs.sqlite")
    return f"{request.getfixturevalue('emptied_postgres_url')}?artifacts={tmp_path / 'files'}"


on_sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


@pytest.fixture
def store(url):
    with Store.open(url) as store:
        yield store


@pytest.fixture
def file(tmp_path):
    return tmp_path / "runs.sqlite"


def begun(store, **options):
    return store.begin("explore", "model.onnx", {"walks": 3}, **options)


def entry(ask=0, first=0, payload=b"answer"):
    return JournalEntry(
        ask=ask,
        first=first,
        pieces=2,
        rows=20,
        fingerprint="fingerprint",
        payload=payload,
        about={"state": [1, 2**70], "nan": math.nan},
    )


def writes(text="some rows", rows=3):
    def writer(path):
        path.write_text(text)
        return rows

    return writer


def change(store, run, **values):
    """Write into the row of a run behind the store's back."""
    store.database.write(lambda connection: connection.update(sql.runs, values, "id = :run", run=run))


def files_of(store):
    return sorted(path.name for path in Path(store._files.name).rglob("*") if path.is_file())


HELPER = """
import os, socket, sys
from importlib.util import find_spec
from datamorphic.errors import StoreError
from datamorphic.runs import tables as sql
from datamorphic.runs.run import JournalEntry
from datamorphic.runs.store import Store
from datamorphic.runs.failures import remember
if find_spec("psycopg"):
    import psycopg
def entry(ask, first, payload):
    return JournalEntry(ask=ask, first=first, pieces=1, rows=1, fingerprint="f", payload=payload, about={})
def follow():
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            exec(eval(line), globals())
        except StoreError as error:
            print("StoreError:", error, flush=True)
    os._exit(0)
door = socket.socket(fileno=int(sys.argv[1]))
while True:
    message, files, _, _ = socket.recv_fds(door, 64, 2)
    if not message:
        break
    if message == b"start":
        process = os.fork()
        if process == 0:
            door.close()
            for place, file in enumerate(files):
                os.dup2(file, place)
                os.close(file)
            follow()
        for file in files:
            os.close(file)
        door.send(str(process).encode())
    else:
        os.waitpid(int(message), 0)
        door.send(b"ended")
"""


class Helper:
    """Another process that does what it is told; a fork of one that has imported everything."""

    def __init__(self, door):
        (inside, mouth), (ear, outside) = os.pipe(), os.pipe()
        self._door, self._ended = door, False
        self._stdin, self.stdout = os.fdopen(mouth, "w"), os.fdopen(ear)
        socket.send_fds(door, [b"start"], [inside, outside])
        os.close(inside)
        os.close(outside)
        self.pid = int(door.recv(64))

    def run(self, code):
        self._stdin.write(f"{code!r}\n")
        self._stdin.flush()
        return self

    def hears(self):
        return self.stdout.readline().strip()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def wait(self):
        self._ended = True
        self._door.send(str(self.pid).encode())
        assert self._door.recv(64) == b"ended"

    def end(self):
        if not self._ended:
            self.kill()
            self.wait()
        self._stdin.close()
        self.stdout.close()


@pytest.fixture(scope="module")
def door():
    """The socket of a process that starts helpers."""
    if not hasattr(socket, "send_fds"):
        pytest.skip("POSIX only")
    here, there = socket.socketpair()
    with here, there:
        command = [sys.executable, "-W", "error", "-c", HELPER, str(there.fileno())]
        alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # a process with threads should not fork
        process = subprocess.Popen(command, pass_fds=[there.fileno()], env=alone)
        there.close()
        here.settimeout(120)  # a helper that does not answer fails the test
        yield here
    assert process.wait(120) == 0


@pytest.fixture
def helpers(door):
    processes = []

    def make(count=1):
        processes.extend(Helper(door) for _ in range(count))
        assert {helper.hears() for helper in processes[-count:]} == {"ready"}
        return processes[-count:]

    yield make
    for helper in processes:
        helper.end()


# -- a run from begin to end ---------------------------------------------------------------------------------------


def test_a_run_is_told_as_it_was_entered(store):
    run = begun(store, seed=2**128, versions={"numpy": "2"}, environment={"cpus": 2}, model_hash="m", data_hash="d")
    store.commit(run, done=0.25, runs=100, calls=90, seconds=1.5)
    store.finish(run, "finished", summary=NASTY, verdicts=[NASTY, {"b": 1}], seconds=2.5, message="fine")
    read = store.run(run)
    assert (read.verb, read.system, read.state, read.parameters) == ("explore", "model.onnx", "finished", {"walks": 3})
    assert (read.seed, read.versions, read.environment) == (2**128, {"numpy": "2"}, {"cpus": 2})
    assert (read.model_hash, read.data_hash, read.runs, read.calls) == ("m", "d", 100, 90)
    assert (read.seconds, read.done, read.message) == (2.5, 1.0, "fine")
    assert read.started.tzinfo is not None
    assert read.started <= read.ended
    assert (read.host, read.pid) == (socket.gethostname(), os.getpid())
    assert math.isnan(read.summary.pop("nan"))
    assert read.summary == {name: value for name, value in NASTY.items() if name != "nan"}
    assert [sorted(verdict) for verdict in read.verdicts] == [sorted(NASTY), ["b"]]
    assert read.to_json()["ended"] == read.ended.isoformat()
    assert [item.id for item in store.runs()] == [run]


def test_awkward_words_are_spelt_out(store):
    run = store.begin("explore\0", "a\0b\ud800🦜", {"\0\ud800": "\0\ud800", "path": Path("x"), "set": {1}})
    store.finish(run, "failed", message="a\0b\ud800🦜")
    read = store.run(run)
    assert read.system == read.message == "a\\x00b\\ud800🦜"
    assert read.parameters == {"\0\ud800": "\0\ud800", "path": "x", "set": [1]}


def test_numbers_of_numpy_and_numbers_without_end(store):
    np = pytest.importorskip("numpy")
    run = store.begin("explore", "m", {"n": np.int64(3), "x": np.arange(2.0), "long": 10**5000}, seed=np.int32(7))
    store.commit(run, [entry()], done=np.float32(0.5), runs=np.int64(5), calls=np.int64(4), seconds=np.float32(1))
    read = store.run(run)
    assert read.parameters == {"n": 3, "x": [0.0, 1.0], "long": hex(10**5000)}
    assert (read.seed, read.runs, read.calls, read.done, read.seconds) == (7, 5, 4, 0.5, 1.0)


def test_runs_come_oldest_first_and_numbers_are_not_given_again(store):
    first, second, third = begun(store), begun(store), begun(store)
    store.finish(third, "failed")
    store.remove(third)
    fourth = begun(store)
    assert fourth > third
    assert [run.id for run in store.runs()] == [first, second, fourth]


def test_progress_never_goes_back(store):
    run = begun(store)
    store.commit(run, done=0.5, runs=10, calls=9, seconds=3.0)
    store.commit(run)
    store.finish(run, "interrupted")
    read = store.run(run)
    assert (read.done, read.runs, read.calls, read.seconds) == (0.5, 10, 9, 3.0)


def test_the_journal_comes_in_order_and_whole(store, monkeypatch):
    monkeypatch.setattr(store_module, "JOURNAL_CHUNK_ENTRIES", 3)
    run, other = begun(store), begun(store)
    entries = [entry(ask, first, bytes([ask, first, 0, 255])) for ask in range(4) for first in (0, 5, 10)]
    for item in reversed(entries):
        store.commit(run, [item])
    store.commit(other, [entry()])
    read = list(store.entries(run))
    assert [(e.ask, e.first, e.pieces, e.rows, e.fingerprint, e.payload) for e in read] == [
        (e.ask, e.first, e.pieces, e.rows, e.fingerprint, e.payload) for e in entries
    ]
    assert read[0].about["state"] == [1, 2**70]
    assert math.isnan(read[0].about["nan"])


def test_a_large_journal_is_not_loaded_at_once(store, monkeypatch):
    monkeypatch.setattr(store_module, "JOURNAL_CHUNK_ENTRIES", 2)
    run = begun(store)
    store.commit(run, [entry(ask) for ask in range(10)])
    reading = store.entries(run)
    assert next(reading).ask == 0
    store.commit(run, [entry(99)])  # a reader is in nobody's way
    assert [item.ask for item in reading] == [*range(1, 10), 99]


@on_sqlite
def test_the_journal_stays_until_the_run_is_finished(store):
    run = begun(store)
    store.commit(run, [entry(0), entry(1)])
    for state, left in (("interrupted", 2), ("failed", 2), ("finished", 0)):
        store.finish(run, state)
        assert len(list(store.entries(run))) == left


def test_an_entry_twice_is_refused_and_changes_nothing(store):
    run = begun(store)
    store.commit(run, [entry()], runs=1)
    with pytest.raises(StoreError, match="failed"):
        store.commit(run, [entry(7), entry()], runs=2)
    assert [item.ask for item in store.entries(run)] == [0]
    assert store.run(run).runs == 1


@pytest.mark.slow
@on_sqlite
def test_states_are_checked(store):
    with pytest.raises(ArgumentError, match="'finished', 'interrupted', 'failed'"):
        store.finish(begun(store), "done")


def test_a_second_ending_replaces_the_first(store):
    run = begun(store)
    store.finish(run, "interrupted", artifacts={"a.txt": writes("old"), "b.txt": writes()}, verdicts=[{"v": 1}] * 3)
    assert store.claim(run).state == "running"
    assert store.run(run).ended is None
    store.finish(run, "finished", artifacts={"a.txt": writes("new", 5)}, verdicts=[{"v": 2}], summary={"s": 1})
    read = store.run(run)
    assert (read.verdicts, read.summary, read.state) == ([{"v": 2}], {"s": 1}, "finished")
    assert [(artifact.name, artifact.rows, artifact.bytes) for artifact in read.artifacts] == [("a.txt", 5, 3)]
    assert len(files_of(store)) == 1
    with store.fetch(run, "a.txt") as path:
        assert path.read_text() == "new"


def test_a_removed_run_leaves_nothing(store):
    run = begun(store)
    store.commit(run, [entry()])
    store.finish(run, "interrupted", artifacts={"a.txt": writes()}, verdicts=[{"v": 1}])
    failures.remember(store, "m", "r", [{"case": {"x": 1}}], run=run)
    store.remove(run)
    assert files_of(store) == []
    for table in (sql.runs, sql.answers, sql.verdicts, sql.artifacts):
        assert store.database.read(lambda connection, table=table: connection.select(table)) == []
    assert [item.run for item in failures.recall_all(store)] == [None]


def test_what_was_removed_cannot_be_written(store, url):
    run = begun(store)
    change(store, run, state="failed")
    with Store.open(url) as other:
        other.remove(run)
    for act in (lambda: store.commit(run, [entry()]), lambda: store.finish(run, "finished"), lambda: store.claim(run)):
        with pytest.raises(StoreError, match=rf"There is no run {run} in .*no runs yet"):
            act()


@on_sqlite
def test_an_unknown_run_names_the_newest(store):
    for _ in range(7):
        begun(store)
    with pytest.raises(StoreError, match=r"There is no run 99 in .* The newest are 7, 6, 5, 4, 3\."):
        store.run(99)


def test_a_store_serves_any_thread(store):
    from threading import Thread

    begun(store)
    counts = []
    thread = Thread(target=lambda: counts.extend([begun(store), len(store.runs())]))
    thread.start()
    thread.join()
    assert counts == [2, 2]


def test_threads_take_turns(store):
    def enter(number):
        return [store.begin("explore", "model", {"thread": number}) for _ in range(20)]

    with ThreadPoolExecutor(4) as threads:
        numbers = [number for part in threads.map(enter, range(4)) for number in part]
    assert len(set(numbers)) == 80


# -- files ---------------------------------------------------------------------------------------------------------


def test_a_writer_that_raises_leaves_nothing_and_harms_nothing(store):
    earlier = begun(store)
    store.finish(earlier, "finished", artifacts={"a.txt": writes("earlier")})
    run = begun(store)
    store.finish(run, "interrupted", artifacts={"a.txt": writes("old")}, verdicts=[{"v": 1}])
    store.claim(run)
    before, files = store.run(run), files_of(store)

    def fails(path):
        path.write_text("half")
        raise KeyError("writer")

    with pytest.raises(KeyError, match="writer"):
        store.finish(run, "finished", artifacts={"a.txt": writes("new"), "b.txt": fails}, verdicts=[{"v": 2}])
    assert store.run(run) == before
    assert files_of(store) == files
    for number, text in ((earlier, "earlier"), (run, "old")):
        with store.fetch(number, "a.txt") as path:
            assert path.read_text() == text


@on_sqlite
def test_a_writer_without_space_says_how_to_go_on(store):
    run = begun(store)

    def fails(path):
        raise OSError(28, "No space left on device")

    with pytest.raises(
        StoreError, match=f"disk is full. Free some space, then: datamorphic runs resume {run} --store "
    ):
        store.finish(run, "finished", artifacts={"a.txt": fails})
    assert store.run(run).state == "running"


@on_sqlite
def test_the_folder_of_files_cannot_be_made(store):
    run = begun(store)
    Path(store._files.name).rmdir()
    Path(store._files.name).write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="cannot be opened or written"):
        store.finish(run, "finished", artifacts={"a.txt": writes()})
    store.finish(run, "interrupted")
    for act in (lambda: begun(store), lambda: store.claim(run)):  # not only when a run has taken hours
        with pytest.raises(StoreError, match="cannot be opened or written"):
            act()


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a\0", "x" * 200])
@on_sqlite
def test_names_of_files_are_plain(store, name):
    with pytest.raises(ArgumentError, match="plain file names"):
        store.finish(begun(store), "finished", artifacts={name: writes()})


def harm_truncated(path):
    path.write_bytes(path.read_bytes()[:-10])


def harm_changed(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "message"), [(harm_truncated, "bytes instead of"), (harm_changed, "checksum"), (Path.unlink, "is missing")]
)
@on_sqlite
def test_a_harmed_file_is_refused(store, harm, message):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def writer(path):
        pq.write_table(pa.table({"x": list(range(1000))}), path)
        return 1000

    run = begun(store)
    store.finish(run, "finished", artifacts={"front.parquet": writer})
    with store.fetch(run, "front.parquet") as path:
        assert pq.read_table(path).num_rows == 1000
        artifact_path = path
    harm(artifact_path)
    with pytest.raises(
        StoreError, match=rf"file 'front.parquet' of run {run} .*{artifact_path.name}.*{message}.*start the run again"
    ):
        store.fetch(run, "front.parquet").__enter__()


@on_sqlite
def test_a_file_that_never_was(store):
    run = begun(store)
    with pytest.raises(StoreError, match="has no files"):
        store.fetch(run, "a.txt")
    store.finish(run, "finished", artifacts={"front.parquet": writes()})
    with pytest.raises(StoreError, match=r"Did you mean 'front.parquet'\?"):
        store.fetch(run, "front.parqet")


@on_sqlite
def test_an_error_of_the_reader_is_the_readers(store):
    run = begun(store)
    store.finish(run, "finished", artifacts={"a.txt": writes()})
    with pytest.raises(OSError, match="mine"), store.fetch(run, "a.txt"):
        raise OSError("mine")


@on_sqlite
def test_old_drafts_are_swept(store):
    folder, others = Path(store._files.name) / FOLDER, Path(store._files.name) / "others"
    folder.mkdir(parents=True)
    others.mkdir()
    old, young, artifact = (folder / name for name in ("part-00000001-old", "part-00000002-young", "00000003-kept"))
    strange = [folder / "part-time.csv", others / "part-00000001-old"]
    for path in (old, young, artifact, *strange):
        path.touch()
        if path != young:
            os.utime(path, (1, time.time() - artifacts.STALE_DRAFT_SECONDS - 1))
    begun(store)
    assert not old.exists()
    assert all(path.exists() for path in (young, artifact, *strange))


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_files_wherever_fsspec_reaches(tmp_path, scheme, monkeypatch):
    fsspec = pytest.importorskip("fsspec", reason="pip install fsspec")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    root = f"{scheme}://{tmp_path}/remote"
    files = artifacts.open_files(root)
    stored_files = [files.write(FOLDER, name, writes(name), 1) for name in ("a.txt", "b.txt")]
    with files.open(stored_files[0], 1) as path:
        assert path.read_text() == "a.txt"
    assert not path.exists()
    assert sorted(files.list_files(FOLDER)) == sorted(item.path for item in stored_files)
    system, base = fsspec.core.url_to_fs(root)
    system.pipe_file(f"{base}/{stored_files[0].path}", b"cut")
    with pytest.raises(StoreError, match="3 bytes instead of"), files.open(stored_files[0], 1):
        pass
    files.discard([stored_files[0].path, f"{FOLDER}/00000000-never"])
    with pytest.raises(StoreError, match="is missing"), files.open(stored_files[0], 1):
        pass

    def fails(path):
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match="disk is full"):
        files.write(FOLDER, "c.txt", fails, 1)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_file_system_that_fsspec_does_not_know():
    pytest.importorskip("fsspec", reason="pip install fsspec")
    secret = "hunter2"
    with pytest.raises(StoreError, match=r"nosuch://key:\*\*\*@bucket/x .*Protocol not known: nosuch") as caught:
        artifacts.open_files(f"nosuch://key:{secret}@bucket/x")
    assert_no_secret(caught.value)


# -- owners --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_is_claimed_from_the_dead_only(store, url, helpers):
    (helper,) = helpers()
    helper.run(f"store = Store.open({url!r}); run = store.begin('explore', 'm', {{}}); print(run, flush=True)")
    run = int(helper.hears())
    assert store.run(run).state == "running"
    for act in (store.claim, store.remove):
        with pytest.raises(StoreError, match=f"Run {run} is still running: process {helper.pid} on"):
            act(run)
    helper.kill()
    time.sleep(0.2)
    assert store.run(run).state == "killed"  # a zombie as yet
    helper.wait()
    assert [item.state for item in store.runs()] == ["killed"]
    claimed = store.claim(run)
    assert (claimed.state, claimed.pid) == ("running", os.getpid())
    store.commit(run, [entry()])
    store.finish(run, "finished")
    with pytest.raises(StoreError, match=f"Run {run} is finished"):
        store.claim(run)


@on_sqlite
def test_a_process_number_that_was_given_again(store):
    run = begun(store)
    assert store.run(run).state == "running"
    if not Path("/proc/self/stat").exists():
        pytest.skip("only Linux tells when a process was started")
    change(store, run, born="1")
    assert store.run(run).state == "killed"
    store.claim(run)
    assert store.run(run).state == "running"


@on_sqlite
def test_a_run_on_another_host_lives_by_its_heartbeat(store):
    run = begun(store)
    change(store, run, host="elsewhere")
    with pytest.raises(StoreError, match="on elsewhere"):
        store.claim(run)
    change(store, run, heartbeat=time.time() - owners.MAX_HEARTBEAT_AGE_SECONDS - 1)
    assert store.run(run).state == "killed"
    store.claim(run)


def test_who_lost_a_run_cannot_write_it(store, url):
    run = begun(store)
    change(store, run, born="1", pid=2**22 + 1)
    with Store.open(url) as other:
        other.claim(run)
        for act in (lambda: store.commit(run, [entry()]), lambda: store.finish(run, "finished")):
            with pytest.raises(StoreError, match=f"Run {run} cannot be written.*last claimed by pid {os.getpid()}"):
                act()
        assert list(store.entries(run)) == []
        other.finish(run, "interrupted")
        with pytest.raises(StoreError, match="it is interrupted"):
            other.commit(run)


@pytest.mark.slow
def test_of_two_claimers_one_wins(store, url, helpers):
    pair = helpers(2)
    for helper in pair:
        helper.run(f"store = Store.open({url!r}); print(flush=True)").hears()
    for _ in range(10):
        run = begun(store)
        change(store, run, pid=2**22 + 1)
        for helper in pair:
            helper.run(f"store.claim({run}); print('won', flush=True)")
        replies = sorted(helper.hears() for helper in pair)
        assert replies[0].startswith(f"StoreError: Run {run} is still running")
        assert replies[1] == "won"


# -- other processes, and the end of them --------------------------------------------------------------------------


@pytest.mark.slow
def test_two_open_a_new_store_at_once(tmp_path, helpers):
    pair = helpers(2)
    for i in range(12):
        path = str(tmp_path / f"{i}.sqlite")
        for helper in pair:
            helper.run(f"store = Store.open({path!r}); print(store.begin('explore', 'm', {{}}), flush=True)")
        assert sorted(helper.hears() for helper in pair) == ["1", "2"]


WRITER = """
import time
store, end, written = Store.open({url!r}), time.time() + {seconds}, 0
def writer(path):
    path.write_bytes(b"x" * 1000)
    return 1
while written < 3 or time.time() < end:
    run = store.begin("explore", "m", {{}})
    for ask in range(5):
        store.commit(run, [entry(ask, i, b"y" * 2000) for i in range(4)], runs=ask + 1)
    remember(store, "m", "r", [{{"case": {{"x": i}}}} for i in range(3)], run=run)
    store.finish(run, "interrupted", artifacts={{"a.bin": writer}}, verdicts=[{{"v": 1}}])
    written += 1
store.close()
print(written, flush=True)
"""


@pytest.mark.slow
def test_two_write_at_once(store, url, helpers):
    for helper in (pair := helpers(2)):
        helper.run(WRITER.format(url=url, seconds=60 if LONG else 0.6))
    replies = [helper.hears() for helper in pair]
    written = sum(map(int, replies))
    print(f"{replies} runs, {written * 20:,} entries")
    assert min(map(int, replies)) > 0
    read = store.runs()
    assert len(read) == written
    assert {(item.state, item.runs, len(item.verdicts), len(item.artifacts)) for item in read} == {
        ("interrupted", 5, 1, 1)
    }
    count = "SELECT count(*) FROM answers"
    assert store.database.read(lambda connection: connection.read_value(count)) == written * 20
    assert [item.times for item in failures.recall_all(store)] == [written] * 3
    assert len(files_of(store)) == written


@pytest.mark.slow
def test_kill_9_between_commits_loses_nothing_that_was_committed(store, url, helpers):
    code = """
store = Store.open({url!r}); run = store.begin("explore", "m", {{}}); print(run, flush=True)
for ask in range(10**6):
    store.commit(run, [entry(ask, 0, os.urandom(5000))], runs=ask + 1)
    print(ask, flush=True)
"""
    for wait in (0.02, 0.2):
        (helper,) = helpers()
        helper.run(code.format(url=url))
        run, last = int(helper.hears()), int(helper.hears())
        time.sleep(wait)
        helper.kill()
        for line in helper.stdout:
            last = int(line) if line.endswith("\n") else last
        helper.wait()
        asks = [item.ask for item in store.entries(run)]
        assert asks == list(range(len(asks)))
        assert last < len(asks) <= last + 3
        assert store.claim(run).runs == len(asks)
        store.commit(run, [entry(len(asks))])


def test_waiting_ends_with_words(file, monkeypatch):
    monkeypatch.setattr(store_errors, "MAX_LOCK_WAIT_SECONDS", 0.3)
    monkeypatch.setattr(database, "SQLITE_WAIT_SECONDS", 0.1)
    with Store.open(file) as store:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"in use by another process for more than 0.3 seconds"):
            begun(store)
        assert store.runs() == []  # readers do not wait
        other.execute("ROLLBACK")
        other.close()
        assert begun(store) == 1


def test_a_transaction_that_is_interrupted_leaves_nothing(store):
    run = begun(store)

    def work(connection):
        connection.execute("UPDATE runs SET message = 'half' WHERE id = :id", id=run)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.database.write(work)
    store.commit(run, runs=3)
    assert (store.run(run).message, store.run(run).runs) == ("", 3)


def test_a_connection_that_cannot_roll_back_is_opened_again(store):
    run = begun(store)

    def work(connection):
        connection.execute("UPDATE runs SET message = 'half' WHERE id = :id", id=run)
        connection.driver_connection.close()
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        store.database.write(work)
    store.commit(run, runs=3)
    assert (store.run(run).message, store.run(run).runs) == ("", 3)


# -- disks ---------------------------------------------------------------------------------------------------------


def test_a_full_disk(file):
    with Store.open(file) as store:
        run = begun(store)
        store.commit(run, [entry(0)], runs=1)
        store.database.read(lambda connection: connection.execute("PRAGMA max_page_count=1"))  # as many as there are
        with pytest.raises(
            StoreError, match=f"disk is full. Free some space, then: datamorphic runs resume {run} --store "
        ):
            store.commit(run, [entry(1, payload=b"x" * 10**6)], runs=2)
        assert [item.ask for item in store.entries(run)] == [0]
        assert store.run(run).runs == 1
    with Store.open(file) as store:
        change(store, run, born="1")
        store.claim(run)
        store.commit(run, [entry(1, payload=b"x" * 10**6)], runs=2)


def test_files_that_may_not_grow(file, helpers):
    pytest.importorskip("resource", reason="POSIX only")
    (helper,) = helpers()
    helper.run(f"""
import resource
def large(path):
    path.write_bytes(b"x" * 10**6)
    return 1
store = Store.open({str(file)!r}); run = store.begin("explore", "m", {{}})
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
for act in (
    lambda: store.finish(run, "interrupted", artifacts={{"a": large}}),
    lambda: store.commit(run, [entry(0, 0, b"x" * 10**6)]),
):
    try:
        act()
    except StoreError as error:
        print(error, flush=True)
""")
    for _ in range(2):
        assert "disk is full" in (reply := helper.hears())
        assert "then: datamorphic runs resume 1" in reply
    helper.end()
    with Store.open(file) as store:
        assert [run.state for run in store.runs()] == ["killed"]
        assert list(store.entries(1)) == []
        assert files_of(store) == []
        store.claim(1)


def test_a_folder_that_may_only_be_read(helpers):
    if os.name != "posix":
        pytest.skip("POSIX only")
    (helper,) = helpers()
    with tempfile.TemporaryDirectory() as folder:  # not pytest's, which is closed to everybody else
        with Store.open(Path(folder, "old.sqlite")) as store:
            begun(store)
        Path(folder, "old.sqlite").chmod(0o444)
        Path(folder).chmod(0o555)
        helper.run(f"""
import tempfile
with tempfile.TemporaryDirectory() as own:
    Store.open(own + "/x.sqlite").close()  # imports all there is to import
    if os.geteuid() == 0:
        os.seteuid(65534)  # root may write anywhere
    for name in ("new", "old"):
        try:
            Store.open({folder!r} + f"/{{name}}.sqlite").begin("explore", "m", {{}})
        except StoreError as error:
            print(error, flush=True)
    os.seteuid(os.getuid())
""")
        for name in ("new", "old"):
            reply = helper.hears()
            assert f"{name}.sqlite cannot be opened or written" in reply
            assert "you may write there, or name another store with --store" in reply
        Path(folder).chmod(0o755)


# -- what is no store of ours --------------------------------------------------------------------------------------


def test_a_newer_store_is_left_alone(store, url):
    run = begun(store)
    store.database.write(lambda connection: connection.execute("UPDATE schema SET version = 7"))
    store.close()
    content = Path(url).read_bytes() if "://" not in url else None
    with pytest.raises(
        StoreError,
        match=r"written by a newer version of datamorphic \(schema 7, this version supports up to 2\)\. "
        r"Upgrade datamorphic, or name another store with --store\.",
    ):
        Store.open(url)
    assert content is None or Path(url).read_bytes() == content
    store.database.write(lambda connection: connection.execute("UPDATE schema SET version = 2"))
    assert [item.id for item in store.runs()] == [run]


def test_an_older_store_is_brought_up_to_date(store, url, monkeypatch):
    run = begun(store)
    store.commit(run, [entry()])
    add_stars = ["ALTER TABLE runs ADD COLUMN stars INTEGER DEFAULT 5"]
    fail_half_way = ["ALTER TABLE runs ADD COLUMN moons INTEGER", "DROP TABLE missing"]
    monkeypatch.setattr(sql, "MIGRATIONS", [*sql.MIGRATIONS, add_stars, fail_half_way])
    with pytest.raises(StoreError, match="missing"):
        Store.open(url)
    monkeypatch.setattr(sql, "MIGRATIONS", sql.MIGRATIONS[:-1])
    with Store.open(url) as newer:
        stars = "SELECT version, stars FROM runs, schema"
        assert newer.database.read(lambda connection: connection.execute(stars).fetchall()) == [(3, 5)]
        assert [item.ask for item in newer.entries(run)] == [0]
        columns = newer.database.read(lambda connection: connection.execute("SELECT * FROM runs").description)
        assert [column[0] for column in columns] == [*sql.runs.columns, "stars"]
        assert begun(newer) == run + 1
    with Store.open(url) as again:
        assert len(again.runs()) == 2


def test_no_database(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, " * 100)
    with pytest.raises(StoreError, match=r"notes.txt is not an SQLite database. Check the path, or name another"):
        Store.open(text)
    assert text.read_text() == "not a database, " * 100
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_and_no_folder(tmp_path):
    with pytest.raises(StoreError, match="is a folder, but must be a file"):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match=r"Create .*/missing, or name another store"):
        Store.open(tmp_path / "missing" / "runs.sqlite")


def test_the_database_of_another_program(file):
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    connection.close()
    content = file.read_bytes()
    with pytest.raises(StoreError, match=r"another program: it has a table 'bookmarks'.*It was not changed"):
        Store.open(file)
    assert file.read_bytes() == content


def test_a_damaged_file(file):
    with Store.open(file) as store:
        for _ in range(50):
            begun(store)
    content = bytearray(file.read_bytes())
    content[2000:] = os.urandom(len(content) - 2000)
    file.write_bytes(content)
    with pytest.raises(StoreError, match=r"damaged|not an SQLite database"):
        Store.open(file).runs()


def test_a_store_that_lost_a_table(store):
    store.database.write(lambda connection: connection.execute("DROP TABLE answers"))
    with pytest.raises(StoreError, match="is damaged"):
        list(store.entries(begun(store)))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://u:hunter2@h/db", "type 'mysql' are not supported"),
        ("postgresql+psycopg2://u:hunter2@h/db", "'postgresql\\+psycopg2' are not supported"),
        ("sqlite://", "is not a file"),
        ("sqlite:///:memory:", "is not a file"),
        ("sqlite://folder/file", "is not a file"),
        ("sqlite:///file?mode=ro&password=hunter2", "is not a file"),
        ("postgresql://u:hunter2", "cannot be read"),
        ("postgresql://u:x@hunter2@h/db", "cannot be read"),
        ("postgresql://u:x@hunter2/y@h/db", "cannot be read"),
        ("postgresql://u:x@hunter2?y@h/db", "cannot be read"),
        ("postgresql://u:x@y:hunter2@h/db", "cannot be read"),
        ("postgresql://u:hunter2@h/db?artifacts=a&artifacts=b", "cannot be read"),
        ("postgresql://u:hunter2@127.0.0.1:1/db", "cannot be reached.*Check that the server runs"),
        ("postgresql://u:hunter2@nowhere.invalid/db?connect_timeout=2", "cannot be reached"),
        ("postgres://u:hun%3Fter2@127.0.0.1:1/db?password=hunter2", "cannot be reached"),
        ("postgresql://u:hunter2@127.0.0.1:1/db?nonsense=hunter2", "nonsense"),
        ("postgresql:///db?host=/nowhere&user=u&password=hunter2", "cannot be reached"),
    ],
)
def test_urls_that_lead_nowhere(url, message, tmp_path, monkeypatch):
    if url.startswith(("postgres://", "postgresql://")):
        pytest.importorskip("psycopg", reason="pip install 'datamorphic[postgres]'")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=message) as caught:
        Store.open(url)
    assert_no_secret(caught.value)
    assert "\n" not in str(caught.value)


def test_where_the_store_is_by_default(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("DATAMORPHIC_STORE", raising=False)
    with Store.open() as store:
        assert store.url == str(get_default_path())
        assert get_default_path().is_file()
    monkeypatch.setenv("DATAMORPHIC_STORE", f"sqlite:///{tmp_path}/mine.sqlite")
    with Store.open() as store:
        assert store.url == str(tmp_path / "mine.sqlite")
        begun(store)
    monkeypatch.chdir(tmp_path)
    for same in ("mine.sqlite", Path("mine.sqlite"), "sqlite:///mine.sqlite"):
        with Store.open(same) as store:
            assert len(store.runs()) == 1


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ImportError, match=r"pip install 'datamorphic\[postgres\]'"):
        Store.open("postgresql://u:hunter2@h/db")


@pytest.mark.slow
def test_drive_does_not_wait_for_the_database():
    code = (
        "import sys, datamorphic.runs.driver; print([m for m in ('sqlite3', 'psycopg', 'fsspec') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


# -- secrets -------------------------------------------------------------------------------------------------------


def assert_no_secret(error):
    seen, chain = set(), [error]
    while chain:
        link = chain.pop()
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            chain += [link.__cause__, link.__context__]
            assert "hunter2" not in f"{link} {link!r} {vars(link)}"
    assert "hunter2" not in "".join(traceback.format_exception(error))


words = st.text().filter(lambda text: not any(sign.isspace() for sign in text))


@given(words)
def test_every_password_goes_and_the_rest_stays(password):
    url = "postgresql://ada:{}@db.example:5432/runs"
    assert redact(url.format(password)) == url.format("***")
    assert (
        redact(f"cannot reach {url.format(quote(password, errors='replace'))}, sorry")
        == f"cannot reach {url.format('***')}, sorry"
    )


@given(words)
def test_passwords_of_urls_within_urls_go(password):
    url = "http://host/?next=" + quote(f"s3://ada:{quote(password, errors='replace')}@db", safe="")
    assert redact(url) in ("http://host/?next=s3%3A%2F%2Fada%3A***@db", "http://host/?next=s3%3A%2F%2Fada%3A***%40db")


@given(st.text())
def test_what_is_redacted_is_so_for_good(text):
    for before in (text, f"http://a:{text}@b", f"password={text}"):
        assert redact(redact(before)) == redact(before)


SECRET_NAMES = [
    "password",
    "PASSWORD",
    "sslpassword",
    "passwd",
    "pwd",
    "token",
    "access_token",
    "secret",
    "key",
    "api_key",
    "apikey",
    "apiKey",
    "X-Api-Key",
    "aws_secret_access_key",
    "access_key",
    "AccountKey",
    "X-Amz-Signature",
    "sig",
    "auth",
    "X-Auth-Token",
    "credential",
    "credentials",
    "private_key_passphrase",
    "Authorization",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_values_named_like_secrets_go(name):
    assert is_secret_name(name)
    for text in (
        f"https://h/p?a=1&{name}=hunter2&b=2",
        f"https://h/p?{name}=hun%26ter2#x",
        f"host=h {name}=hunter2 b=2",
        f"host=h {name} = 'my hunter2' b=2",
        f"{name}='it\\'s hunter2'",
        f'{{"{name}": "hunter2"}}',
        f"{name}: hunter2",
        f"{name}: Bearer hunter2",
        f"https://h/?next={quote(f'https://h?{name}=hunter2&b=2', safe='')}",
    ):
        assert "ter2" not in redact(text)
    assert redact(f"https://h/p?a=1&{name}=x&b=2") == f"https://h/p?a=1&{name}=***&b=2"


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8000/predict",
        "http://localhost:8000 and mail to ada@example.org",
        "http://[::1]:8000/x@y",
        "postgresql://ada@db/runs",
        "sqlite:////home/ada/a b@c.sqlite",
        "C:\\models\\m.onnx",
        "sigma=0.5 author=Ada",
        "KeyError: 'x'",
        "monkeys=3",
        "10:30 @ noon",
        "design=2 bypassed=no",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("redis://:hunter2@h", "redis://:***@h"),
        ("https://hunter2@github.com/x", "https://***@github.com/x"),
        ("a://ada:my hunter2@h/db", "a://ada:***@h/db"),
        ("postgresql://ada:hunter2", "postgresql://ada:***"),
        ("two: a://u:hunter2@h b://u:hunter2@h", "two: a://u:***@h b://u:***@h"),
    ],
)
def test_awkward_urls(text, expected):
    assert redact(text) == expected


def test_secrets_are_kept_nowhere(store):
    secret = "postgresql://ada:hunter2@db/runs?sslpassword=hunter2"
    everywhere = {
        "store": secret,
        "list": [secret, {"in": ("host=h password='hunter2'", secret)}],
        "password": "hunter2",
        "auth": ("ada", "hunter2"),
        "headers": {"Authorization": "Bearer hunter2"},
        secret: 1,
        "api_key": b"hunter2",
        "shown": 3,
        "key": 4,
    }
    run = store.begin("test", secret, everywhere, versions=everywhere, environment=everywhere)
    store.commit(run, [entry()])
    store.finish(
        run,
        "interrupted",
        summary=everywhere,
        verdicts=[everywhere],
        message=f"no answer from {secret}",
        artifacts={"a.txt": writes()},
    )
    failures.remember(store, secret, "r", [{"case": {"x": 1}, "message": secret}], run=run)
    assert len(failures.recall(store, secret, "r")) == 1
    for table in sql.TABLES:
        rows = store.database.read(lambda connection, table=table: connection.select(table))
        assert rows
        assert "hunter2" not in str(rows)
    read = store.run(run)
    assert "hunter2" not in f"{read} {read.to_json()} {store!r} {store.url} {vars(store)} {failures.recall_all(store)}"
    assert (read.parameters["shown"], read.parameters["key"]) == (3, 4)
    for act in (
        lambda: store.run(99),
        lambda: store.commit(99),
        lambda: store.fetch(run, "x"),
        lambda: store.claim(99),
    ):
        with pytest.raises(StoreError) as caught:
            act()
        assert_no_secret(caught.value)


# -- failures ------------------------------------------------------------------------------------------------------


def test_a_failure_is_remembered_once(store):
    run = begun(store)
    cases = [{"case": {"x": 1, "y": "a"}, "verdict": "violated", "message": "went down"}, {"case": {"x": 2}}]
    failures.remember(store, "m", "r", cases, run=run)
    failures.remember(store, "m", "r", [{"case": {"y": "a", "x": 1}, "message": "again"}])
    failures.remember(store, "m", "other", cases[:1])
    failures.remember(store, "m", "r", [])
    first, second = failures.recall(store, "m", "r")
    assert (first.case, first.times, first.message, first.run) == ({"x": 1, "y": "a"}, 2, "again", run)
    assert first.first_seen < first.last_seen
    assert (second.case, second.times, second.verdict, second.run) == ({"x": 2}, 1, "violated", run)
    assert [item.relation for item in failures.recall_all(store)] == ["other", "r", "r"]
    assert failures.recall(store, "m", "r", limit=1) == [first]
    failures.forget(store, [first.id, 12345])
    assert failures.recall(store, "m", "r") == [second]
    assert second.to_json()["first_seen"] == second.first_seen.isoformat()


def test_awkward_cases_come_back_to_the_letter(store):
    for _ in range(2):
        failures.remember(store, "m\0", "r\ud800", [{"case": {**NASTY, "password": "kept=as it is"}}])
    (read,) = failures.recall(store, "m\0", "r\ud800")
    assert read.times == 2
    assert math.isnan(read.case.pop("nan"))
    assert read.case == {name: value for name, value in NASTY.items() if name != "nan"} | {"password": "kept=as it is"}


@pytest.mark.slow
def test_two_remember_the_same_at_once(store, url, helpers):
    for helper in (pair := helpers(2)):
        helper.run(f"""
import random
store = Store.open({url!r})
for _ in range(30):
    cases = [{{"case": {{"x": i}}}} for i in range(20)]
    random.shuffle(cases)
    remember(store, "m", "r", cases)
print("done", flush=True)
""")
    assert [helper.hears() for helper in pair] == ["done", "done"]
    assert [item.times for item in failures.recall_all(store)] == [60] * 20


# -- rows that somebody else wrote, or that a disk has harmed ------------------------------------------------------


def spoil(store, table, where="1 = 1", **values):
    """Write what we would never write; tell whether the database took it."""
    names = ", ".join(f'"{name}" = :{name}' for name in values)
    update = f"UPDATE {table} SET {names} WHERE {where}"
    try:
        store.database.write(lambda connection: connection.execute(update, **values))
    except StoreError:
        assert not store.database.file  # SQLite takes everything, PostgreSQL sees to it itself
        return False
    return True


def make_interrupted_run(store, name="a.txt"):
    run = begun(store)
    store.commit(run, [entry()])
    store.finish(run, "interrupted", artifacts={name: writes()}, verdicts=[{"v": 1}], summary={"pairs": 1})
    return run


SPOILT = [
    ("started", 1e300),
    ("started", "x"),
    ("started", -1.0),
    ("started", math.inf),
    ("ended", 1e300),
    ("ended", -5.0),
    ("seconds", math.inf),
    ("seconds", "abc"),
    ("seconds", -1.0),
    ("pid", 2**62),
    ("pid", 0),
    ("pid", -1),
    ("pid", "x"),
    ("done", "x"),
    ("done", math.inf),
    ("runs", -1),
    ("calls", "many"),
    ("state", "sleeping"),
    ("born", b"\xff"),
    ("summary", "{"),
    ("summary", "[]"),
    ("summary", "[" * 100_000),
    ("summary", '{"a":' * 500 + "1" + "}" * 500),
    ("summary", '{"a": %s}' % ("1" * 5000)),
    ("summary", 5),
    ("parameters", "[]"),
    ("parameters", '{"words": [1]}'),
    ("versions", "[1]"),
    ("environment", '"x"'),
    ("seed", "{"),
    ("heartbeat", math.inf),
    ("heartbeat", "x"),
    ("folder", "/etc"),
    ("folder", ".."),
    ("message", b"\xff\xfe"),
    ("system", 0),
    ("verb", b"x"),
    ("host", b"x"),
]


def check_that_others_are_read(store, first, third, column, value):
    run = make_interrupted_run(store)
    if not spoil(store, "runs", f"id = {run}", **{column: value}):
        store.remove(run)
        return
    read = {item.id: item for item in store.runs()}
    text = ("message", "system") if store.database.file else ("born", "message", "system", "verb", "host")
    if column in text and read[run].state != "damaged":
        store.remove(run)  # the database made it text again
        return
    assert {item.id: item.state for item in read.values()} == {
        first: "interrupted",
        third: "interrupted",
        run: "damaged",
    }
    stored_run = read[run]
    assert all(
        isinstance(item, dict)
        for item in (stored_run.parameters, stored_run.versions, stored_run.environment, stored_run.summary)
    )
    assert all(
        math.isfinite(item)
        for item in (stored_run.seconds, stored_run.runs, stored_run.calls, stored_run.pid, stored_run.done or 0)
    )
    assert all(
        isinstance(item, str) for item in (stored_run.verb, stored_run.system, stored_run.message, stored_run.host)
    )
    assert stored_run.started.astimezone().year < 2300
    json.dumps(stored_run.to_json(), allow_nan=False)
    for act in (store.run, store.claim):
        with pytest.raises(StoreError, match=f"row of run {run} .*damaged: invalid .*'{column}'.*runs remove {run}"):
            act(run)
    store.remove(run)


@pytest.mark.slow
def test_a_damaged_row_hides_no_other(store):
    first, third = make_interrupted_run(store), make_interrupted_run(store)
    for column, value in SPOILT if LONG or store.database.file else SPOILT[::3]:
        check_that_others_are_read(store, first, third, column, value)
        assert [item.id for item in store.runs()] == [first, third]


def test_text_that_is_none(file):
    with Store.open(file) as store:
        run = make_interrupted_run(store)
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE runs SET message = CAST(x'ff41' AS TEXT)")
        connection.close()
        assert store.run(run).message == "\ufffdA"


@pytest.mark.slow
def test_damaged_rows_of_a_run(store):
    def check(table, column, value):
        run = make_interrupted_run(store)
        if spoil(store, table, f"run = {run}", **{column: value}):
            assert {item.id: item.state for item in store.runs()} == {run: "damaged", other: "interrupted"}
            with pytest.raises(StoreError, match=f"row of run {run} .*damaged: invalid '{table}'"):
                store.run(run)
            assert store.run(other).artifacts
        store.remove(run)

    other = make_interrupted_run(store)
    for table, column, value in (
        ("verdicts", "verdict", "[1]"),
        ("verdicts", "verdict", "{"),
        ("artifacts", "path", "/etc/passwd"),
        ("artifacts", "path", "../../x"),
        ("artifacts", "path", f"{FOLDER}/01234567-a.txt"),
        ("artifacts", "name", "b.txt"),
        ("artifacts", "bytes", -1),
        ("artifacts", "rows", "x"),
        ("artifacts", "sha256", "x"),
    ):
        check(table, column, value)


@pytest.mark.slow
def test_a_damaged_journal(store):
    def check(column, value):
        run = make_interrupted_run(store)
        taken = spoil(store, "answers", f"run = {run}", **{column: value})
        if taken and (
            store.database.file or column not in ("payload", "pieces")
        ):  # PostgreSQL makes bytes or a number of it
            with pytest.raises(StoreError, match=rf"row of run {run}, query .*invalid '{column}'.*Start a new one"):
                list(store.entries(run))

    for column, value in (
        ("about", "[1]"),
        ("about", "{"),
        ("about", "null"),
        ("payload", 10**15),
        ("payload", "text"),
        ("first", "x"),
        ("rows", -1),
        ("pieces", 1.5),
        ("ask", "x"),
    ):
        check(column, value)


@pytest.mark.slow
def test_damaged_failures_are_passed_over(store):
    def check(column, value):
        failures.remember(store, "m", "r", [{"case": {"x": number}} for number in range(3)])
        first, second, third = sorted(item.id for item in failures.recall_all(store))
        if spoil(store, "failures", f"id = {second}", **{column: value}):
            assert sorted(item.id for item in failures.recall_all(store)) == [first, third]
            assert sorted(item.id for item in failures.recall(store, "m", "r", limit=2)) == [first, third]
        failures.forget(store, [first, second, third])

    for column, value in (
        ("case", "[1]"),
        ("case", "{"),
        ("case", "1"),
        ("last_seen", 1e300),
        ("last_seen", "x"),
        ("first_seen", -1.0),
        ("times", "x"),
        ("times", -1),
    ):
        check(column, value)


def test_numbers_beyond_all_bounds(store):
    run = begun(store)
    for number in (2**31, 2**63, 2**64, 10**30, -1, -(2**70), 0):
        for act in (
            store.run,
            store.claim,
            store.remove,
            store.commit,
            lambda run: store.fetch(run, "x"),
            lambda run: list(store.entries(run)),
            lambda run: store.finish(run, "finished"),
        ):
            with pytest.raises(StoreError, match=rf"There is no run {number} in .* The newest are {run}\."):
                act(number)
        failures.forget(store, [number])


def outside(tmp_path):
    """A folder with files named like ours, which no store may touch."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    for name in ("precious.txt", "00000000-a.txt", "part-00000000-a.txt"):
        (folder / name).write_text("precious")
    return folder


def untouched(folder):
    return {path.name: path.read_text() for path in folder.iterdir()} == dict.fromkeys(
        ("precious.txt", "00000000-a.txt", "part-00000000-a.txt"), "precious"
    )


@pytest.mark.parametrize("make_path", [str, lambda path: f"../{path.name}", lambda path: "..", lambda path: ""])
@on_sqlite
def test_folders_outside_are_neither_written_nor_emptied(store, tmp_path, make_path):
    folder, run, other = outside(tmp_path), begun(store), make_interrupted_run(store)
    for item in (run, other):
        change(store, item, folder=make_path(folder))
    with pytest.raises(StoreError, match=r"folder is invalid|damaged or forged"):
        store.finish(run, "finished", artifacts={"a.txt": writes()})
    store.finish(run, "finished")
    for item in (run, other):
        store.remove(item)
    assert untouched(folder)
    assert store.runs() == []


@on_sqlite
def test_a_folder_that_is_a_link(store, tmp_path):
    folder, run, other = outside(tmp_path), begun(store), make_interrupted_run(store)
    for item in (run, other):
        place = Path(store._files.name) / store.database.read(
            lambda connection, item=item: connection.select(sql.runs, "WHERE id = :id", id=item)[0]["folder"]
        )
        if place.exists():
            place.rename(tmp_path / "moved")
        place.symlink_to(folder)
    for path in folder.iterdir():
        os.utime(path, (1, 1))
    for act in (
        lambda: store.finish(run, "finished", artifacts={"a.txt": writes()}),
        lambda: store.fetch(other, "a.txt").__enter__(),
    ):
        with pytest.raises(StoreError, match="is a symbolic link"):
            act()
    begun(store)  # sweeps
    store.finish(run, "finished")
    for item in (run, other):
        store.remove(item)
    assert untouched(folder)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_files_outside_are_not_read(tmp_path, scheme):
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2")
    if scheme:
        pytest.importorskip("fsspec", reason="pip install fsspec")
    files = artifacts.open_files(f"{scheme}{tmp_path}/files")
    sha = artifacts._compute_sha256(secret)
    for name, path in [
        ("secret.txt", str(secret)),
        ("secret.txt", "../secret.txt"),
        (str(secret), f"{FOLDER}/00000000-{secret}"),
        ("../secret.txt", f"{FOLDER}/00000000-../secret.txt"),
        ("a.txt", f"{FOLDER}/00000000-b.txt"),
    ]:
        with (
            pytest.raises(StoreError, match=r"folder is invalid|damaged or forged"),
            files.open(artifacts.Artifact(name=name, path=path, sha256=sha, bytes=7, rows=1), 1),
        ):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]


@on_sqlite
def test_a_row_cannot_make_fetch_read_a_file(store, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2")
    run = make_interrupted_run(store)
    for name, path in [("a.txt", str(secret)), ("a.txt", "../secret.txt"), (str(secret), str(secret))]:
        spoil(store, "artifacts", path=path, name=name, sha256=artifacts._compute_sha256(secret), bytes=7)
        with pytest.raises(StoreError, match=f"row of the file .* of run {run} .*damaged"):
            store.fetch(run, name)


# -- runs of this process ------------------------------------------------------------------------------------------


@on_sqlite
def test_a_run_that_its_store_let_go(store, url):
    run = begun(store)
    with Store.open(url) as other:
        for act in (store.claim, store.remove, other.claim, other.remove):
            with pytest.raises(StoreError, match=f"Run {run} is still running: process {os.getpid()}"):
                act(run)
        store.release(run)
        assert store.run(run).state == "killed"
        other.claim(run)
        assert store.run(run).state == "running"
        with pytest.raises(StoreError, match="still running"):
            store.claim(run)
        with pytest.raises(StoreError, match="last claimed"):
            store.commit(run)
    assert store.claim(run).state == "running"
    store.release(run)
    store.remove(run)


@pytest.mark.slow
@on_sqlite
def test_a_run_whose_store_is_gone(store, url):
    lost = Store.open(url)
    run = begun(lost)
    lost.database.close()
    assert store.run(run).state == "running"
    del lost
    gc.collect()
    assert store.run(run).state == "killed"
    store.claim(run)


@on_sqlite
def test_a_claim_that_fails_holds_nothing(store, url, monkeypatch):
    run = begun(store)
    store.finish(run, "interrupted")
    before = store._read_undamaged_run
    monkeypatch.setattr(store, "_read_undamaged_run", lambda connection, run: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.claim(run)
    monkeypatch.setattr(store, "_read_undamaged_run", before)
    with Store.open(url) as other:
        other.claim(run)


# -- reading without writing ---------------------------------------------------------------------------------------


def test_reading_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("DATAMORPHIC_STORE", raising=False)
    with pytest.raises(StoreError, match=r"There are no runs in .*runs\.sqlite yet"):
        Store.open(reading=True)
    for missing in ("missing.sqlite", "no/folder.sqlite"):
        with pytest.raises(StoreError, match=r"There is no run store .*Check the path"):
            Store.open(tmp_path / missing, reading=True)
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(StoreError, match=r"There are no runs in .*empty\.sqlite yet"):
        Store.open(tmp_path / "empty.sqlite", reading=True)
    assert [path.name for path in tmp_path.iterdir()] == ["empty.sqlite"]
    assert (tmp_path / "empty.sqlite").stat().st_size == 0


def test_what_was_opened_to_be_read_is_not_written(store, url):
    run = make_interrupted_run(store)
    with Store.open(url, reading=True) as reader:
        assert [item.id for item in reader.runs()] == [run]
        with reader.fetch(run, "a.txt") as path:
            assert path.read_text() == "some rows"
        for act in (lambda: begun(reader), lambda: reader.remove(run), lambda: failures.forget(reader, [1])):
            with pytest.raises(StoreError, match="open for reading"):
                act()


@pytest.mark.slow
def test_a_database_without_tables_stays_so(postgres_url):
    url = postgres_url
    for _ in range(2):
        with pytest.raises(StoreError, match=r"There are no runs in .* yet"):
            Store.open(url, reading=True)


READ_ONLY = """
import tempfile
with tempfile.TemporaryDirectory() as own:
    Store.open(own + "/x.sqlite").close()  # imports all there is to import
    if os.geteuid() == 0:
        os.seteuid(65534)  # root may write anywhere
    for name in {names!r}:
        try:
            with Store.open({folder!r} + "/" + name, reading=True) as store:
                with store.fetch(1, "a.txt") as path:
                    print([(each.id, each.state, path.read_text()) for each in store.runs()], flush=True)
        except StoreError as error:
            print(error, flush=True)
    os.seteuid(os.getuid())
"""


@pytest.mark.slow
def test_a_store_of_somebody_else_can_be_read(helpers):
    if os.name != "posix":
        pytest.skip("POSIX only")
    (helper,) = helpers()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writing = Store.open(folder / "in use.sqlite")
        make_interrupted_run(writing)
        for store in ("file.sqlite", "what?#%20.sqlite"):
            with Store.open(folder / store) as store:
                make_interrupted_run(store)
        old_store(folder / "old.sqlite")
        for path in folder.rglob("*"):
            path.chmod(0o555 if path.is_dir() else 0o444)
        folder.chmod(0o555)
        names = ("file.sqlite", "what?#%20.sqlite", "in use.sqlite", "old.sqlite")
        helper.run(READ_ONLY.format(folder=name, names=names))
        for _ in names[:3]:
            assert helper.hears() == "[(1, 'interrupted', 'some rows')]"
        reply = helper.hears()
        assert "earlier version of datamorphic (schema 1, this version reads 2) and cannot be upgraded" in reply
        folder.chmod(0o755)
        writing.close()
        for path in folder.rglob("*"):
            path.chmod(0o755)


# -- an older schema -----------------------------------------------------------------------------------------------

SCHEMA_1 = """
CREATE TABLE schema (version INTEGER NOT NULL);
INSERT INTO schema VALUES (1);
CREATE TABLE runs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, verb TEXT NOT NULL, system TEXT NOT NULL, state TEXT NOT NULL,
    started DOUBLE NOT NULL, ended DOUBLE, seconds DOUBLE NOT NULL, seed TEXT NOT NULL, parameters TEXT NOT NULL,
    versions TEXT NOT NULL, environment TEXT NOT NULL, model_hash TEXT, data_hash TEXT, done DOUBLE,
    runs BIGINT NOT NULL, calls BIGINT NOT NULL, summary TEXT NOT NULL, message TEXT NOT NULL, folder TEXT NOT NULL,
    owner TEXT NOT NULL, host TEXT NOT NULL, pid BIGINT NOT NULL, born TEXT, heartbeat DOUBLE NOT NULL);
INSERT INTO runs VALUES (1, 'explore', 'm', 'finished', 1794731619.7, 1794731619.8, 0.0, 'null', '{"walks": 3}', '{}',
    '{}', NULL, NULL, 1.0, 0, 0, '{}', '', '505dae97869873aa', 'c165584fc613a5456b03835d5469a287', 'host', 15082,
    '2545765', 1794731619.8);
CREATE TABLE answers (
    run INTEGER NOT NULL, ask BIGINT NOT NULL, first BIGINT NOT NULL, pieces BIGINT NOT NULL, rows BIGINT NOT NULL,
    fingerprint TEXT NOT NULL, payload BLOB NOT NULL, about TEXT NOT NULL, PRIMARY KEY (run, ask, first),
    FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE);
CREATE TABLE verdicts (
    run INTEGER NOT NULL, number INTEGER NOT NULL, verdict TEXT NOT NULL, PRIMARY KEY (run, number),
    FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE);
INSERT INTO verdicts VALUES (1, 0, '{"v": 1}');
CREATE TABLE artifacts (
    run INTEGER NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL, bytes BIGINT NOT NULL,
    rows BIGINT NOT NULL, host TEXT, PRIMARY KEY (run, name),
    FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE);
INSERT INTO artifacts VALUES (1, 'a.txt', '505dae97869873aa/c168a75d-a.txt',
    '3818bf0061cd5584782d3b34ffc301d9cf78d168896838bb62d7091151a25e2e', 9, 3, NULL);
CREATE TABLE failures (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "key" TEXT NOT NULL, system TEXT NOT NULL, relation TEXT NOT NULL,
    "case" TEXT NOT NULL, verdict TEXT NOT NULL, message TEXT NOT NULL, first_seen DOUBLE NOT NULL,
    last_seen DOUBLE NOT NULL, times BIGINT NOT NULL, run INTEGER, UNIQUE ("key"),
    FOREIGN KEY(run) REFERENCES runs (id) ON DELETE SET NULL);
INSERT INTO failures VALUES (1, '50464bda329e80d38a0ed7594415c6f5f7fa5156a73186ba4e680555114ae984', 'm', 'r',
    '{"x": 1}', 'violated', '', 1794731619.7, 1794731619.7, 1, 1);
CREATE INDEX failures_of ON failures (system, relation, last_seen);
CREATE INDEX ix_failures_run ON failures (run);
"""


def old_store(path):
    """A store as the first release wrote it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript(SCHEMA_1)
    connection.close()
    file = Path(f"{path}.files", "505dae97869873aa", "c168a75d-a.txt")
    file.parent.mkdir(parents=True)
    file.write_text("some rows")
    return path


@pytest.mark.parametrize("reading", [False, True])
def test_a_store_of_the_first_schema(file, reading):
    with Store.open(old_store(file), reading=reading) as store:
        read = store.run(1)
        assert (read.state, read.parameters, read.verdicts) == ("finished", {"walks": 3}, [{"v": 1}])
        assert [(artifact.name, artifact.root) for artifact in read.artifacts] == [("a.txt", None)]
        with store.fetch(1, "a.txt") as path:
            assert path.read_text() == "some rows"
        assert [item.case for item in failures.recall_all(store)] == [{"x": 1}]
    with Store.open(file) as store:
        version = store.database.read(lambda connection: connection.read_value("SELECT version FROM schema"))
        assert version == len(sql.MIGRATIONS) == 2
        (kept_there,) = store.run(make_interrupted_run(store)).artifacts
        assert kept_there.root == f"{file}.files"


# -- many runs -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_newest_of_many_runs_come_at_once(store):
    first = make_interrupted_run(store)
    columns = [name for name in sql.runs.columns if name != "id"]
    names = ", ".join(f'"{name}"' for name in columns)
    # PostgreSQL counts by itself, SQLite too
    copies = (
        f"INSERT INTO runs ({names}) WITH RECURSIVE numbers(n) AS "
        f"(SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500) SELECT {names} FROM runs, numbers"
    )
    store.database.write(lambda connection: connection.execute(copies))
    last = make_interrupted_run(store)
    read = store.runs(last=50)
    assert [item.id for item in read] == list(range(last - 49, last + 1))
    assert (len(read[-1].artifacts), len(read[-1].verdicts), len(read[0].artifacts)) == (1, 1, 0)
    assert store.runs(last=0) == []
    assert len(store.runs(last=2**63 - 1)) == last - first + 1
    with pytest.raises(ArgumentError, match="'last'"):
        store.runs(last=-1)


# -- where a store cannot be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "postgresql:/ada:hunter2@db/runs",
        "postgres:db",
        "POSTGRESQL:ada:hunter2@db/runs",
        "sqlite:/runs.sqlite",
        "postgresql+psycopg:hunter2",
        "host=db user=ada password=hunter2",
        " dbname = hunter2",
        "password='hunter2'",
        Path("postgresql://ada:hunter2@db/runs"),
        "a\0hunter2",
    ],
)
def test_mistyped_urls_do_not_become_files(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for reading in (False, True):
        with pytest.raises(StoreError, match=r"postgresql://user:password@host/database or sqlite:///path") as caught:
            Store.open(name, reading=reading)
        assert_no_secret(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_files_with_awkward_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("./notes:2024.sqlite", "./user=ada", "what?#%20 😀.sqlite", "./a@b", "./a=b"):
        with Store.open(name) as store:
            begun(store)
        with Store.open(name[2:] if name.startswith("./") else name, reading=True) as store:
            assert len(store.runs()) == 1


@pytest.mark.parametrize("name", ["1", "10000 runs", "memory", "1.5"])
def test_a_word_is_no_store(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="is a bare word"):
        Store.open(name)
    assert list(tmp_path.iterdir()) == []
    with Store.open(f"./{name}"):
        pass
    with Store.open(name, reading=True):  # it exists now
        pass


def test_paths_in_messages_have_no_secrets(tmp_path):
    folder = tmp_path / "password=hunter2"
    with pytest.raises(StoreError, match="folder that does not exist") as caught:
        Store.open(folder / "runs.sqlite")
    assert_no_secret(caught.value)
    folder.mkdir()
    with pytest.raises(StoreError, match="is a folder") as caught:
        Store.open(folder)
    assert_no_secret(caught.value)
    with Store.open(folder / "runs.sqlite") as store:
        with pytest.raises(StoreError, match="no run 9") as caught:
            store.run(9)
        assert_no_secret(caught.value)
        run = make_interrupted_run(store)
        next(Path(store._files.name).rglob("*-a.txt")).unlink()
        with pytest.raises(StoreError, match="is missing") as caught, store.fetch(run, "a.txt"):
            pass
        assert_no_secret(caught.value)


def test_no_store_at_all(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    assert read_store_variable() == "none"
    with pytest.raises(StoreError, match=r"\$DATAMORPHIC_STORE is 'none'"):
        Store.open()
    monkeypatch.delenv("DATAMORPHIC_STORE")
    assert read_store_variable() is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_looked_for_elsewhere(tmp_path):
    files = artifacts.open_files(tmp_path / "one")
    kept_there = files.write(FOLDER, "a.txt", writes(), 1)
    assert kept_there.root == str(tmp_path / "one")
    with (
        pytest.raises(StoreError, match=rf"is missing. It was written to {tmp_path}/one. .*\?artifacts=.*ARTIFACTS"),
        artifacts.open_files(tmp_path / "two").open(kept_there, 1),
    ):
        pass


def test_a_driver_of_fsspec_that_is_missing(monkeypatch):
    registry = pytest.importorskip("fsspec.spec", reason="pip install fsspec") and sys.modules["fsspec.registry"]
    secret, driver = "hunter2", {"class": "farfs.Far", "err": "Install farfs to get there"}
    monkeypatch.setitem(registry.known_implementations, "far", driver)
    with pytest.raises(
        StoreError, match=r"far://u:\*\*\*@x: Install farfs to get there\. .*pip install farfs$"
    ) as caught:
        artifacts.open_files(f"far://u:{secret}@x")
    assert_no_secret(caught.value)


# -- redacting in time, and only where it is due -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["%3a%2f%2f", "https://a:b ", "://a:", "://a:%40 ", "a://u:p@h ", "key='\\'", "token", "@"]
)
def test_redacting_comes_to_an_end(part):
    """What takes time by the square of the length takes minutes here; nothing is timed, machines are noisy."""
    once = redact(part * (50_000 // len(part)))
    assert redact(once) == once


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "token_classifier:model",
        "/data/key=1/xy.csv",
        "C:\\key=1\\x",
        "auth.py:model",
        "a key: the first",
        "key=1",
        "password.csv",
        "pass: all",
        "x=1&key=2",
    ],
)
@on_sqlite
def test_what_is_no_url_is_kept_to_the_letter(store, text):
    words = {"model": text, "data": [text, {"subject": text}], text: 1, "key": 4}
    run = store.begin("explore", "m", words, versions=words, environment=words)
    store.finish(run, "finished", summary=words, verdicts=[words])
    read = store.run(run)
    assert read.parameters == read.versions == read.environment == read.summary == read.verdicts[0] == words


def test_what_is_a_url_is_redacted_wherever_it_is():
    for text in (
        "https://h/api?code=hunter2&x=1",
        "https://ada:hunter2@h",
        "see https%3A%2F%2Fada%3Ahunter2%40h",
        "host=h password=hunter2",
        "AccountName=x;AccountKey=hunter2;x=y",
    ):
        assert "hunter2" not in str(to_safe_json_value({"model": [text], text: 1}))
    assert redact("https://h/f?code=hunter2&x=1") == "https://h/f?code=***&x=1"
    assert redact("https://h/?next=https%3A%2F%2Fh%3Fcode%3Dhunter2") == "https://h/?next=https%3A%2F%2Fh%3Fcode%3D***"
    assert redact("exit code=3, error code: 5") == "exit code=3, error code: 5"


def test_rejected_arguments_are_shown_without_secrets():
    secret = "hunter2"
    with pytest.raises(ArgumentError, match=r"Got 'postgresql://ada:\*\*\*@db/runs' instead") as caught:
        reject("engine", "explore", "an engine", f"postgresql://ada:{secret}@db/runs")
    assert_no_secret(caught.value)


@pytest.mark.slow
@on_sqlite
def test_documents_that_every_reader_of_json_takes(store):
    np = pytest.importorskip("numpy")
    document = {
        1: (math.nan, [-math.inf, 2.5]),
        "n": np.int64(3),
        "f": np.float64("nan"),
        "b": np.bool_(True),
        "a": np.arange(2),
        "s": {1},
        "d": np.datetime64("2024-01-01"),
        "long": 10**5000,
        "text": np.str_("x"),
        None: None,
        "t": True,
    }
    assert to_jsonable(document) == {
        "1": [None, [None, 2.5]],
        "n": 3,
        "f": None,
        "b": True,
        "a": [0, 1],
        "s": [1],
        "d": "2024-01-01",
        "long": hex(10**5000),
        "text": "x",
        "None": None,
        "t": True,
    }
    json.dumps(to_jsonable(document), allow_nan=False)
    run = store.begin("explore", "m", NASTY, seed=math.nan)
    store.finish(run, "finished", summary=NASTY, verdicts=[NASTY])
    failures.remember(store, "m", "r", [{"case": NASTY}])
    json.dumps([store.run(run).to_json(), failures.recall_all(store)[0].to_json()], allow_nan=False)

"""Jobs in child processes: whatever they do, it is reported and does no harm."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from datamorphic.errors import ArgumentError
from datamorphic.runs.jobs import JobCrash, JobError, JobOutOfMemory, JobSuccess, JobTimeout
from support.jobs import run_jobs
from support.waiting import wait_until

LIMITABLE = Path("/proc/self/statm").exists()


def alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid):
    for _ in range(100):
        if not alive(pid):
            return True
        time.sleep(0.1)
    return False


def make_wild_job(note):
    """Return a job that does what its argument says; it writes the process that it leaves behind to a file."""

    def wild(kind):
        import os
        import signal
        import subprocess
        import sys
        import threading
        import time

        if kind == "hangs":
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            while True:
                try:
                    while True:
                        time.sleep(60)
                except:  # noqa: E722
                    pass
        if kind == "grows":
            heap = []
            while True:
                heap.append(bytes(1_000_000))
        if kind == "wants terabytes":
            import numpy as np

            return np.zeros(10**13)
        if kind == "leaves":
            note.write_text(str(subprocess.Popen(["sleep", "600"]).pid))
            os._exit(0)
        if kind == "exits":
            sys.exit("it had enough")
        if kind == "interrupts":
            raise KeyboardInterrupt
        if kind == "prints":
            print("printed " * 100_000)
            os.write(1, b"written " * 100_000)
        if kind == "locks":
            return threading.Lock()
        if kind == "reads":
            return input()
        return kind

    return wild


@pytest.mark.slow
def test_whatever_a_job_does_is_reported_and_does_no_harm(tmp_path, capfd):
    note = tmp_path / "pid"

    expected = {
        "works": JobSuccess("works"),
        "hangs": JobTimeout(3.0),
        "exits": JobError("SystemExit: it had enough"),
        "interrupts": JobError("KeyboardInterrupt"),
        "prints": JobSuccess("prints"),
        "locks": JobError(
            "The value cannot be sent to another process: it cannot be pickled (TypeError: cannot pickle '_thread.lock' object)."
        ),
        "reads": JobError("EOFError: EOF when reading a line"),
        "leaves": JobCrash(0),
        "still works": JobSuccess("still works"),
    }
    if LIMITABLE:
        expected |= {
            "grows": JobOutOfMemory(),
            "wants terabytes": JobOutOfMemory(),
            "works again": JobSuccess("works again"),
        }
    outcomes = run_jobs(make_wild_job(note), expected, workers=2, seconds=3.0, memory=400_000_000)
    assert dict(zip(expected, outcomes, strict=True)) == expected
    assert gone(int(note.read_text()))
    printed = capfd.readouterr()
    assert "written" in printed.err
    assert not printed.out


def test_children_go_from_job_to_job():
    def who(number):
        import math
        import os

        before, math.tau = math.tau, number
        return os.getpid(), before

    pids, before = zip(*(done.value for done in run_jobs(who, range(5), seconds=60)), strict=True)
    assert len({*pids} - {os.getpid()}) == 1
    assert before == (math.tau, 0, 1, 2, 3)  # what a job leaves, the next one has


@pytest.mark.slow
def test_a_death_is_held_against_the_job_that_died():
    """Not against one that a leftover of an earlier job took down."""

    def bomb(kind):
        import os
        import threading
        import time

        if kind == "fuse":
            threading.Thread(target=lambda: (time.sleep(0.2), os._exit(9)), daemon=True).start()
        else:
            time.sleep(0.6)
        return kind

    assert run_jobs(bomb, ["fuse", "waits"], seconds=60, output="nothing") == [JobSuccess("fuse"), JobSuccess("waits")]


@pytest.mark.slow
def test_an_interrupt_leaves_no_child_behind(tmp_path):
    script = f"""
        from pathlib import Path
        from concurrent.futures import ThreadPoolExecutor
        from datamorphic.runs.jobs import JobPool
        def endless(number):
            import os, time
            Path({str(tmp_path)!r}, f"pid{{number}}").write_text(str(os.getpid()))
            while True:
                time.sleep(0.01)
        with JobPool(endless) as pool:
            list(ThreadPoolExecutor(2).map(pool.run, range(2)))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    parent = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
    notes = [tmp_path / "pid0", tmp_path / "pid1"]
    wait_until(
        lambda: parent.poll() is not None or all(note.exists() and note.read_text() for note in notes), "both jobs"
    )
    assert parent.poll() is None, parent.stderr.read()
    os.killpg(parent.pid, signal.SIGINT)  # as a terminal does
    assert "KeyboardInterrupt" in parent.communicate(timeout=60)[1]
    assert all(gone(int(note.read_text())) for note in notes)


class Unreadable:
    def __reduce__(self):
        return int, ("no number",)

    def __call__(self, job):
        return job


LOCK = threading.Lock()
BAD = {
    "no function": (lambda: run_jobs(3, [1]), "'function' parameter of JobPool must be callable"),
    "a lock in it": (
        lambda: run_jobs(lambda job, lock=LOCK: lock, [1]),
        "The function cannot be sent to another process",
    ),
    "a lock as a job": (lambda: run_jobs(abs, [LOCK]), "The job cannot be sent to another process"),
    "not to be loaded": (
        lambda: run_jobs(Unreadable(), [1]),
        "The function cannot be loaded in another process: ValueError",
    ),
    "no time": (
        lambda: run_jobs(abs, [1], seconds=0),
        "'seconds' parameter of JobPool must be a finite number above 0",
    ),
    "no memory": (lambda: run_jobs(abs, [1], memory=0), "'memory' parameter of JobPool must be an int"),
    "output": (
        lambda: run_jobs(abs, [1], output="file"),
        "'output' parameter of JobPool must be one of 'stderr', 'nothing'",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError) as caught:
        call()
    assert message in str(caught.value)


def test_no_jobs():
    assert run_jobs(abs, []) == []


def _patch_and_tell(job):
    import math

    before = math.tau
    math.tau = job
    return before


@pytest.mark.slow
def test_a_fresh_child_knows_nothing_of_the_job_before():
    alone = run_jobs(_patch_and_tell, [1.0, 2.0], fresh=True)
    assert [item.value for item in alone] == [math.tau, math.tau]

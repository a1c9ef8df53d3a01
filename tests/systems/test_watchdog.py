"""No child process and no temporary folder outlives a process that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from datamorphic.systems import watchdog

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")

FOLDER = """
from datamorphic.systems.watchdog import make_temporary_folder, run_program
with make_temporary_folder() as folder:
    open(folder + "/draft", "w").close()
    run_program(["sleep", "60"], folder, timeout=60)
"""

#: a search that never ends holds the interpreter lock, so no thread of the worker can do anything
EXPLORE = """
import re
import datamorphic as dm
class Endless:
    classes_ = [0, 1]
    def predict(self, frame):
        re.match("(a+)+$", "a" * 60 + "b")
dm.explore(Endless(), dm.Space([dm.Integer("n", 0, 1000)]), walks=40, batch=10, engine="processes:2", progress=False)
"""

JOBS = """
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datamorphic.runs.jobs import JobPool
with JobPool(lambda n: subprocess.run(["sleep", "60"]), seconds=60) as pool:
    list(ThreadPoolExecutor(2).map(pool.run, [1, 2]))
"""


def find_processes(mark):
    """Return the command lines of the living processes with a mark in their environment, by process id."""
    lines = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    lines[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it has ended, or belongs to somebody else
                continue
    return lines


def kill_when(program, tmp_path, is_ready, pause):
    """Start a program, kill it when its processes are there, and return what is left after two seconds."""
    (tmp_path / "program.py").write_text(program)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    mark = f"WATCHDOG_TEST={os.getpid()}-{time.monotonic()}"
    environment = {**os.environ, "TMPDIR": str(temporary), **dict([mark.split("=")])}
    process = subprocess.Popen([sys.executable, tmp_path / "program.py"], env=environment, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not is_ready(find_processes(mark).values(), temporary) and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.05)
        assert is_ready(find_processes(mark).values(), temporary)
        time.sleep(pause)
    finally:
        process.kill()
        process.wait()
    deadline = time.monotonic() + 2
    while living := workers(find_processes(mark)):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    for number in living:
        os.kill(number, signal.SIGKILL)
    deadline = (
        time.monotonic() + 20
    )  # Python's own trackers may still be importing what they need; they remove semaphores
    while find_processes(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    shared_memory = [name for name in os.listdir("/dev/shm") if str(process.pid) in name]
    return list(living.values()), list(temporary.iterdir()), shared_memory, find_processes(mark)


def workers(lines):
    return {number: line for number, line in lines.items() if "resource_tracker" not in line}


def are_loky(lines, temporary):
    return sum("popen_loky" in line for line in lines) == 2


CASES = {
    "a folder and a program": (FOLDER, lambda lines, temporary: any("sleep" in line for line in lines), 0.0),
    "workers that start": (EXPLORE, are_loky, 0.0),
    "workers that hang in compiled code": (EXPLORE, are_loky, 4.0),
    "jobs with processes of their own": (JOBS, lambda lines, temporary: sum("sleep" in line for line in lines) == 2, 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_nothing_outlives_a_process_that_is_killed(name, tmp_path):
    program, is_ready, pause = CASES[name]
    assert kill_when(program, tmp_path, is_ready, pause) == ([], [], [], {})


def test_a_folder_is_removed_and_a_watchdog_that_was_killed_is_replaced():
    with watchdog.make_temporary_folder() as folder:
        first = watchdog._process
        assert Path(folder).parent == Path(tempfile.gettempdir())
        first.kill()
        first.wait()
        with watchdog.make_temporary_folder() as inner:
            assert Path(inner).is_dir()
            assert watchdog._process is not first
        assert watchdog._process.poll() is None
    assert not Path(folder).exists()


def test_a_program_that_takes_too_long_is_killed():
    with pytest.raises(subprocess.TimeoutExpired):
        watchdog.run_program(["sleep", "60"], ".", timeout=0.1)
    assert watchdog.run_program(["echo", "done"], ".", timeout=60).stdout == "done\n"


def test_a_fork_leaves_the_watchdog_to_its_parent():
    with watchdog.make_temporary_folder() as folder:
        fork = os.fork()
        if fork == 0:
            os._exit(0 if watchdog._process is None and not watchdog._watched else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) == 0
        assert Path(folder).exists()

"""`StudioJob`: work in a process of its own, with its events and files; `WorkerPool` starts the processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shlex
import signal
import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .._files import write_file
from ..cli.exit_codes import ExitCode
from ..errors import format_error_line

JobState = Literal["waiting", "running", "finished", "interrupted", "failed", "killed"]
STOP_GRACE_SECONDS = 1.2  # after which a job that was stopped is killed: the page promises two seconds
MAX_JOBS_AT_ONCE = os.cpu_count() or 1  # of all people; the next ones wait
MAX_MESSAGE_CHARACTERS = 2_000
WAIT_INTERVAL_SECONDS = 0.1  # between looks for a free place
MAX_LINE_BYTES = 64_000_000
STATE_FILE, RESULT_FILE, REPORT_FILE, FRONT_FILE = "job.json", "output.txt", "report.html", "front.parquet"
PARTS_FILE = "parts.json"  # the report in parts, to be shown within a page of the studio
RESULT_CODES = (ExitCode.OK, ExitCode.FINDINGS, ExitCode.INCOMPLETE, ExitCode.INTERRUPTED)  # of commands with a result
RESTART_HINT = "Start the job again: it gets a new process."
INTERRUPT = {"kind": "interrupt"}  # a request that the worker does not queue
ENDED_STATES: tuple[JobState, ...] = ("finished", "interrupted", "failed", "killed")


class Worker:
    """A child process that waits for requests; see `worker`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, environment: Mapping[str, str] | None = None) -> Worker:
        """Start a process."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "datamorphic.web.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**(os.environ if environment is None else environment), "PYTHONUNBUFFERED": "1"},
            limit=MAX_LINE_BYTES,
            start_new_session=True,  # Ctrl-C in the terminal of the studio is not one for its jobs
        )
        return cls(process)

    async def send(self, request: Mapping[str, Any]) -> None:
        """Send a request."""
        assert self.process.stdin is not None
        self.process.stdin.write((json.dumps(request) + "\n").encode())
        await self.process.stdin.drain()

    async def read_event(self) -> dict[str, Any] | None:
        """Return the next event, or None if the process has ended."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        return json.loads(line) if line else None

    def interrupt(self) -> None:
        """Ask the process to end its work and keep what it has, as Ctrl-C does; Windows cannot send that to one process."""
        if self.process.stdin is not None and self.process.returncode is None:
            self.process.stdin.write((json.dumps(INTERRUPT) + "\n").encode())

    def kill(self) -> None:
        """End the process and its children at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:  # on Windows, the watchdog of the process ends its children
                self.process.kill()


class WorkerPool:
    """Keeps one process ready, because starting it takes longer than most of the work.

    `queue` has the jobs that run and those that wait, in the order of their start.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = environment
        self.queue: list[StudioJob] = []
        self._spare: asyncio.Task[Worker] | None = None
        self._workers: list[Worker] = []

    def prepare(self) -> None:
        """Start a spare process in the background."""
        if self._spare is None:
            self._spare = asyncio.create_task(Worker.start(self._environment))

    async def take(self) -> Worker:
        """Return a process that waits for requests, and start the next one."""
        self.prepare()
        assert self._spare is not None
        spare, self._spare = self._spare, None  # before waiting: nobody else gets the same process
        self.prepare()
        worker = await spare
        if worker.process.returncode is not None:
            return await self.take()
        self._workers = [other for other in self._workers if other.process.returncode is None]
        self._workers.append(worker)
        return worker

    async def close(self) -> None:
        """End all processes."""
        if self._spare is not None:
            self._workers.append(await self._spare)
            self._spare = None
        for worker in self._workers:
            worker.kill()
        await asyncio.gather(*(worker.process.wait() for worker in self._workers))


@dataclass(kw_only=True)
class StudioJob:
    """One command of the command line that runs for a person, with what is known about it.

    `folder` holds what the command writes. The state is written there, too, so that a studio that is started again finds it.
    """

    number: int
    title: str
    arguments: list[str]  # of the command line, without ``datamorphic``
    folder: Path
    page: str = ""  # the address of the page that started it
    state: JobState = "waiting"
    started: float = field(default_factory=time.time)
    seconds: float = 0.0
    code: int | None = None
    run: int | None = None  # the number in the run store
    share: float | None = None
    text: str = ""
    left: str = ""  # an estimate of the time left, in words
    outcomes: list[dict[str, Any]] = field(default_factory=list)  # of the checks of an audit
    stopped: bool = False  # whether the person pressed Stop
    reason: str = ""  # why the job ended early
    jobs_before: int = 0  # that wait, too, and start earlier
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=200))
    _worker: Worker | None = field(default=None, repr=False)
    _following: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def command(self) -> str:
        """The command that does the same in a terminal."""
        return shlex.join(["datamorphic", *(word for word in self.arguments if not self._is_added(word))])

    @property
    def own_arguments(self) -> list[str]:
        """The arguments that the page gave: without the command, and what the studio adds for its files."""
        return [word for word in self.arguments[1:] if not self._is_added(word) and word != "--trust"]

    def _is_added(self, word: str) -> bool:
        """Return whether the studio added a word, for its own files."""
        return word.startswith(("--json", "--store=", "--record=")) or word.partition("=")[2].startswith(
            str(self.folder)
        )

    @property
    def ended(self) -> bool:
        """Whether the job does no more work."""
        return self.state in ENDED_STATES

    @property
    def succeeded(self) -> bool:
        """Whether there is a result, with findings or without."""
        return self.code in RESULT_CODES and self.result is not None

    @property
    def result(self) -> dict[str, Any] | None:
        """The JSON document that the command printed, if it did."""
        try:
            document = json.loads((self.folder / RESULT_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) else {"items": document}

    @property
    def parts(self) -> dict[str, Any] | None:
        """The report in parts, as `render_parts` returns them; None if there is no report."""
        try:
            document: dict[str, Any] = json.loads((self.folder / PARTS_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return document

    @property
    def error(self) -> str:
        """Why the job failed: what the command wrote to stderr, and why its process ended early."""
        try:
            text = (self.folder / "errors.txt").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            text = ""
        return "\n".join(filter(None, (text[-MAX_MESSAGE_CHARACTERS:], self.reason)))

    def get_file(self, name: str) -> Path | None:
        """Return a file that the command wrote, or None."""
        path = self.folder / name
        return path if path.is_file() else None

    async def execute(self, pool: WorkerPool, served_folder: Path) -> None:
        """Run the command in a process, and follow its events until it ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.save()
        pool.queue.append(self)
        begin_time = time.monotonic()
        try:
            while (place := pool.queue.index(self)) >= MAX_JOBS_AT_ONCE and not self.stopped:
                self.jobs_before = place - MAX_JOBS_AT_ONCE
                await asyncio.sleep(WAIT_INTERVAL_SECONDS)
            begin_time = time.monotonic()
            if not self.stopped:
                self._following = asyncio.create_task(self._follow(pool, served_folder))
                with contextlib.suppress(asyncio.CancelledError):  # Stop does not wait for a process that was killed
                    await self._following
        except (OSError, ValueError) as error:  # no process, no memory, or an invalid event
            self.reason = f"The process of this job failed: {format_error_line(error)}. {RESTART_HINT}"
            logging.getLogger(__name__).error("Job %s failed: %s", self.number, format_error_line(error))
            if self._worker is not None:
                self._worker.kill()
        finally:
            pool.queue.remove(self)
        self.seconds = time.monotonic() - begin_time
        if self.code is None:
            self.state = "interrupted" if self.stopped else "killed"
        elif self.code == ExitCode.INTERRUPTED:
            self.state = "interrupted"
        else:
            self.state = "finished" if self.succeeded else "failed"
        self.save()

    async def _follow(self, pool: WorkerPool, served_folder: Path) -> None:
        self._worker = await pool.take()
        self.state = "running"
        self.save()
        if self.stopped:
            self._worker.kill()
        request = {
            "kind": "command",
            "arguments": self.arguments,
            "folder": str(served_folder),
            "output": str(self.folder),
        }
        with contextlib.suppress(ConnectionError):
            await self._worker.send(request)
        while (event := await self._worker.read_event()) is not None:
            self._take(event)
        status = await self._worker.process.wait()
        if self.code is None and not self.stopped:
            self.reason = _describe_death(status)

    def _take(self, event: dict[str, Any]) -> None:
        kind = event.get("event")
        if kind == "progress":
            self.share, self.text, self.left = event.get("share"), event.get("text", ""), event.get("left", "")
        elif kind == "run":
            self.run = event["number"]
            self.save()
        elif kind == "outcome":
            self.outcomes.append(event)
        elif kind == "end":
            self.code = event["code"]

    async def stop(self) -> None:
        """End the job. What it has found is reported if the grace time suffices, and kept if the command has a store."""
        self.stopped = True
        if self._worker is None or self.ended:
            return
        worker = self._worker
        worker.interrupt()
        deadline = time.monotonic() + STOP_GRACE_SECONDS
        while not self.ended and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        if not self.ended and self._following is not None:
            worker.kill()
            self._following.cancel()

    def save(self) -> None:
        """Write the state to the folder of the job."""
        names = (
            "number",
            "title",
            "arguments",
            "page",
            "state",
            "started",
            "seconds",
            "code",
            "run",
            "outcomes",
            "reason",
        )
        document = {name: getattr(self, name) for name in names} | {"process": os.getpid()}
        write_file(self.folder / STATE_FILE, json.dumps(document))

    @classmethod
    def load(cls, folder: Path) -> StudioJob | None:
        """Return the job of a folder, as a studio that has ended left it; None if there is none."""
        try:
            document = json.loads((folder / STATE_FILE).read_text(encoding="utf-8"))
            document.pop("process", None)
            job = cls(folder=folder, **document)
        except (OSError, ValueError, TypeError):
            return None
        if not job.ended:  # the studio that ran it is gone
            job.state, job.reason = "killed", "The studio ended while this job was running. Start it again."
        return job


def _describe_death(status: int) -> str:
    """Return what happened to a process that ended without a result; a negative status is a signal."""
    if status >= 0:
        return f"The process of this job ended without a result (exit code {status}). {RESTART_HINT}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    cause = " Somebody ended it, or the memory ran out." if name == "SIGKILL" else ""
    return f"The process of this job was killed ({name}).{cause} {RESTART_HINT}"

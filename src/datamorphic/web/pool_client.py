"""`PoolClient`: the studio's side of a test pool that lives in a worker process."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .._files import write_file
from ..errors import UsageError
from .jobs import STOP_GRACE_SECONDS, Worker, WorkerPool
from .subject import ChosenSubject

RECORDED_FILE = "recorded.scr"  # the commands of the pool, written after each of them
MAX_LOG_ENTRIES = 200
FIRST_GRACE_SECONDS = 0.5  # for a command that was stopped to keep what it has; then it is cut short, then killed
ENDED_MESSAGE = "The process of the test pool has ended. Its cases are gone; replay the script to make them again."

LogKind = Literal["done", "stopped", "failed", "running"]


class PoolFailure(UsageError):
    """A request that the test pool refused; `line` and `column` are the place in the script, if known."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


@dataclass(kw_only=True)
class LogEntry:
    """A command that was started, with its outcome."""

    text: str
    kind: LogKind = "running"
    outcome: str = ""
    messages: list[str] = field(default_factory=list)
    time: float = field(default_factory=time.time)
    line: int | None = None


class PoolClient:
    """Sends requests to the process of a test pool, one at a time, and knows how far the running one is.

    `start` runs commands in the background: they go on when the page is closed, and every page of the person finds them in
    `running`, `log` and `state`. `version` grows with every change, for pages that watch it.
    """

    def __init__(
        self, workers: WorkerPool, subject: ChosenSubject, folder: Path, served: Path, trust: bool = False
    ) -> None:
        self.busy = False
        self.running: LogEntry | None = None  # the command that is being run
        self.share: float | None = None
        self.text = ""
        self.left = ""  # an estimate of the time left, in words
        self.state: dict[str, Any] = {}  # the last description of the pool
        self.comparison: dict[str, Any] | None = None  # of the last replay
        self.log: deque[LogEntry] = deque(maxlen=MAX_LOG_ENTRIES)
        self.version = 0
        self.seed = 0  # that a new pool begins with
        self.lost_script = ""  # the commands of a pool whose process has ended
        self._workers, self._subject, self._folder, self._served, self._trust = workers, subject, folder, served, trust
        self._worker: Worker | None = None
        self._numbers = itertools.count(1)
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def open(self, seed: int | None = None) -> dict[str, Any]:
        """Return the description of the pool; start its process if there is none."""
        async with self._lock:
            if self._worker is None or self._worker.process.returncode is not None:
                if seed is not None:
                    self.seed = seed
                self._worker = await self._workers.take()
                request = {
                    "kind": "open",
                    "subject": self._subject.to_document(),
                    "folder": str(self._folder),
                    "served": str(self._served),
                    "trust": self._trust,
                    "seed": self.seed,
                }
                try:
                    self._set_state(await self._exchange(request))
                    self._find_lost_script()
                except PoolFailure:
                    self.close()  # a process without a pool
                    raise
        return self.state

    async def play(self, text: str, name: str = "") -> dict[str, Any]:
        """Run the commands of a script text on the pool, and return its new description."""
        return await self._run({"kind": "play", "text": text, "name": name}, text.strip())

    async def replay(self, text: str, name: str = "") -> dict[str, Any]:
        """Run a script on a fresh pool with the same seed, and compare it with this pool; see `comparison`."""
        return await self._run({"kind": "replay", "text": text, "name": name, "seed": self.seed}, f"replay {name}")

    async def adopt(self) -> dict[str, Any]:
        """Make the pool of the last replay the pool."""
        return await self._run({"kind": "adopt"}, "use the cases of the replay")

    def start(self, text: str, name: str = "") -> None:
        """Run commands in the background; the outcome is in `log`."""
        self._start(self.play(text, name))

    def start_replay(self, text: str, name: str = "") -> None:
        """Replay a script in the background; the outcome is in `log` and `comparison`."""
        self._start(self.replay(text, name))

    def start_adopting(self) -> None:
        """Make the pool of the last replay the pool, in the background."""
        self._start(self.adopt())

    def start_over(self, seed: int) -> None:
        """End the process, and begin with an empty pool and another seed; what was recorded is kept in `lost_script`."""
        if self.running is not None:
            raise UsageError("A command is running. Wait for it, or stop it first.")
        self.close()
        self.seed = seed
        self._start(self.open())

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        async def run_quietly() -> None:
            with contextlib.suppress(PoolFailure):  # it is in the log
                await work

        if self.running is not None:
            work.close()
            raise UsageError("A command is running. Wait for it, or stop it first.")
        task = asyncio.create_task(run_quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def ask(self, kind: str, **request: Any) -> dict[str, Any]:
        """Return the reply to a question about the pool."""
        await self.open()
        async with self._lock:
            return await self._exchange({"kind": kind, **request})

    async def _run(self, request: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Send a request that changes the pool, and note it in the log."""
        entry = self.running = LogEntry(text=text)
        self.log.append(entry)
        self.version += 1
        try:
            if self._worker is not None and self._worker.process.returncode is not None:
                self._worker = None  # killed between two commands: this one must not run on an empty pool
                raise PoolFailure(ENDED_MESSAGE)
            await self.open()
            async with self._lock:
                reply = await self._exchange(request)
            entry.kind = "stopped" if reply.get("interrupted") else "done"
            entry.outcome, entry.messages = reply.pop("outcome", ""), reply.pop("new_messages", [])
            self.comparison = reply.get("comparison")
            self._set_state(reply)
        except PoolFailure as failure:
            entry.kind, entry.outcome, entry.line = "failed", str(failure), failure.line
            if self._worker is not None:
                with contextlib.suppress(PoolFailure):  # commands before the one that failed were run
                    async with self._lock:
                        self._set_state(await self._exchange({"kind": "state"}))
            raise
        finally:
            self.running = None
            self.version += 1
        return self.state

    def _find_lost_script(self) -> None:
        """Find the commands of an earlier process, or of an earlier studio, that made cases of the same system."""
        try:
            text = (self._folder / RECORDED_FILE).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return
        beginning = "\n".join(self.state["script"].splitlines()[:2])  # the heading, and the test system
        self.lost_script = text if text.startswith(beginning) else ""

    def _set_state(self, state: dict[str, Any]) -> None:
        self.state = state
        self.version += 1
        if state.get("cases") or state.get("runs"):
            self.lost_script = ""
            with contextlib.suppress(OSError):
                write_file(self._folder / RECORDED_FILE, state["script"], "script")

    async def _exchange(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._worker is not None
        worker, number = self._worker, next(self._numbers)
        self.busy, self.share, self.text, self.left = True, None, "", ""
        try:
            await worker.send({**request, "number": number})
            while (event := await worker.read_event()) is not None:
                if event["event"] == "progress":
                    self.share, self.text = event.get("share"), event.get("text", "")
                    self.left = event.get("left", "")
                elif event.get("number") == number:
                    if event["event"] == "failure":
                        raise PoolFailure(event["message"], event.get("line"), event.get("column"))
                    return event
        except ConnectionError:
            pass
        finally:
            self.busy = False
        if self._worker is worker:
            self._worker = None
        raise PoolFailure(ENDED_MESSAGE)

    async def stop(self) -> None:
        """End the running request: what was found so far is in the pool; a process that does not react is killed."""
        worker = self._worker
        if worker is None or not self.busy:
            return
        begin_time, interrupt_count = time.monotonic(), 0
        while self.busy and (passed := time.monotonic() - begin_time) < STOP_GRACE_SECONDS:
            if interrupt_count < 1 + (passed > FIRST_GRACE_SECONDS):
                worker.interrupt()
                interrupt_count += 1
            await asyncio.sleep(0.05)
        if self.busy:
            worker.kill()

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

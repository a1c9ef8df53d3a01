"""`PoolClient`: the studio's side of a test pool that lives in a worker process."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .jobs import STOP_GRACE_SECONDS, Worker, WorkerPool
from .subject import ChosenSubject


class PoolFailure(UsageError):
    """A request that the test pool refused; `line` is the line of the script, if known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class PoolClient:
    """Sends requests to the process of a test pool, one at a time, and knows how far the running one is."""

    def __init__(
        self, workers: WorkerPool, subject: ChosenSubject, folder: Path, served: Path, trust: bool = False
    ) -> None:
        self.busy = False
        self.share: float | None = None
        self.text = ""
        self.state: dict[str, Any] = {}  # the last description of the pool
        self._workers, self._subject, self._folder, self._served, self._trust = workers, subject, folder, served, trust
        self._worker: Worker | None = None
        self._numbers = itertools.count(1)
        self._lock = asyncio.Lock()
        self._closed = False

    async def open(self, seed: int = 0) -> dict[str, Any]:
        """Return the description of the pool; start its process if there is none."""
        async with self._lock:
            if self._worker is None or self._worker.process.returncode is not None:
                self._worker = await self._workers.take()
                request = {
                    "kind": "open",
                    "subject": self._subject.to_document(),
                    "folder": str(self._folder),
                    "served": str(self._served),
                    "trust": self._trust,
                    "seed": seed,
                }
                self.state = await self._exchange(request)
        return self.state

    async def play(self, text: str, name: str = "") -> dict[str, Any]:
        """Run the commands of a script text on the pool, and return its new description."""
        await self.open()
        async with self._lock:
            self.state = await self._exchange({"kind": "play", "text": text, "name": name})
        return self.state

    async def ask(self, kind: str, **request: Any) -> dict[str, Any]:
        """Return the reply to a question about the pool."""
        await self.open()
        async with self._lock:
            return await self._exchange({"kind": kind, **request})

    async def _exchange(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._worker is not None
        number = next(self._numbers)
        self.busy, self.share, self.text = True, None, ""
        try:
            await self._worker.send({**request, "number": number})
            while (event := await self._worker.read_event()) is not None:
                if event["event"] == "progress":
                    self.share, self.text = event.get("share"), event.get("text", "")
                elif event.get("number") == number:
                    if event["event"] == "failure":
                        raise PoolFailure(event["message"], event.get("line"))
                    return event
        except ConnectionError:
            pass
        finally:
            self.busy = False
        self._worker = None
        raise PoolFailure(
            "The process of the test pool has ended. Its cases are gone; replay the script to make them again."
        )

    async def stop(self) -> None:
        """End the running request: what was found so far is in the pool; a process that does not react is killed."""
        worker = self._worker
        if worker is None or not self.busy:
            return
        worker.interrupt()
        deadline = time.monotonic() + STOP_GRACE_SECONDS
        while self.busy and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        if self.busy:
            worker.kill()

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

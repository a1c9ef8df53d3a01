"""`QueryClient`: quick questions about files, answered in a process of their own: previews, spaces, the demo and the guide.

The test pool has a process, too, but it may be busy, and it cannot be opened as long as something is wrong with the space.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from ..errors import UsageError
from .jobs import Worker, WorkerPool

IDLE_SECONDS = 120.0  # after which the process ends
MAX_REPLY_SECONDS = 180.0


class QueryClient:
    """Sends questions to a process, one at a time. The process ends when there are none for a while."""

    def __init__(self, workers: WorkerPool) -> None:
        self._workers = workers
        self._worker: Worker | None = None
        self._numbers = itertools.count(1)
        self._lock = asyncio.Lock()
        self._end: asyncio.TimerHandle | None = None

    async def ask(self, kind: str, **request: Any) -> dict[str, Any]:
        """Return the reply to a question of `QuerySession`, or raise `UsageError` with the reason why there is none."""
        async with self._lock:
            if self._end is not None:
                self._end.cancel()
            if self._worker is None or self._worker.process.returncode is not None:
                self._worker = await self._workers.take()
            try:
                message = {**request, "session": "queries", "kind": kind, "number": next(self._numbers)}
                async with asyncio.timeout(MAX_REPLY_SECONDS):
                    return await self._exchange(self._worker, message)
            except TimeoutError:
                self.close()
                raise UsageError(f"There is no answer after {MAX_REPLY_SECONDS:.0f} s. Use a smaller file.") from None
            except asyncio.CancelledError:  # the page was left: the next question must not get this reply
                self.close()
                raise
            finally:
                self._end = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)

    async def _exchange(self, worker: Worker, message: dict[str, Any]) -> dict[str, Any]:
        try:
            await worker.send(message)
            while (event := await worker.read_event()) is not None:
                if event.get("number") == message["number"]:
                    if event["event"] == "failure":
                        raise UsageError(event["message"])
                    return event
        except ConnectionError:
            pass
        self._worker = None
        raise UsageError("The process ended before it answered. The file may need more memory than there is.")

    def close(self) -> None:
        """End the process."""
        if self._end is not None:
            self._end.cancel()
            self._end = None
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

"""A child process that can be stopped when it hangs and missed when it dies.

It is joblib's (loky): it neither forks, after which libraries with threads of their own hang, nor imports the caller's
script a second time.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

MAX_START_ATTEMPTS = 3  # to start a child
STARTUP_TIMEOUT_SECONDS = (
    120.0  # seconds a new process may take to import its libraries and receive what it works with
)


class ChildProcess:
    """One process, which begins with `start` and ends with `close`."""

    def __init__(self) -> None:
        from joblib.externals.loky.backend import get_context
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        self._processes: list[Any] = []
        self._pool = ProcessPoolExecutor(
            max_workers=1,
            context=get_context("loky"),
            initializer=_prepare,
            initargs=(os.getpid(),),
        )

    def start(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Start the process with a first task, which gives it what it works with; return what tells when it is ready."""
        # Ctrl-C reaches the whole terminal; a child must not die of it while it imports its libraries
        old_mask = (
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            if hasattr(signal, "pthread_sigmask")
            else None
        )
        try:
            # a task and no argument of the initializer: starting would wait until the child has imported all it needs
            return self.submit(function, *arguments)
        finally:
            self._processes = list((self._pool._processes or {}).values())
            if old_mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called in the child."""
        return self._pool.submit(function, *arguments)

    @property
    def pid(self) -> int | None:
        """The number of the process; None if it never began."""
        return self._processes[0].pid if self._processes else None

    @property
    def exit_code(self) -> int | None:
        """What the process ended with, a negative number for a signal; None if it is alive, or if nobody knows."""
        return self._processes[0].exitcode if self._processes else None

    def kill(self) -> None:
        """Kill the process, and what it started."""
        from joblib.externals.loky.backend.utils import kill_process_tree

        for process in list((self._pool._processes or {}).values()):
            kill_process_tree(process)

    def close(self) -> None:
        """Kill the process, and wait until the pool has noticed and ended in good order."""
        self.kill()
        self._pool.shutdown(wait=True)


def _prepare(parent: int) -> None:
    sys.stdout = sys.stderr  # what a system prints must not get between a command and whoever reads its output
    # Ctrl-C reaches the whole terminal; the parent decides what it means
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()


def _exit_with_parent(parent: int) -> None:
    """Leave nothing behind when the parent is killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)

"""A child process that can be killed when it hangs, and whose death is noticed.

It is one of joblib's loky processes. They are not forked, because libraries with threads hang in forked processes, and
they do not import the caller's script a second time.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from .watchdog import release_process, watch_process

MAX_START_ATTEMPTS = 3
STARTUP_TIMEOUT_SECONDS = 120.0  # for importing libraries and receiving the system


class ChildProcess:
    """A process that begins with `start` and ends with `close`."""

    def __init__(self) -> None:
        from multiprocessing import resource_tracker

        from joblib.externals.loky.backend import get_context
        from joblib.externals.loky.backend.utils import kill_process_tree
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        self._kill_process_tree = kill_process_tree  # now: nothing can be imported while Python ends
        resource_tracker.ensure_running()  # before Ctrl-C is blocked in `start`, because Python 3.11 unblocks it here
        self._processes: list[Any] = []
        self._pool = ProcessPoolExecutor(
            max_workers=1, context=get_context("loky"), initializer=_prepare, initargs=(os.getpid(),)
        )

    def start(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Start the process with a first task, and return the future of that task.

        The task sends the process what it works with. The process is ready when the future is done.
        """
        # Ctrl-C reaches all processes of a terminal; it must not kill a child that is importing libraries
        old_mask = None
        if hasattr(signal, "pthread_sigmask"):
            old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            # a task, not an argument of the `initializer`, which would block until the child has imported everything
            return self.submit(function, *arguments)
        finally:
            self._processes = list((self._pool._processes or {}).values())
            for process in self._processes:
                watch_process(process.pid)
            if self._processes and os.name == "posix":
                # or the pool would wait for ever for the rest of an answer whose process ends while it sends it
                self._pool._result_queue._writer.close()
            if old_mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Call a function in the process and return its future."""
        return self._pool.submit(function, *arguments)

    @property
    def pid(self) -> int | None:
        """The process id; None if the process never started."""
        return self._processes[0].pid if self._processes else None

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None if the process is alive or unknown."""
        return self._processes[0].exitcode if self._processes else None

    def kill(self) -> None:
        """Kill the process, its descendants and its process group."""
        for process in list((self._pool._processes or {}).values()):
            self._kill_process_tree(process)
        if self.pid is not None and hasattr(os, "killpg"):
            with suppress(OSError):  # the process group is empty
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and wait until its pool has shut down."""
        self.kill()
        self._pool.shutdown(wait=True)
        for process in self._processes:
            release_process(process.pid)


def _prepare(parent: int) -> None:
    from joblib.externals.loky import process_executor

    # loky replaces a process whose memory grows, but the new one would not have the system
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf
    sys.stdout = sys.stderr  # keep stdout of a command machine-readable
    # the parent process handles Ctrl-C
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # so that descendants can be found

    def exit_with_parent() -> None:  # a process that was started when the parent was killed is not watched
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=exit_with_parent, daemon=True).start()

"""A small process that ends child processes and removes temporary folders when this process is killed.

A thread inside a child cannot do it: it does not run while a library is imported, or while compiled code holds the interpreter
lock. The watchdog reads what to watch from its stdin, which is closed when this process ends, for whatever reason. This file
is its program, too, so it imports nothing but what Python itself has.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

_lock = threading.RLock()
_watched: set[str] = set()
_process: Any = None


def watch_process(pid: int) -> None:
    """Let a child process, and its process group if it leads one, be ended when this process ends."""
    _add(f"process {pid}")


def release_process(pid: int) -> None:
    """Stop watching a child process, which has ended."""
    _remove(f"process {pid}")


@contextmanager
def make_temporary_folder(folder: str | os.PathLike[str] | None = None, prefix: str = "datamorphic-") -> Iterator[str]:
    """Make a folder for the time of the block; it is removed even if this process is killed."""
    import json
    import tempfile

    with tempfile.TemporaryDirectory(dir=folder, prefix=prefix, ignore_cleanup_errors=True) as path:
        item = f"folder {json.dumps(os.path.abspath(path))}"  # in one line
        _add(item)
        try:
            yield path
        finally:
            _remove(item)


def run_program(command: Sequence[str], folder: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder and return its output. It is killed when this process ends."""
    import subprocess

    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        watch_process(process.pid)
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
            release_process(process.pid)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _add(item: str) -> None:
    with _lock:
        _watched.add(item)
        _send(f"+{item}")


def _remove(item: str) -> None:
    with _lock:
        _watched.discard(item)
        if _process is not None:
            _send(f"-{item}")


def _send(line: str) -> None:
    if _process is not None:
        with suppress(OSError):  # somebody has killed the watchdog
            _process.stdin.write(f"{line}\n".encode())
            return
    _start()


def _start() -> None:
    """Start the watchdog, and tell it everything it has to watch."""
    import atexit
    import subprocess

    global _process
    _stop()
    atexit.unregister(_stop)
    atexit.register(_stop)
    _process = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0 if os.name == "posix" else None,  # it outlives whatever ends the group of this process
    )
    for item in _watched:
        _process.stdin.write(f"+{item}\n".encode())


def _stop() -> None:
    """End the watchdog; what is still watched ends, too."""
    global _process
    process, _process = _process, None
    if process is not None:
        with suppress(OSError):
            process.stdin.close()
        process.wait()


def _forget_in_fork() -> None:
    """Leave the watchdog to the parent process: a fork must not keep its stdin open, and has nothing to watch."""
    global _lock, _process
    _lock = threading.RLock()
    _watched.clear()
    if _process is not None:
        with suppress(OSError):
            _process.stdin.close()
        _process.returncode = 0  # it is no child of the fork
        _process = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_fork)


# -- in the watchdog -------------------------------------------------------------------------------------------


def _serve() -> None:
    """Read what to watch until stdin is closed, then end it."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    items: set[str] = set()
    for line in sys.stdin.buffer:
        item = line.decode()[1:].removesuffix("\n")
        (items.add if line.startswith(b"+") else items.discard)(item)
    for item in sorted(items, reverse=True):  # processes before the folders they use
        kind, _, value = item.partition(" ")
        if kind == "process":
            with suppress(OSError):
                _end(int(value))
        else:
            import json
            import shutil

            shutil.rmtree(json.loads(value), ignore_errors=True)


def _end(pid: int) -> None:
    if os.name != "posix":
        os.kill(pid, signal.SIGTERM)
    elif os.getsid(pid) == os.getsid(0):  # else it is not ours: the number was reused, or it left our session
        (os.killpg if os.getpgid(pid) == pid else os.kill)(pid, signal.SIGKILL)


if __name__ == "__main__":
    _serve()

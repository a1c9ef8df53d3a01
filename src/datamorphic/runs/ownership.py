"""Owners of runs: the process recorded with a run, and the open store in this process."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from ..errors import StoreError

MAX_HEARTBEAT_AGE_SECONDS = 120.0  # of a run on another host
MAX_CLOCK_LEAD_SECONDS = 24 * 3600.0  # of another host's clock


class Owner:
    """An owner of runs, identified by a random token; alive as long as its store."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.run_ids: set[int] = set()
        _LOCAL_OWNERS[self.token] = self

    def to_record(self) -> dict[str, Any]:
        """Return the columns of a run that describe its owner."""
        pid = os.getpid()
        record = {"owner": self.token, "host": socket.gethostname(), "pid": pid, "born": read_start_time(pid)}
        return record | {"heartbeat": time.time()}


#: The owners of this process. Without them, a run whose end could not be stored would count as running for as long as
#: this process lives.
_LOCAL_OWNERS: WeakValueDictionary[str, Owner] = WeakValueDictionary()


def reject_live_run(row: Mapping[str, Any]) -> None:
    """Raise if a process is working on a run."""
    if row["state"] == "running" and is_alive(row):
        worker = f"process {row['pid']} on {row['host']}"
        raise StoreError(f"Run {row['id']} is still running: {worker} is working on it. Wait for it, or end it first.")


def is_alive(row: Mapping[str, Any]) -> bool:
    """Return whether the owner of a run is alive, by its process or its last heartbeat."""
    if row["host"] == socket.gethostname():
        start_time = read_start_time(row["pid"])
        # otherwise another process has the same id
        is_same_process = start_time is not None and start_time in (row["born"], "")
        if row["pid"] == os.getpid() and is_same_process:
            owner = _LOCAL_OWNERS.get(row["owner"])
            return owner is not None and row["id"] in owner.run_ids
        if os.name == "posix":
            return is_same_process
    return -MAX_CLOCK_LEAD_SECONDS < time.time() - row["heartbeat"] < MAX_HEARTBEAT_AGE_SECONDS


def read_start_time(pid: int) -> str | None:
    """Return when a process was started; "" if unknown, None if there is none."""
    if os.name != "posix":
        return ""
    try:
        state, *numbers = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return None if state in "ZX" else numbers[18]  # zombies count as dead; starttime is field 22 in proc(5)
    except OSError:
        pass  # not Linux, no such process, or no permission
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except OSError:
        pass
    return ""

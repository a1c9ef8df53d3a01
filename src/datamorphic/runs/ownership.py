"""Who is at work on a run: the process that is recorded with it, and in this process the store that holds it."""

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

MAX_HEARTBEAT_AGE_SECONDS = 120.0  # seconds for which a sign of life from another host counts
MAX_CLOCK_LEAD_SECONDS = 24 * 3600.0  # seconds that the clock of another host may be ahead


class Owner:
    """One owner of runs, known by a random word; alive as long as its store is, and the process."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.run_ids: set[int] = set()
        _LOCAL_OWNERS[self.token] = self

    def to_record(self) -> dict[str, Any]:
        """Return what the row of a run says of its owner."""
        pid = os.getpid()
        record = {"owner": self.token, "host": socket.gethostname(), "pid": pid, "born": read_start_time(pid)}
        return record | {"heartbeat": time.time()}


#: the owners of this process: without them a run that ended by an error of its store, which could then not be told,
#: would be ours for as long as this process lasts
_LOCAL_OWNERS: WeakValueDictionary[str, Owner] = WeakValueDictionary()


def reject_live_run(row: Mapping[str, Any]) -> None:
    """Raise if somebody is at work on a run."""
    if row["state"] == "running" and is_alive(row):
        raise StoreError(
            f"Run {row['id']} is under way: pid {row['pid']} on {row['host']} is at work on it. Wait for it, or end "
            f"it first."
        )


def is_alive(row: Mapping[str, Any]) -> bool:
    """Tell whether the owner of a run lives: by its process here, by its last sign of life elsewhere."""
    if row["host"] == socket.gethostname():
        start_time = read_start_time(row["pid"])
        is_same_process = start_time is not None and start_time in (
            row["born"],
            "",
        )  # or another process has got its number
        if row["pid"] == os.getpid() and is_same_process:
            owner = _LOCAL_OWNERS.get(row["owner"])
            return owner is not None and row["id"] in owner.run_ids
        if os.name == "posix":
            return is_same_process
    return -MAX_CLOCK_LEAD_SECONDS < time.time() - row["heartbeat"] < MAX_HEARTBEAT_AGE_SECONDS


def read_start_time(pid: int) -> str | None:
    """Return when a process was started, "" where nobody tells, None where there is none."""
    if os.name != "posix":
        return ""
    try:
        state, *numbers = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return None if state in "ZX" else numbers[18]  # a zombie is dead; field 22 of proc(5)
    except OSError:
        pass  # no Linux, no such process, or not ours to see
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except OSError:
        pass
    return ""

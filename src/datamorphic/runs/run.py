"""One run: what the store knows of it, the entries of its journal, and whether anybody is at work on it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Row

from ..errors import StoreError
from .artifacts import Artifact

FRESH = 120.0  # seconds for which a sign of life from another host counts


@dataclass(frozen=True)
class Entry:
    """Answered pieces of one question, as the journal of a run keeps them.

    Attributes
    ----------
    ask : int
        Number of the question.
    first, pieces, rows : int
        Number of the first piece, how many pieces, rows in all.
    fingerprint : str
        Of what was asked.
    payload : bytes
        What was answered.
    about : mapping
        What JSON can hold: random state, health.
    """

    ask: int
    first: int
    pieces: int
    rows: int
    fingerprint: str
    payload: bytes
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """A run as the store knows it; `state` is running, finished, interrupted, failed or killed."""

    id: int
    verb: str
    system: str
    state: str
    started: datetime
    ended: datetime | None
    seconds: float
    seed: Any
    parameters: dict[str, Any]
    versions: dict[str, Any]
    environment: dict[str, Any]
    model_hash: str | None
    data_hash: str | None
    done: float | None
    runs: int
    calls: int
    summary: dict[str, Any]
    verdicts: list[dict[str, Any]]
    artifacts: list[Artifact]
    message: str
    host: str
    pid: int

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON has it, times in ISO 8601."""
        ended = self.ended and self.ended.isoformat()
        return asdict(self) | {"started": self.started.isoformat(), "ended": ended}


def run_of(row: Row[Any], verdicts: list[Any], artifacts: list[Artifact]) -> Run:
    """Return a run from its rows."""
    known = row._mapping
    return Run(
        **{field.name: known[field.name] for field in fields(Run) if field.name in known}
        | {
            "state": "killed" if row.state == "running" and not is_alive(row) else row.state,
            "started": datetime.fromtimestamp(row.started, UTC),
            "ended": None if row.ended is None else datetime.fromtimestamp(row.ended, UTC),
            "verdicts": verdicts,
            "artifacts": artifacts,
        }
    )


def artifact_of(row: Row[Any]) -> Artifact:
    """Return a file from its row."""
    return Artifact(**{field.name: row._mapping[field.name] for field in fields(Artifact)})


# -- owners --------------------------------------------------------------------------------------------------------


def refuse_if_alive(row: Row[Any]) -> None:
    """Raise if some process is at work on a run."""
    if row.state == "running" and is_alive(row):
        raise StoreError(
            f"Run {row.id} is under way: pid {row.pid} on {row.host} is at work on it. Wait for it, or end it first."
        )


def is_alive(row: Row[Any]) -> bool:
    """Tell whether the owner of a run lives: by its process here, by its last sign of life elsewhere."""
    if row.host != socket.gethostname() or os.name != "posix":
        return time.time() - row.heartbeat < FRESH
    born = born_at(row.pid)
    return born is not None and born in (row.born, "")  # or another process has got its number


def born_at(pid: int) -> str | None:
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
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return ""

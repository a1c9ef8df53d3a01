"""One run: what the store knows of it, and the entries of its journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from .._text import to_jsonable
from .artifacts import Artifact


@dataclass(frozen=True)
class JournalEntry:
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
    """A run as the store knows it.

    `state` is running, finished, interrupted, failed, killed, or damaged: then only some of the rest can be trusted.
    """

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
        """Return the run as JSON has it, times in ISO 8601, None for numbers that are none."""
        ended = self.ended and self.ended.isoformat()
        document: dict[str, Any] = to_jsonable(
            asdict(self) | {"started": self.started.isoformat(), "ended": ended}
        )
        return document

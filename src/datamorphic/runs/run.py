"""`Run`: a stored run, and `JournalEntry`: stored answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from .._text import to_jsonable
from .artifacts import Artifact


@dataclass(frozen=True, kw_only=True)
class JournalEntry:
    """Answered pieces of one query, as a journal stores them.

    Attributes
    ----------
    ask : int
        The number of the query.
    first, pieces, rows : int
        The number of the first piece, the number of pieces, and of their rows.
    fingerprint : str
        A hash of the query.
    payload : bytes
        The packed outputs.
    about : mapping
        JSON-serialisable details: random state, health.
    """

    ask: int
    first: int
    pieces: int
    rows: int
    fingerprint: str
    payload: bytes
    about: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A stored run.

    `state` is running, finished, interrupted, failed, killed or damaged. Of a damaged run, only some fields are valid.
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
        """Return the run as a dict, with times in ISO 8601 and None for NaN."""
        ended = self.ended and self.ended.isoformat()
        document: dict[str, Any] = to_jsonable(asdict(self) | {"started": self.started.isoformat(), "ended": ended})
        return document

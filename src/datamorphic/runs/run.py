"""`Run` and `JournalEntry`: rows of a run store, which is read defensively, because others may write to it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from .._text import redact, to_jsonable
from .._validation import is_number
from ..errors import StoreError
from . import tables
from .artifacts import FOLDER_PATTERN, Artifact, is_in_run_folder
from .ownership import is_alive

MAX_TIME_SECONDS = 1e10  # since 1970, in the year 2286; a bound for times and durations
FINISHED_RUN = "Run {} is finished and cannot be resumed. Start a new one."
RUN_STATES = ("running", "finished", "interrupted", "failed")


@dataclass(frozen=True, kw_only=True)
class JournalEntry:
    """Answered pieces of one query, as a journal stores them."""

    ask: int  # the number of the query
    first: int  # the number of the first piece
    pieces: int
    rows: int
    fingerprint: str  # a hash of the query
    payload: bytes  # the packed outputs
    about: Mapping[str, Any]  # JSON-serialisable details: random state, health


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


# -- validation ----------------------------------------------------------------------------------------------------


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 2**63


def _is_seconds(value: object) -> bool:
    return is_number(value) and 0 <= value < MAX_TIME_SECONDS


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


#: by the kind of a column, whether a value is valid, and a default for those that are not
_KIND_CHECKS: dict[str, tuple[Callable[[Any], bool], Callable[[], Any]]] = {
    "text": (lambda value: isinstance(value, str), str),
    "json": (_is_mapping, dict),
    "bytes": (lambda value: isinstance(value, bytes), bytes),
    "real": (_is_seconds, float),
    "integer": (_is_count, int),
}
#: columns with more to check than their kind
_COLUMN_CHECKS: dict[tuple[str, str], Callable[[Any], bool]] = {
    ("runs", "state"): lambda value: value in RUN_STATES,
    ("runs", "seed"): lambda value: value is not tables.DAMAGED,
    ("runs", "parameters"): lambda value: _is_mapping(value) and _is_mapping(value.get("words") or {}),
    ("runs", "done"): lambda value: is_number(value) and math.isfinite(value),
    ("runs", "folder"): _matches(FOLDER_PATTERN.pattern),
    ("runs", "pid"): lambda value: _is_count(value) and 0 < value < 2**32,
    ("artifacts", "sha256"): _matches("[0-9a-f]{64}"),
}


def coerce_row(row: Mapping[str, Any], table: tables.StoreTable) -> tuple[dict[str, Any], list[str]]:
    """Return a row with defaults for invalid values, and the names of their columns."""
    values, damaged_columns = dict(row), []
    for name, column in table.columns.items():
        is_valid, make_default = _KIND_CHECKS[column.kind]
        is_valid = _COLUMN_CHECKS.get((table.name, name), is_valid)
        if not (is_valid(row[name]) or (row[name] is None and column.nullable)):
            values[name] = None if column.nullable or name == "seed" else make_default()
            damaged_columns.append(name)
    return values, damaged_columns


def build_damage_error(row_name: str, damaged_columns: list[str], remedy: str) -> StoreError:
    """Return the error for a row with invalid values."""
    column_list = ", ".join(map(repr, damaged_columns))
    return StoreError(redact(f"The row of {row_name} in the run store is damaged: invalid {column_list}. {remedy}"))


def parse_run(row: Mapping[str, Any], verdicts: list[Any], files: list[Mapping[str, Any]]) -> tuple[Run, list[str]]:
    """Return a run as far as it is valid, and the names of damaged columns."""
    values, damaged_columns = coerce_row(row, tables.runs)
    artifacts = [parse_artifact(file_row, values["folder"]) for file_row in files]
    if not all(map(_is_mapping, verdicts)):
        damaged_columns.append("verdicts")
    if None in artifacts:
        damaged_columns.append("artifacts")
    if damaged_columns:
        values["state"] = "damaged"
    elif values["state"] == "running" and not is_alive(values):
        values["state"] = "killed"
    values |= {
        "started": to_datetime(values["started"]),
        "ended": None if values["ended"] is None else to_datetime(values["ended"]),
        "verdicts": [verdict for verdict in verdicts if _is_mapping(verdict)],
        "artifacts": [artifact for artifact in artifacts if artifact is not None],
    }
    return Run(**{field.name: values[field.name] for field in fields(Run)}), damaged_columns


def parse_entry(row: Mapping[str, Any]) -> JournalEntry:
    """Return an entry of a journal; raise if it is damaged."""
    values, damaged_columns = coerce_row(row, tables.answers)
    if damaged_columns:
        row_name = f"run {row['run']}, query {row['ask']!r}, piece {row['first']!r}"
        raise build_damage_error(row_name, damaged_columns, "The run cannot be resumed. Start a new one.")
    return JournalEntry(**{field.name: values[field.name] for field in fields(JournalEntry)})


def parse_artifact(row: Mapping[str, Any], folder: str) -> Artifact | None:
    """Return a file of a run; None if it is damaged or not in the run's folder."""
    values, damaged_columns = coerce_row(row, tables.artifacts)
    artifact = Artifact(**{field.name: values[field.name] for field in fields(Artifact)})
    return None if damaged_columns or not is_in_run_folder(artifact, folder) else artifact


def to_datetime(seconds: float) -> datetime:
    """Return a time of the store as a datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)

"""Schemas of the rows of a run store, which is read defensively: others may write to it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from .._text import redact
from .._validation import is_number
from ..errors import StoreError
from .artifacts import FOLDER_PATTERN, Artifact, is_in_run_folder
from .json_codec import DAMAGED
from .ownership import is_alive
from .run import JournalEntry, Run

MAX_TIME_SECONDS = 1e10  # since 1970, in the year 2286; a bound for times and durations
RUN_STATES = ("running", "finished", "interrupted", "failed")

ColumnCheck = Callable[[Any], bool]
#: for each column a check of its values, and a default for invalid ones
RowSchema = Mapping[str, tuple[ColumnCheck, Callable[[], Any]]]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 2**63


def _is_seconds(value: object) -> bool:
    return is_number(value) and 0 <= value < MAX_TIME_SECONDS


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _allow_null(check: ColumnCheck) -> ColumnCheck:
    return lambda value: value is None or check(value)


def _make_null() -> None:
    return None


RUN_SCHEMA: RowSchema = {
    "id": (_is_count, int),
    "verb": (_is_text, str),
    "system": (_is_text, str),
    "state": (lambda value: value in RUN_STATES, str),
    "started": (_is_seconds, float),
    "ended": (_allow_null(_is_seconds), _make_null),
    "seconds": (_is_seconds, float),
    "seed": (lambda value: value is not DAMAGED, _make_null),
    "parameters": (lambda value: _is_mapping(value) and _is_mapping(value.get("words") or {}), dict),
    "versions": (_is_mapping, dict),
    "environment": (_is_mapping, dict),
    "model_hash": (_allow_null(_is_text), _make_null),
    "data_hash": (_allow_null(_is_text), _make_null),
    "done": (_allow_null(lambda value: is_number(value) and math.isfinite(value)), _make_null),
    "runs": (_is_count, int),
    "calls": (_is_count, int),
    "summary": (_is_mapping, dict),
    "message": (_is_text, str),
    "folder": (lambda value: _is_text(value) and FOLDER_PATTERN.fullmatch(value) is not None, str),
    "owner": (_is_text, str),
    "host": (_is_text, str),
    "pid": (lambda value: _is_count(value) and 0 < value < 2**32, int),
    "born": (_allow_null(_is_text), _make_null),
    "heartbeat": (_is_seconds, float),
}
ENTRY_SCHEMA: RowSchema = {
    "ask": (_is_count, int),
    "first": (_is_count, int),
    "pieces": (_is_count, int),
    "rows": (_is_count, int),
    "fingerprint": (_is_text, str),
    "payload": (lambda value: isinstance(value, bytes), bytes),
    "about": (_is_mapping, dict),
}
ARTIFACT_SCHEMA: RowSchema = {
    "name": (_is_text, str),
    "path": (_is_text, str),
    "sha256": (lambda value: _is_text(value) and re.fullmatch("[0-9a-f]{64}", value) is not None, str),
    "bytes": (_is_count, int),
    "rows": (_is_count, int),
    "root": (_allow_null(_is_text), _make_null),
    "host": (_allow_null(_is_text), _make_null),
}
FAILURE_SCHEMA: RowSchema = {
    "id": (_is_count, int),
    "system": (_is_text, str),
    "relation": (_is_text, str),
    "case": (_is_mapping, dict),
    "verdict": (_is_text, str),
    "message": (_is_text, str),
    "first_seen": (_is_seconds, float),
    "last_seen": (_is_seconds, float),
    "times": (_is_count, int),
    "run": (_allow_null(_is_count), _make_null),
}


def coerce_row(row: Mapping[Any, Any], columns: RowSchema) -> tuple[dict[str, Any], list[str]]:
    """Return a row with defaults for invalid values, and the names of their columns."""
    damaged_columns = [name for name, (is_valid, _) in columns.items() if not is_valid(row[name])]
    return {
        name: default() if name in damaged_columns else row[name] for name, (_, default) in columns.items()
    }, damaged_columns


def build_damage_error(row_name: str, damaged_columns: list[str], remedy: str) -> StoreError:
    """Return the error for a row with invalid values."""
    column_list = ", ".join(map(repr, damaged_columns))
    return StoreError(redact(f"The row of {row_name} in the run store is damaged: invalid {column_list}. {remedy}"))


def parse_run(row: Mapping[Any, Any], verdicts: list[Any], files: list[Mapping[Any, Any]]) -> tuple[Run, list[str]]:
    """Return a run as far as it is valid, and the names of damaged columns."""
    values, damaged_columns = coerce_row(row, RUN_SCHEMA)
    artifacts = [parse_artifact(file_row, values["folder"]) for file_row in files]
    if not all(map(_is_mapping, verdicts)):
        damaged_columns.append("verdicts")
    if None in artifacts:
        damaged_columns.append("artifacts")
    state = values["state"]
    if damaged_columns:
        state = "damaged"
    elif state == "running" and not is_alive(values):
        state = "killed"
    updates = {
        "state": state,
        "started": to_datetime(values["started"]),
        "ended": None if values["ended"] is None else to_datetime(values["ended"]),
        "verdicts": [verdict for verdict in verdicts if _is_mapping(verdict)],
        "artifacts": [artifact for artifact in artifacts if artifact is not None],
    }
    names = {field.name for field in fields(Run)}
    return Run(**{name: value for name, value in values.items() if name in names} | updates), damaged_columns


def parse_entry(row: Mapping[Any, Any]) -> JournalEntry:
    """Return an entry of a journal; raise if it is damaged."""
    values, damaged_columns = coerce_row(row, ENTRY_SCHEMA)
    if damaged_columns:
        row_name = f"run {row['run']}, query {row['ask']!r}, piece {row['first']!r}"
        raise build_damage_error(row_name, damaged_columns, "The run cannot be resumed. Start a new one.")
    return JournalEntry(**values)


def parse_artifact(row: Mapping[Any, Any], folder: str) -> Artifact | None:
    """Return a file of a run; None if it is damaged or not in the run's folder."""
    values, damaged_columns = coerce_row(row, ARTIFACT_SCHEMA)
    del values["host"]
    artifact = Artifact(**values)
    return None if damaged_columns or not is_in_run_folder(artifact, folder) else artifact


def to_datetime(seconds: float) -> datetime:
    """Return a time of the store as a datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)

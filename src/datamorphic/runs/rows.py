"""Rows of a run store, read with care: others may write into a shared one, and disks fail."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from .._checks import is_number, redacted
from ..errors import StoreError
from .artifacts import FOLDER, Artifact, is_place_of
from .documents import DAMAGED
from .owners import is_alive
from .run import Entry, Run

LATEST = 1e10  # seconds since 1970, in the year 2286: no run began later, or takes longer
STATES = ("running", "finished", "interrupted", "failed")

Check = Callable[[Any], bool]
#: for each column what its values must be, and what to read where they are not
Columns = Mapping[str, tuple[Check, Callable[[], Any]]]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _count(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < 2**63


def _seconds(value: Any) -> bool:
    return is_number(value) and 0 <= value < LATEST


def _mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _null() -> None:
    return None


RUN: Columns = {
    "id": (_count, int),
    "verb": (_text, str),
    "system": (_text, str),
    "state": (lambda value: value in STATES, str),
    "started": (_seconds, float),
    "ended": (_or_null(_seconds), _null),
    "seconds": (_seconds, float),
    "seed": (lambda value: value is not DAMAGED, _null),
    "parameters": (lambda value: _mapping(value) and _mapping(value.get("words") or {}), dict),
    "versions": (_mapping, dict),
    "environment": (_mapping, dict),
    "model_hash": (_or_null(_text), _null),
    "data_hash": (_or_null(_text), _null),
    "done": (_or_null(lambda value: is_number(value) and math.isfinite(value)), _null),
    "runs": (_count, int),
    "calls": (_count, int),
    "summary": (_mapping, dict),
    "message": (_text, str),
    "folder": (lambda value: _text(value) and FOLDER.fullmatch(value) is not None, str),
    "owner": (_text, str),
    "host": (_text, str),
    "pid": (lambda value: _count(value) and 0 < value < 2**32, int),
    "born": (_or_null(_text), _null),
    "heartbeat": (_seconds, float),
}
ENTRY: Columns = {
    "ask": (_count, int),
    "first": (_count, int),
    "pieces": (_count, int),
    "rows": (_count, int),
    "fingerprint": (_text, str),
    "payload": (lambda value: isinstance(value, bytes), bytes),
    "about": (_mapping, dict),
}
ARTIFACT: Columns = {
    "name": (_text, str),
    "path": (_text, str),
    "sha256": (lambda value: _text(value) and re.fullmatch("[0-9a-f]{64}", value) is not None, str),
    "bytes": (_count, int),
    "rows": (_count, int),
    "root": (_or_null(_text), _null),
    "host": (_or_null(_text), _null),
}
FAILURE: Columns = {
    "id": (_count, int),
    "system": (_text, str),
    "relation": (_text, str),
    "case": (_mapping, dict),
    "verdict": (_text, str),
    "message": (_text, str),
    "first_seen": (_seconds, float),
    "last_seen": (_seconds, float),
    "times": (_count, int),
    "run": (_or_null(_count), _null),
}


def typed(row: Mapping[Any, Any], columns: Columns) -> tuple[dict[str, Any], list[str]]:
    """Return a row whose values have the types they must have, and the names of the columns that had others."""
    wrong = [name for name, (fits, _) in columns.items() if not fits(row[name])]
    return {name: default() if name in wrong else row[name] for name, (_, default) in columns.items()}, wrong


def damaged(which: str, wrong: list[str], remedy: str) -> StoreError:
    """Return the error for a row that cannot be what was written."""
    told = ", ".join(map(repr, wrong))
    return StoreError(
        redacted(f"The row of {which} in the run store is damaged or not ours: {told} cannot be so. {remedy}")
    )


def run_of(row: Mapping[Any, Any], verdicts: list[Any], files: list[Mapping[Any, Any]]) -> tuple[Run, list[str]]:
    """Return what can be read of a run, and what of it is damaged."""
    values, wrong = typed(row, RUN)
    artifacts = [artifact_of(each, values["folder"]) for each in files]
    if not all(map(_mapping, verdicts)):
        wrong.append("verdicts")
    if None in artifacts:
        wrong.append("artifacts")
    state = values["state"]
    if wrong:
        state = "damaged"
    elif state == "running" and not is_alive(values):
        state = "killed"
    about = {
        "state": state,
        "started": moment(values["started"]),
        "ended": None if values["ended"] is None else moment(values["ended"]),
        "verdicts": [each for each in verdicts if _mapping(each)],
        "artifacts": [each for each in artifacts if each is not None],
    }
    names = {field.name for field in fields(Run)}
    return Run(**{name: value for name, value in values.items() if name in names} | about), wrong


def entry_of(row: Mapping[Any, Any]) -> Entry:
    """Return an entry of a journal, or raise."""
    values, wrong = typed(row, ENTRY)
    if wrong:
        which = f"run {row['run']}, question {row['ask']!r}, piece {row['first']!r}"
        raise damaged(which, wrong, "Its run cannot go on: start a new one.")
    return Entry(**values)


def artifact_of(row: Mapping[Any, Any], folder: str) -> Artifact | None:
    """Return a file of a run, None for one that is damaged or lies elsewhere than in the folder of the run."""
    values, wrong = typed(row, ARTIFACT)
    del values["host"]
    artifact = Artifact(**values)
    return None if wrong or not is_place_of(artifact, folder) else artifact


def moment(seconds: float) -> datetime:
    """Return a time of the store as one with a time zone."""
    return datetime.fromtimestamp(seconds, UTC)

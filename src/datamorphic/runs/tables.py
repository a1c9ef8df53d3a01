"""The tables of a run store, and the JSON documents in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._text import is_secret_name, redact_parameter, to_jsonable

# -- JSON documents, written without secrets and read defensively ---------------------------------------------------

MAX_JSON_DEPTH = 64  # deeper documents could cause a RecursionError
DAMAGED = object()  # is read in place of an invalid document


def to_canonical_json(value: object) -> str:
    """Return a value as JSON in its canonical form."""
    return json.dumps(value, sort_keys=True)


def parse_document(text: str) -> Any:
    """Return the value of a JSON text; DAMAGED if invalid, as an exception would hide all other rows."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return DAMAGED
    is_shallow = text.count("[") + text.count("{") < MAX_JSON_DEPTH  # the usual case
    return value if is_shallow or not _is_deep(value, MAX_JSON_DEPTH) else DAMAGED


def _is_deep(value: object, max_depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max_depth == 0 or any(_is_deep(child, max_depth - 1) for child in inner)


def to_json_value(value: object) -> Any:
    """Return a JSON-serialisable value; NaN and infinity stay, as they may make a case fail."""
    return to_jsonable(value, finite=False)


def to_safe_json_value(value: object) -> Any:
    """Return a JSON-serialisable value without secrets."""
    if isinstance(value, Mapping):
        return {redact_parameter(str(name)): _hide_secret(str(name), item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_safe_json_value(item) for item in value]
    return to_jsonable(value, convert_text=redact_parameter, finite=False)


def _hide_secret(name: str, value: object) -> Any:
    is_harmless = value is None or isinstance(value, bool | int | float | Mapping)
    return to_safe_json_value(value) if is_harmless or not is_secret_name(name) else "***"


# -- tables; times are seconds since 1970, UTC ---------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column: what it holds, and its type in SQL, where the names in braces depend on the database."""

    kind: Literal["integer", "real", "text", "json", "bytes"]
    sql_type: str
    nullable: bool = False


@dataclass(frozen=True)
class StoreTable:
    """A table with its columns by name."""

    name: str
    columns: Mapping[str, Column]
    constraints: Sequence[str] = ()

    def build_create_statement(self) -> str:
        """Return the statement that creates the table, with names in braces for types that depend on the database."""
        lines = [
            f'"{name}" {column.sql_type}' + ("" if column.nullable else " NOT NULL")
            for name, column in self.columns.items()
        ]
        return f"CREATE TABLE {self.name} ({', '.join([*lines, *self.constraints])})"

    def encode(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values of columns as the database stores them. JSON is ASCII text: PostgreSQL's type rejects NaN and NUL."""
        return {
            name: to_canonical_json(value) if self.columns[name].kind == "json" else value
            for name, value in values.items()
        }

    def decode(self, row: Sequence[Any]) -> dict[str, Any]:
        """Return a row of all columns by their names, with JSON as values."""
        return {
            name: parse_document(value) if column.kind == "json" and value is not None else value
            for (name, column), value in zip(self.columns.items(), row, strict=True)
        }


_ID = Column("integer", "{id}")  # numbers of removed rows are not reused
_RUN = Column("integer", "INTEGER REFERENCES runs (id) ON DELETE CASCADE")
_INTEGER = Column("integer", "INTEGER")
_COUNT = Column("integer", "BIGINT")
_REAL = Column("real", "DOUBLE PRECISION")
_OPTIONAL_REAL = Column("real", "DOUBLE PRECISION", nullable=True)
_TEXT = Column("text", "TEXT")
_OPTIONAL_TEXT = Column("text", "TEXT", nullable=True)
_JSON = Column("json", "TEXT")

schema = StoreTable("schema", {"version": _INTEGER})
runs = StoreTable(
    "runs",
    {
        "id": _ID,
        "verb": _TEXT,
        "system": _TEXT,
        "state": _TEXT,
        "started": _REAL,
        "ended": _OPTIONAL_REAL,
        "seconds": _REAL,
        "seed": _JSON,
        "parameters": _JSON,
        "versions": _JSON,
        "environment": _JSON,
        "model_hash": _OPTIONAL_TEXT,
        "data_hash": _OPTIONAL_TEXT,
        "done": _OPTIONAL_REAL,
        "runs": _COUNT,
        "calls": _COUNT,
        "summary": _JSON,
        "message": _TEXT,
        "folder": _TEXT,  # of its files, inside the store's folder
        "owner": _TEXT,  # a random token that only the working process knows
        "host": _TEXT,
        "pid": _COUNT,
        "born": _OPTIONAL_TEXT,  # start time of that process, as the system reports it
        "heartbeat": _REAL,
    },
)
answers = StoreTable(
    "answers",
    {
        "run": _RUN,
        "ask": _COUNT,
        "first": _COUNT,
        "pieces": _COUNT,
        "rows": _COUNT,
        "fingerprint": _TEXT,
        "payload": Column("bytes", "{bytes}"),
        "about": _JSON,
    },
    ["PRIMARY KEY (run, ask, first)"],
)
verdicts = StoreTable("verdicts", {"run": _RUN, "number": _INTEGER, "verdict": _JSON}, ["PRIMARY KEY (run, number)"])
artifacts = StoreTable(
    "artifacts",
    {
        "run": _RUN,
        "name": _TEXT,
        "path": _TEXT,  # inside the store's folder of files
        "sha256": _TEXT,
        "bytes": _COUNT,
        "rows": _COUNT,
        "host": _OPTIONAL_TEXT,  # the only host that has the file; NULL if the folder is shared
        "root": _OPTIONAL_TEXT,  # the folder of files when it was written, without secrets; NULL in schema 1
    },
    ["PRIMARY KEY (run, name)"],
)
failures = StoreTable(
    "failures",
    {
        "id": _ID,
        "key": _TEXT,  # hash of system, relation and case
        "system": _TEXT,
        "relation": _TEXT,
        "case": _JSON,
        "verdict": _TEXT,
        "message": _TEXT,
        "first_seen": _REAL,
        "last_seen": _REAL,
        "times": _COUNT,
        "run": Column("integer", "INTEGER REFERENCES runs (id) ON DELETE SET NULL", nullable=True),
    },
    ["UNIQUE (key)"],
)
TABLES = (schema, runs, answers, verdicts, artifacts, failures)

#: Each migration is a list of statements that upgrade a store by one version. The number of migrations is the current version. A
#: new store needs only the first, which creates the current tables. The others are for stores of earlier releases.
MIGRATIONS: list[list[str]] = [
    [
        *(table.build_create_statement() for table in TABLES),
        "CREATE INDEX failures_of ON failures (system, relation, last_seen)",
        "CREATE INDEX ix_failures_run ON failures (run)",
    ],
    ["ALTER TABLE artifacts ADD COLUMN root TEXT"],
]

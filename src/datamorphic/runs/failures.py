"""Failures: cases that broke a relation, stored to be tried first in the next run."""

from __future__ import annotations

import hashlib
import importlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .._text import redact, to_jsonable
from .run import coerce_row, to_datetime
from .store import Store
from .tables import failures, to_canonical_json, to_json_value


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A case that broke a relation."""

    id: int
    system: str
    relation: str
    case: dict[str, Any]
    verdict: str
    message: str
    first_seen: datetime
    last_seen: datetime
    times: int  # how often it was seen
    run: int | None  # the last one that found it

    def to_json(self) -> dict[str, Any]:
        """Return the failure as a dict, with times in ISO 8601 and None for NaN."""
        timestamps = {"first_seen": self.first_seen.isoformat(), "last_seen": self.last_seen.isoformat()}
        document: dict[str, Any] = to_jsonable(asdict(self) | timestamps)
        return document


def remember(
    store: Store, system: str, relation: str, cases: Sequence[Mapping[str, Any]], run: int | None = None
) -> None:
    """Store cases of a system that break a relation; count those that are known already.

    Each of the `cases` has ``case``, a row as in JSON, and optionally ``verdict`` and ``message``. The case is stored
    unchanged, because it must fail again. Everything else is stored without secrets.
    """
    now, system = time.time(), redact(system)
    rows = {}
    for record in cases:
        case = to_json_value(record["case"])
        key = hashlib.sha256(to_canonical_json([system, relation, case]).encode()).hexdigest()
        rows[key] = {
            "key": key,
            "system": system,
            "relation": relation,
            "case": case,
            "verdict": str(record.get("verdict", "violated")),
            "message": redact(str(record.get("message", ""))),
            "first_seen": now,
            "last_seen": now,
            "times": 1,
            "run": run,
        }

    def work(connection: Connection) -> None:
        # only the one that is used is imported, which is slow
        dialect = importlib.import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
        insert = dialect.insert(failures)
        updates = {name: insert.excluded[name] for name in ("verdict", "message", "last_seen")}
        updates["times"] = failures.c.times + 1
        updates["run"] = sa.func.coalesce(insert.excluded.run, failures.c.run)
        upsert = insert.on_conflict_do_update(index_elements=["key"], set_=updates)
        # sorted, or two processes with the same cases could deadlock
        connection.execute(upsert, [rows[key] for key in sorted(rows)])

    if rows:
        store.database.write(work, run)


def recall(store: Store, system: str, relation: str, limit: int = 100) -> list[Failure]:
    """Return the failures of a system at a relation, most recently seen first."""
    query = _select_newest().where(failures.c.system == redact(system), failures.c.relation == relation)
    return _read_failures(store, query, limit)


def recall_all(store: Store) -> list[Failure]:
    """Return all failures, most recently seen first."""
    return _read_failures(store, _select_newest())


def forget(store: Store, ids: Iterable[int]) -> None:
    """Remove failures by their ids; ignore unknown ids."""
    valid_ids = [int(failure_id) for failure_id in ids if 0 <= failure_id <= store.database.largest_id]
    statement = failures.delete().where(failures.c.id.in_(valid_ids))
    store.database.write(lambda connection: connection.execute(statement))


def _select_newest() -> sa.Select[Any]:
    return sa.select(failures).order_by(failures.c.last_seen.desc(), failures.c.id.desc())


def _read_failures(store: Store, query: sa.Select[Any], limit: int | None = None) -> list[Failure]:
    def work(connection: Connection) -> list[Failure]:
        with connection.execution_options(yield_per=100).execute(query) as rows:
            parsed_rows = (coerce_row(row, failures) for row in rows.mappings())
            # damaged rows are skipped: trying known cases is optional
            return list(islice((_build_failure(**values) for values, damage in parsed_rows if not damage), limit))

    return store.database.read(work)


def _build_failure(*, key: str, first_seen: float, last_seen: float, **values: Any) -> Failure:
    return Failure(first_seen=to_datetime(first_seen), last_seen=to_datetime(last_seen), **values)

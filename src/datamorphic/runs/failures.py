"""Failures: cases that broke a relation, stored to be tried first in the next run."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from .._text import redact, to_jsonable
from .database import Connection
from .run import coerce_row, to_datetime
from .store import Store
from .tables import failures, to_canonical_json, to_json_value

#: in SQL, what happens to a failure that is known
_COUNT_AGAIN = """
ON CONFLICT (key) DO UPDATE SET verdict = excluded.verdict, message = excluded.message, last_seen = excluded.last_seen,
times = failures.times + 1, run = COALESCE(excluded.run, failures.run)
"""
_NEWEST_FIRST = "ORDER BY last_seen DESC, id DESC"


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

    if rows:
        # sorted, or two processes with the same cases could deadlock
        sorted_rows = [rows[key] for key in sorted(rows)]
        store.database.write(lambda connection: connection.insert(failures, sorted_rows, _COUNT_AGAIN), run)


def recall(store: Store, system: str, relation: str, limit: int = 100) -> list[Failure]:
    """Return the failures of a system at a relation, most recently seen first."""
    condition = "WHERE system = :system AND relation = :relation"
    return _read_failures(store, condition, limit, system=redact(system), relation=relation)


def recall_all(store: Store) -> list[Failure]:
    """Return all failures, most recently seen first."""
    return _read_failures(store)


def forget(store: Store, ids: Iterable[int]) -> None:
    """Remove failures by their ids; ignore unknown ids."""
    rows = [{"id": int(failure_id)} for failure_id in ids if 0 <= failure_id <= store.database.largest_id]
    if rows:
        store.database.write(lambda connection: connection.execute_many("DELETE FROM failures WHERE id = :id", rows))


def _read_failures(store: Store, condition: str = "", limit: int | None = None, **parameters: str) -> list[Failure]:
    def work(connection: Connection) -> list[Failure]:
        with closing(connection.stream(failures, f"{condition} {_NEWEST_FIRST}", **parameters)) as rows:
            parsed_rows = (coerce_row(row, failures) for row in rows)
            # damaged rows are skipped: trying known cases is optional
            return list(islice((_build_failure(**values) for values, damage in parsed_rows if not damage), limit))

    return store.database.read(work)


def _build_failure(*, key: str, first_seen: float, last_seen: float, **values: Any) -> Failure:
    return Failure(first_seen=to_datetime(first_seen), last_seen=to_datetime(last_seen), **values)

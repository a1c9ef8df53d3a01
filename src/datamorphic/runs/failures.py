"""The failure database: cases that broke a relation, kept in a run store to be tried first next time."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from .._checks import jsonable, redacted
from .documents import canonical, plain
from .rows import FAILURE, moment, typed
from .sql import failures
from .store import Store


@dataclass(frozen=True)
class Failure:
    """A case that broke a relation: which, how, since when and how often, and the last run it was seen in."""

    id: int
    system: str
    relation: str
    case: dict[str, Any]
    verdict: str
    message: str
    first_seen: datetime
    last_seen: datetime
    times: int
    run: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the failure as JSON has it, times in ISO 8601, None for numbers that are none."""
        times = {"first_seen": self.first_seen.isoformat(), "last_seen": self.last_seen.isoformat()}
        told: dict[str, Any] = jsonable(asdict(self) | times)
        return told


def remember(
    store: Store, system: str, relation: str, cases: Sequence[Mapping[str, Any]], run: int | None = None
) -> None:
    """Keep cases that failed. One that is known already is seen once more.

    Parameters
    ----------
    store : Store
        Where to.
    system, relation : str
        What failed, and at what.
    cases : sequence of mappings
        Each with ``case``, a row as JSON has it, and if you like with ``verdict`` and ``message``. The case is kept
        to the letter, as it must fail again; everything else without secrets.
    run : int, optional
        The run that found them.
    """
    now, system = time.time(), redacted(system)
    rows = {}
    for each in cases:
        case = plain(each["case"])
        key = hashlib.sha256(canonical([system, relation, case]).encode()).hexdigest()
        rows[key] = {
            "key": key,
            "system": system,
            "relation": relation,
            "case": case,
            "verdict": str(each.get("verdict", "violated")),
            "message": redacted(str(each.get("message", ""))),
            "first_seen": now,
            "last_seen": now,
            "times": 1,
            "run": run,
        }

    def work(connection: Connection) -> None:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        insert = dialect.insert(failures)
        new = {name: insert.excluded[name] for name in ("verdict", "message", "last_seen")}
        new["times"] = failures.c.times + 1
        new["run"] = sa.func.coalesce(insert.excluded.run, failures.c.run)
        again = insert.on_conflict_do_update(index_elements=["key"], set_=new)
        # in one order, or two processes that share cases could wait for each other for ever
        connection.execute(again, [rows[key] for key in sorted(rows)])

    if rows:
        store.database.write(work, run)


def recall(store: Store, system: str, relation: str, limit: int = 100) -> list[Failure]:
    """Return the failures of a system at a relation, those seen last first."""
    newest = _newest().where(failures.c.system == redacted(system), failures.c.relation == relation)
    return _read(store, newest, limit)


def known(store: Store) -> list[Failure]:
    """Return all failures, those seen last first."""
    return _read(store, _newest())


def forget(store: Store, ids: Iterable[int]) -> None:
    """Remove failures by their ids; ids that are not there are none to worry about."""
    possible = [int(each) for each in ids if 0 <= each <= store.database.largest_id]
    which = failures.delete().where(failures.c.id.in_(possible))
    store.database.write(lambda connection: connection.execute(which))


def _newest() -> sa.Select[Any]:
    return sa.select(failures).order_by(failures.c.last_seen.desc(), failures.c.id.desc())


def _read(store: Store, query: sa.Select[Any], limit: int | None = None) -> list[Failure]:
    def work(connection: Connection) -> list[Failure]:
        with connection.execution_options(yield_per=100).execute(query) as rows:
            return list(islice(_whole(rows.mappings()), limit))

    return store.database.read(work)


def _whole(rows: Iterable[Mapping[Any, Any]]) -> Iterator[Failure]:
    """Yield failures, without those that are damaged: cases to try are a help, not a duty."""
    for row in rows:
        values, wrong = typed(row, FAILURE)
        if not wrong:
            yield Failure(**values | {name: moment(values[name]) for name in ("first_seen", "last_seen")})

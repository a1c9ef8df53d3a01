"""The run store: what was run, how far it came, what it found; SQLite for one, PostgreSQL for a team."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from .._checks import did_you_mean, one_of, redacted, whole_number
from ..errors import StoreError
from . import sql
from .address import FILES_VARIABLE, STORE_VARIABLE, default_path, located, store_named
from .artifacts import Artifact, Files, files_at, files_of_server
from .documents import plain, safe
from .owners import Owner, refuse_if_alive
from .rows import RUN, artifact_of, damaged, entry_of, run_of, typed
from .run import Entry, Run
from .sql import Database

__all__ = [
    "FILES_VARIABLE",
    "STORE_VARIABLE",
    "Artifact",
    "Entry",
    "Run",
    "Store",
    "default_path",
    "safe",
    "store_named",
]

AT_ONCE = 16  # entries of a journal in memory


class Store:
    """Runs, their journals, verdicts and files; `Store.open` opens one.

    A store may be used from any thread, one at a time.

    Attributes
    ----------
    url : str
        Where it is, without secrets.
    """

    def __init__(self, database: Database, files: Files) -> None:
        self.database = database
        self.url = database.name
        self._files = files
        self._owner = Owner()

    @classmethod
    def open(cls, url: str | os.PathLike[str] | None = None, *, reading: bool = False) -> Store:
        """Open a store, make it if there is none, bring it up to date if it is of an earlier release.

        Parameters
        ----------
        url : str or path, optional
            A path, ``sqlite:///path`` or ``postgresql://user:password@host/database``; by default what
            ``$DATAMORPHIC_STORE`` says, else `default_path()`. Files of runs lie beside an SQLite store, in
            ``<its name>.files``; for PostgreSQL where ``?artifacts=`` says (a folder, or a URL for fsspec), else
            ``$DATAMORPHIC_ARTIFACTS``, else on this computer.
        reading : bool
            Whether it is only read: nothing is made where there is no store, and the store may be one that this
            user may not write.
        """
        address, folder = located(url, reading)
        beside = address.get_backend_name() == "sqlite"
        files = files_at(f"{address.database}.files") if beside else files_of_server(folder)
        return cls(Database(address, reading), files)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.url!r})"

    def close(self) -> None:
        """Close the store, and let go of its runs."""
        self._owner.held.clear()
        self.database.close()

    # -- a run under way -------------------------------------------------------------------------------------------

    def begin(
        self,
        verb: str,
        system: str,
        parameters: Mapping[str, Any],
        *,
        seed: Any = None,
        versions: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        model_hash: str | None = None,
        data_hash: str | None = None,
    ) -> int:
        """Enter a new run, owned by this process, and return its number. Secrets in its parameters are not kept."""
        row = {
            "verb": verb,
            "system": redacted(system),
            "state": "running",
            "started": time.time(),
            "seconds": 0.0,
            "seed": plain(seed),
            "parameters": safe(parameters),
            "versions": safe(versions or {}),
            "environment": safe(environment or {}),
            "model_hash": model_hash,
            "data_hash": data_hash,
            "runs": 0,
            "calls": 0,
            "summary": {},
            "message": "",
            "folder": secrets.token_hex(8),
            **self._owner.record(),
        }

        def work(connection: Connection) -> int:
            return int(connection.execute(sql.runs.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]

        self._files.probe()
        self._files.sweep()
        run = self.database.write(work)
        self._owner.held.add(run)
        return run

    def release(self, run: int) -> None:
        """Let go of a run without a word in the store, which may be lost: whoever wants can claim it."""
        self._owner.held.discard(run)

    def commit(
        self,
        run: int,
        entries: Sequence[Entry] = (),
        *,
        done: float | None = None,
        runs: int = 0,
        calls: int = 0,
        seconds: float = 0.0,
    ) -> None:
        """Keep answers, how far the run has come, and a sign of life: all of it or nothing.

        Parameters
        ----------
        run : int
            The run.
        entries : sequence of Entry
            What was answered since the last commit.
        done : float, optional
            The part of the run that is done, None to leave it.
        runs, calls, seconds : number
            In all since the run began, earlier sessions included. Smaller ones than are kept change nothing.
        """
        rows = [
            {"run": run, **vars(entry), "about": plain(entry.about), "payload": bytes(entry.payload)}
            for entry in entries
        ]

        def work(connection: Connection) -> None:
            progress = {
                "heartbeat": time.time(),
                **_at_least(runs=int(runs), calls=int(calls), seconds=float(seconds)),
                **({} if done is None else {"done": float(done)}),
            }
            self._update(connection, run, progress, sql.runs.c.state == "running")
            if rows:
                connection.execute(sql.answers.insert(), rows)

        self.database.write(work, run)

    def entries(self, run: int) -> Iterator[Entry]:
        """Yield the journal of a run, in the order of questions and pieces, a few at a time in memory."""
        journal = sql.answers.c
        query = (
            sa.select(sql.answers).where(journal.run == run).order_by(journal.ask, journal.first).limit(AT_ONCE)
        )

        def after(ask: int, first: int) -> Sequence[Row[Any]]:
            beyond = query.where(sa.tuple_(journal.ask, journal.first) > sa.tuple_(ask, first))
            return self.database.read(lambda connection: connection.execute(beyond).all())

        self.database.read(lambda connection: self._row(connection, run))
        rows = after(-1, -1)
        while rows:
            entries = [entry_of(row._mapping) for row in rows]
            yield from entries
            rows = after(entries[-1].ask, entries[-1].first)

    def finish(
        self,
        run: int,
        state: str,
        *,
        summary: Mapping[str, Any] | None = None,
        verdicts: Iterable[Mapping[str, Any]] = (),
        seconds: float = 0.0,
        message: str = "",
        artifacts: Mapping[str, Callable[[Path], int]] | None = None,
    ) -> None:
        """Enter how a run ended, in place of what was entered before. If anything fails, nothing has changed.

        Parameters
        ----------
        run : int
            The run.
        state : {"finished", "interrupted", "failed"}
            How it ended. The journal is kept unless it is finished.
        summary, verdicts : mapping, iterable of mappings
            What came out, as JSON has it.
        seconds : float
            In all since the run began, as in `commit`.
        message : str
            Why it ended.
        artifacts : mapping of str to function
            Files by name; each function writes one to the path it is given and returns its number of rows.
        """
        one_of("state", "Store.finish", state, ["finished", "interrupted", "failed"])
        ending = {
            "state": state,
            "summary": safe(summary or {}),
            "message": redacted(message),
            **({"done": 1.0} if state == "finished" else {}),
        }
        told = [{"run": run, "number": i, "verdict": safe(each)} for i, each in enumerate(verdicts)]
        folder = self.database.read(lambda connection: self._row(connection, run))["folder"]

        def work(connection: Connection) -> None:
            now = time.time()
            times = {"ended": now, "heartbeat": now, **_at_least(seconds=float(seconds))}
            self._update(connection, run, ending | times)
            replaced = [(sql.verdicts, told), (sql.artifacts, files)]
            if state == "finished":
                replaced.append((sql.answers, []))
            for table, rows in replaced:
                connection.execute(table.delete().where(table.c.run == run))
                if rows:
                    connection.execute(table.insert(), rows)

        kept: list[Artifact] = []
        try:
            for name, writer in (artifacts or {}).items():
                kept.append(self._files.write(folder, name, writer, run))
        except BaseException:
            self._files.discard(each.path for each in kept)
            raise
        files = [{"run": run, "host": self._files.host, **asdict(each)} for each in kept]
        self.database.write(work, run)
        self.release(run)
        self._files.discard(set(self._files.listing(folder)) - {each.path for each in kept})

    def claim(self, run: int) -> Run:
        """Take over a run to go on with it, unless it is finished or its owner is alive. Of two claimers one wins."""

        def work(connection: Connection) -> Run:
            row = self._row(connection, run, lock=True)
            if row["state"] == "finished":
                raise StoreError(f"Run {run} is finished: there is nothing to go on with. Start a new one.")
            refuse_if_alive(row)
            self._whole(connection, run)
            change = {"state": "running", "ended": None, **self._owner.record()}
            connection.execute(sql.runs.update().where(sql.runs.c.id == run).values(change))
            self._owner.held.add(run)
            return self._whole(connection, run)

        self._files.probe()
        held = set(self._owner.held)
        try:
            return self.database.write(work, run)
        except BaseException:
            self._owner.held = held
            raise

    # -- reading ---------------------------------------------------------------------------------------------------

    def run(self, run: int) -> Run:
        """Return a run."""
        return self.database.read(lambda connection: self._whole(connection, run))

    def runs(self, last: int | None = None) -> list[Run]:
        """Return all runs, or only the `last` ones, the newest last.

        One whose process is gone without a word is called killed, one whose rows are not as they were written damaged.
        """
        query = sa.select(sql.runs).order_by(sql.runs.c.id.desc())
        if last is not None:
            query = query.limit(min(whole_number("last", "Store.runs", last), self.database.largest_id))
        return self.database.read(lambda connection: [run for run, _ in self._read(connection, query)])

    def fetch(self, run: int, name: str) -> AbstractContextManager[Path]:
        """Return a context manager with the path of a file of a run, verified; to read, not to keep."""

        def work(connection: Connection) -> tuple[str, Sequence[Row[Any]]]:
            files = sa.select(sql.artifacts).where(sql.artifacts.c.run == run)
            return self._row(connection, run)["folder"], connection.execute(files).all()

        folder, found = self.database.read(work)
        rows = {row.name: row for row in found}
        if name not in rows:
            hint = did_you_mean(name, rows) if rows else "It has no files."
            raise StoreError(f"Run {run} has no file {name!r}. {hint}")
        artifact = artifact_of(rows[name]._mapping, folder)
        if artifact is None:
            raise damaged(f"the file {name!r} of run {run}", ["path, name or size"], "Run it again.")
        if rows[name].host not in (None, socket.gethostname()):
            raise StoreError(
                f"The file {name!r} of run {run} is on the host {rows[name].host}, in its user's own folder. Read it "
                f"there; so that the next files can be read everywhere, name a folder or URL that all hosts reach, "
                f"as ?artifacts=... in the URL of the store or in ${FILES_VARIABLE}."
            )
        return self._files.open(artifact, run)

    def remove(self, run: int) -> None:
        """Remove a run and its files, unless its owner is alive. Of a damaged one at least the row goes."""

        def work(connection: Connection) -> str:
            row = self._row(connection, run, lock=True)
            refuse_if_alive(row)
            connection.execute(sql.runs.delete().where(sql.runs.c.id == run))
            return str(row["folder"])

        self._files.discard(self._files.listing(self.database.write(work)))
        self.release(run)

    # -- rows ------------------------------------------------------------------------------------------------------

    def _update(self, connection: Connection, run: int, values: Mapping[str, Any], *only: Any) -> None:
        """Change the row of a run that is still ours."""
        mine = sa.and_(sql.runs.c.id == run, sql.runs.c.owner == self._owner.word, *only)
        change = sql.runs.update().where(mine).values(values)
        if not self._can_be(run) or not connection.execute(change).rowcount:
            row = self._row(connection, run)
            whose = f"pid {row['pid']} on {row['host']}" if row["owner"] != self._owner.word else "us"
            raise StoreError(
                f"Run {run} cannot be written: it is {row['state']}, and was last taken over by {whose}. "
                f"If it is still unfinished, go on with it: datamorphic runs resume {run}"
            )

    def _row(self, connection: Connection, run: int, lock: bool = False) -> dict[str, Any]:
        """Return the row of a run, with values of the right types whatever is in the database."""
        query = sa.select(sql.runs).where(sql.runs.c.id == run)
        row = None
        if self._can_be(run):
            row = connection.execute(query.with_for_update() if lock else query).first()
        if row is None:
            newest = connection.scalars(sa.select(sql.runs.c.id).order_by(sql.runs.c.id.desc()).limit(5)).all()
            hint = "The newest are " + ", ".join(map(str, newest)) if newest else "It holds no runs yet"
            raise StoreError(f"There is no run {run} in {self.url}. {hint}.")
        return typed(row._mapping, RUN)[0]

    def _can_be(self, run: int) -> bool:
        """Tell whether the database can be asked for a run of this number at all."""
        return 0 < run <= self.database.largest_id

    def _whole(self, connection: Connection, run: int) -> Run:
        """Return a run, or raise if anything of it is damaged."""
        self._row(connection, run)
        found, wrong = self._read(connection, sa.select(sql.runs).where(sql.runs.c.id == run))[0]
        if wrong:
            raise damaged(f"run {run}", wrong, f"Remove it with: datamorphic runs remove {run}")
        return found

    def _read(self, connection: Connection, query: sa.Select[Any]) -> list[tuple[Run, list[str]]]:
        """Return the runs that were asked for, the newest last, each with what of it is damaged."""
        rows = {row.id: row._mapping for row in connection.execute(query)}
        parts: dict[str, dict[int, list[Any]]] = {
            name: {run: [] for run in sorted(rows)} for name in ("verdicts", "artifacts")
        }
        for table, order in ((sql.verdicts, "number"), (sql.artifacts, "name")):
            # by the first and the last, as databases take only so many numbers in a query
            between = table.c.run.between(min(rows, default=0), max(rows, default=-1))
            for each in connection.execute(sa.select(table).where(between).order_by(table.c[order])):
                if each.run in rows:
                    parts[table.name][each.run].append(each._mapping)
        return [
            run_of(rows[run], [each["verdict"] for each in verdicts], parts["artifacts"][run])
            for run, verdicts in parts["verdicts"].items()
        ]


def _at_least(**values: float) -> dict[str, Any]:
    """Return values for a row of `runs` that never make its own smaller."""
    return {
        name: sa.case((sql.runs.c[name] < value, value), else_=sql.runs.c[name]) for name, value in values.items()
    }

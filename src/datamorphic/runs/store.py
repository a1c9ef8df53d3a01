"""`Store`: runs with their journals, verdicts and files, in SQLite or PostgreSQL."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .._text import redact, suggest_name
from .._validation import reject, validate_choice, validate_integer
from ..errors import StoreError
from . import tables
from .artifacts import Artifact, Files, open_files, open_server_files
from .database import Connection, Database
from .ownership import Owner, reject_live_run
from .run import FINISHED_RUN, JournalEntry, Run, build_damage_error, coerce_row, parse_artifact, parse_entry, parse_run
from .tables import to_json_value, to_safe_json_value
from .url import FILES_VARIABLE, resolve_store_url

JOURNAL_CHUNK_ENTRIES = 16  # read at once
RUN_TOTALS = ("runs", "calls", "seconds")  # of all sessions of a run


class Store:
    """A store of runs with journals, verdicts and files; `Store.open` opens one.

    A store may be used from several threads, which take turns. Its location, without secrets, is `url`.
    """

    def __init__(self, database: Database, files: Files) -> None:
        self.database, self.url = database, database.name
        self._files, self._owner = files, Owner()
        files.store_option = database.store_option

    @classmethod
    def open(cls, url: str | os.PathLike[str] | None = None, *, reading: bool = False) -> Store:
        """Open a store. Create it if necessary, and upgrade one of an earlier release.

        Parameters
        ----------
        url : str or path, optional
            A path, ``sqlite:///path`` or ``postgresql://user:password@host/database``. By default the value of
            ``$DATAMORPHIC_STORE``, or the default path of the user. Files of runs are stored beside an SQLite database in
            ``<its name>.files``. For PostgreSQL they are stored at ``?artifacts=`` (a folder, or a URL for fsspec), at
            ``$DATAMORPHIC_ARTIFACTS``, or on this computer.
        reading : bool
            Whether the store is only read. Then nothing is created, and the user needs no permission to write.
        """
        if not isinstance(reading, bool):
            reject("reading", "Store.open", "True or False", reading)
        address, folder = resolve_store_url(url, reading)
        files = open_files(f"{address}.files") if isinstance(address, Path) else open_server_files(folder)
        return cls(Database(address, reading), files)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.url!r})"

    def close(self) -> None:
        """Close the store and release its runs."""
        self._owner.run_ids.clear()
        self.database.close()

    # -- running ---------------------------------------------------------------------------------------------------

    def begin(
        self,
        verb: str,
        system: str,
        parameters: Mapping[str, Any],
        *,
        seed: int | None = None,
        versions: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        model_hash: str | None = None,
        data_hash: str | None = None,
    ) -> int:
        """Add a new run, owned by this process, and return its number; secrets are not stored."""
        row = {
            "verb": verb,
            "system": redact(system),
            "state": "running",
            "started": time.time(),
            "seconds": 0.0,
            "seed": to_json_value(seed),
            "parameters": to_safe_json_value(parameters),
            "versions": to_safe_json_value(versions or {}),
            "environment": to_safe_json_value(environment or {}),
            "model_hash": model_hash,
            "data_hash": data_hash,
            "runs": 0,
            "calls": 0,
            "summary": {},
            "message": "",
            "folder": secrets.token_hex(8),
            **self._owner.to_record(),
        }
        self._files.probe()
        self._files.sweep()

        def work(connection: Connection) -> int:
            connection.insert(tables.runs, [row])
            newest = "SELECT id FROM runs WHERE owner = :owner ORDER BY id DESC LIMIT 1"
            return int(connection.read_value(newest, owner=row["owner"]))

        run = self.database.write(work)
        self._owner.run_ids.add(run)
        return run

    def release(self, run: int) -> None:
        """Let any process claim a run, without writing to the store, which may be unreachable."""
        self._owner.run_ids.discard(run)

    def commit(
        self,
        run: int,
        entries: Sequence[JournalEntry] = (),
        *,
        done: float | None = None,
        runs: int = 0,
        calls: int = 0,
        seconds: float = 0.0,
    ) -> None:
        """Store answers since the last commit, progress and a heartbeat in one transaction.

        `done` is the share of the run that is done; None leaves it unchanged. `runs`, `calls` and `seconds` are totals since
        the run began, including earlier sessions. Smaller values than the stored ones are ignored.
        """
        rows = [
            {"run": run, **vars(entry), "about": to_json_value(entry.about), "payload": bytes(entry.payload)}
            for entry in entries
        ]

        def work(connection: Connection) -> None:
            values = {"heartbeat": time.time(), "runs": int(runs), "calls": int(calls), "seconds": float(seconds)}
            if done is not None:
                values["done"] = float(done)
            self._update(connection, run, values, "AND state = 'running'")
            connection.insert(tables.answers, rows)

        self.database.write(work, run)

    def entries(self, run: int) -> Iterator[JournalEntry]:
        """Yield the journal of a run by query and piece, reading a few entries at once."""
        next_chunk = (
            f"WHERE run = :run AND (ask, first) > (:ask, :first) ORDER BY ask, first LIMIT {JOURNAL_CHUNK_ENTRIES}"
        )

        def read_after(ask: int, first: int) -> list[JournalEntry]:
            position = {"run": run, "ask": ask, "first": first}
            rows = self.database.read(lambda connection: connection.select(tables.answers, next_chunk, **position))
            return list(map(parse_entry, rows))

        self.database.read(lambda connection: self._read_row(connection, run))
        entries = read_after(-1, -1)
        while entries:
            yield from entries
            entries = read_after(entries[-1].ask, entries[-1].first)

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
        """Store how a run ended, and replace any earlier end. On failure nothing changes.

        Parameters
        ----------
        run, state : int, {"finished", "interrupted", "failed"}
            The run, and how it ended. The journal is kept unless the run is finished.
        summary, verdicts : mapping, iterable of mappings
            The results, JSON-serialisable.
        seconds, message : float, str
            The total duration since the run began, as in `commit`, and why it ended.
        artifacts : mapping of str to function
            Files by name. Each function writes one to the path it gets, and returns its number of rows.
        """
        validate_choice("state", "Store.finish", state, ["finished", "interrupted", "failed"])
        end_values = {"state": state, "summary": to_safe_json_value(summary or {}), "message": redact(message)}
        if state == "finished":
            end_values["done"] = 1.0
        verdict_rows = [
            {"run": run, "number": i, "verdict": to_safe_json_value(verdict)} for i, verdict in enumerate(verdicts)
        ]
        folder = self.database.read(lambda connection: self._read_row(connection, run))["folder"]

        new_artifacts: list[Artifact] = []
        try:
            for name, writer in (artifacts or {}).items():
                new_artifacts.append(self._files.write(folder, name, writer, run))
        except BaseException:
            self._files.discard(artifact.path for artifact in new_artifacts)
            raise
        artifact_rows = [{"run": run, "host": self._files.host, **asdict(artifact)} for artifact in new_artifacts]

        def work(connection: Connection) -> None:
            now = time.time()
            self._update(connection, run, end_values | {"ended": now, "heartbeat": now, "seconds": float(seconds)})
            table_rows = [(tables.verdicts, verdict_rows), (tables.artifacts, artifact_rows)]
            if state == "finished":
                table_rows.append((tables.answers, []))
            for table, rows in table_rows:
                connection.execute(f"DELETE FROM {table.name} WHERE run = :run", run=run)
                connection.insert(table, rows)

        self.database.write(work, run)
        self.release(run)
        self._files.discard(set(self._files.list_files(folder)) - {artifact.path for artifact in new_artifacts})

    def claim(self, run: int) -> Run:
        """Take over a run to resume it, unless it is finished or its owner is alive.

        If two processes claim a run, one of them succeeds.
        """

        def work(connection: Connection) -> Run:
            row = self._read_row(connection, run, lock=True)
            if row["state"] == "finished":
                raise StoreError(FINISHED_RUN.format(run))
            reject_live_run(row)
            self._read_undamaged_run(connection, run)
            change = {"state": "running", "ended": None, **self._owner.to_record()}
            connection.update(tables.runs, change, "id = :id", id=run)
            self._owner.run_ids.add(run)
            return self._read_undamaged_run(connection, run)

        self._files.probe()
        earlier_run_ids = set(self._owner.run_ids)
        try:
            return self.database.write(work, run)
        except BaseException:
            self._owner.run_ids = earlier_run_ids
            raise

    # -- reading ---------------------------------------------------------------------------------------------------

    def run(self, run: int) -> Run:
        """Return a run."""
        return self.database.read(lambda connection: self._read_undamaged_run(connection, run))

    def runs(self, last: int | None = None) -> list[Run]:
        """Return all runs, or only the `last` ones, the newest last.

        The state is "killed" if the process of a run is gone, and "damaged" if its rows are invalid.
        """
        limit = self.database.largest_id if last is None else validate_integer("last", "Store.runs", last)
        limit = min(limit, self.database.largest_id)
        return self.database.read(
            lambda connection: [
                run for run, _ in self._read_runs(connection, "ORDER BY id DESC LIMIT :limit", limit=limit)
            ]
        )

    def fetch(self, run: int, name: str) -> AbstractContextManager[Path]:
        """Return a context manager with the path of a verified file of a run.

        The file may only be read inside the block.
        """

        def work(connection: Connection) -> tuple[str, list[dict[str, Any]]]:
            folder = self._read_row(connection, run)["folder"]
            return folder, connection.select(tables.artifacts, "WHERE run = :run", run=run)

        folder, artifact_rows = self.database.read(work)
        rows = {row["name"]: row for row in artifact_rows}
        if name not in rows:
            hint = suggest_name(name, rows) if rows else "It has no files."
            raise StoreError(f"Run {run} has no file {name!r}. {hint}")
        artifact = parse_artifact(rows[name], folder)
        if artifact is None:
            raise build_damage_error(f"the file {name!r} of run {run}", ["path, name or size"], "Start the run again.")
        if (host := rows[name]["host"]) not in (None, socket.gethostname()):
            raise StoreError(
                f"The file {name!r} of run {run} is in a local folder on the host {host}. Read it there. To read "
                "future files everywhere, name a folder or URL that all hosts can reach, as ?artifacts=... in the URL of the "
                f"store or in ${FILES_VARIABLE}."
            )
        return self._files.open(artifact, run)

    def remove(self, run: int) -> None:
        """Remove a run and its files, unless its owner is alive.

        Files of a damaged run may remain.
        """

        def work(connection: Connection) -> str:
            row = self._read_row(connection, run, lock=True)
            reject_live_run(row)
            connection.execute("DELETE FROM runs WHERE id = :id", id=run)
            return str(row["folder"])

        self._files.discard(self._files.list_files(self.database.write(work)))
        self.release(run)

    # -- rows ------------------------------------------------------------------------------------------------------

    def _update(self, connection: Connection, run: int, values: Mapping[str, Any], condition: str = "") -> None:
        """Change the row of a run that this process owns. Totals never decrease."""
        own_run = f"id = :id AND owner = :owner {condition}"
        identity = {"id": run, "owner": self._owner.token}
        if not self._is_possible_id(run) or not connection.update(
            tables.runs, values, own_run, growing=RUN_TOTALS, **identity
        ):
            row = self._read_row(connection, run)
            owner_text = f"pid {row['pid']} on {row['host']}" if row["owner"] != self._owner.token else "us"
            raise StoreError(
                f"Run {run} cannot be written: it is {row['state']}, and was last claimed by {owner_text}. "
                f"If it is unfinished, resume it: datamorphic runs resume {run}"
            )

    def _read_row(self, connection: Connection, run: int, lock: bool = False) -> dict[str, Any]:
        """Return the row of a run, with defaults for invalid values."""
        clauses = f"WHERE id = :id {connection.row_lock if lock else ''}"
        rows = connection.select(tables.runs, clauses, id=run) if self._is_possible_id(run) else []
        if not rows:
            newest_ids = [row_id for (row_id,) in connection.execute("SELECT id FROM runs ORDER BY id DESC LIMIT 5")]
            hint = "The newest are " + ", ".join(map(str, newest_ids)) if newest_ids else "It holds no runs yet"
            raise StoreError(f"There is no run {run} in {self.url}. {hint}.")
        return coerce_row(rows[0], tables.runs)[0]

    def _is_possible_id(self, run: int) -> bool:
        """Return whether the database can hold a run of this number."""
        return 0 < run <= self.database.largest_id

    def _read_undamaged_run(self, connection: Connection, run: int) -> Run:
        """Return a run; raise if any part of it is damaged."""
        self._read_row(connection, run)
        stored_run, damaged_columns = self._read_runs(connection, "WHERE id = :id", id=run)[0]
        if damaged_columns:
            raise build_damage_error(f"run {run}", damaged_columns, f"Remove it with: datamorphic runs remove {run}")
        return stored_run

    def _read_runs(self, connection: Connection, clauses: str, **parameters: int) -> list[tuple[Run, list[str]]]:
        """Return the runs of a query, the newest last, each with its damaged columns."""
        rows = {row["id"]: row for row in connection.select(tables.runs, clauses, **parameters)}
        # a range, because databases limit the numbers in a query
        in_range = {"low": min(rows, default=0), "high": max(rows, default=-1)}
        parts: dict[tuple[str, int], list[Any]] = defaultdict(list)
        for table, order in ((tables.verdicts, "number"), (tables.artifacts, "name")):
            for row in connection.select(table, f"WHERE run BETWEEN :low AND :high ORDER BY {order}", **in_range):
                parts[table.name, row["run"]].append(row)
        return [
            parse_run(rows[run], [row["verdict"] for row in parts["verdicts", run]], parts["artifacts", run])
            for run in sorted(rows)
        ]

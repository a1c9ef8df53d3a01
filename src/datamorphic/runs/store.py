"""The run store: what was run, how far it came, what it found; SQLite for one, PostgreSQL for a team."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Row

from .._checks import did_you_mean, names_a_secret, one_of, redacted
from ..errors import StoreError
from . import sql
from .artifacts import Artifact, Files, files_at
from .run import Entry, Run, artifact_of, born_at, refuse_if_alive, run_of
from .sql import OTHER_STORE, Database, plain

__all__ = ["Artifact", "Entry", "Run", "Store", "default_path"]

STORE_VARIABLE = "DATAMORPHIC_STORE"
FILES_VARIABLE = "DATAMORPHIC_ARTIFACTS"
AT_ONCE = 16  # entries of a journal in memory


def default_path() -> Path:
    """Return where the runs of this user are kept."""
    return _data_folder() / "runs.sqlite"


def _data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("datamorphic", appauthor=False)


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
        self._owner = secrets.token_hex(16)

    @classmethod
    def open(cls, url: str | os.PathLike[str] | None = None) -> Store:
        """Open a store, make it if there is none, bring it up to date if it is of an earlier release.

        Parameters
        ----------
        url : str or path, optional
            A path, ``sqlite:///path`` or ``postgresql://user:password@host/database``; by default what
            ``$DATAMORPHIC_STORE`` says, else `default_path()`. Files of runs lie beside an SQLite store, in
            ``<its name>.files``; for PostgreSQL where ``?artifacts=`` says (a folder, or a URL for fsspec), else
            ``$DATAMORPHIC_ARTIFACTS``, else on this computer.
        """
        text = os.fspath(url) if url is not None else os.environ.get(STORE_VARIABLE) or _made(default_path())
        if "://" not in text:
            return cls._beside(Path(text))
        address, folder = sql.parsed(text)
        if address.get_backend_name() == "sqlite":
            return cls._beside(Path(address.database or ""))
        folder = folder or os.environ.get(FILES_VARIABLE)
        files = files_at(folder) if folder else files_at(_data_folder() / "files", socket.gethostname())
        return cls(Database(address), files)

    @classmethod
    def _beside(cls, path: Path) -> Store:
        path = path.expanduser().absolute()
        if path.is_dir():
            raise StoreError(f"The run store {path} is a folder, but must be a file. {OTHER_STORE.capitalize()}.")
        if not path.parent.is_dir():
            raise StoreError(f"The run store {path} has no folder to be in. Make {path.parent}, or {OTHER_STORE}.")
        return cls(Database(URL.create("sqlite", database=str(path))), files_at(f"{path}.files"))

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.url!r})"

    def close(self) -> None:
        """Close the store."""
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
            **self._ownership(),
        }

        def work(connection: Connection) -> int:
            return int(connection.execute(sql.runs.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]

        self._files.sweep()
        return self.database.write(work)

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

        rows = after(-1, -1)
        while rows:
            yield from (Entry(**{field.name: row._mapping[field.name] for field in fields(Entry)}) for row in rows)
            rows = after(rows[-1].ask, rows[-1].first)

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
        folder = self.database.read(lambda connection: self._row(connection, run)).folder

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
        self._files.discard(set(self._files.listing(folder)) - {each.path for each in kept})

    def claim(self, run: int) -> Run:
        """Take over a run to go on with it, unless it is finished or its owner is alive. Of two claimers one wins."""

        def work(connection: Connection) -> Run:
            row = self._row(connection, run, lock=True)
            if row.state == "finished":
                raise StoreError(f"Run {run} is finished: there is nothing to go on with. Start a new one.")
            refuse_if_alive(row)
            change = {"state": "running", "ended": None, **self._ownership()}
            connection.execute(sql.runs.update().where(sql.runs.c.id == run).values(change))
            return self._read(connection, sql.runs.c.id == run)[0]

        return self.database.write(work, run)

    # -- reading ---------------------------------------------------------------------------------------------------

    def run(self, run: int) -> Run:
        """Return a run."""

        def work(connection: Connection) -> Run:
            self._row(connection, run)
            return self._read(connection, sql.runs.c.id == run)[0]

        return self.database.read(work)

    def runs(self) -> list[Run]:
        """Return all runs, the newest last. One whose process is gone without a word is called killed."""
        return self.database.read(self._read)

    def fetch(self, run: int, name: str) -> AbstractContextManager[Path]:
        """Return a context manager with the path of a file of a run, verified; to read, not to keep."""

        def work(connection: Connection) -> Sequence[Row[Any]]:
            self._row(connection, run)
            return connection.execute(sa.select(sql.artifacts).where(sql.artifacts.c.run == run)).all()

        rows = {row.name: row for row in self.database.read(work)}
        if name not in rows:
            hint = did_you_mean(name, rows) if rows else "It has no files."
            raise StoreError(f"Run {run} has no file {name!r}. {hint}")
        if rows[name].host not in (None, socket.gethostname()):
            raise StoreError(
                f"The file {name!r} of run {run} is on the host {rows[name].host}, in its user's own folder. Read it "
                f"there; so that the next files can be read everywhere, name a folder or URL that all hosts reach, "
                f"as ?artifacts=... in the URL of the store or in ${FILES_VARIABLE}."
            )
        return self._files.open(artifact_of(rows[name]), run)

    def remove(self, run: int) -> None:
        """Remove a run and its files, unless its owner is alive."""

        def work(connection: Connection) -> str:
            row = self._row(connection, run, lock=True)
            refuse_if_alive(row)
            connection.execute(sql.runs.delete().where(sql.runs.c.id == run))
            return str(row.folder)

        self._files.discard(self._files.listing(self.database.write(work)))

    # -- rows ------------------------------------------------------------------------------------------------------

    def _ownership(self) -> dict[str, Any]:
        pid = os.getpid()
        owner = {"owner": self._owner, "host": socket.gethostname(), "pid": pid, "born": born_at(pid)}
        return owner | {"heartbeat": time.time()}

    def _update(self, connection: Connection, run: int, values: Mapping[str, Any], *only: Any) -> None:
        """Change the row of a run that is still ours."""
        mine = sa.and_(sql.runs.c.id == run, sql.runs.c.owner == self._owner, *only)
        if not connection.execute(sql.runs.update().where(mine).values(values)).rowcount:
            row = self._row(connection, run)
            whose = f"pid {row.pid} on {row.host}" if row.owner != self._owner else "us"
            raise StoreError(
                f"Run {run} cannot be written: it is {row.state}, and was last taken over by {whose}. "
                f"If it is still unfinished, go on with it: datamorphic runs resume {run}"
            )

    def _row(self, connection: Connection, run: int, lock: bool = False) -> Row[Any]:
        query = sa.select(sql.runs).where(sql.runs.c.id == run)
        row = connection.execute(query.with_for_update() if lock else query).first()
        if row is None:
            newest = connection.scalars(sa.select(sql.runs.c.id).order_by(sql.runs.c.id.desc()).limit(5)).all()
            hint = "The newest are " + ", ".join(map(str, newest)) if newest else "It holds no runs yet"
            raise StoreError(f"There is no run {run} in {self.url}. {hint}.")
        return row

    def _read(self, connection: Connection, *only: Any) -> list[Run]:
        rows = connection.execute(sa.select(sql.runs).where(*only).order_by(sql.runs.c.id)).all()

        def parts(table: sa.Table, order: str) -> Iterator[Row[Any]]:
            wanted = sa.select(sql.runs.c.id).where(*only)
            yield from connection.execute(sa.select(table).where(table.c.run.in_(wanted)).order_by(table.c[order]))

        verdicts: dict[int, list[Any]] = {row.id: [] for row in rows}
        artifacts: dict[int, list[Artifact]] = {row.id: [] for row in rows}
        for each in parts(sql.verdicts, "number"):
            verdicts[each.run].append(each.verdict)
        for each in parts(sql.artifacts, "name"):
            artifacts[each.run].append(artifact_of(each))
        return [run_of(row, verdicts[row.id], artifacts[row.id]) for row in rows]


def _at_least(**values: float) -> dict[str, Any]:
    """Return values for a row of `runs` that never make its own smaller."""
    return {
        name: sa.case((sql.runs.c[name] < value, value), else_=sql.runs.c[name]) for name, value in values.items()
    }


def safe(value: Any) -> Any:
    """Return a value as JSON has it, without secrets."""
    if isinstance(value, Mapping):
        return {redacted(str(name)): _safe_as(str(name), each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [safe(each) for each in value]
    return plain(value, redacted)


def _safe_as(name: str, value: Any) -> Any:
    harmless = value is None or isinstance(value, bool | int | float | Mapping)
    return safe(value) if harmless or not names_a_secret(name) else "***"


def _made(path: Path) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)
    except OSError as error:
        trouble = sql.in_our_words(error, str(path))
    raise trouble

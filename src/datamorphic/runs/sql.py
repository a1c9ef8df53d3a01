"""The database under a run store: its tables, connecting, migrating, and its errors in our words."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Dialect, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import TypeDecorator

from .._checks import optional_import, redacted
from ..errors import StoreError

T = TypeVar("T")

PATIENCE = 60.0  # seconds to wait for another process that is writing
NAP = 5.0  # of them, at a time within SQLite, where Ctrl-C is not heard
FIRST_COME = 0x64_61_74_61_6D_6F_72_70  # the advisory lock under which PostgreSQL's tables are made
OTHER_STORE = "name another store with --store"


class Words(TypeDecorator[str]):
    """Text that every database takes: NUL and lone surrogates are spelt out."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Spell out what PostgreSQL refuses."""
        return None if value is None else value.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


class Json(TypeDecorator[Any]):
    """JSON as ASCII text: PostgreSQL's own type refuses NaN and NUL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        """Write JSON."""
        return canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read JSON."""
        return None if value is None else json.loads(value)


def canonical(value: Any) -> str:
    """Return the one way to write a value as JSON."""
    return json.dumps(value, sort_keys=True)


def plain(value: Any, words: Callable[[str], str] = str) -> Any:
    """Return a value as JSON has it, each text in it passed through `words`."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return words(str(value))
    if isinstance(value, int):
        return (
            value if value.bit_length() < 10_000 else hex(value)
        )  # Python refuses to write longer ones in decimal
    if isinstance(value, Mapping):
        return {words(str(key)): plain(each, words) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, words) for each in value]
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return plain(value.tolist(), words)
    return words(str(value))


# -- tables: times are seconds since 1970, UTC ---------------------------------------------------------------------

TABLES = sa.MetaData()


def _run() -> sa.Column[int]:
    return sa.Column("run", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


schema = sa.Table("schema", TABLES, sa.Column("version", sa.Integer, nullable=False))
runs = sa.Table(
    "runs",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("verb", Words, nullable=False),
    sa.Column("system", Words, nullable=False),
    sa.Column("state", Words, nullable=False),
    sa.Column("started", sa.Double, nullable=False),
    sa.Column("ended", sa.Double),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("seed", Json, nullable=False),
    sa.Column("parameters", Json, nullable=False),
    sa.Column("versions", Json, nullable=False),
    sa.Column("environment", Json, nullable=False),
    sa.Column("model_hash", Words),
    sa.Column("data_hash", Words),
    sa.Column("done", sa.Double),
    sa.Column("runs", sa.BigInteger, nullable=False),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("summary", Json, nullable=False),
    sa.Column("message", Words, nullable=False),
    sa.Column("folder", Words, nullable=False),  # of its files, below the store's
    sa.Column("owner", Words, nullable=False),  # a random word that only the process at work knows
    sa.Column("host", Words, nullable=False),
    sa.Column("pid", sa.BigInteger, nullable=False),
    sa.Column("born", Words),  # when that process was started, in the words of its system
    sa.Column("heartbeat", sa.Double, nullable=False),
    sqlite_autoincrement=True,  # the number of a removed run is not given again
)
answers = sa.Table(
    "answers",
    TABLES,
    _run(),
    sa.Column("ask", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("first", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("pieces", sa.BigInteger, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("fingerprint", Words, nullable=False),
    sa.Column("payload", sa.LargeBinary, nullable=False),
    sa.Column("about", Json, nullable=False),
)
verdicts = sa.Table(
    "verdicts",
    TABLES,
    _run(),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("verdict", Json, nullable=False),
)
artifacts = sa.Table(
    "artifacts",
    TABLES,
    _run(),
    sa.Column("name", Words, primary_key=True),
    sa.Column("path", Words, nullable=False),  # below the store's folder of files
    sa.Column("sha256", Words, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("host", Words),  # that alone has the file; NULL where the folder is shared
)
failures = sa.Table(
    "failures",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", Words, nullable=False, unique=True),  # hash of system, relation and case
    sa.Column("system", Words, nullable=False),
    sa.Column("relation", Words, nullable=False),
    sa.Column("case", Json, nullable=False),
    sa.Column("verdict", Words, nullable=False),
    sa.Column("message", Words, nullable=False),
    sa.Column("first_seen", sa.Double, nullable=False),
    sa.Column("last_seen", sa.Double, nullable=False),
    sa.Column("times", sa.BigInteger, nullable=False),
    sa.Column("run", sa.ForeignKey("runs.id", ondelete="SET NULL"), index=True),
    sa.Index("failures_of", "system", "relation", "last_seen"),
    sqlite_autoincrement=True,
)

#: What brings a store from one version to the next; their number is the version. A new store is made by the first
#: alone, which makes the tables as they are today: the others are for the stores of earlier releases.
MIGRATIONS: list[Callable[[Connection], None]] = [TABLES.create_all]


# -- where it is ---------------------------------------------------------------------------------------------------


def parsed(text: str) -> tuple[URL, str | None]:
    """Return where the URL of a store leads, and where files go according to its parameter ``artifacts``."""
    scheme = text.partition("://")[0]
    if scheme not in ("sqlite", "postgres", "postgresql", "postgresql+psycopg"):
        raise StoreError(
            f"A run store cannot be kept in {scheme!r}. Give a path or sqlite:///path, or "
            f"postgresql://user:password@host/database."
        )
    try:
        url = sa.make_url(text)
    except (SQLAlchemyError, ValueError):
        url = None
    # the part of a password behind an @ would pass for the host's name, and be shown
    behind = re.sub(r"(?<=[?&])artifacts=[^&]*", "", text).partition("@")[2]
    files = url and url.query.get("artifacts")
    if url is None or "@" in behind or isinstance(files, tuple):
        raise StoreError(
            f"The URL of the run store ({scheme}://...) cannot be read. Write it like {scheme}://user:password@"
            f"host:5432/database, and signs such as @ : / ? in user and password escaped (@ as %40)."
        )
    if scheme != "sqlite":
        return url.difference_update_query(["artifacts"]).set(drivername="postgresql+psycopg"), files
    if url.host or url.query or url.database in (None, "", ":memory:"):
        raise StoreError(
            f"The run store {redacted(text)} is no file. Write sqlite:///relative/path or sqlite:////absolute/path, "
            f"without parameters."
        )
    return url, None


# -- the database --------------------------------------------------------------------------------------------------


class Database:
    """A database that holds our tables, in the present version.

    Parameters
    ----------
    url : URL
        Where it is: an SQLite file or a PostgreSQL database.
    """

    def __init__(self, url: URL) -> None:
        self.file = Path(url.database or "") if url.get_backend_name() == "sqlite" else None
        self.name = str(self.file or redacted(url.set(query={}).render_as_string()))
        self._engine = self._attempt(lambda: _sqlite(url) if self.file else _postgresql(url))
        try:
            if self.read(self._version) < len(MIGRATIONS):
                self._attempt(self._prepare)
                self.write(self._migrate)
        except BaseException:
            self.close()
            raise

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads in a transaction."""
        return self._attempt(lambda: self._within(work, writing=False))

    def write(self, work: Callable[[Connection], T], run: int | None = None) -> T:
        """Do `work` in a transaction, and again if another process was in the way; `run` is for messages."""
        return self._attempt(lambda: self._within(work, writing=True), run)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _within(self, work: Callable[[Connection], T], writing: bool) -> T:
        with self._engine.execution_options(writing=writing).begin() as connection:
            return work(connection)

    def _attempt(self, work: Callable[[], T], run: int | None = None) -> T:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return work()
            except (SQLAlchemyError, sqlite3.Error, OSError) as error:
                if not (_is_busy(error) and time.monotonic() < deadline):
                    trouble = in_our_words(error, self.name, run)
                    break
            time.sleep(random.uniform(0.01, 0.05))
        raise trouble  # out here it has no context: a driver's error may hold what was sent to it

    def _prepare(self) -> None:
        if self.file:
            connection = self._engine.raw_connection()
            try:
                connection.cursor().execute("PRAGMA journal_mode=WAL")  # stays with the file
            finally:
                connection.close()

    def _migrate(self, connection: Connection) -> None:
        if not self.file:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(FIRST_COME)))
        version = self._version(connection)  # again, now that nobody else can write
        if version == 0:
            MIGRATIONS[0](connection)
            connection.execute(schema.insert().values(version=len(MIGRATIONS)))
            return
        for step in MIGRATIONS[version:]:
            step(connection)
        connection.execute(schema.update().values(version=len(MIGRATIONS)))

    def _version(self, connection: Connection) -> int:
        """Return the version of the store, 0 for none yet; refuse what is not ours to write into."""
        names = set(sa.inspect(connection).get_table_names())
        if not {"schema", "runs"} <= names:
            others = (
                names if self.file else names & set(TABLES.tables)
            )  # a server's database may have other tables
            if others:
                raise StoreError(
                    f"{self.name} is the database of some other program: it has a table "
                    f"{min(others)!r}, but is no run store. Left as it is; {OTHER_STORE}."
                )
            return 0
        version = connection.scalar(sa.select(schema.c.version))
        if not isinstance(version, int):
            raise StoreError(
                f"The run store {self.name} is damaged: it has no version. {OTHER_STORE.capitalize()}."
            )
        if version > len(MIGRATIONS):
            raise StoreError(
                f"The run store {self.name} was written by a newer version of datamorphic (schema {version}, "
                f"this one knows up to {len(MIGRATIONS)}). Upgrade datamorphic, or {OTHER_STORE}."
            )
        return version


def _sqlite(url: URL) -> Engine:
    # check_same_thread: a pooled connection may be handed to another thread, one at a time
    engine = sa.create_engine(url, hide_parameters=True, connect_args={"timeout": NAP, "check_same_thread": False})

    @sa.event.listens_for(engine, "connect")
    def _settle(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # sqlite3 begins no transactions: we do
        for pragma in ("foreign_keys=ON", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # one that reads first and writes later could find that another wrote in between, and would have to give up
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _postgresql(url: URL) -> Engine:
    optional_import("psycopg", "postgres", "A run store in PostgreSQL")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": "10"})
    return sa.create_engine(url, hide_parameters=True, pool_pre_ping=True, isolation_level="READ COMMITTED")


# -- errors in our words -------------------------------------------------------------------------------------------


def _is_busy(error: Exception) -> bool:
    text = str(getattr(error, "orig", error))
    return "database is locked" in text or "database table is locked" in text or "schema is locked" in text


def in_our_words(error: Exception, where: str, run: int | None = None) -> StoreError:
    """Return what went wrong with a store, or a file of it, in one line without secrets and with a remedy."""
    cause = getattr(error, "orig", None) or error
    text = (str(cause).strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
    state = getattr(cause, "sqlstate", None) or ""
    code = getattr(cause, "errno", None)
    resume = f", then: datamorphic runs resume {run}" if run is not None else ""

    def says(*parts: str) -> bool:
        return any(part in text for part in parts)

    if (
        code in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        or state == "53100"
        or says("disk is full", "disk I/O error")
    ):
        told, remedy = "cannot be written: the disk is full", f"Free some space{resume}"
        if says("disk I/O error"):
            told, remedy = "cannot be written: the disk is full or fails", f"Free some space or check it{resume}"
    elif says("is locked"):
        told = f"has been in use by another process for more than {PATIENCE:g} seconds"
        remedy = f"End that process{resume}"
    elif says("not a database"):
        told, remedy = "is not an SQLite database", f"Check the path, or {OTHER_STORE}"
    elif says("malformed", "no such table", "no such column") or state in ("42P01", "42703"):
        told, remedy = f"is damaged ({text})", f"Put back a copy of it, or {OTHER_STORE}"
    elif isinstance(cause, OSError) or says("unable to open", "readonly"):
        told = f"cannot be opened or written ({os.strerror(code) if code else text})"
        remedy = f"Check that its folder exists and that you may write there, or {OTHER_STORE}"
    elif state == "42501":
        told, remedy = (
            f"does not let you ({text})",
            "Ask its administrator for the right to create and write tables",
        )
    elif isinstance(error, sa.exc.DBAPIError) and not state:  # no answer of the server to a statement
        told = f"cannot be reached ({text})"
        remedy = f"Check that the server runs, and host, database, user and password in the URL{resume}"
    else:
        told, remedy = f"failed ({text})", f"If it does so again, {OTHER_STORE}"
    return StoreError(redacted(f"The run store {where} {told}. {remedy}."))

"""The database of a run store: tables, connections and migrations."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Dialect, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import TypeDecorator

from .._text import is_secret_name, redact, redact_parameter, to_jsonable
from .._validation import import_optional
from ..errors import StoreError
from . import errors as store_errors
from .errors import OTHER_STORE_HINT, is_busy, is_connection_refused, is_server_unreachable, to_store_error

T = TypeVar("T")

SQLITE_WAIT_SECONDS = 5.0  # inside SQLite, where Ctrl-C has no effect
MIGRATION_LOCK_ID = 0x64_61_74_61_6D_6F_72_70  # advisory lock of PostgreSQL


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


class SafeText(TypeDecorator[str]):
    """Text that every database accepts: NUL and lone surrogates are escaped."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape what PostgreSQL rejects."""
        return None if value is None else value.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


class JsonText(TypeDecorator[Any]):
    """JSON as ASCII text: PostgreSQL's own type rejects NaN and NUL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str:
        """Write JSON."""
        return to_canonical_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read JSON."""
        return None if value is None else parse_document(value)


class RawBytes(sa.LargeBinary):
    """Bytes as they are: SQLAlchemy would convert any value of SQLite, which may fail or use all memory."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Return no conversion."""


TABLES = sa.MetaData()


def _make_run_column() -> sa.Column[int]:
    return sa.Column("run", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


schema = sa.Table("schema", TABLES, sa.Column("version", sa.Integer, nullable=False))
runs = sa.Table(
    "runs",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("verb", SafeText, nullable=False),
    sa.Column("system", SafeText, nullable=False),
    sa.Column("state", SafeText, nullable=False),
    sa.Column("started", sa.Double, nullable=False),
    sa.Column("ended", sa.Double),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("seed", JsonText, nullable=False),
    sa.Column("parameters", JsonText, nullable=False),
    sa.Column("versions", JsonText, nullable=False),
    sa.Column("environment", JsonText, nullable=False),
    sa.Column("model_hash", SafeText),
    sa.Column("data_hash", SafeText),
    sa.Column("done", sa.Double),
    sa.Column("runs", sa.BigInteger, nullable=False),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("summary", JsonText, nullable=False),
    sa.Column("message", SafeText, nullable=False),
    sa.Column("folder", SafeText, nullable=False),  # of its files, inside the store's folder
    sa.Column("owner", SafeText, nullable=False),  # a random token that only the working process knows
    sa.Column("host", SafeText, nullable=False),
    sa.Column("pid", sa.BigInteger, nullable=False),
    sa.Column("born", SafeText),  # start time of that process, as the system reports it
    sa.Column("heartbeat", sa.Double, nullable=False),
    sqlite_autoincrement=True,  # numbers of removed runs are not reused
)
answers = sa.Table(
    "answers",
    TABLES,
    _make_run_column(),
    sa.Column("ask", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("first", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("pieces", sa.BigInteger, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("fingerprint", SafeText, nullable=False),
    sa.Column("payload", RawBytes, nullable=False),
    sa.Column("about", JsonText, nullable=False),
)
verdicts = sa.Table(
    "verdicts",
    TABLES,
    _make_run_column(),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("verdict", JsonText, nullable=False),
)
artifacts = sa.Table(
    "artifacts",
    TABLES,
    _make_run_column(),
    sa.Column("name", SafeText, primary_key=True),
    sa.Column("path", SafeText, nullable=False),  # inside the store's folder of files
    sa.Column("sha256", SafeText, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("host", SafeText),  # the only host that has the file; NULL if the folder is shared
    sa.Column("root", SafeText),  # the folder of files when it was written, without secrets; NULL in schema 1
)
failures = sa.Table(
    "failures",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", SafeText, nullable=False, unique=True),  # hash of system, relation and case
    sa.Column("system", SafeText, nullable=False),
    sa.Column("relation", SafeText, nullable=False),
    sa.Column("case", JsonText, nullable=False),
    sa.Column("verdict", SafeText, nullable=False),
    sa.Column("message", SafeText, nullable=False),
    sa.Column("first_seen", sa.Double, nullable=False),
    sa.Column("last_seen", sa.Double, nullable=False),
    sa.Column("times", sa.BigInteger, nullable=False),
    sa.Column("run", sa.ForeignKey("runs.id", ondelete="SET NULL"), index=True),
    sa.Index("failures_of", "system", "relation", "last_seen"),
    sqlite_autoincrement=True,
)


def _add_root(connection: Connection) -> None:
    connection.execute(sa.text("ALTER TABLE artifacts ADD COLUMN root TEXT"))


#: Each migration upgrades a store by one version; their number is the current version. A new store needs only the
#: first, which creates the current tables. The others are for stores of earlier releases.
MIGRATIONS: list[Callable[[Connection], None]] = [TABLES.create_all, _add_root]


# -- the database --------------------------------------------------------------------------------------------------


class Database:
    """An SQLite file or a PostgreSQL database with our tables in the current version.

    With `reading` nothing is created and written, so that users without permission to write can read.
    """

    def __init__(self, url: URL, reading: bool = False) -> None:
        self.file = Path(url.database or "") if url.get_backend_name() == "sqlite" else None
        self.name = redact(str(self.file or url.set(query={}).render_as_string()))
        self.largest_id = 2**63 - 1 if self.file else 2**31 - 1
        self._reached = False
        self._reading = reading
        self._engine = self._retry_while_busy(lambda: self._create_engine(url))
        try:
            version = self._detect_version()
            self._reached = self.file is None
            if version == 0 and reading:
                raise StoreError(f"There are no runs in {self.name} yet.")
            if version < len(MIGRATIONS):
                self._upgrade(version)
        except BaseException:
            self.close()
            raise

    def _create_engine(self, url: URL) -> Engine:
        if self.file is None:
            return _create_postgresql_engine(url)
        return _create_sqlite_engine(self.file, "mode=rw" if self._reading else "mode=rwc")

    def _detect_version(self) -> int:
        """Return the version; open SQLite as immutable if it cannot create files beside the database."""
        try:
            return self.read(self._read_version)
        except StoreError:
            if not (self._reading and self.file):
                raise
            is_writable = os.access(self.file.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
            wal = Path(f"{self.file}-wal")
            if is_writable or (wal.exists() and wal.stat().st_size > 0):
                raise
        self.close()
        self._engine = _create_sqlite_engine(self.file, "immutable=1")
        return self.read(self._read_version)

    def _upgrade(self, version: int) -> None:
        try:
            self._retry_while_busy(self._enable_wal)
            self._retry_while_busy(lambda: self._run_transaction(self._migrate, writing=True))
            return
        except StoreError as error:
            if not (self._reading and version):
                raise
            reason = str(error)
        raise StoreError(
            f"The run store {self.name} was written by an earlier version of datamorphic (schema {version}, this version "
            f"reads {len(MIGRATIONS)}) and cannot be upgraded: {reason} A user who may write to it upgrades it by "
            f"any command that opens it."
        )

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads in a transaction."""
        return self._retry_while_busy(lambda: self._run_transaction(work, writing=False))

    def write(self, work: Callable[[Connection], T], run: int | None = None) -> T:
        """Run `work` in a transaction, and repeat it while another process locks the database; messages name `run`."""
        if self._reading:
            raise StoreError(f"The run store {self.name} is open for reading and cannot be written.")
        return self._retry_while_busy(lambda: self._run_transaction(work, writing=True), run)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _run_transaction(self, work: Callable[[Connection], T], writing: bool) -> T:
        """Run `work` in a transaction, and wait for a server that is being restarted."""
        deadline, refusals = time.monotonic() + store_errors.MAX_SERVER_WAIT_SECONDS, 0
        while True:
            sent = False
            try:
                with self._engine.execution_options(writing=writing).begin() as connection:
                    result = work(connection)
                    sent = True  # a lost server may have committed already
                return result
            except sa.exc.DBAPIError as error:
                if sent or not self._reached or not is_server_unreachable(error) or time.monotonic() > deadline:
                    raise
                refusals += is_connection_refused(error, self._engine.url)
                if refusals > 1:  # at the first, it may have been starting
                    raise
            time.sleep(random.uniform(0.1, 0.5))

    def _retry_while_busy(self, work: Callable[[], T], run: int | None = None) -> T:
        deadline = time.monotonic() + store_errors.MAX_LOCK_WAIT_SECONDS
        while True:
            try:
                return work()
            except (SQLAlchemyError, sqlite3.Error, OSError) as error:
                if not (is_busy(error) and time.monotonic() < deadline):
                    store_error = to_store_error(error, self.name, run)
                    break
            time.sleep(random.uniform(0.01, 0.05))
        raise store_error  # raised here without context: a driver's error may hold data

    def _enable_wal(self) -> None:
        if self.file:
            with closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA journal_mode=WAL")  # stored in the file

    def _migrate(self, connection: Connection) -> None:
        if not self.file:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK_ID)))
        version = self._read_version(connection)  # read again under the lock
        if version == 0:
            MIGRATIONS[0](connection)
            connection.execute(schema.insert().values(version=len(MIGRATIONS)))
            return
        for step in MIGRATIONS[version:]:
            step(connection)
        connection.execute(schema.update().values(version=len(MIGRATIONS)))

    def _read_version(self, connection: Connection) -> int:
        """Return the version of the store, 0 if it is new; reject foreign databases."""
        names = set(sa.inspect(connection).get_table_names())
        if not {"schema", "runs"} <= names:
            # databases on a server may have other tables
            if foreign_tables := names if self.file else names & set(TABLES.tables):
                raise StoreError(
                    f"{self.name} is the database of another program: it has a table "
                    f"{min(foreign_tables)!r}, but is not a run store. It was not changed. {OTHER_STORE_HINT.capitalize()}."
                )
            return 0
        version = connection.scalar(sa.select(schema.c.version))
        if not isinstance(version, int):
            raise StoreError(
                f"The run store {self.name} is damaged: it has no version. {OTHER_STORE_HINT.capitalize()}."
            )
        if version > len(MIGRATIONS):
            raise StoreError(
                f"The run store {self.name} was written by a newer version of datamorphic (schema {version}, "
                f"this version supports up to {len(MIGRATIONS)}). Upgrade datamorphic, or {OTHER_STORE_HINT}."
            )
        return version


def _create_sqlite_engine(file: Path, mode: str) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{file.as_uri()}?{mode}",
            uri=True,
            timeout=SQLITE_WAIT_SECONDS,
            check_same_thread=False,  # the pool may pass a connection to another thread
            isolation_level=None,  # transactions are begun explicitly below
        )
        connection.text_factory = lambda text: text.decode(errors="replace")  # tolerate invalid characters
        for pragma in ("foreign_keys=ON", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.QueuePool, hide_parameters=True)

    @sa.event.listens_for(engine, "begin")
    def _begin_transaction(connection: Connection) -> None:
        # a transaction that reads before it writes would fail if another process wrote in between
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _create_postgresql_engine(url: URL) -> Engine:
    import_optional("psycopg", "postgres", "A run store in PostgreSQL")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": "10"})
    return sa.create_engine(url, hide_parameters=True, pool_pre_ping=True, isolation_level="READ COMMITTED")

"""The database of a run store: connections, transactions and migrations."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from .._clock import read_clock
from .._text import redact
from .._validation import import_optional
from ..errors import StoreError
from . import errors as store_errors
from . import tables
from .errors import OTHER_STORE_HINT, is_busy, is_shutting_down, to_store_error
from .tables import StoreTable
from .url import Server, find_store_option

T = TypeVar("T")

SQLITE_WAIT_SECONDS = 5.0  # inside SQLite, where Ctrl-C has no effect
MIGRATION_LOCK_ID = 0x64_61_74_61_6D_6F_72_70  # advisory lock of PostgreSQL


# -- connections ---------------------------------------------------------------------------------------------------


class Connection(ABC):
    """A connection to a database, through its DB-API driver.

    Statements are SQL that SQLite and PostgreSQL understand. Parameters are written as ``:name``.
    """

    #: types of columns that differ between databases
    column_types: ClassVar[Mapping[str, str]]
    #: the query for the names of all tables
    table_query: ClassVar[str]
    #: the end of a query that locks its rows; a transaction of SQLite locks the whole database
    row_lock: ClassVar[str] = ""
    #: a statement that waits for other processes that create or upgrade tables; SQLite needs none, as a transaction locks the file
    migration_lock: ClassVar[str] = "SELECT 1"

    def __init__(self, driver_connection: Any) -> None:
        self.driver_connection = driver_connection
        self._is_usable = True

    @abstractmethod
    def begin(self, writing: bool) -> None:
        """Begin a transaction."""

    def is_lost(self) -> bool:
        """Return whether the connection cannot be used any more."""
        return not self._is_usable

    def adapt(self, statement: str) -> str:
        """Return a statement with parameters as the driver expects them."""
        return statement

    def open_stream(self) -> Any:
        """Return a cursor that reads a few rows at once."""
        return self.driver_connection.cursor()

    @contextmanager
    def transaction(self, writing: bool) -> Iterator[Connection]:
        """Begin a transaction, and end it with the block."""
        try:
            self.begin(writing)
            yield self
            self.driver_connection.commit()
        except BaseException:
            self._is_usable = False
            with suppress(Exception):  # a lost connection cannot roll back
                self.driver_connection.rollback()
                self._is_usable = True
            raise

    def close(self) -> None:
        """Close the connection."""
        self.driver_connection.close()

    def execute(self, statement: str, **parameters: Any) -> Any:
        """Run a statement and return the cursor."""
        return self.driver_connection.cursor().execute(self.adapt(statement), _escape(parameters))

    def execute_many(self, statement: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement once per row of parameters."""
        self.driver_connection.cursor().executemany(self.adapt(statement), [_escape(row) for row in rows])

    def read_value(self, statement: str, **parameters: Any) -> Any:
        """Return the first value of a query; None if there are no rows."""
        row = self.execute(statement, **parameters).fetchone()
        return None if row is None else row[0]

    def select(self, table: StoreTable, clauses: str = "", **parameters: Any) -> list[dict[str, Any]]:
        """Return rows of a table; `clauses` follow its name."""
        return list(self._read_rows(self.driver_connection.cursor(), table, clauses, parameters))

    def stream(self, table: StoreTable, clauses: str = "", **parameters: Any) -> Generator[dict[str, Any], None, None]:
        """Yield rows of a table, which may be many."""
        return self._read_rows(self.open_stream(), table, clauses, parameters)

    def _read_rows(
        self, cursor: Any, table: StoreTable, clauses: str, parameters: Mapping[str, Any]
    ) -> Generator[dict[str, Any], None, None]:
        # with the name of the table, because SQLite takes an unknown quoted name for text
        names = ", ".join(f'{table.name}."{name}"' for name in table.columns)
        statement = f"SELECT {names} FROM {table.name} {clauses}"
        with closing(cursor):
            yield from map(table.decode, cursor.execute(self.adapt(statement), _escape(parameters)))

    def insert(self, table: StoreTable, rows: Sequence[Mapping[str, Any]], conflict: str = "") -> None:
        """Add rows that have values for the same columns; `conflict` is what follows, such as ON CONFLICT."""
        if rows:
            names = ", ".join(f'"{name}"' for name in rows[0])
            values = ", ".join(f":{name}" for name in rows[0])
            statement = f"INSERT INTO {table.name} ({names}) VALUES ({values}) {conflict}"
            self.execute_many(statement, [table.encode(row) for row in rows])

    def update(
        self,
        table: StoreTable,
        values: Mapping[str, Any],
        condition: str,
        growing: Sequence[str] = (),
        **parameters: Any,
    ) -> int:
        """Change columns and return the number of rows; columns in `growing` never decrease."""
        changes = ", ".join(
            f'"{name}" = CASE WHEN "{name}" < :{name} THEN :{name} ELSE "{name}" END'
            if name in growing
            else f'"{name}" = :{name}'
            for name in values
        )
        statement = f"UPDATE {table.name} SET {changes} WHERE {condition}"
        return int(self.execute(statement, **table.encode(values), **parameters).rowcount)


class SqliteConnection(Connection):
    """A connection to a file of SQLite; `mode` is a parameter of its URI."""

    column_types: ClassVar = {"id": "INTEGER PRIMARY KEY AUTOINCREMENT", "bytes": "BLOB"}
    table_query = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"

    def __init__(self, file: Path, mode: str) -> None:
        connection = sqlite3.connect(
            f"{file.as_uri()}?{mode}",
            uri=True,
            timeout=SQLITE_WAIT_SECONDS,
            check_same_thread=False,  # a store may be passed to another thread
            isolation_level=None,  # transactions are begun explicitly
        )
        super().__init__(connection)
        connection.text_factory = lambda text: text.decode(errors="replace")  # tolerate invalid characters
        try:
            for pragma in ("foreign_keys=ON", "synchronous=NORMAL"):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:  # not a database, or locked
            connection.close()
            raise

    def begin(self, writing: bool) -> None:
        """Begin a transaction. One that writes locks the file at once, or its first write could fail after a read."""
        self.driver_connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")


class PostgresqlConnection(Connection):
    """A connection to a server of PostgreSQL, which begins transactions by itself."""

    column_types: ClassVar = {"id": "SERIAL PRIMARY KEY", "bytes": "BYTEA"}
    table_query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    row_lock = "FOR UPDATE"
    migration_lock = f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK_ID})"

    def __init__(self, server: Server) -> None:
        import psycopg
        from psycopg.conninfo import make_conninfo

        super().__init__(psycopg.connect(make_conninfo(**server.parameters)))
        self.driver_connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED

    def begin(self, writing: bool) -> None:
        """Do nothing: the first statement begins a transaction."""

    def is_lost(self) -> bool:
        """Return whether the connection cannot be used any more, for example because the server closed it."""
        return super().is_lost() or bool(self.driver_connection.closed)

    def adapt(self, statement: str) -> str:
        """Return a statement with parameters as ``%(name)s``."""
        return _to_psycopg_style(statement)

    def open_stream(self) -> Any:
        """Return a cursor of the server; the default cursor would fetch all rows."""
        return self.driver_connection.cursor(name="rows")


@cache
def _to_psycopg_style(statement: str) -> str:
    """Return a statement with ``%(name)s`` for ``:name``; it must not contain other colons or percent signs."""
    return re.sub(r":(\w+)", r"%(\1)s", statement)


def _escape(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with text that every database accepts: NUL and lone surrogates are escaped."""
    return {
        name: value.encode(errors="backslashreplace").decode().replace("\0", "\\x00")
        if isinstance(value, str)
        else value
        for name, value in parameters.items()
    }


# -- the database --------------------------------------------------------------------------------------------------


class Database:
    """An SQLite file or a PostgreSQL database with our tables in the current version.

    With `reading`, nothing is created, and nothing is written except the upgrade of an older store. Users without permission
    to write can read current stores.
    """

    def __init__(self, address: Path | Server, reading: bool = False) -> None:
        self.file = address if isinstance(address, Path) else None
        self.name, self.store_option = redact(str(address)), find_store_option(address)
        self.largest_id = 2**63 - 1 if self.file else 2**31 - 1
        self._address, self._reading = address, reading
        self._sqlite_mode = "mode=rw" if reading else "mode=rwc"
        self._connection: Connection | None = None
        self._lock = threading.RLock()  # threads take turns: a connection has one transaction at a time
        self._reached = False
        self._errors: tuple[type[Exception], ...] = (sqlite3.Error, OSError)
        if self.file is None:
            self._errors = (import_optional("psycopg", "postgres", "A run store in PostgreSQL").Error, OSError)
        try:
            version = self._detect_version()
            self._reached = self.file is None
            if version == 0 and reading:
                raise StoreError(f"There are no runs in {self.name} yet. Check the location, or {OTHER_STORE_HINT}.")
            if version < len(tables.MIGRATIONS):
                self._upgrade(version)
        except BaseException:
            self.close()
            raise

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
        self._sqlite_mode = "immutable=1"
        return self.read(self._read_version)

    def _upgrade(self, version: int) -> None:
        try:
            if self.file:
                self._retry_while_busy(lambda: self._connect().execute("PRAGMA journal_mode=WAL"))  # stored in the file
            self._retry_while_busy(lambda: self._run_transaction(self._migrate, writing=True))
            return
        except StoreError as error:
            if not (self._reading and version):
                raise
            reason = str(error)
        raise StoreError(
            f"The run store {self.name} was written by an earlier version of datamorphic (schema {version}, this version "
            f"reads {len(tables.MIGRATIONS)}) and cannot be upgraded: {reason} Ask a user with permission to write to run "
            f"once: datamorphic runs list --store {self.name}"
        )

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads in a transaction."""
        return self._retry_while_busy(lambda: self._run_transaction(work, writing=False))

    def write(self, work: Callable[[Connection], T], run: int | None = None) -> T:
        """Run `work` in a transaction, and repeat it while another process locks the database; messages name `run`."""
        if self._reading:
            raise StoreError(
                f"The run store {self.name} is open for reading only. Open it without reading=True to write."
            )
        return self._retry_while_busy(lambda: self._run_transaction(work, writing=True), run)

    def close(self) -> None:
        """Close the connection; the next transaction opens another."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def _connect(self) -> Connection:
        if self._connection and self._connection.is_lost():
            self.close()
        if self._connection is None:
            if isinstance(self._address, Path):
                self._connection = SqliteConnection(self._address, self._sqlite_mode)
            else:
                self._connection = PostgresqlConnection(self._address)
        return self._connection

    def _run_transaction(self, work: Callable[[Connection], T], writing: bool) -> T:
        """Run `work` in a transaction, and wait for a server that is being restarted."""
        deadline, refusals = read_clock() + store_errors.MAX_SERVER_WAIT_SECONDS, 0
        while True:
            sent = False
            try:
                with self._lock, self._connect().transaction(writing) as connection:
                    result = work(connection)
                    sent = True  # a lost server may have committed already
                return result
            except self._errors as error:
                if isinstance(self._address, Path):
                    raise
                is_connecting = self._connection is None
                is_unreachable = not self._connection or self._connection.is_lost() or is_shutting_down(error)
                if sent or not self._reached or not is_unreachable or read_clock() > deadline:
                    raise
                if is_connecting and self._address.is_accepting_connections():
                    refusals += 1
                if refusals > 1:  # at the first refusal, the server may have been starting
                    raise
            time.sleep(random.uniform(0.1, 0.5))

    def _retry_while_busy(self, work: Callable[[], T], run: int | None = None) -> T:
        deadline = read_clock() + store_errors.MAX_LOCK_WAIT_SECONDS
        while True:
            try:
                return work()
            except self._errors as error:
                if not (is_busy(error) and read_clock() < deadline):
                    store_error = to_store_error(error, self.name, run, self.store_option)
                    break
            time.sleep(random.uniform(0.01, 0.05))
        raise store_error  # raised here without context: a driver's error may hold data

    def _migrate(self, connection: Connection) -> None:
        connection.execute(connection.migration_lock)
        version = self._read_version(connection)  # read again under the lock
        migrations = tables.MIGRATIONS[version:] if version else tables.MIGRATIONS[:1]
        for statement in chain.from_iterable(migrations):
            connection.execute(statement.format_map(connection.column_types))
        connection.execute("DELETE FROM schema")
        connection.insert(tables.schema, [{"version": len(tables.MIGRATIONS)}])

    def _read_version(self, connection: Connection) -> int:
        """Return the version of the store, 0 if it is new; reject foreign databases."""
        names = {name for (name,) in connection.execute(connection.table_query)}
        if not {"schema", "runs"} <= names:
            # databases on a server may have other tables
            if foreign_tables := names if self.file else names & {table.name for table in tables.TABLES}:
                raise StoreError(
                    f"{self.name} is the database of another program: it has a table "
                    f"{min(foreign_tables)!r}, but is not a run store. It was not changed. {OTHER_STORE_HINT.capitalize()}."
                )
            return 0
        version = connection.read_value("SELECT schema.version FROM schema")
        if not isinstance(version, int):
            raise StoreError(
                f"The run store {self.name} is damaged: it has no version. {OTHER_STORE_HINT.capitalize()}."
            )
        if version > len(tables.MIGRATIONS):
            raise StoreError(
                f"The run store {self.name} was written by a newer version of datamorphic (schema {version}, "
                f"this version supports up to {len(tables.MIGRATIONS)}). Upgrade datamorphic, or {OTHER_STORE_HINT}."
            )
        return version

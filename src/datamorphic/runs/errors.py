"""Errors of a run store as one-line messages with a remedy and without secrets."""

from __future__ import annotations

import errno
import os
import sqlite3

from .._text import redact
from ..errors import StoreError

MAX_LOCK_WAIT_SECONDS = 60.0  # for another process that is writing
MAX_SERVER_WAIT_SECONDS = 30.0  # for a server that was reachable before
OTHER_STORE_HINT = "name another store with --store"


def _read_code(error: BaseException) -> str:
    """Return the code of an error: ENOSPC of a file, SQLITE_FULL of SQLite, 53100 (SQLSTATE) of PostgreSQL.

    It is empty if there is none, as for errors while connecting to a server.
    """
    if isinstance(error, OSError):
        return errno.errorcode.get(error.errno or 0, "")
    if isinstance(error, sqlite3.Error):  # SQLITE_IOERR_WRITE is a kind of SQLITE_IOERR
        return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
    return getattr(error, "sqlstate", None) or ""


def is_busy(error: Exception) -> bool:
    """Return whether another process has locked the database."""
    return _read_code(error) in ("SQLITE_BUSY", "SQLITE_LOCKED")


def is_shutting_down(error: Exception) -> bool:
    """Return whether a server is being shut down or started."""
    return _read_code(error) in ("57P01", "57P02", "57P03")


def to_store_error(error: Exception, location: str, run: int | None = None, store_option: str = "") -> StoreError:
    """Return an error of a store or its files as a `StoreError` with a remedy.

    `store_option` is what a command must add to find the store.
    """
    text = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    resume_hint = f", then: datamorphic runs resume {run}{store_option}" if run is not None else ""
    match _read_code(error):
        case "ENOSPC" | "EFBIG" | "EDQUOT" | "SQLITE_FULL" | "53100":
            problem, remedy = "cannot be written: the disk is full", f"Free some space{resume_hint}"
        case "SQLITE_IOERR":
            problem = "cannot be written: the disk is full or fails"
            remedy = f"Free some space or check the disk{resume_hint}"
        case "SQLITE_BUSY" | "SQLITE_LOCKED":
            problem = f"has been in use by another process for more than {MAX_LOCK_WAIT_SECONDS:g} seconds"
            remedy = f"End that process{resume_hint}"
        case "SQLITE_NOTADB":
            problem, remedy = "is not an SQLite database", f"Check the path, or {OTHER_STORE_HINT}"
        case "SQLITE_CORRUPT" | "SQLITE_ERROR" | "42P01" | "42703":  # or there is no such table or column
            problem, remedy = f"is damaged ({text})", f"Restore a copy of it, or {OTHER_STORE_HINT}"
        case "42501":
            problem, remedy = (
                f"denies access ({text})",
                "Ask its administrator for the right to create and write tables",
            )
        case "SQLITE_CANTOPEN" | "SQLITE_READONLY":
            problem, remedy = _describe_unwritable(text)
        case _ if isinstance(error, OSError):
            problem, remedy = _describe_unwritable(os.strerror(error.errno) if error.errno else text)
        case "" if hasattr(error, "sqlstate"):  # of psycopg, but not the server's answer to a statement
            problem = f"cannot be reached ({text})"
            remedy = f"Check that the server runs, and host, database, user and password in the URL{resume_hint}"
        case _:
            problem, remedy = f"failed ({text})", f"If it fails again, {OTHER_STORE_HINT}"
    return StoreError(redact(f"The run store {location} {problem}. {remedy}."))


def _describe_unwritable(reason: str) -> tuple[str, str]:
    remedy = f"Check that its folder exists and that you may write there, or {OTHER_STORE_HINT}"
    return f"cannot be opened or written ({reason})", remedy

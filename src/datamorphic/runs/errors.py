"""Errors of a run store as one-line messages with a remedy and without secrets."""

from __future__ import annotations

import errno
import os

import sqlalchemy as sa

from .._text import redact
from ..errors import StoreError

MAX_LOCK_WAIT_SECONDS = 60.0  # for another process that is writing
MAX_SERVER_WAIT_SECONDS = 30.0  # for a server that was reachable before
OTHER_STORE_HINT = "name another store with --store"


def is_busy(error: Exception) -> bool:
    """Tell whether another process has locked the database."""
    text = str(getattr(error, "orig", error))
    return "database is locked" in text or "database table is locked" in text or "schema is locked" in text


def is_away(error: Exception) -> bool:
    """Tell whether a server cannot be reached or has just been shut down.

    A server that refuses the connection is not away.
    """
    if not isinstance(error, sa.exc.DBAPIError) or isinstance(error, sa.exc.ProgrammingError):
        return False
    text, state = str(error.orig), getattr(error.orig, "sqlstate", None)
    if state is None and not error.connection_invalidated:  # while connecting
        return "FATAL" not in text or "the database system is" in text  # is starting up, is shutting down
    return error.connection_invalidated or state in ("57P01", "57P02", "57P03")


def to_store_error(error: Exception, location: str, run: int | None = None) -> StoreError:
    """Return an error of a store or its files as a `StoreError` with a remedy."""
    cause = getattr(error, "orig", None) or error
    text = (str(cause).strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
    state = getattr(cause, "sqlstate", None) or ""
    code = getattr(cause, "errno", None)
    resume_hint = f", then: datamorphic runs resume {run}" if run is not None else ""

    def has_text(*parts: str) -> bool:
        return any(part in text for part in parts)

    if (
        code in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        or state == "53100"
        or has_text("disk is full", "disk I/O error")
    ):
        problem, remedy = "cannot be written: the disk is full", f"Free some space{resume_hint}"
        if has_text("disk I/O error"):
            problem, remedy = (
                "cannot be written: the disk is full or fails",
                f"Free some space or check the disk{resume_hint}",
            )
    elif has_text("is locked"):
        problem = f"has been in use by another process for more than {MAX_LOCK_WAIT_SECONDS:g} seconds"
        remedy = f"End that process{resume_hint}"
    elif has_text("not a database"):
        problem, remedy = "is not an SQLite database", f"Check the path, or {OTHER_STORE_HINT}"
    elif has_text("malformed", "no such table", "no such column") or state in ("42P01", "42703"):
        problem, remedy = f"is damaged ({text})", f"Restore a copy of it, or {OTHER_STORE_HINT}"
    elif isinstance(cause, OSError) or has_text("unable to open", "readonly"):
        problem = f"cannot be opened or written ({os.strerror(code) if code else text})"
        remedy = f"Check that its folder exists and that you may write there, or {OTHER_STORE_HINT}"
    elif state == "42501":
        problem, remedy = (f"denies access ({text})", "Ask its administrator for the right to create and write tables")
    elif isinstance(error, sa.exc.DBAPIError) and not state:  # not the server's answer to a statement
        problem = f"cannot be reached ({text})"
        remedy = f"Check that the server runs, and host, database, user and password in the URL{resume_hint}"
    else:
        problem, remedy = f"failed ({text})", f"If it fails again, {OTHER_STORE_HINT}"
    return StoreError(redact(f"The run store {location} {problem}. {remedy}."))

"""What goes wrong with a run store, in our words: one line without secrets and with a remedy."""

from __future__ import annotations

import errno
import os

import sqlalchemy as sa

from .._checks import redacted
from ..errors import StoreError

PATIENCE = 60.0  # seconds to wait for another process that is writing
RETURN = 30.0  # seconds to wait for a server that was there before
OTHER_STORE = "name another store with --store"


def is_busy(error: Exception) -> bool:
    """Tell whether another process is in the way."""
    text = str(getattr(error, "orig", error))
    return "database is locked" in text or "database table is locked" in text or "schema is locked" in text


def is_away(error: Exception) -> bool:
    """Tell whether a server cannot be reached, or has just ended; not whether it shuts its door to us."""
    if not isinstance(error, sa.exc.DBAPIError) or isinstance(error, sa.exc.ProgrammingError):
        return False
    text, state = str(error.orig), getattr(error.orig, "sqlstate", None)
    if state is None and not error.connection_invalidated:  # while connecting
        return "FATAL" not in text or "the database system is" in text  # starting up, shutting down
    return error.connection_invalidated or state in ("57P01", "57P02", "57P03")


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

"""Where a run store is, and its files: paths, URLs, environment variables, and what is none of these."""

from __future__ import annotations

import os
import re
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from .._text import redact
from ..errors import StoreError
from .errors import OTHER_STORE_HINT, to_store_error

STORE_VARIABLE = "DATAMORPHIC_STORE"
FILES_VARIABLE = "DATAMORPHIC_ARTIFACTS"
POSTGRESQL_URL_EXAMPLE = "postgresql://user:password@host/database"
#: two letters at least: one is a drive of Windows
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+]+):", re.IGNORECASE)
_LIBPQ = re.compile(r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=", re.IGNORECASE)


def read_store_variable() -> str | None:
    """Return what ``$DATAMORPHIC_STORE`` names, None where it is not set and `default_path()` counts."""
    return os.environ.get(STORE_VARIABLE) or None


def get_default_path() -> Path:
    """Return where the runs of this user are kept."""
    return get_data_folder() / "runs.sqlite"


def get_data_folder() -> Path:
    """Return the folder of this user's data."""
    from platformdirs import user_data_path

    return user_data_path("datamorphic", appauthor=False)


def resolve_store_url(location: str | os.PathLike[str] | None, reading: bool) -> tuple[URL, str | None]:
    """Return where a store is, and where its files go according to the parameter ``artifacts`` of its URL."""
    text = os.fspath(location) if location is not None else read_store_variable()
    if location is None and text == "none":
        raise StoreError(f"There is no run store: ${STORE_VARIABLE} is 'none'. Name one with --store.")
    if text is None:
        return _resolve_file(_prepare_default_path(reading), reading), None
    if "://" not in text:
        _reject_mistyped_url(text)
        return _resolve_file(Path(text), reading), None
    url, files = _parse_url(text)
    return (
        (_resolve_file(Path(url.database or ""), reading), None)
        if url.get_backend_name() == "sqlite"
        else (url, files)
    )


def _prepare_default_path(reading: bool) -> Path:
    path = get_default_path()
    if reading and not path.exists():
        raise StoreError(redact(f"There are no runs yet in {path}."))
    try:
        if not reading:
            path.parent.mkdir(parents=True, exist_ok=True)
        return path
    except OSError as error:
        store_error = to_store_error(error, str(path))
    raise store_error


def _resolve_file(path: Path, reading: bool) -> URL:
    path = path.expanduser().absolute()
    if path.is_dir():
        problem = f"The run store {path} is a folder, but must be a file. {OTHER_STORE_HINT.capitalize()}."
    elif reading and not path.exists():
        problem = f"There is no run store {path}. Check the path, or {OTHER_STORE_HINT}."
    elif not path.parent.is_dir():
        problem = f"The run store {path} has no folder to be in. Make {path.parent}, or {OTHER_STORE_HINT}."
    else:
        return URL.create("sqlite", database=str(path))
    raise StoreError(redact(problem))


def _reject_mistyped_url(text: str) -> None:
    """Raise where a path would be made of what was meant as a URL; show nothing of it, as it may hold a password."""
    scheme = _SCHEME.match(text)
    if "\0" in text:
        problem = "holds a NUL sign, which no path can"
    elif scheme and not os.path.lexists(text):
        problem = f"begins like a URL ({scheme[1]}:...) and is none"
    elif _LIBPQ.match(text) and not os.path.lexists(text):
        problem = "consists of the words of a connection (name=value), which are not understood"
    else:
        return
    raise StoreError(
        f"The name of the run store {problem}. Write {POSTGRESQL_URL_EXAMPLE}, or sqlite:///path, or for a file of that name ./ "
        f"and the name."
    )


def _parse_url(text: str) -> tuple[URL, str | None]:
    scheme = text.partition("://")[0]
    if scheme not in ("sqlite", "postgres", "postgresql", "postgresql+psycopg"):
        raise StoreError(
            f"A run store cannot be kept in {redact(scheme)!r}. Give a path or sqlite:///path, or {POSTGRESQL_URL_EXAMPLE}."
        )
    try:
        url = sa.make_url(text)
    except (SQLAlchemyError, ValueError):
        url = None
    # the part of a password behind an @ would pass for the host's name, and be shown
    after_first_at = re.sub(r"(?<=[?&])artifacts=[^&]*", "", text).partition("@")[2]
    files = url and url.query.get("artifacts")
    if url is None or "@" in after_first_at or isinstance(files, tuple):
        raise StoreError(
            f"The URL of the run store ({scheme}://...) cannot be read. Write it like {scheme}://user:password@"
            f"host:5432/database, and signs such as @ : / ? in user and password escaped (@ as %40)."
        )
    if scheme != "sqlite":
        return url.difference_update_query(["artifacts"]).set(drivername="postgresql+psycopg"), files
    if url.host or url.query or url.database in (None, "", ":memory:"):
        raise StoreError(
            f"The run store {redact(text)} is no file. Write sqlite:///relative/path or sqlite:////absolute/path, "
            f"without parameters."
        )
    return url, None

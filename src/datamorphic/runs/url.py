"""Locations of run stores and their files: paths, URLs and environment variables."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from .._files import to_local_path
from .._text import redact
from .._validation import reject
from ..errors import StoreError
from .errors import OTHER_STORE_HINT, to_store_error

STORE_VARIABLE = "DATAMORPHIC_STORE"
FILES_VARIABLE = "DATAMORPHIC_ARTIFACTS"
POSTGRESQL_URL_EXAMPLE = "postgresql://user:password@host/database"
CONNECT_TIMEOUT_SECONDS = "10"
#: at least two letters, because one letter is a drive of Windows
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+]+):", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[a-z]\w*$", re.IGNORECASE)
#: user, password, host, port, database and parameters; a password may hold anything but an @
_URL = re.compile(
    r"\w[\w+]*://(?:([^:/]*)(?::([^@]*))?@)?(?:\[([^/?]+)\]|([^/:?]+))?(?::([0-9]*))?(?:/([^?]*))?(?:\?(.*))?",
    re.DOTALL,
)
_CONNECTION_STRING = re.compile(
    r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=", re.IGNORECASE
)


@dataclass(frozen=True)
class Server:
    """The connection parameters of a PostgreSQL database; as text, without the password."""

    parameters: Mapping[str, str] = field(repr=False)  # of psycopg's `connect`: host, dbname, ...

    def __str__(self) -> str:
        user, host, port, database = (self.parameters.get(name, "") for name in ("user", "host", "port", "dbname"))
        password = ":***" if "password" in self.parameters else ""
        user_part = f"{user}{password}@" if user or password else ""
        host_part = f"[{host}]" if ":" in host else host
        port_part = f":{port}" if port else ""
        return f"postgresql://{user_part}{host_part}{port_part}/{database}"

    def is_accepting_connections(self) -> bool:
        """Return whether the server accepts connections, even if it refuses ours, as for a wrong password."""
        from psycopg import pq
        from psycopg.conninfo import make_conninfo

        return pq.PGconn.ping(make_conninfo(**self.parameters).encode()) == pq.Ping.OK


def read_store_variable() -> str | None:
    """Return the value of ``$DATAMORPHIC_STORE``; None if it is not set."""
    return os.environ.get(STORE_VARIABLE) or None


def get_default_path() -> Path:
    """Return the path of the default store, in the data folder of this user."""
    from platformdirs import user_data_path

    return user_data_path("datamorphic", appauthor=False) / "runs.sqlite"


def to_store_option(location: str) -> str:
    """Return the option that names a store by its path or URL; a URL is left out, since it may hold a password."""
    return " --store ... (as here)" if "://" in location else f" --store {shlex.quote(location)}"


def find_store_option(address: Path | Server) -> str:
    """Return what a command must add to find a store; empty for the store that it uses without the option."""
    default_location = read_store_variable() or str(get_default_path())
    if isinstance(address, Path):
        is_default = Path(default_location).expanduser().absolute() == address
    else:
        is_default = "://" in default_location
    return "" if is_default else to_store_option(str(address))


def resolve_store_url(location: str | os.PathLike[str] | None, reading: bool) -> tuple[Path | Server, str | None]:
    """Return the file or server of a store, and the parameter ``artifacts`` of a URL, the location of its files."""
    if not isinstance(location, str | os.PathLike | None):
        reject("url", "Store.open", "a path, a URL or None", location)
    text = os.fspath(location) if location is not None else read_store_variable()
    if location is None and text == "none":
        raise StoreError(f"There is no run store, because ${STORE_VARIABLE} is 'none'. Name one with --store.")
    if text is None:
        return _resolve_file(_prepare_default_path(reading), reading), None
    if "://" not in text:
        _reject_mistyped_url(text)
        if isinstance(location, str | None) and not _is_path(text):
            raise StoreError(
                f"The run store {redact(text)!r} is a bare word. Expected a URL, or a path with a folder or a suffix, such as "
                f"./{redact(text)} or {redact(text)}.sqlite. Check --store, store= or ${STORE_VARIABLE}; 'none' stores nothing."
            )
        return _resolve_file(Path(text), reading), None
    address, files = _parse_url(text)
    return (_resolve_file(address, reading) if isinstance(address, Path) else address), files


def _prepare_default_path(reading: bool) -> Path:
    path = get_default_path()
    if reading and not path.exists():
        raise StoreError(redact(f"There are no runs in {path} yet. Check the location, or {OTHER_STORE_HINT}."))
    if not reading:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise to_store_error(error, str(path)) from None
    return path


def _resolve_file(path: Path, reading: bool) -> Path:
    path = to_local_path(path.expanduser().absolute(), "run store")
    if path.is_dir():
        problem = f"The run store {path} is a folder, but must be a file. {OTHER_STORE_HINT.capitalize()}."
    elif reading and not path.exists():
        problem = f"There is no run store {path}. Check the path, or {OTHER_STORE_HINT}."
    elif not path.parent.is_dir():
        remedy = f"Create {path.parent}, or {OTHER_STORE_HINT}."
        problem = f"The run store {path} is in a folder that does not exist. {remedy}"
    else:
        return path
    raise StoreError(redact(problem))


def _reject_mistyped_url(text: str) -> None:
    """Raise if a path looks like a mistyped URL, without showing it: it may hold a password."""
    scheme = _SCHEME.match(text)
    if "\0" in text:
        problem = "contains a NUL character, which paths cannot"
    elif scheme and not os.path.lexists(text):
        problem = f"begins like a URL ({scheme[1]}:...) but is not one"
    elif _CONNECTION_STRING.match(text) and not os.path.lexists(text):
        problem = "is a connection string (name=value), which is not supported"
    else:
        return
    remedy = f"Write {POSTGRESQL_URL_EXAMPLE} or sqlite:///path, or put ./ before the name of a file"
    raise StoreError(f"The name of the run store {problem}. {remedy}.")


def _is_path(text: str) -> bool:
    """Return whether a text has a folder or a suffix, or is a file: a mere word is taken for a mistake."""
    has_folder = any(separator and separator in text for separator in (os.sep, os.altsep))
    return has_folder or _SUFFIX.search(text) is not None or os.path.lexists(text)


def _parse_url(text: str) -> tuple[Path | Server, str | None]:
    scheme = text.partition("://")[0]
    if scheme not in ("sqlite", "postgres", "postgresql", "postgresql+psycopg"):
        remedy = f"Use a path, sqlite:///path or {POSTGRESQL_URL_EXAMPLE}"
        raise StoreError(f"Run stores of type {redact(scheme)!r} are not supported. {remedy}.")
    match = _URL.fullmatch(text)
    user, password, ipv6_host, host, port, database, query_text = match.groups() if match else [None] * 7
    query = parse_qsl(query_text or "")
    options = dict(query)
    # the part of a password after an @ would be taken for the host and be shown
    after_first_at = re.sub(r"(?<=[?&])artifacts=[^&]*", "", text).partition("@")[2]
    if match is None or "@" in after_first_at or len(options) < len(query):
        example = (
            "sqlite:///path"
            if scheme == "sqlite"
            else "postgresql://user:password@host:5432/database, with characters such as @ : / ? in user and password escaped "
            "(@ as %40)"
        )
        raise StoreError(f"The URL of the run store ({scheme}://...) cannot be read. Write it like {example}.")
    database = unquote(database or "")
    if scheme != "sqlite":
        files = options.pop("artifacts", None)
        parts = {"user": user and unquote(user), "password": password and unquote(password), "host": ipv6_host or host}
        parts |= {"port": port, "dbname": database}
        return Server(
            {"connect_timeout": CONNECT_TIMEOUT_SECONDS}
            | {name: part for name, part in parts.items() if part}
            | options
        ), files
    if host or options or database in ("", ":memory:"):
        remedy = "Write sqlite:///relative/path or sqlite:////absolute/path, without parameters"
        raise StoreError(f"The run store {redact(text)} is not a file. {remedy}.")
    return Path(database), None

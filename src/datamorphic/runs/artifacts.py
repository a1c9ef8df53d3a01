"""Files of runs in a local or remote folder, written atomically and verified when read."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._files import replace_file
from .._text import pluralise, redact
from .._validation import import_optional, reject
from ..errors import DatamorphicError, StoreError
from ..systems.watchdog import make_temporary_folder
from .errors import to_store_error
from .url import FILES_VARIABLE, get_default_path

DRAFT_PREFIX = "part-"  # of the names of files that are being written
STALE_DRAFT_SECONDS = 24 * 3600.0  # older drafts were left by killed processes
#: only files with names of these forms are read, written or removed
FOLDER_PATTERN = re.compile("[0-9a-f]{16}")
NAME_PATTERN = re.compile(r"\w[\w.-]{0,99}")
OWN_FILE_PATTERN = re.compile(f"{FOLDER_PATTERN.pattern}/(?:{DRAFT_PREFIX})?[0-9a-f]{{8}}-{NAME_PATTERN.pattern}")


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file of a run: name, path in the store's folder, checksum, sizes and folder."""

    name: str
    path: str
    sha256: str
    bytes: int
    rows: int
    root: str | None = None


def is_in_run_folder(artifact: Artifact, folder: str) -> bool:
    """Return whether a file is in the folder of its run and has a valid name."""
    pattern = f"{FOLDER_PATTERN.pattern}/[0-9a-f]{{8}}-{NAME_PATTERN.pattern}"
    is_valid = re.fullmatch(pattern, artifact.path) and NAME_PATTERN.fullmatch(artifact.name)
    return bool(is_valid) and artifact.path.startswith(f"{folder}/") and artifact.path[26:] == artifact.name


def open_files(location: str | os.PathLike[str], host: str | None = None) -> Files:
    """Return the folder of files at a path or URL; `host` is the only one that has it, None if it is shared."""
    location = os.fspath(location)
    return RemoteFiles(location) if "://" in location else LocalFiles(Path(location).expanduser().absolute(), host)


def open_server_files(location: str | None) -> Files:
    """Return the folder of files of a store that several hosts share, by default one of this host."""
    location = location or os.environ.get(FILES_VARIABLE)
    if not location:
        return open_files(get_default_path().parent / "files", socket.gethostname())
    if "memory://" in location:
        raise StoreError(
            "Files of runs cannot be stored at memory://: they would be lost with this process, and other hosts would "
            "never see them. Name a folder or a URL that all hosts can reach."
        )
    return open_files(location)


class Files(ABC):
    """A folder of files, with one subfolder per run."""

    name: str
    host: str | None = None
    store_option: str = ""  # what a command must add to find the store of these files

    @abstractmethod
    def write(self, folder: str, name: str, writer: Callable[[Path], int], run: int) -> Artifact:
        """Store the file that `writer` writes; `writer` returns its number of rows."""

    @abstractmethod
    def open(self, artifact: Artifact, run: int) -> Any:
        """Return a context manager with the local path of a verified file."""

    @abstractmethod
    def list_files(self, folder: str) -> list[str]:
        """Return the paths of all files of a run."""

    @abstractmethod
    def discard(self, paths: Iterable[str]) -> None:
        """Remove files; ignore those that cannot be removed."""

    @abstractmethod
    def probe(self) -> None:
        """Raise if files cannot be written, before a run has taken hours."""

    def sweep(self) -> None:  # noqa: B027 - optional
        """Remove drafts left by killed processes."""

    def _choose_path(self, folder: str, name: str) -> str:
        if not NAME_PATTERN.fullmatch(name):
            reject("artifacts", "Store.finish", "a mapping of plain file names", name)
        if not FOLDER_PATTERN.fullmatch(folder):
            raise StoreError(f"The name of the run's folder is invalid: {redact(folder)!r}. Start a new run.")
        # a unique name, so that the old file of a resumed run stays until the store refers to the new one
        return f"{folder}/{secrets.token_hex(4)}-{name}"

    def _describe(self, draft: Path, name: str, relative_path: str, rows: int) -> Artifact:
        sha256, size = _compute_sha256(draft), draft.stat().st_size
        return Artifact(name=name, path=relative_path, sha256=sha256, bytes=size, rows=rows, root=redact(self.name))

    def _verify_content(self, path: Path, artifact: Artifact, run: int) -> None:
        size = path.stat().st_size
        if size != artifact.bytes:
            raise self._build_error(artifact, run, f"has {pluralise(size, 'byte')} instead of {artifact.bytes:,}")
        if _compute_sha256(path) != artifact.sha256:
            raise self._build_error(artifact, run, "is not the file that was written: its checksum differs")

    def _validate_path(self, artifact: Artifact, run: int) -> str:
        """Return the path of a file, or raise if no run writes such a file: others may change the database."""
        if not is_in_run_folder(artifact, artifact.path[:16]):
            row, problem = f"the file {artifact.name!r} of run {run}", f"no run has written {artifact.path!r}"
            raise StoreError(redact(f"The row of {row} is damaged or forged: {problem}. Start the run again."))
        return artifact.path

    def _build_error(self, artifact: Artifact, run: int, problem: str) -> StoreError:
        hint = ""
        if artifact.root not in (None, redact(self.name)):
            hint = (
                f"It was written to {artifact.root}. If it is still there, name that folder or URL as "
                f"?artifacts=... in the URL of the store or in ${FILES_VARIABLE}. "
            )
        file = f"{artifact.name!r} of run {run} ({self.name}/{artifact.path})"
        return StoreError(redact(f"The file {file} {problem}. {hint}Restore a copy of it, or start the run again."))


class LocalFiles(Files):
    """Files in a folder of this computer, or one that it has mounted."""

    def __init__(self, root: Path, host: str | None = None) -> None:
        self.name, self.host = str(root), host
        self._root = root

    def write(self, folder: str, name: str, writer: Callable[[Path], int], run: int) -> Artifact:
        """Write a draft, sync it to disk, and rename it."""
        relative_path = self._choose_path(folder, name)
        path = self._root / relative_path
        if path.parent.is_symlink():
            raise self._build_link_error(folder)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replace_file(path, path.with_name(DRAFT_PREFIX + path.name)) as draft:
                return self._describe(draft, name, relative_path, int(writer(draft)))
        except OSError as error:
            raise to_store_error(error, f"folder {self._root}", run, self.store_option) from None

    @contextmanager
    def open(self, artifact: Artifact, run: int) -> Iterator[Path]:
        """Yield the path of the file itself."""
        path = self._root / self._validate_path(artifact, run)
        if path.parent.is_symlink():
            raise self._build_link_error(path.parent.name)
        if not path.is_file():
            raise self._build_error(artifact, run, "is missing")
        self._verify_content(path, artifact, run)
        yield path

    def list_files(self, folder: str) -> list[str]:
        """List the folder of a run."""
        if not FOLDER_PATTERN.fullmatch(folder) or (self._root / folder).is_symlink():
            return []
        paths = (f"{folder}/{path.name}" for path in (self._root / folder).glob("*"))
        return [path for path in paths if OWN_FILE_PATTERN.fullmatch(path)]

    def discard(self, paths: Iterable[str]) -> None:
        """Remove files, and folders that become empty."""
        for path in filter(OWN_FILE_PATTERN.fullmatch, paths):
            with suppress(OSError):
                if not (self._root / path).parent.is_symlink():
                    (self._root / path).unlink()
                    (self._root / path).parent.rmdir()

    def probe(self) -> None:
        """Write a temporary file."""
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self._root).close()
        except OSError as error:
            raise to_store_error(error, f"folder {self._root}") from None

    def sweep(self) -> None:
        """Remove drafts left by killed processes."""
        drafts = (f"{path.parent.name}/{path.name}" for path in self._root.glob(f"*/{DRAFT_PREFIX}*"))
        self.discard(draft for draft in drafts if self._is_stale(draft))

    def _is_stale(self, draft: str) -> bool:
        with suppress(OSError):
            return time.time() - (self._root / draft).lstat().st_mtime > STALE_DRAFT_SECONDS
        return False

    def _build_link_error(self, folder: str) -> StoreError:
        problem = f"The folder {self._root / folder} of a run is a symbolic link, and links are not followed"
        return StoreError(redact(f"{problem}. Replace the link by the folder."))


class RemoteFiles(Files):
    """Files at any location that fsspec supports: S3, GCS, Azure, SFTP, ..."""

    def __init__(self, url: str) -> None:
        self.name = redact(url).rstrip("/")
        fsspec = import_optional("fsspec", "postgres", f"Keeping files at {self.name}")
        self._filesystem, self._root = self._attempt(lambda: fsspec.core.url_to_fs(url))

    def write(self, folder: str, name: str, writer: Callable[[Path], int], run: int) -> Artifact:
        """Write a local draft and upload it."""
        relative_path = self._choose_path(folder, name)
        with _make_temporary_path(name) as draft:
            try:
                rows = int(writer(draft))
                artifact = self._describe(draft, name, relative_path, rows)
            except OSError as error:
                raise to_store_error(error, f"draft {draft}", run, self.store_option) from None
            self._attempt(lambda: self._filesystem.makedirs(f"{self._root}/{folder}", exist_ok=True), run)
            self._attempt(lambda: self._filesystem.put_file(str(draft), f"{self._root}/{relative_path}"), run)
            return artifact

    @contextmanager
    def open(self, artifact: Artifact, run: int) -> Iterator[Path]:
        """Download the file for the time of the block."""
        source = f"{self._root}/{self._validate_path(artifact, run)}"
        with _make_temporary_path(artifact.name) as copy:
            if not self._attempt(lambda: self._filesystem.exists(source), run):
                raise self._build_error(artifact, run, "is missing")
            self._attempt(lambda: self._filesystem.get_file(source, str(copy)), run)
            self._verify_content(copy, artifact, run)
            yield copy

    def list_files(self, folder: str) -> list[str]:
        """List the files of a run by their names; most of these systems have no folders."""
        if not FOLDER_PATTERN.fullmatch(folder):
            return []
        with suppress(Exception):
            remote_paths = self._filesystem.find(f"{self._root}/{folder}")
            paths = [f"{folder}/{path.rpartition('/')[2]}" for path in remote_paths]
            return [path for path in paths if OWN_FILE_PATTERN.fullmatch(path)]
        return []

    def probe(self) -> None:
        """Write a small file and remove it."""
        probe_path = f"{self._root}/probe-{secrets.token_hex(8)}"
        self._attempt(lambda: self._filesystem.makedirs(self._root, exist_ok=True))
        self._attempt(lambda: self._filesystem.pipe_file(probe_path, b"datamorphic was here"))
        with suppress(Exception):
            self._filesystem.rm_file(probe_path)

    def discard(self, paths: Iterable[str]) -> None:
        """Remove files."""
        for path in filter(OWN_FILE_PATTERN.fullmatch, paths):
            with suppress(Exception):
                self._filesystem.rm_file(f"{self._root}/{path}")

    def _attempt(self, work: Callable[[], Any], run: int | None = None) -> Any:
        """Call `work` and convert its errors, which differ between systems."""
        try:
            return work()
        except DatamorphicError:
            raise
        except ImportError as error:  # its cause is the import error of the package that fsspec needs
            package = getattr(error.__cause__ or error.__context__ or error, "name", None)
            remedy = f"Install it with: pip install {package}" if package else "Install the package it names with pip."
            store_error = StoreError(redact(f"Files cannot be stored at {self.name}: {error}. {remedy}"))
        except Exception as error:
            store_error = to_store_error(error, f"folder {self.name}", run, self.store_option)
        raise store_error  # raised here without context: an error may hold secrets


@contextmanager
def _make_temporary_path(name: str) -> Iterator[Path]:
    with make_temporary_folder() as folder:
        yield Path(folder, name)


def _compute_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Files of runs: in a folder, here or anywhere that fsspec can reach; written whole, read verified."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._checks import optional_import, plural, redacted, reject
from ..errors import DatamorphicError, StoreError
from .sql import in_our_words

UNFINISHED = "part-"  # how the names of files that are being written begin
STALE = 24 * 3600.0  # seconds after which nobody is writing them any more


@dataclass(frozen=True)
class Artifact:
    """A file of a run: its name, where it is below the store's folder, and what it must be."""

    name: str
    path: str
    sha256: str
    bytes: int
    rows: int


def files_at(where: str | os.PathLike[str], host: str | None = None) -> Files:
    """Return the folder of files at a path or URL; `host` is the only one that has it, None if it is shared."""
    where = os.fspath(where)
    return RemoteFiles(where) if "://" in where else LocalFiles(Path(where).expanduser().absolute(), host)


class Files(ABC):
    """A folder of files, one folder in it for each run."""

    name: str
    host: str | None = None

    @abstractmethod
    def write(self, folder: str, name: str, writer: Callable[[Path], int], run: int) -> Artifact:
        """Keep the file that `writer` writes; it returns its number of rows."""

    @abstractmethod
    def open(self, artifact: Artifact, run: int) -> Any:
        """Return a context manager with the local path of a file, once it is verified."""

    @abstractmethod
    def listing(self, folder: str) -> list[str]:
        """Return the paths of all files of a run."""

    @abstractmethod
    def discard(self, paths: Iterable[str]) -> None:
        """Remove files. What resists stays: no run fails for it."""

    def sweep(self) -> None:  # noqa: B027 - there may be nothing to sweep
        """Remove what killed processes left behind."""

    def _place(self, folder: str, name: str) -> str:
        if not re.fullmatch(r"\w[\w.-]{0,99}", name):
            reject("artifacts", "Store.finish", "a mapping of plain file names", name)
        # A name of its own: the file of a run that is gone on with is replaced only when the store knows the new one
        return f"{folder}/{secrets.token_hex(4)}-{name}"

    def _verify(self, path: Path, artifact: Artifact, run: int) -> None:
        size = path.stat().st_size
        if size != artifact.bytes:
            wrong = f"has {plural(size, 'byte')} instead of {artifact.bytes:,}"
        elif _sha256(path) != artifact.sha256:
            wrong = "is not the file that was written: its checksum is another"
        else:
            return
        raise self._refusal(artifact, run, wrong)

    def _refusal(self, artifact: Artifact, run: int, wrong: str) -> StoreError:
        return StoreError(
            redacted(
                f"The file {artifact.name!r} of run {run} ({self.name}/{artifact.path}) {wrong}. "
                f"Put back a copy of it, or run it again."
            )
        )


class LocalFiles(Files):
    """Files in a folder of this computer, or one that it has mounted."""

    def __init__(self, root: Path, host: str | None = None) -> None:
        self.name, self.host = str(root), host
        self._root = root

    def write(self, folder: str, name: str, writer: Callable[[Path], int], run: int) -> Artifact:
        """Write beside the final place, make sure it is on the disk, then move it there."""
        place = self._place(folder, name)
        path = self._root / place
        draft = path.with_name(UNFINISHED + path.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = int(writer(draft))
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            artifact = Artifact(name, place, _sha256(draft), draft.stat().st_size, rows)
            os.replace(draft, path)
            _sync_folder(path.parent)
            return artifact
        except OSError as error:
            trouble = in_our_words(error, f"folder {self._root}", run)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        raise trouble

    @contextmanager
    def open(self, artifact: Artifact, run: int) -> Iterator[Path]:
        """Give the path of the file itself."""
        path = self._root / artifact.path
        if not path.is_file():
            raise self._refusal(artifact, run, "is missing")
        self._verify(path, artifact, run)
        yield path

    def listing(self, folder: str) -> list[str]:
        """List its folder."""
        return [f"{folder}/{path.name}" for path in (self._root / folder).glob("*")]

    def discard(self, paths: Iterable[str]) -> None:
        """Remove files, and folders that become empty."""
        for path in paths:
            with suppress(OSError):
                (self._root / path).unlink()
                (self._root / path).parent.rmdir()

    def sweep(self) -> None:
        """Remove drafts that nobody can still be writing."""
        for draft in self._root.glob(f"*/{UNFINISHED}*"):
            with suppress(OSError):
                if time.time() - draft.stat().st_mtime > STALE:
                    draft.unlink()


class RemoteFiles(Files):
    """Files wherever fsspec reaches: S3, GCS, Azure, SFTP, ..."""

    def __init__(self, url: str) -> None:
        self.name = redacted(url).rstrip("/")
        fsspec = optional_import("fsspec", "postgres", f"Keeping files at {self.name}")
        self._system, self._root = self._attempt(lambda: fsspec.core.url_to_fs(url))

    def write(self, folder: str, name: str, writer: Callable[[Path], int], run: int) -> Artifact:
        """Write here, then upload; the store learns of the file when all of it is there."""
        place = self._place(folder, name)
        with _temporary(name) as draft:
            try:
                rows = int(writer(draft))
                artifact = Artifact(name, place, _sha256(draft), draft.stat().st_size, rows)
            except OSError as error:
                trouble = in_our_words(error, f"draft {draft}", run)
            else:
                self._attempt(lambda: self._upload(draft, f"{self._root}/{place}"), run)
                return artifact
        raise trouble

    def _upload(self, draft: Path, target: str) -> None:
        self._system.makedirs(target.rpartition("/")[0], exist_ok=True)
        self._system.put_file(str(draft), target)

    @contextmanager
    def open(self, artifact: Artifact, run: int) -> Iterator[Path]:
        """Download it for as long as it is needed."""
        source = f"{self._root}/{artifact.path}"
        with _temporary(artifact.name) as copy:
            if not self._attempt(lambda: self._system.exists(source), run):
                raise self._refusal(artifact, run, "is missing")
            self._attempt(lambda: self._system.get_file(source, str(copy)), run)
            self._verify(copy, artifact, run)
            yield copy

    def listing(self, folder: str) -> list[str]:
        """List its folder; most of these systems have none, only names with slashes."""
        with suppress(Exception):
            return [f"{folder}/{path.rpartition('/')[2]}" for path in self._system.find(f"{self._root}/{folder}")]
        return []

    def discard(self, paths: Iterable[str]) -> None:
        """Remove files."""
        for path in paths:
            with suppress(Exception):
                self._system.rm_file(f"{self._root}/{path}")

    def _attempt(self, work: Callable[[], Any], run: int | None = None) -> Any:
        """Return what `work` does; each of these systems raises errors of its own."""
        try:
            return work()
        except DatamorphicError:
            raise
        except Exception as error:
            trouble = in_our_words(error, f"folder {self.name}", run)
        raise trouble


@contextmanager
def _temporary(name: str) -> Iterator[Path]:
    folder = tempfile.mkdtemp(prefix="datamorphic-")
    try:
        yield Path(folder, name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # Windows opens no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""Files on this computer: which names are refused, and the one way in which files are written."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ._text import format_short, redact
from .errors import FileWriteError, UsageError

MAX_NAME_BYTES = 255  # of one file or folder, on all common file systems
MAX_SUFFIX_CHARACTERS = 20  # of a draft, so that its name is not too long
#: a scheme has at least two letters, because one letter is a drive of Windows; `Path` makes one slash of two
_URL = re.compile(r"[a-z][a-z0-9+.-]+:[/\\]", re.IGNORECASE)


def to_local_path(path: str | os.PathLike[str], noun: str = "file") -> Path:
    """Return the path of a file that is read or written; `UsageError` if it is a URL, or has a name that is too long.

    Messages call the file `noun`.
    """
    try:
        file = Path(path)
    except TypeError:
        raise UsageError(
            f"The {noun} must be the path of a file. Got {format_short(path)}, which is of type {type(path).__name__}."
        ) from None
    text = str(file)
    if _URL.match(text):
        raise UsageError(f"The {noun} must be on this computer. Got the URL {redact(text)!r}. Name a local file.")
    if any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in file.parts) or _is_too_long(file):
        raise UsageError(
            f"The name of the {noun} {format_short(text)!r} is too long ({len(text):,} characters). Names of files and "
            f"folders have at most {MAX_NAME_BYTES} bytes. Choose a shorter one."
        )
    return file


def _is_too_long(file: Path) -> bool:
    try:
        os.lstat(file)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    except ValueError:  # a NUL
        return False
    return False


def prepare_file(path: str | os.PathLike[str], noun: str = "file") -> Path:
    """Return the file to write, with links followed, and make its folder; `UsageError` if it cannot be written.

    Only regular files are written: writing to a folder, a device or a pipe would destroy it, or wait forever.
    """
    file = to_local_path(path, noun)
    try:
        target = Path(os.path.realpath(file))
        if target.is_dir():
            raise UsageError(f"{file} is a folder. Name a file in it.")
        exists = os.path.lexists(target)
        if exists and not target.is_file():
            raise UsageError(
                f"The {noun} cannot be written to {str(file)!r}: it is a device, a pipe or a broken link. Name a regular file."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        for place in (target, target.parent) if exists else (target.parent,):
            if not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
    except (OSError, ValueError) as error:
        raise _build_error(error, path, noun) from None
    return target


def write_file(
    path: str | os.PathLike[str], content: str | bytes | Callable[[Path], object], noun: str = "file"
) -> None:
    """Write a file, and make its folder; `content` is a text, bytes, or a function that writes to the path it gets.

    The content is written to a draft in the same folder, which then replaces the file. So the file that was there stays as
    it was if the disk is full, and readers never see half a file. Errors call the file `noun`.
    """
    target = prepare_file(path, noun)
    try:
        with replace_file(target) as draft:
            if callable(content):
                content(draft)
            else:
                draft.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise _build_error(error, path, noun) from None


@contextmanager
def replace_file(target: Path, draft: Path | None = None) -> Iterator[Path]:
    """Yield the path of a draft, which replaces a file when the block ends and the draft is on the disk.

    If anything fails, the draft is removed. The new file has the permissions and the owner of the old one.
    """
    draft = draft or target.with_name(f".datamorphic-{secrets.token_hex(8)}{target.suffix[:MAX_SUFFIX_CHARACTERS]}")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(target, draft)
            if os.name == "posix":
                old, new = target.stat(), draft.stat()
                if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
                    with suppress(PermissionError):
                        os.chown(draft, old.st_uid, old.st_gid)
        os.replace(draft, target)
        if os.name == "posix":  # Windows cannot open folders
            descriptor = os.open(target.parent, os.O_RDONLY)
            try:
                with suppress(OSError):  # some network file systems cannot sync folders
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def append_to_file(path: str | os.PathLike[str], text: str, noun: str = "file") -> None:
    """Append a text to a file, all of it or, if that fails, nothing."""
    target = prepare_file(path, noun)
    try:
        with target.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                file.write(text.encode())
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(size)
                raise
    except OSError as error:
        raise _build_error(error, path, noun) from None


def _build_error(error: Exception, path: str | os.PathLike[str], noun: str) -> UsageError:
    if isinstance(error, UsageError):
        return error
    reason = getattr(error, "strerror", None) or error
    message = f"The {noun} cannot be written to {os.fspath(path)!r}: {reason}. Choose another place."
    return FileWriteError(message, getattr(error, "errno", None))

"""`ScriptFolder`: the only folder that a script may read from and write to."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from .._files import MAX_NAME_BYTES
from .._text import find_similar_name, pluralise
from ..errors import ScriptError, UsageError
from .grammar import MAX_SCRIPT_BYTES, Call, Script, parse_script

MAX_PATH_CHARACTERS = 500
MAX_LISTED_FILES = 1_000  # of a folder, for a suggestion
#: of the files that scripts write: scripts, figures and messages, test sets. Other files may be run by other programs.
WRITTEN_SUFFIXES = (".scr", ".csv", ".tsv", ".txt", ".log", ".tcs", ".parquet", ".pq")
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:|\w+://|file:")


class ScriptFolder:
    """A folder and what is below it; links that lead out of it are refused."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self.root = Path(path).resolve(strict=True)
        except (OSError, ValueError):
            raise UsageError(f"There is no folder {str(path)!r}. Create it first, or name another one.") from None
        if not self.root.is_dir():
            raise UsageError(f"{str(path)!r} is not a folder. Name the folder of the files.")

    def resolve(self, text: str, base: str = "") -> Path:
        """Return the path that a text in a script stands for.

        It is relative to `base`, a folder below the root. Backslashes separate folders, as on Windows.
        Anything outside the folder raises `UsageError`.
        """
        plain = text.replace("\\", "/")
        if not plain.strip("/. ") and plain not in (".", "./"):
            raise UsageError(f"{text!r} is not the path of a file in {self.root}.")
        if "\0" in plain:
            raise UsageError(f"A path must not contain the character NUL. Got {plain[:60]!r}. Remove it.")
        if len(plain) > MAX_PATH_CHARACTERS:
            raise UsageError(f"A path has at most {MAX_PATH_CHARACTERS} characters. Got {len(plain):,}.")
        if any(len(part.encode()) > MAX_NAME_BYTES for part in plain.split("/")):
            raise UsageError(f"The name of a file or folder has at most {MAX_NAME_BYTES} bytes. Choose a shorter one.")
        if _ABSOLUTE.match(plain):
            raise UsageError(
                f"{text!r} is an absolute path. Scripts and pools use files in their own folder only. Give the path relative "
                f"to {self.root}."
            )
        try:
            path = (self.root / PurePosixPath(base) / PurePosixPath(plain)).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(f"{text!r} cannot be used: {error}.") from None
        if not path.is_relative_to(self.root):
            raise UsageError(
                f"{text!r} is outside of {self.root}. Scripts and pools use files in their own folder only. Move the file there."
            )
        return path

    def to_text(self, path: Path) -> str:
        """Return a path as a script writes it, relative to the folder."""
        return path.relative_to(self.root).as_posix()

    def find_file(self, text: str, base: str = "") -> Path:
        """Return the path of an existing regular file."""
        path = self.resolve(text, base)
        try:
            mode = path.stat().st_mode
        except OSError:
            raise UsageError(f"There is no file {text!r} in {path.parent}. {_suggest_file(path)}".rstrip()) from None
        if not stat.S_ISREG(mode):
            raise UsageError(f"{text!r} is not a regular file. Name a file, not a folder or a device.")
        return path

    def find_target(self, text: str, base: str = "", *, holds_messages: bool = False, is_page: bool = False) -> Path:
        """Return the path of a file that can be written; a file that `holds_messages` needs a suffix.

        A test set may have none, as in Morphy. A message may not: a file without a suffix may be run as a program. Only the
        pool itself names a page, whose content is not of the script.
        """
        path = self.resolve(text, base)
        if path == self.root or (path.exists() and not path.is_file()):
            raise UsageError(f"{text!r} is not a file that can be written.")
        may_lack_suffix = not holds_messages and not path.name.startswith(".")
        if not is_page and path.suffix.lower() not in WRITTEN_SUFFIXES and (path.suffix or not may_lack_suffix):
            raise UsageError(
                f"Scripts and pools do not write {text!r}. Choose a name that ends in {', '.join(WRITTEN_SUFFIXES)}."
            )
        for parent in path.relative_to(self.root).parents:
            folder = self.root / parent
            if folder.exists() and not folder.is_dir():
                raise UsageError(f"{text!r} cannot be written: {folder} is not a folder.")
        return path

    def find_folder(self, text: str) -> str:
        """Return a folder below the root, relative to it; it need not exist."""
        path = self.resolve(text)
        if path.exists() and not path.is_dir():
            raise UsageError(f"{text!r} is not a folder.")
        return self.to_text(path)


def read_script(path: Path, name: str | None = None, on_call: Callable[[Call], None] | None = None) -> Script:
    """Read and parse a script file.

    Messages call it `name`. For `on_call` see `parse_script`.
    """
    name = name or path.name
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ScriptError("This is not a regular file.", file=name)
        with path.open("rb") as file:
            content = file.read(MAX_SCRIPT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"The script {str(path)!r} cannot be read: {error.strerror or error}.") from None
    if len(content) > MAX_SCRIPT_BYTES:
        size = pluralise(path.stat().st_size, "byte")
        raise ScriptError(
            f"The script has {size}; at most {MAX_SCRIPT_BYTES:,} are read. Split it, and join the parts with "
            "playTestScript.",
            file=name,
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise ScriptError(
            f"The byte 0x{content[error.start]:02x} is not UTF-8 text. Save the script as UTF-8.",
            file=name,
            line=line,
            column=column,
        ) from None
    return parse_script(text, name, on_call)


def _suggest_file(path: Path) -> str:
    try:
        names = [entry.name for _, entry in zip(range(MAX_LISTED_FILES), path.parent.iterdir(), strict=False)]
    except OSError:
        return ""
    match = find_similar_name(path.name, names)
    return "" if match is None else f"Did you mean {match!r}?"

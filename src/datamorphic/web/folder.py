"""`ServedFolder`: the files that the studio may open, and no others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..systems.files import MODEL_SUFFIXES

DATA_SUFFIXES = (".csv", ".parquet")
MODULE_SUFFIXES = (".py",)
SCRIPT_SUFFIXES = (".scr",)
MAX_DEPTH = 3  # of folders that are listed
MAX_FILES_LISTED = 500
HIDDEN_FOLDERS = ("node_modules", "__pycache__", "site-packages")


@dataclass(frozen=True)
class ServedFolder:
    """A folder whose files may be opened, and nothing outside of it.

    Links that lead out of the folder are refused: a file counts by the place it really is at.
    """

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.root.resolve())

    def find_file(self, name: str) -> Path:
        """Return the file with this path relative to the folder; raise if it lies outside or does not exist."""
        if "\0" in name:
            raise UsageError("The name of the file contains a null character.")
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError):  # a name that is too long, or a loop of links
            raise UsageError(f"{name!r} cannot be opened. Choose a file of the served folder.") from None
        if not path.is_relative_to(self.root):
            raise UsageError(f"{name!r} lies outside the served folder. Choose a file inside it.")
        if not path.is_file():
            raise UsageError(f"There is no file {name!r} in the served folder.")
        return path

    def list_models(self) -> list[str]:
        """Return the model files, relative to the folder."""
        return [
            name
            for name in self._list_files()
            if name.lower().endswith(tuple(MODEL_SUFFIXES)) and not _is_setting(name)
        ]

    def list_data(self) -> list[str]:
        """Return the data files."""
        return [name for name in self._list_files() if name.lower().endswith(DATA_SUFFIXES)]

    def list_modules(self) -> list[str]:
        """Return the Python modules."""
        return [name for name in self._list_files() if name.endswith(MODULE_SUFFIXES)]

    def list_scripts(self) -> list[str]:
        """Return the scripts."""
        return [name for name in self._list_files() if name.lower().endswith(SCRIPT_SUFFIXES)]

    def _list_files(self) -> list[str]:
        names: list[str] = []
        for folder, folders, files in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            folders[:] = sorted(
                name
                for name in folders
                if depth < MAX_DEPTH and not name.startswith(".") and name not in HIDDEN_FOLDERS
            )
            for file in sorted(files):
                path = Path(folder) / file
                if not file.startswith(".") and path.resolve().is_relative_to(self.root):
                    names.append(path.relative_to(self.root).as_posix())
            if len(names) >= MAX_FILES_LISTED:
                break
        return names[:MAX_FILES_LISTED]


def _is_setting(name: str) -> bool:
    """Return whether a file that could describe a service is the settings file of a project."""
    return Path(name).name == "pyproject.toml"

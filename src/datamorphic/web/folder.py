"""`ServedFolder`: the files that the studio may open, and no others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..systems.files import MODEL_SUFFIXES

DATA_SUFFIXES = (".csv", ".parquet")
MODULE_SUFFIXES = (".py",)
SCRIPT_SUFFIXES = (".scr",)
MAX_DEPTH = 3  # of folders that are listed
MAX_FILES_LISTED = 500
MAX_FILES_VISITED = 50_000
MAX_MARK_BYTES = 4_000
#: what the beginnings of models contain whose endings other files have, too: XGBoost, LightGBM, services
MODEL_MARKS = {".json": (b'"learner"',), ".txt": (b"tree\nversion",), ".toml": (b"url",)}
MAX_NAME_CHARACTERS = 1_000  # of a path
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
        path = _resolve(self.root / name) if len(name) <= MAX_NAME_CHARACTERS else None
        name = name[:MAX_NAME_CHARACTERS]
        if path is None:
            raise UsageError(f"{name!r} cannot be opened. Choose a file of the served folder.")
        if not path.is_relative_to(self.root):
            raise UsageError(f"{name!r} lies outside the served folder. Choose a file inside it.")
        if not path.is_file():
            raise UsageError(f"There is no file {name!r} in the served folder.")
        return path

    def list_models(self) -> list[str]:
        """Return the model files, relative to the folder."""
        return [name for name in self._list_files(MODEL_SUFFIXES) if _is_model(self.root / name)]

    def list_data(self) -> list[str]:
        """Return the data files."""
        return self._list_files(DATA_SUFFIXES)

    def list_modules(self) -> list[str]:
        """Return the Python modules."""
        return self._list_files(MODULE_SUFFIXES)

    def list_scripts(self) -> list[str]:
        """Return the scripts."""
        return self._list_files(SCRIPT_SUFFIXES)

    def _list_files(self, suffixes: Iterable[str]) -> list[str]:
        """Return the files with one of the endings, whatever the case of its letters."""
        endings = tuple(suffixes)
        names: list[str] = []
        visited_count = 0
        for folder, folders, files in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            folders[:] = sorted(
                name
                for name in folders
                if depth < MAX_DEPTH and not name.startswith(".") and name not in HIDDEN_FOLDERS
            )
            for file in sorted(files):
                path = Path(folder) / file
                target = _resolve(path) if file.lower().endswith(endings) and not file.startswith(".") else None
                if target is not None and target.is_relative_to(self.root) and target.is_file():
                    names.append(path.relative_to(self.root).as_posix())
            visited_count += len(files)
            if len(names) >= MAX_FILES_LISTED or visited_count >= MAX_FILES_VISITED:
                break
        return names[:MAX_FILES_LISTED]


def _is_model(path: Path) -> bool:
    """Return whether a file with the ending of a model is one: text files of other kinds have the same endings."""
    marks = MODEL_MARKS.get(path.suffix.lower())
    if marks is None:
        return True
    try:
        with path.open("rb") as file:
            beginning = file.read(MAX_MARK_BYTES)
    except OSError:
        return False
    return path.name != "pyproject.toml" and any(mark in beginning for mark in marks)


def _resolve(path: Path) -> Path | None:
    """Return the place where a file really is; None for a loop of links and for names that no file can have."""
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return None

"""Keep runs of scripts in a run store, so that a killed script can be resumed.

The store keeps the answers of the system. A resumed script starts again: files that it writes are restored to what they
were when the run began, from copies beside the script, and its commands are run again with the stored answers.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .._files import write_file
from .._typing import FilePath
from ..errors import StoreError, UsageError
from .folder import ScriptFolder
from .validation import ScriptPlan

if TYPE_CHECKING:
    from ..runs.run import Run

VERB = "script"
MANIFEST = "files.json"
_TOKEN = re.compile(r"[0-9a-f]{16}")


class FileBackup:
    """Copies of the files that a script may change, in a hidden folder beside the script."""

    def __init__(self, folder: ScriptFolder, token: str) -> None:
        self.folder, self.token, self.path = folder, token, folder.root / f".datamorphic-{token}"

    def save(self, files: set[Path]) -> None:
        """Copy the files that exist, and note those that do not, unless that was done before the run was resumed."""
        if (self.path / MANIFEST).exists():
            return
        self.discard()
        names: dict[str, str | None] = {}
        try:
            self.path.mkdir()
            for number, file in enumerate(sorted(files)):
                copy = str(number) if file.exists() else None
                names[self.folder.to_text(file)] = copy
                if copy is not None:
                    write_file(self.path / copy, partial(shutil.copyfile, file))
            write_file(self.path / MANIFEST, json.dumps(names))  # a backup is complete once its manifest exists
        except OSError as error:
            raise UsageError(
                f"The files of the script cannot be copied to {self.path}: {error.strerror or error}."
            ) from None

    def restore(self) -> None:
        """Restore the files to what they were.

        Without a complete backup no command was run, so that there is nothing to restore.
        """
        try:
            names = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        try:
            for name, copy in names.items():
                target = self.folder.find_target(str(name))
                if copy is None:
                    target.unlink(missing_ok=True)
                elif str(copy).isdigit():
                    write_file(target, partial(shutil.copyfile, self.path / str(copy)))
        except OSError as error:
            raise UsageError(f"The files of the script cannot be restored from {self.path}: {error}.") from None

    def discard(self) -> None:
        """Remove the copies."""
        shutil.rmtree(self.path, ignore_errors=True)


def restore_files(run: Run, script: FilePath) -> str:
    """Restore the files of a run that will be resumed, and return the token of its copies."""
    token = str(run.parameters.get("backup"))
    if run.verb == VERB and run.state not in ("finished", "running"):  # `keep_run` says why these cannot be resumed
        if not _TOKEN.fullmatch(token):  # it names a folder that is removed at the end
            raise StoreError(
                f"The stored request of run {run.id} is damaged, so it cannot be resumed. Start a new run."
            )
        FileBackup(ScriptFolder(Path(script).resolve().parent), token).restore()
    return token


def discard_backup(run: Run) -> None:
    """Remove the copies of a run of the command line, which is about to be removed from its store."""
    script, token = (run.parameters.get("words") or {}).get("script"), str(run.parameters.get("backup"))
    if run.verb == VERB and script is not None and _TOKEN.fullmatch(token):
        FileBackup(ScriptFolder(Path(str(script)).resolve().parent), token).discard()


def hash_files(plan: ScriptPlan, files: set[Path]) -> dict[str, str]:
    """Return hashes of files by their names in the script."""
    hashes = {}
    for path in sorted(files):
        with path.open("rb") as file:
            hashes[plan.folder.to_text(path)] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes

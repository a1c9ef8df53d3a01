"""Keep runs of scripts in a run store, so that a killed script can be resumed.

The store keeps the answers of the system. A resumed script starts again: files that it writes are restored to what they
were when the run began, from copies beside the script, and its commands are run again with the stored answers.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._files import write_file
from ..errors import StoreError, UsageError
from ..runs.keep import StoreOptions, keep_run, open_store
from .folder import ScriptFolder
from .options import PlayOptions
from .pool import TestPool
from .validation import ScriptPlan

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.run import Run
    from ..runs.session import Session

VERB = "script"
MANIFEST = "files.json"
_TOKEN = re.compile(r"[0-9a-f]{16}")


class FileBackup:
    """Copies of the files that a script may change, in a hidden folder beside the script."""

    def __init__(self, folder: ScriptFolder, token: str) -> None:
        self.folder, self.path = folder, folder.root / f".datamorphic-{token}"

    def save(self, files: set[Path]) -> None:
        """Copy the files that exist, and note those that do not."""
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


def restore_files(keep: StoreOptions, script: Path) -> None:
    """Restore the files of a run that will be resumed."""
    if keep.resume is None:
        return
    with open_store(keep) as store:
        run = store.run(keep.resume)
        if run.verb != VERB:
            raise StoreError(
                f"Run {run.id} was started by {run.verb!r}, not {VERB!r}. Resume it with datamorphic runs resume {run.id}."
            )
        if run.state == "finished":
            raise StoreError(f"Run {run.id} is finished and cannot be resumed. Start a new one.")
        if run.state == "running":
            return  # `keep_run` says why it cannot be resumed
        token = str(run.parameters.get("backup"))
    if _TOKEN.fullmatch(token):
        FileBackup(ScriptFolder(script.resolve().parent), token).restore()


def discard_backup(run: Run) -> None:
    """Remove the copies of a run of the command line, which is about to be removed from its store."""
    script, token = (run.parameters.get("words") or {}).get("script"), str(run.parameters.get("backup"))
    if run.verb == VERB and script is not None and _TOKEN.fullmatch(token):
        FileBackup(ScriptFolder(Path(str(script)).resolve().parent), token).discard()


@contextmanager
def keep_script(keep: StoreOptions, plan: ScriptPlan, pool: TestPool, options: PlayOptions) -> Iterator[Session]:
    """Open a session that records the run of a script.

    The files that the script may change are copied first.
    """
    token = secrets.token_hex(8)
    if keep.resume is not None:
        with open_store(keep) as store:
            token = str(store.run(keep.resume).parameters.get("backup"))
        if not _TOKEN.fullmatch(token):  # it names a folder that is removed at the end
            raise StoreError(
                f"The stored request of run {keep.resume} is damaged, so it cannot be resumed. Start a new run."
            )
    parameters: dict[str, Any] = {
        "script": plan.name,
        "commands": plan.commands,
        "scripts": _hash_files(plan, set(plan.scripts)),
        "inputs": _hash_files(plan, plan.inputs),
        "backup": token,
        **options.to_request(),
    }
    origin = None if plan.system is None else plan.system.origin
    run_options: dict[str, Any] = {"seed": pool.seed, "rng": np.random.default_rng(pool.seed), "model": origin}
    name = plan.name if plan.system is None else f"{plan.name} ({plan.system.spec})"
    with keep_run(
        keep, VERB, name, parameters, seeds=json.dumps(parameters["inputs"]), engine=pool.engine.name, **run_options
    ) as session:
        backup = FileBackup(plan.folder, token)
        if not (backup.path / MANIFEST).exists():
            backup.discard()
            backup.save(plan.outputs)
        yield session
        with suppress(StoreError):
            if session.store.run(session.run).state == "finished":
                backup.discard()


def _hash_files(plan: ScriptPlan, files: set[Path]) -> dict[str, str]:
    hashes = {}
    for path in sorted(files):
        with path.open("rb") as file:
            hashes[plan.folder.to_text(path)] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes

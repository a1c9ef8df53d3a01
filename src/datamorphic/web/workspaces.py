"""`Workspace`: what one person does in the studio; `Workspaces` keeps those of all people apart."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .._files import write_file
from ..errors import UsageError
from ..runs.url import STORE_VARIABLE
from ..systems.files import MODEL_SUFFIXES, PICKLE_SUFFIXES, SERVICE_SUFFIX
from .commands import has_option
from .folder import DATA_SUFFIXES, ServedFolder
from .jobs import FRONT_FILE, REPORT_FILE, StudioJob, WorkerPool
from .options import TOKEN_VARIABLE, WebOptions
from .pool_client import PoolClient
from .query_client import QueryClient
from .subject import ChosenSubject

MAX_JOBS_RUNNING = 4  # of one person at a time
MAX_JOBS_KEPT = 50
SECRET_BYTES = 32
MAX_NAME_CHARACTERS = 120
UPLOAD_SUFFIXES_WITH_TRUST = (SERVICE_SUFFIX, *PICKLE_SUFFIXES)
UPLOAD_SUFFIXES = (*DATA_SUFFIXES, *(suffix for suffix in MODEL_SUFFIXES if suffix not in UPLOAD_SUFFIXES_WITH_TRUST))
#: why files with other endings are refused
UPLOAD_REFUSALS = {
    **dict.fromkeys(
        PICKLE_SUFFIXES,
        "it is a pickle, and loading it runs any code that its author put into it. Save the model with skops or as ONNX, "
        "or ask the person who started the studio to restart it with --trust",
    ),
    SERVICE_SUFFIX: "the description of a service can send secrets of this computer anywhere. Put it into the served "
    "folder, or ask the person who started the studio to restart it with --trust",
    ".py": "a Python module is code. Put it into the served folder",
}
MAX_UPLOADS = 100  # files of one person
UPLOADS_PER_LIMIT = 10  # all uploads of one person, in units of the largest one
STATE_FILE = "workspace.json"
MAX_AGE_DAYS = 30  # of a workspace that nobody has opened


_WORKSPACE_NAME = re.compile(r"[0-9a-f]{32}")


@dataclass(eq=False)
class Workspace:
    """The subject, the jobs, the test pool, the scripts and the uploads of one person."""

    folder: Path
    options: WebOptions
    workers: WorkerPool
    subject: ChosenSubject = field(default_factory=ChosenSubject)
    jobs: list[StudioJob] = field(default_factory=list)
    _pool: PoolClient | None = None
    _queries: QueryClient | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @classmethod
    def open(cls, folder: Path, options: WebOptions, workers: WorkerPool) -> Workspace:
        """Return the workspace in a folder, with the jobs of an earlier studio."""
        for name in ("jobs", "uploads", "scripts"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        workspace = cls(folder, options, workers)
        try:
            document = json.loads((folder / STATE_FILE).read_text(encoding="utf-8"))
            workspace.subject = ChosenSubject(**document["subject"])
            os.utime(folder / STATE_FILE)  # it is in use
        except (OSError, ValueError, TypeError, KeyError):
            pass
        job_folders = sorted((folder / "jobs").iterdir(), key=lambda path: path.name.zfill(9))
        workspace.jobs = [job for path in job_folders if (job := StudioJob.load(path)) is not None]
        return workspace

    @property
    def trust(self) -> bool:
        """Whether the model may be code: only if the studio was started with --trust, and the person trusts this model."""
        return self.options.trust and self.subject.trust

    # -- files ---------------------------------------------------------------------------------------------------------

    @property
    def served_folder(self) -> ServedFolder:
        """The folder that the studio was started on."""
        return ServedFolder(self.options.folder)

    @property
    def uploads(self) -> ServedFolder:
        """The files that this person has uploaded."""
        return ServedFolder(self.folder / "uploads")

    @property
    def scripts(self) -> ServedFolder:
        """The scripts of this person, which are also the folder of the test pool."""
        return ServedFolder(self.folder / "scripts")

    @property
    def folders(self) -> list[ServedFolder]:
        """The folders of models and data: uploads first."""
        return [self.uploads, self.served_folder]

    @property
    def upload_suffixes(self) -> tuple[str, ...]:
        """The endings of files that can be uploaded."""
        return UPLOAD_SUFFIXES + (UPLOAD_SUFFIXES_WITH_TRUST if self.options.trust else ())

    def save_upload(self, name: str, content: bytes) -> Path:
        """Keep an uploaded file under its own name, without any folder of that name.

        Only kinds of files that are data are taken. A pickle is code, and the description of a service can send what is in the
        environment of the studio to any address: both need trust.
        """
        base = self.validate_upload(name, len(content))
        path = self.folder / "uploads" / base[-MAX_NAME_CHARACTERS:]
        others = [file for file in path.parent.iterdir() if file != path]
        total = len(content) + sum(file.stat().st_size for file in others)
        if len(others) >= MAX_UPLOADS or total > UPLOADS_PER_LIMIT * self.options.upload_megabytes * 1_000_000:
            raise UsageError("Your uploads take too much space. Put the files into the served folder.")
        write_file(path, content, "upload")
        return path

    def validate_upload(self, name: str, size: int) -> str:
        """Return the name under which a file is kept; raise `UsageError` with the reason if it cannot be uploaded."""
        base = Path(name.replace("\\", "/")).name.strip().lstrip(".")
        if not base or "\0" in base:
            raise UsageError(f"{name!r} is not a name of a file. Rename it, and upload it again.")
        suffix = Path(base).suffix.lower()
        if suffix not in self.upload_suffixes:
            reason = UPLOAD_REFUSALS.get(suffix, "the studio cannot read this kind of file")
            raise UsageError(
                f"{base!r} cannot be uploaded: {reason}. These files can be: {', '.join(self.upload_suffixes)}."
            )
        limit = self.options.upload_megabytes
        if size > limit * 1_000_000:
            raise UsageError(f"{base!r} has more than {limit} MB, the limit. Put it into the served folder.")
        return base

    def remove_upload(self, name: str) -> bool:
        """Delete an uploaded file, unless running work uses it; return whether it was part of the chosen subject.

        The subject is then no longer chosen.
        """
        path = self.uploads.find_file(name)
        for job in self.jobs:
            if not job.ended and any(str(path) in word for word in job.arguments):
                raise UsageError(f"{path.name!r} is used by a running job: {job.title}. Wait for it, or stop it first.")
        is_chosen = str(path) in (self.subject.model, self.subject.data)
        if is_chosen and self._pool is not None and self._pool.running is not None:
            raise UsageError(
                f"{path.name!r} is used by a command on the page Activities. Wait for it, or stop it first."
            )
        path.unlink()
        if is_chosen:
            self.choose(ChosenSubject())
        return is_chosen

    def choose(self, subject: ChosenSubject) -> None:
        """Test something else from now on; jobs of the earlier subject go on."""
        self.subject = subject
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        self.save()

    def save(self) -> None:
        """Write what must survive the end of the studio."""
        text = json.dumps({"subject": self.subject.to_document(), "opened": time.time()})
        write_file(self.folder / STATE_FILE, text)

    # -- jobs ----------------------------------------------------------------------------------------------------------

    def start_job(
        self,
        command: str,
        arguments: Sequence[str],
        *,
        title: str,
        page: str,
        report: bool = True,
        front: bool = False,
        folder_option: str = "",
        files: Mapping[str, str] | None = None,
        trust: bool | None = None,
    ) -> StudioJob:
        """Run a command in the background; its JSON document, report and front are files of the job.

        `folder_option` is the option of the command that names a folder for its files, such as ``--to``; `files` are the names
        of single files by option: ``{"--out": "rows.csv"}``. `trust` is that of the chosen subject, if it is not given.
        """
        if sum(not job.ended for job in self.jobs) >= MAX_JOBS_RUNNING:
            raise UsageError(f"{MAX_JOBS_RUNNING} jobs are running. Wait for one of them, or stop it.")
        number = 1 + max(map(int, filter(str.isdigit, os.listdir(self.folder / "jobs"))), default=0)
        while any(job.number == number for job in self.jobs):  # it has no folder yet
            number += 1
        folder = self.folder / "jobs" / str(number)
        words = [*command.split(), *arguments, "--json"]
        if report:
            words.append(f"--html={folder / REPORT_FILE}")
        if front:
            words.append(f"--save={folder / FRONT_FILE}")
        if folder_option:
            words.append(f"{folder_option}={folder}")
        words += [f"{option}={folder / name}" for option, name in (files or {}).items()]
        trust = self.subject.trust if trust is None else trust
        if self.options.trust and trust and has_option(command, "--trust"):
            words.append("--trust")
        job = StudioJob(number=number, title=title, arguments=words, folder=folder, page=page)
        self.jobs.append(job)
        for old_job in [job for job in self.jobs if job.ended][: max(0, len(self.jobs) - MAX_JOBS_KEPT)]:
            self.jobs.remove(old_job)
            shutil.rmtree(old_job.folder, ignore_errors=True)
        task = asyncio.create_task(job.execute(self.workers, self.served_folder.root))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def find_job(self, number: int) -> StudioJob:
        """Return a job of this person."""
        for job in self.jobs:
            if job.number == number:
                return job
        raise UsageError(f"There is no job {number} here.")

    def list_jobs(self, page: str) -> list[StudioJob]:
        """Return the jobs that a page started, the newest first."""
        return [job for job in reversed(self.jobs) if job.page == page]

    # -- the test pool -------------------------------------------------------------------------------------------------

    @property
    def pool(self) -> PoolClient:
        """The test pool of the subject, in a process of its own that is started when it is needed."""
        if self._pool is None:
            self._pool = PoolClient(self.workers, self.subject, self.scripts.root, self.served_folder.root, self.trust)
        return self._pool

    @property
    def queries(self) -> QueryClient:
        """The process that answers quick questions about files."""
        if self._queries is None:
            self._queries = QueryClient(self.workers)
        return self._queries

    def close(self) -> None:
        """End the processes of this person."""
        if self._queries is not None:
            self._queries.close()
        if self._pool is not None:
            self._pool.close()


class Workspaces:
    """The workspaces of all people, by the secret number of their session.

    They belong to the served folder: a studio that is started on another folder knows none of the files that people chose
    in this one.
    """

    def __init__(self, options: WebOptions) -> None:
        self.options = options
        name = hashlib.sha256(str(options.folder.resolve()).encode("utf-8", errors="surrogateescape")).hexdigest()[:16]
        self.root = (options.workspaces or _get_default_root()) / name
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.session_cookie = f"datamorphic_{name[:8]}"  # cookies do not know ports: other studios use other names
        self.workers = WorkerPool(_build_environment(options))
        self._workspaces: dict[str, Workspace] = {}
        self._remove_old()

    def get(self, session: str) -> Workspace:
        """Return the workspace of a session."""
        key = hashlib.sha256(session.encode()).hexdigest()[:32]  # the folder does not reveal the cookie
        if key not in self._workspaces:
            self._workspaces[key] = Workspace.open(self.root / key, self.options, self.workers)
        return self._workspaces[key]

    def read_secret(self) -> str:
        """Return the key that signs session cookies; the same as before, so that sessions survive a new start."""
        path = self.root / "secret"
        try:
            secret = path.read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            secret = ""
        if len(secret) == 2 * SECRET_BYTES:
            return secret

        def write_secret(draft: Path) -> None:
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_hex(SECRET_BYTES), encoding="ascii")

        write_file(path, write_secret)
        return path.read_text(encoding="ascii").strip()

    async def close(self) -> None:
        """End all processes."""
        for workspace in self._workspaces.values():
            workspace.close()
        await self.workers.close()

    def _remove_old(self) -> None:
        oldest = time.time() - MAX_AGE_DAYS * 86_400
        for folder in self.root.iterdir():
            if not folder.is_dir() or not _WORKSPACE_NAME.fullmatch(folder.name):
                continue
            state = folder / STATE_FILE  # is missing if the person chose nothing
            if (state if state.is_file() else folder).stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def _build_environment(options: WebOptions) -> dict[str, str]:
    """Return the environment of worker processes: with the store, whose URL may hold a password, and without the token."""
    environment = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
    if options.store is not None:
        is_path = options.store != "none" and "://" not in options.store
        environment[STORE_VARIABLE] = os.path.abspath(options.store) if is_path else options.store
    return environment


def _get_default_root() -> Path:
    from platformdirs import user_data_path

    return user_data_path("datamorphic", appauthor=False) / "studio"

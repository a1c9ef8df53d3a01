"""A Dask cluster as an engine: the workers compute, everything else stays here."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any

from .._text import pluralize, redact
from .._validation import import_optional
from ..errors import ArgumentError, DatamorphicError, ModelError, SystemDied
from ..space.points import Batch
from ..systems.base import AnswerOrError, Executor, RemoteSystem, ScoreRequest, SystemTraits
from ..systems.isolation import IsolatedSystem, answer_in_worker, use_one_blas_thread
from .engine_base import Engine
from .versions import read_versions

CONNECT_TIMEOUT_SECONDS = 10  # seconds a scheduler may take to answer
MAX_TASK_ATTEMPTS = 100  # of a task whose workers lose the system, or lack a module of the user's own
WORKER_REPLACEMENT_SECONDS = 60  # seconds until a lost worker should be replaced
TASKS_PER_THREAD = 2  # tasks for each thread of a worker: one under way and one to go on with


class DaskEngine(Engine):
    """The workers of a Dask cluster, given by its address or as a client.

    The system is sent to every worker once. A worker that is lost is the scheduler's to replace; a batch that takes
    its worker down is asked again in a process of its own, where it does no harm to others.
    """

    def __init__(self, address_or_client: Any) -> None:
        self._distributed = import_optional("distributed", "dask", "running on a Dask cluster")
        self._address = address_or_client if isinstance(address_or_client, str) else None
        self._remote_system: Any = None
        self.client: Any = None if self._address else address_or_client
        self.name = redact(self._address or f"dask client of {address_or_client.scheduler.address}")

    def connect(self) -> Any:
        """Return a client of the cluster, the one that was given or one of our own."""
        if self._address is None:
            return self.client
        address = self._address.replace("dask://", "tcp://", 1)
        try:
            self.client = self._distributed.Client(address, timeout=CONNECT_TIMEOUT_SECONDS, set_as_default=False)
            return self.client
        except (OSError, TimeoutError, ValueError) as error:
            raise ArgumentError(
                f"No Dask scheduler answers at {self.name} ({type(error).__name__}). Start one with 'dask scheduler', "
                "workers with 'dask worker host:port', and give the address as dask://host:8786."
            ) from None

    def open_lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Send the system to the workers and return ways to reach it, some for each of their threads."""
        self.workers = threads = sum(self.connect().nthreads().values())
        if not threads:
            raise self.build_no_workers_error()
        self._local_system, self._blob, self._timeout = system, _pickle_system(system), timeout
        self.timed = timeout is not None  # batches that travel together could not be timed one by one
        self._token = uuid.uuid4().hex
        self._careful = False  # once it has taken workers down, it is asked where it harms nothing but itself
        self._send_lock = threading.Lock()
        self._send(None)
        return [_DaskLane(system, self) for _ in range(TASKS_PER_THREAD * threads)]

    def build_no_workers_error(self) -> ArgumentError:
        """Return the error to raise where nobody can work."""
        return ArgumentError(f"The cluster {self.name} has no workers. Start some with 'dask worker host:port'.")

    def _send(self, lost_system: Any, missing_module: str = "") -> None:
        """Send the system to all workers, with a module they miss, unless another lane has done so since."""
        with self._send_lock:
            if self._remote_system is not lost_system:
                return
            if missing_module:
                self._send_modules(missing_module)
            deadline = time.monotonic() + WORKER_REPLACEMENT_SECONDS
            while self._remote_system is lost_system:
                try:
                    self._remote_system = self.client.scatter(self._blob, broadcast=True, hash=False)
                except TimeoutError:  # no worker at this moment
                    if time.monotonic() > deadline:
                        raise self.build_no_workers_error() from None
                    time.sleep(0.2)

    def _send_modules(self, missing_module: str) -> None:
        """Send modules of the user's own with the system, by value."""
        import cloudpickle

        module_names = {
            name for name in sys.modules if name == missing_module or name.startswith(f"{missing_module}.")
        }
        new_names = module_names - set(cloudpickle.list_registry_pickle_by_value())
        if not new_names:
            raise ModelError(
                f"The workers of {self.name} have no module {missing_module!r}. Install it there: datamorphic worker-check tells "
                "what differs."
            )
        for name in new_names:
            cloudpickle.register_pickle_by_value(sys.modules[name])
        self._blob = _pickle_system(self._local_system)

    def query_workers(
        self, batches: Sequence[Batch], scores: ScoreRequest
    ) -> tuple[list[AnswerOrError], SystemTraits]:
        """Let some worker answer batches."""
        distributed = self._distributed
        for _ in range(MAX_TASK_ATTEMPTS):
            system = self._remote_system
            task = self.client.submit(
                _answer_on_worker, system, self._token, batches, scores, self._careful, self._timeout, pure=False
            )
            try:
                return task.result()
            except distributed.scheduler.KilledWorker:
                self._careful = True
                rows = pluralize(sum(map(len, batches)), "row")
                raise SystemDied(f"it took down every worker that was asked {rows}") from None
            except distributed.client.FutureCancelledError:
                self._careful = True  # all workers that held the system are gone: who knows why
                self._send(system)
            except ModuleNotFoundError as error:
                self._send(system, str(error.name))
            except DatamorphicError:
                raise
            except Exception as error:
                raise ModelError(
                    f"The workers of {self.name} cannot run this: {type(error).__name__}: {error}. "
                    "See whether they are like this machine: datamorphic worker-check."
                ) from error
        raise ModelError(
            f"{self.name} loses its workers again and again. Their logs say why; a frequent reason is too little memory "
            "for the system."
        )

    def close(self) -> None:
        """Let go of the workers."""
        if self._remote_system is not None:
            token, self._remote_system = self._token, None
            if self.client.status == "running":
                self.client.run(_release_systems, token, on_error="ignore")
        if self._address is not None and self.client is not None:
            self.client.close()
            self.client = None


class _DaskLane(RemoteSystem):
    """One way to the workers."""

    def __init__(self, system: Executor, engine: DaskEngine) -> None:
        super().__init__(system)
        self.far = not engine.timed
        self._engine = engine

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Let some worker answer."""
        try:
            answers, traits = self._engine.query_workers(batches, scores)
        except SystemDied as lost:
            return [lost] * len(batches)
        traits.apply_to(self)
        return answers


# -- on the workers -----------------------------------------------------------------------------------

_closed_tokens: set[str] = set()  # runs that are over
_systems: dict[tuple[str, int, bool], Executor] = {}  # one a thread: executors are used by one thread at a time


def _answer_on_worker(
    blob: bytes, token: str, batches: Sequence[Batch], scores: ScoreRequest, careful: bool, timeout: float | None
) -> tuple[list[AnswerOrError], SystemTraits]:
    """Answer batches, in a process of their own if the system may hang or take its process down."""
    key = token, threading.get_ident(), careful
    if key not in _systems:
        if token in _closed_tokens:
            raise SystemDied("its run is over")
        _allow_children()
        use_one_blas_thread()  # as Dask has it by default
        system: Executor = pickle.loads(blob)
        _systems[key] = IsolatedSystem(system, timeout) if careful or timeout is not None else system
    return answer_in_worker(batches, scores, _systems[key])


def _release_systems(token: str) -> None:
    """Let go of the systems of a run, and of their processes."""
    _closed_tokens.add(token)
    for key in [key for key in _systems if key[0] == token]:
        system = _systems.pop(key)
        if isinstance(system, IsolatedSystem):
            system.shut_down()


def _allow_children() -> None:
    """Let a worker have children: it is a daemon of its nanny, and ours end with it by themselves."""
    config: dict[str, Any] = getattr(multiprocessing.current_process(), "_config", {})
    config.pop("daemon", None)


def _pickle_system(system: Executor) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(system)
    except Exception as error:
        raise ModelError(
            f"{system.name} cannot be sent to a cluster: it must be one that can be pickled "
            f"({type(error).__name__}: {error})."
        ) from None


# -- are the workers like us? ---------------------------------------------------------------------------


def check_workers(address_or_client: Any) -> tuple[list[str], list[dict[str, str]]]:
    """Return the workers of a cluster, and what each has in another version than this machine.

    A row a difference: worker, package, here, there ("missing" where it has none).
    """
    engine = DaskEngine(address_or_client)
    local_versions = read_versions()

    def read_installed_versions(
        packages: tuple[str, ...],
    ) -> dict[str, str]:  # sent as it stands: they may have no datamorphic
        import platform
        from importlib.metadata import PackageNotFoundError, version

        installed_versions = {"python": platform.python_version()}
        for package in packages:
            try:
                installed_versions[package] = version(package)
            except PackageNotFoundError:
                installed_versions[package] = "missing"
        return installed_versions

    try:
        worker_versions = engine.connect().run(
            read_installed_versions, tuple(package for package in local_versions if package != "python")
        )
        if not worker_versions:
            raise engine.build_no_workers_error()
        return sorted(worker_versions), [
            {
                "worker": worker,
                "package": package,
                "here": local_versions[package],
                "there": remote_versions[package],
            }
            for worker, remote_versions in sorted(worker_versions.items())
            for package in local_versions
            if remote_versions[package] != local_versions[package]
        ]
    finally:
        engine.close()

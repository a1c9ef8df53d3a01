"""`DaskEngine`: a Dask cluster as an engine. Workers compute; everything else stays here."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any

from .._clock import read_clock
from .._text import pluralise, redact, to_text
from .._typing import SupportsSubmit
from .._validation import import_optional
from ..errors import ArgumentError, DatamorphicError, ModelError, SystemDied
from ..space.points import Batch
from ..systems.base import AnswerOrError, Executor, RemoteSystem, ScoreRequest, SystemTraits
from ..systems.isolation import IsolatedSystem, answer_in_worker, use_one_blas_thread
from .engine_base import Engine
from .versions import read_versions

CONNECT_TIMEOUT_SECONDS = 10
MAX_TASK_ATTEMPTS = 100  # if workers are lost or lack a module
WORKER_REPLACEMENT_SECONDS = 60  # until a lost worker should be replaced
TASKS_PER_THREAD = 2  # one under way and one waiting


class DaskEngine(Engine):
    """Runs a system on the workers of a Dask cluster.

    The cluster is given by its address or as a client. The system is sent to every worker once. The scheduler replaces lost
    workers. A batch that kills its worker is queried again in a separate process, where it harms nothing else.
    """

    def __init__(self, address_or_client: str | SupportsSubmit) -> None:
        self._distributed = import_optional("distributed", "dask", "running on a Dask cluster")
        self._address = address_or_client if isinstance(address_or_client, str) else None
        self._remote_system: Any = None
        client: Any = None if self._address else address_or_client
        self.client = client
        self.name = redact(self._address or f"dask client of {client.scheduler.address}")

    def connect(self) -> Any:
        """Return a client of the cluster."""
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
        """Send the system to the workers and return lanes, some per worker thread."""
        self.workers = threads = sum(self.connect().nthreads().values())
        if not threads:
            raise self.build_no_workers_error()
        self._local_system, self._blob, self._timeout = system, _pickle_system(system), timeout
        self.timed = timeout is not None  # batches sent together cannot be timed one by one
        self._token = uuid.uuid4().hex
        self._isolated = False  # whether the system has killed workers and runs in separate processes
        self._send_lock = threading.Lock()
        self._send(None)
        return [_DaskLane(system, self) for _ in range(TASKS_PER_THREAD * threads)]

    def build_no_workers_error(self) -> ArgumentError:
        """Return the error for a cluster without workers."""
        return ArgumentError(f"The cluster {self.name} has no workers. Start some with 'dask worker host:port'.")

    def _send(self, lost_system: object, missing_module: str = "") -> None:
        """Send the system, with a missing module, to all workers, unless another lane has done so since."""
        with self._send_lock:
            if self._remote_system is not lost_system:
                return
            if missing_module:
                self._send_modules(missing_module)
            deadline = read_clock() + WORKER_REPLACEMENT_SECONDS
            while self._remote_system is lost_system:
                try:
                    self._remote_system = self.client.scatter(self._blob, broadcast=True, hash=False)
                except TimeoutError:  # no worker at the moment
                    if read_clock() > deadline:
                        raise self.build_no_workers_error() from None
                    time.sleep(0.2)

    def _send_modules(self, missing_module: str) -> None:
        """Pickle the user's own modules by value together with the system."""
        import cloudpickle

        module_names = {name for name in sys.modules if name == missing_module or name.startswith(f"{missing_module}.")}
        new_names = module_names - set(cloudpickle.list_registry_pickle_by_value())
        if not new_names:
            remedy = "Install it there. datamorphic worker-check lists the differences"
            raise ModelError(f"The workers of {self.name} have no module {missing_module!r}. {remedy}.")
        for name in new_names:
            cloudpickle.register_pickle_by_value(sys.modules[name])
        self._blob = _pickle_system(self._local_system)

    def query_workers(self, batches: Sequence[Batch], scores: ScoreRequest) -> tuple[list[AnswerOrError], SystemTraits]:
        """Answer batches on some worker."""
        distributed = self._distributed
        for _ in range(MAX_TASK_ATTEMPTS):
            system = self._remote_system
            task = self.client.submit(
                _answer_on_worker, system, self._token, batches, scores, self._isolated, self._timeout, pure=False
            )
            try:
                return task.result()
            except distributed.scheduler.KilledWorker:
                self._isolated = True
                rows = pluralise(sum(map(len, batches)), "row")
                raise SystemDied(f"it killed every worker that was sent {rows}") from None
            except distributed.client.FutureCancelledError:
                self._isolated = True  # all workers with the system are gone, for unknown reasons
                self._send(system)
            except ModuleNotFoundError as error:
                self._send(system, str(error.name))
            except DatamorphicError:
                raise
            except Exception as error:
                raise ModelError(
                    f"The workers of {self.name} cannot run this: {type(error).__name__}: {to_text(error)}. "
                    "Compare their packages with those of this machine: datamorphic worker-check."
                ) from error
        reason = "A frequent reason is too little memory for the system"
        raise ModelError(f"{self.name} keeps losing its workers. See their logs. {reason}.")

    def close(self) -> None:
        """Release the workers."""
        if self._remote_system is not None:
            token, self._remote_system = self._token, None
            if self.client.status == "running":
                self.client.run(_release_systems, token, on_error="ignore")
        if self._address is not None and self.client is not None:
            self.client.close()
            self.client = None


class _DaskLane(RemoteSystem):
    """A lane to the workers."""

    def __init__(self, system: Executor, engine: DaskEngine) -> None:
        super().__init__(system)
        self.far = not engine.timed
        self._engine = engine

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Answer batches on some worker."""
        try:
            answers, traits = self._engine.query_workers(batches, scores)
        except SystemDied as lost:
            return [lost] * len(batches)
        traits.apply_to(self)
        return answers


# -- on the workers -----------------------------------------------------------------------------------

_closed_tokens: set[str] = set()  # of runs that have ended
_systems: dict[tuple[str, int, bool], Executor] = {}  # one per thread, because executors are not thread-safe


def _answer_on_worker(
    blob: bytes, token: str, batches: Sequence[Batch], scores: ScoreRequest, isolated: bool, timeout: float | None
) -> tuple[list[AnswerOrError], SystemTraits]:
    """Answer batches on a worker, in a separate process if the system may hang or kill its process."""
    key = token, threading.get_ident(), isolated
    if key not in _systems:
        if token in _closed_tokens:
            raise SystemDied("its run has ended")
        # workers are daemons, which must not have children; these children end by themselves when the worker ends
        getattr(multiprocessing.current_process(), "_config", {}).pop("daemon", None)
        use_one_blas_thread()  # Dask's default
        system: Executor = pickle.loads(blob)
        _systems[key] = IsolatedSystem(system, timeout) if isolated or timeout is not None else system
    return answer_in_worker(batches, scores, _systems[key])


def _release_systems(token: str) -> None:
    """Release the systems of a run and their processes."""
    _closed_tokens.add(token)
    for key in [key for key in _systems if key[0] == token]:
        system = _systems.pop(key)
        if isinstance(system, IsolatedSystem):
            system.shut_down()


def _pickle_system(system: Executor) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(system)
    except Exception as error:
        reason = f"{type(error).__name__}: {to_text(error)}"
        raise ModelError(
            f"{system.name} cannot be sent to a cluster, because it cannot be pickled ({reason})."
        ) from None


# -- versions on the workers ----------------------------------------------------------------------------


def check_workers(address_or_client: str | SupportsSubmit) -> tuple[list[str], list[dict[str, str]]]:
    """Return the workers of a cluster, and packages whose versions differ from here.

    One row per difference: worker, package, here, there ("missing" if it is not installed).
    """
    engine = DaskEngine(address_or_client)
    local_versions = read_versions()

    def read_installed_versions(packages: list[str]) -> dict[str, str]:
        # self-contained: workers may have no datamorphic
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
        packages = [package for package in local_versions if package != "python"]
        worker_versions = engine.connect().run(read_installed_versions, packages)
        if not worker_versions:
            raise engine.build_no_workers_error()
        return sorted(worker_versions), [
            {"worker": worker, "package": package, "here": local_versions[package], "there": remote_versions[package]}
            for worker, remote_versions in sorted(worker_versions.items())
            for package in local_versions
            if remote_versions[package] != local_versions[package]
        ]
    finally:
        engine.close()

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

from .._checks import optional_import, plural, redacted
from ..errors import ArgumentError, DatamorphicError, ModelError, SystemDied
from ..space.points import Batch
from ..sut.base import Answer, Distant, Executor, Known, Wanted
from ..sut.isolated import Isolated, answer_all, one_blas_thread
from .engine import Engine
from .versions import versions

CONNECT = 10  # seconds a scheduler may take to answer
MOST_TRIES = 100  # of a task whose workers lose the system, or lack a module of the user's own
REPLACED = 60  # seconds until a lost worker should be replaced
AHEAD = 2  # tasks for each thread of a worker: one under way and one to go on with


class Cluster(Engine):
    """The workers of a Dask cluster, given by its address or as a client.

    The system is sent to every worker once. A worker that is lost is the scheduler's to replace; a batch that takes
    its worker down is asked again in a process of its own, where it does no harm to others.
    """

    def __init__(self, given: Any) -> None:
        self._distributed = optional_import("distributed", "dask", "running on a Dask cluster")
        self._address = given if isinstance(given, str) else None
        self._system: Any = None
        self.client: Any = None if self._address else given
        self.name = redacted(self._address or f"dask client of {given.scheduler.address}")

    def connect(self) -> Any:
        """Return a client of the cluster, the one that was given or one of our own."""
        if self._address is None:
            return self.client
        address = self._address.replace("dask://", "tcp://", 1)
        try:
            self.client = self._distributed.Client(address, timeout=CONNECT, set_as_default=False)
            return self.client
        except (OSError, TimeoutError, ValueError) as error:
            raise ArgumentError(
                f"No Dask scheduler answers at {self.name} ({type(error).__name__}). Start one with 'dask scheduler', "
                "workers with 'dask worker host:port', and give the address as dask://host:8786."
            ) from None

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Send the system to the workers and return ways to reach it, some for each of their threads."""
        self.workers = threads = sum(self.connect().nthreads().values())
        if not threads:
            raise self.no_workers()
        self._given, self._blob, self._timeout = system, _dumped(system), timeout
        self.timed = timeout is not None  # batches that travel together could not be timed one by one
        self._token = uuid.uuid4().hex
        self._careful = False  # once it has taken workers down, it is asked where it harms nothing but itself
        self._sending = threading.Lock()
        self._send(None)
        return [_Lane(system, self) for _ in range(AHEAD * threads)]

    def no_workers(self) -> ArgumentError:
        """Return the error to raise where nobody can work."""
        return ArgumentError(f"The cluster {self.name} has no workers. Start some with 'dask worker host:port'.")

    def _send(self, lost: Any, missing: str = "") -> None:
        """Send the system to all workers, with a module they miss, unless another lane has done so since."""
        with self._sending:
            if self._system is not lost:
                return
            if missing:
                self._send_along(missing)
            deadline = time.monotonic() + REPLACED
            while self._system is lost:
                try:
                    self._system = self.client.scatter(self._blob, broadcast=True, hash=False)
                except TimeoutError:  # no worker at this moment
                    if time.monotonic() > deadline:
                        raise self.no_workers() from None
                    time.sleep(0.2)

    def _send_along(self, missing: str) -> None:
        """Send modules of the user's own with the system, by value."""
        import cloudpickle

        inside = {name for name in sys.modules if name == missing or name.startswith(f"{missing}.")}
        new = inside - set(cloudpickle.list_registry_pickle_by_value())
        if not new:
            raise ModelError(
                f"The workers of {self.name} have no module {missing!r}. Install it there: datamorphic worker-check tells "
                "what differs."
            )
        for name in new:
            cloudpickle.register_pickle_by_value(sys.modules[name])
        self._blob = _dumped(self._given)

    def ask(self, batches: Sequence[Batch], scores: Wanted) -> tuple[list[Answer], Known]:
        """Let some worker answer batches."""
        distributed = self._distributed
        for _ in range(MOST_TRIES):
            system = self._system
            task = self.client.submit(
                _answer, system, self._token, batches, scores, self._careful, self._timeout, pure=False
            )
            try:
                return task.result()
            except distributed.scheduler.KilledWorker:
                self._careful = True
                rows = plural(sum(map(len, batches)), "row")
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
        if self._system is not None:
            token, self._system = self._token, None
            if self.client.status == "running":
                self.client.run(_forget, token, on_error="ignore")
        if self._address is not None and self.client is not None:
            self.client.close()
            self.client = None


class _Lane(Distant):
    """One way to the workers."""

    def __init__(self, system: Executor, cluster: Cluster) -> None:
        super().__init__(system)
        self.far = not cluster.timed
        self._cluster = cluster

    def answers(self, batches: Sequence[Batch], scores: Wanted) -> list[Answer]:
        """Let some worker answer."""
        try:
            answers, known = self._cluster.ask(batches, scores)
        except SystemDied as lost:
            return [lost] * len(batches)
        known.tell(self)
        return answers


# -- on the workers -----------------------------------------------------------------------------------

_forgotten: set[str] = set()  # runs that are over
_systems: dict[tuple[str, int, bool], Executor] = {}  # one a thread: executors are used by one thread at a time


def _answer(
    blob: bytes, token: str, batches: Sequence[Batch], scores: Wanted, careful: bool, timeout: float | None
) -> tuple[list[Answer], Known]:
    """Answer batches, in a process of their own if the system may hang or take its process down."""
    key = token, threading.get_ident(), careful
    if key not in _systems:
        if token in _forgotten:
            raise SystemDied("its run is over")
        _allow_children()
        one_blas_thread()  # as Dask has it by default
        system: Executor = pickle.loads(blob)
        _systems[key] = Isolated(system, timeout) if careful or timeout is not None else system
    return answer_all(batches, scores, _systems[key])


def _forget(token: str) -> None:
    """Let go of the systems of a run, and of their processes."""
    _forgotten.add(token)
    for key in [key for key in _systems if key[0] == token]:
        system = _systems.pop(key)
        if isinstance(system, Isolated):
            system.end()


def _allow_children() -> None:
    """Let a worker have children: it is a daemon of its nanny, and ours end with it by themselves."""
    about: dict[str, Any] = getattr(multiprocessing.current_process(), "_config", {})
    about.pop("daemon", None)


def _dumped(system: Executor) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(system)
    except Exception as error:
        raise ModelError(
            f"{system.name} cannot be sent to a cluster: it must be one that can be pickled "
            f"({type(error).__name__}: {error})."
        ) from None


# -- are the workers like us? ---------------------------------------------------------------------------


def worker_check(given: Any) -> tuple[list[str], list[dict[str, str]]]:
    """Return the workers of a cluster, and what each has in another version than this machine.

    A row a difference: worker, package, here, there ("missing" where it has none).
    """
    cluster = Cluster(given)
    here = versions()

    def installed(packages: tuple[str, ...]) -> dict[str, str]:  # sent as it stands: they may have no datamorphic
        import platform
        from importlib.metadata import PackageNotFoundError, version

        found = {"python": platform.python_version()}
        for package in packages:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                found[package] = "missing"
        return found

    try:
        there = cluster.connect().run(installed, tuple(package for package in here if package != "python"))
        if not there:
            raise cluster.no_workers()
        return sorted(there), [
            {"worker": worker, "package": package, "here": here[package], "there": found[package]}
            for worker, found in sorted(there.items())
            for package in here
            if found[package] != here[package]
        ]
    finally:
        cluster.close()

"""Engines that run a system in processes or threads, and the choice of an engine by name."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from .._text import pluralise
from .._typing import EngineLike, SupportsSubmit
from .._validation import reject, validate_integer
from ..errors import ArgumentError
from ..systems.base import Executor
from ..systems.isolation import IsolatedSystem, use_one_blas_thread
from .engine_base import Engine

MAX_WORKERS = 1024  # on one machine
ENGINE_CHOICES = "None, 'serial', 'processes:2', 'threads:2', 'dask://host:8786' or a Dask client"


class ProcessEngine(Engine):
    """Runs copies of a system in processes on this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = validate_integer("workers", "an engine", workers, 1, MAX_WORKERS)
        self.name = f"processes:{workers}"

    def open_lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Start all processes at once, and return one lane per process."""
        lanes = [IsolatedSystem(system, timeout) for _ in range(self.workers)]
        self._lanes = lanes
        for lane in lanes:
            lane.start_early()
        return lanes


class ThreadEngine(Engine):
    """Runs a system in threads of this process.

    It suits systems that wait, or compute outside Python, and can be queried by several threads at once.
    """

    def __init__(self, workers: int) -> None:
        self.workers = validate_integer("workers", "an engine", workers, 1, MAX_WORKERS)
        self.name = f"threads:{workers}"

    def open_lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the system itself, once per thread."""
        if timeout is not None:
            raise ArgumentError("A thread that hangs cannot be stopped. Use engine='processes' with a time-out.")
        return [system] * self.workers


class PersistentEngine(Engine):
    """Keeps the lanes of another engine open between runs of the same systems, until `shut_down`."""

    def __init__(self, inner: Engine) -> None:
        self._inner, self.name, self.workers = inner, inner.name, inner.workers
        self._open_engines: dict[int, tuple[Executor, Engine, Sequence[Executor]]] = {}

    def open_lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the lanes to the system, the same ones in every run."""
        if id(system) not in self._open_engines:
            engine = copy.copy(self._inner)
            self._open_engines[id(system)] = system, engine, engine.open_lanes(system, timeout)
            self.workers = engine.workers
        return self._open_engines[id(system)][2]

    def close(self) -> None:
        """Keep everything open for the next run."""

    def shut_down(self) -> None:
        """End the processes of all runs."""
        for _, engine, _ in self._open_engines.values():
            engine.close()
        self._open_engines.clear()


def make_engine(spec: EngineLike | Engine, workers: int | None = None) -> Engine:
    """Return the engine that `spec` names: "serial", "processes:2", "threads:2" or "dask://host:port".

    If it gives no number of workers, `workers` does. More than one without a `spec` means processes.

    Examples
    --------
    >>> make_engine("processes:2"), make_engine(None, workers=1)
    (<engine processes:2>, <engine serial>)
    """
    if workers is not None:
        validate_integer("workers", "an engine", workers, 1)
    if isinstance(spec, Engine):
        return spec
    if spec is None:
        return ProcessEngine(workers) if workers is not None and workers > 1 else Engine()
    if type(spec).__module__.partition(".")[0] == "distributed":
        return _make_dask_engine(cast(SupportsSubmit, spec), workers)
    if not isinstance(spec, str):
        reject("engine", "a run", ENGINE_CHOICES, spec)
    if spec.startswith(("dask://", "tcp://", "tls://")):
        return _make_dask_engine(spec, workers)
    match = re.fullmatch(r"(serial|processes|threads)(?::(\d+))?", spec)
    if match is None:
        reject("engine", "a run", ENGINE_CHOICES, spec)
    kind, number = match[1], int(match[2]) if match[2] else workers
    if workers not in (None, number):
        raise ArgumentError(f"engine={spec!r} contradicts workers={workers}. Leave one of them out.")
    if kind == "serial":
        if number is not None and number != 1:
            problem = f"The serial engine has one worker, but {pluralise(number, 'worker')} were requested"
            raise ArgumentError(f"{problem}. Use processes:{number}.")
        return Engine()
    from joblib import cpu_count

    return (ProcessEngine if kind == "processes" else ThreadEngine)(cpu_count() if number is None else number)


def needs_processes(spec: EngineLike | Engine) -> bool:
    """Tell whether an engine runs systems in other processes of this machine, where they may die."""
    return isinstance(spec, ProcessEngine) or (isinstance(spec, str) and spec.startswith("processes"))


def _make_dask_engine(spec: str | SupportsSubmit, workers: int | None) -> Engine:
    from .dask_engine import DaskEngine

    if workers is not None:
        raise ArgumentError("The number of workers of a Dask cluster is fixed. Leave workers out.")
    return DaskEngine(spec)


@contextmanager
def use_lanes(engine: Engine, system: Executor, timeout: float | None) -> Iterator[Sequence[Executor]]:
    """Open the lanes of an engine for a run, and close them when it ends."""
    blas_limits = use_one_blas_thread()
    try:
        yield engine.open_lanes(system, timeout)
    finally:
        engine.close()
        blas_limits.restore_original_limits()

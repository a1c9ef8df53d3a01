"""Engines: who computes what a run asks. The same seed gives the same result on all of them.

An engine gives lanes, ways to reach the system; what is asked is cut into the same pieces whatever their number, and
nothing random happens in them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._text import pluralize
from .._validation import reject, validate_integer
from ..errors import ArgumentError
from ..systems.base import Executor
from ..systems.isolation import IsolatedSystem, use_one_blas_thread

MAX_WORKERS = 1024  # workers on one machine
ENGINE_CHOICES = "None, 'serial', 'processes:2', 'threads:2', 'dask://host:8786' or a Dask client"


class Engine:
    """One process, this one; the base of all engines.

    `lanes` is called once a run, with the system and the seconds a batch may take, and `close` at its end, whatever
    happened. A lane is used by one thread at a time.
    """

    name = "serial"
    workers = 1

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the ways to reach the system."""
        self._lanes = [system] if timeout is None else [IsolatedSystem(system, timeout)]
        return self._lanes

    _lanes: Sequence[Executor] = ()

    def close(self) -> None:
        """End the processes that belong to this run."""
        for lane in self._lanes:
            if isinstance(lane, IsolatedSystem):
                lane.shut_down()

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


class ProcessEngine(Engine):
    """Some processes on this machine, each with the system in it."""

    def __init__(self, workers: int) -> None:
        self.workers = validate_integer("workers", "engine", workers, 1, MAX_WORKERS)
        self.name = f"processes:{workers}"

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return a lane a process, all of them on their way."""
        lanes = [IsolatedSystem(system, timeout) for _ in range(self.workers)]
        self._lanes = lanes
        for lane in lanes:
            lane.start_early()
        return lanes


class ThreadEngine(Engine):
    """Some threads of this process, for systems that wait or compute outside of Python and may be asked at once."""

    def __init__(self, workers: int) -> None:
        self.workers = validate_integer("workers", "engine", workers, 1, MAX_WORKERS)
        self.name = f"threads:{workers}"

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the system, as often as there are threads."""
        if timeout is not None:
            raise ArgumentError("A thread that hangs cannot be stopped: with a time-out use engine='processes'.")
        return [system] * self.workers


class PersistentEngine(Engine):
    """An engine that stays up from one run to the next, for verbs that ask one system again and again.

    Its processes end with `end`, not with a run.
    """

    def __init__(self, inner: Engine) -> None:
        self._inner, self.name, self.workers = inner, inner.name, inner.workers
        self._open_engines: dict[int, tuple[Executor, Engine, Sequence[Executor]]] = {}

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the ways to reach the system, the same in every run."""
        if id(system) not in self._open_engines:
            engine = copy.copy(self._inner)
            self._open_engines[id(system)] = system, engine, engine.lanes(system, timeout)
            self.workers = engine.workers
        return self._open_engines[id(system)][2]

    def close(self) -> None:
        """Leave everything up for the next run."""

    def shut_down(self) -> None:
        """End the processes of all runs."""
        for _, engine, _ in self._open_engines.values():
            engine.close()
        self._open_engines.clear()


def make_engine(spec: Any, workers: int | None = None) -> Engine:
    """Return the engine that was asked for.

    Parameters
    ----------
    given : None, str, Engine or Dask client
        "serial", "processes", "threads", each but the first with ":" and a number of workers, or "dask://host:port".
    workers : int, optional
        How many, where `given` does not say; more than one alone means processes.

    Examples
    --------
    >>> engine_of("processes:2"), engine_of(None, workers=1)
    (<engine processes:2>, <engine serial>)
    """
    if workers is not None:
        validate_integer("workers", "engine", workers, 1)
    if isinstance(spec, Engine):
        return spec
    if spec is None:
        return ProcessEngine(workers) if workers is not None and workers > 1 else Engine()
    if type(spec).__module__.partition(".")[0] == "distributed":
        return _make_dask_engine(spec, workers)
    if not isinstance(spec, str):
        reject("engine", "explore", ENGINE_CHOICES, spec)
    if spec.startswith(("dask://", "tcp://", "tls://")):
        return _make_dask_engine(spec, workers)
    match = re.fullmatch(r"(serial|processes|threads)(?::(\d+))?", spec)
    if match is None:
        reject("engine", "explore", ENGINE_CHOICES, spec)
    kind, number = match[1], int(match[2]) if match[2] else None
    if number is not None and workers is not None and number != workers:
        raise ArgumentError(f"engine={spec!r} and workers={workers} say different things. Leave one of them out.")
    number = workers if number is None else number
    if kind == "serial":
        if number is not None and number != 1:
            raise ArgumentError(
                f"The serial engine is one worker; {pluralize(number, 'worker')} were asked for. Use processes:{number}."
            )
        return Engine()
    from joblib import cpu_count

    return (ProcessEngine if kind == "processes" else ThreadEngine)(cpu_count() if number is None else number)


def _make_dask_engine(spec: Any, workers: int | None) -> Engine:
    from .dask_engine import DaskEngine

    if workers is not None:
        raise ArgumentError("A cluster has the workers it has: leave workers out with a Dask engine.")
    return DaskEngine(spec)


@contextmanager
def use_lanes(engine: Engine, system: Executor, timeout: float | None) -> Iterator[Sequence[Executor]]:
    """Give the lanes of an engine to a run, and take them down at its end."""
    blas_limits = use_one_blas_thread()
    try:
        yield engine.lanes(system, timeout)
    finally:
        engine.close()
        blas_limits.restore_original_limits()

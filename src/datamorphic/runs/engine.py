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

from .._checks import plural, reject, whole_number
from ..errors import ArgumentError
from ..sut.base import Executor
from ..sut.isolated import Isolated, one_blas_thread

MOST = 1024  # workers on one machine
EXPECTED = "None, 'serial', 'processes:2', 'threads:2', 'dask://host:8786' or a Dask client"


class Engine:
    """One process, this one; the base of all engines.

    `lanes` is called once a run, with the system and the seconds a batch may take, and `close` at its end, whatever
    happened. A lane is used by one thread at a time.
    """

    name = "serial"
    workers = 1

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the ways to reach the system."""
        self._own = [system] if timeout is None else [Isolated(system, timeout)]
        return self._own

    _own: Sequence[Executor] = ()

    def close(self) -> None:
        """End the processes that belong to this run."""
        for lane in self._own:
            if isinstance(lane, Isolated):
                lane.end()

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


class Processes(Engine):
    """Some processes on this machine, each with the system in it."""

    def __init__(self, workers: int) -> None:
        self.workers = whole_number("workers", "engine", workers, 1, MOST)
        self.name = f"processes:{workers}"

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return a lane a process, all of them on their way."""
        own = [Isolated(system, timeout) for _ in range(self.workers)]
        self._own = own
        for lane in own:
            lane.begin()
        return own


class Threads(Engine):
    """Some threads of this process, for systems that wait or compute outside of Python and may be asked at once."""

    def __init__(self, workers: int) -> None:
        self.workers = whole_number("workers", "engine", workers, 1, MOST)
        self.name = f"threads:{workers}"

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the system, as often as there are threads."""
        if timeout is not None:
            raise ArgumentError("A thread that hangs cannot be stopped: with a time-out use engine='processes'.")
        return [system] * self.workers


class Staying(Engine):
    """An engine that stays up from one run to the next, for verbs that ask one system again and again.

    Its processes end with `end`, not with a run.
    """

    def __init__(self, inner: Engine) -> None:
        self._inner, self.name, self.workers = inner, inner.name, inner.workers
        self._up: dict[int, tuple[Executor, Engine, Sequence[Executor]]] = {}

    def lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the ways to reach the system, the same in every run."""
        if id(system) not in self._up:
            engine = copy.copy(self._inner)
            self._up[id(system)] = system, engine, engine.lanes(system, timeout)
            self.workers = engine.workers
        return self._up[id(system)][2]

    def close(self) -> None:
        """Leave everything up for the next run."""

    def end(self) -> None:
        """End the processes of all runs."""
        for _, engine, _ in self._up.values():
            engine.close()
        self._up.clear()


def engine_of(given: Any, workers: int | None = None) -> Engine:
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
        whole_number("workers", "engine", workers, 1)
    if isinstance(given, Engine):
        return given
    if given is None:
        return Processes(workers) if workers is not None and workers > 1 else Engine()
    if type(given).__module__.partition(".")[0] == "distributed":
        return _cluster(given, workers)
    if not isinstance(given, str):
        reject("engine", "explore", EXPECTED, given)
    if given.startswith(("dask://", "tcp://", "tls://")):
        return _cluster(given, workers)
    named = re.fullmatch(r"(serial|processes|threads)(?::(\d+))?", given)
    if named is None:
        reject("engine", "explore", EXPECTED, given)
    kind, number = named[1], int(named[2]) if named[2] else None
    if number is not None and workers is not None and number != workers:
        raise ArgumentError(f"engine={given!r} and workers={workers} say different things. Leave one of them out.")
    number = workers if number is None else number
    if kind == "serial":
        if number is not None and number != 1:
            raise ArgumentError(
                f"The serial engine is one worker; {plural(number, 'worker')} were asked for. Use processes:{number}."
            )
        return Engine()
    from joblib import cpu_count

    return (Processes if kind == "processes" else Threads)(cpu_count() if number is None else number)


def _cluster(given: Any, workers: int | None) -> Engine:
    from .cluster import Cluster

    if workers is not None:
        raise ArgumentError("A cluster has the workers it has: leave workers out with a Dask engine.")
    return Cluster(given)


@contextmanager
def running(engine: Engine, system: Executor, timeout: float | None) -> Iterator[Sequence[Executor]]:
    """Give the lanes of an engine to a run, and take them down at its end."""
    limits = one_blas_thread()
    try:
        yield engine.lanes(system, timeout)
    finally:
        engine.close()
        limits.restore_original_limits()

"""Jobs in child processes with limits on time and memory."""

from __future__ import annotations

import errno
import math
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, Self

from .._clock import read_clock
from .._validation import reject, validate_choice, validate_integer, validate_positive
from ..errors import ArgumentError, SystemDied, format_error_line
from ..systems.child_process import MAX_START_ATTEMPTS, STARTUP_TIMEOUT_SECONDS, ChildProcess
from ..systems.isolation import MAX_WAIT_SECONDS, use_one_blas_thread


@dataclass(frozen=True)
class JobSuccess:
    """The job returned a value."""

    value: Any
    state: ClassVar[str] = "done"


@dataclass(frozen=True)
class JobError:
    """The job raised an exception, including SystemExit and KeyboardInterrupt."""

    message: str
    state: ClassVar[str] = "raised"


@dataclass(frozen=True)
class JobTimeout:
    """The job took longer than allowed."""

    seconds: float
    state: ClassVar[str] = "timed out"


@dataclass(frozen=True)
class JobOutOfMemory:
    """The job needed more memory than available or allowed."""

    state: ClassVar[str] = "out of memory"


@dataclass(frozen=True)
class JobCrash:
    """The process ended with an exit code (negative for a signal; None if unknown)."""

    code: int | None
    state: ClassVar[str] = "died"


JobOutcome = JobSuccess | JobError | JobTimeout | JobOutOfMemory | JobCrash


class JobPool:
    """Calls a function with jobs in child processes, which are started when they are needed and kept for the next job.

    A child runs one job after another. It is replaced if a job hung, died, ran out of memory, left threads behind or left
    much memory allocated. When the pool is closed, all children and their descendants have ended, except those that left
    their process group. The function, the jobs and the values must be picklable by cloudpickle. Memory is limited only on
    platforms that support it (Linux).

    Examples
    --------
    >>> with JobPool(lambda n: 10 // n, seconds=60) as pool:
    ...     [pool.run(5), pool.run(0)]
    [JobSuccess(value=2), JobError(message='ZeroDivisionError: integer division or modulo by zero')]
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        *,
        seconds: float | None = None,  # a job may take; the start of a child does not count
        memory: int
        | None = None,  # bytes a job may add to the address space of its process, which is more than it uses
        output: str = "stderr",  # where the output of jobs goes, or "nothing"
        fresh: bool = False,  # each job gets a new child: slower, but changes to a library do not affect the next job
    ) -> None:
        if not callable(function):
            reject("function", "JobPool", "callable", function)
        self._seconds = None if seconds is None else validate_positive("seconds", "JobPool", seconds)
        memory = None if memory is None else validate_integer("memory", "JobPool", memory, 1)
        validate_choice("output", "JobPool", output, ("stderr", "nothing"))
        self._setup, self._fresh = (_to_pickle(function, "The function"), memory, output), fresh
        self._lanes: list[_JobLane] = []
        self._free_lanes: SimpleQueue[_JobLane] = SimpleQueue()

    def run(self, job: Any) -> JobOutcome:
        """Call the function with a job, and return the outcome; several threads may run jobs at once."""
        try:
            lane = self._free_lanes.get_nowait()
        except Empty:
            lane = _JobLane(self._setup, self._seconds, self._fresh)
            self._lanes.append(lane)
        try:
            return lane.run(job)
        finally:
            self._free_lanes.put(lane)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for lane in self._lanes:  # kill all before waiting for each
            lane.end()
        for lane in self._lanes:
            lane.close()


class _JobLane:
    """One child after another, and its current job."""

    def __init__(self, setup: tuple[Any, ...], seconds: float | None, fresh: bool) -> None:
        self._setup, self._seconds, self._fresh = setup, seconds, fresh
        self._child: ChildProcess | None = None
        self._starting, self._failed_starts, self._used = False, 0, False
        self._ended = False
        self._job: Any = None
        self._future: Future[Any] = Future()
        self._deadline = math.inf

    def run(self, job: Any) -> JobOutcome:
        """Run a job, in a new child if there is none, and return its outcome."""
        self._job = job
        (self._start if self._child is None else self._submit)()
        while (outcome := self._poll()) is None:
            seconds_left = self._deadline - read_clock()
            wait_seconds = None if seconds_left == math.inf else min(max(0.0, seconds_left), MAX_WAIT_SECONDS)
            wait([self._future], timeout=wait_seconds)
        return outcome

    def _start(self) -> None:
        self._child = ChildProcess()
        self._starting, self._used = True, False
        self._deadline = read_clock() + STARTUP_TIMEOUT_SECONDS
        self._future = self._child.start(_receive_function, *self._setup)

    def _submit(self) -> None:
        assert self._child is not None
        self._starting = False
        data = _to_pickle(self._job, "The job")
        self._deadline = math.inf if self._seconds is None else read_clock() + self._seconds
        self._future = self._child.submit(_run_job, data)

    def _poll(self) -> JobOutcome | None:
        """Return the outcome of the job if it is known by now."""
        if self._ended:
            return JobCrash(None)
        pending = not self._future.done()
        if pending and read_clock() < self._deadline:
            return None
        if self._starting:
            self._handle_start(pending)
            return None
        if pending:
            return self._finish_job(JobTimeout(self._seconds or 0.0), close=True)
        if self._future.exception() is not None:  # the process has ended
            child = self._child
            self.close()
            if not self._used:
                return self._finish_job(JobCrash(child.exit_code if child else None), close=True)
            self._start()  # an earlier job may have caused it, so try again
            return None
        outcome, spent = self._future.result()
        self._used = True
        if outcome is None:  # joblib replaced the process because of a memory leak
            self.close()
            self._start()
            return None
        if isinstance(outcome, JobSuccess):
            try:
                outcome = JobSuccess(pickle.loads(outcome.value))
            except Exception as error:
                outcome = JobError(f"its value cannot be read in another process: {format_error_line(error)}")
        return self._finish_job(outcome, close=spent or self._fresh)

    def _handle_start(self, pending: bool) -> None:
        if pending or self._future.exception() is not None:
            self.close()
            self._failed_starts += 1  # it may have been killed from outside
            if self._failed_starts == MAX_START_ATTEMPTS:
                raise SystemDied(f"No process for jobs could be started, {MAX_START_ATTEMPTS} times in a row.")
            self._start()
        elif problem := self._future.result():
            raise ArgumentError(f"The function cannot be loaded in another process: {problem}.")
        else:
            self._failed_starts = 0
            self._submit()

    def _finish_job(self, outcome: JobOutcome, close: bool) -> JobOutcome:
        self._job = None
        if close:
            self.close()
        return outcome

    def end(self) -> None:
        """Kill the child and its descendants, and start no other."""
        self._ended = True
        self._kill()

    def _kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    def close(self) -> None:
        """End the child."""
        self._kill()
        child, self._child = self._child, None
        if child is not None:
            child.close()


def _to_pickle(value: object, description: str) -> bytes:
    # the cloudpickle inside joblib, which is always installed
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    try:
        return dumps(value)
    except Exception as error:
        raise ArgumentError(
            f"{description} cannot be sent to another process: it cannot be pickled ({format_error_line(error)})."
        ) from None


# -- in the child ----------------------------------------------------------------------------------------------

_function: Callable[[Any], Any] | None = None
_memory: int | None = None
_usual: int | None = None  # bytes of address space after the first job


def _receive_function(function: bytes, memory: int | None, output: str) -> str:
    """Load the function in the child; return an error message or an empty text."""
    global _function, _memory
    _memory = memory
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, 0)
    if output == "nothing":
        os.dup2(null_device, 2)
    os.dup2(2, 1)
    try:
        _function = pickle.loads(function)
    except Exception as error:
        return format_error_line(error)
    use_one_blas_thread()
    return ""


def _run_job(job: bytes) -> tuple[JobOutcome | None, bool]:
    """Run a job; return its outcome, and whether to replace the process."""
    global _usual
    if _function is None:
        return None, True
    thread_count = threading.active_count()
    try:
        with _limit_memory():
            value = _to_pickle(_function(pickle.loads(job)), "The value")
        outcome: JobOutcome = JobSuccess(value)
    except BaseException as error:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return JobOutOfMemory(), True
        outcome = JobError(type(error).__name__)
        with suppress(BaseException):  # its __str__ is foreign code
            outcome = JobError(format_error_line(error))
    size = _read_address_space()
    _usual = _usual or size
    grown = bool(size and _usual and _memory and size > _usual + _memory)
    return outcome, grown or threading.active_count() > thread_count


@contextmanager
def _limit_memory() -> Iterator[None]:
    """Limit the growth of the process, if the platform reports its size."""
    size = _read_address_space()
    if _memory is None or size is None:
        yield
        return
    import resource

    old_limits = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (*old_limits, size + _memory) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), old_limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old_limits)


def _read_address_space() -> int | None:
    """Return the address space of this process in bytes; None if unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm_file:
            return int(statm_file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None

"""The one loop that answers a flow: it counts, caches, guards, records and shows progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import numpy as np

from .._clock import read_clock
from .._estimates import WorkPace
from .._lazy import pd
from .._typing import EngineLike
from .._validation import reject
from ..errors import BudgetSpent, Interrupted
from ..space.outputs import Outputs, Status
from ..space.points import Batch
from ..systems.base import Executor
from ..systems.cache import CachingSystem, CountingSystem
from ..systems.guard import GuardedSystem, Health
from .engines import make_engine, use_lanes
from .flow import UNLIMITED, Budget, Flow, Query
from .interrupts import Interrupts
from .progress import Progress

if TYPE_CHECKING:
    from .journal import RunJournal

Result = TypeVar("Result")

MAX_INCIDENT_ROWS = 1000  # stored with input and message; all are counted
MAX_OVERTIME_SHARE = 0.2  # of a budget of time, for a query that was begun in time
MIN_OVERTIME_SECONDS, MAX_OVERTIME_SECONDS = 0.1, 1.0


@dataclass
class CallCounter:
    """What a run cost and what happened to it."""

    runs: int = 0  # test cases the strategy asked for
    calls: int = 0  # rows the system computed for them; cached rows do not count
    seconds: float = 0.0
    workers: int = 1
    max_batches: int = 0  # in the largest query: so many workers could be busy
    exhausted: bool = False  # the budget, or the user, ended the run
    interrupted: bool = False  # the user ended the run
    timeout: float | None = None  # seconds that a batch may take; later queries of the same system respect it
    #: of the cases that failed in earlier runs and were tried first, how many still fail and how many do not
    retried_failures: tuple[int, int] | None = None
    health: Health = field(default_factory=Health)
    _incidents: list[tuple[Batch, Outputs]] = field(default_factory=list)

    @property
    def all_calls(self) -> int:
        """The rows that the system computed, with those that were queried again."""
        return self.calls + self.health.repeated_rows

    @property
    def has_incidents(self) -> bool:
        """Whether any row has no proper answer."""
        return bool(self._incidents)

    @property
    def incidents(self) -> pd.DataFrame:
        """The rows without a proper answer: input, ``status``, ``message`` (first 1000)."""
        parts = []
        for batch, outputs in self._incidents:
            status, message = (f"{name}_" if name in batch.frame else name for name in ("status", "message"))
            names = [Status(number).name for number in outputs.status]
            messages = [outputs.messages.get(i, "") for i in range(len(outputs))]
            parts.append(batch.frame.assign(**{status: names, message: messages}))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["status", "message"])

    def add(self, other: CallCounter) -> None:
        """Add what another part of the same run cost."""
        self.runs += other.runs
        self.calls += other.calls
        self.seconds += other.seconds
        self.workers, self.max_batches = other.workers, max(self.max_batches, other.max_batches)
        self.exhausted |= other.exhausted
        self.interrupted |= other.interrupted
        self.health.add(other.health)
        room = MAX_INCIDENT_ROWS - sum(len(incident) for _, incident in self._incidents)
        self._incidents += other._incidents if room > 0 else []

    def add_query(self, query: Query, outputs: Outputs) -> None:
        """Count a query and store the rows without a proper answer."""
        self.runs += query.cost
        failed_rows = np.flatnonzero(outputs.status)
        room = MAX_INCIDENT_ROWS - sum(len(incident) for _, incident in self._incidents)
        if failed_rows.size and room > 0:
            self._incidents.append((query.batch.take(failed_rows[:room]), outputs.take(failed_rows[:room])))


_JOURNAL: ContextVar[RunJournal | None] = ContextVar("journal", default=None)


@contextmanager
def use_journal(journal: RunJournal | None) -> Iterator[None]:
    """Store the answers to all queries in the block, whoever makes them; None for none."""
    token = _JOURNAL.set(journal)
    try:
        yield
    finally:
        _JOURNAL.reset(token)


def drive(
    flow: Flow[Result],
    executor: Executor,
    *,
    budget: Budget | str | float | None = None,
    tally: CallCounter | None = None,  # gets the cost of the run
    progress: bool | None = None,  # whether to show it on stderr; by default if that is a terminal
    engine: EngineLike = None,  # where the system runs: see `make_engine`
    journal: RunJournal | None = None,  # where answers are stored, and read from by a resumed run: see `use_journal`
    timeout: float | None = None,  # seconds a batch may take; the system then runs in a process that can be killed
    batch: int | None = None,  # rows the system is queried with at once; by default what it prefers
    # different rows to remember, so that none is queried twice; None for no cache; or the memory of the system to use
    cache: int | CachingSystem | None = 1_000_000,
    recheck: int = 16,  # rows that are queried again from time to time to see whether answers repeat
    alive: bool = False,  # whether the system is known to answer, so that it never counts as failed
    on_query: Callable[[Query], None] | None = None,  # called with each query before it is answered
    on_piece: Callable[[int, Outputs], None] | None = None,  # called with each answered piece of a query
    pace: WorkPace | None = None,  # refuses what would take too long, unless the time is limited
) -> Result:
    """Answer a flow until it ends, and return its result.

    The number of runs in the budget is never exceeded. The time counts from here on. It is checked between queries, in a long
    query between the batches in which it is sent, and before a system that died or hung is started again. When the budget
    is spent, `OutOfBudget` is thrown into the flow, which may return what it has. Otherwise it is raised here.

    For one batch size, the same seed gives the same result on all engines. Models do not give bitwise equal answers in
    batches of another size.
    """
    journal = journal or _JOURNAL.get()
    if not isinstance(executor, Executor):
        reject("executor", "drive", "a system as dm.wrap gives it", executor)
    counter = tally if tally is not None else CallCounter()
    limits = RunLimits(Budget.parse(budget), counter, journal, pace)
    with (
        Interrupts() as limits.interrupts,
        use_lanes(active_engine := make_engine(engine), executor, timeout) as lanes,
        Progress(executor.name, progress) as progress_display,
    ):
        guard = GuardedSystem(
            executor,
            recheck,
            alive=alive,
            rows=batch,
            lanes=lanes,
            journal=journal,
            is_stopped=limits.is_stopped,
            on_piece=on_piece,
        )
        counting_system = CountingSystem(guard)
        cached_system = _place_cache(cache, executor, counting_system)
        counter.health, counter.workers, counter.timeout = guard.health, active_engine.workers, timeout
        try:
            next_query = next(flow)
            while True:
                query = next_query if isinstance(next_query, Query) else Query(next_query)
                if limits.are_spent(counter.runs + query.cost):
                    _end_flow(flow, counter)
                try:
                    limits.raise_if_interrupted()
                    if on_query is not None:
                        on_query(query)
                    target_system = counting_system if query.fresh else cached_system
                    outputs = target_system.execute(query.batch, scores=query.scores)
                except (KeyboardInterrupt, Interrupted) as error:
                    limits.stop_flow(flow, error)
                    raise
                counter.add_query(query, outputs)
                counter.calls, counter.max_batches = counting_system.calls, guard.max_pieces
                limits.check_pace(query.progress)
                if journal is not None:
                    journal.note_progress(done=query.progress, runs=counter.runs, calls=counter.calls)
                note = query.note or "asking"
                progress_display.show(f"{note}  {counter.runs:,} runs, {counter.calls:,} calls", query.progress)
                next_query = flow.send(outputs)
        except StopIteration as stop:
            return stop.value
        finally:
            guard.close()
            if journal is not None:
                journal.write()
            # after the last write: the store keeps the largest duration, which must be that of the result
            counter.seconds = limits.measure_seconds()
            flow.close()


def _place_cache(cache: int | CachingSystem | None, executor: Executor, system: Executor) -> Executor:
    """Return a wrapped system behind a cache: a new one, or the one that its executor has already."""
    if isinstance(cache, CachingSystem):
        return cache.place_before(system) if cache.inner is executor else CachingSystem(system)
    return CachingSystem(system, cache) if cache else system


def _end_flow(flow: Flow[Result], counter: CallCounter, chances: int = 2) -> NoReturn:
    """Let a flow return what it has, since its budget is spent; one that queries again gets another chance."""
    counter.exhausted = True
    for _ in range(chances):
        flow.throw(BudgetSpent(f"the budget is spent after {counter.runs:,} runs"))
    raise BudgetSpent(f"{flow!r} keeps querying after its budget is spent") from None


class RunLimits:
    """What ends a run before its flow does: the budget, Ctrl-C, or work that would take too long."""

    def __init__(self, budget: Budget, counter: CallCounter, journal: RunJournal | None, pace: WorkPace | None) -> None:
        self._budget, self._counter, self._journal = budget, counter, journal
        self._pace = pace if budget.seconds is None else None
        self.interrupts = Interrupts()  # or those of a run around this one
        self._started_at = self._read_seconds()

    def _read_seconds(self) -> float:
        return read_clock() if self._journal is None else self._journal.seconds

    def measure_seconds(self) -> float:
        """Return the duration of the run so far."""
        return self._read_seconds() - self._started_at

    def are_spent(self, runs: int) -> bool:
        """Return whether the budget does not allow so many runs."""
        if self._budget.is_exceeded(runs, 0.0):
            return True
        if self._budget.seconds is None:
            return False
        return self._is_time_spent() if self._journal is None else self._journal.recall(self._is_time_spent)

    def _is_time_spent(self) -> bool:
        return self._budget.is_exceeded(0, self.measure_seconds())

    def check_pace(self, share: float | None) -> None:
        """Raise `ArgumentError` if the whole run would take too long, by the share that is done."""
        if self._pace is not None:
            runs = self._budget.runs
            self._pace.note(max(share or 0.0, self._counter.runs / runs if runs else 0.0))

    def is_stopped(self) -> bool:
        """Return whether to end a query that was begun."""
        self.check_pace(None)  # one query of a slow system may take hours
        return self.interrupts.is_stopped() or self._is_overdue()

    def _is_overdue(self) -> bool:
        if self._journal is not None and self._journal.is_cut_off:
            return True  # as it was before the run was resumed
        seconds = self._budget.seconds
        if seconds is None:
            return False
        overtime = min(max(MIN_OVERTIME_SECONDS, MAX_OVERTIME_SHARE * seconds), MAX_OVERTIME_SECONDS)
        return self.measure_seconds() > seconds + overtime

    def raise_if_interrupted(self) -> None:
        """Raise `Interrupted` after Ctrl-C."""
        if self.interrupts.is_stopped():
            raise Interrupted("interrupted")

    def stop_flow(self, flow: Flow[Any], error: BaseException) -> None:
        """Let a flow return what it has found, after a query was ended by Ctrl-C or because it took too long."""
        self._counter.exhausted = True
        if isinstance(error, Interrupted) and not self.interrupts.is_stopped():
            if self._journal is not None:
                self._journal.give_up_query()
            _end_flow(flow, self._counter, chances=1)
        self._counter.interrupted = True
        if self.interrupts.count <= 1:
            flow.throw(Interrupted("interrupted"))


class FlowDriver(Protocol):
    """What answers flows: `Driver.drive`, or that of a capability that is executed."""

    def __call__(self, flow: Flow[Result], system: Executor, /, **details: Any) -> Result:
        """Answer a flow by a system; `details` are further options of `drive`."""


@dataclass
class Driver:
    """Answers flows one after the other: with the same settings, within one budget, and with one count of their cost."""

    settings: Mapping[str, Any] = field(default_factory=dict)  # options of `drive`
    budget: Budget = field(default_factory=Budget)
    counter: CallCounter = field(default_factory=CallCounter)

    def drive(
        self,
        flow: Flow[Result],
        system: Executor,
        /,
        *,
        tally: CallCounter | None = None,
        limits: Budget = UNLIMITED,
        **details: Any,
    ) -> Result:
        """Answer a flow by a system; `tally` gets its cost, and `limits` limit it further. `details` are options of `drive`."""
        counter = CallCounter() if tally is None else tally  # a drive overwrites the figures of its counter
        budget = self.budget.subtract(self.counter.runs, self.counter.seconds).narrow(limits)
        settings: dict[str, Any] = {"budget": budget, **self.settings, **details}
        try:
            return drive(flow, system, tally=counter, **settings)
        finally:
            self.counter.add(counter)

"""The one loop that answers a flow: counting, caching, guarding, recording, progress, budgets."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from .._validation import reject
from ..errors import Interrupted, OutOfBudget
from ..space.outputs import Outputs, Status
from ..space.points import Batch
from ..systems.base import Executor
from ..systems.cache import CachingSystem, CountingSystem
from ..systems.guard import GuardedSystem, Health
from .engines import make_engine, use_lanes
from .flow import Budget, Flow, Query
from .interrupts import Interrupts
from .progress import Progress

if TYPE_CHECKING:
    import pandas as pd

    from .journal import RunJournal

Result = TypeVar("Result")

MAX_INCIDENT_ROWS = 1000  # rows kept with their input and message; all are counted


class Recorder(Protocol):
    """Told of every answered question, in order, before the flow is."""

    def record(self, query: Query, outputs: Outputs) -> None:
        """Keep what was asked and answered."""
        ...


@dataclass
class CallCounter:
    """What a run cost and what befell it.

    Attributes
    ----------
    runs : int
        Test cases the strategy asked for.
    calls : int
        Rows the system computed for them, after the cache.
    seconds : float
        How long it took.
    workers, most_batches : int
        How many could compute at once, and into how many batches the largest question was cut: so many had work.
    exhausted, interrupted : bool
        Whether the budget, or the user, ended it.
    tried : tuple of int, optional
        How many cases that failed in earlier runs were tried first and fail still, and how many do no longer.
    health : Health
        What the guard noticed.
    """

    runs: int = 0
    calls: int = 0
    seconds: float = 0.0
    workers: int = 1
    max_batches: int = 0
    exhausted: bool = False
    interrupted: bool = False
    retried_failures: tuple[int, int] | None = None
    health: Health = field(default_factory=Health)
    _incidents: list[tuple[Batch, Outputs]] = field(default_factory=list)

    @property
    def incidents(self) -> pd.DataFrame:
        """The rows without a proper answer: their input, ``status`` and ``message`` (the first thousand)."""
        import pandas as pd

        parts = []
        for batch, outputs in self._incidents:
            frame = batch.frame.copy()
            extra_columns = {
                "status": [Status(s).name for s in outputs.status],
                "message": [outputs.messages.get(i, "") for i in range(len(outputs))],
            }
            for name, values in extra_columns.items():
                frame[f"{name}_" if name in batch.frame else name] = values  # a feature keeps its name
            parts.append(frame)
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["status", "message"])

    def add_query(self, query: Query, outputs: Outputs) -> None:
        """Count a question and keep the rows that have no proper answer."""
        self.runs += query.cost
        failed_rows = np.flatnonzero(outputs.status)
        room = MAX_INCIDENT_ROWS - sum(len(incident) for _, incident in self._incidents)
        if failed_rows.size and room > 0:
            self._incidents.append((query.batch.take(failed_rows[:room]), outputs.take(failed_rows[:room])))


def drive(
    flow: Flow[Result],
    executor: Executor,
    *,
    recorder: Recorder | None = None,
    budget: Budget | str | float | None = None,
    tally: CallCounter | None = None,
    progress: bool | None = None,
    engine: Any = None,
    journal: RunJournal | None = None,
    timeout: float | None = None,
    batch: int | None = None,
    cache: int | None = 1_000_000,
    recheck: int = 16,
    alive: bool = False,
) -> Result:
    """Answer a flow until it returns, and return its result.

    Parameters
    ----------
    flow : Flow
        The strategy at work.
    executor : Executor
        The system under test, as `wrap` gives it.
    recorder : Recorder, optional
        Told of every question and its answer.
    budget : Budget, str or int, optional
        ``"1m"``, ``"10000 runs"``. Never exceeded in runs; a time is looked at between questions. When it is
        spent, `OutOfBudget` is thrown into the flow, which may return what it has; else it is raised here.
    tally : Tally, optional
        Filled with what the run cost.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.
    engine : optional
        Who computes: see `engine_of`.
    journal : RunJournal, optional
        Where answers are kept, and come from if the run goes on with one that was killed.
    timeout : float, optional
        Seconds a batch may take; the system then runs in a process that can be stopped.
    batch : int, optional
        Rows that the system is asked at once; by default what it likes. The same seed gives the same result on
        all engines for one size of batch: models are not bitwise the same in batches of another.
    cache : int, optional
        Different rows that are remembered, so that none of them is asked twice; None for no memory.
    recheck : int
        Rows that are asked a second time now and then, to see whether answers repeat.
    alive : bool
        Whether the system is known to answer; else it counts as failed when it answers nothing for long.
    """
    limit = Budget.parse(budget)
    if not isinstance(executor, Executor):
        reject("executor", "drive", "a system as dm.wrap gives it", executor)
    tally = tally if tally is not None else CallCounter()
    started_at = time.monotonic()

    def measure_seconds() -> float:
        return journal.seconds if journal is not None else time.monotonic() - started_at

    with (
        Interrupts() as interrupts,
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
            is_stopped=lambda: interrupts.stopped,
        )
        counting_system = CountingSystem(guard)
        cached_system = CachingSystem(counting_system, cache) if cache else counting_system
        tally.health, tally.workers = guard.health, active_engine.workers
        try:
            next_query = next(flow)
            while True:
                query = next_query if isinstance(next_query, Query) else Query(next_query)
                # what is only told again costs nothing, however long it took the first time
                is_replaying = journal is not None and journal.replaying
                if _is_budget_spent(limit, tally.runs + query.cost, 0.0 if is_replaying else measure_seconds()):
                    tally.exhausted = True
                    next_query = flow.throw(OutOfBudget(f"the budget is spent after {tally.runs:,} runs"))
                    # A flow that asks again has not understood: it gets the same answer, and then ours.
                    flow.throw(OutOfBudget("the budget is spent"))
                    raise OutOfBudget(f"{flow!r} goes on asking after its budget is spent")
                target_system = counting_system if query.fresh else cached_system
                try:
                    if interrupts.stopped:
                        raise Interrupted("interrupted")
                    outputs = target_system.execute(query.batch, scores=query.scores)
                except (KeyboardInterrupt, Interrupted):  # whoever is impatient gets what was found so far
                    tally.exhausted = tally.interrupted = True
                    if interrupts.count > 1:
                        raise
                    flow.throw(Interrupted("interrupted"))
                    raise
                tally.add_query(query, outputs)
                tally.calls, tally.max_batches = counting_system.calls, guard.max_pieces
                if recorder is not None:
                    recorder.record(query, outputs)
                if journal is not None:
                    journal.progress(done=query.progress, runs=tally.runs, calls=tally.calls)
                note = query.note or "asking"
                progress_display.show(f"{note}  {tally.runs:,} runs, {tally.calls:,} calls", query.progress)
                next_query = flow.send(outputs)
        except StopIteration as stop:
            return stop.value
        finally:
            tally.seconds = measure_seconds()
            guard.close()
            if journal is not None:
                journal.write()
            flow.close()


def _is_budget_spent(limit: Budget, runs: int, seconds: float) -> bool:
    return (limit.runs is not None and runs > limit.runs) or (
        limit.seconds is not None and seconds > limit.seconds
    )

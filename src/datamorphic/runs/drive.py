"""The one loop that answers a flow: counting, caching, guarding, recording, progress, budgets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from .._checks import reject
from ..errors import OutOfBudget
from ..outputs import Outputs, Status
from ..space.points import Batch
from ..strategies.flow import Budget, Flow, Question
from ..sut.base import Executor
from ..sut.isolated import Isolated
from ..sut.wrappers import Cached, Chunked, Counted, Guarded, Health
from .progress import Progress

if TYPE_CHECKING:
    import pandas as pd

Result = TypeVar("Result")

MOST_INCIDENTS = 1000  # rows kept with their input and message; all are counted


class Recorder(Protocol):
    """Told of every answered question, in order, before the flow is."""

    def record(self, question: Question, outputs: Outputs) -> None:
        """Keep what was asked and answered."""
        ...


@dataclass
class Tally:
    """What a run cost and what befell it.

    Attributes
    ----------
    runs : int
        Test cases the strategy asked for.
    calls : int
        Rows the system computed for them, after the cache.
    seconds : float
        How long it took.
    exhausted, interrupted : bool
        Whether the budget, or the user, ended it.
    health : Health
        What the guard noticed.
    """

    runs: int = 0
    calls: int = 0
    seconds: float = 0.0
    exhausted: bool = False
    interrupted: bool = False
    health: Health = field(default_factory=Health)
    _incidents: list[tuple[Batch, Outputs]] = field(default_factory=list)

    @property
    def incidents(self) -> pd.DataFrame:
        """The rows without a proper answer: their input, ``status`` and ``message`` (the first thousand)."""
        import pandas as pd

        parts = []
        for batch, outputs in self._incidents:
            frame = batch.frame.copy()
            what = {
                "status": [Status(s).name for s in outputs.status],
                "message": [outputs.messages.get(i, "") for i in range(len(outputs))],
            }
            for name, values in what.items():
                frame[f"{name}_" if name in batch.frame else name] = values  # a feature keeps its name
            parts.append(frame)
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["status", "message"])

    def note(self, question: Question, outputs: Outputs) -> None:
        """Count a question and keep the rows that have no proper answer."""
        self.runs += question.cost
        bad = np.flatnonzero(outputs.status)
        room = MOST_INCIDENTS - sum(len(kept) for _, kept in self._incidents)
        if bad.size and room > 0:
            self._incidents.append((question.batch.take(bad[:room]), outputs.take(bad[:room])))


@contextmanager
def guarded(
    executor: Executor,
    *,
    timeout: float | None = None,
    cache: int | None = 1_000_000,
    chunk: int = 100_000,
    recheck: int = 16,
) -> Iterator[tuple[Executor, Counted, Guarded]]:
    """Put the usual wrappers around a system and take its child process down at the end."""
    isolated = Isolated(executor, timeout) if timeout is not None else None
    guard = Guarded(isolated or executor, recheck)
    counted = Counted(Chunked(guard, chunk))
    try:
        yield (Cached(counted, cache) if cache else counted), counted, guard
    finally:
        if isolated is not None:
            isolated.close()


def drive(
    flow: Flow[Result],
    executor: Executor,
    *,
    recorder: Recorder | None = None,
    budget: Budget | str | float | None = None,
    tally: Tally | None = None,
    progress: bool | None = None,
    **options: Any,
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
    **options
        ``timeout`` in seconds, ``cache`` and ``chunk`` in rows, ``recheck`` in rows: see `guarded`.
    """
    limit = Budget.parse(budget)
    if not isinstance(executor, Executor):
        reject("executor", "drive", "a system as dm.wrap gives it", executor)
    tally = tally if tally is not None else Tally()
    began = time.monotonic()
    with guarded(executor, **options) as (ready, counted, guard), Progress(executor.name, progress) as shown:
        tally.health = guard.health
        try:
            asked = next(flow)
            while True:
                question = asked if isinstance(asked, Question) else Question(asked)
                if _spent(limit, tally.runs + question.cost, time.monotonic() - began):
                    tally.exhausted = True
                    asked = flow.throw(OutOfBudget(f"the budget is spent after {tally.runs:,} runs"))
                    # A flow that asks again has not understood: it gets the same answer, and then ours.
                    flow.throw(OutOfBudget("the budget is spent"))
                    raise OutOfBudget(f"{flow!r} goes on asking after its budget is spent")
                asks = counted if question.fresh else ready
                try:
                    outputs = asks.execute(question.batch, scores=question.scores)
                except KeyboardInterrupt:  # whoever is impatient gets what was found so far
                    tally.exhausted = tally.interrupted = True
                    flow.throw(OutOfBudget("interrupted"))
                    raise
                tally.note(question, outputs)
                tally.calls = counted.calls
                if recorder is not None:
                    recorder.record(question, outputs)
                note = question.note or "asking"
                shown.show(f"{note}  {tally.runs:,} runs, {tally.calls:,} calls", question.done)
                asked = flow.send(outputs)
        except StopIteration as stop:
            return stop.value
        finally:
            tally.seconds = time.monotonic() - began
            flow.close()


def _spent(limit: Budget, runs: int, seconds: float) -> bool:
    return (limit.runs is not None and runs > limit.runs) or (
        limit.seconds is not None and seconds > limit.seconds
    )

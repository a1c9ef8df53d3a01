"""What a check-up was given, what it knows of it, and how much it may still cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..morphisms.subject import SubjectUnderTest
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget, Query
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from .expectations import Expectations

if TYPE_CHECKING:
    from ..exploration.front import Front

REPORT_BUDGET_SHARE = 0.06  # of the budget that is left for putting the page together
MIN_SECONDS_TO_START = 0.01  # seconds, or a run: with less left nothing is begun
SLOW_CALL_SECONDS = 0.3  # seconds a call may take while the pace is measured
MAX_QUERY_SECONDS = 1.0  # seconds that one question should take at most
MAX_ROWS_PER_QUERY = 5_000  # rows a question


class BudgetClock:
    """Hands out what is left of a budget.

    Parameters
    ----------
    budget : Budget
        What everything together may cost.
    began : float, optional
        When it began, on the monotonic clock: what was loaded before counts too.
    """

    def __init__(self, budget: Budget, start_time: float | None = None) -> None:
        self.budget, self.start_time = budget, time.monotonic() if start_time is None else start_time
        self.runs = 0

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self.start_time

    def share(self, part: float) -> Budget:
        """Return a part of what is left."""
        seconds = runs = None
        if self.budget.seconds is not None:
            seconds = max(0.0, (1 - REPORT_BUDGET_SHARE) * self.budget.seconds - self.seconds) * part
        if self.budget.runs is not None:
            runs = int(max(0, self.budget.runs - self.runs) * part)
        return Budget(runs, seconds)

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        remaining = self.share(1.0)
        return (remaining.seconds is not None and remaining.seconds < MIN_SECONDS_TO_START) or (
            remaining.runs is not None and remaining.runs < 1
        )


@dataclass
class Pace:
    """How fast a system answers.

    Attributes
    ----------
    call : float
        Seconds that a call takes, however many rows it has.
    row : float
        Seconds that each row takes on top.
    """

    seconds_per_call: float = 0.0
    seconds_per_row: float = 0.0


@dataclass
class CheckContext:
    """What is tested, with what, and what is known of it so far.

    Attributes
    ----------
    subject : Subject
        The system, its moves, and the inputs.
    kind : str
        What it was taken for, in words.
    learner : object or None
        An estimator that can be cloned and fitted anew; None if there is none.
    truth : ndarray or None
        The labels of the inputs, where the data have them.
    promises : Promises
        What the user declared.
    baseline : Front or None
        The border of an earlier version.
    seed : int
        Where randomness starts.
    clock : Clock
        What it may still cost.
    driving : dict
        Options of `drive`: engine, time-out, batch.
    asked, answers : Points, Outputs or None
        The inputs that were asked, and the answers, once they were.
    data_given : bool
        Whether the inputs are the user's own, and not drawn.
    unstable : bool
        Whether the same case was seen to get different answers.
    shaky : bool
        Whether answers depend on what else is asked, or on chance.
    labels_seen : set
        Every answer that was met.
    front : Front or None
        The border, once it was explored.
    remarks : list of str
        What was odd about the batches it was asked.
    remembered : dict
        Cases that broke a promise in earlier tests, by the name of the check: they are tried first.
    """

    subject: SubjectUnderTest
    kind: str
    expectations: Expectations
    clock: BudgetClock
    learner: Any = None
    truth: npt.NDArray[Any] | None = None
    baseline: Front | None = None
    seed: int = 0
    drive_options: dict[str, Any] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    queries: Points | None = None
    answers: Outputs | None = None
    has_data: bool = True
    unstable: bool = False
    query_dependent: bool = False
    label_counts: dict[Any, int] = field(default_factory=dict)
    front: Front | None = None
    remarks: list[str] = field(default_factory=list)
    known_failures: dict[str, Points] = field(default_factory=dict)

    @property
    def sut(self) -> Executor:
        """The system under test."""
        return self.subject.sut

    @property
    def inputs(self) -> Points:
        """The inputs that were given, or made."""
        return self.subject.seeds

    @property
    def space(self) -> Space:
        """The space of the inputs."""
        return self.inputs.space

    def sample_inputs(self, limit: int) -> Points:
        """Return some of the inputs, always the same for a seed; more of them begin with those that fewer are."""
        if len(self.inputs) <= limit:
            return self.inputs
        return self.inputs.take(np.random.default_rng(self.seed).permutation(len(self.inputs))[:limit])

    def count_labels(self, outputs: Outputs) -> None:
        """Count the answers that were met."""
        ok = outputs.ok
        if self.subject.has_numeric_answers or (self.sut.labels is None and outputs.values.dtype.kind == "f"):
            return  # numbers are no classes
        try:
            values, counts = np.unique(outputs.values[ok], return_counts=True)
            pairs = zip(values.tolist(), counts.tolist(), strict=True)
        except TypeError:  # labels of several types
            pairs = ((value, 1) for value in outputs.values[ok].tolist())  # type: ignore[assignment]
        for value, count in pairs:
            self.label_counts[value] = self.label_counts.get(value, 0) + count

    def measure_pace(self) -> None:
        """Ask a row, then more and more, until a call takes a while: how fast is the system?

        A first row is not timed: many systems have something to get ready.
        """
        seconds_by_rows: dict[int, float] = {}
        for round_, rows in enumerate((1, 1, 3, 24, 192, 512)):
            start_time = time.monotonic()
            points = self.sample_inputs(rows)
            counter = CallCounter()
            drive(_query_fresh(points), self.sut, tally=counter, **self.build_quiet_options())
            self.clock.runs += counter.runs
            seconds_by_rows[len(points)] = time.monotonic() - start_time
            slow = round_ > 1 and seconds_by_rows[len(points)] > SLOW_CALL_SECONDS
            if slow or self.clock.spent or (round_ and len(points) < rows):
                break
        most_rows = max(seconds_by_rows)
        self.pace.seconds_per_row = (
            max(0.0, seconds_by_rows[most_rows] - seconds_by_rows[1]) / (most_rows - 1)
            if most_rows > 1
            else seconds_by_rows[1]
        )
        self.pace.seconds_per_call = max(0.0, seconds_by_rows[1] - self.pace.seconds_per_row)

    def count_affordable(self, budget: Budget, limit: int, runs_per_case: float = 1.0, calls: float = 1.0) -> int:
        """Return how many cases can be asked, each so many times and in so many calls, `most` at most.

        Less than that is a round number, so that the same is asked again although no clock runs the same way twice.
        """
        limits = [float(limit)]
        if budget.seconds is not None:
            limits.append(
                (budget.seconds - calls * self.pace.seconds_per_call)
                / max(runs_per_case * self.pace.seconds_per_row, 1e-9)
            )
        if budget.runs is not None:
            limits.append(budget.runs / runs_per_case)
        if min(limits) < 1:
            raise OutOfBudget("not a single case can be asked")
        return limit if min(limits) >= limit else _round_down(min(limits))

    def compute_query_rows(self) -> int:
        """Return how many rows to ask at a time: between two questions the budget is looked at."""
        return int(np.clip(MAX_QUERY_SECONDS / max(self.pace.seconds_per_row, 1e-9), 1, MAX_ROWS_PER_QUERY))

    def build_quiet_options(self) -> dict[str, Any]:
        """Return the options of `drive` for a short question."""
        return {"progress": False, "recheck": 0, "alive": True, **self.drive_options}


def _round_down(number: float) -> int:
    """Return the largest of 1, 2, 5, 10, 20, 50, ... that is no larger.

    Examples
    --------
    >>> _round_down(7.3), _round_down(999), _round_down(2_000)
    (5, 500, 2000)
    """
    power = 10 ** int(np.floor(np.log10(number)))
    return int(power * max(digit for digit in (1, 2, 5) if digit * power <= number))


def _query_fresh(points: Points) -> Any:
    return (yield Query(points, fresh=True))

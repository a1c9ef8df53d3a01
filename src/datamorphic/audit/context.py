"""`CheckContext`: the model, the data and what the checks know so far, and the budget."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..morphisms.subject import SubjectUnderTest
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget, ask
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from .expectations import Expectations

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ..exploration.front import Front

REPORT_BUDGET_SHARE = 0.06  # reserved for building the page
MIN_SECONDS_TO_START = 0.01  # with less left, no check starts
SLOW_CALL_SECONDS = 0.3  # ends the measurement of the pace
PACE_ROWS = (1, 1, 3, 24, 192, 512)  # of the calls that measure the pace; the first is not counted


class BudgetClock:
    """The time and the runs that are left of the budget of an audit, whose start may be in the past."""

    def __init__(self, budget: Budget, start_time: float | None = None) -> None:
        self.budget, self.start_time = budget, time.monotonic() if start_time is None else start_time
        self.runs = 0

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self.start_time

    def share(self, part: float) -> Budget:
        """Return a part of what is left of the budget."""
        seconds = runs = None
        if self.budget.seconds is not None:
            seconds = max(0.0, (1 - REPORT_BUDGET_SHARE) * self.budget.seconds - self.seconds) * part
        if self.budget.runs is not None:
            runs = int(max(0, self.budget.runs - self.runs) * part)
        return Budget(runs, seconds)

    @property
    def spent(self) -> bool:
        """Whether the budget is used up."""
        remaining = self.share(1.0)
        return (remaining.seconds is not None and remaining.seconds < MIN_SECONDS_TO_START) or (
            remaining.runs is not None and remaining.runs < 1
        )


@dataclass
class Pace:
    """The speed of a system."""

    seconds_per_call: float = 0.0  # without its rows
    seconds_per_row: float = 0.0


@dataclass(kw_only=True)
class CheckContext:
    """The model under test, the data, and what is known so far."""

    subject: SubjectUnderTest
    expectations: Expectations
    clock: BudgetClock
    learner: BaseEstimator | None = None  # can be cloned and fitted
    truth: npt.NDArray[Any] | None = None  # the labels of the inputs, if the data have them
    baseline: Front | None = None  # the border of an earlier version
    seed: int = 0
    drive_options: dict[str, Any] = field(default_factory=dict)  # engine, timeout, batch
    pace: Pace = field(default_factory=Pace)
    queries: Points | None = None  # of the check "answers"
    answers: Outputs | None = None  # to these queries
    has_data: bool = True  # whether the inputs were given by the user
    unstable: bool = False  # whether the same case got different answers
    query_dependent: bool = False  # whether answers depend on the rest of the query, or on chance
    label_counts: dict[Any, int] = field(default_factory=dict)  # how often each label was predicted
    front: Front | None = None  # the border, once it is explored
    remarks: list[str] = field(default_factory=list)  # irregularities of batches
    known_failures: dict[str, Points] = field(default_factory=dict)  # of earlier runs by check, tried first

    @property
    def sut(self) -> Executor:
        """The system under test."""
        return self.subject.sut

    @property
    def inputs(self) -> Points:
        """The inputs, given or generated."""
        return self.subject.seeds

    @property
    def space(self) -> Space:
        """The space of the inputs."""
        return self.inputs.space

    def sample_inputs(self, limit: int) -> Points:
        """Return at most `limit` inputs. They depend on the seed only, and a larger sample starts with a smaller one."""
        if len(self.inputs) <= limit:
            return self.inputs
        return self.inputs.take(np.random.default_rng(self.seed).permutation(len(self.inputs))[:limit])

    def count_labels(self, outputs: Outputs) -> None:
        """Add the labels of some answers to the counts."""
        ok = outputs.ok
        if self.subject.has_numeric_answers or (self.sut.labels is None and outputs.values.dtype.kind == "f"):
            return  # numbers are not classes
        try:
            values, counts = np.unique(outputs.values[ok], return_counts=True)
            pairs = zip(values.tolist(), counts.tolist(), strict=True)
        except TypeError:  # labels of several types
            pairs = ((value, 1) for value in outputs.values[ok].tolist())  # type: ignore[assignment]
        for value, count in pairs:
            self.label_counts[value] = self.label_counts.get(value, 0) + count

    def measure_pace(self) -> None:
        """Time calls with more and more rows, until one is slow.

        The first call is not counted, since many systems initialise themselves in it.
        """
        seconds_by_rows: dict[int, float] = {}
        for round_, rows in enumerate(PACE_ROWS):
            start_time = time.monotonic()
            points = self.sample_inputs(rows)
            counter = CallCounter()
            drive(ask(points, fresh=True), self.sut, tally=counter, **self.build_quiet_options())
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
        """Return how many cases the budget allows, at most `limit`.

        A number below the limit is rounded down to 1, 2 or 5 times a power of ten, so that small differences in speed do
        not change the cases. `calls` is the number of calls in which the rows are queried.
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
            raise OutOfBudget("The budget does not allow a single case.")
        return limit if min(limits) >= limit else _round_down(min(limits))

    def build_quiet_options(self) -> dict[str, Any]:
        """Return the options of `drive` for a short query without progress display."""
        return {"progress": False, "recheck": 0, "alive": True, **self.drive_options}


def _round_down(number: float) -> int:
    """Return the largest of 1, 2, 5, 10, 20, 50, ... that is at most `number`."""
    power = 10 ** int(np.floor(np.log10(number)))
    return int(power * max(digit for digit in (1, 2, 5) if digit * power <= number))

"""What a check-up was given, what it knows of it, and how much it may still cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..morphisms.subject import Subject
from ..outputs import Outputs
from ..runs.drive import Tally, drive
from ..space.points import Points
from ..space.space import Space
from ..strategies.flow import Budget, Question
from ..sut.base import Executor
from .promises import Promises

if TYPE_CHECKING:
    from ..fronts.front import Front

LAST = 0.06  # of the budget that is left for putting the page together
FEWEST = 0.01  # seconds, or a run: with less left nothing is begun
SLOW = 0.3  # seconds a call may take while the pace is measured
PART = 1.0  # seconds that one question should take at most
MOST_AT_ONCE = 5_000  # rows a question


class Clock:
    """Hands out what is left of a budget.

    Parameters
    ----------
    budget : Budget
        What everything together may cost.
    began : float, optional
        When it began, on the monotonic clock: what was loaded before counts too.
    """

    def __init__(self, budget: Budget, began: float | None = None) -> None:
        self.budget, self.began = budget, time.monotonic() if began is None else began
        self.runs = 0

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self.began

    def share(self, part: float) -> Budget:
        """Return a part of what is left."""
        seconds = runs = None
        if self.budget.seconds is not None:
            seconds = max(0.0, (1 - LAST) * self.budget.seconds - self.seconds) * part
        if self.budget.runs is not None:
            runs = int(max(0, self.budget.runs - self.runs) * part)
        return Budget(runs, seconds)

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        left = self.share(1.0)
        return (left.seconds is not None and left.seconds < FEWEST) or (left.runs is not None and left.runs < 1)


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

    call: float = 0.0
    row: float = 0.0


@dataclass
class Given:
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

    subject: Subject
    kind: str
    promises: Promises
    clock: Clock
    learner: Any = None
    truth: npt.NDArray[Any] | None = None
    baseline: Front | None = None
    seed: int = 0
    driving: dict[str, Any] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    asked: Points | None = None
    answers: Outputs | None = None
    data_given: bool = True
    unstable: bool = False
    shaky: bool = False
    labels_seen: dict[Any, int] = field(default_factory=dict)
    front: Front | None = None
    remarks: list[str] = field(default_factory=list)
    remembered: dict[str, Points] = field(default_factory=dict)

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

    def some(self, most: int) -> Points:
        """Return some of the inputs, always the same for a seed; more of them begin with those that fewer are."""
        if len(self.inputs) <= most:
            return self.inputs
        return self.inputs.take(np.random.default_rng(self.seed).permutation(len(self.inputs))[:most])

    def saw(self, outputs: Outputs) -> None:
        """Count the answers that were met."""
        ok = outputs.ok
        if self.subject.numbers or (self.sut.labels is None and outputs.values.dtype.kind == "f"):
            return  # numbers are no classes
        try:
            values, counts = np.unique(outputs.values[ok], return_counts=True)
            pairs = zip(values.tolist(), counts.tolist(), strict=True)
        except TypeError:  # labels of several types
            pairs = ((value, 1) for value in outputs.values[ok].tolist())  # type: ignore[assignment]
        for value, count in pairs:
            self.labels_seen[value] = self.labels_seen.get(value, 0) + count

    def measure_pace(self) -> None:
        """Ask a row, then more and more, until a call takes a while: how fast is the system?

        A first row is not timed: many systems have something to get ready.
        """
        took: dict[int, float] = {}
        for round_, rows in enumerate((1, 1, 3, 24, 192, 512)):
            began = time.monotonic()
            points = self.some(rows)
            tally = Tally()
            drive(_fresh(points), self.sut, tally=tally, **self.quiet())
            self.clock.runs += tally.runs
            took[len(points)] = time.monotonic() - began
            slow = round_ > 1 and took[len(points)] > SLOW
            if slow or self.clock.spent or (round_ and len(points) < rows):
                break
        most = max(took)
        self.pace.row = max(0.0, took[most] - took[1]) / (most - 1) if most > 1 else took[1]
        self.pace.call = max(0.0, took[1] - self.pace.row)

    def afford(self, left: Budget, most: int, each: float = 1.0, calls: float = 1.0) -> int:
        """Return how many cases can be asked, each so many times and in so many calls, `most` at most.

        Less than that is a round number, so that the same is asked again although no clock runs the same way twice.
        """
        limits = [float(most)]
        if left.seconds is not None:
            limits.append((left.seconds - calls * self.pace.call) / max(each * self.pace.row, 1e-9))
        if left.runs is not None:
            limits.append(left.runs / each)
        if min(limits) < 1:
            raise OutOfBudget("not a single case can be asked")
        return most if min(limits) >= most else _round_number(min(limits))

    def at_once(self) -> int:
        """Return how many rows to ask at a time: between two questions the budget is looked at."""
        return int(np.clip(PART / max(self.pace.row, 1e-9), 1, MOST_AT_ONCE))

    def quiet(self) -> dict[str, Any]:
        """Return the options of `drive` for a short question."""
        return {"progress": False, "recheck": 0, "alive": True, **self.driving}


def _round_number(number: float) -> int:
    """Return the largest of 1, 2, 5, 10, 20, 50, ... that is no larger.

    Examples
    --------
    >>> _round_number(7.3), _round_number(999), _round_number(2_000)
    (5, 500, 2000)
    """
    power = 10 ** int(np.floor(np.log10(number)))
    return int(power * max(each for each in (1, 2, 5) if each * power <= number))


def _fresh(points: Points) -> Any:
    return (yield Question(points, fresh=True))

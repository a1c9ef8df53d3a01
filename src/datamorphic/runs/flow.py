"""Flows: the protocol between a strategy and the loop that answers its queries.

A flow is a generator. It yields a query, which is a batch or a `Query` with details, receives the `Outputs`, and returns
its result. It does no I/O and counts nothing. It may catch only `OutOfBudget`, which is thrown in at a ``yield`` when the
budget is spent, so that the flow can return what it has found so far.

All walks of a strategy advance together: one query per step, not one per walk.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, TypeVar

from .._validation import is_number
from ..errors import ArgumentError
from ..space.outputs import Outputs
from ..space.points import Batch

Result = TypeVar("Result")


@dataclass(frozen=True)
class Query:
    """A batch to be answered.

    With ``scores="only"`` a system may derive the labels from the scores, which saves half of its work. Cases are `fresh` if
    they are almost certainly new, such as midpoints of real numbers, so that caching them would cost more than it saves.
    """

    batch: Batch
    scores: bool | Literal["only"] = False  # whether to return scores beside the labels
    progress: float | None = None  # the share of the work that is done, between 0 and 1
    note: str = ""  # what is going on, in a few words
    fresh: bool = False
    runs: int | None = None  # how many it counts as; by default its number of rows

    @property
    def cost(self) -> int:
        """The number of runs it counts as."""
        return len(self.batch) if self.runs is None else self.runs


Flow = Generator[Query | Batch, Outputs, Result]


def ask(batch: Batch, *, scores: bool = False, note: str = "", fresh: bool = False) -> Flow[Outputs]:
    """Yield one query and return its outputs: the shortest flow."""
    return (yield Query(batch, scores, note=note, fresh=fresh))


@dataclass(frozen=True)
class Budget:
    """How much a run may cost; None means no limit.

    Examples
    --------
    >>> Budget.parse("1m30s"), Budget.parse("10000 runs")
    (Budget(runs=None, seconds=90.0), Budget(runs=10000, seconds=None))
    """

    runs: int | None = None
    seconds: float | None = None

    def subtract(self, runs: int, seconds: float) -> Budget:
        """Return the budget that remains after some of it was spent."""
        return Budget(
            None if self.runs is None else max(self.runs - runs, 0),
            None if self.seconds is None else max(self.seconds - seconds, 1e-9),
        )

    def narrow(self, other: Budget) -> Budget:
        """Return the smaller limits of both."""
        pairs = (self.runs, other.runs), (self.seconds, other.seconds)
        runs, seconds = (min((limit for limit in pair if limit is not None), default=None) for pair in pairs)
        return Budget(None if runs is None else int(runs), seconds)

    def scale(self, share: float) -> Budget:
        """Return a share of the budget.

        Examples
        --------
        >>> Budget(runs=10, seconds=60.0).scale(0.5)
        Budget(runs=5, seconds=30.0)
        """
        return Budget(
            None if self.runs is None else max(1, int(self.runs * share)),
            None if self.seconds is None else self.seconds * share,
        )

    def is_exceeded(self, runs: int, seconds: float) -> bool:
        """Return whether more was spent."""
        return (self.runs is not None and runs > self.runs) or (self.seconds is not None and seconds > self.seconds)

    @classmethod
    def parse(cls, value: Budget | str | float | None, *, needs_unit: bool = False) -> Budget:
        """Return a budget from "90s", "1m", "2h", "10000 runs", a number of runs or None.

        With `needs_unit`, a text without a unit is refused: on a command line, 5 may mean seconds or runs.
        """
        if value is None or isinstance(value, Budget):
            return value or cls()
        if is_number(value) and math.isfinite(value) and value == int(value) and value > 0:
            return cls(runs=int(value))
        if isinstance(value, str):
            if needs_unit and re.fullmatch(r"\s*[\d_,.]+\s*", value):
                text = value.strip()
                raise ArgumentError(
                    f"The budget {value!r} has no unit. Write '{text}s' for seconds, '{text}m' for minutes or '{text} runs' "
                    "for model calls."
                )
            runs_match = re.fullmatch(r"\s*([\d_,]*\d)\s*(?:runs?)?\s*", value)
            if runs_match and (runs := int(re.sub("[_,]", "", runs_match[1]))) > 0:
                return cls(runs=runs)
            number = r"(\d+\.?\d*|\.\d+)\s*"
            duration = re.fullmatch(rf"\s*(?:{number}h)?\s*(?:{number}m(?:in)?)?\s*(?:{number}s)?\s*", value)
            if duration:
                hours, minutes, seconds = (float(part or 0) for part in duration.groups())
                if (total := 3600 * hours + 60 * minutes + seconds) > 0:
                    return cls(seconds=total)
        raise ArgumentError(
            f"The budget {value!r} is not understood. Use a time ('90s', '1m', '2h') or a number of runs ('10000 runs')."
        )


UNLIMITED = Budget()

"""One relation put to one system for an assert: tried, told in words, and remembered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import plural
from .._intervals import wilson
from ..errors import Interrupted, OutOfBudget
from ..morphisms.subject import Subject
from ..relations.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, Groups, Relation
from ..runs.drive import Tally, drive
from ..runs.interrupts import Interrupts
from ..space.points import Points
from ..strategies.flow import Budget
from ..sut.base import Executor
from ..verdicts.asking import checked
from ..verdicts.examples import example_of
from .replaying import Again, Memory, cases_of, restored, try_again

FIRST = 25  # cases that are tried first where there is a budget; then twice as many, and so on


@dataclass(frozen=True)
class Held:
    """What became of a relation.

    Attributes
    ----------
    relation, says : str
        Its name, and the promise in words.
    system : str
        Whose promise it is.
    cases, violated, undefined : int
        Cases it could be judged on, those that violate it, and those without an answer.
    calls, seconds
        What it cost.
    example : str
        The smallest violation, in lines.
    silent : str
        Why the relation says nothing here, or what the system said instead of an answer.
    tried, replayed : int
        How many violations of earlier runs were tried again, and how many of them are violations still.
    note : str
        For the statistics.
    remark : str
        What whoever reads of a violation should know.
    """

    relation: str
    says: str
    system: str
    cases: int = 0
    violated: int = 0
    undefined: int = 0
    calls: int = 0
    seconds: float = 0.0
    example: str = ""
    silent: str = ""
    tried: int = 0
    replayed: int = 0
    note: str = ""
    remark: str = ""

    def fails(self, tolerated: float = 0.0) -> bool:
        """Tell whether too many cases violate it or have no answer; a violation that is known always counts."""
        return bool(self.replayed) or self.violated + self.undefined > tolerated * (self.cases + self.undefined)

    @property
    def judged(self) -> bool:
        """Whether anything could be judged."""
        return bool(self.cases or self.undefined or self.replayed)

    def describe(self, again: str) -> str:
        """Return what is wrong in words, and how to see it again."""
        lines = [f"{self.system} does not keep {self.relation!r}: {self.says}."]
        if self.replayed:
            still = "still does" if self.replayed == 1 else "still do"
            lines.append(f"{plural(self.replayed, 'case')} that violated it before {still} (replayed first).")
        if self.violated:
            low, high = wilson(self.violated, self.cases)
            verb = "violates" if self.violated == 1 else "violate"
            lines.append(
                f"{self.violated:,} of {plural(self.cases, 'case')} {verb} it: {_percent(self.violated / self.cases)} "
                f"({_percent(low)} to {_percent(high)} with 95 % confidence)."
            )
        elif self.replayed:
            lines.append(f"Of {plural(self.cases, 'new case')} none violates it.")
        elif self.undefined:
            lines = [f"Whether {self.system} keeps {self.relation!r} is not known: {self.says}."]
        if self.undefined:
            many = plural(self.cases + self.undefined, "case")
            lines.append(f"It gave no answer to {self.undefined:,} of {many}: {self.silent or 'and no reason'}.")
        if self.remark:
            lines.append(self.remark)
        if self.example:
            lines += ["The smallest example:", *(f"  {line}" for line in self.example.splitlines())]
        return "\n".join([*lines, f"To see it again: {again}"])


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


@contextmanager
def stoppable() -> Iterator[None]:
    """End the run of pytest, not this test alone, when the user presses Ctrl-C."""
    with Interrupts() as interrupts:
        try:
            yield
        except Interrupted:
            raise KeyboardInterrupt from None
    if interrupts.stopped:
        raise KeyboardInterrupt


def name_of(relation: Relation) -> str:
    """Return what a relation is called: its name, or that of its class."""
    return relation.name or type(relation).__name__


def held(
    relation: Relation, subject: Subject, memory: Memory, *, seed: int, budget: Any = None, **driving: Any
) -> Held:
    """Put a relation to a system: what violated it before first, then its inputs.

    `driving` are options of `drive`.
    """
    name, sut, inputs = name_of(relation), subject.sut, subject.seeds
    about: dict[str, Any] = {"relation": name, "says": relation.says or "no promise was put in words"}
    about["system"] = subject.name
    silent = relation.why_not(sut, inputs)
    if silent:
        return Held(**about, silent=silent, note=f"says nothing: {silent}")
    began, calls = time.monotonic(), 0
    count, found, spent = _Count(), None, False
    recalled = (restored(each, inputs.space) for each in memory.recall(name))
    tally = Tally()
    still = _tried_again(relation, sut, [each for each in recalled if each is not None], tally, driving)
    calls += tally.calls
    limit, runs = Budget.parse(budget), 0
    for some in _waves(inputs, limit):
        tally = Tally()
        left = _left(limit, runs, began)
        try:
            found = checked(relation, sut, some, seed=seed, tally=tally, budget=left, **driving)
        except OutOfBudget as error:
            if isinstance(error, Interrupted):
                raise
            spent = True
            break
        finally:
            calls, runs = calls + tally.calls, runs + tally.runs
        count.add(found.groups, len(some))
        if count.violated:
            break
    smallest = found.smallest if found is not None and count.violated else None
    new = []
    if found is not None and count.violated:
        new = cases_of(relation, smallest, found.groups.violations, seed)
    tried = [(again.failure, bool(len(groups))) for again, groups in still]
    memory.learn(name, tried, new)
    violated = [groups for _, groups in sorted(still, key=lambda each: each[0].place) if len(groups)]
    shown = violated[0] if violated else smallest if smallest is not None and len(smallest) else None
    notes = [f"{len(violated)} of {len(tried)} replayed"] if tried else []
    notes += [f"no answer to {count.undefined:,}"] if count.undefined else []
    notes += ["the budget is spent"] if spent else []
    return Held(
        **about,
        cases=count.cases,
        violated=count.violated,
        undefined=count.undefined,
        calls=calls,
        seconds=time.monotonic() - began,
        example="" if shown is None else example_of(shown),
        silent=count.message or ("the budget was spent before an answer came" if spent else ""),
        tried=len(tried),
        replayed=len(violated),
        note=", ".join(notes),
    )


def _tried_again(
    relation: Relation, sut: Executor, known: list[Again], tally: Tally, driving: dict[str, Any]
) -> list[tuple[Again, Groups]]:
    """Return known violations, each with what violates the relation still."""
    if not known:
        return []
    flow = try_again(relation, sut, known)
    quiet = {"progress": False, "recheck": 0, "alive": True, **driving}
    return list(zip(known, drive(flow, relation.system(sut), tally=tally, **quiet), strict=True))


class _Count:
    """Cases by verdict; a case that several groups are made of counts once, by the worst of them."""

    def __init__(self) -> None:
        self.cases = self.violated = self.undefined = 0
        self.message = ""

    def add(self, groups: Groups, inputs: int) -> None:
        """Count the groups of some inputs."""
        worst = np.full(inputs, INAPPLICABLE, dtype=np.int8)
        for verdict in (HOLDS, UNDEFINED, VIOLATED):
            worst[groups.rows[groups.verdicts == verdict]] = verdict
        violated, holds = int((worst == VIOLATED).sum()), int((worst == HOLDS).sum())
        self.cases += holds + violated
        self.violated += violated
        self.undefined += int((worst == UNDEFINED).sum())
        for outputs in (groups.before, groups.after):
            self.message = self.message or next(iter(outputs.messages.values()), "")


def _waves(inputs: Points, budget: Budget) -> Iterator[Points]:
    """Yield inputs: all at once, or more and more where there is a budget, so that some are judged before it is spent."""
    start, size = 0, len(inputs) if budget == Budget() else FIRST
    while start < len(inputs):
        yield inputs.take(slice(start, start + size))
        start, size = start + size, 2 * size


def _left(budget: Budget, runs: int, began: float) -> Budget:
    """Return what is left of a budget; of what is spent so little that nothing can be asked."""
    seconds = budget.seconds
    return Budget(
        None if budget.runs is None else budget.runs - runs,
        None if seconds is None else max(seconds - (time.monotonic() - began), 1e-9),
    )

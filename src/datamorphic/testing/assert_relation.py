"""One relation put to one system for an assert: tried, told in words, and remembered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._stats import compute_wilson_interval
from .._text import pluralize
from ..errors import Interrupted, OutOfBudget
from ..morphisms.subject import SubjectUnderTest
from ..relations.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, JudgedGroups, Relation, get_relation_name
from ..relations.check.example_text import format_example
from ..relations.check.runner import run_relation_check
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget
from ..runs.interrupts import Interrupts
from ..space.points import Points
from ..systems.base import Executor
from .replay import Memory, ReplayCase, replay_violations, restore_case, to_stored_cases

FIRST_WAVE_CASES = 25  # cases that are tried first where there is a budget; then twice as many, and so on


@dataclass(frozen=True)
class AssertionOutcome:
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
    violated_count: int = 0
    undefined_count: int = 0
    calls: int = 0
    seconds: float = 0.0
    example: str = ""
    unjudged_reason: str = ""
    tried_count: int = 0
    replayed_count: int = 0
    note: str = ""
    remark: str = ""

    def is_failing(self, tolerated: float = 0.0) -> bool:
        """Tell whether too many cases violate it or have no answer; a violation that is known always counts."""
        return bool(self.replayed_count) or self.violated_count + self.undefined_count > tolerated * (
            self.cases + self.undefined_count
        )

    @property
    def judged(self) -> bool:
        """Whether anything could be judged."""
        return bool(self.cases or self.undefined_count or self.replayed_count)

    def describe(self, rerun_command: str) -> str:
        """Return what is wrong in words, and how to see it again."""
        lines = [f"{self.system} does not keep {self.relation!r}: {self.says}."]
        if self.replayed_count:
            still_text = "still does" if self.replayed_count == 1 else "still do"
            lines.append(
                f"{pluralize(self.replayed_count, 'case')} that violated it before {still_text} (replayed first)."
            )
        if self.violated_count:
            low, high = compute_wilson_interval(self.violated_count, self.cases)
            verb = "violates" if self.violated_count == 1 else "violate"
            lines.append(
                f"{self.violated_count:,} of {pluralize(self.cases, 'case')} {verb} it: {_format_percent(self.violated_count / self.cases)} "
                f"({_format_percent(low)} to {_format_percent(high)} with 95 % confidence)."
            )
        elif self.replayed_count:
            lines.append(f"Of {pluralize(self.cases, 'new case')} none violates it.")
        elif self.undefined_count:
            lines = [f"Whether {self.system} keeps {self.relation!r} is not known: {self.says}."]
        if self.undefined_count:
            cases_text = pluralize(self.cases + self.undefined_count, "case")
            lines.append(
                f"It gave no answer to {self.undefined_count:,} of {cases_text}: {self.unjudged_reason or 'and no reason'}."
            )
        if self.remark:
            lines.append(self.remark)
        if self.example:
            lines += ["The smallest example:", *(f"  {line}" for line in self.example.splitlines())]
        return "\n".join([*lines, f"To see it again: {rerun_command}"])


def _format_percent(share: float) -> str:
    return f"{100 * share:.3g} %"


@contextmanager
def stop_on_interrupt() -> Iterator[None]:
    """End the run of pytest, not this test alone, when the user presses Ctrl-C."""
    with Interrupts() as interrupts:
        try:
            yield
        except Interrupted:
            raise KeyboardInterrupt from None
    if interrupts.stopped:
        raise KeyboardInterrupt


def check_model_relation(
    relation: Relation,
    subject: SubjectUnderTest,
    memory: Memory,
    *,
    seed: int,
    budget: Any = None,
    **drive_options: Any,
) -> AssertionOutcome:
    """Put a relation to a system: what violated it before first, then its inputs.

    `driving` are options of `drive`.
    """
    name, sut, inputs = get_relation_name(relation), subject.sut, subject.seeds
    description: dict[str, Any] = {"relation": name, "says": relation.says or "no promise was put in words"}
    description["system"] = subject.name
    obstacle = relation.why_not(sut, inputs)
    if obstacle:
        return AssertionOutcome(**description, unjudged_reason=obstacle, note=f"says nothing: {obstacle}")
    began, calls = time.monotonic(), 0
    verdict_counter, check, spent = _VerdictCounter(), None, False
    replay_cases = (restore_case(failure, inputs.space) for failure in memory.recall(name))
    call_counter = CallCounter()
    replays = _replay(
        relation, sut, [case for case in replay_cases if case is not None], call_counter, drive_options
    )
    calls += call_counter.calls
    limit, runs = Budget.parse(budget), 0
    for wave in _iter_waves(inputs, limit):
        call_counter = CallCounter()
        remaining = _get_remaining_budget(limit, runs, began)
        try:
            check = run_relation_check(
                relation, sut, wave, seed=seed, counter=call_counter, budget=remaining, **drive_options
            )
        except OutOfBudget as error:
            if isinstance(error, Interrupted):
                raise
            spent = True
            break
        finally:
            calls, runs = calls + call_counter.calls, runs + call_counter.runs
        verdict_counter.add(check.groups, len(wave))
        if verdict_counter.violated_count:
            break
    smallest = check.smallest if check is not None and verdict_counter.violated_count else None
    new_cases = []
    if check is not None and verdict_counter.violated_count:
        new_cases = to_stored_cases(relation, smallest, check.groups.violations, seed)
    replay_results = [(replay_case.failure, bool(len(groups))) for replay_case, groups in replays]
    memory.update(name, replay_results, new_cases)
    violated_groups = [groups for _, groups in sorted(replays, key=lambda replay: replay[0].place) if len(groups)]
    example_groups = (
        violated_groups[0] if violated_groups else smallest if smallest is not None and len(smallest) else None
    )
    notes = [f"{len(violated_groups)} of {len(replay_results)} replayed"] if replay_results else []
    notes += [f"no answer to {verdict_counter.undefined_count:,}"] if verdict_counter.undefined_count else []
    notes += ["the budget is spent"] if spent else []
    return AssertionOutcome(
        **description,
        cases=verdict_counter.cases,
        violated_count=verdict_counter.violated_count,
        undefined_count=verdict_counter.undefined_count,
        calls=calls,
        seconds=time.monotonic() - began,
        example="" if example_groups is None else format_example(example_groups),
        unjudged_reason=verdict_counter.message or ("the budget was spent before an answer came" if spent else ""),
        tried_count=len(replay_results),
        replayed_count=len(violated_groups),
        note=", ".join(notes),
    )


def _replay(
    relation: Relation,
    sut: Executor,
    replay_cases: list[ReplayCase],
    call_counter: CallCounter,
    drive_options: dict[str, Any],
) -> list[tuple[ReplayCase, JudgedGroups]]:
    """Return known violations, each with what violates the relation still."""
    if not replay_cases:
        return []
    flow = replay_violations(relation, sut, replay_cases)
    options = {"progress": False, "recheck": 0, "alive": True, **drive_options}
    return list(zip(replay_cases, drive(flow, relation.system(sut), tally=call_counter, **options), strict=True))


class _VerdictCounter:
    """Cases by verdict; a case that several groups are made of counts once, by the worst of them."""

    def __init__(self) -> None:
        self.cases = self.violated_count = self.undefined_count = 0
        self.message = ""

    def add(self, groups: JudgedGroups, inputs: int) -> None:
        """Count the groups of some inputs."""
        worst = np.full(inputs, INAPPLICABLE, dtype=np.int8)
        for verdict in (HOLDS, UNDEFINED, VIOLATED):
            worst[groups.rows[groups.verdicts == verdict]] = verdict
        violated_count, holds = int((worst == VIOLATED).sum()), int((worst == HOLDS).sum())
        self.cases += holds + violated_count
        self.violated_count += violated_count
        self.undefined_count += int((worst == UNDEFINED).sum())
        for outputs in (groups.before, groups.after):
            self.message = self.message or next(iter(outputs.messages.values()), "")


def _iter_waves(inputs: Points, budget: Budget) -> Iterator[Points]:
    """Yield inputs: all at once, or more and more where there is a budget, so that some are judged before it is spent."""
    start, size = 0, len(inputs) if budget == Budget() else FIRST_WAVE_CASES
    while start < len(inputs):
        yield inputs.take(slice(start, start + size))
        start, size = start + size, 2 * size


def _get_remaining_budget(budget: Budget, runs: int, began: float) -> Budget:
    """Return what is left of a budget; of what is spent so little that nothing can be asked."""
    seconds = budget.seconds
    return Budget(
        None if budget.runs is None else budget.runs - runs,
        None if seconds is None else max(seconds - (time.monotonic() - began), 1e-9),
    )

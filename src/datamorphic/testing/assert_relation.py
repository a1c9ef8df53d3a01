"""Check one relation on one system for an assertion, and remember its violations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._clock import read_clock
from .._stats import compute_wilson_interval
from .._text import format_percent, pluralise
from ..errors import Interrupted, OutOfBudget
from ..morphisms.subject import SubjectUnderTest
from ..relations.algebra.base import HOLDS, UNDEFINED, VIOLATED, JudgedGroups, SystemRelation, get_relation_name
from ..relations.check.model_session import count_verdicts
from ..relations.check.runner import run_relation_check
from ..relations.check.violation import format_example
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget
from ..runs.interrupts import Interrupts
from ..space.points import Points
from .replay import Memory, ReplayCase, replay_violations, restore_case, to_stored_cases

FIRST_WAVE_CASES = 25  # with a budget; each later wave has twice as many cases


@dataclass(frozen=True, kw_only=True)
class AssertionOutcome:
    """The outcome of one relation in an assertion."""

    relation: str
    says: str  # what the relation states
    system: str
    cases: int = 0  # that were judged
    violated_count: int = 0
    undefined_count: int = 0  # cases without an answer
    calls: int = 0
    seconds: float = 0.0
    example: str = ""  # the smallest violation as lines of text
    unjudged_reason: str = ""  # why the relation does not apply, or the error instead of an answer
    tried_count: int = 0  # violations of earlier runs that were tried again
    replayed_count: int = 0  # those of them that still occur
    note: str = ""  # a remark for the summary of pytest
    remark: str = ""  # a remark for the reader of a violation

    def is_failing(self, tolerated: float = 0.0) -> bool:
        """Return whether too many cases violate the relation or have no answer.

        A replayed violation fails only where none is tolerated: replayed cases are no sample, so they have no share.
        """
        allowed_count = tolerated * (self.cases + self.undefined_count)
        return bool(self.replayed_count and not tolerated) or self.violated_count + self.undefined_count > allowed_count

    @property
    def judged(self) -> bool:
        """Whether anything could be judged."""
        return bool(self.cases or self.undefined_count or self.replayed_count)

    def describe(self, rerun_command: str) -> str:
        """Return the failure as text, with the command that reproduces it."""
        lines = [f"{self.system} violates {self.relation!r}: {self.says}."]
        if self.replayed_count:
            verb = "does" if self.replayed_count == 1 else "do"
            known_cases = pluralise(self.replayed_count, "case")
            lines.append(f"{known_cases} that violated it before still {verb} (replayed first).")
        if self.violated_count:
            interval = compute_wilson_interval(self.violated_count, self.cases)
            share, low, high = map(format_percent, (self.violated_count / self.cases, *interval))
            verb = "violates" if self.violated_count == 1 else "violate"
            cases = pluralise(self.cases, "case")
            lines.append(
                f"{self.violated_count:,} of {cases} {verb} it: {share} ({low} to {high} with 95% confidence)."
            )
        elif self.replayed_count:
            lines.append(f"None of {pluralise(self.cases, 'new case')} violates it.")
        elif self.undefined_count:
            lines = [f"It is unknown whether {self.system} satisfies {self.relation!r}: {self.says}."]
        if self.undefined_count:
            all_cases = pluralise(self.cases + self.undefined_count, "case")
            reason = self.unjudged_reason or "without a reason"
            lines.append(f"It gave no answer to {self.undefined_count:,} of {all_cases}: {reason}.")
        if self.remark:
            lines.append(self.remark)
        if self.example:
            lines += ["The smallest example:", *(f"  {line}" for line in self.example.splitlines())]
        return "\n".join([*lines, f"To reproduce it: {rerun_command}"])


@contextmanager
def stop_on_interrupt() -> Iterator[None]:
    """End the whole run of pytest, not only this test, when the user presses Ctrl-C."""
    with Interrupts() as interrupts:
        try:
            yield
        except Interrupted:
            raise KeyboardInterrupt from None
    if interrupts.is_stopped():
        raise KeyboardInterrupt


def check_model_relation(
    relation: SystemRelation,
    subject: SubjectUnderTest,
    memory: Memory,
    *,
    seed: int,
    budget: Budget | str | float | None = None,
    **drive_options: Any,
) -> AssertionOutcome:
    """Check a relation on a system: known violations first, then the inputs.

    The other keyword arguments are options of `drive`.
    """
    name, sut, inputs = get_relation_name(relation), subject.sut, subject.seeds
    says = relation.statement or "the relation has no description"
    if obstacle := relation.find_obstacle(sut, inputs):
        return AssertionOutcome(
            relation=name, says=says, system=subject.name, unjudged_reason=obstacle, note=f"not applicable: {obstacle}"
        )
    inputs = relation.draw_inputs(inputs, np.random.default_rng(seed))
    began, counter = read_clock(), CallCounter()
    restored_cases = [restore_case(failure, inputs.space) for failure in memory.recall(name)]
    known_cases = [case for case in restored_cases if case is not None]
    replays: list[tuple[ReplayCase, JudgedGroups]] = []
    if known_cases:
        options = {"progress": False, "recheck": 0, "alive": True, **drive_options}
        flow = replay_violations(relation, sut, known_cases)
        groups_by_case = drive(flow, relation.system(sut), tally=counter, **options)
        replays = list(zip(known_cases, groups_by_case, strict=True))
    calls, runs, limit = counter.calls, 0, Budget.parse(budget)
    counts = np.zeros(4, dtype=np.int64)  # by verdict
    message, check, spent = "", None, False
    for wave in _iter_waves(inputs, limit):
        counter = CallCounter()
        remaining = limit.subtract(runs, read_clock() - began)
        try:
            check = run_relation_check(
                relation, sut, wave, seed=seed, counter=counter, budget=remaining, **drive_options
            )
        except OutOfBudget as error:
            if isinstance(error, Interrupted):
                raise
            spent = True
            break
        finally:
            calls, runs = calls + counter.calls, runs + counter.runs
        counts += count_verdicts(check.groups, len(wave))
        for outputs in (check.groups.before, check.groups.after):
            message = message or next(iter(outputs.messages.values()), "")
        if counts[VIOLATED]:
            break
    violated_count, undefined_count = int(counts[VIOLATED]), int(counts[UNDEFINED])
    smallest, new_cases = None, []
    if check is not None and violated_count:
        smallest = check.smallest
        new_cases = to_stored_cases(relation, smallest, check.groups.violations, seed)
    memory.update(name, [(case.failure, bool(len(groups))) for case, groups in replays], new_cases)
    replays.sort(key=lambda replay: replay[0].place)
    examples = [groups for _, groups in replays if len(groups)]
    replayed_count = len(examples)
    if smallest is not None and len(smallest):
        examples.append(smallest)
    notes = []
    if replays:
        notes.append(f"{replayed_count} of {len(replays)} replayed")
    if undefined_count:
        notes.append(f"no answer to {undefined_count:,}")
    if spent:
        notes.append("the budget is spent")
    return AssertionOutcome(
        relation=name,
        says=says,
        system=subject.name,
        cases=int(counts[HOLDS]) + violated_count,
        violated_count=violated_count,
        undefined_count=undefined_count,
        calls=calls,
        seconds=read_clock() - began,
        example=format_example(examples[0]) if examples else "",
        unjudged_reason=message or ("the budget was spent before any answer" if spent else ""),
        tried_count=len(replays),
        replayed_count=replayed_count,
        note=", ".join(notes),
    )


def _iter_waves(inputs: Points, budget: Budget) -> Iterator[Points]:
    """Yield all inputs at once, or in growing waves if there is a budget."""
    start, size = 0, len(inputs) if budget == Budget() else FIRST_WAVE_CASES
    while start < len(inputs):
        yield inputs.take(slice(start, start + size))
        start, size = start + size, 2 * size

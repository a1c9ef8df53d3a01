"""Check one relation on one system for an assertion, and remember its violations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._stats import compute_wilson_interval
from .._text import pluralize
from ..errors import Interrupted, OutOfBudget
from ..morphisms.subject import SubjectUnderTest
from ..relations.base import HOLDS, UNDEFINED, VIOLATED, JudgedGroups, Relation, get_relation_name
from ..relations.check.model_session import count_verdicts
from ..relations.check.runner import run_relation_check
from ..relations.check.violation import format_example
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget
from ..runs.interrupts import Interrupts
from ..space.points import Points
from ..systems.base import Executor
from .replay import Memory, ReplayCase, replay_violations, restore_case, to_stored_cases

FIRST_WAVE_CASES = 25  # with a budget; each later wave has twice as many cases


@dataclass(frozen=True, kw_only=True)
class AssertionOutcome:
    """The outcome of one relation in an assertion.

    Attributes
    ----------
    relation, says : str
        The name of the relation, and what it states.
    system : str
        The name of the system.
    cases, violated_count, undefined_count : int
        The numbers of judged cases, of violations, and of cases without an answer.
    calls, seconds
        The cost.
    example : str
        The smallest violation as lines of text.
    unjudged_reason : str
        Why the relation does not apply, or the error that the system gave instead of an answer.
    tried_count, replayed_count : int
        The number of violations of earlier runs that were tried again, and of those that still occur.
    note : str
        A remark for the summary of pytest.
    remark : str
        A remark for the reader of a violation.
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
            known_cases = pluralize(self.replayed_count, "case")
            lines.append(f"{known_cases} that violated it before still {verb} (replayed first).")
        if self.violated_count:
            low, high = compute_wilson_interval(self.violated_count, self.cases)
            verb = "violates" if self.violated_count == 1 else "violate"
            lines.append(
                f"{self.violated_count:,} of {pluralize(self.cases, 'case')} {verb} it: "
                f"{_format_percent(self.violated_count / self.cases)} "
                f"({_format_percent(low)} to {_format_percent(high)} with 95 % confidence)."
            )
        elif self.replayed_count:
            lines.append(f"None of {pluralize(self.cases, 'new case')} violates it.")
        elif self.undefined_count:
            lines = [f"It is unknown whether {self.system} satisfies {self.relation!r}: {self.says}."]
        if self.undefined_count:
            all_cases = pluralize(self.cases + self.undefined_count, "case")
            reason = self.unjudged_reason or "without a reason"
            lines.append(f"It gave no answer to {self.undefined_count:,} of {all_cases}: {reason}.")
        if self.remark:
            lines.append(self.remark)
        if self.example:
            lines += ["The smallest example:", *(f"  {line}" for line in self.example.splitlines())]
        return "\n".join([*lines, f"To reproduce it: {rerun_command}"])


def _format_percent(share: float) -> str:
    return f"{100 * share:.3g} %"


@contextmanager
def stop_on_interrupt() -> Iterator[None]:
    """End the whole run of pytest, not only this test, when the user presses Ctrl-C."""
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
    budget: Budget | str | float | None = None,
    **drive_options: Any,
) -> AssertionOutcome:
    """Check a relation on a system: known violations first, then the inputs.

    The other keyword arguments are options of `drive`.
    """
    name, sut, inputs = get_relation_name(relation), subject.sut, subject.seeds
    says = relation.says or "the relation has no description"
    if obstacle := relation.why_not(sut, inputs):
        return AssertionOutcome(
            relation=name, says=says, system=subject.name, unjudged_reason=obstacle, note=f"not applicable: {obstacle}"
        )
    began, counter = time.monotonic(), CallCounter()
    restored_cases = [restore_case(failure, inputs.space) for failure in memory.recall(name)]
    known_cases = [case for case in restored_cases if case is not None]
    replays = _replay(relation, sut, known_cases, counter, drive_options)
    calls, runs, limit = counter.calls, 0, Budget.parse(budget)
    verdict_counter, check, spent = _VerdictCounter(), None, False
    for wave in _iter_waves(inputs, limit):
        counter = CallCounter()
        remaining = limit.subtract(runs, time.monotonic() - began)
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
        verdict_counter.add(check.groups, len(wave))
        if verdict_counter.violated_count:
            break
    smallest, new_cases = None, []
    if check is not None and verdict_counter.violated_count:
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
    if verdict_counter.undefined_count:
        notes.append(f"no answer to {verdict_counter.undefined_count:,}")
    if spent:
        notes.append("the budget is spent")
    return AssertionOutcome(
        relation=name,
        says=says,
        system=subject.name,
        cases=verdict_counter.cases,
        violated_count=verdict_counter.violated_count,
        undefined_count=verdict_counter.undefined_count,
        calls=calls,
        seconds=time.monotonic() - began,
        example=format_example(examples[0]) if examples else "",
        unjudged_reason=verdict_counter.message or ("the budget was spent before any answer" if spent else ""),
        tried_count=len(replays),
        replayed_count=replayed_count,
        note=", ".join(notes),
    )


def _replay(
    relation: Relation,
    sut: Executor,
    known_cases: list[ReplayCase],
    counter: CallCounter,
    drive_options: dict[str, Any],
) -> list[tuple[ReplayCase, JudgedGroups]]:
    """Return known violations, each with the groups that still violate the relation."""
    if not known_cases:
        return []
    flow = replay_violations(relation, sut, known_cases)
    options = {"progress": False, "recheck": 0, "alive": True, **drive_options}
    return list(zip(known_cases, drive(flow, relation.system(sut), tally=counter, **options), strict=True))


class _VerdictCounter:
    """The number of cases per verdict, and the first error."""

    def __init__(self) -> None:
        self.cases = self.violated_count = self.undefined_count = 0
        self.message = ""

    def add(self, groups: JudgedGroups, inputs: int) -> None:
        """Count the groups of some inputs."""
        counts = count_verdicts(groups, inputs)
        self.cases += int(counts[HOLDS] + counts[VIOLATED])
        self.violated_count += int(counts[VIOLATED])
        self.undefined_count += int(counts[UNDEFINED])
        for outputs in (groups.before, groups.after):
            self.message = self.message or next(iter(outputs.messages.values()), "")


def _iter_waves(inputs: Points, budget: Budget) -> Iterator[Points]:
    """Yield all inputs at once, or in growing waves if there is a budget."""
    start, size = 0, len(inputs) if budget == Budget() else FIRST_WAVE_CASES
    while start < len(inputs):
        yield inputs.take(slice(start, start + size))
        start, size = start + size, 2 * size

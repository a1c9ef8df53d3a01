"""What a check is, and the loop that makes them one after the other within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import Interrupted, OutOfBudget, SystemFailed, format_error_line
from ..reporting.document import Section
from ..runs.driver import CallCounter
from ..runs.flow import Budget
from .context import CheckContext
from .finding import Finding, Outcome

SHARE_TOO_SMALL = "its share of the budget was too small"
INTERRUPTED = "interrupted"
MAX_DOUBTFUL_CERTAINTY = 0.6  # how sure a finding is at most where answers depend on what else is asked


@dataclass
class CheckBudget:
    """One check at work: what it may cost and what it has cost.

    Attributes
    ----------
    budget : Budget
        Its share of what was left.
    tally : Tally
        What it asked.
    """

    budget: Budget
    counter: CallCounter = field(default_factory=CallCounter)
    _start_time: float = field(default_factory=time.monotonic)

    def remaining(self, part: float = 1.0) -> Budget:
        """Return a part of what this check has left."""
        seconds = runs = None
        if self.budget.seconds is not None:
            seconds = max(0.001, self.budget.seconds - (time.monotonic() - self._start_time)) * part
        if self.budget.runs is not None:
            runs = max(1, int((self.budget.runs - self.counter.runs) * part))
        return Budget(runs, seconds)

    def add(self, counter: CallCounter) -> None:
        """Count what a part of the check has cost."""
        self.counter.runs += counter.runs
        self.counter.calls += counter.calls + counter.health.repeated_rows


@dataclass(frozen=True)
class CheckFindings:
    """What a check has to say.

    Attributes
    ----------
    rests_on : str
        What it rests on, in a few words.
    findings : sequence of Finding
        What it found.
    sections : sequence of Section
        What there is to look at.
    made : bool
        Whether anything could be judged; if not, `rests_on` says why.
    """

    basis: str = ""
    findings: Sequence[Finding] = ()
    sections: Sequence[Section] = ()
    conclusive: bool = True


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing to find out about a model.

    Attributes
    ----------
    name : str
        What ``only=`` and reports call it.
    asks : str
        The question it answers.
    weight : float
        Its part of the budget, compared with the others'.
    why_not : callable
        Given what is tested, why it does not apply; an empty text where it does.
    run : callable
        Given what is tested and its turn, what it found.
    of_asking : bool
        Whether it is about how a system is asked, and not about cases.
    needs : sequence of str
        Checks whose results it stands on: they are made with it.
    """

    name: str
    question: str
    weight: float
    find_skip_reason: Callable[[CheckContext], str]
    run: Callable[[CheckContext, CheckBudget], CheckFindings]
    about_querying: bool = False
    needs: tuple[str, ...] = ()


def run_checks(
    context: CheckContext,
    checks: Iterable[Check],
    only: Sequence[str] = (),
    show_progress: Callable[[str, float], None] = lambda check, done: None,
    learn: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Make all checks that apply, each within its share of what is left, and return what became of them.

    `show` is told which check is next and how far the work is, `learn` what became of each.

    A check that breaks is told and the others go on. Ctrl-C ends the check at work and those after it; what was found
    until then is returned.
    """
    checks = list(checks)
    only = [*only, *(name for check in checks if check.name in only for name in check.needs)]
    selected_checks = [check for check in checks if not only or check.name in only]
    outcomes: dict[str, Outcome] = {}

    def run_one(check: Check, part: float) -> bool:
        """Make one check; tell whether to go on."""
        show_progress(check.name, len(outcomes) / (len(selected_checks) + 1))
        outcome = outcomes[check.name] = _run_check(context, check, part)
        learn(outcome)
        return outcome.why != INTERRUPTED

    running = True
    for i, check in enumerate(selected_checks):
        weights = [
            later.weight for later in selected_checks[i + 1 :] if later.needs or not _is_skipped(context, later)
        ]
        running = running and run_one(check, check.weight / (check.weight + sum(weights)))
    # what is left over is for those whose share was too small, and for what stands on them
    retried_checks: set[str] = set()
    for check in selected_checks:
        outcome = outcomes.get(check.name)
        if not running or outcome is None or outcome.state != "not run":
            continue
        if outcome.why == SHARE_TOO_SMALL or retried_checks & set(check.needs):
            running = run_one(check, 0.5)
            retried_checks.add(check.name)
    reasons = {True: "not asked for", False: INTERRUPTED}
    return [
        outcomes.get(
            check.name,
            Outcome(
                check=check.name, asks=check.question, state="not run", why=reasons[check not in selected_checks]
            ),
        )
        for check in checks
    ]


def _is_skipped(context: CheckContext, check: Check) -> bool:
    try:
        return bool(check.find_skip_reason(context))
    except Exception:
        return False  # it will be told when its turn has come


def _lower_certainty(finding: Finding) -> Finding:
    """Return a finding about a system whose answers depend on how it is asked."""
    warning = " Its answers depend on how it is asked (see above): part of this may come from that."
    return replace(finding, sure=min(finding.sure, MAX_DOUBTFUL_CERTAINTY), detail=finding.detail + warning)


def _run_check(context: CheckContext, check: Check, part: float) -> Outcome:
    start_time, budget = time.monotonic(), CheckBudget(Budget())

    def build_outcome(state: Any, reason: str, result: CheckFindings | None = None) -> Outcome:
        result = result or CheckFindings()
        return Outcome(
            check=check.name,
            asks=check.question,
            state=state,
            why=reason,
            findings=tuple(result.findings),
            sections=tuple(result.sections),
            seconds=time.monotonic() - start_time,
            calls=budget.counter.calls,
        )

    try:
        reason = check.find_skip_reason(context)
        if reason:
            return build_outcome("not run", reason)
        if context.clock.spent:
            return build_outcome("not run", "the budget was spent before its turn")
        budget = CheckBudget(context.clock.share(part))
        try:
            query_dependent = context.query_dependent
            result = check.run(context, budget)
        finally:
            context.clock.runs += budget.counter.runs
        if query_dependent and not check.about_querying:
            result = replace(result, findings=[_lower_certainty(finding) for finding in result.findings])
        state = "found" if result.findings else "passed" if result.conclusive else "not run"
        return build_outcome(state, result.basis, result)
    except (KeyboardInterrupt, Interrupted):
        return build_outcome("not run", INTERRUPTED)
    except OutOfBudget:
        return build_outcome("not run", SHARE_TOO_SMALL)
    except SystemFailed:
        raise
    except Exception as error:
        return build_outcome("broke", format_error_line(error))

"""`Check`, and the loop that runs all checks within one budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..errors import Interrupted, OutOfBudget, SystemFailed, format_error_line
from ..reporting.document import Section
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget, Flow
from .context import CheckContext
from .finding import Finding, Outcome, OutcomeState, SkipReason

MAX_DOUBTFUL_CERTAINTY = 0.6  # of findings about a system whose answers depend on how it is queried
RETRY_BUDGET_SHARE = 0.5  # of what is left, for each check whose first share was too small

T = TypeVar("T")


@dataclass
class CheckBudget:
    """The budget of one running check, and what it has spent."""

    budget: Budget  # the share of the check
    counter: CallCounter = field(default_factory=CallCounter)  # the runs and model calls so far
    _start_time: float = field(default_factory=time.monotonic)

    def remaining(self, part: float = 1.0) -> Budget:
        """Return a part of what is left of the budget; never nothing, so that a query can start."""
        seconds = runs = None
        if self.budget.seconds is not None:
            seconds = max(0.001, self.budget.seconds - (time.monotonic() - self._start_time)) * part
        if self.budget.runs is not None:
            runs = max(1, int((self.budget.runs - self.counter.runs) * part))
        return Budget(runs, seconds)

    def add(self, counter: CallCounter) -> None:
        """Add the runs and model calls of a part of the check."""
        self.counter.runs += counter.runs
        self.counter.calls += counter.calls + counter.health.repeated_rows


@dataclass(frozen=True, kw_only=True)
class CheckFindings:
    """What a check returns."""

    basis: str = ""  # of the outcome, in a few words; if the check is not conclusive, the reason
    findings: Sequence[Finding] = ()
    sections: Sequence[Section] = ()  # pictures and tables beyond the findings
    conclusive: bool = True  # whether anything could be judged
    skip_reason: SkipReason = ""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question about a model, and the function that answers it."""

    name: str  # in ``only=`` and in reports
    question: str
    weight: float  # its part of the budget, relative to the other checks
    find_skip_reason: Callable[[CheckContext], str]  # an empty text if the check applies
    run: Callable[[CheckContext, CheckBudget], CheckFindings]
    about_querying: bool = False  # about how the system is queried rather than about cases
    needs: tuple[str, ...] = ()  # names of checks whose results it uses: they run first


def run_flow(context: CheckContext, budget: CheckBudget, flow: Flow[T]) -> T:
    """Answer a flow within what is left of the budget of a check, and return its result."""
    counter = CallCounter()
    try:
        return drive(flow, context.sut, tally=counter, budget=budget.remaining(), **context.build_quiet_options())
    finally:
        budget.add(counter)


def run_checks(
    context: CheckContext,
    checks: Sequence[Check],
    only: Sequence[str] = (),
    show_progress: Callable[[str, float], None] = lambda check, done: None,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Run all checks that apply, each within its share of the budget, and return their outcomes.

    A check that breaks does not stop the others. Ctrl-C ends the running check and skips those after it. `only` names the
    checks to run, all if it is empty; checks that they need run as well. `show_progress` gets the name of each check and
    the part of the work that is done, before the check runs.
    """
    only = [*only, *(name for check in checks if check.name in only for name in check.needs)]
    selected_checks = [check for check in checks if not only or check.name in only]
    outcomes: dict[str, Outcome] = {}

    def run_one(check: Check, part: float) -> bool:
        """Run one check, and return whether to continue."""
        show_progress(check.name, len(outcomes) / (len(selected_checks) + 1))
        outcome = outcomes[check.name] = _run_check(context, check, part)
        on_outcome(outcome)
        return outcome.skip_reason != "interrupted"

    running = True
    for i, check in enumerate(selected_checks):
        weights = [later.weight for later in selected_checks[i + 1 :] if later.needs or not _is_skipped(context, later)]
        running = running and run_one(check, check.weight / (check.weight + sum(weights)))
    # Spend what is left on checks whose share was too small, and on checks that need them.
    retried_checks: set[str] = set()
    for check in selected_checks:
        outcome = outcomes.get(check.name)
        if not running or outcome is None or outcome.state != "not run":
            continue
        if outcome.skip_reason == "share too small" or retried_checks & set(check.needs):
            running = run_one(check, RETRY_BUDGET_SHARE)
            retried_checks.add(check.name)
    for check in checks:
        if check.name not in outcomes:
            reason: SkipReason = "interrupted" if check in selected_checks else "not requested"
            outcomes[check.name] = Outcome(
                check=check.name, asks=check.question, state="not run", why=reason, skip_reason=reason
            )
    return [outcomes[check.name] for check in checks]


def _is_skipped(context: CheckContext, check: Check) -> bool:
    try:
        return bool(check.find_skip_reason(context))
    except Exception:
        return False  # it is reported when the check runs


def _run_check(context: CheckContext, check: Check, part: float) -> Outcome:
    start_time, budget = time.monotonic(), CheckBudget(Budget())

    def build_outcome(state: OutcomeState, result: CheckFindings) -> Outcome:
        return Outcome(
            check=check.name,
            asks=check.question,
            state=state,
            why=result.basis,
            findings=tuple(result.findings),
            sections=tuple(result.sections),
            seconds=time.monotonic() - start_time,
            calls=budget.counter.calls,
            skip_reason=result.skip_reason,
        )

    def skip(skip_reason: SkipReason, text: str) -> Outcome:
        return build_outcome("not run", CheckFindings(basis=text, skip_reason=skip_reason))

    try:
        reason = check.find_skip_reason(context)
        if reason:
            return skip("inapplicable", reason)
        if context.clock.spent:
            return skip("budget spent", "the budget was spent before its turn")
        budget = CheckBudget(context.clock.share(part))
        try:
            query_dependent = context.query_dependent
            result = check.run(context, budget)
        finally:
            context.clock.runs += budget.counter.runs
        if query_dependent and not check.about_querying:
            warning = " The answers depend on how the system is queried (see above), which may explain part of this."
            findings = [
                replace(finding, sure=min(finding.sure, MAX_DOUBTFUL_CERTAINTY), detail=finding.detail + warning)
                for finding in result.findings
            ]
            result = replace(result, findings=findings)
        if result.findings:
            return build_outcome("found", result)
        return build_outcome("passed" if result.conclusive else "not run", result)
    except (KeyboardInterrupt, Interrupted):
        return skip("interrupted", "interrupted")
    except OutOfBudget:
        return skip("share too small", "its share of the budget was too small")
    except SystemFailed:
        raise
    except Exception as error:
        return build_outcome("broke", CheckFindings(basis=format_error_line(error)))

"""`Check`, and the loop that runs all checks within one budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
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
    """The budget of one running check, and what it has spent.

    Attributes
    ----------
    budget : Budget
        The share of the check.
    counter : CallCounter
        The runs and model calls so far.
    """

    budget: Budget
    counter: CallCounter = field(default_factory=CallCounter)
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
    """What a check returns.

    Attributes
    ----------
    basis : str
        What the outcome is based on, in a few words; if the check is not conclusive, the reason.
    findings : sequence of Finding
        The findings.
    sections : sequence of Section
        Pictures and tables beyond the findings.
    conclusive : bool
        Whether anything could be judged.
    skip_reason : str
        Why the check did not run, or not completely.
    """

    basis: str = ""
    findings: Sequence[Finding] = ()
    sections: Sequence[Section] = ()
    conclusive: bool = True
    skip_reason: SkipReason = ""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question about a model, and the function that answers it.

    Attributes
    ----------
    name : str
        The name in ``only=`` and in reports.
    question : str
        The question that the check answers.
    weight : float
        Its part of the budget, relative to the other checks.
    find_skip_reason : callable
        Returns why the check does not apply; an empty text if it does.
    run : callable
        Runs the check.
    about_querying : bool
        Whether it is about how the system is queried rather than about cases.
    needs : sequence of str
        Names of checks whose results it uses: they run first.
    """

    name: str
    question: str
    weight: float
    find_skip_reason: Callable[[CheckContext], str]
    run: Callable[[CheckContext, CheckBudget], CheckFindings]
    about_querying: bool = False
    needs: tuple[str, ...] = ()


def run_flow(context: CheckContext, budget: CheckBudget, flow: Flow[T]) -> T:
    """Answer a flow within what is left of the budget of a check, and return its result."""
    counter = CallCounter()
    try:
        return drive(flow, context.sut, tally=counter, budget=budget.remaining(), **context.build_quiet_options())
    finally:
        budget.add(counter)


def run_checks(
    context: CheckContext,
    checks: Iterable[Check],
    only: Sequence[str] = (),
    show_progress: Callable[[str, float], None] = lambda check, done: None,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Run all checks that apply, each within its share of the budget, and return their outcomes.

    A check that breaks does not stop the others. Ctrl-C ends the running check and skips those after it.

    Parameters
    ----------
    context : CheckContext
        The model, the data and what is known so far.
    checks : iterable of Check
        All checks, in the order in which to run them.
    only : sequence of str
        The names of the checks to run; all if empty. Checks that they need run as well.
    show_progress : callable
        Called before each check with its name and the part of the work that is done.
    on_outcome : callable
        Called after each check with its outcome.
    """
    checks = list(checks)
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
    return [
        outcomes.get(check.name)
        or _build_skipped(check, "interrupted" if check in selected_checks else "not requested")
        for check in checks
    ]


def _build_skipped(check: Check, reason: SkipReason) -> Outcome:
    return Outcome(check=check.name, asks=check.question, state="not run", why=reason, skip_reason=reason)


def _is_skipped(context: CheckContext, check: Check) -> bool:
    try:
        return bool(check.find_skip_reason(context))
    except Exception:
        return False  # it is reported when the check runs


def _lower_certainty(finding: Finding) -> Finding:
    """Return a finding with a warning that the answers depend on how the system is queried."""
    warning = " The answers depend on how the system is queried (see above), which may explain part of this."
    return replace(finding, sure=min(finding.sure, MAX_DOUBTFUL_CERTAINTY), detail=finding.detail + warning)


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
            result = replace(result, findings=[_lower_certainty(finding) for finding in result.findings])
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

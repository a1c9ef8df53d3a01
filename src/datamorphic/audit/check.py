"""`Check`, and the loop that runs all checks within one budget.

A check keeps to its share of the budget in three ways. It tries as many cases as `CheckContext.count_affordable` allows.
Queries end when the share is spent. And whatever looks at no clock, such as the fit of a learner, is ended by a `TimeLimit`
a little later. What was not completed for lack of time is "not tried": neither passed nor inapplicable.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from .._tables import read_document
from ..core.result import Finding, InputOrigin, Level
from ..errors import Interrupted, OutOfBudget, StoreError, SystemFailed, format_error_line
from ..reporting.document import Section
from ..runs.deadline import DeadlinePassed
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget, Flow
from ..systems.base import Executor
from .context import MAX_EXTRA_PART, BudgetClock, CaseNeed, CheckContext, Limit
from .labels import UNMATCHED_LABELS
from .longer_budget import format_seconds
from .outcome import UNFINISHED_REASONS, Outcome, OutcomeState, SkipReason

MAX_DOUBTFUL_CERTAINTY = 0.6  # of findings about a system whose answers depend on how it is queried
RETRY_REASONS: tuple[SkipReason, ...] = ("share too small", "budget spent")
MAX_OVERTIME_SHARE = 0.25  # of the share of a check that looks at the clock, to finish what it has begun
MIN_OVERTIME_SECONDS = 0.25
FIRST_CHECK = "repeats"  # its result tells the others whether answers can be compared
MIN_RETRY_PART = 0.5  # of what is left of the budget, for a check that was not completed
SLOW_MAIN_CHECK, SLOW_MAIN_SHARE = "answers", 0.25  # of the budget of a slow system: most checks build on it
MIN_SLOW_PART = 0.85  # of its budget, for what a check of a slow system queries at once
MIN_TOP_UP_SHARE = 0.08  # of the whole budget: with less left, no check of a slow system gets more cases
MAX_RETRY_PART = 0.85  # of what is left, before the checks of a slow system that come last
MAX_TOP_UPS = 3
MAX_EARLY_END_PART = 0.25  # of its share: a check that gives up sooner has only estimated the time it needs
#: What `Check.find_skip_reason` returns if the result of a check that it needs is missing.
MISSING_RESULT = "a check that it needs has no result"

T = TypeVar("T")


def find_label_obstacle(context: CheckContext, numeric: bool | None = None) -> str:
    """Return why answers cannot be compared with labels; an empty text if they can.

    `numeric` is whether the check is about numbers or about classes, if it is not about both.
    """
    if context.truth is None:
        return "the data have no labels: target="
    if context.answers is None or context.query_rows is None:
        return MISSING_RESULT
    if numeric is not None and numeric != context.has_numeric_answers:
        return "the answers are classes" if numeric else "the answers are numbers"
    return UNMATCHED_LABELS if context.has_unmatched_labels else ""


@dataclass
class CheckBudget:
    """The budget of one running check, and what it has spent."""

    budget: Budget  # the share of the check
    requested: bool = False  # by name: then it may take its time
    is_slow: bool = False  # whether the system is slow: then little is left for later steps of a check
    clock: BudgetClock = field(default_factory=BudgetClock.start_new)  # of the audit
    counter: CallCounter = field(default_factory=CallCounter)  # the runs and model calls so far
    _start_seconds: float = field(init=False)

    def __post_init__(self) -> None:
        self._start_seconds = self.clock.seconds

    def remaining(self, part: float = 1.0) -> Budget:
        """Return a part of what is left of the budget; never nothing, so that a query can start."""
        seconds = runs = None
        if self.is_slow:
            part = max(part, MIN_SLOW_PART)
        if self.budget.seconds is not None:
            seconds = max(0.001, self.budget.seconds - (self.clock.seconds - self._start_seconds)) * part
        if self.budget.runs is not None:
            runs = max(1, int((self.budget.runs - self.counter.runs) * part))
        return Budget(runs, seconds)

    @property
    def spent(self) -> bool:
        """Whether nothing is left, for loops that look at the clock."""
        seconds_left = self.seconds_left
        runs_spent = self.budget.runs is not None and self.counter.runs >= self.budget.runs
        return runs_spent or (seconds_left is not None and seconds_left <= 0)

    @property
    def seconds_left(self) -> float | None:
        """The seconds that are left; None without a limit."""
        if self.budget.seconds is None:
            return None
        return self.budget.seconds - (self.clock.seconds - self._start_seconds)

    def limit(self, part: float = 1.0) -> Limit:
        """Return a limit for work that looks at no clock; it raises `OutOfBudget`."""
        seconds_left = self.seconds_left
        return self.clock.limit(None if seconds_left is None else max(0.001, seconds_left * part))

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
class CheckFacts:
    """What is known of a check before it runs: a table of `checks.toml`."""

    question: str
    weight: float  # its part of the budget, relative to the other checks
    about_querying: bool = False  # about how the system is queried rather than about cases
    needs: tuple[str, ...] = ()  # names of checks whose results it uses: they run first
    max_share: float = 1.0  # of the whole budget, unless the user asks for this check
    own_seconds: float = 0.2  # of its own computing, without queries of the model, on an otherwise idle machine
    libraries: tuple[str, ...] = ()  # that it imports; the time of imports does not count
    #: Whether it is about single columns, which values of images and sequences are not: it looks at the other columns, if
    #: there are any ("others"), or does not apply to inputs with images or sequences ("tables").
    about_columns: Literal["", "others", "tables"] = ""
    without_model: bool = False  # whether it looks at the data alone, so that it applies to data without a model


@dataclass(frozen=True, kw_only=True)
class Check(CheckFacts):
    """One question about a model, and the function that answers it."""

    name: str  # in ``only=`` and in reports
    find_skip_reason: Callable[[CheckContext], str]  # an empty text if the check applies
    run: Callable[[CheckContext, CheckBudget], CheckFindings]

    def explain_skip(self, context: CheckContext) -> str:
        """Return why the check does not apply; an empty text if it does."""
        if context.data_only and not self.without_model:
            return "there is no model: only the data are looked at"
        blocks = context.space.blocks
        if blocks and self.about_columns and (self.about_columns == "tables" or not context.space.scalars):
            block = blocks[0].block
            values = {"image": "pixels", "sequence": "values", "audio": "samples"}[block.kind]
            return f"it is about columns, and single {values} of {block.noun}s are not columns"
        return self.find_skip_reason(context)


@dataclass(frozen=True, kw_only=True)
class FindingFacts:
    """What all findings of a kind have in common: a table of `checks.toml` with fields of `Finding`."""

    about: str | None = None
    title: str | None = None
    level: Level | None = None
    confidence: float | None = None
    remedy: str | None = None
    noun: str | None = None
    inputs: InputOrigin | None = None
    answer_changes: bool | None = None
    cause: str | None = None
    counted_in_detail: bool | None = None
    sampled: bool | None = None


@dataclass(frozen=True, kw_only=True)
class AuditFacts:
    """All of `checks.toml`."""

    checks: Mapping[str, CheckFacts]
    findings: Mapping[str, FindingFacts]


@functools.cache
def read_facts() -> AuditFacts:
    """Return what is fixed about checks and their findings."""
    return read_document(f"{__package__}.checks", "checks.toml", AuditFacts)


def make_check(
    name: str,
    run: Callable[[CheckContext, CheckBudget], CheckFindings],
    find_skip_reason: Callable[[CheckContext], str],
) -> Check:
    """Return a check with the facts of `checks.toml`."""
    return Check(name=name, run=run, find_skip_reason=find_skip_reason, **vars(read_facts().checks[name]))


def get_facts(kind: str) -> dict[str, Any]:
    """Return the fields that all findings of a kind share; a kind is a check, or one of its findings: ``scores.invalid``."""
    facts = {name: value for name, value in vars(read_facts().findings[kind]).items() if value is not None}
    return {"check": kind.partition(".")[0], **facts}


def run_flow(
    context: CheckContext, budget: CheckBudget, flow: Flow[T], system: Executor | None = None, part: float = 1.0
) -> T:
    """Answer a flow within a part of what is left of the budget of a check, and return its result.

    By default the system under test is queried; only its queries tell how fast it is.
    """
    counter = CallCounter()
    options = context.build_quiet_options()
    try:
        return drive(flow, system or context.sut, tally=counter, budget=budget.remaining(part), **options)
    finally:
        budget.add(counter)
        context.remarks += [remark for remark in counter.health.remarks if remark not in context.remarks]
        if system is None:
            context.learn_pace(counter)


class CheckObserver:
    """Is told what the loop over the checks does."""

    def begin(self, check: Check, done: float, part: float) -> None:
        """Note that a check begins: the share of the work that is done, and that of this check."""

    def end(self, outcome: Outcome) -> None:
        """Note that a check has ended."""


def run_checks(
    context: CheckContext,
    checks: Sequence[Check],
    only: Sequence[str] = (),
    observers: Sequence[CheckObserver] = (),
    is_stopped: Callable[[], bool] = bool,
) -> list[Outcome]:
    """Run all checks that apply, each within its share of the budget, and return their outcomes.

    A check that breaks does not stop the others. Ctrl-C ends the running check and skips those after it: then `is_stopped`
    returns True. `only` names the checks to run, all if it is empty; checks that they need run as well.
    """
    only_names = {*only, *(name for check in checks if check.name in only for name in check.needs)}
    selected_checks = [check for check in checks if not only or check.name in only_names]
    loop = _CheckLoop(
        context=context, checks=selected_checks, requested=set(only), observers=observers, is_stopped=is_stopped
    )
    loop.run()
    outcomes = loop.outcomes
    for check in checks:
        if check.name not in outcomes:
            reason: SkipReason = "interrupted" if check in selected_checks else "not requested"
            outcomes[check.name] = Outcome(
                check=check.name, asks=check.question, state="not run", why=reason, skip_reason=reason
            )
    return [outcomes[check.name] for check in checks]


@dataclass(eq=False, kw_only=True)
class _CheckLoop:
    """The loop over the checks: each gets its share of what is left of the budget."""

    context: CheckContext
    checks: list[Check]  # to run
    requested: set[str]  # by name
    observers: Sequence[CheckObserver]
    is_stopped: Callable[[], bool]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    running: bool = True
    done_weight: float = 0.0

    def run(self) -> None:
        """Run all checks, and spend what is left on those that got too little."""
        self.running = not self.is_stopped()
        if not self.context.is_slow:
            self._run_all(self.checks)
            return
        early_checks = [check for check in self.checks if not _comes_late(check)]
        late_checks = [check for check in self.checks if _comes_late(check)]
        self._run_all(early_checks, min_retry_part=MAX_RETRY_PART)
        self._run_all(late_checks)
        self._retry(self.checks, min_part=1.0)
        for _ in range(MAX_TOP_UPS):
            self._top_up()
        self._run_dependent_checks()

    def _run_all(self, checks: Sequence[Check], min_retry_part: float = MIN_RETRY_PART) -> None:
        """Run checks in their order, each within its share of what is left."""
        # Checks that may take only a small part of the budget come last, after the others have got what they need.
        waiting_checks = sorted(checks, key=lambda check: check.max_share < 1)
        while self.running and waiting_checks:
            check = waiting_checks.pop(0)
            later_weight = sum(later.weight for later in waiting_checks if self._is_applicable(later))
            part = check.weight / (check.weight + later_weight)
            self._run_one(check, part, self.done_weight / (self.done_weight + check.weight + later_weight))
            if self.outcomes[check.name].state != "not run":
                self.done_weight += check.weight
            if not waiting_checks or waiting_checks[0].max_share != check.max_share:
                self._retry(checks, waiting_checks, min_retry_part)

    def _retry(
        self, checks: Sequence[Check], waiting_checks: Sequence[Check] = (), min_part: float = MIN_RETRY_PART
    ) -> None:
        """Spend what is left on checks whose share was too small, and on checks that need them."""
        unfinished_checks = [check for check in checks if _is_worth_a_retry(self.outcomes.get(check.name))]
        while self.running and unfinished_checks and not self.context.clock.spent:
            check = unfinished_checks.pop(0)
            later_weight = sum(later.weight for later in [*unfinished_checks, *waiting_checks])
            part = check.weight / (check.weight + later_weight)
            if self.context.clock.budget.seconds is not None:
                part = max(part, min_part)
            self._run_one(check, part, self.done_weight / (self.done_weight + check.weight))

    def _top_up(self) -> None:
        """Give what is left of the time of a slow system to the checks that got few cases."""
        limited_checks = [check for check in self.checks if _is_worth_a_top_up(check, self.outcomes.get(check.name))]
        while self.running and limited_checks and self.context.clock.has_left(MIN_TOP_UP_SHARE):
            check = limited_checks.pop(0)
            later_weight = sum(later.weight for later in limited_checks)
            self._run_one(check, MAX_RETRY_PART * check.weight / (check.weight + later_weight), 1.0)

    def _run_dependent_checks(self) -> None:
        """Run checks again that use the results of those that got more cases."""
        improved_names = self.context.improved_checks
        for check in self.checks:
            if self.running and improved_names.intersection(check.needs) and not self.context.clock.spent:
                self._run_one(check, 1.0, 1.0)

    def _run_one(self, check: Check, part: float, done: float) -> None:
        """Run one check, and note whether to continue."""
        context = self.context
        for observer in self.observers:
            observer.begin(check, done, part * (1 - done))
        requested = check.name in self.requested
        max_share = 1.0 if requested else check.max_share
        earlier = self.outcomes.get(check.name)
        if context.is_slow and check.name == SLOW_MAIN_CHECK and earlier is None:
            part = max(part, SLOW_MAIN_SHARE)
        if earlier is not None and context.clock.budget.seconds:
            max_share = max(0.0, max_share - earlier.seconds / context.clock.budget.seconds)
        outcome = _run_check(context, check, part, max_share, requested, self.outcomes)
        max_part = MAX_RETRY_PART if context.is_slow and not _comes_late(check) else MAX_EXTRA_PART
        while _has_given_up_early(context, outcome, part) and part < max_part:
            part = min(2 * part, max_part)
            outcome = _join_attempts(outcome, _run_check(context, check, part, max_share, requested, self.outcomes))
        self.outcomes[check.name] = outcome if earlier is None else _join_attempts(earlier, outcome)
        context.suspect_columns(self.outcomes[check.name].defects)
        for observer in self.observers:
            observer.end(self.outcomes[check.name])
        self.running = outcome.skip_reason != "interrupted" and not self.is_stopped()

    def _is_applicable(self, check: Check) -> bool:
        return bool(check.needs) or not _is_skipped(self.context, check)


def _has_given_up_early(context: CheckContext, outcome: Outcome, part: float) -> bool:
    """Tell whether a check saw that its share of the time is too small, before it used much of it."""
    seconds = context.clock.share(part).seconds
    is_early = seconds is not None and outcome.seconds < MAX_EARLY_END_PART * seconds
    return is_early and outcome.state == "not run" and outcome.skip_reason == "share too small"


def _join_attempts(earlier: Outcome, later: Outcome) -> Outcome:
    better = later if later.state != "not run" else earlier
    return replace(better, seconds=earlier.seconds + later.seconds, calls=earlier.calls + later.calls)


def _is_worth_a_retry(outcome: Outcome | None) -> bool:
    """Tell whether a check found nothing for lack of time."""
    return outcome is not None and outcome.state == "not run" and outcome.skip_reason in RETRY_REASONS


def _comes_late(check: Check) -> bool:
    """Tell whether a check of a slow system waits for those about its answers, since it tells less for as many queries."""
    return check.about_querying and check.name != FIRST_CHECK


def _is_worth_a_top_up(check: Check, outcome: Outcome | None) -> bool:
    """Tell whether more cases would tell more; a check about how the system is queried needs few."""
    return (
        outcome is not None and outcome.state in ("passed", "found") and outcome.is_limited and not check.about_querying
    )


def _is_skipped(context: CheckContext, check: Check) -> bool:
    try:
        return bool(check.explain_skip(context))
    except Exception:
        return False  # it is reported when the check runs


def _run_check(
    context: CheckContext, check: Check, part: float, max_share: float, requested: bool, outcomes: Mapping[str, Outcome]
) -> Outcome:
    """Run a check within a part of what is left of the budget, at most `max_share` of the whole."""
    clock = context.clock
    start_seconds, budget = clock.seconds, CheckBudget(Budget(), clock=clock)
    need = context.need = CaseNeed(earlier_counts=context.case_counts.get(check.name, ()))

    def build_outcome(state: OutcomeState, result: CheckFindings) -> Outcome:
        return Outcome(
            check=check.name,
            asks=check.question,
            state=state,
            why=result.basis,
            findings=tuple(result.findings),
            sections=tuple(result.sections),
            seconds=clock.seconds - start_seconds,
            calls=budget.counter.calls,
            skip_reason=result.skip_reason,
            is_limited=need.is_limited,
            min_seconds=round(need.min_seconds, 3),  # a resumed audit measures the same, apart from rounding
        )

    def skip(skip_reason: SkipReason, text: str) -> Outcome:
        return build_outcome("not run", CheckFindings(basis=text, skip_reason=skip_reason))

    try:
        reason = check.explain_skip(context)
        missing_check = next((name for name in check.needs if name in outcomes and outcomes[name].unfinished), "")
        if missing_check and reason in ("", MISSING_RESULT) and outcomes[missing_check].state == "not run":
            return skip("budget spent", f"it needs the check {missing_check!r}, which was not completed")
        if reason:
            return skip("inapplicable", reason)
        if clock.spent:
            return skip("budget spent", "the budget was spent before its turn")
        clock.import_libraries(check.libraries)
        start_seconds = clock.seconds
        budget = CheckBudget(clock.share(part, max_share, check.own_seconds), requested, context.is_slow, clock)
        limit = clock.limit(_add_overtime(budget.budget.seconds, clock.share(1.0).seconds))
        try:
            query_dependent = context.query_dependent
            with limit:
                result = check.run(context, budget)
            if context.case_counts.get(check.name) not in (None, need.counts):
                context.improved_checks.add(check.name)
            context.case_counts[check.name] = need.counts
        finally:
            clock.runs += budget.counter.runs
            if limit.passed:
                context.reset_engine()
        if query_dependent and not check.about_querying:
            warning = " The answers depend on how the system is queried (see above), which may explain part of this."
            findings = [
                replace(
                    finding, confidence=min(finding.confidence, MAX_DOUBTFUL_CERTAINTY), detail=finding.detail + warning
                )
                for finding in result.findings
            ]
            result = replace(result, findings=findings)
        if result.findings:
            return build_outcome("found", result)
        complete = result.conclusive and result.skip_reason not in UNFINISHED_REASONS
        return build_outcome("passed" if complete else "not run", result)
    except (KeyboardInterrupt, Interrupted):
        return skip("interrupted", "interrupted")
    except (OutOfBudget, DeadlinePassed):
        text = "its share of the budget was too small"
        if context.is_slow and need.min_seconds:
            text = f"it takes about {format_seconds(need.min_seconds)}, which its share of the budget did not allow"
        return skip("share too small", text)
    except (SystemFailed, StoreError):
        raise
    except Exception as error:
        return build_outcome("broke", CheckFindings(basis=format_error_line(error)))


def _add_overtime(share_seconds: float | None, seconds_left: float | None) -> float | None:
    """Return when to end a check that looks at no clock: a little after its share, but within the whole budget."""
    if share_seconds is None or seconds_left is None:
        return None
    return min(seconds_left, share_seconds + max(MIN_OVERTIME_SECONDS, MAX_OVERTIME_SHARE * share_seconds))

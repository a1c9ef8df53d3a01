"""What a check is, and the loop that makes them one after the other within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import Interrupted, OutOfBudget, SystemFailed, told
from ..reports.summary import Section
from ..runs.drive import Tally
from ..strategies.flow import Budget
from .finding import Finding, Outcome
from .given import Given

TOO_SMALL = "its share of the budget was too small"
INTERRUPTED = "interrupted"
DOUBT = 0.6  # how sure a finding is at most where answers depend on what else is asked


@dataclass
class Turn:
    """One check at work: what it may cost and what it has cost.

    Attributes
    ----------
    budget : Budget
        Its share of what was left.
    tally : Tally
        What it asked.
    """

    budget: Budget
    tally: Tally = field(default_factory=Tally)
    _began: float = field(default_factory=time.monotonic)

    def left(self, part: float = 1.0) -> Budget:
        """Return a part of what this check has left."""
        seconds = runs = None
        if self.budget.seconds is not None:
            seconds = max(0.001, self.budget.seconds - (time.monotonic() - self._began)) * part
        if self.budget.runs is not None:
            runs = max(1, int((self.budget.runs - self.tally.runs) * part))
        return Budget(runs, seconds)

    def add(self, tally: Tally) -> None:
        """Count what a part of the check has cost."""
        self.tally.runs += tally.runs
        self.tally.calls += tally.calls + tally.health.asked_again


@dataclass(frozen=True)
class Found:
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

    rests_on: str = ""
    findings: Sequence[Finding] = ()
    sections: Sequence[Section] = ()
    made: bool = True


@dataclass(frozen=True)
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
    asks: str
    weight: float
    why_not: Callable[[Given], str]
    run: Callable[[Given, Turn], Found]
    of_asking: bool = False
    needs: tuple[str, ...] = ()


def examine(
    given: Given,
    checks: Iterable[Check],
    only: Sequence[str] = (),
    show: Callable[[str, float], None] = lambda check, done: None,
    learn: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Make all checks that apply, each within its share of what is left, and return what became of them.

    `show` is told which check is next and how far the work is, `learn` what became of each.

    A check that breaks is told and the others go on. Ctrl-C ends the check at work and those after it; what was found
    until then is returned.
    """
    checks = list(checks)
    only = [*only, *(name for check in checks if check.name in only for name in check.needs)]
    wanted = [check for check in checks if not only or check.name in only]
    made: dict[str, Outcome] = {}

    def make(check: Check, part: float) -> bool:
        """Make one check; tell whether to go on."""
        show(check.name, len(made) / (len(wanted) + 1))
        outcome = made[check.name] = _made(given, check, part)
        learn(outcome)
        return outcome.why != INTERRUPTED

    going = True
    for i, check in enumerate(wanted):
        weights = [each.weight for each in wanted[i + 1 :] if each.needs or not _excused(given, each)]
        going = going and make(check, check.weight / (check.weight + sum(weights)))
    # what is left over is for those whose share was too small, and for what stands on them
    late: set[str] = set()
    for check in wanted:
        outcome = made.get(check.name)
        if not going or outcome is None or outcome.state != "not run":
            continue
        if outcome.why == TOO_SMALL or late & set(check.needs):
            going = make(check, 0.5)
            late.add(check.name)
    unasked = {True: "not asked for", False: INTERRUPTED}
    return [
        made.get(check.name, Outcome(check.name, check.asks, "not run", unasked[check not in wanted]))
        for check in checks
    ]


def _excused(given: Given, check: Check) -> bool:
    try:
        return bool(check.why_not(given))
    except Exception:
        return False  # it will be told when its turn has come


def _doubted(finding: Finding) -> Finding:
    """Return a finding about a system whose answers depend on how it is asked."""
    doubt = " Its answers depend on how it is asked (see above): part of this may come from that."
    return replace(finding, sure=min(finding.sure, DOUBT), detail=finding.detail + doubt)


def _made(given: Given, check: Check, part: float) -> Outcome:
    began, turn = time.monotonic(), Turn(Budget())

    def ended(state: Any, why: str, found: Found | None = None) -> Outcome:
        found = found or Found()
        return Outcome(
            check.name, check.asks, state, why, tuple(found.findings), tuple(found.sections),
            time.monotonic() - began, turn.tally.calls,
        )  # fmt: skip

    try:
        why = check.why_not(given)
        if why:
            return ended("not run", why)
        if given.clock.spent:
            return ended("not run", "the budget was spent before its turn")
        turn = Turn(given.clock.share(part))
        try:
            shaky = given.shaky
            found = check.run(given, turn)
        finally:
            given.clock.runs += turn.tally.runs
        if shaky and not check.of_asking:
            found = replace(found, findings=[_doubted(finding) for finding in found.findings])
        state = "found" if found.findings else "passed" if found.made else "not run"
        return ended(state, found.rests_on, found)
    except (KeyboardInterrupt, Interrupted):
        return ended("not run", INTERRUPTED)
    except OutOfBudget:
        return ended("not run", TOO_SMALL)
    except SystemFailed:
        raise
    except Exception as error:
        return ended("broke", told(error))

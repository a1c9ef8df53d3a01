"""Violating cases of audits in a run store, to try first in the next run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.execute import Execution
from ..errors import UsageError
from ..morphisms.subject import SubjectUnderTest
from ..space.points import Points
from ..space.serialisation import value_from_json
from .check import CheckObserver
from .outcome import Outcome

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.session import Session

RELATION_PREFIX = "test: "  # of the names under which the store keeps violating cases
MAX_REMEMBERED_CASES = 20  # per check
MAX_FORGOTTEN_CASES = 1_000  # per check
#: Checks about single cases, which can be tried again.
RETRIED_CHECKS = ("answers", "monotone", "invariant", "protected")


class FailureMemory(CheckObserver):
    """The violating cases of a system in a run store; without one, nothing is remembered."""

    def __init__(self, execution: Execution[Any], system: str) -> None:
        self._execution, self._system = execution, system

    def load_known_failures(self, subject: SubjectUnderTest) -> dict[str, Points]:
        """Return cases that violated an expectation in earlier runs, by the name of the check."""
        session, space = self._execution.session, subject.seeds.space
        if session is None:
            return {}
        cases_by_check: dict[str, list[Points]] = {}
        # the run itself adds cases and removes some: a resumed run begins with those of its beginning
        for check, stored_case in self._execution.recall(lambda: self._recall_cases(session)):
            try:
                case = {name: value_from_json(value) for name, value in stored_case.items()}
                if set(case) == set(space.names):
                    cases_by_check.setdefault(check, []).append(space.points(case))
            except (UsageError, ValueError, TypeError, AttributeError):
                continue  # a case of another model with the same name
        return {check: Points.concat(parts[:MAX_REMEMBERED_CASES]) for check, parts in cases_by_check.items()}

    def _recall_cases(self, session: Session) -> list[list[Any]]:
        from ..runs import failures

        return [
            [failure.relation.removeprefix(RELATION_PREFIX), failure.case]
            for failure in failures.recall_all(session.store)
            if failure.system == self._system and failure.relation.startswith(RELATION_PREFIX)
        ]

    def end(self, outcome: Outcome) -> None:
        """Remember violating cases, and forget fixed ones: at once, since an audit may be killed."""
        session = self._execution.session
        if session is None or outcome.check not in RETRIED_CHECKS:
            return
        from ..runs import failures

        store, relation = session.store, f"{RELATION_PREFIX}{outcome.check}"
        if outcome.state in ("passed", "found"):
            known_failures = failures.recall(store, self._system, relation, MAX_FORGOTTEN_CASES)
            failures.forget(store, [failure.id for failure in known_failures])
        cases = [
            {"case": dict(example.case), "verdict": "VIOLATED", "message": example.text}
            for finding in outcome.defects
            for example in finding.examples
            if example.case
        ]
        if cases:
            failures.remember(store, self._system, relation, cases[:MAX_REMEMBERED_CASES], session.run)

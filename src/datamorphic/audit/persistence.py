"""Keep audits in a run store: the result, and violating cases to try first in the next run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._typing import ModelLike
from ..errors import UsageError
from ..morphisms.subject import SubjectUnderTest, find_system_name
from ..runs.keep import keep_run
from ..space.points import Points
from ..space.serialize import value_from_json
from .check import CheckObserver
from .options import AuditOptions
from .outcome import Outcome
from .result import AuditResult

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.session import Session

RELATION_PREFIX = "test: "  # of the names under which the store keeps violating cases
MAX_REMEMBERED_CASES = 20  # per check
MAX_FORGOTTEN_CASES = 1_000  # per check
#: Checks about single cases, which can be tried again.
RETRIED_CHECKS = ("answers", "monotone", "invariant", "protected")


class AuditRun(CheckObserver):
    """The record of an audit in a run store; without a session, nothing is recorded."""

    def __init__(self, session: Session | None = None, system: str = "") -> None:
        self.session, self.system = session, system

    def load_known_failures(self, subject: SubjectUnderTest) -> dict[str, Points]:
        """Return cases that violated an expectation in earlier runs, by the name of the check."""
        if self.session is None:
            return {}
        from ..runs import failures

        space = subject.seeds.space
        cases_by_check: dict[str, list[Points]] = {}
        for failure in failures.recall_all(self.session.store):
            if failure.system != self.system or not failure.relation.startswith(RELATION_PREFIX):
                continue
            try:
                case = {name: value_from_json(value) for name, value in failure.case.items()}
                if set(case) == set(space.names):
                    check = failure.relation.removeprefix(RELATION_PREFIX)
                    cases_by_check.setdefault(check, []).append(space.points(case))
            except (UsageError, ValueError, TypeError, AttributeError):
                continue  # a case of another model with the same name
        return {check: Points.concat(parts[:MAX_REMEMBERED_CASES]) for check, parts in cases_by_check.items()}

    def end(self, outcome: Outcome) -> None:
        """Remember violating cases, and forget fixed ones: at once, since an audit may be killed."""
        if self.session is None or self.session.is_store_lost or outcome.check not in RETRIED_CHECKS:
            return
        with self.session.tolerate_lost_store():
            self._remember(self.session, outcome)

    def _remember(self, session: Session, outcome: Outcome) -> None:
        from ..runs import failures

        store, relation = session.store, f"{RELATION_PREFIX}{outcome.check}"
        if outcome.state in ("passed", "found"):
            known = failures.recall(store, self.system, relation, MAX_FORGOTTEN_CASES)
            failures.forget(store, [failure.id for failure in known])
        cases = [
            {"case": dict(example.case), "verdict": "VIOLATED", "message": example.text}
            for finding in outcome.defects
            for example in finding.examples
            if example.case
        ]
        if cases:
            failures.remember(store, self.system, relation, cases[:MAX_REMEMBERED_CASES], session.run)

    def finish(self, result: AuditResult) -> None:
        """Record the result."""
        if self.session is None or self.session.is_store_lost:
            return
        with self.session.tolerate_lost_store():
            self.session.finish(result)


@contextmanager
def open_audit_run(options: AuditOptions, subject: SubjectUnderTest, model: ModelLike) -> Iterator[AuditRun]:
    """Record an audit in the store of its options while the context lasts."""
    keep = options.keep
    if keep is None:
        yield AuditRun()
        return
    with keep_run(
        keep, "test", subject.name, options.request, seed=options.seed, model=model, seeds=subject.seeds
    ) as session:
        yield AuditRun(session, find_system_name(model, options.name, keep.request))

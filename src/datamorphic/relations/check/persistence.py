"""Store checks in a run store, and replay the violations of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import DataError
from ...runs.keep import StoreOptions, keep_run
from .learner_session import LearnerSession
from .result import CheckReport
from .violation import LearnerViolation

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ...runs.session import Session

MAX_REPLAYED_VIOLATIONS = 20  # per relation


class StoredCheck:
    """A check in a run store."""

    def __init__(self, session: Session, system: str) -> None:
        self.session, self.system = session, system

    def replay_violations(self, learner_session: LearnerSession) -> dict[str, list[LearnerViolation]]:
        """Return earlier violations that still occur, and forget the others."""
        from ...runs import failures

        store, violations_by_relation = self.session.store, {}
        for outcome in learner_session.outcomes:
            if outcome.statistical:
                continue
            violations, name = [], outcome.relation.name
            for failure in failures.recall(store, self.system, f"check: {name}", MAX_REPLAYED_VIOLATIONS):
                try:
                    violation = learner_session.replay(outcome, failure.case)
                except (DataError, KeyError, TypeError, ValueError):
                    continue  # the case belongs to another learner of this name
                if violation is None:
                    failures.forget(store, [failure.id])
                else:
                    violations.append(violation)
            violations_by_relation[name] = violations
        return violations_by_relation

    def finish(self, report: CheckReport, learner_session: LearnerSession) -> None:
        """Store the report and the smallest violations."""
        from ...runs import failures

        for name, violation in report.examples.items():
            if not isinstance(violation, LearnerViolation):
                continue
            case = learner_session.to_stored_case(violation)
            if case is not None:
                message = f"{violation.before} before, {violation.after} after, {violation.expected} expected"
                record = {"case": case, "verdict": "VIOLATED", "message": message}
                failures.remember(self.session.store, self.system, f"check: {name}", [record], self.session.run)

        self.session.finish(report)


@contextmanager
def keep_check(
    keep: StoreOptions | None, subject: str, seed: int, model: Any, data: Any, name: str | None
) -> Iterator[StoredCheck | None]:
    """Open a stored run for a check; yield None if nothing is to be stored."""
    if keep is None:
        yield None
        return
    request = keep.request.get("words", {})
    # the key includes parameters: a relation that one k violates may hold for another
    model_text = " ".join([request["model"], *request.get("param", ())]) if request.get("model") else ""
    with keep_run(keep, "check", subject, {}, seed=seed, model=model, seeds=data) as session:
        yield StoredCheck(session, model_text or name or subject)

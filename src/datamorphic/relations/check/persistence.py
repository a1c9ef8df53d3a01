"""Violations by learners in a run store: those of earlier checks are replayed, and new ones are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.execute import Execution
from ...errors import DataError
from .learner_session import LearnerSession
from .options import CheckSubject
from .result import CheckReport
from .violation import LearnerViolation

MAX_REPLAYED_VIOLATIONS = 20  # per relation


@dataclass(frozen=True)
class EarlierViolations:
    """The violations of earlier checks that still occur, and the numbers of those that do not."""

    by_relation: Mapping[str, Sequence[LearnerViolation]] = field(default_factory=dict)
    fixed_ids: Sequence[int] = ()

    @classmethod
    def replay(cls, execution: Execution[CheckSubject], learner_session: LearnerSession) -> EarlierViolations:
        """Try the violations that were known when the run began."""
        from ...runs import failures

        session = execution.session
        assert session is not None
        by_relation: dict[str, list[LearnerViolation]] = {}
        fixed_ids = []
        began, system = session.store.run(session.run).started, _name_system(execution)
        for outcome in learner_session.outcomes:
            if outcome.statistical:
                continue
            known_failures = failures.recall(session.store, system, f"check: {outcome.name}", MAX_REPLAYED_VIOLATIONS)
            violations = by_relation[outcome.name] = []
            for failure in known_failures:
                if failure.first_seen > began:
                    continue  # found by another run while this one was stopped
                try:
                    violation = learner_session.replay(outcome, failure.case)
                except (DataError, KeyError, TypeError, ValueError):
                    continue  # the case belongs to another learner of this name
                if violation is None:
                    fixed_ids.append(failure.id)
                else:
                    violations.append(violation)
        return cls(by_relation, fixed_ids)

    def update(self, execution: Execution[CheckSubject], learner_session: LearnerSession, report: CheckReport) -> None:
        """Keep the smallest violations of a report, and forget those that no longer occur."""
        from ...runs import failures

        session = execution.session
        assert session is not None
        # at the end: if the run is stopped before, it replays the same violations when it is resumed
        failures.forget(session.store, self.fixed_ids)
        for name, violation in report.examples.items():
            if not isinstance(violation, LearnerViolation):
                continue
            case = learner_session.to_stored_case(violation)
            if case is not None:
                message = f"{violation.before} before, {violation.after} after, {violation.expected} expected"
                record = {"case": case, "verdict": "VIOLATED", "message": message}
                failures.remember(session.store, _name_system(execution), f"check: {name}", [record], session.run)


def _name_system(execution: Execution[CheckSubject]) -> str:
    """Return the name under which violations are kept.

    It has the parameters of the learner: a relation that one k violates may hold for another.
    """
    request = execution.request.get("words", {})
    model_text = " ".join([request["model"], *request.get("param", ())]) if request.get("model") else ""
    return model_text or getattr(execution.options, "name", None) or execution.subject.name

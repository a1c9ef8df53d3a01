"""What ``dm.test`` keeps in a run store: the result, and the cases that broke a promise, to be tried first the next time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, UsageError
from ..exploration.io import write_front
from ..exploration.persistence import FRONT_FILE
from ..morphisms.subject import SubjectUnderTest, find_system_name
from ..runs.keep import KeepOptions, keep_run
from ..space.points import Points
from ..space.serialize import value_from_json
from .finding import Finding, Outcome
from .result import AuditResult

if TYPE_CHECKING:  # SQLAlchemy is loaded where a store is opened
    from ..runs.session import Session

RESULT_FILE = "result.json"
MAX_REMEMBERED_CASES = 20  # cases of a check that are remembered
RETRIED_CHECKS = (
    "answers",
    "monotone",
    "invariant",
    "protected",
)  # checks about single cases, which can be tried again


class AuditRun:
    """A test in a run store."""

    def __init__(self, session: Session, system: str) -> None:
        self.session, self.system = session, system

    def load_known_failures(self, subject: SubjectUnderTest) -> dict[str, Points]:
        """Return the cases that broke a promise in earlier tests, by the name of the check."""
        from ..runs import failures

        space = subject.seeds.space
        cases_by_check: dict[str, list[Points]] = {}
        for failure in failures.recall_all(self.session.store):
            if failure.system != self.system or not failure.relation.startswith("test: "):
                continue
            try:
                case = {name: value_from_json(value) for name, value in failure.case.items()}
                if set(case) == set(space.names):
                    cases_by_check.setdefault(failure.relation.removeprefix("test: "), []).append(
                        space.points(case)
                    )
            except (UsageError, ValueError, TypeError, AttributeError):
                continue  # a case of another model of this name
        return {check: Points.concat(parts[:MAX_REMEMBERED_CASES]) for check, parts in cases_by_check.items()}

    def update_failures(self, outcome: Outcome) -> None:
        """Remember what broke a promise, and forget what does no longer: at once, since a test may be killed."""
        from ..runs import failures

        if outcome.check not in RETRIED_CHECKS:
            return
        store, relation = self.session.store, f"test: {outcome.check}"
        if outcome.state in ("passed", "found"):
            failures.forget(store, [failure.id for failure in failures.recall(store, self.system, relation, 1000)])
        cases = [
            {"case": dict(example.case), "verdict": "VIOLATED", "message": example.words}
            for finding in _exclude_advice(outcome)
            for example in finding.examples
            if example.case
        ]
        if cases:
            failures.remember(store, self.system, relation, cases[:MAX_REMEMBERED_CASES], self.session.run)

    def finish(self, result: AuditResult) -> None:
        """Enter what came out."""
        try:
            self._finish_session(result, {RESULT_FILE: _make_result_writer(result), **_make_front_writers(result)})
        except (DataError, UnicodeError):  # labels that no file can hold: what can be kept is
            self._finish_session(result, {RESULT_FILE: _make_result_writer(result)})

    def _finish_session(self, result: AuditResult, artifacts: Mapping[str, Any]) -> None:
        self.session.finish(summary=build_summary(result), verdicts=list_verdicts(result), artifacts=artifacts)


def _make_result_writer(result: AuditResult) -> Any:
    def write(path: Path) -> int:
        result.to_json(path)
        return len(result.findings)

    return write


def _make_front_writers(result: AuditResult) -> dict[str, Any]:
    front = result.front
    if front is None or not len(front):
        return {}

    def write(path: Path) -> int:
        write_front(front, path, query_seeds=False)
        return len(front)

    return {FRONT_FILE: write}


def build_summary(result: AuditResult) -> dict[str, Any]:
    """Return what was found in figures."""
    levels = [finding.level for finding in result.findings]
    return {
        "headline": result.headline,
        "passed": result.passed,
        **{
            f"{level}s" if level != "advice" else level: levels.count(level)
            for level in ("fault", "concern", "advice")
        },
        "checks": sum(outcome.state != "not run" for outcome in result.outcomes),
        "calls": result.calls,
        "findings": [finding.title for finding in result.findings],
    }


def _exclude_advice(outcome: Outcome) -> list[Finding]:
    return [finding for finding in outcome.findings if finding.level != "advice"]


def list_verdicts(result: AuditResult) -> list[dict[str, Any]]:
    """Return what became of every check."""
    states = {"passed": "HOLDS", "found": "VIOLATED", "not run": "INAPPLICABLE", "broke": "UNDEFINED"}
    return [
        {
            "relation": outcome.check,
            "says": outcome.asks,
            "verdict": states[outcome.state] if _exclude_advice(outcome) or outcome.state != "found" else "HOLDS",
            "cases": sum(finding.cases for finding in _exclude_advice(outcome)),
        }
        for outcome in result.outcomes
    ]


@contextmanager
def open_audit_run(
    keep: KeepOptions | None,
    subject: SubjectUnderTest,
    request: Mapping[str, Any],
    seed: int,
    model: Any,
    name: str | None,
) -> Iterator[AuditRun | None]:
    """Keep a test while it goes on; None where nobody asked for that."""
    if keep is None:
        yield None
        return
    with keep_run(keep, "test", subject.name, request, seed=seed, model=model, seeds=subject.seeds) as session:
        yield AuditRun(session, find_system_name(model, name, keep.request))

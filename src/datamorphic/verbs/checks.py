"""What ``dm.check`` keeps in a run store: the report, and the violations, to be tried first the next time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from ..verdicts.examination import Examination
from ..verdicts.report import Report
from ..verdicts.violation import Violation
from .keeping import Keep, opened

if TYPE_CHECKING:  # SQLAlchemy is loaded where a store is opened
    from ..runs.session import Session

REPORT = "report.json"
MOST = 20  # violations of a relation that are tried again


class KeptCheck:
    """A check in a run store."""

    def __init__(self, session: Session, system: str) -> None:
        self.session, self.system = session, system

    def tried_again(self, learning: Examination) -> dict[str, list[Violation]]:
        """Try the violations of earlier checks; return those that are violations still, and forget the others."""
        from ..runs import failures

        store, still = self.session.store, {}
        for each in learning.tested:
            if each.statistical:
                continue
            found = []
            for failure in failures.recall(store, self.system, _key(each.relation.name), MOST):
                try:
                    violation = learning.still(each, failure.case)
                except (DataError, KeyError, TypeError, ValueError):
                    continue  # a case of another learner of this name
                if violation is None:
                    failures.forget(store, [failure.id])
                else:
                    found.append(violation)
            still[each.relation.name] = found
        return still

    def finish(self, report: Report, learning: Examination) -> None:
        """Enter what came out."""
        from ..runs import failures

        for name, violation in report.examples.items():
            if isinstance(violation, Violation) and (case := learning.kept(violation)) is not None:
                message = f"{violation.before} before, {violation.after} after, {violation.expected} expected"
                kept = {"case": case, "verdict": "VIOLATED", "message": message}
                failures.remember(self.session.store, self.system, _key(name), [kept], self.session.run)

        def write(path: Path) -> int:
            report.to_json(path)
            return len(report.entries)

        self.session.finish(
            summary={
                "headline": report.headline,
                "passed": report.passed,
                "relations": len(report.entries),
                "faults": [entry.relation for entry in report.faults],
                "runs": report.runs,
                "calls": report.calls,
            },
            verdicts=[_verdict(entry) for entry in report.entries],
            artifacts={REPORT: write},
        )


def _key(relation: str) -> str:
    return f"check: {relation}"


def _verdict(entry: Any) -> dict[str, Any]:
    verdict = (
        "VIOLATED"
        if entry.violated or entry.fault
        else "HOLDS"
        if entry.judged
        else "UNDEFINED"
        if entry.undefined
        else "INAPPLICABLE"
    )
    return {"relation": entry.relation, "says": entry.says, "verdict": verdict, "cases": entry.violated}


@contextmanager
def kept_check(
    keep: Keep | None, subject: str, seed: int, model: Any, data: Any, name: str | None
) -> Iterator[KeptCheck | None]:
    """Keep a check while it goes on; None where nobody asked for that."""
    if keep is None:
        yield None
        return
    from ..runs.session import Session

    with opened(keep) as store:
        session = Session(store, None, "check", subject, dict(keep.words), seed=seed, model=model, seeds=data)
        keep.begun(session.run)
        words = keep.words.get("words", {})
        with session:
            # by its parameters, too: what one k violates, another need not
            asked = " ".join([words["model"], *words.get("param", ())]) if words.get("model") else ""
            yield KeptCheck(session, asked or name or subject)

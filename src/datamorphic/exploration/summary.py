"""The figures of a front that a run store keeps: what was found, what it cost, and two verdicts on the system."""

from __future__ import annotations

from typing import Any

from ..space.outputs import Status
from .front_data import FrontData

ANSWERS_RELATION = "answers"  # the relation that every system must satisfy: an answer to every case


def summarize_front(front: FrontData) -> dict[str, Any]:
    """Return the yield and the cost of an exploration as a dict of figures."""
    return {
        "strategy": front.strategy,
        "walks": front.walks,
        "pairs": len(front),
        "mutants": front.mutants,
        "runs": front.runs,
        "calls": front.calls,
        "capability": front.capability,
        "cost": front.cost if len(front) else None,
        "lost": front.lost,
        "unfinished": front.unfinished,
        "exhausted": front.exhausted,
        "borders": {str(kind): int(count) for kind, count in front.border_counts.items()},
        "notes": list(front.notes),
    }


def list_verdicts(front: FrontData) -> list[dict[str, Any]]:
    """Return whether the system answered every case, and gave the same answer when queried again."""
    health = front.tally.health
    failed_rows = sum(count for status, count in health.status_counts.items() if status != Status.NEW_LABEL)
    return [
        _build_verdict(ANSWERS_RELATION, "the system answers every case", failed_rows),
        _build_verdict(
            "repeats", "the system gives the same answer when it is queried again", len(health.unstable_cases)
        ),
    ]


def _build_verdict(relation: str, statement: str, violation_count: int) -> dict[str, Any]:
    return {
        "relation": relation,
        "says": statement,
        "verdict": "VIOLATED" if violation_count else "HOLDS",
        "cases": violation_count,
    }

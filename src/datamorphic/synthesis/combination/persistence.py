"""Keep combinations in a run store: the test set, the figures and the verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import DataError
from ..stored_tests import TESTS_FILE
from .result import Combination
from .text import format_headline

if TYPE_CHECKING:  # SQLAlchemy is loaded when a store is opened
    from ...runs.session import Session


def keep_combination(session: Session, combination: Combination) -> None:
    """Store the test set of a run, its figures and the verdicts."""

    def write_artifact(path: Path) -> int:
        combination.tests.to_parquet(path)
        return len(combination.tests)

    figures = combination.document()
    words: dict[str, str] = {}
    for group in combination.groups:
        words.setdefault(group.metamorphism, group.words)
    verdicts = [
        {
            "relation": row.metamorphism,
            "says": row.message or row.metamorphism,
            "verdict": "VIOLATED" if row.violated else "HOLDS" if row.holds else "NOT CHECKED",
            "cases": row.violated,
            "words": words.get(row.metamorphism, ""),
        }
        for row in combination.table.itertuples()
    ]
    summary = {name: figures[name] for name in ("strategy", "seeds", "cases", "runs", "calls", "violation_count")}
    message = session.journal.stop_reason if session.journal is not None else ""
    end_values: dict[str, Any] = {
        "summary": {"headline": format_headline(combination), **summary},
        "verdicts": verdicts,
    }
    is_interrupted = combination.tally.interrupted
    try:
        session.finish(
            interrupted=is_interrupted, **end_values, artifacts={TESTS_FILE: write_artifact}, message=message
        )
    except (DataError, UnicodeError) as error:  # some outputs cannot be written: keep the rest
        message = f"The test set is not kept: {error}"
        session.finish(interrupted=is_interrupted, **end_values, artifacts={}, message=message)

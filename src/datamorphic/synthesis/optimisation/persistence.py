"""Keep optimisations in a run store: the figures, and the best test set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import DataError
from ...morphisms.cases import TestSet
from .result import Optimisation
from .text import format_metric

if TYPE_CHECKING:  # SQLAlchemy is loaded when a store is opened
    from ...runs.session import Session
    from ...runs.store import Store

TESTS_FILE = "tests.parquet"  # the name of the best test set among the files of a run


def keep_optimisation(session: Session, result: Optimisation) -> None:
    """Store the best test set of a run, and its figures."""

    def write_artifact(path: Path) -> int:
        result.tests.to_parquet(path)
        return len(result.tests)

    document = result.document()
    summary: dict[str, Any] = {
        "headline": "; ".join(format_metric(result, name) for name in result.metrics),
        **{
            name: document[name]
            for name in ("strategy", "cases", "start", "fitness", "cycles", "stopped", "executions")
        },
    }
    stop_reason = session.journal.stop_reason if session.journal is not None else ""
    end_values: dict[str, Any] = {"interrupted": result.interrupted, "summary": summary}
    try:
        session.finish(**end_values, artifacts={TESTS_FILE: write_artifact}, message=stop_reason)
    except (DataError, UnicodeError) as error:  # some labels cannot be written: keep the rest
        session.finish(**end_values, artifacts={}, message=f"The test set is not kept: {error}")


def load_tests(store: Store, run: int) -> TestSet:
    """Return the test set that a stored run found."""
    with store.fetch(run, TESTS_FILE) as path:
        return TestSet.from_parquet(path)

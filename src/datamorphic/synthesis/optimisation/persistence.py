"""Keep optimisations in a run store: the figures, and the best test set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import DataError
from ..stored_tests import TESTS_FILE
from .result import Optimisation

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ...runs.session import Session


def keep_optimisation(session: Session, result: Optimisation) -> None:
    """Store the best test set of a run, and its figures."""

    def write_artifact(path: Path) -> int:
        result.tests.to_parquet(path)
        return len(result.tests)

    document = result.document()
    summary: dict[str, Any] = {
        "headline": "; ".join(result.describe_metric(name) for name in result.metrics),
        **{
            name: document[name]
            for name in ("strategy", "cases", "start", "fitness", "cycles", "stopped", "executions")
        },
    }
    stop_reason = session.journal.stop_reason if session.journal is not None else ""
    end_values: dict[str, Any] = {"summary": summary}
    try:
        session.finish(result, **end_values, artifacts={TESTS_FILE: write_artifact}, message=stop_reason)
    except (DataError, UnicodeError) as error:  # some labels cannot be written: keep the rest
        session.finish(result, **end_values, artifacts={}, message=f"The test set is not kept: {error}")

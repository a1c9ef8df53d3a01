"""Test sets among the files of stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..morphisms.cases import TestSet

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.store import Store

TESTS_FILE = "tests.parquet"  # the name of the test set among the files of a run


def load_stored_tests(store: Store, run: int) -> TestSet:
    """Return the test set that a stored run made."""
    with store.fetch(run, TESTS_FILE) as path:
        return TestSet.from_parquet(path)

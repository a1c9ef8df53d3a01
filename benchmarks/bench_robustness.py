"""What is left of killed runs, how many wrong arguments end in a raw error, and how soon an endless request is refused."""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
import time
import timeit
import warnings
from pathlib import Path

import datamorphic as dm
from benchmarks.timing import line
from datamorphic._validation import check_types

TESTS = Path(__file__).parents[1] / "tests"

ROUNDS = 7  # per kind of run
CALLS = 100_000  # to time the check of types


def main():
    warnings.simplefilter("ignore")
    sys.path += [str(TESTS), str(TESTS / "systems")]
    test_watchdog, test_wrong_values = map(importlib.import_module, ("test_watchdog", "test_wrong_values"))
    left_over = [_kill(test_watchdog, *case) for case in test_watchdog.CASES.values() for _ in range(ROUNDS)]
    line("killed runs of which anything is left", f"{sum(left_over)} of {len(left_over)}", "15 of 28 before")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # calls that work may write files
        outcomes = [test_wrong_values.explain_wrong_outcome(*case, Path(folder)) for case in test_wrong_values.CASES]
    unclear = sum(outcome is not None for outcome in outcomes)
    line("wrong arguments without a clear error", f"{unclear:,} of {len(outcomes):,}", "152 of 3,024 before")
    plain, checked = (
        min(timeit.repeat("take(5)", globals={"take": function}, number=CALLS)) / CALLS
        for function in (_take_number, check_types(_take_number))
    )
    line("types of the arguments of one call", f"{1e6 * (checked - plain):.1f} us", "13 us before")
    began = time.perf_counter()
    try:
        dm.explore(dm.subjects["Box 1"], walks=10**12, progress=False)
    except dm.errors.UsageError as error:
        line(
            "dm.explore with 10**12 walks is refused", f"{time.perf_counter() - began:.1f} s", f"no end before: {error}"
        )


def _take_number(n: int, *, exact: bool = False, name: str | None = None):
    pass


def _kill(test_watchdog, program, is_ready, pause):
    with tempfile.TemporaryDirectory() as folder:
        return any(test_watchdog.kill_when(program, Path(folder), is_ready, pause))


if __name__ == "__main__":
    main()

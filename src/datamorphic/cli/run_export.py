"""Runs written from a store to files."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .._files import write_file
from ..audit.result import RESULT_FILE, AuditResult
from ..errors import ArgumentError
from ..exploration.front import FRONT_FILE
from ..exploration.persistence import load_front
from ..runs.run import Run
from ..runs.store import Store
from ..space.table_files import quote_formulas
from ..synthesis.stored_tests import TESTS_FILE, load_stored_tests

Writer = Callable[[Store, Run, Path], None]


def export_run(store: Store, run: int, path: Path) -> list[Path]:
    """Write a run to a file, or all its files to a folder; return the paths.

    The suffix of a file selects its content. .json: all that is known of the run; .parquet: the front as `Front.load` reads
    it, or the test set as `TestSet.load` reads it; .csv: the border pairs, or the test cases; .html: the report.
    """
    stored_run = store.run(run)
    write_front, write_tests = partial(_copy_file, FRONT_FILE), partial(_copy_file, TESTS_FILE)
    has_tests = _has_file(stored_run, TESTS_FILE)
    writers: dict[str, Writer] = {
        ".json": _write_json,
        ".parquet": write_tests if has_tests else write_front,
        ".csv": _write_cases if has_tests else _write_csv,
        ".html": _write_html,
    }
    if path.suffix:
        if path.suffix not in writers:
            raise ArgumentError(
                f"A run cannot be written as {path.suffix!r}. Use {', '.join(writers)}, or name a folder for all files."
            )
        files = {path: writers[path.suffix]}
    else:
        names: dict[str, Writer] = {"run.json": _write_json}
        if _has_file(stored_run, FRONT_FILE):
            names |= {FRONT_FILE: write_front, "pairs.csv": _write_csv}
        if _has_file(stored_run, RESULT_FILE):
            names[RESULT_FILE] = partial(_copy_file, RESULT_FILE)
        if _has_report(stored_run):
            names["report.html"] = _write_html
        if has_tests:
            names |= {TESTS_FILE: write_tests, "tests.csv": _write_cases}
        files = {path / name: writer for name, writer in names.items()}
    for file, writer in files.items():
        writer(store, stored_run, file)
    return list(files)


def _write_json(store: Store, run: Run, path: Path) -> None:
    write_file(path, json.dumps(run.to_json(), indent=2, allow_nan=False) + "\n")


def _copy_file(name: str, store: Store, run: Run, path: Path) -> None:
    with store.fetch(run.id, name) as source_path:
        write_file(path, source_path.read_bytes())


def _write_csv(store: Store, run: Run, path: Path) -> None:
    pairs = quote_formulas(load_front(store, run.id).pairs)
    write_file(path, lambda draft: pairs.to_csv(draft, index=False))


def _write_cases(store: Store, run: Run, path: Path) -> None:
    load_stored_tests(store, run.id).save(path)


def _write_html(store: Store, run: Run, path: Path) -> None:
    from ..exploration.page import build_front_page
    from ..reporting.html import write_page

    if _has_file(run, RESULT_FILE) and not _has_report(run):
        raise ArgumentError(f"Run {run.id} has no stored report. Use .json, or repeat the run with --html FILE.")
    if _has_file(run, RESULT_FILE):
        with store.fetch(run.id, RESULT_FILE) as source_path:
            AuditResult.from_json(source_path.read_text(encoding="utf-8")).to_html(path)
    else:
        write_page(build_front_page(load_front(store, run.id)), path)


def _has_report(run: Run) -> bool:
    """Return whether the report of a run can be built from its files."""
    return _has_file(run, FRONT_FILE) or (run.verb == "test" and _has_file(run, RESULT_FILE))


def _has_file(run: Run, name: str) -> bool:
    return any(artifact.name == name for artifact in run.artifacts)

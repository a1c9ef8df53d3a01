"""Runs in a store: what became of them, side by side, and out of the store into files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..audit.persistence import RESULT_FILE
from ..audit.result import AuditResult
from ..errors import ArgumentError, StoreError
from ..exploration.diff.diff import Difference
from ..exploration.front import Front
from ..exploration.persistence import FRONT_FILE
from .run import Run
from .store import Store


def load_front(store: Store, run: int) -> Front:
    """Return the front that a run found."""
    with store.fetch(run, FRONT_FILE) as path:
        return Front.load(path)


@dataclass(frozen=True)
class RunComparison:
    """Two runs side by side.

    Attributes
    ----------
    first, second : Run
        The runs.
    changed : dict
        What differs in how they were made: parameters, versions, the model, the data; each with both values.
    difference : Difference or None
        Where the border moved; None where there is nothing to compare.
    why_not : str
        Why there is not.
    """

    first: Run
    second: Run
    changes: dict[str, tuple[Any, Any]]
    difference: Difference | None = None
    reason: str = ""


def compare_runs(store: Store, first: int, second: int) -> RunComparison:
    """Compare how two explorations were made and what they found."""
    first_run, second_run = store.run(first), store.run(second)
    changes: dict[str, tuple[Any, Any]] = {}
    for attribute in ("verb", "system", "seed", "model_hash", "data_hash"):
        changes[attribute] = getattr(first_run, attribute), getattr(second_run, attribute)
    for attribute in ("parameters", "versions", "environment"):
        before, after = (
            _flatten_parameters(getattr(first_run, attribute)),
            _flatten_parameters(getattr(second_run, attribute)),
        )
        changes |= {name: (before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())}
    changes = {name: value_pair for name, value_pair in changes.items() if value_pair[0] != value_pair[1]}
    try:
        fronts = [load_front(store, run) for run in (first, second)]
    except StoreError as error:
        return RunComparison(first_run, second_run, changes, None, str(error))
    empty = [run for run, front in zip((first, second), fronts, strict=True) if not len(front)]
    if empty:
        return RunComparison(
            first_run, second_run, changes, None, f"Run {empty[0]} found no pairs. Give it more walks."
        )
    return RunComparison(first_run, second_run, changes, fronts[0].diff(fronts[1]))


def _flatten_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters without the words they came from: these say the same again, but for model and data."""
    request = parameters.get("words", {})
    return {name: value for name, value in parameters.items() if name != "words"} | {
        name: request[name]
        for name in ("model", "data", "subject", "target", "seeds")
        if request.get(name) is not None
    }


def export_run(store: Store, run: int, path: Path) -> list[Path]:
    """Write a run to a file, what of it the ending says, or everything to a folder; return what was written.

    .json: all that is known of the run; .parquet: the front as `Front.load` reads it; .csv: the pairs;
    .html: the report.
    """
    stored_run = store.run(run)
    writers = {".json": _write_json, ".parquet": _write_parquet, ".csv": _write_csv, ".html": _write_html}
    if path.suffix:
        if path.suffix not in writers:
            raise ArgumentError(
                f"A run cannot be written as {path.suffix!r}. Use {', '.join(writers)}, or name a folder for all."
            )
        files = {path: writers[path.suffix]}
    else:
        names = {"run.json": _write_json}
        names |= {FRONT_FILE: _write_parquet, "pairs.csv": _write_csv} if _has_file(stored_run, FRONT_FILE) else {}
        names |= {RESULT_FILE: _write_result} if _has_file(stored_run, RESULT_FILE) else {}
        names |= (
            {"report.html": _write_html}
            if _has_file(stored_run, FRONT_FILE) or _has_file(stored_run, RESULT_FILE)
            else {}
        )
        files = {path / name: writer for name, writer in names.items()}
    try:
        for file, writer in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            writer(store, stored_run, file)
    except OSError as error:
        raise StoreError(f"Run {run} cannot be written to {path}: {error.strerror or error}.") from None
    return list(files)


def _write_json(store: Store, run: Run, path: Path) -> None:
    path.write_text(json.dumps(run.to_json(), indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _write_parquet(store: Store, run: Run, path: Path) -> None:
    with store.fetch(run.id, FRONT_FILE) as source_path:
        path.write_bytes(source_path.read_bytes())


def _write_csv(store: Store, run: Run, path: Path) -> None:
    load_front(store, run.id).pairs.to_csv(path, index=False)


def _write_html(store: Store, run: Run, path: Path) -> None:
    from ..exploration.page import build_front_page
    from ..reporting.html import write_page

    if _has_file(run, RESULT_FILE):
        with store.fetch(run.id, RESULT_FILE) as source_path:
            AuditResult.from_json(source_path.read_text(encoding="utf-8")).to_html(path)
    else:
        write_page(build_front_page(load_front(store, run.id)), path)


def _write_result(store: Store, run: Run, path: Path) -> None:
    with store.fetch(run.id, RESULT_FILE) as source_path:
        path.write_bytes(source_path.read_bytes())


def _has_file(run: Run, name: str) -> bool:
    return any(artifact.name == name for artifact in run.artifacts)

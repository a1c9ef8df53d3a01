"""Runs in a store: what became of them, side by side, and out of the store into files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checkup.result import Result
from ..errors import ArgumentError, StoreError
from ..fronts.difference import Difference
from ..fronts.front import Front
from ..runs.run import Run
from ..runs.store import Store
from .checkups import RESULT
from .keeping import FRONT


def front_of_run(store: Store, run: int) -> Front:
    """Return the front that a run found."""
    with store.fetch(run, FRONT) as path:
        return Front.load(path)


@dataclass(frozen=True)
class RunsCompared:
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
    changed: dict[str, tuple[Any, Any]]
    difference: Difference | None = None
    why_not: str = ""


def compare(store: Store, first: int, second: int) -> RunsCompared:
    """Compare how two explorations were made and what they found."""
    one, two = store.run(first), store.run(second)
    changed: dict[str, tuple[Any, Any]] = {}
    for what in ("verb", "system", "seed", "model_hash", "data_hash"):
        changed[what] = getattr(one, what), getattr(two, what)
    for what in ("parameters", "versions", "environment"):
        before, after = _flat(getattr(one, what)), _flat(getattr(two, what))
        changed |= {name: (before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())}
    changed = {name: both for name, both in changed.items() if both[0] != both[1]}
    try:
        fronts = [front_of_run(store, run) for run in (first, second)]
    except StoreError as error:
        return RunsCompared(one, two, changed, None, str(error))
    empty = [run for run, front in zip((first, second), fronts, strict=True) if not len(front)]
    if empty:
        return RunsCompared(one, two, changed, None, f"Run {empty[0]} found no pairs. Give it more walks.")
    return RunsCompared(one, two, changed, fronts[0].diff(fronts[1]))


def _flat(about: dict[str, Any]) -> dict[str, Any]:
    """Return parameters without the words they came from: these say the same again, but for model and data."""
    words = about.get("words", {})
    return {name: value for name, value in about.items() if name != "words"} | {
        name: words[name]
        for name in ("model", "data", "subject", "target", "seeds")
        if words.get(name) is not None
    }


def export(store: Store, run: int, path: Path) -> list[Path]:
    """Write a run to a file, what of it the ending says, or everything to a folder; return what was written.

    .json: all that is known of the run; .parquet: the front as `Front.load` reads it; .csv: the pairs;
    .html: the report.
    """
    about = store.run(run)
    writers = {".json": _json, ".parquet": _parquet, ".csv": _csv, ".html": _html}
    if path.suffix:
        if path.suffix not in writers:
            raise ArgumentError(
                f"A run cannot be written as {path.suffix!r}. Use {', '.join(writers)}, or name a folder for all."
            )
        files = {path: writers[path.suffix]}
    else:
        names = {"run.json": _json}
        names |= {FRONT: _parquet, "pairs.csv": _csv} if _has(about, FRONT) else {}
        names |= {RESULT: _result} if _has(about, RESULT) else {}
        names |= {"report.html": _html} if _has(about, FRONT) or _has(about, RESULT) else {}
        files = {path / name: writer for name, writer in names.items()}
    try:
        for file, writer in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            writer(store, about, file)
    except OSError as error:
        raise StoreError(f"Run {run} cannot be written to {path}: {error.strerror or error}.") from None
    return list(files)


def _json(store: Store, run: Run, path: Path) -> None:
    path.write_text(json.dumps(run.to_json(), indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _parquet(store: Store, run: Run, path: Path) -> None:
    with store.fetch(run.id, FRONT) as kept:
        path.write_bytes(kept.read_bytes())


def _csv(store: Store, run: Run, path: Path) -> None:
    front_of_run(store, run.id).pairs.to_csv(path, index=False)


def _html(store: Store, run: Run, path: Path) -> None:
    from ..fronts.report import front_report
    from ..reports.html import write

    if _has(run, RESULT):
        with store.fetch(run.id, RESULT) as kept:
            Result.from_json(kept.read_text(encoding="utf-8")).to_html(path)
    else:
        write(front_report(front_of_run(store, run.id)), path)


def _result(store: Store, run: Run, path: Path) -> None:
    with store.fetch(run.id, RESULT) as kept:
        path.write_bytes(kept.read_bytes())


def _has(run: Run, name: str) -> bool:
    return any(artifact.name == name for artifact in run.artifacts)

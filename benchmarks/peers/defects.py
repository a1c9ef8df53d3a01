"""The suite of defects for other tools: the same cases, one rule for what counts as named, and the figures."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.defects.registry import DEFECTS, GOOD, Case, Defect, Planted
from benchmarks.defects.run import BUDGET, as_pattern, has_column, has_word, run_case

from .environments import ROOT
from .figures import Figure

OUTCOMES = ROOT / ".venv-peers-outcomes"  # an interrupted measurement goes on where it was
COUNTING = ("run.py", "words.py")  # they decide what counts, after a tool has said something
PROCESSES = 2
CASE_SECONDS = 240  # a tool that says nothing about a case in this time has missed it
SEED = 0
TASK = "defects that labels show"
NOTES = (
    f"{len(DEFECTS)} defects and {len(GOOD)} good models (benchmarks/defects), each tested on one half of the rows, fitted to the "
    "other. Other tools always get the training half, too; `dm.test` gets it in half of the cases, and where the defect is "
    "in the comparison.",
    "A defect counts as named by `dm.test` if a fault or concern (for a few harmless kinds also advice) has the column at fault and a "
    "word of the cause. For other tools it is enough that a failed condition, test or issue names the column, or, where no "
    "column is at fault, has a word of the cause. A finding that the tool also has about a good model on the same data does not count. "
    "Seconds are wall time.",
)
SHORT_NOTE = "The suite of defects, and the rule for what counts as named, are those of Deepchecks."

Look = Callable[[Case, bool], list[str]]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a tool said about a case."""

    key: str
    findings: tuple[str, ...]
    seconds: float
    error: str = ""
    named: bool = False  # known only of `dm.test`


def make_key(item: Planted) -> str:
    """Return the name of a case in files, which holds as long as the suite."""
    position = next(place for place, other in enumerate([*DEFECTS, *GOOD]) if other is item)
    return f"{position} {item.title}"


@contextmanager
def limit_seconds(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` when the block takes longer."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"no answer after {seconds} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def look_at(position: int, look: Look) -> Report:
    """Build a case and return what the tool says about it."""
    item = [*DEFECTS, *GOOD][position]
    warnings.simplefilter("ignore")
    findings: list[str] = []
    error, start = "", time.perf_counter()
    try:
        case = item.build_with_data(SEED)
        labels = case.data[case.options["target"]]
        numbers = labels.dtype.kind in "if" and labels.nunique() > 5
        start = time.perf_counter()
        with limit_seconds(CASE_SECONDS):
            findings = look(case, numbers)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"[:300]
    return Report(key=make_key(item), findings=tuple(findings), seconds=time.perf_counter() - start, error=error)


def look_with_ours(position: int, look: Look | None = None) -> Report:
    """Return what `dm.test` says about a case."""
    item = [*DEFECTS, *GOOD][position]
    outcome = run_case(item, SEED, BUDGET)
    alarms = tuple(text for text in outcome.findings if not text.startswith("advice"))
    return Report(
        key=make_key(item), findings=alarms, seconds=outcome.seconds, error=outcome.error, named=outcome.named
    )


def hash_sources(*folders: Path) -> str:
    """Return a hash of the Python and TOML files of folders."""
    digest = hashlib.sha256()
    for folder in folders:
        files = [folder] if folder.is_file() else sorted({*folder.rglob("*.py"), *folder.rglob("*.toml")})
        for file in (file for file in files if file.name not in COUNTING):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def collect(name: str, sources: Iterable[Path], run: Callable[..., Report], look: Look | None) -> list[Report]:
    """Return reports about all cases; those of an earlier run with the same sources are read from its file."""
    OUTCOMES.mkdir(exist_ok=True)
    file = OUTCOMES / f"{name}-{hash_sources(ROOT / 'benchmarks' / 'defects', *sources)}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = [json.loads(line) for line in lines]
    reports = {row["key"]: Report(**(row | {"findings": tuple(row["findings"])})) for row in rows}
    items = [*DEFECTS, *GOOD]
    todo = [position for position, item in enumerate(items) if make_key(item) not in reports]
    with ProcessPoolExecutor(PROCESSES) as pool, file.open("a", encoding="utf-8") as sink:
        for future in as_completed([pool.submit(run, position, look) for position in todo]):
            report = future.result()
            reports[report.key] = report
            sink.write(json.dumps(asdict(report)) + "\n")
            sink.flush()
    return [reports[make_key(item)] for item in items]


# -- what counts ----------------------------------------------------------------------------------------------------


def strip_numbers(text: str) -> str:
    """Return a finding without its figures, which differ from model to model."""
    return re.sub(r"[-+]?\d[\d.,e%+-]*", "#", text)


def is_named(defect: Defect, findings: Sequence[str], usual: set[str]) -> bool:
    """Return whether a finding that good models on the same data do not get names the column, or else the cause."""
    words = [as_pattern(word) for word in defect.words]
    for finding in findings:
        if strip_numbers(finding) in usual:
            continue
        if has_column(finding, defect.columns) if defect.columns else has_word(finding, words):
            return True
    return False


def count_theirs(reports: Sequence[Report]) -> list[Figure]:
    """Return the figures of another tool."""
    usual: dict[str, set[str]] = {}
    for item, report in zip(GOOD, reports[len(DEFECTS) :], strict=True):
        usual.setdefault(item.data, set()).update(map(strip_numbers, report.findings))
    named = sum(
        is_named(item, report.findings, usual.get(item.data, set()))
        for item, report in zip(DEFECTS, reports, strict=False)
    )
    return _make_figures(named, reports)


def _make_figures(named: int, reports: Sequence[Report]) -> list[Figure]:
    good = reports[len(DEFECTS) :]
    return [
        Figure(TASK, "defects named", f"{named} of {len(DEFECTS)}"),
        Figure(TASK, "good models with findings", f"{sum(bool(item.findings) for item in good)} of {len(good)}"),
        Figure(TASK, "findings about good models", str(sum(len(item.findings) for item in good))),
        Figure(TASK, "cases without an answer", str(sum(bool(item.error) for item in reports))),
        Figure(TASK, "seconds per case (median)", statistics.median(item.seconds for item in reports)),
    ]


def measure_tool(name: str, module_file: str, look: Look) -> list[Figure]:
    """Return the figures of another tool, in its own environment."""
    return count_theirs(collect(name, [Path(module_file)], look_at, look))


def measure_dm_test() -> list[Figure]:
    """Return our figures, measured once for all peers."""
    os.environ["DATAMORPHIC_STORE"] = "none"
    reports = collect("datamorphic", [ROOT / "src" / "datamorphic" / "audit"], look_with_ours, None)
    return _make_figures(sum(report.named for report in reports[: len(DEFECTS)]), reports)

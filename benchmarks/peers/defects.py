"""A sample of the suite of defects for other tools: the same cases, one rule for what counts as named, and the figures."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import signal
import statistics
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.defects.data import HELD_BACK, load
from benchmarks.defects.registry import DEFECTS, GOOD, Case, Defect, Planted
from benchmarks.defects.run import BUDGET, as_pattern, has_column, has_word, run_case

from .environments import ROOT
from .figures import Figure

OUTCOMES = ROOT / ".venv-peers-outcomes"  # an interrupted measurement goes on where it was
PROCESSES, OUR_PROCESSES = 1, 2  # other tools may start processes of their own
DEFECTS_PER_KIND, GOOD_SHARE = 2, 0.2
CASE_SECONDS = 90  # CPU seconds: a tool that says nothing about a case in this time has missed it
WALL_SECONDS = 20 * CASE_SECONDS  # for a tool that waits, and for a busy machine
SEED = 0
TASK = "defects that labels show"
NOTES = (
    "All tools are measured on the same sample of the suite in benchmarks/defects: "
    f"{DEFECTS_PER_KIND} defects of each kind (fewer where a kind has fewer), and {GOOD_SHARE:.0%} of each kind of good models, taken "
    "from the data sets by turns in an order that follows from a hash of their titles. So rare kinds count as much as frequent ones, "
    "and the figures differ from those of the whole suite. Each model is tested on one half of the rows and fitted to the other. Other "
    "tools always get the training half, too. `dm.test` gets it in half of the cases, and where the defect is in the comparison.",
    "The suite was written for `dm.test`, and its checks were improved on it. No check was written with the data sets in view that are "
    f"held back ({', '.join(HELD_BACK)}). They have a row of their own.",
    "A defect counts as named by `dm.test` if a fault or concern (for a few harmless kinds also advice) has the column at fault and a "
    "word of the cause. For other tools it is enough that a failed condition, test or issue names the column, or, where no "
    "column is at fault, has a word of the cause. A finding that the tool also has about a good model on the same data, but for its "
    "numbers, does not count. The row without that rule counts these, too. The row with a stricter rule leaves out defects whose "
    "column any finding about a good model on the same data names, as a tool that names most columns is often right by chance. A "
    "tool may notice a defect and not say what it is, such as by a score that is too low: another row counts the defects with any "
    "finding that good models on the same data do not get.",
    f"A tool may take {CASE_SECONDS} CPU seconds for a case, and `dm.test` has a budget of {BUDGET}. A case without "
    "an answer by then, or with an error, is missed. Seconds are CPU seconds of one core, without fitting the model.",
)
SHORT_NOTE = "The sample of the suite of defects, and the rules for what counts, are those of Deepchecks."

Look = Callable[[Case, bool], list[str]]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a tool said about a case."""

    key: str
    findings: tuple[str, ...]
    seconds: float
    error: str = ""
    named: bool = False  # known only of `dm.test`


class NoAnswerError(BaseException):
    """The time for a case is over.

    It is no `Exception`, as tools go on with their next check after any of those.
    """


# -- the sample -----------------------------------------------------------------------------------------------------


def choose_cases(items: Sequence[Planted], count: Callable[[int], int]) -> list[Planted]:
    """Return some cases of each kind: `count` says how many of how many, and its data sets have turns.

    The order within a kind follows from the titles alone. So another case changes at most the choice of its own kind. The
    first cases of all kinds come first.
    """
    chosen: list[tuple[float, Planted]] = []
    for kind in dict.fromkeys(item.kind for item in items):
        candidates = sorted(
            (item for item in items if item.kind == kind), key=lambda item: zlib.crc32(item.title.encode())
        )
        seen: Counter[str] = Counter()
        turns = []
        for place, item in enumerate(candidates):
            turns.append((seen[item.data], place))
            seen[item.data] += 1
        number = count(len(candidates))
        chosen += [(rank / number, candidates[place]) for rank, (_, place) in enumerate(sorted(turns)[:number])]
    return [item for _, item in sorted(chosen, key=lambda pair: pair[0])]


def choose_sample() -> tuple[list[Planted], list[Planted]]:
    """Return the defects and the good models that all tools are measured on."""
    return (
        choose_cases(DEFECTS, lambda size: DEFECTS_PER_KIND),
        choose_cases(GOOD, lambda size: max(1, round(GOOD_SHARE * size))),
    )


def make_key(item: Planted) -> str:
    """Return the title of a case with a hash of its data and of the code that builds it."""
    builder = inspect.getclosurevars(item.make).nonlocals["build"]
    frame = load(item.data, SEED).to_csv(index=False, float_format="%.9g").encode()
    code = f"{inspect.getsource(builder)} {item.make.__defaults__}".encode()
    return f"{item.title} {hashlib.sha256(frame + code).hexdigest()[:12]}"


# -- measuring ------------------------------------------------------------------------------------------------------


@contextmanager
def limit_seconds(seconds: float, wall_seconds: float) -> Iterator[None]:
    """Raise `NoAnswerError` when the block takes more CPU seconds or wall seconds, and again if that is caught."""

    def stop(number: int, frame: object) -> None:
        raise NoAnswerError(f"no answer after {seconds} s")

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, wall_seconds))
    previous = [signal.signal(number, stop) for _, number, _ in timers]
    try:
        for timer, _, limit in timers:
            signal.setitimer(timer, limit, 1.0)
        yield
    finally:
        for (timer, number, _), handler in zip(timers, previous, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def read_cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def look_at(position: int, look: Look) -> Report:
    """Build a case and return what the tool says about it."""
    item = [*DEFECTS, *GOOD][position]
    warnings.simplefilter("ignore")
    findings: list[str] = []
    error, start = "", read_cpu_seconds()
    try:
        case = item.build_with_data(SEED)
        labels = case.data[case.options["target"]]
        numbers = labels.dtype.kind in "if" and labels.nunique() > 5
        start = read_cpu_seconds()
        with limit_seconds(CASE_SECONDS, WALL_SECONDS):
            findings = look(case, numbers)
    except (Exception, NoAnswerError) as problem:
        error = f"{type(problem).__name__}: {problem}"[:300]
    seconds = read_cpu_seconds() - start
    return Report(key=make_key(item), findings=tuple(findings), seconds=seconds, error=error)


def look_with_ours(position: int, look: Look | None = None) -> Report:
    """Return what `dm.test` says about a case."""
    item = [*DEFECTS, *GOOD][position]
    case = item.build_with_data(SEED)
    start = read_cpu_seconds()
    outcome = run_case(replace(item, make=lambda setting: case), SEED, BUDGET)
    seconds = read_cpu_seconds() - start
    alarms = tuple(text for text in outcome.findings if not text.startswith("advice"))
    return Report(key=make_key(item), findings=alarms, seconds=seconds, error=outcome.error, named=outcome.named)


def collect(
    name: str, source: bytes, run: Callable[..., Report], look: Look | None, processes: int = PROCESSES
) -> list[list[Report]]:
    """Return reports about the sample: of defects, and of good models.

    Those of an earlier run with the same source of the adapter are read from its file. Remove `OUTCOMES` to measure all
    cases again.
    """
    OUTCOMES.mkdir(exist_ok=True)
    file = OUTCOMES / f"{name}-{hashlib.sha256(source).hexdigest()[:12]}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = [json.loads(line) for line in lines]
    reports = {row["key"]: Report(**(row | {"findings": tuple(row["findings"])})) for row in rows}
    positions = {id(item): position for position, item in enumerate([*DEFECTS, *GOOD])}
    keys = [{positions[id(item)]: make_key(item) for item in items} for items in choose_sample()]
    places = [
        (place / len(group), position)  # defects and good models by turns
        for group in keys
        for place, (position, key) in enumerate(group.items())
        if key not in reports
    ]
    todo = [position for _, position in sorted(places)]
    with ProcessPoolExecutor(processes) as pool, file.open("a", encoding="utf-8") as sink:
        for future in as_completed([pool.submit(run, position, look) for position in todo]):
            report = future.result()
            reports[report.key] = report
            sink.write(json.dumps(asdict(report)) + "\n")
            sink.flush()
    return [[reports[key] for key in group.values()] for group in keys]


# -- what counts ----------------------------------------------------------------------------------------------------


def strip_numbers(text: str) -> str:
    """Return a finding without its figures, which differ from model to model."""
    return re.sub(r"[-+]?\d[\d.,e%+-]*", "#", text)


def is_named(defect: Defect, findings: Sequence[str], usual: set[str]) -> bool:
    """Return whether a finding that good models on the same data do not get names the column, or else the cause."""
    words = [as_pattern(word) for word in defect.words]
    for finding in leave_out(findings, usual):
        if has_column(finding, defect.columns):
            return True
        # a class, which findings about scores seldom name
        is_about_column = bool(defect.columns) and defect.kind != "class weights"
        if not is_about_column and has_word(finding, words):
            return True
    return False


def leave_out(findings: Sequence[str], usual: set[str]) -> list[str]:
    """Return the findings that are not usual, whatever their numbers."""
    return [finding for finding in findings if strip_numbers(finding) not in usual]


def count_theirs(defects: Sequence[Report], good: Sequence[Report]) -> list[Figure]:
    """Return the figures of another tool."""
    items = choose_sample()[0]
    usual = find_usual(good)
    pairs = list(zip(items, defects, strict=True))
    named = [is_named(item, report.findings, usual.get(item.data, set())) for item, report in pairs]
    without_rule = sum(is_named(item, report.findings, set()) for item, report in pairs)
    return _make_figures(named, without_rule, defects, good)


def find_usual(good: Sequence[Report]) -> dict[str, set[str]]:
    """Return what a tool says about good models, without numbers, by data set."""
    usual: dict[str, set[str]] = {}
    for item, report in zip(choose_sample()[1], good, strict=True):
        usual.setdefault(item.data, set()).update(map(strip_numbers, report.findings))
    return usual


def _make_figures(
    named: Sequence[bool], without_rule: int, defects: Sequence[Report], good: Sequence[Report]
) -> list[Figure]:
    items, usual = choose_sample()[0], find_usual(good)
    pairs = list(zip(items, named, strict=True))
    held_back = [is_named for item, is_named in pairs if item.held_back]
    noticed = [
        is_named or bool(leave_out(report.findings, usual.get(item.data, set())))
        for (item, is_named), report in zip(pairs, defects, strict=True)
    ]
    about_good = list(zip(choose_sample()[1], good, strict=True))
    not_by_chance = [
        is_named
        and not any(
            model.data == item.data and has_column(finding, item.columns)
            for model, report in about_good
            for finding in report.findings
        )
        for item, is_named in pairs
    ]
    reports = [*defects, *good]
    return [
        Figure(TASK, "defects named", f"{sum(named)} of {len(named)}"),
        Figure(TASK, "of them on data sets held back", f"{sum(held_back)} of {len(held_back)}"),
        Figure(TASK, "defects named, also by findings that good models get", f"{without_rule} of {len(named)}"),
        Figure(TASK, "defects named by a column that good models do not get", f"{sum(not_by_chance)} of {len(named)}"),
        Figure(TASK, "defects with any finding that good models do not get", f"{sum(noticed)} of {len(noticed)}"),
        Figure(TASK, "good models with findings", f"{sum(bool(item.findings) for item in good)} of {len(good)}"),
        Figure(TASK, "findings about good models", str(sum(len(item.findings) for item in good))),
        Figure(TASK, "cases without an answer", f"{sum(bool(item.error) for item in reports)} of {len(reports)}"),
        Figure(TASK, "CPU seconds per case (median)", statistics.median(item.seconds for item in reports)),
    ]


def measure_tool(name: str, requirements: Sequence[str], look: Look) -> list[Figure]:
    """Return the figures of another tool, in its own environment."""
    _, _, code = Path(inspect.getfile(look)).read_text(encoding="utf-8").partition("\n\n\n")  # below the constants
    source = f"{requirements} {CASE_SECONDS} {code}".encode()
    return count_theirs(*collect(name, source, look_at, look))


def measure_dm_test() -> list[Figure]:
    """Return our figures, measured once for all peers."""
    os.environ["DATAMORPHIC_STORE"] = "none"
    files = sorted((ROOT / "src" / "datamorphic").rglob("*.py"))
    files += [ROOT / "benchmarks" / "defects" / name for name in ("run.py", "words.py")]  # they decide what is named
    defects, good = collect(
        "datamorphic", b"".join(file.read_bytes() for file in files), look_with_ours, None, OUR_PROCESSES
    )
    named = [report.named for report in defects]
    return _make_figures(named, sum(named), defects, good)

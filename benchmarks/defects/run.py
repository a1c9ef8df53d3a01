"""Run `dm.test` on the cases of this suite, and say which defects it names and which good models it blames."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

# every module registers its cases
from . import edges, good, leaks, numbers, outputs, reference, serving, tables, training  # noqa: F401
from .registry import DEFECTS, GOOD, Case, Defect, Good

BUDGET = "20s"
GOOD_PER_ALARM = 60  # the goal: at most one alarm for so many good models
NAMED_GOAL, HELD_BACK_GOAL = 0.85, 0.80


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a test said about a case."""

    kind: str
    name: str
    data: str
    model: str
    defect: bool
    held_back: bool
    reference: bool
    seed: int
    named: bool = False
    by: str = ""  # the finding that names the defect, as "level: title"
    findings: tuple[str, ...] = ()  # faults and concerns first, as "level: title"
    alarms: int = 0  # faults and concerns
    incomplete: bool = False
    seconds: float = 0.0
    error: str = ""

    @property
    def title(self) -> str:
        suffix = ", reference" if self.reference else ""
        return f"{self.kind}: {self.name} ({self.data}, {self.model}{suffix})"


def has_word(text: str, words: Sequence[str]) -> bool:
    """Return whether a word of the text begins with one of the words, in small or large letters."""
    return any(re.search(rf"(?<![^\W_]){word}", text, re.IGNORECASE) for word in words)


def has_column(text: str, columns: Sequence[str]) -> bool:
    """Return whether the text has one of the columns as a word of its own."""
    return any(re.search(rf"(?<!\w){re.escape(column)}(?!\w)", text, re.IGNORECASE) for column in columns)


def is_named_by(defect: Defect, finding: Any, features: Sequence[str] = ()) -> bool:
    """Return whether a finding has the right level, the column at fault and a word of the cause, in one piece.

    "Serving looks wrong for age: with age divided by 12 where site is B" is about age, one of the `features`, and not
    about the site. "It is mostly wrong where site is B" is about the site. Without a column at fault, the title has
    to say the cause.
    """
    if finding.level not in defect.levels:
        return False
    words = [as_pattern(word) for word in defect.words]
    for piece in (finding, *finding.evidence):
        if not defect.columns:
            if has_word(piece.title, words):
                return True
            continue
        subject = piece.title.partition(" where ")[0]
        is_about_others = has_column(subject, features) and not has_column(subject, defect.columns)
        where = "\n".join((piece.title, piece.about, *piece.columns))
        text = "\n".join((piece.title, piece.about, piece.detail))
        if has_column(where, defect.columns) and not is_about_others and has_word(text, words):
            return True
    return False


def as_pattern(word: str) -> str:
    """Return a word as a regular expression; a value of a category may be any text."""
    try:
        re.compile(word)
    except re.error:
        return re.escape(word)
    return word


def run_case(item: Defect | Good, seed: int, budget: str = BUDGET, checks: Sequence[str] = ()) -> Outcome:
    """Build a case, test it, and return what was said."""
    import datamorphic as dm

    start, has_reference = time.perf_counter(), False
    error, findings, alarms, named, by, incomplete = "", [], 0, False, "", False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            case = item.build_with_data(seed)
            options = case.options | ({"only": list(checks)} if checks else {})
            start, has_reference = time.perf_counter(), "reference" in case.options
            result = dm.test(case.model, case.data, budget=budget, seed=seed, progress=False, **options)
        except Exception as problem:  # the suite goes on, and says which case failed
            error = f"{type(problem).__name__}: {problem}"
        else:
            findings = [f"{finding.level}: {finding.title}" for finding in result.findings]
            alarms = len(result.at_least("concern"))
            incomplete = bool(getattr(result, "incomplete", False))
            if isinstance(item, Defect):
                features = list(case.data.columns)
                naming = next((finding for finding in result.findings if is_named_by(item, finding, features)), None)
                named, by = naming is not None, f"{naming.level}: {naming.title}" if naming else ""
    return Outcome(
        kind=item.kind,
        name=item.name,
        data=item.data,
        model=item.model,
        defect=isinstance(item, Defect),
        held_back=item.held_back,
        reference=has_reference,
        seed=seed,
        named=named,
        by=by,
        findings=tuple(findings),
        alarms=alarms,
        incomplete=incomplete,
        seconds=time.perf_counter() - start,
        error=error,
    )


def _run_at(job: tuple[bool, int, int, str, tuple[str, ...]]) -> Outcome:
    is_defect, position, seed, budget, checks = job
    return run_case((DEFECTS if is_defect else GOOD)[position], seed, budget, checks)


def run_cases(
    items: Sequence[Defect | Good], seed: int = 0, budget: str = BUDGET, checks: Sequence[str] = (), processes: int = 1
) -> Iterator[Outcome]:
    """Yield the outcomes of cases in their order."""
    jobs = []
    for item in items:
        is_defect = isinstance(item, Defect)
        position = next(place for place, other in enumerate(DEFECTS if is_defect else GOOD) if other is item)
        jobs.append((is_defect, position, seed, budget, tuple(checks)))
    if processes == 1:
        yield from map(_run_at, jobs)
    else:
        with ProcessPoolExecutor(processes) as pool:
            yield from pool.map(_run_at, jobs)


def select(
    kind: str = "", name: str = "", data: str = "", good_only: bool = False, held_back: bool | None = False
) -> list[Defect | Good]:
    """Return the cases of a kind, name or data set; good models are of kind "good" as well as of their own."""
    items: list[Defect | Good] = [] if good_only else [*DEFECTS]
    if good_only or not kind:
        items += GOOD
    return [
        item
        for item in items
        if kind.lower() in item.kind.lower()
        and name.lower() in item.name.lower()
        and data in ("", item.data)
        and (held_back is None or item.held_back == held_back)
    ]


# -- words for people -----------------------------------------------------------------------------------------------


def describe(outcome: Outcome) -> Iterator[str]:
    """Yield the lines of one case."""
    seconds = f"{outcome.seconds:5.1f} s"
    alarms = [text for text in outcome.findings if not text.startswith("advice")]
    if outcome.error:
        yield f"error   {seconds}  {outcome.title}: {outcome.error}"
    elif outcome.defect:
        yield f"{'named ' if outcome.named else 'missed'}  {seconds}  {outcome.title}" + (
            f" <- {outcome.by}" if outcome.named else ""
        )
        if not outcome.named:
            yield from (f"            {text}" for text in outcome.findings[:8])
    elif alarms:
        yield f"alarm   {seconds}  {outcome.title}"
        yield from (f"            {text}" for text in alarms)
    else:
        yield f"quiet   {seconds}  {outcome.title}"


def summarise(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, str, str]]:
    """Yield figures as name, value and note: recall per kind, alarms about good models, seconds."""
    defects, models = [item for item in outcomes if item.defect], [item for item in outcomes if not item.defect]
    for kind in dict.fromkeys(item.kind for item in defects):
        yield (f"named: {kind}", *_count_named([item for item in defects if item.kind == kind]))
    for held_back, goal in ((False, NAMED_GOAL), (True, HELD_BACK_GOAL)):
        group = [item for item in defects if item.held_back == held_back]
        if group:
            value, note = _count_named(group)
            name = "named on the data sets held back" if held_back else "named on all other data sets"
            yield name, value, f"{note}, goal {goal:.0%}"
    if models:
        blamed = sum(item.alarms > 0 for item in models)
        value = f"{sum(item.alarms for item in models)} about {blamed} of {len(models)}"
        yield "alarms about good models", value, f"goal {len(models) / GOOD_PER_ALARM:.1f}"
    if outcomes:
        seconds = [item.seconds for item in outcomes]
        yield "seconds per test", f"{statistics.median(seconds):.1f}", f"longest {max(seconds):.1f}"
    errors = sum(bool(item.error) for item in outcomes)
    if errors:
        yield "tests that failed", str(errors), ""


def _count_named(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    named = sum(item.named for item in outcomes)
    return f"{named} of {len(outcomes)}", f"{named / len(outcomes):.0%}"


def print_summary(outcomes: Sequence[Outcome]) -> None:
    print()
    for name, value, note in summarise(outcomes):
        print(f"  {name:50} {value:>16}  {note}")


# -- a look at the cases themselves -----------------------------------------------------------------------------------


def compute_error(case: Case, model: Any) -> float:
    """Return the share of wrong answers, or the mean absolute error in units of the spread of the labels."""
    target = case.options["target"]
    labels = case.data[target]
    try:
        answers = np.asarray(model.predict(case.data.drop(columns=target)))
    except Exception:  # such as text where numbers were: the twin cannot read the changed data
        return float("nan")
    if pd.api.types.is_numeric_dtype(labels) and labels.nunique() > 5:
        return float(np.abs(answers.astype(float) - labels).mean() / labels.std())
    return float(np.mean(answers.astype(str) != labels.astype(str).to_numpy()))


def print_size(item: Defect | Good, seed: int) -> None:
    """Build a case, and print its error beside that of a model without a defect on data without one."""
    from .data import find_target, load
    from .registry import Setting

    start = time.perf_counter()
    case = item.build_with_data(seed)
    seconds = time.perf_counter() - start
    frame = load(item.data, seed)
    half = len(frame) // 2
    usual = ""
    if item.model != "polynomial":
        setting = Setting(
            name=item.data,
            model=item.model,
            train=frame[:half],
            test=frame[half:].reset_index(drop=True),
            target=find_target(item.data),
            seed=seed,
            with_reference=False,
        )
        usual = f"{compute_error(setting.case(None), setting.fit()):.3f}"
    shape = f"{len(case.data)} x {case.data.shape[1] - 1}"
    print(f"{seconds:5.1f} s  {shape:>10}  {usual} -> {compute_error(case, case.model):.3f}  {item.title}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defects", description=__doc__)
    parser.add_argument("--kind", default="", help="defects whose kind has this text")
    parser.add_argument("--name", default="", help="cases whose name has this text")
    parser.add_argument("--data", default="", help="cases on this data set")
    parser.add_argument("--good", action="store_true", help="good models only")
    parser.add_argument("--held-back", action="store_true", help="only the data sets that are held back until the end")
    parser.add_argument("--all", action="store_true", help="also the data sets that are held back")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--budget", default=BUDGET)
    parser.add_argument("--checks", default="", help="names of checks, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes")
    parser.add_argument("--list", action="store_true", help="print the cases, and test none")
    parser.add_argument("--sizes", action="store_true", help="build the cases and print their errors, and test none")
    options = parser.parse_args(arguments)
    held_back = None if options.all else options.held_back
    items = select(options.kind, options.name, options.data, options.good, held_back)
    if options.list or options.sizes:
        for item in items:
            if options.list:
                print(item.title)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        print_size(item, options.seed)
                    except Exception as problem:
                        print(f"error  {item.title}: {type(problem).__name__}: {problem}", flush=True)
        return
    checks = [name.strip() for name in options.checks.split(",") if name.strip()]
    outcomes = []
    for outcome in run_cases(items, options.seed, options.budget, checks, options.processes):
        outcomes.append(outcome)
        print("\n".join(describe(outcome)), flush=True)
        if options.json:
            rows = [asdict(item) for item in outcomes]
            options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print_summary(outcomes)

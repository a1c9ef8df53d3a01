"""Record what every public function and command computes, and compare with the record later.

A refactoring must not change a number. The record maps the name of each section to a fingerprint (see `canonical`): texts, whole
numbers, truth values and the shape of everything are equal on every processor, floats are equal up to rounding noise. Where
learned scores guide a search, even the number of steps may depend on the last digits: if the fingerprint of such a section
differs, its summary is compared, within `SCORE_GUIDED_SHARE`. The record uses the public API and the command line only.

    python tests/behaviour/record.py --write              record all sections
    python tests/behaviour/record.py --check              compare; exit code 1 if anything differs
    python tests/behaviour/record.py --check --only hunt  sections whose names start with "hunt"
    python tests/behaviour/record.py --check --only slow  two more minutes of studies, which --check alone leaves out
    python tests/behaviour/record.py --list               print the names of the sections
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported: sums must not depend on the number of cores

FOLDER = Path(__file__).resolve().parent
LOCAL_DATA_FOLDER = FOLDER.parents[2] / "shared" / "data"  # real data sets may lie beside a checkout
if LOCAL_DATA_FOLDER.is_dir():
    os.environ.setdefault("DATAMORPHIC_DATA", str(LOCAL_DATA_FOLDER))
DIGESTS = FOLDER / "digests.json"
NAMES = FOLDER / "names.json"  # whole values of the sections about names, so that a difference can be read
WHOLE_SECTIONS = ("surface/", "cli ", "laws/", "errors/", "asserts/")
MAX_SUMMARY_ITEMS = 8
SUMMARY_DIGITS = 6  # significant ones of floats
SCORE_GUIDED_SHARE = 0.1  # a pair or two of some hundred are found or lost near a tie


@dataclass(frozen=True)
class Outcome:
    """The outcome of one section."""

    name: str
    fingerprint: dict[str, Any] | None = None
    summary: Any = None
    value: Any = None
    error: str = ""
    skipped: str = ""
    seconds: float = 0.0


def run_section(name: str) -> Outcome:
    """Run one section in this process."""
    import sections
    from canonical import compute_fingerprint, to_plain

    load_sections()
    if reason := sections.reason_to_skip(name):
        return Outcome(name, skipped=reason)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = to_plain(sections.SECTIONS[name]())
    except Exception:
        return Outcome(name, error=traceback.format_exc(limit=-3))
    whole = value if name.startswith(WHOLE_SECTIONS) else None
    return Outcome(name, compute_fingerprint(value), summarise(value), whole, seconds=time.perf_counter() - began)


def load_sections() -> dict[str, Any]:
    """Return all sections by name."""
    import commands  # noqa: F401  (registers the sections of the command line)
    import sections

    return sections.SECTIONS


def is_chosen(name: str, only: Sequence[str]) -> bool:
    """Return whether a section is run: slow ones only if they are asked for."""
    return any(
        name.startswith(prefix) and (prefix.startswith("slow") or not name.startswith("slow")) for prefix in only
    )


def summarise(value: Any) -> Any:
    """Return the main numbers of a value: scalars at its top, and sizes of whatever is larger."""
    if isinstance(value, dict) and set(value) != {"index", "columns"}:
        return {name: _brief(item) for name, item in list(value.items())[:MAX_SUMMARY_ITEMS]}
    return _brief(value)


def _brief(item: Any) -> Any:
    if isinstance(item, dict):
        if set(item) == {"index", "columns"}:
            return {"rows": len(item["index"]), "columns": len(item["columns"])}
        if set(item) == {"shape", "values"}:
            return {"shape": item["shape"]}
        return {"items": len(item)}
    if isinstance(item, list):
        is_short = len(item) <= 4 and not any(isinstance(x, dict | list) for x in item)
        return [_brief(x) for x in item] if is_short else {"items": len(item)}
    return float(f"{item:.{SUMMARY_DIGITS}g}") if isinstance(item, float) else item


def run_sections(names: list[str], jobs: int, show: bool) -> dict[str, Outcome]:
    """Run sections in `jobs` processes and return their outcomes by name."""
    if jobs == 1:
        outcomes = {}
        for name in names:
            outcomes[name] = run_section(name)
            _show_progress(outcomes[name], len(outcomes), len(names), show)
        return outcomes
    outcomes = {}
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run_section, name) for name in names]):
            outcome = future.result()
            outcomes[outcome.name] = outcome
            _show_progress(outcome, len(outcomes), len(names), show)
    return outcomes


def _show_progress(outcome: Outcome, done: int, total: int, show: bool) -> None:
    if show:
        note = "ERROR" if outcome.error else f"skipped: {outcome.skipped}" if outcome.skipped else ""
        print(f"[{done}/{total}] {outcome.seconds:6.2f} s  {outcome.name}  {note}", file=sys.stderr, flush=True)


def read_record(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write one line per section, sorted by name."""
    lines = [f"  {json.dumps(name)}: {json.dumps(record[name], sort_keys=True)}" for name in sorted(record)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def differences(before: Any, after: Any, place: str = "") -> list[str]:
    """Return in which places two plain values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            line
            for name in sorted(before.keys() | after.keys())
            for line in (
                [f"{place}/{name}: added"]
                if name not in before
                else [f"{place}/{name}: removed"]
                if name not in after
                else differences(before[name], after[name], f"{place}/{name}")
            )
        ]
    if before == after or (isinstance(before, float) and isinstance(after, float) and math.isclose(before, after)):
        return []
    if isinstance(before, list) and isinstance(after, list) and all(isinstance(x, str) for x in before + after):
        gone, new = sorted(set(before) - set(after)), sorted(set(after) - set(before))
        return [f"{place}: removed {gone}, added {new}"]
    return [f"{place}: {json.dumps(before)[:160]} -> {json.dumps(after)[:160]}"]


def check(outcomes: dict[str, Outcome], only: Sequence[str]) -> int:
    """Print each section that differs from the record, was added or is missing; return the exit code."""
    from canonical import is_close, is_same_fingerprint
    from sections import SCORE_GUIDED

    record, whole = read_record(DIGESTS), read_record(NAMES)
    expected = {name for name in record if is_chosen(name, only)}
    skipped = {name for name, outcome in outcomes.items() if outcome.skipped}
    wrong, varied = 0, []
    for name in sorted(expected | outcomes.keys()):
        outcome = outcomes.get(name)
        if outcome is None:
            line = "missing: it is in the record, and there is no such section"
        elif outcome.skipped:
            continue
        elif outcome.error:
            line = f"error\n{outcome.error}"
        elif name not in record:
            line = f"added: {json.dumps(outcome.summary)}"
        elif is_same_fingerprint(record[name], outcome.fingerprint):
            continue
        elif name.startswith(SCORE_GUIDED) and is_close(record[name]["summary"], outcome.summary, SCORE_GUIDED_SHARE):
            varied.append(name)
            continue
        else:
            line = f"differs\n    before {json.dumps(record[name]['summary'])}\n    now    {json.dumps(outcome.summary, sort_keys=True)}"
            if name in whole:
                line += "".join(f"\n    {place}" for place in differences(whole[name], outcome.value)[:40])
        wrong += 1
        print(f"{name}: {line}")
    print(f"{len(outcomes) - len(skipped)} sections checked, {wrong} differ, {len(skipped)} skipped.")
    for reason in sorted({outcomes[name].skipped for name in skipped}):
        print(f"  skipped: {reason}")
    for name in varied:
        print(f"  equal within {SCORE_GUIDED_SHARE:.0%} only: {name}")
    return 1 if wrong else 0


def write(outcomes: dict[str, Outcome], all_names: set[str]) -> int:
    """Write fingerprints and summaries; keep what the record has of sections that were not run."""
    errors = {name: outcome.error for name, outcome in outcomes.items() if outcome.error}
    for name, error in sorted(errors.items()):
        print(f"{name}: error\n{error}")
    record, whole = read_record(DIGESTS), read_record(NAMES)
    record = {name: entry for name, entry in record.items() if name in all_names}
    whole = {name: value for name, value in whole.items() if name in all_names}
    for name, outcome in outcomes.items():
        if outcome.fingerprint:
            record[name] = {**outcome.fingerprint, "summary": outcome.summary}
            if outcome.value is not None:
                whole[name] = outcome.value
    write_record(DIGESTS, record)
    write_record(NAMES, whole)
    skipped = sum(bool(outcome.skipped) for outcome in outcomes.values())
    print(f"{len(outcomes) - skipped - len(errors)} sections written, {len(errors)} errors, {skipped} skipped.")
    return 1 if errors else 0


def main() -> int:
    """Run the command line of the record."""
    os.environ["DATAMORPHIC_STORE"] = "none"  # here, because collecting doctests imports this module, too
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the record")
    action.add_argument("--check", action="store_true", help="compare with the record")
    action.add_argument("--list", action="store_true", help="list the sections")
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="PREFIX", help="sections whose names start with these"
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--times", action="store_true", help="print how long each section takes")
    arguments = parser.parse_args()
    names = [name for name in load_sections() if is_chosen(name, arguments.only)]
    if arguments.list:
        print("\n".join(names))
        return 0
    for prefix in arguments.only:
        if not any(is_chosen(name, [prefix]) for name in names):
            parser.error(f"There is no section whose name starts with {prefix!r}.")
    outcomes = run_sections(names, arguments.jobs, arguments.times)
    if arguments.check:
        return check(outcomes, arguments.only)
    return write(outcomes, set(load_sections()))


if __name__ == "__main__":
    sys.exit(main())

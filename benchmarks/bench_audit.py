"""Audits without any declaration: which planted defects they name, and what they say about good models."""

from __future__ import annotations

import os
import time
import warnings
from collections import defaultdict

import datamorphic as dm
from benchmarks.defects.run import describe, run_cases, select, summarise
from benchmarks.planted import GOOD, HELD_BACK, PLANTED, Good, Planted, load
from benchmarks.timing import line

SEEDS = tuple(range(3 if "DATAMORPHIC_LONG" in os.environ else 1))
BUDGET = "20s"
PROCESSES = 2  # of the second suite


def audit(item: Planted | Good, seed: int):
    """Return the result of an audit of a planted defect or a good model, and the seconds it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = item.build(load(item.data, seed), seed)
        start = time.perf_counter()
        result = dm.test(case.model, case.data, budget=BUDGET, seed=seed, progress=False, **case.options)
    return result, time.perf_counter() - start


def is_named(item: Planted, result) -> bool:
    """Return whether a finding of the right level names the cause."""
    for finding in result.findings:
        pieces = [finding, *finding.evidence]
        text = " ".join(f"{piece.title} {piece.about} {piece.detail}" for piece in pieces).lower()
        if finding.level in item.levels and any(word.lower() in text for word in item.words):
            return True
    return False


def main():
    named, tried, slowest = defaultdict(int), defaultdict(int), 0.0
    for item in PLANTED:
        for seed in SEEDS:
            result, seconds = audit(item, seed)
            slowest = max(slowest, seconds)
            for key in (item.kind, "held back" if item.data in HELD_BACK else "all others"):
                named[key] += is_named(item, result)
                tried[key] += 1
            if not is_named(item, result):
                print(f"    missed: {item.kind}, {item.name}, {item.data}, seed {seed}")
    for key, count in tried.items():
        line(f"planted defects named: {key}", f"{named[key]} of {count}")
    alarms = defaultdict(int)
    for item in GOOD:
        for seed in SEEDS:
            result, seconds = audit(item, seed)
            slowest = max(slowest, seconds)
            for finding in result.at_least("concern"):
                alarms["held back" if item.data in HELD_BACK else "all others"] += 1
                print(f"    alarm: {item.name}, {item.data}, seed {seed}: {finding.level}, {finding.title}")
    for key in ("all others", "held back"):
        count = len(SEEDS) * sum((item.data in HELD_BACK) == (key == "held back") for item in GOOD)
        line(f"false alarms about good models: {key}", f"{alarms[key]} of {count}")
    line("longest audit", f"{slowest:.1f} s", f"budget {BUDGET}")
    run_second_suite()


def run_second_suite():
    """Test all cases of the second suite on rows that their models were not fitted to."""
    outcomes = list(run_cases(select(held_back=None), budget=BUDGET, processes=PROCESSES))
    for outcome in outcomes:
        if outcome.error or outcome.named != outcome.defect or (not outcome.defect and outcome.alarms):
            print("\n".join(f"    {text}" for text in describe(outcome)))
    for name, value, note in summarise(outcomes):
        line(f"second suite: {name}", value, note)


if __name__ == "__main__":
    main()

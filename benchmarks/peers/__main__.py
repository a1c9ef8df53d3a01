"""``make bench-peers``: measure all peers, keep the figures, and write the page of the documentation."""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from .environments import ROOT, SHARED, CommandError, install, measure, read_versions
from .figures import compare
from .page import read_bench, write_page

PEERS = ("gemtest", "giskard", "dice", "art", "one_predict", "authors", "deepchecks", "giskard_scan", "evidently")
FOLDER = Path(__file__).parent
RESULTS, SPEED = FOLDER / "results.json", FOLDER / "speed.csv"


def measure_peer(name: str, module: ModuleType) -> dict[str, Any]:
    """Return the rows of a peer with versions, or why it was skipped."""
    version = next((item.partition("==")[2] for item in module.REQUIREMENTS), "")
    peer: dict[str, Any] = {"title": module.TITLE, "version": version, "rows": []}
    try:
        python = install(name, module.REQUIREMENTS)
        peer["their_versions"] = read_versions(python, list(dict.fromkeys((module.DISTRIBUTION, *SHARED))))
        theirs = measure(python, name, "measure_theirs")
    except CommandError as error:
        return peer | {"skipped": str(error)}
    try:
        peer["our_versions"] = read_versions(sys.executable, ("datamorphic", *SHARED))
        ours = measure(sys.executable, name, "measure_ours")
    except CommandError as error:
        return peer | {"skipped": f"datamorphic failed: {error}"}
    rows = [asdict(row) for row in compare(theirs, ours)]
    return peer | {"date": datetime.date.today().isoformat(), "rows": rows}


def find_processor() -> str:
    """Return the model of the processor, and nothing else about this machine."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, keep the figures and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument(
        "--only", nargs="*", choices=PEERS, metavar="PEER", help="measure these peers; none without a name"
    )
    parser.add_argument("--bench", type=Path, metavar="FILE", help="what `make bench` printed: fills the second table")
    parser.add_argument("--write", type=Path, default=ROOT / "docs" / "benchmarks.md", metavar="PAGE")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file in which figures are kept")
    options = parser.parse_args(arguments)
    results = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {}
    results = {"processor": find_processor(), "peers": {}, "bench": {}} | results
    for name in PEERS if options.only is None else options.only:
        print(f"{name} ...", flush=True)
        peer = measure_peer(name, importlib.import_module(f"benchmarks.peers.{name}"))
        results["processor"] = find_processor()
        results["peers"][name] = peer
        print(f"  skipped: {peer['skipped']}" if "skipped" in peer else f"  {len(peer['rows'])} rows", flush=True)
    results["peers"] = {name: results["peers"][name] for name in PEERS if name in results["peers"]}
    with SPEED.open(encoding="utf-8", newline="") as file:
        speed = list(csv.DictReader(file))
    if options.bench:
        output = options.bench.read_text(encoding="utf-8")
        results["bench"] |= read_bench(output, [row["line"] for row in speed])
    options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    notes = {name: importlib.import_module(f"benchmarks.peers.{name}").NOTES for name in results["peers"]}
    rows = [row | {"now": row["now"] or results["bench"].get(row["line"], "")} for row in speed]
    options.write.write_text(write_page(results, notes, rows), encoding="utf-8")


if __name__ == "__main__":
    main()

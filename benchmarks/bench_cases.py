"""Test sets in files: 100,000 cases of 11 features written and read, and their statistics."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import datamorphic as dm
from benchmarks.timing import line, seconds

CASES, FEATURES = 100_000, 11
GOAL_SECONDS = 5


def main():
    space = dm.Space([dm.Continuous(f"x{j}", 0, 10) for j in range(FEATURES)])
    seeds = dm.TestSet.of_seeds(space.sample(CASES // 2, points=True))
    tests = seeds.grow(space.up(seeds.inputs, "x0"), "up", [seeds.ids])
    tests = tests.with_outputs(dm.Outputs.of(np.array(["red", "blue"] * (CASES // 2))))
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("tcs", "csv", "parquet"):
            path = Path(folder) / f"tests.{suffix}"
            line(f"write {CASES:,} cases, .{suffix}", f"{seconds(lambda p=path: tests.save(p), 1):.2f} s")
            read = seconds(lambda p=path: dm.TestSet.load(p, space), 1)
            line(f"read {CASES:,} cases, .{suffix}", f"{read:.2f} s", f"goal {GOAL_SECONDS} s")
    counting = seconds(lambda: dm.compute_statistics(tests, distances=False), 1)
    line(f"statistics of {CASES:,} cases, without distances", f"{counting:.2f} s")


if __name__ == "__main__":
    main()

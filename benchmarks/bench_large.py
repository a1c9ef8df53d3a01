"""Large data, and frames against arrays."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import datamorphic as dm
from benchmarks.timing import line, seconds

BUDGET_SECONDS = 60 if "DATAMORPHIC_LONG" in os.environ else 10  # make bench must not take long
#: Runs in a process of its own, since the peak of the memory is that of a whole process.
PROGRAM = """
import resource, sys, time
import numpy as np
from sklearn.linear_model import LogisticRegression
import datamorphic as dm
verb, rows, budget = sys.argv[1], int(sys.argv[2]), sys.argv[3]
data = np.random.default_rng(0).normal(size=(rows, 50))
labels = data[:, 0] + data[:, 1] > 0
model = LogisticRegression().fit(data[:10_000], labels[:10_000])
function = getattr(dm, verb)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
if verb == "test":
    dm.test(model, data, labels, budget=budget, progress=False)
else:
    dm.explore(model, data, progress=False)
print(time.perf_counter() - start, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def measure(verb, rows, budget="1m"):
    """Return the seconds of a call on data of 50 columns, and its megabytes beyond the data."""
    command = [sys.executable, "-c", PROGRAM, verb, str(rows), budget]
    taken, megabytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(taken), float(megabytes)


def main():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2_000, 11)), columns=[f"x{j}" for j in range(11)])
    labels = frame.x0 + frame.x1 * frame.x2 > 0
    models = [LogisticRegression().fit(frame.to_numpy(), labels), LogisticRegression().fit(frame, labels)]
    array_time, frame_time = (
        seconds(lambda model=model: dm.explore(model, frame, walks=1000, refine="bisect")) for model in models
    )
    ratio = frame_time / array_time
    line("fitted on a frame, in lock-step, against an array", f"{ratio:.1f} times", "2 to 3 times before")
    taken, megabytes = measure("test", 1_000_000, f"{BUDGET_SECONDS}s")
    before = "105 s with 60 s before; DATAMORPHIC_LONG=1 takes 60 s"
    line(f"dm.test, 1,000,000 x 50, budget {BUDGET_SECONDS} s", f"{taken:.1f} s", before)
    line("its memory beyond the data", f"{megabytes:.0f} MB", "1,600 MB before")
    for rows, note in ((10_000, "30 MB before"), (1_000_000, "1,540 MB before")):
        line(f"memory of dm.explore beyond the data, {rows:,} x 50", f"{measure('explore', rows)[1]:.0f} MB", note)


if __name__ == "__main__":
    main()

"""How long importing and starting commands take, in processes of their own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.timing import line

COMMAND = "from datamorphic.cli.main import main; main()"
EXPLORE = ["explore", "--subject", "Box 2", "--walks", "1000"]
#: what is run, and the figure that it is compared with
CASES = {
    "import numpy, pandas": (["import numpy, pandas"], "to compare: how fast the machine is now"),
    "import datamorphic": (["import datamorphic"], "goal 0.3 s"),
    "import datamorphic as dm; dm.Space": (["import datamorphic as dm; dm.Space"], "goal 0.3 s"),
    "datamorphic --version": ([COMMAND, "--version"], ""),
    "datamorphic --help": ([COMMAND, "--help"], ""),
    "datamorphic explore, a coded classifier": ([COMMAND, *EXPLORE], "2.0 s and 1.0 s before, goal 0.8 s"),
    "the same, without a run store": ([COMMAND, *EXPLORE, "--store", "none"], ""),
}


def measure_cpu(arguments, folder, repeat=9, **variables):
    """The median time of the processor: others that run at the same time disturb it least."""
    environment = os.environ | {"DATAMORPHIC_STORE": os.path.join(folder, "runs.sqlite")} | variables
    times = []
    for _ in range(repeat):
        before = os.times()
        subprocess.run([sys.executable, "-c", *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return statistics.median(times)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for what, (arguments, note) in CASES.items():
            line(what, f"{measure_cpu(arguments, folder):.2f} s", note)
        seconds = measure_cpu(
            [COMMAND, "demo", "--out", folder], folder, 1, NUMBA_CACHE_DIR=os.path.join(folder, "cache")
        )
        line("datamorphic demo, with nothing compiled", f"{seconds:.1f} s", "22 s before, goal 10 s")

"""How long importing takes, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import line, seconds


def main():
    bare = seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), repeat=5)
    for code in ("import datamorphic", "import datamorphic as dm; dm.Space"):
        took = seconds(lambda code=code: subprocess.run([sys.executable, "-c", code], check=True), repeat=5)
        line(code, f"{took - bare:.3f} s", "goal 0.3 s")

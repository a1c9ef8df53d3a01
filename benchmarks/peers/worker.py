"""Run one side of a benchmark in this process and write its figures as JSON: worker MODULE FUNCTION FILE."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

if __name__ == "__main__":
    module, function, answer = sys.argv[1:]
    warnings.simplefilter("ignore")
    figures = getattr(importlib.import_module(f"benchmarks.peers.{module}"), function)()
    Path(answer).write_text(json.dumps([asdict(figure) for figure in figures]), encoding="utf-8")

"""``make bench``: every benchmark of this folder, one after the other, figures and ratios of one run."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

for module in sorted(item.name for item in pkgutil.iter_modules([str(Path(__file__).parent)])):
    if module.startswith("bench_"):
        benchmark = importlib.import_module(f"benchmarks.{module}")
        print(f"\n{benchmark.__doc__.strip().splitlines()[0]}")
        benchmark.main()

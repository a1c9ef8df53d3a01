"""Run the example of the README in a folder of its own, with whatever datamorphic is installed."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def find_example() -> str:
    """Return the first example that tests a model."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    return next(block for block in blocks if "dm.test(" in block)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(find_example(), str(README), "exec"), {"__name__": "__main__"})
        print(f"report.html: {Path('report.html').stat().st_size:,} bytes")
        os.chdir("/")

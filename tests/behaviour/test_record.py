"""A quick part of the record of behaviour; ``python tests/behaviour/record.py --check`` compares all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RECORD = Path(__file__).resolve().with_name("record.py")
QUICK_GROUPS = (
    "space/",
    "wrap/",
    "surface/names",
    "select/iris tree",
    "explore/Box 1/random_walk/",
    "explore/Box 1/random_target/",
    "trees/",
)


def test_nothing_differs_from_the_record():
    """All in one process: its imports take longer than most of the sections."""
    command = [sys.executable, str(RECORD), "--check", "--only", *QUICK_GROUPS]
    completed = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=300, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr

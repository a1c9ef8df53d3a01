"""A quick part of the record of behaviour; ``python tests/behaviour/record.py --check`` compares all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from canonical import compute_fingerprint, is_close, is_same_fingerprint, to_plain

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


def test_rounding_noise_does_not_count_and_every_change_does():
    numbers = np.random.default_rng(0).normal(size=2000) * 10.0 ** np.arange(-6, 4).repeat(200)
    numbers[:3] = 0.1234567885, 1e-17, -0.5  # the first lies between two numbers of nine digits
    value = {"count": 3, "answers": ["a", "b"], "numbers": numbers}

    def is_same(**changes):
        prints = [compute_fingerprint(to_plain(state)) for state in (value, value | changes)]
        return is_same_fingerprint(*prints)

    assert is_same(numbers=numbers * (1 + 1e-13) - 1e-16)
    for place in (0, 2, 700, 1999):
        assert not is_same(numbers=np.where(np.arange(2000) == place, numbers * 1.001, numbers))
    assert not is_same(numbers=numbers[[1, 0, *range(2, 2000)]])
    assert not is_same(count=4)
    assert not is_same(answers=["a", "c"])
    assert not is_same(numbers=numbers[:-1])


def test_summaries_are_close_within_a_share():
    summary = {"pairs": 111, "capability": 0.7, "names": ["a"], "border": {"rows": 111, "columns": 9}}
    assert is_close(summary, summary | {"pairs": 104, "capability": 0.69}, 0.1)
    for change in ({"pairs": 95}, {"capability": 0.6}, {"names": ["b"]}, {"border": {"rows": 111}}, {"pairs": None}):
        assert not is_close(summary, summary | change, 0.1)

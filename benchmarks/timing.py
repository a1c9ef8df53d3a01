"""How benchmarks measure and print."""

from __future__ import annotations

import time


def seconds(call, repeat=3):
    """The best of a few tries: what the machine can do when nothing else runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def line(what, value, note=""):
    print(f"  {what:<58} {value:>12}  {note}".rstrip())

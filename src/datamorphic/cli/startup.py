"""The time that a command took to start, which is part of its budget."""

from __future__ import annotations

import os
import time
from pathlib import Path

MAX_STARTUP_CPU_SECONDS = 2.0  # a process that has computed longer has done something else before
MAX_STARTUP_SECONDS = 30.0  # on a very busy machine
_process_waited = False  # for its command, so that its age says nothing
START_TICK_FIELD = 19  # of what follows the name of the program in /proc/self/stat: proc(5), starttime


def forget_startup() -> None:
    """Do not count the time since this process began: it was started before there was a command for it."""
    global _process_waited
    _process_waited = True


def measure_startup() -> float:
    """Return the seconds since this process began; 0 if unknown, or if it is not a process of this command alone."""
    if _process_waited or time.process_time() > MAX_STARTUP_CPU_SECONDS or not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[START_TICK_FIELD]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0
    return min(max(0.0, age), MAX_STARTUP_SECONDS)

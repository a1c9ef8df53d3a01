"""The exit codes of the command ``datamorphic``."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the exit code of a command means."""

    OK = 0  # nothing found above the thresholds
    FINDINGS = 1
    USAGE_ERROR = 2  # stderr has one line: what is wrong and how to fix it
    SYSTEM_FAILED = 3  # the system under test failed
    INTERNAL_ERROR = 70  # a bug in datamorphic
    INTERRUPTED = 130  # Ctrl-C
    BROKEN_PIPE = 141  # the reader of the output closed it

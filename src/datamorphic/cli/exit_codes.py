"""The exit codes of the command ``datamorphic``."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the exit code of a command means."""

    OK = 0  # nothing found above the thresholds
    FINDINGS = 1
    USAGE_ERROR = 2  # stderr has one line: what is wrong and how to fix it
    SYSTEM_FAILED = 3  # the system under test failed
    INCOMPLETE = 4  # nothing found, but the budget ended before every check that applies was done
    INTERNAL_ERROR = 70  # a bug in datamorphic
    INTERRUPTED = 130  # Ctrl-C
    BROKEN_PIPE = 141  # the reader of the output closed it


def choose_exit_code(*, interrupted: bool, failed: bool, incomplete: bool) -> ExitCode:
    """Return the exit code of a verdict: an interrupt comes before findings, and findings before a spent budget."""
    if interrupted:
        return ExitCode.INTERRUPTED
    if failed:
        return ExitCode.FINDINGS
    return ExitCode.INCOMPLETE if incomplete else ExitCode.OK

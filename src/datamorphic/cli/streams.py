"""Standard streams that are closed, missing or full."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def open_missing_streams() -> None:
    """Open stdout and stderr on the null device if the program was started without them."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_WRONLY)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            os.set_inheritable(descriptor, True)  # child processes write there too
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8", closefd=False))


def discard_stdout() -> None:
    """Send everything that stdout still buffers, and all later output, to the null device."""
    _redirect_to_null(sys.stdout.fileno())


def flush_or_discard_streams() -> None:
    """Flush both streams; discard what a stream cannot take.

    Python flushes both again when it ends, and exits with code 120 if that fails, whatever the exit code was to be.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):  # a stream without a descriptor, as in tests
                _redirect_to_null(stream.fileno())


def _redirect_to_null(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)

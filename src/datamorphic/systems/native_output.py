"""Hold back what a system writes to the terminal while it is queried, also what libraries in C write."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import IO

DESCRIPTORS = (1, 2)  # of stdout and stderr


@dataclass
class HeldOutput:
    """Whether what was held back is written in the end, or dropped."""

    dropped: bool = False

    def drop(self) -> None:
        """Drop the output, because what it says is reported in another way."""
        self.dropped = True


@contextmanager
def hold_output() -> Iterator[HeldOutput]:
    """Hold back what is written to stdout and stderr, and write it in the end unless it is dropped.

    Libraries in C write to the descriptors, so these are redirected. What Python code prints goes the same way in a
    terminal; where another stream has taken the place of stdout, as in a notebook, it is shown at once.
    """
    held = HeldOutput()
    files: dict[int, IO[bytes]] = {}  # by the descriptor whose place they take
    with ExitStack() as opened_files:
        try:
            with ExitStack() as restoring:  # every step is taken, even if a signal ends the one before it
                for descriptor in DESCRIPTORS:
                    with suppress(OSError):  # a process may have no stdout, or no place for a file
                        file: IO[bytes] = opened_files.enter_context(tempfile.TemporaryFile())
                        copy = os.dup(descriptor)
                        restoring.callback(os.close, copy)
                        restoring.callback(os.dup2, copy, descriptor)
                        files[descriptor] = file
                _flush()
                restoring.callback(_flush)
                for descriptor, file in files.items():
                    os.dup2(file.fileno(), descriptor)
                yield held
        finally:
            if not held.dropped:
                for descriptor, file in files.items():
                    file.seek(0)
                    with suppress(OSError):  # nobody reads it any more
                        os.write(descriptor, file.read())


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there may be none, or it is closed
            stream.flush()

"""Count the executed lines of a module."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any


@contextmanager
def count_lines(module: ModuleType) -> Iterator[Counter[int]]:
    """Count how often each line of a module is executed within the ``with`` block.

    Examples
    --------
    >>> from datamorphic.mutation.forge import load_module
    >>> text = "def sign(x):\\n    if x < 0:\\n        return -1\\n    return 1\\n"
    >>> with load_module(text, "small") as module, count_lines(module) as counts:
    ...     signs = module.sign(5), module.sign(-5), module.sign(7)
    >>> sorted(counts.items())
    [(1, 3), (2, 3), (3, 1), (4, 2)]
    """
    counts: Counter[int] = Counter()

    def trace_call(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != module.__file__:
            return None
        counts[frame.f_lineno] += 1
        return trace_line

    def trace_line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            counts[frame.f_lineno] += 1
        return trace_line

    before, before_in_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(trace_call)
    sys.settrace(trace_call)
    try:
        yield counts
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)

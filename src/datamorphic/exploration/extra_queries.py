"""Queries to the system of a front beyond its exploration, in limited number and without output."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TypeVar

from ..errors import Interrupted, SystemFailed
from ..runs.driver import drive
from ..runs.flow import Flow
from ..space.outputs import Status
from .front_data import FrontData

FlowResult = TypeVar("FlowResult")
EXTRA_CALLS_DIVISOR = 4  # extra calls: at most the calls of the exploration divided by this
MIN_EXTRA_CALLS = 100  # extra calls that are always allowed


def get_extra_call_limit(front: FrontData, limit: int) -> int:
    """Return the number of extra rows to query the system with, at most `limit`.

    The limit is 0 where no system is attached, or where the system hung or died before.
    """
    status_counts = front.tally.health.status_counts
    if front.sut is None or Status.TIMEOUT in status_counts or Status.DIED in status_counts:
        return 0
    return min(limit, max(MIN_EXTRA_CALLS, front.calls // EXTRA_CALLS_DIVISOR))


def query_quietly(front: FrontData, flow: Flow[FlowResult]) -> FlowResult | None:
    """Run a flow on the system of a front and return its result, or None if the system fails.

    The calls do not count as calls of the front. What the system prints goes to stderr.
    """
    assert front.sut is not None
    try:
        with redirect_stdout(sys.stderr):
            return drive(flow, front.sut, progress=False, recheck=0)
    except (SystemFailed, Interrupted):
        return None

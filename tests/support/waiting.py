"""Waiting for what other processes and threads do, with an end."""

from __future__ import annotations

import asyncio
import time

MAX_WAIT_SECONDS = 120  # a busy machine is slow


def wait_until(condition, description, seconds=MAX_WAIT_SECONDS):
    """Wait until a condition is true, and fail after some seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{description}: not within {seconds} s"
        time.sleep(0.01)


async def pause_until(condition, description, seconds=MAX_WAIT_SECONDS):
    """Wait as `wait_until` does, while other tasks go on."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{description}: not within {seconds} s"
        await asyncio.sleep(0.01)

"""Audits in tests measure their budgets in processor time, so that other work on the machine shortens no check."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def undisturbed_clock(cpu_clock):
    """Use the processor time; modules whose tests wait replace this fixture."""

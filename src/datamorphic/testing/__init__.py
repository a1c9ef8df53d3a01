"""Helpers for test suites: assertions, baselines, replay, conformance.

The conformance suites are imported when first used, so that the pytest plugin stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .conformance import check_executor, check_generator, check_selector

__all__ = ["check_executor", "check_generator", "check_selector"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import conformance

    return getattr(conformance, name)

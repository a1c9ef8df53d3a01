"""A comparison of two models as a page."""

from __future__ import annotations

from ..core.result import Level
from ..reporting.document import Page, Section, SectionState
from .result import ModelComparison

LEVEL_STATES: dict[Level, SectionState] = {"fault": "bad", "concern": "warn", "advice": "note"}


def build_page(comparison: ModelComparison, brief: bool = False) -> Page:
    """Return a comparison as a page; with `brief`, the short form for terminals."""
    sections = [
        Section(
            heading=finding.title,
            text=finding.detail,
            state=LEVEL_STATES[finding.level],
            badge=finding.level.capitalize(),
            facts=[("What to do", finding.remedy)],
            beside=() if brief else finding.sections,
        )
        for finding in comparison.findings
    ]
    return Page(
        title=f"From {comparison.old} to {comparison.new}",
        lead="What changed from one model to another, and for whom.",
        verdict=comparison.headline,
        state="good" if comparison.passed else "warn",
        sections=sections,
    )

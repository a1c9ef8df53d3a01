"""Statistics of a test set as a page."""

from __future__ import annotations

import math

from .._text import pluralize
from ..reporting.document import Page, Section, Table, Tile
from .case_statistics import MORPHY_COLUMNS, CaseStatistics
from .statistics_text import format_headline, format_input, format_number


def build_page(statistics: CaseStatistics) -> Page:
    """Return a page with the figures, the correctness by morphism, and the failed cases first."""
    figures = dict(zip(MORPHY_COLUMNS, map(format_number, statistics.morphy_values()), strict=True))
    facts = [*figures.items()]
    if not math.isnan(statistics.mean_distance):
        facts.append(("Mean distance to the nearest case", format_number(statistics.mean_distance)))
        facts.append(("Standard deviation of these distances", format_number(statistics.distance_deviation)))
    sections = [_build_failure_section(statistics)] if statistics.failures else []
    if statistics.metamorphisms:
        sections.append(_build_metamorphism_section(statistics))
    sections.append(_build_morphism_section(statistics))
    if statistics.labels:
        rows = [[label, count] for label, count in statistics.labels.items()]
        table = Table(columns=["label", "cases"], rows=rows)
        sections.append(Section(heading="Labels", text="What the system under test answered.", table=table))
    is_judged = statistics.correct or statistics.incorrect
    return Page(
        title=f"Test set {statistics.name}",
        lead="The cases of a test set, what made them, and whether their outputs are correct.",
        verdict=format_headline(statistics),
        state="bad" if statistics.incorrect else "good" if is_judged else "plain",
        facts=facts,
        tiles=[
            Tile(label="test cases", value=f"{statistics.test_cases_count:,}"),
            Tile(
                label="incorrect", value=f"{statistics.incorrect:,}", state="bad" if statistics.incorrect else "plain"
            ),
            Tile(label="not judged", value=f"{statistics.not_judged:,}"),
        ],
        sections=sections,
    )


def _build_failure_section(statistics: CaseStatistics) -> Section:
    rows = [
        [
            failure.id,
            format_input(failure.input),
            failure.output,
            " > ".join(failure.chain),
            ", ".join(map(str, failure.lineage)),
            ", ".join(failure.metamorphisms),
        ]
        for failure in statistics.failures
    ]
    columns = ["case", "input", "output", "made by", "origins", "violates"]
    return Section(
        heading=pluralize(statistics.incorrect, "incorrect case"),
        text=" ".join(["Each case violates a metamorphism that applies to it.", *statistics.notes]),
        state="bad",
        badge="incorrect",
        table=Table(columns=columns, rows=rows),
    )


def _build_metamorphism_section(statistics: CaseStatistics) -> Section:
    rows = [
        [counts.metamorphism, counts.message, counts.holds, counts.violated, counts.undefined, counts.inapplicable]
        for counts in statistics.metamorphisms
    ]
    columns = ["metamorphism", "what it says", "holds", "violated", "no output", "does not apply"]
    return Section(
        heading="Metamorphisms", text="The number of cases by verdict.", table=Table(columns=columns, rows=rows)
    )


def _build_morphism_section(statistics: CaseStatistics) -> Section:
    rows = [
        [counts.morphism, counts.cases, counts.correct, counts.incorrect, counts.not_judged]
        for counts in statistics.morphisms
    ]
    columns = ["made by", "cases", "correct", "incorrect", "not judged"]
    return Section(
        heading="Seed makers and datamorphisms",
        text="What made the cases, and how many of their outputs are correct.",
        table=Table(columns=columns, rows=rows),
    )

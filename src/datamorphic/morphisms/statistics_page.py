"""Statistics of a test set as a page."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .._text import format_short, pluralise
from ..reporting.document import Page, Section, Table, Tile
from .case_statistics import MORPHY_COLUMNS, CaseStatistics

MAX_INPUT_VALUES = 8
MAX_FAILURE_LINES = 10  # on a terminal
MAX_LABEL_LINES = 8  # on a terminal


def build_page(statistics: CaseStatistics, brief: bool = False) -> Page:
    """Return a page with the figures, the correctness by morphism, and the failed cases first.

    With `brief`, it is the short form for terminals.
    """
    figures = dict(zip(MORPHY_COLUMNS, map(_format_number, statistics.morphy_values()), strict=True))
    facts = [*figures.items()]
    if not math.isnan(statistics.mean_distance):
        mean, deviation = map(_format_number, (statistics.mean_distance, statistics.distance_deviation))
        facts.append(("Distance to the nearest case", f"{mean} on average, standard deviation {deviation}"))
    if statistics.notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in statistics.notes)))
    sections = [_build_failure_section(statistics)] if statistics.failures else []
    if statistics.metamorphisms:
        sections.append(_build_metamorphism_section(statistics, brief))
    sections.append(_build_morphism_section(statistics, brief))
    if statistics.labels:
        rows = [[label, count] for label, count in statistics.labels.items()]
        table = Table(columns=["label", "cases"], rows=rows, main_rows=MAX_LABEL_LINES)
        text = "" if brief else "What the system under test answered."
        sections.append(Section(heading="Labels", text=text, table=table))
    is_judged = statistics.correct or statistics.incorrect
    return Page(
        title=f"Test set {statistics.name}",
        lead="The cases of a test set, what made them, and whether their outputs are correct.",
        subject=statistics.name,
        verdict=_format_verdict(statistics),
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


def _format_verdict(statistics: CaseStatistics) -> str:
    """Return the size of the set and its correctness in one line."""
    size = f"{pluralise(statistics.test_cases_count, 'test case')} ({statistics.originals:,} original"
    size += f", {pluralise(statistics.mutants, 'mutant')})"
    if statistics.not_judged == statistics.test_cases_count:
        return f"{size}, not judged"
    return (
        f"{size}: {statistics.correct:,} correct, {statistics.incorrect:,} incorrect, "
        f"{statistics.not_judged:,} not judged"
    )


def _format_input(values: Mapping[str, object]) -> str:
    """Return an input for a sentence, shortened if it has many features."""
    pairs = [f"{name}={format_short(value)}" for name, value in list(values.items())[:MAX_INPUT_VALUES]]
    return ", ".join([*pairs, "..."] if len(values) > MAX_INPUT_VALUES else pairs)


def _format_number(value: float) -> str:
    """Return a count in full and other numbers with four digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return "-" if math.isinf(value) or math.isnan(value) else f"{value:.4g}"


def _build_failure_section(statistics: CaseStatistics) -> Section:
    rows = [
        [
            failure.id,
            _format_input(failure.input),
            failure.output,
            " > ".join(failure.chain),
            ", ".join(map(str, failure.lineage)),
            ", ".join(failure.metamorphisms),
        ]
        for failure in statistics.failures
    ]
    columns = ["case", "input", "output", "made by", "origins", "violates"]
    return Section(
        heading=pluralise(statistics.incorrect, "incorrect case"),
        text="Each case violates a metamorphism that applies to it.",
        state="bad",
        table=Table(columns=columns, rows=rows, main_rows=MAX_FAILURE_LINES),
    )


def _build_metamorphism_section(statistics: CaseStatistics, brief: bool) -> Section:
    rows = []
    for counts in statistics.metamorphisms:
        outcome = "VIOLATED" if counts.violated else "HOLDS" if counts.holds else "NOT CHECKED"
        figures = (counts.holds, counts.violated, counts.undefined, counts.inapplicable)
        rows.append([outcome, counts.metamorphism, counts.message, *figures])
    columns = ["outcome", "metamorphism", "what it says", "holds", "violated", "no output", "does not apply"]
    text = "" if brief else "The number of cases by verdict."
    return Section(heading="Metamorphisms", text=text, table=Table(columns=columns, rows=rows))


def _build_morphism_section(statistics: CaseStatistics, brief: bool) -> Section:
    rows = [
        [counts.morphism, counts.cases, counts.correct, counts.incorrect, counts.not_judged]
        for counts in statistics.morphisms
    ]
    columns = ["made by", "cases", "correct", "incorrect", "not judged"]
    return Section(
        heading="Seed makers and datamorphisms",
        text="" if brief else "What made the cases, and how many of their outputs are correct.",
        table=Table(columns=columns, rows=rows),
    )

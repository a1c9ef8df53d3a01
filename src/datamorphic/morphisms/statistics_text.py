"""Statistics of a test set as text."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .._text import format_short, pluralize
from .case_statistics import MORPHY_COLUMNS, CaseStatistics, FailedCase, MorphismCounts

MAX_FAILURE_LINES = 10
MAX_INPUT_VALUES = 8
MAX_ANCESTORS = 8
MAX_LABELS = 8


def format_statistics(statistics: CaseStatistics) -> str:
    """Return counts, distances, correctness by morphism and the first failures, one per line."""
    values = [format_number(value) for value in statistics.morphy_values()]
    widths = [max(len(column), len(value)) for column, value in zip(MORPHY_COLUMNS, values, strict=True)]
    lines = [
        format_headline(statistics),
        "  ".join(column.rjust(width) for column, width in zip(MORPHY_COLUMNS, widths, strict=True)),
        "  ".join(value.rjust(width) for value, width in zip(values, widths, strict=True)),
    ]
    if not math.isnan(statistics.mean_distance):
        lines.append(
            f"distance to the nearest case: mean {format_number(statistics.mean_distance)}, "
            f"standard deviation {format_number(statistics.distance_deviation)}"
        )
    if statistics.labels:
        labels = [f"{label} ({count:,})" for label, count in list(statistics.labels.items())[:MAX_LABELS]]
        rest = ", ..." if len(statistics.labels) > MAX_LABELS else ""
        lines.append(f"labels: {', '.join(labels)}{rest}")
    for counts in statistics.morphisms:
        lines.append(f"  {counts.morphism}: {pluralize(counts.cases, 'case')}, {_format_correctness(counts)}")
    for verdicts in statistics.metamorphisms:
        outcome = "VIOLATED" if verdicts.violated else "HOLDS" if verdicts.holds else "NOT CHECKED"
        figures = f"holds for {verdicts.holds:,}, violated by {verdicts.violated:,}"
        message = f": {verdicts.message}" if verdicts.message else ""
        lines.append(f"{outcome:<11}  {verdicts.metamorphism} ({figures}){message}")
    if statistics.failures:
        lines.append(f"{pluralize(statistics.incorrect, 'incorrect case')}:")
    lines += [format_failure(failure) for failure in statistics.failures[:MAX_FAILURE_LINES]]
    if statistics.incorrect > MAX_FAILURE_LINES:
        lines.append(f"  ... and {pluralize(statistics.incorrect - MAX_FAILURE_LINES, 'more incorrect case')}")
    return "\n".join([*lines, *statistics.notes])


def format_headline(statistics: CaseStatistics) -> str:
    """Return the size of the set and its correctness in one line."""
    size = f"{pluralize(statistics.test_cases_count, 'test case')} ({statistics.originals:,} original"
    size += f", {pluralize(statistics.mutants, 'mutant')})"
    if statistics.not_judged == statistics.test_cases_count:
        return f"{statistics.name}: {size}, not judged"
    return f"{statistics.name}: {size}: {_format_correctness(statistics)}"


def _format_correctness(counts: CaseStatistics | MorphismCounts) -> str:
    return f"{counts.correct:,} correct, {counts.incorrect:,} incorrect, {counts.not_judged:,} not judged"


def format_failure(failure: FailedCase) -> str:
    """Return an incorrect case with how it was made."""
    reasons = f", violates {', '.join(failure.metamorphisms)}" if failure.metamorphisms else ""
    lineage = f" from {', '.join(map(str, failure.lineage[:MAX_ANCESTORS]))}" if failure.lineage else ""
    history = f"made by {' > '.join(failure.chain)}{lineage}"
    return (
        f"  case {failure.id}: {format_input(failure.input)} gives {format_short(failure.output)}, {history}{reasons}"
    )


def format_input(values: Mapping[str, object]) -> str:
    """Return an input for a sentence, shortened if it has many features."""
    pairs = [f"{name}={format_short(value)}" for name, value in list(values.items())[:MAX_INPUT_VALUES]]
    return ", ".join([*pairs, "..."] if len(values) > MAX_INPUT_VALUES else pairs)


def format_number(value: float) -> str:
    """Return a count in full and other numbers with four digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return "-" if math.isinf(value) or math.isnan(value) else f"{value:.4g}"

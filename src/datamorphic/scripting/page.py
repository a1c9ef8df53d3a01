"""The result of a script as a page."""

from __future__ import annotations

from .._text import format_short, pluralize
from ..reporting.document import Page, Section, SectionState, Table
from .result import ScriptResult
from .statistics_file import COLUMNS
from .text import format_facts

MAX_ROWS_PER_TABLE = 200


def build_page(result: ScriptResult) -> Page:
    """Return a page with what the script did, its statistics and its judgements."""
    pool = result.pool
    sections = [Section(heading="What the script did", text="\n".join(f"• {line}" for line in format_facts(result)))]
    if pool.judgements:
        rows = [
            [entry["metamorphism"], entry["violated"], entry["holds"], entry["inapplicable"], entry["undefined"]]
            for entry in pool.judgements[:MAX_ROWS_PER_TABLE]
        ]
        columns = ["metamorphism", "violated", "holds", "does not apply", "undefined"]
        state: SectionState = "bad" if result.violations else "good"
        text = "The number of cases that violate each metamorphism, and of those for which it holds."
        sections.append(
            Section(heading="Metamorphisms", text=text, state=state, table=Table(columns=columns, rows=rows))
        )
    if pool.statistics:
        rows = [
            ["" if value is None else format_short(value) for value in figures.values()]
            for figures in pool.statistics[:MAX_ROWS_PER_TABLE]
        ]
        text = "The figures that saveStatistics saved, in order."
        sections.append(
            Section(heading="Statistics", text=text, table=Table(columns=COLUMNS, rows=rows, sortable=False))
        )
    if pool.explorations:
        rows = [
            [entry["system"], entry["strategy"].replace("_", " "), entry["walks"], entry["pairs"], entry["runs"]]
            for entry in pool.explorations[:MAX_ROWS_PER_TABLE]
        ]
        columns = ["system", "strategy", "walks", "border pairs", "runs"]
        text = f"{pluralize(len(pool.explorations), 'exploration')}, in order."
        sections.append(
            Section(heading="Explorations", text=text, table=Table(columns=columns, rows=rows, sortable=False))
        )
    page_state: SectionState = "bad" if result.violations else "warn" if result.interrupted else "good"
    return Page(
        title=f"The script {result.script}",
        lead="What the commands of the script did to the test pool.",
        verdict=result.headline,
        state=page_state,
        facts=[("Seed", str(result.seed)), ("Runs since the pool was emptied", f"{pool.runs:,}")],
        sections=sections,
    )

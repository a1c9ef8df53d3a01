"""The result of a script as a page."""

from __future__ import annotations

from .._text import format_short, pluralise
from ..morphisms.cases import CaseKind
from ..reporting.document import Page, Section, SectionState, Table
from ..reporting.text import cut
from .result import ScriptResult
from .statistics_file import COLUMNS

MAX_ROWS_PER_TABLE = 200
MAX_LISTED_LINES = 20
MAX_MESSAGE_CHARACTERS = 200


def build_page(result: ScriptResult, brief: bool = False) -> Page:
    """Return a page with what the script did, its statistics and its judgements.

    With `brief`, it is the short form for terminals, without statistics and explorations.
    """
    pool = result.pool
    lines = _list_outcomes(result)
    sections = [Section(heading="What the script did", text="\n".join(f"• {line}" for line in lines))] if lines else []
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
    if pool.statistics and not brief:
        rows = [
            ["" if value is None else format_short(value) for value in figures.values()]
            for figures in pool.statistics[:MAX_ROWS_PER_TABLE]
        ]
        text = "The figures that saveStatistics saved, in order."
        sections.append(
            Section(heading="Statistics", text=text, table=Table(columns=COLUMNS, rows=rows, sortable=False))
        )
    if pool.explorations and not brief:
        rows = [
            [entry["system"], entry["strategy"].replace("_", " "), entry["walks"], entry["pairs"], entry["runs"]]
            for entry in pool.explorations[:MAX_ROWS_PER_TABLE]
        ]
        columns = ["system", "strategy", "walks", "border pairs", "runs"]
        text = f"{pluralise(len(pool.explorations), 'exploration')}, in order."
        sections.append(
            Section(heading="Explorations", text=text, table=Table(columns=columns, rows=rows, sortable=False))
        )
    page_state: SectionState = "bad" if result.violations else "good" if result.complete else "warn"
    return Page(
        title=f"The script {result.script}",
        lead="What the commands of the script did to the test pool.",
        verdict=result.headline,
        state=page_state,
        facts=[("Seed", str(result.seed)), ("Runs since the pool was emptied", f"{pool.runs:,}")],
        sections=sections,
    )


def _list_outcomes(result: ScriptResult) -> list[str]:
    """Return the facts about the pool, its explorations, statistics, messages and files."""
    pool, lines = result.pool, [*result.notes, *(f"not run: {commands}" for commands in result.unfinished)]
    tests = result.tests
    if tests is not None:
        mutants = int((tests.kinds == CaseKind.MUTANT).sum())
        kinds = f"{len(tests) - mutants:,} original, {pluralise(mutants, 'mutant')}"
        lines.append(f"pool of {pool.spec}: {pluralise(len(tests), 'case')} ({kinds}), {pluralise(pool.runs, 'run')}")
    if pool.explorations:
        pairs = sum(entry["pairs"] for entry in pool.explorations)
        lines.append(f"{pluralise(len(pool.explorations), 'exploration')}: {pluralise(pairs, 'border pair')}")
    if pool.statistics:
        lines.append(f"statistics saved {pluralise(len(pool.statistics), 'time')}, last:")
        figures = pool.statistics[-1]
        lines.append("  " + ", ".join(f"{name} {format_short(v)}" for name, v in figures.items() if v is not None))
    if pool.messages:
        messages = pool.messages[-MAX_LISTED_LINES:]
        is_cut = len(messages) < len(pool.messages)
        lines.append(f"the last {len(messages)} of {len(pool.messages):,} messages:" if is_cut else "messages:")
        lines += [f"  {cut(message, MAX_MESSAGE_CHARACTERS)}" for message in messages]
    if files := result.files:
        more = f" and {len(files) - MAX_LISTED_LINES:,} more" if len(files) > MAX_LISTED_LINES else ""
        lines.append(f"written in {pool.folder.root}: {', '.join(files[:MAX_LISTED_LINES])}{more}")
    return lines

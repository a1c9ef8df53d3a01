"""Reports of law checks as a page."""

from __future__ import annotations

from .._text import pluralize
from ..reporting.document import Page, Section, Table
from .law_result import LawReport, LawResult
from .text import format_tried_first


def build_page(report: LawReport) -> Page:
    """Return a page with the outcome of every law, broken laws first."""
    broken = report.broken
    verdict = "No law is broken"
    if broken:
        names = ", ".join(result.law for result in broken)
        verdict = f"{pluralize(len(broken), 'law')} of {len(report.results)} broken: {names}"
    facts = [("Test system", report.system), ("Triples of points", f"{report.examples:,}"), ("Seed", str(report.seed))]
    tried_first = format_tried_first(report)
    if tried_first:
        facts.append(("Earlier counter-examples", tried_first))
    return Page(
        title=f"Laws of {report.system}",
        lead="Exploration relies on these laws of moves, midpoints and distances.",
        verdict=verdict,
        state="bad" if broken else "good",
        facts=facts,
        sections=[*map(_build_broken_section, broken), _build_table_section(report)],
    )


def _build_table_section(report: LawReport) -> Section:
    columns = {"law": "law", "says": "what it says", "state": "outcome"}
    if any(result.words for result in report.results):
        columns["words"] = "counter-example or reason"
    rows = [[getattr(result, name) for name in columns] for result in report.results]
    return Section(
        heading="All laws hold" if report.holds else "All laws",
        text=f"{report.examples:,} triples of points were tried for each law.",
        state="good" if report.holds else "plain",
        table=Table(columns=list(columns.values()), rows=rows),
    )


def _build_broken_section(result: LawResult) -> Section:
    table = None
    if result.cases is not None:
        table = Table(
            columns=["point", *map(str, result.cases.columns)],
            rows=[[point, *row] for point, row in zip(result.cases.index, result.cases.to_numpy(), strict=True)],
            caption="The counter-example",
        )
    return Section(
        heading=f"{result.law}: {result.says}",
        text=result.words,
        state="bad",
        badge="broken",
        facts=[("Function", result.culprit)] if result.culprit else [],
        table=table,
    )

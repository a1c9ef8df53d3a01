"""Reports of law checks as a page."""

from __future__ import annotations

from .._text import pluralise
from ..reporting.document import Page, Section, Table
from .law_result import LawReport, LawResult


def build_page(report: LawReport, brief: bool = False) -> Page:
    """Return a page with the outcome of every law, broken laws first; with `brief`, the short form for terminals."""
    broken = report.broken
    verdict = "No law is broken"
    if broken:
        names = ", ".join(result.law for result in broken)
        verdict = f"{pluralise(len(broken), 'law')} of {len(report.results)} broken: {names}"
    facts = [("Test system", report.system), ("Triples of points", f"{report.examples:,}"), ("Seed", str(report.seed))]
    counts = report.tried_first
    if counts["tried"]:
        outcome = f"{counts['tried']} tried first, {counts['breaking']} still breaking, {counts['mended']} fixed"
        facts.append(("Earlier counter-examples", outcome))
    return Page(
        title=f"Laws of {report.system}",
        subject=report.system,
        lead="Exploration relies on these laws of moves, midpoints and distances.",
        verdict=verdict,
        state="bad" if broken else "good",
        facts=facts,
        sections=[*(_build_broken_section(result, brief) for result in broken), _build_table_section(report, brief)],
    )


def _build_table_section(report: LawReport, brief: bool) -> Section:
    rows = []
    for result in report.results:
        reason = f": {result.words}" if result.words and result.state != "BROKEN" else ""  # that has a section
        rows.append([result.state, result.law, f"{result.says}{reason}"])
    return Section(
        heading="All laws hold" if report.holds else "All laws",
        text="" if brief else f"{report.examples:,} triples of points were tried for each law.",
        state="good" if report.holds else "plain",
        table=Table(columns=["outcome", "law", "what it says"], rows=rows),
    )


def _build_broken_section(result: LawResult, brief: bool) -> Section:
    table = None
    if result.cases is not None and not brief:
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

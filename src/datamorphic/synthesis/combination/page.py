"""A combination as a page."""

from __future__ import annotations

from ..._text import format_percent, pluralize
from ...reporting.document import Page, Section, Table
from .result import Combination
from .text import format_figures

MAX_GROUPS = 50


def build_combination_page(combination: Combination) -> Page:
    """Build the page of a combination."""
    sections = [
        Section(heading="The cases", text="\n".join(f"• {line}" for line in format_figures(combination))),
        *_build_metamorphisms(combination),
        *_build_groups(combination),
    ]
    if combination.recurring:
        heading = f"{pluralize(len(combination.recurring), 'violation')} of earlier runs still occur"
        text = "\n".join(f"• {words}" for words in combination.recurring)
        sections.append(Section(heading=heading, text=text, state="bad"))
    if combination.notes:
        sections.append(Section(heading="Worth knowing", text="\n".join(f"• {note}" for note in combination.notes)))
    return Page(
        title=f"Combined test cases of {combination.subject}",
        lead="Datamorphisms were applied to seed cases, one after the other, and the answers to the new cases were checked "
        "by the metamorphisms of the test system. No known right answer was needed.",
        sections=sections,
        verdict=combination.headline,
        state="good" if combination.holds else "bad",
    )


def _build_metamorphisms(combination: Combination) -> list[Section]:
    if not combination.verdicts:
        return []
    rows = []
    for row in combination.table.itertuples():
        check_count = row.holds + row.violated
        share = format_percent(row.violated / check_count) if check_count else "–"
        counts = [f"{count:,}" for count in (check_count, row.violated, row.inapplicable, row.undefined)]
        rows.append([row.metamorphism, row.message, *counts[:2], share, *counts[2:]])
    columns = ["metamorphism", "what it says", "checks", "violated", "share", "does not apply", "no answer"]
    return [
        Section(
            heading=f"{pluralize(len(rows), 'metamorphism')} checked",
            text="A metamorphism applies to the cases of its datamorphism, or to all. A case that can be made in several ways "
            "is checked for each of them.",
            state="good" if combination.holds else "bad",
            table=Table(columns=columns, rows=rows),
        )
    ]


def _build_groups(combination: Combination) -> list[Section]:
    groups = combination.groups
    if not groups:
        return []
    rows = [
        [
            group.metamorphism,
            (group.chain or "none needed") if group.is_searched else "not searched",
            f"{group.count:,}",
            group.words,
        ]
        for group in groups[:MAX_GROUPS]
    ]
    return [
        Section(
            heading="The shortest chains that lead to violations",
            text="Each violation was traced to its seed case, and its chain of datamorphisms shortened while the violation "
            "stayed. A chain is applied from left to right.",
            state="bad",
            table=Table(columns=["metamorphism", "shortest chain", "violations", "for example"], rows=rows),
        )
    ]

"""A combination as a page."""

from __future__ import annotations

from ..._text import format_percent, pluralise
from ...reporting.document import Page, Section, Table
from .chains import format_size
from .result import CombinationResult

MAX_GROUPS = 50
METAMORPHISMS_TEXT = (
    "A metamorphism applies to the cases of its datamorphism, or to all. A case that can be made in several ways is checked for "
    "each of them."
)
GROUPS_TEXT = (
    "Each violation was traced to its seed case, and its chain of datamorphisms shortened while the violation stayed. A chain is "
    "applied from left to right."
)


def build_combination_page(combination: CombinationResult, brief: bool = False) -> Page:
    """Build the page of a combination; with `brief`, the short form for terminals."""
    sections = [*_build_metamorphisms(combination, brief), *_build_groups(combination, brief)]
    if combination.recurring:
        heading = f"{pluralise(len(combination.recurring), 'violation')} of earlier runs still occur"
        text = "\n".join(f"• {words}" for words in combination.recurring)
        sections.append(Section(heading=heading, text=text, state="bad"))
    return Page(
        title=f"Combined test cases of {combination.subject}",
        lead="Datamorphisms were applied to seed cases, one after the other, and the answers to the new cases were checked "
        "by the metamorphisms of the test system. No known right answer was needed.",
        sections=sections,
        verdict=combination.headline,
        state="good" if combination.holds else "bad",
        facts=_list_facts(combination),
    )


def _list_facts(combination: CombinationResult) -> list[tuple[str, str]]:
    """Return how the cases were made and what that cost."""
    strategy = combination.strategy if combination.order is None else f"{combination.strategy}({combination.order})"
    names = ", ".join(combination.datamorphisms)
    datamorphisms = f"{pluralise(len(combination.datamorphisms), 'datamorphism')} ({names})"
    facts = [("Chains", f"{strategy} of {datamorphisms}: {format_size(combination.estimate)} chains")]
    if combination.is_sampled:
        text = "chains were drawn at random, all equally likely, and the cases on the way to them were made too"
        facts.append(("Sample", text))
    if ancestors := int(combination.ancestors.sum()):
        facts.append(("Other cases", f"{pluralise(ancestors, 'more case')}, from which others were made"))
    if combination.duplicates:
        facts.append(("Left out", f"{_count_repeated_chains(combination)}: another case has the same input"))
    if combination.cases.rejected_count:
        cases = pluralise(combination.cases.rejected_count, "case")
        facts.append(("Filtered", f"{cases} not changed further: a filter ended the chain"))
    if combination.tally.retried_failures is not None:
        recurring_count, fixed_count = combination.tally.retried_failures
        earlier = pluralise(recurring_count + fixed_count, "violation")
        outcome = f"{recurring_count:,} still occur, {fixed_count:,} do not"
        facts.append(("Earlier runs", f"{earlier} were tried first: {outcome}"))
    if combination.runs:
        runs = f"{pluralise(combination.runs, 'run')}, {pluralise(combination.calls, 'model call')}"
        facts.append(("Cost", f"{runs}, {combination.seconds:.2g} s; seed {combination.seed}"))
    if combination.notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in combination.notes)))
    return facts


def _count_repeated_chains(combination: CombinationResult) -> str:
    """Return in words how many chains lead to the input of another case: a lower bound unless all were followed."""
    is_complete = not (combination.is_sampled or combination.cases.rejected_count or combination.ancestors.any())
    if is_complete:
        return pluralise(combination.estimate - combination.case_count, "chain")
    return f"at least {pluralise(combination.duplicates, 'chain')}"


def _build_metamorphisms(combination: CombinationResult, brief: bool) -> list[Section]:
    if not combination.verdicts:
        return []
    rows = []
    for row in combination.table.itertuples():
        check_count = row.holds + row.violated
        outcome = "VIOLATED" if row.violated else "HOLDS" if check_count else "NOT CHECKED"
        share = format_percent(row.violated / check_count) if check_count else "–"
        counts = [f"{count:,}" for count in (check_count, row.violated, row.inapplicable, row.undefined)]
        rows.append([outcome, row.metamorphism, row.message, *counts[:2], share, *counts[2:]])
    columns = ["outcome", "metamorphism", "what it says", "checks", "violated", "share", "does not apply", "no answer"]
    return [
        Section(
            heading=f"{pluralise(len(rows), 'metamorphism')} checked",
            text="" if brief else METAMORPHISMS_TEXT,
            state="good" if combination.holds else "bad",
            table=Table(columns=columns, rows=rows, main_columns=columns[:-2]),
        )
    ]


def _build_groups(combination: CombinationResult, brief: bool) -> list[Section]:
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
            text="" if brief else GROUPS_TEXT,
            state="bad",
            table=Table(columns=["metamorphism", "shortest chain", "violations", "for example"], rows=rows),
        )
    ]

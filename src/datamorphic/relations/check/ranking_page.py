"""The ranking of learners as a page."""

from __future__ import annotations

from ..._text import format_percent, pluralise
from ...core.result import Measure
from ...reporting.document import Page, Section, Table
from ...reporting.text import NO_VALUE_TEXT
from .ranking import LearnerRanking


def build_page(ranking: LearnerRanking, brief: bool = False) -> Page:
    """Return the page of a ranking: the order, then the outcome of each relation."""
    first = ranking.learners[0]
    ended = [learner.name for learner in ranking.learners if not learner.report.complete]
    rows = [
        [
            learner.name,
            f"{len(learner.violated)} of {learner.judged}",
            _format_measure(learner.share),
            NO_VALUE_TEXT if learner.accuracy is None else _format_measure(learner.accuracy),
            ", ".join(learner.violated),
        ]
        for learner in ranking.learners
    ]
    sections = [
        Section(
            heading="Learners, by the necessary relations that they violate",
            text=""
            if brief
            else "Equal numbers are ordered by the share of violating cases, then by accuracy. Which relations are "
            "necessary is different for different learners. In brackets, 95% intervals.",
            table=Table(
                columns=["learner", "violated", "violating cases", f"accuracy, {ranking.folds} folds", "relations"],
                rows=rows,
                main_rows=len(rows),
                sortable=False,
            ),
        )
    ]
    if not brief:
        sections += [
            Section(
                heading=learner.name,
                text=f"{learner.report.headline[:1].upper()}{learner.report.headline[1:]}.",
                state="bad" if learner.violated else "plain",
                table=Table(
                    columns=["relation", "purpose", "verdict", "violated", "judged"],
                    rows=[
                        [entry.relation, entry.purpose, entry.verdict, entry.violated, entry.judged]
                        for entry in learner.report.entries
                    ],
                ),
                folding="closed",
            )
            for learner in ranking.learners
        ]
    facts = [("Data", ranking.data), ("Seed", str(ranking.seed))]
    if ended:
        facts.append(("Note", f"The budget was spent before everything was tried: {', '.join(ended)}."))
    return Page(
        title=f"Learners on {ranking.data}",
        lead="Each learner was trained on parts of the data, and on changed data, and its answers had to change in known ways.",
        verdict=f"{first.name} violates {pluralise(len(first.violated), 'necessary relation')} of {first.judged}"
        + (", the fewest" if len(ranking.learners) > 1 else ""),
        state="bad" if first.violated else "good" if first.judged else "warn",
        facts=facts,
        sections=sections,
    )


def _format_measure(measure: Measure) -> str:
    value, low, high = map(format_percent, measure)
    return f"{value} ({low} to {high})"

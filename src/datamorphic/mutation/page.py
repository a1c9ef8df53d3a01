"""The result of ``dm.mutate`` as a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._text import pluralize
from ..reporting.document import Page, Section, SectionState, Table
from .kill_matrix import KILLED
from .result import Mutation, count_by_killer
from .text import format_share, list_facts

if TYPE_CHECKING:
    import pandas as pd

GOOD_KILLED_SHARE = 0.9  # of the mutants whose labels differ


def build_page(mutation: Mutation) -> Page:
    """Return the page of a result: the score, the kill matrix, every mutant."""
    share = mutation.killed_of_different
    state: SectionState = "plain" if math.isnan(share) else "good" if share >= GOOD_KILLED_SHARE else "warn"
    sections = [_build_relations_section(mutation), _build_matrix_section(mutation)]
    if mutation.rules is not None:
        sections.append(_build_rivals_section(mutation))
    sections += [
        Section(
            heading="Survivors, and why they survive",
            text=f"{pluralize(len(mutation.survivors), 'mutant')}.",
            table=_build_table(mutation.survivors, {"why": "why it survives"}) if len(mutation.survivors) else None,
            anchor="alive",
        ),
        Section(
            heading="All mutants",
            text=f"{pluralize(len(mutation.tried), 'mutant')}.",
            table=_build_table(
                mutation.mutants, {"state": "state", "killed_by": "killed by", "cross_validation": "cross-validation"}
            ),
            anchor="mutants",
        ),
    ]
    headline = mutation.headline
    return Page(
        title=f"Mutants of {mutation.program}",
        lead="Each mutant is the program with one place changed. A relation that a mutant violates kills it: a fault like "
        "that would be found.",
        sections=sections,
        verdict=headline[:1].upper() + headline[1:],
        state=state,
        facts=[
            ("Program", mutation.program),
            *((term.capitalize(), value) for term, value in list_facts(mutation)),
            ("Seed", str(mutation.seed)),
            ("Took", f"{mutation.seconds:.1f} s"),
        ],
        contents=True,
    )


def _build_relations_section(mutation: Mutation) -> Section:
    smallest_set = ", ".join(mutation.kills.smallest_set()) or "none"
    rows = [
        [relation, f"{kills}", f"{alone}", format_share(rate), format_share(traces), "yes" if needed else ""]
        for relation, kills, alone, rate, traces, needed, _ in mutation.relations.itertuples(index=False)
    ]
    return Section(
        heading="Which relations kill",
        text=f"The fewest relations that kill all killed mutants: {smallest_set}. Traces: how much the executed lines differ "
        "between source and follow-up. Relations whose traces differ more tend to find more.",
        table=Table(columns=["relation", "kills", "alone", "violated, %", "traces differ, %", "needed"], rows=rows),
        anchor="relations",
    )


def _build_matrix_section(mutation: Mutation) -> Section:
    kills = mutation.kills
    rows = [
        [mutant, *map(_format_rate, rates)]
        for mutant, rates, state in zip(kills.mutants, kills.rates.T, kills.states, strict=True)
        if state == KILLED
    ]
    return Section(
        heading="The kill matrix",
        text="The share of inputs that violate each relation, in percent, per killed mutant.",
        table=Table(columns=["mutant", *kills.relations], rows=rows),
        anchor="matrix",
    )


def _format_rate(rate: float) -> str | None:
    if math.isnan(rate):
        return None
    return "0" if rate == 0 else f"{100 * rate:.1f}"


def _build_rivals_section(mutation: Mutation) -> Section:
    counts = count_by_killer(mutation)
    rows = [
        ["killed by relations", str(counts[True, True]), str(counts[True, False])],
        ["not killed by relations", str(counts[False, True]), str(counts[False, False])],
    ]
    return Section(
        heading="Comparison with cross-validation",
        text=f"Of the mutants whose labels differ, relations kill {format_share(mutation.killed_of_different)} and "
        f"cross-validation on simulated data {format_share(mutation.rival_of_different)}.",
        table=Table(columns=["", "killed by cross-validation", "not killed by it"], rows=rows, sortable=False),
        anchor="rival",
    )


def _build_table(mutants: pd.DataFrame, headings: dict[str, str]) -> Table:
    """Return a table of the changes of mutants, with further columns under headings."""
    names = ("mutant", "operator", "line", "function", "before", "after")
    rows = mutants.astype({"line": str})[[*names, *headings]].values.tolist()
    return Table(columns=[*names, *headings.values()], rows=rows)

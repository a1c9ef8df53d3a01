"""The result of ``dm.mutate`` as a page."""

from __future__ import annotations

import math

from .._text import format_percent, format_short, pluralise
from ..reporting.document import Page, Section, SectionState, Table
from ..reporting.text import NO_VALUE_TEXT, to_one_line
from .kill_matrix import KILLED
from .result import Mutation, count_by_killer

GOOD_KILLED_SHARE = 0.9  # of the mutants whose answers differ
TRACES_TEXT = (
    " Traces: how much the executed lines differ between source and follow-up. Relations whose traces differ more tend to "
    "find more."
)


def build_page(mutation: Mutation, brief: bool = False) -> Page:
    """Return the page of a result: the score, the relations, the survivors, the kill matrix, every mutant.

    With `brief`, it is the short form for terminals, without the matrix and the killed mutants.
    """
    share = mutation.killed_of_different
    state: SectionState = "plain" if math.isnan(share) else "good" if share >= GOOD_KILLED_SHARE else "warn"
    sections = [_build_relations_section(mutation, brief), *_build_survivors_sections(mutation)]
    if not brief:
        sections += [
            *_build_rivals_sections(mutation),
            _build_matrix_section(mutation),
            _build_mutants_section(mutation),
        ]
    headline = mutation.headline
    return Page(
        title=f"Mutants of {mutation.program}",
        subject=mutation.program,
        lead="Each mutant is the program with one place changed. A relation that a mutant violates kills it: a fault like "
        "that would be found.",
        sections=sections,
        verdict=headline[:1].upper() + headline[1:],
        state=state,
        facts=[
            ("Program", mutation.program),
            *_list_facts(mutation),
            ("Effort", f"{mutation.seconds:.1f} s, seed {mutation.seed}"),
            *([("Notes", "\n".join(f"• {note}" for note in mutation.notes))] if mutation.notes else []),
        ],
        contents=True,
    )


def _list_facts(mutation: Mutation) -> list[tuple[str, str]]:
    """Return the facts beside the score, as pairs of a term and its value."""
    others = mutation.kills.format_other_states()
    facts = [("Left out of the score", others)] if others else []
    killers = f"{_format_share(mutation.killed_of_different)} of them are killed by relations"
    if mutation.rules is not None:
        killers += f", {_format_share(mutation.rival_of_different)} by cross-validation"
    different_text = pluralise(len(mutation.different), "mutant")
    facts.append(("Answers differ", f"{different_text}, on {mutation.compared:,} inputs; {killers}"))
    own_text = "violates no relation"
    if mutation.violations:
        own_text = f"violates a relation in {pluralise(mutation.violations, 'case')}, which are left out"
    facts.append(("The program itself", f"{own_text}, on {mutation.inputs:,} inputs"))
    return facts


def _format_share(share: float) -> str:
    """Return a share in percent; a dash for NaN."""
    return NO_VALUE_TEXT if math.isnan(share) else format_percent(share)


def _build_relations_section(mutation: Mutation, brief: bool) -> Section:
    smallest_set = ", ".join(mutation.kills.smallest_set()) or "none"
    relations = mutation.relations.sort_values("kills", ascending=False, kind="stable")
    rows = [
        [relation, f"{kills}", f"{alone}", _format_share(rate), _format_share(traces), "yes" if needed else ""]
        for relation, kills, alone, rate, traces, needed, _ in relations.itertuples(index=False)
    ]
    return Section(
        heading="Which relations kill",
        text=f"The fewest relations that kill all killed mutants: {smallest_set}." + ("" if brief else TRACES_TEXT),
        table=Table(
            columns=["relation", "kills", "alone", "violated", "traces differ", "needed"],
            rows=rows,
            main_rows=len(rows),
        ),
        anchor="relations",
    )


def _build_survivors_sections(mutation: Mutation) -> list[Section]:
    survivors = mutation.survivors
    if not len(survivors):
        return []
    columns = ["mutant", "operator", "line", "function", "before", "after", "why it survives"]
    names = [*columns[:-1], "why"]
    rows = [
        [str(row.line) if name == "line" else format_short(to_one_line(str(getattr(row, name)))) for name in names[:-1]]
        + [row.why]
        for row in survivors.itertuples()
    ]
    return [
        Section(
            heading=f"{pluralise(len(survivors), 'mutant')} survived",
            text="",
            table=Table(columns=columns, rows=rows, main_columns=[name for name in columns if name != "operator"]),
            anchor="alive",
        )
    ]


def _build_mutants_section(mutation: Mutation) -> Section:
    headings = {"state": "state", "killed_by": "killed by", "cross_validation": "cross-validation"}
    names = ("mutant", "operator", "line", "function", "before", "after")
    rows = mutation.mutants.astype({"line": str})[[*names, *headings]].values.tolist()
    return Section(
        heading="All mutants",
        text=f"{pluralise(len(mutation.results), 'mutant')}.",
        table=Table(columns=[*names, *headings.values()], rows=rows),
        anchor="mutants",
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


def _build_rivals_sections(mutation: Mutation) -> list[Section]:
    if mutation.rules is None:
        return []
    counts = count_by_killer(mutation)
    rows = [
        ["killed by relations", str(counts[True, True]), str(counts[True, False])],
        ["not killed by relations", str(counts[False, True]), str(counts[False, False])],
    ]
    return [
        Section(
            heading="Comparison with cross-validation",
            text=f"Of the mutants whose answers differ, relations kill {_format_share(mutation.killed_of_different)} and "
            f"cross-validation on simulated data {_format_share(mutation.rival_of_different)}.",
            table=Table(columns=["", "killed by cross-validation", "not killed by it"], rows=rows, sortable=False),
            anchor="rival",
        )
    ]

"""What became of mutants, in words and as a page."""

from __future__ import annotations

import math

from .._text import format_short, pluralize
from ..reporting.document import Page as Page
from ..reporting.document import Section, SectionState, Table
from ..reporting.text import to_one_line
from .kill_matrix import KILLED, STATES, SURVIVED
from .result import Mutation, count_by_killer

MAX_SURVIVORS_LISTED = 40  # told in words


def format_mutation(mutation: Mutation) -> str:
    """Return everything in words: the score, the relations, the survivors."""
    facts = [f"{term}: {value}" for term, value in _list_facts(mutation)]
    lines = [f"{mutation.program}: {mutation.headline}", *facts, ""]
    table = mutation.relations
    width = max([len("relation"), *map(len, table["relation"])])
    lines.append(f"  {'relation':<{width}}  kills  alone  mean rate  traces differ  needed")
    for row in table.itertuples(index=False):
        traces = "-" if math.isnan(row.traces) else f"{row.traces:.0%}"
        rate = "-" if math.isnan(row.rate) else f"{row.rate:.1%}"
        needed = "yes" if row.needed else ""
        lines.append(
            f"  {row.relation:<{width}}  {row.kills:>5}  {row.alone:>5}  {rate:>9}  {traces:>13}  {needed}"
        )
    survivors = mutation.survivors
    if len(survivors):
        lines += ["", f"{pluralize(len(survivors), 'mutant')} lived:"]
        for row in survivors.head(MAX_SURVIVORS_LISTED).itertuples(index=False):
            change = f"{format_short(to_one_line(row.before))} -> {format_short(to_one_line(row.after))}"
            lines.append(f"  {row.mutant} {row.operator} line {row.line} in {row.function}: {change}: {row.why}")
        if len(survivors) > MAX_SURVIVORS_LISTED:
            lines.append(f"  and {len(survivors) - MAX_SURVIVORS_LISTED:,} more")
    lines += ["", *mutation.notes, f"{mutation.seconds:.1f} s, seed {mutation.seed}"]
    return "\n".join(lines)


def _list_facts(mutation: Mutation) -> list[tuple[str, str]]:
    others = [
        f"{mutation.kills.count(state)} {state}"
        for state in STATES
        if state not in (KILLED, SURVIVED) and mutation.kills.count(state)
    ]
    facts = [("left out of the score", ", ".join(others))] if others else []
    different_count = len(mutation.different)
    killed_text = f"{_format_share(mutation.killed_of_different)} of them are killed by relations"
    rival_text = (
        "" if mutation.rules is None else f", {_format_share(mutation.rival_of_different)} by cross-validation"
    )
    facts.append(
        (
            f"labels differ on {mutation.compared:,} inputs",
            f"{pluralize(different_count, 'mutant')}; {killed_text}{rival_text}",
        )
    )
    own_violations = mutation.violations
    own_text = (
        f"violates a relation in {pluralize(own_violations, 'case')}, which are left out"
        if own_violations
        else "violates no relation"
    )
    facts.append(("the program itself", f"{own_text}, on {mutation.inputs:,} inputs"))
    return facts


def _format_share(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def build_page(mutation: Mutation) -> Page:
    """Return a page: the score, who kills what, every mutant."""
    headline = mutation.headline
    killed_share = mutation.killed_of_different
    state: SectionState = "plain" if math.isnan(killed_share) else "good" if killed_share >= 0.9 else "warn"
    sections = [_build_relations_section(mutation), _build_matrix_section(mutation)]
    if mutation.rules is not None:
        sections.append(_build_rivals_section(mutation))
    sections += [_build_survivors_section(mutation), _build_mutants_section(mutation)]
    return Page(
        title=f"Mutants of {mutation.program}",
        lead="One place of the program was changed at a time, and the relations put to what came out. A relation that is "
        "violated kills the mutant: a fault like that would be found.",
        sections=sections,
        verdict=headline[:1].upper() + headline[1:],
        state=state,
        facts=[
            ("Program", mutation.program),
            *((term.capitalize(), value) for term, value in _list_facts(mutation)),
            ("Seed", str(mutation.seed)),
            ("Took", f"{mutation.seconds:.1f} s"),
        ],
        contents=True,
    )


def _build_relations_section(mutation: Mutation) -> Section:
    needed = ", ".join(mutation.kills.smallest_set()) or "none"
    rows = [
        [
            row.relation,
            f"{row.kills}",
            f"{row.alone}",
            _format_share(row.rate),
            _format_share(row.traces),
            "yes" if row.needed else "",
        ]
        for row in mutation.relations.itertuples(index=False)
    ]
    return Section(
        heading="Which relations kill",
        text=f"The fewest that kill all that any kills: {needed}. Traces: how much the lines that are run for the source and for "
        "the follow-up differ; relations whose runs differ more are said to find more.",
        table=Table(
            columns=["relation", "kills", "alone", "violated, %", "traces differ, %", "needed"], rows=rows
        ),
        anchor="relations",
    )


def _build_matrix_section(mutation: Mutation) -> Section:
    kills = mutation.kills
    columns = [place for place, state in enumerate(kills.states) if state == KILLED]
    rows = [
        [kills.mutants[column], *(_format_rate(kills.rates[row, column]) for row in range(len(kills.relations)))]
        for column in columns
    ]
    return Section(
        heading="The kill matrix",
        text="The share of the inputs on which a relation is violated, in percent, for each mutant that is killed.",
        table=Table(columns=["mutant", *kills.relations], rows=rows),
        anchor="matrix",
    )


def _format_rate(rate: float) -> str | None:
    return None if math.isnan(rate) else "0" if rate == 0 else f"{100 * rate:.1f}"


def _build_rivals_section(mutation: Mutation) -> Section:
    counts = count_by_killer(mutation)
    rows = [
        ["killed by relations", str(counts[True, True]), str(counts[True, False])],
        ["not killed by relations", str(counts[False, True]), str(counts[False, False])],
    ]
    summary = (
        f"Of the mutants whose labels differ, relations kill {_format_share(mutation.killed_of_different)} and cross-validation on "
        f"simulated data {_format_share(mutation.rival_of_different)}."
    )
    table = Table(columns=["", "killed by cross-validation", "not killed by it"], rows=rows, sortable=False)
    return Section(heading="Cross-validation as the rival", text=summary, table=table, anchor="rival")


def _build_survivors_section(mutation: Mutation) -> Section:
    survivors = mutation.survivors
    rows = [
        [row.mutant, row.operator, f"{row.line}", row.function, row.before, row.after, row.why]
        for row in survivors.itertuples(index=False)
    ]
    columns = ["mutant", "operator", "line", "function", "before", "after", "why it lives"]
    return Section(
        heading="Who lives, and why",
        text=f"{pluralize(len(rows), 'mutant')}.",
        table=Table(columns=columns, rows=rows) if rows else None,
        anchor="alive",
    )


def _build_mutants_section(mutation: Mutation) -> Section:
    rows = [
        [row.mutant, row.operator, f"{row.line}", row.function, row.before, row.after, row.state, row.killed_by,
         row.cross_validation]
        for row in mutation.mutants.itertuples(index=False)
    ]  # fmt: skip
    columns = [
        "mutant",
        "operator",
        "line",
        "function",
        "before",
        "after",
        "state",
        "killed by",
        "cross-validation",
    ]
    return Section(
        heading="All mutants",
        text=f"{pluralize(len(rows), 'mutant')}.",
        table=Table(columns=columns, rows=rows),
        anchor="mutants",
    )

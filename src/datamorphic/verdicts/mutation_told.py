"""What became of mutants, in words and as a page."""

from __future__ import annotations

import math

from .._checks import plural, short
from ..mutants.kills import KILLED, STATES, SURVIVED
from ..reports.summary import Report as Page
from ..reports.summary import Section, State, Table
from ..reports.texts import one_line
from .mutation import Mutation, table_of_rivals

MOST_SURVIVORS = 40  # told in words


def text(mutation: Mutation) -> str:
    """Return everything in words: the score, the relations, the survivors."""
    facts = [f"{term}: {said}" for term, said in _facts(mutation)]
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
    alive = mutation.survivors
    if len(alive):
        lines += ["", f"{plural(len(alive), 'mutant')} lived:"]
        for row in alive.head(MOST_SURVIVORS).itertuples(index=False):
            change = f"{short(one_line(row.before))} -> {short(one_line(row.after))}"
            lines.append(f"  {row.mutant} {row.operator} line {row.line} in {row.function}: {change}: {row.why}")
        if len(alive) > MOST_SURVIVORS:
            lines.append(f"  and {len(alive) - MOST_SURVIVORS:,} more")
    lines += ["", *mutation.notes, f"{mutation.seconds:.1f} s, seed {mutation.seed}"]
    return "\n".join(lines)


def _facts(mutation: Mutation) -> list[tuple[str, str]]:
    others = [
        f"{mutation.kills.count(state)} {state}"
        for state in STATES
        if state not in (KILLED, SURVIVED) and mutation.kills.count(state)
    ]
    facts = [("left out of the score", ", ".join(others))] if others else []
    differ = len(mutation.different)
    killed = f"{_share(mutation.killed_of_different)} of them are killed by relations"
    rival = "" if mutation.rules is None else f", {_share(mutation.rival_of_different)} by cross-validation"
    facts.append(
        (f"labels differ on {mutation.compared:,} inputs", f"{plural(differ, 'mutant')}; {killed}{rival}")
    )
    own = mutation.violations
    told = f"violates a relation in {plural(own, 'case')}, which are left out" if own else "violates no relation"
    facts.append(("the program itself", f"{told}, on {mutation.inputs:,} inputs"))
    return facts


def _share(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def page_of(mutation: Mutation) -> Page:
    """Return a page: the score, who kills what, every mutant."""
    headline = mutation.headline
    differ = mutation.killed_of_different
    state: State = "plain" if math.isnan(differ) else "good" if differ >= 0.9 else "warn"
    sections = [_relations(mutation), _matrix(mutation)]
    if mutation.rules is not None:
        sections.append(_rivals(mutation))
    sections += [_survivors(mutation), _mutants(mutation)]
    return Page(
        f"Mutants of {mutation.program}",
        "One place of the program was changed at a time, and the relations put to what came out. A relation that is "
        "violated kills the mutant: a fault like that would be found.",
        sections,
        headline[:1].upper() + headline[1:],
        state,
        [
            ("Program", mutation.program),
            *((term.capitalize(), said) for term, said in _facts(mutation)),
            ("Seed", str(mutation.seed)),
            ("Took", f"{mutation.seconds:.1f} s"),
        ],
        contents=True,
    )


def _relations(mutation: Mutation) -> Section:
    needed = ", ".join(mutation.kills.smallest_set()) or "none"
    rows = [
        [
            row.relation,
            f"{row.kills}",
            f"{row.alone}",
            _share(row.rate),
            _share(row.traces),
            "yes" if row.needed else "",
        ]
        for row in mutation.relations.itertuples(index=False)
    ]
    return Section(
        "Which relations kill",
        f"The fewest that kill all that any kills: {needed}. Traces: how much the lines that are run for the source and for "
        "the follow-up differ; relations whose runs differ more are said to find more.",
        table=Table(["relation", "kills", "alone", "violated, %", "traces differ, %", "needed"], rows),
        anchor="relations",
    )


def _matrix(mutation: Mutation) -> Section:
    kills = mutation.kills
    columns = [place for place, state in enumerate(kills.states) if state == KILLED]
    rows = [
        [kills.mutants[column], *(_cell(kills.rates[row, column]) for row in range(len(kills.relations)))]
        for column in columns
    ]
    return Section(
        "The kill matrix",
        "The share of the inputs on which a relation is violated, in percent, for each mutant that is killed.",
        table=Table(["mutant", *kills.relations], rows),
        anchor="matrix",
    )


def _cell(rate: float) -> str | None:
    return None if math.isnan(rate) else "0" if rate == 0 else f"{100 * rate:.1f}"


def _rivals(mutation: Mutation) -> Section:
    counts = table_of_rivals(mutation)
    rows = [
        ["killed by relations", str(counts[True, True]), str(counts[True, False])],
        ["not killed by relations", str(counts[False, True]), str(counts[False, False])],
    ]
    told = (
        f"Of the mutants whose labels differ, relations kill {_share(mutation.killed_of_different)} and cross-validation on "
        f"simulated data {_share(mutation.rival_of_different)}."
    )
    table = Table(["", "killed by cross-validation", "not killed by it"], rows, sortable=False)
    return Section("Cross-validation as the rival", told, table=table, anchor="rival")


def _survivors(mutation: Mutation) -> Section:
    alive = mutation.survivors
    rows = [
        [row.mutant, row.operator, f"{row.line}", row.function, row.before, row.after, row.why]
        for row in alive.itertuples(index=False)
    ]
    columns = ["mutant", "operator", "line", "function", "before", "after", "why it lives"]
    return Section(
        "Who lives, and why",
        f"{plural(len(rows), 'mutant')}.",
        table=Table(columns, rows) if rows else None,
        anchor="alive",
    )


def _mutants(mutation: Mutation) -> Section:
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
    return Section("All mutants", f"{plural(len(rows), 'mutant')}.", table=Table(columns, rows), anchor="mutants")

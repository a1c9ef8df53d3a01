"""The result of ``dm.mutate`` as text."""

from __future__ import annotations

import math

from .._text import format_percent, format_short, pluralize
from ..reporting.text import to_one_line, to_printable
from .result import Mutation

MAX_SURVIVORS_LISTED = 40


def format_mutation(mutation: Mutation) -> str:
    """Return the result as text: the score, the relations, the survivors."""
    facts = [f"{term}: {value}" for term, value in list_facts(mutation)]
    lines = [f"{mutation.program}: {mutation.headline}", *facts, ""]
    table = mutation.relations
    width = max([len("relation"), *map(len, table["relation"])])
    lines.append(f"  {'relation':<{width}}  kills  alone  mean rate  traces differ  needed")
    for row in table.itertuples(index=False):
        traces, rate = "-" if math.isnan(row.traces) else f"{row.traces:.0%}", format_share(row.rate)
        needed = "yes" if row.needed else ""
        lines.append(f"  {row.relation:<{width}}  {row.kills:>5}  {row.alone:>5}  {rate:>9}  {traces:>13}  {needed}")
    survivors = mutation.survivors
    if len(survivors):
        lines += ["", f"{pluralize(len(survivors), 'mutant')} survived:"]
        for row in survivors.head(MAX_SURVIVORS_LISTED).itertuples(index=False):
            change = f"{format_short(to_one_line(row.before))} -> {format_short(to_one_line(row.after))}"
            lines.append(f"  {row.mutant} {row.operator} line {row.line} in {row.function}: {change}: {row.why}")
        if len(survivors) > MAX_SURVIVORS_LISTED:
            lines.append(f"  and {len(survivors) - MAX_SURVIVORS_LISTED:,} more")
    lines += ["", *mutation.notes, f"{mutation.seconds:.1f} s, seed {mutation.seed}"]
    return to_printable("\n".join(lines))


def list_facts(mutation: Mutation) -> list[tuple[str, str]]:
    """Return the facts beside the score, as pairs of a term and its value."""
    others = mutation.kills.format_other_states()
    facts = [("left out of the score", others)] if others else []
    killers = f"{format_share(mutation.killed_of_different)} of them are killed by relations"
    if mutation.rules is not None:
        killers += f", {format_share(mutation.rival_of_different)} by cross-validation"
    different_text = pluralize(len(mutation.different), "mutant")
    facts.append((f"labels differ on {mutation.compared:,} inputs", f"{different_text}; {killers}"))
    own_text = "violates no relation"
    if mutation.violations:
        own_text = f"violates a relation in {pluralize(mutation.violations, 'case')}, which are left out"
    facts.append(("the program itself", f"{own_text}, on {mutation.inputs:,} inputs"))
    return facts


def format_share(share: float) -> str:
    """Return a share in percent; a dash for NaN."""
    return "-" if math.isnan(share) else format_percent(share)

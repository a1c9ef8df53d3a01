"""Tables of Ying (2024) that list things: words for effects, patterns by scope, and programs."""

from __future__ import annotations

from typing import Any

from ..data.programs.program import NumericProgram
from ..hunting.measures import EFFECT_SIZES
from ..relations.patterns.catalogue import patterns
from .group_trials import DOMAINS
from .published import Kind, published
from .rows import Row, iterate_figures, make_row
from .stand_in_mutants import find_printed_program
from .workload import Scale, Workbench

KIND_OF_COLUMN = {"MRPs": "MRP", "MRIPs": "MRIP", "MROPs": "MROP"}
OURS_ONLY = ("Round Trip",)  # patterns of these scopes that the thesis does not have
ROUND_TRIP_NOTE = "Ours leaves out Round Trip, which the thesis does not have."
LENGTH_NOTE = "Lines of our own program, which computes the same function."
CHOSEN_NOTE = "The table counts the relations that the chapter uses; ours are all of the program."
MUTANTS_NOTE = "The printed mutants are not published; ours are others, chosen to be diverse."


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return "nothing is run: the tables list things"


def build_scope_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 14: how many patterns each scope has, and which; 2 for a pattern that is listed twice."""
    rows = []
    for figure in iterate_figures(published(table)):
        ours, notes = _count_patterns(figure)
        rows.append(make_row(figure, table, figure.strategy, figure.subject, ours=ours, notes=notes))
    return rows


def _count_patterns(figure: Any) -> tuple[float, list[str]]:
    if figure.measure == "listed":
        return float(figure.subject in patterns and patterns[figure.subject].scope == figure.strategy), []
    members = [
        pattern for pattern in patterns.values() if pattern.scope == figure.subject and pattern.name not in OURS_ONLY
    ]
    notes = [ROUND_TRIP_NOTE] if any(patterns[name].scope == figure.subject for name in OURS_ONLY) else []
    if figure.measure == "patterns":
        return len(members), notes
    return sum(pattern.kind == KIND_OF_COLUMN[figure.measure] for pattern in members), notes


def build_effect_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 1: the least values of Cohen's d that words stand for."""
    return [
        make_row(figure, table, figure.subject, ours=EFFECT_SIZES[figure.subject])
        for figure in iterate_figures(published(table))
    ]


def build_program_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 2, 4, 10 or 19: programs, their domains, relations, mutants and kinds of faults."""
    rows = []
    for figure in iterate_figures(published(table)):
        ours, notes, kinds = _describe_program(figure, chosen=table in ("002-4", "002-10"))
        rows.append(make_row(figure, table, figure.subject, ours=ours, notes=notes, kinds=kinds))
    return rows


def _describe_program(figure: Any, chosen: bool) -> tuple[float, list[str], list[Kind]]:
    """Return our figure, notes, and what is other than published.

    `chosen` if the table lists only the relations and mutants that a chapter uses.
    """
    program = find_printed_program(figure.subject)
    match figure.measure:
        case "dimensions":
            return program.dimension, [], []
        case "from":
            return _find_limits(program, chosen)[0], [], []
        case "to":
            return _find_limits(program, chosen)[1], [], []
        case "LOC":
            return len(program.source.splitlines()), [LENGTH_NOTE], [Kind.SYSTEM]
        case "MRs":
            return len(program.relations), [CHOSEN_NOTE] if chosen else [], [Kind.SYSTEM] if chosen else []
        case "mutants":
            return len(program.mutants), [MUTANTS_NOTE], [Kind.MUTANTS]
    has_kind = any(mutant.operator == figure.measure for mutant in program.mutants.values())
    return float(has_kind), [MUTANTS_NOTE], [Kind.MUTANTS]


def _find_limits(program: NumericProgram, chosen: bool) -> tuple[float, float]:
    """Return the limits of the inputs: of the program, or in the chapters that choose relations, of their own domain."""
    limits = [DOMAINS[name] for name in program.relations if chosen and name in DOMAINS]
    return limits[0] if limits else (float(program.domain.low[0]), float(program.domain.high[0]))

"""Selectors on mutants, and the regions of mutants: Tables 3 and 23 to 31 of Ying (2024)."""

from __future__ import annotations

import math
from typing import Any

from .group_spreads import Breaking, Pairing
from .group_trials import (
    MAX_PAIRS_PER_TRIAL,
    Selecting,
    compute_effect,
    compute_ratio,
    describe_censored,
    limit_budget,
    limit_groups,
)
from .groups import MIN_REAL_TRIALS, QUICK_PROGRAMS
from .intervals import estimate_quotient
from .published import Kind, published
from .rows import OurFigure, Row, iterate_figures, make_row
from .stand_in_mutants import (
    KINDS,
    NO_STAND_IN_NOTE,
    choose_stand_ins_for_program,
    compute_rate,
    find_printed_program,
    parse_relations,
    parse_subject,
)
from .workload import Scale, Workbench

RAW_COUNT_NOTE = "MRGS-ART as published, by the number of inputs in empty cells."
SHARED_DOMAIN_NOTE = "All relations share the domain of the program as source domain; follow-ups may leave it."
SECONDS_NOTE = "Seconds for 10,000 pairs on this machine; without the time to compile, if numba is installed."
PAIRS_NOTE = "10,000 pairs, divided among the relations; the mean over relations, sources and follow-ups."
MIN_FULL_TRIALS = 10_000  # of the full scale
GROUP_FACTOR = 3  # violations are rarer in the domain that all relations share
INPUTS_NOTE = "Our rate is from {:,} random groups, and our F-measure is 1 / rate."
SMALL_SCALE_NOTE = "k = 2, 4 and 5, and the other sets of relations, at full scale only."
PROGRAM_LENGTH_NOTE = "Ours are rewritten with arrays; lines include documentation."
REGION_KIND_NOTE = "Ours: whether any mutant has such a region with any relation, by our rule."


def _is_in_scale(program: str, measure: str, scale: Scale) -> bool:
    if scale.trials < MIN_REAL_TRIALS and program not in QUICK_PROGRAMS:
        return False
    return scale.trials >= MIN_FULL_TRIALS or not measure.startswith("k=") or measure in ("k=1", "k=3")


# -- Tables 27 and 28 ------------------------------------------------------------------------------------------


def build_selection_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 27 or 28: F-ratios or effect sizes of MRGS-ART against a random choice."""
    frame, rows, full = published(table), [], bench.scale.trials >= MIN_FULL_TRIALS
    first = frame.groupby("subject", sort=False)["strategy"].first()
    for figure in iterate_figures(frame):
        program, _ = parse_subject(figure.subject)
        if figure.measure in KINDS or not _is_in_scale(program, figure.measure, bench.scale):
            continue
        if not full and figure.strategy != first[figure.subject]:
            continue
        stand_in = choose_stand_ins_for_program(program)[figure.subject]
        relations = parse_relations(figure.strategy)
        label = f"{figure.subject}, {figure.strategy}, ours {stand_in.mutant}"
        if compute_rate(program, stand_in.mutant, relations) == 0:
            rows.append(make_row(figure, table, label, ours=math.nan, notes=[NO_STAND_IN_NOTE]))
            continue
        budget = limit_budget(bench.scale, "", max_groups=MAX_PAIRS_PER_TRIAL)
        limits = (bench.scale.trials, budget, GROUP_FACTOR * limit_groups(bench.scale))
        job, base = (
            Selecting(program, stand_in.mutant, relations, selector, k, *limits)
            for selector, k in (("MRGS-ART", int(figure.measure[2:])), ("random", 1))
        )
        notes = [stand_in.note, RAW_COUNT_NOTE, SHARED_DOMAIN_NOTE, "" if full else SMALL_SCALE_NOTE]
        notes += describe_censored(bench, job, base)
        ours = (compute_ratio if table == "002-27" else compute_effect)(bench, job, base)
        rows.append(make_row(figure, table, label, ours=ours, notes=notes, kinds=stand_in.kinds))
        if figure.measure == "k=1":
            rows.append(bench.estimate(base, "mean").to_row(label, "F-measure of MT-RT"))
    return rows


# -- Tables 29 to 31 -----------------------------------------------------------------------------------------


def build_pairing_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 29, 30 or 31: seconds, dispersion or discrepancy of pairs."""
    measure = {"002-29": "generation", "002-30": "dispersion", "002-31": "discrepancy"}[table]
    notes, kinds = ([SECONDS_NOTE], [Kind.MACHINE]) if measure == "generation" else ([PAIRS_NOTE], [])
    frame, rows = published(table), []
    first = frame[frame["strategy"] != ""].groupby("subject", sort=False)["strategy"].first()
    for figure in iterate_figures(frame):
        program = figure.subject
        if not _is_in_scale(program, figure.measure, bench.scale):
            continue
        names = figure.strategy or first[program]
        selector, k = ("random", 1) if figure.measure == "MT-RT" else ("MRGS-ART", int(figure.measure[2:]))
        pairs = 10_000 if bench.scale.trials >= MIN_REAL_TRIALS else 500
        ours = bench.estimate(Pairing(program, parse_relations(names), selector, k, pairs), measure)
        rows.append(make_row(figure, table, f"{program}, {names}", ours=ours, notes=notes, kinds=kinds))
    return rows


# -- Tables 3 and 23 to 26 -----------------------------------------------------------------------------------


def build_program_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 3: the programs and the kinds of regions of their mutants; nothing is run."""
    rows = []
    for figure in iterate_figures(published(table)):
        ours, notes, kinds = _compute_program_figure(figure)
        rows.append(make_row(figure, table, figure.subject, ours=ours, notes=notes, kinds=kinds))
    return rows


def _compute_program_figure(figure: Any) -> tuple[float, list[str], list[Kind]]:
    """Return our figure, notes, and how it differs from the published one."""
    program = find_printed_program(figure.subject)
    match figure.measure:
        case "dimensions":
            return program.dimension, [], []
        case "LOC":
            return len(program.source.splitlines()), [PROGRAM_LENGTH_NOTE], [Kind.SYSTEM]
        case "MRs":
            return len(program.relations), [], []
        case "mutants":
            return len(program.mutants), [], [Kind.MUTANTS]
    return float((program.regions["kind"] == figure.measure).any()), [REGION_KIND_NOTE], [Kind.MUTANTS]


def build_region_table(table: str, bench: Workbench) -> list[Row]:
    """Build one of Tables 23 to 26: violation rates, F-measures of random testing and kinds of regions, per relation."""
    inputs = min(1_000_000, 100 * bench.scale.trials)
    rows = []
    for figure in iterate_figures(published(table)):
        program, _ = parse_subject(figure.subject)
        stand_in = choose_stand_ins_for_program(program)[figure.subject]
        job = Breaking(program, inputs)
        rate = bench.estimate(job, f"{stand_in.mutant} {figure.strategy}")
        label = f"{figure.subject}, {figure.strategy}, ours {stand_in.mutant}"
        notes = [stand_in.note, SHARED_DOMAIN_NOTE, INPUTS_NOTE.format(inputs)]
        if figure.measure in KINDS:
            ours = OurFigure(bench.figure(job, f"{stand_in.mutant} {figure.strategy} {figure.measure}"))
        elif figure.measure == "rate":
            ours = rate
        else:
            ours = estimate_quotient(OurFigure(1.0, 0.0, math.inf), rate) if rate.value else OurFigure(math.inf)
        rows.append(make_row(figure, table, label, ours=ours, notes=notes, kinds=stand_in.kinds))
    return rows

"""Selectors of relations and groups on mutants, and the regions of these: Tables 3 and 23 to 31 of document 002."""

from __future__ import annotations

import math
from typing import Any

from ..data.programs import programs
from .group_spreads import Breaking, Pairing
from .group_trials import PATIENCE_OF_PAIRS, Selecting, budget_of, effect, groups_of, margin, ratio
from .groups import FEW, TINY
from .published import published
from .rows import Row, figures, row_of
from .stand_in_mutants import KINDS, NONE, place_of, rate_of, relations_of, with_relations
from .workload import Bench, Scale

COUNTED = "MRGS-ART by the raw count, as published."
SHARED = "All relations share the domain of the program as source domain; follow-ups go wherever that leads."
SECONDS = "Seconds for 10,000 pairs on this machine; compiled before, if numba is there."
PAIRS = "10,000 pairs, shared out among the relations; the mean over relations, sources and follow-ups."
MORE = 3  # times the usual groups: violations are rarer in the domain that all relations share
INTERVAL = "The 95 % interval of ours is this much to either side."
FEWER = "k = 2, 4 and 5, and the other sets of relations, at full scale only."
OURS_SHORT = "Ours are written anew, with arrays: lines of the module, words about it among them."
IN_ALL = "Ours: whether any mutant has such a region with any relation, by our rule, which names up to three dimensions."
DIMENSIONS_ABOVE = "Regions in more than three dimensions are not classified."


def ks_of(scale: Scale) -> tuple[int, ...]:
    """Return how many candidates there are, in turn."""
    return (1, 2, 3, 4, 5) if scale.trials >= 10_000 else (1, 3)


def _in_scale(program: str, measure: str, scale: Scale) -> bool:
    if scale.trials < FEW and program not in TINY:
        return False
    return not measure.startswith("k=") or int(measure[2:]) in ks_of(scale)


# -- Tables 27 and 28 ------------------------------------------------------------------------------------------


def selections(table: str, bench: Bench) -> list[Row]:
    """Return Table 27 or 28: F-ratios or effects of MRGS-ART to a random choice."""
    frame, rows, full = published(table), [], len(ks_of(bench.scale)) == 5
    first = frame.groupby("subject", sort=False)["strategy"].first()
    for figure in figures(frame):
        program, _ = place_of(figure.subject)
        if figure.measure in KINDS or not _in_scale(program, figure.measure, bench.scale):
            continue
        if not full and figure.strategy != first[figure.subject]:
            continue
        stand = with_relations(program)[figure.subject]
        relations = relations_of(figure.strategy)
        label = f"{figure.subject}, {figure.strategy}, ours {stand.mutant}"
        if rate_of(program, stand.mutant, relations) == 0:
            rows.append(row_of(figure, table, label, ours=math.nan, notes=[NONE]))
            continue
        job, base = (
            _selecting(bench.scale, program, stand.mutant, relations, *each)
            for each in (("MRGS-ART", int(figure.measure[2:])), ("random", 1))
        )
        notes = [stand.note, COUNTED, SHARED, "" if full else FEWER]
        ours = (ratio if table == "002-27" else effect)(bench, job, base)
        rows.append(row_of(figure, table, label, ours=ours, notes=notes))
        if table == "002-27":
            rows.append(Row(label, f"{figure.measure}, ±", math.nan, margin(bench, job, base), INTERVAL))
        if figure.measure == "k=1":
            rows.append(Row(label, "F-measure of MT-RT", math.nan, bench.figure(base, "mean")))
    return rows


def _selecting(
    scale: Scale, program: str, mutant: str, relations: tuple[str, ...], selector: str, k: int
) -> Selecting:
    budget, groups = budget_of(scale, "", most=PATIENCE_OF_PAIRS), MORE * groups_of(scale)
    return Selecting(program, mutant, relations, selector, k, scale.trials, budget, groups, True)


# -- Tables 29 to 31 -----------------------------------------------------------------------------------------


def pairings(table: str, bench: Bench) -> list[Row]:
    """Return Table 29, 30 or 31: seconds, dispersion or discrepancy of pairs."""
    measure = {"002-29": "generation", "002-30": "dispersion", "002-31": "discrepancy"}[table]
    notes = [SECONDS] if measure == "generation" else [PAIRS]
    frame, rows = published(table), []
    first = frame[frame["strategy"] != ""].groupby("subject", sort=False)["strategy"].first()
    for figure in figures(frame):
        program = figure.subject
        if not _in_scale(program, figure.measure, bench.scale):
            continue
        names = figure.strategy or first[program]
        selector, k = ("random", 1) if figure.measure == "MT-RT" else ("MRGS-ART", int(figure.measure[2:]))
        pairs = 10_000 if bench.scale.trials >= FEW else 500
        job = Pairing(program, relations_of(names), selector, k, pairs)
        ours = bench.figure(job, measure)
        rows.append(row_of(figure, table, f"{program}, {names}", ours=ours, notes=notes))
    return rows


# -- Tables 3 and 23 to 26 -----------------------------------------------------------------------------------


def subjects(table: str, bench: Bench) -> list[Row]:
    """Return Table 3: what the programs are like, and which kinds of regions their mutants have; nothing is run."""
    return [
        row_of(figure, table, figure.subject, ours=_known(figure), notes=_of_measure(figure))
        for figure in figures(published(table))
    ]


def _known(figure: Any) -> float:
    program = programs[figure.subject.partition(" ")[0]]
    match figure.measure:
        case "dimensions":
            return program.dimension
        case "LOC":
            return len(program.source.splitlines())
        case "MRs":
            return len(program.relations)
        case "mutants":
            return len(program.mutants)
    return float((program.regions["kind"] == figure.measure).any())


def _of_measure(figure: Any) -> list[str]:
    if figure.measure in KINDS:
        above = programs[figure.subject.partition(" ")[0]].dimension > 3
        return [IN_ALL, DIMENSIONS_ABOVE if above else ""]
    return [OURS_SHORT] if figure.measure == "LOC" else []


def regions(table: str, bench: Bench) -> list[Row]:
    """Return one of Tables 23 to 26: rates, F-measures of random testing and kinds of regions, relation by relation."""
    inputs = min(1_000_000, 100 * bench.scale.trials)
    rows = []
    for figure in figures(published(table)):
        program, _ = place_of(figure.subject)
        stand = with_relations(program)[figure.subject]
        job = Breaking(program, inputs)
        rate = bench.figure(job, f"{stand.mutant} {figure.strategy}")
        label = f"{figure.subject}, {figure.strategy}, ours {stand.mutant}"
        ours = {
            "rate": rate,
            "F-measure": 1 / rate if rate else math.inf,
        }.get(figure.measure)
        if ours is None:
            ours = bench.figure(job, f"{stand.mutant} {figure.strategy} {figure.measure}")
        notes = [stand.note, SHARED, INPUTS.format(inputs)]
        rows.append(row_of(figure, table, label, ours=ours, notes=notes))
    return rows


INPUTS = "Ours is of {:,} random groups, and the F-measure is 1 / rate."

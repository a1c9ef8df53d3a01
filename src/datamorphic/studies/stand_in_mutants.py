"""Stand-ins for published mutants, and the relations that published names mean.

The mutants of Ying (2024) were not published, except two of tanh. A mutant of the same program with the same kind of region and
the nearest violation rate stands in for each of the others.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from ..data.programs import programs
from ..data.programs.program import NumericProgram
from .group_trials import DOMAINS, find_relation
from .program_regions import measure_regions
from .published import Kind, published

KINDS = ("block", "point", "strip")
DEFAULT_RATE = 0.005  # where none is published
MEASURED_INPUTS = 20_000  # where the domain of a study is not the stored one
MIN_EFFECT = 0.1  # smaller effects do not count
#: names of relations in Tables 5, 7 and 11 to 13: program and relation
RELATIONS = {
    "Sin": ("Sin", "Sin13"),
    "tanh": ("tanh", "tripling"),
    "Erf": ("Erf", "Erf1"),
    "BesselJ": ("BesselJ", "BesselJ1"),
    "sncndn": ("sncndn", "sncndn2"),
    "TriSquare": ("TriSquare", "TriSquare6"),
    "TriSquare1": ("TriSquare", "TriSquare6"),
    "TriSquare2": ("TriSquare", "TriSquare3"),
    "TriPlus1": ("TriSquarePlus", "TriPlus12"),
    "TriPlus2": ("TriSquarePlus", "TriPlus2"),
    "rj": ("rj", "rj2"),
    "Pnt": ("PntLinePos", "Pnt2"),
    "PntLinePos": ("PntLinePos", "Pnt2"),
}
#: the two known mutants, identified by the signs of their effects
KNOWN = {("tanh", 3): "emu10", ("tanh", 4): "branch3.1"}
PRINTED_NAMES = {"BesselJ (140)": "BesselJ-Steed"}
RATES = {"BesselJ": "002-23", "TriSquarePlus": "002-24", "rj": "002-25", "PntLinePos": "002-26"}

STAND_IN_NOTE = (
    "The mutants were not published: ours is one of the same program with the same kind of region where there is one, and"
    " with the nearest violation rate (0.005 where none is in print)."
)
SAME_MUTANT_NOTE = "The same mutant as published, as far as the text says."
OTHER_KIND_NOTE = "No mutant of ours has this kind of region with this relation."
NO_STAND_IN_NOTE = "No mutant of ours violates this."


class StandIn(NamedTuple):
    """A mutant of ours; its violation rate is the mean over its relations."""

    mutant: str
    rate: float
    note: str
    kinds: tuple[Kind, ...] = (Kind.MUTANTS,)  # what is other than published


def find_printed_program(subject: str) -> NumericProgram:
    """Return the program that a table of programs means; of two with the name BesselJ it tells the lengths."""
    return programs[PRINTED_NAMES.get(subject, subject.partition(" ")[0])]


def parse_subject(subject: str) -> tuple[str, int]:
    """Return program and number of a published mutant."""
    program, _, number = subject.partition(" mutant ")
    return program, int(number)


@cache
def parse_relations(names: str) -> tuple[str, ...]:
    """Return the relations that a published set names.

    Examples
    --------
    >>> parse_relations("Sin1-Sin3 + Sin11-Sin12")
    ('Sin1', 'Sin2', 'Sin3', 'Sin11', 'Sin12')
    """
    relations: list[str] = []
    for part in names.split(" + "):
        ends = [re.fullmatch(r"([A-Za-z]+)(\d+)", end) for end in part.split("-")]
        first, last = ends[0], ends[-1]
        assert first is not None
        assert last is not None
        relations += [f"{first[1]}{number}" for number in range(int(first[2]), int(last[2]) + 1)]
    return tuple(relations)


@cache
def find_region_kinds(table: str) -> dict[str, str]:
    """Return the kind of region of each published mutant of a table."""
    frame = published(table)
    region_rows = frame[frame["measure"].isin(KINDS) & (frame["published"] == 1)]
    return dict(zip(region_rows["subject"], region_rows["measure"], strict=True))


@cache
def _load_rates(program: str) -> dict[tuple[str, str], tuple[float, str]]:
    """Return the stored rate and kind of each mutant with each relation."""
    rows = programs[program].regions.itertuples(index=False)
    return {(row.mutant, row.relation): (row.rate, row.kind) for row in rows}


@cache
def _measure_rates(program: str, relation: str) -> dict[tuple[str, str], tuple[float, str]]:
    """Return the rate and kind of each mutant with a relation whose domain in the study is not the stored one."""
    regions = measure_regions(
        programs[program], MEASURED_INPUTS, relations={relation: find_relation(program, relation)}
    )
    return {(row.mutant, row.relation): (row.rate, row.kind) for row in regions.itertuples(index=False)}


# -- one relation ---------------------------------------------------------------------------------------------


@cache
def choose_stand_ins_for_table(table: str) -> dict[str, StandIn | None]:
    """Return the stand-ins for the mutants of Table 5 or 11, each used once as long as there are others."""
    frame = published(table)
    kinds: dict[str, tuple[str, ...]] = {subject: (kind,) for subject, kind in find_region_kinds(table).items()}
    if not kinds:  # none are published: on points and strips all generators do equally well
        rows = frame[frame["strategy"] == "MT-IPART vs MT-RT"].itertuples()
        kinds = {row.subject: ("block",) if row.published > MIN_EFFECT else ("point", "strip") for row in rows}
    used: dict[str, set[str]] = {}
    stand_ins = {}
    for subject, name in dict(zip(frame["subject"], frame["data"], strict=True)).items():
        program, relation = RELATIONS[name]
        used_here = used.setdefault(relation, set())
        stand_ins[subject] = _choose_for_relation(program, relation, parse_subject(subject), kinds[subject], used_here)
    return stand_ins


def _choose_for_relation(
    program: str, relation: str, published_mutant: tuple[str, int], kinds: tuple[str, ...], used: set[str]
) -> StandIn | None:
    rates = _measure_rates(program, relation) if relation in DOMAINS else _load_rates(program)
    rate_and_kind = {mutant: entry for (mutant, name), entry in rates.items() if name == relation and entry[0] > 0}
    if not rate_and_kind:
        return None
    if published_mutant in KNOWN:
        return StandIn(KNOWN[published_mutant], rate_and_kind[KNOWN[published_mutant]][0], SAME_MUTANT_NOTE, ())

    def rank_mutant(mutant: str) -> tuple[bool, bool, float]:
        rate, kind = rate_and_kind[mutant]
        return kind not in kinds, mutant in used, abs(math.log(rate / DEFAULT_RATE))

    mutant = min(rate_and_kind, key=rank_mutant)
    used.add(mutant)
    return StandIn(mutant, rate_and_kind[mutant][0], _choose_note({rate_and_kind[mutant][1]}, kinds))


def _choose_note(ours: set[str], theirs: tuple[str, ...]) -> str:
    is_other_kind = ours & set(KINDS) and not ours & set(theirs)
    return f"{STAND_IN_NOTE} {OTHER_KIND_NOTE}" if is_other_kind else STAND_IN_NOTE


# -- several relations --------------------------------------------------------------------------------------


@cache
def choose_stand_ins_for_program(program: str) -> dict[str, StandIn]:
    """Return the stand-ins for the mutants of a program in Tables 23 to 28, each used once if there are enough."""
    subjects = [name for name in published("002-27")["subject"].unique() if parse_subject(name)[0] == program]
    stand_ins: dict[str, StandIn] = {}
    for subject in subjects:
        stand_ins[subject] = _choose_for_sets(program, subject, {stand_in.mutant for stand_in in stand_ins.values()})
    return stand_ins


def _choose_for_sets(program: str, subject: str, used: set[str]) -> StandIn:
    frame, ours = published("002-27"), _load_rates(program)
    sets = [parse_relations(name) for name in frame.loc[frame["subject"] == subject, "strategy"].unique()]
    all_relations = tuple(dict.fromkeys(name for names in sets for name in names))
    kind, theirs = find_region_kinds("002-27")[subject], {}
    if program in RATES:
        rates = published(RATES[program])
        rates = rates[(rates["subject"] == subject) & (rates["measure"] == "F-measure")]
        theirs = {row.strategy: 0.0 if math.isinf(row.published) else 1 / row.published for row in rates.itertuples()}
    target = statistics.fmean(theirs.get(name, DEFAULT_RATE) for name in all_relations)

    def rank_mutant(mutant: str) -> tuple[int, int, bool, bool, float]:
        rates = {name: ours[mutant, name] for name in all_relations}
        rate = statistics.fmean(entry[0] for entry in rates.values())
        blank = sum(not any(rates[name][0] for name in names) for names in sets)
        mismatches = sum((theirs[name] > 0) != (rates[name][0] > 0) for name in theirs if name in rates)
        wrong = kind not in [entry[1] for entry in rates.values()]
        return blank, mismatches, wrong, mutant in used, abs(math.log(rate / target)) if rate else math.inf

    mutant = min(dict.fromkeys(mutant for mutant, _ in ours), key=rank_mutant)
    kinds = {ours[mutant, name][1] for name in all_relations}
    return StandIn(mutant, compute_rate(program, mutant, all_relations), _choose_note(kinds, (kind,)))


def compute_rate(program: str, mutant: str, relations: Sequence[str]) -> float:
    """Return the mean violation rate of a mutant over some relations, as it is stored."""
    return statistics.fmean(_load_rates(program)[mutant, name][0] for name in relations)

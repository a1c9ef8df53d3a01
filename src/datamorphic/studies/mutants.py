"""Tables 6 to 9 of document 003: which mutants relations kill, and which of these cross-validation misses.

Theirs are 30 mutants each of Weka's kNN and naive Bayes, drawn at random from those of MuJava and not published. Ours
are mutants of the reference learners of `datamorphic.data`, so shares are compared, and not mutant by mutant.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from ..mutation.api import mutate
from ..mutation.cross_validation import MEAN_RATIOS
from ..mutation.kill_matrix import KILLED, SAME_BYTECODE, SURVIVED, UNREACHED
from ..mutation.result import MutantResult, Mutation, count_by_killer
from .published import published
from .rows import Row, figures, row_of
from .workload import Bench, Figures, Scale

OPERATORS = ("AOR", "ROR", "COR", "SOR", "LOR", "ASR")  # of the study; ours has CRP and RSR besides
RULES = tuple(f"Rule-{ratio:g}" for ratio in MEAN_RATIOS)
SUBJECT = {"003-6": "kNN", "003-7": "NBC", "003-8": "kNN", "003-9": "NBC"}
KILL_TABLE = {"kNN": "003-6", "NBC": "003-7"}
LEARNERS = {"kNN": ("k = 1", "k = 3"), "NBC": ("NBC",)}  # as the modules of ours call them
K1 = ("MR-1.1", "MR-2.2", "MR-4.1", "MR-5.1", "MR-5.2")  # tried with k = 1, of which they are necessary
FOR_ONE = 10  # mutants: for fewer another process would take longer to start than it saves
#: mutants of theirs that do not crash, and those of them that are not equivalent: told in the text
RUNNING, DIFFERENT = {"kNN": 24, "NBC": 26}, {"kNN": 21, "NBC": 22}

KILLED_SHARE, MEAN_RATE = "killed, %", "mean violation, %"
MUTANTS = (
    "Theirs are mutants of Weka, drawn at random and not published, ours are of our reference learner: shares can be "
    "compared, mutants cannot."
)
DIFFER = (
    "Ours is of the mutants whose labels differ from the original's on some input, theirs of those not equivalent."
)
NORMALISED = (
    "Weka's own IBk violates this now and then with k = 1, since it scales attributes to the ranges of the training "
    "rows; inputs on which it does are left out."
)
MISSED = "Theirs counts the mutants that no relation kills as missed, too: the table leaves them out."


@dataclass(frozen=True)
class Mutating:
    """A reference learner under mutation.

    The mutants are those of ``dm.mutate(module, seed=seed)`` with the same numbers, so each can be looked at there.
    """

    subject: str
    mutants: int | None
    inputs: int
    compared: int
    sets: int
    patience: float

    @property
    def label(self) -> str:
        """Nothing: it shows its progress itself."""
        return ""

    @property
    def kind(self) -> tuple[object, ...]:
        """What mutations share."""
        return ("mutants",)

    @property
    def weight(self) -> int:
        """How long it takes, compared with the other one."""
        return self.inputs

    def repetitions(self, scale: Scale) -> int:
        """Return 1: more mutants and inputs are as good as more repetitions."""
        return 1

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return shares of mutants in percent, mean violation rates, and error rates of the original."""
        from joblib import cpu_count

        from ..data import knn, naive_bayes

        began = time.perf_counter()
        workers = cpu_count() if self.mutants is None else min(cpu_count(), 1 + self.mutants // FOR_ONE)
        found = mutate(
            knn if self.subject == "kNN" else naive_bayes, limit=self.mutants, seed=seed, inputs=self.inputs,
            compared=self.compared, rival=self.sets, workers=workers, timeout=self.patience, progress=progress,
        )  # fmt: skip
        return {**_figures(found, self.subject), "seconds": time.perf_counter() - began}


def _figures(mutation: Mutation, subject: str) -> dict[str, float]:
    """Return what is compared: all shares are of the mutants whose labels differ, if not said otherwise."""
    differ = [each.mutant.id for each in mutation.different]
    rates = mutation.kills.rates[:, [mutation.kills.mutants.index(each) for each in differ]]
    place = {
        relation: mutation.kills.relations.index(_name(subject, relation)) for relation in relations_of(subject)
    }
    theirs = rates[list(place.values())]
    found = {f"{relation} killed": _percent(rates[row] > 0) for relation, row in place.items()}
    found |= {f"{relation} rate": _percent(rates[row]) for relation, row in place.items()}
    alike = [each for each in mutation.different if each.mutant.operator in OPERATORS]
    counts = count_by_killer(mutation)
    running = [each for each in mutation.tried if each.state in (KILLED, SURVIVED, SAME_BYTECODE, UNREACHED)]
    found |= {
        "killed": 100 * mutation.killed_of_different,
        "killed by theirs": _percent(np.asarray((theirs > 0).any(axis=0))),
        "killed of alike": _killed(alike),
        "killed of running": _killed(running),
        "rate": _percent(theirs),
        "killed by rival": 100 * mutation.rival_of_different,
        "missed by rival": 100 * counts[True, False] / max(1, counts[True, False] + counts[True, True]),
        "running": len(running),
        "different": len(differ),
        "alike": len(alike),
    }
    for name, errors in mutation.original.errors.items():
        found |= {f"{rule} {name}": 100 * error for rule, error in zip(RULES, errors, strict=True)}
    return found


def _percent(values: npt.NDArray[Any]) -> float:
    known = values[~np.isnan(values)]
    return 100 * float(known.mean()) if known.size else math.nan


def _killed(some: Sequence[MutantResult]) -> float:
    return 100 * sum(each.state == KILLED for each in some) / len(some) if some else math.nan


def relations_of(subject: str) -> list[str]:
    """Return the relations of the study for one of its classifiers."""
    return list(dict.fromkeys(published(KILL_TABLE[subject])["measure"]))


def _name(subject: str, relation: str) -> str:
    """Return what `Mutation` calls a relation."""
    return relation if subject == "NBC" else f"{relation} ({_learner(relation)})"


def _learner(relation: str) -> str:
    return "k = 1" if relation in K1 else "k = 3"


def job_of(subject: str, scale: Scale) -> Mutating:
    """Return what is to be measured of a classifier: one run for both of its tables."""
    return Mutating(subject, scale.mutants, scale.inputs, scale.compared, scale.sets, scale.patience)


def amount(scale: Scale) -> str:
    """Say how much is done."""
    tried = (
        "all mutants" if scale.mutants is None else f"{pluralize(scale.mutants, 'mutant')} each, drawn at random"
    )
    return f"{tried}, {scale.inputs} inputs a relation, {scale.compared:,} compared, {pluralize(scale.sets, 'data set')} a rule"


def kills(table: str, bench: Bench) -> list[Row]:
    """Return Table 6 or 7: for each relation, and for all, the share of mutants killed and the mean violation rate."""
    subject = SUBJECT[table]
    job, whole = job_of(subject, bench.scale), DIFFERENT[subject]
    printed = figures(published(table))
    rows: list[Row] = []
    for total in (f for f in printed if f.subject == "all"):
        relation = total.measure
        place = (relation, _learner(relation)) if subject == "kNN" else (relation,)
        notes = [MUTANTS, DIFFER, NORMALISED if relation in ("MR-5.1", "MR-5.2") and subject == "kNN" else ""]
        share = row_of(
            total._replace(published=100 * total.published / whole), table, *place,
            ours=bench.figure(job, f"{relation} killed"), column=KILLED_SHARE, notes=notes,
        )  # fmt: skip
        if "misprint" in share.note:
            share = share._replace(note=f"{share.note} In print it is {total.published:.0f} of {whole} mutants.")
        each = [f.published for f in printed if f.measure == relation and f.subject.startswith("v")]
        rate = share._replace(
            column=MEAN_RATE, published=math.fsum(each) / whole, ours=bench.figure(job, f"{relation} rate"),
            note=" ".join(note for note in notes if note),
        )  # fmt: skip
        rows += [share, rate]
    return rows + _overall(table, job, bench)


def _overall(table: str, job: Mutating, bench: Bench) -> list[Row]:
    """Return what all relations together kill."""
    whole, running = DIFFERENT[job.subject], RUNNING[job.subject]
    each = [f for f in figures(published(table)) if f.subject.startswith("v")]
    dead = len({f.subject for f in each})
    rows = []
    for name, theirs, ours, base in (
        ("every necessary relation", dead / whole, "killed", "different"),
        ("the study's relations", dead / whole, "killed by theirs", "different"),
        ("mutants of the study's operators", dead / whole, "killed of alike", "alike"),
        ("equivalent mutants, too", dead / running, "killed of running", "running"),
    ):
        count = bench.figure(job, base)
        if count == 0:
            continue
        which = "that neither crash nor hang" if base == "running" else "that differ"
        note = "" if math.isnan(count) else f"Ours is of {pluralize(int(count), 'mutant')} {which}."
        share = bench.figure(job, ours)
        rows.append(Row(f"all, {name}", KILLED_SHARE, 100 * theirs, share, f"{MUTANTS} {DIFFER} {note}".strip()))
    mean = math.fsum(f.published for f in each) / whole / len(relations_of(job.subject))
    rate = bench.figure(job, "rate")
    return [*rows, Row("all, the study's relations", MEAN_RATE, mean, rate, f"{MUTANTS} {DIFFER}")]


def rivals(table: str, bench: Bench) -> list[Row]:
    """Return Table 8 or 9: error rates of the original, and what cross-validation makes of the mutants."""
    subject = SUBJECT[table]
    job = job_of(subject, bench.scale)
    printed = figures(published(table))
    rows = [
        row_of(
            figure, table, "original", figure.measure, ours=bench.figure(job, f"{figure.measure} {name}"),
            column="error, %" if subject == "NBC" else f"error, %, {name}",
        )
        for name in LEARNERS[subject]
        for figure in printed
        if figure.subject == "original"
    ]  # fmt: skip
    verdicts = [f.published for f in printed if f.measure == "killed"]
    dead, noticed, whole = len(verdicts), sum(verdicts), DIFFERENT[subject]
    for row, column, theirs, ours, note in (
        ("mutants that relations kill", "missed by cross-validation, %", 1 - noticed / dead, "missed by rival", ""),
        ("mutants that differ", "killed by relations, %", dead / whole, "killed", DIFFER),
        ("mutants that differ", "killed by cross-validation, %", noticed / whole, "killed by rival", f"{DIFFER} {MISSED}"),
    ):  # fmt: skip
        rows.append(Row(row, column, 100 * theirs, bench.figure(job, ours), f"{MUTANTS} {note}".strip()))
    return rows

"""Mutants killed by relations and missed by cross-validation: Tables 6 to 9 of Xie et al. (2011).

Their 30 mutants each of Weka's kNN and naive Bayes were drawn at random from those of MuJava and not published. Ours are
mutants of the reference learners of `datamorphic.data`, so shares are compared, not single mutants.
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
from .rows import Row, iterate_figures, make_row
from .workload import Figures, Job, Scale, Workbench

OPERATORS = ("AOR", "ROR", "COR", "SOR", "LOR", "ASR")  # of the study; we also have CRP and RSR
RULES = tuple(f"Rule-{ratio:g}" for ratio in MEAN_RATIOS)
SUBJECT_BY_TABLE = {"003-6": "kNN", "003-7": "NBC", "003-8": "kNN", "003-9": "NBC"}
KILL_TABLE = {"kNN": "003-6", "NBC": "003-7"}
LEARNERS = {"kNN": ("k = 1", "k = 3"), "NBC": ("NBC",)}  # the names in our modules
RELATIONS_WITH_K_1 = (
    "MR-1.1",
    "MR-2.2",
    "MR-4.1",
    "MR-5.1",
    "MR-5.2",
)  # checked with k = 1, for which they are necessary
MUTANTS_PER_WORKER = 10  # for fewer, starting another process takes longer than it saves
#: published numbers of mutants that do not crash, and of those that are not equivalent
RUNNING_COUNTS, DIFFERENT_COUNTS = {"kNN": 24, "NBC": 26}, {"kNN": 21, "NBC": 22}

KILLED_SHARE, MEAN_RATE = "killed, %", "mean violation, %"
MUTANTS_NOTE = (
    "The published mutants are of Weka, drawn at random and not listed. Ours are of our reference learner. Shares can be "
    "compared, single mutants cannot."
)
DIFFERENT_LABELS_NOTE = (
    "Ours is a share of the mutants whose labels differ from the original on some input; the published share is of the "
    "mutants that are not equivalent."
)
NORMALISATION_NOTE = (
    "IBk of Weka sometimes violates this with k = 1, since it scales attributes to the ranges of the training rows. "
    "Inputs on which it does are left out."
)
MISSED_NOTE = "The published figure also counts mutants that no relation kills as missed. The table leaves them out."


@dataclass(frozen=True)
class Mutating(Job):
    """The mutation of a reference learner.

    The mutants are those of ``dm.mutate(module, seed=seed)`` with the same numbers, so each can be inspected there.
    """

    subject: str
    mutants: int | None
    inputs: int
    compared: int
    sets: int
    patience: float

    @property
    def label(self) -> str:
        """Empty: the job shows its own progress."""
        return ""

    @property
    def kind(self) -> tuple[object, ...]:
        """One kind for all mutations."""
        return ("mutants",)

    @property
    def weight(self) -> int:
        """The number of inputs."""
        return self.inputs

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return shares of mutants in percent, mean violation rates, and error rates of the original."""
        from joblib import cpu_count

        from ..data import knn, naive_bayes

        began = time.perf_counter()
        workers = cpu_count() if self.mutants is None else min(cpu_count(), 1 + self.mutants // MUTANTS_PER_WORKER)
        mutation = mutate(
            knn if self.subject == "kNN" else naive_bayes,
            limit=self.mutants,
            seed=seed,
            inputs=self.inputs,
            compared=self.compared,
            rival=self.sets,
            workers=workers,
            timeout=self.patience,
            progress=progress,
        )
        return {**_compute_figures(mutation, self.subject), "seconds": time.perf_counter() - began}


def _compute_figures(mutation: Mutation, subject: str) -> dict[str, float]:
    """Return the compared figures: shares of mutants whose labels differ, unless the name says otherwise."""
    differ = [result.mutant.id for result in mutation.different]
    rates = mutation.kills.rates[:, [mutation.kills.mutants.index(mutant_id) for mutant_id in differ]]
    place = {}
    for relation in find_relations(subject):
        name = relation if subject == "NBC" else f"{relation} ({_choose_learner(relation)})"
        place[relation] = mutation.kills.relations.index(name)
    theirs = rates[list(place.values())]
    shares = {f"{relation} killed": _compute_percent(rates[row] > 0) for relation, row in place.items()}
    shares |= {f"{relation} rate": _compute_percent(rates[row]) for relation, row in place.items()}
    alike = [result for result in mutation.different if result.mutant.operator in OPERATORS]
    counts = count_by_killer(mutation)
    running = [result for result in mutation.tried if result.state in (KILLED, SURVIVED, SAME_BYTECODE, UNREACHED)]
    shares |= {
        "killed": 100 * mutation.killed_of_different,
        "killed by theirs": _compute_percent(np.asarray((theirs > 0).any(axis=0))),
        "killed of alike": _compute_killed_percent(alike),
        "killed of running": _compute_killed_percent(running),
        "rate": _compute_percent(theirs),
        "killed by rival": 100 * mutation.rival_of_different,
        "missed by rival": 100 * counts[True, False] / max(1, counts[True, False] + counts[True, True]),
        "running": len(running),
        "different": len(differ),
        "alike": len(alike),
    }
    for name, errors in mutation.original.errors.items():
        shares |= {f"{rule} {name}": 100 * error for rule, error in zip(RULES, errors, strict=True)}
    return shares


def _compute_percent(values: npt.NDArray[Any]) -> float:
    known = values[~np.isnan(values)]
    return 100 * float(known.mean()) if known.size else math.nan


def _compute_killed_percent(results: Sequence[MutantResult]) -> float:
    return 100 * sum(result.state == KILLED for result in results) / len(results) if results else math.nan


def find_relations(subject: str) -> list[str]:
    """Return the relations of the study for one of its classifiers."""
    return list(dict.fromkeys(published(KILL_TABLE[subject])["measure"]))


def _choose_learner(relation: str) -> str:
    return "k = 1" if relation in RELATIONS_WITH_K_1 else "k = 3"


def make_job(subject: str, scale: Scale) -> Mutating:
    """Return the job of a classifier, which serves both of its tables."""
    return Mutating(subject, scale.mutants, scale.inputs, scale.compared, scale.sets, scale.patience)


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    mutant_text = (
        "all mutants" if scale.mutants is None else f"{pluralize(scale.mutants, 'mutant')} each, drawn at random"
    )
    sets = pluralize(scale.sets, "data set")
    return f"{mutant_text}, {scale.inputs} inputs per relation, {scale.compared:,} compared, {sets} per rule"


def build_kill_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 6 or 7: share of killed mutants and mean violation rate, per relation and for all."""
    subject = SUBJECT_BY_TABLE[table]
    job, whole = make_job(subject, bench.scale), DIFFERENT_COUNTS[subject]
    printed = iterate_figures(published(table))
    rows: list[Row] = []
    for total in (f for f in printed if f.subject == "all"):
        relation = total.measure
        place = (relation, _choose_learner(relation)) if subject == "kNN" else (relation,)
        notes = [
            MUTANTS_NOTE,
            DIFFERENT_LABELS_NOTE,
            NORMALISATION_NOTE if relation in ("MR-5.1", "MR-5.2") and subject == "kNN" else "",
        ]
        share = make_row(
            total._replace(published=100 * total.published / whole),
            table,
            *place,
            ours=bench.figure(job, f"{relation} killed"),
            column=KILLED_SHARE,
            notes=notes,
        )
        if "misprint" in share.note:
            share = share._replace(note=f"{share.note} In print it is {total.published:.0f} of {whole} mutants.")
        rates = [f.published for f in printed if f.measure == relation and f.subject.startswith("v")]
        rate = share._replace(
            column=MEAN_RATE,
            published=math.fsum(rates) / whole,
            ours=bench.figure(job, f"{relation} rate"),
            note=" ".join(note for note in notes if note),
        )
        rows += [share, rate]
    return rows + _build_overall_rows(table, job, bench)


def _build_overall_rows(table: str, job: Mutating, bench: Workbench) -> list[Row]:
    """Return the shares that all relations together kill."""
    whole, running = DIFFERENT_COUNTS[job.subject], RUNNING_COUNTS[job.subject]
    verdicts = [f for f in iterate_figures(published(table)) if f.subject.startswith("v")]
    dead = len({f.subject for f in verdicts})
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
        rows.append(
            Row(
                f"all, {name}",
                KILLED_SHARE,
                100 * theirs,
                share,
                f"{MUTANTS_NOTE} {DIFFERENT_LABELS_NOTE} {note}".strip(),
            )
        )
    mean = math.fsum(f.published for f in verdicts) / whole / len(find_relations(job.subject))
    rate = bench.figure(job, "rate")
    return [*rows, Row("all, the study's relations", MEAN_RATE, mean, rate, f"{MUTANTS_NOTE} {DIFFERENT_LABELS_NOTE}")]


def build_cross_validation_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 8 or 9: error rates of the original, and mutants killed by cross-validation."""
    subject = SUBJECT_BY_TABLE[table]
    job = make_job(subject, bench.scale)
    printed = iterate_figures(published(table))
    rows = [
        make_row(
            figure,
            table,
            "original",
            figure.measure,
            ours=bench.figure(job, f"{figure.measure} {name}"),
            column="error, %" if subject == "NBC" else f"error, %, {name}",
        )
        for name in LEARNERS[subject]
        for figure in printed
        if figure.subject == "original"
    ]
    verdicts = [f.published for f in printed if f.measure == "killed"]
    dead, noticed, whole = len(verdicts), sum(verdicts), DIFFERENT_COUNTS[subject]
    differ = "mutants that differ"
    for row, column, theirs, ours, note in (
        ("mutants that relations kill", "missed by cross-validation, %", 1 - noticed / dead, "missed by rival", ""),
        (differ, "killed by relations, %", dead / whole, "killed", DIFFERENT_LABELS_NOTE),
        (
            differ,
            "killed by cross-validation, %",
            noticed / whole,
            "killed by rival",
            f"{DIFFERENT_LABELS_NOTE} {MISSED_NOTE}",
        ),
    ):
        rows.append(Row(row, column, 100 * theirs, bench.figure(job, ours), f"{MUTANTS_NOTE} {note}".strip()))
    return rows

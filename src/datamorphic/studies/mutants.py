"""Mutants killed by relations and missed by cross-validation: Tables 6 to 9 of Xie et al. (2011).

Their 30 mutants each of Weka's kNN and naive Bayes were drawn at random from those of MuJava and not published. Ours are
mutants of the reference learners of `datamorphic.data`, so shares are compared, not single mutants.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralise
from ..mutation.cross_validation import MEAN_RATIOS
from ..mutation.kill_matrix import KILLED, SAME_BYTECODE, SURVIVED, UNREACHED
from ..mutation.result import Mutation, count_by_killer
from ..mutation.run import mutate
from .intervals import estimate_mean, estimate_share, label_figure
from .published import Kind, published
from .rows import OurFigure, Row, iterate_figures, make_row
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
    "The published mutants are of Weka's Java source, drawn at random and not listed. Ours are of our reference learner, "
    "since the package of Weka has no source. Shares can be compared, single mutants cannot."
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
    figures = {f"{relation} killed": _share_true(rates[row] > 0) for relation, row in place.items()}
    figures |= {f"{relation} rate": _average_rates(rates[row]) for relation, row in place.items()}
    alike = [result for result in mutation.different if result.mutant.operator in OPERATORS]
    counts = count_by_killer(mutation)
    running = [result for result in mutation.results if result.state in (KILLED, SURVIVED, SAME_BYTECODE, UNREACHED)]
    figures |= {
        "killed": _share_true([result.state == KILLED for result in mutation.different]),
        "killed by theirs": _share_true((theirs > 0).any(axis=0)),
        "killed of alike": _share_true([result.state == KILLED for result in alike]),
        "killed of running": _share_true([result.state == KILLED for result in running]),
        "rate": _average_rates(theirs),
        "killed by rival": _share_true(
            [result.killed_by_rival for result in mutation.different if result.killed_by_rival is not None]
        ),
        "missed by rival": estimate_share(counts[True, False], counts[True, False] + counts[True, True]),
    }
    shares = {"running": float(len(running)), "different": float(len(differ)), "alike": float(len(alike))}
    for name, figure in figures.items():
        shares |= label_figure(name, figure)
    for name, errors in mutation.original.errors.items():
        shares |= {f"{rule} {name}": 100 * error for rule, error in zip(RULES, errors, strict=True)}
    return shares


def _share_true(flags: npt.ArrayLike) -> OurFigure:
    values = np.asarray(flags, dtype=bool)
    return estimate_share(int(values.sum()), len(values))


def _average_rates(rates: npt.NDArray[Any]) -> OurFigure:
    """Return the mean violation rate in percent; its interval is over mutants."""
    known = rates[~np.isnan(rates)]
    by_mutant = [
        float(np.mean(column[~np.isnan(column)])) for column in np.atleast_2d(rates).T if not np.isnan(column).all()
    ]
    mean = float(known.mean()) if known.size else math.nan
    return estimate_mean(by_mutant)._replace(value=mean).times(100)


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
        "all mutants" if scale.mutants is None else f"{pluralise(scale.mutants, 'mutant')} each, drawn at random"
    )
    sets = pluralise(scale.sets, "data set")
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
            ours=bench.estimate(job, f"{relation} killed"),
            column=KILLED_SHARE,
            notes=notes,
            kinds=[Kind.MUTANTS],
        )
        if "misprint" in share.note:
            share = share._replace(note=f"{share.note} In print it is {total.published:.0f} of {whole} mutants.")
        rates = [f.published for f in printed if f.measure == relation and f.subject.startswith("v")]
        note = " ".join(note for note in notes if note)
        mean = math.fsum(rates) / whole
        rate = bench.estimate(job, f"{relation} rate").to_row(share.row, MEAN_RATE, note, mean, [Kind.MUTANTS])
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
        note = "" if math.isnan(count) else f"Ours is of {pluralise(int(count), 'mutant')} {which}."
        full_note = f"{MUTANTS_NOTE} {DIFFERENT_LABELS_NOTE} {note}".strip()
        share = bench.estimate(job, ours)
        rows.append(share.to_row(f"all, {name}", KILLED_SHARE, full_note, 100 * theirs, [Kind.MUTANTS]))
    mean = math.fsum(f.published for f in verdicts) / whole / len(find_relations(job.subject))
    rate, note = bench.estimate(job, "rate"), f"{MUTANTS_NOTE} {DIFFERENT_LABELS_NOTE}"
    return [*rows, rate.to_row("all, the study's relations", MEAN_RATE, note, mean, [Kind.MUTANTS])]


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
        full_note = f"{MUTANTS_NOTE} {note}".strip()
        rows.append(bench.estimate(job, ours).to_row(row, column, full_note, 100 * theirs, [Kind.MUTANTS]))
    return rows

"""What the studies measure: each job once, planned before it runs.

A table is built twice. In the first pass the workbench only records which figures are needed. Then it measures them all, with
progress on stderr. In the second pass the figures are known. So tables declare what they need by using it, and tables of
one study share measurements.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..data.learners import REFERENCE_MODELS
from ..data.subjects import RULES
from ..runs.progress import Progress

# -- scales --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much of a study is measured.

    Attributes
    ----------
    repetitions, slow : int
        How often an exploration is repeated, with different seeds; `slow` is for data sets and growing pools.
    subjects, models : tuple of str
        The coded classifiers and the models of the data sets.
    walks, growing : tuple of int
        Numbers of walks on the coded classifiers; with a growing pool, which is slower.
    seeds : tuple of int
        Numbers of seeds, where these vary.
    targets, rows : tuple of int
        On the data sets: numbers of walks, and of rows from which directed walks start in every direction.
    inputs : int
        Number of inputs on which relations of learners are checked.
    mutants : int, optional
        Number of mutants per program; None for all.
    compared : int
        Number of inputs on which labels of mutant and program are compared.
    sets : int
        Number of simulated data sets per rule that are cross-validated.
    patience : float
        Time limit of a mutant in seconds.
    trials : int
        Number of trials, each until a relation is violated.
    groups : int
        Approximate number of groups in all trials: where violations are rare, there are fewer trials.
    """

    repetitions: int
    slow: int
    subjects: tuple[str, ...]
    models: tuple[str, ...]
    walks: tuple[int, ...]
    growing: tuple[int, ...]
    seeds: tuple[int, ...]
    targets: tuple[int, ...]
    rows: tuple[int, ...]
    inputs: int
    mutants: int | None
    compared: int
    sets: int
    patience: float
    trials: int
    groups: int


_SIX, _TEN = tuple(range(200, 1201, 200)), tuple(range(100, 1001, 100))
FAST = ("DT", "DT2", "KNN", "LR", "NB", "NB2")
SCALES = {
    "tiny": Scale(
        repetitions=1,
        slow=1,
        subjects=("Box 1", "Sin 2"),
        models=("DT", "NB"),
        walks=(200,),
        growing=(200,),
        seeds=(200,),
        targets=(100,),
        rows=(10,),
        inputs=12,
        mutants=6,
        compared=100,
        sets=1,
        patience=10,
        trials=5,
        groups=400,
    ),
    "small": Scale(
        repetitions=3,
        slow=1,
        subjects=tuple(RULES),
        models=FAST,
        walks=_SIX,
        growing=(200, 800),
        seeds=(200, 1200),
        targets=(200, 1000),
        rows=(100,),
        inputs=100,
        mutants=40,
        compared=1000,
        sets=10,
        patience=30,
        trials=400,
        groups=16_000,
    ),
    "full": Scale(
        repetitions=10,
        slow=10,
        subjects=tuple(RULES),
        models=REFERENCE_MODELS,
        walks=_SIX,
        growing=_SIX,
        seeds=_SIX,
        targets=_TEN,
        rows=_TEN,
        inputs=300,
        mutants=None,
        compared=10_000,
        sets=300,
        patience=600,
        trials=10_000,
        groups=10**12,
    ),
}

# -- jobs -------------------------------------------------------------------------------

Figures = Mapping[str, float]


class Job(Protocol):
    """A measurement, described by a frozen dataclass."""

    @property
    def label(self) -> str:
        """The text of the progress bar; empty if the job shows its own progress."""

    @property
    def kind(self) -> tuple[object, ...]:
        """The kind of jobs whose times can be compared."""

    @property
    def weight(self) -> int:
        """The expected duration, relative to others of its kind."""

    def repetitions(self, scale: Scale) -> int:
        """Return the number of repetitions."""

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return the figures, `seconds` among them."""


def make_seed_sequence(job: Job, seed: int, repetition: int) -> np.random.SeedSequence:
    """Return the seed of a repetition. It depends on the repr of the job, so jobs and their fields are not renamed."""
    return np.random.SeedSequence([seed, repetition, zlib.crc32(repr(job).encode())])


_figures_by_measurement: dict[tuple[Job, int, int], Figures] = {}


def _measure_once(job: Job, repetition: int, seed: int, progress: bool | None) -> Figures:
    """Measure a job once per process, whichever study needs it."""
    if (job, repetition, seed) not in _figures_by_measurement:
        _figures_by_measurement[job, repetition, seed] = job.measure(seed, repetition, progress)
    return _figures_by_measurement[job, repetition, seed]


# -- the workbench ---------------------------------------------------------------------------------------


@dataclass
class Workbench:
    """Records which figures are needed, and measures them.

    Attributes
    ----------
    scale : Scale
        How much is measured.
    seed : int
        The random seed.
    asked : dict
        The figures per job; empty until they are measured.
    """

    scale: Scale
    seed: int = 0
    figures_by_job: dict[Job, Figures] = field(default_factory=dict)

    def figure(self, job: Job, measure: str) -> float:
        """Return a figure of a job; NaN until it is measured."""
        return _derive_figure(self.figures_by_job.setdefault(job, {}), measure)

    def work(self, name: str, progress: bool | None = None, tell: bool = False) -> None:
        """Measure all recorded jobs, with progress on stderr; with `tell`, print an estimate of the time first."""
        rounds = [(job, k) for job in self.figures_by_job for k in range(job.repetitions(self.scale))]
        if tell:  # the lightest jobs of each kind come first: the estimate extrapolates from them
            rounds.sort(key=lambda job_and_repetition: (job_and_repetition[1], job_and_repetition[0].weight))
        total = Counter[object]()
        for job, _ in rounds:
            total[job.kind] += job.weight
        rate: dict[object, float] = {}
        done, whole, estimate_shown = 0, sum(total.values()), not tell
        parts: dict[Job, list[Figures]] = {}
        with Progress(name, progress) as progress_bar:
            for job, repetition in rounds:
                if not estimate_shown and len(rate) == len(total):
                    _print_estimate(name, sum(total[kind] * rate[kind] for kind in total))
                    estimate_shown = True
                if job.label:
                    progress_bar.show(job.label, done / whole)
                figures = _measure_once(job, repetition, self.seed, progress)
                parts.setdefault(job, []).append(figures)
                rate.setdefault(job.kind, figures["seconds"] / job.weight)
                done += job.weight
        for job, times in parts.items():
            self.figures_by_job[job] = {
                key: math.fsum(figures[key] for figures in times) / len(times) for key in times[0]
            }


def _derive_figure(figures: Figures, measure: str) -> float:
    if not figures:
        return math.nan
    if measure == "cost":
        return figures["runs"] / figures["mutants"] if figures["mutants"] else math.inf
    if measure == "capability":
        return 50 * figures["mutants"] / figures["walks"]
    if measure == "pairs per second":
        return figures["mutants"] / 2 / figures["seconds"]
    return figures[measure]


def _print_estimate(name: str, seconds: float) -> None:
    size, unit = (3600, "h") if seconds > 7200 else (60, "min") if seconds > 120 else (1, "s")
    sys.stderr.write(f"{name}: at most about {seconds / size:.0f} {unit}, by a first measurement of each kind\n")

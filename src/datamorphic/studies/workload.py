"""The bench: what the studies measure, each thing once, planned before it is done.

A table is computed twice. The first time the bench has nothing and only writes down what is asked of it; then it
measures all that, with its progress on stderr; the second time it knows. So tables say what they need by using
it, and tables of one study that need the same share it.
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

# -- how much is done --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """How much of a study is done.

    Attributes
    ----------
    repetitions, slow : int
        How often an exploration is made, each time with seeds of its own; those that take long (data sets,
        growing pools).
    subjects, models : tuple of str
        The coded classifiers and the models of the data sets.
    walks, growing : tuple of int
        Numbers of walks on the coded classifiers; with a growing pool, which is slower.
    seeds : tuple of int
        Numbers of seeds, where these vary.
    targets, rows : tuple of int
        On the data sets: numbers of walks; of rows from which directed walks go every way.
    inputs : int
        On how many inputs relations are put to a learner.
    mutants : int, optional
        How many mutants of a program are tried; None for all.
    compared : int
        On how many inputs the labels of a mutant are compared with those of the program.
    sets : int
        How many simulated data sets of each rule are cross-validated.
    patience : float
        Seconds after which a mutant is said to hang.
    trials : int
        How often groups are made until a relation is violated.
    groups : int
        How many groups are made in all these trials, about: where violations are rare, there are fewer trials.
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
        1, 1, ("Box 1", "Sin 2"), ("DT", "NB"), (200,), (200,), (200,), (100,), (10,),
        inputs=12, mutants=6, compared=100, sets=1, patience=10, trials=5, groups=400,
    ),
    "small": Scale(
        3, 1, tuple(RULES), FAST, _SIX, (200, 800), (200, 1200), (200, 1000), (100,),
        inputs=100, mutants=40, compared=1000, sets=10, patience=30, trials=400, groups=16_000,
    ),
    "full": Scale(
        10, 10, tuple(RULES), REFERENCE_MODELS, _SIX, _SIX, _SIX, _TEN, _TEN,
        inputs=300, mutants=None, compared=10_000, sets=300, patience=600, trials=10_000, groups=10**12,
    ),
}  # fmt: skip

# -- what is measured -------------------------------------------------------------------------------

Figures = Mapping[str, float]


class Job(Protocol):
    """Something that can be measured: a frozen dataclass that says all there is to say about it."""

    @property
    def label(self) -> str:
        """What is shown while it is measured; empty where it shows its progress itself."""

    @property
    def kind(self) -> tuple[object, ...]:
        """What jobs share whose times can be compared."""

    @property
    def weight(self) -> int:
        """How long it takes, compared with others of its kind."""

    def repetitions(self, scale: Scale) -> int:
        """Return how often it is measured."""

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return the figures, `seconds` among them."""


def drawn(job: Job, seed: int, repetition: int) -> np.random.SeedSequence:
    """Return where randomness starts: it depends on the job, not on the study it is part of."""
    return np.random.SeedSequence([seed, repetition, zlib.crc32(repr(job).encode())])


_known: dict[tuple[Job, int, int], Figures] = {}


def _measured(job: Job, repetition: int, seed: int, progress: bool | None) -> Figures:
    """Measure once a process, whatever study it is for."""
    if (job, repetition, seed) not in _known:
        _known[job, repetition, seed] = job.measure(seed, repetition, progress)
    return _known[job, repetition, seed]


# -- the bench ---------------------------------------------------------------------------------------


@dataclass
class Bench:
    """Measures what was asked of it.

    Attributes
    ----------
    scale : Scale
        How much is done.
    seed : int
        Where randomness starts.
    asked : dict
        What was asked, with the figures as soon as they are known.
    """

    scale: Scale
    seed: int = 0
    asked: dict[Job, Figures] = field(default_factory=dict)

    def figure(self, job: Job, measure: str) -> float:
        """Return a figure of what was measured; NaN as long as it was not."""
        return _derived(self.asked.setdefault(job, {}), measure)

    def work(self, name: str, progress: bool | None = None, tell: bool = False) -> None:
        """Measure all that was asked, with its progress on stderr; on demand, first tell how long that will take."""
        rounds = [(job, k) for job in self.asked for k in range(job.repetitions(self.scale))]
        if tell:  # the lightest of each kind come first: from them the rest is foretold
            rounds.sort(key=lambda each: (each[1], each[0].weight))
        total = Counter[object]()
        for job, _ in rounds:
            total[job.kind] += job.weight
        rate: dict[object, float] = {}
        done, whole, told = 0, sum(total.values()), not tell
        parts: dict[Job, list[Figures]] = {}
        with Progress(name, progress) as shown:
            for job, repetition in rounds:
                if not told and len(rate) == len(total):
                    _tell(name, sum(total[kind] * rate[kind] for kind in total))
                    told = True
                if job.label:
                    shown.show(job.label, done / whole)
                figures = _measured(job, repetition, self.seed, progress)
                parts.setdefault(job, []).append(figures)
                rate.setdefault(job.kind, figures["seconds"] / job.weight)
                done += job.weight
        for job, times in parts.items():
            self.asked[job] = {key: math.fsum(each[key] for each in times) / len(times) for key in times[0]}


def _derived(figures: Figures, measure: str) -> float:
    if not figures:
        return math.nan
    if measure == "cost":
        return figures["runs"] / figures["mutants"] if figures["mutants"] else math.inf
    if measure == "capability":
        return 50 * figures["mutants"] / figures["walks"]
    if measure == "pairs per second":
        return figures["mutants"] / 2 / figures["seconds"]
    return figures[measure]


def _tell(name: str, seconds: float) -> None:
    size, unit = (3600, "h") if seconds > 7200 else (60, "min") if seconds > 120 else (1, "s")
    sys.stderr.write(f"{name}: at most about {seconds / size:.0f} {unit}, by a first measurement of each kind\n")

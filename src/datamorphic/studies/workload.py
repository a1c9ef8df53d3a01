"""What the studies measure: each job once, planned before it runs.

A table is built twice. In the first pass the workbench only records which figures are needed. Then it measures them all, with
progress on stderr. In the second pass the figures are known. So tables declare what they need by using it, and tables of
one study share measurements.
"""

from __future__ import annotations

import math
import sys
import time
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.learners import REFERENCE_MODELS
from ..data.subjects import RULES
from ..runs.progress import Progress
from .intervals import estimate_mean, estimate_ratio, read_labelled_figure
from .rows import OurFigure

# -- scales --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much of a study is measured."""

    repetitions: int  # of an exploration, with different seeds
    slow: int  # repetitions on data sets and with growing pools
    subjects: tuple[str, ...]  # the coded classifiers
    models: tuple[str, ...]  # of the data sets
    walks: tuple[int, ...]  # on the coded classifiers
    growing: tuple[int, ...]  # walks with a growing pool, which is slower
    seeds: tuple[int, ...]  # where these vary
    targets: tuple[int, ...]  # walks on the data sets
    rows: tuple[int, ...]  # of the data sets, from which directed walks start in every direction
    inputs: int  # on which relations of learners are checked
    mutants: int | None  # per program; None for all
    compared: int  # inputs on which labels of mutant and program are compared
    sets: int  # simulated data sets per rule that are cross-validated
    patience: float  # seconds per mutant
    trials: int  # each until a relation is violated
    groups: int  # in all trials, approximately: where violations are rare, there are fewer trials
    loans: int  # of the synthetic book on which credit models are trained
    credit_repetitions: int  # of the training of credit models
    products: int  # in the catalogue of search engines
    search_groups: int | None  # per relation of searches; None for as many as published


_SIX, _TEN = tuple(range(200, 1201, 200)), tuple(range(100, 1001, 100))
_FAST_MODELS = ("DT", "DT2", "KNN", "LR", "NB", "NB2")
_SCALE_VALUES: dict[str, tuple[Any, Any, Any]] = {  # tiny, small and full
    "repetitions": (1, 3, 10),
    "slow": (1, 1, 10),
    "subjects": (("Box 1", "Sin 2"), tuple(RULES), tuple(RULES)),
    "models": (("DT", "NB"), _FAST_MODELS, REFERENCE_MODELS),
    "walks": ((200,), _SIX, _SIX),
    "growing": ((200,), (200, 800), _SIX),
    "seeds": ((200,), (200, 1200), _SIX),
    "targets": ((100,), (200, 1000), _TEN),
    "rows": ((10,), (100,), _TEN),
    "inputs": (12, 100, 300),
    "mutants": (6, 40, None),
    "compared": (100, 1000, 10_000),
    "sets": (1, 10, 300),
    "patience": (10, 30, 600),
    "trials": (5, 400, 10_000),
    "groups": (400, 16_000, 10**12),
    "loans": (1_500, 4_000, 43_232),
    "credit_repetitions": (1, 2, 100),
    "products": (1_000, 20_000, 200_000),
    "search_groups": (20, 200, None),
}
SCALES = {
    name: Scale(**{option: values[column] for option, values in _SCALE_VALUES.items()})
    for column, name in enumerate(("tiny", "small", "full"))
}

# -- jobs -------------------------------------------------------------------------------

Figures = Mapping[str, float]


class Job:
    """A measurement, described by the fields of a frozen dataclass."""

    @property
    def label(self) -> str:
        """The text of the progress bar; empty if the job shows its own progress."""
        return " ".join(value for value in vars(self).values() if isinstance(value, str) and value)

    @property
    def kind(self) -> tuple[object, ...]:
        """The kind of jobs whose times can be compared."""
        return (type(self).__name__, *(value for value in vars(self).values() if isinstance(value, str)))

    @property
    def weight(self) -> int:
        """The expected duration, relative to others of its kind."""
        return 1

    def repetitions(self, scale: Scale) -> int:
        """Return the number of repetitions: 1 if these are part of the job, or would give the same."""
        return 1

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return the figures, `seconds` among them."""
        began = time.perf_counter()
        figures = self._compute_figures(self._derive_seed(seed, repetition))
        return {**figures, "seconds": time.perf_counter() - began}

    def _derive_seed(self, seed: int, repetition: int) -> int:
        return seed

    def _compute_figures(self, seed: int) -> Figures:
        raise NotImplementedError


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
    """Records which figures are needed, and measures them."""

    scale: Scale
    seed: int = 0
    figures_by_job: dict[Job, Figures] = field(default_factory=dict)  # empty until they are measured
    repetitions_by_job: dict[Job, list[Figures]] = field(default_factory=dict)

    def figure(self, job: Job, measure: str) -> float:
        """Return a figure of a job; NaN until it is measured."""
        return _derive_figure(self.figures_by_job.setdefault(job, {}), measure)

    def estimate(self, job: Job, measure: str) -> OurFigure:
        """Return a figure of a job with its interval: over repetitions, or as the job reports it."""
        value, repetitions = self.figure(job, measure), self.repetitions_by_job.get(job, [])
        if len(repetitions) == 1:
            return read_labelled_figure(repetitions[0], measure)._replace(value=value)
        if measure in RATIOS:
            top, bottom, factor = RATIOS[measure]
            tops, bottoms = ([figures[key] for figures in repetitions] for key in (top, bottom))
            return estimate_ratio(tops, bottoms, factor)._replace(value=value)
        return estimate_mean(figures[measure] for figures in repetitions)._replace(value=value)

    def work(self, name: str, progress: bool | None = None, print_estimate: bool = False) -> None:
        """Measure all recorded jobs, with progress on stderr; with `tell`, print an estimate of the time first."""
        rounds = [(job, k) for job in self.figures_by_job for k in range(job.repetitions(self.scale))]
        if print_estimate:  # the lightest jobs of each kind come first: the estimate extrapolates from them
            rounds.sort(key=lambda job_and_repetition: (job_and_repetition[1], job_and_repetition[0].weight))
        total = Counter[object]()
        for job, _ in rounds:
            total[job.kind] += job.weight
        rate: dict[object, float] = {}
        done, total_weight, estimate_shown = 0, sum(total.values()), not print_estimate
        parts: dict[Job, list[Figures]] = {}
        with Progress(name, progress) as progress_bar:
            for job, repetition in rounds:
                if not estimate_shown and len(rate) == len(total):
                    _print_estimate(name, sum(total[kind] * rate[kind] for kind in total))
                    estimate_shown = True
                if job.label:
                    progress_bar.show(job.label, done / total_weight)
                figures = _measure_once(job, repetition, self.seed, progress)
                parts.setdefault(job, []).append(figures)
                rate.setdefault(job.kind, figures["seconds"] / job.weight)
                done += job.weight
        self.repetitions_by_job |= parts
        for job, times in parts.items():
            self.figures_by_job[job] = {
                key: math.fsum(figures[key] for figures in times) / len(times) for key in times[0]
            }


#: measures that are ratios of two figures: numerator, denominator and a factor
RATIOS = {
    "cost": ("runs", "mutants", 1.0),
    "capability": ("mutants", "walks", 50.0),
    "pairs per second": ("mutants", "seconds", 0.5),
}


def _derive_figure(figures: Figures, measure: str) -> float:
    if not figures:
        return math.nan
    if measure in RATIOS:
        top, bottom, factor = RATIOS[measure]
        return factor * figures[top] / figures[bottom] if figures[bottom] else math.inf
    return figures[measure]


def _print_estimate(name: str, seconds: float) -> None:
    size, unit = (3600, "h") if seconds > 7200 else (60, "min") if seconds > 120 else (1, "s")
    sys.stderr.write(f"{name}: at most about {seconds / size:.0f} {unit}, by a first measurement of each kind\n")

"""What the studies measure: each job once, planned before it runs.

A table is built twice. In the first pass the workbench only records which figures are needed. Then it measures them all, with
progress on stderr. In the second pass the figures are known. So tables declare what they need by using it, and tables of
one study share measurements.
"""

from __future__ import annotations

import json
import math
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import errors
from .._lazy import pd
from .._text import pluralise
from ..core.execute import Execution
from ..data.learners import REFERENCE_MODELS
from ..data.subjects import RULES
from ..errors import DatamorphicError, OutOfBudget, SystemFailed, UsageError, format_error_line
from ..runs.flow import ask
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from ..space.outputs import Outputs, Status
from ..space.points import Batch, Rows
from ..systems.base import Executor
from .intervals import estimate_mean, estimate_ratio, read_labelled_figure
from .rows import OurFigure

# -- scales --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much of a study is measured."""

    repetitions: int  # of an exploration, with different seeds
    slow: int  # repetitions on data sets and with growing pools
    coded_walks: int  # of a figure of a coded classifier in all repetitions, at least
    data_walks: int  # of a figure of a data set in all repetitions, at least
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
_SCALE_VALUES: dict[str, tuple[Any, Any, Any, Any]] = {  # tiny, small, medium and full
    "repetitions": (1, 3, 10, 10),
    "slow": (1, 1, 3, 10),
    "coded_walks": (0, 0, 20_000, 0),
    "data_walks": (0, 0, 6_000, 0),
    "subjects": (("Box 1", "Sin 2"), tuple(RULES), tuple(RULES), tuple(RULES)),
    "models": (("DT", "NB"), _FAST_MODELS, _FAST_MODELS, REFERENCE_MODELS),
    "walks": ((200,), _SIX, _SIX, _SIX),
    "growing": ((200,), (200, 800), _SIX, _SIX),
    "seeds": ((200,), (200, 1200), _SIX, _SIX),
    "targets": ((100,), (200, 1000), _TEN, _TEN),
    "rows": ((10,), (100,), _TEN, _TEN),
    "inputs": (12, 100, 300, 300),
    "mutants": (6, 40, 40, None),
    "compared": (100, 1000, 1000, 10_000),
    "sets": (1, 10, 30, 300),
    "patience": (10, 30, 30, 600),
    "trials": (5, 400, 2000, 10_000),
    "groups": (400, 16_000, 80_000, 10**12),
    "loans": (1_500, 4_000, 4_000, 43_232),
    "credit_repetitions": (1, 2, 4, 100),
    "products": (1_000, 20_000, 20_000, 200_000),
    "search_groups": (20, 200, 200, None),
}
SCALES = {
    name: Scale(**{option: values[column] for option, values in _SCALE_VALUES.items()})
    for column, name in enumerate(("tiny", "small", "medium", "full"))
}

# -- jobs -------------------------------------------------------------------------------

Figures = Mapping[str, float]


class Job:
    """A measurement, described by the fields of a frozen dataclass."""

    printed_repetitions: float = math.nan  # repetitions of the published experiment; NaN if not stated

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


# -- measuring them ------------------------------------------------------------------------------------------

Round = tuple[Job, int]  # a job and the number of its repetition


@dataclass(frozen=True)
class MeasuredRound:
    """The outcome of a round: its figures and duration, or why it failed."""

    figures: Figures
    seconds: float
    error: str = ""
    error_type: str = ""

    def to_text(self) -> str:
        """Return the outcome as JSON, with all digits."""
        return json.dumps(vars(self))

    @classmethod
    def from_text(cls, text: str) -> MeasuredRound:
        """Return the outcome that `to_text` wrote."""
        return cls(**json.loads(text))

    def to_error(self) -> DatamorphicError:
        """Return why the round failed as an exception."""
        kind = getattr(errors, self.error_type, SystemFailed)
        return kind(self.error) if issubclass(kind, UsageError | SystemFailed) else SystemFailed(self.error)


_outcomes: dict[tuple[Job, int, int], MeasuredRound] = {}  # measured once per process, whichever study needs it


class JobSystem(Executor):
    """Measures jobs: a case is a round by its number, the answer its outcome as JSON.

    So the loop that queries systems measures jobs too: on any engine, each stored when it is done.
    """

    batch_rows = 1
    name = "study"

    def __init__(self, rounds: Sequence[Round], seed: int, progress: bool | None) -> None:
        self._rounds, self._seed, self._progress = list(rounds), seed, progress

    def answer(self, batch: Batch, scores: object) -> Outputs:
        """Measure the rounds of a batch. A round that fails is an answer, too."""
        texts = [self._measure_round(*self._rounds[number]).to_text() for number in batch.frame["round"]]
        return Outputs(np.array(texts, dtype=object), np.zeros(len(texts), dtype=np.int8))

    def _measure_round(self, job: Job, repetition: int) -> MeasuredRound:
        key = job, repetition, self._seed
        if key not in _outcomes:
            began = time.perf_counter()
            with Interrupts() as interrupts:
                try:
                    figures = job.measure(self._seed, repetition, self._progress)
                    outcome = MeasuredRound(dict(figures), time.perf_counter() - began)
                except Exception as error:
                    kind, text = type(error).__name__, format_error_line(error)
                    outcome = MeasuredRound({}, time.perf_counter() - began, text, kind)
                if interrupts.is_stopped():  # its figures may be those of a part
                    raise KeyboardInterrupt
            if outcome.error:
                return outcome
            _outcomes[key] = outcome
        return _outcomes[key]


# -- the workbench ---------------------------------------------------------------------------------------


@dataclass
class Workbench:
    """Records which figures are needed, and measures them."""

    scale: Scale
    seed: int = 0
    causes: str = "all"  # of differences, with which figures are measured, too: one, "all" or "none"
    figures_by_job: dict[Job, Figures] = field(default_factory=dict)  # empty until they are measured
    repetitions_by_job: dict[Job, list[Figures]] = field(default_factory=dict)
    errors_by_job: dict[Job, DatamorphicError] = field(default_factory=dict)
    study: str = ""  # for which jobs are recorded
    studies_by_job: dict[Job, str] = field(default_factory=dict)  # the first that needs a job
    seconds_by_study: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def figure(self, job: Job, measure: str) -> float:
        """Return a figure of a job; NaN until it is measured."""
        if job in self.errors_by_job:
            raise self.errors_by_job[job]
        self.studies_by_job.setdefault(job, self.study)
        return _derive_figure(self.figures_by_job.setdefault(job, {}), measure)

    def estimate(self, job: Job, measure: str) -> OurFigure:
        """Return a figure of a job with its interval: over repetitions, or as the job reports it."""
        value, repetitions = self.figure(job, measure), self.repetitions_by_job.get(job, [])
        if len(repetitions) == 1:
            estimate = read_labelled_figure(repetitions[0], measure)
        elif measure in RATIOS:
            top, bottom, factor = RATIOS[measure]
            tops, bottoms = ([figures[key] for figures in repetitions] for key in (top, bottom))
            estimate = estimate_ratio(tops, bottoms, factor)
        else:
            estimate = estimate_mean(figures[measure] for figures in repetitions)
        # the difference of two means varies as both do
        printed_margin = estimate.margin * math.sqrt(1 + len(repetitions) / job.printed_repetitions)
        return estimate._replace(value=value, printed_margin=printed_margin)

    def has_figure(self, job: Job, measure: str) -> bool:
        """Return whether a measured job has a figure of this name."""
        return measure in self.figures_by_job.get(job, {})

    def work(self, name: str, execution: Execution[Any], *, print_estimate: bool = False) -> None:
        """Measure all recorded jobs, with progress on stderr.

        With `print_estimate`, an estimate of the time is printed first. A job that fails has an error instead of figures, and
        one that the budget or the time-out does not allow has none.
        """
        rounds = [(job, k) for job in self.figures_by_job for k in range(job.repetitions(self.scale))]
        if not rounds:
            return
        if print_estimate:  # the lightest jobs of each kind come first: the estimate extrapolates from them
            rounds.sort(key=lambda job_and_repetition: (job_and_repetition[1], job_and_repetition[0].weight))
        frame = pd.DataFrame(
            {"round": range(len(rounds)), "job": [repr(job) for job, _ in rounds], "repetition": [k for _, k in rounds]}
        )
        outcomes: dict[int, MeasuredRound] = {}
        workers, progress = execution.engine.workers, execution.options.progress
        with Progress(name, progress) as bar, suppress(OutOfBudget):
            pace = _Pace(name, [job for job, _ in rounds], self.studies_by_job, bar, print_estimate)

            def note_outcome(piece: int, outputs: Outputs) -> None:
                if outputs.status[0] == Status.TIMEOUT:
                    return
                text = outputs.values[0] if outputs.ok[0] else MeasuredRound({}, 0.0, outputs.messages[0]).to_text()
                outcomes[piece] = MeasuredRound.from_text(text)
                if execution.journal is not None:
                    share = len(outcomes) / len(rounds)
                    execution.journal.note_progress(done=share, runs=len(outcomes), calls=len(outcomes))
                    execution.journal.write()
                pace.note_round(rounds[piece][0], outcomes[piece], workers)

            execution.drive(
                ask(Rows(frame[: execution.options.limits.runs])),
                JobSystem(rounds, self.seed, progress if workers == 1 else False),
                progress=False,
                cache=None,
                recheck=0,
                alive=True,
                on_piece=note_outcome,
            )
        if len(outcomes) < len(rounds):
            execution.unfinished.append(f"{len(rounds) - len(outcomes):,} of {pluralise(len(rounds), 'job')}")
        repetitions_by_job: dict[Job, list[Figures]] = {}
        for number, outcome in sorted(outcomes.items()):
            job, _ = rounds[number]
            self.seconds_by_study[self.studies_by_job[job]] += outcome.seconds
            if outcome.error:
                self.errors_by_job.setdefault(job, outcome.to_error())
            else:
                repetitions_by_job.setdefault(job, []).append(outcome.figures)
        self.repetitions_by_job |= repetitions_by_job
        for job, repetitions in repetitions_by_job.items():
            self.figures_by_job[job] = {
                key: math.fsum(figures[key] for figures in repetitions) / len(repetitions) for key in repetitions[0]
            }


class _Pace:
    """How far the measuring is, and an estimate of the time left, from the seconds of jobs of the same kind."""

    def __init__(
        self, name: str, jobs: Sequence[Job], studies: Mapping[Job, str], bar: Progress, print_estimate: bool
    ) -> None:
        self._name, self._studies, self._bar, self._print_estimate = name, studies, bar, print_estimate
        self._total, self._done, self._spent = len(jobs), 0, 0.0
        self._counts = Counter[object](job.kind for job in jobs)
        self._weights, self._measured = Counter[object](), Counter[object]()
        self._seconds: defaultdict[object, float] = defaultdict(float)
        for job in jobs:
            self._weights[job.kind] += job.weight
        if jobs[0].label:  # other jobs show progress of their own
            self._bar.show(pluralise(self._total, "job"), 0.0)

    def note_round(self, job: Job, outcome: MeasuredRound, workers: int) -> None:
        """Show that a round is done."""
        self._done += 1
        self._spent += outcome.seconds
        self._measured[job.kind] += job.weight
        self._seconds[job.kind] += outcome.seconds
        left = self._estimate_seconds_left()
        if self._print_estimate and len(self._measured) == len(self._weights):
            self._print_estimate = False
            _print_estimate(self._name, (self._spent + left) / workers)
        study = self._studies.get(job, "")
        place = "" if study in ("", self._name) else f"{study}, "
        text = f"{place}{job.label or type(job).__name__}, {self._done:,} of {self._total:,} jobs"
        self._bar.show(text, self._spent / max(self._spent + left, 1e-9))

    def _estimate_seconds_left(self) -> float:
        usual_seconds = self._spent / self._done  # for kinds that were not measured yet
        return math.fsum(
            (weight - self._measured[kind]) * self._seconds[kind] / self._measured[kind]
            if self._measured[kind]
            else usual_seconds * self._counts[kind]
            for kind, weight in self._weights.items()
        )


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
    sys.stderr.write(f"{name}: about {seconds / size:.0f} {unit} in all, estimated from the first job of each kind\n")

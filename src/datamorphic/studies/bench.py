"""The bench: what the studies measure, each thing once, planned before it is done.

A table is computed twice. The first time the bench has nothing and only writes down what is asked of it; then it
measures all that, with its progress on stderr; the second time it knows. So tables say what they need by using
it, and tables of one study that need the same share it.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.learners import REFERENCE_MODELS, learns_from_part, reference_model, reference_space, training_rows
from ..data.sets import TARGET, load
from ..data.subjects import PLANE, RULES
from ..outputs import Outputs
from ..runs.progress import Progress
from ..space.points import Batch, Points
from ..sut.answers import as_outputs
from ..sut.base import Executor
from ..verbs.explore import explore
from .faults import FaultyWine

if TYPE_CHECKING:
    import pandas as pd

    from ..fronts.front import Front
    from ..space.space import Space

STEPS = DISTANCE = 20  # halvings of a pair, steps of a walk: those of the studies
FOLDS = 10
#: how much longer than a tree's the training of a model takes, about
EFFORT = {"DT": 1, "NB": 1, "KNN": 3, "LR": 12, "SVM": 30, "SV": 8, "HV": 8, "Stack": 150}

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


_SIX, _TEN = tuple(range(200, 1201, 200)), tuple(range(100, 1001, 100))
FAST = ("DT", "DT2", "KNN", "LR", "NB", "NB2")
SCALES = {
    "tiny": Scale(1, 1, ("Box 1", "Sin 2"), ("DT", "NB"), (200,), (200,), (200,), (100,), (10,)),
    "small": Scale(3, 1, tuple(RULES), FAST, _SIX, (200, 800), (200, 1200), (200, 1000), (100,)),
    "full": Scale(10, 10, tuple(RULES), REFERENCE_MODELS, _SIX, _SIX, _SIX, _TEN, _TEN),
}

# -- what can be measured ----------------------------------------------------------------------------

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Exploration:
    """An exploration as the studies made them: bisection, twenty halvings, walks of twenty steps.

    Attributes
    ----------
    strategy, subject, data : str
        `data` is empty for the coded classifiers.
    walks : int
        Of directed walks on a data set: rows, each of which goes every way.
    seeds : int
        For a coded classifier; a data set's are its rows.
    pool : {"fixed", "growing"}
        Whether mutants join the seeds.
    first : bool
        Directed walks that can succeed at their first step only; one that fails counts all its steps.
    faulty : bool
        With red wine's faulty midpoint.
    """

    strategy: str
    subject: str
    data: str = ""
    walks: int = 1000
    seeds: int = 200
    pool: str = "fixed"
    first: bool = False
    faulty: bool = False

    @property
    def kind(self) -> tuple[object, ...]:
        """What explorations share that take as long a walk."""
        return (self.strategy, self.subject, self.data, self.pool, self.first, self.faulty)

    @property
    def weight(self) -> int:
        """How long it takes, compared with others of its kind."""
        return self.walks

    def measure(self, seed: np.random.SeedSequence) -> Figures:
        """Explore and return the figures."""
        if self.data:  # read and trained before the clock is started
            _case(self.data), _model(self.data, self.subject)
        began = time.perf_counter()
        front = self._explore(seed)
        seconds = time.perf_counter() - began
        runs, mutants = front.runs, front.mutants
        if self.first:  # a walk that fails has gone on to its end
            runs += (front.walks - len(front)) * (DISTANCE - 1)
        figures = {"walks": front.walks, "runs": runs, "mutants": mutants, "seconds": seconds}
        if self.faulty:
            figures |= _new_cases(front)
        return {name: float(value) for name, value in figures.items()}

    def _explore(self, seed: np.random.SeedSequence) -> Front:
        options: dict[str, Any] = {
            "strategy": self.strategy, "walks": self.walks, "steps": STEPS, "refine": "bisect", "pool": self.pool,
            "walk_distance": 1 if self.first else DISTANCE, "seed": seed, "progress": False,
        }  # fmt: skip
        if not self.data:
            if self.strategy == "directed_walk":
                options["moves"] = ["up_y"]
            return explore(Coded(self.subject), seeds=self.seeds, **options)
        inputs, space = _case(self.data)
        model = _model(self.data, self.subject)
        if self.faulty:
            return explore(FaultyWine(model), inputs, **options)
        if self.strategy == "directed_walk":
            options["walks"] = self.walks * len(space.move_names)
        return explore(model, inputs, space=space, **options)


@dataclass(frozen=True)
class Training:
    """A model of a data set: how accurate it is, and how long it takes to find out, all as published."""

    subject: str
    data: str

    @property
    def kind(self) -> tuple[object, ...]:
        """What models share whose times can be compared."""
        return ("training", self.data)

    @property
    def weight(self) -> int:
        """How long it takes, compared with others on the same data."""
        return EFFORT[self.subject.rstrip("123")]

    def measure(self, seed: np.random.SeedSequence) -> Figures:
        """Train the model, cross-validate it, and score it on the rows it learnt from and on the test tenth."""
        from sklearn.model_selection import KFold, cross_validate

        frame = load(self.data)
        whole, part = training_rows(self.data, frame)
        rows = part if learns_from_part(self.subject) else whole
        inputs, labels = rows.drop(columns=TARGET), rows[TARGET].to_numpy()
        test = whole.drop(index=part.index)
        began = time.perf_counter()
        model = _trained(self.data, self.subject, frame)
        # the rows have to be shuffled: in their own order, trees of wines score 50 %, not the published 61 %
        folds = KFold(FOLDS, shuffle=True, random_state=np.random.RandomState(np.random.MT19937(seed)))
        with _unfinished():
            rounds = cross_validate(model, inputs, labels, cv=folds, return_estimator=True)
        accuracy = model.score(inputs, labels)
        last = rounds["estimator"][-1].score(test.drop(columns=TARGET), test[TARGET].to_numpy())
        return {
            "seconds": time.perf_counter() - began,
            "accuracy": 100 * float(accuracy),
            "cross-validation": 100 * float(np.mean(rounds["test_score"])),
            "test accuracy": 100 * float(last),
        }


class Coded(Executor):
    """A coded classifier that reads the codes of points as they are: their frames would take most of the time."""

    def __init__(self, name: str) -> None:
        self.name, self.space, self._rule = name, PLANE, RULES[name]

    def answer(self, batch: Batch, scores: object) -> Outputs:
        """Return the colour of each point."""
        assert isinstance(batch, Points)
        return as_outputs(self._rule(batch.codes[:, 0], batch.codes[:, 1]), len(batch), None)


def _new_cases(front: Front) -> dict[str, int]:
    """Count what a pair consists of: cases that were made, and seeds that refinement never moved away from."""
    known = {row.tobytes() for row in np.ascontiguousarray(front.seeds.codes)}
    a, b = (
        np.array([row.tobytes() not in known for row in np.ascontiguousarray(side.codes)], dtype=bool)
        for side in (front.a, front.b)
    )
    return {"new cases": int(a.sum() + b.sum()), "new pairs": int((a & b).sum())}


@cache
def _case(data: str) -> tuple[pd.DataFrame, Space]:
    frame = load(data)
    return frame.drop(columns=TARGET), reference_space(data, frame)


@cache
def _model(data: str, model: str) -> Any:
    return _trained(data, model, load(data))


def _trained(data: str, model: str, frame: pd.DataFrame) -> Any:
    with _unfinished():
        return reference_model(data, model, frame)


@contextmanager
def _unfinished() -> Iterator[None]:
    """Say nothing of a solver that stops short of its optimum: the one that decides in Stack1 does, as published."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@cache
def _measured(job: Exploration | Training, repetition: int, seed: int) -> Figures:
    """Measure once a process. What is drawn depends on the job, not on the study it is part of."""
    return job.measure(np.random.SeedSequence([seed, repetition, zlib.crc32(repr(job).encode())]))


# -- the bench ---------------------------------------------------------------------------------------

Job = Exploration | Training


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
        rounds = [(job, k) for job in self.asked for k in range(self._repetitions(job))]
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
                shown.show(f"{job.subject} {job.data}".strip(), done / whole)
                figures = _measured(job, repetition, self.seed)
                parts.setdefault(job, []).append(figures)
                rate.setdefault(job.kind, figures["seconds"] / job.weight)
                done += job.weight
        for job, times in parts.items():
            self.asked[job] = {key: math.fsum(each[key] for each in times) / len(times) for key in times[0]}

    def _repetitions(self, job: Job) -> int:
        if isinstance(job, Training):
            return 1  # the result is the same each time
        return self.scale.slow if job.data or job.pool == "growing" else self.scale.repetitions


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

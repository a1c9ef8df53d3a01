"""What the studies of borders measure: explorations, and the models that are explored."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.learners import learns_from_part, reference_model, reference_space, training_rows
from ..data.sets import TARGET, load
from ..data.subjects import PLANE, RULES
from ..exploration.api import explore
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from ..systems.base import Executor
from ..systems.coerce import to_outputs
from .faults import FaultyWine
from .workload import Figures, Scale, drawn

if TYPE_CHECKING:
    import pandas as pd

    from ..exploration.front import Front
    from ..space.space import Space

STEPS = DISTANCE = 20  # halvings of a pair, steps of a walk: those of the studies
FOLDS = 10
#: how much longer than a tree's the training of a model takes, about
EFFORT = {"DT": 1, "NB": 1, "KNN": 3, "LR": 12, "SVM": 30, "SV": 8, "HV": 8, "Stack": 150}


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
    def label(self) -> str:
        """What is explored."""
        return f"{self.subject} {self.data}".strip()

    @property
    def kind(self) -> tuple[object, ...]:
        """What explorations share that take as long a walk."""
        return (self.strategy, self.subject, self.data, self.pool, self.first, self.faulty)

    @property
    def weight(self) -> int:
        """How long it takes, compared with others of its kind."""
        return self.walks

    def repetitions(self, scale: Scale) -> int:
        """Return how often it is made."""
        return scale.slow if self.data or self.pool == "growing" else scale.repetitions

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Explore and return the figures."""
        if self.data:  # read and trained before the clock is started
            _case(self.data), _model(self.data, self.subject)
        began = time.perf_counter()
        front = self._explore(drawn(self, seed, repetition))
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
    def label(self) -> str:
        """What is trained."""
        return f"{self.subject} {self.data}"

    @property
    def kind(self) -> tuple[object, ...]:
        """What models share whose times can be compared."""
        return ("training", self.data)

    @property
    def weight(self) -> int:
        """How long it takes, compared with others on the same data."""
        return EFFORT[self.subject.rstrip("123")]

    def repetitions(self, scale: Scale) -> int:
        """Return 1: the result is the same each time."""
        return 1

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
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
        chance = np.random.RandomState(np.random.MT19937(drawn(self, seed, repetition)))
        folds = KFold(FOLDS, shuffle=True, random_state=chance)
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
        return to_outputs(self._rule(batch.codes[:, 0], batch.codes[:, 1]), len(batch), None)


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

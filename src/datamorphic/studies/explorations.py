"""Jobs of the exploration studies: explorations, and the training of the explored models."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy import pd
from ..data.learners import (
    ignore_convergence_warnings,
    learns_from_part,
    reference_model,
    reference_space,
    training_rows,
)
from ..data.sets import TARGET, load
from ..data.subjects import PLANE, RULES
from ..exploration.run import explore
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from ..systems.base import Executor
from ..systems.coerce import to_outputs
from .faults import FaultyWine
from .intervals import estimate_share, label_figure
from .kept_directions import walk_plane
from .workload import Figures, Job, Scale, make_seed_sequence

if TYPE_CHECKING:
    from ..exploration.front import Front
    from ..space.space import Space

STEPS = DISTANCE = 20  # bisections per pair, steps per walk, as published
FOLDS = 10
#: training time relative to that of a tree, approximately
EFFORT = {"DT": 1, "NB": 1, "KNN": 3, "LR": 12, "SVM": 30, "SV": 8, "HV": 8, "Stack": 150}


@dataclass(frozen=True)
class Exploration(Job):
    """An exploration as published: twenty bisections per pair, walks of twenty steps."""

    strategy: str
    subject: str
    data: str = ""  # empty for the coded classifiers
    walks: int = 1000  # for directed walks on a data set: rows, each of which starts walks in every direction
    seeds: int = 200  # of a coded classifier; the seeds of a data set are its rows
    pool: str = "fixed"  # "growing": new cases join the seeds
    first: bool = False  # whether directed walks can succeed at their first step only; failed walks count all steps
    faulty: bool = False  # whether to use the faulty midpoint of the red-wine study
    keeps_direction: bool = field(
        default=False, repr=False
    )  # whether some draws of a random walk on the plane keep the direction
    printed_repetitions: float = field(default=10, repr=False)  # random numbers depend on the repr, not on this

    @property
    def label(self) -> str:
        """The subject and its data."""
        return f"{self.subject} {self.data}".strip()

    @property
    def kind(self) -> tuple[object, ...]:
        """The kind of explorations with equal time per walk."""
        return (self.strategy, self.subject, self.data, self.pool, self.first, self.faulty)

    @property
    def weight(self) -> int:
        """The number of walks."""
        return self.walks

    def repetitions(self, scale: Scale) -> int:
        """Return the number of repetitions."""
        usual = scale.slow if self.data or self.pool == "growing" else scale.repetitions
        walks = scale.data_walks if self.data else scale.coded_walks
        return max(usual, math.ceil(walks / self.walks))

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Explore and return the figures."""
        if self.keeps_direction:
            rng = np.random.default_rng(make_seed_sequence(self, seed, repetition))
            return walk_plane(RULES[self.subject], self.walks, self.seeds, rng, growing=self.pool == "growing")
        if self.data:  # load and train before the clock starts
            _load_case(self.data), _load_model(self.data, self.subject)
        began = time.perf_counter()
        front = self._explore(make_seed_sequence(self, seed, repetition))
        seconds = time.perf_counter() - began
        figures = {"walks": front.walks, "runs": front.runs, "mutants": front.mutants, "seconds": seconds}
        if self.first:  # a failed walk has made all its steps
            figures["runs"] += (front.walks - len(front)) * (DISTANCE - 1)
        if self.faulty:
            figures |= _count_new_cases(front)
            figures |= label_figure("new pairs", estimate_share(figures["new pairs"], front.walks, factor=front.walks))
        if self.pool == "fixed" and self.strategy != "directed_walk":  # walks are independent
            figures |= label_figure("capability", estimate_share(front.mutants / 2, front.walks))
        return {name: float(value) for name, value in figures.items()}

    def _explore(self, seed: np.random.SeedSequence) -> Front:
        options: dict[str, Any] = {
            "strategy": self.strategy,
            "walks": self.walks,
            "max_halvings": STEPS,
            "refine": "bisect",
            "pool": self.pool,
            "walk_distance": 1 if self.first else DISTANCE,
            "seed": seed,
            "progress": False,
        }
        if not self.data:
            if self.strategy == "directed_walk":
                options["moves"] = ["up_y"]
            return explore(CodedExecutor(self.subject), seeds=self.seeds, **options)
        inputs, space = _load_case(self.data)
        model = _load_model(self.data, self.subject)
        if self.faulty:
            return explore(FaultyWine(model), inputs, **options)
        if self.strategy == "directed_walk":
            options["walks"] = self.walks * len(space.move_names)
        return explore(model, inputs, space=space, **options)


@dataclass(frozen=True, repr=False)
class ModelTraining(Job):
    """The accuracy of a model of a data set, and the time to measure it, as published."""

    subject: str
    data: str

    def __repr__(self) -> str:
        # random numbers depend on this text: it stays as it was when the figures were first measured
        return f"Training(subject={self.subject!r}, data={self.data!r})"

    @property
    def kind(self) -> tuple[object, ...]:
        """The kind of models whose times can be compared."""
        return ("training", self.data)

    @property
    def weight(self) -> int:
        """The expected duration, relative to other models."""
        return EFFORT[self.subject.rstrip("123")]

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Train and cross-validate the model, and score it on its training rows and on the test rows."""
        from sklearn.model_selection import KFold, cross_validate

        frame = load(self.data)
        whole, part = training_rows(self.data, frame)
        rows = part if learns_from_part(self.subject) else whole
        inputs, labels = rows.drop(columns=TARGET), rows[TARGET].to_numpy()
        test = whole.drop(index=part.index)
        began = time.perf_counter()
        model = _train_model(self.data, self.subject, frame)
        # rows must be shuffled: in file order, trees of wines score 50% instead of the published 61%
        chance = np.random.RandomState(np.random.MT19937(make_seed_sequence(self, seed, repetition)))
        folds = KFold(FOLDS, shuffle=True, random_state=chance)
        with ignore_convergence_warnings():
            rounds = cross_validate(model, inputs, labels, cv=folds, return_estimator=True)
        accuracy = model.score(inputs, labels)
        last = rounds["estimator"][-1].score(test.drop(columns=TARGET), test[TARGET].to_numpy())
        figures = {"seconds": time.perf_counter() - began}
        for name, score, row_count in (
            ("accuracy", accuracy, len(rows)),
            ("cross-validation", np.mean(rounds["test_score"]), len(rows)),
            ("test accuracy", last, len(test)),
        ):
            figures |= label_figure(name, estimate_share(float(score) * row_count, row_count))
        return figures


class CodedExecutor(Executor):
    """A coded classifier that reads codes directly, because building frames would take most of the time."""

    def __init__(self, name: str) -> None:
        self.name, self.space, self._rule = name, PLANE, RULES[name]

    def answer(self, batch: Batch, scores: object) -> Outputs:
        """Return the colour of each point."""
        assert isinstance(batch, Points)
        return to_outputs(self._rule(batch.codes[:, 0], batch.codes[:, 1]), len(batch), None)


def _count_new_cases(front: Front) -> dict[str, int]:
    """Count the ends of pairs that are new cases, and the pairs without a seed."""
    known = {row.tobytes() for row in np.ascontiguousarray(front.seeds.codes)}
    a, b = (
        np.array([row.tobytes() not in known for row in np.ascontiguousarray(side.codes)], dtype=bool)
        for side in (front.a, front.b)
    )
    return {"new cases": int(a.sum() + b.sum()), "new pairs": int((a & b).sum())}


@cache
def _load_case(data: str) -> tuple[pd.DataFrame, Space]:
    frame = load(data)
    return frame.drop(columns=TARGET), reference_space(data, frame)


@cache
def _load_model(data: str, model: str) -> Any:
    return _train_model(data, model, load(data))


def _train_model(data: str, model: str, frame: pd.DataFrame) -> Any:
    with ignore_convergence_warnings():
        return reference_model(data, model, frame)

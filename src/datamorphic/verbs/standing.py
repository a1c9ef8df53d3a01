"""A tree that stands for any model: fitted to its answers to the data, and to inputs between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import generator
from ..adequacy.surrogate import LEAVES, Surrogate, surrogate
from ..fronts.reading import said
from ..morphisms.subject import subject_of
from ..runs.drive import drive
from ..space.points import Points
from ..space.space import Space
from ..strategies.flow import ask

MADE = 2_000  # inputs asked besides those that are given


def standing_for(
    model: Any,
    data: Any,
    *,
    target: str | None = None,
    space: Space | None = None,
    leaves: int = LEAVES,
    seed: int = 0,
    progress: bool | None = None,
) -> Surrogate:
    """Return a tree fitted to what a model answers, with how often it answers the same.

    The model is asked the inputs that are given, and as many again that have some values of one of them and the others of
    another, so that the tree is not too bad off the data.
    """
    rng = generator("seed", "cover", seed)
    subject = subject_of(model, data, target=target, space=space, rng=rng)
    given = subject.seeds
    one, other = (given.codes[rng.integers(len(given), size=MADE)] for _ in range(2))
    mixed = np.where(rng.random(one.shape) < 0.5, one, other)
    if given.space.keeps_constraints:
        mixed = mixed[given.space.satisfied(mixed)]
    asked = Points.concat([given, Points(given.space, mixed)])
    outputs = drive(ask(asked, note="surrogate"), subject.sut, progress=progress)
    numbers = True if subject.numbers else None
    return surrogate(said(outputs), asked, numbers=numbers, max_leaves=leaves, seed=seed)

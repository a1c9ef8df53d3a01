"""A tree that stands for any model, fitted to its answers."""

from __future__ import annotations

from dataclasses import replace
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
JUDGED_BY_ITSELF = (
    "Beware: it was fitted to the model's answers to these very rows, and to mixtures of them. Of what is far from them it "
    "knows nothing, so poor tests may look good. Give it other rows, those of training for one: surrogate=rows (--train "
    "FILE)."
)


def standing_for(
    model: Any,
    data: Any,
    background: Any = None,
    *,
    target: str | None = None,
    space: Space | None = None,
    leaves: int = LEAVES,
    seed: int = 0,
    progress: bool | None = None,
) -> Surrogate:
    """Return a tree fitted to what a model answers, with how often it answers the same.

    The model is asked the rows of `background`, as many again that have some values of one of them and the others of
    another, and, with a space, random inputs of it. Without a background the rows of the data have to do; a tree that was
    fitted to the very rows it judges is told as such.
    """
    rng = generator("seed", "cover", seed)
    alone = background is None
    subject = subject_of(model, data if alone else background, target=target, space=space, rng=rng)
    given = subject.seeds
    one, other = (given.codes[rng.integers(len(given), size=MADE)] for _ in range(2))
    mixed = np.where(rng.random(one.shape) < 0.5, one, other)
    if given.space.keeps_constraints:
        mixed = mixed[given.space.satisfied(mixed)]
    asked = [given, Points(given.space, mixed)]
    if space is not None:
        asked.append(space.sample(MADE, seed=rng, points=True))
    points = Points.concat(asked)
    outputs = drive(ask(points, note="surrogate"), subject.sut, progress=progress)
    numbers = True if subject.numbers else None
    found = surrogate(said(outputs), points, numbers=numbers, max_leaves=leaves, seed=seed)
    return replace(found, note=JUDGED_BY_ITSELF) if alone and space is None else found

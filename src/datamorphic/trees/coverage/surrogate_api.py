"""Fit a surrogate tree to any model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._typing import DataLike, ModelLike
from ..._validation import to_generator
from ...morphisms.subject import build_subject
from ...runs.driver import drive
from ...runs.flow import ask
from ...space.points import Points
from ...space.space import Space
from .surrogate import DEFAULT_MAX_LEAVES, Surrogate, fit_surrogate

EXTRA_INPUTS = 2_000  # mixtures of rows, and as many random inputs if there is a space
SAME_ROWS_WARNING = (
    "Beware: the surrogate was fitted to the model's answers to these very rows and to mixtures of them. It knows nothing "
    "about inputs far from them, so poor tests may look good. Give it other rows, for example the training data: "
    "surrogate=rows (--train FILE)."
)


def fit_surrogate_to_model(
    model: ModelLike,
    data: DataLike,
    background: DataLike | None = None,
    *,
    target: str | None = None,
    space: Space | None = None,
    leaves: int = DEFAULT_MAX_LEAVES,
    seed: int = 0,
    progress: bool | None = None,
) -> Surrogate:
    """Fit a tree to the answers of a model.

    The model answers the rows of `background`, mixtures of two of them each, and random inputs if a space is given.
    Without a background, the rows of `data` are used, and the result warns that the tree was fitted to the rows it
    judges.
    """
    rng = to_generator("seed", "cover", seed)
    without_background = background is None
    subject = build_subject(model, data if without_background else background, target=target, space=space, rng=rng)
    seeds = subject.seeds
    first_codes, second_codes = (seeds.codes[rng.integers(len(seeds), size=EXTRA_INPUTS)] for _ in range(2))
    mixed = np.where(rng.random(first_codes.shape) < 0.5, first_codes, second_codes)
    if seeds.space.keeps_constraints:
        mixed = mixed[seeds.space.satisfied(mixed)]
    queries = [seeds, Points(seeds.space, mixed)]
    if space is not None:
        queries.append(space.sample(EXTRA_INPUTS, seed=rng, points=True))
    points = Points.concat(queries)
    outputs = drive(ask(points, note="surrogate"), subject.sut, progress=progress)
    numbers = True if subject.has_numeric_answers else None
    surrogate = fit_surrogate(outputs.to_objects(), points, numbers=numbers, max_leaves=leaves, seed=seed)
    return replace(surrogate, note=SAME_ROWS_WARNING) if without_background and space is None else surrogate

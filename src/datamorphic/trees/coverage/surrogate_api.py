"""A tree that stands for any model, fitted to its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._validation import to_generator
from ...exploration._utils import to_answer_objects
from ...morphisms.subject import build_subject
from ...runs.driver import drive
from ...runs.flow import ask
from ...space.points import Points
from ...space.space import Space
from .surrogate import DEFAULT_MAX_LEAVES, Surrogate, fit_surrogate

EXTRA_INPUTS = 2_000  # inputs asked besides those that are given
SAME_ROWS_WARNING = (
    "Beware: it was fitted to the model's answers to these very rows, and to mixtures of them. Of what is far from them it "
    "knows nothing, so poor tests may look good. Give it other rows, those of training for one: surrogate=rows (--train "
    "FILE)."
)


def fit_surrogate_to_model(
    model: Any,
    data: Any,
    background: Any = None,
    *,
    target: str | None = None,
    space: Space | None = None,
    leaves: int = DEFAULT_MAX_LEAVES,
    seed: int = 0,
    progress: bool | None = None,
) -> Surrogate:
    """Return a tree fitted to what a model answers, with how often it answers the same.

    The model is asked the rows of `background`, as many again that have some values of one of them and the others of
    another, and, with a space, random inputs of it. Without a background the rows of the data have to do; a tree that was
    fitted to the very rows it judges is told as such.
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
    surrogate_tree = fit_surrogate(
        to_answer_objects(outputs), points, numbers=numbers, max_leaves=leaves, seed=seed
    )
    return (
        replace(surrogate_tree, note=SAME_ROWS_WARNING) if without_background and space is None else surrogate_tree
    )

"""What a wrapper of a learner hides: parameters that relations need to know."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from ...systems.clusterer import find_cluster_count, find_seeds, is_clusterer
from ...systems.learner import LEARNER_ERRORS, copy_with_seed, read_parameters
from ..learners.sampling import MAX_TRAINING_ROWS, draw_random_training

TRIAL_SEEDS = range(3)  # with which a learner is fitted to see whether its random state matters
TRIAL_CASES = 20


def find_hidden_parameters(learner: Any) -> list[str]:
    """Return a note for each parameter that a wrapper hides: the random state of its learner, or the number of clusters."""
    parts = {
        name: part
        for name, part in getattr(learner, "__dict__", {}).items()
        if hasattr(part, "fit") and hasattr(part, "get_params") and not isinstance(part, type)
    }
    inner = {name: part for name, part in parts.items() if name != "like"}
    wrapper, notes = type(learner).__name__, []
    visible = read_parameters(learner)
    if not find_seeds(learner) and not any(name.endswith("random_state") for name in visible):
        for name, part in inner.items():
            if find_seeds(part) and _is_random(part):
                notes.append(
                    f"{wrapper} hides the random_state of its {name}: whether an answer depends on chance cannot be seen. Give "
                    f"{wrapper} a parameter random_state, and pass it on."
                )
    if is_clusterer(learner) and find_cluster_count(learner) is None:
        like = getattr(learner, "like", None)
        for part in [*inner.values(), *([] if like is None else [like])]:
            count = find_cluster_count(part)
            if count is not None:
                notes.append(
                    f"{wrapper} hides {count[0]}: relations that need the number of clusters cannot set it. Give {wrapper} an "
                    f"attribute {count[0]}, and pass it on."
                )
                break
    return notes


def _is_random(learner: Any) -> bool:
    """Return whether a learner answers otherwise with another random state; errors count as if it did not."""
    data = draw_random_training(np.random.default_rng(0), TRIAL_CASES, min_rows=MAX_TRAINING_ROWS)
    answers = []
    with suppress(*LEARNER_ERRORS):
        for seed in TRIAL_SEEDS:
            model = copy_with_seed(learner, seed)
            model.set_params(**dict.fromkeys(find_seeds(model), seed))
            answers.append(
                np.asarray(
                    model.fit_predict(data.x) if is_clusterer(model) else model.fit(data.x, data.y).predict(data.t)
                )
            )
    return any((answer != answers[0]).any() for answer in answers)

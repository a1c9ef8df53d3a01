"""How much of a change is chance: the learner is trained again with other seeds."""

from __future__ import annotations

import warnings
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from .._clock import read_clock
from .._text import format_percent, pluralise
from ..errors import OutOfBudget
from ..space.labels import to_label_keys
from ..systems.estimator import Estimator
from ..systems.isolation import use_one_openmp_thread
from .context import ColumnSelection, ComparisonContext
from .groups import Floats, build_row_conditions, find_group
from .judgement import ChanceLevel, compare_means, split_halves

MAX_RETRAINED_MODELS = 4  # that are trained with other seeds
NOISE_BUDGET_SHARE = 0.4  # of the time that is left
#: More answers than the most that changed by chance, times this, is more than chance; at least one in a thousand.
CHANCE_SHARE_FACTOR, MIN_CHANCE_SHARE = 1.5, 0.001
CHANCE_LOSS_FACTOR = 1.5
SEED_PARAMETERS = ("random_state", "random_seed", "seed")


def measure_chance(context: ComparisonContext) -> tuple[ChanceLevel | None, str]:
    """Return what changes when the learner of the old model is trained again, and a sentence that says how it was measured.

    None is returned, with the reason, if the learner cannot be trained again.
    """
    if context.training is None:
        return None, ""
    system = context.old.sut.inner if isinstance(context.old.sut, ColumnSelection) else context.old.sut
    if not isinstance(system, Estimator) or not hasattr(system.model, "get_params"):
        return None, "The old model is not an estimator that can be trained again."
    if context.target is None or context.target not in context.training.columns:
        return None, "The training data have no labels, so the old learner was not trained again."
    names = [name for name in SEED_PARAMETERS if _find_parameters(system.model, name)]
    if not names:
        return None, f"{system.name} has no seed: training it again on the same data changes nothing."
    try:
        return _train_again(context, system)
    except OutOfBudget:
        raise
    except Exception as error:  # the learner's own code, on data of another form
        return None, f"The old learner could not be trained again: {type(error).__name__}."


def _find_parameters(model: Any, name: str) -> list[str]:
    """Return the parameters of a model and its steps that are called `name`."""
    return [key for key in model.get_params(deep=True) if key == name or key.endswith(f"__{name}")]


def _train_again(context: ComparisonContext, system: Estimator) -> tuple[ChanceLevel | None, str]:
    from sklearn.base import clone

    training: Any = context.training
    columns = system.columns or [name for name in context.old.seeds.space.names if name in training.columns]
    labels = training[context.target]
    frame = context.inputs.frame
    start, seconds_left = read_clock(), context.seconds_left
    answers, margins = [], []
    first: Any = None
    for number in range(MAX_RETRAINED_MODELS):
        spent = read_clock() - start
        if number and seconds_left is not None and spent * (number + 1) / number > NOISE_BUDGET_SHARE * seconds_left:
            break
        context.execution.is_going_on()
        learner = clone(system.model)
        seeds = {
            key: context.seed + 1000 + number for name in SEED_PARAMETERS for key in _find_parameters(learner, name)
        }
        learner.set_params(**seeds)
        with warnings.catch_warnings(), use_one_openmp_thread():
            warnings.simplefilter("ignore")
            learner.fit(training[columns] if system.columns else training[columns].to_numpy(), labels)
            inputs = system.input(frame)
            answers.append(to_label_keys(np.asarray(learner.predict(inputs))))
            if hasattr(learner, "predict_proba"):
                scores = np.asarray(learner.predict_proba(inputs), dtype=np.float64)
                first = scores.argmax(axis=1) if first is None else first
                margins.append(_compute_margins(scores, first))
    if len(answers) < 2:
        return None, "There was no time to train the old learner again."
    shares = [float((a != b).mean()) for a, b in combinations(answers, 2)]
    level = ChanceLevel(
        seeds=len(answers),
        shares=tuple(shares),
        max_share=max(CHANCE_SHARE_FACTOR * max(shares), MIN_CHANCE_SHARE),
        max_loss=CHANCE_LOSS_FACTOR * _measure_group_losses(context, margins),
    )
    text = (
        f"The learner of the old model was trained {pluralise(len(answers), 'time')} on the training data with other seeds: from one "
        f"to another, {format_percent(min(shares))} to {format_percent(max(shares))} of the answers change."
    )
    return level, text


def _compute_margins(scores: Floats, first: Any) -> Floats:
    """Return how far the score of one class per row is above the best of the others."""
    rows = np.arange(len(scores))
    others = scores.copy()
    own = others[rows, first].copy()
    others[rows, first] = -np.inf
    return np.asarray(own - others.max(axis=1), dtype=np.float64)


def _measure_group_losses(context: ComparisonContext, margins: list[Floats]) -> float:
    """Return the most that the scores of a group changed between trainings, where it is looked for in the same way."""
    conditions = build_row_conditions(context.inputs)
    search, confirmation = split_halves(len(context.inputs), context.seed)
    largest = 0.0
    for a, b in pairwise(margins):
        group = find_group(context.inputs, conditions, a - b, search)
        if group is not None:
            difference = compare_means((a - b)[group.inside & confirmation], (a - b)[~group.inside & confirmation])
            largest = max(largest, difference.low)
    return largest

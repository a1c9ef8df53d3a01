"""What a verb tests: a system, the moves around it and the inputs to start from, from whatever was given."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._validation import is_number, pluralize, reject, suggest_name, validate_integer
from ..errors import ArgumentError, DataError, ModelError
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from ..systems.clustering import NearestRowClusterer, has_predictions
from ..systems.estimator import Estimator
from ..systems.wrap import wrap
from .stock import derive
from .system import TestSystem, has_morphisms

DEFAULT_SEED_CASES = 200  # drawn where nobody says how many


@dataclass(frozen=True)
class SubjectUnderTest:
    """A system under test with what is needed to explore it.

    Attributes
    ----------
    name : str
        For reports.
    sut : Executor
        The system.
    system : TestSystem
        The moves and the midpoint.
    seeds : Points
        The inputs to start from.
    numbers : bool
        Whether it is known to answer real numbers.
    notes : list of str
        What was decided on the way.
    """

    name: str
    sut: Executor
    system: TestSystem
    seeds: Points
    has_numeric_answers: bool = False
    notes: Sequence[str] = field(default_factory=tuple)


def build_subject(
    model: Any,
    data: Any = None,
    *,
    target: str | None = None,
    space: Space | None = None,
    seeds: Any = None,
    rng: np.random.Generator,
    **wrap_options: Any,
) -> SubjectUnderTest:
    """Return what is to be tested.

    `model` is a test system, its class or module, or whatever `wrap` takes, with its options in `wrapping`; `data`
    a frame, an array, `Points`, or a `Space` to draw from; `seeds` a number of them, or the inputs themselves.
    """
    if space is not None and not isinstance(space, Space):
        reject("space", "explore", "a Space", space)
    if not hasattr(model, "fit") and has_morphisms(model):  # what learns is no test system
        return _build_system_subject(TestSystem.collect(model), data, space, seeds, rng)
    if isinstance(data, Space):
        space, data = data, None
    if data is None and not (seeds is None or is_number(seeds)):
        data, seeds = seeds, None  # the inputs to start from are data enough
    notes: list[str] = []
    if not has_predictions(model):
        if data is None:
            raise ArgumentError(f"{type(model).__name__} knows its own rows only. Give the data it was fitted on.")
        wrap_options["name"] = wrap_options.get("name") or type(model).__name__
        model = NearestRowClusterer(model, _select_inputs(None, data, target, space, notes))
        notes.append(model.note)
    sut = copy.copy(wrap(model, **wrap_options))  # the caller's own keeps the space it has
    space = space or sut.space
    if data is None:
        if space is None:
            raise ArgumentError(
                "Exploring a model needs inputs to start from: give data (a frame of real inputs), or a Space to draw from."
            )
        points = space.sample(
            DEFAULT_SEED_CASES if seeds is None else _validate_seed_count(seeds), seed=rng, points=True
        )
    elif isinstance(data, Points):
        space = space or data.space
        points = _select_seeds(space.points(data), seeds, space, rng)
    else:
        frame = _select_inputs(sut, data, target, space, notes)
        space = space or Space.from_frame(frame)
        points = _select_seeds(space.points(frame), seeds, space, rng)
    if isinstance(sut, Estimator):
        sut.validate_columns(space.names)
    sut.space = space
    if not len(points):
        raise DataError("The data have no rows: there is nothing to start from.")
    invalid_count = int((~space.satisfied(points.codes)).sum())
    if invalid_count:
        notes.append(f"{pluralize(invalid_count, 'row')} of the data break the declared constraints.")
    return SubjectUnderTest(sut.name, sut, derive(space, sut), points, _has_numeric_answers(sut), notes)


def _build_system_subject(
    system: TestSystem, data: Any, space: Space | None, seeds: Any, rng: np.random.Generator
) -> SubjectUnderTest:
    if system.sut is None:
        raise ModelError(
            f"{system.name} has no system under test. Mark the function that answers with @dm.executor."
        )
    known_space = space or system.known_space()
    if data is not None and not isinstance(data, Space):
        points = _select_seeds(known_space.points(data), seeds, known_space, rng)
    elif seeds is None or is_number(seeds):
        count = DEFAULT_SEED_CASES if seeds is None else _validate_seed_count(seeds)
        if system.seed_makers:
            points = system.make_seeds(n=count, seed=rng).inputs
            if len(points) > count:
                points = points.take(slice(0, count))
        else:
            points = known_space.sample(count, seed=rng, points=True)
    else:
        points = known_space.points(seeds)
    return SubjectUnderTest(system.name, system.sut, system, points)


def _select_inputs(
    sut: Executor | None, data: Any, target: str | None, space: Space | None, notes: list[str]
) -> Any:
    """Return the columns of the data that are inputs of the system, as a frame."""
    import pandas as pd

    input_names: Any = getattr(sut, "columns", None)
    if input_names is None and space is not None:
        input_names = space.names
    if not isinstance(data, pd.DataFrame):
        if target is not None:
            raise ArgumentError(f"The target {target!r} names a column, and the data are no frame. Leave it out.")
        array = np.asarray(data)
        if array.ndim != 2:
            raise DataError(f"The data must be a frame or a matrix with one row a case. Got shape {array.shape}.")
        names = list(input_names) if input_names is not None else [f"x{j}" for j in range(array.shape[1])]
        if len(names) != array.shape[1]:
            raise DataError(f"The data have {array.shape[1]} columns, and {len(names)} inputs are known.")
        frame = pd.DataFrame(array, columns=names)
        return frame.infer_objects() if array.dtype == object else frame
    if target is not None:
        if target not in data.columns:
            raise DataError(
                f"The target column {target!r} is not in the data. {suggest_name(target, data.columns)}"
            )
        data = data.drop(columns=[target])
    if input_names is None:
        return data
    extra = [str(name) for name in data.columns if name not in list(input_names)]
    if extra and all(name in data.columns for name in input_names):
        notes.append(f"Columns that are no inputs of the model were left out: {', '.join(extra[:5])}.")
        return data[list(input_names)]
    return data


def _select_seeds(points: Points, seeds: Any, space: Space, rng: np.random.Generator) -> Points:
    """Return the seeds that were asked for: all, a number of them without repetition, or other inputs."""
    if seeds is None:
        return points
    if is_number(seeds):
        count = _validate_seed_count(seeds)
        return points if count >= len(points) else points.take(rng.permutation(len(points))[:count])
    return space.points(seeds)


def _validate_seed_count(seeds: Any) -> int:
    return validate_integer("seeds", "explore", seeds, low=1)


def _has_numeric_answers(sut: Executor) -> bool:
    if not isinstance(sut, Estimator) or sut.labels is not None:
        return False
    from sklearn.base import BaseEstimator, is_regressor

    return isinstance(sut.model, BaseEstimator) and bool(is_regressor(sut.model))

"""`SubjectUnderTest`: a system, its moves and its seed cases."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._estimates import refuse_many_rows
from .._text import pluralize, suggest_name
from .._typing import DataLike, ModelLike
from .._validation import is_number, reject, validate_integer
from ..errors import ArgumentError, DataError, ModelError, OutOfBudget
from ..space.blocks import DEFAULT_IMAGE_NAME, is_array_data, is_single_block, to_array_frame
from ..space.dates import DATE_KINDS, DateColumn, read_dates, to_day_numbers
from ..space.frames import name_texts, to_array
from ..space.inference import validate_frame
from ..space.options import SpaceOptions
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor, Function
from ..systems.clustering import NearestRowClusterer, has_predictions
from ..systems.estimator import Estimator
from ..systems.recognition import recognise
from ..systems.wrap import wrap
from .stock import derive
from .system import TestSystem, has_morphisms

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_SEED_CASES = 200


@dataclass(frozen=True, kw_only=True)
class SubjectUnderTest:
    """A system under test with its moves and seed cases."""

    name: str  # for reports
    sut: Executor
    system: TestSystem
    seeds: Points
    has_numeric_answers: bool = False  # whether the system is known to answer real numbers
    notes: Sequence[str] = ()  # remarks for the report, such as columns that were left out
    rows: npt.NDArray[np.intp] | None = None  # of the data, that the seed cases are; None for all


def build_subject(
    model: ModelLike,
    data: DataLike | None = None,
    *,
    target: str | None = None,
    space: Space | None = None,
    space_options: SpaceOptions | None = None,
    seeds: DataLike | int | None = None,
    max_rows: int | None = None,
    rng: np.random.Generator,
    owner: str = "explore",
    timeout: float | None = None,
    isolated: bool = False,
    trial_limit: AbstractContextManager[Any] | None = None,
    **wrap_options: Any,
) -> SubjectUnderTest:
    """Return a system under test with its moves and seed cases.

    `model` is a test system, its class or module, or whatever `wrap` takes with `wrap_options`. `data` may be a `Space`
    to draw from. `space_options` are hints for inferring the space from data. `seeds` is a number of seed cases, or the
    cases themselves. Without it they are all rows of the data; of more than `max_rows`, a sample of this size is used, in
    the order of the data, while the space is inferred from all. Messages name the public function `owner`. Functions and models
    of other libraries are tried on a few rows to see how they are called and what they answer: in another process if
    `isolated` or if there is a `timeout`, and inside `trial_limit`, which may end it.
    """
    if space is not None and not isinstance(space, Space):
        reject("space", owner, "a Space", space)
    hints = SpaceOptions() if space_options is None else space_options
    data, seeds = name_texts(data), name_texts(seeds)
    if not hasattr(model, "fit") and has_morphisms(model):  # a learner is not a test system
        return _build_system_subject(TestSystem.collect(model), data, space, hints, seeds, rng, owner)
    if isinstance(data, Space):
        space, data = data, None
    if data is None and not (seeds is None or is_number(seeds)):
        data, seeds = seeds, None  # seed cases can replace data
    notes: list[str] = []
    if not has_predictions(model):
        if data is None:
            raise ArgumentError(f"{type(model).__name__} can only label the rows it was fitted on. Give them as data.")
        wrap_options["name"] = wrap_options.get("name") or type(model).__name__
        model = NearestRowClusterer(model, _select_inputs(None, data, target, space, notes))
        notes.append(model.note)
    chosen_rows = None
    sut = copy.copy(wrap(model, **wrap_options))  # the caller's object must keep its space
    space = space or sut.space or (data.space if isinstance(data, Points) else None)
    hints.validate_alone(owner, space)
    if is_array_data(data):
        data = to_array_frame(
            data, DEFAULT_IMAGE_NAME if space is None or not space.blocks else space.blocks[0].block.name
        )
    if data is None:
        if space is None:
            raise ArgumentError(
                "There are no inputs to start from. Give data (a frame of real inputs) or a Space to draw from."
            )
        points = space.sample(_validate_seed_count(seeds, owner, space), seed=rng, points=True)
    else:
        if isinstance(sut, Estimator) and hasattr(data, "columns"):
            sut.adopt_names(data.columns)
        rows = data if isinstance(data, Points) else _select_inputs(sut, data, target, space, notes)
        if space is None and not isinstance(rows, Points) and isinstance(sut, Estimator | Function):
            rows, sut.date_columns = _read_dates(rows, hints, notes)
            if sut.date_columns and not (seeds is None or is_number(seeds)):
                seeds = to_day_numbers(validate_frame(seeds), sut.date_columns)
        space = space or (rows.space if isinstance(rows, Points) else hints.infer_space(rows))
        if max_rows is not None and len(rows) > max_rows and (seeds is None or is_number(seeds)):
            # drawn before they are encoded, so that the memory does not depend on the number of rows
            if seeds is None:
                chosen_rows = np.sort(rng.choice(len(rows), max_rows, replace=False, shuffle=False))
                notes.append(
                    f"A random sample of {max_rows:,} of the {len(rows):,} rows was used; it depends on the seed."
                )
            else:
                chosen_rows = rng.permutation(len(rows))[: _validate_seed_count(seeds, owner)]
            rows, seeds = rows.take(chosen_rows), None
        points = _select_seeds(rows, seeds, space, rng, owner)
    if isinstance(sut, Estimator):
        sut.use_blocks(space)
        if not sut.restored_blocks:
            sut.check_columns(space.names)
    sut.space = space
    if not len(points):
        raise DataError("The data have no rows. Give at least one.")
    with suppress(OutOfBudget), trial_limit or nullcontext():
        sut, remarks = recognise(sut, points, _find_labels(data, target), timeout=timeout, isolated=isolated)
        notes += remarks
    if invalid_count := int((~space.satisfied(points.codes)).sum()):
        notes.append(f"{pluralize(invalid_count, 'row')} of the data break the declared constraints.")
    system, numeric = derive(space, sut), _has_numeric_answers(sut)
    return SubjectUnderTest(
        name=sut.name, sut=sut, system=system, seeds=points, has_numeric_answers=numeric, notes=notes, rows=chosen_rows
    )


def _read_dates(
    frame: pd.DataFrame, hints: SpaceOptions, notes: list[str]
) -> tuple[pd.DataFrame, tuple[DateColumn, ...]]:
    """Return the frame with dates as numbers, unless hints declare their columns."""
    kinds = hints.kinds or {}
    declared = {*(name for name, kind in kinds.items() if kind not in DATE_KINDS), *(hints.orders or ())}
    frame, columns = read_dates(frame, exempt=declared, kinds=kinds)
    notes += [column.note for column in columns]
    return frame, tuple(columns)


def _find_labels(data: DataLike | None, target: str | None) -> npt.NDArray[Any] | None:
    """Return the labels of the data, if they have any."""
    frame: Any = data
    return None if target is None or not hasattr(data, "columns") else np.asarray(frame[target].to_numpy())


def _build_system_subject(
    system: TestSystem,
    data: DataLike | None,
    space: Space | None,
    hints: SpaceOptions,
    seeds: DataLike | int | None,
    rng: np.random.Generator,
    owner: str,
) -> SubjectUnderTest:
    if system.sut is None:
        raise ModelError(f"{system.name} has no system under test. Mark the function that queries it with @executor.")
    known_space = space or system.known_space()
    hints.validate_alone(owner, known_space)
    if data is not None and not isinstance(data, Space):
        points = _select_seeds(data, seeds, known_space, rng, owner)
    elif seeds is None or is_number(seeds):
        count = _validate_seed_count(seeds, owner, known_space)
        if system.seed_makers:
            points = system.make_seeds(n=count, seed=rng).inputs.take(slice(0, count))
        else:
            points = known_space.sample(count, seed=rng, points=True)
    else:
        points = known_space.points(seeds)
    return SubjectUnderTest(name=system.name, sut=system.sut, system=system, seeds=points)


def _select_inputs(
    sut: Executor | None, data: DataLike, target: str | None, space: Space | None, notes: list[str]
) -> pd.DataFrame:
    """Return the inputs of the system as a frame; remarks are added to `notes`."""
    import pandas as pd

    input_names: Any = getattr(sut, "columns", None)
    if input_names is None and space is not None:
        input_names = space.names
    if not isinstance(data, pd.DataFrame):
        if target is not None:
            raise ArgumentError(f"The target {target!r} names a column, but the data are not a frame. Leave it out.")
        array = to_array(data)
        if space is not None and is_single_block(space.blocks, len(space)):
            return to_array_frame(array, space.blocks[0].block.name) if array.ndim > 2 else space.points(array).frame
        if array.ndim != 2:
            raise DataError(f"The data must be a frame or a matrix with one row per case. Got shape {array.shape}.")
        names = list(input_names) if input_names is not None else [f"x{j}" for j in range(array.shape[1])]
        if len(names) != array.shape[1]:
            raise DataError(
                f"The data have {pluralize(array.shape[1], 'column')}, but the system has {pluralize(len(names), 'input')}."
            )
        frame = pd.DataFrame(array, columns=names, copy=False)  # nothing writes to it
        return frame.infer_objects() if array.dtype == object else frame
    if target is not None:
        if target not in data.columns:
            raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, data.columns)}")
        data = data.drop(columns=[target])
    if input_names is None:
        return data
    extra = [str(name) for name in data.columns if name not in list(input_names)]
    if extra and all(name in data.columns for name in input_names):
        notes.append(f"Columns that are not inputs of the model were left out: {', '.join(extra[:5])}.")
        return data[list(input_names)]
    return data


def _select_seeds(
    data: DataLike, seeds: DataLike | int | None, space: Space, rng: np.random.Generator, owner: str
) -> Points:
    """Return all rows of the data, a random choice of them, or those in `seeds`."""
    points = space.points(data)
    if seeds is None:
        return points
    if is_number(seeds):
        count = _validate_seed_count(seeds, owner)
        return points if count >= len(points) else points.take(rng.permutation(len(points))[:count])
    return space.points(seeds)


def _validate_seed_count(seeds: object, owner: str, drawn_from: Space | None = None) -> int:
    count = DEFAULT_SEED_CASES if seeds is None else validate_integer("seeds", owner, seeds, low=1)
    if drawn_from is not None:
        refuse_many_rows(owner, "seeds", count, len(drawn_from))
    return count


def _has_numeric_answers(sut: Executor) -> bool:
    if not isinstance(sut, Estimator) or sut.labels is not None:
        return False
    if getattr(sut.model, "answers_numbers", False) or getattr(sut.model, "_estimator_type", "") == "regressor":
        return True  # a model file, or a regressor of CatBoost
    if "sklearn" not in sys.modules:  # then the model cannot be one of its estimators
        return False
    from sklearn.base import BaseEstimator, is_regressor

    return isinstance(sut.model, BaseEstimator) and bool(is_regressor(sut.model))


def find_system_name(model: ModelLike, name: str | None = None, request: Mapping[str, Any] | None = None) -> str:
    """Return the name under which a store keeps failures of a system.

    That is the name it was requested by on the command line, the name given, its own, or that of its code.
    """
    command = (request or {}).get("words", {})
    if requested_name := command.get("model") or command.get("subject") or name:
        return str(requested_name)
    if isinstance(model, str | os.PathLike):
        return os.path.abspath(model)
    if isinstance(model, TestSystem):
        return model.name
    code = model if hasattr(model, "__qualname__") else type(model)
    return f"{code.__module__}.{code.__qualname__}"

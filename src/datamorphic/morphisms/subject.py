"""`SubjectUnderTest`: a system, its moves and its seed cases."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._estimates import refuse_many_rows
from .._lazy import pd
from .._text import pluralise, suggest_name
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
    data = name_texts(data)
    choice = SeedChoice(seeds=name_texts(seeds), max_rows=max_rows, rng=rng, owner=owner)
    if not hasattr(model, "fit") and has_morphisms(model):  # a learner is not a test system
        return _build_system_subject(TestSystem.collect(model), data, space, hints, choice)
    if isinstance(data, Space):
        space, data = data, None
    if data is None and choice.has_cases:
        data, choice = choice.seeds, replace(choice, seeds=None)  # seed cases can replace data
    draft = SubjectDraft(data=data, target=target, space=space, hints=hints, choice=choice)
    draft.wrap_model(model, wrap_options)
    draft.find_inputs()
    with suppress(OutOfBudget), trial_limit or nullcontext():
        draft.recognise_system(timeout=timeout, isolated=isolated)
    return draft.finish()


@dataclass(frozen=True, kw_only=True)
class SeedChoice:
    """Which cases are the seed cases."""

    seeds: DataLike | int | None  # the cases themselves, a number of them, or None for all rows of the data
    max_rows: int | None  # of larger data, a sample of this size is used
    rng: np.random.Generator
    owner: str  # the public function, for messages

    @property
    def has_cases(self) -> bool:
        """Whether the cases themselves are given."""
        return not (self.seeds is None or is_number(self.seeds))

    def count(self, drawn_from: Space | None = None) -> int:
        """Return the number of seed cases; those that are drawn from a space must fit into memory."""
        count = DEFAULT_SEED_CASES if self.seeds is None else validate_integer("seeds", self.owner, self.seeds, low=1)
        if drawn_from is not None:
            refuse_many_rows(self.owner, "seeds", count, len(drawn_from))
        return count

    def draw(self, space: Space) -> Points:
        """Return cases drawn from a space."""
        return space.sample(self.count(space), seed=self.rng, points=True)

    def select(self, data: DataLike, space: Space) -> Points:
        """Return the cases that are given, all rows of the data, or a random choice of them."""
        points = space.points(data)
        if self.seeds is None:
            return points
        if not is_number(self.seeds):
            return space.points(self.seeds)
        count = self.count()
        return points if count >= len(points) else points.take(self.rng.permutation(len(points))[:count])

    def sample_large_data(self, row_count: int) -> npt.NDArray[np.intp] | None:
        """Return the rows of large data to take; None for all. The memory then does not depend on the number of rows."""
        if self.max_rows is None or row_count <= self.max_rows or self.has_cases:
            return None
        if self.seeds is None:
            return np.sort(self.rng.choice(row_count, self.max_rows, replace=False, shuffle=False))
        return self.rng.permutation(row_count)[: self.count()]


@dataclass(kw_only=True)
class SubjectDraft:
    """A model on its way to a `SubjectUnderTest`: wrapped, given a space and seed cases, and tried on some of them."""

    data: Any
    target: str | None
    space: Space | None
    hints: SpaceOptions
    choice: SeedChoice
    notes: list[str] = field(default_factory=list)
    rows: npt.NDArray[np.intp] | None = None
    sut: Executor = field(init=False)
    points: Points = field(init=False)

    def wrap_model(self, model: Any, wrap_options: dict[str, Any]) -> None:
        """Make a system of the model, and take the space that is known without a look at the data."""
        if not has_predictions(model):
            if self.data is None:
                raise ArgumentError(
                    f"{type(model).__name__} can only label the rows it was fitted on. Give them as data."
                )
            wrap_options = wrap_options | {"name": wrap_options.get("name") or type(model).__name__}
            model = NearestRowClusterer(model, _select_inputs(None, self.data, self.target, self.space, self.notes))
            self.notes.append(model.note)
        self.sut = copy.copy(wrap(model, **wrap_options))  # the caller's object must keep its space
        self.space = self.space or self.sut.space or (self.data.space if isinstance(self.data, Points) else None)
        self.hints.validate_alone(self.choice.owner, self.space)

    def find_inputs(self) -> None:
        """Read the seed cases from the data, or draw them from the space."""
        if is_array_data(self.data):
            blocks = () if self.space is None else self.space.blocks
            self.data = to_array_frame(self.data, blocks[0].block.name if blocks else DEFAULT_IMAGE_NAME)
        if self.data is not None:
            space = self._read_data()
        elif self.space is not None:
            space = self.space
            self.points = self.choice.draw(space)
        else:
            raise ArgumentError(
                "There are no inputs to start from. Give data (a frame of real inputs) or a Space to draw from."
            )
        if isinstance(self.sut, Estimator):
            self.sut.use_blocks(space)
            if not self.sut.restored_blocks:
                self.sut.check_columns(space.names)
        self.sut.space = self.space = space
        if not len(self.points):
            raise DataError("The data have no rows. Give at least one.")

    def _read_data(self) -> Space:
        """Take the seed cases from the data, and return the space: the known one, or that of the data."""
        sut = self.sut
        if isinstance(sut, Estimator) and hasattr(self.data, "columns"):
            sut.adopt_names(self.data.columns)
        if isinstance(self.data, Points):
            rows: Any = self.data
        else:
            rows = _select_inputs(sut, self.data, self.target, self.space, self.notes)
            if self.space is None and isinstance(sut, Estimator | Function):
                rows, sut.date_columns = _read_dates(rows, self.hints, self.notes)
                if sut.date_columns and self.choice.has_cases:
                    seeds = to_day_numbers(validate_frame(self.choice.seeds), sut.date_columns)
                    self.choice = replace(self.choice, seeds=seeds)
        space = self.space or (rows.space if isinstance(rows, Points) else self.hints.infer_space(rows))
        self.rows = self.choice.sample_large_data(len(rows))
        if self.rows is not None:
            if self.choice.seeds is None:
                sizes = f"{len(self.rows):,} of the {len(rows):,} rows"
                self.notes.append(f"A random sample of {sizes} was used; it depends on the seed.")
            rows, self.choice = rows.take(self.rows), replace(self.choice, seeds=None)
        self.points = self.choice.select(rows, space)
        return space

    def recognise_system(self, *, timeout: float | None, isolated: bool) -> None:
        """Try the system on a few rows, to see how it is called and what it answers."""
        labels = _find_labels(self.data, self.target)
        self.sut, remarks = recognise(self.sut, self.points, labels, timeout=timeout, isolated=isolated)
        self.notes += remarks

    def finish(self) -> SubjectUnderTest:
        """Return the subject."""
        space = self.space
        assert space is not None
        if invalid_count := int((~space.satisfied(self.points.codes)).sum()):
            self.notes.append(f"{pluralise(invalid_count, 'row')} of the data break the declared constraints.")
        return SubjectUnderTest(
            name=self.sut.name,
            sut=self.sut,
            system=derive(space, self.sut),
            seeds=self.points,
            has_numeric_answers=_has_numeric_answers(self.sut),
            notes=self.notes,
            rows=self.rows,
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
    system: TestSystem, data: DataLike | None, space: Space | None, hints: SpaceOptions, choice: SeedChoice
) -> SubjectUnderTest:
    if system.sut is None:
        raise ModelError(f"{system.name} has no system under test. Mark the function that queries it with @executor.")
    known_space = space or system.known_space()
    hints.validate_alone(choice.owner, known_space)
    if data is not None and not isinstance(data, Space):
        points = choice.select(data, known_space)
    elif choice.has_cases:
        points = known_space.points(choice.seeds)
    elif system.seed_makers:
        count = choice.count(known_space)
        points = system.make_seeds(n=count, seed=choice.rng).inputs.take(slice(0, count))
    else:
        points = choice.draw(known_space)
    return SubjectUnderTest(name=system.name, sut=system.sut, system=system, seeds=points)


def _select_inputs(
    sut: Executor | None, data: DataLike, target: str | None, space: Space | None, notes: list[str]
) -> pd.DataFrame:
    """Return the inputs of the system as a frame; remarks are added to `notes`."""
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
                f"The data have {pluralise(array.shape[1], 'column')}, but the system has {pluralise(len(names), 'input')}."
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

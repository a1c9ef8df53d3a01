"""`wrap`: make a system under test from a model, function, file or test system."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, cast

from .._typing import DataLike, ModelLike, SupportsPredict
from .._validation import check_types, reject
from ..errors import ArgumentError, ModelError
from ..space.table_forms import accept_tables
from .base import Executor, Function
from .coerce import Labels
from .estimator import Estimator
from .files import is_python_name, is_weka_name, load_model, name_model
from .guard import GuardedSystem
from .isolation import IsolatedSystem
from .onnx import OnnxModel
from .recognition import PredictFunction, needs_recognition, recognise
from .torch_module import TorchFunction, is_torch_module

if TYPE_CHECKING:
    from ..space.space import Space


@accept_tables
@check_types
def wrap(
    model: ModelLike,
    *,
    space: Space | None = None,
    scalar: bool = False,
    trust: bool = False,
    name: str | None = None,
    labels: Iterable[Any] | None = None,
    classes: Iterable[Any] | None = None,
    data: DataLike | None = None,
    guarded: bool = False,
    timeout: float | None = None,
) -> Executor:
    """Return a system under test from a model, function, file or test system.

    Parameters
    ----------
    model : object
        A fitted estimator or pipeline (anything with ``predict``), a function of a frame, a function of one case
        (``scalar=True``), a module of torch, the path of a model file (.skops, .onnx; .json and .ubj of XGBoost, .txt of
        LightGBM, .cbm of CatBoost; .toml of a service; .joblib and .pkl with ``trust=True``), the URL of a service
        (``"https://host/predict?age={age}"``, see `HttpService`), a test system with an executor, or an executor,
        which is returned unchanged. ``"weka:IBk -K 3"`` gives a learner, whose ``fit`` returns a system that predicts, and
        ``"python:/path/to/python module:object"`` a learner or a function of another Python.
    space : Space, optional
        The space of its inputs. Without a space it takes frames as they are.
    scalar : bool
        Whether a function takes one case instead of a frame.
    trust : bool
        Whether to load a pickle, which runs any code its author put into it, or a .skops file with types that are not
        known to be safe.
    name : str, optional
        For messages and reports.
    labels : iterable, optional
        The labels it may answer, if the model does not list them.
    classes : sequence, optional
        The names of its classes, in the order of the probabilities, scores or codes that it answers. The answer is then
        the name of the class with the largest score.
    data : DataFrame, optional
        A few rows to try a function or a model of another library on: with a frame, an array, and case by case. What works
        is kept. Runs try it on their own inputs.
    guarded : bool
        Whether `execute` gives failing rows a status instead of raising. Runs guard every system anyway.
    timeout : float, optional
        Seconds a row may take before it counts as hanging. The system then runs guarded in a separate process.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Continuous("x", 0, 1)])
    >>> sut = dm.wrap(lambda x: "high" if x > 0.5 else "low", space=space, scalar=True)
    >>> sut.execute(space.points({"x": 0.7})).values.tolist()
    ['high']
    """
    executor = _make_executor(model, space, scalar, trust, name, labels, to_classes(classes))
    if data is not None:
        executor, _ = recognise(executor, executor.batch(data), timeout=timeout)
    if timeout is not None:
        executor = IsolatedSystem(executor, timeout)
    return GuardedSystem(executor) if guarded or timeout is not None else executor


def _make_executor(
    model: ModelLike,
    space: Space | None,
    scalar: bool,
    trust: bool,
    name: str | None,
    labels: Iterable[Any] | None,
    classes: Labels | None,
) -> Executor:
    """Return the system without any wrapper around it."""
    if isinstance(model, Executor):
        return _name_classes(model, classes)
    own_system = getattr(model, "sut", None)
    if isinstance(own_system, Executor):
        return own_system
    if isinstance(model, str | os.PathLike):
        loaded_model = load_model(model, trust=trust)
        if is_weka_name(model) or (is_python_name(model) and hasattr(loaded_model, "fit")):
            from .learner import Learner

            return Learner(loaded_model, name=name or name_model(model))
        name = name or name_model(model)
        if isinstance(loaded_model, Executor):
            loaded_model.name, loaded_model.space = name or loaded_model.name, space
            return _name_classes(loaded_model, classes)
        model = loaded_model
    if isinstance(model, type):
        raise ModelError(
            f"{model.__name__} is a class, not a model. Create and fit a model: {model.__name__}().fit(X, y)."
        )
    if hasattr(model, "predict"):
        estimator = Estimator(cast(SupportsPredict, model), space, name=name, labels=labels, classes=classes)
        if classes is not None and estimator.labels is None:
            if needs_recognition(estimator):
                return estimator.to_function(PredictFunction(model))
            estimator.labels = classes
        return estimator
    if is_torch_module(model):
        return Function(TorchFunction(model), space, style="array", name=name, labels=labels, classes=classes)
    if callable(model):
        return Function(model, space, scalar=scalar, name=name, labels=labels, classes=classes)
    raise ModelError(
        f"An object of type {type(model).__name__} cannot be tested: it has no 'predict' and is not a function. "
        "Pass a fitted estimator, a function of a frame, a function of one case (scalar=True), or the path of a model file."
    )


def to_classes(classes: Iterable[Any] | None, owner: str = "wrap") -> Labels | None:
    """Return the names of classes as a tuple of at least two different labels, or raise `ArgumentError`."""
    if classes is None:
        return None
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        reject("classes", owner, 'a sequence of labels, as in ["no", "yes"]', classes)
    names = tuple(name.item() if getattr(name, "ndim", 1) == 0 else name for name in classes)
    if not all(isinstance(name, Hashable) for name in names):
        reject("classes", owner, 'a sequence of labels, as in ["no", "yes"]', classes)
    if len(names) < 2 or len(set(names)) < len(names):
        reject("classes", owner, "at least two different labels", names)
    return names


def _name_classes(system: Executor, classes: Labels | None) -> Executor:
    """Return a ready system with names of its classes."""
    if classes is None or system.labels == classes:
        return system
    if isinstance(system, Function | OnnxModel) and system.reading is None:
        system = copy.copy(system)
        system.classes = system.labels = classes
        return system
    raise ArgumentError(f"The classes of {system.name} are known already. Leave out classes=.")

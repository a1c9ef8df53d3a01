"""What names on the command line stand for: models, objects of modules, data sets, built-in subjects."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._lazy import pd
from .._text import suggest_name, to_text
from ..errors import DatamorphicError, UsageError
from ..space.table_files import read_table
from ..systems.missing_packages import build_missing_package_error
from . import options as opt

PROGRAM_PREFIX, EXAMPLE_PREFIX = "program:", "example:"  # of what ships with the package

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.pattern_examples import ExampleSystem
    from ..space.space import Space


def load_object(text: str) -> Any:
    """Return the object that ``module:object`` names, or the module that ``module`` names.

    The current folder comes first, as with ``python -m``. Importing runs the code of the module.
    """
    module_name, _, attribute = text.partition(":")
    if not module_name or not all(part.isidentifier() for part in module_name.split(".")):
        raise UsageError(f"{text!r} is not understood. Write module:object, as in my_tests:RedWine.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # for good: functions may import neighbouring modules when they are called
    try:
        target: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and f"{module_name}.".startswith(f"{error.name}."):
            raise UsageError(
                f"There is no module {module_name!r} here or among the installed packages. "
                "Run the command in the folder of the module."
            ) from None
        raise build_missing_package_error(error, f"{module_name} needs") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"Importing {module_name!r} failed: {type(error).__name__}: {to_text(error)}.") from error
    for part in attribute.split(".") if attribute else []:
        if not hasattr(target, part):
            names = [name for name in dir(target) if not name.startswith("_")]
            raise UsageError(f"{module_name!r} has no {part!r}. {suggest_name(part, names)}")
        target = getattr(target, part)
    return target


def load_named(text: str) -> Any:
    """Return the object that ``module:object`` names; another text is a name that the package knows."""
    return load_object(text) if ":" in text else text


def load_space(
    file: Path | str | None,
    frame: pd.DataFrame | None,
    target: str | None = None,
    system: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Space | None:
    """Return the space that a file describes, completed from data; None without a file.

    Columns that neither the file nor `system`, wrapped with `options`, names are not inputs.
    """
    if file is None:
        return None
    from ..space.description import read_description

    description = read_description(file)
    if frame is None:
        return description.build()
    others = [name for name in frame.columns if name != target and name not in description.features]
    inputs = _find_input_names(system, options or {}) if others and system is not None else None
    if inputs is not None:
        frame = frame.drop(columns=[name for name in others if name not in inputs])
    return description.infer(frame, target)


def _find_input_names(system: Any, options: Mapping[str, Any]) -> list[str] | None:
    """Return the columns that a model was fitted on; None if it does not say."""
    names = getattr(system, "columns", None)
    if names is None:
        from ..systems.wrap import wrap

        with suppress(DatamorphicError):  # whoever uses the system reports what is wrong with it
            names = getattr(wrap(system, **options), "columns", None)
    return None if names is None else [str(name) for name in names]


def choose_model_and_data(
    model: str | None, inputs: str | None, subject: str | None, data: str | None, target: str | None
) -> tuple[str | None, str | None]:
    """Return the names of the model and of the data, given as arguments or as options."""
    if subject is not None and inputs is None:
        model, inputs = None, model  # with a subject, the only argument is the data
    if inputs is not None and data is not None:
        raise UsageError("The data are given twice, as an argument and with --data. Leave one out.")
    if target is not None and inputs is None and data is None:
        raise UsageError("--target names a column of the data, but no data are given. Add DATA.")
    return model, inputs or data


def to_absolute_path(text: str | None) -> str | None:
    """Return the name of a model or of data so that it means the same in another folder."""
    return os.path.abspath(text) if text is not None and os.path.exists(text) else text


def load_system(model: str | None, subject: str | None, trust: bool) -> tuple[Any, dict[str, Any]]:
    """Return the system under test, and the options to wrap it with.

    A model is a path of a file, ``weka:`` with a name and options, ``python:`` with an interpreter and an object, or
    ``module:object``. A subject is a built-in classifier.
    """
    if (model is None) == (subject is None):
        raise UsageError(
            "Say what to test, one of: a model (a file, or module:object) or --subject NAME. "
            f"Got {'both' if model is not None else 'neither'}."
        )
    if subject is not None:
        from ..data.subjects import subjects

        return subjects[subject], {}
    from ..systems.files import is_model_file, is_python_name, is_weka_name, load_model

    if is_python_name(model):
        return load_model(model), {}
    if is_weka_name(model) or is_model_file(str(model)):
        return str(model), {"trust": trust}
    return load_object(str(model)), {}


def load_learner(text: str | None, parameters: list[str] | None, trust: bool) -> tuple[Any, dict[str, Any]]:
    """Return a learner with its parameters set, or a model, and the options to load it with."""
    if text is None:
        raise UsageError(
            "Say what to check: a learner or a class of learners (module:object), a model file, 'weka:IBk -K 3', or "
            "'python:PYTHON module:object'."
        )
    learner, options = load_system(text, None, trust)
    values = opt.parse_parameters(parameters)
    if isinstance(learner, type):
        try:
            return learner(**values), options
        except TypeError as error:
            raise UsageError(f"{learner.__name__} does not take these parameters: {error}.") from None
    if values:
        if not hasattr(learner, "set_params"):
            raise UsageError("--param is for learners with parameters, and this has none. Leave it out.")
        try:
            learner = learner.set_params(**values)
        except ValueError as error:
            raise UsageError(f"--param: {' '.join(str(error).split())[:200]}") from None
    return learner, options


def load_example(text: str) -> ExampleSystem | None:
    """Return the example system that ``example:NAME`` names, or ``example:NAME with FAULT``; None for other texts."""
    if not text.startswith(EXAMPLE_PREFIX):
        return None
    from ..data.pattern_examples import example_systems

    name, _, fault = text.removeprefix(EXAMPLE_PREFIX).partition(" with ")
    example = example_systems[name]
    return example.with_fault(fault) if fault else example


def load_data(text: str) -> pd.DataFrame:
    """Return the data that ``data:name`` or the path of a CSV or Parquet file names."""
    kind, _, name = text.partition(":")
    if kind != "data":
        return read_table(text)
    from ..data.sets import load

    return load(name)

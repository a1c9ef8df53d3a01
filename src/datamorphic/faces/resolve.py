"""What the words on the command line stand for: objects, data sets, subjects."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from .._checks import did_you_mean
from ..data.sets import load, read_table
from ..errors import AmbiguousData, UsageError
from ..reports.texts import printable

if TYPE_CHECKING:
    import pandas as pd

MODEL_FILES = (".skops", ".onnx", ".joblib", ".pkl", ".pickle")


def load_object(text: str) -> Any:
    """Return the object that ``module:object`` names, or the module that ``module`` names.

    The current folder comes first, as with ``python -m``. Importing runs the module: it is the user's own.
    """
    module_name, _, attribute = text.partition(":")
    if not module_name or not all(part.isidentifier() for part in module_name.split(".")):
        raise UsageError(f"{text!r} is not understood. Write module:object, as in my_tests:RedWine.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # and it stays: functions may import their neighbours when they are called
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and f"{module_name}.".startswith(f"{error.name}."):
            raise UsageError(
                f"There is no module {module_name!r} here or among the installed packages. "
                "Run the command in the folder that has it."
            ) from None
        raise UsageError(f"Importing {module_name!r} failed: {error}.") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"Importing {module_name!r} failed: {type(error).__name__}: {error}.") from error
    for part in attribute.split(".") if attribute else []:
        if not hasattr(found, part):
            names = [name for name in dir(found) if not name.startswith("_")]
            raise UsageError(f"{module_name!r} has no {part!r}. {did_you_mean(part, names)}")
        found = getattr(found, part)
    return found


def lasting(text: str | None) -> str | None:
    """Return the words for a model or data so that they mean the same in another folder: files by their whole path."""
    return os.path.abspath(text) if text is not None and os.path.exists(text) else text


def load_system(model: str | None, subject: str | None, trust: bool) -> tuple[Any, dict[str, Any]]:
    """Return what is to be tested, and the options it is wrapped with.

    A model is the path of a file or ``module:object``; a subject is one of the coded ones.
    """
    if (model is None) == (subject is None):
        raise UsageError(
            "Say what to test, one of: a model (a file, or module:object) or --subject NAME. "
            f"Got {'both' if model is not None else 'neither'}."
        )
    if subject is not None:
        from ..data.subjects import subjects

        return subjects[subject], {}
    text = str(model)
    if os.path.exists(text) or os.path.splitext(text)[1] in MODEL_FILES or os.sep in text:
        return text, {"trust": trust}
    return load_object(text), {}


def load_data(text: str) -> pd.DataFrame:
    """Return the data that ``data:name`` or a path of a CSV or Parquet file names."""
    kind, _, name = text.partition(":")
    if kind == "data":
        return load(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AmbiguousData)
        table = read_table(text)
    for each in caught:
        sys.stderr.write(f"datamorphic: {printable(str(each.message))}\n")
    return table

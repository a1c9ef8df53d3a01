"""What the words on the command line stand for: objects, data sets, subjects."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import suggest_name
from ..data.sets import load
from ..errors import AmbiguousData, UsageError
from ..reporting.text import to_printable
from ..space.table_files import read_table

if TYPE_CHECKING:
    import pandas as pd

Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL", help="A model file, or module:object; left out with --subject.", show_default=False
    ),
]
Inputs = Annotated[
    str | None,
    typer.Argument(metavar="DATA", help="Real inputs: a CSV or Parquet file, or data:NAME.", show_default=False),
]
Coded = Annotated[str | None, typer.Option(help='A coded subject, e.g. "Box 1".')]
Data = Annotated[str | None, typer.Option(help="The same as DATA.")]
Target = Annotated[str | None, typer.Option(help="The column of the data that is the label.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds an answer may take before it counts as hanging.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Load a pickle, or a .skops file with types not known to be safe.")
]
Scalar = Annotated[
    bool, typer.Option("--scalar", help="The model is a function of one case, its features by name or as a dict.")
]
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
            raise UsageError(f"{module_name!r} has no {part!r}. {suggest_name(part, names)}")
        found = getattr(found, part)
    return found


def sorted_out(
    model: str | None, inputs: str | None, subject: str | None, data: str | None, target: str | None
) -> tuple[str | None, str | None]:
    """Return the words for the model and for the data, from wherever they stand on the command line."""
    if subject is not None and inputs is None:
        model, inputs = None, model  # a subject needs no model: what is given are data
    if inputs is not None and data is not None:
        raise UsageError("The data are given twice, as an argument and with --data. Leave one out.")
    if target is not None and inputs is None and data is None:
        raise UsageError("--target names a column of the data, and no data are given.")
    return model, inputs or data


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
        sys.stderr.write(f"datamorphic: {to_printable(str(each.message))}\n")
    return table

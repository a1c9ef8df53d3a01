"""The forms in which tables enter: files, frames of other libraries, masked arrays."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._typing import Accepts, find_rule, list_alternatives, read_parameter_types
from .._validation import is_frame, is_series
from ..errors import DataError
from .inference import validate_frame
from .table_files import is_table_file, read_table, stack_nested_arrays

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def accept_tables(function: AnyFunction) -> AnyFunction:
    """Decorate a public function to pass the arguments annotated as data through `to_plain_data`.

    This is the one place where data enter, so every such function takes the same forms and refuses the same ones. A text
    that the parameter may also hold, such as the name of a model, is left alone unless it ends like a table. A path is
    left alone if the annotation names paths, too: the function needs it.
    """

    @functools.cache  # read when the function is first called
    def list_tables() -> tuple[list[str], dict[str, tuple[Any, bool]]]:
        parameters = inspect.signature(function).parameters.values()
        hints = read_parameter_types(function)
        tables = {
            parameter.name: (hints[parameter.name], isinstance(parameter.default, str))
            for parameter in parameters
            if takes_tables(hints.get(parameter.name))
        }
        return [parameter.name for parameter in parameters if parameter.kind <= parameter.POSITIONAL_OR_KEYWORD], tables

    @functools.wraps(function)
    def convert_and_call(*arguments: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True  # pytest leaves this frame out of tracebacks
        names, tables = list_tables()

        def convert(name: str, value: Any) -> Any:
            return read_table_argument(tables[name][0], value, takes_texts=tables[name][1]) if name in tables else value

        converted = [convert(name, value) for name, value in zip(names, arguments, strict=False)]
        return function(
            *converted, *arguments[len(names) :], **{name: convert(name, value) for name, value in keywords.items()}
        )

    return convert_and_call  # type: ignore[return-value]


def takes_tables(hint: Any) -> bool:
    """Return whether a value of this type may be a table, in any form."""
    return any(rule.table for rule in _list_rules(hint))


def read_table_argument(hint: Any, value: Any, *, takes_texts: bool) -> Any:
    """Return a table as NumPy and pandas have it; other texts and paths that the type takes stay as they are."""
    if isinstance(value, str | os.PathLike):
        names = [rule.name for rule in _list_rules(hint)]
        if "FilePath" in names or ((takes_texts or "ModelLike" in names) and not is_table_file(value)):
            return value
    return to_plain_data(value)


def _list_rules(hint: Any) -> list[Accepts]:
    return [rule for part in list_alternatives(hint) if (rule := find_rule(part))]


def to_plain_data(data: Any) -> Any:
    """Return data as NumPy and pandas have them: tables of files and of Arrow as frames, masked values as missing.

    Frames are checked, see `validate_frame`. Anything else is returned as it is.
    """
    if isinstance(data, str | os.PathLike):
        return validate_frame(read_table(data))
    if is_frame(data):
        return validate_frame(data)
    if isinstance(data, np.ma.MaskedArray):
        return _fill_masked(data)
    if isinstance(data, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in data):
        return _fill_masked(np.ma.array(data))
    if hasattr(data, "__arrow_c_stream__") and not is_series(data):
        import pyarrow as pa

        try:
            table = pa.table(data)
        except ValueError:  # a single column, which NumPy reads
            return data
        return validate_frame(stack_nested_arrays(table.to_pandas(date_as_object=False)))
    if hasattr(data, "collect_schema"):  # of polars
        raise DataError(f"A {type(data).__name__} holds no rows until it is computed. Give data.collect() instead.")
    return data


def _fill_masked(array: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[Any]:
    """Return a masked array with NaN, or None among values that are not numbers, in masked places."""
    mask = np.ma.getmaskarray(array)
    if not mask.any():
        return np.asarray(array.data)
    is_numeric = array.dtype.kind in "iuf"
    dtype = np.result_type(array.dtype, np.float16) if is_numeric else object
    values = np.array(array.data, dtype=dtype)
    values[mask] = np.nan if is_numeric else None
    return values

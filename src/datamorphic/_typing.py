"""Named types of what users pass to the public functions.

Type checkers see unions. At run time each name says with `Accepts` what it takes, which is what options and arguments are
checked by: `is_accepted` tells whether a value has a type, and `describe_type` says the type in words.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import math
import numbers
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeAlias, TypeGuard, get_args, get_origin

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd


#: what a `CodeLike` is, in words
CODE = "a Python file, a module, 'module:function', a function, class or module, or a list of these"


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether `value` is a whole number of any type of integers; a bool is not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a real number that a float can hold; a bool is not."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_path(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether `value` is a path: not empty, and without NUL."""
    return (
        isinstance(value, str | os.PathLike)
        and isinstance(path := os.fspath(value), str)
        and path != ""
        and "\0" not in path
    )


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether `value` can be read as a list; texts and numbers cannot."""
    if isinstance(value, str | bytes | Mapping) or not hasattr(type(value), "__iter__"):
        return False
    return not isinstance(value, Sized) or getattr(value, "ndim", 1) == 1


@dataclass(frozen=True)
class Accepts:
    """What a named type takes, in words and as a function; a `table` may be given in any of its forms."""

    name: str
    expected: str
    test: Callable[[Any], bool] = lambda value: True
    table: bool = False


class SupportsPredict(Protocol):
    """A fitted model, such as an estimator of scikit-learn."""

    @property
    def predict(self) -> Callable[..., Any]: ...


class SupportsFit(Protocol):
    """A learner: `fit` makes it a model."""

    @property
    def fit(self) -> Callable[..., Any]: ...


class SupportsExecute(Protocol):
    """A system under test, as `datamorphic.wrap` returns it."""

    @property
    def execute(self) -> Callable[..., Any]: ...


class MarkedSource(Protocol):
    """Any object, because those with functions marked by the decorators have no attribute in common."""


class SupportsFrame(Protocol):
    """Rows that can be converted to a frame, such as `datamorphic.Points`."""

    @property
    def frame(self) -> pd.DataFrame: ...


class SupportsArrow(Protocol):
    """A table of Arrow, polars or another library that hands its columns over as Arrow does."""

    @property
    def __arrow_c_stream__(self) -> Callable[..., Any]: ...


class SupportsSample(Protocol):
    """A `datamorphic.Space`, from which inputs can be drawn."""

    @property
    def sample(self) -> Callable[..., Any]: ...


class SupportsRuns(Protocol):
    """An open run store: a `datamorphic.Store`."""

    url: str


class SupportsLanes(Protocol):
    """An engine, which distributes the rows of a batch."""

    @property
    def open_lanes(self) -> Callable[..., Any]: ...


class SupportsSubmit(Protocol):
    """A Dask client."""

    @property
    def submit(self) -> Callable[..., Any]: ...


if TYPE_CHECKING:
    #: the path of a file
    FilePath: TypeAlias = str | PathLike[str]

    #: a fitted model, a function of a frame, a system under test, a path of a model file, ``"weka:..."``, or the source of
    #: a test system (a class, an instance or a module)
    ModelLike: TypeAlias = (
        SupportsPredict | SupportsExecute | Callable[..., Any] | ModuleType | MarkedSource | str | PathLike[str]
    )

    #: an estimator to fit, a class or function that makes one, or ``"weka:..."``
    LearnerLike: TypeAlias = SupportsFit | Callable[..., Any] | str

    #: source code: a Python file, a module, ``"module:function"``, the function, class or module itself, or a list of these
    CodeLike: TypeAlias = (
        str
        | PathLike[str]
        | ModuleType
        | Callable[..., Any]
        | Sequence[str | PathLike[str] | ModuleType | Callable[..., Any]]
    )

    #: rows: a frame (of pandas, polars or Arrow), the path of a CSV or Parquet file, a matrix, a list of dicts, one case as a
    #: dict or sequence, `Points`, or a `Space` to draw from
    Rows: TypeAlias = (
        pd.DataFrame | pd.Series[Any] | npt.NDArray[Any] | Sequence[Any] | Mapping[str, Any] | SupportsArrow
    )
    DataLike: TypeAlias = Rows | PathLike[str] | SupportsFrame | SupportsSample

    #: what starts a random number generator; None for a different start each time
    SeedLike: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None

    #: a run store: its path or URL, or the open store; None for none
    StoreLike: TypeAlias = str | PathLike[str] | SupportsRuns | None

    #: what computes: None or "serial", "threads:2", "processes:2", "dask://host:port", an engine or a Dask client
    EngineLike: TypeAlias = str | SupportsLanes | SupportsSubmit | None

else:

    def _is_seed(value: Any) -> bool:
        return value is None or hasattr(value, "spawn") or is_integer(value)

    def _is_store(value: Any) -> bool:
        return value is None or is_path(value) or hasattr(value, "url") or hasattr(value, "store")

    def _is_engine(value: Any) -> bool:
        return value is None or isinstance(value, str) or hasattr(value, "open_lanes") or hasattr(value, "submit")

    def _is_code(value: Any) -> bool:
        items = value if isinstance(value, list | tuple) else [value]
        return bool(items) and all(is_path(item) or callable(item) or isinstance(item, ModuleType) for item in items)

    CodeLike = Annotated[Any, Accepts("CodeLike", CODE, _is_code)]
    FilePath = Annotated[Any, Accepts("FilePath", "a path", is_path)]
    ModelLike = Annotated[Any, Accepts("ModelLike", "a model")]
    LearnerLike = Annotated[Any, Accepts("LearnerLike", "a learner")]
    Rows = Annotated[Any, Accepts("Rows", "rows", table=True)]
    DataLike = Annotated[Any, Accepts("DataLike", "data", table=True)]
    SeedLike = Annotated[Any, Accepts("SeedLike", "an int from 0, a NumPy generator or None", _is_seed)]
    StoreLike = Annotated[Any, Accepts("StoreLike", "a path or URL, a Store or None", _is_store)]
    EngineLike = Annotated[Any, Accepts("EngineLike", "the name of an engine, an engine or None", _is_engine)]


# -- types at run time -------------------------------------------------------------------------------------------


def list_alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself; a text or path-like object is a `FilePath`."""
    if isinstance(hint, typing.TypeVar):
        return list_alternatives(hint.__bound__)
    if get_origin(hint) not in (typing.Union, types.UnionType):
        return (hint,)
    parts = tuple(part for member in get_args(hint) for part in list_alternatives(member))
    path_types = [part for part in parts if (get_origin(part) or part) in (PathLike, Path)]
    if str in parts and path_types:
        return (FilePath, *(part for part in parts if part is not str and part not in path_types))
    return parts


def is_accepted(hint: Any, value: object) -> bool:
    """Return whether a value has a type, as users see it: any whole number is an int, any sequence a list.

    Only the outermost type is looked at: that a value is a list, not what the list holds.
    """
    return any(_is_of_type(part, value) for part in list_alternatives(hint))


def _is_of_type(hint: Any, value: object) -> bool:
    if isinstance(rule := find_rule(hint), Accepts):
        return rule.test(value)
    if hint is Any or hint is object:
        return True
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    kind = get_origin(hint) or hint
    _, test = _PLAIN_TYPES.get(kind, (None, None))
    return isinstance(value, kind) if test is None else test(value)


def find_rule(hint: Any) -> Accepts | None:
    """Return what a named type accepts; None for other types."""
    return next((item for item in getattr(hint, "__metadata__", ()) if isinstance(item, Accepts)), None)


def describe_type(hint: Any) -> str:
    """Return a type in words: "an int or None"."""
    names = [_name_type(part) for part in list_alternatives(hint)]
    names = [name for name in dict.fromkeys(names) if name and name != "None"] + ["None"] * ("None" in names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _name_type(hint: Any) -> str:
    if rule := find_rule(hint):
        return rule.expected
    if getattr(hint, "__name__", "") == _UNNAMED_TYPE:
        return ""
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    kind = get_origin(hint) or hint
    if kind in _PLAIN_TYPES:
        return _PLAIN_TYPES[kind][0]
    return "a NumPy generator" if kind.__module__ == "numpy.random._generator" else _add_article(kind.__name__)


#: types that accept more, or less, than their instances
_PLAIN_TYPES: Mapping[Any, tuple[str, Callable[[Any], bool]]] = {
    type(None): ("None", lambda value: value is None),
    bool: ("True or False", lambda value: type(value).__name__ in ("bool", "bool_")),
    int: ("an int", is_integer),
    float: ("a finite number", lambda value: is_number(value) and math.isfinite(value)),
    str: ("a str", lambda value: isinstance(value, str)),
    Mapping: ("a dict", lambda value: isinstance(value, Mapping)),
    Callable: ("a function", callable),
    **dict.fromkeys((list, Sequence, Iterable, Collection), ("a list", is_list)),
}
#: types all of whose values are accepted where a type is: looking at the value is not necessary
_ACCEPTED_TYPES: Mapping[Any, tuple[type, ...]] = {
    **{kind: (kind,) for kind in (type(None), bool, int, str)},
    Mapping: (dict,),
    **dict.fromkeys((list, Sequence, Iterable, Collection), (list, tuple)),
}
_UNNAMED_TYPE = "StoreOptions"  # commands make it; users give what it is made of
#: packages whose classes are looked for in values
_PACKAGES = ("datamorphic", "numpy", "pandas")


def list_plain_types(hint: Any) -> frozenset[type]:
    """Return types all of whose values have the type `hint`."""
    kinds = [get_origin(part) or part for part in list_alternatives(hint) if find_rule(part) is None]
    return frozenset(plain_type for kind in kinds for plain_type in _ACCEPTED_TYPES.get(kind, ()))


def is_checkable(hint: Any) -> bool:
    """Return whether it is known of every part of a type what it accepts; that of protocols is not."""
    return all(map(_is_known, list_alternatives(hint)))


def _is_known(hint: Any) -> bool:
    if find_rule(hint):
        return True
    kind = get_origin(hint) or hint
    if kind in _PLAIN_TYPES:
        return True
    is_class = isinstance(kind, type) and not getattr(kind, "_is_protocol", False)
    return is_class and kind.__module__.partition(".")[0] in _PACKAGES


def read_parameter_types(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters of a function.

    A name that a room gives to a union or to a list of texts is Any: what is behind it is validated where it is used.
    """
    annotations = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    names = {
        node.id
        for hint in annotations.values()
        if isinstance(hint, str)
        for node in ast.walk(ast.parse(hint, mode="eval"))
        if isinstance(node, ast.Name)
    }
    namespace = inspect.unwrap(function).__globals__
    values = {name: namespace[name] for name in names if name in namespace}
    if missing_names := names - values.keys() - vars(builtins).keys():
        values |= _import_typing_names(function.__module__, missing_names)
    aliases = {
        name: Any for name, value in values.items() if get_origin(value) is not None and find_rule(value) is None
    }
    parameters = types.SimpleNamespace(__annotations__=annotations)
    return typing.get_type_hints(parameters, namespace, values | aliases, include_extras=True)


def _import_typing_names(module: str, names: set[str]) -> dict[str, Any]:
    """Import what a module imports for type checkers only."""
    values = {}
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            name = alias.asname or alias.name
            if name in names and isinstance(node, ast.Import):
                values[name] = importlib.import_module(alias.name)
            elif name in names and isinstance(node, ast.ImportFrom):
                source = "." * node.level + (node.module or "")
                values[name] = getattr(importlib.import_module(source, sys.modules[module].__package__), alias.name)
    return values


def _add_article(noun: str) -> str:
    return ("an " if noun[0] in "AEIOU" else "a ") + noun

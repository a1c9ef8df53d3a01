"""Validation of arguments, and imports of optional packages."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import numbers
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sized
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard, TypeVar

from ._text import redact, suggest_name
from .errors import ArgumentError, MissingExtra

if TYPE_CHECKING:  # NumPy is imported when a generator is needed
    import numpy as np
    import pandas as pd

Checked = TypeVar("Checked", bound=Callable[..., Any])

MAX_QUOTED_CHARACTERS = 80
MAX_INTEGER = 2**63 - 1


def reject(name: str, owner: str, expected: str, value: object) -> NoReturn:
    """Raise `ArgumentError` for a parameter: what was expected and what was given."""
    shape = getattr(value, "shape", None)
    value_text = redact(repr(value)) if shape is None else f"a value of type {type(value).__name__} and shape {shape}"
    if len(value_text) > MAX_QUOTED_CHARACTERS:
        value_text = value_text[: MAX_QUOTED_CHARACTERS - 3] + "..."
    raise ArgumentError(f"The {name!r} parameter of {owner} must be {expected}. Got {value_text} instead.")


def validate_integer(name: str, owner: str, value: object, low: int = 0, high: float = math.inf) -> int:
    """Return `value` as an int within [low, high] that fits in 64 bits, or raise `ArgumentError`."""
    if is_integer(value) and low <= int(value) <= min(high, MAX_INTEGER):
        return int(value)
    end = "inf)" if math.isinf(high) else f"{high:,.0f}]"
    limit = " that fits in 64 bits" if is_integer(value) and int(value) > MAX_INTEGER else ""
    reject(name, owner, f"an int in the range [{low}, {end}{limit}", value)


def validate_seed(name: str, owner: str, value: object) -> int:
    """Return a seed, an int of any size from 0, or raise `ArgumentError`."""
    if is_integer(value) and value >= 0:
        return int(value)
    reject(name, owner, "an int in the range [0, inf)", value)


def validate_positive(name: str, owner: str, value: object) -> float:
    """Return `value` as a finite float above zero, or raise `ArgumentError`."""
    if not is_number(value) or not 0 < float(value) < math.inf:
        reject(name, owner, "a finite number above 0", value)
    return float(value)


def validate_timeout(name: str, owner: str, value: object) -> float:
    """Return a time-out in seconds as a float that a thread can wait for, or raise `ArgumentError`."""
    if not is_number(value) or not 0 < value <= threading.TIMEOUT_MAX:
        reject(name, owner, f"a number of seconds above 0 and at most {threading.TIMEOUT_MAX:,.0f}", value)
    return float(value)


def validate_share(name: str, owner: str, value: object) -> float:
    """Return `value` as a float above 0 and at most 1, or raise `ArgumentError`."""
    if not is_number(value) or not 0 < float(value) <= 1:
        reject(name, owner, "a number above 0 and at most 1", value)
    return float(value)


def validate_choice(name: str, owner: str, value: object, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`, or raise `ArgumentError`."""
    choices = list(allowed)
    if not isinstance(value, str) or value not in choices:
        reject(name, owner, "one of " + ", ".join(map(repr, choices)), value)
    return str(value)


def validate_option_names(owner: str, options: Iterable[str], function: Callable[..., Any]) -> None:
    """Raise `ArgumentError` if a function to which options are passed on has no parameter of that name."""
    known = inspect.signature(function).parameters
    for name in options:
        if name not in known:
            raise ArgumentError(f"{owner} has no parameter {name!r}. {suggest_name(name, known)}")


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


def is_frame(value: object) -> TypeGuard[pd.DataFrame]:
    """Return whether `value` is a frame. pandas, which is slow to import, is imported already if it is."""
    return isinstance(value, getattr(sys.modules.get("pandas"), "DataFrame", ()))


def is_series(value: object) -> TypeGuard[pd.Series]:
    """Return whether `value` is a column or a row of a frame."""
    return isinstance(value, getattr(sys.modules.get("pandas"), "Series", ()))


def to_generator(name: str, owner: str, seed: object) -> np.random.Generator:
    """Return a NumPy generator for a seed; a generator is returned as it is."""
    import numpy as np

    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(validate_seed(name, owner, seed))


def import_optional(module: str, extra: str, purpose: str, limits: str = "") -> ModuleType:
    """Import an optional package, or raise `MissingExtra`; `limits` says where the extra installs nothing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed. "
            f"Install it with: pip install 'datamorphic[{extra}]'" + (f" ({limits})" if limits else "")
        ) from error


#: annotations that `check_types` understands: how to say them, and what they accept. It does not check other annotations.
_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "None": ("None", lambda value: value is None),
    "bool": ("True or False", lambda value: type(value).__name__ in ("bool", "bool_")),
    "int": ("an int", lambda value: is_integer(value)),
    "float": ("a finite number", lambda value: (type(value) is float or is_number(value)) and math.isfinite(value)),
    "str": ("a str", lambda value: isinstance(value, str)),
    "FilePath": ("a path", lambda value: is_path(value)),
    "Path": ("a path", lambda value: is_path(value)),
    "StoreLike": (
        "a path or URL, a Store or None",
        lambda value: value is None or is_path(value) or _is_instance("Store", value),
    ),
    "Mapping": ("a dict", lambda value: isinstance(value, Mapping)),
    "Hints": ("a dict", lambda value: isinstance(value, Mapping)),
    "Sequence": ("a list", lambda value: is_list(value)),
    "list": ("a list", lambda value: is_list(value)),
    "Iterable": ("a list", lambda value: is_list(value)),
    "Collection": ("a list", lambda value: is_list(value)),
    "Callable": ("a function", callable),
    "SeedLike": (
        "an int from 0, a NumPy generator or None",
        lambda value: value is None or hasattr(value, "spawn") or is_integer(value),
    ),
    "EngineLike": (
        "the name of an engine, an engine or None",
        lambda value: (
            value is None or isinstance(value, str) or hasattr(value, "open_lanes") or hasattr(value, "submit")
        ),
    ),
    "np.random.Generator": ("a NumPy generator", lambda value: hasattr(value, "spawn") and hasattr(value, "random")),
    "pd.DataFrame": ("a DataFrame", lambda value: type(value).__name__ == "DataFrame"),
}
#: types of which an annotation accepts all values
_PLAIN_TYPES: dict[str, tuple[type, ...]] = {
    "None": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "str": (str,),
    "Mapping": (dict,),
    **dict.fromkeys(("Sequence", "list", "Iterable", "Collection"), (list, tuple)),
}
#: classes of this package that annotations may name
_CLASSES = (
    "Box",
    "Budget",
    "CallCounter",
    "Constraint",
    "Executor",
    "Finding",
    "Front",
    "FrontData",
    "InputPattern",
    "OutputPattern",
    "Points",
    "Promises",
    "StoreOptions",
    "Space",
    "SpecMap",
    "Store",
    "TestSet",
    "TestSystem",
)


def check_types(function: Checked) -> Checked:
    """Raise `ArgumentError` for arguments that their annotations do not allow, before the function is called.

    It looks at the outermost type only: that a value is a list, not what the list holds. Defaults are always valid.

    Examples
    --------
    >>> @check_types
    ... def draw(n: int | None = None, *, exact: bool = False): ...
    >>> draw(exact="yes")
    Traceback (most recent call last):
    datamorphic.errors.ArgumentError: The 'exact' parameter of draw must be True or False. Got 'yes' instead.
    """
    if inspect.isclass(function):
        function.__init__ = _add_type_checks(function.__init__, function.__name__)  # type: ignore[method-assign]
        return function
    return _add_type_checks(function, function.__qualname__)


def _add_type_checks(function: Checked, owner: str) -> Checked:
    """Return a function that checks its arguments first; error messages call it `owner`."""
    parameters = inspect.signature(function).parameters.values()
    checks = {
        parameter.name: (parameter.default, *choices)
        for parameter in parameters
        if (choices := _read_annotation(str(parameter.annotation))) is not None
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    positional = [
        (parameter.name, checks.get(parameter.name))
        for parameter in parameters
        if parameter.kind <= parameter.POSITIONAL_OR_KEYWORD
    ]
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            checks.pop(parameter.name, None)  # a keyword of the same name goes to **keywords

    def validate(name: str, check: Any, value: object) -> None:
        if check is None:
            return
        default, expected, tests, plain_types = check
        if value is not default and type(value) not in plain_types and not any(test(value) for test in tests):
            reject(name, owner, expected, value)

    @functools.wraps(function)
    def check_and_call(*arguments: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True  # pytest leaves this frame out of tracebacks
        # Signature.bind would take several times as long
        for (name, check), value in zip(positional, arguments, strict=False):
            validate(name, check, value)
        for name, value in keywords.items():
            validate(name, checks.get(name), value)
        return function(*arguments, **keywords)

    return check_and_call  # type: ignore[return-value]


def _read_annotation(annotation: str) -> tuple[str, list[Callable[[Any], bool]], set[type]] | None:
    """Return what an annotation accepts, in words, as functions and as types; None if a part of it is unknown.

    All values of these types are accepted, which saves calling the functions.
    """
    plain = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", annotation))  # without types of elements
    parts = re.sub(r"str \| (os.PathLike|Path)\b", "FilePath", plain).split(" | ")
    if not all(part in _TYPES or part in _CLASSES for part in parts):
        return None
    words = [
        _TYPES[part][0] if part in _TYPES else _add_article(part)
        for part in parts
        if part not in ("None", "StoreOptions")
    ]
    words += ["None"] if "None" in parts else []
    expected = words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
    tests = [_TYPES[part][1] if part in _TYPES else functools.partial(_is_instance, part) for part in parts]
    return expected, tests, {plain_type for part in parts for plain_type in _PLAIN_TYPES.get(part, ())}


def _add_article(noun: str) -> str:
    return ("an " if noun[0] in "AEIOU" else "a ") + noun


def _is_instance(name: str, value: object) -> bool:
    """Return whether a value belongs to a class of this package, which need not be imported for it."""
    return any(cls.__name__ == name and cls.__module__.startswith("datamorphic.") for cls in type(value).__mro__)


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

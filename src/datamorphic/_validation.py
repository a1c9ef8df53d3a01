"""Validation of arguments, and imports of optional packages."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard, TypeVar

from ._text import redact, suggest_name
from ._typing import describe_type, is_accepted, is_checkable, list_plain_types, read_parameter_types
from ._typing import is_integer as is_integer
from ._typing import is_list as is_list
from ._typing import is_number as is_number
from ._typing import is_path as is_path
from .errors import ArgumentError, MissingExtra

if TYPE_CHECKING:  # NumPy is imported when a generator is needed
    import numpy as np
    import pandas as pd

Checked = TypeVar("Checked", bound=Callable[..., Any])
_TypeCheck = tuple[object, Any, frozenset[type]]  # the default, the type, and types whose values all have it

MAX_QUOTED_CHARACTERS = 80
MAX_INTEGER = 2**63 - 1


def reject(name: str, owner: str, expected: str, value: object) -> NoReturn:
    """Raise `ArgumentError` for a parameter: what was expected and what was given."""
    _raise_unexpected(f"The {name!r} parameter of {owner}", expected, value)


def reject_operand(operator: str, expected: str, value: object) -> NoReturn:
    """Raise `ArgumentError` for the right side of an operator."""
    _raise_unexpected(f"The right side of {operator}", expected, value)


def _raise_unexpected(place: str, expected: str, value: object) -> NoReturn:
    shape = getattr(value, "shape", None)
    value_text = redact(repr(value)) if shape is None else f"a value of type {type(value).__name__} and shape {shape}"
    if len(value_text) > MAX_QUOTED_CHARACTERS:
        value_text = value_text[: MAX_QUOTED_CHARACTERS - 3] + "..."
    raise ArgumentError(f"{place} must be {expected}. Got {value_text} instead.")


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

    @functools.cache  # read when the function is first called, so that nothing is imported for it before
    def list_checks() -> tuple[list[tuple[str, _TypeCheck | None]], dict[str, _TypeCheck]]:
        return _read_checks(function)

    def validate(name: str, check: _TypeCheck | None, value: object) -> None:
        if check is None:
            return
        default, hint, plain_types = check
        if value is not default and type(value) not in plain_types and not is_accepted(hint, value):
            reject(name, owner, describe_type(hint), value)

    @functools.wraps(function)
    def check_and_call(*arguments: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True  # pytest leaves this frame out of tracebacks
        positional, checks = list_checks()
        # Signature.bind would take several times as long
        for (name, check), value in zip(positional, arguments, strict=False):
            validate(name, check, value)
        for name, value in keywords.items():
            validate(name, checks.get(name), value)
        return function(*arguments, **keywords)

    return check_and_call  # type: ignore[return-value]


def _read_checks(function: Callable[..., Any]) -> tuple[list[tuple[str, _TypeCheck | None]], dict[str, _TypeCheck]]:
    """Return the checks of the positional parameters in their order, and of all that can be keywords by their names."""
    parameters = inspect.signature(function).parameters.values()
    hints = read_parameter_types(function)
    checks = {
        parameter.name: (parameter.default, hints[parameter.name], list_plain_types(hints[parameter.name]))
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and is_checkable(hints.get(parameter.name, Any))
    }
    positional = [
        (parameter.name, checks.get(parameter.name))
        for parameter in parameters
        if parameter.kind <= parameter.POSITIONAL_OR_KEYWORD
    ]
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            checks.pop(parameter.name, None)  # a keyword of the same name goes to **keywords
    return positional, checks

"""Validation of arguments, and imports of optional packages."""

from __future__ import annotations

import importlib
import math
import numbers
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn, TypeGuard

from ._text import redact
from .errors import ArgumentError, MissingExtra

if TYPE_CHECKING:  # NumPy is imported when a generator is needed
    import numpy as np
    import pandas as pd

MAX_QUOTED_CHARACTERS = 80


def reject(name: str, owner: str, expected: str, value: object) -> NoReturn:
    """Raise `ArgumentError` for a parameter: what was expected and what was given."""
    value_text = redact(repr(value))
    if len(value_text) > MAX_QUOTED_CHARACTERS:
        value_text = value_text[: MAX_QUOTED_CHARACTERS - 3] + "..."
    raise ArgumentError(f"The {name!r} parameter of {owner} must be {expected}. Got {value_text} instead.")


def validate_integer(name: str, owner: str, value: object, low: int = 0, high: float = math.inf) -> int:
    """Return `value` as an int within [low, high], or raise `ArgumentError`."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= int(value) <= high:
        return int(value)
    end = "inf)" if math.isinf(high) else f"{high:g}]"
    reject(name, owner, f"an int in the range [{low}, {end}", value)


def validate_positive(name: str, owner: str, value: object) -> float:
    """Return `value` as a finite float above zero, or raise `ArgumentError`."""
    if not is_number(value) or not 0 < float(value) < math.inf:
        reject(name, owner, "a finite number above 0", value)
    return float(value)


def validate_share(name: str, owner: str, value: object) -> float:
    """Return `value` as a float above 0 and at most 1, or raise `ArgumentError`."""
    if not is_number(value) or not 0 < float(value) <= 1:
        reject(name, owner, "a number above 0 and at most 1", value)
    return float(value)


def validate_choice(name: str, owner: str, value: object, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`, or raise `ArgumentError`."""
    choices = list(allowed)
    if value not in choices:
        reject(name, owner, "one of " + ", ".join(map(repr, choices)), value)
    return str(value)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a real number; a bool is not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


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
    return np.random.default_rng(validate_integer(name, owner, seed))


def import_optional(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise `MissingExtra`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed. "
            f"Install it with: pip install 'datamorphic[{extra}]'"
        ) from error

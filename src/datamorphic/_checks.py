"""Argument checks in one message style, and optional imports that name the extra to install."""

from __future__ import annotations

import importlib
import math
import numbers
from collections.abc import Iterable
from difflib import get_close_matches
from types import ModuleType
from typing import Any, NoReturn

from .errors import ArgumentError, MissingExtra


def reject(name: str, owner: str, expected: str, given: object) -> NoReturn:
    """Raise the one kind of argument error there is."""
    shown = repr(given)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    raise ArgumentError(f"The {name!r} parameter of {owner} must be {expected}. Got {shown} instead.")


def whole_number(name: str, owner: str, value: object, low: int = 0, high: float = math.inf) -> int:
    """Return `value` as an int within [low, high]."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= int(value) <= high:
        return int(value)
    end = "inf)" if math.isinf(high) else f"{high:g}]"
    reject(name, owner, f"an int in the range [{low}, {end}", value)


def positive(name: str, owner: str, value: object) -> float:
    """Return `value` as a finite float above zero."""
    if not is_number(value) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        reject(name, owner, "a finite number above 0", value)
    return float(value)  # type: ignore[arg-type]


def one_of(name: str, owner: str, value: object, allowed: Iterable[str]) -> str:
    """Return `value` if it is among `allowed`."""
    allowed = list(allowed)
    if value not in allowed:
        reject(name, owner, "one of " + ", ".join(map(repr, allowed)), value)
    return str(value)


def is_number(value: object) -> bool:
    """Tell whether `value` is a real number (a bool is not)."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a hint with the nearest known name, or the names there are."""
    names = [str(each) for each in known]
    near = get_close_matches(str(name), names, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return "There are: " + ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else ".")


def optional_import(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a package that is not among the core ones, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed. "
            f"Install it with: pip install 'datamorphic[{extra}]'"
        ) from error


def generator(name: str, owner: str, seed: object) -> Any:
    """Return a NumPy generator from a seed, or the generator that was given."""
    import numpy as np

    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(whole_number(name, owner, seed))


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Return the count with its noun, e.g. ``1 row`` or ``10,000 rows``."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def short(value: Any) -> str:
    """Return a value as a person would write it in a sentence."""
    if isinstance(value, float) or (is_number(value) and type(value).__module__ == "numpy"):
        return f"{float(value):.10g}"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."

"""Argument checks in one message style, and optional imports that name the extra to install."""

from __future__ import annotations

import importlib
import math
import numbers
import re
from collections.abc import Iterable
from difflib import get_close_matches
from types import ModuleType
from typing import Any, NoReturn

from .errors import ArgumentError, MissingExtra

#: in a URL that is itself part of a URL, these are percent-escaped
_COLON, _SLASH, _AT, _EQUALS = "(?::|%3a)", "(?:/|%2f)", "(?:@|%40)", "(?:=|%3d)"
_BEFORE_PASSWORD = rf"({_COLON}{_SLASH}{{2}}[^\s:/?#\[]*?{_COLON})"
#: to the last @ without a space before it, as passwords may hold every other sign; with spaces from the first @
#: on, unless what follows the colon is a port
_PASSWORD = re.compile(rf"{_BEFORE_PASSWORD}(?:\S*|(?!\d+(?:[/?#\s]|$))[^@\n]*(?:@\S*)?){_AT}", re.IGNORECASE)
#: neither a port nor, without an @, a password: nobody knows, so it goes
_NO_PORT = re.compile(rf"{_BEFORE_PASSWORD}(?!\d+\b|\*\*\*@)[^\s/?#]+", re.IGNORECASE)
_TOKEN_AS_USER = re.compile(r"(https?://)[^\s:/?#@]+@", re.IGNORECASE)
#: names of secrets; the short ones only as a word of their own, or `sigma` and `author` would be some
_SECRET = (
    r"(?:passw(?:or)?d|passphrase|secret|token|credential|signature|authorization"
    r"|(?:(?<![a-z])|(?<=%[0-9a-f]{2}))(?:sig|auth|pass|pwd)(?![a-z])|key(?:id)?(?![a-z]))"
)
_SECRET_NAME = re.compile(_SECRET, re.IGNORECASE)
_SECRET_VALUE = re.compile(
    rf"({_SECRET}[\w.-]{{0,40}}[\"']?\s*(?:{_EQUALS}|:(?!//))\s*)(?!\*\*\*@)"
    r"(?:(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")[^\s&]*|(?:(?:bearer|basic|digest|token)\s+)?[^\s&]+)",
    re.IGNORECASE,
)


def redacted(text: str) -> str:
    """Return a text without the passwords in its URLs and the values of parameters that are named like secrets.

    What might be part of a secret goes too: rather a host name too few than a password too many.

    Examples
    --------
    >>> redacted("postgresql://ada:p@ss/word@db.example/runs?sslpassword=x&sslmode=require")
    'postgresql://ada:***@db.example/runs?sslpassword=***&sslmode=require'
    """
    text = _TOKEN_AS_USER.sub(r"\1***@", _PASSWORD.sub(r"\1***@", text))
    return _SECRET_VALUE.sub(r"\1***", _NO_PORT.sub(r"\1***", text))


def names_a_secret(name: str) -> bool:
    """Tell whether a parameter of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


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

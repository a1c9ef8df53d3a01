"""Argument checks in one message style, and optional imports that name the extra to install."""

from __future__ import annotations

import importlib
import math
import numbers
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from types import ModuleType
from typing import Any, NoReturn

from .errors import ArgumentError, MissingExtra

#: in a URL that is itself part of a URL, these are percent-escaped
_COLON, _SLASH, _AT, _EQUALS = "(?::|%3a)", "(?:/|%2f)", "(?:@|%40)", "(?:=|%3d)"
_BEFORE_PASSWORD = rf"((?>{_COLON}{_SLASH}{{2}}[^\s:/?#\[]*?{_COLON}))"
_OPENING = re.compile(rf"(?={_BEFORE_PASSWORD})", re.IGNORECASE)
_AT_SIGN, _SPACE, _LINE = re.compile(_AT), re.compile(r"\s"), re.compile(".+")
_PORT = re.compile(r"\d+(?:[/?#\s]|$)")
#: neither a port nor, without an @, a password: nobody knows, so it goes
_NO_PORT = re.compile(rf"{_BEFORE_PASSWORD}(?!\d+\b(?!{_COLON}\S)|\*\*\*@)[^\s/?#]+", re.IGNORECASE)
_TOKEN_AS_USER = re.compile(r"(https?://)[^\s:/?#@]+@", re.IGNORECASE)
#: names of secrets; the short ones only as a word of their own, or `sigma` and `author` would be some; `code` only
#: in a URL, where it is the key of an Azure function
_SECRET = (
    r"(?:passw(?:or)?d|passphrase|secret|token|credential|signature|authorization"
    r"|(?:(?<![a-z])|(?<=%[0-9a-f]{2}))(?:sig|auth|pass|pwd)(?![a-z])|key(?:id)?(?![a-z])"
    rf"|(?:(?<=[?&])|(?<=%3f)|(?<=%26))code(?={_EQUALS}))"
)
_SECRET_NAME = re.compile(_SECRET, re.IGNORECASE)
_SECRET_VALUE = re.compile(
    rf"({_SECRET}[\w.-]{{0,40}}+[\"']?\s*+(?:{_EQUALS}|:(?!//))\s*)(?!\*\*\*@)"
    r"(?:(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")[^\s&]*|(?:(?:bearer|basic|digest|token)\s+)?[^\s&]+)",
    re.IGNORECASE,
)
#: a URL, or words like ``host=db password=x`` and ``AccountName=x;AccountKey=y``
_ADDRESS = re.compile(rf"{_COLON}{_SLASH}{{2}}|\A\s*\w+\s*=[^=;]*[\s;]\w+\s*=", re.IGNORECASE)


def redact(text: str) -> str:
    """Return a text without the passwords in its URLs and the values of parameters that are named like secrets.

    What might be part of a secret goes too: rather a host name too few than a password too many. The time it takes
    grows with the length of the text and no faster, as anybody may have written it.

    Examples
    --------
    >>> redacted("postgresql://ada:p@ss/word@db.example/runs?sslpassword=x&sslmode=require")
    'postgresql://ada:***@db.example/runs?sslpassword=***&sslmode=require'
    """
    if _AT_SIGN.search(text):
        text = _TOKEN_AS_USER.sub(r"\1***@", _LINE.sub(_remove_passwords, text))
    return _SECRET_VALUE.sub(r"\1***", _NO_PORT.sub(r"\1***", text))


def _remove_passwords(line: re.Match[str]) -> str:
    """Return a line whose URLs have no passwords.

    They end at the last @ without a space before it, as they may hold every other sign; with spaces at the first @
    (or the last of its word), unless what follows the colon is a port.
    """
    text = line[0]
    ends = [at.end() for at in _AT_SIGN.finditer(text)]
    signs = [end - 1 for end in ends if text[end - 1] == "@"]
    gaps = [space.start() for space in _SPACE.finditer(text)] + [len(text)]

    def find_last_in_word(position: int) -> int:
        count = bisect_right(ends, gaps[bisect_left(gaps, position)])
        return ends[count - 1] if count else 0

    pieces, copied_until = [], 0
    last = ends[-1] if ends else 0
    for opening in _OPENING.finditer(text):
        start = opening.end(1)
        if start >= last:
            break
        end = find_last_in_word(start)
        if end <= start and not _PORT.match(text, start):
            sign = bisect_left(signs, start)
            end = find_last_in_word(signs[sign]) if sign < len(signs) else last
        if end > start and opening.start() >= copied_until:
            pieces += [text[copied_until:start], "***@"]
            copied_until = end
    return "".join(pieces) + text[copied_until:]


def redact_parameter(text: str) -> str:
    """Return the text of a parameter without secrets; what is no URL is kept to the letter, as it may be a path.

    Examples
    --------
    >>> discreet("token_classifier:model"), discreet("https://host/?token=x")
    ('token_classifier:model', 'https://host/?token=***')
    """
    return redact(text) if _ADDRESS.search(text) else text


def is_secret_name(name: str) -> bool:
    """Tell whether a parameter of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def to_jsonable(document: Any, *, convert_text: Callable[[str], str] = str, finite: bool = True) -> Any:
    """Return a document as every reader of JSON takes it: numbers that are none as None, keys as text.

    Every text in it is passed through `words`; without `finite` NaN and infinity stay, which Python reads back.

    Examples
    --------
    >>> jsonable({1: (math.nan, 2.5)})
    {'1': [None, 2.5]}
    """
    if document is None or isinstance(document, bool):
        return document
    if isinstance(document, str):
        return convert_text(str(document))
    if isinstance(document, float):
        return float(document) if math.isfinite(document) or not finite else None
    if isinstance(document, int):  # Python refuses to write long ones in decimal
        return int(document) if document.bit_length() < 10_000 else hex(document)
    if isinstance(document, Mapping):
        return {
            convert_text(str(key)): to_jsonable(value, convert_text=convert_text, finite=finite)
            for key, value in document.items()
        }
    if isinstance(document, list | tuple):
        return [to_jsonable(item, convert_text=convert_text, finite=finite) for item in document]
    if hasattr(document, "tolist"):  # NumPy's numbers and arrays
        plain = document.tolist()
        if type(plain) is not type(document):
            return to_jsonable(plain, convert_text=convert_text, finite=finite)
    return convert_text(str(document))


def reject(name: str, owner: str, expected: str, value: object) -> NoReturn:
    """Raise the one kind of argument error there is."""
    value_text = redact(repr(value))
    if len(value_text) > 80:
        value_text = value_text[:77] + "..."
    raise ArgumentError(f"The {name!r} parameter of {owner} must be {expected}. Got {value_text} instead.")


def validate_integer(name: str, owner: str, value: object, low: int = 0, high: float = math.inf) -> int:
    """Return `value` as an int within [low, high]."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= int(value) <= high:
        return int(value)
    end = "inf)" if math.isinf(high) else f"{high:g}]"
    reject(name, owner, f"an int in the range [{low}, {end}", value)


def validate_positive(name: str, owner: str, value: object) -> float:
    """Return `value` as a finite float above zero."""
    if not is_number(value) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        reject(name, owner, "a finite number above 0", value)
    return float(value)  # type: ignore[arg-type]


def validate_choice(name: str, owner: str, value: object, allowed: Iterable[str]) -> str:
    """Return `value` if it is among `allowed`."""
    allowed = list(allowed)
    if value not in allowed:
        reject(name, owner, "one of " + ", ".join(map(repr, allowed)), value)
    return str(value)


def is_number(value: object) -> bool:
    """Tell whether `value` is a real number (a bool is not)."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def suggest_name(name: object, known: Iterable[object]) -> str:
    """Return a hint with the nearest known name, or the names there are."""
    names = [str(item) for item in known]
    matches = get_close_matches(str(name), names, n=1)
    if matches:
        return f"Did you mean {matches[0]!r}?"
    return "There are: " + ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else ".")


def import_optional(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a package that is not among the core ones, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed. "
            f"Install it with: pip install 'datamorphic[{extra}]'"
        ) from error


def to_generator(name: str, owner: str, seed: object) -> Any:
    """Return a NumPy generator from a seed, or the generator that was given."""
    import numpy as np

    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(validate_integer(name, owner, seed))


def pluralize(count: int, noun: str, plural_noun: str | None = None) -> str:
    """Return the count with its noun, e.g. ``1 row`` or ``10,000 rows``."""
    return f"{count:,} {noun if count == 1 else plural_noun or noun + 's'}"


def format_short(value: Any) -> str:
    """Return a value as a person would write it in a sentence."""
    if isinstance(value, float) or (is_number(value) and type(value).__module__ == "numpy"):
        return f"{float(value):.10g}"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."

"""Text for messages and reports, JSON values, and the removal of secrets."""

from __future__ import annotations

import math
import numbers
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

#: the option of the command line that a message adds in brackets
COMMAND_LINE_HINT = re.compile(r" \(--[^()]* on the command line\)")

MAX_SHORT_CHARACTERS = 60
MAX_SUGGESTED_NAMES = 12
MAX_DECIMAL_BITS = 10_000  # Python refuses to write longer integers in decimal


def pluralise(count: int, noun: str, plural_noun: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> pluralise(1, "row"), pluralise(10_000, "row"), pluralise(2, "query", "queries")
    ('1 row', '10,000 rows', '2 queries')
    """
    return f"{count:,} {noun if count == 1 else plural_noun or noun + 's'}"


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> join_names(["gender", "age", "origin"]), join_names(["gender"])
    ('gender, age and origin', 'gender')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def format_percent(share: float) -> str:
    """Return a share in percent, with three digits; 0% and 100% are exact.

    Examples
    --------
    >>> [format_percent(share) for share in (0.04, 0.12345, 0.0, 1.0, 0.99996, 1 / 30_000)]
    ['4%', '12.3%', '0%', '100%', '>99.9%', '<0.01%']
    """
    if 0 < share < 1e-4:
        return "<0.01%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{100 * share:.3g}%" if share < 9.995 else f"{100 * share:,.0f}%"


def to_text(value: object) -> str:
    """Return a value as text, even if `str` fails: an object whose own code raises, an integer of thousands of digits."""
    if isinstance(value, int) and value.bit_length() >= MAX_DECIMAL_BITS:
        return hex(value)
    try:
        return str(value)
    except Exception:  # the code of a user, which may raise anything
        return "(no readable text)"


def format_short(value: object) -> str:
    """Return a value as text for a sentence: numbers with 10 digits, long text cut."""
    is_numpy_number = isinstance(value, numbers.Real) and type(value).__module__ == "numpy"
    if isinstance(value, float) or is_numpy_number:
        return f"{float(value):.10g}"  # type: ignore[arg-type]
    text = to_text(value)
    return text if len(text) <= MAX_SHORT_CHARACTERS else text[: MAX_SHORT_CHARACTERS - 3] + "..."


def format_rounded(value: float, digits: int = 3) -> str:
    """Return a number rounded to a few digits as text, with separators of thousands.

    Examples
    --------
    >>> format_rounded(52_811.3), format_rounded(-0.123456, digits=2)
    ('52,800', '-0.12')
    """
    return f"{float(f'{value:.{digits}g}'):,.10g}"


def find_similar_name(name: str, known: Iterable[str]) -> str | None:
    """Return the closest known name; None if all are different."""
    return next(iter(get_close_matches(name, list(known), n=1)), None)


def suggest_name(name: object, known: Iterable[object]) -> str:
    """Return a hint that names the closest known name, or else all known names."""
    names = [to_text(item) for item in known]
    match = find_similar_name(to_text(name), names)
    if match is not None:
        return f"Did you mean {match!r}?"
    end = ", ..." if len(names) > MAX_SUGGESTED_NAMES else "."
    return "There are: " + ", ".join(map(repr, names[:MAX_SUGGESTED_NAMES])) + end


def parse_literal(text: str) -> Any:
    """Return a number, a text in quotes, a list or another literal of Python; any other text as it is.

    Examples
    --------
    >>> parse_literal("3"), parse_literal("None"), parse_literal("[1, 2]"), parse_literal("gini")
    (3, None, [1, 2], 'gini')
    """
    import ast

    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(text)
    return text


def to_jsonable(document: Any, *, convert_text: Callable[[str], str] = str, finite: bool = True) -> Any:
    """Convert a document to JSON values: text keys, None for NaN and infinity.

    Every text in the document is passed through `convert_text`. With ``finite=False`` NaN and infinity stay as they are,
    which Python's JSON reader accepts.

    Examples
    --------
    >>> to_jsonable({1: (math.nan, 2.5)})
    {'1': [None, 2.5]}
    """
    if document is None or isinstance(document, bool):
        return document
    if isinstance(document, str):
        return convert_text(str(document))
    if isinstance(document, float):
        return float(document) if math.isfinite(document) or not finite else None
    if isinstance(document, int):
        return int(document) if document.bit_length() < MAX_DECIMAL_BITS else hex(document)
    if isinstance(document, Mapping):
        return {
            convert_text(str(key)): to_jsonable(value, convert_text=convert_text, finite=finite)
            for key, value in document.items()
        }
    if isinstance(document, set | frozenset):
        document = sorted(document, key=repr)  # the order of a set is another one in every process
    if isinstance(document, list | tuple):
        return [to_jsonable(item, convert_text=convert_text, finite=finite) for item in document]
    if hasattr(document, "tolist"):  # numbers and arrays of NumPy
        plain = document.tolist()
        if type(plain) is not type(document):
            return to_jsonable(plain, convert_text=convert_text, finite=finite)
    return convert_text(str(document))


# -- cells of tables ---------------------------------------------------------------------------------------------------

#: Cells that a spreadsheet would run as formulas, quoted or not.
_FORMULA = re.compile(r"'*(?:[=+\-@].|[\t\r])", re.DOTALL)
#: Numbers, and texts about numbers such as -0.3 to 0.5 and +5%, which begin like formulas.
_SIGNED_NUMBER = re.compile(r"[+-](?:[\d.][^()|!=&\"']*|inf(?:inity)?|nan)", re.IGNORECASE)


def quote_formula(text: str) -> str:
    """Return the text of a cell with an apostrophe before it if a spreadsheet would run it as a formula.

    Examples
    --------
    >>> quote_formula("=cmd|calc"), quote_formula("-1.5"), quote_formula("red")
    ("'=cmd|calc", '-1.5', 'red')
    """
    return f"'{text}" if _FORMULA.match(text) and not _SIGNED_NUMBER.fullmatch(text) else text


def unquote_formula(text: str) -> str:
    """Return the text of a cell that `quote_formula` has quoted, or not.

    Examples
    --------
    >>> unquote_formula("'=cmd|calc"), unquote_formula("'red'")
    ('=cmd|calc', "'red'")
    """
    return text[1:] if text.startswith("'") and quote_formula(text[1:]) == text else text


# -- secrets -----------------------------------------------------------------------------------------------------------

# A URL inside another URL has these characters percent-escaped.
_COLON, _SLASH, _AT, _EQUALS = "(?::|%3a)", "(?:/|%2f)", "(?:@|%40)", "(?:=|%3d)"
_BEFORE_PASSWORD = rf"((?>{_COLON}{_SLASH}{{2}}[^\s:/?#\[]*?{_COLON}))"
# A URL that was taken for a path has one slash. A scheme of one letter is a drive.
_BEFORE_PASSWORD_IN_PATH = rf"((?>(?:{_COLON}{_SLASH}{{2}}|(?<=[a-z]{{2}}):/)[^\s:/?#\[]*?{_COLON}))"
_OPENING = re.compile(rf"(?={_BEFORE_PASSWORD_IN_PATH})", re.IGNORECASE)
_AT_SIGN, _SPACE, _LINE = re.compile(_AT), re.compile(r"\s"), re.compile(".+")
_PORT = re.compile(r"\d+(?:[/?#\s]|$)")
# Neither a port nor a password followed by @: removed, as it may be a secret.
_NO_PORT = re.compile(rf"{_BEFORE_PASSWORD}(?!\d+\b(?!{_COLON}\S)|\*\*\*@)[^\s/?#]+", re.IGNORECASE)
_TOKEN_AS_USER = re.compile(r"(https?://)[^\s:/?#@]+@", re.IGNORECASE)
# Names of secrets. The short ones count only as whole words (not in `sigma` or `author`), and `code` only in a URL,
# where it is the key of an Azure function.
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
# A URL, or a connection string like ``host=db password=x`` or ``AccountName=x;AccountKey=y``.
_ADDRESS = re.compile(rf"{_COLON}{_SLASH}{{2}}|\A\s*\w+\s*=[^=;]*[\s;]\w+\s*=", re.IGNORECASE)


def redact(text: str) -> str:
    """Replace passwords in URLs, and values of parameters named like secrets, by ***.

    Whatever may be part of a secret is replaced too: losing a host name is better than showing a password. The time
    is linear in the length of the text, since the text may come from anybody.

    Examples
    --------
    >>> redact("postgresql://ada:p@ss/word@db.example/runs?sslpassword=x&sslmode=require")
    'postgresql://ada:***@db.example/runs?sslpassword=***&sslmode=require'
    """
    if _AT_SIGN.search(text):
        text = _TOKEN_AS_USER.sub(r"\1***@", _LINE.sub(_remove_passwords, text))
    return _SECRET_VALUE.sub(r"\1***", _NO_PORT.sub(r"\1***", text))


def _remove_passwords(line: re.Match[str]) -> str:
    """Return a line with the passwords in its URLs replaced by ***.

    A password may hold any character. It ends at the last @ before the next space. If there is no such @, it ends at
    the first @ after the space (or the last one in that word), unless the text after the colon is a port.
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
    """Redact a parameter's value if it is a URL or connection string.

    A path must stay as it is, even if part of it looks like a secret.

    Examples
    --------
    >>> redact_parameter("token_classifier:model"), redact_parameter("https://host/?token=x")
    ('token_classifier:model', 'https://host/?token=***')
    """
    return redact(text) if _ADDRESS.search(text) else text


def is_secret_name(name: str) -> bool:
    """Return whether a parameter of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None

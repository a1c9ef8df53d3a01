"""Format scripts in one style, without changing their meaning or their comments."""

from __future__ import annotations

from collections.abc import Iterable

from ..morphisms.morphism import normalise_name
from .grammar import FREE_TEXT_POSITIONS, Argument, Call, CommentLine, ListArgument, Script

INDENTATION = "    "
_SPECIAL = set(';,[]()"')


def format_script(script: Script) -> str:
    """Return a script as text in one style, with repeated commands indented.

    Examples
    --------
    >>> from datamorphic.scripting.grammar import parse_script
    >>> print(format_script(parse_script("repeat( 2 )\\nmakeSeed( [a,b] ) //two\\nendRepeat()")), end="")
    repeat(2)
        makeSeed([a, b])  //two
    endRepeat()
    """
    lines, depth = [], 0
    for line in script.lines:
        text = ""
        if isinstance(line, CommentLine):
            text = f"//{line.text}"
        elif isinstance(line, Call):
            text = format_call(line)
            if normalise_name(line.name) == "endrepeat":
                depth = max(0, depth - 1)
        lines.append(f"{INDENTATION * depth}{text}".rstrip() + "\n")
        if isinstance(line, Call) and normalise_name(line.name) == "repeat":
            depth += 1
    return "".join(lines)


def format_call(call: Call) -> str:
    """Return a command as one line."""
    free_position = FREE_TEXT_POSITIONS.get(normalise_name(call.name))
    arguments = [
        _format_argument(argument, is_free=position == free_position)
        for position, argument in enumerate(call.arguments)
    ]
    comment = "" if call.comment is None else f"  //{call.comment}"
    return f"{call.name}({';'.join(arguments)}){comment}"


def format_names(names: Iterable[str]) -> str:
    """Return a list of names as an argument."""
    return f"[{', '.join(map(quote_text, names))}]"


def _format_argument(argument: Argument, is_free: bool) -> str:
    if isinstance(argument, ListArgument):
        return format_names(item.text for item in argument.items)
    return quote_free_text(argument.text) if is_free else quote_text(argument.text)


def quote_text(text: str) -> str:
    """Return a plain argument, in quotes where it needs them."""
    if text and text == text.strip() and not _SPECIAL & set(text):
        return text
    return f'"{text.replace(chr(34), chr(34) * 2)}"'


def quote_free_text(text: str) -> str:
    """Return free text, in quotes where it needs them."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
    if depth == 0 and text == text.strip() and not text.startswith('"'):
        return text
    return f'"{text.replace(chr(34), chr(34) * 2)}"'

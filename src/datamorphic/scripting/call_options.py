"""Arguments of public functions as options of script commands: ``walks=100``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, get_origin

from .._estimates import LIMIT_TIME
from .._text import COMMAND_LINE_HINT, suggest_name
from .._typing import list_alternatives
from ..core.options import Option, OptionField, Options, find_former_names, list_fields
from ..errors import UsageError
from ..exploration.options import WalkOptions
from ..synthesis.combination.options import ChainOptions
from ..synthesis.optimisation.options import SearchOptions

POOL_SEEDS = "pool"  # the cases of the pool, as the value of seeds
MAX_DIGITS = 19  # of a whole number


class OptionKind(StrEnum):
    """What the value of an option is."""

    TEXT = "a text"
    WHOLE = "a whole number"
    NUMBER = "a number"
    AMOUNT = "a whole number, or a text such as 10m"
    NAMES = "names, separated by commas"
    SEEDS = "a whole number, or pool"


#: the options of the functions that are commands
OPTION_CLASSES: dict[str, type[Options]] = {"explore": WalkOptions, "combine": ChainOptions, "optimise": SearchOptions}
#: arguments that do not change the result
IGNORED_ARGUMENTS = ("engine", "store", "resume", "progress", "timeout", "batch", "name", "trust")


def _find_kind(option_field: OptionField) -> OptionKind:
    """Return what the values of a field are in a script."""
    value_type = option_field.option.value_type
    types = [get_origin(part) or part for part in list_alternatives(value_type or option_field.hint)]
    if Sequence in types or Iterable in types:
        return OptionKind.NAMES
    if str in types:
        return OptionKind.AMOUNT if int in types or float in types else OptionKind.TEXT
    return OptionKind.WHOLE if int in types else OptionKind.NUMBER


def find_option(function: str, name: str) -> tuple[OptionKind, Option]:
    """Return the kind and the limits of an option of a function."""
    fields = list_fields(OPTION_CLASSES[function])
    return next((_find_kind(option_field), option_field.option) for option_field in fields if option_field.name == name)


#: the options of each function that change its result and can be written in a script
CALL_OPTIONS: dict[str, dict[str, OptionKind]] = {
    function: {
        option_field.name: _find_kind(option_field)
        for option_field in list_fields(options)
        if option_field.option.metavar and option_field.name not in IGNORED_ARGUMENTS
    }
    | {"seeds": OptionKind.SEEDS}
    for function, options in OPTION_CLASSES.items()
}


def to_script_words(message: str, command: str) -> str:
    """Return a message of a public function with what a script can say instead of Python's keyword arguments.

    Examples
    --------
    >>> to_script_words("Reduce walks, or limit the time with budget='1h'.", "randomWalkExplore")
    'Reduce walks, or limit the time with explore(seeds=pool;budget=1h).'
    """
    function = "optimise" if command.startswith("GAOptimize") else "explore"
    remedy = "budget=1h" if command in CALL_OPTIONS else f"{function}(seeds=pool;budget=1h)"
    return COMMAND_LINE_HINT.sub("", message.replace(LIMIT_TIME, f"limit the time with {remedy}"))


def parse_options(function: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of a function by name; raise `UsageError` if one is wrong."""
    known, options = CALL_OPTIONS[function], dict[str, Any]()
    former_names = find_former_names(OPTION_CLASSES[function])
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        name = former_names.get(name, name)
        if name not in known:
            raise UsageError(f"{function} has no option {name[:60]!r}. {suggest_name(name[:60], known)}")
        if not sign:
            raise UsageError(f"The option {name!r} of {function} has no value. Write {name}=value.")
        if name in options:
            raise UsageError(f"The option {name!r} of {function} is given twice. Give it once.")
        options[name] = _parse_value(function, name, known[name], value)
    return options


def _parse_value(function: str, name: str, kind: OptionKind, value: str) -> Any:
    try:
        if kind is OptionKind.NAMES:
            return [item.strip() for item in value.split(",") if item.strip()]
        if kind is OptionKind.SEEDS and value == POOL_SEEDS:
            return POOL_SEEDS
        if kind in (OptionKind.WHOLE, OptionKind.SEEDS) or (kind is OptionKind.AMOUNT and value.isdecimal()):
            if len(value) > MAX_DIGITS:
                raise ValueError
            return int(value)
        if kind is OptionKind.NUMBER:
            return float(value)
    except ValueError:
        raise UsageError(f"The option {name!r} of {function} must be {kind}. Got {value[:60]!r}.") from None
    return value


def format_options(function: str, arguments: Mapping[str, Any]) -> list[str] | None:
    """Return arguments as options; None if one cannot be written in a script.

    Arguments that do not change the result are left out.
    """
    known, texts = CALL_OPTIONS[function], list[str]()
    for name, value in arguments.items():
        if value is None or value is False or name in IGNORED_ARGUMENTS:
            continue
        if name not in known or isinstance(value, bool):
            return None
        if not isinstance(value, str | int | float):
            items = [str(item) for item in value] if isinstance(value, list | tuple) else [","]
            if any("," in item for item in items) or not all(isinstance(item, str) for item in value):
                return None
            value = ", ".join(items)
        text = f"{name}={value}"
        try:
            parse_options(function, [text])
        except UsageError:
            return None
        texts.append(text)
    return texts

"""Forms made from the options of the command line, and the arguments made from forms.

The commands are the one place where options, defaults and explanations are declared. A form offers those of them that a page
may set. Paths, stores, pickles and engines are never taken from a page.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import typer
from typer.models import OptionInfo

from ..cli.main import NAMES, import_command
from ..core import options as core_options
from ..core.capability import Capability
from ..core.groups import Inputs
from ..core.options import Option
from ..errors import UsageError

FieldKind = Literal["flag", "integer", "number", "text", "list"]
#: options that a page never sets: what is tested comes from the chosen subject, files and stores from the studio
RESERVED_OPTIONS = frozenset(
    {
        *("model", "subject", "data", "target", "kind", "feature_step", "order", "batch"),
        *(field.name for field in core_options.list_fields(Inputs)),
        *("html", "junit", "sarif", "markdown", "pytest", "save", "save_front", "record", "as_json"),
        *("store", "trust", "engine", "workers"),
    }
)
#: options that name code: a page may only offer a list of them
CODE_OPTIONS = frozenset(
    {
        "relation",
        "relations",
        "system",
        "map",
        "like",
        "against",
        "param",
        "generator",
        "selector",
        "region",
        "candidates",
    }
)
FILE_METAVARS = ("FILE", "DATA", "URL", "FOLDER", "MODEL")


@dataclass(frozen=True, kw_only=True)
class FormField:
    """One option of a command, as a form shows it."""

    name: str  # of the parameter
    option: str  # on the command line, such as ``--walks``; empty for an argument
    kind: FieldKind
    default: Any
    help: str
    metavar: str
    label: str  # the name for people
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


@functools.cache
def _list_functions() -> dict[str, Callable[..., None]]:
    """Return the functions of all commands by name; ``runs resume`` is one of a group."""
    functions: dict[str, Callable[..., None]] = {}
    for name in NAMES:
        command = import_command(name)
        if not isinstance(command, typer.Typer):
            functions[name] = command
            continue
        for part in command.registered_commands:
            if part.callback is not None:
                functions[f"{name} {part.name or part.callback.__name__.replace('_', '-')}"] = part.callback
    return functions


@functools.cache
def list_options(command: str) -> dict[str, FormField]:
    """Return all options of a command by the names of their parameters, in the order of the help."""
    function = _list_functions().get(command)
    if function is None:
        raise UsageError(f"There is no command {command!r}.")
    hints = typing.get_type_hints(function, include_extras=True)
    declared_options = _list_declared_options(command)
    options: dict[str, FormField] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        info = next((item for item in getattr(hints[name], "__metadata__", ()) if isinstance(item, OptionInfo)), None)
        if info is None:  # an argument
            continue
        words = (info.default, *(info.param_decls or ()))  # in annotations, Typer keeps the first name as the default
        declared_names = [word for word in words if isinstance(word, str) and word.startswith("--")]
        declared = declared_options.get(name, Option(""))
        options[name] = FormField(
            name=name,
            label=declared.label or name.replace("_", " ").capitalize(),
            choices=() if declared.flag_value is not None else declared.choices,
            option=declared_names[0].partition("/")[0] if declared_names else f"--{name.replace('_', '-')}",
            kind=_find_kind(hints[name].__origin__),
            default=parameter.default,
            help=info.help or "",
            metavar=str(info.metavar or ""),
            low=info.min,
            high=info.max,
        )
    return options


def has_option(command: str, option: str) -> bool:
    """Return whether a command has an option, such as ``--store``."""
    return any(field.option == option for field in list_options(command).values())


def list_fields(command: str) -> dict[str, FormField]:
    """Return the options of a command that a form may offer, by name."""
    return {
        name: field
        for name, field in list_options(command).items()
        if name not in RESERVED_OPTIONS and field.metavar not in FILE_METAVARS
    }


def _list_declared_options(command: str) -> dict[str, Option]:
    """Return the options of a command that its capability declares."""
    capability: Capability[Any, Any] | None = getattr(_list_functions()[command], "capability", None)
    fields = [] if capability is None else core_options.list_fields(capability.options)
    return {field.name: field.option for field in fields}


def list_own_fields(command: str) -> list[str]:
    """Return the names of the options that a capability has for itself: not those about columns, computing and files."""
    options, fields = _list_declared_options(command), list_fields(command)
    return [name for name, option in options.items() if option.panel is None and name in fields]


def build_arguments(
    command: str,
    values: Mapping[str, Any],
    allowed: Collection[str] | None = None,
    choices: Mapping[str, Collection[str]] | None = None,
) -> list[str]:
    """Return the arguments of a command for the values of a form; values that are the default are left out.

    `allowed` are the options that the page has, `choices` the values of those with a list. A page can send anything, so that
    both are checked here.

    Every value is one word with its option (``--walks=100``), so that no value can become another option.

    Examples
    --------
    >>> build_arguments("explore", {"walks": 500, "strategy": "auto", "budget": None})
    ['--walks=500']
    """
    fields = list_fields(command)
    words: list[str] = []
    for name, value in values.items():
        field = fields.get(name)
        if field is None or (allowed is not None and name not in allowed):
            raise UsageError(f"The option {name!r} of {command!r} cannot be set on this page.")
        if value is None or value == "" or value == [] or value == field.default:
            continue
        known_values = (choices or {}).get(name) or field.choices or None
        if known_values is None and name in CODE_OPTIONS:
            raise UsageError(f"The option {name!r} of {command!r} can only be chosen from a list.")
        for item in value if field.kind == "list" else [value]:
            if known_values is not None and item not in known_values:
                raise UsageError(f"{field.label} cannot be {item!r} here. Choose one from the list.")
        if field.kind == "flag":
            words += [field.option] if value else []
        elif field.kind == "list":
            words += [f"{field.option}={_to_word(item)}" for item in value]
        else:
            words.append(f"{field.option}={_convert(field, value)}")
    return words


def read_values(command: str, arguments: Collection[str]) -> dict[str, Any]:
    """Return the values of a form that `build_arguments` made into these arguments; other words are left out.

    Examples
    --------
    >>> read_values("test", ["model.skops", "--seed=3", "--protected=age", "--protected=sex", "--html=x"])
    {'seed': 3, 'protected': ['age', 'sex']}
    """
    names = {field.option: name for name, field in list_fields(command).items()}
    fields, values = list_fields(command), dict[str, Any]()
    for word in arguments:
        option, _, text = word.partition("=")
        name = names.get(option)
        if name is None:
            continue
        kind = fields[name].kind
        if kind == "list":
            values.setdefault(name, []).append(text)
        elif kind in ("integer", "number"):
            values[name] = int(text) if kind == "integer" else float(text)
        else:
            values[name] = True if kind == "flag" else text
    return values


def _find_kind(annotation: Any) -> FieldKind:
    """Return the kind of input for the type of a parameter."""
    types = set(typing.get_args(annotation)) - {type(None)} or {annotation}
    base = types.pop() if len(types) == 1 else str
    if typing.get_origin(base) is list:
        return "list"
    kinds: dict[Any, FieldKind] = {bool: "flag", int: "integer", float: "number"}
    return kinds.get(base, "text")


def _convert(field: FormField, value: Any) -> str:
    """Return a value as a word; raise if a number is invalid or out of range."""
    if field.kind in ("integer", "number"):
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise UsageError(f"{field.label} is a number. Got {value!r}.") from None
        if (field.low is not None and number < field.low) or (field.high is not None and number > field.high):
            raise UsageError(
                f"{field.label} must be at least {field.low}."
                if field.high is None
                else f"{field.label} must lie between {field.low} and {field.high}."
            )
        return str(int(number)) if field.kind == "integer" else repr(number)
    return _to_word(value)


def _to_word(value: Any) -> str:
    text = str(value)
    if "\0" in text or "\n" in text:
        raise UsageError("A value must be one line without null characters.")
    return text

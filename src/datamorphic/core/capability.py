"""`capability`: make a public function from options and the function that works with them."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from typing import Any, Generic, ParamSpec, get_args, get_origin

from .._text import suggest_name
from .._typing import Accepts, find_rule, list_alternatives
from .call_listeners import notify_of_call
from .execute import Execution, ResultType, RunOptions, execute
from .options import OptionField, Options, find_former_names, list_fields

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True)
class Capability(Generic[RunOptions, ResultType]):
    """One thing that the package does: its name, its options, and the function that does it."""

    name: str
    options: type[RunOptions]
    run: Callable[[RunOptions, Execution[Any]], ResultType]
    verb: str  # its command, and what a run store calls its runs


def capability(
    options: Callable[Parameters, RunOptions], *, verb: str = ""
) -> Callable[[Callable[[RunOptions, Execution[Any]], ResultType]], Callable[Parameters, ResultType]]:
    """Decorate the function that does the work of a capability: the result is the public function.

    It has the parameters of the option class, in its signature, for type checkers and in its documentation, and runs through
    `execute`. Its attribute ``capability`` is what commands and forms are made from. `verb` is the name of the command, if it is not
    that of the function.
    """
    assert isinstance(options, type)
    option_class: type[RunOptions] = options

    def decorate(function: Callable[[RunOptions, Execution[Any]], ResultType]) -> Callable[Parameters, ResultType]:
        described = Capability(function.__name__, option_class, function, verb or function.__name__)

        @functools.wraps(function)
        def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> ResultType:
            __tracebackhide__ = True  # pytest leaves this frame out of tracebacks
            values = read_values(described, arguments, keywords)
            with notify_of_call(described.name, values):
                return execute(described, option_class(**values))

        call.__signature__ = build_signature(option_class)  # type: ignore[attr-defined]
        call.__doc__ = build_documentation(function.__doc__ or "", option_class)
        call.capability = described  # type: ignore[attr-defined]
        return call

    return decorate


def read_values(
    described: Capability[RunOptions, Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of the options of a call, in their order; former names of keywords still work, with a warning."""
    fields = {field.name: field for field in list_fields(described.options)}
    former_names = find_former_names(described.options)
    collector = next((name for name, field in fields.items() if field.option.collects_keywords), None)
    values: dict[str, Any] = {}
    other_values: dict[str, Any] = {}
    for name, value in keywords.items():
        if name not in fields and name in former_names:
            warnings.warn(
                f"{name!r} of {described.name} is now called {former_names[name]!r}.", DeprecationWarning, stacklevel=3
            )
            name = former_names[name]
        if name not in fields and collector is not None:
            other_values[name] = value
            continue
        if name not in fields:
            hint = suggest_name(name, fields)
            raise TypeError(f"{described.name}() got an unexpected keyword argument {name!r}. {hint}")
        values[name] = value
    if collector is not None and other_values:
        values[collector] = {**(values.get(collector) or {}), **other_values}
    positional = [field.name for field in fields.values() if not field.keyword_only]
    if len(arguments) > len(positional):
        raise TypeError(
            f"{described.name}() takes at most {len(positional)} positional arguments, but {len(arguments)} were given."
        )
    for name, value in zip(positional, arguments, strict=False):
        if name in values:
            raise TypeError(f"{described.name}() got multiple values for argument {name!r}.")
        values[name] = value
    missing_names = [name for name, field in fields.items() if field.default is MISSING and name not in values]
    if missing_names:
        raise TypeError(f"{described.name}() needs {', '.join(map(repr, missing_names))}.")
    return {name: values[name] for name in fields if name in values}


def get_capability(function: Callable[..., Any]) -> Capability[Any, Any]:
    """Return the capability of a public function."""
    described: Capability[Any, Any] = function.capability  # type: ignore[attr-defined]
    return described


# -- signature and documentation -----------------------------------------------------------------------------------------


class TypeText(str):
    """A type as a signature shows it."""

    __slots__ = ()
    __repr__ = str.__str__


def build_signature(options: type[Options]) -> inspect.Signature:
    """Return the signature of a public function with these options."""
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY if field.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=TypeText(format_type(field.hint)),
        )
        for field in list_fields(options)
        if not field.option.collects_keywords
    ]
    collectors = [field for field in list_fields(options) if field.option.collects_keywords]
    return inspect.Signature(
        [*parameters, *(inspect.Parameter(field.name, inspect.Parameter.VAR_KEYWORD) for field in collectors)]
    )


def build_documentation(text: str, options: type[Options]) -> str:
    """Return a docstring with the section of parameters, before the first section that it has."""
    lines = inspect.cleandoc(text).split("\n")
    is_heading = [set(line) == {"-"} for line in [*lines[1:], ""]]
    place = is_heading.index(True) if True in is_heading else len(lines)
    section = ["Parameters", "----------"]
    for field in list_fields(options):
        heading = f"{field.name} : {_format_documented_type(field)}"
        section += [f"**{field.name}" if field.option.collects_keywords else heading, f"    {field.option.text}"]
    return "\n".join([*lines[:place], *section, "", *lines[place:]])


def _format_documented_type(field: OptionField) -> str:
    if field.option.choices:
        return "{" + ", ".join(f'"{choice}"' for choice in field.option.choices) + "}"
    text = format_type(field.hint)
    return f"{text.removesuffix(' | None')}, optional" if field.default is None else text


def format_type(hint: Any) -> str:
    """Return a type as source code has it."""
    return " | ".join(dict.fromkeys(_format_one_type(part) for part in list_alternatives(hint)))


def _format_one_type(hint: Any) -> str:
    rule = find_rule(hint)
    if isinstance(rule, Accepts):
        return rule.name
    if hint is type(None):
        return "None"
    if hint is ...:
        return "..."
    origin = get_origin(hint)
    if origin is None:
        return getattr(hint, "__name__", str(hint))
    arguments = ", ".join(repr(item) if isinstance(item, str) else format_type(item) for item in get_args(hint))
    return f"{getattr(origin, '__name__', origin)}[{arguments}]"

"""Questions about the parameters of a pattern, made from the pattern itself and from the inputs of the system."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ..._text import format_short
from ...errors import ArgumentError, WrongAnswer
from ..patterns.inputs import AffineChange, ChangeSet, Permute, Swap, TextInput, Widen
from ..patterns.pattern import Pattern, PatternParameter, Side
from ..patterns.relation import InputPattern, OutputPattern
from .steps import (
    NONE,
    YES_NO,
    Choice,
    Question,
    format_item,
    format_list,
    pick_names,
    read_list,
    read_number,
    read_pairs,
    read_whole_number,
    read_yes_no,
)
from .systems import GuidedSystem, InputParameter, find_answer_kind, format_values, list_parts
from .tables import read_guide

#: parameters of the input side that name columns
COLUMN_PARAMETERS = ("columns", "column", "text", "filter", "direction")
ALL_PARTS = "all"  # of an answer


def list_asked_parameters(pattern: Pattern, side: Side) -> list[PatternParameter]:
    """Return the parameters that a user is asked about."""
    maker = pattern.inputs if side == "input" else pattern.outputs
    hidden = read_guide().parameters.hidden.get(maker.__name__, ()) if maker is not None else ()
    return [parameter for parameter in pattern.parameters(side) if parameter.name not in hidden]


def is_usable(pattern: Pattern, side: Side, system: GuidedSystem | None = None) -> bool:
    """Return whether a pattern has this side, its parameters can be given as texts, and the system has inputs for it."""
    maker = pattern.inputs if side == "input" else pattern.outputs
    if maker is None:
        return False
    required = [item for item in pattern.parameters(side) if item.required]
    if any("Callable" in item.type for item in required):
        return False
    if side == "output" or system is None:
        return True
    columns = [list_columns(pattern, item, system) for item in required if item.name in COLUMN_PARAMETERS]
    fewest = 2 if issubclass(maker, Swap | Permute) else 1
    return all(len(names) >= fewest for names in columns)


def list_columns(pattern: Pattern, parameter: PatternParameter, system: GuidedSystem) -> list[str]:
    """Return the inputs that a parameter may name."""
    maker: Any = pattern.inputs
    if isinstance(maker, type) and issubclass(maker, AffineChange):
        return [item.name for item in system.inputs if item.is_number]
    is_text = isinstance(maker, type) and issubclass(maker, TextInput | Widen | ChangeSet)
    if parameter.name == "text" or (is_text and parameter.name == "column"):
        return [item.name for item in system.inputs if not item.is_number]
    return system.input_names


def is_relevant(parameter: PatternParameter, known: Mapping[str, Any], answer_kind: str) -> bool:
    """Return whether a parameter matters, after the parameters that are known."""
    if parameter.name == "part":
        return answer_kind == "dict"
    if "column" in known and not known["column"]:
        return parameter.name != "values"
    return not (parameter.name == "times" and known.get("column"))


def build_parameter_question(
    pattern: Pattern,
    parameter: PatternParameter,
    side: Side,
    system: GuidedSystem,
    known: Mapping[str, Any],
    example: InputPattern | OutputPattern | None,
) -> Question:
    """Return the question about one parameter; its value is that of the parameter.

    `known` are the parameters before it, `example` a pattern of the same kind whose parameters are the defaults.
    """
    maker: Any = pattern.inputs if side == "input" else pattern.outputs
    name, kind = parameter.name, parameter.type
    column = system.find_input(str(known.get("column") or known.get("filter") or ""))
    options: dict[str, Any] = {}
    default = _find_default(parameter, system, known, example)
    names_columns = (side == "input" and name in COLUMN_PARAMETERS) or (side == "output" and name == "column")
    if names_columns:
        options = _ask_columns(list_columns(pattern, parameter, system), parameter)
        single = not kind.startswith("tuple")
        default = default if default is not None else ("" if parameter.required else NONE)
    elif words := read_guide().parameters.words.get(maker.__name__, {}).get(name):
        options = {"choices": tuple(map(Choice, words)), "read": str}
    elif name == "part":
        parts = list_parts(system.answers)
        options = {
            "choices": (Choice(ALL_PARTS, "the whole answer"), *map(Choice, parts)),
            "read": lambda text: None if text == ALL_PARTS else text,
        }
        default = default or ALL_PARTS
    elif name == "parts":
        options = _ask_parts(system)
    elif kind == "bool":
        options = {"choices": YES_NO, "read": read_yes_no}
    elif kind == "float":
        options = {"read": read_number}
    elif kind == "int":
        options = {"read": read_whole_number}
    elif kind.startswith("Mapping"):
        options = {"read": lambda text: _read_mapping(text, column, values_only="filter" in known)}
        default = default or _suggest_pairs(name, column)
    elif kind.startswith("tuple"):
        options = {"read": lambda text: tuple(_read_values(text, column))}
        default = default or _suggest_values(column)
    elif kind == "Any":
        options = {"read": lambda text: _read_values(text, column, single=True)[0]}
    else:
        options = {"read": _unquote}
    if names_columns and single:
        read_columns = options["read"]
        options["read"] = lambda text: _take_one(read_columns(text), name)
    return Question(
        id=f"{side}.{name}",
        text=parameter.help or name,
        default=default or None,
        help=_explain(kind, names_columns),
        **{"choices": (), "open": False, **options},
    )


def check_parameters(pattern: Pattern, side: Side, known: Mapping[str, Any], name: str, complete: bool) -> Any:
    """Return the pattern with the parameters that are known, or None if some are missing.

    A parameter that is wrong by itself is rejected at once. Parameters that do not fit together are rejected when they are
    complete.
    """
    try:
        return pattern.input(**known) if side == "input" else pattern.output(**known)
    except ArgumentError as error:
        if complete or f"The {name!r} parameter" in str(error):
            raise WrongAnswer(_simplify(str(error), name)) from error
    except (TypeError, ArithmeticError) as error:
        if complete:
            raise WrongAnswer(f"These values cannot be used: {format_short(error)}.") from error
    return None


def _simplify(message: str, name: str) -> str:
    """Return a message about a parameter without the words of Python."""
    start, separator, rest = message.partition(" must be ")
    return f"{name} must be {rest}" if separator and start.startswith("The '") else message


def read_parameters(instance: InputPattern | OutputPattern) -> dict[str, Any]:
    """Return the parameters of a pattern that differ from their defaults.

    Examples
    --------
    >>> import datamorphic as dm
    >>> read_parameters(dm.patterns["Multiplicative"].input(columns=("x",), factor=3))
    {'columns': ('x',), 'factor': 3}
    """
    parameters = {}
    for item in dataclasses.fields(instance):
        value = getattr(instance, item.name)
        hidden = item.name in read_guide().parameters.hidden.get(type(instance).__name__, ())
        if item.default is dataclasses.MISSING or (value != item.default and not hidden):
            parameters[item.name] = value
    return parameters


# -- defaults ----------------------------------------------------------------------------------------------------------


def _find_default(
    parameter: PatternParameter,
    system: GuidedSystem,
    known: Mapping[str, Any],
    example: InputPattern | OutputPattern | None,
) -> str | None:
    """Return the default as an answer: that of the example if it fits the system, else one from the data."""
    value = getattr(example, parameter.name, None) if example is not None else None
    if value is not None and _fits(parameter.name, value, system):
        return _format_default(value)
    if parameter.name == "amount" and "columns" in known:
        return _suggest_amount(system, known)
    if parameter.required or parameter.default is None or parameter.default in ("", ()):
        return None
    return _format_default(parameter.default)


def _fits(name: str, value: Any, system: GuidedSystem) -> bool:
    if name not in COLUMN_PARAMETERS:
        return True
    return all(item in system.input_names for item in ((value,) if isinstance(value, str) else value))


def _format_default(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{format_item(key)} -> {format_item(item)}" for key, item in value.items())
    if isinstance(value, tuple | list):
        return format_list(value)
    if isinstance(value, float):
        return f"{value:g}"
    return format_item(value)


def _suggest_amount(system: GuidedSystem, known: Mapping[str, Any]) -> str:
    """Return a twentieth of the smallest range, with one digit; nothing to add if there is a factor."""
    if known.get("factor", 1) != 1:
        return "0"
    chosen = [item for item in system.inputs if item.name in known["columns"] and item.is_number]
    widths = [item.high - item.low for item in chosen if math.isfinite(item.high - item.low) and item.high > item.low]
    amount = float(f"{min(widths, default=20.0) / 20:.0e}")
    return f"{max(1, round(amount))}" if any(item.kind == "whole number" for item in chosen) else f"{amount:g}"


def _suggest_pairs(name: str, column: InputParameter | None) -> str | None:
    if name != "directions" or column is None or len(column.values) < 2:
        return None
    return f"{format_item(column.values[0])} -> {format_item(column.values[1])}"


def _suggest_values(column: InputParameter | None) -> str | None:
    if column is None or column.kind != "category" or not column.values:
        return None
    return format_values(tuple(value for value in column.values if value != "any")) or None


# -- reading -----------------------------------------------------------------------------------------------------------


def _ask_columns(names: list[str], parameter: PatternParameter) -> dict[str, Any]:
    def read(text: str) -> tuple[str, ...]:
        if text == NONE and not parameter.required and NONE not in names:
            return ()
        return tuple(pick_names(read_list(text), names))

    return {"choices": tuple(map(Choice, names)), "open": True, "read": read}


def _take_one(columns: tuple[str, ...], name: str) -> str:
    if len(columns) > 1:
        raise WrongAnswer(f"{len(columns)} columns were named. Expected one.")
    return columns[0] if columns else ""


def _ask_parts(system: GuidedSystem) -> dict[str, Any]:
    answers = system.answers
    if find_answer_kind(answers) == "dict":
        parts = list_parts(answers)
        return {
            "choices": tuple(map(Choice, parts)),
            "open": True,
            "read": lambda text: tuple(pick_names(read_list(text), parts, "part")),
        }
    words = ("size", "items", "order")
    return {
        "choices": tuple(map(Choice, words)),
        "open": True,
        "read": lambda text: tuple(pick_names(read_list(text), words, "part")),
    }


def _read_values(text: str, column: InputParameter | None, *, single: bool = False) -> list[Any]:
    texts = [_unquote(text)] if single else read_list(text)
    return texts if column is None else [column.read_value(item) for item in texts]


def _read_mapping(text: str, column: InputParameter | None, *, values_only: bool) -> dict[Any, Any]:
    pairs = read_pairs(text)
    if column is None:
        return dict(pairs)
    return {key if values_only else column.read_value(key): column.read_value(value) for key, value in pairs.items()}


def _unquote(text: str) -> str:
    """Return a text without the quotation marks around it, which keep the spaces at its ends."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def _explain(kind: str, names_columns: bool) -> str:
    if names_columns:
        return "Several columns with commas between them." if kind.startswith("tuple") else ""
    if kind.startswith("Mapping"):
        return "Pairs with an arrow: up -> down, newest -> oldest. Quotation marks keep commas and spaces: '.' -> ','."
    if kind.startswith("tuple"):
        return "Values with commas between them. Quotation marks keep commas and spaces: ' .', ','."
    return ""

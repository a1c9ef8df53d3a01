"""Conversion of values of options without pydantic, which Typer imports for it at the start of every command."""

from __future__ import annotations

import math
import re
from typing import Any, TypeAlias

#: a class of click, which newer versions of Typer have as a copy of their own
Context: TypeAlias = Any

PLAIN_NUMBERS = {int: re.compile("[0-9]{1,15}"), float: re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")}


def convert_plain_values(param: Any) -> None:
    """Let a parameter convert texts and plain numbers by itself, and leave all other values to Typer."""
    descriptor = getattr(param, "type_descriptor", None)
    if descriptor is None or "process_value" in vars(param):  # Typer before 0.29, or converted already
        return
    convert = param.process_value

    def process_value(ctx: Context, value: Any) -> Any:
        plain_value = _convert(value, descriptor)
        if plain_value is None and (value is not None or param.required):
            return convert(ctx, value)
        return plain_value if param.callback is None else param.callback(ctx, param, plain_value)

    param.process_value = process_value


def _convert(value: Any, descriptor: Any) -> Any:
    """Return the value of an option, or None if it is not plain or out of range: Typer has the message."""
    wanted_type, info = descriptor.annotation, descriptor.parameter_info
    if wanted_type is str and isinstance(value, str):
        return value
    if wanted_type not in PLAIN_NUMBERS or info.clamp:
        return None
    if isinstance(value, str) and PLAIN_NUMBERS[wanted_type].fullmatch(value):
        value = wanted_type(value)
    low, high = (-math.inf if info.min is None else info.min), (math.inf if info.max is None else info.max)
    return value if type(value) is wanted_type and low <= value <= high else None

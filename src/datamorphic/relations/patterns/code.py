"""Relations of patterns as Python code."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...reporting.python_code import format_literal
from .catalogue import patterns
from .relation import BothOutputs, ChainedInput, ConditionalInput, InputPattern, OutputPattern, PatternRelation


def format_code(relation: PatternRelation) -> str:
    """Return an expression of Python that builds a relation.

    Examples
    --------
    >>> import datamorphic as dm
    >>> relation = dm.patterns["Monotone"].input(columns=("x",), amount=2.0) >> dm.patterns["Monotone"].output()
    >>> format_code(relation.named("f.MR1"))
    '(dm.patterns["Monotone"].input(columns=("x",), amount=2.0) >> dm.patterns["Monotone"].output()).named("f.MR1")'
    """
    options = "" if relation.promise == "MR" else f", promise={format_literal(relation.promise)}"
    sides = f"({format_input(relation.input)} >> {format_output(relation.output)})"
    return f"{sides}.named({format_literal(relation.name)}{options})"


def format_input(change: InputPattern) -> str:
    """Return an expression that builds an input pattern."""
    if isinstance(change, ChainedInput):
        return f"{format_input(change.first)}.then({format_input(change.second)})"
    if isinstance(change, ConditionalInput):
        conditions = ", ".join(f"{name}={format_literal(value)}" for name, value in change.conditions.items())
        return f"{format_input(change.change)}.where({conditions})"
    if change.pattern in patterns and patterns[change.pattern].inputs is type(change):
        return f'dm.patterns["{change.pattern}"].input({_format_fields(change)})'
    return f"{type(change).__name__}({_format_fields(change)})"


def format_output(expectation: OutputPattern) -> str:
    """Return an expression that builds an output pattern."""
    if isinstance(expectation, BothOutputs):
        return f"({format_output(expectation.first)} & {format_output(expectation.second)})"
    if expectation.pattern in patterns and patterns[expectation.pattern].outputs is type(expectation):
        return f'dm.patterns["{expectation.pattern}"].output({_format_fields(expectation)})'
    return f"{type(expectation).__name__}({_format_fields(expectation)})"


def _format_fields(pattern: Any) -> str:
    """Return the fields that differ from their defaults as keyword arguments; derived ones are left out."""
    derived = {"factor"} if hasattr(pattern, "odd") else set()
    return ", ".join(
        f"{item.name}={format_literal(getattr(pattern, item.name))}"
        for item in dataclasses.fields(pattern)
        if item.name not in derived and getattr(pattern, item.name) != item.default
    )

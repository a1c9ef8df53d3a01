"""The entries of the catalogue, with their examples: patterns.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

from ..._tables import read_document
from ..._text import suggest_name
from ...errors import DataError, DatamorphicError
from . import inputs, outputs
from .pattern import ParentEdge, Pattern, PatternExample, PatternKind
from .relation import PatternRelation, Promise

# a class and its parameters; an input may have `where`, the values of the cases it applies to
PatternSide = Mapping[str, Mapping[str, Any]]
OTHER_DOMAIN = "numeric programs"  # of systems that patterns.toml gives no domain


@dataclass(frozen=True, kw_only=True)
class RelationRow:
    """A row that builds a relation: classes of inputs.py and outputs.py with their parameters."""

    name: str
    promise: Promise = "MR"
    input: PatternSide = field(default_factory=dict)
    output: PatternSide = field(default_factory=dict)
    system: str = ""


@dataclass(frozen=True, kw_only=True)
class _ExampleRow(RelationRow):
    fault: str


@dataclass(frozen=True, kw_only=True)
class _PatternRow:
    name: str
    kind: PatternKind
    scope: str
    definition: str
    reference: str
    examples: tuple[_ExampleRow, ...]
    stated: Mapping[str, str] = field(default_factory=dict)  # the section by parent
    inferred: Mapping[str, str] = field(default_factory=dict)  # the reason by parent
    inputs: str = ""
    outputs: str = ""
    partners: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class _Catalogue:
    domains: Mapping[str, str]
    patterns: tuple[_PatternRow, ...]


@cache
def read_patterns() -> tuple[Pattern, ...]:
    """Return the patterns of the catalogue, with their examples."""
    return tuple(
        Pattern(
            name=row.name,
            kind=row.kind,
            scope=row.scope,
            definition=row.definition,
            reference=row.reference,
            edges=(
                *(ParentEdge(name, True, reason) for name, reason in row.inferred.items()),
                *(ParentEdge(name, False, f"stated in section {at} of Ying 2024") for name, at in row.stated.items()),
            ),
            inputs=_find_class(inputs, row.inputs) if row.inputs else None,
            outputs=_find_class(outputs, row.outputs) if row.outputs else None,
            partners=row.partners,
            examples=tuple(
                PatternExample(relation=build_relation(example), system=example.system, fault=example.fault)
                for example in row.examples
            ),
            note=row.note,
        )
        for row in _read_catalogue().patterns
    )


@cache
def _read_catalogue() -> _Catalogue:
    return read_document(__package__, "patterns.toml", _Catalogue)


def build_relation(row: RelationRow) -> PatternRelation:
    """Return the relation of a row."""
    domain = _read_catalogue().domains.get(row.system, OTHER_DOMAIN)
    try:
        change = _build_side(inputs, row.input)
        if "where" in row.input:
            change = change.where(**row.input["where"])
        return (change >> _build_side(outputs, row.output)).named(row.name, promise=row.promise, domain=domain)
    except (TypeError, DatamorphicError) as error:
        raise DataError(f"The row {row.name!r} of the tables of patterns is wrong: {error}") from error


def _build_side(module: ModuleType, row: PatternSide) -> Any:
    name, parameters = next(iter(row.items()))
    return _find_class(module, name)(**parameters)


def _find_class(module: ModuleType, name: str) -> Any:
    """Return an executable pattern by the name of its class."""
    classes = {key: value for key, value in vars(module).items() if getattr(value, "pattern", None)}
    if name not in classes:
        raise DataError(f"There is no executable pattern {name!r}. {suggest_name(name, classes)}")
    return classes[name]

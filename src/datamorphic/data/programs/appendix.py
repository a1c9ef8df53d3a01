"""Helpers to write down the relations in the appendix of Ying (2024)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...relations.box import Affine, Box
from ...relations.function import FunctionRelation


def multiply_by(factor: float, dimension: int = 1) -> Affine:
    """Return the change that multiplies every input by a factor."""
    return Affine.scaled(factor, dimension)


def add(shift: float, dimension: int = 1) -> Affine:
    """Return the change that adds a number to every input."""
    return Affine.scaled(1.0, dimension, shift)


def subtract_from(number: float) -> Affine:
    """Return the change that subtracts the input from a number."""
    return Affine.scaled(-1.0, 1, number)


def make_relation(
    name: str, box: Box, says: str, changes: Affine | Sequence[Affine], **promise: Any
) -> FunctionRelation:
    """Return a relation whose sources, and follow-ups if possible, lie in a domain.

    Reflected follow-ups may lie outside, because hardly any would stay in the domain.
    """
    full_relation = FunctionRelation(name=name, domain=box, follow_up=changes, says=says, **promise)
    not_reflected = [change for change in full_relation.follow_up if not (change.matrix < 0).any()]
    if not not_reflected or full_relation.given is not None:
        return full_relation
    return full_relation.over(replace(full_relation, follow_up=not_reflected).within(box).domain)


def index_by_name(relations: Iterable[FunctionRelation]) -> dict[str, FunctionRelation]:
    """Return relations by their names."""
    return {relation.name: relation for relation in relations}

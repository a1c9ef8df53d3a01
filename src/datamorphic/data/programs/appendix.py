"""How the relations of the appendix of document 002 are written down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...relations.boxes import Affine, Box
from ...relations.numeric import FunctionRelation


def times(factor: float, dimension: int = 1) -> Affine:
    """Return the change that multiplies every input."""
    return Affine.scaled(factor, dimension)


def plus(shift: float, dimension: int = 1) -> Affine:
    """Return the change that adds to every input."""
    return Affine.scaled(1.0, dimension, shift)


def minus_from(number: float) -> Affine:
    """Return the change that subtracts the input from a number."""
    return Affine.scaled(-1.0, 1, number)


def relation(
    name: str, box: Box, says: str, changes: Affine | Sequence[Affine], **promise: Any
) -> FunctionRelation:
    """Return a relation whose sources lie in a domain and have their follow-ups there, too ("fit").

    Follow-ups that are reflected go wherever that leads ("image"): hardly any would stay in the domain.
    """
    made = FunctionRelation(name=name, domain=box, follow_up=changes, says=says, **promise)
    kept = [change for change in made.follow_up if not (change.matrix < 0).any()]
    if not kept or made.given is not None:
        return made
    return made.over(replace(made, follow_up=kept).within(box).domain)


def by_name(relations: Iterable[FunctionRelation]) -> dict[str, FunctionRelation]:
    """Return relations by their names."""
    return {each.name: each for each in relations}

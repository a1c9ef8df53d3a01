"""Example relations with one source domain, for comparing selectors."""

from __future__ import annotations

import numpy as np

from .._validation import validate_integer
from ..relations.box import Affine
from ..relations.function import FunctionRelation

#: how a follow-up is made from a source: rotation of its numbers, factor and shift
CHANGES = ((0, -1.0, 1.0), (1, 0.5, 0.0), (0, 2.0, 0.5), (1, -0.5, 0.5), (2, -3.0, 1.0))


def make_mixed_relations(count: int, dimension: int) -> list[FunctionRelation]:
    """Return relations on the unit cube, in turn with one, two and three follow-ups.

    Follow-ups are scaled, mirrored, shifted and permuted sources, as in most relations.

    Examples
    --------
    >>> make_mixed_relations(3, 2)
    [FunctionRelation('R1', 1-1), FunctionRelation('R2', 1-2), FunctionRelation('R3', 1-3)]
    """
    validate_integer("count", "make_mixed_relations", count, 1)
    validate_integer("dimension", "make_mixed_relations", dimension, 1)
    relations = []
    for i in range(count):
        changes = [_make_change((i + j) % len(CHANGES), dimension) for j in range(i % 3 + 1)]
        relations.append(FunctionRelation(name=f"R{i + 1}", domain=[(0.0, 1.0)] * dimension, follow_up=changes))
    return relations


def _make_change(number: int, dimension: int) -> Affine:
    start, factor, shift = CHANGES[number]
    return Affine.of(factor * np.roll(np.eye(dimension), start, axis=1), shift)

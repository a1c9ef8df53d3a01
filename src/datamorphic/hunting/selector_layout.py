"""Lay out relations with one source domain side by side, for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._validation import validate_choice
from ..errors import ArgumentError
from ..relations.box import Affine, Box
from ..relations.function import FunctionRelation
from .kernels.layout import build_box_layout
from .kernels.selecting import RelationTable


def find_shared_box(
    relations: Sequence[FunctionRelation], domains: str = "refuse"
) -> tuple[Box, tuple[FunctionRelation, ...]]:
    """Return the source domain of all relations, and the relations on it.

    If the domains differ, ``"refuse"`` raises `ArgumentError`, ``"meet"`` uses their intersection.
    """
    validate_choice("domains", "a selector", domains, ("refuse", "meet"))
    boxes = [(relation, box) for relation in relations for box in relation.domain]
    first, common = boxes[0]
    if all(common.same(box) for _, box in boxes):
        return common, tuple(relations)
    differing, box = next((r, b) for r, b in boxes if not common.same(b))
    if domains == "refuse" or any(box.dimension != common.dimension for _, box in boxes):
        raise ArgumentError(
            f"A selector gives the same sources to all relations, but {first.name!r} takes them from {common}, "
            f"{differing.name!r} from {box}. Give all the same domain (relation.over(domain)), "
            "or use the intersection: domains='meet'."
        )
    intersection: Box | None = common
    for _, box in boxes[1:]:
        intersection = None if intersection is None else intersection.meet(box)
    if intersection is None:
        raise ArgumentError(
            f"The source domains of {', '.join(repr(relation.name) for relation in relations)} have nothing in common, "
            "but a selector gives the same sources to all relations. Hunt with each of them alone."
        )
    return intersection, tuple(replace(relation, domain=(intersection,) * relation.sources) for relation in relations)


def pack_relations(
    relations: Sequence[FunctionRelation], box: Box, scaled: bool, jaccard: bool = False
) -> RelationTable:
    """Return all relations side by side, with the factors of their inputs."""
    widest = max(relation.width for relation in relations)
    boxes: list[Box] = []
    rows, offsets, first_slots = [], [], [0]
    for relation in relations:
        boxes += [*relation.domain, *relation.follow_domains()]
        first_slots.append(len(boxes))
        rows.append(np.eye(relation.width, widest))
        offsets.append(np.zeros(relation.width))
        for change, domain in zip(relation.follow_up, relation.follow_domains(), strict=True):
            is_affine = isinstance(change, Affine)
            factors = np.zeros((domain.dimension, widest))
            if is_affine:
                factors[:, : relation.width] = change.matrix
            rows.append(factors)
            offsets.append(change.offset if is_affine else np.zeros(domain.dimension))
    layout = build_box_layout(boxes, scaled=scaled, jaccard=jaccard)
    matrix = np.concatenate(rows)
    column, factor_columns = np.nonzero(matrix)
    factor_starts = np.searchsorted(column, np.arange(len(matrix) + 1)).astype(np.int64)
    shared_layout = build_box_layout([box] * max(relation.sources for relation in relations), scaled=scaled)
    return RelationTable(
        layout,
        shared_layout,
        np.array(first_slots, dtype=np.int64),
        np.concatenate(offsets),
        factor_starts,
        matrix[column, factor_columns],
        factor_columns.astype(np.int64),
    )

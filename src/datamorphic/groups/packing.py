"""Relations that share one source domain, side by side for the kernels of selectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._checks import one_of
from ..errors import ArgumentError
from ..relations.boxes import Affine, Box
from ..relations.numeric import FunctionRelation
from .kernels.layout import layout_of_boxes
from .kernels.selecting import Packed


def shared_box(
    relations: Sequence[FunctionRelation], domains: str = "refuse"
) -> tuple[Box, tuple[FunctionRelation, ...]]:
    """Return the source domain of all relations, and the relations on it.

    Where they differ, ``"refuse"`` raises `ArgumentError` and says which, ``"meet"`` takes what all share.
    """
    one_of("domains", "a selector", domains, ("refuse", "meet"))
    boxes = [(relation, box) for relation in relations for box in relation.domain]
    first, common = boxes[0]
    if all(common.same(box) for _, box in boxes):
        return common, tuple(relations)
    other, box = next((r, b) for r, b in boxes if not common.same(b))
    if domains == "refuse" or any(box.dimension != common.dimension for _, box in boxes):
        raise ArgumentError(
            f"A selector puts the same sources to all relations, and {first.name!r} takes them from {common}, "
            f"{other.name!r} from {box}. Give all the same domain (relation.over(domain)), "
            "or take what they share: domains='meet'."
        )
    met: Box | None = common
    for _, box in boxes[1:]:
        met = None if met is None else met.meet(box)
    if met is None:
        raise ArgumentError(
            f"The source domains of {', '.join(repr(each.name) for each in relations)} have nothing in common, so no source "
            "can be put to all of them. Hunt with each of them alone."
        )
    return met, tuple(replace(relation, domain=(met,) * relation.sources) for relation in relations)


def packed(relations: Sequence[FunctionRelation], box: Box, scaled: bool, jaccard: bool = False) -> Packed:
    """Return all relations side by side, the one with the most sources first among the columns that are drawn."""
    widest = max(relation.width for relation in relations)
    boxes: list[Box] = []
    rows, offsets, first = [], [], [0]
    for relation in relations:
        boxes += [*relation.domain, *relation.follow_domains()]
        first.append(len(boxes))
        rows.append(np.eye(relation.width, widest))
        offsets.append(np.zeros(relation.width))
        for change, domain in zip(relation.follow_up, relation.follow_domains(), strict=True):
            known = isinstance(change, Affine)
            made = np.zeros((domain.dimension, widest))
            if known:
                made[:, : relation.width] = change.matrix
            rows.append(made)
            offsets.append(change.offset if known else np.zeros(domain.dimension))
    layout = layout_of_boxes(boxes, scaled=scaled, jaccard=jaccard)
    matrix = np.concatenate(rows)
    column, used = np.nonzero(matrix)
    begin = np.searchsorted(column, np.arange(len(matrix) + 1)).astype(np.int64)
    sources = layout_of_boxes([box] * max(relation.sources for relation in relations), scaled=scaled)
    return Packed(
        layout,
        sources,
        np.array(first, dtype=np.int64),
        np.concatenate(offsets),
        begin,
        matrix[column, used],
        used.astype(np.int64),
    )

"""What speaks for a change between two fronts: real inputs, pairs that are not kept, and what chance cannot explain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import pluralize
from ...runs.flow import Flow, Query
from ...space.features import Codes
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.space import Space
from .._utils import Mask, format_answers, thin_rows, to_answer_objects
from ..borders import Border
from ..front import Front
from .follow import OrientedPairs
from .permutation import (
    ABSENCE_SIGNIFICANCE_LEVEL,
    DISTANCE_SIGNIFICANCE_LEVEL,
    compute_permutation_p_value,
    find_exclusive_values,
)
from .ranking import Answers, find_inputs_near_border

if TYPE_CHECKING:
    import pandas as pd

MAX_REAL_INPUTS = 5_000  # real inputs that both systems are asked about


@dataclass
class RealInputs:
    """Real inputs, and what the old and the new system say to them, as far as that is known.

    Attributes
    ----------
    points : Points
        The inputs.
    old, new : Outputs or None
        The answers.
    border, ends, tolerance, reach
        What tells answers apart, where borders are known, and how near to one and how far from one is what.
    near : ndarray of bool
        Where answers differ so near to the border that it means nothing.
    """

    points: Points
    border: Border
    ends: Codes
    tolerance: float
    reach: float
    old: Outputs | None = None
    new: Outputs | None = None
    near: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.near = np.zeros(len(self.points), dtype=bool)

    def query(self, version: str) -> Flow[None]:
        """Ask one of the two systems; if the other has answered, look for the border near what differs too."""
        if not len(self.points):
            return
        own_outputs = yield Query(self.points, note="comparing")
        other_outputs = self.new if version == "old" else self.old
        setattr(self, version, own_outputs)
        if other_outputs is not None:
            self.near = yield from find_inputs_near_border(
                self.points, self.border, own_outputs, other_outputs, self.ends, self.tolerance, self.reach
            )


def select_real_inputs(old_front: Front, new_front: Front, space: Space, *context: Any) -> RealInputs:
    """Return the real inputs to compare by: seeds of the old front, or those that answers were kept of.

    `about` is what else `Real` must know.
    """

    def get_seed_answers(source: Front) -> tuple[Points, Outputs | None]:
        outputs = source.seed_answers
        return Points(
            space, source.seeds.codes[thin_rows(len(source.seeds), 0 if outputs is None else len(outputs))]
        ), outputs

    if old_front.sut is not None and new_front.sut is not None:
        return RealInputs(
            Points(space, old_front.seeds.codes[thin_rows(len(old_front.seeds), MAX_REAL_INPUTS)]), *context
        )
    (old_points, old_outputs), (new_points, new_outputs) = get_seed_answers(old_front), get_seed_answers(new_front)
    if new_front.sut is not None:
        return replace(RealInputs(old_points, *context), old=old_outputs)
    if old_front.sut is not None:
        return replace(RealInputs(new_points, *context), new=new_outputs)
    old_row_by_code = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(old_points.codes))}
    old_rows = np.array(
        [old_row_by_code.get(row.tobytes(), -1) for row in np.ascontiguousarray(new_points.codes)], dtype=np.intp
    )
    common_rows = np.flatnonzero(old_rows >= 0)
    inputs = RealInputs(old_points.take(old_rows[common_rows]), *context)
    if common_rows.size and old_outputs is not None and new_outputs is not None:
        inputs.old, inputs.new = old_outputs.take(old_rows[common_rows]), new_outputs.take(common_rows)
    return inputs


def describe_changes(
    old_front: Front,
    new_front: Front,
    old_pairs: OrientedPairs,
    new_pairs: OrientedPairs,
    table: pd.DataFrame,
    inputs: RealInputs,
    changed_inputs: pd.DataFrame | None,
    names: dict[int, str],
) -> list[str]:
    """Return what is a change for certain, and what chance cannot explain, a sentence each."""
    sentences = []
    queried_pairs = table[table["asked"].to_numpy(dtype=bool)]
    changed_count = int((queried_pairs["status"] != "kept").sum())
    if changed_count:
        sentences.append(
            f"{changed_count:,} of {pluralize(len(queried_pairs), 'pair')} that a system was asked about are not where they were"
        )
    sentences += describe_changed_inputs(changed_inputs, len(inputs.points))
    for system, pairs, other_pairs, source, other_source, outcome in (
        (old_front.sut, new_pairs, old_pairs, new_front, old_front, "found for the first time"),
        (new_front.sut, old_pairs, new_pairs, old_front, new_front, "no longer found"),
    ):
        kinds = [] if system is not None else _find_exclusive_borders(pairs, other_pairs, source, other_source)
        if kinds:
            listing = ", ".join(names[kind] for kind in kinds[:8])
            sentences.append(f"borders {outcome}: {listing}{', ...' if len(kinds) > 8 else ''}")
    if old_front.sut is None and new_front.sut is None:
        sentences += _compare_without_systems(old_front, new_front, old_pairs, new_pairs, inputs)
    return sentences


def describe_changed_inputs(changed_inputs: pd.DataFrame | None, input_count: int) -> list[str]:
    """Return what changed about real inputs, of which `asked` were asked about; `changed` ends with both answers."""
    if changed_inputs is None:
        return []
    before, after = (
        np.array([answer is not None for answer in changed_inputs.iloc[:, place]], dtype=bool)
        for place in (-2, -1)
    )
    masks = {
        "are answered differently": before & after,
        "get no answer any more": before & ~after,
        "got no answer before": ~before & after,
    }
    total = pluralize(input_count, "real input")
    return [f"{int(mask.sum()):,} of {total} {phrase}" for phrase, mask in masks.items() if mask.any()]


def _find_exclusive_borders(
    pairs: OrientedPairs, other_pairs: OrientedPairs, source: Front, other_source: Front
) -> list[int]:
    """Return the kinds of border of one front that the other lacks, though it looked for them as hard."""
    if source.strategy != other_source.strategy:
        return []
    return find_exclusive_values(
        pairs.kinds, other_pairs.kinds, len(source.walk_runs), len(other_source.walk_runs), source.walk
    )


def _compare_without_systems(
    old_front: Front, new_front: Front, old_pairs: OrientedPairs, new_pairs: OrientedPairs, inputs: RealInputs
) -> list[str]:
    """Return what two fronts show without any system to ask."""
    sentences = []
    old_labels, new_labels = (_get_seed_labels(source) for source in (old_front, new_front))
    if not len(inputs.points) and len(old_labels) and len(new_labels):
        for labels, other_labels, phrase in (
            (new_labels, old_labels, "is given"),
            (old_labels, new_labels, "is no longer given"),
        ):
            exclusive_labels = find_exclusive_values(
                labels, other_labels, len(labels), len(other_labels), np.arange(len(labels))
            )
            sentences += [f"the answer {format_answers([label])[0]} {phrase}: chance would do that once in {1 / ABSENCE_SIGNIFICANCE_LEVEL:,.0f} times"
                     for label in exclusive_labels[:8]]  # fmt: skip
    p_value = compute_permutation_p_value(old_front, new_front, old_pairs, new_pairs, inputs.tolerance)
    if p_value <= DISTANCE_SIGNIFICANCE_LEVEL:
        sentences.append(
            "the pairs of the two fronts lie farther from each other, or look other ways, than those of random halves "
            f"of both (p = {p_value:.3f})"
        )
    return sentences


def _get_seed_labels(front: Front) -> Answers:
    """Return the answers to seeds that a file keeps."""
    if front.seed_answers is None:
        return np.empty(0, dtype=object)
    values = to_answer_objects(front.seed_answers)
    return values[[value is not None for value in values]]

"""Collect the evidence of a change between two fronts: real inputs, changed pairs, and statistical tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from ..._text import pluralize
from ...runs.flow import Flow, Query
from ...space.features import Codes
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.space import Space
from .._utils import Answers, Mask, format_answers, thin_rows
from ..borders import Border
from ..front_data import FrontData
from .follow import OrientedPairs
from .permutation import (
    ABSENCE_SIGNIFICANCE_LEVEL,
    DISTANCE_SIGNIFICANCE_LEVEL,
    compute_permutation_p_value,
    find_exclusive_values,
)
from .ranking import find_inputs_near_border

if TYPE_CHECKING:
    import pandas as pd

MAX_REAL_INPUTS = 5_000  # real inputs that both systems are queried about
MAX_LISTED_NAMES = 8  # borders or labels in one sentence


class ChangeKind(Enum):
    """What a piece of evidence is about."""

    PAIRS = "pairs that a system was queried about"
    INPUTS = "answers to real inputs"
    BORDERS = "borders that only one front has"
    LABELS = "labels that only one system gives"
    DISTANCE = "the distance between two fronts"


@dataclass(frozen=True)
class ChangeEvidence:
    """One piece of evidence of a change: its kind, and a sentence without a full stop."""

    kind: ChangeKind
    text: str


@dataclass(kw_only=True)
class RealInputs:
    """Real inputs and the known answers of the old and the new system to them.

    Attributes
    ----------
    points : Points
        The inputs.
    border : Border
        The border that separates answers.
    ends : ndarray
        The codes of cases where a border is known.
    tolerance, reach : float
        The distance from a border within which answers may differ, and up to which a border may be near.
    old, new : Outputs or None
        The answers of the two systems.
    near : ndarray of bool
        The inputs whose answers differ, but that are within the tolerance of the border.
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
        """Query the "old" or the "new" system; the second one is also queried near the inputs that differ."""
        if not len(self.points):
            return
        own_outputs = yield Query(self.points, note="comparing")
        other_outputs = self.new if version == "old" else self.old
        if version == "old":
            self.old = own_outputs
        else:
            self.new = own_outputs
        if other_outputs is not None:
            self.near = yield from find_inputs_near_border(
                self.points, self.border, own_outputs, other_outputs, self.ends, self.tolerance, self.reach
            )


def select_real_inputs(
    old_front: FrontData,
    new_front: FrontData,
    space: Space,
    *,
    border: Border,
    ends: Codes,
    tolerance: float,
    reach: float,
) -> RealInputs:
    """Return the real inputs to compare by: seed cases of the old front, or those with answers in a file."""

    def make_inputs(points: Points, old: Outputs | None = None, new: Outputs | None = None) -> RealInputs:
        return RealInputs(points=points, border=border, ends=ends, tolerance=tolerance, reach=reach, old=old, new=new)

    def select_seeds(source: FrontData, limit: int) -> Points:
        return Points(space, source.seeds.codes[thin_rows(len(source.seeds), limit)])

    def get_seed_answers(source: FrontData) -> tuple[Points, Outputs | None]:
        outputs = source.seed_answers
        return select_seeds(source, 0 if outputs is None else len(outputs)), outputs

    if old_front.sut is not None and new_front.sut is not None:
        return make_inputs(select_seeds(old_front, MAX_REAL_INPUTS))
    (old_points, old_outputs), (new_points, new_outputs) = get_seed_answers(old_front), get_seed_answers(new_front)
    if new_front.sut is not None:
        return make_inputs(old_points, old=old_outputs)
    if old_front.sut is not None:
        return make_inputs(new_points, new=new_outputs)
    old_row_by_code = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(old_points.codes))}
    new_codes = np.ascontiguousarray(new_points.codes)
    old_rows = np.array([old_row_by_code.get(row.tobytes(), -1) for row in new_codes], dtype=np.intp)
    common_rows = np.flatnonzero(old_rows >= 0)
    inputs = make_inputs(old_points.take(old_rows[common_rows]))
    if common_rows.size and old_outputs is not None and new_outputs is not None:
        inputs.old, inputs.new = old_outputs.take(old_rows[common_rows]), new_outputs.take(common_rows)
    return inputs


def collect_evidence(
    old_front: FrontData,
    new_front: FrontData,
    old_pairs: OrientedPairs,
    new_pairs: OrientedPairs,
    *,
    table: pd.DataFrame,
    inputs: RealInputs,
    changed_inputs: pd.DataFrame | None,
    names: dict[int, str],
) -> list[ChangeEvidence]:
    """Return the changes that are certain, and those that chance cannot explain."""
    evidence = []
    queried_pairs = table[table["asked"].to_numpy(dtype=bool)]
    changed_count = int((queried_pairs["status"] != "kept").sum())
    if changed_count:
        total = pluralize(len(queried_pairs), "pair")
        text = f"{changed_count:,} of {total} at which a system was queried have moved, vanished or appeared"
        evidence.append(ChangeEvidence(ChangeKind.PAIRS, text))
    for text in describe_changed_inputs(changed_inputs, len(inputs.points)):
        evidence.append(ChangeEvidence(ChangeKind.INPUTS, text))
    for system, pairs, other_pairs, source, other_source, outcome in (
        (old_front.sut, new_pairs, old_pairs, new_front, old_front, "found for the first time"),
        (new_front.sut, old_pairs, new_pairs, old_front, new_front, "no longer found"),
    ):
        kinds = [] if system is not None else _find_exclusive_borders(pairs, other_pairs, source, other_source)
        if kinds:
            listing = format_listing([names[kind] for kind in kinds])
            evidence.append(ChangeEvidence(ChangeKind.BORDERS, f"borders {outcome}: {listing}"))
    if old_front.sut is None and new_front.sut is None:
        evidence += _compare_without_systems(old_front, new_front, old_pairs, new_pairs, inputs)
    return evidence


def format_listing(names: list[str]) -> str:
    """Return the first few names, separated by commas."""
    return ", ".join(names[:MAX_LISTED_NAMES]) + (", ..." if len(names) > MAX_LISTED_NAMES else "")


def describe_changed_inputs(changed_inputs: pd.DataFrame | None, input_count: int) -> list[str]:
    """Return how many of `input_count` real inputs changed, by the kind of change.

    The last two columns of `changed_inputs` are the old and the new answer.
    """
    if changed_inputs is None:
        return []
    before, after = (
        np.array([answer is not None for answer in changed_inputs.iloc[:, place]], dtype=bool) for place in (-2, -1)
    )
    masks = {
        "are answered differently": before & after,
        "get no answer any more": before & ~after,
        "got no answer before": ~before & after,
    }
    total = pluralize(input_count, "real input")
    return [f"{int(mask.sum()):,} of {total} {phrase}" for phrase, mask in masks.items() if mask.any()]


def _find_exclusive_borders(
    pairs: OrientedPairs, other_pairs: OrientedPairs, source: FrontData, other_source: FrontData
) -> list[int]:
    """Return the kinds of border that only one front has, too often for chance.

    Only fronts of the same strategy searched equally hard.
    """
    if source.strategy != other_source.strategy:
        return []
    return find_exclusive_values(
        pairs.kinds, other_pairs.kinds, len(source.walk_runs), len(other_source.walk_runs), source.walk
    )


def _compare_without_systems(
    old_front: FrontData, new_front: FrontData, old_pairs: OrientedPairs, new_pairs: OrientedPairs, inputs: RealInputs
) -> list[ChangeEvidence]:
    """Return the evidence of two fronts where no system can be queried."""
    evidence = []
    old_labels, new_labels = (_get_seed_labels(source) for source in (old_front, new_front))
    if not len(inputs.points) and len(old_labels) and len(new_labels):
        for labels, other_labels, phrase in (
            (new_labels, old_labels, "is given"),
            (old_labels, new_labels, "is no longer given"),
        ):
            exclusive_labels = find_exclusive_values(
                labels, other_labels, len(labels), len(other_labels), np.arange(len(labels))
            )
            for label in format_answers(exclusive_labels[:MAX_LISTED_NAMES]):
                odds = f"chance would do that once in {1 / ABSENCE_SIGNIFICANCE_LEVEL:,.0f} times"
                evidence.append(ChangeEvidence(ChangeKind.LABELS, f"the answer {label} {phrase}: {odds}"))
    p_value = compute_permutation_p_value(old_front, new_front, old_pairs, new_pairs, inputs.tolerance)
    if p_value <= DISTANCE_SIGNIFICANCE_LEVEL:
        text = (
            "the pairs of the two fronts are farther apart, or have other directions, than those of random halves of "
            f"both (p = {p_value:.3f})"
        )
        evidence.append(ChangeEvidence(ChangeKind.DISTANCE, text))
    return evidence


def _get_seed_labels(front: FrontData) -> Answers:
    """Return the answers to seed cases that were read from a file."""
    if front.seed_answers is None:
        return np.empty(0, dtype=object)
    values = front.seed_answers.to_objects()
    return values[[value is not None for value in values]]

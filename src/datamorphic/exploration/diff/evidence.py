"""Collect the evidence of a change between two fronts: real inputs, changed pairs, and statistical tests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ..changes import Answers, format_answers
from ..front_data import FrontData
from .follow import OrientedPairs
from .permutation import (
    ABSENCE_SIGNIFICANCE_LEVEL,
    DISTANCE_SIGNIFICANCE_LEVEL,
    compute_permutation_p_value,
    find_exclusive_values,
)
from .ranking import RealInputs

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
        total = pluralise(len(queried_pairs), "pair")
        text = f"{changed_count:,} of {total} at which a system was queried have moved, vanished or appeared"
        evidence.append(ChangeEvidence(ChangeKind.PAIRS, text))
    for text in describe_changed_inputs(changed_inputs, len(inputs.points)):
        evidence.append(ChangeEvidence(ChangeKind.INPUTS, text))
    old, new = (old_front, old_pairs), (new_front, new_pairs)
    for (front, pairs), (other_front, other_pairs), outcome in (
        (new, old, "found for the first time"),
        (old, new, "no longer found"),
    ):
        if other_front.sut is None and front.strategy == other_front.strategy:  # both searched equally hard
            tries = len(front.walk_runs), len(other_front.walk_runs)
            kinds = find_exclusive_values(pairs.kinds, other_pairs.kinds, *tries, front.walk)
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
    total = pluralise(input_count, "real input")
    return [f"{int(mask.sum()):,} of {total} {phrase}" for phrase, mask in masks.items() if mask.any()]


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
            tries = len(labels), len(other_labels)
            exclusive_labels = find_exclusive_values(labels, other_labels, *tries, np.arange(len(labels)))
            for label in format_answers(exclusive_labels[:MAX_LISTED_NAMES]):
                odds = f"chance would do that once in {1 / ABSENCE_SIGNIFICANCE_LEVEL:,.0f} times"
                evidence.append(ChangeEvidence(ChangeKind.LABELS, f"the answer {label} {phrase}: {odds}"))
    p_value = compute_permutation_p_value(old_front, new_front, old_pairs, new_pairs, inputs.tolerance)
    if p_value <= DISTANCE_SIGNIFICANCE_LEVEL:
        text = "the pairs of the two fronts are farther apart, or have other directions, than those of random halves of both"
        evidence.append(ChangeEvidence(ChangeKind.DISTANCE, f"{text} (p = {p_value:.3f})"))
    return evidence


def _get_seed_labels(front: FrontData) -> Answers:
    """Return the answers to seed cases that were read from a file."""
    if front.seed_answers is None:
        return np.empty(0, dtype=object)
    values = front.seed_answers.to_objects()
    return values[[value is not None for value in values]]

"""What groups of people get: shares of decisions, and of wrong ones, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from ...core.result import Measure
from ...space.features import Mask
from .groups import PeopleGroups
from .intervals import correct_confidence, measure_gap, measure_level
from .people import Floats


@dataclass(frozen=True, kw_only=True)
class GroupShare:
    """What one group of people gets."""

    label: str
    people: int
    level: Measure  # the share with the decision, or the mean of a probability or number
    wrong: Measure | None = None  # the share with the decision among those whose label is another one


@dataclass(frozen=True, kw_only=True)
class GroupTable:
    """What the groups of one attribute, or of several together, get."""

    attributes: tuple[str, ...]
    rows: tuple[GroupShare, ...]
    gap: Measure | None  # between the groups with the highest and the lowest level
    highest: str = ""
    lowest: str = ""

    @property
    def title(self) -> str:
        """The attributes in words."""
        return " and ".join(self.attributes)


def tabulate_groups(groups: PeopleGroups, levels: Floats, negatives: Mask | None = None) -> GroupTable:
    """Return what each group gets; `negatives` are people whose label is not the decision."""
    rows, level_columns = [], []
    for group, label in enumerate(groups.labels):
        members = groups.codes == group
        group_levels = levels[members]
        level_columns.append(group_levels)
        wrong = (
            measure_level(levels[members & negatives])
            if negatives is not None and (members & negatives).any()
            else None
        )
        rows.append(GroupShare(label=label, people=int(members.sum()), level=measure_level(group_levels), wrong=wrong))
    if len(rows) < 2:
        return GroupTable(attributes=groups.attributes, rows=tuple(rows), gap=None)
    confidence = correct_confidence(comb(len(rows), 2))  # the two were chosen among all pairs
    high, low = max(
        (
            (a, b) if rows[a].level.value >= rows[b].level.value else (b, a)
            for a, b in combinations(range(len(rows)), 2)
        ),
        key=lambda pair: rows[pair[0]].level.value - rows[pair[1]].level.value,
    )
    return GroupTable(
        attributes=groups.attributes,
        rows=tuple(rows),
        gap=measure_gap(np.asarray(level_columns[high]), np.asarray(level_columns[low]), confidence),
        highest=rows[high].label,
        lowest=rows[low].label,
    )

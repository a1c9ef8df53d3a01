"""Groups of people by protected attributes, alone and in combination, and what they get, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import comb

import numpy as np

from ..._text import format_short, pluralise
from ...core.result import Measure
from ...space.features import Mask
from .intervals import correct_confidence, measure_gap, measure_level
from .people import Floats, People, Rows

MAX_GROUPS = 6  # of one attribute; rarer categories are one group, and numbers are cut into ranges
NUMBER_GROUPS = 3  # ranges of numbers, with about the same number of people each
MIN_GROUP_SIZE = 20  # people; smaller groups are left out
MISSING = -1
OTHER_LABEL = "other"


@dataclass(frozen=True, eq=False, kw_only=True)
class PeopleGroups:
    """People grouped by one protected attribute or by several."""

    attributes: tuple[str, ...]
    labels: tuple[str, ...]  # of the groups
    codes: Rows  # the group of each row; -1 for none
    cells: tuple[tuple[int, ...], ...]  # the group in each attribute, per group

    @property
    def title(self) -> str:
        """The attributes in words."""
        return " and ".join(self.attributes)

    def __len__(self) -> int:
        return len(self.labels)


def group_people(people: People, name: str, notes: list[str]) -> PeopleGroups:
    """Return the groups of one attribute; groups that are too small are left out, with a note."""
    column = people.space.position(name)
    codes, feature = people.codes[:, column], people.space.features[column]
    known = ~np.isnan(codes)
    groups = np.full(len(codes), MISSING, dtype=np.intp)
    values, counts = np.unique(codes[known], return_counts=True)
    if not feature.numeric or len(values) <= MAX_GROUPS:
        ranked = values[np.argsort(-counts, kind="stable")]
        single = np.sort(ranked if len(ranked) <= MAX_GROUPS else ranked[: MAX_GROUPS - 1])
        for group, value in enumerate(single):
            groups[codes == value] = group
        labels = [
            format_short(value if feature.numeric else people.space.decode_value(column, value)) for value in single
        ]
        if len(single) < len(values):
            groups[known & (groups == MISSING)] = len(single)
            labels.append(f"{OTHER_LABEL} ({len(values) - len(single)} values)")
    else:
        edges = _choose_edges(codes[known])
        groups[known] = np.searchsorted(edges, codes[known], side="right")
        labels = _label_ranges(edges) if len(edges) else ["all values"]
    return _drop_small_groups((name,), labels, [(group,) for group in range(len(labels))], groups, notes)


def combine_groups(parts: Sequence[PeopleGroups], notes: list[str]) -> PeopleGroups:
    """Return the groups of several attributes together, such as young women."""
    sizes = [len(part) for part in parts]
    cells = list(product(*map(range, sizes)))
    groups = np.zeros(len(parts[0].codes), dtype=np.intp)
    for part, size in zip(parts, sizes, strict=True):
        groups = groups * size + part.codes
    groups[np.any([part.codes == MISSING for part in parts], axis=0)] = MISSING
    labels = [", ".join(part.labels[group] for part, group in zip(parts, cell, strict=True)) for cell in cells]
    return _drop_small_groups(tuple(part.attributes[0] for part in parts), labels, cells, groups, notes)


def _drop_small_groups(
    attributes: tuple[str, ...], labels: Sequence[str], cells: Sequence[tuple[int, ...]], codes: Rows, notes: list[str]
) -> PeopleGroups:
    counts = np.bincount(codes[codes != MISSING], minlength=len(labels))
    large = [group for group in range(len(labels)) if counts[group] >= MIN_GROUP_SIZE]
    small = [group for group in range(len(labels)) if 0 < counts[group] < MIN_GROUP_SIZE]
    if small:
        names = "; ".join(
            f"{labels[group]} ({pluralise(int(counts[group]), 'person', 'people')})" for group in small[:3]
        )
        ending = ", ..." if len(small) > 3 else ""
        notes.append(f"Groups of {' and '.join(attributes)} that are too small to be judged: {names}{ending}.")
    position = np.full(len(labels) + 1, MISSING, dtype=np.intp)  # the last is that of -1
    position[large] = np.arange(len(large))
    return PeopleGroups(
        attributes=attributes,
        labels=tuple(labels[group] for group in large),
        codes=position[codes],
        cells=tuple(cells[group] if len(attributes) > 1 else (place,) for place, group in enumerate(large)),
    )


def _choose_edges(values: Floats) -> Floats:
    """Return round numbers that cut values into ranges of about the same size."""
    quantiles = np.quantile(values, np.linspace(0, 1, NUMBER_GROUPS + 1)[1:-1])
    spread = float(np.ptp(values))
    unit = 10.0 ** np.floor(np.log10(spread / 10)) if spread > 0 else 1.0
    edges = np.unique(np.round(quantiles / unit) * unit)
    return edges[(edges > values.min()) & (edges <= values.max())]


def _label_ranges(edges: Floats) -> list[str]:
    texts = [format_short(float(edge)) for edge in edges]
    middle = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *middle, f"{texts[-1]} and above"]


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

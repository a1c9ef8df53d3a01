"""The effect of protected attributes, alone and together: what people would get with other values of them.

Everybody is given every combination of the values of some attributes, all else equal as far as it can be
(`counterfactuals`). Who gets another decision, and how the shares of decisions differ between the combinations, says
whether the decision depends on the attributes, and whether it depends on each alone or only on them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..._deprecation import rename_attribute
from ...core.result import Example, Measure
from ...space.features import Mask
from .answers import AnswerReader
from .counterfactuals import ChangedPeople, CounterfactualMaker, find_differences
from .groups import MISSING, PeopleGroups
from .intervals import correct_confidence, measure_mean, measure_stratified_mean
from .people import Floats, People, Rows

MIN_ALONE_SHARE = 0.2  # of people whose row changes in the attribute only; with fewer, other people are judged, too


@dataclass(frozen=True, kw_only=True)
class GroupSwap:
    """The effect of changing people of one group into another one."""

    source: str  # label of the group
    target: str
    effect: Measure  # mean change of the level of these people
    changed: int  # people whose decision changes
    total: int


@dataclass(frozen=True, kw_only=True)
class CounterfactualCase(Example):
    """One person before and after a change; the answers are levels."""

    probabilities: tuple[float, float] | None = None  # before and after, if the model has them

    before = rename_attribute("CounterfactualCase.before", "case")
    changes = rename_attribute("CounterfactualCase.changes", "changed")
    level_before = rename_attribute("CounterfactualCase.level_before", "answer")
    level_after = rename_attribute("CounterfactualCase.level_after", "new_answer")

    def document(self) -> dict[str, Any]:
        """Return the case as a JSON-serialisable dict."""
        return {
            "row": self.row,
            "before": self.case,
            "changes": self.changed,
            "level_before": self.answer,
            "level_after": self.new_answer,
            "probabilities": self.probabilities,
        }


@dataclass(frozen=True, kw_only=True)
class AttributeEffect:
    """What people would get with another value of one attribute."""

    attribute: str
    is_input: bool
    share: Measure  # of people for whom some other value changes the decision, all else equal
    strong_share: Measure  # of people for whom the probability moves by a percentage point or more
    repaired_share: float  # of changed people whose other columns had to change as well
    left_out: int  # changes without a similar person
    judges_repaired: bool  # whether people whose other columns changed are counted in `share`
    swaps: tuple[GroupSwap, ...]
    tied_columns: tuple[str, ...]  # that changed with it
    example: CounterfactualCase | None

    @property
    def net_effect(self) -> float:
        """The largest mean change of the level between two groups that chance does not explain."""
        return max((abs(swap.effect.value) for swap in self.swaps if swap.effect.excludes_zero), default=0.0)


@dataclass(frozen=True, kw_only=True)
class CombinationEffect:
    """What people would get with other values of several attributes at once."""

    attributes: tuple[str, ...]
    levels: Mapping[str, float]  # the mean level if everybody were in a group
    interaction: Measure  # the part of the effect that the attributes do not have alone
    main_effect: float  # the largest effect of one attribute alone, over all values of the others alike
    only_together: Measure  # people whose decision changes only if all attributes change
    example: CounterfactualCase | None


@dataclass(frozen=True, eq=False)
class _Assignment:
    """Everybody in one group, and what they get."""

    people: ChangedPeople
    levels: Floats  # NaN where the change is not valid
    probabilities: Floats | None
    changed: Mask
    strong: Mask


class EffectMeter:
    """Measure what people would get with other values of protected attributes."""

    def __init__(self, people: People, reader: AnswerReader, maker: CounterfactualMaker, rows: Rows) -> None:
        self.people, self.reader, self.maker, self.rows = people, reader, maker, rows

    def _assign(self, parts: Sequence[PeopleGroups], groups: PeopleGroups, cell: tuple[int, ...]) -> _Assignment:
        """Give everybody the values of one group."""
        columns = [self.people.space.position(part.attributes[0]) for part in parts]
        donors = np.flatnonzero(np.all([part.codes == group for part, group in zip(parts, cell, strict=True)], axis=0))
        new_codes = np.full((len(self.people), len(columns)), np.nan)
        drawn = self.maker.rng.choice(donors, size=len(self.people)) if len(donors) else donors
        for place, (part, group) in enumerate(zip(parts, cell, strict=True)):
            others = part.codes != group
            new_codes[others, place] = self.people.codes[drawn[others], columns[place]]
        protected = [self.people.space.position(name) for name in self.people.protected]
        fixed = [position for position in protected if position not in columns]
        changed_people = self.maker.change(columns, new_codes, donors, fixed=fixed)
        known = np.all([part.codes != MISSING for part in parts], axis=0)
        asked_rows = changed_people.changed & changed_people.valid & known
        answers = self.reader.query(changed_people.codes, asked_rows)
        own_levels = self.reader.own_answers.levels
        levels = np.where(changed_people.changed, answers.levels, own_levels)
        levels[~known | ~changed_people.valid] = np.nan
        return _Assignment(
            changed_people,
            levels,
            answers.probabilities,
            self.reader.find_changes(answers),
            self.reader.find_strong_changes(answers),
        )

    # -- one attribute -----------------------------------------------------------------------------------------------

    def measure_attribute(self, groups: PeopleGroups) -> AttributeEffect:
        """Return what people would get with another value of one attribute."""
        name = groups.attributes[0]
        assignments = [self._assign([groups], groups, (group,)) for group in range(len(groups))]
        known = ~np.isnan(self.reader.own_answers.levels) & (groups.codes != MISSING)
        alone = np.any([assignment.people.alone for assignment in assignments], axis=0) & known
        judges_repaired = alone.sum() < MIN_ALONE_SHARE * known.sum()

        def select(assignment: _Assignment) -> Mask:
            people = assignment.people
            return known & ((people.changed & people.valid) if judges_repaired else people.alone)

        tried = np.any([select(assignment) for assignment in assignments], axis=0)
        changed = np.any([select(assignment) & assignment.changed for assignment in assignments], axis=0)
        strong = np.any([select(assignment) & assignment.strong for assignment in assignments], axis=0)
        swaps = []
        comparisons = len(groups) * (len(groups) - 1)
        for target, assignment in enumerate(assignments):
            chosen = select(assignment) & ~np.isnan(assignment.levels)
            for source in range(len(groups)):
                rows = chosen & (groups.codes == source)
                if source != target and rows.any():
                    differences = assignment.levels[rows] - self.reader.own_answers.levels[rows]
                    swaps.append(
                        GroupSwap(
                            source=groups.labels[source],
                            target=groups.labels[target],
                            effect=measure_mean(differences, correct_confidence(comparisons)),
                            changed=int(assignment.changed[rows].sum()),
                            total=int(rows.sum()),
                        )
                    )
        all_changed = sum(int((a.people.changed & known).sum()) for a in assignments)
        all_repaired = sum(int((a.people.repaired & known).sum()) for a in assignments)
        column = self.people.space.position(name)
        return AttributeEffect(
            attribute=name,
            is_input=self.people.is_input(name),
            share=Measure.from_counts(int(changed.sum()), int(tried.sum())),
            strong_share=Measure.from_counts(int(strong.sum()), int(tried.sum())),
            repaired_share=all_repaired / max(all_changed, 1),
            left_out=sum(int((~a.people.valid & known).sum()) for a in assignments),
            judges_repaired=bool(judges_repaired),
            swaps=tuple(swaps),
            tied_columns=self._find_tied_columns(assignments, [column]),
            example=self._find_example(assignments, [select(assignment) for assignment in assignments]),
        )

    def _find_tied_columns(self, assignments: Sequence[_Assignment], columns: Sequence[int]) -> tuple[str, ...]:
        own_codes = self.people.codes
        tied = np.zeros(own_codes.shape[1], dtype=bool)
        for assignment in assignments:
            codes, repaired = assignment.people.codes, assignment.people.repaired
            tied |= find_differences(codes[repaired], own_codes[repaired]).any(axis=0)
        tied[list(columns)] = False
        return tuple(self.people.space.names[column] for column in np.flatnonzero(tied))

    def _find_example(self, assignments: Sequence[_Assignment], selected: Sequence[Mask]) -> CounterfactualCase | None:
        """Return the person whose level changes most, of those with the fewest changed columns."""
        best: tuple[int, float, int, int] | None = None
        for place, (assignment, mask) in enumerate(zip(assignments, selected, strict=True)):
            differences = self._measure_differences(assignment)
            rows = np.flatnonzero(mask & (assignment.changed | assignment.strong) & ~np.isnan(differences))
            if not len(rows):
                continue
            counts = (assignment.people.codes[rows] != self.people.codes[rows]).sum(axis=1)
            row = rows[np.lexsort((rows, -differences[rows], counts))[0]]
            candidate = (int(counts.min()), -float(differences[row]), place, int(row))
            best = candidate if best is None or candidate < best else best
        if best is None:
            return None
        return self._build_case(assignments[best[2]], best[3])

    def _measure_differences(self, assignment: _Assignment) -> Floats:
        """Return how much the level of each person changes, or else the probability, if it is known."""
        own = self.reader.own_answers
        differences = np.abs(assignment.levels - own.levels)
        if assignment.probabilities is None or own.probabilities is None:
            return differences
        return differences + np.abs(np.nan_to_num(assignment.probabilities - own.probabilities))

    def _build_case(self, assignment: _Assignment, row: int) -> CounterfactualCase:
        both = self.people.decode(np.vstack([self.people.codes[row], assignment.people.codes[row]]))
        before = {str(name): both[name].tolist()[0] for name in both.columns}
        after = {str(name): both[name].tolist()[1] for name in both.columns}
        same = (assignment.people.codes[row] == self.people.codes[row]) | np.isnan(self.people.codes[row])
        changes = {
            name: after[name] for name, is_same in zip(self.people.space.names, same, strict=True) if not is_same
        }
        own_probabilities, probabilities = self.reader.own_answers.probabilities, assignment.probabilities
        return CounterfactualCase(
            probabilities=None
            if own_probabilities is None or probabilities is None
            else (float(own_probabilities[row]), float(probabilities[row])),
            text=", ".join(f"{name} {value} instead of {before[name]}" for name, value in changes.items()),
            row=int(self.rows[row]),
            case=before,
            changed=changes,
            answer=float(self.reader.own_answers.levels[row]),
            new_answer=float(assignment.levels[row]),
        )

    # -- several attributes ------------------------------------------------------------------------------------------

    def measure_combination(self, parts: Sequence[PeopleGroups], groups: PeopleGroups) -> CombinationEffect:
        """Return what people would get with other values of several attributes at once."""
        assignments = {cell: self._assign(parts, groups, cell) for cell in groups.cells}
        levels = {cell: assignment.levels for cell, assignment in assignments.items()}
        contrasts = list(_list_contrasts(groups.cells))
        confidence = correct_confidence(len(contrasts))
        # every group has the same weight: a model that knows its training rows by heart answers people in their own group
        # differently, which cancels out between the groups
        interactions = [
            measure_stratified_mean(_compute_interaction(levels, contrast), groups.codes, confidence)
            for contrast in contrasts
        ]
        interaction = max(
            interactions,
            key=lambda measure: abs(measure.value) if measure.excludes_zero else 0.0,
            default=Measure(0.0, 0.0, 0.0, 0),
        )
        together, tried = self._find_joint_changes(parts, assignments)
        labels = dict(zip(groups.cells, groups.labels, strict=True))
        means = {
            cell: float(np.nanmean(level)) if (~np.isnan(level)).any() else np.nan for cell, level in levels.items()
        }
        return CombinationEffect(
            attributes=groups.attributes,
            levels={labels[cell]: mean for cell, mean in means.items()},
            interaction=interaction,
            main_effect=_compute_main_effect(means),
            only_together=Measure.from_counts(int(together.sum()), int(tried.sum())),
            example=self._find_example(
                list(assignments.values()), [together & self._find_joint_rows(parts, cell) for cell in assignments]
            ),
        )

    def _find_joint_rows(self, parts: Sequence[PeopleGroups], cell: tuple[int, ...]) -> Mask:
        """Return whose values of all attributes differ from those of a group."""
        return np.all([part.codes != group for part, group in zip(parts, cell, strict=True)], axis=0)

    def _find_joint_changes(
        self, parts: Sequence[PeopleGroups], assignments: Mapping[tuple[int, ...], _Assignment]
    ) -> tuple[Mask, Mask]:
        """Return whose decision changes only if all attributes change, and who was tried."""
        jointly, partly = (np.zeros(len(self.people), dtype=bool) for _ in range(2))
        tried = np.zeros(len(self.people), dtype=bool)
        for cell, assignment in assignments.items():
            joint_rows = self._find_joint_rows(parts, cell)
            jointly |= assignment.changed & joint_rows
            partly |= assignment.changed & ~joint_rows
            tried |= joint_rows & ~np.isnan(assignment.levels)
        return jointly & ~partly, tried


def _list_contrasts(cells: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], ...]]:
    """Return sets of four groups that differ in two attributes: neither, one, the other and both changed."""
    known = set(cells)
    contrasts: list[tuple[tuple[int, ...], ...]] = []
    for low, high in combinations(sorted(known), 2):
        differing = [place for place, (a, b) in enumerate(zip(low, high, strict=True)) if a != b]
        if len(differing) != 2:
            continue
        first = tuple(high[place] if place == differing[0] else value for place, value in enumerate(low))
        second = tuple(high[place] if place == differing[1] else value for place, value in enumerate(low))
        if first in known and second in known:
            contrasts.append((low, first, second, high))
    return contrasts


def _compute_interaction(levels: Mapping[tuple[int, ...], Floats], contrast: tuple[tuple[int, ...], ...]) -> Floats:
    """Return per person half of the effect of both changes minus those of each alone."""
    low, first, second, high = (levels[cell] for cell in contrast)
    return (high - first - second + low) / 2


def _compute_main_effect(means: Mapping[tuple[int, ...], float]) -> float:
    """Return the largest effect of one attribute, averaged over the groups of the others."""
    largest = 0.0
    size = len(next(iter(means), ()))
    for place in range(size):
        values = sorted({cell[place] for cell in means})
        for low, high in combinations(values, 2):
            differences = []
            for cell, mean in means.items():
                other = (*cell[:place], high, *cell[place + 1 :])
                if cell[place] == low and other in means:
                    differences.append(means[other] - mean)
            if differences:
                largest = max(largest, abs(float(np.nanmean(differences))))
    return largest

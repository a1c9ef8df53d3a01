"""Stand-ins: columns that tell the group of a person, and carry the decision.

A column is a stand-in for a protected attribute if it fulfils both conditions.

1. It *tells the group*: of two people, one of the group and one of the others, the column says which is which much more often
   than guessing (the area under the ROC curve, from groups' shares among other people with the same value).
2. It *carries the decision*: with the value of somebody outside the group (and columns that are tied to it move along),
   the people of the group fare differently than with the value of somebody in it.

A column that only does the one or the other is no stand-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.result import Measure
from ...space.features import Mask
from .answers import AnswerReader
from .counterfactuals import CounterfactualMaker
from .groups import MISSING, PeopleGroups
from .intervals import correct_confidence, measure_auc, measure_mean
from .people import Floats, People, Rows

FOLDS = 5
NUMBER_BINS = 10
DRAWS = 3  # values of others that each person gets
MIN_SEPARATION = 0.7  # of pairs of people that are told apart; guessing is 0.5
MIN_SEPARATION_LOW = 0.6  # the low end of the interval
MIN_SEPARATION_TOGETHER = 0.55  # of columns that may be stand-ins together
MAX_JOINT_COLUMNS = 12
SMOOTHING = 1.0  # people that count towards the overall share


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """One or several columns as a possible stand-in for a group of people."""

    attributes: tuple[str, ...]  # one, or several together
    columns: tuple[str, ...]
    group: str  # the group that the columns tell best
    separation: Measure  # the share of pairs of people that are told apart; 0.5 is guessing
    effect: Measure | None  # what the columns add to the level of the group; None if it was not tried
    moved: int = 0  # people of the group whose decision changes with others' values
    people: int = 0  # of the group

    @property
    def attribute(self) -> str:
        """The attributes in words."""
        return " and ".join(self.attributes)

    @property
    def tells_group(self) -> bool:
        """Whether the columns tell the group much better than guessing."""
        return self.separation.value >= MIN_SEPARATION and self.separation.low >= MIN_SEPARATION_LOW

    def is_stand_in(self, min_effect: float) -> bool:
        """Return whether the columns tell the group, and carry the decision: its level depends on them."""
        effect = self.effect
        return self.tells_group and effect is not None and effect.excludes_zero and abs(effect.value) >= min_effect


class ProxyMeter:
    """Look for columns that stand in for groups of people."""

    def __init__(self, people: People, reader: AnswerReader, maker: CounterfactualMaker, seed: int) -> None:
        self.people, self.reader, self.maker = people, reader, maker
        self.folds: Rows = np.random.default_rng(seed).permutation(len(people)) % FOLDS
        self.protected = [people.space.position(name) for name in people.protected]
        self.columns = [column for column in range(people.input_count) if column not in self.protected]

    def measure(self, groups: PeopleGroups, comparisons: int) -> list[Proxy]:
        """Return all columns, those that tell the groups apart best first, with the effects of the best."""
        names, proxies = self.people.space.names, []
        for column in self.columns:
            group, separation = self._measure_separation(self.people.codes[:, column], column, groups)
            proxy = Proxy(
                attributes=groups.attributes,
                columns=(names[column],),
                group=groups.labels[group],
                separation=separation,
                effect=None,
            )
            if proxy.tells_group:
                proxy = self._measure_effect(proxy, groups, group, [column], comparisons)
            proxies.append(proxy)
        return sorted(proxies, key=lambda proxy: -proxy.separation.value)

    def measure_together(self, groups: PeopleGroups, proxies: Sequence[Proxy], comparisons: int) -> Proxy | None:
        """Return several columns that tell a group only together; None if there are fewer than two candidates."""
        weak = [
            proxy
            for proxy in proxies
            if proxy.separation.low > 0.5 and proxy.separation.value >= MIN_SEPARATION_TOGETHER
        ]
        if len(weak) < 2:
            return None
        columns = [self.people.space.position(proxy.columns[0]) for proxy in weak[:MAX_JOINT_COLUMNS]]
        group = groups.labels.index(weak[0].group)
        separation = self._measure_joint_separation(columns, groups, group)
        names = tuple(self.people.space.names[column] for column in columns)
        proxy = Proxy(
            attributes=groups.attributes, columns=names, group=groups.labels[group], separation=separation, effect=None
        )
        return self._measure_effect(proxy, groups, group, columns, comparisons) if proxy.tells_group else proxy

    # -- separation -----------------------------------------------------------------------------------------------------

    def _measure_separation(self, values: Floats, column: int, groups: PeopleGroups) -> tuple[int, Measure]:
        """Return the group that a column tells best, and how well."""
        known = groups.codes != MISSING
        keys = self._find_value_keys(values, column)
        results = []
        confidence = correct_confidence(len(groups))
        for group in range(len(groups)):
            is_member = groups.codes == group
            scores = self._predict_members(keys, is_member, known)
            results.append(measure_auc(scores[known], is_member[known], confidence))
        best = int(np.argmax([result.value for result in results]))
        return best, results[best]

    def _find_value_keys(self, values: Floats, column: int) -> Rows:
        """Return the category or range of each value as a small number; missing values have their own."""
        known = ~np.isnan(values)
        keys = np.zeros(len(values), dtype=np.intp)
        if self.people.is_text(column):
            return keys
        if self.people.is_categorical(column):
            keys[known] = values[known].astype(np.intp) + 1
            return keys
        if not known.any():
            return keys
        edges = np.unique(np.quantile(values[known], np.linspace(0, 1, NUMBER_BINS + 1)[1:-1]))
        keys[known] = np.searchsorted(edges, values[known], side="right") + 1
        return keys

    def _predict_members(self, keys: Rows, is_member: Mask, known: Mask) -> Floats:
        """Return the share of members among other people with the same value, fold by fold."""
        scores = np.zeros(len(keys))
        size = int(keys.max()) + 1
        for fold in range(FOLDS):
            others = known & (self.folds != fold)
            share = is_member[others].mean() if others.any() else 0.0
            totals = np.bincount(keys[others], minlength=size)
            members = np.bincount(keys[others & is_member], minlength=size)
            estimates = (members + SMOOTHING * share) / (totals + SMOOTHING)
            here = self.folds == fold
            scores[here] = estimates[keys[here]]
        return scores

    def _measure_joint_separation(self, columns: Sequence[int], groups: PeopleGroups, group: int) -> Measure:
        """Return how well several columns tell a group together, by a cross-validated logistic regression."""
        from sklearn.linear_model import LogisticRegression

        known, is_member = groups.codes != MISSING, groups.codes == group
        # shares per value, so that any shape of the dependence counts
        matrix = np.column_stack(
            [
                self._predict_members(self._find_value_keys(self.people.codes[:, column], column), is_member, known)
                for column in columns
            ]
        )
        scores = np.zeros(len(matrix))
        for fold in range(FOLDS):
            others, here = known & (self.folds != fold), self.folds == fold
            if len(np.unique(is_member[others])) < 2:
                continue
            model = LogisticRegression(C=10.0, max_iter=200).fit(matrix[others], is_member[others])
            scores[here] = model.predict_proba(matrix[here])[:, 1]
        return measure_auc(scores[known], is_member[known])

    # -- carrying ----------------------------------------------------------------------------------------------------

    def _measure_effect(
        self, proxy: Proxy, groups: PeopleGroups, group: int, columns: Sequence[int], comparisons: int
    ) -> Proxy:
        """Give the people of a group the values of others, and measure how their level changes.

        What they get then is compared with what they get with the values of other members of their own group. So a model that
        knows its training rows by heart, and answers any changed row differently, has no stand-ins for that reason alone.
        """
        members = groups.codes == group
        others = np.flatnonzero((groups.codes != MISSING) & ~members)
        shape = (DRAWS, len(members))
        differences, moved = np.full(shape, np.nan), np.zeros(len(members), dtype=bool)
        for draw in range(DRAWS):
            own_levels = self._swap_values(members, columns, np.flatnonzero(members))
            other_levels = self._swap_values(members, columns, others)
            differences[draw] = own_levels - other_levels
            moved |= self.reader.is_change(own_levels, other_levels)
        return Proxy(
            attributes=proxy.attributes,
            columns=proxy.columns,
            group=proxy.group,
            separation=proxy.separation,
            effect=measure_mean(_average_draws(differences[:, members]), correct_confidence(comparisons)),
            moved=int(moved.sum()),
            people=int(members.sum()),
        )

    def _swap_values(self, members: Mask, columns: Sequence[int], donors: Rows) -> Floats:
        """Return the levels of some people with values of donors in some columns; NaN for the others."""
        new_codes = np.full((len(members), len(columns)), np.nan)
        new_codes[members] = self.people.codes[self.maker.rng.choice(donors, size=int(members.sum()))][:, columns]
        changed = self.maker.change(columns, new_codes, donors, fixed=self.protected)
        answers = self.reader.query(changed.codes, members & changed.changed & changed.valid)
        levels = np.where(changed.changed, answers.levels, self.reader.own_answers.levels)
        levels[~members | ~changed.valid] = np.nan
        return levels


def _average_draws(differences: Floats) -> Floats:
    """Return the mean over the draws that are known, per person; NaN if none is."""
    known = ~np.isnan(differences)
    counts = known.sum(axis=0)
    sums = np.where(known, differences, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

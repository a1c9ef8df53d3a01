"""The same person with another value of a column: changes that keep the dependencies between columns.

A changed value may not fit the rest of the row: a woman whose relationship is "husband", a person of 25 with 30 years of
employment. A column does not fit if

- a relation between columns that all given rows keep is broken (`space/column_relations.py`), or
- no person with the new value has such a value in that column, although chance would give some one.

Columns that do not fit take the values of a real person with the new value who is most similar in all other columns. If no
similar person fits either, the change is left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...space.features import Mask
from .people import Floats, People, Rows

CHANCE = 1e-4  # the probability that a value is not seen among people by chance, below which it does not fit
MAX_DONORS = 5  # similar people whose values are tried
MIN_SUPPORT = 20  # people with a value of a column, below which nothing is concluded about other columns
ROWS_PER_BLOCK = 500  # whose distances to all donors are computed at once
VALUE_BINS = 12  # ranges of numbers, within which people count as having the same value


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangedPeople:
    """People after a change."""

    codes: Floats
    changed: Mask  # who has a new value
    repaired: Mask  # whose other columns had to change as well
    valid: Mask  # False if nobody similar has the new value

    @property
    def alone(self) -> Mask:
        """Who has a new value and no other change."""
        return self.changed & ~self.repaired & self.valid


@dataclass(frozen=True)
class _FittingValues:
    """The values of one column that fit a value of another: a range, or the categories that do not fit."""

    low: float = -np.inf
    high: float = np.inf
    unfit: npt.NDArray[np.bool_] | None = None  # by category

    def find_unfit(self, values: Floats) -> Mask:
        """Return which values do not fit; a missing value does."""
        known = ~np.isnan(values)
        result = np.zeros(len(values), dtype=bool)
        if self.unfit is not None:
            result[known] = self.unfit[values[known].astype(np.intp)]
        else:
            result[known] = (values[known] < self.low) | (values[known] > self.high)
        return result


@dataclass(eq=False)
class CounterfactualMaker:
    """Change columns of people so that the dependencies between columns are kept."""

    people: People
    rng: np.random.Generator
    _edges: dict[int, Floats] = field(default_factory=dict)
    _fitting: dict[tuple[int, int], list[_FittingValues | None]] = field(default_factory=dict)
    _blocks: list[Floats] = field(default_factory=list)  # per column, for distances

    def change(
        self, columns: Sequence[int], new_codes: Floats, donors: Rows, fixed: Sequence[int] = ()
    ) -> ChangedPeople:
        """Return all people with new codes in some columns; NaN keeps the code.

        `donors` are people with the new values, from whom other columns take values where they do not fit, except for
        the columns in `fixed`.
        """
        people, own_codes = self.people, self.people.codes
        codes = own_codes.copy()
        codes[:, columns] = np.where(np.isnan(new_codes), own_codes[:, columns], new_codes)
        replaced = ~np.isnan(new_codes)
        changed: Mask = np.asarray(find_differences(codes[:, columns], own_codes[:, columns]).any(axis=1))
        unfit = self.find_unfit(codes, columns) & changed[:, None]
        unfit[:, list(fixed)] = False
        needy = unfit.any(axis=1)
        repaired = np.zeros(len(people), dtype=bool)
        if needy.any() and len(donors):
            tied = np.flatnonzero(unfit.any(axis=0))
            rows = np.flatnonzero(needy)
            for places in self.find_similar(rows, donors, [*columns, *tied.tolist()]).T:
                open_rows = ~repaired[rows]
                if not open_rows.any():
                    break
                trial = codes[rows[open_rows]]
                similar = own_codes[places[open_rows]]
                trial[:, tied] = similar[:, tied]
                # from the same person, so that values that belong together stay together
                trial[:, columns] = np.where(replaced[rows[open_rows]], similar[:, columns], trial[:, columns])
                tied_categories = [int(column) for column in tied if people.is_categorical(int(column))]
                still_unfit = self.find_unfit(trial, [*columns, *tied_categories])
                still_unfit[:, list(fixed)] = False
                fits = ~still_unfit.any(axis=1)
                repaired_rows = rows[open_rows][fits]
                codes[repaired_rows] = trial[fits]
                repaired[repaired_rows] = True
        return ChangedPeople(codes=codes, changed=changed, repaired=repaired, valid=~(needy & ~repaired))

    # -- what fits ---------------------------------------------------------------------------------------------------

    def find_unfit(self, codes: Floats, columns: Sequence[int]) -> Mask:
        """Return which columns of which rows do not fit the values of the given columns."""
        space, chosen = self.people.space, set(columns)
        unfit = np.zeros(codes.shape, dtype=bool)
        for constraint in self.people.constraints:
            positions = [space.position(name) for name in constraint.names]
            others = [position for position in positions if position not in chosen]
            if len(others) < len(positions) and others:
                broken = ~constraint.satisfied(space, codes)
                for other in others:
                    unfit[broken, other] = True
        for column in columns:
            keys = self._find_keys(column, codes[:, column])
            for key in np.unique(keys[keys >= 0]):
                rows = np.flatnonzero(keys == key)
                for other, fitting in enumerate(self._find_fitting(column, int(key))):
                    if fitting is not None and other not in chosen:
                        unfit[rows, other] |= fitting.find_unfit(codes[rows, other])
        return unfit

    def _find_keys(self, column: int, values: Floats) -> Rows:
        """Return the category or range of each value; -1 for a missing one."""
        keys = np.full(len(values), -1, dtype=np.intp)
        if self.people.is_text(column):
            return keys  # any text may go with any other value
        known = ~np.isnan(values)
        if self.people.is_categorical(column):
            keys[known] = values[known].astype(np.intp)
            return keys
        if column not in self._edges:
            own_values = self.people.codes[:, column]
            shares = np.linspace(0, 1, VALUE_BINS + 1)[1:-1]
            self._edges[column] = np.unique(np.quantile(own_values[~np.isnan(own_values)], shares))
        keys[known] = np.searchsorted(self._edges[column], values[known], side="right")
        return keys

    def _find_fitting(self, column: int, key: int) -> list[_FittingValues | None]:
        """Return per column which values occur among people with one value of a column; None if all may."""
        if (column, key) not in self._fitting:
            codes = self.people.codes
            group = self._find_keys(column, codes[:, column]) == key
            enough = MIN_SUPPORT <= group.sum() < len(codes)
            self._fitting[column, key] = [
                self._compare_values(other, codes[group, other]) if enough and other != column else None
                for other in range(codes.shape[1])
            ]
        return self._fitting[column, key]

    def _compare_values(self, column: int, group_values: Floats) -> _FittingValues | None:
        """Return which values of a column do not occur in a group, unless chance explains it."""
        values = self.people.codes[:, column]
        values, group_values = values[~np.isnan(values)], group_values[~np.isnan(group_values)]
        if len(group_values) < MIN_SUPPORT or self.people.is_text(column):
            return None
        # a share above this would almost surely be seen in the group
        visible_share = 1 - CHANCE ** (1 / len(group_values))
        if self.people.is_categorical(column):
            size = int(self.people.space.features[column].high) + 1
            shares = np.bincount(values.astype(np.intp), minlength=size) / len(values)
            unseen = np.bincount(group_values.astype(np.intp), minlength=size) == 0
            unfit = unseen & (shares > visible_share)
            return _FittingValues(unfit=unfit) if unfit.any() else None
        low, high = float(group_values.min()), float(group_values.max())
        low = low if (values < low).mean() > visible_share else -np.inf
        high = high if (values > high).mean() > visible_share else np.inf
        return None if np.isinf(low) and np.isinf(high) else _FittingValues(low=low, high=high)

    # -- similar people ----------------------------------------------------------------------------------------------

    def find_similar(self, rows: Rows, donors: Rows, excluded: Sequence[int]) -> Rows:
        """Return the most similar donors of each row, nearest first; some columns are left out."""
        people = self.people
        protected = {people.space.position(name) for name in people.protected}
        used = [column for column in range(len(people.space)) if column not in {*excluded, *protected}]
        count = min(MAX_DONORS, len(donors))
        if not used:
            return np.asarray(self.rng.choice(donors, size=(len(rows), count)), dtype=np.intp)
        if not self._blocks:
            self._blocks += [self._encode_column(column) for column in range(len(people.space))]
        matrix = np.hstack([self._blocks[column] for column in used])
        donor_matrix = matrix[donors]
        donor_norms = np.square(donor_matrix).sum(axis=1)
        nearest = np.empty((len(rows), count), dtype=np.intp)
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            part = slice(start, start + ROWS_PER_BLOCK)
            distances = donor_norms - 2 * (matrix[rows[part]] @ donor_matrix.T)  # squared, up to a constant per row
            nearest[part] = np.argsort(distances, axis=1, kind="stable")[:, :count]
        return donors[nearest]

    def _encode_column(self, column: int) -> Floats:
        """Return a column as numbers of comparable size; two categories have the distance 1."""
        values = self.people.codes[:, column]
        known = ~np.isnan(values)
        if self.people.is_text(column):
            return np.zeros((len(values), 1))  # similar people need not have similar texts
        if self.people.is_categorical(column):
            categories = np.unique(values[known])
            return (values[:, None] == categories).astype(np.float64) / np.sqrt(2)
        mean, spread = (values[known].mean(), values[known].std()) if known.any() else (0.0, 1.0)
        return np.where(known, (values - mean) / (spread or 1.0), 0.0)[:, None] / 2


def find_differences(first: Floats, second: Floats) -> Mask:
    """Return where codes differ; two missing values are equal."""
    return (first != second) & ~(np.isnan(first) & np.isnan(second))

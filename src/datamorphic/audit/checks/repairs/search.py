"""The search: many changes on a few rows, the best of them on more rows, and the last ones confirmed on rows kept apart.

The losses of a row under a change also tell what the change would do to a group of rows alone. So groups cost no queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ....runs.flow import ask
from ....space.outputs import Outputs
from ....space.points import Rows
from ...check import CheckBudget, run_flow
from ...conditions import RowCondition, build_conditions
from ...context import CheckContext, round_down
from ...judged_rows import JudgedRows
from ...rivals import get_explained_rows
from .changes import FITTED, NO_CHANGE, USUAL, ColumnChange
from .judge import Gain, LabelJudge, Losses

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
RowNumbers = npt.NDArray[np.intp]

MAX_SCREENED_ROWS = 60  # with all changes
MAX_SELECTED_ROWS = 160  # with the best of them
MAX_SELECTED_CHANGES = 24
MAX_TESTED_CHANGES = 10  # on all rows of the first half
MAX_CHANGES_TO_CONFIRM = 5  # on the other half
MAX_CHANGES_PER_COLUMN = 8  # among those selected
MIN_SCREENED_ROWS = 30
MIN_CONDITION_ROWS = 40
MAX_ROWS_PER_QUERY = 5_000  # the budget is checked between queries
MAX_TRIAL_ROWS = 2  # with a change that the system may refuse
MIN_TIMED_ROWS = 500  # of a query that tells how fast the system is
MIN_CLEARNESS = 1.5  # standard errors on the first half, for a change to be tested on the other
SCREENING_CAUTION = 0.3  # of the standard errors that count against a change, since few rows are certain of nothing
IMPLAUSIBILITY_PENALTY = 0.2  # standard errors by which a less plausible change must be clearer
CONDITION_PENALTY = 1.0  # standard errors by which a change of a group must be clearer than one of all rows
SIGNIFICANCE = 0.01  # of all confirmed changes together
MIN_REDUCTION = 0.10  # of the losses
MIN_CERTAIN_REDUCTION = 0.04  # at the lower end of the interval
MIN_EXPLAINED = 0.5  # of the losses beyond those of the quick model
MIN_EXPLAINED_IF_FITTED = 0.75
MIN_REDUCTION_OF_GOOD_MODEL = 0.15  # of the losses of a model that is not worse than the quick one, by a plain change
MIN_REDUCTION_OTHERWISE = 0.3
MIN_REDUCTION_BY_SPECIFIC_CHANGE = 0.05
MIN_THRESHOLD_PART = 0.6  # of the gain by a change, for another threshold to be as good an explanation
MAX_LEFT_IN_GROUP = 0.4  # of what is worse in a group than elsewhere, after a change of the group
MAX_EXPLAINED_SHARE = 0.4  # of the errors of a group that an earlier finding explains
MIN_ANSWERED_SHARE = 0.5  # of the rows, with a change
MAX_TIE_STANDARD_ERRORS = 1.64  # between two changes that explain about the same


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangeTrial:
    """A change of all rows or of a group, with the losses after it."""

    change: ColumnChange
    condition: RowCondition | None
    losses: Floats  # of the rows of the first half, or of all rows
    clearness: float  # standard errors by which they are smaller
    benefit: (
        float  # how much smaller they are at least: by a standard error less, and by more for what is less plausible
    )

    @property
    def text(self) -> str:
        """The change in words."""
        return self.change.text if self.condition is None else f"{self.change.text} where {self.condition.text}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Repair:
    """A change that makes the answers fit the labels better, confirmed on rows that were not used to find it."""

    change: ColumnChange
    condition: RowCondition | None
    gain: Gain
    losses: Floats  # of all judged rows after it
    runners_up: tuple[tuple[str, Gain], ...]  # other changes that were confirmed

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it changes."""
        return self.change.columns


@dataclass(eq=False, kw_only=True)
class ThresholdRepair:
    """Another threshold of the probability of a class."""

    label: Any
    threshold: float
    after: float  # the error rate with it


@dataclass(eq=False, kw_only=True)
class RepairSearch:
    """Looks for changes of the inputs that make the answers fit the labels better."""

    context: CheckContext
    budget: CheckBudget
    data: JudgedRows
    judge: LabelJudge
    frame: pd.DataFrame = field(init=False)  # the judged rows, with the repairs so far
    losses: Floats = field(init=False)  # with the repairs so far
    search_rows: RowNumbers = field(init=False)
    test_rows: RowNumbers = field(init=False)
    conditions: list[RowCondition] = field(init=False)
    partial: Repair | None = field(
        init=False, default=None
    )  # of the last search: it is certain, and explains too little alone
    tried: int = 0
    seconds_per_row: float = 0.0  # of the queries so far; rows with changed types may be slower than given ones

    def __post_init__(self) -> None:
        self.frame = self.data.points.frame.reset_index(drop=True)
        self.losses = self.data.errors
        order = np.random.default_rng([self.context.seed, 41]).permutation(len(self.losses))
        half = len(order) // 2
        self.search_rows, self.test_rows = np.sort(order[:half]), np.sort(order[half:])
        conditions = build_conditions(self.data.points, MIN_CONDITION_ROWS, self.context.date_columns)
        explained = get_explained_rows(self.context)[self.data.rows]
        self.conditions = [condition for condition in conditions if not self._is_explained(condition.inside, explained)]

    def _is_explained(self, inside: Mask, explained: Mask) -> bool:
        """Tell whether a finding of an earlier check is about this group, and not about all rows."""
        shares = [
            float(self.losses[part & explained].sum()) > MAX_EXPLAINED_SHARE * float(self.losses[part].sum())
            for part in (inside, ~inside)
        ]
        return shares[0] and not shares[1]

    # -- queries -------------------------------------------------------------------------------------------------------

    def change_rows(self, change: ColumnChange, rows: RowNumbers) -> pd.DataFrame | None:
        """Return some of the rows with a change; None if that is impossible."""
        frame = self.frame.iloc[rows]
        columns = self._change_columns(change, frame, rows)
        return None if columns is None else frame.assign(**columns)

    def _change_columns(
        self, change: ColumnChange, frame: pd.DataFrame, rows: RowNumbers
    ) -> dict[str, pd.Series[Any]] | None:
        with suppress(ArithmeticError, TypeError, ValueError, AttributeError, KeyError), np.errstate(all="ignore"):
            values_by_name = change.make(frame, self.data.rows[rows])
            columns = {name: pd.Series(values, index=frame.index) for name, values in values_by_name.items()}
            if any(column.dtype.kind == "f" and np.isinf(column.to_numpy()).any() for column in columns.values()):
                return None
            return columns
        return None

    def measure(
        self, changes: Sequence[ColumnChange], rows: RowNumbers, *, scores: bool = False
    ) -> dict[ColumnChange, Losses]:
        """Return the losses of some rows with each of the changes that the system accepts."""
        losses: dict[ColumnChange, Losses] = {}
        frame = self.frame.iloc[rows]
        refused = self._find_refused([change for change in changes if change.risky], rows)
        columns_by_change = {
            change: columns
            for change in changes
            if change not in refused and (columns := self._change_columns(change, frame, rows)) is not None
        }
        size = max(1, MAX_ROWS_PER_QUERY // max(1, len(rows)))
        accepted = list(columns_by_change)
        for start in range(0, len(accepted), size):
            batch = accepted[start : start + size]
            outputs = self._query(self._join([columns_by_change[change] for change in batch], frame), scores=scores)
            for number, change in enumerate(batch):
                part = outputs.take(slice(number * len(rows), (number + 1) * len(rows)))
                if part.ok.mean() > MIN_ANSWERED_SHARE:
                    losses[change] = self.judge.measure(part, rows)
        self.tried = max(self.tried, len(losses))
        return losses

    @staticmethod
    def _join(changed_columns: Sequence[Mapping[str, pd.Series[Any]]], frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows once per change, with the changed columns."""
        joined = frame.take(np.tile(np.arange(len(frame)), len(changed_columns))).reset_index(drop=True)
        for name in dict.fromkeys(name for columns in changed_columns for name in columns):
            joined[name] = pd.concat([columns.get(name, frame[name]) for columns in changed_columns], ignore_index=True)
        return joined

    def _find_refused(self, changes: Sequence[ColumnChange], rows: RowNumbers) -> set[ColumnChange]:
        """Return the changes of which the system refuses a few rows, so that no large batch fails row by row."""
        rows = rows[:MAX_TRIAL_ROWS]
        frame = self.frame.iloc[rows]
        columns_by_change = {
            change: columns for change in changes if (columns := self._change_columns(change, frame, rows)) is not None
        }
        if not columns_by_change:
            return set(changes)
        ok = self._query(self._join(list(columns_by_change.values()), frame)).ok.reshape(
            len(columns_by_change), len(rows)
        )
        accepted = np.flatnonzero(ok.all(axis=1)).tolist()
        return set(changes) - {list(columns_by_change)[place] for place in accepted}

    def _query(self, frame: pd.DataFrame, *, scores: bool = False) -> Outputs:
        start_seconds = self.context.clock.seconds
        flow = ask(Rows(frame), scores=scores, note="repairs", fresh=True)
        outputs = run_flow(self.context, self.budget, flow)
        if len(frame) >= MIN_TIMED_ROWS:
            self.seconds_per_row = max(self.seconds_per_row, (self.context.clock.seconds - start_seconds) / len(frame))
        return outputs

    def count_rows(self, changes: int, limit: int, part: float) -> int:
        """Return with how many rows, at most `limit`, some changes can be tried in a part of what is left of the budget."""
        budget = self.budget.remaining(part)
        rows = self.context.count_affordable(budget, limit, runs_per_case=max(1, changes), calls=5)
        if budget.seconds is not None and self.seconds_per_row:
            affordable = budget.seconds / (max(1, changes) * self.seconds_per_row)
            rows = min(rows, limit if affordable >= limit else round_down(max(1.0, affordable)))
        return rows

    # -- the stages ----------------------------------------------------------------------------------------------------

    def find_repair(self, changes: Sequence[ColumnChange], codings: CodingFinder | None = None) -> Repair | None:
        """Return the change that explains most, if one is confirmed."""
        limit = min(MAX_SCREENED_ROWS, len(self.search_rows))
        count = self.count_rows(len(changes), limit, 0.5)
        if count < MIN_SCREENED_ROWS <= limit:  # rather fewer changes than too few rows: the first ones matter most
            changes = changes[: self.count_rows(MIN_SCREENED_ROWS, len(changes), 0.5)]
            count = MIN_SCREENED_ROWS
        rows, weights = self.draw_rows(count)
        changes = [*changes, *(codings.list_changes(self, rows, weights) if codings is not None else ())]
        trials = self._rank(self.measure(changes, rows), rows, weights, caution=SCREENING_CAUTION)
        promising = [trial.change for trial in self._take_some_per_column(trials)][:MAX_SELECTED_CHANGES]
        refined = list(dict.fromkeys(similar for change in promising for similar in change.similar or (change,)))
        count = self.count_rows(len(refined), min(MAX_SELECTED_ROWS, len(self.search_rows)), 0.5)
        rows, weights = self.draw_rows(max(count, min(MIN_SCREENED_ROWS, limit)))
        trials = self._rank(self.measure(refined, rows), rows, weights)
        selected = list(dict.fromkeys(trial.change for trial in trials if trial.benefit > 0))
        rows = self.search_rows
        selected = selected[: max(1, min(MAX_TESTED_CHANGES, self.count_rows(len(rows), MAX_TESTED_CHANGES, 0.5)))]
        trials = self._rank(self.measure(selected, rows), rows, np.ones(len(rows)))
        trials = [trial for trial in trials if trial.clearness > MIN_CLEARNESS and trial.benefit > 0][
            :MAX_CHANGES_TO_CONFIRM
        ]
        changes = list(dict.fromkeys(trial.change for trial in trials))
        return self._confirm(
            trials, self.measure([NO_CHANGE, *changes], self.test_rows, scores=True) if changes else {}
        )

    def is_worth_a_search(self, least: float) -> bool:
        """Tell whether the losses are at least a part of those of the quick model: the data may allow better."""
        return float(self.losses.mean()) > least * float(self.data.reference_errors.mean())

    def find_answer_repair(self, losses: Mapping[ColumnChange, Floats]) -> Repair | None:
        """Return the change of the answers that explains most, if one is confirmed; the losses are those of all rows."""
        rows = self.search_rows
        self.tried = max(self.tried, len(losses))
        errors = {change: Losses(errors=values[rows]) for change, values in losses.items()}
        trials = self._rank(errors, rows, np.ones(len(rows)))
        trials = [trial for trial in trials if trial.clearness > MIN_CLEARNESS and trial.benefit > 0][
            :MAX_CHANGES_TO_CONFIRM
        ]
        return self._confirm(
            trials, {trial.change: Losses(errors=losses[trial.change][self.test_rows]) for trial in trials}
        )

    def find_threshold(self, repair: Repair) -> ThresholdRepair | None:
        """Return another threshold of the probabilities that explains about as much as a change, if there is one.

        A shift of a column is a shift of the threshold to a linear model, and so is what a preferred class does to any model. A
        threshold that does hardly better than always the same answer explains nothing.
        """
        levels = self.judge.get_second_class_probabilities(self.context, self.data)
        if levels is None or repair.condition is not None:
            return None
        truth = self.judge.truth == 1
        thresholds = np.unique(np.quantile(levels[self.search_rows], np.linspace(0.02, 0.98, 49)))
        errors = [float(((levels >= threshold) != truth)[self.search_rows].mean()) for threshold in thresholds]
        threshold = float(thresholds[int(np.argmin(errors))])
        after = float(((levels >= threshold) != truth)[self.test_rows].mean())
        share = float(truth[self.test_rows].mean())
        start = min(repair.gain.before, share, 1 - share)  # the error rate of what needs no model
        if after >= start or start - after < MIN_THRESHOLD_PART * (start - repair.gain.after):
            return None
        return ThresholdRepair(label=self.judge.codes.labels[1], threshold=threshold, after=after)

    def accept(self, repair: Repair) -> None:
        """Keep a repair, so that the next one is sought beside it."""
        changed = self.change_rows(repair.change, np.arange(len(self.frame)))
        if changed is None:
            return
        inside = np.ones(len(self.frame), dtype=bool) if repair.condition is None else repair.condition.inside
        for name in repair.columns:
            self.frame[name] = changed[name].where(inside, self.frame[name])
        self.losses = repair.losses

    def copy_with(self, repair: Repair) -> RepairSearch:
        """Return a search beside a repair."""
        search = copy(self)
        search.frame = self.frame.copy()
        search.accept(repair)
        return search

    def draw_rows(self, count: int) -> tuple[RowNumbers, Floats]:
        """Return rows of the first half, half of them answered wrongly, with the number of rows that they stand for."""
        rng = np.random.default_rng([self.context.seed, 43])
        rows = rng.permutation(self.search_rows)
        if count >= len(rows):
            return rows, np.ones(len(rows))
        if self.judge.numeric:
            return rows[:count], np.full(count, len(rows) / count)
        wrong, right = rows[self.losses[rows] > 0], rows[self.losses[rows] == 0]
        wrong_count = min(len(wrong), max(count // 2, count - len(right)))
        right_count = min(len(right), count - wrong_count)
        weights = np.repeat(
            [len(wrong) / max(wrong_count, 1), len(right) / max(right_count, 1)], [wrong_count, right_count]
        )
        return np.concatenate([wrong[:wrong_count], right[:right_count]]), weights

    def _rank(
        self, losses: Mapping[ColumnChange, Losses], rows: RowNumbers, weights: Floats, *, caution: float = 1.0
    ) -> list[ChangeTrial]:
        """Return each change with the group of rows in which it helps most clearly, and without a group; the clearest first."""
        plain: dict[bytes, ColumnChange] = {}  # of changes with the same effect the plainest
        for change in sorted(
            losses,
            key=lambda change: (
                not change.is_erasing,
                not change.similar,
                change.implausibility,
                change.rarity,
                len(change.columns),
            ),
        ):
            errors = losses[change].errors
            if np.isfinite(errors).all():
                plain.setdefault(errors.tobytes(), change)
        usable = {change: losses[change].errors for change in plain.values() if not change.is_erasing}
        if not usable:
            return []
        masks = np.column_stack([np.ones(len(rows)), *(condition.inside[rows] for condition in self.conditions)])
        gains = (self.losses[rows] - np.stack(list(usable.values()))) * weights
        sums = gains @ masks
        # two rows of usual losses, so that a gain by a single row is not clear
        usual = float(np.mean(np.square(self.losses[rows]))) if self.judge.numeric else 1.0
        prior = 2 * usual * float(np.mean(weights)) ** 2
        errors = np.sqrt(np.square(gains) @ masks + prior)
        clearness = sums / errors
        implausibility = np.array([change.implausibility for change in usable])
        penalties = (
            1.0 + IMPLAUSIBILITY_PENALTY * implausibility[:, None] + CONDITION_PENALTY * (np.arange(masks.shape[1]) > 0)
        )
        benefits = sums - caution * penalties * errors
        space = self.data.points.space
        owners = np.array([space.names[condition.feature] for condition in self.conditions], dtype=object)
        describes_kind = np.array(
            [is_kind_of_rows(self.context, condition) for condition in self.conditions], dtype=bool
        )
        for number, change in enumerate(usable):
            is_coding = any(space.features[space.position(name)].kind == "categorical" for name in change.columns)
            is_own = np.isin(owners, change.columns)
            # A part of a coding is no change of its own. Where another number is large, nobody uses another unit.
            benefits[number, 1:][np.where(is_own, is_coding, ~describes_kind)] = -np.inf
        trials = []
        for number, (change, values) in enumerate(usable.items()):
            best = int(benefits[number].argmax())
            for place in dict.fromkeys((best, 0)):
                trials.append(
                    ChangeTrial(
                        change=change,
                        condition=self.conditions[place - 1] if place else None,
                        losses=values,
                        clearness=float(clearness[number, place]),
                        benefit=float(benefits[number, place]),
                    )
                )
        return sorted(trials, key=lambda trial: -trial.benefit)

    def _take_some_per_column(self, trials: Sequence[ChangeTrial]) -> Iterator[ChangeTrial]:
        counts: dict[tuple[str, ...], int] = {}
        seen: set[ColumnChange] = set()  # of similar changes, the first
        for trial in trials:
            family = trial.change.similar[0] if trial.change.similar else trial.change
            if family in seen or trial.clearness <= 0:  # on a few rows, a benefit is rarely certain
                continue
            seen.add(family)
            counts[trial.change.columns] = counts.get(trial.change.columns, 0) + 1
            if counts[trial.change.columns] <= MAX_CHANGES_PER_COLUMN:
                yield trial

    def _confirm(self, trials: Sequence[ChangeTrial], test_losses: Mapping[ColumnChange, Losses]) -> Repair | None:
        """Test changes on the other half, and return the plainest of those that explain about as much as the best."""
        confirmed: list[tuple[ChangeTrial, Gain, Floats]] = []
        partial: list[tuple[ChangeTrial, Gain, Floats]] = []
        unchanged = test_losses.get(NO_CHANGE)
        rows = self.test_rows
        for place, trial in enumerate(trials):  # the clearest may use half of the significance, and so on
            if trial.change not in test_losses:
                continue
            inside = np.ones(len(self.losses), dtype=bool) if trial.condition is None else trial.condition.inside
            old = unchanged or Losses(errors=self.losses[rows])
            new = old.change_where(inside[rows], test_losses[trial.change])
            gain = self.judge.compare(old, new, rows)
            if not self._is_certain(trial, gain, SIGNIFICANCE / 2 ** (place + 1)):
                continue
            losses = self.losses.copy()
            losses[self.search_rows] = np.where(inside[self.search_rows], trial.losses, losses[self.search_rows])
            losses[rows] = new.errors
            explains_group = trial.condition is None or self._explains_group(inside[rows], new.errors)
            if explains_group and self._explains_enough(trial, gain):
                confirmed.append((trial, gain, losses))
            elif (
                trial.condition is None
                and trial.change.implausibility <= USUAL
                and gain.reduction.value >= MIN_REDUCTION
            ):
                partial.append((trial, gain, losses))
        self.partial = self._choose(partial)
        return self._choose(confirmed)

    @staticmethod
    def _choose(confirmed: list[tuple[ChangeTrial, Gain, Floats]]) -> Repair | None:
        """Return the plainest of the changes that explain about as much as the best."""
        if not confirmed:
            return None
        _, _, best = min(confirmed, key=lambda item: item[2].sum())

        def find_place(item: tuple[ChangeTrial, Gain, Floats]) -> tuple[bool, int, int, float]:
            trial, _, losses = item
            excess = losses - best
            is_far = float(excess.sum()) > MAX_TIE_STANDARD_ERRORS * float(excess.std()) * np.sqrt(len(excess))
            implausibility = trial.change.implausibility + (trial.condition is not None)
            return is_far, implausibility, trial.change.rarity, float(losses.sum())

        confirmed.sort(key=find_place)
        trial, gain, losses = confirmed[0]
        return Repair(
            change=trial.change,
            condition=trial.condition,
            gain=gain,
            losses=losses,
            runners_up=tuple((other.text, other_gain) for other, other_gain, _ in confirmed[1:]),
        )

    @staticmethod
    def _is_certain(trial: ChangeTrial, gain: Gain, significance: float) -> bool:
        return (
            gain.p_value <= significance
            and gain.reduction.low >= MIN_CERTAIN_REDUCTION
            and (gain.is_balanced or trial.change.is_renaming)
        )

    def _explains_enough(self, trial: ChangeTrial, gain: Gain) -> bool:
        """Tell whether a change explains enough to be the cause; the less plausible it is, the more it has to explain."""
        lost = float(self.losses.mean() - self.data.reference_errors.mean())
        # a number that fits, or a limit beyond which something fits, makes every weak model better
        is_fitted = trial.change.implausibility == FITTED or (
            trial.condition is not None and trial.condition.is_threshold
        )
        if lost > 0 and gain.before - gain.after >= (MIN_EXPLAINED_IF_FITTED if is_fitted else MIN_EXPLAINED) * lost:
            least = MIN_REDUCTION
        elif is_fitted:
            return False
        elif trial.change.is_specific and trial.condition is None:
            least = MIN_REDUCTION_BY_SPECIFIC_CHANGE
        elif lost <= 0 and trial.change.implausibility <= USUAL:
            least = MIN_REDUCTION_OF_GOOD_MODEL
        else:
            least = MIN_REDUCTION_OTHERWISE
        return gain.reduction.value >= least

    def _explains_group(self, inside: Mask, new: Floats) -> bool:
        """Tell whether a change of a group leaves little of what is worse there than elsewhere, on the rows of the other half.

        If a whole group is answered wrongly, some factor makes many columns fit better. Only the true one makes the group normal.
        """
        quick, old = self.data.reference_errors[self.test_rows], self.losses[self.test_rows]
        if not inside.any() or inside.all():
            return True

        def measure_excess(errors: Floats, part: Mask) -> float:
            mean, quick_mean = float(errors[part].mean()), float(quick[part].mean())
            return mean / max(quick_mean, 1e-300) if self.judge.numeric else mean - quick_mean

        elsewhere = measure_excess(old, ~inside)
        worse = measure_excess(old, inside) - elsewhere
        return worse <= 0 or measure_excess(new, inside) - elsewhere <= MAX_LEFT_IN_GROUP * worse


def is_kind_of_rows(context: CheckContext, condition: RowCondition) -> bool:
    """Tell whether a condition names a kind of rows (a category, few values, missing, a time), and no threshold of a quantity."""
    name = context.space.names[condition.feature]
    return any(column.name == name for column in context.date_columns) or not condition.is_threshold


class CodingFinder:
    """Finds codings that are mixed up: categories, or small whole numbers, that the system takes for one another."""

    def list_changes(self, search: RepairSearch, rows: RowNumbers, weights: Floats) -> list[ColumnChange]:
        """Return the changes of codings that seem to help on some rows."""
        raise NotImplementedError

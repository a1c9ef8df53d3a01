"""`Search`: the given rows, then values and rows that the data do not have, on which two systems may differ.

All walks, pairs and bisections advance together, one batch per step. Every case is a given row with some values changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...errors import OutOfBudget
from ...space.features import Codes, Mask
from ...space.outputs import Outputs
from ...space.points import Points
from .twins import PairedAnswers, Twins
from .values import FeatureGrid, bisect_codes, describe_values

Positions = npt.NDArray[np.intp]

MAX_ROWS_PER_QUERY = 20_000  # the clock is read between queries
MAX_WALK_CASES = 60_000  # of one round
MIN_WALK_ROWS = 3  # per round and feature
WALK_ROWS = (6, 12, 16)  # real rows, then rows crossed from two real ones, then rows near a border
LABEL_FACTOR = 2  # more rows where only labels are seen: few of them are close to a border
CATEGORY_ROWS = 400  # that get all categories
HYBRID_ROWS = 1_500
HYBRID_SHARES = (0.15, 0.5)  # of the values that a row gets from another row
BORDER_PAIRS = 60
MAX_JUMPS_PER_FEATURE = 30  # that are followed to the last float, per system and round
MAX_JUMPS_PER_CELL = 2  # two rows with a jump between the same two values
MIN_JUMP = 20.0  # of a score, in tolerances: smaller steps cannot show a difference
NO_FEATURE = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases:
    """Rows to ask: given rows with some values changed."""

    codes: Codes
    rows: Positions  # of the given rows that were changed
    walked: Positions  # the feature whose value was chosen; `NO_FEATURE` if several were

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, selection: npt.NDArray[np.intp] | Mask) -> Cases:
        """Return some of the cases."""
        return Cases(codes=self.codes[selection], rows=self.rows[selection], walked=self.walked[selection])

    @staticmethod
    def concat(parts: list[Cases]) -> Cases:
        """Return the cases of several queries as one set."""
        return Cases(
            codes=np.concatenate([part.codes for part in parts]),
            rows=np.concatenate([part.rows for part in parts]),
            walked=np.concatenate([part.walked for part in parts]),
        )


@dataclass(kw_only=True)
class Search:
    """The state of a search: what was asked, and what differs."""

    twins: Twins
    points: Points  # the given rows
    seed: int = 0
    tried: int = 0  # cases beyond the given rows
    disagreements: list[tuple[Cases, PairedAnswers]] = field(default_factory=list)
    given_answers: PairedAnswers = field(init=False)  # the answers to the given rows
    agreeing: Positions = field(init=False)  # given rows that both systems answer, alike
    features: list[FeatureGrid] = field(init=False)
    _borders: list[Cases] = field(default_factory=list)  # rows close to a border of one of the systems

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.features = [describe_values(self.points, position) for position in range(len(self.points.space))]

    # -- the search ------------------------------------------------------------------------------------------------

    def ask_given_rows(self) -> None:
        """Ask the given rows, and keep those that differ."""
        self.given_answers = self.twins.calibrate(self.points)
        differ = self.given_answers.differ
        self.agreeing = np.flatnonzero(~differ & self.given_answers.old.ok)
        rows = np.flatnonzero(differ)
        if len(rows) and len(self.agreeing):
            rows = rows[np.argsort(-self.given_answers.severity[rows], kind="stable")][:200]
            cases = Cases(
                codes=self.points.codes[rows], rows=self._find_nearest(rows), walked=np.full(len(rows), NO_FEATURE)
            )
            self.disagreements.append((cases, self.given_answers.take(rows)))

    def explore(self) -> None:
        """Search beyond the given rows, until the time is over."""
        try:
            counts = [count * (1 if self.twins.shows_more_than_labels else LABEL_FACTOR) for count in WALK_ROWS]
            self._try_categories(self._choose_rows(CATEGORY_ROWS))
            self._walk(self._choose_rows(counts[0]))
            agreeing_hybrids = self._ask(self._cross_rows(HYBRID_ROWS))
            self._walk(_sample(agreeing_hybrids, counts[1], self.rng))
            self._explore_borders(BORDER_PAIRS)
            self._walk(self._choose_border_rows(counts[2]))
        except OutOfBudget:
            return

    def _raise_if_late(self) -> None:
        if self.twins.is_late():
            raise OutOfBudget("the time of the search is over")

    def _ask(self, cases: Cases) -> Cases:
        """Ask cases, keep those that differ, and return the others."""
        paired = self._query(cases)
        self._keep(cases, paired)
        return cases.take(np.flatnonzero(~paired.differ & paired.old.ok))

    def _query(self, cases: Cases) -> PairedAnswers:
        parts = []
        for start in range(0, len(cases), MAX_ROWS_PER_QUERY):
            self._raise_if_late()
            parts.append(self.twins.ask(self._to_points(cases.codes[start : start + MAX_ROWS_PER_QUERY])))
        self.tried += len(cases)
        return parts[0] if len(parts) == 1 else PairedAnswers.concat(parts)

    def _keep(self, cases: Cases, paired: PairedAnswers) -> None:
        rows = np.flatnonzero(paired.differ)
        if len(rows):
            self.disagreements.append((cases.take(rows), paired.take(rows)))

    def _to_points(self, codes: Codes) -> Points:
        return Points(self.points.space, codes)

    # -- rows ------------------------------------------------------------------------------------------------------

    def _choose_rows(self, count: int) -> Cases:
        """Return given rows that both systems answer alike, of all answers in equal parts."""
        labels = self.twins.to_codes(self.given_answers.old)[self.agreeing]
        order = self.rng.permutation(len(self.agreeing))
        ranks = np.zeros(len(order))
        for label in np.unique(labels.astype(str)):
            places = order[labels[order].astype(str) == label]
            ranks[places] = np.arange(len(places))
        rows = self.agreeing[order[np.argsort(ranks[order], kind="stable")][:count]]
        return Cases(codes=self.points.codes[rows], rows=rows, walked=np.full(len(rows), NO_FEATURE))

    def sample_agreeing(self, count: int) -> Positions:
        """Return given rows that both systems answer alike, of all answers in equal parts."""
        return self._choose_rows(count).rows

    def _choose_border_rows(self, count: int) -> Cases:
        """Return rows near a border: their answers change with the least change of a value."""
        if not self._borders:
            return self._choose_rows(count)
        return _sample(Cases.concat(self._borders), count, self.rng)

    def _cross_rows(self, count: int) -> Cases:
        """Return given rows with some values of another given row."""
        rows, donors = self.rng.choice(self.agreeing, (2, count))
        shares = np.resize(HYBRID_SHARES, count)[:, None]
        is_taken = self.rng.random((count, len(self.features))) < shares
        codes = np.where(is_taken, self.points.codes[donors], self.points.codes[rows])
        return Cases(codes=codes, rows=rows, walked=np.full(count, NO_FEATURE))

    def _find_nearest(self, rows: Positions) -> Positions:
        """Return for each row the given row without a difference that has the most values in common with it."""
        candidates = self.agreeing[:2_000]
        codes = self.points.codes
        widths = np.array([feature.width for feature in self.features])
        nearest = np.empty(len(rows), dtype=np.intp)
        numeric = np.array([feature.is_number for feature in self.features])
        for place, row in enumerate(rows):
            distances = np.abs(codes[candidates] - codes[row])
            distances = np.where(numeric, np.minimum(distances / widths, 1.0), distances > 0)
            same_missing = np.isnan(codes[candidates]) & np.isnan(codes[row])
            distances = np.where(np.isnan(distances), np.where(same_missing, 0.0, 1.0), distances)
            nearest[place] = candidates[distances.sum(axis=1).argmin()]
        return nearest

    # -- walks along one feature -----------------------------------------------------------------------------------

    def _try_categories(self, bases: Cases) -> None:
        """Give every feature without an order all of its values, in many rows: there are few values."""
        places = [place for place, feature in enumerate(self.features) if not feature.is_number]
        sizes = [len(self.features[place].grid) for place in places]
        if not sum(sizes):
            return
        bases = bases.take(np.arange(min(len(bases), max(1, MAX_ROWS_PER_QUERY // sum(sizes)))))
        self._ask(Cases.concat([_vary(bases, place, self.features[place].grid) for place in places]))

    def _walk(self, bases: Cases) -> None:
        """Give every feature of some rows all values of its grid, and follow the jumps between them to the last float."""
        if not len(bases):
            return
        sizes = [len(feature.grid) for feature in self.features]
        count = min(len(bases), max(MIN_WALK_ROWS, MAX_WALK_CASES // max(1, sum(sizes))))
        bases = bases.take(np.arange(count))
        lanes: list[tuple[int, Lanes]] = []
        batch: list[int] = []
        order = [int(place) for place in self.rng.permutation(len(sizes))]
        while order:
            batch.append(order.pop())
            if order and sum(sizes[place] for place in batch) * count < MAX_ROWS_PER_QUERY:
                continue
            cases = Cases.concat([_vary(bases, place, self.features[place].grid) for place in batch])
            paired = self._query(cases)
            self._keep(cases, paired)
            start = 0
            for place in batch:
                stop = start + count * sizes[place]
                if self.features[place].is_number and sizes[place] > 1:
                    piece = paired.take(np.arange(start, stop))
                    lanes += self._find_jumps(cases.take(np.arange(start, stop)), piece, place, count)
                start = stop
            batch = []
        for side in (0, 1):
            parts = [lane for lane_side, lane in lanes if lane_side == side]
            if parts:
                self._follow_jumps(Lanes.concat(parts), side)

    def _find_jumps(self, cases: Cases, paired: PairedAnswers, place: int, count: int) -> list[tuple[int, Lanes]]:
        """Return neighbouring values of a walk between which one of the systems' answers or scores jump."""
        lanes = []
        size = len(cases) // count
        agree = (~paired.differ & paired.old.ok & paired.new.ok).reshape(count, size)
        both_agree = agree[:, 1:] & agree[:, :-1]
        for side, outputs in enumerate((paired.old, paired.new)):
            labels = self.twins.to_codes(outputs).reshape(count, size)
            signals = self.twins.to_signal(outputs).reshape(count, size, -1)
            with np.errstate(invalid="ignore"):
                steps = np.nan_to_num(np.abs(np.diff(signals, axis=1)))
            is_change = (labels[:, 1:] != labels[:, :-1]) & both_agree
            sizes = np.where(is_change, 2.0, 0.0) + np.minimum(steps.max(axis=2), 1.0)
            sizes = np.where(
                both_agree & (is_change | (steps.max(axis=2) > MIN_JUMP * self.twins.tolerance)), sizes, 0.0
            )
            chosen = _choose_cells(sizes, self.rng)
            if not len(chosen[0]):
                continue
            rows, cells = chosen
            flat = rows * size + cells
            grid = self.features[place].grid
            lanes.append(
                (
                    side,
                    Lanes(
                        cases=cases.take(flat),
                        left=grid[cells],
                        right=grid[cells + 1],
                        by_label=is_change[rows, cells],
                        left_label=labels[rows, cells],
                        column=steps[rows, cells].argmax(axis=1),
                        signals=np.stack([signals[rows, cells], signals[rows, cells + 1]]),
                    ),
                )
            )
            if is_change.any():
                near = np.flatnonzero(is_change.any(axis=1))
                cells_of_change = is_change[near].argmax(axis=1)
                self._borders.append(cases.take(near * size + cells_of_change))
        return lanes

    def _follow_jumps(self, lanes: Lanes, side: int) -> None:
        """Bisect jumps of one system to the last float, and ask both systems on either side of it."""
        features = lanes.cases.walked
        whole = np.array([feature.is_whole for feature in self.features])[features]
        places = np.arange(len(lanes))
        first_left, first_right = (lanes.signals[end, places, lanes.column] for end in (0, 1))

        def decide(numbers: Codes, active: Positions) -> tuple[Codes, Codes]:
            self._raise_if_late()
            codes = lanes.cases.codes[active].copy()
            codes[np.arange(len(active)), features[active]] = numbers
            outputs = self._ask_one(codes, side)
            signals = self.twins.to_signal(outputs)[np.arange(len(active)), lanes.column[active]]
            with np.errstate(invalid="ignore"):
                nearer_left = np.abs(signals - first_left[active]) < np.abs(signals - first_right[active])
            labels = self.twins.to_codes(outputs)
            sides = np.where(lanes.by_label[active], labels == lanes.left_label[active], nearer_left).astype(np.float64)
            sides[~outputs.ok] = np.nan
            return sides, np.where(lanes.by_label[active], np.where(sides == 1, -np.inf, np.inf), signals)

        ends = (np.where(lanes.by_label, -np.inf, first_left), np.where(lanes.by_label, np.inf, first_right))
        left, right = bisect_codes(
            lanes.left, lanes.right, whole, decide, signals=ends, smallest_jump=self.twins.tolerance
        )
        parts = []
        for values in _list_neighbours(left, right):
            codes = lanes.cases.codes.copy()
            codes[places, features] = np.where(whole, np.rint(values), values)
            parts.append(Cases(codes=codes, rows=lanes.cases.rows, walked=features))
        self._ask(Cases.concat(parts))

    def _ask_one(self, codes: Codes, side: int) -> Outputs:
        self.tried += len(codes)
        return self.twins.ask_one(self._to_points(codes), side)

    # -- borders between rows --------------------------------------------------------------------------------------

    def _explore_borders(self, count: int) -> None:
        """Bisect between rows with different answers, by each system, and ask both systems at the border."""
        rows, others = self.rng.choice(self.agreeing, (2, 20 * count))
        labels = self.twins.to_codes(self.given_answers.old)
        signals = self.twins.to_signal(self.given_answers.old)[:, 0]
        distance = np.nan_to_num(np.abs(signals[rows] - signals[others]))
        different = (labels[rows] != labels[others]) | (distance > 0.1 if self.twins.numeric else False)
        rows, others = rows[different][:count], others[different][:count]
        if not len(rows):
            return
        a, b = self.points.codes[rows], self.points.codes[others]
        numeric = np.array([feature.is_number for feature in self.features])
        whole = np.array([feature.is_whole for feature in self.features])

        def mix(shares: Codes, lanes: Positions) -> Codes:
            with np.errstate(invalid="ignore"):
                mixed = a[lanes] + (b[lanes] - a[lanes]) * shares[:, None]
            mixed = np.where(whole, np.rint(mixed), mixed)
            is_near_a = (shares < 0.5)[:, None] | (shares <= 0)[:, None]
            chosen = np.where(is_near_a, a[lanes], b[lanes])
            return np.where(numeric & ~np.isnan(mixed), mixed, chosen)

        every = np.arange(len(rows))
        start_labels, start_signals, end_signals = labels[rows], signals[rows], signals[others]
        for side in (0, 1):

            def decide(shares: Codes, lanes: Positions, side: int = side) -> tuple[Mask, Codes]:
                self._raise_if_late()
                outputs = self._ask_one(mix(shares, lanes), side)
                is_left = self.twins.to_codes(outputs) == start_labels[lanes]
                if self.twins.numeric:
                    numbers = self.twins.to_signal(outputs)[:, 0]
                    is_left = np.abs(numbers - start_signals[lanes]) < np.abs(numbers - end_signals[lanes])
                return is_left, np.zeros(len(shares))

            left, right = bisect_codes(np.zeros(len(rows)), np.ones(len(rows)), np.zeros(len(rows), dtype=bool), decide)
            codes = np.concatenate([mix(left, every), mix(right, every)])
            self._ask(Cases(codes=codes, rows=np.tile(rows, 2), walked=np.full(2 * len(rows), NO_FEATURE)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Lanes:
    """Jumps to follow: a row, and two values of its walked feature with a jump of one system between them."""

    cases: Cases
    left: Codes
    right: Codes
    by_label: Mask  # whether the label changes, or only a score
    left_label: npt.NDArray[np.object_]
    column: Positions  # of the score that jumps
    signals: npt.NDArray[np.float64]  # two ends by lanes by scores

    def __len__(self) -> int:
        return len(self.left)

    @staticmethod
    def concat(parts: list[Lanes]) -> Lanes:
        """Return the lanes of all features together."""
        return Lanes(
            cases=Cases.concat([part.cases for part in parts]),
            left=np.concatenate([part.left for part in parts]),
            right=np.concatenate([part.right for part in parts]),
            by_label=np.concatenate([part.by_label for part in parts]),
            left_label=np.concatenate([part.left_label for part in parts]),
            column=np.concatenate([part.column for part in parts]),
            signals=np.concatenate([part.signals for part in parts], axis=1),
        )


def _vary(bases: Cases, place: int, values: Codes) -> Cases:
    """Return every row with every value of a feature, row by row."""
    codes = np.repeat(bases.codes, len(values), axis=0)
    codes[:, place] = np.tile(values, len(bases))
    return Cases(codes=codes, rows=np.repeat(bases.rows, len(values)), walked=np.full(len(codes), place))


def _choose_cells(sizes: Codes, rng: np.random.Generator) -> tuple[Positions, Positions]:
    """Return the rows and cells of the largest jumps: at most a few per cell."""
    rows, cells = np.nonzero(sizes > 0)
    order = np.lexsort((rng.random(len(rows)), -sizes[rows, cells]))
    rows, cells = rows[order], cells[order]
    counts: dict[int, int] = {}
    chosen = []
    for place, cell in enumerate(cells.tolist()):
        counts[cell] = counts.get(cell, 0) + 1
        if counts[cell] <= MAX_JUMPS_PER_CELL:
            chosen.append(place)
        if len(chosen) == MAX_JUMPS_PER_FEATURE:
            break
    return rows[chosen], cells[chosen]


def _list_neighbours(left: Codes, right: Codes) -> list[Codes]:
    """Return values around a jump: its two sides, the nearest floats of single precision, and rounded values."""
    with np.errstate(over="ignore"):
        single = right.astype(np.float32)
        values = [left, right, np.nextafter(left, -np.inf), np.nextafter(right, np.inf), left - 1, right + 1]
        values += [np.nextafter(single, np.float32(side)).astype(np.float64) for side in (-np.inf, np.inf)]
        values += [single.astype(np.float64), left - 1e-6, right + 1e-6, left - 0.5, right + 0.5]
    for decimals in range(4):
        values += [np.floor(left * 10.0**decimals) / 10.0**decimals, np.ceil(right * 10.0**decimals) / 10.0**decimals]
    return [np.where(np.isfinite(numbers), numbers, right) for numbers in values]


def _sample(cases: Cases, count: int, rng: np.random.Generator) -> Cases:
    return cases.take(rng.permutation(len(cases))[:count])

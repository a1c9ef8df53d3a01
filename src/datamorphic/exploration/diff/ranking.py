"""Find the real inputs and the pairs at which two fronts differ, and rank them as cases to look at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._lazy import pd
from ...runs.flow import Flow, Query
from ...space.features import Codes
from ...space.neighbours import find_nearest
from ...space.outputs import Outputs, Status
from ...space.points import Points
from ...space.space import Space
from ..borders import Border
from ..changes import Answers, Mask, Rows, thin_rows
from ..front_data import FrontData

MAX_REAL_INPUTS = 5_000  # real inputs that both systems are queried about
CASE_COLUMNS = ("old_answer", "new_answer", "why", "shift", "plausibility")
MAX_MOVED_INPUTS = 500  # changed inputs, nearest to the border first, that are moved a little to find it

REASONS = {
    ("old", "moved"): "was at the border {border}, which is {shift:.3g} away now",
    ("new", "moved"): "is at the border {border} now, which was {shift:.3g} away",
    ("old", "vanished"): "was at a border {border} that has vanished",
    ("new", "gained"): "is at a border {border} that is new",
    ("old", "unanswered"): "was at the border {border} and gets no answer now",
    ("new", "unanswered"): "is at the border {border} and got no answer",
}


@dataclass(frozen=True)
class Suspects:
    """Cases to look at: their codes, and a frame of details.

    The details are `CASE_COLUMNS`, ``change`` (the size of the change, for the ranking) and ``unanswered`` (whether a
    system was queried and gave no answer).
    """

    codes: Codes
    details: pd.DataFrame

    @staticmethod
    def from_columns(codes: Codes, **details: Any) -> Suspects:
        """Return cases with columns of details."""
        # without a dtype, pandas would turn some columns into strings, and None into NaN
        columns = {name: pd.Series(column, dtype=getattr(column, "dtype", object)) for name, column in details.items()}
        return Suspects(codes, pd.DataFrame(columns))


def find_changed_ends(
    border: Border, front: FrontData, table: pd.DataFrame, end: str, change: Codes, informative: Mask
) -> Suspects:
    """Return one end of each informative changed pair, where its answer changed or may have changed."""
    old, new = table[f"old_{end}"].to_numpy(), table[f"new_{end}"].to_numpy()
    unknown = np.array([x is None or y is None for x, y in zip(old, new, strict=True)], dtype=bool)
    unanswered = unknown & table["asked"].to_numpy(dtype=bool)
    candidate = _find_different_sides(border, old, new) | unanswered | (unknown & ~unanswered & (end == "a"))
    rows = np.flatnonzero(candidate & informative & (table["status"] != "kept").to_numpy())
    changed_pairs = table.iloc[rows]
    reasons = [
        REASONS[pair.front, "unanswered" if no_answer else pair.status].format(border=pair.border, shift=pair.shift)
        for pair, no_answer in zip(changed_pairs.itertuples(), unanswered[rows], strict=True)
    ]
    return Suspects.from_columns(
        (front.a if end == "a" else front.b).codes[rows],
        old_answer=old[rows],
        new_answer=new[rows],
        why=reasons,
        shift=changed_pairs["shift"].to_numpy(),
        plausibility=changed_pairs["plausibility"].to_numpy(),
        change=change[rows],
        unanswered=unanswered[rows],
    )


@dataclass(kw_only=True)
class RealInputs:
    """Real inputs and the known answers of the old and the new system to them."""

    points: Points
    border: Border
    ends: Codes  # cases where a border is known
    tolerance: float  # the distance from a border within which answers may differ
    reach: float  # the distance up to which a border may be near
    old: Outputs | None = None
    new: Outputs | None = None
    near: Mask = field(init=False)  # the inputs whose answers differ, but that are within the tolerance of the border

    def __post_init__(self) -> None:
        self.near = np.zeros(len(self.points), dtype=bool)

    def query(self, version: str) -> Flow[None]:
        """Query the "old" or the "new" system; the second one is also queried near the inputs that differ."""
        if not len(self.points):
            return
        outputs = yield Query(self.points, note="comparing")
        other_outputs = self.new if version == "old" else self.old
        setattr(self, version, outputs)
        if other_outputs is not None:
            yield from self._find_near(outputs, other_outputs)

    def _find_near(self, own_outputs: Outputs, other_outputs: Outputs) -> Flow[None]:
        """Find the inputs that are so near to the border that their different answers do not count.

        They are within the tolerance of a pair. Or they are within reach of one, and moving one number by the tolerance
        changes the answer of the queried system (`own_outputs`) to that of the other system (`other_outputs`).
        """
        space, codes = self.points.space, self.points.codes
        differ = np.flatnonzero(classify_changes(self.border, own_outputs, other_outputs)[0])
        depth = find_nearest(space, codes[differ], self.ends)[0][:, 0]
        self.near[differ[depth <= self.tolerance]] = True
        order = np.argsort(depth, kind="stable")
        order = order[(depth[order] > self.tolerance) & (depth[order] <= self.reach)]
        candidates = differ[order][:MAX_MOVED_INPUTS]
        moved_codes, owner = _move_numbers(space, codes[candidates], self.tolerance)
        if len(moved_codes):
            outputs = yield Query(Points(space, moved_codes), note="near the border")
            expected_outputs = other_outputs.take(candidates[owner])
            restored = ~np.logical_or.reduce(classify_changes(self.border, outputs, expected_outputs))
            self.near[candidates[owner[restored]]] = True

    def find_changed(self) -> Suspects | None:
        """Return the inputs that the two systems answer differently, except those near the border."""
        if self.old is None or self.new is None:
            return None
        differ, answer_lost, answer_gained = classify_changes(self.border, self.old, self.new)
        rows = np.flatnonzero((differ & ~self.near) | answer_lost | answer_gained)
        depth = find_nearest(self.points.space, self.points.codes[rows], self.ends)[0][:, 0]
        reasons = []
        for row, distance in zip(rows.tolist(), depth.tolist(), strict=True):
            if answer_lost[row]:
                reasons.append("a real input that was answered and gets no answer now")
            elif answer_gained[row]:
                reasons.append("a real input that got no answer before")
            else:
                location = f", {distance:.3g} from the nearest border found" if np.isfinite(distance) else ""
                reasons.append(f"a real input that is answered differently{location}")
        return Suspects.from_columns(
            self.points.codes[rows],
            old_answer=self.old.to_objects()[rows],
            new_answer=self.new.to_objects()[rows],
            why=reasons,
            shift=np.full(len(rows), np.nan),
            plausibility=np.zeros(len(rows)),
            change=np.where(differ[rows], np.minimum(depth, self.reach), self.reach),
            unanswered=(answer_lost | answer_gained)[rows],
        )


def select_real_inputs(
    old_front: FrontData, new_front: FrontData, space: Space
) -> tuple[Points, Outputs | None, Outputs | None]:
    """Return the real inputs to compare by, and the answers of the old and the new system that a file holds.

    They are seed cases of the old front, or those with answers in a file.
    """

    def select_seeds(front: FrontData, limit: int) -> Points:
        return Points(space, front.seeds.codes[thin_rows(len(front.seeds), limit)])

    if old_front.sut is not None and new_front.sut is not None:
        return select_seeds(old_front, MAX_REAL_INPUTS), None, None
    old_outputs, new_outputs = old_front.seed_answers, new_front.seed_answers
    old_points = select_seeds(old_front, 0 if old_outputs is None else len(old_outputs))
    new_points = select_seeds(new_front, 0 if new_outputs is None else len(new_outputs))
    if new_front.sut is not None:
        return old_points, old_outputs, None
    if old_front.sut is not None:
        return new_points, None, new_outputs
    old_row_by_code = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(old_points.codes))}
    new_codes = np.ascontiguousarray(new_points.codes)
    old_rows = np.array([old_row_by_code.get(row.tobytes(), -1) for row in new_codes], dtype=np.intp)
    common_rows = np.flatnonzero(old_rows >= 0)
    if not common_rows.size or old_outputs is None or new_outputs is None:
        return old_points.take(common_rows[:0]), None, None
    old_rows = old_rows[common_rows]
    return old_points.take(old_rows), old_outputs.take(old_rows), new_outputs.take(common_rows)


def classify_changes(border: Border, old: Outputs, new: Outputs) -> tuple[Mask, Mask, Mask]:
    """Return where answers are on different sides of a border, where an answer was lost, and where one was gained."""
    return _find_different_sides(border, old.to_objects(), new.to_objects()), old.ok & ~new.ok, ~old.ok & new.ok


def _find_different_sides(border: Border, old: Answers, new: Answers) -> Mask:
    states = []
    for values in (old, new):
        missing = np.array([value is None for value in values], dtype=bool)
        states.append(border.read(Outputs(values, np.where(missing, Status.MISSING, Status.OK).astype(np.int8))))
    differ = np.zeros(len(old), dtype=bool)
    differ[border.find_borders(*states)[0]] = True
    return differ


def _move_numbers(space: Space, codes: Codes, distance: float) -> tuple[Codes, Rows]:
    """Return copies of rows with one number moved up or down, and the row that each is made from."""
    trials, owners = [codes[:0]], [np.empty(0, dtype=np.intp)]
    for j, feature in enumerate(space.features):
        if not feature.numeric:
            continue
        for way in (-distance, distance):
            trial = codes.copy()
            step = np.trunc(way / feature.scale) if feature.kind == "integer" else way / feature.scale
            trial[:, j] += step
            if feature.kind == "integer" or space.moves == "clip":
                trial[:, j] = np.clip(trial[:, j], feature.low, feature.high)
            fit = ~Points(space, trial).same(Points(space, codes))
            if space.keeps_constraints:
                fit &= space.satisfied(trial)
            trials.append(trial[fit])
            owners.append(np.flatnonzero(fit))
    return np.concatenate(trials), np.concatenate(owners)


def rank_cases(space: Space, parts: Sequence[Suspects]) -> tuple[pd.DataFrame, Mask]:
    """Return cases in the order in which to look at them, and which of them got no answer when queried."""
    details = pd.concat([part.details for part in parts if len(part.details)] or [parts[0].details], ignore_index=True)
    codes = np.concatenate([part.codes for part in parts])
    distances = details["plausibility"].fillna(1.0)  # not measured: taken to be implausible
    details = details.loc[(details["change"] - distances).sort_values(ascending=False, kind="stable").index]
    turn = details.groupby([details[name].map(str) for name in ("old_answer", "new_answer")]).cumcount()
    order = turn.sort_values(kind="stable").index
    ranked = Suspects(codes[order], details.loc[order].reset_index(drop=True))
    return build_case_frame(space, ranked, *CASE_COLUMNS), ranked.details["unanswered"].to_numpy(dtype=bool)


def build_case_frame(space: Space, cases: Suspects, *columns: str) -> pd.DataFrame:
    """Return cases as a frame of their features and some details; one named like a feature gets an underscore."""
    details = cases.details[list(columns)].rename(columns=lambda name: f"{name}_" if name in space.names else name)
    return pd.concat([Points(space, cases.codes).frame, details], axis=1)

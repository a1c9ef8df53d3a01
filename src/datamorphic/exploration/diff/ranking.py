"""Find and rank the cases to look at first where two fronts differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runs.flow import Flow, Query
from ...space.features import Codes
from ...space.neighbours import find_nearest
from ...space.outputs import Outputs, Status
from ...space.points import Points
from ...space.space import Space
from .._utils import Answers, Mask, Rows
from ..borders import Border
from ..front_data import FrontData

if TYPE_CHECKING:
    import pandas as pd

CASE_COLUMNS = ("old_answer", "new_answer", "why", "shift", "plausibility")
MAX_MOVED_INPUTS = 500  # changed inputs, nearest to the border first, that are moved a little to find it

REASONS = {
    ("old", "moved"): "was at the border {border}, which is {shift:.3g} away now",
    ("new", "moved"): "is at the border {border} now, which was {shift:.3g} away",
    ("old", "vanished"): "was at a border {border} that has vanished",
    ("new", "gained"): "is at a border {border} that is new",
}
NO_ANSWER_REASONS = {
    "old": "was at the border {border} and gets no answer now",
    "new": "is at the border {border} and got no answer",
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
        import pandas as pd

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
    candidate = find_different_sides(border, old, new) | unanswered | (unknown & ~unanswered & (end == "a"))
    rows = np.flatnonzero(candidate & informative & (table["status"] != "kept").to_numpy())
    changed_pairs = table.iloc[rows]
    reasons = [
        (NO_ANSWER_REASONS[pair.front] if is_unanswered else REASONS[pair.front, pair.status]).format(
            border=pair.border, shift=pair.shift
        )
        for pair, is_unanswered in zip(changed_pairs.itertuples(), unanswered[rows], strict=True)
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


def find_changed_inputs(
    rows: Points, border: Border, old: Outputs, new: Outputs, ends: Codes, reach: float, near: Mask
) -> Suspects:
    """Return the real inputs that the two systems answer differently, except those near the border."""
    differ, answer_lost, answer_gained = classify_changes(border, old, new)
    input_rows = np.flatnonzero((differ & ~near) | answer_lost | answer_gained)
    depth = find_nearest(rows.space, rows.codes[input_rows], ends)[0][:, 0]
    reasons = []
    for row, distance in zip(input_rows.tolist(), depth.tolist(), strict=True):
        if answer_lost[row]:
            reasons.append("a real input that was answered and gets no answer now")
        elif answer_gained[row]:
            reasons.append("a real input that got no answer before")
        else:
            location = f", {distance:.3g} from the nearest border found" if np.isfinite(distance) else ""
            reasons.append(f"a real input that is answered differently{location}")
    return Suspects.from_columns(
        rows.codes[input_rows],
        old_answer=old.to_objects()[input_rows],
        new_answer=new.to_objects()[input_rows],
        why=reasons,
        shift=np.full(len(input_rows), np.nan),
        plausibility=np.zeros(len(input_rows)),
        change=np.where(differ[input_rows], np.minimum(depth, reach), reach),
        unanswered=(answer_lost | answer_gained)[input_rows],
    )


def classify_changes(border: Border, old: Outputs, new: Outputs) -> tuple[Mask, Mask, Mask]:
    """Return where answers are on different sides of a border, where an answer was lost, and where one was gained."""
    return (find_different_sides(border, old.to_objects(), new.to_objects()), old.ok & ~new.ok, ~old.ok & new.ok)


def find_different_sides(border: Border, old: Answers, new: Answers) -> Mask:
    """Return where two answers are on different sides of a border."""
    states = []
    for values in (old, new):
        missing = np.array([value is None for value in values], dtype=bool)
        states.append(border.read(Outputs(values, np.where(missing, Status.MISSING, Status.OK).astype(np.int8))))
    differ = np.zeros(len(old), dtype=bool)
    differ[border.find_borders(*states)[0]] = True
    return differ


def find_inputs_near_border(
    rows: Points,
    border: Border,
    own_outputs: Outputs,
    other_outputs: Outputs,
    ends: Codes,
    tolerance: float,
    reach: float,
) -> Flow[Mask]:
    """Find the rows that are so near to the border that their different answers do not count.

    They are within the tolerance of a pair. Or they are within reach of one, and moving one number by the tolerance
    changes the answer of the queried system (`own_outputs`) to that of the other system (`other_outputs`).
    """
    space = rows.space
    near = np.zeros(len(rows), dtype=bool)
    differ = np.flatnonzero(classify_changes(border, own_outputs, other_outputs)[0])
    depth = find_nearest(space, rows.codes[differ], ends)[0][:, 0]
    near[differ[depth <= tolerance]] = True
    order = np.argsort(depth, kind="stable")
    candidates = differ[order[(depth[order] > tolerance) & (depth[order] <= reach)]][:MAX_MOVED_INPUTS]
    moved_codes, owner = _move_numbers(space, rows.codes[candidates], tolerance)
    if len(moved_codes):
        outputs = yield Query(Points(space, moved_codes), note="near the border")
        expected_outputs = other_outputs.take(candidates[owner])
        restored = ~np.logical_or.reduce(classify_changes(border, outputs, expected_outputs))
        near[candidates[owner[restored]]] = True
    return near


def _move_numbers(space: Space, codes: Codes, distance: float) -> tuple[Codes, Rows]:
    """Return copies of rows with one number moved up or down, and the row that each is made from."""
    trials, owners = [codes[:0]], [np.empty(0, dtype=np.intp)]
    for j, feature in enumerate(space.features):
        if feature.kind == "categorical":
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
    import pandas as pd

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
    import pandas as pd

    details = cases.details[list(columns)].rename(columns=lambda name: f"{name}_" if name in space.names else name)
    return pd.concat([Points(space, cases.codes).frame, details], axis=1)

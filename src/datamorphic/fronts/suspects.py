"""The cases to look at first where two fronts differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..outputs import Outputs, Status
from ..space.features import Codes
from ..space.neighbours import nearest
from ..space.points import Points
from ..space.space import Space
from ..strategies.borders import Border
from ..strategies.flow import Flow, Question
from .front import Front
from .reading import Mask, Rows, beside, said

if TYPE_CHECKING:
    import pandas as pd

Answers = npt.NDArray[Any]
SHOWN = ("old_answer", "new_answer", "why", "shift", "plausibility")
MOST_MOVED = 500  # changed inputs, the nearest to the border, that are moved a little to see whether it is near

WHY = {
    ("old", "moved"): "was at the border {border}, which is {shift:.3g} away now",
    ("new", "moved"): "is at the border {border} now, which was {shift:.3g} away",
    ("old", "vanished"): "was at a border {border} that is gone",
    ("new", "gained"): "is at a border {border} that is new",
}
SILENT = {
    "old": "was at the border {border} and gets no answer now",
    "new": "is at the border {border} and got no answer",
}


@dataclass(frozen=True)
class Suspects:
    """Cases to look at: their codes, and a frame of what is `SHOWN` of each and by how much it changed."""

    codes: Codes
    about: pd.DataFrame

    @staticmethod
    def of(codes: Codes, **about: Any) -> Suspects:
        """Return cases with columns about them."""
        import pandas as pd

        # answers stay what they are: pandas would make text of some columns, and NaN of a None among it
        columns = {name: pd.Series(each, dtype=getattr(each, "dtype", object)) for name, each in about.items()}
        return Suspects(codes, pd.DataFrame(columns))


def ends_of(border: Border, front: Front, table: pd.DataFrame, end: str, change: Codes, telling: Mask) -> Suspects:
    """Return one end of each changed pair that tells something as cases, where its answer changed or may have."""
    old, new = table[f"old_{end}"].to_numpy(), table[f"new_{end}"].to_numpy()
    none = np.array([one is None or two is None for one, two in zip(old, new, strict=True)], dtype=bool)
    silent = none & table["asked"].to_numpy(dtype=bool)
    candidate = apart(border, old, new) | silent | (none & ~silent & (end == "a"))
    rows = np.flatnonzero(candidate & telling & (table["status"] != "kept").to_numpy())
    some = table.iloc[rows]
    why = [
        (SILENT[case.front] if mute else WHY[case.front, case.status]).format(border=case.border, shift=case.shift)
        for case, mute in zip(some.itertuples(), silent[rows], strict=True)
    ]
    return Suspects.of(
        (front.a if end == "a" else front.b).codes[rows],
        old_answer=old[rows],
        new_answer=new[rows],
        why=why,
        shift=some["shift"].to_numpy(),
        plausibility=some["plausibility"].to_numpy(),
        change=change[rows],
    )


def changed_rows(
    rows: Points, border: Border, old: Outputs, new: Outputs, ends: Codes, reach: float, near: Mask
) -> Suspects:
    """Return the real inputs that the two systems answer differently, but for those near to the border."""
    differ, fell_silent, speaks = changed(border, old, new)
    at = np.flatnonzero((differ & ~near) | fell_silent | speaks)
    depth = nearest(rows.space, rows.codes[at], ends)[0][:, 0]
    why = []
    for row, far in zip(at.tolist(), depth.tolist(), strict=True):
        if fell_silent[row]:
            why.append("a real input that was answered and gets no answer now")
        elif speaks[row]:
            why.append("a real input that got no answer before")
        else:
            place = f", {far:.3g} from the nearest border found" if np.isfinite(far) else ""
            why.append(f"a real input that is answered differently{place}")
    return Suspects.of(
        rows.codes[at],
        old_answer=said(old)[at],
        new_answer=said(new)[at],
        why=why,
        shift=np.full(len(at), np.nan),
        plausibility=np.zeros(len(at)),
        change=np.where(differ[at], np.minimum(depth, reach), reach),
    )


def changed(border: Border, old: Outputs, new: Outputs) -> tuple[Mask, Mask, Mask]:
    """Tell where answers lie on different sides of a border, where there is none any more, and where there was none."""
    return apart(border, said(old), said(new)), old.ok & ~new.ok, ~old.ok & new.ok


def apart(border: Border, old: Answers, new: Answers) -> Mask:
    """Tell where two answers lie on different sides of a border."""
    read = []
    for values in (old, new):
        missing = np.array([value is None for value in values], dtype=bool)
        read.append(border.read(Outputs(values, np.where(missing, Status.MISSING, Status.OK).astype(np.int8))))
    differ = np.zeros(len(old), dtype=bool)
    differ[border.parts(*read)[0]] = True
    return differ


def near_border(
    rows: Points, border: Border, mine: Outputs, theirs: Outputs, ends: Codes, tolerance: float, reach: float
) -> Flow[Mask]:
    """Tell which rows lie so near to the border that other answers to them mean nothing.

    They are within the tolerance of a pair; or within reach of one, and moving one number by the tolerance brings, from
    the system that is asked and whose answers are `mine`, the answer of the other.
    """
    space = rows.space
    near = np.zeros(len(rows), dtype=bool)
    differ = np.flatnonzero(changed(border, mine, theirs)[0])
    depth = nearest(space, rows.codes[differ], ends)[0][:, 0]
    near[differ[depth <= tolerance]] = True
    order = np.argsort(depth, kind="stable")
    left = differ[order[(depth[order] > tolerance) & (depth[order] <= reach)]][:MOST_MOVED]
    moved, owner = _moved(space, rows.codes[left], tolerance)
    if len(moved):
        outputs = yield Question(Points(space, moved), note="near the border")
        other = theirs.take(left[owner])
        back = ~np.logical_or.reduce(changed(border, outputs, other))
        near[left[owner[back]]] = True
    return near


def _moved(space: Space, codes: Codes, by: float) -> tuple[Codes, Rows]:
    """Return rows with one number after the other moved up and down, and which row each is made of."""
    trials, owners = [codes[:0]], [np.empty(0, dtype=np.intp)]
    for j, feature in enumerate(space.features):
        if feature.kind == "categorical":
            continue
        for way in (-by, by):
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


def ranked(space: Space, parts: Sequence[Suspects]) -> pd.DataFrame:
    """Return cases in the order in which to look at them."""
    import pandas as pd

    about = pd.concat([part.about for part in parts if len(part.about)] or [parts[0].about], ignore_index=True)
    codes = np.concatenate([part.codes for part in parts])
    far = about["plausibility"].fillna(1.0)  # not measured: as good as unreal
    about = about.loc[(about["change"] - far).sort_values(ascending=False, kind="stable").index]
    turn = about.groupby([about[name].map(str) for name in ("old_answer", "new_answer")]).cumcount()
    order = turn.sort_values(kind="stable").index
    return shown(space, Suspects(codes[order], about.loc[order].reset_index(drop=True)), *SHOWN)


def shown(space: Space, cases: Suspects, *columns: str) -> pd.DataFrame:
    """Return cases as a frame, with some of what is known about them."""
    return beside(Points(space, cases.codes).frame, **{name: cases.about[name] for name in columns})

"""The cases to look at first where two fronts differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..outputs import Outputs, Status
from ..space.features import Codes
from ..space.neighbours import nearest
from ..space.points import Points
from ..space.space import Space
from ..strategies.borders import Border
from .front import Front
from .reading import Mask, beside, said

if TYPE_CHECKING:
    import pandas as pd

Answers = npt.NDArray[Any]

WHY = {
    ("old", "moved"): "was at the border {border}, which is {shift:.3g} away now",
    ("new", "moved"): "is at the border {border} now, which was {shift:.3g} away",
    ("old", "vanished"): "was at a border {border} that is gone",
    ("new", "gained"): "is at a border {border} that is new",
}


def ends_of(
    space: Space, border: Border, front: Front, table: pd.DataFrame, end: str, change: Codes
) -> pd.DataFrame:
    """Return one end of each changed pair as cases to look at, where its answer changed or may have."""
    old, new = table[f"old_{end}"].to_numpy(), table[f"new_{end}"].to_numpy()
    unknown = [one is None or two is None for one, two in zip(old, new, strict=True)]
    candidate = _apart(border, old, new) | (np.array(unknown, dtype=bool) & (end == "a"))
    rows = np.flatnonzero(candidate & (table["status"] != "kept").to_numpy())
    some = table.iloc[rows]
    why = [WHY[case.front, case.status].format(border=case.border, shift=case.shift) for case in some.itertuples()]
    points = Points(space, (front.a if end == "a" else front.b).codes[rows])
    return beside(
        points.frame,
        old_answer=old[rows],
        new_answer=new[rows],
        why=why,
        shift=some["shift"].to_numpy(),
        plausibility=some["plausibility"].to_numpy(),
        change=change[rows],
    )


def changed_rows(
    rows: Points, border: Border, old: Outputs, new: Outputs, ends: Codes, reach: float
) -> pd.DataFrame:
    """Return the real inputs that the two systems answer differently, as cases to look at."""
    before, after = said(old), said(new)
    apart = np.flatnonzero(_apart(border, before, after))
    depth = nearest(rows.space, rows.codes[apart], ends)[0][:, 0]
    return beside(
        rows.take(apart).frame,
        old_answer=before[apart],
        new_answer=after[apart],
        why=[
            f"a real input that is answered differently, {far:.3g} from the nearest border found" for far in depth
        ],
        shift=np.full(len(apart), np.nan),
        plausibility=np.zeros(len(apart)),
        change=np.minimum(depth, reach),
    )


def _apart(border: Border, old: Answers, new: Answers) -> Mask:
    """Tell where two answers lie on different sides of a border."""
    read = []
    for values in (old, new):
        missing = np.array([value is None for value in values], dtype=bool)
        read.append(border.read(Outputs(values, np.where(missing, Status.MISSING, Status.OK).astype(np.int8))))
    apart = np.zeros(len(old), dtype=bool)
    apart[border.parts(*read)[0]] = True
    return apart


def ranked(cases: pd.DataFrame) -> pd.DataFrame:
    """Return cases in the order in which to look at them."""
    best = (cases["change"] - cases["plausibility"]).sort_values(ascending=False, kind="stable").index
    cases = cases.loc[best]
    turn = cases.groupby([cases[name].map(str) for name in ("old_answer", "new_answer")]).cumcount()
    return cases.loc[turn.sort_values(kind="stable").index].drop(columns="change").reset_index(drop=True)

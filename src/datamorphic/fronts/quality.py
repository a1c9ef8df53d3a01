"""How good a front is, and which features decide at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._checks import plural
from ..outputs import Outputs
from ..space.columns import fault_in
from ..space.features import Codes
from ..space.neighbours import nearest
from ..space.points import Points
from ..space.space import Space
from ..strategies.archive import BINS, Archive
from ..strategies.flow import Flow, Question
from .reading import Mask, ask_aside, border_of, parts_of_change, spare, states_of, thinned

if TYPE_CHECKING:
    import pandas as pd

    from .front import Front

MOST_POINTS = 2_000  # whose nearest others are looked for
MOST_ASKED = 300  # pairs at which the system is asked what decides
MOST_CALLS = 6_000


def quality(front: Front) -> pd.DataFrame:
    """Return each measure of a front: its value, that per 1,000 calls, and what it means."""
    import pandas as pd

    possible = _possible(front)
    archive = Archive(front.space, front.seeds.codes)
    archive.add(front.a.codes, front.kinds)
    cells = len({cell for _, cell in archive.filled})
    some = f" ({MOST_POINTS:,} of {len(front):,}, evenly chosen)" if len(front) > MOST_POINTS else ""
    rows = {
        "validity": (_validity(front), "share of pairs that are proper inputs with different answers"),
        "gap": (float(np.median(front.distance)) if len(front) else np.nan, "median distance of the two cases of a pair"),
        "class pairs": (
            len(front.border_counts) / possible if possible else 0.0,
            f"share of {plural(possible, 'pair')} of classes whose border was found",
        ),
        "spread": (_spread(front), f"mean scaled distance of a pair{some} to its two nearest others"),
        "archive": (cells / BINS**2, f"share of the {BINS} x {BINS} cells of a flat view that hold border"),
    }  # fmt: skip
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "meaning"])
    thousands = front.calls / 1000
    table.insert(1, "per_1000_calls", table["value"] / thousands if thousands else np.nan)
    return table


def _possible(front: Front) -> int:
    """Return how many borders there can be between the answers that were seen or are known."""
    if front.settings.get("border_kind") not in ("labels", "hierarchy"):
        return len(front.border_counts)
    known = front.sut.labels if front.sut is not None and front.sut.labels else ()
    classes = len({*known, *front.a_output.tolist(), *front.b_output.tolist()})
    return classes * (classes - 1) // 2


def _validity(front: Front) -> float:
    if not len(front):
        return np.nan
    fine = np.array([a != b for a, b in zip(front.a_output, front.b_output, strict=True)], dtype=bool)
    for points in (front.a, front.b):
        fine &= front.space.satisfied(points.codes) & ~improper(front.space, points.codes)
    return float(fine.mean())


def improper(space: Space, codes: Codes) -> Mask:
    """Tell which rows have a value that is none of its feature's."""
    bad = np.zeros(len(codes), dtype=bool)
    for j, feature in enumerate(space.features):
        column = codes[:, j]
        # one kind of fault is found at a time: what has it is mended to see the next
        while (fault := fault_in(feature, column, open_ends=space.moves == "open")) is not None:
            bad |= fault[0]
            column = np.where(fault[0], feature.default, column)
    return bad


def _spread(front: Front) -> float:
    if len(front) < 2:
        return float("nan")
    codes = front.a.codes
    near = nearest(front.space, codes[thinned(len(codes), MOST_POINTS)], codes, 3)[0][:, 1:]  # itself comes first
    return float(near[np.isfinite(near)].mean())


# -- what decides ----------------------------------------------------------------------------------------------


def deciding(front: Front) -> pd.DataFrame:
    """Return for each feature how much it has to do with the border, most first.

    ``decides`` is the share of pairs at which putting this feature alone back from the second case's value to the
    first's brings the first's answer back (up to 300 pairs, evenly chosen; NaN without a system to ask);
    ``differs`` the share of pairs whose two cases differ in it, ``share`` its mean part of their scaled distance.
    """
    import pandas as pd

    space = front.space
    parts = parts_of_change(space, front.a.codes, front.b.codes)
    total = parts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares = np.where(total > 0, parts / total, 0.0)
    table = pd.DataFrame(
        {
            "feature": list(space.names),
            "decides": _decides(front, parts > 0),
            "differs": (parts > 0).mean(axis=0) if len(front) else np.nan,
            "share": shares.mean(axis=0) if len(front) else np.nan,
        }
    )
    return table.sort_values(["decides", "share", "differs"], ascending=False, kind="stable", ignore_index=True)


def _decides(front: Front, differs: Mask) -> Codes:
    """Return in what share of pairs each feature decides, by asking; NaN where that cannot be done."""
    unknown = np.full(len(front.space), np.nan)
    calls = spare(front, MOST_CALLS)
    if not len(front) or not calls:
        return unknown
    count = differs.sum(axis=1)
    each = max(1.0, float(np.where(count > 1, count, 0).mean()))  # questions a pair: one feature needs none
    rows = thinned(len(front), min(MOST_ASKED, max(1, int(calls / each))))
    decided = ask_aside(front, _put_back(front, rows, differs[rows]))
    return unknown if decided is None else decided.mean(axis=0)


def _put_back(front: Front, rows: np.ndarray, differs: Mask) -> Flow[Mask]:
    """Tell for some pairs and each feature whether putting it back alone restores the first answer.

    Features that a constraint ties together go back together; what would break a constraint restores nothing.
    """
    space, border = front.space, border_of(front)
    a, _, part = states_of(front, border)
    first, second = front.a.codes[rows], front.b.codes[rows]
    decided = np.zeros((len(rows), len(space)), dtype=bool)
    trials, owners, units = [], [], []
    for unit in map(list, space.units):
        some = np.flatnonzero(differs[:, unit].any(axis=1))
        trial = second[some].copy()
        trial[:, unit] = first[some][:, unit]
        whole = Points(space, trial).same(Points(space, first[some]))  # nothing else differs: the answer is known
        decided[some[whole][:, None], unit] = True
        ask = ~whole
        if space.keeps_constraints:
            ask &= space.satisfied(trial)
        trials.append(trial[ask])
        owners.append(some[ask])
        units += [unit] * int(ask.sum())
    codes, owner = np.concatenate(trials), np.concatenate(owners)
    if len(codes):
        outputs: Outputs = yield Question(Points(space, codes), note="what decides")
        states, own, label = border.read(outputs), a[rows][owner], part[rows][owner]
        known = np.flatnonzero(~np.isnan(states))
        back = border.gap(own[known], states[known], label[known]) <= border.least
        for case in known[back].tolist():
            decided[owner[case], units[case]] = True
    return decided & differs

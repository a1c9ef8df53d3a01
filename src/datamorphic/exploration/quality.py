"""How good a front is, and which features decide at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._text import pluralize
from ..runs.flow import Flow, Query
from ..space.encoding import find_fault
from ..space.features import Codes
from ..space.neighbours import find_nearest
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from ._utils import (
    Mask,
    get_extra_call_limit,
    measure_changes,
    query_quietly,
    read_states,
    restore_border,
    thin_rows,
)
from .archive import BINS_PER_AXIS, Archive

if TYPE_CHECKING:
    import pandas as pd

    from .front import Front

MAX_SPREAD_POINTS = 2_000  # whose nearest others are looked for
MAX_QUERIED_PAIRS = 300  # pairs at which the system is asked what decides
MAX_DECIDING_CALLS = 6_000


def measure_quality(front: Front) -> pd.DataFrame:
    """Return each measure of a front: its value, that per 1,000 calls, and what it means."""
    import pandas as pd

    possible_borders = _count_possible_borders(front)
    archive = Archive(front.space, front.seeds.codes)
    archive.add(front.a.codes, front.kinds)
    cells = len({cell for _, cell in archive.filled_cells})
    sample_note = (
        f" ({MAX_SPREAD_POINTS:,} of {len(front):,}, evenly chosen)" if len(front) > MAX_SPREAD_POINTS else ""
    )
    rows = {
        "validity": (_measure_validity(front), "share of pairs that are proper inputs with different answers"),
        "gap": (float(np.median(front.distance)) if len(front) else np.nan, "median distance of the two cases of a pair"),
        "class pairs": (
            len(front.border_counts) / possible_borders if possible_borders else 0.0,
            f"share of {pluralize(possible_borders, 'pair')} of classes whose border was found",
        ),
        "spread": (_measure_spread(front), f"mean scaled distance of a pair{sample_note} to its two nearest others"),
        "archive": (cells / BINS_PER_AXIS**2, f"share of the {BINS_PER_AXIS} x {BINS_PER_AXIS} cells of a flat view that hold border"),
    }  # fmt: skip
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "meaning"])
    thousands = front.calls / 1000
    table.insert(1, "per_1000_calls", table["value"] / thousands if thousands else np.nan)
    return table


def _count_possible_borders(front: Front) -> int:
    """Return how many borders there can be between the answers that were seen or are known."""
    if front.settings.get("border_kind") not in ("labels", "hierarchy"):
        return len(front.border_counts)
    known_labels = front.sut.labels if front.sut is not None and front.sut.labels else ()
    classes = len({*known_labels, *front.a_output.tolist(), *front.b_output.tolist()})
    return classes * (classes - 1) // 2


def _measure_validity(front: Front) -> float:
    if not len(front):
        return np.nan
    valid = np.array([a != b for a, b in zip(front.a_output, front.b_output, strict=True)], dtype=bool)
    for points in (front.a, front.b):
        valid &= front.space.satisfied(points.codes) & ~find_improper_rows(front.space, points.codes)
    return float(valid.mean())


def find_improper_rows(space: Space, codes: Codes) -> Mask:
    """Tell which rows have a value that is none of its feature's."""
    bad = np.zeros(len(codes), dtype=bool)
    for j, feature in enumerate(space.features):
        column = codes[:, j]
        # one kind of fault is found at a time: what has it is mended to see the next
        while (fault := find_fault(feature, column, open_ends=space.moves == "open")) is not None:
            bad |= fault.rows
            column = np.where(fault.rows, feature.default, column)
    return bad


def _measure_spread(front: Front) -> float:
    if len(front) < 2:
        return float("nan")
    codes = front.a.codes
    neighbour_distances = find_nearest(front.space, codes[thin_rows(len(codes), MAX_SPREAD_POINTS)], codes, 3)[0][
        :, 1:
    ]  # itself comes first
    return float(neighbour_distances[np.isfinite(neighbour_distances)].mean())


# -- what decides ----------------------------------------------------------------------------------------------


def rank_deciding_features(front: Front) -> pd.DataFrame:
    """Return for each feature how much it has to do with the border, most first.

    ``decides`` is the share of pairs at which putting this feature alone back from the second case's value to the
    first's brings the first's answer back (up to 300 pairs, evenly chosen; NaN without a system to ask);
    ``differs`` the share of pairs whose two cases differ in it, ``share`` its mean part of their scaled distance.
    """
    import pandas as pd

    space = front.space
    parts = measure_changes(space, front.a.codes, front.b.codes)
    total = parts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares = np.where(total > 0, parts / total, 0.0)
    table = pd.DataFrame(
        {
            "feature": list(space.names),
            "decides": _measure_deciding_shares(front, parts > 0),
            "differs": (parts > 0).mean(axis=0) if len(front) else np.nan,
            "share": shares.mean(axis=0) if len(front) else np.nan,
        }
    )
    return table.sort_values(["decides", "share", "differs"], ascending=False, kind="stable", ignore_index=True)


def _measure_deciding_shares(front: Front, differs: Mask) -> Codes:
    """Return in what share of pairs each feature decides, by asking; NaN where that cannot be done."""
    unknown = np.full(len(front.space), np.nan)
    calls = get_extra_call_limit(front, MAX_DECIDING_CALLS)
    if not len(front) or not calls:
        return unknown
    count = differs.sum(axis=1)
    queries_per_pair = max(
        1.0, float(np.where(count > 1, count, 0).mean())
    )  # questions a pair: one feature needs none
    rows = thin_rows(len(front), min(MAX_QUERIED_PAIRS, max(1, int(calls / queries_per_pair))))
    decided = query_quietly(front, _query_restored_features(front, rows, differs[rows]))
    return unknown if decided is None else decided.mean(axis=0)


def _query_restored_features(front: Front, rows: np.ndarray, differs: Mask) -> Flow[Mask]:
    """Tell for some pairs and each feature whether putting it back alone restores the first answer.

    Features that a constraint ties together go back together; what would break a constraint restores nothing.
    """
    space, border = front.space, restore_border(front)
    a, _, part = read_states(front, border)
    first, second = front.a.codes[rows], front.b.codes[rows]
    decided = np.zeros((len(rows), len(space)), dtype=bool)
    trials, owners, units = [], [], []
    for unit in map(list, space.units):
        differing_rows = np.flatnonzero(differs[:, unit].any(axis=1))
        trial = second[differing_rows].copy()
        trial[:, unit] = first[differing_rows][:, unit]
        equals_first = Points(space, trial).same(
            Points(space, first[differing_rows])
        )  # nothing else differs: the answer is known
        decided[differing_rows[equals_first][:, None], unit] = True
        to_query = ~equals_first
        if space.keeps_constraints:
            to_query &= space.satisfied(trial)
        trials.append(trial[to_query])
        owners.append(differing_rows[to_query])
        units += [unit] * int(to_query.sum())
    codes, owner = np.concatenate(trials), np.concatenate(owners)
    if len(codes):
        outputs: Outputs = yield Query(Points(space, codes), note="what decides")
        states, own, label = border.read(outputs), a[rows][owner], part[rows][owner]
        known_rows = np.flatnonzero(~np.isnan(states))
        restored = border.measure_gap(own[known_rows], states[known_rows], label[known_rows]) <= border.min_gap
        for case in known_rows[restored].tolist():
            decided[owner[case], units[case]] = True
    return decided & differs

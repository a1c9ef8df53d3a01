"""How good a front is, and which features decide at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..space.columns import fault_in
from ..space.neighbours import nearest
from ..strategies.archive import BINS, Archive
from .reading import parts_of_change

if TYPE_CHECKING:
    import pandas as pd

    from .front import Front

MOST_POINTS = 20_000  # whose spread is measured


def quality(front: Front) -> pd.DataFrame:
    """Return each measure of a front: its value, that per 1,000 calls, and what it means."""
    import pandas as pd

    possible = _possible(front)
    archive = Archive(front.space, front.seeds.codes)
    archive.add(front.a.codes, front.kinds)
    cells = len({cell for _, cell in archive.filled})
    rows = {
        "validity": (_validity(front), "share of pairs that are proper inputs with different answers"),
        "gap": (float(np.median(front.distance)) if len(front) else np.nan, "median distance of the two cases of a pair"),
        "class pairs": (
            len(set(front.kinds)) / possible if possible else 0.0,
            f"share of the {possible} pairs of classes whose border was found",
        ),
        "spread": (_spread(front), "mean scaled distance of a pair to its two nearest others"),
        "archive": (cells / BINS**2, f"share of the {BINS} x {BINS} cells of a flat view that hold border"),
    }  # fmt: skip
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "meaning"])
    thousands = front.calls / 1000
    table.insert(1, "per_1000_calls", table["value"] / thousands if thousands else np.nan)
    return table


def _possible(front: Front) -> int:
    """Return how many borders there can be between the answers that were seen or are known."""
    if front.settings.get("border_kind") not in ("labels", "hierarchy"):
        return len(set(front.kinds))
    known = front.sut.labels if front.sut is not None and front.sut.labels else ()
    classes = len({*known, *front.a_output.tolist(), *front.b_output.tolist()})
    return classes * (classes - 1) // 2


def _validity(front: Front) -> float:
    if not len(front):
        return np.nan
    space = front.space
    fine = np.array([a != b for a, b in zip(front.a_output, front.b_output, strict=True)], dtype=bool)
    for points in (front.a, front.b):
        fine &= space.satisfied(points.codes)
        for j, feature in enumerate(space.features):
            if fault_in(feature, points.codes[:, j], open_ends=space.moves == "open") is not None:
                bad = [
                    fault_in(feature, points.codes[i : i + 1, j], open_ends=space.moves == "open") is not None
                    for i in range(len(points))
                ]
                fine &= ~np.array(bad, dtype=bool)
    return float(fine.mean())


def _spread(front: Front) -> float:
    codes = front.a.codes[:: max(1, len(front) // MOST_POINTS)]
    if len(codes) < 2:
        return float("nan")
    near = nearest(front.space, codes, codes, 3)[0][:, 1:]
    return float(near[np.isfinite(near)].mean())


def deciding(front: Front) -> pd.DataFrame:
    """Return for each feature how much it has to do with the border, most first.

    ``differs`` is the share of pairs whose two cases differ in it, ``share`` its mean part of their scaled
    distance. A feature that never differs has never decided.
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
            "differs": (parts > 0).mean(axis=0) if len(front) else np.nan,
            "share": shares.mean(axis=0) if len(front) else np.nan,
        }
    )
    return table.sort_values(["share", "differs"], ascending=False, kind="stable", ignore_index=True)

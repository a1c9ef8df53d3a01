"""Measure how good a front is, and which features decide at it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._lazy import pd
from .._text import pluralise
from ..runs.flow import Flow, Query
from ..space import geometry
from ..space.encoding import find_fault
from ..space.features import Codes
from ..space.neighbours import find_nearest
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.projection import BINS_PER_AXIS, Archive
from ..space.space import Space
from .changes import Mask, Rows, measure_changes, thin_rows
from .front_data import FrontData, get_extra_call_limit, query_quietly

MAX_SPREAD_POINTS = 2_000  # points whose nearest neighbours are searched
MAX_QUERIED_PAIRS = 300  # pairs at which the system is queried for the deciding features
MAX_DECIDING_CALLS = 6_000  # model calls for the deciding features


def measure_quality(front: FrontData) -> pd.DataFrame:
    """Return a table of measures of a front: value, value per 1,000 calls, and meaning."""
    possible_borders = _count_possible_borders(front)
    archive = Archive(front.space, front.seeds.codes)
    archive.add(front.a.codes, front.kinds)
    cells = len({cell for _, cell in archive.filled_cells})
    sample_note = ""
    if len(front) > MAX_SPREAD_POINTS:
        sample_note = f" ({MAX_SPREAD_POINTS:,} of {len(front):,}, evenly chosen)"
    gap, spread = float(np.median(front.distance)) if len(front) else np.nan, _measure_spread(front)
    grid = f"{BINS_PER_AXIS} x {BINS_PER_AXIS} cells"
    rows = {
        "validity": (_measure_validity(front), "share of pairs that are valid inputs with different answers"),
        "gap": (gap, "median distance between the two cases of a pair"),
        "class pairs": (
            len(front.border_counts) / max(1, possible_borders),
            f"share of {pluralise(possible_borders, 'pair')} of classes whose border was found",
        ),
        "spread": (spread, f"mean scaled distance of a pair{sample_note} to its two nearest neighbours"),
        "archive": (
            cells / BINS_PER_AXIS**2,
            f"share of the {grid} of a two-dimensional projection that contain border",
        ),
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "meaning"])
    thousands = front.calls / 1000
    table.insert(1, "per_1000_calls", table["value"] / thousands if thousands else np.nan)
    return table


def _count_possible_borders(front: FrontData) -> int:
    """Return how many pairs of classes there are among the known and the observed answers."""
    if front.settings.get("border_kind") not in ("labels", "hierarchy"):
        return len(front.border_counts)
    known_labels = front.sut.labels if front.sut is not None and front.sut.labels else ()
    classes = len({*known_labels, *front.a_output.tolist(), *front.b_output.tolist()})
    return classes * (classes - 1) // 2


def _measure_validity(front: FrontData) -> float:
    if not len(front):
        return np.nan
    valid = np.array([a != b for a, b in zip(front.a_output, front.b_output, strict=True)], dtype=bool)
    for points in (front.a, front.b):
        valid &= front.space.satisfied(points.codes) & ~find_improper_rows(front.space, points.codes)
    return float(valid.mean())


def find_improper_rows(space: Space, codes: Codes) -> Mask:
    """Return which rows have a value that is invalid for its feature."""
    bad = np.zeros(len(codes), dtype=bool)
    for j, feature in enumerate(space.features):
        column = codes[:, j]
        # `find_fault` reports one kind of fault at a time: replace these values to see the next kind
        while (fault := find_fault(feature, column, open_ends=space.moves == "open")) is not None:
            bad |= fault.rows
            column = np.where(fault.rows, feature.default, column)
    return bad


def _measure_spread(front: FrontData) -> float:
    if len(front) < 2:
        return float("nan")
    codes = front.a.codes
    sample = codes[thin_rows(len(codes), MAX_SPREAD_POINTS)]
    neighbour_distances = find_nearest(front.space, sample, codes, 3)[0][:, 1:]  # the first is the point itself
    return float(neighbour_distances[np.isfinite(neighbour_distances)].mean())


@dataclass(frozen=True)
class DecidingFeature:
    """How often a feature decides at the border.

    `decides` is the share of pairs at which restoring the first case's value of this feature alone, in the second
    case, restores the first answer (at up to 300 pairs, evenly chosen; NaN without an attached system). `differs`
    is the share of pairs whose two cases differ in the feature, `share` its mean share of their scaled distance.
    """

    feature: str
    decides: float
    differs: float
    share: float

    @property
    def rank(self) -> tuple[float, float, float]:
        """What features are ordered by; unknown shares come last."""
        decides, share, differs = (
            -math.inf if math.isnan(value) else value for value in (self.decides, self.share, self.differs)
        )
        return decides, share, differs


def rank_deciding_features(front: FrontData) -> list[DecidingFeature]:
    """Return the features by how often they decide at the border, most often first."""
    space = front.space
    parts = measure_changes(space, front.a.codes, front.b.codes)
    total = parts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares = np.where(total > 0, parts / total, 0.0)
    unknown = np.full(len(space), np.nan)
    columns = (
        _measure_deciding_shares(front, parts > 0),
        (parts > 0).mean(axis=0) if len(front) else unknown,
        shares.mean(axis=0) if len(front) else unknown,
    )
    features = [
        DecidingFeature(*row) for row in zip(space.names, *(column.tolist() for column in columns), strict=True)
    ]
    return sorted(features, key=lambda feature: feature.rank, reverse=True)


def _measure_deciding_shares(front: FrontData, differs: Mask) -> Codes:
    """Return the share of pairs at which each feature decides; NaN where the system cannot be queried."""
    unknown = np.full(len(front.space), np.nan)
    calls = get_extra_call_limit(front, MAX_DECIDING_CALLS)
    if not len(front) or not calls:
        return unknown
    count = differs.sum(axis=1)
    # where a single feature differs, that feature decides and no query is needed
    queries_per_pair = max(1.0, float(np.where(count > 1, count, 0).mean()))
    rows = thin_rows(len(front), min(MAX_QUERIED_PAIRS, max(1, int(calls / queries_per_pair))))
    decided = query_quietly(front, _query_restored_features(front, rows, differs[rows]))
    return unknown if decided is None else decided.mean(axis=0)


def _query_restored_features(front: FrontData, rows: Rows, differs: Mask) -> Flow[Mask]:
    """Query whether restoring one feature alone restores the first answer, per pair and feature.

    Features tied by a constraint are restored together. A case that breaks a constraint is repaired in other features. If it
    cannot be repaired, it restores nothing.
    """
    space, border = front.space, front.restore_border()
    a, _, part = front.read_states(border)
    first, second = front.a.codes[rows], front.b.codes[rows]
    decided = np.zeros((len(rows), len(space)), dtype=bool)
    trials, owners, units = [], [], []
    for unit in map(list, space.units):
        differing_rows = np.flatnonzero(differs[:, unit].any(axis=1))
        trial = second[differing_rows].copy()
        trial[:, unit] = first[differing_rows][:, unit]
        trial = geometry.repair(space, trial, second[differing_rows])
        # where nothing else differs, the answer is known
        equals_first = Points(space, trial).same(Points(space, first[differing_rows]))
        decided[differing_rows[equals_first][:, None], unit] = True
        to_query = ~equals_first
        if space.keeps_constraints:
            to_query &= space.satisfied(trial)
        trials.append(trial[to_query])
        owners.append(differing_rows[to_query])
        units += [unit] * int(to_query.sum())
    codes, owner = np.concatenate(trials), np.concatenate(owners)
    if len(codes):
        outputs: Outputs = yield Query(Points(space, codes), note="finding deciding features")
        states, own, label = border.read(outputs), a[rows][owner], part[rows][owner]
        known_rows = np.flatnonzero(~np.isnan(states))
        restored = border.measure_gap(own[known_rows], states[known_rows], label[known_rows]) <= border.min_gap
        for case in known_rows[restored].tolist():
            decided[owner[case], units[case]] = True
    return decided & differs

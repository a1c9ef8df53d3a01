"""Recognise follow-up functions that are affine: compiled code can then make their follow-ups while it chooses groups."""

from __future__ import annotations

import numpy as np

from ..relations.box import Affine, Floats
from ..relations.function import FunctionRelation

MAX_COLUMNS = 64  # of sources; with more, a try at each of them would be large
SAMPLE_SIZE = 100
COEFFICIENT_DIGITS = (
    12  # coefficients that people write have fewer; a quotient of differences has rounding errors beyond
)


def find_affine_form(relation: FunctionRelation) -> Affine | None:
    """Return the affine change that gives the follow-ups of a relation at some sources to the last bit; None if there is none.

    The function may behave differently at other sources, so whoever relies on the change compares it there.
    """
    box = relation.source_box
    if relation.uses_outputs or box.dimension > MAX_COLUMNS:
        return None
    origin = np.clip(0.0, box.low, box.high)
    ends = np.where(box.high - origin >= origin - box.low, box.high, box.low)
    along_axes = np.where(np.eye(box.dimension, dtype=bool), ends, origin)
    sources = np.concatenate([[origin], along_axes, box.sample(SAMPLE_SIZE, np.random.default_rng(0))])
    with np.errstate(all="ignore"):
        try:
            follow_ups = relation.follow(sources)
        except Exception:  # the hunt will call the function again, and report the error
            return None
        slopes = (follow_ups[1 : 1 + box.dimension] - follow_ups[0]) / (ends - origin)[:, None]
        matrix = _round_coefficients(np.where(ends == origin, 0.0, slopes.T))
        offset = follow_ups[0] - matrix @ origin
    if origin.any():
        offset = _round_coefficients(offset)
    if not (np.isfinite(matrix).all() and np.isfinite(offset).all()):
        return None
    change = Affine(matrix, offset)
    return change if change(sources).tobytes() == follow_ups.tobytes() else None


def _round_coefficients(values: Floats) -> Floats:
    return np.array([float(f"{value:.{COEFFICIENT_DIGITS}g}") for value in values.ravel()]).reshape(values.shape)

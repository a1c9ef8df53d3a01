"""Recognise affine follow-up functions, so that kernels can make their follow-ups."""

from __future__ import annotations

import numpy as np

from ..relations.algebra.box import Affine, Floats
from ..relations.algebra.function import FunctionRelation

MAX_COLUMNS = 64  # of sources; the function is tried on one row per column
SAMPLE_ROWS = 100  # random sources at which the affine form must agree
#: of coefficients: those that people write have fewer, and quotients of differences have rounding errors in further ones
SIGNIFICANT_DIGITS = 12


def find_affine_form(relation: FunctionRelation) -> Affine | None:
    """Return the affine form of the follow-ups of a relation; None if there is none.

    It agrees to the last bit at the sources tried. Elsewhere the function may differ, so callers must compare.
    """
    box = relation.source_box
    if relation.uses_outputs or box.dimension > MAX_COLUMNS:
        return None
    origin = np.clip(0.0, box.low, box.high)
    ends = np.where(box.high - origin >= origin - box.low, box.high, box.low)
    along_axes = np.where(np.eye(box.dimension, dtype=bool), ends, origin)
    sources = np.concatenate([[origin], along_axes, box.sample(SAMPLE_ROWS, np.random.default_rng(0))])
    with np.errstate(all="ignore"):
        try:
            follow_ups = relation.follow(sources)
        except Exception:  # the hunt will call the function again, and report the error
            return None
        slopes = (follow_ups[1 : 1 + box.dimension] - follow_ups[0]) / (ends - origin)[:, None]
        matrix = _round_coefficients(np.where(ends == origin, 0.0, slopes.T))
        offset = follow_ups[0] - matrix @ origin
    if origin.any():  # at 0, the offset is the follow-up itself, without rounding errors
        offset = _round_coefficients(offset)
    if not (np.isfinite(matrix).all() and np.isfinite(offset).all()):
        return None
    change = Affine(matrix, offset)
    return change if change(sources).tobytes() == follow_ups.tobytes() else None


def _round_coefficients(values: Floats) -> Floats:
    return np.array([float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in values.ravel()]).reshape(values.shape)

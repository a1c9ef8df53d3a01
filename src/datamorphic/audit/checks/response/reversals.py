"""Find smooth responses that jump back against their own trend, as after a change of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...check import CheckBudget
from ...context import CheckContext
from ...responses import Responses, compute_levels, query_answers, replace_feature
from .cuts import MAX_ROWS_PER_STEP, Cut, choose_label

MIN_REVERSAL = 0.05  # of the mean score; a smooth response moves by far less within so small a step
MIN_ONE_WAY_SHARE = 0.95  # of the rows that a reversal moves in the same direction
#: Factors between units that are often confused, and what they convert.
UNIT_FACTORS = {
    1.8: "degrees",
    2.0: "halves",
    2.205: "kilograms and pounds",
    2.54: "inches and centimetres",
    4.184: "calories and joules",
    10.0: "millimetres and centimetres",
    12.0: "months and years, inches and feet",
    18.0: "mmol/l and mg/dl of glucose",
    24.0: "hours and days",
    28.35: "ounces and grams",
    30.48: "feet and centimetres",
    60.0: "minutes and hours",
    100.0: "percent, cents",
    365.0: "days and years",
    1e3: "thousands",
    1024.0: "kilobytes",
    3600.0: "seconds and hours",
    1e4: "basis points",
    1e6: "millions",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Reversal:
    """A smooth response that jumps back against its own trend."""

    cut: Cut
    label: int  # whose score is looked at
    jump: float  # the mean change of the score at the cut
    trend: float  # the mean change of the score over all other values
    factor: float | None = None  # beyond the cut, the value is divided by this


def find_reversals(cuts: Sequence[Cut]) -> list[Reversal]:
    """Return the cuts at which a smooth response jumps against its trend."""
    reversals = []
    for cut in cuts:
        if not cut.smooth or cut.before_levels is None or cut.after_levels is None:
            continue
        label = choose_label(cut)
        curve = np.nanmean(cut.response.get_curve(label), axis=0)
        jumps = cut.after_levels[:, label] - cut.before_levels[:, label]
        jump = float(np.nanmean(jumps))
        below, above = curve[cut.response.values <= cut.low], curve[cut.response.values >= cut.high]
        start, end = float(np.nanmean(cut.before_levels[:, label])), float(np.nanmean(cut.after_levels[:, label]))
        trend = (start - float(below[0]) if len(below) else 0.0) + (float(above[-1]) - end if len(above) else 0.0)
        one_way = float((jumps[np.abs(jumps) > 1e-6] * jump > 0).mean())
        if min(abs(jump), abs(trend)) >= MIN_REVERSAL and jump * trend < 0 and one_way >= MIN_ONE_WAY_SHARE:
            reversals.append(Reversal(cut=cut, label=label, jump=jump, trend=trend))
    return reversals


def find_unit_factor(
    context: CheckContext, budget: CheckBudget, responses: Responses, reversal: Reversal
) -> float | None:
    """Return by how much values beyond a cut are divided, if a usual factor between units explains the scores there."""
    cut = reversal.cut
    values_above = cut.response.values[cut.response.values > cut.high]
    if not len(values_above) or context.space.features[cut.response.column].kind == "categorical":
        return None
    places = np.array([cut.high, float(np.median(values_above)), float(values_above[-1])])
    factors = np.array([*UNIT_FACTORS, *(1 / factor for factor in UNIT_FACTORS)])
    inputs = responses.inputs.take(slice(0, MAX_ROWS_PER_STEP))
    tried_values = np.concatenate([places, *(places / factor for factor in factors)])
    points = replace_feature(inputs, cut.response.column, tried_values)
    _, scores = query_answers(context, budget, responses.codes, points, scores=True)
    levels = None if scores is None else compute_levels(scores, context.sut.score_kind)
    if levels is None:
        return None
    grid = levels[:, reversal.label].reshape(len(inputs), len(factors) + 1, len(places))
    own, divided_levels = grid[:, :1], grid[:, 1:]
    spans = np.ptp(own, axis=2, keepdims=True)
    moving = spans[:, 0, 0] > 1e-9  # a flat response fits every factor
    if moving.mean() < 0.5:
        return None
    errors = np.median((np.abs(own - divided_levels) / np.maximum(spans, 1e-300)).max(axis=2)[moving], axis=0)
    best = int(errors.argmin())
    # Whole numbers are rounded after the division.
    return float(factors[best]) if errors[best] < (0.1 if cut.response.kind == "integer" else 1e-3) else None

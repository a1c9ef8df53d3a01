"""How two curves along a feature differ, in words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .bins import MISSING, OTHERS, Bins, Means

Floats = npt.NDArray[np.float64]

MIN_BINS = 4  # fewer have no shape
MAX_CONSTANT_SPREAD_RATIO = 0.25  # of the spread of the answers to that of the labels: they are constant
MAX_FLAT_SPREAD_RATIO = 0.6
MIN_STEEP_SPREAD_RATIO = 1.6
MIN_SAME_SHAPE_CORRELATION = 0.9
MAX_REVERSED_CORRELATION = -0.5
MIN_SHIFT_GAIN = 0.1  # of the correlation, by moving one curve along the feature
MAX_CUT_SPREAD_RATIO = 0.15  # of the spread of the answers beyond a value, to that of the labels there


def describe_difference(bins: Bins, labels: Means, answers: Means) -> str:
    """Return how the answers differ from the labels along a feature; empty if the bins do not tell."""
    spread, answer_spread = labels.measure_spread(), answers.measure_spread()
    gaps = labels.values - answers.values
    clear = np.abs(gaps) > np.hypot(labels.margins, answers.margins)
    if not clear.any():
        return ""
    if spread > 0 and answer_spread < MAX_CONSTANT_SPREAD_RATIO * spread:
        return "nearly constant, although the labels change"
    inner = [number for number, name in enumerate(bins.names) if name not in (MISSING, OTHERS)]
    outer = [number for number in range(len(bins.names)) if number not in inner]
    if clear[outer].any() and not clear[inner].any():
        return f"different only where {bins.feature} is {' or '.join(bins.names[number] for number in outer if clear[number])}"
    if len(inner) < MIN_BINS or spread == 0:
        return "different in " + ", ".join(bins.names[number] for number in range(len(clear)) if clear[number])
    curve, other = labels.values[inner], answers.values[inner]
    agreement = _correlate(curve, other)
    if agreement < MAX_REVERSED_CORRELATION:
        return "reversed: the answers rise where the labels fall"
    if not bins.is_number:
        if (
            agreement < MIN_SAME_SHAPE_CORRELATION
            and _correlate(np.sort(curve), np.sort(other)) > MIN_SAME_SHAPE_CORRELATION
        ):
            return "permuted: categories get the answers of other categories"
        worst = int(np.abs(gaps[inner]).argmax())
        return f"most different where {bins.feature} is {bins.names[inner[worst]]}"
    if _is_stepwise(curve, other):
        return "stepwise: the answers jump where the labels change little by little"
    shifts = [
        _correlate(curve[max(0, -lag) : len(curve) - max(0, lag)], other[max(0, lag) : len(other) + min(0, lag)])
        for lag in (-2, -1, 1, 2)
    ]
    if (
        len(inner) > MIN_BINS + 2
        and agreement < MIN_SAME_SHAPE_CORRELATION
        and max(shifts) > max(agreement + MIN_SHIFT_GAIN, MIN_SAME_SHAPE_CORRELATION)
    ):
        return "shifted: the answers change at other values than the labels"
    cut = _find_flat_end(curve, other, clear[inner])
    if cut is not None:
        side, number = cut
        return f"cut off: the answers stay the same {side} {bins.names[inner[number]]}, the labels do not"
    if clear.all() and (np.all(gaps > 0) or np.all(gaps < 0)):
        return f"{'lower' if gaps[0] > 0 else 'higher'} than the labels everywhere"
    ratio = float(other.std() / curve.std()) if curve.std() > 0 else 1.0
    if agreement >= MIN_SAME_SHAPE_CORRELATION and ratio < MAX_FLAT_SPREAD_RATIO:
        return "flattened: the answers change less than the labels"
    if agreement >= MIN_SAME_SHAPE_CORRELATION and ratio > MIN_STEEP_SPREAD_RATIO:
        return "stretched: the answers change more than the labels"
    worst = int(np.abs(gaps[inner]).argmax())
    return f"most different at {bins.names[inner[worst]]}"


def _correlate(first: Floats, second: Floats) -> float:
    if len(first) < 3 or first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _find_flat_end(curve: Floats, other: Floats, clear: npt.NDArray[np.bool_]) -> tuple[str, int] | None:
    """Return the side and the bin beyond which the answers are flat and the labels are not."""
    size = len(curve)
    for length in range(size - 2, 2, -1):
        for side, part, number in (
            ("above", slice(size - length, size), size - length),
            ("below", slice(0, length), length - 1),
        ):
            flat = np.ptp(other[part]) < MAX_CUT_SPREAD_RATIO * np.ptp(curve[part])
            if flat and clear[part].any() and np.ptp(other) > 2 * np.ptp(other[part]):
                return side, number
    return None


def _is_stepwise(curve: Floats, other: Floats) -> bool:
    """Tell whether most of the change of the answers is in one step, and that of the labels is not."""
    steps, label_steps = np.abs(np.diff(other)), np.abs(np.diff(curve))
    return bool(steps.max() > 0.7 * steps.sum() and label_steps.max() < 0.5 * label_steps.sum())

"""How much columns, answers and labels differ between the reference and the data: sizes with lower ends, no p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._text import format_percent, format_rounded, format_short, pluralise
from ....space.features import Categorical, Feature
from ....space.points import Points
from ....space.text_feature import Text
from ...case_text import format_label
from .reference_rows import ReferenceRows

Floats = npt.NDArray[np.float64]

#: The share of rows that would have to change their value for both to be alike, at the lower end of the interval.
MIN_DISTANCE = 0.1
MIN_MISSING_DIFFERENCE = 0.05  # of the shares of missing values, at the lower end of the interval
MIN_OUTSIDE_SHARE = 0.01  # of the rows: more beyond the range, or in new categories, are worth a line
MIN_OUTSIDE_ROWS = 5
MIN_BEYOND = 0.05  # of the range of the reference: values that are nearer to it are within it
SIGNIFICANCE = 0.01  # of all distances together
MIN_ROWS = 30  # on either side
MAX_NAMED_CATEGORIES = 3


@dataclass(frozen=True, kw_only=True)
class Drift:
    """The difference of a column, of the answers or of the labels."""

    name: str
    distance: float  # of the distributions: of Kolmogorov and Smirnov for numbers, the total variation of categories
    low: float  # the lower end of its interval
    reference_text: str  # the reference in a few words
    data_text: str
    is_column: bool = True  # rather than the answers or the labels
    remarks: tuple[str, ...] = ()  # values beyond the range, new categories, more missing values

    @property
    def is_material(self) -> bool:
        """Whether the difference is worth a line."""
        return self.low >= MIN_DISTANCE or bool(self.remarks)


def measure_column_drifts(inputs: Points, reference: ReferenceRows) -> list[Drift]:
    """Return the drift of each column that is no text."""
    columns = [column for column in inputs.space.scalars if not isinstance(inputs.space.features[column], Text)]
    drifts = []
    for column in columns:
        feature = inputs.space.features[column]
        drift = _measure_column(feature, reference.codes[:, column], inputs.codes[:, column], len(columns))
        if drift is not None:
            drifts.append(drift)
    return drifts


def _measure_column(feature: Feature, old: Floats, new: Floats, tests: int) -> Drift | None:
    remarks = [_describe_missing(old, new), _describe_texts(feature, old)]
    present_old, present_new = old[np.isfinite(old)], new[np.isfinite(new)]
    if min(len(present_old), len(present_new)) < MIN_ROWS:
        texts = tuple(filter(None, remarks))
        return Drift(name=feature.name, distance=0.0, low=0.0, reference_text="", data_text="", remarks=texts)
    if isinstance(feature, Categorical):
        codes = np.arange(-1.0, feature.high + 1)
        names = ["others", *(format_label(value) for value in feature.values)]
        distance, low = compare_shares(_count(present_old, codes), _count(present_new, codes), tests)
        remarks.append(_describe_new_categories(names, _count(present_old, codes), _count(present_new, codes)))
        old_text, new_text = _describe_categories(names, _count(present_old, codes), _count(present_new, codes))
    else:
        distance, low = compare_numbers(present_old, present_new, tests)
        remarks.append(_describe_range(present_old, present_new))
        old_text, new_text = describe_numbers(present_old), describe_numbers(present_new)
    return Drift(
        name=feature.name,
        distance=distance,
        low=low,
        reference_text=old_text,
        data_text=new_text,
        remarks=tuple(filter(None, remarks)),
    )


def measure_label_drift(
    name: str, old: Floats, new: Floats, names: Sequence[str], numeric: bool, tests: int = 1
) -> Drift | None:
    """Return the drift of labels or answers, which are codes of names or numbers; None for too few."""
    old, new = old[np.isfinite(old)], new[np.isfinite(new)]
    if min(len(old), len(new)) < MIN_ROWS:
        return None
    if numeric:
        distance, low = compare_numbers(old, new, tests)
        texts = describe_numbers(old), describe_numbers(new)
    else:
        codes = np.arange(float(len(names)))
        counts = _count(old, codes), _count(new, codes)
        distance, low = compare_shares(*counts, tests)
        texts = _describe_categories([format_label(text) for text in names], *counts)
    return Drift(name=name, distance=distance, low=low, reference_text=texts[0], data_text=texts[1], is_column=False)


# -- distances ---------------------------------------------------------------------------------------------------------


def compare_numbers(old: Floats, new: Floats, tests: int) -> tuple[float, float]:
    """Return the distance of Kolmogorov and Smirnov of two samples, and the lower end of its interval.

    Examples
    --------
    >>> distance, low = compare_numbers(np.arange(100.0), np.arange(50, 150.0), 1)
    >>> round(distance, 2), 0 < low < distance
    (0.5, True)
    """
    values = np.unique(np.concatenate([old, new]))
    shares = [np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (old, new)]
    distance = float(np.abs(shares[0] - shares[1]).max())
    return distance, max(0.0, distance - math.sqrt(2) * _compute_margin(len(old), len(new), tests))


def compare_shares(old: Floats, new: Floats, tests: int) -> tuple[float, float]:
    """Return the total variation of two counts of categories, and the lower end of its interval.

    Samples of the same population differ, too: what is expected of them is subtracted, and the margin of McDiarmid's
    inequality.
    """
    old_total, new_total = max(1.0, old.sum()), max(1.0, new.sum())
    distance = float(np.abs(old / old_total - new / new_total).sum() / 2)
    pooled = (old + new) / (old_total + new_total)
    expected = 0.5 * np.sqrt(2 / math.pi * pooled * (1 - pooled) * (1 / old_total + 1 / new_total)).sum()
    return distance, max(0.0, distance - float(expected) - _compute_margin(int(old_total), int(new_total), tests))


def _compute_margin(old_count: int, new_count: int, tests: int) -> float:
    return math.sqrt(-math.log(SIGNIFICANCE / max(1, tests)) / 2 * (1 / old_count + 1 / new_count))


def _count(values: Floats, codes: Floats) -> Floats:
    places = np.searchsorted(codes, values)
    known = (places < len(codes)) & (codes[np.minimum(places, len(codes) - 1)] == values)
    return np.bincount(places[known], minlength=len(codes)).astype(np.float64)


# -- in words ----------------------------------------------------------------------------------------------------------


def describe_numbers(values: Floats) -> str:
    """Return the median and the middle half of numbers in words."""
    low, middle, high = (format_rounded(value, digits=4) for value in np.quantile(values, [0.25, 0.5, 0.75]).tolist())
    return f"median {middle}, half within {low} to {high}"


def _describe_categories(names: Sequence[str], old: Floats, new: Floats) -> tuple[str, str]:
    """Return the shares of the categories that changed most, in words."""
    old_shares, new_shares = old / max(1.0, old.sum()), new / max(1.0, new.sum())
    top = np.argsort(-np.abs(old_shares - new_shares), kind="stable")[:MAX_NAMED_CATEGORIES].tolist()
    return tuple(  # type: ignore[return-value]  # two texts
        ", ".join(f"{names[place]} {format_percent(float(shares[place]))}" for place in top)
        for shares in (old_shares, new_shares)
    )


def _describe_missing(old: Floats, new: Floats) -> str:
    if min(len(old), len(new)) < MIN_ROWS:
        return ""
    missing = [np.isnan(sample) for sample in (old, new)]
    counts = [np.array([part.sum(), (~part).sum()], dtype=np.float64) for part in missing]
    if compare_shares(counts[0], counts[1], 1)[1] < MIN_MISSING_DIFFERENCE:
        return ""
    old_share, new_share = (format_percent(float(part.mean())) for part in missing)
    return f"missing in {new_share} of the rows, in the reference in {old_share}"


def _describe_texts(feature: Feature, old: Floats) -> str:
    share = float(np.isinf(old).mean())
    if share < MIN_OUTSIDE_SHARE or isinstance(feature, Categorical):
        return ""
    return f"{format_percent(share)} of the values of the reference are infinite or no numbers"


def _describe_new_categories(names: Sequence[str], old: Floats, new: Floats) -> str:
    places = np.flatnonzero((old == 0) & (new > 0))
    count = int(new[places].sum())
    if count < max(MIN_OUTSIDE_ROWS, MIN_OUTSIDE_SHARE * new.sum()):
        return ""
    places = places[np.argsort(-new[places], kind="stable")]
    listed = ", ".join(names[place] for place in places[:MAX_NAMED_CATEGORIES].tolist())
    more = f" and {len(places) - MAX_NAMED_CATEGORIES:,} more" if len(places) > MAX_NAMED_CATEGORIES else ""
    return f"{pluralise(count, 'row')} in categories that the reference does not have: {listed}{more}"


def _describe_range(old: Floats, new: Floats) -> str:
    low, high = float(old.min()), float(old.max())
    margin = MIN_BEYOND * (high - low)
    below, above = int((new < low - margin).sum()), int((new > high + margin).sum())
    parts = [
        f"{pluralise(count, 'row')} {word} {format_short(float(f'{bound:.4g}'))}"
        for count, word, bound in ((below, "below", low), (above, "above", high))
        if count >= max(MIN_OUTSIDE_ROWS, MIN_OUTSIDE_SHARE * len(new))
    ]
    return f"beyond the range of the reference: {' and '.join(parts)}" if parts else ""

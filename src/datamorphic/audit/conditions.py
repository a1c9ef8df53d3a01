"""Conditions on single features that describe groups of rows in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._text import format_short
from ..space.dates import DateColumn
from ..space.features import Categorical
from ..space.points import Points
from ..space.text_feature import Text
from ..space.token_edits import count_tokens
from .case_text import format_label

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

MAX_CONDITIONS = 600  # beyond it, only the first of each feature are combined
THRESHOLDS_PER_NUMBER = 9  # deciles
MAX_VALUES_AS_CATEGORIES = 6  # a number with at most as many values is described by "is" as well
MAX_CATEGORIES = 30


@dataclass(frozen=True, eq=False, kw_only=True)
class RowCondition:
    """A condition on one feature."""

    feature: int
    text: str
    inside: Mask
    is_threshold: bool = False  # rather than a category, a single value or missing


def build_conditions(points: Points, min_rows: int, dates: Sequence[DateColumn] = ()) -> list[RowCondition]:
    """Return the conditions on single features: categories, values, thresholds, and missing values.

    Those of fewer than `min_rows` rows are left out. `dates` are the features that are days since a date.
    """
    date_columns = {column.name: column for column in dates}
    by_feature: list[list[RowCondition]] = []
    for column in points.space.scalars:
        feature = points.space.features[column]
        codes, name = points.codes[:, column], feature.name
        missing = np.isnan(codes)
        masks: list[tuple[str, Mask]] = [(f"{name} is missing", missing)]
        thresholds: list[tuple[str, Mask]] = []
        values, counts = np.unique(codes[~missing], return_counts=True)
        if isinstance(feature, Text):
            thresholds += _build_text_masks(feature, codes)
        elif isinstance(feature, Categorical):
            frequent = values[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]]
            masks += [(f"{name} is {format_label(feature.values[int(code)])}", codes == code) for code in frequent]
        else:
            if len(values) <= MAX_VALUES_AS_CATEGORIES:
                masks += [(f"{name} is {format_short(float(value))}", codes == value) for value in values]
            for threshold in _choose_thresholds(codes[~missing], feature.kind == "integer"):
                text = _format_threshold(threshold, date_columns.get(name))
                thresholds += [(f"{name} ≤ {text}", codes <= threshold), (f"{name} > {text}", codes > threshold)]
        by_feature.append(
            [
                RowCondition(feature=column, text=text, inside=inside, is_threshold=number >= len(masks))
                for number, (text, inside) in enumerate([*masks, *thresholds])
                if inside.sum() >= min_rows and not inside.all()
            ]
        )
    limit = max(2, MAX_CONDITIONS // max(1, len(by_feature)))
    total = sum(map(len, by_feature))
    return [condition for part in by_feature for condition in (part[:limit] if total > MAX_CONDITIONS else part)][
        :MAX_CONDITIONS
    ]


def _format_threshold(threshold: float, date: DateColumn | None) -> str:
    return format_short(float(threshold)) if date is None else date.format_day(float(threshold))


def _build_text_masks(feature: Text, codes: Floats) -> list[tuple[str, Mask]]:
    """Return conditions on texts: short and long ones."""
    lengths = count_tokens([text or "" for text in feature.decode_texts(codes)]).astype(np.float64)
    masks: list[tuple[str, Mask]] = []
    for threshold in _choose_thresholds(lengths[~np.isnan(codes)], True)[:MAX_VALUES_AS_CATEGORIES]:
        name, text = feature.name, f"{threshold:.0f} tokens"
        masks += [
            (f"{name} has at most {text}", lengths <= threshold),
            (f"{name} has more than {text}", lengths > threshold),
        ]
    return masks


def _choose_thresholds(values: Floats, is_integer: bool) -> list[float]:
    """Return deciles with at most three digits, from the middle outwards."""
    if not len(values):
        return []
    shares = np.linspace(0, 1, THRESHOLDS_PER_NUMBER + 2)[1:-1]
    shares = shares[np.argsort(np.abs(shares - 0.5), kind="stable")]
    quantiles = np.quantile(values, shares, method="lower")
    rounded = [float(q) if is_integer else float(f"{q:.3g}") for q in quantiles.tolist()]
    return [threshold for threshold in dict.fromkeys(rounded) if threshold < values.max()]

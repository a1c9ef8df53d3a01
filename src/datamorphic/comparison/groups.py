"""Search for groups of rows in which something is concentrated, in words: "age ≤ 25 and region is north"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._text import format_short, join_names
from ..space.features import Categorical
from ..space.points import Points
from ..space.text_feature import Text

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
#: Formats a value of a column, if it is not written as a number.
ValueFormats = Mapping[str, Callable[[float], str]]

MIN_GROUP_ROWS = 12  # in the half of the rows in which a group is looked for
MIN_GROUP_SHARE = 0.01
MAX_GROUP_SHARE = 0.6  # of the rows: most rows are no group
MAX_CONDITIONS = 400
MAX_CATEGORIES = 12  # per feature, the most frequent ones
MAX_VALUES_AS_CATEGORIES = 6  # a number with at most as many values is described by "is" as well
THRESHOLDS_PER_NUMBER = 9  # deciles
MAX_FIRST_CONDITIONS = 25  # the best conditions, which are combined with all others
#: How much better a group must be with one more condition, which makes it harder to read.
SECOND_CONDITION_GAIN = 1.15
THRESHOLD_GAIN = 1.02  # how much better a threshold between two deciles must be


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupCondition:
    """A condition on one feature, and the rows that meet it."""

    column: int
    kind: str  # "is", "≤" or ">"
    value: float
    text: str
    inside: Mask


@dataclass(frozen=True, eq=False, kw_only=True)
class RowGroup:
    """The rows that meet one, two or three conditions."""

    text: str
    columns: tuple[str, ...]
    inside: Mask


def build_row_conditions(points: Points, formats: ValueFormats | None = None) -> list[GroupCondition]:
    """Return conditions on single features: categories, values, thresholds and missing values."""
    formats = formats or {}
    by_feature: list[list[GroupCondition]] = []
    for column in points.space.scalars:
        feature = points.space.features[column]
        codes, name = points.codes[:, column], feature.name
        missing = np.isnan(codes)
        values, counts = np.unique(codes[~missing], return_counts=True)
        frequent = values[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]]
        format_value = formats.get(name, format_number)
        drafts: list[tuple[str, float, str, Mask]] = [("is", np.nan, f"{name} is missing", missing)]
        if isinstance(feature, Text):
            pass  # the code of a text has no meaning
        elif isinstance(feature, Categorical):
            drafts += [
                ("is", code, f"{name} is {format_short(feature.values[int(code)])}", codes == code) for code in frequent
            ]
        else:
            if len(values) <= MAX_VALUES_AS_CATEGORIES:
                drafts += [("is", value, f"{name} is {format_value(value)}", codes == value) for value in values]
            for threshold in _choose_thresholds(codes[~missing], is_rounded=name not in formats):
                text = format_value(threshold)
                drafts += [
                    ("≤", threshold, f"{name} ≤ {text}", codes <= threshold),
                    (">", threshold, f"{name} > {text}", codes > threshold),
                ]
        by_feature.append(
            [
                GroupCondition(column=column, kind=kind, value=float(value), text=text, inside=inside)
                for kind, value, text, inside in drafts
                if inside.any() and not inside.all()
            ]
        )
    limit = max(2, MAX_CONDITIONS // max(1, len(by_feature)))
    total = sum(map(len, by_feature))
    return [condition for part in by_feature for condition in (part[:limit] if total > MAX_CONDITIONS else part)]


def format_number(value: float) -> str:
    """Return a number with at most four digits, more for whole numbers."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _choose_thresholds(values: Floats, *, is_rounded: bool) -> list[float]:
    """Return deciles with at most three digits, from the middle outwards."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return []
    shares = np.linspace(0, 1, THRESHOLDS_PER_NUMBER + 2)[1:-1]
    shares = shares[np.argsort(np.abs(shares - 0.5), kind="stable")]
    quantiles = np.quantile(finite, shares, method="lower")
    whole = not (finite % 1).any()
    rounded = [float(q) if whole or not is_rounded else float(f"{q:.3g}") for q in quantiles.tolist()]
    return [threshold for threshold in dict.fromkeys(rounded) if finite.min() <= threshold < finite.max()]


def find_group(
    points: Points,
    conditions: Sequence[GroupCondition],
    excess: Floats,
    rows: Mask,
    formats: ValueFormats | None = None,
) -> RowGroup | None:
    """Return the group in which the sum of `excess` is largest for its size, among the `rows`; None if there is none.

    `excess` is what a row has more than expected. A group is better the farther its mean is above that of all rows, times
    the root of its size.
    """
    positions = np.flatnonzero(rows & np.isfinite(excess))
    least = max(MIN_GROUP_ROWS, round(MIN_GROUP_SHARE * len(positions)))
    if len(positions) < 2 * MIN_GROUP_ROWS or not conditions:
        return None
    inside = np.array([condition.inside[positions] for condition in conditions], dtype=np.float32)
    centred = (excess[positions] - excess[positions].mean()).astype(np.float32)

    def score(sums: npt.NDArray[np.floating], counts: npt.NDArray[np.floating]) -> Floats:
        fits = (counts >= least) & (counts <= MAX_GROUP_SHARE * len(positions))
        return np.where(fits, sums / np.sqrt(np.maximum(counts, 1.0)), -np.inf).astype(np.float64)

    single_scores = score(inside @ centred, inside.sum(axis=1))
    best = int(single_scores.argmax())
    best_score, members = float(single_scores[best]), [conditions[best]]
    # a good pair need not have a good first member alone, so those that fit no group themselves count, too
    potential = (inside @ centred) / np.sqrt(np.maximum(inside.sum(axis=1), 1.0))
    firsts = np.argsort(-potential, kind="stable")[:MAX_FIRST_CONDITIONS]
    pair_sums = (inside[firsts] * centred) @ inside.T
    pair_scores = score(pair_sums, inside[firsts] @ inside.T)
    for number, first in enumerate(firsts.tolist()):
        for place, other in enumerate(conditions):
            if not _can_join(conditions[first], other):
                pair_scores[number, place] = -np.inf
    number, place = divmod(int(pair_scores.argmax()), len(conditions))
    pair_score = float(pair_scores[number, place])
    if pair_score > SECOND_CONDITION_GAIN * best_score:
        best_score, members = pair_score, [conditions[firsts[number]], conditions[place]]
        both = inside[firsts[number]] * inside[place]
        third_scores = score((both * centred) @ inside.T, both @ inside.T)
        third_scores[[not all(_can_join(member, other) for member in members) for other in conditions]] = -np.inf
        third = int(third_scores.argmax())
        if third_scores[third] > SECOND_CONDITION_GAIN * pair_score:
            best_score, members = float(third_scores[third]), [*members, conditions[third]]
    if not np.isfinite(best_score) or best_score <= 0:
        return None
    sums = np.zeros(len(points))
    sums[positions] = centred
    return _join(points, _refine(points, members, sums, rows & np.isfinite(excess), least, formats or {}))


def _refine(
    points: Points, members: list[GroupCondition], centred: Floats, rows: Mask, least: int, formats: ValueFormats
) -> list[GroupCondition]:
    """Return the conditions with thresholds between the deciles, where these fit better."""
    for number, member in enumerate(members):
        if member.kind == "is":
            continue
        others = rows.copy()
        for other in members[:number] + members[number + 1 :]:
            others &= other.inside
        codes = points.codes[:, member.column]
        among = others & np.isfinite(codes)
        order = np.argsort(codes[among], kind="stable")
        values, sums = codes[among][order], np.cumsum(centred[among][order])
        counts = np.arange(1, len(values) + 1)
        if member.kind == ">":
            sums, counts = sums[-1] - sums, len(values) - counts
        is_last = np.append(values[1:] != values[:-1], False)  # of equal values; the last row of all leaves nothing
        fits = is_last & (counts >= least) & (counts <= MAX_GROUP_SHARE * rows.sum())
        scores = np.where(fits, sums / np.sqrt(np.maximum(counts, 1)), -np.inf)
        # a round threshold is kept unless another one is clearly better
        best = int(scores.argmax()) if len(scores) else 0
        inside = among & member.inside
        score = float(centred[inside].sum() / np.sqrt(max(1, inside.sum())))
        if len(scores) and scores[best] > THRESHOLD_GAIN * score:
            members[number] = _move_threshold(points, member, float(values[best]), formats)
    return members


def _move_threshold(points: Points, member: GroupCondition, value: float, formats: ValueFormats) -> GroupCondition:
    codes, name = points.codes[:, member.column], points.space.names[member.column]
    if name not in formats and not float(value).is_integer():
        rounded = float(f"{value:.3g}")
        beyond = codes > value
        # the rounded value must separate the same rows
        if (codes[beyond] > rounded).all() and (codes[codes <= value] <= rounded).all():
            value = rounded
    text = formats.get(name, format_number)(value)
    inside = codes <= value if member.kind == "≤" else codes > value
    return GroupCondition(
        column=member.column, kind=member.kind, value=value, text=f"{name} {member.kind} {text}", inside=inside
    )


def _can_join(first: GroupCondition, second: GroupCondition) -> bool:
    """Return whether two conditions say more than one of them: on different features, or as an interval."""
    if first.column != second.column:
        return True
    return {first.kind, second.kind} == {"≤", ">"}


def _join(points: Points, members: Sequence[GroupCondition]) -> RowGroup:
    members = sorted(members, key=lambda condition: (condition.column, condition.kind != ">"))
    names = tuple(dict.fromkeys(points.space.names[condition.column] for condition in members))
    texts = []
    for name in names:
        parts = [condition for condition in members if points.space.names[condition.column] == name]
        if len(parts) == 2:  # x > 3 and x ≤ 7
            low, high = (condition.text.split(f" {condition.kind} ", 1)[1] for condition in parts)
            texts.append(f"{low} < {name} ≤ {high}")
        else:
            texts += [condition.text for condition in parts]
    text = join_names(texts)
    inside = members[0].inside.copy()
    for condition in members[1:]:
        inside &= condition.inside
    return RowGroup(text=text, columns=names, inside=inside)

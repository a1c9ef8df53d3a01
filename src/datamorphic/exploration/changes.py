"""Changes from one case of a pair to the other: how large they are, and as text, as are values and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import format_percent, format_short
from ..reporting.marked_text import MarkedText
from ..space import geometry
from ..space.encoding import is_missing
from ..space.features import Codes
from ..space.features import Mask as Mask
from ..space.points import Points
from ..space.space import Space
from ..space.text_feature import Text

LARGEST_PLAIN_NUMBER = 1e12  # larger ones are written with an exponent
MAX_TEXT_CHARACTERS = 400  # of a text with marked words
MIN_VISIBLE_CHANGE = 1e-3  # of the range of a feature: smaller ones show in distant digits only

Rows = npt.NDArray[np.intp]
Answers = npt.NDArray[Any]


def thin_rows(count: int, limit: int) -> Rows:
    """Return at most `limit` of the row numbers below `count`, evenly spaced."""
    return np.linspace(0, count - 1, min(count, limit)).astype(np.intp) if count else np.empty(0, dtype=np.intp)


def measure_changes(space: Space, a: Codes, b: Codes) -> Codes:
    """Return by how much each feature of each row differs, numbers divided by their ranges."""
    changes = np.zeros(a.shape)
    for j, feature in enumerate(space.features):
        change = geometry.differ(feature, a[:, j], b[:, j]).astype(np.float64)
        if isinstance(feature, Text):
            change = feature.measure_gaps(a[:, j], b[:, j]) * feature.scale
        elif feature.kind != "categorical":
            gap = np.abs(a[:, j] - b[:, j]) * feature.scale
            change = np.where(np.isnan(gap), change, gap)
        changes[:, j] = change
    return changes


def format_changes(a: Points, b: Points, limit: int | None = None) -> list[str]:
    """Return the changes from each row of `a` to the same row of `b`, largest first, at most `limit` per row.

    For example: ``['c red -> blue, x 1 -> 2.5']``. With a limit, changes that only distant digits show are counted
    instead of listed, unless there are no others and they are few.
    """
    if a.space.blocks:
        return _format_block_changes(a, b, limit)
    sizes = measure_changes(a.space, a.codes, b.codes)
    order = np.argsort(-sizes, axis=1, kind="stable")
    before, after = _list_values(a), _list_values(b)
    texts = []
    for row, features in enumerate(order):
        changed_features = [j for j in features.tolist() if sizes[row, j] > 0]
        visible_features = [j for j in changed_features if limit is None or sizes[row, j] >= MIN_VISIBLE_CHANGE]
        if limit is not None and len(changed_features) > limit and not visible_features:
            bound = format_percent(MIN_VISIBLE_CHANGE)
            texts.append(f"tiny changes of {len(changed_features)} features, each under {bound} of its range")
            continue
        phrases = [
            _format_feature_change(a.space, j, before[j][row], after[j][row])
            for j in (visible_features or changed_features)[: limit or len(changed_features)]
        ]
        hidden_count = len(changed_features) - len(phrases)
        texts.append(_join_phrases(phrases, f" and {hidden_count} more" if hidden_count else ""))
    return texts


def _list_values(points: Points) -> list[list[Any]]:
    """Return the values of each feature."""
    if points.space.plain:  # codes are values, and pandas is not needed
        values: list[list[Any]] = points.codes.T.tolist()
        return values
    frame = points.frame
    return [frame[name].tolist() for name in points.space.names]


def _format_block_changes(a: Points, b: Points, limit: int | None) -> list[str]:
    """Return the changes per row, one phrase per image or sequence, then the other features."""
    from ..reporting.block_pictures import describe_block_change

    space = a.space
    phrases: list[list[str]] = [[] for _ in range(len(a))]
    for placed_block in space.blocks:
        before, after = placed_block.select(a.codes), placed_block.select(b.codes)
        for row in np.flatnonzero((before != after).any(axis=1)).tolist():
            phrases[row].append(describe_block_change(placed_block.block, before[row], after[row]))
    if space.scalars:
        positions = list(space.scalars)
        scalars = Space([space.features[position] for position in positions], dtypes=space.dtypes)
        others = format_changes(Points(scalars, a.codes[:, positions]), Points(scalars, b.codes[:, positions]), limit)
        for row, text in enumerate(others):
            phrases[row] += [text] if text else []
    return ["; ".join(parts) for parts in phrases]


def name_feature(space: Space, name: str) -> str:
    """Return the name of a feature for people: where a pixel is, if it is one."""
    position = space.position(name)
    for placed_block in space.blocks:
        if position in placed_block.positions:
            where = placed_block.block.describe_position(placed_block.positions.index(position))
            return f"{where} of {placed_block.block.name}"
    return name


def _format_feature_change(space: Space, position: int, before: object, after: object) -> str:
    """Return the change of one feature; that of a text with its words marked."""
    name = space.names[position]
    if space.features[position].kind == "text" and isinstance(before, str) and isinstance(after, str):
        return MarkedText.compare(before, after, prefix=f"{name}: " if len(space) > 1 else "").shorten(
            MAX_TEXT_CHARACTERS
        )
    return f"{name} {_format_change(before, after)}"


def _join_phrases(phrases: Sequence[str], rest: str) -> str:
    """Return phrases in one line; marks are preserved."""
    if not any(isinstance(phrase, MarkedText) for phrase in phrases):
        return ", ".join(phrases) + rest
    pieces: list[tuple[str, str]] = []
    for phrase in phrases:
        pieces += [("same", ", ")] if pieces else []
        pieces += phrase.pieces if isinstance(phrase, MarkedText) else [("same", phrase)]
    return MarkedText([*pieces, ("same", rest)])


def _format_change(before: object, after: object) -> str:
    """Return two values with as many digits as it takes to see that they differ, at least four and all before the point.

    Examples
    --------
    >>> _format_change(15440.0, 14700.0), _format_change(0.123456, 0.123499)
    ('15440 -> 14700', '0.12346 -> 0.1235')
    """
    if isinstance(before, float) and isinstance(after, float) and before == before and after == after:
        largest = max(abs(before), abs(after))
        whole_digits = len(f"{largest:.0f}") if largest < LARGEST_PLAIN_NUMBER else 0
        for digits in range(max(4, whole_digits), 17):
            if f"{before:.{digits}g}" != f"{after:.{digits}g}":
                return f"{before:.{digits}g} -> {after:.{digits}g}"
    return f"{format_value(before)} -> {format_value(after)}"


def format_value(value: object) -> str:
    """Return a value of a feature as text for people."""
    return "missing" if is_missing(value) else format_short(value)


def format_answers(values: Sequence[Any] | Answers) -> list[str]:
    """Return answers as text for people."""
    return [format_short(to_python_value(value)) for value in values]


def to_python_value(value: object) -> Any:
    """Return a NumPy scalar as the Python value it holds, and anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value

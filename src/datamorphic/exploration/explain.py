"""Explain cases by the border: the nearest pairs, and the smallest change found that flips the answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lazy import pd
from .._text import format_short
from .._typing import DataLike
from .._validation import validate_integer
from ..errors import DataError
from ..runs.driver import drive
from ..space import geometry
from ..space.features import Codes
from ..space.labels import to_object_array
from ..space.neighbours import find_nearest
from ..space.points import Points
from .changes import Answers, Rows, format_changes, to_python_value
from .counterfactual import find_flips
from .front_data import FrontData


def explain_cases(front: FrontData, cases: DataLike, k: int = 1) -> pd.DataFrame:
    """Return the `k` nearest pairs of each case, and changes that take the case across a border.

    With an attached system, the changes are found by queries. The search starts at an end of a pair with another
    answer and moves towards the case as long as the answers differ. Then it restores the values of the case, feature
    by feature, smallest change first, wherever the answer still differs and the constraints hold. Both steps are done
    twice. The first row of a case has the smallest change found from the ten nearest ends with another answer, and
    by changing one feature alone. The other rows have the change at their own pair. Every change is a flip that the
    system confirmed, though not always the smallest one. Without a system, the change leads to the farther end of the
    pair.

    The columns of the result are ``case`` (the index of the row), ``rank``, ``pair`` (its number in ``front.pairs``),
    ``distance`` to it, ``answer`` and ``becomes`` (the old and the new answer), ``flip_distance`` (distances divide
    numbers by their ranges), ``change`` as text, and ``to.<feature>``, the new value of each feature. ``becomes`` is
    None where no flip was found.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Continuous("age", 0, 100), dm.Continuous("height", 0, 2)])
    >>> front = dm.explore(lambda age: "adult" if age > 18 else "child", space, scalar=True, walks=50)
    >>> front.nearest({"age": 12.0, "height": 1.5})[["answer", "becomes", "change"]].iloc[0].tolist()
    ['child', 'adult', 'age 12 -> 18']
    """
    validate_integer("k", "Front.nearest", k, low=1)
    points, names = _prepare_cases(front, cases)
    pair, distance = _find_nearest_pairs(front, points.codes, min(k, len(front)))
    case = np.repeat(np.arange(len(points)), pair.shape[1])
    pair, distance = pair.ravel(), distance.ravel()
    start = points.codes[case]
    if front.sut is None:
        target_codes, answer, new_answers = _find_far_ends(front, start, pair)
    else:
        target_codes, answer, new_answers = drive(find_flips(front, points, case, pair), front.sut)
    target = Points(front.space, target_codes)
    flipped = np.array([value is not None for value in new_answers], dtype=bool)
    flip_distance = geometry.distance(front.space, start, target_codes, scaled=True)
    descriptions = format_changes(Points(front.space, start), target)
    table = pd.DataFrame(
        {
            "case": [names[row] for row in case],
            "rank": np.tile(np.arange(1, pair.size // max(1, len(points)) + 1), len(points)),
            "pair": pair,
            "distance": distance,
            "answer": pd.Series(answer, dtype=object),
            "becomes": pd.Series(new_answers, dtype=object),
            "flip_distance": np.where(flipped, flip_distance, np.nan),
            "change": [text if is_flip else "" for text, is_flip in zip(descriptions, flipped, strict=True)],
        }
    )
    return pd.concat([table, target.frame.add_prefix("to.")], axis=1)


def _prepare_cases(front: FrontData, cases: DataLike) -> tuple[Points, list[Any]]:
    """Return the cases as points, and their names: the index of a frame, else their numbers."""
    if not len(front):
        raise DataError(f"The front of {front.subject} is empty. Explore with more walks, or with another strategy.")
    points = front.space.points(cases)
    names = list(cases.index) if isinstance(cases, pd.DataFrame) else list(range(len(points)))
    for constraint in front.space.constraints if front.space.keeps_constraints else ():
        violating_rows = np.flatnonzero(~constraint.satisfied(front.space, points.codes))
        if violating_rows.size:
            suffix = f" ({violating_rows.size - 1:,} more rows like it)" if violating_rows.size > 1 else ""
            raise DataError(
                f"Row {format_short(names[violating_rows[0]])} breaks the constraint {constraint}{suffix}. The search for "
                "changes needs cases that satisfy the constraints. Fix the row, or leave it out."
            )
    return points, names


def _find_nearest_pairs(front: FrontData, codes: Codes, k: int) -> tuple[Rows, Codes]:
    """Return the numbers of the `k` nearest pairs of each case and their distances, by their nearer ends."""
    ends = np.concatenate([front.a.codes, front.b.codes])
    # a pair can occur twice, once per end
    distances, end_rows = find_nearest(front.space, codes, ends, min(2 * k, len(ends)))
    pair = end_rows % len(front)
    repeated = np.zeros(pair.shape, dtype=bool)
    for rank in range(1, pair.shape[1]):
        repeated[:, rank] = (pair[:, :rank] == pair[:, rank, None]).any(axis=1)
    columns = np.argsort(repeated, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(pair, columns, axis=1), np.take_along_axis(distances, columns, axis=1)


def _find_far_ends(front: FrontData, start: Codes, pair: Rows) -> tuple[Codes, Answers, Answers]:
    """Return the farther end of each pair, an unknown answer to the case, and the answer to that end.

    The case is assumed to be on the side of the nearer end.
    """
    a, b = front.a.codes[pair], front.b.codes[pair]
    to_a, to_b = (geometry.distance(front.space, start, end, scaled=True) for end in (a, b))
    b_is_farther = to_b >= to_a
    answers = [front.b_output[i] if is_b else front.a_output[i] for i, is_b in zip(pair, b_is_farther, strict=True)]
    new_answers = to_object_array([to_python_value(answer) for answer in answers])
    return np.where(b_is_farther[:, None], b, a), np.full(len(pair), None, dtype=object), new_answers

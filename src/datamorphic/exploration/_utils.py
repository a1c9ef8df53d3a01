"""What the modules on fronts share: how a front tells answers apart, asking its system, and changes in words."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._text import format_short
from ..errors import Interrupted, SystemFailed
from ..morphisms.terrain import build_native_terrain
from ..runs.driver import drive
from ..runs.flow import Flow
from ..space import geometry
from ..space.features import Codes
from ..space.outputs import Outputs, Status
from ..space.points import Points
from ..space.space import Space
from .borders import Border, Jump, MultiLabel, Threshold, border_from_name
from .refinement import Refinement

if TYPE_CHECKING:
    import pandas as pd

    from .front import Front

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Result = TypeVar("Result")
EXTRA_CALLS_DIVISOR = 4  # what is asked on top of an exploration takes at most one of so many parts of its calls
MIN_EXTRA_CALLS = 100  # rows that may always be asked on top


def restore_border(front: Front) -> Border:
    """Return the border that a front was made with, as its settings tell it."""
    return border_from_name(str(front.settings["border_kind"]), front.settings.get("border_value"))


def read_states(front: Front, border: Border) -> tuple[Codes, Codes, Rows]:
    """Return the answers at both ends as the border reads them, and which of several labels each pair is about."""
    a, b = (border.read(Outputs.of(values)) for values in (front.a_output, front.b_output))
    return a, b, front.part


class SideIndex:
    """Numbers the sides of borders by the values of their answers: 1, 1.0 and True are one side, "1" is another."""

    def __init__(self, border: Border) -> None:
        self.border = border
        self._numbers: dict[Any, int] = {}

    def number_sides(self, x: Codes, y: Codes, part: Rows) -> tuple[Rows, Rows]:
        """Return the numbers of the two sides of each border."""
        border = self.border
        if isinstance(border, Threshold):
            return (x > border.value).astype(np.intp), (y > border.value).astype(np.intp)
        if isinstance(border, Jump):
            return (x > y).astype(np.intp), (y > x).astype(np.intp)
        if isinstance(border, MultiLabel):
            return self._number_label_values(x, part), self._number_label_values(y, part)
        return x.astype(np.intp), y.astype(np.intp)

    def _number_label_values(self, codes: Codes, part: Rows) -> Rows:
        """Return a number for each value of the label that a border is about."""
        labels = self.border.codebook.labels
        label_values = ((p, labels[int(i)][p : p + 1]) for i, p in zip(codes, part.tolist(), strict=True))
        return np.array(
            [self._numbers.setdefault(label_value, len(self._numbers)) for label_value in label_values],
            dtype=np.intp,
        )

    def number_kinds(self, x: Codes, y: Codes, part: Rows) -> tuple[Rows, Mask]:
        """Return a number for the two sides of each border, whichever comes first, and where the second does."""
        first_side, second_side = self.number_sides(x, y, part)
        return (np.minimum(first_side, second_side) << 31) | np.maximum(
            first_side, second_side
        ), first_side > second_side


def name_borders(kinds: Rows, names: Sequence[str], answer_pairs: Sequence[tuple[Any, Any]]) -> dict[int, str]:
    """Return a name for each kind of border; where two share one, answers are told as Python writes them."""
    _, first = np.unique(kinds, return_index=True)
    names_by_kind: dict[int, str] = {}
    for row in np.sort(first).tolist():
        name = names[row]
        if name in names_by_kind.values():
            plain_answers = (
                answer.item() if isinstance(answer, np.generic) else answer for answer in answer_pairs[row]
            )
            name = " | ".join(sorted(map(repr, plain_answers)))
        names_by_kind[int(kinds[row])] = name
    return names_by_kind


def get_extra_call_limit(front: Front, limit: int) -> int:
    """Return how many rows the system of a front may be asked on top: none where it is not at hand, or hangs."""
    failures = front.tally.health.status_counts
    if front.sut is None or Status.TIMEOUT in failures or Status.DIED in failures:
        return 0
    return min(limit, max(MIN_EXTRA_CALLS, front.calls // EXTRA_CALLS_DIVISOR))


def query_quietly(front: Front, flow: Flow[Result]) -> Result | None:
    """Return what a flow returns that nobody asked for by name, or None if the system fails.

    Nothing of it counts as a call of the front, and what the system prints is no part of what is printed about it.
    """
    assert front.sut is not None
    try:
        with redirect_stdout(sys.stderr):
            return drive(flow, front.sut, progress=False, recheck=0)
    except (SystemFailed, Interrupted):
        return None


def make_bisection(space: Space, delta: float) -> Refinement:
    """Return what halves brackets until they are at most `delta` wide, numbers divided by their ranges.

    No more often than takes a bracket across the whole space to that width: two cases of different categories never
    get there, and their numbers need not be halved for ever.
    """
    native_terrain = build_native_terrain(space)
    ground = replace(native_terrain, distance=lambda a, b: geometry.distance(space, a.codes, b.codes, scaled=True))
    return Refinement(ground, math.ceil(math.log2(len(space) / delta)), delta, "bisect")


def measure_changes(space: Space, a: Codes, b: Codes) -> Codes:
    """Return by how much each feature of each row differs, numbers divided by their ranges."""
    parts = np.zeros(a.shape)
    for j, feature in enumerate(space.features):
        difference = geometry.differ(feature, a[:, j], b[:, j]).astype(np.float64)
        if feature.kind != "categorical":
            gap = np.abs(a[:, j] - b[:, j]) * feature.scale
            difference = np.where(np.isnan(gap), difference, gap)
        parts[:, j] = difference
    return parts


def format_changes(a: Points, b: Points, limit: int | None = None) -> list[str]:
    """Return what differs between each row of `a` and the same row of `b` in words, the largest change first.

    Examples
    --------
    >>> from datamorphic import Categorical, Continuous, Space
    >>> space = Space([Continuous("x", 0, 10), Categorical("c", ["red", "blue"])])
    >>> changes(space.points({"x": 1, "c": "red"}), space.points({"x": 2.5, "c": "blue"}))
    ['c red -> blue, x 1 -> 2.5']
    """
    parts = measure_changes(a.space, a.codes, b.codes)
    order = np.argsort(-parts, axis=1, kind="stable")
    before, after = ([frame[name].tolist() for name in a.space.names] for frame in (a.frame, b.frame))
    descriptions = []
    for row, features in enumerate(order):
        changed_features = [j for j in features.tolist() if parts[row, j] > 0]
        phrases = [
            f"{a.space.names[j]} {_format_change(before[j][row], after[j][row])}"
            for j in changed_features[: limit or len(changed_features)]
        ]
        hidden_count = len(changed_features) - len(phrases)
        descriptions.append(", ".join(phrases) + (f" and {hidden_count} more" if hidden_count else ""))
    return descriptions


def _format_change(before: Any, after: Any) -> str:
    """Return two values with as many digits as it takes to tell them apart, four at least."""
    if isinstance(before, float) and isinstance(after, float) and before == before and after == after:
        for digits in range(4, 17):
            if f"{before:.{digits}g}" != f"{after:.{digits}g}":
                return f"{before:.{digits}g} -> {after:.{digits}g}"
    return f"{format_value(before)} -> {format_value(after)}"


def format_value(value: Any) -> str:
    """Return a value of a feature as a person would write it."""
    import pandas as pd

    return "missing" if pd.api.types.is_scalar(value) and pd.isna(value) else format_short(value)


def thin_rows(count: int, limit: int) -> Rows:
    """Return the numbers of at most `most` rows of `count`, evenly spread."""
    return np.linspace(0, count - 1, min(count, limit)).astype(np.intp) if count else np.empty(0, dtype=np.intp)


def format_answers(values: Sequence[Any] | npt.NDArray[Any]) -> list[str]:
    """Return answers as a person would write them."""
    return [format_short(value.item() if isinstance(value, np.generic) else value) for value in values]


def to_answer_objects(outputs: Outputs) -> npt.NDArray[Any]:
    """Return answers as objects, None where there is none."""
    values = outputs.values.astype(object)
    values[~outputs.ok] = None
    return values


def add_columns(frame: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    """Return a frame with further columns; where a feature has the name of one, the column gets an underscore."""
    import pandas as pd

    feature_names = set(frame.columns)
    # answers stay what they are: pandas would make text of some columns, and NaN of a None among it
    series = {
        f"{name}_" if name in feature_names else name: pd.Series(column, dtype=getattr(column, "dtype", object))
        for name, column in columns.items()
    }
    return pd.concat([frame, pd.DataFrame(series)], axis=1)

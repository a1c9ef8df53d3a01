"""Kinds of border: which two answers meet at a pair, as numbers and as names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..space.features import Codes
from ._utils import Mask, Rows, to_python_value
from .borders import Border, Jump, MultiLabel, Threshold


class SideIndex:
    """Number the two sides of borders by the values of their answers.

    1, 1.0 and True are the same side; "1" is a different one.
    """

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
        """Return a number for the value of the label that changes at each border."""
        labels = self.border.codebook.labels
        label_values = ((p, labels[int(i)][p : p + 1]) for i, p in zip(codes, part.tolist(), strict=True))
        numbers = self._numbers
        return np.array([numbers.setdefault(value, len(numbers)) for value in label_values], dtype=np.intp)

    def number_kinds(self, x: Codes, y: Codes, part: Rows) -> tuple[Rows, Mask]:
        """Return a number per unordered pair of sides, and where the two sides are in reverse order."""
        first_side, second_side = self.number_sides(x, y, part)
        low, high = np.minimum(first_side, second_side), np.maximum(first_side, second_side)
        return (low << 31) | high, first_side > second_side


def name_borders(kinds: Rows, names: Sequence[str], answer_pairs: Sequence[tuple[Any, Any]]) -> dict[int, str]:
    """Return a unique name for each kind of border.

    Where two kinds have the same name, as with the answers 1 and "1", the later one is named by `repr`.
    """
    _, first = np.unique(kinds, return_index=True)
    names_by_kind: dict[int, str] = {}
    for row in np.sort(first).tolist():
        name = names[row]
        if name in names_by_kind.values():
            name = " | ".join(sorted(repr(to_python_value(answer)) for answer in answer_pairs[row]))
        names_by_kind[int(kinds[row])] = name
    return names_by_kind

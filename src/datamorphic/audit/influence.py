"""`Influence`: how the answers to some inputs change when the values of one feature are shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.result import count_rows
from ..space.outputs import Outputs
from ..space.points import Points

#: A number that moves by less than this part of the standard deviation of the answers counts as unchanged.
MATERIAL_PART_OF_DEVIATION = 0.05
SCORE_ROUNDING = 1e-9  # relative; smaller differences of scores are rounding


@dataclass(frozen=True, eq=False, kw_only=True)
class Influence:
    """The answers to some inputs, and to the same inputs with one feature shuffled."""

    inputs: Points
    answers: Outputs
    shuffled: dict[str, tuple[Points, Outputs]]  # by feature
    changed: dict[str, npt.NDArray[np.bool_]]  # by feature: the rows whose answer changes
    score_changed: dict[str, npt.NDArray[np.bool_]]  # the same for scores or, without scores, for answers
    tried: dict[str, int]  # by feature: the rows whose value did change, and which have both answers

    def count_changed(self, feature: str) -> int:
        """Return how many answers changed with a feature."""
        return int(self.changed[feature].sum())

    def compute_share(self, feature: str) -> float:
        """Return the share of the rows tried whose answer changed with a feature."""
        return self.count_changed(feature) / max(self.tried[feature], 1)

    def describe_impact(self, feature: str) -> dict[str, Any]:
        """Return how many given rows a feature affects and how, as fields of a finding: scores, if it changes no answer."""
        changed, tried = self.count_changed(feature), self.tried[feature]
        affected = changed or int(self.score_changed[feature].sum())
        return {
            **count_rows(affected, tried),
            "answer_changes": changed > 0,
            "effect": self.measure_effect(feature),
            "inputs": "changed",
        }

    def measure_effect(self, feature: str) -> float | None:
        """Return the median change of the answers that change with a feature; None for labels and without any change."""
        rows = self.changed[feature]
        before, after = self.answers.values, self.shuffled[feature][1].values
        if not rows.any() or before.dtype.kind != "f" or after.dtype.kind != "f":
            return None
        return float(np.median(np.abs(after[rows] - before[rows])))

    def is_used(self, feature: str) -> bool:
        """Tell whether an answer or a score changed with a feature."""
        return bool(self.score_changed[feature].any() or self.changed[feature].any())

    def rank(self) -> list[str]:
        """Return the features, the one that changes most answers first, then by scores."""
        return sorted(self.changed, key=lambda name: (-self.compute_share(name), -int(self.score_changed[name].sum())))


def find_material_changes(before: Outputs, after: Outputs, numbers: bool) -> npt.NDArray[np.bool_]:
    """Return which answers changed: labels at all, `numbers` by a noticeable part of their spread.

    Rows without an answer before or after do not count.
    """
    both = before.ok & after.ok
    changed = np.zeros(len(before), dtype=bool)
    if not both.any():
        return changed
    if numbers:
        first, second = (outputs.values[both].astype(np.float64) for outputs in (before, after))
        deviation = float(first.std()) if len(first) > 1 else 0.0
        least = max(MATERIAL_PART_OF_DEVIATION * deviation, SCORE_ROUNDING * float(np.abs(first).max()))
        changed[both] = np.abs(first - second) > least
    else:
        changed[both] = ~before.take(both).same(after.take(both))
    return changed


def find_score_changes(before: Outputs, after: Outputs) -> npt.NDArray[np.bool_]:
    """Return which scores changed by more than rounding; without scores, which answers did."""
    if before.scores is None or after.scores is None:
        return ~before.same(after, rounding=SCORE_ROUNDING)
    equal = np.isclose(before.scores, after.scores, rtol=SCORE_ROUNDING, atol=SCORE_ROUNDING, equal_nan=True)
    return np.asarray(~equal.all(axis=1))

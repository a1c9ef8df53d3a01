"""`OneWay`: the expectation that a number, or the standing of a class, moves in one direction only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..space.labels import to_label_key
from ..space.outputs import Outputs
from ..systems.coerce import Labels

Floats = npt.NDArray[np.float64]
Direction = Literal["down", "up", "same"]

#: what a level must not do, by direction
DIRECTION_WORDS: dict[Direction, str] = {"down": "does not rise", "up": "does not fall", "same": "stays the same"}


def compute_wrongness(before: Floats, after: Floats, direction: str) -> Floats:
    """Return by how much numbers move in the wrong direction; negative if they move in the right one.

    Examples
    --------
    >>> compute_wrongness(np.array([1.0, 1.0]), np.array([3.0, 0.5]), "up").tolist()
    [-2.0, 0.5]
    """
    difference = after - before
    return {"down": difference, "up": -difference, "same": np.abs(difference)}[direction]


def find_label(labels: Sequence[Any], outcome: object) -> Any:
    """Return the label that an outcome means: an equal one or, failing that, one with the same text; None without one."""
    matches = [label for label in labels if label == outcome]
    matches += [label for label in labels if to_label_key(label) == to_label_key(outcome)]
    return matches[0] if matches else None


def compute_standing(scores: Floats, column: int) -> Floats:
    """Return the score of a class relative to all others; alone it may fall although the class gains."""
    others = np.delete(scores, column, axis=1)
    if not others.shape[1]:
        return scores[:, column]
    highest = others.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return scores[:, column] - (highest[:, 0] + np.log(np.exp(others - highest).sum(axis=1)))


@dataclass(frozen=True, kw_only=True)
class OneWay:
    """The level of an outcome moves in one direction only.

    The level is the probability of a class; for other scores its score minus the soft maximum of the others; without scores,
    whether the answer is that class; and the answer itself if it is a number. A relation knows the `labels` and the kind of
    scores of the system that it is fitted to.
    """

    direction: Direction = "up"
    outcome: object = None  # the class; by default the second of two
    guesses: tuple[object, ...] = ()  # classes to look for, in this order, if there is no outcome
    labels: Labels | None = None
    score_kind: str | None = None

    def find_outcome(self, labels: Sequence[Any]) -> Any:
        """Return the class that is judged; None if it is unclear."""
        outcomes = self.guesses if self.outcome is None else (self.outcome,)
        for outcome in outcomes:
            if (label := find_label(labels, outcome)) is not None:
                return label
        return labels[1] if not outcomes and len(labels) == 2 else None

    def read_scores(self, outputs: Outputs) -> Floats | None:
        """Return the level of the outcome by its scores, NaN without an answer; None if there are no scores of classes."""
        target = None if self.labels is None else self.find_outcome(self.labels)
        if outputs.scores is None or self.labels is None or target not in self.labels:
            return None
        if self.score_kind not in ("decision", "probability"):
            return None
        column = self.labels.index(target)
        is_probability = self.score_kind == "probability"
        levels = outputs.scores[:, column] if is_probability else compute_standing(outputs.scores, column)
        return np.where(outputs.ok, levels, np.nan)

    def match(self, values: npt.NDArray[Any]) -> Floats:
        """Return 1 for answers that are the outcome, else 0; where labels are not known, a class may be given as text."""
        if self.labels is not None:
            target = self.find_outcome(self.labels)
            return np.array([value == target for value in values.tolist()], dtype=np.float64)
        keys = set(map(to_label_key, self.guesses if self.outcome is None else (self.outcome,)))
        return np.array([to_label_key(value) in keys for value in values.tolist()], dtype=np.float64)

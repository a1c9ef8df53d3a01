"""`OneWay`: the expectation that a number, or the standing of a class, moves in one direction only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._validation import is_number
from ...errors import ArgumentError
from ...space.labels import to_label_key
from ...space.outputs import Outputs, find_rounding
from ...systems.base import Executor
from ...systems.coerce import Labels
from ...systems.estimator import Estimator
from ..patterns.relation import Answers, OutputPattern
from .base import ROUNDING_TOLERANCE, Mask

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


def find_tolerance(before: Floats, after: Floats) -> Floats | float:
    """Return the difference that rounding may cause between levels, row by row."""
    known_levels = before[~np.isnan(before)]
    if not known_levels.size:
        return 0.0
    rounding = max(ROUNDING_TOLERANCE, find_rounding(before), find_rounding(after))
    return rounding * np.maximum(np.maximum(np.abs(before), np.abs(after)), np.ptp(known_levels))


@dataclass(frozen=True, kw_only=True)
class OneWay(OutputPattern):
    """The level of an outcome moves in one direction only.

    The level is the probability of a class; for other scores its score minus the soft maximum of the others; without scores,
    whether the answer is that class; and the answer itself if it is a number. A relation knows the `labels` and the kind of
    scores of the system that it is fitted to.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from datamorphic.relations.algebra.one_way import OneWay
    >>> louder = dm.patterns["Additive"].input(columns=("volume",), amount=3)
    >>> (louder >> OneWay(direction="down", outcome="accepted")).statement
    'volume is increased by 3: the probability of accepted does not rise'
    """

    pattern: ClassVar[str] = "Monotone"
    needs_scores: ClassVar[bool] = True
    direction: Direction = "up"
    outcome: object = None  # the class; by default the second of two
    guesses: tuple[object, ...] = ()  # classes to look for, in this order, if there is no outcome
    tolerance: float = 0.0  # by which the level may move in the wrong direction, beyond rounding
    labels: Labels | None = None
    score_kind: str | None = None

    def describe(self) -> str:
        """Return the expectation as a clause."""
        outcomes = (self.outcome,) if self.outcome is not None else self.guesses[:1]
        outcome = str(outcomes[0]) if outcomes else "the outcome"
        return f"the probability of {outcome} {DIRECTION_WORDS[self.direction]}"

    # -- what a system offers ------------------------------------------------------------------------------------------

    def find_outcome(self, labels: Sequence[Any]) -> Any:
        """Return the class that is judged; None if it is unclear."""
        outcomes = self.guesses if self.outcome is None else (self.outcome,)
        for outcome in outcomes:
            if (label := find_label(labels, outcome)) is not None:
                return label
        return labels[1] if not outcomes and len(labels) == 2 else None

    def find_obstacle(self, sut: Executor, name: str) -> str:
        """Return "": the expectation applies. Raise if the class that is judged is unknown."""
        labels = self.system(sut).labels
        if labels is None or self.find_outcome(labels) is not None:
            return ""
        classes = ", ".join(map(repr, labels[:12]))
        raise ArgumentError(
            f"The relation {name!r} does not know which class it is about. The model has: {classes}. Name one: outcome=..."
            if self.outcome is None
            else f"The model has no class {self.outcome!r}, which {name!r} is about. It has: {classes}."
        )

    def system(self, sut: Executor) -> Executor:
        """Return the system with probabilities as scores, if it has them."""
        return (sut.with_scores("probability") or sut) if isinstance(sut, Estimator) else sut

    def fitted_to(self, sut: Executor) -> OneWay:
        """Return the expectation for the classes and scores of a system."""
        system = self.system(sut)
        outcome = self.outcome if system.labels is None else self.find_outcome(system.labels)
        return replace(self, outcome=outcome, labels=system.labels, score_kind=system.score_kind)

    # -- levels --------------------------------------------------------------------------------------------------------

    def compute_level(self, outputs: Outputs, name: str) -> Floats:
        """Return the probability of the outcome, or the answer if it is a number; NaN without an answer.

        A model without probabilities has decision values, or 1 and 0 for labels. Messages have the `name` of the relation.
        """
        levels = self.read_scores(outputs)
        if levels is not None:
            return levels
        levels, ok = np.full(len(outputs), np.nan), outputs.ok
        levels[ok] = self._read_answers(outputs.values[ok], name)
        return levels

    def _read_answers(self, answers: Answers, name: str) -> Floats:
        if self.labels is None and (answers.dtype.kind in "fiu" or all(map(is_number, answers.tolist()))):
            return answers.astype(np.float64)
        if self.outcome is None and not self.guesses and len(answers):
            raise ArgumentError(
                f"The answers are not numbers ({str(answers[0])[:40]!r}, ...). Name the class that {name!r} is about: "
                "outcome=..."
            )
        return self.match(answers)

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

    # -- verdicts ------------------------------------------------------------------------------------------------------

    def is_violated(self, before: Floats, after: Floats) -> Mask:
        """Return where levels move in the wrong direction by more than the tolerance; NaN is no answer."""
        wrongness = compute_wrongness(before, after, self.direction)
        with np.errstate(invalid="ignore"):
            return np.asarray(wrongness > np.maximum(find_tolerance(before, after), self.tolerance))

    def judge_outputs(self, frame: pd.DataFrame | None, before: Outputs, afters: Sequence[Outputs]) -> Mask:
        """Return per group whether all levels move as they may."""
        level, *new_levels = (self.compute_level(outputs, self.pattern) for outputs in (before, *afters))
        return ~np.any([self.is_violated(level, new_level) for new_level in new_levels], axis=0)

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return per group whether all answers move as they may, without scores."""
        return self.judge_outputs(frame, Outputs.of(before), [Outputs.of(after) for after in afters])

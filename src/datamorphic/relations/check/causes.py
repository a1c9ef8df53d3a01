"""Known causes of violations by learners: the pattern of each, its repair, and whether an experiment confirms it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ..._tables import read_document
from ..._text import format_percent, pluralise
from ...core.result import ResultPart
from ...systems.training import Floats, Training
from .violation import LearnerViolation

TIE_TOLERANCE = 1e-9  # between scores that count as equal
PROBABILITY_TOLERANCE = 1e-6
SCAN_POINTS = 401  # along an attribute
MIN_STEPS, MIN_STEP_POINTS, STEP_SLACK_POINTS = 5, 5, 1.5
MIN_EQUAL_STEPS_SHARE = 0.9
MIN_HOLDING_SHARE = 0.9  # of the violations, which must disappear with the repair
MIN_AGREEMENT = 0.6  # share of all answers that the repair must not change
MIN_VIOLATING_CASES, MIN_CASES_TO_SPARE_ONE = 3, 5  # fewer may disappear by chance
MAX_VIOLATING_CASES, MAX_TRIED_SETS, MAX_COMPARED_SETS = 20, 300, 40  # of an experiment

Property = Literal["tied answer", "probabilities", "answer without rows", "scores on a grid"]


@dataclass(frozen=True, kw_only=True)
class KnownCause:
    """A row of causes.toml: a pattern of violations, what causes it, and how it is repaired and confirmed."""

    name: str
    relations: tuple[str, ...]  # in whose violations it may show
    properties: tuple[Property, ...]  # that the smallest violation has
    holding: tuple[str, ...]  # relations that it does not violate
    repair: str  # by name: see learners/repairs.py
    explanation: str
    experiment: str  # the repair in words
    remedy: str
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class _CauseTable:
    causes: tuple[KnownCause, ...]


@dataclass(frozen=True, kw_only=True)
class ConfirmedCause(ResultPart):
    """A known cause of the violations of a relation, and the experiment that confirms it.

    Of `cases`, the learner violated the relation in `violated_before`, and in `violated_after` with the repair applied from
    outside. The share `agreement` of all answers stay the same.
    """

    relation: str
    name: str
    explanation: str
    experiment: str
    remedy: str
    source: str
    violated_before: int
    violated_after: int
    cases: int
    agreement: float

    @property
    def text(self) -> str:
        """The cause and its confirmation in two sentences."""
        return (
            f"{self.name}. {self.explanation} Confirmed: with {self.experiment}, the relation is violated in "
            f"{self.violated_after:,} instead of {self.violated_before:,} of {pluralise(self.cases, 'case')}, and "
            f"{format_percent(self.agreement)} of the answers stay the same."
        )


@cache
def read_causes() -> Sequence[KnownCause]:
    """Return the known causes in the order in which they are tried."""
    return read_document(__package__, "causes.toml", _CauseTable).causes


def list_candidates(violation: LearnerViolation, violated: Collection[str]) -> list[KnownCause]:
    """Return the causes whose pattern fits a violation, apart from properties that need a query."""
    return [
        cause
        for cause in read_causes()
        if violation.relation in cause.relations
        and not set(cause.holding) & set(violated)
        and all(name not in PROPERTIES or PROPERTIES[name](violation) for name in cause.properties)
    ]


# -- properties of a violation -------------------------------------------------------------------------------------


def _list_answers(violation: LearnerViolation) -> list[tuple[Training, object, Floats]]:
    """Return training data, answer and scores, before and after, where there are scores."""
    answers = (
        (violation.source, violation.before, violation.scores_before),
        (violation.follow_up, violation.after, violation.scores_after),
    )
    return [(data, answer, scores) for data, answer, scores in answers if scores is not None]


def _is_tied(violation: LearnerViolation) -> bool:
    """Return whether two labels have the greatest score, before or after the change."""
    for _, _, scores in _list_answers(violation):
        ordered = np.sort(scores[~np.isnan(scores)])
        if len(ordered) > 1 and ordered[-1] - ordered[-2] <= TIE_TOLERANCE:
            return True
    return False


def _has_probabilities(violation: LearnerViolation) -> bool:
    sums = [abs(np.nansum(scores) - 1) for _, _, scores in _list_answers(violation)]
    return len(sums) == 2 and bool(max(sums) <= PROBABILITY_TOLERANCE)


def _is_answer_without_rows(violation: LearnerViolation) -> bool:
    """Return whether an answer is a label that no training row has, before or after the change."""
    pairs = ((violation.source, violation.before), (violation.follow_up, violation.after))
    return any(answer not in data.y.tolist() for data, answer in pairs)


def place_along_attribute(data: Training) -> Training | None:
    """Return training data whose cases are one case, moved along the first numeric attribute that varies; None without one."""
    rows = len(data.y)
    lows, highs = data.numbers.min(axis=0), data.numbers.max(axis=0)
    varying = np.flatnonzero(np.isfinite(data.numbers).all(axis=0) & (highs > lows))
    if not len(varying):
        return None
    numbers = np.repeat(data.numbers[rows : rows + 1], SCAN_POINTS, axis=0)
    numbers[:, varying[0]] = np.linspace(lows[varying[0]], highs[varying[0]], SCAN_POINTS)
    cases = data.cases(np.zeros(SCAN_POINTS, dtype=np.intp))
    return cases.with_numbers(np.concatenate([data.numbers[:rows], numbers]))


def has_equal_steps(scores: Floats) -> bool:
    """Return whether scores along an attribute change at equal distances, as if the attribute were rounded.

    Votes of neighbours and rules of trees change at irregular places, and most other scores everywhere.
    """
    changes = np.flatnonzero((np.diff(scores, axis=0) != 0).any(axis=1))
    gaps = np.diff(changes)
    if len(gaps) < MIN_STEPS or np.median(gaps) < MIN_STEP_POINTS:
        return False
    return bool(np.mean(np.abs(gaps - np.median(gaps)) <= STEP_SLACK_POINTS) >= MIN_EQUAL_STEPS_SHARE)


PROPERTIES: Mapping[str, Callable[[LearnerViolation], bool]] = {
    "tied answer": _is_tied,
    "probabilities": _has_probabilities,
    "answer without rows": _is_answer_without_rows,
}

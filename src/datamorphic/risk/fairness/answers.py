"""What people get: the decision about them, the probability behind it, or a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..._text import format_percent, suggest_name
from ..._validation import is_number
from ...core.execute import Execution
from ...core.result import Measure
from ...errors import ArgumentError, SystemFailed
from ...morphisms.subject import SubjectUnderTest
from ...space.features import Mask
from ...space.labels import to_label_key
from ...space.outputs import Outputs
from ...systems.base import Executor
from ...systems.estimator import Estimator
from .people import Floats, People

LevelKind = Literal["decision", "probability", "number"]
STRONG_CHANGE = 0.01  # of a probability: one percentage point, as for strong violations in credit risk (Ying 2024)
NUMBER_CHANGE_SHARE = 0.01  # of the standard deviation of answers that are numbers
MIN_DECISION_SHARE = 0.01  # with fewer decisions of one kind, the probability is judged instead


@dataclass(frozen=True, eq=False)
class PeopleAnswers:
    """What a model answers about people; NaN without an answer."""

    levels: Floats  # what is judged: 1 if the decision is the outcome and 0 if not, a probability, or a number
    probabilities: Floats | None  # of the outcome, if the model has them

    def take(self, rows: Any) -> PeopleAnswers:
        """Return the answers about some people."""
        return PeopleAnswers(self.levels[rows], None if self.probabilities is None else self.probabilities[rows])


class AnswerReader:
    """Queries a model about people, and reads its answers as decisions, probabilities or numbers."""

    def __init__(
        self,
        execution: Execution[SubjectUnderTest],
        people: People,
        outcome: object = None,
        cutoff: float | None = None,
    ) -> None:
        sut = execution.subject.sut
        self.system: Executor = (sut.with_scores("probability") or sut) if isinstance(sut, Estimator) else sut
        self._execution, self.people, self.cutoff = execution, people, cutoff
        self.measure: LevelKind = "decision"
        self.change_size = 0.0  # from which two levels differ
        self.notes: list[str] = []
        labels = self.system.labels
        self.outcome = None if labels is None else _find_outcome(labels, outcome)
        outputs = self._query(people.codes)
        if not outputs.ok.any():
            reason = outputs.messages.get(0, "it gave no reason")
            raise SystemFailed(f"{sut.name} gave no answer to any of {len(outputs):,} rows: {reason}.")
        self._choose_measure(outputs, outcome)
        self.own_answers = self._read(outputs)
        self.noise = self._measure_noise()

    def _measure_noise(self) -> Measure:
        """Ask about everybody again, in another order, and return the share of people who get another answer."""
        again = self._read(self._query(self.people.codes[::-1])).take(slice(None, None, -1))
        known = ~np.isnan(again.levels) & ~np.isnan(self.own_answers.levels)
        noise = Measure.from_counts(int(self.find_changes(again)[known].sum()), int(known.sum()))
        if noise.value > 0:
            self.notes.append(
                f"{format_percent(noise.value)} of people get another answer if the model is asked again in another order. Only "
                "effects that are larger than that are reported as faults."
            )
        return noise

    # -- what is judged ----------------------------------------------------------------------------------------------

    def _choose_measure(self, outputs: Outputs, outcome: object) -> None:
        values = outputs.values[outputs.ok]
        if self.system.labels is None:
            if values.dtype.kind in "fiu" or (values.dtype == object and all(map(is_number, values.tolist()))):
                self._choose_number(values.astype(np.float64), outcome)
            elif self.cutoff is not None:
                raise ArgumentError("The model has no probabilities that a cutoff could apply to. Leave cutoff= out.")
            else:
                labels = sorted(set(values.tolist()), key=str)
                self.outcome = _find_outcome(labels, outcome)
            return
        has_probabilities = self.system.score_kind == "probability"
        if self.cutoff is not None and not has_probabilities:
            raise ArgumentError("The model has no probabilities that a cutoff could apply to. Leave cutoff= out.")
        share = float(np.mean([value == self.outcome for value in values.tolist()]))
        rare = not MIN_DECISION_SHARE <= share <= 1 - MIN_DECISION_SHARE
        if self.cutoff is None and has_probabilities and rare:
            self.measure, self.change_size = "probability", STRONG_CHANGE
            answer = "hardly anybody" if share < 0.5 else "nearly everybody"
            self.notes.append(
                f"The model predicts {self.outcome} for {answer}, so its probability is judged instead. "
                "Name the probability from which the decision changes with cutoff=."
            )

    def _choose_number(self, values: Floats, outcome: object) -> None:
        if outcome is not None and len(np.unique(values)) == 2:  # a function that answers the classes 0 and 1
            self.outcome = _find_outcome(np.unique(values).tolist(), outcome)
        elif outcome is not None:
            raise ArgumentError(f"The answers are numbers, so there is no class {outcome!r}. Leave outcome= out.")
        elif self.cutoff is None and len(np.unique(values)) > 2:
            self.measure = "number"
            self.change_size = NUMBER_CHANGE_SHARE * float(values.std())
        elif self.cutoff is None:
            self.outcome = _find_outcome(np.unique(values).tolist(), None)

    @property
    def quantity(self) -> str:
        """What the levels are, in words."""
        if self.measure == "number":
            return "the answer"
        if self.measure == "probability":
            return f"the probability of {self.outcome}"
        return f"the decision {self.decision_name}"

    @property
    def decision_name(self) -> str:
        """The decision that is counted."""
        if self.cutoff is not None:
            of = "" if self.outcome is None else f" of {self.outcome}"
            return f"a probability{of} of {self.cutoff:g} or more"
        return str(self.outcome)

    # -- queries -----------------------------------------------------------------------------------------------------

    def query(self, codes: Floats, rows: Mask | None = None) -> PeopleAnswers:
        """Return the answers about changed people; with `rows`, only these are queried and the others are NaN."""
        if rows is None:
            return self._read(self._query(codes))
        levels = np.full(len(codes), np.nan)
        probabilities = None if self.own_answers.probabilities is None else np.full(len(codes), np.nan)
        if rows.any():
            answers = self._read(self._query(codes[rows]))
            levels[rows] = answers.levels
            if probabilities is not None and answers.probabilities is not None:
                probabilities[rows] = answers.probabilities
        return PeopleAnswers(levels, probabilities)

    def _query(self, codes: Floats) -> Outputs:
        inputs = self.people.to_inputs(codes)
        return self._execution.query(inputs, self.system, scores=True, recheck=0, alive=True, cache=None)

    def _read(self, outputs: Outputs) -> PeopleAnswers:
        ok, labels = outputs.ok, self.system.labels
        levels = np.full(len(outputs), np.nan)
        probabilities = None
        if outputs.scores is not None and labels is not None and self.system.score_kind == "probability":
            probabilities = np.where(ok, outputs.scores[:, labels.index(self.outcome)], np.nan)
        values = outputs.values[ok]
        if self.measure == "number":
            levels[ok] = values.astype(np.float64)
        elif self.measure == "probability":
            assert probabilities is not None
            return PeopleAnswers(probabilities, probabilities)
        elif self.cutoff is not None:
            numbers = values.astype(np.float64) if probabilities is None else probabilities[ok]
            levels[ok] = numbers >= self.cutoff
        else:
            levels[ok] = [value == self.outcome for value in values.tolist()]
        return PeopleAnswers(levels, probabilities)

    def find_changes(self, answers: PeopleAnswers) -> Mask:
        """Return for whom the level differs from that of their own row; False without an answer."""
        return self.is_change(answers.levels, self.own_answers.levels)

    def is_change(self, levels: Floats, others: Floats) -> Mask:
        """Return which levels differ; False without an answer."""
        with np.errstate(invalid="ignore"):
            return np.abs(levels - others) > max(self.change_size * (1 - 1e-9), 1e-12)

    def find_strong_changes(self, answers: PeopleAnswers) -> Mask:
        """Return for whom the probability differs by at least one percentage point."""
        own = self.own_answers.probabilities
        if own is None or answers.probabilities is None:
            return np.zeros(len(answers.levels), dtype=bool)
        with np.errstate(invalid="ignore"):
            return np.abs(answers.probabilities - own) >= STRONG_CHANGE * (1 - 1e-9)


def _find_outcome(labels: Sequence[Any], outcome: object) -> Any:
    """Return the class that is counted: the one that the user named, or the second of two."""
    if outcome is not None:
        matches = [label for label in labels if to_label_key(label) == to_label_key(outcome)]
        if not matches:
            raise ArgumentError(f"The model has no class {outcome!r}. {suggest_name(outcome, labels)}")
        return matches[0]
    if len(labels) == 2:
        return labels[1]
    if len(labels) == 1:
        raise ArgumentError(f"The model answers {labels[0]!r} about everybody, so there is nothing to compare.")
    raise ArgumentError(
        f"The model has {len(labels)} classes. Name the decision that is counted, for example outcome={labels[0]!r}."
    )

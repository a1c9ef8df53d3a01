"""Trained models as a system: its cases are trainings, its answers what the models say about all applicants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._estimates import refuse_many_rows
from ..._lazy import pd
from ..._validation import is_number
from ...relations.algebra.change import ChangeRelation
from ...space.outputs import Outputs
from ...space.points import Batch, Rows
from ...systems.base import Executor, ScoreRequest
from .judging import ApplicantQuery, find_directions
from .ladder import ModelFamily, RungAnswer, TrainingLoans
from .loans import LoanData
from .measures import Flags, Floats
from .preparation import LoanEncoder, split_loans


@dataclass(frozen=True, eq=False, kw_only=True)
class LoanTrial:
    """One repetition: the loans to train on, and the applicants to answer."""

    repetition: int
    training_loans: pd.DataFrame
    training_defaulted: Flags
    applicant_query: ApplicantQuery
    defaulted: Flags  # of the test loans
    sentinels: Mapping[str, tuple[float, ...]]
    model_seed: int
    rng: np.random.Generator  # for measuring

    @cached_property
    def _encoder(self) -> LoanEncoder:
        return LoanEncoder.fit(self.training_loans, self.sentinels)

    @cached_property
    def training(self) -> TrainingLoans:
        """The training loans as a matrix."""
        return TrainingLoans(
            matrix=self._encoder.transform(self.training_loans),
            defaulted=self.training_defaulted,
            columns=self._encoder.names,
            signs=find_directions(self.applicant_query.relations),
        )

    @cached_property
    def matrix(self) -> Floats:
        """The applicants as they are, and changed, as a matrix."""
        return self._encoder.transform(self.applicant_query.frame)


class TrainedLadder(Executor):
    """A ladder of models as a system, so that trainings are limited, distributed and stored like other answers.

    A case is a repetition and the number of a training. Its scores are the probabilities of default of all applicants, size
    after size, NaN after the last size. Its label is the coefficients of each size as JSON.
    """

    name = "credit"
    score_kind = "probability"
    batch_rows = 1

    def __init__(
        self,
        loans: LoanData,
        later: LoanData | None,
        relations: Sequence[ChangeRelation],
        families: Sequence[ModelFamily],
        *,
        test_share: float,
        repeats: int,
        seed: int,
    ) -> None:
        self.trainings = [part for family in families for part in family.split()]
        self._loans, self._later, self._relations = loans, later, relations
        self._test_share, self._repeats, self._seed = test_share, repeats, seed
        self._max_sizes = max(len(training.rungs) for training in self.trainings)
        self._trial: LoanTrial | None = None

    def prepare(self, repetition: int) -> LoanTrial:
        """Split the loans; with later loans, models are tested on those instead of the loans that are held out."""
        if self._trial is not None and self._trial.repetition == repetition:
            return self._trial
        loans, later = self._loans, self._later
        assert loans.defaulted is not None
        rng = np.random.default_rng([self._seed, repetition])
        refuse_many_rows("credit", "repeats", self._repeats, int(loans.defaulted.sum()) * loans.applicants.shape[1])
        split = split_loans(loans.defaulted, rng, self._test_share, self._repeats)
        test, defaulted = loans.applicants.iloc[split.test], loans.defaulted[split.test]
        if later is not None:
            assert later.defaulted is not None
            test, defaulted = later.applicants, later.defaulted
        self._trial = LoanTrial(
            repetition=repetition,
            training_loans=loans.applicants.iloc[split.training],
            training_defaulted=loans.defaulted[split.training],
            applicant_query=ApplicantQuery.build(test, self._relations),
            defaulted=defaulted,
            sentinels=find_sentinels(loans, self._relations),
            model_seed=int(rng.integers(2**31)),
            rng=rng,
        )
        return self._trial

    def make_cases(self, repetition: int, numbers: Sequence[int]) -> Rows:
        """Return trainings of one repetition as cases."""
        models = [", ".join(rung.name for rung in self.trainings[number].rungs) for number in numbers]
        return Rows(pd.DataFrame({"repetition": repetition, "training": numbers, "models": models}))

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Train the models of each case, and return their answers."""
        from threadpoolctl import threadpool_limits  # threads that wait for each other are slow on a busy machine

        labels, levels = [], []
        for repetition, number in batch.frame[["repetition", "training"]].itertuples(index=False, name=None):
            trial = self.prepare(int(repetition))
            with threadpool_limits(1):
                answers = list(self.trainings[number].answer(trial.training, trial.matrix, trial.model_seed))
            labels.append(json.dumps([dict(answer.coefficients) for answer in answers]))
            row = np.full((self._max_sizes, len(trial.matrix)), np.nan)
            row[: len(answers)] = [answer.probabilities for answer in answers]
            levels.append(row.ravel())
        return Outputs.of(np.array(labels), np.array(levels))

    def read_answers(self, number: int, outputs: Outputs) -> list[RungAnswer]:
        """Return what the models of a training answered, from the output of its case."""
        assert outputs.scores is not None
        levels = outputs.scores[0].reshape(self._max_sizes, -1)
        coefficients = json.loads(str(outputs.values[0]))
        return [
            RungAnswer(rung=rung, probabilities=levels[size], coefficients=coefficients[size])
            for size, rung in enumerate(self.trainings[number].rungs)
        ]


def find_sentinels(loans: LoanData, relations: Sequence[ChangeRelation]) -> dict[str, tuple[float, ...]]:
    """Return the numbers that mean "unavailable", by column."""
    sentinels = dict(loans.sentinels)
    for relation in relations:
        for change in relation.changes:
            numbers = tuple(float(value) for value in change.sentinels if is_number(value))
            if numbers:
                sentinels[change.column] = tuple(dict.fromkeys([*sentinels.get(change.column, ()), *numbers]))
    return sentinels

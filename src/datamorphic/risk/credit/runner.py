"""Train the models of a ladder, or query given ones, and measure each of them in every repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._clock import read_clock
from ..._estimates import LIMIT_TIME, WorkPace, refuse_many_rows
from ..._typing import ModelLike
from ..._validation import is_number
from ...errors import ArgumentError, DataError, OutOfBudget
from ...relations.change import Change, ChangeRelation
from ...relations.credit import DEFAULT_OUTCOMES
from ...runs.deadline import TimeLimit
from ...runs.interrupts import Interrupts
from ...runs.progress import Progress
from ...space.features import Continuous
from ...space.points import Rows
from ...space.space import Space
from ...systems.guard import GuardedSystem
from ...systems.recognition import recognise
from ...systems.wrap import wrap
from .judging import ApplicantQuery, find_directions
from .ladder import Rung, RungAnswer, TrainingLoans
from .loans import LoanData
from .measures import Flags, Floats, compute_default_rate, estimate_ks, measure_auc
from .model_result import ModelResult, RepetitionResult
from .options import CreditOptions
from .preparation import LoanEncoder, split_loans

if TYPE_CHECKING:
    import pandas as pd

GRACE_SECONDS = 2.0  # between Ctrl-C and the end of the training that is going on
RECOGNITION_ROWS = 20  # on which a function is tried


class BudgetWatch:
    """Show progress, and end the work when the budget is spent or the user interrupts it."""

    def __init__(self, progress: Progress, interrupts: Interrupts, options: CreditOptions) -> None:
        self._progress, self._interrupts, self._budget = progress, interrupts, options.limits
        self._pace = WorkPace(options.OWNER, {"repetitions": options.repetitions}, remedy=LIMIT_TIME)
        self._start_time = read_clock()
        self.answers = 0

    def show(self, text: str, share_done: float) -> None:
        """Show what is going on."""
        seconds = self._budget.seconds
        if seconds is None:
            self._pace.note(share_done)
        left = None if seconds is None else max(0.0, seconds - self.seconds)
        self._progress.show(text, share_done, left)

    def count(self, answers: int) -> None:
        """Count answers; raise `OutOfBudget` if there were enough, `KeyboardInterrupt` after Ctrl-C."""
        self.answers += answers
        if self._interrupts.is_stopped():
            raise KeyboardInterrupt
        if self._budget.is_exceeded(self.answers, self.seconds):
            raise OutOfBudget("the budget is spent")

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return read_clock() - self._start_time


@dataclass(kw_only=True)
class CreditMeasurements:
    """The measurements of all models, and how the work ended."""

    rungs: list[Rung]
    results: dict[str, list[RepetitionResult]] = field(default_factory=dict)
    tests: dict[int, Flags] = field(default_factory=dict)  # who defaulted in the test set of each repetition
    test_sizes: list[int] = field(default_factory=list)
    training_size: int = 0
    test_to_training: float = 1 / 3
    interrupted: bool = False
    out_of_budget: bool = False
    answers: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def models(self) -> list[ModelResult]:
        """The models that were measured at least once, in the order of the ladder."""
        return [
            ModelResult(rung=rung, repetitions=tuple(self.results[rung.name]), test_to_training=self.test_to_training)
            for rung in self.rungs
            if self.results.get(rung.name)
        ]


def run_ladder(
    loans: LoanData,
    later: LoanData | None,
    relations: Sequence[ChangeRelation],
    options: CreditOptions,
    *,
    seed: int,
    progress: bool | None = None,
) -> CreditMeasurements:
    """Train every family once per repetition, on another split each time, and measure all its sizes.

    With `later` loans, models are tested on those instead of the loans that were held out.
    """
    families = options.families
    measurements = CreditMeasurements(rungs=[rung for family in families for rung in family.rungs])

    from threadpoolctl import threadpool_limits  # threads that wait for each other are slow on a busy machine

    def work(watch: BudgetWatch) -> None:
        steps = options.repetitions * len(measurements.rungs)
        done = 0
        for repetition in range(options.repetitions):
            trial = _Trial.prepare(loans, later, relations, options, repetition, seed)
            measurements.tests[repetition] = trial.defaulted
            measurements.test_sizes.append(len(trial.defaulted))
            measurements.training_size = len(trial.training.defaulted)
            measurements.test_to_training = len(trial.defaulted) / len(trial.training.defaulted)
            for family in families:
                label = f"repetition {repetition + 1} of {options.repetitions}, {family.name}"
                watch.show(label, done / steps)
                with threadpool_limits(1):
                    for answer in family.answer(trial.training, trial.matrix, trial.model_seed):
                        result = trial.measure(answer, options)
                        measurements.results.setdefault(answer.rung.name, []).append(result)
                        done += 1
                        watch.show(label, done / steps)
                        watch.count(len(trial.matrix))

    _run_guarded(work, measurements, options, progress)
    return measurements


def run_models(
    models: Mapping[str, ModelLike],
    loans: LoanData,
    relations: Sequence[ChangeRelation],
    options: CreditOptions,
    *,
    seed: int,
    trust: bool = False,
    progress: bool | None = None,
) -> CreditMeasurements:
    """Query fitted models on all applicants, and measure them."""
    measurements = CreditMeasurements(rungs=[Rung(name=name, family=name, size="", complexity=0) for name in models])
    measurements.test_sizes.append(len(loans))
    applicant_query = ApplicantQuery.build(loans.applicants, relations)
    if loans.defaulted is not None:
        measurements.tests[0] = loans.defaulted

    def work(watch: BudgetWatch) -> None:
        rng = np.random.default_rng(seed)
        for number, (rung, model) in enumerate(zip(measurements.rungs, models.values(), strict=True)):
            watch.show(rung.name, number / len(models))
            query = _ModelQuery(rung.name, model, loans, options.outcome, trust=trust)
            levels = query.answer(applicant_query, watch, number, len(models))
            result = _measure(applicant_query, levels, loans.defaulted, options, rng)
            measurements.results[rung.name] = [result]

    _run_guarded(work, measurements, options, progress)
    return measurements


def _run_guarded(
    work: Callable[[BudgetWatch], None], measurements: CreditMeasurements, options: CreditOptions, progress: bool | None
) -> None:
    """Do the work until it ends, the budget is spent or the user interrupts it; what was measured is kept."""
    limits = options.limits
    with Progress("credit", progress) as progress_bar, Interrupts(GRACE_SECONDS) as interrupts:
        watch = BudgetWatch(progress_bar, interrupts, options)
        try:
            with TimeLimit(limits.seconds):
                work(watch)
        except OutOfBudget:
            measurements.out_of_budget = True
        except KeyboardInterrupt:
            if interrupts.count != 1:
                raise
            measurements.interrupted = True
    measurements.answers, measurements.seconds = watch.answers, watch.seconds
    if not measurements.models:
        ending = "The run was interrupted" if measurements.interrupted else "The budget was spent"
        raise ArgumentError(f"{ending} before the first model was measured. Give a larger budget.")


# -- a ladder ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class _Trial:
    """One repetition: the training loans, and the query to the models as a matrix."""

    repetition: int
    training: TrainingLoans
    applicant_query: ApplicantQuery
    matrix: Floats
    defaulted: Flags  # of the test loans
    model_seed: int
    rng: np.random.Generator

    @classmethod
    def prepare(
        cls,
        loans: LoanData,
        later: LoanData | None,
        relations: Sequence[ChangeRelation],
        options: CreditOptions,
        repetition: int,
        seed: int,
    ) -> _Trial:
        """Split the loans, and encode both parts and the changed applicants."""
        assert loans.defaulted is not None
        rng = np.random.default_rng([seed, repetition])
        refuse_many_rows(
            options.OWNER, "repeats", options.repeats, int(loans.defaulted.sum()) * loans.applicants.shape[1]
        )
        split = split_loans(loans.defaulted, rng, options.test_share, options.repeats)
        training = loans.applicants.iloc[split.training]
        encoder = LoanEncoder.fit(training, find_sentinels(loans, relations))
        test, defaulted = loans.applicants.iloc[split.test], loans.defaulted[split.test]
        if later is not None:
            assert later.defaulted is not None
            test, defaulted = later.applicants, later.defaulted
        applicant_query = ApplicantQuery.build(test, relations)
        return cls(
            repetition=repetition,
            training=TrainingLoans(
                matrix=encoder.transform(training),
                defaulted=loans.defaulted[split.training],
                columns=encoder.names,
                signs=find_directions(relations),
            ),
            applicant_query=applicant_query,
            matrix=encoder.transform(applicant_query.frame),
            defaulted=defaulted,
            model_seed=int(rng.integers(2**31)),
            rng=rng,
        )

    def measure(self, answer: RungAnswer, options: CreditOptions) -> RepetitionResult:
        """Return the measurements of one model's answers."""
        result = _measure(self.applicant_query, answer.probabilities, self.defaulted, options, self.rng)
        return replace(result, repetition=self.repetition, coefficients=answer.coefficients)


def find_sentinels(loans: LoanData, relations: Sequence[ChangeRelation]) -> dict[str, tuple[float, ...]]:
    """Return the numbers that mean "unavailable", by column."""
    sentinels = dict(loans.sentinels)
    for relation in relations:
        for change in relation.changes:
            numbers = tuple(float(value) for value in change.sentinels if is_number(value))
            if numbers:
                sentinels[change.column] = tuple(dict.fromkeys([*sentinels.get(change.column, ()), *numbers]))
    return sentinels


def _measure(
    applicant_query: ApplicantQuery,
    levels: Floats,
    defaulted: Flags | None,
    options: CreditOptions,
    rng: np.random.Generator,
) -> RepetitionResult:
    """Return the violations, and if it is known who defaulted, how well the answers rank the applicants."""
    tallies = applicant_query.judge(levels, options.strong)
    scores = applicant_query.split(levels)[0]
    if defaulted is None:
        return RepetitionResult(repetition=0, tallies=tallies, scores=scores)
    known = ~np.isnan(scores)
    known_scores, known_defaulted = scores[known], defaulted[known]
    if known_defaulted.all() or not known_defaulted.any():
        raise DataError("AUC needs applicants who defaulted and applicants who paid, with an answer for each.")
    return RepetitionResult(
        repetition=0,
        tallies=tallies,
        scores=scores,
        auc=measure_auc(known_scores, known_defaulted),
        ks=estimate_ks(known_scores, known_defaulted, rng),
        default_rate=compute_default_rate(known_scores, known_defaulted, options.approval_rate),
    )


# -- given models ------------------------------------------------------------------------------------------------------


class _ModelQuery:
    """Query a fitted model for probabilities of default."""

    def __init__(self, name: str, model: ModelLike, loans: LoanData, outcome: object, *, trust: bool) -> None:
        applicants = loans.applicants
        names = getattr(model, "feature_names_in_", None)
        self._columns = None
        if names is not None and set(names) <= set(applicants.columns):
            self._columns = list(names)  # data may have further columns, such as an identifier
        sample = self._select(applicants).head(RECOGNITION_ROWS)
        system = wrap(model, name=name, trust=trust)
        system, _ = recognise(system, Rows(sample))
        # a relation reads the answers; which column it would change does not matter
        reader = ChangeRelation(name, Change(column="any", amount=0), outcome=outcome, outcome_guesses=DEFAULT_OUTCOMES)
        if outcome is None and loans.outcome is not None:
            reader.outcome = loans.outcome
        points = Space([Continuous("any", 0.0, 1.0)]).points({"any": 0.5})
        obstacle = reader.find_obstacle(system, points)
        if obstacle:
            raise ArgumentError(f"{name}: {obstacle}.")
        self._reader = reader.fitted_to(system, points)
        self._system = GuardedSystem(reader.system(system))

    def answer(self, applicant_query: ApplicantQuery, watch: BudgetWatch, number: int, total: int) -> Floats:
        """Return the probability of default for all rows of the query, NaN without an answer."""
        from threadpoolctl import threadpool_limits

        frame, levels = self._select(applicant_query.frame), []
        size = self._system.batch_rows
        for start in range(0, len(frame), size):
            watch.show(self._system.name, (number + start / len(frame)) / total)
            piece = frame.iloc[start : start + size].reset_index(drop=True)
            with threadpool_limits(1):
                outputs = self._system.execute(Rows(piece), scores="only")
            levels.append(self._reader.compute_level(outputs))
            watch.count(len(piece))
        return np.concatenate(levels)

    def _select(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame if self._columns is None else frame[self._columns]

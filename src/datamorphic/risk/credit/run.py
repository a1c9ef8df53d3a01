"""`dm.credit`: judge models of credit risk by how well they rank borrowers, and by what a lender expects of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..._estimates import LIMIT_TIME, WorkPace
from ..._typing import ModelLike
from ...core.capability import capability
from ...core.execute import Execution
from ...errors import ArgumentError, DataError, OutOfBudget, SystemFailed
from ...relations.algebra.change import Change, ChangeRelation
from ...relations.catalogue.credit import DEFAULT_OUTCOMES
from ...runs.deadline import TimeLimit
from ...runs.flow import Flow, Query
from ...runs.interrupts import Interrupts
from ...space.features import Continuous
from ...space.outputs import Outputs
from ...space.points import Batch, Rows
from ...space.space import Space
from ...systems.recognition import recognise
from ...systems.wrap import wrap
from .judging import ApplicantQuery
from .ladder import Rung
from .loans import LoanData
from .measures import Flags, Floats, compute_default_rate, estimate_ks, measure_auc
from .model_result import ModelResult, RepetitionResult
from .options import CreditOptions, CreditSubject
from .result import CreditReport
from .roc import compute_roc
from .training import LoanTrial, TrainedLadder

GRACE_SECONDS = 2.0  # between Ctrl-C and the end of the training that is going on
RECOGNITION_ROWS = 20  # on which a function is tried
TRAININGS_PER_QUERY = 8  # which bounds the memory for their answers


@capability(CreditOptions)
def credit(options: CreditOptions, execution: Execution[CreditSubject]) -> CreditReport:
    """Judge credit risk models by ranking power and by what a lender expects.

    A model can rank borrowers well and still give a borrower a higher risk for a better credit score. Every applicant is
    changed as each relation says (by default HMR1 to HMR5 of Ying 2024: a tenth more credit score, a tenth less debt
    or loan, and combinations), and the model must not see a higher risk. A violation by at least `strong` is strong.

    Without a model, a ladder of models is trained on the data: logistic regression, trees, forests, networks and boosting of
    growing size, also with monotone constraints. The report names the model to use: of those whose AUC is within the
    confidence interval of the best one, the one with the fewest violations. To a budget, a time-out and a run store, a training
    with the answers of its models is one answer.

    Returns
    -------
    CreditReport
        With ``.table``, ``.violations``, ``.selected``, ``.choice``, ``.mitigations``, and ``.to_verdict(path)``, a page
        for a model-risk officer.

    Examples
    --------
    >>> import datamorphic as dm
    >>> loans = dm.data.make_loan_book(600, seed=0)
    >>> report = dm.credit(data=loans, ladder="logistic_regression", repetitions=1)
    >>> report.selected, float(report.table.strong[0])
    ('logistic regression', 0.0)
    """
    subject = execution.subject
    measurements = CreditMeasurements()
    with Interrupts(GRACE_SECONDS):
        if subject.models is None:
            _measure_ladder(measurements, options, execution)
        else:
            _measure_models(measurements, subject.models, options, execution)
    interrupted, loans = execution.counter.interrupted, subject.loans
    if not measurements.models:
        if measurements.failures:
            raise SystemFailed(f"No model could be trained. {measurements.failures[0]}")
        ending = "The run was interrupted" if interrupted else "The budget was spent"
        raise ArgumentError(f"{ending} before the first model was measured. Give a larger budget.")
    repetitions, results = options.repetitions if subject.models is None else 1, measurements.results
    unfinished = [rung.name for rung in measurements.rungs if len(results.get(rung.name, ())) < repetitions]
    notes = [*subject.notes, *measurements.failures]
    if interrupted or measurements.out_of_budget:
        cause = "The run was interrupted" if interrupted else "The budget ended the run"
        notes.append(
            f"{cause}: {len(measurements.rungs) - len(unfinished)} of {len(measurements.rungs)} models have all their "
            f"repetitions, {len(measurements.rungs) - len(measurements.models)} were not measured."
        )
    settings = {name: getattr(options, name) for name in LISTED_OPTIONS}
    return CreditReport(
        data=loans.name,
        loans=len(loans),
        default_rate=loans.default_rate,
        models=tuple(measurements.models),
        relations=subject.relations,
        threshold=options.threshold,
        trained=subject.models is None,
        settings=settings | {"seed": options.seed, "test_loans": measurements.test_loans},
        tests=measurements.tests,
        later="" if subject.later is None else subject.later.name,
        notes=notes,
        unfinished=tuple(unfinished),
        interrupted=interrupted,
        out_of_budget=measurements.out_of_budget and not interrupted,
        answers=measurements.answers,
        seconds=execution.seconds,
    )


#: the options that a report lists
LISTED_OPTIONS = ("repetitions", "threshold", "strong", "approval_rate", "test_share", "repeats")


@dataclass(kw_only=True)
class CreditMeasurements:
    """The measurements of all models, and how the work ended."""

    rungs: Sequence[Rung] = ()
    results: dict[str, list[RepetitionResult]] = field(default_factory=dict)
    tests: dict[int, Flags] = field(default_factory=dict)  # who defaulted in the test set of each repetition
    test_loans: int = 0
    test_to_training: float = 1 / 3
    out_of_budget: bool = False
    answers: int = 0
    failures: list[str] = field(default_factory=list)  # trainings without an answer, in words

    @property
    def models(self) -> list[ModelResult]:
        """The models that were measured at least once, in the order of the ladder."""
        return [
            ModelResult(rung=rung, repetitions=tuple(self.results[rung.name]), test_to_training=self.test_to_training)
            for rung in self.rungs
            if self.results.get(rung.name)
        ]

    def add(self, rung: Rung, answers: int, result: RepetitionResult) -> None:
        """Add what was measured of one model from its answers."""
        self.results.setdefault(rung.name, []).append(result)
        self.answers += answers


def _ask(batch: Batch, runs: int, progress: float, note: str) -> Flow[Outputs]:
    """Yield one query for scores; the labels do not matter."""
    return (yield Query(batch, "only", progress=progress, note=note, fresh=True, runs=runs))


# -- a ladder ----------------------------------------------------------------------------------------------------------


def _measure_ladder(
    measurements: CreditMeasurements, options: CreditOptions, execution: Execution[CreditSubject]
) -> None:
    """Train all models once per repetition, on another split each time, and measure each size, until the budget is spent."""
    subject = execution.subject
    ladder = TrainedLadder(
        subject.loans,
        subject.later,
        subject.relations,
        options.families,
        test_share=options.test_share,
        repeats=options.repeats,
        seed=options.seed,
    )
    measurements.rungs = [rung for family in options.families for rung in family.rungs]
    numbers = range(len(ladder.trainings))
    total = options.repetitions * len(numbers)
    pace = WorkPace(
        options.OWNER, {"repetitions": options.repetitions}, remedy=LIMIT_TIME, count_all_rows=lambda: total
    )
    for repetition in range(options.repetitions):
        trial = ladder.prepare(repetition)
        measurements.tests[repetition], measurements.test_loans = trial.defaulted, len(trial.defaulted)
        measurements.test_to_training = len(trial.defaulted) / len(trial.training_defaulted)
        for start in numbers[::TRAININGS_PER_QUERY]:
            query = numbers[start : start + TRAININGS_PER_QUERY]
            progress = (repetition * len(numbers) + start) / total
            outputs = _train(ladder, trial, query, progress, pace, execution)
            for number, output in sorted(outputs.items()):
                _measure_training(measurements, ladder, trial, number, output, options)
            if len(outputs) < len(query):
                measurements.out_of_budget = True
                return


def _train(
    ladder: TrainedLadder,
    trial: LoanTrial,
    numbers: Sequence[int],
    progress: float,
    pace: WorkPace,
    execution: Execution[CreditSubject],
) -> dict[int, Outputs]:
    """Return the answers of those trainings that the budget allows, by number."""
    costs = np.cumsum([len(ladder.trainings[number].rungs) * len(trial.applicant_query) for number in numbers])
    budget, outputs = execution.remaining_budget, {}
    count = len(costs) if budget.runs is None else int(np.searchsorted(costs, budget.runs, side="right"))
    if not count:
        return {}

    def keep(place: int, answer: Outputs) -> None:
        outputs[numbers[place]] = answer
        pace.add_answers(place, answer)

    cases = ladder.make_cases(trial.repetition, numbers[:count])
    flow = _ask(cases, int(costs[count - 1]), progress, f"repetition {trial.repetition + 1}")
    with suppress(OutOfBudget), TimeLimit(budget.seconds):
        execution.drive(flow, ladder, batch=1, pace=pace, on_piece=keep)
    return outputs


def _measure_training(
    measurements: CreditMeasurements,
    ladder: TrainedLadder,
    trial: LoanTrial,
    number: int,
    output: Outputs,
    options: CreditOptions,
) -> None:
    """Measure all models of one training."""
    if not output.ok.all():
        names = ", ".join(rung.name for rung in ladder.trainings[number].rungs)
        problem = output.messages.get(0, "no answer")
        measurements.failures.append(f"Not measured in repetition {trial.repetition + 1}: {names} ({problem}).")
        return
    for answer in ladder.read_answers(number, output):
        result = _measure(trial.applicant_query, answer.probabilities, trial.defaulted, options, trial.rng)
        result = replace(result, repetition=trial.repetition, coefficients=answer.coefficients)
        measurements.add(answer.rung, len(trial.applicant_query), result)


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
        roc=compute_roc(known_scores, known_defaulted),
        default_rate=compute_default_rate(known_scores, known_defaulted, options.approval_rate),
    )


# -- given models ------------------------------------------------------------------------------------------------------


def _measure_models(
    measurements: CreditMeasurements,
    models: dict[str, ModelLike],
    options: CreditOptions,
    execution: Execution[CreditSubject],
) -> None:
    """Query fitted models on all applicants, and measure them, until the budget is spent."""
    loans = execution.subject.loans
    measurements.rungs = [Rung(name=name, family=name, size="", complexity=0) for name in models]
    measurements.test_loans = len(loans)
    if loans.defaulted is not None:
        measurements.tests[0] = loans.defaulted
    applicant_query = ApplicantQuery.build(loans.applicants, execution.subject.relations)
    rng = np.random.default_rng(options.seed)
    for number, (rung, model) in enumerate(zip(measurements.rungs, models.values(), strict=True)):
        query = partial(_query_model, rung.name, model, applicant_query, options, execution, number / len(models))
        levels = execution.attempt(rung.name, query, otherwise=None)
        if levels is None:
            measurements.out_of_budget = True
            return
        measurements.add(rung, len(levels), _measure(applicant_query, levels, loans.defaulted, options, rng))


def _query_model(
    name: str,
    model: ModelLike,
    applicant_query: ApplicantQuery,
    options: CreditOptions,
    execution: Execution[CreditSubject],
    progress: float,
) -> Floats:
    """Return the probability of default for all rows of the query, NaN without an answer."""
    frame, loans = applicant_query.frame, execution.subject.loans
    names = getattr(model, "feature_names_in_", None)
    if names is not None and set(names) <= set(frame.columns):
        frame = frame[list(names)]  # data may have further columns, such as an identifier
    system, _ = recognise(
        wrap(model, name=name, trust=options.trust),
        Rows(frame.head(RECOGNITION_ROWS)),
        timeout=execution.timeout,
        isolated=execution.is_isolated,
    )
    reader = _make_reader(name, options.outcome, loans)
    points = Space([Continuous("any", 0.0, 1.0)]).points({"any": 0.5})
    reader.find_obstacle(system, points)
    flow = _ask(Rows(frame), len(frame), progress, name)
    return reader.fitted_to(system, points).compute_level(execution.drive(flow, reader.system(system)))


def _make_reader(name: str, outcome: object, loans: LoanData) -> ChangeRelation:
    """Return a relation that reads answers as probabilities of default; the column it would change does not matter."""
    label = loans.outcome if outcome is None else outcome
    return ChangeRelation(name, Change(column="any", amount=0), outcome=label, outcome_guesses=DEFAULT_OUTCOMES)

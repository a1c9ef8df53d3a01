"""`dm.credit`: judge models of credit risk by how well they rank borrowers, and by what a lender expects of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._typing import DataLike, FilePath, ModelLike
from ..._validation import check_types, reject, validate_seed
from ...errors import ArgumentError
from ...relations.change import STRONG_THRESHOLD, ChangeRelation
from ...runs.flow import Budget
from ...space.table_forms import accept_tables
from .loans import LoanData, choose_relations, load_loans
from .measures import DEFAULT_APPROVAL_RATE
from .options import CreditOptions, CreditRelationsLike, LadderLike
from .preparation import DEFAULT_REPEATS, TEST_SHARE
from .result import CreditReport
from .runner import CreditMeasurements, run_ladder, run_models


@accept_tables
@check_types
def credit(
    model: ModelLike | Mapping[str, ModelLike] | None = None,
    data: DataLike | None = None,
    target: str | None = None,
    *,
    outcome: object = None,
    relations: CreditRelationsLike | None = None,
    promises: FilePath | None = None,
    columns: Mapping[str, str] | None = None,
    additive: bool = False,
    ladder: LadderLike = "short",
    constraints: bool = True,
    repetitions: int = 5,
    threshold: float = 0.01,
    strong: float = STRONG_THRESHOLD,
    approval_rate: float = DEFAULT_APPROVAL_RATE,
    test_share: float = TEST_SHARE,
    repeats: int = DEFAULT_REPEATS,
    later: DataLike | None = None,
    budget: Budget | str | float | None = None,
    seed: int = 0,
    trust: bool = False,
    name: str | None = None,
    progress: bool | None = None,
) -> CreditReport:
    """Judge credit risk models by ranking power and by what a lender expects.

    A model can rank borrowers well and still give a borrower a higher risk for a better credit score. Every applicant is
    changed as each relation says (by default HMR1 to HMR5 of Ying 2024: a tenth more credit score, a tenth less debt
    or loan, and combinations), and the model must not see a higher risk. A violation by at least `strong` is strong.

    Without a model, a ladder of models is trained on the data: logistic regression, trees, forests, networks and boosting of
    growing size, also with monotone constraints. The report names the model to use: of those whose AUC is within the
    confidence interval of the best one, the one with the fewest violations.

    Parameters
    ----------
    model : model or dict of models, optional
        Fitted models by name, or one: anything that `dm.wrap` takes. Without one, models are trained.
    data : DataFrame, optional
        Loans, one per row. Models of yours are judged on all of them, so these should not be their training data.
        By default a synthetic book of 10,000 mortgages whose true risk is known.
    target : str, optional
        The column that says who defaulted; ``"default"`` or ``"target"`` if there is one. Models of yours can be judged without it.
    outcome : object, optional
        The value of `target`, and the class of the models, that means default. By default the first that occurs of
        "default", "defaulted", "bad", 1 and True.
    relations : relations or names, optional
        What is expected instead of HMR1 to HMR5: `ChangeRelation` objects, or names such as ``"credit.HMR1"``.
    promises : path, optional
        A file of expectations, such as ``credit_score: lowers default``, to build the relations from.
    columns : dict, optional
        The names of your columns for "credit_score", "dti" and "ltv", if they differ.
    additive : bool
        Whether to add fixed steps instead of multiplying, in the default relations.
    ladder : str or list of str
        The models to train: ``"short"``, ``"published"`` (all sizes of the thesis, which takes hours), or names of families:
        ``"logistic_regression"``, ``"decision_tree"``, ``"random_forest"``, ``"neural_network"``,
        ``"gradient_boosting"``, ``"xgboost"``, ``"lightgbm"``.
    constraints : bool
        Whether to train boosting models with monotone constraints too, to measure what these repair and cost.
    repetitions : int
        How often models are trained, each time on another random part of the loans.
    threshold : float
        The share of strong violations of one relation above which a model is rejected.
    strong : float
        The size from which a violation is strong, as a difference of probabilities.
    approval_rate : float
        The share of applicants that is approved, where the report gives defaults among approved loans.
    test_share : float
        The share of loans that is held out to test the models.
    repeats : int
        How often each defaulted loan is used in training, since defaults are rare.
    later : DataFrame, optional
        Loans of a later year, with the same columns: models are trained on `data` and tested on these.
    budget : str or int, optional
        The limit of time or model calls, such as ``"1m"``. What was measured until then is reported.
    seed : int
        The seed of the random numbers. The same seed gives the same report.
    trust, name
        As for `dm.wrap`; the name is that of the data in the report.
    progress : bool, optional
        Whether to show progress on stderr; by default if it is a terminal.

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
    options = CreditOptions(
        outcome=outcome,
        relations=relations,
        promises=promises,
        columns=columns,
        additive=additive,
        ladder=ladder,
        constraints=constraints,
        repetitions=repetitions,
        threshold=threshold,
        strong=strong,
        approval_rate=approval_rate,
        test_share=test_share,
        repeats=repeats,
        later=later,
        budget=budget,
    )
    seed = validate_seed("seed", options.OWNER, seed)
    models = None if model is None else _read_models(model)
    if models is not None and data is None:
        raise ArgumentError("A model is judged on loans that it was not trained on. Give them: data=...")
    if models is not None and later is not None:
        raise ArgumentError("later= is for models that are trained here. Give the later loans as data=... instead.")
    loans = load_loans(data, target, outcome, required=models is None, name=name, seed=seed)
    chosen_relations, notes = choose_relations(loans, options)
    if models is not None:
        measurements = run_models(models, loans, chosen_relations, options, seed=seed, trust=trust, progress=progress)
        return _build_report(measurements, loans, None, chosen_relations, options, seed, notes, trained=False)
    later_loans = None
    if later is not None:
        later_loans = load_loans(later, loans.target, loans.outcome, required=True, name="later loans", seed=seed)
    measurements = run_ladder(loans, later_loans, chosen_relations, options, seed=seed, progress=progress)
    return _build_report(measurements, loans, later_loans, chosen_relations, options, seed, notes, trained=True)


def _read_models(model: ModelLike | Mapping[str, ModelLike]) -> dict[str, ModelLike]:
    if isinstance(model, Mapping):
        if not model or not all(isinstance(key, str) for key in model):
            reject("model", "credit", "a model, or at least one model by name", model)
        return dict(model)
    return {_find_model_name(model): model}


def _find_model_name(model: ModelLike) -> str:
    if isinstance(model, str):
        return model.replace("\\", "/").rpartition("/")[2]
    steps = getattr(model, "steps", None)  # of a pipeline
    inner = steps[-1][1] if isinstance(steps, list) and steps else model
    return str(getattr(model, "__name__", type(inner).__name__))


def _build_report(
    measurements: CreditMeasurements,
    loans: LoanData,
    later: LoanData | None,
    relations: Sequence[ChangeRelation],
    options: CreditOptions,
    seed: int,
    notes: list[str],
    *,
    trained: bool,
) -> CreditReport:
    ending = []
    if measurements.interrupted or measurements.out_of_budget:
        cause = "The run was interrupted" if measurements.interrupted else "The budget ended the run"
        complete = sum(len(model.repetitions) == options.repetitions or not trained for model in measurements.models)
        ending.append(
            f"{cause}: {complete} of {len(measurements.rungs)} models have all their repetitions, "
            f"{len(measurements.rungs) - len(measurements.models)} were not measured."
        )
    return CreditReport(
        data=loans.name,
        loans=len(loans),
        default_rate=loans.default_rate,
        models=tuple(measurements.models),
        relations=tuple(relations),
        threshold=options.threshold,
        trained=trained,
        settings=options.to_settings()
        | {"seed": seed, "test_loans": measurements.test_sizes[0] if measurements.test_sizes else 0},
        tests=measurements.tests,
        later="" if later is None else later.name,
        notes=[*notes, *ending],
        interrupted=measurements.interrupted,
        out_of_budget=measurements.out_of_budget,
        answers=measurements.answers,
        seconds=measurements.seconds,
    )

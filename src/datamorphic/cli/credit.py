"""The command ``datamorphic credit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from ..runs.interrupts import Interrupts
from . import options as opt
from .console import prepare_output_files, print_json, print_line, print_text, redirect_user_output, write_exports
from .exit_codes import choose_exit_code
from .load import choose_model_and_data, load_data, load_named, load_system

TABLE_ENDINGS = (".csv", ".parquet", ".pq", ".txt")
FREDDIE_MAC_ENDING = ".txt"


def credit(
    model: Annotated[
        str | None,
        opt.argument("MODEL", "A fitted model: a file, or module:object. Leave it out to train a ladder of models."),
    ] = None,
    inputs: Annotated[
        str | None,
        opt.argument(
            "DATA",
            "Loans: a CSV or Parquet file, a file of Freddie Mac (.txt), or data:NAME. The default is a synthetic book.",
        ),
    ] = None,
    data: opt.Data = None,
    also: Annotated[
        list[str] | None, opt.option("NAME=MODEL", "Another model to compare with MODEL. Repeatable.")
    ] = None,
    target: Annotated[
        str | None, opt.option("COL", "The column that says who defaulted. By default 'default' or 'target'.")
    ] = None,
    outcome: Annotated[
        str | None, opt.option("VALUE", "The value of that column that means default, e.g. bad.")
    ] = None,
    relation: Annotated[
        list[str] | None,
        opt.option(
            "RELATION", "What is expected instead of HMR1 to HMR5: credit.HMR1 ..., or module:object. Repeatable."
        ),
    ] = None,
    promises: Annotated[
        Path | None, opt.option("FILE", "A promises file with lines such as 'credit_score: lowers default'.")
    ] = None,
    column: Annotated[
        list[str] | None,
        opt.option("ROLE=COL", "Your column for credit_score, dti or ltv, e.g. credit_score=fico. Repeatable."),
    ] = None,
    additive: Annotated[
        bool, opt.flag("--additive", "Add fixed steps to credit score, DTI and LTV instead of multiplying.")
    ] = False,
    ladder: Annotated[
        str,
        opt.option(
            "NAMES",
            "The models to train, separated by commas: short, published, logistic_regression, decision_tree, "
            "random_forest, neural_network, gradient_boosting, xgboost, lightgbm.",
        ),
    ] = "short",
    no_constraints: Annotated[
        bool, opt.flag("--no-constraints", "Do not train boosting models with monotone constraints too.")
    ] = False,
    test_share: Annotated[float, opt.option("SHARE", "The share of loans held out to test trained models.")] = 0.25,
    repeats: Annotated[
        int, opt.option("N", "How often each defaulted loan is used in training, since defaults are rare.", min=1)
    ] = 3,
    repetitions: Annotated[
        int, opt.option("N", "How often models are trained, each time on another part of the loans.", min=1)
    ] = 5,
    threshold: Annotated[
        float, opt.option("SHARE", "Reject a model with strong violations for a larger share of applicants.")
    ] = 0.01,
    strong: Annotated[
        float, opt.option("SIZE", "The smallest difference of risk that makes a violation strong.")
    ] = 0.01,
    approval_rate: Annotated[
        float, opt.option("SHARE", "The share of applicants who are approved, to count defaults among them.")
    ] = 0.8,
    later: Annotated[str | None, opt.option("DATA", "Loans of a later year: train on DATA, test on these.")] = None,
    performance: Annotated[
        str | None, opt.option("FILE", "Freddie Mac's file of monthly payments, which says who of DATA defaulted.")
    ] = None,
    invalid: Annotated[
        str, opt.option("raise|drop", "What to do with a loan that has a missing or impossible value.")
    ] = "raise",
    budget: opt.Budget = None,
    allow_incomplete: opt.AllowIncomplete = False,
    trust: opt.Trust = False,
    name: Annotated[
        str | None, opt.option("TEXT", "What reports call the loans. The default is the name of DATA.")
    ] = None,
    seed: opt.Seed = 0,
    verdict: Annotated[
        Path | None, opt.option("FILE", "Write the verdict as an HTML page that prints on one sheet.")
    ] = None,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    as_json: opt.Json = False,
) -> None:
    """Judge credit risk models: how well they rank borrowers, and whether better applicants ever get a higher risk.

    Without MODEL, logistic regression, trees, forests, networks and boosting of growing size are trained and compared, and the
    one to use is named. The exit code is 1 if MODEL is rejected, or if no trained model can be used, and 4 if
    neither, but the budget did not suffice.

    Examples: datamorphic credit --verdict verdict.html;
    datamorphic credit model.skops loans.csv --target default --html credit.html;
    datamorphic credit loans.csv --target status --outcome bad --promises promises.txt
    """
    from ..risk.credit.api import credit as judge_models

    if model is not None and inputs is None and data is None and _is_table(model):
        model, inputs = None, model  # the only argument is the data
    model, data_name = choose_model_and_data(model, inputs, None, data, None)
    if model is not None and data_name is None:
        raise UsageError(
            "DATA is missing: loans that the model was not trained on. Name a CSV or Parquet file, or data:NAME."
        )
    prepare_output_files(verdict, html, junit)
    with redirect_user_output(), Interrupts():
        models = _load_models(model, also, trust)
        result = judge_models(
            models,
            None if data_name is None else _load_loans(data_name, performance, invalid),
            target,
            outcome=outcome,
            relations=[load_named(text) for text in relation] if relation else None,
            promises=promises,
            columns=_parse_columns(column),
            additive=additive,
            ladder=[name.strip() for name in ladder.split(",") if name.strip()],
            constraints=not no_constraints,
            test_share=test_share,
            repeats=repeats,
            repetitions=repetitions,
            threshold=threshold,
            strong=strong,
            approval_rate=approval_rate,
            later=None if later is None else _load_loans(later, None, invalid),
            budget=budget,
            seed=seed,
            trust=trust,
            name=name or (None if data_name is None else Path(data_name.removeprefix("data:")).name),
        )
        if verdict is not None:
            result.to_verdict(verdict)
    if as_json:
        print_json(result.document())
    else:
        print_text(result.describe(), passed=result.passed)
        if verdict is not None:
            print_line(f"The verdict: {verdict}")
    write_exports(result, {"html": html, "junit": junit}, silent=as_json)
    incomplete = not result.complete and not allow_incomplete
    raise typer.Exit(choose_exit_code(interrupted=result.interrupted, failed=not result.usable, incomplete=incomplete))


def _is_table(text: str) -> bool:
    return text.startswith("data:") or text.lower().endswith(TABLE_ENDINGS)


def _load_loans(name: str, performance: str | None, invalid: str) -> Any:
    """Return loans; those with the attributes of a loan book are checked value by value."""
    from ..data.loans.attributes import ATTRIBUTE_NAMES
    from ..data.loans.book_file import read_loan_book
    from ..data.loans.freddie_mac import read_freddie_mac

    if name.lower().endswith(FREDDIE_MAC_ENDING):
        return read_freddie_mac(name, performance, invalid=invalid)
    if performance is not None:
        raise UsageError(
            f"--performance belongs to a file of Freddie Mac ({FREDDIE_MAC_ENDING}). Got the loans {name!r}."
        )
    loans = load_data(name)
    if name.lower().endswith(".csv") and set(ATTRIBUTE_NAMES) <= set(loans.columns):
        return read_loan_book(name, invalid=invalid)
    return loans


def _load_models(model: str | None, also: list[str] | None, trust: bool) -> dict[str, Any] | None:
    """Return the models by name; None to train a ladder."""
    if model is None:
        if also:
            raise UsageError("--also adds a model to compare MODEL with, but there is no MODEL. Name it first.")
        return None
    models = {Path(model).name: load_system(model, None, trust)[0]}
    for text in also or ():
        name, path = opt.parse_pair(text, "--also", "a name and a model, as in challenger=new.skops")
        if name in models:
            raise UsageError(f"--also: there is already a model {name!r}. Choose another name.")
        models[name] = load_system(path, None, trust)[0]
    return models


def _parse_columns(texts: list[str] | None) -> dict[str, str] | None:
    if not texts:
        return None
    return dict(opt.parse_pair(text, "--column", "ROLE=COL, as in credit_score=fico") for text in texts)

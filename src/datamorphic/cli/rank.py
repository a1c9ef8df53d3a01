"""The command ``datamorphic rank``: learners, ordered by the relations that they violate on the user's data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UsageError
from . import options as opt
from .console import format_result, prepare_output_files, print_json, print_text, print_written_files
from .exit_codes import ExitCode, choose_exit_code
from .load import load_data, load_learner, load_named


def rank(
    learners: Annotated[
        list[str] | None, opt.argument("LEARNER...", "Learners: module:object, or 'weka:IBk -K 3'.")
    ] = None,
    data: opt.Data = None,
    target: Annotated[str | None, opt.option("COL", "The column of the labels.")] = None,
    relation: Annotated[
        list[str] | None, opt.option("RELATION", "What to check instead of all necessary relations. Repeatable.")
    ] = None,
    inputs: Annotated[int, opt.option("N", "Test cases per learner and relation.", min=1)] = 100,
    folds: Annotated[int, opt.option("N", "Parts of the data for the accuracy by cross-validation.", min=2)] = 5,
    budget: opt.Budget = None,
    seed: opt.Seed = 0,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    as_json: opt.Json = False,
    allow_incomplete: opt.AllowIncomplete = False,
) -> None:
    """Order learners by the necessary relations that they violate on your data, with their accuracy beside.

    The exit code is 1 if every learner violates a necessary relation, and 4 if not, but a budget did not suffice.

    Examples: datamorphic rank sklearn.naive_bayes:GaussianNB weka:NaiveBayes --data data.csv --target y;
    datamorphic rank sklearn.neighbors:KNeighborsClassifier my_package:Nearest --data data:wine --target target
    """
    from ..relations.check.ranking import rank_learners

    if not learners or data is None or target is None:
        raise UsageError(
            "LEARNER, --data and --target are needed: learners to compare, and labelled rows to train them on."
        )
    prepare_output_files(html, junit)
    ranking = rank_learners(
        {text: load_learner(text, None, False)[0] for text in learners},
        load_data(data),
        target,
        relations=[load_named(name) for name in relation] if relation else "necessary",
        inputs=inputs,
        folds=folds,
        budget=budget,
        seed=seed,
        name=Path(data.removeprefix("data:")).name,
    )
    if html is not None:
        ranking.to_html(html)
    if junit is not None:
        ranking.to_junit(junit)
    if as_json:
        print_json(ranking.document())
    else:
        print_text(format_result(ranking))
    print_written_files(html, junit)
    code = choose_exit_code(
        interrupted=False,
        failed=bool(ranking.learners[0].violated),
        incomplete=not ranking.complete and not allow_incomplete,
    )
    if code is not ExitCode.OK:
        raise typer.Exit(code)

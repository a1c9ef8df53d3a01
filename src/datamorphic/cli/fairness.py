"""The command ``datamorphic fairness``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_line, print_text, redirect_user_output, write_exports
from .exit_codes import ExitCode
from .load import choose_model_and_data, load_data, load_space, load_system


def fairness(
    model: Annotated[str | None, opt.argument("MODEL", "A model file, or module:object.")] = None,
    inputs: Annotated[
        str | None, opt.argument("DATA", "People, one per row: a CSV or Parquet file, or data:NAME.")
    ] = None,
    data: opt.Data = None,
    target: opt.Target = None,
    protected: Annotated[
        list[str] | None, opt.option("COL", "A protected column, e.g. gender; it need not be an input. Repeatable.")
    ] = None,
    promises: Annotated[
        Path | None, opt.option("FILE", "A promises file. Its protected columns and its outcome are used.")
    ] = None,
    outcome: Annotated[
        str | None, opt.option("CLASS", "The decision that is counted. The default is the second of two classes.")
    ] = None,
    cutoff: Annotated[
        float | None, opt.option("P", "The smallest probability of the outcome that leads to the decision, e.g. 0.1.")
    ] = None,
    combinations: Annotated[
        int, opt.option("N", "The largest number of protected columns to look at together.", min=1, max=3)
    ] = 2,
    threshold: Annotated[
        float, opt.option("SHARE", "The share of people whose decision may depend on a protected column.")
    ] = 0.01,
    min_effect: Annotated[
        float, opt.option("SHARE", "The smallest effect of a combination or a stand-in that is reported.")
    ] = 0.02,
    rows: Annotated[int, opt.option("N", "The largest number of people to look at.", min=50)] = 2_000,
    space: opt.SpaceFile = None,
    kind: opt.KindHints = None,
    feature_step: opt.StepHints = None,
    bounds: opt.BoundHints = None,
    order: opt.OrderHints = None,
    html: opt.HtmlFile = None,
    verdict: Annotated[
        Path | None, opt.option("FILE", "Write the verdict as an HTML page that prints on one sheet.")
    ] = None,
    junit: opt.JunitFile = None,
    trust: opt.Trust = False,
    scalar: opt.Scalar = False,
    classes: opt.Classes = None,
    name: opt.SystemName = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Examine whether decisions depend on who people are, and print the findings.

    Would people get another decision with another gender or age and everything else the same? Does it take several of
    these together? Does another column stand in for a protected one? The exit code is 1 if something worse than advice
    is found.

    Examples: datamorphic fairness model.skops applicants.csv --target decision --protected gender --protected age --outcome approved;
    datamorphic fairness model.skops loans.csv --promises bank.promises --cutoff 0.1 --html fairness.html
    """
    from ..risk.fairness.options import FairnessOptions
    from ..risk.fairness.runner import run_fairness

    model, data_name = choose_model_and_data(model, inputs, None, data, target)
    if data_name is None:
        raise UsageError(
            "MODEL and DATA are needed. DATA holds people, one per row: a CSV or Parquet file, or data:NAME."
        )
    files = {"html": html, "junit": junit}
    prepare_output_files(*files.values(), verdict)
    hints, class_names = opt.parse_hints(kind, feature_step, bounds, order), opt.parse_classes(classes)
    request: dict[str, Any] = {
        "model": model,
        "data": data_name,
        "target": target,
        "protected": protected or [],
        "promises": promises and str(promises),
        "outcome": outcome,
        "cutoff": cutoff,
        "combinations": None if combinations == 2 else combinations,
        "threshold": None if threshold == 0.01 else threshold,
        "min_effect": None if min_effect == 0.02 else min_effect,
        "rows": None if rows == 2_000 else rows,
        "kind": kind or [],
        "feature_step": feature_step or [],
        "bounds": bounds or [],
        "order": order or [],
        "space": space and str(space),
        "classes": classes,
        "name": name,
        "trust": trust,
        "scalar": scalar,
    }
    with redirect_user_output():
        system, load_options = load_system(model, None, trust)
        frame = load_data(data_name)
        result = run_fairness(
            system,
            frame,
            FairnessOptions(
                protected=protected or (),
                target=target,
                outcome=outcome,
                promises=promises,
                cutoff=cutoff,
                combinations=combinations,
                threshold=threshold,
                min_effect=min_effect,
                rows=rows,
                seed=seed,
                classes=class_names,
                space=load_space(space, frame, target, system, load_options),
                hints=hints,
                scalar=scalar,
                name=name,
                **load_options,
            ),
            request,
        )
    if as_json:
        print_json(result.document())
    else:
        print_text(result.describe(), passed=result.passed)
    write_exports(result, files, silent=as_json)
    if verdict is not None:
        result.to_verdict(verdict)
        if not as_json:
            print_line(f"The verdict: {verdict}")
    if not result.passed:
        raise typer.Exit(ExitCode.FINDINGS)

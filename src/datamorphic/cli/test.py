"""The command ``datamorphic test``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_line, print_text, redirect_user_output, write_exports
from .exit_codes import choose_exit_code
from .load import choose_model_and_data, load_data, load_space, load_system, to_absolute_path
from .stores import RunNotice, format_store_option, open_store

NEVER = "never"


def test(
    model: opt.ModelArgument = None,
    inputs: opt.DataArgument = None,
    subject: opt.Subject = None,
    data: opt.Data = None,
    target: opt.Target = None,
    protected: Annotated[
        list[str] | None, opt.option("COL", "A feature that no decision may depend on, e.g. gender. Repeatable.")
    ] = None,
    monotone: Annotated[
        list[str] | None,
        opt.option(
            "COL=up|down", "A feature that may move the answer in one direction only, e.g. income=up. Repeatable."
        ),
    ] = None,
    invariant: Annotated[
        list[str] | None, opt.option("COL", "A feature that must not change the answer, e.g. id. Repeatable.")
    ] = None,
    towards: Annotated[
        str | None, opt.option("CLASS", 'The class that "up" leads towards. The default is the second of two classes.')
    ] = None,
    expect: Annotated[Path | None, opt.option("FILE", "A TOML or YAML file with these expectations.")] = None,
    promises: Annotated[
        Path | None,
        opt.option("FILE", "A promises file: one expectation per line, such as 'credit_score: lowers default'."),
    ] = None,
    baseline: Annotated[
        Path | None,
        opt.option("FILE", "The border of an earlier version, written by --save-front: report where it moved."),
    ] = None,
    tolerance: Annotated[
        float | None,
        opt.option("SIZE", "Do not report differences up to this size, of scores or of answers that are numbers."),
    ] = None,
    reference: Annotated[
        str | None,
        opt.option("FILE", "The training data, a CSV or Parquet file or data:NAME: report rows that are in both."),
    ] = None,
    budget: Annotated[str, opt.option("BUDGET", 'Time or model calls to spend: "1m", "30s", "10000 runs".')] = "1m",
    allow_incomplete: opt.AllowIncomplete = False,
    only: Annotated[list[str] | None, opt.option("CHECK", "Run only this check. Repeatable.")] = None,
    fail_on: Annotated[
        str, opt.option("LEVEL", "Exit with 1 from this level on: fault, concern, advice or never.")
    ] = "concern",
    space: opt.SpaceFile = None,
    kind: opt.KindHints = None,
    feature_step: opt.StepHints = None,
    bounds: opt.BoundHints = None,
    order: opt.OrderHints = None,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    sarif: Annotated[Path | None, opt.option("FILE", "Write a SARIF file for code scanning.")] = None,
    markdown: Annotated[Path | None, opt.option("FILE", "Write Markdown for a pull request.")] = None,
    pytest: Annotated[
        Path | None, opt.option("FILE", "Write a pytest file: checks that pass today must keep passing.")
    ] = None,
    save_front: Annotated[
        Path | None, opt.option("FILE", "Write the border to this Parquet file, as a baseline for the next version.")
    ] = None,
    timeout: opt.Timeout = None,
    batch: opt.Batch = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    store: opt.StoreUrl = None,
    trust: opt.Trust = False,
    scalar: opt.Scalar = False,
    classes: opt.Classes = None,
    name: opt.SystemName = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Run every check that applies to a model, and print the findings, worst first.

    Does the model answer every input, and always in the same way? Where are its borders, and have they moved? Does it meet
    your expectations? Checks that do not apply are listed with the reason. The exit code is 1 if a finding is worse than
    advice, and 4 if there is none but the budget did not suffice for all checks.

    Examples: datamorphic test model.skops customers.csv --target churned --html findings.html;
    datamorphic test model.skops loans.csv --target decision --monotone income=up --towards approve --protected gender;
    datamorphic test model.skops loans.csv --target default --promises bank.promises;
    datamorphic test model.skops loans.csv --target decision --only "row order"
    """
    from ..audit.expectations import merge_expectations
    from ..audit.options import AuditOptions
    from ..audit.runner import run_audit
    from ..core.result import LEVELS
    from ..runs.engines import make_engine
    from ..runs.progress import TimedProgress

    model, data_name = choose_model_and_data(model, inputs, subject, data, target)
    if save_front is not None and only and not {"borders", "baseline"} & set(only):
        raise UsageError("--save-front saves what the check 'borders' finds. Add --only borders, or leave --only out.")
    if fail_on not in (*LEVELS, NEVER):
        raise UsageError(f"--fail-on is one of {', '.join(LEVELS)} or {NEVER}. Got {fail_on!r}.")
    files = {"html": html, "junit": junit, "sarif": sarif, "markdown": markdown, "pytest": pytest}
    prepare_output_files(*files.values(), save_front)
    hints, class_names = opt.parse_hints(kind, feature_step, bounds, order), opt.parse_classes(classes)
    request: dict[str, Any] = {
        "from_files": True,
        "model": model,
        "data": data_name,
        "subject": subject,
        "target": target,
        "protected": protected or [],
        "monotone": monotone or [],
        "invariant": invariant or [],
        "towards": towards,
        "expect": expect and str(expect),
        "promises": promises and str(promises),
        "baseline": baseline and str(baseline),
        "tolerance": tolerance,
        "reference": reference,
        "trust": trust,
        "allow_incomplete": allow_incomplete,
        "budget": None if budget == "1m" else budget,
        "timeout": timeout,
        "batch": batch,
        "scalar": scalar,
        "classes": class_names,
        "space": space and str(space),
        "name": name,
        **hints.to_dict(),
    }
    stored_request = request | {
        "model": to_absolute_path(model),
        "data": to_absolute_path(data_name),
        "reference": to_absolute_path(reference),
        "space": to_absolute_path(request["space"]),
        "seed": seed,
        "budget": budget,
    }
    with open_store(store) as run_store:
        notice = RunNotice(run_store, format_store_option(store), resumable=False)
        with redirect_user_output(), notice:
            with TimedProgress("loading the model and the data"):
                system, options = load_system(model, subject, trust)
                frame = None if data_name is None else load_data(data_name)
                described_space = load_space(space, frame, target, system, options)
            if described_space is not None and frame is not None:  # for the file that --pytest writes
                names = {*described_space.names, *(placed.block.name for placed in described_space.blocks)}
                request["space_columns"] = [name for name in frame.columns if name in names]
            result = run_audit(
                system,
                frame,
                AuditOptions(
                    target=target,
                    protected=protected or (),
                    expect=merge_expectations(request, expect),
                    promises=promises,
                    budget=budget,
                    seed=seed,
                    baseline=baseline,
                    tolerance=tolerance,
                    reference=None if reference is None else load_data(reference),
                    only=only or (),
                    space=described_space,
                    hints=hints,
                    engine=make_engine(engine, workers),
                    timeout=timeout,
                    batch=batch,
                    store=notice.make_store_options(stored_request),
                    scalar=scalar,
                    classes=class_names,
                    name=name,
                    request=request,
                    **options,
                ),
            )
        if as_json:
            print_json(result.document() | {"run": notice.run})
        else:
            print_text(result.describe(), passed=result.passed)
        write_exports(result, files, silent=as_json)
        if save_front is not None:
            if result.front is None:
                raise UsageError("There is no border to save: the check 'borders' was not run.")
            with redirect_user_output():
                result.front.save(save_front)
        if not as_json:
            if save_front is not None:
                print_line(f"The border: {save_front}")
            notice.print_end()
    failed = fail_on != NEVER and bool(result.at_least(fail_on) or result.broken)  # type: ignore[arg-type]
    incomplete = bool(result.unfinished) and not allow_incomplete
    raise typer.Exit(choose_exit_code(interrupted=result.interrupted, failed=failed, incomplete=incomplete))

"""The command ``datamorphic optimise``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..runs.interrupts import Interrupts
from . import options as opt
from .case_sets import prepare_set_file
from .console import (
    prepare_output_files,
    print_json,
    print_line,
    print_text,
    record_calls,
    redirect_user_output,
    write_exports,
)
from .exit_codes import ExitCode
from .load import load_data, load_space, load_system, to_absolute_path
from .stores import RunNotice, format_store_option, open_store
from .tree_command import load_named_tree_model

if TYPE_CHECKING:
    import pandas as pd

    from ..morphisms.cases import TestSet
    from ..runs.engine_base import Engine
    from ..runs.store import Store

#: keys of a stored request that become arguments of `dm.optimise` when the run is resumed; nothing else of a store does
OPTIMISE_OPTIONS = (
    "strategy",
    "metric",
    "seeds",
    "steps",
    "mutant_ratio",
    "remove_ratio",
    "change_rate",
    "patience",
    "datamorphisms",
    "filters",
    "tolerance",
    "target",
    "budget",
    "timeout",
    "batch",
    "seed",
)
OPTIMISE_REQUEST_KEYS = ("model", "subject", "tests", "tree", *OPTIMISE_OPTIONS)
OPTIONAL_OPTIMISE_KEYS = ("space", "name")


def optimise(
    system: Annotated[
        str | None,
        opt.argument("SYSTEM", "A test system (module:Class), or a model with --tests. Leave it out with --subject."),
    ] = None,
    subject: Annotated[str | None, opt.option("NAME", 'A built-in classifier instead of SYSTEM, e.g. "Box 2".')] = None,
    ga_strategy: Annotated[
        str,
        opt.option(
            "NAME",
            "GAOptimizeFilter, GAOptimizeWeakestRemoval, GAOptimizeStrongestMutant or GAOptimizeRandomRemoval.",
            "--strategy",
        ),
    ] = "GAOptimizeFilter",
    metric: Annotated[
        list[str] | None,
        opt.option(
            "NAME",
            "What is to grow: mean_nearest_distance (the default), border_coverage, leaf_coverage, mutation_score, "
            "label_balance, or a set metric of SYSTEM. Repeatable.",
        ),
    ] = None,
    tests: Annotated[
        str | None,
        opt.option(
            "FILE", "The test set to start from: .tcs, .csv, .parquet or data:NAME. By default SYSTEM makes one."
        ),
    ] = None,
    seeds: Annotated[int | None, opt.option("N", "Number of cases that SYSTEM makes to start from.", min=2)] = None,
    target: Annotated[str | None, opt.option("COL", "The column of --tests that holds the label.")] = None,
    steps: Annotated[int, opt.option("N", "Largest number of cycles.", min=1)] = 50,
    mutant_ratio: Annotated[float, opt.option("SHARE", "New cases per cycle, as a share of the set.")] = 0.5,
    remove_ratio: Annotated[
        float | None, opt.option("SHARE", "Share of cases that a cycle removes by the rule of the strategy.")
    ] = None,
    change_rate: Annotated[
        float,
        opt.option("SHARE", "End if no metric grows by this share within --patience cycles; 0 to use all cycles."),
    ] = 0.001,
    patience: Annotated[int, opt.option("N", "Cycles without growth after which to end.", min=1)] = 10,
    datamorphisms: Annotated[
        str | None, opt.option("NAMES", "The datamorphisms to use, separated by commas. The default is all.")
    ] = None,
    filters: Annotated[
        str | None, opt.option("NAMES", "The set filters of GAOptimizeFilter, separated by commas. The default is all.")
    ] = None,
    tree: Annotated[
        str | None, opt.option("MODEL", "The tree or forest of leaf_coverage and mutation_score, if not SYSTEM.")
    ] = None,
    tolerance: Annotated[
        float | None,
        opt.option("VALUE", "For mutation_score of trees that answer numbers: the difference that counts."),
    ] = None,
    space: opt.SpaceFile = None,
    name: opt.SystemName = None,
    budget: opt.Budget = None,
    timeout: opt.Timeout = None,
    trust: opt.Trust = False,
    batch: opt.Batch = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    store: opt.StoreUrl = None,
    seed: opt.Seed = 0,
    save: Annotated[Path | None, opt.option("FILE", "Write the best set to this file: .tcs, .csv or .parquet.")] = None,
    html: opt.HtmlFile = None,
    record: opt.RecordFile = None,
    junit: opt.JunitFile = None,
    as_json: opt.Json = False,
) -> None:
    """Improve a test set by a genetic algorithm: more diverse, nearer to the borders, reaching more of a tree.

    Each cycle makes new cases with the datamorphisms of SYSTEM and keeps those that serve the metric. The size of the set
    stays the same. Prints how much was gained and what it cost.

    Examples: datamorphic optimise --subject "Box 2" --metric border_coverage --strategy GAOptimizeWeakestRemoval;
    datamorphic optimise my_tests:RedWine --tests cases.csv --save better.csv --html better.html;
    datamorphic optimise model.skops --tests customers.csv --target churned --metric leaf_coverage
    """
    from ..runs.engines import make_engine

    prepare_set_file(save)
    prepare_output_files(html, junit, record)
    request: dict[str, Any] = {
        "model": to_absolute_path(system),
        "subject": subject,
        "tests": to_absolute_path(tests),
        "tree": to_absolute_path(tree),
        "strategy": ga_strategy,
        "metric": metric or ["mean_nearest_distance"],
        "seeds": seeds,
        "steps": steps,
        "mutant_ratio": mutant_ratio,
        "remove_ratio": remove_ratio,
        "change_rate": change_rate,
        "patience": patience,
        "datamorphisms": opt.split_names(datamorphisms, "--datamorphisms"),
        "filters": opt.split_names(filters, "--filters"),
        "tolerance": tolerance,
        "target": target,
        "budget": budget,
        "timeout": timeout,
        "batch": batch,
        "seed": seed,
        **opt.collect_options(space=space and os.path.abspath(space), name=name),
    }
    with open_store(store) as run_store, record_calls(record):
        run_optimisation(
            request,
            run_store,
            trust=trust,
            engine=make_engine(engine, workers),
            save=save,
            html=html,
            junit=junit,
            as_json=as_json,
            store_option=format_store_option(store),
        )


def run_optimisation(
    request: dict[str, Any],
    store: Store | None,
    *,
    engine: Engine,
    resume: int | None = None,
    trust: bool = False,
    save: Path | None = None,
    html: Path | None = None,
    junit: Path | None = None,
    as_json: bool = False,
    store_option: str = "",
) -> None:
    """Optimise as a request says, or resume a run, and print what was gained."""
    import pandas as pd

    from ..synthesis.optimisation.api import optimise as improve_tests

    notice = RunNotice(store, store_option)
    keep = notice.make_store_options(request, resume)
    with redirect_user_output(), notice, Interrupts():
        system, options = load_system(request["model"], request["subject"], trust)
        tests = None if request["tests"] is None else _load_tests(request["tests"], system)
        tree = None if request["tree"] is None else load_named_tree_model(request["tree"], trust)
        frame = tests if isinstance(tests, pd.DataFrame) else None
        space = load_space(request.get("space"), frame, request["target"], system, options)
        options |= {name: request[name] for name in OPTIMISE_OPTIONS} | {"name": request.get("name"), "space": space}
        result = improve_tests(system, tests=tests, tree=tree, engine=engine, store=keep, **options)
        if save is not None:
            result.tests.save(save)
    if as_json:
        print_json(result.document() | {"run": notice.run, "interrupted": result.interrupted})
    else:
        print_text(result.describe())
        if save is not None:
            print_line(f"The test set: {save}")
    write_exports(result, {"html": html, "junit": junit}, silent=as_json)
    if not as_json:
        notice.print_end()
    if result.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _load_tests(text: str, system: object) -> TestSet | pd.DataFrame:
    """Return the cases of a file: a test set with its origins, or plain rows."""
    from ..morphisms.case_files import is_case_file
    from ..morphisms.cases import TestSet
    from ..morphisms.system import TestSystem, has_morphisms

    if text.startswith("data:") or not is_case_file(text):
        return load_data(text)
    is_test_system = not hasattr(system, "fit") and has_morphisms(system)
    return TestSet.load(text, TestSystem.collect(system).known_space() if is_test_system else None)

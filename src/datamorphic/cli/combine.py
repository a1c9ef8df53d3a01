"""The command ``datamorphic combine``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import suggest_name
from ..errors import UsageError
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
from .load import load_data, load_object, load_space, to_absolute_path
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..runs.engine_base import Engine
    from ..runs.store import Store

#: keys of a stored request that become arguments of `dm.combine` when the run is resumed; nothing else of a store does
OPTION_KEYS = ("strategy", "order", "datamorphisms", "filters", "limit", "budget", "timeout", "seed")
COMBINE_REQUEST_KEYS = ("model", "subject", "data", "target", "seeds", *OPTION_KEYS)
OPTIONAL_COMBINE_KEYS = ("space",)


def combine(
    system: Annotated[str | None, opt.argument("SYSTEM", "A test system: module:Class, or a module.")] = None,
    subject: Annotated[str | None, opt.option("NAME", 'A built-in classifier instead of SYSTEM, e.g. "Box 1".')] = None,
    combination_strategy: Annotated[
        str,
        opt.option(
            "NAME",
            "Which chains to apply: firstOrderMutantComplete, combinatorialComplete, permutationComplete or kOrderComplete.",
            "--strategy",
        ),
    ] = "firstOrderMutantComplete",
    order: Annotated[int | None, opt.option("K", "Length of the longest chains of kOrderComplete.", min=1)] = None,
    datamorphisms: Annotated[
        str | None, opt.option("NAMES", "The datamorphisms to combine, separated by commas. The default is all.")
    ] = None,
    filters: Annotated[
        str | None, opt.option("NAMES", "Set filters that select among the cases, separated by commas.")
    ] = None,
    seeds: Annotated[int | None, opt.option("N", "Number of seed cases.", min=1)] = None,
    data: Annotated[str | None, opt.option("DATA", "Seed cases: a CSV, Parquet or .tcs file, or data:NAME.")] = None,
    target: opt.Target = None,
    space: Annotated[
        Path | None,
        opt.option(
            "FILE", "Instead of SYSTEM: a TOML, YAML or JSON file that describes a space, whose moves make the cases."
        ),
    ] = None,
    limit: Annotated[int, opt.option("N", "Without a budget, refuse to make more than N cases.", min=1)] = 100_000,
    budget: Annotated[int | None, opt.option("N", "Draw N cases at random if there are more.", min=1)] = None,
    estimate: Annotated[bool, opt.flag("--estimate", "Only print how many cases there would be.")] = False,
    timeout: opt.Timeout = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    store: opt.StoreUrl = None,
    save: Annotated[Path | None, opt.option("FILE", "Write the test set to this file: .parquet, .csv or .tcs.")] = None,
    html: opt.HtmlFile = None,
    record: opt.RecordFile = None,
    junit: opt.JunitFile = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Make new test cases by applying datamorphisms one after the other, and check the metamorphisms.

    Prints every metamorphism, and for a violated one the shortest chains of datamorphisms that lead to a violation. The
    exit code is 1 if a metamorphism is violated.

    Examples: datamorphic combine my_tests:Triangle --strategy permutationComplete;
    datamorphic combine --subject "Box 1" --seeds 10 --strategy kOrderComplete --order 2;
    datamorphic combine my_tests:Loans --strategy permutationComplete --budget 1000 --html combined.html
    """
    from ..runs.engines import make_engine

    prepare_set_file(save)
    prepare_output_files(html, junit, record)
    request: dict[str, Any] = {
        "model": system,
        "subject": subject,
        "data": to_absolute_path(data),
        "target": target,
        "seeds": seeds,
        "strategy": combination_strategy,
        "order": order,
        "datamorphisms": opt.split_names(datamorphisms, "--datamorphisms"),
        "filters": opt.split_names(filters, "--filters"),
        "limit": limit,
        "budget": budget,
        "timeout": timeout,
        "seed": seed,
        **opt.collect_options(space=space and os.path.abspath(space)),
    }
    if estimate:
        _print_estimate(request, as_json)
        return
    with open_store(store) as run_store, record_calls(record):
        run_combination_request(
            request,
            run_store,
            engine=make_engine(engine, workers),
            save=save,
            html=html,
            junit=junit,
            as_json=as_json,
            store_option=format_store_option(store),
        )


def run_combination_request(
    request: dict[str, Any],
    store: Store | None,
    *,
    engine: Engine,
    resume: int | None = None,
    save: Path | None = None,
    html: Path | None = None,
    junit: Path | None = None,
    as_json: bool = False,
    store_option: str = "",
) -> None:
    """Combine as a request says, or resume a run, and print the result."""
    from ..synthesis.combination.api import combine as make_combination

    notice = RunNotice(store, store_option)
    keep = notice.make_store_options(request, resume)
    options = {name: request[name] for name in OPTION_KEYS}
    with redirect_user_output(), notice:
        source, seeds = _load_source(request)
        combination = make_combination(source, seeds=seeds, **options, engine=engine, store=keep)
        if save is not None:
            combination.tests.save(save)
    if as_json:
        print_json(combination.document() | {"run": notice.run})
    else:
        print_text(combination.describe(), passed=combination.holds if combination.verdicts else None)
        if save is not None:
            print_line(f"The test set: {save}")
    write_exports(combination, {"html": html, "junit": junit}, silent=as_json)
    if not as_json:
        notice.print_end()
    if combination.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not combination.holds:
        raise typer.Exit(ExitCode.FINDINGS)


def _print_estimate(request: dict[str, Any], as_json: bool) -> None:
    from ..synthesis.combination.api import estimate_size

    with redirect_user_output():
        source, seeds = _load_source(request)
        names = ("strategy", "order", "datamorphisms", "seed")
        size = estimate_size(source, seeds=seeds, **{name: request[name] for name in names})
    if as_json:
        print_json({"strategy": request["strategy"], "estimate": size})
    else:
        print_line(f"up to {size:,} new cases")


def _load_source(request: dict[str, Any]) -> tuple[Any, Any]:
    """Return the test system and its seed cases, or their number."""
    from ..morphisms.case_files import is_case_file
    from ..morphisms.cases import TestSet
    from ..morphisms.stock import to_test_system

    system, subject, data = request["model"], request["subject"], request["data"]
    sources = [source for source in (system, subject, request.get("space")) if source is not None]
    if len(sources) != 1:
        raise UsageError(
            "Say what to test, one of: a test system (module:Class), --subject NAME, or --space FILE. "
            f"Got {len(sources)} of them."
        )
    if request["target"] is not None and data is None:
        raise UsageError("--target names a column of --data, but no data are given. Add --data FILE.")
    if subject is not None:
        from ..data.subjects import subjects

        source: Any = subjects[subject]
    elif system is not None:
        source = load_object(str(system))
    else:
        source = load_space(request["space"], None)
    if data is None:
        return source, request["seeds"]
    if not data.startswith("data:") and is_case_file(data):
        tests = TestSet.load(data, to_test_system(source).known_space())
        return source, tests if request["seeds"] is None else tests.take(slice(0, request["seeds"]))
    frame = load_data(data)
    target = request["target"]
    if target is not None:
        if target not in frame.columns:
            raise UsageError(f"The target column {target!r} is not in the data. {suggest_name(target, frame.columns)}")
        frame = frame.drop(columns=[target])
    return source, frame if request["seeds"] is None else frame.head(request["seeds"])

"""The command ``datamorphic explore``."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from ..runs.interrupts import Interrupts
from . import options as opt
from .console import prepare_output_files, print_json, print_line, print_text, record_calls, redirect_user_output
from .exit_codes import ExitCode
from .load import choose_model_and_data, load_data, load_space, load_system, to_absolute_path
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..exploration.diff.diff import Difference
    from ..exploration.front import Front
    from ..runs.engine_base import Engine
    from ..runs.store import Store

#: keys of a stored request that become arguments of `dm.explore` when the run is resumed; nothing else of a store does
PLAN_OPTIONS = ("walk_distance", "moves", "seeds", "seed", "target", "threshold", "jump", "labels", "scalar")
RUN_OPTIONS = ("strategy", "walks", "steps", "delta", "refine", "pool", "budget", "timeout", "batch")
HINTS_KEY = "hints"
CLASSES_KEY = "classes"
SPACE_KEY = "space"
NAME_KEY = "name"
#: keys that a request has only if they were given: a run can only be resumed with the request it was stored with
OPTIONAL_KEYS = (HINTS_KEY, CLASSES_KEY, SPACE_KEY, NAME_KEY)
EXPLORE_HINTS = {"steps": "feature_steps"}  # `steps` of `dm.explore` are steps of a walk
REQUEST_KEYS = ("model", "data", "subject", *PLAN_OPTIONS, *RUN_OPTIONS)


def explore(
    model: opt.ModelArgument = None,
    inputs: opt.DataArgument = None,
    subject: opt.Subject = None,
    data: opt.Data = None,
    target: opt.Target = None,
    strategy: Annotated[str, opt.option("NAME", "auto, random_walk, random_target or directed_walk.")] = "auto",
    walks: Annotated[int, opt.option("N", "Number of walks.")] = 1000,
    seeds: Annotated[int | None, opt.option("N", "Number of inputs to start from. The default is all of DATA.")] = None,
    moves: Annotated[
        str | None, opt.option("MOVES", "The moves to use, separated by commas, e.g. upward,downward.")
    ] = None,
    steps: Annotated[
        int | None, opt.option("N", "How often to halve a pair. The default is 20, or as often as --delta needs.")
    ] = None,
    delta: Annotated[float | None, opt.option("DISTANCE", "Stop halving a pair at this distance.")] = None,
    walk_distance: Annotated[int, opt.option("N", "Largest number of steps per walk.")] = 20,
    refine: Annotated[str, opt.option("METHOD", "How to narrow a pair: auto, bisect, score or multisection.")] = "auto",
    pool: Annotated[
        str, opt.option("KIND", "fixed, or growing: later walks may also start from border pairs.")
    ] = "fixed",
    threshold: Annotated[
        float | None, opt.option("VALUE", "For answers that are numbers: the value whose crossing is a border.")
    ] = None,
    jump: Annotated[
        float | None, opt.option("VALUE", "For answers that are numbers: the difference that is a border.")
    ] = None,
    labels: Annotated[str, opt.option("KIND", "How to read labels: auto, plain, hierarchy or multi.")] = "auto",
    budget: opt.Budget = None,
    space: opt.SpaceFile = None,
    kind: opt.KindHints = None,
    feature_step: opt.StepHints = None,
    bounds: opt.BoundHints = None,
    order: opt.OrderHints = None,
    timeout: opt.Timeout = None,
    trust: opt.Trust = False,
    scalar: opt.Scalar = False,
    classes: opt.Classes = None,
    name: opt.SystemName = None,
    batch: opt.Batch = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    store: opt.StoreUrl = None,
    seed: opt.Seed = 0,
    plan: Annotated[bool, opt.flag("--plan", "Only estimate what each strategy would find and cost.")] = False,
    trial: Annotated[int | None, opt.option("N", "With --plan: number of walks of the trial.", min=1)] = None,
    compare: Annotated[
        Path | None, opt.option("FILE", "A front saved earlier: report where the border moved. Exit with 1 if it did.")
    ] = None,
    save: opt.FrontFile = None,
    html: opt.HtmlFile = None,
    record: opt.RecordFile = None,
    as_json: opt.Json = False,
) -> None:
    """Find the borders of a model: pairs of nearly equal inputs with different answers.

    Walks start from real inputs and change them step by step. Where the answer changes, the pair is narrowed. Prints how
    many border pairs were found and how many model calls that took.

    Examples: datamorphic explore --subject "Box 1" --strategy random_target --walks 1200 --seeds 200;
    datamorphic explore model.skops customers.csv --target churned --html borders.html
    """
    from ..exploration.front import Front
    from ..runs.engines import make_engine

    model, data_name = choose_model_and_data(model, inputs, subject, data, target)
    if plan and (save or html or compare):
        raise UsageError("--plan finds no front. Leave out --save, --html and --compare.")
    if trial is not None and not plan:
        raise UsageError("--trial is for the estimate of --plan. Add --plan, or leave it out.")
    prepare_output_files(save, html, record)
    baseline = Front.load(compare) if compare is not None else None
    if baseline is not None and threshold is None and jump is None and labels == "auto":
        border_kind, border_value = baseline.settings.get("border_kind"), baseline.settings.get("border_value")
        threshold = border_value if border_kind == "threshold" else None
        jump = border_value if border_kind == "jump" else None
    request: dict[str, Any] = {
        "model": to_absolute_path(model),
        "data": to_absolute_path(data_name),
        "subject": subject,
        "target": target,
        "seed": seed,
        "seeds": seeds,
        "walk_distance": walk_distance,
        "threshold": threshold,
        "jump": jump,
        "labels": labels,
        "scalar": scalar,
        "moves": opt.split_names(moves, "--moves"),
    }
    request |= opt.collect_options(
        **{
            HINTS_KEY: opt.parse_hints(kind, feature_step, bounds, order).to_dict() or None,
            CLASSES_KEY: opt.parse_classes(classes),
            SPACE_KEY: space and os.path.abspath(space),
            NAME_KEY: name,
        }
    )
    if plan:
        from ..exploration.plan import plan as plan_exploration

        with redirect_user_output():
            system, frame, options = _load_request(request, trust)
            estimate = plan_exploration(
                system, frame, walks, trial=trial, steps=20 if steps is None else steps, **options
            )
        if as_json:
            names = ("subject", "walks", "best", "walk_distance", "step_factor", "options", "shares", "spent")
            document = {name: getattr(estimate, name) for name in names}
            tables = {"strategies": estimate.table, "curve": estimate.curve}
            print_json(document | {name: table.to_dict("records") for name, table in tables.items()})
        else:
            print_text(estimate.describe())
            print_line(f"as options: {_format_plan_options(estimate.options)}")
        return
    request |= {
        "strategy": strategy,
        "walks": walks,
        "steps": steps,
        "delta": delta,
        "refine": refine,
        "pool": pool,
        "budget": budget,
        "timeout": timeout,
        "batch": batch,
    }
    with open_store(store) as run_store, record_calls(record):
        run_exploration(
            request,
            run_store,
            trust=trust,
            engine=make_engine(engine, workers),
            save=save,
            html=html,
            baseline=baseline,
            as_json=as_json,
            store_option=format_store_option(store),
        )


def run_exploration(
    request: dict[str, Any],
    store: Store | None,
    *,
    engine: Engine,
    resume: int | None = None,
    trust: bool = False,
    save: Path | None = None,
    html: Path | None = None,
    baseline: Front | None = None,
    as_json: bool = False,
    store_option: str = "",
) -> None:
    """Explore as a request says, or resume a run, and print what was found."""
    from ..exploration.api import explore as find_front
    from ..exploration.text import format_example

    notice = RunNotice(store, store_option)
    keep = notice.make_store_options(request, resume)
    run_options = {name: request[name] for name in RUN_OPTIONS}
    with redirect_user_output(), notice, Interrupts():
        system, frame, options = _load_request(request, trust)
        front = find_front(system, frame, **(run_options | options), engine=engine, store=keep)
        difference = None if baseline is None else baseline.diff(front)
        # these call the model, as saving and the report do: its output must not reach stdout
        document, text = (front.document(), "") if as_json else ({}, front.describe())
        if save is not None:
            front.save(save)
        if html is not None:
            _write_report(front, difference, html)
    if as_json:
        document |= {"seed": request["seed"]}
        if difference is not None:
            statuses = difference.table["status"].value_counts()
            document["difference"] = {
                "unchanged": bool(difference.unchanged),
                "findings": list(difference.findings),
                "statuses": {str(status): int(count) for status, count in statuses.items()},
            }
        print_json(document | {"run": notice.run, "interrupted": front.interrupted})
    else:
        print_text(text)
        if len(front):
            print_line(f"for example, {format_example(front)}")
        for choice in front.choices:
            figures = "{strategy} {walks} walks, {pairs} pairs, {new} new cells, {runs} runs".format(**choice)
            print_line(f"  round {choice['round']}: {figures}")
        if difference is not None:
            print_line(f"\n{difference.describe()}")
        if html is not None:
            print_line(f"The report: {html}")
        notice.print_end()
    if front.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if difference is not None and not difference.unchanged:
        raise typer.Exit(ExitCode.FINDINGS)


def _format_plan_options(options: dict[str, Any]) -> str:
    """Return the options that a plan recommends, as those of the command."""
    words: list[str] = []
    for name, value in options.items():
        if name == "feature_steps":
            words += [word for column, step in value.items() for word in ("--column-step", f"{column}={step:.12g}")]
        else:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _write_report(front: Front, difference: Difference | None, path: Path) -> None:
    """Write the report of a front; it begins with the changes, if it was compared with an earlier one."""
    if difference is None:
        front.to_html(path)
        return
    from ..reporting.export import write_export
    from ..reporting.html import render_page

    page = front.page()
    sections = [*difference.page().sections, *page.sections]
    write_export(render_page(replace(page, sections=sections)), path, "report")


def _load_request(request: dict[str, Any], trust: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Return the system, the data, and the options that exploring and planning share."""
    system, options = load_system(request["model"], request["subject"], trust)
    frame = None if request["data"] is None else load_data(request["data"])
    space = load_space(request.get(SPACE_KEY), frame, request["target"], system, options)
    options |= {EXPLORE_HINTS.get(name, name): hint for name, hint in request.get(HINTS_KEY, {}).items()}
    options |= {key: request[key] for key in (CLASSES_KEY, NAME_KEY) if key in request}
    return system, frame, {name: request[name] for name in PLAN_OPTIONS} | options | {"space": space}

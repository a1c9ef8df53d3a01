"""The command ``datamorphic explore``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import SystemFailed, UsageError
from ..runs.interrupts import Interrupts
from .console import FINDINGS, Json, Seed, console, escaped, print_json, ready_to_write, to_printable, user_code
from .load import (
    Coded,
    Data,
    Inputs,
    Model,
    Scalar,
    Target,
    Timeout,
    Trust,
    lasting,
    load_data,
    load_system,
    sorted_out,
)
from .store_options import Batch, EngineName, Numbered, StoreUrl, Workers, hint, open_store

#: the words of a run, and nothing else that a store may say, become arguments when it goes on
SHARED = ("walk_distance", "moves", "seeds", "seed", "target", "threshold", "jump", "labels", "scalar")
HOW = ("strategy", "walks", "steps", "delta", "refine", "pool", "budget", "timeout", "batch")
WORDS = ("model", "data", "subject", *SHARED, *HOW)

#: what functions of one case say to a frame
TAKES_ONE = re.compile(r"missing \d+ required|truth value of a (DataFrame|Series) is ambiguous")


def explore(
    model: Model = None,
    inputs: Inputs = None,
    subject: Coded = None,
    data: Data = None,
    target: Target = None,
    strategy: Annotated[
        str, typer.Option(help="random_walk, random_target, directed_walk, or auto.")
    ] = "random_walk",
    walks: Annotated[int, typer.Option(help="How many walks.")] = 1000,
    seeds: Annotated[int | None, typer.Option(help="How many inputs to start from; all by default.")] = None,
    moves: Annotated[str | None, typer.Option(help="The moves to take, separated by commas.")] = None,
    steps: Annotated[
        int | None, typer.Option(help="How often a pair is halved: 20, or with --delta as it takes.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="A pair this near to each other is near enough.")] = None,
    walk_distance: Annotated[int, typer.Option(help="How many steps a walk has at most.")] = 20,
    refine: Annotated[str, typer.Option(help="auto, bisect, score or multisection.")] = "auto",
    pool: Annotated[
        str, typer.Option(help="fixed, or growing: later walks may start from what was found.")
    ] = "fixed",
    threshold: Annotated[
        float | None, typer.Option(help="For answers that are numbers: the value to cross.")
    ] = None,
    jump: Annotated[float | None, typer.Option(help="For answers that are numbers: the jump to look for.")] = None,
    labels: Annotated[str, typer.Option(help="How to read labels: auto, plain, hierarchy or multi.")] = "auto",
    budget: Annotated[str | None, typer.Option(help='What it may cost: "1m" or "10000 runs".')] = None,
    timeout: Timeout = None,
    trust: Trust = False,
    scalar: Scalar = False,
    batch: Batch = None,
    workers: Workers = None,
    engine: EngineName = None,
    store: StoreUrl = None,
    seed: Seed = 0,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what it would find and cost.")] = False,
    compare: Annotated[
        Path | None, typer.Option(help="A front saved before: say where the border moved; exit code 1 if it did.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the front to this Parquet file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report with pictures to this file.")] = None,
    as_json: Json = False,
) -> None:
    """Walk the inputs of a model and find where its answer changes.

    Prints how many border pairs (nearly equal inputs, different answers) were found and what that cost.

    Examples: datamorphic explore --subject "Box 1" --strategy random_target --walks 1200 --seeds 200;
    datamorphic explore model.skops customers.csv --target churned --html borders.html
    """
    from ..exploration.front import Front
    from ..exploration.plan import plan as plan_for
    from ..runs.engines import make_engine

    model, where = sorted_out(model, inputs, subject, data, target)
    if plan and (save or html or compare):
        raise UsageError("--plan makes no front to save, show or compare. Leave out --save, --html and --compare.")
    for file in (save, html):
        if file is not None:
            ready_to_write(file)  # before the search: what it finds should not be lost over a folder
    baseline = Front.load(compare) if compare is not None else None
    if baseline is not None and threshold is None and jump is None and labels == "auto":
        kind, value = baseline.settings.get("border_kind"), baseline.settings.get("border_value")
        threshold, jump = (value if kind == each else None for each in ("threshold", "jump"))
    words: dict[str, Any] = {
        "model": lasting(model), "data": lasting(where), "subject": subject, "target": target, "seed": seed,
        "seeds": seeds, "walk_distance": walk_distance, "threshold": threshold, "jump": jump, "labels": labels,
        "scalar": scalar,
        "moves": None if moves is None else [name.strip() for name in moves.split(",") if name.strip()],
    }  # fmt: skip
    if plan:
        with user_code(), hinting_at_scalar(words):
            system, frame, common = _loaded(words, trust)
            planned = plan_for(system, frame, walks, steps=20 if steps is None else steps, **common)
        _print_plan(planned, as_json)
        return
    words |= {
        "strategy": strategy, "walks": walks, "steps": steps, "delta": delta, "refine": refine, "pool": pool,
        "budget": budget, "timeout": timeout, "batch": batch,
    }  # fmt: skip
    with open_store(store) as kept:
        perform(
            words, kept, trust=trust, engine=make_engine(engine, workers), save=save, html=html, baseline=baseline,
            as_json=as_json, hint=hint(store),
        )  # fmt: skip


def perform(
    words: dict[str, Any],
    store: Any,
    *,
    engine: Any,
    resume: int | None = None,
    trust: bool = False,
    save: Path | None = None,
    html: Path | None = None,
    baseline: Any = None,
    as_json: bool = False,
    hint: str = "",
) -> None:
    """Explore as the words say, go on with a run if one is named, and tell what was found."""
    from ..exploration.api import explore as run
    from ..runs.keep import KeepOptions

    number = Numbered(store, hint)
    keep = None if store is None else KeepOptions(store, resume, {"words": words}, number)
    asked = {name: words[name] for name in HOW}
    with user_code(), number, Interrupts(), hinting_at_scalar(words):
        system, frame, common = _loaded(words, trust)
        front = run(system, frame, **(asked | common), engine=engine, store=keep)
        difference = None if baseline is None else baseline.diff(front)
        front.deciding()  # asks the model once more, and so do saving and the report
        if save is not None:
            front.save(save)
        if html is not None:
            front.to_html(html)
    if as_json:
        found = {"run": number.run, "interrupted": front.tally.interrupted}
        print_json(_document(front, words["seed"], difference) | found)
    else:
        _print(front, difference, html)
        number.tell()
    if difference is not None and not difference.unchanged:
        raise typer.Exit(FINDINGS)


@contextmanager
def hinting_at_scalar(words: dict[str, Any]) -> Iterator[None]:
    """Name the option for functions of one case, if the system failed as they do."""
    try:
        yield
    except SystemFailed as error:
        if words["scalar"] or not TAKES_ONE.search(str(error)):
            raise
        raise SystemFailed(f"{error} If it takes one case and not a frame of them, say --scalar.") from error


def _loaded(words: dict[str, Any], trust: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Return the system and the data that the words stand for, and the options that all verbs share."""
    system, options = load_system(words["model"], words["subject"], trust)
    frame = None if words["data"] is None else load_data(words["data"])
    return system, frame, {name: words[name] for name in SHARED} | options


def _document(front: Any, seed: int, difference: Any) -> dict[str, Any]:
    document = {**front.document(), "seed": seed}
    if difference is not None:
        document["difference"] = {
            "unchanged": bool(difference.unchanged),
            "findings": list(difference.findings),
            "statuses": {str(k): int(v) for k, v in difference.table["status"].value_counts().items()},
        }
    return document


def _print(front: Any, difference: Any, html: Path | None) -> None:
    from ..exploration.text import format_example

    out = console()
    first, *rest = front.describe().splitlines()
    out.print(f"[bold]{escaped(to_printable(first))}[/bold]")
    for line in rest:
        out.print(to_printable(line), markup=False)
    if len(front):
        out.print(f"for example, {to_printable(format_example(front))}", markup=False)
    for choice in front.choices:
        out.print(
            "  round {round}: {strategy} {walks} walks, {pairs} pairs, {new} new cells, {runs} runs".format(
                **choice
            ),
            markup=False,
        )
    if difference is not None:
        out.print(f"\n{to_printable(difference.describe())}", markup=False)
    if html is not None:
        out.print(f"The report, with pictures: {html}", markup=False)


def _print_plan(plan: Any, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "subject": plan.subject,
                "walks": plan.walks,
                "best": plan.best,
                "walk_distance": plan.walk_distance,
                "step_factor": plan.step_factor,
                "shares": plan.shares,
                "strategies": plan.table.to_dict("records"),
            }
        )
    else:
        console().print(to_printable(plan.describe()), markup=False)

"""The command ``datamorphic laws``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import UsageError
from . import options as opt
from .console import print_json, print_text, redirect_user_output
from .exit_codes import ExitCode
from .load import load_data, load_object, load_space, to_absolute_path
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..space.options import SpaceOptions


def laws(
    system: Annotated[str | None, opt.argument("SYSTEM", "A test system: module:Class, or a module.")] = None,
    subject: Annotated[str | None, opt.option("NAME", 'A built-in classifier instead of SYSTEM, e.g. "Box 1".')] = None,
    data: Annotated[
        str | None, opt.option("DATA", "A CSV or Parquet file, or data:NAME: check the moves derived from these data.")
    ] = None,
    target: Annotated[str | None, opt.option("COL", "The column of the data that holds the label.")] = None,
    space: opt.SpaceFile = None,
    kind: opt.KindHints = None,
    feature_step: opt.StepHints = None,
    bounds: opt.BoundHints = None,
    order: opt.OrderHints = None,
    examples: Annotated[int, opt.option("N", "Number of triples of points to try.", min=1)] = 500,
    store: opt.StoreUrl = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Check the laws that exploration relies on: moves, midpoint and distance of a test system.

    Prints HOLDS or BROKEN for each law, with a counter-example for a broken one. The exit code is 1 if a law is broken.
    Counter-examples are stored and tried first the next time.

    Examples: datamorphic laws my_tests:RedWine; datamorphic laws --subject "Box 1";
    datamorphic laws --data data:iris --target target
    """
    from ..morphisms.api import laws as check_laws

    hints = opt.parse_hints(kind, feature_step, bounds, order)
    request = {
        **hints.to_dict(),
        "model": system,
        "subject": subject,
        "data": to_absolute_path(data),
        "target": target,
        "examples": examples,
        **opt.collect_options(space=space and os.path.abspath(space)),
    }
    with open_store(store) as run_store:
        notice = RunNotice(run_store, format_store_option(store), resumable=False)
        with redirect_user_output(), notice:
            source = _load_source(system, subject, data, target, space, hints)
            report = check_laws(source, examples=examples, seed=seed, store=notice.make_store_options(request))
        if as_json:
            print_json({**report.document(), "examples": examples, "run": notice.run})
        else:
            print_text(report.describe())
            notice.print_end()
    if not report.holds:
        raise typer.Exit(ExitCode.FINDINGS)


def _load_source(
    system: str | None,
    subject: str | None,
    data: str | None,
    target: str | None,
    space: Path | None,
    hints: SpaceOptions,
) -> object:
    if hints and data is None:
        raise UsageError(f"Hints for columns ({', '.join(hints.to_dict())}) need --data FILE.")
    if target is not None and data is None:
        raise UsageError("--target names a column of --data, but no data are given. Add --data FILE.")
    sources = [source for source in (system, subject, data or space) if source is not None]
    if len(sources) != 1:
        raise UsageError(
            "Say what to check, one of: a test system (module:Class), --subject NAME, --data FILE, or --space FILE. "
            f"Got {len(sources)} of them."
        )
    if space is not None:
        described_space = load_space(space, None if data is None else load_data(data), target)
        hints.validate_alone("laws", described_space)
        return described_space
    if subject is not None:
        from ..data.subjects import subjects

        return subjects[subject]
    if data is not None:
        return hints.infer_space(load_data(data), target=target)
    source: object = load_object(str(system))
    return source

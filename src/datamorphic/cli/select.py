"""The command ``datamorphic select``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .console import print_json, print_line, print_text, print_written_files, redirect_user_output, write_rows
from .load import load_data, load_rows
from .options import (
    BoundHints,
    Data,
    DataArgument,
    HtmlFile,
    Json,
    KindHints,
    OrderHints,
    Seed,
    SpaceHints,
    StepHints,
    Target,
    Trust,
)
from .tree_options import (
    Constants,
    Criterion,
    FitSurrogate,
    Joint,
    Offset,
    SurrogateData,
    Tolerance,
    TreeModelArgument,
    load_tree_model,
    parse_constants,
    parse_offset,
    prepare_other_files,
)


def select(
    model: TreeModelArgument = None,
    inputs: DataArgument = None,
    data: Data = None,
    target: Target = None,
    criterion: Criterion = "DTC",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rows to this CSV file.", show_default=False)
    ] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="Search for the smallest set of rows instead of a random one.")
    ] = False,
    offset: Offset = "step",
    constants: Constants = "neighbours",
    joint: Joint = None,
    tolerance: Tolerance = None,
    kind: KindHints = None,
    feature_step: StepHints = None,
    bounds: BoundHints = None,
    order: OrderHints = None,
    surrogate: FitSurrogate = False,
    train: SurrogateData = None,
    html: HtmlFile = None,
    trust: Trust = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose test rows that exercise a tree: reach its leaves, lie at their limits, or kill its mutants.

    Examples: datamorphic select tree.skops all.csv --target label --criterion DTMT --minimal --out tests.csv; datamorphic
    select tree.skops all.csv --target label --criterion BVA --offset 0.5 --out limits.csv
    """
    from ..trees.coverage.select_api import select as select_rows

    prepare_other_files([model, inputs or data, train], out, html)
    options: dict[str, Any] = {
        "offset": parse_offset(offset),
        "per_node": parse_constants(constants),
        **SpaceHints(kind, feature_step, bounds, order).parse_arguments(),
    }
    with redirect_user_output():
        selection = select_rows(
            load_tree_model(model, trust),
            load_rows(inputs, data),
            criterion.upper(),
            target,
            minimal,
            seed,
            joint=joint,
            tolerance=tolerance,
            surrogate=surrogate if train is None else load_data(train),
            **options,
        )
        if out is not None:
            write_rows(selection.rows, out)
        if html is not None:
            selection.to_html(html)
    if as_json:
        print_json(selection.document())
        return
    print_text(selection.describe())
    if out is None:
        print_line(selection.rows.to_string(max_rows=20))
    print_written_files(out, html)

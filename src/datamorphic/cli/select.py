"""The command ``datamorphic select``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from . import options as opt
from . import tree_options
from .console import print_json, print_line, print_text, print_written_files, redirect_user_output, write_rows
from .load import load_data, load_rows, load_space


def select(
    model: tree_options.TreeModelArgument = None,
    inputs: opt.DataArgument = None,
    data: opt.Data = None,
    target: opt.Target = None,
    criterion: tree_options.Criterion = "DTC",
    out: Annotated[Path | None, opt.option("FILE", "Write the rows to this CSV file.")] = None,
    minimal: Annotated[
        bool, opt.flag("--minimal", "Search for the smallest set of rows instead of a random one.")
    ] = False,
    offset: tree_options.SelectOffset = "step",
    per_node: tree_options.PerNodeOption = "neighbours",
    joint: tree_options.Joint = None,
    tolerance: tree_options.Tolerance = None,
    space: opt.SpaceFile = None,
    kind: opt.KindHints = None,
    feature_step: opt.StepHints = None,
    bounds: opt.BoundHints = None,
    order: opt.OrderHints = None,
    surrogate: tree_options.FitSurrogate = False,
    train: tree_options.SurrogateData = None,
    html: opt.HtmlFile = None,
    trust: opt.Trust = False,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Choose test rows that exercise a tree: reach its leaves, lie at their limits, or kill its mutants.

    Examples: datamorphic select tree.skops all.csv --target label --criterion DTMT --minimal --out tests.csv; datamorphic
    select tree.skops all.csv --target label --criterion BVA --offset 0.5 --out limits.csv
    """
    from ..trees.coverage.api import select as select_rows

    tree_options.prepare_other_files([model, inputs or data, train], out, html)
    options: dict[str, Any] = {
        **tree_options.parse_numbers(offset, per_node),
        **opt.parse_hints(kind, feature_step, bounds, order).to_dict(),
    }
    with redirect_user_output():
        tree, rows = tree_options.load_tree_model(model, trust), load_rows(inputs, data)
        selection = select_rows(
            tree,
            rows,
            criterion.upper(),
            target,
            minimal,
            seed,
            joint=joint,
            tolerance=tolerance,
            space=load_space(space, rows, target, tree),
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

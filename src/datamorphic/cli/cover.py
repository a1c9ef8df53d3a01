"""The command ``datamorphic cover``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import format_percent, pluralize
from . import options as opt
from . import tree_options
from .console import print_json, print_line, print_text, print_written_files, redirect_user_output, write_rows
from .exit_codes import ExitCode
from .load import load_data, load_rows, load_space

if TYPE_CHECKING:
    import pandas as pd


def cover(
    model: tree_options.TreeModelArgument = None,
    inputs: opt.DataArgument = None,
    data: opt.Data = None,
    target: opt.Target = None,
    criterion: tree_options.Criterion = "DTC",
    at_least: Annotated[
        float | None,
        opt.option("SHARE", "Exit with 1 if a smaller share than this is covered, e.g. 0.8.", min=0, max=1),
    ] = None,
    fix: Annotated[Path | None, opt.option("FILE", "Write rows that cover what is missing to this CSV file.")] = None,
    show: Annotated[int, opt.option("N", "Number of leaves and mutants to list.", min=0)] = 5,
    offset: tree_options.Offset = "step",
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
    svg: Annotated[Path | None, opt.option("FILE", "Write a drawing of the tree to this file.")] = None,
    junit: opt.JunitFile = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Measure a test set: which leaves of a tree it reaches, and which mutants of the tree it kills.

    The model is a tree, a forest or boosted trees of scikit-learn, XGBoost (.json, .ubj), LightGBM (.txt) or CatBoost
    (.cbm), or a PMML file. The rows that --fix writes were tried on the tree. They have no label: a person has to add it.

    Examples: datamorphic cover tree.skops tests.csv --criterion DTMT --at-least 0.8 --fix extra.csv; datamorphic cover
    my_models:forest data:wine --target target --html coverage.html; datamorphic cover tree.pmml tests.csv --svg tree.svg
    """
    from ..trees.coverage.api import cover as measure
    from ..trees.coverage.coverage import stack_frames
    from ..trees.coverage.surrogate import fit_surrogate_to_model

    rows = load_rows(inputs, data)
    tree_options.prepare_other_files([model, inputs or data, train], fix, html, svg, junit)
    options: dict[str, Any] = {
        "target": target,
        "criterion": criterion.upper(),
        **tree_options.parse_numbers(offset, per_node),
        "joint": joint,
        "tolerance": tolerance,
    }
    hints = opt.parse_hints(kind, feature_step, bounds, order)
    gain, extra_rows = "", None
    with redirect_user_output():
        tree = tree_options.load_tree_model(model, trust)
        described_space = load_space(space, rows, target, tree)
        hints.validate_alone("cover", described_space)
        if surrogate or train is not None:  # fitted here, because --fix measures coverage twice
            background = None if train is None else load_data(train)
            if hints:
                described_space = hints.infer_space(rows, target=target)
            tree = fit_surrogate_to_model(tree, rows, background, target=target, space=described_space)
        else:
            options |= {**hints.to_dict(), "space": described_space}
        coverage = measure(tree, rows, **options)
        if fix is not None:
            extra_rows = coverage.fix()
            write_rows(extra_rows, fix)
            fixed = measure(tree, stack_frames([rows, extra_rows], rows), **options)
            gain = _format_gain(coverage.share, fixed.share, extra_rows, fix)
        if html is not None:
            coverage.to_html(html)
        if svg is not None:
            coverage.to_svg(svg)
        if junit is not None:
            coverage.to_junit(junit, at_least)
    enough = at_least is None or coverage.share >= at_least
    if as_json:
        document = coverage.document() | {"at_least": at_least, "enough": enough}
        print_json(document if extra_rows is None else document | {"extra": len(extra_rows)})
    else:
        print_text(coverage.describe(show), passed=None if at_least is None else enough)
        if not enough:
            print_line(f"Too little: --at-least asks for {format_percent(at_least or 0)}.")
        if gain:
            print_line(gain)
        print_written_files(html, svg, junit)
    if not enough:
        raise typer.Exit(ExitCode.FINDINGS)


def _format_gain(before: float, after: float, extra_rows: pd.DataFrame, file: Path) -> str:
    if before == 1:
        return f"Nothing is missing: {file} has no rows."
    if not len(extra_rows):
        return f"No rows were found that cover more: {file} is empty."
    return f"{pluralize(len(extra_rows), 'row')} in {file} would raise the score from {format_percent(before)} to {format_percent(after)}."

"""The command ``datamorphic cover``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import pluralize
from .console import print_json, print_line, print_text, print_written_files, redirect_user_output, write_rows
from .exit_codes import ExitCode
from .load import load_data, load_rows
from .options import (
    BoundHints,
    Data,
    DataArgument,
    HtmlFile,
    Json,
    JunitFile,
    KindHints,
    OrderHints,
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

if TYPE_CHECKING:
    import pandas as pd


def cover(
    model: TreeModelArgument = None,
    inputs: DataArgument = None,
    data: Data = None,
    target: Target = None,
    criterion: Criterion = "DTC",
    at_least: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Exit with 1 if a smaller share than this is covered, e.g. 0.8.",
            min=0,
            max=1,
            show_default=False,
        ),
    ] = None,
    fix: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write rows that cover what is missing to this CSV file.", show_default=False
        ),
    ] = None,
    show: Annotated[int, typer.Option(metavar="N", help="Number of leaves and mutants to list.", min=0)] = 5,
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
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a drawing of the tree to this file.", show_default=False)
    ] = None,
    junit: JunitFile = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Measure a test set: which leaves of a tree it reaches, and which mutants of the tree it kills.

    The model is a tree, a forest or boosted trees of scikit-learn, XGBoost (.json, .ubj), LightGBM (.txt) or CatBoost
    (.cbm), or a PMML file. The rows that --fix writes were tried on the tree. They have no label: a person has to add it.

    Examples: datamorphic cover tree.skops tests.csv --criterion DTMT --at-least 0.8 --fix extra.csv; datamorphic cover
    my_models:forest data:wine --target target --html coverage.html; datamorphic cover tree.pmml tests.csv --svg tree.svg
    """
    from ..trees.coverage.api import cover as measure
    from ..trees.coverage.coverage import stack_frames
    from ..trees.coverage.surrogate_api import fit_surrogate_to_model

    rows = load_rows(inputs, data)
    prepare_other_files([model, inputs or data, train], fix, html, svg, junit)
    options: dict[str, Any] = {
        "target": target,
        "criterion": criterion.upper(),
        "offset": parse_offset(offset),
        "per_node": parse_constants(constants),
        "joint": joint,
        "tolerance": tolerance,
    }
    hints = SpaceHints(kind, feature_step, bounds, order)
    gain, extra_rows = "", None
    with redirect_user_output():
        tree = load_tree_model(model, trust)
        if surrogate or train is not None:  # fitted here, because --fix measures coverage twice
            background, space_options = None if train is None else load_data(train), hints.parse()
            space = space_options.infer_space(rows, target=target) if space_options else None
            tree = fit_surrogate_to_model(tree, rows, background, target=target, space=space)
        else:
            options |= hints.parse_arguments()
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
            print_line(f"Too little: --at-least asks for {100 * (at_least or 0):g} %.")
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
    return f"{pluralize(len(extra_rows), 'row')} in {file} would raise the score from {before:.2%} to {after:.2%}."

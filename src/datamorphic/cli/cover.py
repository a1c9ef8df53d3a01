"""The commands ``datamorphic cover`` and ``datamorphic select``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import pluralize
from ..errors import UsageError
from ..trees.files import is_tree_file, load_trees
from .console import (  # fmt: skip
    FINDINGS,
    Json,
    Seed,
    console,
    print_json,
    print_text,
    ready_to_write,
    tell_written,
    user_code,
    write_rows,
)
from .load import Data, Inputs, Target, Trust, load_data, load_system

if TYPE_CHECKING:
    import pandas as pd

Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        help="A model file (.skops, .pmml, .json, .ubj, .txt, .cbm), or module:object.",
        show_default=False,
    ),
]
Criterion = Annotated[
    str,
    typer.Option(
        help="DTC: every leaf; BVA: every leaf by a row at its limits; DTMT: every mutant of a decision."
    ),
]
Offset = Annotated[
    str, typer.Option(help="For BVA, how near a limit: step, unit, or a share of the spacing of values, e.g. 0.5.")
]
Constants = Annotated[
    str,
    typer.Option(
        help="For DTMT, the constants a decision is given: neighbours, a number of them at most, or all."
    ),
]
Joint = Annotated[
    bool | None,
    typer.Option(
        "--joint/--each", help="For DTMT and forests: the whole forest must answer differently, or each tree."
    ),
]
Tolerance = Annotated[
    float | None, typer.Option(help="For DTMT and numbers: from what difference on they differ.")
]
Stand = Annotated[
    bool, typer.Option("--surrogate", help="For a model without trees: fit one to its answers, and take that.")
]
Train = Annotated[
    str | None,
    typer.Option(
        help="With --surrogate: rows to fit the tree to, other than those that are judged.", show_default=False
    ),
]


def cover(
    model: Model = None,
    inputs: Inputs = None,
    data: Data = None,
    target: Target = None,
    criterion: Criterion = "DTC",
    at_least: Annotated[
        float | None,
        typer.Option(help="Exit with 1 if a smaller share than this is covered, e.g. 0.8.", min=0, max=1),
    ] = None,
    fix: Annotated[
        Path | None, typer.Option(help="Write rows that cover what is missing to this CSV file.")
    ] = None,
    show: Annotated[int, typer.Option(help="How many leaves and mutants to name.", min=0)] = 5,
    offset: Offset = "step",
    constants: Constants = "neighbours",
    joint: Joint = None,
    tolerance: Tolerance = None,
    surrogate: Stand = False,
    train: Train = None,
    html: Annotated[Path | None, typer.Option(help="Write the page to this file.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the tree, drawn, to this file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML file for CI.")] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Is my test set good enough? Tell which leaves of a tree it reaches, and which mutants of it it kills.

    The model is a tree, a forest or boosted trees of scikit-learn, XGBoost (.json, .ubj), LightGBM (.txt) or CatBoost
    (.cbm), or a PMML file. Rows that --fix writes were tried: they do cover what was missing. They have no label: nobody
    knows it.

    Examples: datamorphic cover tree.skops tests.csv --criterion DTMT --at-least 0.8 --fix extra.csv; datamorphic cover
    my_models:forest data:wine --target target --html coverage.html; datamorphic cover tree.pmml tests.csv --svg tree.svg
    """
    from ..trees.coverage.api import cover as run
    from ..trees.coverage.coverage import stack_frames
    from ..trees.coverage.surrogate_api import fit_surrogate_to_model

    rows = _data(inputs, data)
    _ready([model, inputs or data, train], fix, html, svg, junit)
    options: dict[str, Any] = {
        "target": target, "criterion": criterion.upper(), "offset": _offset(offset),
        "per_node": _per_node(constants), "joint": joint, "tolerance": tolerance,
    }  # fmt: skip
    lifted = ""
    with user_code():
        tree = _model(model, trust)
        if surrogate or train is not None:
            tree = fit_surrogate_to_model(tree, rows, None if train is None else load_data(train), target=target)
        found = run(tree, rows, **options)
        if fix is not None:
            extra = found.fix()
            write_rows(extra, fix)
            lifted = _lifted(
                found.share, run(tree, stack_frames([rows, extra], rows), **options).share, extra, fix
            )
        if html is not None:
            found.to_html(html)
        if svg is not None:
            found.to_svg(svg)
        if junit is not None:
            found.to_junit(junit, at_least)
    enough = at_least is None or found.share >= at_least
    if as_json:
        told = found.document()
        print_json(
            told | {"at_least": at_least, "enough": enough} | ({"extra": len(extra)} if fix is not None else {})
        )
    else:
        print_text(found.describe(show))
        out = console()
        if not enough:
            out.print(f"Too little: {100 * (at_least or 0):g} % were asked for.", markup=False)
        if lifted:
            out.print(lifted, markup=False)
        tell_written(html, svg, junit)
    if not enough:
        raise typer.Exit(FINDINGS)


def select(
    model: Model = None,
    inputs: Inputs = None,
    data: Data = None,
    target: Target = None,
    criterion: Criterion = "DTC",
    out: Annotated[Path | None, typer.Option(help="Write the rows to this CSV file.")] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="Look for the fewest rows, not for random ones.")
    ] = False,
    offset: Offset = "step",
    constants: Constants = "neighbours",
    joint: Joint = None,
    tolerance: Tolerance = None,
    surrogate: Stand = False,
    train: Train = None,
    html: Annotated[Path | None, typer.Option(help="Write the page to this file.")] = None,
    trust: Trust = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose test rows that exercise a tree: reach its leaves, lie at their limits, or kill its mutants.

    Examples: datamorphic select tree.skops all.csv --target label --criterion DTMT --minimal --out tests.csv; datamorphic
    select tree.skops all.csv --target label --criterion BVA --offset 0.5 --out limits.csv
    """
    from ..trees.coverage.select_api import select as run

    _ready([model, inputs or data, train], out, html)
    with user_code():
        found = run(
            _model(model, trust), _data(inputs, data), criterion.upper(), target, minimal, seed,
            offset="beyond" if offset == "beyond" else _offset(offset), per_node=_per_node(constants), joint=joint,
            tolerance=tolerance, surrogate=surrogate if train is None else load_data(train),
        )  # fmt: skip
        if out is not None:
            write_rows(found.rows, out)
        if html is not None:
            found.to_html(html)
    if as_json:
        print_json(found.document())
        return
    print_text(found.describe())
    if out is None:
        console().print(found.rows.to_string(max_rows=20), markup=False)
    tell_written(out, html)


def _data(inputs: str | None, data: str | None) -> pd.DataFrame:
    if (inputs is None) == (data is None):
        raise UsageError(
            "Say which rows: a CSV or Parquet file, or data:NAME."
            if inputs is None
            else "The data are given twice, as an argument and with --data. Leave one out."
        )
    return load_data(str(inputs or data))


def _model(text: str | None, trust: bool) -> Any:
    """Return the model, or its trees, that a file or module:object stands for."""
    if text is not None and is_tree_file(text):
        return load_trees(text)
    system, options = load_system(text, None, trust)
    if isinstance(system, str):
        from ..systems.files import load_model

        return load_model(system, **options)
    return system


def _offset(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _per_node(text: str) -> Any:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        return text


def _ready(read: list[str | None], *files: Path | None) -> None:
    """Raise `UsageError` if a file cannot be written, or is what is read."""
    for file in files:
        if file is None:
            continue
        for given in read:
            if given is not None and os.path.exists(given) and file.exists() and os.path.samefile(given, file):
                raise UsageError(f"{str(file)!r} is what is read: it would be written over. Name another file.")
        ready_to_write(file)


def _lifted(before: float, after: float, extra: pd.DataFrame, file: Path) -> str:
    """Return what further rows achieve, in words."""
    if before == 1:
        return f"Nothing is missing: {file} has no rows."
    if not len(extra):
        return f"No rows were found that cover more: {file} has none."
    return f"{pluralize(len(extra), 'row')} in {file} would lift it from {before:.2%} to {after:.2%}."

"""Options that ``datamorphic cover`` and ``datamorphic select`` share, and the loading of trees."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files
from .load import load_system

TreeModelArgument = Annotated[
    str | None, opt.argument("MODEL", "A model file (.skops, .pmml, .json, .ubj, .txt, .cbm), or module:object.")
]
Criterion = Annotated[
    str,
    opt.option("NAME", "DTC: every leaf. BVA: every leaf, by a row at its limits. DTMT: every mutant of a decision."),
]
Offset = Annotated[
    str,
    opt.option(
        "OFFSET", "For BVA, the distance to a limit: step, unit, or a share of the spacing of values, e.g. 0.5."
    ),
]
SelectOffset = Annotated[
    str,
    opt.option(
        "OFFSET",
        "For BVA, the distance to a limit: step, unit, or a share of the spacing of values, e.g. 0.5; or beyond, to draw values "
        "beyond the limits.",
    ),
]
PerNodeOption = Annotated[
    str,
    opt.option(
        "CONSTANTS",
        "For DTMT, the constants to put into a decision: neighbours, at most N of them, or all.",
        "--per-node",
        "--constants",
    ),
]
Joint = Annotated[
    bool | None,
    typer.Option(
        "--joint/--each",
        help="For DTMT and forests: a mutant is killed if the forest (--joint) or its own tree (--each) answers differently.",
    ),
]
Tolerance = Annotated[float | None, opt.option("VALUE", "For DTMT and numbers: the smallest difference that counts.")]
FitSurrogate = Annotated[
    bool, opt.flag("--surrogate", "For a model without trees: fit a tree to its answers and use that.")
]
SurrogateData = Annotated[
    str | None, opt.option("DATA", "With --surrogate: the rows to fit the tree to, other than DATA.")
]


def load_tree_model(text: str | None, trust: bool) -> Any:
    """Return the model, or its trees, that a file or ``module:object`` stands for."""
    from ..trees.read import is_tree_file, load_trees

    if text is not None and is_tree_file(text):
        return load_trees(text)
    system, options = load_system(text, None, trust)
    if isinstance(system, str):
        from ..systems.files import load_model

        return load_model(system, **options)
    return system


def parse_numbers(offset: str, per_node: str) -> dict[str, Any]:
    """Return ``--offset``, a share or a name, and ``--per-node``, a number, a name or all, as arguments."""
    arguments: dict[str, Any] = {"offset": offset, "per_node": None if per_node == "all" else per_node}
    with suppress(ValueError):
        arguments["offset"] = float(offset)
    with suppress(ValueError):
        arguments["per_node"] = int(per_node)
    return arguments


def prepare_other_files(input_names: list[str | None], *files: Path | None) -> None:
    """Raise `UsageError` if a file cannot be written or is one of the inputs."""
    for file in filter(None, files):
        for name in filter(None, input_names):
            if os.path.exists(name) and file.exists() and os.path.samefile(name, file):
                raise UsageError(f"{str(file)!r} is an input and would be overwritten. Name another file.")
    prepare_output_files(*files)

"""Arguments and options that several commands share, and the parsing of their values."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import parse_literal

if TYPE_CHECKING:
    from ..space.options import SpaceOptions


#: groups of options in the help of a command
COLUMNS_PANEL = "Columns of the data"
COMPUTING_PANEL = "Computing and keeping runs"
FILES_PANEL = "Files to write"


def option(
    metavar: str, text: str, *names: str, min: float | None = None, max: float | None = None, panel: str | None = None
) -> Any:
    """Declare an option: the placeholder of its value, its help, its name if the parameter has another, and its group."""
    return typer.Option(*names, metavar=metavar, help=text, min=min, max=max, rich_help_panel=panel)


def flag(name: str, text: str, panel: str | None = None) -> Any:
    """Declare an option without a value."""
    return typer.Option(name, help=text, rich_help_panel=panel)


def argument(metavar: str, text: str) -> Any:
    """Declare an argument: its placeholder and its help."""
    return typer.Argument(metavar=metavar, help=text)


HINTS_KEY = "hints"  # of stored requests: hints for columns, by name

Seed = Annotated[int, option("N", "Seed of the random numbers. The same seed gives the same result.", min=0)]
Json = Annotated[bool, flag("--json", "Print one JSON document on stdout and nothing else.")]

# -- the system under test and its data --------------------------------------------------------------------------------

DataArgument = Annotated[str | None, argument("DATA", "Real inputs: a CSV or Parquet file, or data:NAME (data:iris).")]
Subject = Annotated[str | None, option("NAME", 'A built-in classifier instead of MODEL, e.g. "Box 1".')]
Data = Annotated[str | None, option("DATA", "The same as the argument DATA.")]
Code = Annotated[
    str | None,
    option(
        "NAMES",
        "What line_coverage and branch_coverage count: Python files, modules or module:function, separated by commas. The "
        "default is the file of the function that is queried.",
    ),
]
Target = Annotated[str | None, option("COL", "The column of DATA that holds the label.")]
Timeout = Annotated[float | None, option("SECONDS", "Seconds to wait for an answer before it counts as hanging.")]
Trust = Annotated[
    bool, flag("--trust", "Load pickles, and skops files with unknown types. Loading them can run any code.")
]

# -- how columns are read ----------------------------------------------------------------------------------------------

SpaceFile = Annotated[
    Path | None,
    option(
        "FILE",
        "A TOML, YAML or JSON file that describes the inputs: kinds, bounds, steps, categories and constraints. What it does "
        "not say is inferred from the data.",
        panel=COLUMNS_PANEL,
    ),
]
KindHints = Annotated[
    list[str] | None,
    option(
        "COL=KIND",
        "Read a column as continuous, integer, categorical or text, e.g. age=integer. Repeatable.",
        panel=COLUMNS_PANEL,
    ),
]
StepHints = Annotated[
    list[str] | None,
    option(
        "COL=STEP", "The smallest change of a column, e.g. age=3. Repeatable.", "--column-step", panel=COLUMNS_PANEL
    ),
]
BoundHints = Annotated[
    list[str] | None,
    option(
        "COL=LOW:HIGH",
        "The range of a column, e.g. age=20:80; age=20: has no upper limit. Repeatable.",
        panel=COLUMNS_PANEL,
    ),
]
OrderHints = Annotated[
    list[str] | None,
    option(
        "COL=A,B,...",
        "The categories of a column in their order, e.g. card=Blue,Gold. Repeatable.",
        panel=COLUMNS_PANEL,
    ),
]

# -- computing and keeping runs ----------------------------------------------------------------------------------------

Budget = Annotated[str | None, option("BUDGET", 'Time or model calls to spend: "1m", "30s", "10000 runs".')]
AllowIncomplete = Annotated[
    bool, flag("--allow-incomplete", "Exit with 0 instead of 4 if nothing is found before the budget is spent.")
]
Batch = Annotated[
    int | None,
    option("N", "Rows per model call. Use fewer for slow systems with many workers.", min=1, panel=COMPUTING_PANEL),
]
Workers = Annotated[int | None, option("N", "Number of processes. The default is 1.", min=1, panel=COMPUTING_PANEL)]
EngineName = Annotated[
    str | None,
    option("ENGINE", "Where to compute: serial, processes, threads, or dask://host:port.", panel=COMPUTING_PANEL),
]
StoreUrl = Annotated[
    str | None,
    option(
        "URL",
        "Where to keep runs: a file, postgresql://..., or none. The default is $DATAMORPHIC_STORE, else a file in your "
        "data folder.",
        panel=COMPUTING_PANEL,
    ),
]

# -- files to write ----------------------------------------------------------------------------------------------------

HtmlFile = Annotated[Path | None, option("FILE", "Write an HTML report to this file.", panel=FILES_PANEL)]
JunitFile = Annotated[Path | None, option("FILE", "Write a JUnit XML file for CI servers.", panel=FILES_PANEL)]
RecordFile = Annotated[
    Path | None, option("FILE", "Record this call as a script, on test systems only.", panel=FILES_PANEL)
]

# -- learners and generators -------------------------------------------------------------------------------------------

LearnerParameters = Annotated[
    list[str] | None, option("NAME=VALUE", "A parameter of the learner, e.g. n_neighbors=3. Repeatable.")
]


def parse_hints(
    kind: list[str] | None, feature_step: list[str] | None, bounds: list[str] | None, order: list[str] | None
) -> SpaceOptions:
    """Return the values of ``--kind``, ``--column-step``, ``--bounds`` and ``--order`` as options of a space."""
    from ..core.parsing import parse_bounds, parse_kinds, parse_orders, parse_steps
    from ..space.options import SpaceOptions

    return SpaceOptions(
        kinds=parse_kinds(kind or ()),
        steps=parse_steps(feature_step or ()),
        bounds=parse_bounds(bounds or ()),
        orders=parse_orders(order or ()),
    )


def collect_options(**values: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def parse_pair(text: str, option: str, expected: str) -> tuple[str, str]:
    """Split ``NAME=VALUE`` at the first equals sign."""
    from ..core import parsing

    return parsing.parse_pair(text, option, expected)


def parse_parameters(texts: Iterable[str] | None) -> dict[str, Any]:
    """Return the parameters of a learner by name, their values as Python literals."""
    pairs = (parse_pair(text, "--param", "NAME=VALUE") for text in texts or ())
    return {name: parse_literal(value) for name, value in pairs}

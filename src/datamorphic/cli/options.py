"""Arguments and options that several commands share, and the parsing of their values."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from ..space.options import SpaceOptions

Seed = Annotated[
    int, typer.Option(metavar="N", help="Seed of the random numbers. The same seed gives the same result.", min=0)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]

# -- the system under test and its data --------------------------------------------------------------------------------

ModelArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL", help="A model file, or module:object. Leave it out with --subject.", show_default=False
    ),
]
DataArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA", help="Real inputs: a CSV or Parquet file, or data:NAME (data:iris).", show_default=False
    ),
]
Subject = Annotated[
    str | None,
    typer.Option(metavar="NAME", help='A built-in classifier instead of MODEL, e.g. "Box 1".', show_default=False),
]
Data = Annotated[str | None, typer.Option(metavar="DATA", help="The same as the argument DATA.", show_default=False)]
Target = Annotated[
    str | None, typer.Option(metavar="COL", help="The column of DATA that holds the label.", show_default=False)
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Seconds to wait for an answer before it counts as hanging.", show_default=False
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Load pickles, and skops files with unknown types. Loading them can run any code."),
]
Scalar = Annotated[
    bool, typer.Option("--scalar", help="MODEL is a function of one case: its features by name, or one dict.")
]

# -- how columns are read ----------------------------------------------------------------------------------------------

KindHints = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COL=KIND",
        help="Read a column as continuous, integer or categorical, e.g. age=integer. Repeatable.",
        show_default=False,
    ),
]
StepHints = Annotated[
    list[str] | None,
    typer.Option(
        "--feature-step",
        metavar="COL=STEP",
        help="The smallest change of a column, e.g. age=3. Repeatable.",
        show_default=False,
    ),
]
BoundHints = Annotated[
    list[str] | None,
    typer.Option(
        "--bounds",
        metavar="COL=LOW:HIGH",
        help="The range of a column, e.g. age=20:80; age=20: has no upper limit. Repeatable.",
        show_default=False,
    ),
]
OrderHints = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        metavar="COL=A,B,...",
        help="The categories of a column in their order, e.g. card=Blue,Gold. Repeatable.",
        show_default=False,
    ),
]

# -- computing and keeping runs ----------------------------------------------------------------------------------------

Batch = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Rows per model call. Use fewer for slow systems with many workers.",
        min=1,
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Number of processes. The default is 1.", min=1, show_default=False)
]
EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="ENGINE", help="Where to compute: serial, processes, threads, or dask://host:port.", show_default=False
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where to keep runs: a file, postgresql://..., or none. The default is $DATAMORPHIC_STORE, else a file in "
        "your data folder.",
        show_default=False,
    ),
]

# -- files to write ----------------------------------------------------------------------------------------------------

HtmlFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write an HTML report to this file.", show_default=False)
]
JunitFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a JUnit XML file for CI servers.", show_default=False)
]

# -- learners and generators -------------------------------------------------------------------------------------------

LearnerParameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="A parameter of the learner, e.g. n_neighbors=3. Repeatable.",
        show_default=False,
    ),
]
LikeLearner = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="The scikit-learn class whose algorithm it implements, e.g. sklearn.naive_bayes:GaussianNB.",
        show_default=False,
    ),
]
Candidates = Annotated[
    int | None, typer.Option("--k", metavar="N", help="Number of candidates per group.", min=1, show_default=False)
]


@dataclass(frozen=True)
class SpaceHints:
    """The values of ``--kind``, ``--feature-step``, ``--bounds`` and ``--order``, as they were typed."""

    kind: list[str] | None = None
    feature_step: list[str] | None = None
    bounds: list[str] | None = None
    order: list[str] | None = None

    def parse_arguments(self) -> dict[str, Any]:
        """Return the hints that were given as keyword arguments of a public function."""
        return dict(self.parse().to_dict())

    def parse(self) -> SpaceOptions:
        """Return the hints as options of a space."""
        return SpaceOptions(
            kinds=dict(_split_last(text, "--kind", "age=integer") for text in self.kind or ()),
            steps={
                name: _parse_number(value, "--feature-step", "age=3")
                for name, value in (_split_last(text, "--feature-step", "age=3") for text in self.feature_step or ())
            },
            bounds=dict(_parse_bounds(text) for text in self.bounds or ()),
            orders=dict(_parse_order(text) for text in self.order or ()),
        )


def _split_last(text: str, option: str, example: str) -> tuple[str, str]:
    """Split at the last equals sign: the value has none, the name of a column may."""
    name, sign, value = text.rpartition("=")
    if not sign or not name.strip() or not value.strip():
        raise UsageError(f"{option} takes a column and a value, as in {example}. Got {text!r}.")
    return name.strip(), value.strip()


def _parse_number(text: str, option: str, example: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{option} takes a number after the equals sign, as in {example}. Got {text!r}.") from None
    return int(number) if number.is_integer() else number


def _parse_bounds(text: str) -> tuple[str, tuple[float | None, float | None]]:
    example = "age=20:80"
    name, limits = _split_last(text, "--bounds", example)
    low, colon, high = limits.partition(":")
    if not colon:
        raise UsageError(f"--bounds takes a column and two limits, as in {example}. Got {text!r}.")
    return name, (
        _parse_number(low, "--bounds", example) if low.strip() else None,
        _parse_number(high, "--bounds", example) if high.strip() else None,
    )


def _parse_order(text: str) -> tuple[str, list[str | float]]:
    name, sign, listing = text.partition("=")
    labels = [label.strip() for label in listing.split(",")]
    if not sign or not name.strip() or not all(labels):
        raise UsageError(f"--order takes a column and its categories in order, as in card=Blue,Gold. Got {text!r}.")
    try:
        # numbers in a CSV file are read as numbers
        return name.strip(), [_parse_number(label, "--order", "") for label in labels]
    except UsageError:
        return name.strip(), [*labels]


def parse_pair(text: str, option: str, expected: str) -> tuple[str, str]:
    """Split ``NAME=VALUE`` at the first equals sign."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"{option} takes {expected}. Got {text!r}.")
    return name.strip(), value.strip()


def parse_parameters(texts: Iterable[str] | None) -> dict[str, Any]:
    """Return the parameters of a learner by name, their values as Python literals."""
    values = dict(parse_pair(text, "--param", "NAME=VALUE") for text in texts or ())
    return {name: _parse_literal(value) for name, value in values.items()}


def _parse_literal(text: str) -> Any:
    """Return a Python literal, or the text itself. Nothing is evaluated."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text

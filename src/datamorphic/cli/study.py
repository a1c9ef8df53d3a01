"""The command ``datamorphic study``: published tables beside our own."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from .console import Json, Seed, console, print_json, ready_to_write


class Scale(StrEnum):
    """How much of a study is done."""

    small = "small"
    full = "full"


def study(
    name: Annotated[
        str | None,
        typer.Argument(help="A table such as 000-12, or a group such as random_target.", show_default=False),
    ] = None,
    scale: Annotated[
        Scale, typer.Option(help="A minute or two at most, or as published, which may take hours.")
    ] = Scale.small,
    seed: Seed = 0,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with tables, notes and pictures to this file.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
    as_json: Json = False,
) -> None:
    """Compute a published table anew and set it beside the figures in print, with what is known to be wrong.

    Examples: datamorphic study --list; datamorphic study random_target; datamorphic study 000-4 --scale full;
    datamorphic study input_domains --html study.html
    """
    from ..studies import study as studies

    if listed:
        if name is not None:
            raise UsageError(f"--list shows all studies, and {name!r} is one. Leave one of the two out.")
        _print_listing(studies.listing(), as_json)
        return
    if name is None:
        raise UsageError("Say which study: datamorphic study NAME. See them with: datamorphic study --list")
    if html is not None:
        ready_to_write(html)  # before the work: what it finds should not be lost over a folder
    found = studies.study(name, scale=scale.value, seed=seed)
    page = None if html is None else found.to_html(html)
    if as_json:
        print_json(
            {
                "study": found.name,
                "scale": found.scale,
                "seed": found.seed,
                "seconds": round(found.seconds, 3),
                **({"html": str(page)} if page else {}),
                "rows": [
                    {key: _plain(value) for key, value in row.items()} for row in found.rows.to_dict("records")
                ],
            }
        )
    else:
        _print_study(found)
        if page:
            console().print(f"The page: {page}", markup=False)


def _print_listing(listing: Any, as_json: bool) -> None:
    if as_json:
        print_json({"studies": listing.to_dict("records")})
        return
    width = max(map(len, listing["name"]))
    for row in listing.itertuples():
        sys.stdout.write(f"{row.name:<{width}}  {row.title}  ({row.compares})\n")


def _print_study(found: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from ..studies.text import grids

    screen = console()
    if not screen.is_terminal:  # whoever reads a pipe wants whole lines
        sys.stdout.write(found.describe() + "\n")
        return
    tables, notes = grids(found)
    screen.print(f"{found.heading}\nCells: published / ours.", markup=False)
    for grid in tables:
        table = Table(title=grid.heading or None, title_justify="left", box=None, padding=(0, 2, 0, 0))
        table.add_column("")
        for column in grid.columns:
            table.add_column(Text(column), justify="right")
        for label, cells in grid.rows:
            table.add_row(Text(label), *map(Text, cells), style="bold" if "mean" in label else "")
        screen.print()
        screen.print(table)
    screen.print()
    for k, note in enumerate(notes, 1):
        screen.print(f"[{k}] {note}", markup=False, style="dim")


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it: what is no number is null, infinite costs too."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

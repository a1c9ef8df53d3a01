"""The command ``datamorphic study``: published tables beside our own figures."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_line, print_text, print_written_files


class StudyScale(StrEnum):
    """How much of a study is computed."""

    small = "small"
    full = "full"


def study(
    name: Annotated[
        str | None, opt.argument("NAME", "A table such as 000-12, or a group such as random_target.")
    ] = None,
    scale: Annotated[
        StudyScale, typer.Option(help="small takes two minutes at most; full is as published and may take hours.")
    ] = StudyScale.small,
    seed: opt.Seed = 0,
    html: opt.HtmlFile = None,
    list_studies: Annotated[bool, opt.flag("--list", "List the studies.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Reproduce a published table: our figures beside the printed ones, with notes on known errors.

    Examples: datamorphic study --list; datamorphic study random_target; datamorphic study 000-4 --scale full;
    datamorphic study input_domains --html study.html
    """
    from ..studies import study as studies

    if list_studies:
        if name is not None:
            raise UsageError(f"--list lists all studies, and {name!r} names one. Leave one of the two out.")
        listing = studies.list_studies()
        if as_json:
            print_json({"studies": listing.to_dict("records")})
        else:
            width = max(map(len, listing["name"]))
            for row in listing.itertuples():
                print_line(f"{row.name:<{width}}  {row.title}  ({row.compares})")
        return
    if name is None:
        raise UsageError("Say which study: datamorphic study NAME. See them with: datamorphic study --list")
    prepare_output_files(html)
    result = studies.study(name, scale=scale.value, seed=seed)
    if html is not None:
        result.to_html(html)
    if as_json:
        document = result.document()
        rows = document.pop("rows")
        print_json({**document, **({} if html is None else {"html": str(html)}), "rows": rows})
    else:
        print_text(result.describe())
        print_written_files(html)

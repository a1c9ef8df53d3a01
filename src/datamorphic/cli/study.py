"""The command ``datamorphic study``: published tables beside our own figures."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._files import to_local_path
from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_line, print_text, print_written_files
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..runs.engine_base import Engine
    from ..runs.store import Store

#: keys of a stored request; nothing else of a store becomes an argument
STUDY_REQUEST_KEYS = ("study", "scale", "seed")


class StudyScale(StrEnum):
    """How much of a study is computed."""

    small = "small"
    full = "full"


def study(
    name: Annotated[
        str | None, opt.argument("NAME", "A table such as 000-12, or a group such as random_target.")
    ] = None,
    every: Annotated[
        bool, opt.flag("--all", "Compute all studies, each table once; --html then names a folder.")
    ] = False,
    scale: Annotated[
        StudyScale, typer.Option(help="small takes minutes; full is as published and may take hours.")
    ] = StudyScale.small,
    seed: opt.Seed = 0,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    store: opt.StoreUrl = None,
    resume: Annotated[
        int | None, opt.option("RUN", "Resume this run of the store, with the same study, scale and seed.", min=1)
    ] = None,
    html: Annotated[
        Path | None, opt.option("FILE", "Write an HTML report to this file; with --all, a site to this folder.")
    ] = None,
    list_studies: Annotated[bool, opt.flag("--list", "List the studies.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Reproduce a published table: our figures beside the printed ones, with notes on known errors.

    Each measurement is kept in the run store when it is done, so that a killed study can be resumed.

    Examples: datamorphic study --list; datamorphic study random_target; datamorphic study 000-4 --scale full;
    datamorphic study input_domains --html study.html; datamorphic study --all --workers 2 --html site
    """
    from ..runs.engines import make_engine

    if list_studies:
        if name is not None or every:
            selection = "--all" if name is None else repr(name)
            raise UsageError(f"--list lists all studies, and {selection} computes. Leave one of the two out.")
        _print_list(as_json)
        return
    if every and name is not None:
        raise UsageError(f"--all computes all studies, and {name!r} names one. Leave one of the two out.")
    if name is None and not every:
        raise UsageError("Say which study: datamorphic study NAME. See them with: datamorphic study --list")
    with open_store(store, required=resume is not None) as run_store:
        run_study(
            {"study": name, "scale": scale.value, "seed": seed},
            run_store,
            engine=make_engine(engine, workers),
            resume=resume,
            html=html,
            as_json=as_json,
            store_option=format_store_option(store),
        )


def _print_list(as_json: bool) -> None:
    from ..studies.overview import list_tables_without_figures
    from ..studies.study import list_studies

    listing, without_figures = list_studies(), list_tables_without_figures()
    if as_json:
        print_json({"studies": listing.to_dict("records"), "without_figures": without_figures})
        return
    width = max(map(len, listing["name"]))
    for row in listing.itertuples():
        figures = f"; --html draws Figures {row.figures}" if row.figures else ""
        print_line(f"{row.name:<{width}}  {row.title}  ({row.compares}{figures})")
    print_line("")
    print_line("Published tables that are not computed:")
    for entry in without_figures:
        print_line(f"{entry['table']:<{width}}  {entry['title']}  ({entry['reason']})")


def run_study(
    request: dict[str, Any],
    store: Store | None,
    *,
    engine: Engine,
    resume: int | None = None,
    html: Path | None = None,
    as_json: bool = False,
    store_option: str = "",
    save: Path | None = None,
) -> None:
    """Compute the study of a request, or all of them if it names none, or resume such a run, and print the figures."""
    from ..studies import overview as studies_overview
    from ..studies import study as studies

    if save is not None:
        raise UsageError("A study has no front and no test set to save. Leave --save out, and use --html or --json.")
    notice = RunNotice(store, store_option)
    options: dict[str, Any] = {
        "scale": request["scale"],
        "seed": request["seed"],
        "engine": engine,
        "store": notice.make_store_options(request, resume),
    }
    if request["study"] is not None:
        prepare_output_files(html)
    elif html is not None:
        to_local_path(html, "folder of the site")
    with notice:
        if request["study"] is None:
            overview = studies_overview.study_all(**options)
            html = html if html is None else overview.to_site(html)
            document, rows_key, text = overview.document(), "studies", overview.describe()
        else:
            result = studies.study(request["study"], **options)
            if html is not None:
                result.to_html(html)
            document, rows_key, text = result.document(), "rows", result.describe()
    if as_json:
        rows = document.pop(rows_key)
        print_json({**document, **({} if html is None else {"html": str(html)}), rows_key: rows})
    else:
        print_text(text)
        print_written_files(html)
        notice.print_end()

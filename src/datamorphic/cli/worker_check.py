"""The command ``datamorphic worker-check``."""

from __future__ import annotations

from typing import Annotated

import typer

from .._text import pluralise
from . import options as opt
from .console import print_json, print_line, print_table
from .exit_codes import ExitCode


def worker_check(
    engine: Annotated[str, opt.argument("ENGINE", "A Dask cluster: dask://host:port.")], as_json: opt.Json = False
) -> None:
    """Compare the package versions of a Dask cluster with this machine. The exit code is 1 if they differ.

    Example: datamorphic worker-check dask://10.0.0.7:8786
    """
    from ..runs.dask_engine import check_workers

    workers, differences = check_workers(engine)
    if as_json:
        print_json({"workers": workers, "differences": differences})
    elif differences:
        print_table(["worker", "package", "here", "there"], [list(row.values()) for row in differences])
    else:
        print_line(f"{pluralise(len(workers), 'worker')}, all with the versions of this machine.")
    if differences:
        raise typer.Exit(ExitCode.FINDINGS)

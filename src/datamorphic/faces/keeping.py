"""What commands that can be resumed share: the options of engine and store, and the number of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Annotated, Any

import typer

from ..errors import StoreError
from .console import STOPPED, printable

Batch = Annotated[
    int | None,
    typer.Option(help="Rows the system is asked at once; fewer for slow systems with many workers.", min=1),
]
Workers = Annotated[int | None, typer.Option(help="How many processes compute; 1 by default.", min=1)]
EngineName = Annotated[
    str | None,
    typer.Option(help="Who computes: serial, processes, threads, or dask://host:port.", show_default=False),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        help="Where runs are kept: a file, postgresql://..., or none. By default a file in the user's data folder.",
        show_default=False,
    ),
]


@contextmanager
def open_store(url: str | None, *, needed: bool = False) -> Iterator[Any]:
    """Open the run store that was asked for; None for none.

    Nobody asked for the one in the user's data folder: where that cannot be, a run goes on without.
    """
    if url == "none":
        yield None
        return
    from ..runs.store import STORE_VARIABLE, Store

    try:
        store = Store.open(url)
    except StoreError as error:
        if needed or url is not None or os.environ.get(STORE_VARIABLE):
            raise
        typer.echo(f"datamorphic: this run is not kept. {printable(str(error))}", err=True)
        yield None
        return
    with store:
        yield store


class Numbered:
    """The number of a run, told when it begins, when it is cut short and when it ends."""

    def __init__(self, store: Any) -> None:
        self.run: int | None = None
        self._store = store

    def __call__(self, run: int) -> None:
        """Take note of the number."""
        self.run = run
        if sys.stderr.isatty():
            typer.echo(f"run {run}, kept in {self._store.url}", err=True)

    def tell(self, interrupted: bool) -> None:
        """Say where to find the run, or how to go on with it."""
        if self.run is not None:
            typer.echo(
                self._go_on() if interrupted else f"kept as run {self.run}: datamorphic runs show {self.run}"
            )

    def _go_on(self) -> str:
        return f"run {self.run} can go on: datamorphic runs resume {self.run}"

    def __enter__(self) -> Numbered:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            typer.echo(f"\ndatamorphic: stopped. {self._go_on() if self.run is not None else ''}", err=True)
            raise typer.Exit(STOPPED) from None

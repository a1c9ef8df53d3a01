"""What commands that are kept share: the options of engine and store, and the number of a run."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Annotated, Any

import typer

from ..errors import Interrupted, StoreError, UsageError
from .console import STOPPED, to_printable

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
        help="Where runs are kept: a file, postgresql://..., or none. By default $DATAMORPHIC_STORE, else a file in the "
        "user's data folder.",
        show_default=False,
    ),
]


@contextmanager
def open_store(url: str | None, *, needed: bool = False, reading: bool = False) -> Iterator[Any]:
    """Open the run store that was asked for; None for none.

    Nobody asked for the one in the user's data folder: where that cannot be, a run goes on without.
    """
    from ..runs.store import Store, read_store_variable

    asked = url or read_store_variable()
    if asked == "none":
        if needed:
            raise UsageError("There is nothing to see without a store. Name one with --store.")
        yield None
        return
    try:
        store = Store.open(url, reading=reading)
    except StoreError as error:
        if needed or asked:
            raise
        typer.echo(f"datamorphic: this run is not kept. {to_printable(str(error))}", err=True)
        yield None
        return
    with store:
        yield store


def nothing_yet(url: str | None) -> str:
    """Return where the runs would be, if nobody named a store and none was ever kept; else an empty text."""
    from ..runs.store import get_default_path, read_store_variable

    where = read_store_variable() or str(get_default_path())
    return where if url is None and "://" not in where and where != "none" and not os.path.exists(where) else ""


def hint(url: str | None) -> str:
    """Return what a command must add to find a store again."""
    if url is None:
        return ""
    return " --store ... (as here)" if "://" in url else f" --store {shlex.quote(url)}"


class Numbered:
    """The number of a run, told when it begins, when it is cut short and when it ends.

    Parameters
    ----------
    store : Store or None
        Where it is kept.
    hint : str
        What a command must add to find that store.
    resumable : bool
        Whether such a run can go on.
    """

    def __init__(self, store: Any, hint: str = "", resumable: bool = True) -> None:
        self.run: int | None = None
        self._store, self._hint, self._resumable = store, hint, resumable

    def __call__(self, run: int) -> None:
        """Take note of the number."""
        self.run = run
        if sys.stderr.isatty():
            typer.echo(f"run {run}, kept in {self._store.url}", err=True)

    def tell(self) -> None:
        """Say where to find the run, or how to go on with it."""
        if self.run is not None:
            if message := self._store.run(self.run).message:
                typer.echo(to_printable(message))
            typer.echo(self._where())

    def _where(self) -> str:
        if self.run is None:
            return ""
        if self._resumable and self._store.run(self.run).state != "finished":
            return f"run {self.run} can go on: datamorphic runs resume {self.run}{self._hint}"
        return f"kept as run {self.run}: datamorphic runs show {self.run}{self._hint}"

    def __enter__(self) -> Numbered:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt | Interrupted):
            typer.echo(f"\ndatamorphic: stopped. {self._where()}".rstrip(), err=True)
            raise typer.Exit(STOPPED) from None

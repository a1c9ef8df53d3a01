"""Run stores for commands: opening one, and printing the number of the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer

from ..errors import Interrupted, StoreError, UsageError
from ..reporting.text import to_printable
from ..runs.events import publish
from .error_lines import print_error
from .exit_codes import ExitCode

if TYPE_CHECKING:
    from ..runs.keep import StoreOptions
    from ..runs.store import Store


@contextmanager
def open_store(url: str | None, *, required: bool = False, reading: bool = False) -> Iterator[Store | None]:
    """Open the run store at `url`, or the default one; yield None for no store.

    The default store is in the user's data folder. If it cannot be opened, the command goes on without a store.
    """
    chosen_url = url
    if not chosen_url:
        from ..runs.url import read_store_variable

        chosen_url = read_store_variable()
    if chosen_url == "none":
        if required:
            raise UsageError("This command needs a run store. Name one with --store.")
        yield None
        return
    from ..runs.store import Store  # not earlier: many runs need no store

    try:
        store = Store.open(url, reading=reading)
    except StoreError as error:
        if required or chosen_url:
            raise
        print_error(f"this run is not kept. {error}")
        yield None
        return
    with store:
        yield store


@contextmanager
def open_required_store(url: str | None, *, reading: bool = False) -> Iterator[Store]:
    """Open a run store for a command that cannot do without one."""
    with open_store(url, required=True, reading=reading) as store:
        assert store is not None
        yield store


def find_missing_default_store(url: str | None) -> str:
    """Return the path of the default store if it does not exist yet and no other is named; else an empty text."""
    from ..runs.url import get_default_path, read_store_variable

    path = read_store_variable() or str(get_default_path())
    is_missing = url is None and "://" not in path and path != "none" and not os.path.exists(path)
    return path if is_missing else ""


def format_store_option(url: str | None) -> str:
    """Return what a command must add to find the same store again."""
    from ..runs.url import to_store_option

    return "" if url is None else to_store_option(url)


class RunNotice:
    """Prints the number of a run when it begins, when it is interrupted and when it ends.

    `store_option` is what a command must add to find the store.
    """

    def __init__(self, store: Store | None, store_option: str = "") -> None:
        self.run: int | None = None
        self._store, self._store_option = store, store_option

    def make_store_options(self, request: dict[str, Any], resume: int | None = None) -> StoreOptions | None:
        """Return the options that let a public function keep its run; None without a store."""
        from ..runs.keep import StoreOptions

        if self._store is None:
            return None
        return StoreOptions(self._store, resume, {"words": request}, self._begin)

    def _begin(self, run: int) -> None:
        self.run = run
        publish("run", number=run)
        if self._store is not None and sys.stderr.isatty():
            typer.echo(f"run {run}, kept in {self._store.url}", err=True)

    def print_end(self) -> None:
        """Print the number of the run and how to see or resume it."""
        if self.run is None or self._store is None:
            return
        with suppress(StoreError):  # it was reported when the run could not be stored
            if message := self._store.run(self.run).message:
                typer.echo(to_printable(message))
            typer.echo(self._format_next_command())

    def _format_next_command(self) -> str:
        if self.run is None or self._store is None:
            return ""
        if self._store.run(self.run).state != "finished":
            return f"run {self.run} can be resumed: datamorphic runs resume {self.run}{self._store_option}"
        return f"kept as run {self.run}: datamorphic runs show {self.run}{self._store_option}"

    def __enter__(self) -> RunNotice:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt | Interrupted):
            typer.echo(f"\ndatamorphic: interrupted. {self._format_next_command()}".rstrip(), err=True)
            raise typer.Exit(ExitCode.INTERRUPTED) from None

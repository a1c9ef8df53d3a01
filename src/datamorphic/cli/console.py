"""What all commands share: exit codes, options, and where output goes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import to_jsonable
from ..errors import UsageError
from ..reporting.text import cut as cut
from ..reporting.text import to_printable as to_printable
from ..runs.progress import is_plain_terminal

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 2_000  # letters of a line
FINDINGS, WRONG_USE, SYSTEM_FAILED, OWN_FAULT, STOPPED, CLOSED = 1, 2, 3, 70, 130, 141

Seed = Annotated[int, typer.Option(help="Where randomness starts; the same seed gives the same result.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    document = to_jsonable(document)
    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=plain, allow_nan=False) + "\n")


@contextmanager
def user_code() -> Iterator[None]:
    """Send what the user's own code prints to stderr: stdout is ours, and may be read by a machine.

    Libraries in C and child processes write to the descriptor itself, so that is turned aside too.
    """
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # there is no stdout
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def busy(what: str, usually: float | None = None) -> Iterator[None]:
    """Show on stderr, after two seconds, that something is going on, with the time left if it is known what it takes.

    Nothing is shown where stderr is no terminal.
    """
    from ..runs.progress import TimedProgress

    with TimedProgress(what, usually):
        yield


def console() -> Any:
    """Return the console that results are printed on: whole lines for a pipe, no escape codes where none are wanted."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # and not an exit of rich's own, with a code that means something else here

    screen = Screen(highlight=False, color_system=None if is_plain_terminal() else "auto")
    screen.soft_wrap = not screen.is_terminal  # whoever reads a pipe wants whole lines
    return screen


def escaped(text: str) -> str:
    """Return a text that rich prints as it is."""
    from rich.markup import escape

    return escape(text)


def ready_to_write(path: Path) -> None:
    """Make the folder of a file that will be written, or say at once why it cannot be."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file in it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The folder of {path} cannot be made: {error}.") from error
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"The folder of {path} cannot be written to.")


def write_rows(rows: pd.DataFrame, file: Path) -> None:
    """Write rows as Parquet where the name of the file says so, else as CSV."""
    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            rows.to_parquet(file, index=False)
        else:
            rows.to_csv(file, index=False)
    except OSError as error:
        raise UsageError(
            f"The rows cannot be written to {str(file)!r}: {error.strerror}. Name another file."
        ) from None


def print_text(text: str) -> None:
    """Print a text, its first line in bold."""
    out = console()
    first, *rest = (cut(to_printable(line), LONGEST) for line in text.split("\n"))
    if out.is_terminal:
        out.print(f"[bold]{escaped(first)}[/]")
    else:
        out.print(first, markup=False)
    for line in rest:
        out.print(line, markup=False)


def tell_written(*files: Path | None) -> None:
    """Say which files were written."""
    for file in files:
        if file is not None:
            console().print(f"Written: {file}", markup=False)

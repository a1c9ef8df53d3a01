"""What all commands share: exit codes, options, and where output goes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Annotated, Any

import typer

FINDINGS, WRONG_USE, SYSTEM_FAILED, OWN_FAULT = 1, 2, 3, 70

Seed = Annotated[int, typer.Option(help="Where randomness starts; the same seed gives the same result.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def user_code() -> Iterator[None]:
    """Send what the user's own code prints to stderr: stdout is ours, and may be read by a machine."""
    with redirect_stdout(sys.stderr):
        yield


def busy(what: str) -> Any:
    """Show on stderr that something is going on; nothing where stderr is no terminal."""
    from rich.console import Console

    return Console(stderr=True).status(f"{what} ...")


def console() -> Any:
    """Return the console that results are printed on."""
    from rich.console import Console

    return Console(highlight=False)


def printable(text: str) -> str:
    """Return a text without the control characters that could drive a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def escaped(text: str) -> str:
    """Return a text that rich prints as it is."""
    from rich.markup import escape

    return escape(text)

"""The manners of all commands: help with examples to copy, errors in one line, pipes that may be closed.

Commands say how they are used in the last paragraph of their docstring, ``Examples: datamorphic ...; datamorphic ...``.
`teach` gives an application and everything registered in it these manners.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .._text import redact
from ..errors import DatamorphicError, Interrupted, SystemFailed, UsageError
from ..runs.progress import is_plain_terminal
from .completion import complete
from .console import CLOSED, OWN_FAULT, STOPPED, SYSTEM_FAILED, WRONG_USE, console, to_printable

#: how the system says that what is written finds no room, or no working device
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
HEADINGS = ("Example", "Examples", "Try first")
#: commands are listed in this order, others after them
ORDER = ("demo", "test", "init", "explore", "laws", "runs", "study", "worker-check")


def parted(text: str) -> tuple[str, str, list[str]]:
    """Return a help text without its examples, its paragraphs unwrapped; the examples' heading; and the examples.

    Examples
    --------
    >>> parted("Do it.\\n\\nExamples: datamorphic do it; datamorphic do\\nthat")
    ('Do it.', 'Examples', ['datamorphic do it', 'datamorphic do that'])
    """
    kept, heading, examples = [], "", []
    for paragraph in text.split("\n\n"):
        start, colon, rest = paragraph.strip().partition(": ")
        if colon and start in HEADINGS:
            heading, examples = start, re.split(r";\s+(?=datamorphic\s)", " ".join(rest.split()))
        else:
            kept.append(" ".join(paragraph.split()))
    return "\n\n".join(kept), heading, examples


@contextmanager
def polite() -> Iterator[None]:
    """Turn errors into one line on stderr and the right exit code."""
    try:
        yield
    except DatamorphicError as error:
        _complain(redact(str(error)))
        if isinstance(error, Interrupted):
            raise typer.Exit(STOPPED) from None
        failed = isinstance(error, SystemFailed) or not isinstance(error, UsageError)
        raise typer.Exit(SYSTEM_FAILED if failed else WRONG_USE) from None
    except BrokenPipeError:  # whoever read our output has seen enough
        hush()
        raise typer.Exit(CLOSED) from None
    except Exception as error:
        # the parser's own errors; which classes these are depends on the version of Typer
        if not hasattr(error, "format_message") or type(error).__name__ == "NoArgsIsHelpError":
            raise
        _complain(_mended(error))
        raise typer.Exit(WRONG_USE) from None


def _complain(text: str) -> None:
    typer.echo(f"datamorphic: {' '.join(to_printable(text).split())}", err=True)


def _mended(error: Any) -> str:
    """Return an error of the parser with what was probably meant."""
    said = error.format_message()
    context = getattr(error, "ctx", None)
    wrong = getattr(error, "option_name", None)
    if wrong and context is not None:  # an option there is none of
        known = [name for param in context.command.params for name in param.opts if name.startswith("--")]
        near = get_close_matches(wrong, known, n=1)
        said = f"No such option: {wrong}." + (f" Did you mean {near[0]}?" if near else "")
    where = f" See: {context.command_path} --help" if context is not None else ""
    return f"{said}{'' if said.endswith(('.', '?')) else '.'}{where}"


def hush() -> None:
    """Send what is still to be printed nowhere: the other end of the pipe is closed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def open_missing() -> None:
    """Open a stdout or stderr that the program was started without: what is written there goes nowhere."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
            os.set_inheritable(descriptor, True)  # child processes write there too
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8", closefd=False))


def ended_by(error: Exception) -> int:
    """Say on stderr what ended the program, and return the exit code: no room for the output, or a fault of our own."""
    trace, code = "", WRONG_USE
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        hush()
        said = f"The output cannot be written: {error.strerror}. Send it elsewhere."
    else:
        trace, code = redact("".join(traceback.format_exception(error))), OWN_FAULT
        said = "this is a fault of datamorphic's own. Please report it with the lines above."
    with suppress(OSError):  # there may be no room for this either
        sys.stderr.write(trace)
        _complain(said)
    return code


class _Mannered:
    """What commands and groups of commands share."""

    help: str | None
    heading: str
    examples: list[str]

    def learn(self) -> None:
        """Take the examples out of the help text."""
        self.help, self.heading, self.examples = parted(self.help or "")

    def tell_examples(self) -> None:
        """Print the examples, each in a line that can be copied."""
        if not self.examples:
            return
        from rich.text import Text

        screen = console()
        screen.print(Text(f" {self.heading}:", style="bold"))
        for example in self.examples:
            screen.print(Text(f"   {example}"), soft_wrap=True)


def _plain(piece: str) -> str:
    """Return a part of a usage line with brackets only where something may be left out: {ID} is ID, [[DATA]] is [DATA]."""
    inner = re.fullmatch(r"{(.*?)(\.\.\.)?}(\.\.\.)?|\[(\[.*\])\]", piece)
    if inner is None:
        return piece
    return inner[4] or inner[1] + (inner[2] or inner[3] or "")


class Command(_Mannered, TyperCommand):
    """A command with examples."""

    def __init__(self, name: str | None, **options: Any) -> None:
        super().__init__(name, **options)
        self.learn()
        for param in self.params:
            complete(param)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line: MODEL for what is needed, [MODEL] for what is not."""
        return [_plain(piece) for piece in super().collect_usage_pieces(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, then the examples."""
        with _typers_console():
            super().format_help(ctx, formatter)
        self.tell_examples()


class Group(_Mannered, TyperGroup):
    """A group of commands with examples, whose errors are one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.learn()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, what to begin with first."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, then the examples."""
        with _typers_console():
            super().format_help(ctx, formatter)
        self.tell_examples()

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Read the words of the command itself."""
        with polite():
            return super().make_context(*arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        """Read the words of a command and carry it out."""
        with polite():
            return super().invoke(ctx)


@contextmanager
def _typers_console() -> Iterator[None]:
    """Let Typer print on a console of its own, as ours would.

    Bold is no colour and gets past NO_COLOR there; and a closed pipe ends the program with a code that means findings.
    """
    from typer import rich_utils

    before = rich_utils.COLOR_SYSTEM
    if is_plain_terminal():
        rich_utils.COLOR_SYSTEM = None
    try:
        yield
    except SystemExit:
        raise BrokenPipeError from None
    finally:
        rich_utils.COLOR_SYSTEM = before


def teach(app: typer.Typer) -> typer.Typer:
    """Give everything that is registered in an application these manners."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        group.cls = Group
        if group.typer_instance is not None:
            teach(group.typer_instance)
    return app

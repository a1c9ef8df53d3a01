"""Help texts: commands with examples to copy, in the order in which `main` registers them.

The last paragraph of a command's docstring lists its examples: ``Examples: datamorphic ...; datamorphic ...``.
`add_examples` gives an application and everything registered in it that kind of help.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

from ..runs.progress import is_plain_terminal
from .completion import add_completion
from .console import make_console
from .conversion import convert_plain_values
from .error_lines import handle_errors, print_error

#: classes of click, which newer versions of Typer have as a copy of their own
Context: TypeAlias = Any
HelpFormatter: TypeAlias = Any

#: options that have another name now, in all commands
FORMER_FLAGS = {"--feature-step": "--column-step", "--towards": "--outcome"}
EXAMPLE_HEADINGS = ("Example", "Examples", "Try first")


def split_examples(text: str) -> tuple[str, str, list[str]]:
    """Return a help text without examples, paragraphs unwrapped; the heading of the examples; and the examples."""
    paragraphs, heading, examples = [], "", []
    for paragraph in text.split("\n\n"):
        start, colon, rest = paragraph.strip().partition(": ")
        if colon and start in EXAMPLE_HEADINGS:
            heading, examples = start, re.split(r";\s+(?=datamorphic\s)", " ".join(rest.split()))
        else:
            paragraphs.append(" ".join(paragraph.split()))
    return "\n\n".join(paragraphs), heading, examples


class _WithExamples:
    """What commands and groups of commands share: examples at the end of the help, and values for the shell."""

    help: str | None
    params: list[Any]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.help, self.heading, self.examples = split_examples(self.help or "")
        offered_values = getattr(getattr(self, "callback", None), "offered_values", {})
        for param in self.params:
            add_completion(param, offered_values.get(param.name))

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the arguments; former names of options still work, with a warning."""
        former_flags = FORMER_FLAGS | getattr(getattr(self, "callback", None), "former_flags", {})
        for number, word in enumerate(args):
            flag, sign, value = word.partition("=")
            if flag in former_flags and not any(flag in param.opts for param in self.params):
                print_error(f"{flag} is now called {former_flags[flag]}.")
                args[number] = former_flags[flag] + sign + value
        parsed: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        return parsed

    def get_params(self, ctx: Context) -> list[Any]:
        """Return the parameters, which convert plain values by themselves."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            convert_plain_values(param)
        return params

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Print the help, then every example on a line of its own that can be copied."""
        with _adjust_typer_console():
            super().format_help(ctx, formatter)  # type: ignore[misc]
        if self.examples:
            from rich.text import Text

            console = make_console()
            console.print(Text(f" {self.heading}:", style="bold"))
            for example in self.examples:
                console.print(Text(f"   {example}"), soft_wrap=True)


def _simplify_brackets(piece: str) -> str:
    """Return a piece of a usage line with brackets only around optional parts: {ID} is ID, [[DATA]] is [DATA]."""
    match = re.fullmatch(r"{(.*?)(\.\.\.)?}(\.\.\.)?|\[(\[.*\])\]", piece)
    if match is None:
        return piece
    return match[4] or match[1] + (match[2] or match[3] or "")


class CommandWithExamples(_WithExamples, TyperCommand):
    """A command whose help ends with examples."""

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """Return the parts of the usage line: MODEL if it is required, [MODEL] if it is optional."""
        return [_simplify_brackets(piece) for piece in super().collect_usage_pieces(ctx)]


class GroupWithExamples(_WithExamples, TyperGroup):
    """A group of commands whose help ends with examples, and whose errors are one line."""

    #: commands in the order of registration; Typer itself lists groups after all commands
    order: tuple[str, ...] = ()

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of the commands in the order of registration."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: self.order.index(name) if name in self.order else len(self.order))

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Parse the arguments of the group itself."""
        with handle_errors():
            return super().make_context(*arguments, **named)

    def invoke(self, ctx: Context) -> Any:
        """Parse the arguments of a command and run it."""
        with handle_errors():
            return super().invoke(ctx)


@contextmanager
def _adjust_typer_console() -> Iterator[None]:
    """Let Typer's own console honour NO_COLOR and closed pipes as ours does.

    Typer prints bold text even with NO_COLOR, and exits on a closed pipe with the code that means findings here.
    """
    from typer import rich_utils

    original = rich_utils.COLOR_SYSTEM
    if is_plain_terminal():
        rich_utils.COLOR_SYSTEM = None
    try:
        yield
    except SystemExit:
        raise BrokenPipeError from None
    finally:
        rich_utils.COLOR_SYSTEM = original


def add_examples(app: typer.Typer) -> typer.Typer:
    """Let everything that is registered in an application show its examples."""
    for command in app.registered_commands:
        command.cls = CommandWithExamples
    for group in app.registered_groups:
        group.cls = GroupWithExamples
        if group.typer_instance is not None:
            add_examples(group.typer_instance)
    return app

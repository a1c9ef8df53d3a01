"""The command ``datamorphic``: its commands, in the order in which the help lists them.

`exit_codes` lists the exit codes. ``--json`` prints one JSON document on stdout and nothing else.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Annotated

import typer

from .. import __version__
from .cases import app as cases
from .check import check
from .combine import combine
from .completion import COMPLETION_VARIABLE, join_completion_words
from .cover import cover
from .credit import credit
from .demo.command import demo
from .error_lines import report_fatal_error
from .exit_codes import ExitCode
from .explore import explore
from .fairness import fairness
from .generate import generate
from .guide import guide
from .help import GroupWithExamples, add_examples
from .hunt import hunt
from .init import init
from .laws import laws
from .mutate import mutate
from .optimise import optimise
from .patterns import patterns
from .runs import app as runs
from .script import script
from .select import select
from .simulate import simulate
from .streams import discard_stdout, flush_or_discard_streams, open_missing_streams
from .study import study
from .test import test
from .web import web
from .worker_check import worker_check

#: commands by panel, in the order of the help
PANELS: dict[str, list[Callable[..., None] | typer.Typer]] = {
    "Start here": [demo, web, test, init],
    "Test a model": [explore, check, cover, select, combine, patterns, guide, laws, script],
    "Models about people and money": [credit, fairness],
    "Test a program": [hunt, mutate],
    "Test sets": [cases, optimise],
    "Stored runs": [runs],
    "More": [generate, simulate, study, worker_check],
}


def get_command_name(command: Callable[..., None] | typer.Typer) -> str:
    """Return the name by which a command is called."""
    return str(command.info.name) if isinstance(command, typer.Typer) else command.__name__.replace("_", "-")


class RootGroup(GroupWithExamples):
    """The command ``datamorphic`` itself."""

    order = tuple(get_command_name(command) for commands in PANELS.values() for command in commands)


app = typer.Typer(
    cls=RootGroup,
    help="Test classifiers, and other systems whose correct answers nobody knows, without an oracle."
    "\n\nTry first: datamorphic demo; datamorphic test model.skops customers.csv --target churned; "
    "datamorphic init model.skops customers.csv --target churned",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"datamorphic {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Declare the options of ``datamorphic`` itself."""


for _panel, _commands in PANELS.items():
    for _command in _commands:
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, rich_help_panel=_panel)
        else:
            app.command(get_command_name(_command), rich_help_panel=_panel)(_command)
add_examples(app)


def _skip_other_commands() -> None:
    """Build the parser of the command that is called, without the others: a third of the time to start."""
    name = "".join(sys.argv[1:2])
    members = {get_command_name(command): command for commands in PANELS.values() for command in commands}
    if name in members and COMPLETION_VARIABLE not in os.environ:
        app.registered_commands = [command for command in app.registered_commands if command.name == name]
        app.registered_groups = [group for group in app.registered_groups if group.typer_instance is members[name]]


def main() -> None:
    """Run the command and exit."""
    open_missing_streams()
    atexit.register(
        gc.freeze
    )  # the search for garbage in models and libraries takes half a second, just before all ends
    # otherwise Hypothesis writes a folder .hypothesis wherever the command is run
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "datamorphic-hypothesis"))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # for terminals that only know ASCII
    join_completion_words()
    _skip_other_commands()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # while a closed pipe or a full disk can still be reported
    except BrokenPipeError:
        discard_stdout()
        sys.exit(ExitCode.BROKEN_PIPE)
    except Exception as error:
        sys.exit(report_fatal_error(error))
    finally:
        flush_or_discard_streams()

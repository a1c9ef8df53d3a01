"""The command ``datamorphic``: its commands, in the order in which the help lists them.

`exit_codes` lists the exit codes. ``--json`` prints one JSON document on stdout and nothing else.
"""

from __future__ import annotations

import ast
import atexit
import gc
import importlib
import inspect
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Collection
from importlib.abc import InspectLoader
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from .. import __version__
from .completion import COMPLETION_VARIABLE, join_completion_words
from .error_lines import report_fatal_error
from .exit_codes import ExitCode
from .help import GroupWithExamples, add_examples
from .streams import discard_stdout, flush_or_discard_streams, open_missing_streams

Command = Callable[..., None] | typer.Typer

#: commands by panel, in the order of the help
PANELS = {
    "Start here": ["demo", "web", "test", "init"],
    "Test a model": ["compare", "explore", "check", "cover"],
    "Models about people and money": ["credit", "fairness"],
    "Test a program": ["hunt", "mutate"],
    "Stored runs": ["runs"],
}
#: commands in groups, with the help of the group; each works without the name of its group, too
COMMAND_GROUPS = {
    "sets": (
        "Make, combine, improve and select test sets."
        "\n\nExamples: datamorphic sets select tree.skops all.csv --target label; datamorphic sets cases show tests.parquet",
        ["cases", "combine", "optimise", "select"],
    ),
    "research": (
        "Find and study relations, laws, generators and scripts; repeat published tables."
        "\n\nExamples: datamorphic research study 002-9; datamorphic research patterns",
        ["study", "simulate", "generate", "patterns", "rank", "guide", "laws", "script"],
    ),
}
GROUPS_PANEL = "More commands"
HIDDEN_NAMES = ("worker-check",)  # for programs
NAMES = (
    *itertools.chain.from_iterable(PANELS.values()),
    *itertools.chain.from_iterable(members for _, members in COMMAND_GROUPS.values()),
    *HIDDEN_NAMES,
)
SUBCOMMAND_NAMES = ("cases", "runs")  # that have commands of their own


def import_command(name: str) -> Command:
    """Return the function of a command, or the application of a group of commands."""
    command: Command = getattr(importlib.import_module(_find_module(name), __package__), _find_attribute(name))
    return command


def read_help(name: str) -> str | None:
    """Return the help of a command from its source, because importing it takes as long as importing what it runs.

    None is returned if the package was installed without sources.
    """
    spec = find_spec(_find_module(name), __package__)
    source = spec.loader.get_source(spec.name) if spec is not None and isinstance(spec.loader, InspectLoader) else None
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == _find_attribute(name):
            return ast.get_docstring(node)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == _find_attribute(name):
            assert isinstance(node.value, ast.Call)
            texts = [*node.value.args[:1], *(keyword.value for keyword in node.value.keywords if keyword.arg == "help")]
            return inspect.cleandoc(ast.literal_eval(texts[0]))
    return None


def _find_module(name: str) -> str:
    return ".demo.command" if name == "demo" else f".{name.replace('-', '_')}"


def _find_attribute(name: str) -> str:
    return "app" if name in SUBCOMMAND_NAMES else name.replace("-", "_")


class RootGroup(GroupWithExamples):
    """The command ``datamorphic`` itself."""

    order = (*itertools.chain.from_iterable(PANELS.values()), *COMMAND_GROUPS)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"datamorphic {__version__}")
        raise typer.Exit


def _declare_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Declare the options of ``datamorphic`` itself."""


def build_app(names: Collection[str] = NAMES, *, outlined: bool = False) -> typer.Typer:
    """Return the application with some of its commands, because importing and building all of them takes long.

    An outlined application has all that its own help shows: the names of its commands and their help.
    """
    add_command = _outline_command if outlined else _add_command
    root = typer.Typer(
        cls=RootGroup,
        help="Test classifiers, and other systems whose correct answers nobody knows, without an oracle."
        "\n\nTry first: datamorphic demo; datamorphic test model.skops customers.csv --target churned; "
        "datamorphic init model.skops customers.csv --target churned",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    root.callback()(_declare_options)
    for panel, members in PANELS.items():
        for name in members:
            if name in names:
                add_command(root, name, rich_help_panel=panel)
    for name in HIDDEN_NAMES:
        if name in names:
            add_command(root, name, hidden=True)
    for group_name, (text, members) in COMMAND_GROUPS.items():
        called_members = [name for name in members if name in names]
        if called_members:
            group = typer.Typer(name=group_name, help=text, no_args_is_help=True)
            root.add_typer(group, rich_help_panel=GROUPS_PANEL)
        for name in called_members:
            add_command(group, name)
            add_command(root, name, hidden=True)
    return add_examples(root)


def _add_command(app: typer.Typer, name: str, **settings: Any) -> None:
    command = import_command(name)
    if isinstance(command, typer.Typer):
        app.add_typer(command, **settings)
    else:
        app.command(name, **settings)(command)


def _outline_command(app: typer.Typer, name: str, **settings: Any) -> None:
    text = read_help(name)
    if text is None:
        _add_command(app, name, **settings)
    else:
        app.command(name, help=text, **settings)(lambda: None)


def __getattr__(name: str) -> typer.Typer:
    """Build ``app``, the application with all commands, on first use."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    app = globals()["app"] = build_app()
    return app


def _build_called_app() -> typer.Typer:
    """Return the application with the command that is called, or with all if none or an unknown one is."""
    name = "".join(sys.argv[1:2])
    if name == "--version":
        return build_app([])
    if name not in (*NAMES, *COMMAND_GROUPS) or COMPLETION_VARIABLE in os.environ:
        return build_app(outlined=name in ("", "-h", "--help") and COMPLETION_VARIABLE not in os.environ)
    return build_app(COMMAND_GROUPS[name][1] if name in COMMAND_GROUPS else [name])


def main() -> None:
    """Run the command and exit."""
    open_missing_streams()
    # Imports, and most of our work, create many objects and hardly any garbage: collect less often than by default.
    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)  # skips the last collection, which takes half a second with large models
    # otherwise Hypothesis writes a folder .hypothesis wherever the command is run
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "datamorphic-hypothesis"))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # for terminals that only know ASCII
    join_completion_words()
    try:
        try:
            _build_called_app()()
        finally:
            sys.stdout.flush()  # while a closed pipe or a full disk can still be reported
    except BrokenPipeError:
        discard_stdout()
        sys.exit(ExitCode.BROKEN_PIPE)
    except Exception as error:
        sys.exit(report_fatal_error(error))
    finally:
        flush_or_discard_streams()

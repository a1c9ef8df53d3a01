"""Write the command-line reference when the documentation is built, and let the pages need no network."""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PLACE = "<!-- the commands -->"
#: a script of the theme, for the search of pages that are opened from disk, and our own in its place
REMOTE_SCRIPT, LOCAL_SCRIPT = "https://unpkg.com/iframe-worker/shim", "search_worker.js"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Insert the commands where a page asks for them; MkDocs calls this for every page."""
    return markdown.replace(PLACE, format_commands()) if PLACE in markdown else markdown


def on_post_build(config: Any, **_: Any) -> None:
    """Replace the script that the pages would load from the network."""
    site = Path(config["site_dir"])
    for page in site.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        local_script = os.path.relpath(site / LOCAL_SCRIPT, page.parent).replace(os.sep, "/")
        page.write_text(text.replace(REMOTE_SCRIPT, local_script), encoding="utf-8")


def format_commands() -> str:
    """Return every command with its arguments and options as Markdown."""
    from typer.main import get_command

    from datamorphic.cli.main import app

    return "\n".join(
        line
        for name, command in walk_commands("datamorphic", get_command(app))
        for line in format_command(name, command)
    )


def walk_commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command and its subcommands in alphabetical order, with the words that call them."""
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield name, command
    for word in sorted(subcommands):
        if not getattr(subcommands[word], "hidden", False):
            yield from walk_commands(f"{name} {word}", subcommands[word])


def format_command(name: str, command: Any) -> Iterator[str]:
    """Yield the lines that describe one command."""
    parameters = [
        parameter
        for parameter in command.params
        if not getattr(parameter, "hidden", False) and parameter.name != "help"
    ]
    arguments = [parameter for parameter in parameters if parameter.param_type_name == "argument"]
    options = [parameter for parameter in parameters if parameter.param_type_name == "option"]
    names = [(argument.metavar or argument.name.upper()).strip("[]") for argument in arguments]
    usage = [word if argument.required else f"[{word}]" for word, argument in zip(names, arguments, strict=True)]
    yield f"## {name}\n"
    yield f"```text\n{' '.join([name, *usage, *(['[OPTIONS]'] if options else [])])}\n```\n"
    for paragraph in (command.help or "").split("\n\n"):
        yield f"{escape_markdown(' '.join(paragraph.split()))}\n"
    if parameters:
        yield "| | | default |\n|---|---|---|"
    for word, argument in zip(names, arguments, strict=True):
        yield f"| `{word}` | {escape_markdown(argument.help or '')} | {format_default(argument)} |"
    for option in options:
        spellings = ", ".join(f"`{word}`" for word in [*option.opts, *option.secondary_opts])
        repeated = " May be repeated." if option.multiple and "repeated" not in (option.help or "") else ""
        yield f"| {spellings} | {escape_markdown(option.help or '')}{repeated} | {format_default(option)} |"
    yield ""


def format_default(parameter: Any) -> str:
    """Return the default of a parameter as a table cell, empty where there is none worth showing."""
    value = parameter.default
    is_empty = value is None or value is False or value is ... or value == [] or value == () or callable(value)
    return "" if is_empty or type(value).__name__ == "Sentinel" else f"`{value}`"


def escape_markdown(text: str) -> str:
    """Return a text as Markdown that reads as it is."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")

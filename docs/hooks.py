"""Writes the command-line reference when the documentation is built: it cannot go stale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PLACE = "<!-- the commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the commands where a page asks for them; MkDocs calls this for every page."""
    return markdown.replace(PLACE, commands()) if PLACE in markdown else markdown


def commands() -> str:
    """Return every command with its arguments and options as Markdown."""
    from typer.main import get_command

    from datamorphic.cli.main import app

    return "\n".join(
        line for name, command in walk("datamorphic", get_command(app)) for line in told(name, command)
    )


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Give a command and all below it, in the order of the alphabet, with the words that call them."""
    below = getattr(command, "commands", {})
    if not below:
        yield name, command
    for word in sorted(below):
        yield from walk(f"{name} {word}", below[word])


def told(name: str, command: Any) -> Iterator[str]:
    """Give the lines that tell one command."""
    shown = [each for each in command.params if not getattr(each, "hidden", False) and each.name != "help"]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option"]
    words = [each.metavar or each.name.upper() for each in arguments]
    words = [
        word if each.required else f"[{word.strip('[]')}]" for word, each in zip(words, arguments, strict=True)
    ]
    yield f"## {name}\n"
    yield f"```text\n{' '.join([name, *words, *(['[OPTIONS]'] if options else [])])}\n```\n"
    for paragraph in (command.help or "").split("\n\n"):
        yield f"{plain(' '.join(paragraph.split()))}\n"
    if shown:
        yield "| | | default |\n|---|---|---|"
    for word, each in zip(words, arguments, strict=True):
        yield f"| `{word.strip('[]')}` | {plain(each.help or '')} | {default(each)} |"
    for each in options:
        spelled = ", ".join(f"`{word}`" for word in [*each.opts, *each.secondary_opts])
        often = " May be repeated." if each.multiple and "repeated" not in (each.help or "") else ""
        yield f"| {spelled} | {plain(each.help or '')}{often} | {default(each)} |"
    yield ""


def default(parameter: Any) -> str:
    """Return the default of a parameter as a cell of a table: nothing where it says nothing."""
    value = parameter.default
    silent = value is None or value is False or value is ... or value == [] or value == () or callable(value)
    return "" if silent or type(value).__name__ == "Sentinel" else f"`{value}`"


def plain(text: str) -> str:
    """Return a text as Markdown that reads as it is."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")

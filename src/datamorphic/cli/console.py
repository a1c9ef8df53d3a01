"""The output of all commands: the console, JSON, tables, files, and messages in the words of the command line."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import prepare_file, write_file
from .._lazy import pd
from .._text import COMMAND_LINE_HINT, to_jsonable
from ..reporting.text import cut, to_printable
from ..runs.progress import is_plain_terminal

if TYPE_CHECKING:
    from rich.console import Console

    from ..reporting.export import Exportable

MAX_LINE_CHARACTERS = 2_000
MAX_CELL_CHARACTERS = 120
FILE_NOUNS = {
    "html": "The report",
    "junit": "The JUnit file",
    "sarif": "The SARIF file",
    "markdown": "The Markdown file",
    "pytest": "The pytest file",
    "verdict": "The verdict",
    "svg": "The drawing",
    "out": "The rows",
    "save_front": "The border",
}

#: the colours of outcomes, wherever a result prints them in capitals or a table has them as a cell
OUTCOME_STYLES = {
    "HOLDS": "green",
    "BROKEN": "bold red",
    "VIOLATED": "bold red",
    "NOT CHECKED": "yellow",
    "FAULT": "bold red",
    "CONCERN": "bold yellow",
    "ADVICE": "bold cyan",
    "finished": "green",
    "running": "cyan",
    "interrupted": "yellow",
    "killed": "yellow",
    "failed": "red",
}
_OUTCOME_AT_START = re.compile(r"^ *(HOLDS|BROKEN|VIOLATED|NOT CHECKED|FAULT|CONCERN|ADVICE)\b")

#: arguments of the public functions that are options of the commands under another name
_OPTION_NAMES = {"kinds": "kind", "steps": "column-step", "feature_steps": "column-step", "orders": "order"}
_MAPPING_ARGUMENT = re.compile(r"\b(kinds|steps|feature_steps|bounds|orders)=\{(['\"])(.+?)\2: ([^{}]*)\}")
_CLASSES_ARGUMENT = re.compile(r"\bclasses=(?:\[([^\]]*)\])?")
_PLAIN_ARGUMENT = re.compile(r"\b(trust|scalar|surrogate|tolerance|invalid)=(?:'(?=\w+'))?(True|[\d.]*\d|drop)'?")
_BUDGET_ARGUMENT = re.compile(r"\bbudget='(\w+)'")
#: an argument that the message itself translates: "surrogate=rows (--train FILE)", "only='learning' (--only learning)"
_TRANSLATED_ARGUMENT = re.compile(r"\b\w+='?\w+'? \((--[^()]*?)(?: on the command line)?\)")
#: declarations for `dm.test`: protected=["gender"], expect={"invariant": ["id"]}, expect={"monotone": {"income": "up"}}
_LISTED_COLUMN = re.compile(r"\b(?:expect=\{\"(?=invariant))?(protected|invariant)\"?[=:] ?\[\"([^\"]+)\"\]\}?")
_MONOTONE_COLUMN = re.compile(r"\bexpect=\{\"monotone\": \{\"([^\"]+)\": \"(up|down)\"\}\}")
#: the last sentence of a remedy, which says in Python what the options before it say
_PYTHON_SENTENCE = re.compile(r" In Python: .*$")
_PYTHON_CALL = re.compile(r"\bdm\.\w+\(")


def _replace_classes(match: re.Match[str]) -> str:
    names = ",".join(name.strip().strip("'\"") for name in (match[1] or "").split(","))
    return f"--classes {names}".rstrip()


def to_option_words(text: str) -> str:
    """Return a message with the options of the command line in place of Python's keyword arguments.

    Examples
    --------
    >>> to_option_words('If they are codes, say so: kinds={"age": "categorical"}.')
    'If they are codes, say so: --kind age=categorical.'
    >>> to_option_words("bounds={'age': (20, None)}, trust=True (--trust on the command line)")
    '--bounds age=20:, --trust'
    >>> to_option_words("tried with only='learning' (--only learning)")
    'tried with --only learning'
    """

    def replace_mapping(match: re.Match[str]) -> str:
        argument, _, column, value = match.groups()
        items = [item.strip().strip("'\"") for item in value.strip("()[] ").split(",")]
        joined = ":".join("" if item == "None" else item for item in items) if argument == "bounds" else ",".join(items)
        pair = f"{column}={joined}"
        return f"--{_OPTION_NAMES.get(argument, argument)} " + (f'"{pair}"' if " " in pair else pair)

    def replace_plain(match: re.Match[str]) -> str:
        argument, value = match.groups()
        return f"--{argument}" if value == "True" else f"--{argument} {value}"

    text = _PYTHON_SENTENCE.sub("", text)
    if _PYTHON_CALL.search(text):
        return text  # code to copy
    text = _LISTED_COLUMN.sub(r"--\1 \2", _MONOTONE_COLUMN.sub(r"--monotone \1=\2", text))
    text = _BUDGET_ARGUMENT.sub(r"--budget \1", _CLASSES_ARGUMENT.sub(_replace_classes, text))
    text = _MAPPING_ARGUMENT.sub(replace_mapping, _TRANSLATED_ARGUMENT.sub(r"\1", text))
    return COMMAND_LINE_HINT.sub("", _PLAIN_ARGUMENT.sub(replace_plain, text))


def format_result(result: Exportable, **options: Any) -> str:
    """Return the short form of the page of a result as text, in the words of the command line."""
    from ..reporting.terminal import format_page

    return format_page(result.page(brief=True, **options), translate=to_option_words)


def make_console() -> Console:
    """Return the console for results: whole lines for a pipe, no escape codes where they are unwelcome."""
    from rich.console import Console

    class ResultConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with a code that means findings here

    console = ResultConsole(highlight=False, color_system=None if is_plain_terminal() else "auto")
    console.soft_wrap = not console.is_terminal
    return console


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    ascii_only = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    text = json.dumps(to_jsonable(document), indent=2, ensure_ascii=ascii_only, allow_nan=False)
    sys.stdout.write(text + "\n")


def print_text(text: str, *, passed: bool | None = None) -> None:
    """Print the description of a result, its headline in green or red if it passed or failed."""
    from rich.text import Text

    console = make_console()
    headline_style = {True: "bold green", False: "bold red", None: "bold"}[passed]
    for number, line in enumerate(text.split("\n")):
        printed_line = Text(cut(to_printable(to_option_words(line)), MAX_LINE_CHARACTERS))
        if number == 0:
            printed_line.stylize(headline_style)
        elif outcome := _OUTCOME_AT_START.match(printed_line.plain):
            printed_line.stylize(OUTCOME_STYLES[outcome[1]], *outcome.span(1))
        console.print(printed_line)


def print_line(text: str) -> None:
    """Print one line as it is."""
    make_console().print(to_printable(text), markup=False)


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows as a table: folded to the width of a terminal, whole lines for a pipe."""
    from rich.table import Table
    from rich.text import Text

    console = make_console()
    cells = [[_shorten(to_printable(str(cell)).replace("\n", " ")) for cell in row] for row in rows]
    if not console.is_terminal:
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        for row in [header, *cells]:
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            console.print(line.rstrip(), markup=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in header:
        table.add_column(name, overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell, style=OUTCOME_STYLES.get(cell, "")) for cell in row))
    console.print(table)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_CELL_CHARACTERS else f"{text[: MAX_CELL_CHARACTERS - 3]}..."


def print_written_files(*files: Path | None) -> None:
    """Print the names of the files that were written."""
    for file in filter(None, files):
        print_line(f"Written: {file}")


@contextmanager
def redirect_user_output() -> Iterator[None]:
    """Send what the user's own code prints to stderr: stdout may be read by a machine.

    Libraries in C and child processes write to the descriptor itself, so it is redirected too.
    """
    sys.stdout.flush()
    try:
        saved_descriptor = os.dup(1)
    except OSError:  # there is no stdout
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(saved_descriptor, 1)
        os.close(saved_descriptor)


def prepare_output_files(*files: Path | None) -> None:
    """Make the folders of the files that are named, or raise `UsageError` if a file cannot be written.

    Commands call this before they compute, so that no result is lost because of a wrong file name.
    """
    for path in filter(None, files):
        prepare_file(path)


def write_exports(result: Exportable, files: Mapping[str, Path | None], *, silent: bool) -> None:
    """Write a result in every format for which a file is named, and print the names unless `silent`."""
    with redirect_user_output():
        for file_format, file in files.items():
            if file is not None:
                getattr(result, f"to_{file_format}")(file)
    for file_format, file in files.items():
        if file is not None and not silent:
            print_line(f"{FILE_NOUNS[file_format]}: {file}")


def write_rows(rows: pd.DataFrame, file: Path) -> None:
    """Write rows as Parquet if the file name ends so, else as CSV."""
    from ..space.table_files import quote_formulas  # not earlier: most commands write no rows

    write = rows.to_parquet if file.suffix.lower() in (".parquet", ".pq") else quote_formulas(rows).to_csv
    write_file(file, lambda draft: write(draft, index=False), "file of rows")


def record_calls(path: Path | None) -> AbstractContextManager[object]:
    """Record what is called inside the block as a script, if there is a file for it."""
    if path is None:
        return nullcontext()
    from ..scripting.recorder import record

    return record(path)

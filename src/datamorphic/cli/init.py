"""The command ``datamorphic init``: a test system, drafted."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from .._text import pluralize
from ..errors import UsageError
from .console import Json, console, print_json, ready_to_write, to_printable, user_code
from .load import MODEL_FILES, load_data, load_object


def init(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model file, or module:object.", show_default=False)
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Typical inputs: a CSV or Parquet file, or data:NAME.", show_default=False
        ),
    ],
    target: Annotated[str | None, typer.Option(help="The column of the data that is the label.")] = None,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("test_model.py"),
    trust: Annotated[bool, typer.Option("--trust", help="Load a pickled model: runs whatever is in it.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there already.")] = False,
    as_json: Json = False,
) -> None:
    """Draft a test system from a model and data: a file that pytest runs at once, and that you make your own.

    The file spells out what may be asked, and promises that fit the columns. They are tried on the data: those that
    hold today are in force, the others are comments that say how often they are broken.

    Examples: datamorphic init model.skops customers.csv --target churned;
    datamorphic init my_models:credit customers.parquet --out test_credit.py;
    datamorphic init model.joblib data:wine --target target --trust
    """
    from ..audit.draft.api import draft_system

    ready_to_write(out)
    if out.exists() and not force:
        raise UsageError(f"{out} is there already. Say --force to write over it, or --out to choose another name.")
    with user_code():
        if not os.path.exists(model) and os.path.splitext(model)[1] not in MODEL_FILES and os.sep not in model:
            load_object(model)  # from the current folder, and with errors that say what to do
        draft = draft_system(model, data, target, out=out, trust=trust, load_data=load_data)
    try:
        with open(out, "w" if force else "x", encoding="utf-8") as file:
            file.write(draft.text)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}. Choose another place with --out.") from None
    if as_json:
        print_json(_document(draft, out))
    else:
        _print(draft, out)


def _commands(draft: Any, out: Path) -> list[str]:
    """Return what to do next."""
    folder = out.parent
    first = [] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]
    name = f"{draft.module}:{draft.name}"
    return [*first, f"pytest {out.name}", *(f"datamorphic {verb} {name}" for verb in ("test", "laws", "explore"))]


def _document(draft: Any, out: Path) -> dict[str, Any]:
    return {
        "file": str(out),
        "system": f"{draft.module}:{draft.name}",
        "features": list(draft.space.names),
        "rows": draft.rows,
        "promises": [
            {
                "name": relation.name,
                "says": relation.says,
                "holds": relation.holds,
                "broken": relation.broken,
                "rows": relation.judged,
            }
            for relation in draft.relations
        ],
        "notes": draft.notes,
        "next": _commands(draft, out),
    }


def _print(draft: Any, out: Path) -> None:
    from rich.text import Text

    screen = console()
    features = pluralize(len(draft.space), "feature")
    screen.print(
        Text(to_printable(str(out)), style="bold").append(
            f": a test system, drafted from {features} and {pluralize(draft.rows, 'row')}", style="not bold"
        )
    )
    for relation in draft.relations:
        holds = f"holds on all of {pluralize(relation.judged, 'row')}"
        broken = (
            f"broken by {relation.broken:,} of {pluralize(relation.judged, 'row')}, so it is a comment in the file"
        )
        line = Text("  + " if relation.holds else "  - ", style="green" if relation.holds else "yellow")
        line.append(to_printable(relation.says), style="default")
        line.append(f"  ({holds if relation.holds else broken})", style="dim")
        screen.print(line)
    for note in draft.notes:
        screen.print(to_printable(note), markup=False)
    screen.print("\nNext:")
    for command in _commands(draft, out):
        screen.print(f"  {to_printable(command)}", markup=False)

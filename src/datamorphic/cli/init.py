"""The command ``datamorphic init``: drafts a test system."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .._files import write_file
from .._text import pluralise
from ..errors import UsageError
from . import options as opt
from .console import make_console, prepare_output_files, print_json, print_line, redirect_user_output
from .load import load_data, load_object

if TYPE_CHECKING:
    from ..audit.draft.run import Draft
    from ..morphisms.java_specs import SpecDraft


def init(
    model: Annotated[str, opt.argument("MODEL", "A model file, module:object, or a Java test specification (.java).")],
    data: Annotated[
        str | None, opt.argument("DATA", "Typical inputs of the model: a CSV or Parquet file, or data:NAME.")
    ] = None,
    target: opt.Target = None,
    out: Annotated[Path, opt.option("FILE", "The file to write.")] = Path("test_model.py"),
    space: opt.SpaceFile = None,
    kind: opt.KindHints = None,
    feature_step: opt.StepHints = None,
    bounds: opt.BoundHints = None,
    order: opt.OrderHints = None,
    trust: opt.Trust = False,
    force: Annotated[bool, opt.flag("--force", "Overwrite the file if it exists.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Write a first test file for a model: pytest runs it at once, and you extend it.

    The file lists the features and relations that fit the columns. Each relation is tried on the data: those that hold
    today are active, the others are comments that say how often they are violated.

    Given a Java test specification of Morphy instead of a model, it writes a Python test system with the same morphisms,
    and with its Java code as comments for you to translate. Superclasses are read from the same folder. Java is never run.

    Examples: datamorphic init model.skops customers.csv --target churned;
    datamorphic init my_models:credit customers.parquet --out test_credit.py;
    datamorphic init model.joblib data:wine --target target --trust;
    datamorphic init BoxTest1.java --out box_test_1.py
    """
    from ..audit.draft.run import draft_system, validate_module_file
    from ..morphisms.java_specs import JAVA_SUFFIX, draft_java_spec

    prepare_output_files(out)
    if out.exists() and not force:
        raise UsageError(f"{out} exists. Add --force to overwrite it, or choose another name with --out.")
    if Path(model).suffix.lower() == JAVA_SUFFIX:
        if any(value for value in (data, target, space, kind, feature_step, bounds, order)):
            raise UsageError(
                "A Java test specification is drafted without data and without options of a space. Leave them out, and "
                "declare the space in the file that is written."
            )
        validate_module_file(out)
        spec = draft_java_spec(model)
        write_file(out, spec.text, "test system")
        if as_json:
            print_json({"file": str(out), "system": f"{out.stem}:{spec.name}", "morphisms": spec.morphisms})
        else:
            _print_spec_draft(spec, out)
        return
    if data is None:
        raise UsageError(
            f"Typical inputs of {model} are missing. Name a CSV or Parquet file, or data:NAME: datamorphic init MODEL DATA"
        )
    with redirect_user_output():
        from ..systems.files import is_model_file

        if not is_model_file(model):
            load_object(model)  # from the current folder, and with errors that say what to do
        hints = opt.parse_hints(kind, feature_step, bounds, order)
        draft = draft_system(
            model, data, target, out=out, trust=trust, load_data=load_data, hints=hints, space_file=space
        )
    write_file(out, draft.text, "test file")
    if as_json:
        print_json(_build_document(draft, out))
    else:
        _print_draft(draft, out)


def _list_next_commands(draft: Draft, out: Path) -> list[str]:
    """Return the commands to run next."""
    change_folder = [] if out.parent == Path() else [f"cd {shlex.quote(str(out.parent))}"]
    commands = [f"datamorphic {verb} {draft.module}:{draft.name}" for verb in ("test", "laws", "explore")]
    return [*change_folder, f"pytest {out.name}", *commands]


def _build_document(draft: Draft, out: Path) -> dict[str, Any]:
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
        "next": _list_next_commands(draft, out),
    }


def _print_spec_draft(spec: SpecDraft, out: Path) -> None:
    from ..reporting.text import to_printable

    print_line(f"{to_printable(str(out))}: the test system {spec.name}, drafted from Java")
    for kind, names in spec.morphisms.items():
        print_line(f"  {pluralise(len(names), kind.replace('_', ' '))}: {', '.join(names)}")
    print_line("\nNext: translate the Java code in its comments, and declare its space.")


def _print_draft(draft: Draft, out: Path) -> None:
    from rich.text import Text

    from ..reporting.text import to_printable

    console = make_console()
    features, rows = pluralise(len(draft.space), "feature"), pluralise(draft.rows, "row")
    console.print(
        Text(to_printable(str(out)), style="bold").append(
            f": a test system, drafted from {features} and {rows}", style="not bold"
        )
    )
    for relation in draft.relations:
        sign, colour, outcome = "  + ", "green", f"holds on all {pluralise(relation.judged, 'row')}"
        if not relation.holds:
            violated = f"violated by {relation.broken:,} of {pluralise(relation.judged, 'row')}"
            sign, colour, outcome = "  - ", "yellow", f"{violated}: a comment in the file"
        line = Text(sign, style=colour)
        line.append(to_printable(relation.says), style="default")
        line.append(f"  ({outcome})", style="dim")
        console.print(line)
    for note in draft.notes:
        print_line(note)
    print_line("\nNext:")
    for command in _list_next_commands(draft, out):
        print_line(f"  {command}")

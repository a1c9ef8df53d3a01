"""The command ``datamorphic script``."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._files import to_local_path
from .._text import pluralize
from ..errors import ScriptError, UsageError
from ..reporting.text import to_printable
from ..runs.interrupts import Interrupts
from . import options as opt
from .console import (
    prepare_output_files,
    print_json,
    print_line,
    print_text,
    print_written_files,
    redirect_user_output,
    write_exports,
)
from .exit_codes import ExitCode
from .load import load_object
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..runs.engine_base import Engine
    from ..runs.store import Store
    from ..scripting.specs import ScriptSystem

#: keys of a stored request that are used when the run is resumed; nothing else of a store is
REQUEST_KEYS = ("script", "subject", "system", "maps", "seed", "timeout")


def script(
    file: Annotated[Path, opt.argument("FILE", "The script.")],
    subject: Annotated[
        str | None, opt.option("NAME", 'The built-in test system to begin with, e.g. "Box 1" or red_wine.')
    ] = None,
    system: Annotated[
        str | None, opt.option("MODULE:CLASS", "The test system to begin with. Importing it runs its code.")
    ] = None,
    map: Annotated[
        list[str] | None, opt.option("SPEC=MODULE:CLASS", "The test system that loadTestSpec(SPEC) loads. Repeatable.")
    ] = None,
    check: Annotated[
        bool, opt.flag("--check", "Check the script, and all scripts it plays, without running it.")
    ] = False,
    format: Annotated[
        bool, opt.flag("--format", "Print the script, indented and spaced in one style, without running it.")
    ] = False,
    record: Annotated[
        Path | None,
        opt.option("FILE", "Record the commands that are run in a new script, without repeat and playTestScript."),
    ] = None,
    timeout: opt.Timeout = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    store: opt.StoreUrl = None,
    seed: opt.Seed = 0,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    as_json: opt.Json = False,
) -> None:
    """Run a script of test commands: make seeds, explore, repeat, analyse, save.

    The script is checked before its first command is run. It reads and writes files in its own folder only. The same seed
    gives the same files. The exit code is 1 if a metamorphism is violated.

    Examples: datamorphic script borders.scr --subject "Box 1"; datamorphic script wine.scr --system my_tests:RedWine --seed 7;
    datamorphic script borders.scr --check; datamorphic script all.scr --map RedWine.class=my_tests:RedWine
    """
    from ..runs.engines import make_engine

    if format:
        if check or record is not None or as_json:
            raise UsageError("--format prints the script and nothing else. Leave out --check, --record and --json.")
        _print_formatted(file)
        return
    request: dict[str, Any] = {
        "script": os.path.abspath(to_local_path(file, "script")),
        "subject": subject,
        "system": system,
        "maps": list(map or ()),
        "seed": seed,
        "timeout": timeout,
    }
    if check:
        _check(request, as_json)
        return
    prepare_output_files(html, junit, record)
    with open_store(store) as run_store:
        run_script(
            request,
            run_store,
            engine=make_engine(engine, workers),
            record=record,
            html=html,
            junit=junit,
            as_json=as_json,
            store_option=format_store_option(store),
        )


def run_script(
    request: dict[str, Any],
    store: Store | None,
    *,
    engine: Engine,
    resume: int | None = None,
    save: Path | None = None,
    record: Path | None = None,
    html: Path | None = None,
    junit: Path | None = None,
    as_json: bool = False,
    store_option: str = "",
) -> None:
    """Run the script of a request, or resume its run, and print the result."""
    from ..scripting.api import play
    from ..scripting.recorder import record as record_commands

    if save is not None:
        raise UsageError("A script has no front to save. Leave out --save.")
    notice = RunNotice(store, store_option)
    keep = notice.make_store_options(request, resume)
    with redirect_user_output(), notice, Interrupts(), ExitStack() as stack:
        test_system, maps = _load_systems(request)
        if record is not None:
            stack.enter_context(record_commands(record))
        result = play(
            request["script"],
            test_system,
            maps=maps,
            seed=request["seed"],
            engine=engine,
            timeout=request["timeout"],
            store=keep,
        )
    write_exports(result, {"html": html, "junit": junit}, silent=as_json)
    if as_json:
        print_json(result.document() | {"run": notice.run})
    else:
        print_text(result.describe(), passed=not result.violations if result.pool.judgements else None)
        print_written_files(record)
        notice.print_end()
    if result.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if result.violations:
        raise typer.Exit(ExitCode.FINDINGS)


def _load_systems(request: dict[str, Any]) -> tuple[object, dict[str, object]]:
    """Return the test system to begin with, and those of the map."""
    if request["subject"] is not None and request["system"] is not None:
        raise UsageError("--subject and --system both name the test system to begin with. Give only one of them.")
    maps: dict[str, object] = {}
    for text in request["maps"]:
        spec, target = opt.parse_pair(str(text), "--map", "SPEC=MODULE:CLASS")
        maps[spec] = load_object(target)
    if request["system"] is not None:
        return load_object(str(request["system"])), maps
    return request["subject"], maps


def _check(request: dict[str, Any], as_json: bool) -> None:
    """Check a script, and print its mistakes."""
    from ..scripting.specs import SpecMap, to_script_system
    from ..scripting.validation import plan_script

    with redirect_user_output():
        test_system, maps = _load_systems(request)
        specs = SpecMap(maps)
        initial_system: ScriptSystem | None = None
        if test_system is not None:
            initial_system = specs.find(test_system) if isinstance(test_system, str) else to_script_system(test_system)
        path = Path(request["script"])
        problems: list[ScriptError] = []
        try:
            plan = plan_script(path, initial_system, specs, needs_system=False)
        except ScriptError as error:
            problems = error.problems
    if as_json:
        places = [
            {"file": problem.file, "line": problem.line, "column": problem.column, "message": problem.problem}
            for problem in problems
        ]
        commands = None if problems else plan.commands
        print_json({"script": path.name, "commands": commands, "problems": places})
    elif problems:
        for problem in problems:
            typer.echo(to_printable(str(problem)), err=True)
    else:
        print_line(
            f"{path.name}: {pluralize(plan.commands, 'command')}, reads {pluralize(len(plan.inputs), 'file')}, "
            f"writes {pluralize(len(plan.outputs), 'file')}. No mistake was found."
        )
        if plan.unchecked_names:
            print_line(
                f"{pluralize(plan.unchecked_names, 'name')} could not be checked without a test system. Add --subject or --system."
            )
    if problems:
        raise typer.Exit(ExitCode.USAGE_ERROR)


def _print_formatted(file: Path) -> None:
    from ..scripting.folder import read_script
    from ..scripting.formatter import format_script

    sys.stdout.write(format_script(read_script(file)))

"""The command ``datamorphic script``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from .._files import to_local_path
from .._text import pluralise
from ..core.capability import get_capability
from ..errors import ScriptError, UsageError
from ..reporting.text import to_printable
from ..scripting.options import PlayOptions
from ..scripting.run import play
from ..scripting.validation import ScriptPlan
from . import options as opt
from .command import CapabilityCommand, make_command
from .console import print_json, print_line, redirect_user_output
from .exit_codes import ExitCode
from .load import load_object

SUBJECT_HELP = 'The built-in test system to begin with, e.g. "Box 1" or red_wine.'
SYSTEM_HELP = "The test system to begin with. Importing it runs its code."
CHECK_HELP = "Check the script, and all scripts it plays, without running it."
FORMAT_HELP = "Print the script, indented and spaced in one style, without running it."


@dataclass(frozen=True, kw_only=True)
class ScriptCommand(CapabilityCommand):
    """Playing a script, which can also be checked or formatted only."""

    argument_names: tuple[str, ...] = ("script",)
    has_model_files: bool = False
    is_recordable: bool = True

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the script, and the test system to begin with."""
        return [
            ("script", Annotated[Path, opt.argument("FILE", "The script.")], ...),
            ("subject", Annotated[str | None, opt.option("NAME", SUBJECT_HELP)], None),
            ("system", Annotated[str | None, opt.option("MODULE:CLASS", SYSTEM_HELP)], None),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take the script and the test system out of the values of a command."""
        script = os.path.abspath(to_local_path(values.pop("script"), "script"))
        return {"script": script, "subject": values.pop("subject"), "system": values.pop("system")}

    def list_models(self, words: Mapping[str, Any]) -> list[str]:
        """Return the names of all test systems that a stored request names; importing them runs their code."""
        maps = words.get("maps") or []
        return [str(name) for name in (words.get("system"), *maps) if name is not None]

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the script, the test system to begin with, and those of the map."""
        if words.get("script") is None:
            raise UsageError("The stored request of the run names no script, so it cannot be resumed. Start a new run.")
        subject, system = words.get("subject"), words.get("system")
        if subject is not None and system is not None:
            raise UsageError("--subject and --system both name the test system to begin with. Give only one of them.")
        pairs = [opt.parse_pair(str(text), "--map", "SPEC=MODULE:CLASS") for text in words.get("maps") or ()]
        maps = {spec: load_object(target) for spec, target in pairs}
        return {
            "script": words["script"],
            "model": subject if system is None else load_object(str(system)),
            "maps": maps,
        }

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return the flags that only look at the script."""
        return [
            ("check", Annotated[bool, opt.flag("--check", CHECK_HELP)], False),
            ("format", Annotated[bool, opt.flag("--format", FORMAT_HELP)], False),
            *super().list_face_options(),
        ]

    def run(self, values: dict[str, Any]) -> None:
        """Play the script, or only check or format it."""
        if values["format"]:
            if values["check"] or values["record"] is not None or values["as_json"]:
                raise UsageError("--format prints the script and nothing else. Leave out --check, --record and --json.")
            _print_formatted(values["script"])
        elif values["check"]:
            words = self.collect_words({name: values[name] for name in self.request_keys if name in values})
            with redirect_user_output():
                options = self.capability.options(**self.load_values(words, trust=False))
                plan, problems = _check(options)
            _print_check(Path(options.script).name, plan, problems, values["as_json"])
        else:
            super().run(values)


def _check(options: PlayOptions) -> tuple[ScriptPlan | None, list[ScriptError]]:
    """Return the plan of a script, or its mistakes."""
    try:
        return options.make_plan(needs_system=False), []
    except ScriptError as error:
        return None, error.problems


def _print_check(name: str, plan: ScriptPlan | None, problems: list[ScriptError], as_json: bool) -> None:
    """Print the mistakes of a script, or how much it does."""
    if as_json:
        places = [
            {"file": problem.file, "line": problem.line, "column": problem.column, "message": problem.problem}
            for problem in problems
        ]
        print_json({"script": name, "commands": None if plan is None else plan.commands, "problems": places})
    elif plan is None:
        for problem in problems:
            typer.echo(to_printable(str(problem)), err=True)
    else:
        print_line(
            f"{name}: {pluralise(plan.commands, 'command')}, reads {pluralise(len(plan.inputs), 'file')}, "
            f"writes {pluralise(len(plan.outputs), 'file')}. No mistake was found."
        )
        if plan.unchecked_names:
            print_line(
                f"{pluralise(plan.unchecked_names, 'name')} could not be checked without a test system. Add --subject or --system."
            )
    if problems:
        raise typer.Exit(ExitCode.USAGE_ERROR)


def _print_formatted(file: Path) -> None:
    from ..scripting.folder import read_script
    from ..scripting.formatter import format_script

    sys.stdout.write(format_script(read_script(file)))


COMMAND = ScriptCommand(capability=get_capability(play))

script = make_command(
    """Run a script of test commands: make seeds, explore, repeat, analyse, save.

    The script is checked before its first command is run. It reads and writes files in its own folder only. The same seed
    gives the same files. The exit code is 1 if a metamorphism is violated.

    Examples: datamorphic script borders.scr --subject "Box 1"; datamorphic script wine.scr --system my_tests:RedWine --seed 7;
    datamorphic script borders.scr --check; datamorphic script all.scr --map RedWine.class=my_tests:RedWine
    """,
    COMMAND,
)

"""Commands made from capabilities: every option of a public function is an option of its command.

A command loads what its arguments name, runs the capability through the same door as Python does, prints the result, and
chooses the exit code. What it was called with is stored with the run, so that ``datamorphic runs resume`` can do the same again.
"""

from __future__ import annotations

import importlib
import inspect
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.capability import Capability
from ..core.execute import execute
from ..core.options import FILES_PANEL, OptionField, list_alternatives, list_fields
from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_text, redirect_user_output, write_exports
from .exit_codes import ExitCode, choose_exit_code
from .load import choose_model_and_data, load_data, load_space, load_system, to_absolute_path
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..core.result import Result
    from ..runs.engine_base import Engine
    from ..runs.store import Store

#: options of a command that say where to compute and what to print; the others are stored with the run
FACE_OPTIONS = ("store", "engine", "workers", "trust", "allow_incomplete", "as_json", "html", "junit")


@dataclass(frozen=True, kw_only=True)
class CapabilityCommand:
    """A command: its capability, and what it has beside the options of the public function."""

    capability: Capability[Any, Any]
    model_help: str = "A model file, a service (.toml), or module:object."
    data_help: str = "Real inputs: a CSV or Parquet file, or data:NAME (data:iris)."
    files: Mapping[str, str] = field(default_factory=dict)  # further files to write, each with its help

    @property
    def request_keys(self) -> list[str]:
        """The keys of a stored request: what the command can be called with."""
        return [option_field.name for option_field in list_fields(self.capability.options)]

    def build_parameters(self) -> list[inspect.Parameter]:
        """Return the parameters of the command in the order of its help."""
        declarations: list[tuple[str, Any, Any]] = [
            ("model", Annotated[str | None, opt.argument("MODEL", self.model_help)], None),
            ("inputs", Annotated[str | None, opt.argument("DATA", self.data_help)], None),
            ("data", opt.Data, None),
        ]
        declarations += [
            declare_option(option_field)
            for option_field in list_fields(self.capability.options)
            if is_on_command_line(option_field)
        ]
        declarations += [
            ("workers", opt.Workers, None),
            ("engine", opt.EngineName, None),
            ("store", opt.StoreUrl, None),
            ("html", opt.HtmlFile, None),
            ("junit", opt.JunitFile, None),
            *(
                (name, Annotated[Path | None, opt.option("FILE", text, panel=FILES_PANEL)], None)
                for name, text in self.files.items()
            ),
            ("allow_incomplete", opt.AllowIncomplete, False),
            ("as_json", opt.Json, False),
        ]
        return [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation, default=default)
            for name, annotation, default in declarations
        ]

    # -- running -------------------------------------------------------------------------------------------------------

    def run(self, values: dict[str, Any]) -> None:
        """Run the command with the values of its parameters."""
        from ..runs.engines import make_engine

        model, data = choose_model_and_data(
            values.pop("model"), values.pop("inputs"), None, values.pop("data"), values.get("target")
        )
        face = {name: values.pop(name) for name in (*FACE_OPTIONS, *self.files)}
        defaults = {parameter.name: parameter.default for parameter in self.build_parameters()}
        words = {"model": to_absolute_path(model), "data": to_absolute_path(data)}
        words |= {name: _to_word(value) for name, value in values.items() if value != defaults[name]}
        store = face.pop("store")
        with open_store(store) as run_store:
            engine = make_engine(face.pop("engine"), face.pop("workers"))
            self.run_request(words, run_store, engine=engine, store_option=format_store_option(store), **face)

    def run_request(
        self,
        words: Mapping[str, Any],
        store: Store | None,
        *,
        engine: Engine,
        resume: int | None = None,
        trust: bool = False,
        allow_incomplete: bool = False,
        as_json: bool = False,
        store_option: str = "",
        **files: Path | None,
    ) -> None:
        """Run what a command was called with, or resume a run, and print the result."""
        prepare_output_files(*files.values())
        notice = RunNotice(store, store_option)
        with redirect_user_output(), notice:
            values = self.load_values(words, trust)
            values |= {"engine": engine, "store": notice.make_store_options(dict(words), resume)}
            options = self.capability.options(**values)
            options.set(command=self.format_command(words, options.seed))
            result = execute(self.capability, options)
            document, text = (result.document(), "") if as_json else ({}, result.describe())
        if as_json:
            print_json(document | {"run": notice.run})
        else:
            print_text(text, passed=getattr(result, "passed", None))
            write_exports(result, files, silent=False)
            notice.print_end()
        if as_json:
            write_exports(result, files, silent=True)
        code = _choose_code(result, allow_incomplete)
        if code is not ExitCode.OK:
            raise typer.Exit(code)

    def load_values(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the options that the words of a command stand for: models and data are loaded, texts are parsed."""
        if words.get("model") is None or words.get("data") is None:
            raise UsageError(f"MODEL and DATA are needed. {self.data_help}")
        system, wrap_options = load_system(words["model"], None, trust)
        frame = load_data(words["data"])
        values: dict[str, Any] = {"model": system, "data": frame, **wrap_options}
        for option_field in list_fields(self.capability.options):
            word = words.get(option_field.name)
            if word is None or option_field.name in ("model", "data", "space"):
                continue
            parse = option_field.option.parse
            values[option_field.name] = word if parse is None else parse(word)
        values["space"] = load_space(words.get("space"), frame, words.get("target"), system, wrap_options)
        return values

    def format_command(self, words: Mapping[str, Any], seed: int) -> str:
        """Return the command line that does the same."""
        parts = ["datamorphic", self.capability.name, _shorten_path(words["model"]), _shorten_path(words["data"])]
        for option_field in list_fields(self.capability.options):
            word = words.get(option_field.name)
            if word is None or option_field.name in ("model", "data", "seed"):
                continue
            items = word if isinstance(word, list) else [word]
            parts += (
                [option_field.flag]
                if word is True
                else [text for item in items for text in (option_field.flag, str(item))]
            )
        return shlex.join([*parts, "--seed", str(seed)])


def make_command(text: str, command: CapabilityCommand) -> Callable[..., None]:
    """Return the function that Typer makes a command of; `text` is its help."""

    def run(**values: Any) -> None:
        command.run(values)

    run.__name__, run.__doc__ = command.capability.name, text
    parameters = command.build_parameters()
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.former_flags = {  # type: ignore[attr-defined]
        f"--{option_field.option.former_flag}": option_field.flag
        for option_field in list_fields(command.capability.options)
        if option_field.option.former_flag
    }
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def find_command(verb: str) -> CapabilityCommand | None:
    """Return the command of a stored run, if it is made from a capability."""
    if not verb.isidentifier():  # a store may hold anything
        return None
    module = importlib.import_module(f".{verb}", __package__) if find_spec(f".{verb}", __package__) else None
    return getattr(module, "COMMAND", None)


def is_on_command_line(option_field: OptionField) -> bool:
    """Return whether a command has an option for a field."""
    option = option_field.option
    return option.on_command_line and bool(option.metavar or option_field.hint is bool)


def declare_option(option_field: OptionField) -> tuple[str, Any, Any]:
    """Return the parameter of a command for a field: its name, type and default."""
    option, name = option_field.option, option_field.name
    if option_field.hint is bool:
        return (
            name,
            Annotated[bool, opt.flag(option_field.flag, option.command_help, option.panel)],
            option_field.default,
        )
    text = (
        f"{option.command_help} Repeatable."
        if option.repeatable and "Repeatable" not in option.command_help
        else option.command_help
    )
    declared = opt.option(option.metavar, text, option_field.flag, min=option.low, max=option.high, panel=option.panel)
    if option.repeatable:
        return name, Annotated[list[str] | None, declared], None
    plain_types = [kind for kind in list_alternatives(option_field.hint) if kind in (int, float)]
    kind: Any = str if option.parse is not None or len(plain_types) != 1 else plain_types[0]
    if option.metavar == "FILE":
        kind = Path
    default = option_field.default
    return name, Annotated[kind | None if default is None else kind, declared], default


def _to_word(value: Any) -> Any:
    """Return a value of the command line as a store keeps it; paths mean the same in another folder."""
    return os.path.abspath(value) if isinstance(value, Path) else value


def _shorten_path(text: str) -> str:
    """Return a path within the current folder without that folder."""
    folder = os.path.join(os.getcwd(), "")
    return text.removeprefix(folder)


def _choose_code(result: Result, allow_incomplete: bool) -> ExitCode:
    return choose_exit_code(
        interrupted=result.interrupted,
        failed=not getattr(result, "passed", True),
        incomplete=not (allow_incomplete or getattr(result, "complete", True)),
    )

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

from .._files import to_local_path
from .._typing import list_alternatives
from ..core.call_listeners import notify_of_call
from ..core.capability import Capability
from ..core.execute import execute
from ..core.options import FILES_PANEL, OptionField, find_former_names, list_fields
from ..errors import UsageError
from ..runs.interrupts import Interrupts
from ..space.options import format_hint_options
from . import options as opt
from .console import (
    FILE_NOUNS,
    format_result,
    prepare_output_files,
    print_json,
    print_line,
    print_text,
    record_calls,
    redirect_user_output,
)
from .exit_codes import ExitCode, choose_exit_code
from .load import choose_model_and_data, load_data, load_space, load_system, to_absolute_path
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..runs.engine_base import Engine
    from ..runs.store import Store

#: options of a command that say where to compute and what to print; the others are stored with the run
FACE_OPTIONS = ("store", "engine", "workers", "trust", "as_json", "html", "junit")
DATA_ARGUMENT = "data_argument"  # data are an argument or an option


@dataclass(frozen=True, kw_only=True)
class CapabilityCommand:
    """A command: its capability, and what it has beside the options of the public function."""

    capability: Capability[Any, Any]
    model_help: str = "A model file, a service (.toml), or module:object."
    data_help: str = "Real inputs: a CSV or Parquet file, or data:NAME (data:iris)."
    files: Mapping[str, str] = field(default_factory=dict)  # further files to write, each with its help
    file_nouns: Mapping[str, str] = field(default_factory=lambda: FILE_NOUNS)  # of the files whose names are printed
    argument_names: tuple[str, ...] = ("model", "data")  # of words that are no options
    needs_data: bool = True
    has_subjects: bool = False  # whether a built-in classifier can take the place of MODEL
    has_model_files: bool = True  # whether MODEL may be a file; otherwise it is imported
    is_recordable: bool = False  # whether calls on test systems can be recorded as a script

    @property
    def request_keys(self) -> list[str]:
        """The keys of a stored request: what the command can be called with, now and in earlier versions."""
        inputs = [name for name, _, _ in self.list_inputs()]
        options = [option_field.name for option_field in self._list_word_fields()]
        return list(dict.fromkeys([*inputs, *options, *find_former_names(self.capability.options), opt.HINTS_KEY]))

    @property
    def _has_engine(self) -> bool:
        """Whether the capability queries a system, which an engine can do."""
        return any(option_field.name == "engine" for option_field in list_fields(self.capability.options))

    def _list_word_fields(self) -> list[OptionField]:
        """Return the options whose values are words of the command line, and are stored with a run."""
        return [
            option_field
            for option_field in list_fields(self.capability.options)
            if is_on_command_line(option_field) and option_field.name not in FACE_OPTIONS
        ]

    def build_parameters(self) -> list[inspect.Parameter]:
        """Return the parameters of the command in the order of its help."""
        declarations = self.list_inputs()
        names = [name for name, _, _ in declarations]
        declarations += [
            declare_option(option_field)
            for option_field in list_fields(self.capability.options)
            if is_on_command_line(option_field) and option_field.name not in names
        ]
        declarations += [
            *([("workers", opt.Workers, None), ("engine", opt.EngineName, None)] if self._has_engine else []),
            ("store", opt.StoreUrl, None),
            *self.list_face_options(),
            ("html", opt.HtmlFile, None),
            ("junit", opt.JunitFile, None),
            *(
                (name, Annotated[Path | None, opt.option("FILE", text, panel=FILES_PANEL)], None)
                for name, text in self.files.items()
            ),
            *([("record", opt.RecordFile, None)] if self.is_recordable else []),
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

        own_names = [name for name, _, _ in self.list_face_options()]
        face = {name: values.pop(name) for name in (*FACE_OPTIONS, *self.files, *own_names) if name in values}
        record = values.pop("record", None)
        prepare_output_files(record)
        words = self.collect_words(values)
        store = face.pop("store")
        with open_store(store, required=face.get("resume") is not None) as run_store, record_calls(record):
            engine = make_engine(face.pop("engine", None), face.pop("workers", None))
            self.run_request(words, run_store, engine=engine, store_option=format_store_option(store), **face)

    def run_request(
        self,
        words: Mapping[str, Any],
        store: Store | None,
        *,
        engine: Engine,
        resume: int | None = None,
        trust: bool = False,
        as_json: bool = False,
        store_option: str = "",
        html: Path | None = None,
        junit: Path | None = None,
        **face: Any,
    ) -> None:
        """Run what a command was called with, or resume a run, and print the result."""
        files = {"html": html, "junit": junit, **{name: face.pop(name, None) for name in self.files}}
        self.prepare_files(files)
        notice = RunNotice(store, store_option)
        with redirect_user_output(), notice, Interrupts():
            values = self.load_values(words, trust)
            values |= {"engine": engine} if self._has_engine else {}
            values |= {"store": notice.make_store_options(dict(words), resume)}
            options = self.capability.options(**values)
            options.set(command=self.format_command(words, options.seed), words=words)
            with notify_of_call(self.capability.name, values):
                result = execute(self.capability, options)
            face = self.interpret(result, face | files)
            # these may call the model: its output must not reach stdout
            self.write_files(result, files, **face)
            document, text = (
                ({}, self.format_text(result, **face)) if not as_json else (self.build_document(result, **face), "")
            )
        if as_json:
            print_json(document | {"seed": options.seed, "run": notice.run, "interrupted": result.interrupted})
        else:
            print_text(text, passed=face.get("passed", getattr(result, "passed", None)))
            for name, file in files.items():
                if file is not None and name in self.file_nouns:
                    print_line(f"{self.file_nouns[name]}: {file}")
            notice.print_end()
        code = self.choose_code(result, **face)
        if code is not ExitCode.OK:
            raise typer.Exit(code)

    # -- what a command may do differently -----------------------------------------------------------------------------

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the arguments and options that name what is tested, each with its type and default."""
        return [
            ("model", Annotated[str | None, opt.argument("MODEL", self.model_help)], None),
            (DATA_ARGUMENT, Annotated[str | None, opt.argument("DATA", self.data_help)], None),
            *([("subject", opt.Subject, None)] if self.has_subjects else []),
            ("data", opt.Data, None),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take what is tested out of the values of a command, and return it so that it means the same in another folder."""
        subject = values.pop("subject", None)
        model, data = choose_model_and_data(
            values.pop("model"), values.pop(DATA_ARGUMENT), subject, values.pop("data"), values.get("target")
        )
        words = {"model": to_absolute_path(model), "data": to_absolute_path(data)}
        return words if subject is None else words | {"subject": subject}

    def list_models(self, words: Mapping[str, Any]) -> list[str]:
        """Return the names of all models and objects that a stored request names; importing them runs their code."""
        return [str(words[name]) for name in ("model", "tree") if words.get(name) is not None]

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return what is tested as values of options: models and data are loaded."""
        if self.needs_data and (words.get("model") is None or words.get("data") is None):
            raise UsageError(f"MODEL and DATA are needed. {self.data_help}")
        system, wrap_options = self.load_model(words, trust)
        frame = None if words.get("data") is None else load_data(words["data"])
        space = load_space(words.get("space"), frame, words.get("target"), system, wrap_options)
        return {"model": system, "data": frame, "space": space, **wrap_options}

    def load_model(self, words: Mapping[str, Any], trust: bool) -> tuple[Any, dict[str, Any]]:
        """Return the system under test that words name, and the options to wrap it with."""
        return load_system(words.get("model"), words.get("subject"), trust)

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return the options that say what to do with the result, each with its type and default."""
        return [("allow_incomplete", opt.AllowIncomplete, False)]

    def interpret(self, result: Any, face: dict[str, Any]) -> dict[str, Any]:
        """Return the values of these options, and the files to write, with what the result makes of them.

        Whether the result ``passed``, if that depends on an option, is one of them.
        """
        return face

    def build_document(self, result: Any, **face: Any) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return dict(result.document())

    def format_text(self, result: Any, **face: Any) -> str:
        """Return what is printed without ``--json``."""
        return format_result(result)

    def prepare_files(self, files: Mapping[str, Path | None]) -> None:
        """Raise an error before anything is computed if a file cannot be written."""
        prepare_output_files(*files.values())

    def write_files(self, result: Any, files: Mapping[str, Path | None], **face: Any) -> None:
        """Write the result in every format for which a file is named."""
        for file_format, file in files.items():
            if file is not None:
                getattr(result, f"to_{file_format}")(file)

    def choose_code(self, result: Any, **face: Any) -> ExitCode:
        """Return the exit code of a result."""
        return choose_exit_code(
            interrupted=result.interrupted,
            failed=face.get("passed", getattr(result, "passed", None)) is False,
            incomplete=not (face.get("allow_incomplete") or getattr(result, "complete", True)),
        )

    # -- words ---------------------------------------------------------------------------------------------------------

    def collect_words(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return what a command was called with, without what is the default; that is what a store keeps."""
        words = self.collect_inputs(values)
        defaults = {parameter.name: parameter.default for parameter in self.build_parameters()}
        return words | {name: to_word(value) for name, value in values.items() if value != defaults[name]}

    def load_values(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the options that the words of a command stand for: models and data are loaded, texts are parsed."""
        words = self._rename_words(words)
        values = {
            option_field.name: _parse_word(option_field, words[option_field.name])
            for option_field in self._list_word_fields()
            if words.get(option_field.name) is not None
        }
        return values | self.load_inputs(words, trust)

    def _rename_words(self, words: Mapping[str, Any]) -> dict[str, Any]:
        """Return words by the names that options have today; those of stored runs may be older."""
        former_names = find_former_names(self.capability.options)
        hints = words.get(opt.HINTS_KEY) or {}
        return {former_names.get(name, name): word for name, word in words.items() if name != opt.HINTS_KEY} | {
            "column_steps" if name == "steps" else name: hint for name, hint in hints.items()
        }

    def format_command(self, words: Mapping[str, Any], seed: object) -> str:
        """Return the command line that does the same."""
        return shlex.join(["datamorphic", self.capability.verb, *self.build_arguments(words, seed)])

    def build_arguments(self, words: Mapping[str, Any], seed: object) -> list[str]:
        """Return the arguments of the command line that does the same."""
        words = self._rename_words(words)
        arguments = [shorten_path(words[name]) for name in self.argument_names if words.get(name)]
        flags = {name: _find_flag(name, annotation) for name, annotation, _ in self.list_inputs()}
        fields = list_fields(self.capability.options)
        flags |= {option_field.name: option_field.flag for option_field in fields}
        joined_names = [option_field.name for option_field in fields if not option_field.option.repeatable]
        for name, flag in flags.items():
            word = words.get(name)
            if word is None or name == "seed" or name in self.argument_names:
                continue
            if isinstance(word, bool):
                flag, _, opposite = flag.partition("/")
                arguments += filter(None, [flag if word else opposite])
                continue
            if isinstance(word, dict):  # hints for columns, as earlier versions stored them
                arguments += format_hint_options({"steps" if name == "column_steps" else name: word})
                continue
            if isinstance(word, list) and name in joined_names:  # as earlier versions stored names
                word = ",".join(map(str, word))
            items = word if isinstance(word, list) else [word]
            arguments += [text for item in items for text in (flag, str(item))]
        return [*arguments, "--seed", str(seed)]


def make_command(text: str, command: CapabilityCommand) -> Callable[..., None]:
    """Return the function that Typer makes a command of; `text` is its help."""

    def run(**values: Any) -> None:
        command.run(values)

    run.__name__, run.__doc__ = command.capability.verb, text
    parameters = command.build_parameters()
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.former_flags = {  # type: ignore[attr-defined]
        f"--{option_field.option.former_flag}": option_field.flag
        for option_field in list_fields(command.capability.options)
        if option_field.option.former_flag
    }
    run.offered_values = {  # type: ignore[attr-defined]
        option_field.name: option_field.option.choices or option_field.option.suggestions
        for option_field in list_fields(command.capability.options)
    }
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.capability = command.capability  # type: ignore[attr-defined]
    return run


def find_command(verb: str) -> CapabilityCommand | None:
    """Return the command of a stored run, if it is made from a capability."""
    if not verb.isidentifier():  # a store may hold anything
        return None
    module = importlib.import_module(f".{verb}", __package__) if find_spec(f".{verb}", __package__) else None
    return getattr(module, "COMMAND", None)


def _find_flag(name: str, annotation: Any) -> str:
    """Return the option of a declared parameter."""
    declared_names = [flag for declared in annotation.__metadata__ for flag in declared.param_decls or ()]
    return declared_names[0] if declared_names else f"--{name.replace('_', '-')}"


def is_on_command_line(option_field: OptionField) -> bool:
    """Return whether a command has an option for a field."""
    option = option_field.option
    return option.on_command_line and bool(option.metavar or option_field.is_flag)


def declare_option(option_field: OptionField) -> tuple[str, Any, Any]:
    """Return the parameter of a command for a field: its name, type and default."""
    option, name = option_field.option, option_field.name
    kind: Any
    if option_field.is_flag:
        kind = bool | None if "/" in option.flag else bool
        declared = opt.flag(option_field.flag, option.command_help, option.panel)
        return name, Annotated[kind, declared], option_field.default if option.flag_value is None else False
    text = (
        f"{option.command_help} Repeatable."
        if option.repeatable and "Repeatable" not in option.command_help
        else option.command_help
    )
    low, high = (option.low, option.high) if option.parse is None else (None, None)  # of what the text stands for
    declared = opt.option(option.metavar, text, option_field.flag, min=low, max=high, panel=option.panel)
    if option.repeatable:
        return name, Annotated[list[str] | None, declared], None
    plain_types = [kind for kind in list_alternatives(option_field.hint) if kind in (int, float)]
    kind = str if option.parse is not None or len(plain_types) != 1 else plain_types[0]
    kind = option.value_type or kind
    if option.metavar == "FILE":
        kind = Path
    default = option_field.default
    if kind is str and default is not None:
        default = str(default)  # as the command line would say it
    return name, Annotated[kind | None if default is None else kind, declared], default


def to_word(value: Any) -> Any:
    """Return a value of the command line as a store keeps it; paths mean the same in another folder."""
    return os.path.abspath(to_local_path(value)) if isinstance(value, Path) else value


def shorten_path(text: str) -> str:
    """Return a path within the current folder without that folder."""
    folder = os.path.join(os.getcwd(), "")
    return text.removeprefix(folder)


def _parse_word(option_field: OptionField, word: Any) -> Any:
    """Return the value that a word of the command line stands for; stored runs of earlier versions have values already."""
    parse = option_field.option.parse
    if word is True and option_field.option.flag_value is not None:
        return option_field.option.flag_value
    is_text = isinstance(word, str) or (option_field.option.repeatable and isinstance(word, list))
    return parse(word) if parse is not None and is_text else word

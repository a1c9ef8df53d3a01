"""Commands about test systems, and those that make test sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ..errors import UsageError
from . import options as opt
from .case_sets import validate_set_file
from .command import CapabilityCommand, to_word
from .console import FILE_NOUNS
from .load import load_object


@dataclass(frozen=True, kw_only=True)
class SystemCommand(CapabilityCommand):
    """A command about a test system: a class, a module, a built-in classifier, or what a file describes."""

    model_help: str = "A test system: module:Class, or a module."
    subject_help: str = 'A built-in classifier instead of SYSTEM, e.g. "Box 1".'
    has_model_files: bool = False
    argument_names: tuple[str, ...] = ("model",)

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the test system, or what takes its place."""
        return [
            ("model", Annotated[str | None, opt.argument("SYSTEM", self.model_help)], None),
            ("subject", Annotated[str | None, opt.option("NAME", self.subject_help)], None),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take what is tested out of the values of a command."""
        words = {name: to_word(values.pop(name)) for name, _, _ in self.list_inputs()}
        return {name: word for name, word in words.items() if word is not None}


@dataclass(frozen=True, kw_only=True)
class SetCommand(SystemCommand):
    """A command that makes a test set, and can write it to a file."""

    files: Mapping[str, str] = field(
        default_factory=lambda: {"save": "Write the test set to this file: .parquet, .csv or .tcs."}
    )
    file_nouns: Mapping[str, str] = field(default_factory=lambda: FILE_NOUNS | {"save": "The test set"})
    is_recordable: bool = True

    def prepare_files(self, files: Mapping[str, Path | None]) -> None:
        """Raise an error before anything is computed if no test set can be written to a file."""
        validate_set_file(files["save"])
        super().prepare_files(files)

    def write_files(self, result: Any, files: Mapping[str, Path | None], **face: Any) -> None:
        """Write the test set and the reports."""
        save = files["save"]
        if save is not None:
            result.tests.save(save)
        super().write_files(result, {name: file for name, file in files.items() if name != "save"})


def load_test_system(words: Mapping[str, Any], action: str, other_sources: Mapping[str, Any]) -> Any:
    """Return the one test system that a command names; None if it names another source."""
    sources = [source for source in (words.get("model"), words.get("subject"), *other_sources.values()) if source]
    if len(sources) != 1:
        options = [f"{name} FILE" for name in other_sources]
        listed = ", ".join(["a test system (module:Class)", "--subject NAME", *options[:-1]])
        raise UsageError(f"Say what to {action}, one of: {listed}, or {options[-1]}. Got {len(sources)} of them.")
    if words.get("subject"):
        from ..data.subjects import subjects

        return subjects[words["subject"]]
    return load_object(str(words["model"])) if words.get("model") else None

"""`ChosenSubject`: what a person tests in the studio, checked before a command sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from ..data.subjects import subjects
from ..errors import UsageError
from ..systems.files import MODEL_SUFFIXES
from .folder import DATA_SUFFIXES, ServedFolder

SubjectKind = Literal["none", "demo", "files", "module"]
_CLASS_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, kw_only=True)
class ChosenSubject:
    """A coded classifier, a model file with its data, or a test system in a module of the served folder.

    Paths are absolute, and were found in the served folder or among the uploads of the person.
    """

    kind: SubjectKind = "none"
    name: str = ""  # to show
    subject: str = ""  # of a coded classifier
    model: str = ""  # the path of the model, or module:Class
    data: str = ""  # the path of the data, or data:NAME
    target: str = ""
    trust: bool = False  # whether the person trusts the model file, which may be code
    hints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by option, then by column
    expectations: Mapping[str, Any] = field(default_factory=dict)  # of a check-up, by the names of its options

    HINT_OPTIONS: ClassVar[tuple[str, ...]] = ("kind", "column-step", "bounds", "order")

    @classmethod
    def of_demo(cls, name: str) -> ChosenSubject:
        """Return a coded classifier."""
        if name not in subjects:
            raise UsageError(f"There is no built-in classifier {name!r}. Choose one of {', '.join(subjects)}.")
        return cls(kind="demo", name=name, subject=name)

    @classmethod
    def of_files(
        cls,
        folders: list[ServedFolder],
        model: str,
        data: str,
        target: str = "",
        expectations: Mapping[str, Any] | None = None,
        trust: bool = False,
    ) -> ChosenSubject:
        """Return a model file with a data file, each in one of the folders."""
        model_path, data_path = find_file(folders, model), find_file(folders, data)
        for path, suffixes, noun in ((model_path, MODEL_SUFFIXES, "model"), (data_path, DATA_SUFFIXES, "data")):
            if not path.name.lower().endswith(tuple(suffixes)):
                raise UsageError(f"{path.name!r} is not a file with {noun}. Choose one from the list.")
        return cls(
            kind="files",
            name=model_path.name,
            model=str(model_path),
            data=str(data_path),
            target=target,
            trust=trust,
            expectations=dict(expectations or {}),
        )

    @classmethod
    def of_module(cls, folder: ServedFolder, file: str, class_name: str) -> ChosenSubject:
        """Return a test system: a class in a module of the served folder."""
        path = folder.find_file(file)
        names = path.relative_to(folder.root).with_suffix("").parts
        if path.suffix != ".py" or not all(name.isidentifier() for name in names):
            raise UsageError(
                f"{file!r} cannot be imported. Choose a .py file whose name, and whose folders, are Python names."
            )
        if not _CLASS_NAME.fullmatch(class_name):
            raise UsageError(f"{class_name!r} is not the name of a class.")
        return cls(kind="module", name=class_name, model=f"{'.'.join(names)}:{class_name}")

    @property
    def arguments(self) -> list[str]:
        """What a command needs to find the subject."""
        if self.kind == "demo":
            return [f"--subject={self.subject}"]
        words = [self.model, *([self.data] if self.data else [])]
        if self.target:
            words.append(f"--target={self.target}")
        for option in self.hints:
            words += [f"--{option}={hint}" for hint in self.format_hints(option)]
        return words

    def format_hints(self, option: str) -> list[str]:
        """Return the hints of an option as the command line takes them, such as ``age=20:80``."""
        return [f"{column}={value}" for column, value in self.hints.get(option, {}).items()]

    def to_document(self) -> dict[str, Any]:
        """Return the subject as JSON values."""
        return asdict(self)


def find_file(folders: list[ServedFolder], name: str) -> Path:
    """Return the file with a name in the first of the folders that has it."""
    for folder in folders[:-1]:
        try:
            return folder.find_file(name)
        except UsageError:
            continue
    return folders[-1].find_file(name)

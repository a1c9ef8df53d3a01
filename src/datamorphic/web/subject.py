"""`Subject`: what a person tests in the studio, checked before a command sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..data.subjects import subjects
from ..errors import UsageError
from .folder import ServedFolder

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
    hints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by option: kind, feature-step, bounds, order

    @classmethod
    def of_demo(cls, name: str) -> ChosenSubject:
        """Return a coded classifier."""
        if name not in subjects:
            raise UsageError(f"There is no built-in classifier {name!r}. Choose one of {', '.join(subjects)}.")
        return cls(kind="demo", name=name, subject=name)

    @classmethod
    def of_files(cls, folders: list[ServedFolder], model: str, data: str, target: str = "") -> ChosenSubject:
        """Return a model file with a data file, each in one of the folders."""
        model_path, data_path = _find_file(folders, model), _find_file(folders, data)
        return cls(kind="files", name=model_path.name, model=str(model_path), data=str(data_path), target=target)

    @classmethod
    def of_module(cls, folder: ServedFolder, file: str, class_name: str) -> ChosenSubject:
        """Return a test system: a class in a module of the served folder."""
        path = folder.find_file(file)
        if path.suffix != ".py" or not path.stem.isidentifier():
            raise UsageError(f"{file!r} is not a Python module. Choose a .py file whose name is a Python name.")
        if not _CLASS_NAME.fullmatch(class_name):
            raise UsageError(f"{class_name!r} is not the name of a class.")
        module = ".".join(path.relative_to(folder.root).with_suffix("").parts)
        return cls(kind="module", name=class_name, model=f"{module}:{class_name}")

    @property
    def arguments(self) -> list[str]:
        """What a command needs to find the subject."""
        if self.kind == "demo":
            return [f"--subject={self.subject}"]
        words = [self.model, *([self.data] if self.data else [])]
        if self.target:
            words.append(f"--target={self.target}")
        for option, values in self.hints.items():
            words += [f"--{option}={column}={value}" for column, value in values.items()]
        return words

    def to_document(self) -> dict[str, Any]:
        """Return the subject as JSON values."""
        return asdict(self)


def _find_file(folders: list[ServedFolder], name: str) -> Path:
    for folder in folders[:-1]:
        try:
            return folder.find_file(name)
        except UsageError:
            continue
    return folders[-1].find_file(name)

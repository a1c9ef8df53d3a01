"""The command ``datamorphic mutate``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

from ..core.capability import get_capability
from ..errors import UsageError
from ..mutation.run import mutate as run_mutants
from . import options as opt
from .command import DATA_ARGUMENT, CapabilityCommand, make_command
from .load import choose_model_and_data, load_data, load_learner, load_named, load_object, to_absolute_path

if TYPE_CHECKING:
    from ..mutation.result import Mutation

LEARNER_HELP = "The class or function to test. The default is what learners() of the module returns, or its only one."
AT_LEAST_HELP = "Exit with 1 if a smaller share than this is killed, e.g. 0.9."


class NamedLearner:
    """Makes the learner of a name from a module. It can be sent to other processes."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.name, self.parameters = name, parameters

    def __call__(self, module: ModuleType) -> dict[str, Any]:
        """Return the learner by its name."""
        if not hasattr(module, self.name):
            raise UsageError(f"The program has no class or function {self.name!r}. Name one with --learner.")
        value = getattr(module, self.name)
        if isinstance(value, type):
            return {self.name: value(**self.parameters)}
        return {self.name: partial(value, **self.parameters) if self.parameters else value}


@dataclass(frozen=True, kw_only=True)
class MutateCommand(CapabilityCommand):
    """Trying mutants of a program, of which a share must be killed."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the arguments and options that name the program, the data, and the class to test."""
        return [
            ("model", Annotated[str, opt.argument("PROGRAM", self.model_help)], ...),
            (DATA_ARGUMENT, opt.DataArgument, None),
            ("data", opt.Data, None),
            ("learner", Annotated[str | None, opt.option("CLASS", LEARNER_HELP)], None),
            ("param", opt.LearnerParameters, None),
        ]

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return the share that is required."""
        at_least = Annotated[float | None, opt.option("SHARE", AT_LEAST_HELP, min=0, max=1)]
        return [("at_least", at_least, None), *super().list_face_options()]

    def interpret(self, result: Mutation, face: dict[str, Any]) -> dict[str, Any]:
        """Return whether enough mutants are killed."""
        share = face.get("at_least")
        return face | {"passed": None if share is None else result.score >= share}

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take program and data out of the values of a command."""
        program = values.pop("model")
        _, data = choose_model_and_data(None, values.pop(DATA_ARGUMENT), None, values.pop("data"), None)
        return {"model": to_absolute_path(program) if _is_path(program) else program, "data": to_absolute_path(data)}

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the program, the data, the relations and the learners."""
        values: dict[str, Any] = {"model": _load_program(words["model"])}
        if words.get("relations"):
            values["relations"] = [load_named(name) for name in words["relations"]]
        if words.get("learner"):
            values["learners"] = NamedLearner(words["learner"], opt.parse_parameters(words.get("param")))
        if words.get("like"):
            values["like"] = load_learner(words["like"], None, False)[0]
        if words.get("data"):
            values["data"] = load_data(words["data"])
        return values


def _is_path(text: str) -> bool:
    return text.endswith(".py") or os.sep in text


def _load_program(text: str) -> str | ModuleType:
    if _is_path(text):
        return text
    module = load_object(text)
    if not isinstance(module, ModuleType):
        raise UsageError(f"{text!r} is not a module. Give a Python file, or the name of a module.")
    return module


COMMAND = MutateCommand(
    capability=get_capability(run_mutants), model_help="A Python file, or the name of a module.", has_model_files=False
)

mutate = make_command(
    """Measure relations: make mutants of a program, and count how many the relations kill.

    A mutant changes one place of the program. Mutants run in child processes with limits of time and memory.

    Examples: datamorphic mutate datamorphic.data.knn --limit 20; datamorphic mutate my_learner.py --learner Mine
    --like sklearn.naive_bayes:GaussianNB; datamorphic mutate my_gamma.py --like scipy.special:gamma; datamorphic mutate
    heron.py --relation heron_relations:RELATIONS --html mutants.html; datamorphic mutate datamorphic.data.naive_bayes --rival 10
    """,
    COMMAND,
)

"""What the commands ``datamorphic cover`` and ``datamorphic select`` share: models with trees, and rows for a surrogate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ..errors import UsageError
from ..trees.read import is_tree_file, load_tree_model
from . import options as opt
from .command import DATA_ARGUMENT, CapabilityCommand, shorten_path
from .load import load_data, load_system, to_absolute_path

TREE_MODEL_HELP = "A model file (.skops, .pmml, .json, .ubj, .txt, .cbm), or module:object."


def load_named_tree_model(text: str | None, trust: bool) -> Any:
    """Return the model, or its trees, that a file or ``module:object`` stands for."""
    if text is not None and is_tree_file(text):
        return load_tree_model(text)
    return load_tree_model(load_system(text, None, trust)[0], trust=trust)


@dataclass(frozen=True, kw_only=True)
class TreeCommand(CapabilityCommand):
    """A command about the trees of a model, which may be those of a surrogate that is fitted to rows."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the arguments and options that name the model, the data, and the rows that a surrogate is fitted to."""
        train_help = "With --surrogate: the rows to fit the tree to, other than DATA."
        return [*super().list_inputs(), ("train", Annotated[str | None, opt.option("DATA", train_help)], None)]

    def run(self, values: dict[str, Any]) -> None:
        """Run the command, unless it would overwrite its own inputs."""
        inputs = [values[name] for name in ("model", DATA_ARGUMENT, "data", "train")]
        for file in filter(None, (values[name] for name in ("html", "junit", *self.files))):
            for name in filter(None, inputs):
                if os.path.exists(name) and file.exists() and os.path.samefile(name, file):
                    raise UsageError(f"{str(file)!r} is an input and would be overwritten. Name another file.")
        super().run(values)

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take what is tested out of the values of a command, and the rows that a surrogate is fitted to."""
        train = to_absolute_path(values.pop("train"))
        return super().collect_inputs(values) | ({} if train is None else {"train": train})

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return model, data, and the rows that a surrogate is fitted to."""
        values = super().load_inputs(words, trust)
        return values if words.get("train") is None else values | {"surrogate": load_data(words["train"])}

    def load_model(self, words: Mapping[str, Any], trust: bool) -> tuple[Any, dict[str, Any]]:
        """Return the model, or its trees."""
        name = words.get("model")
        return load_named_tree_model(None if name is None else shorten_path(name), trust), {}

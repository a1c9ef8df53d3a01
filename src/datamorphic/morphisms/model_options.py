"""Options of capabilities that test a model, or work with a test system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from .._typing import DataLike, ModelLike
from ..core.execute import CapabilityOptions, Execution
from ..core.groups import Inputs
from ..core.options import Option
from .subject import SubjectUnderTest, build_subject


@dataclass(frozen=True, eq=False)
class ModelOptions(Inputs, CapabilityOptions):
    """The options of a capability that tests a model."""

    model: Annotated[
        ModelLike,
        Option(
            "A fitted model, a function, the path of a model file, or anything else that `dm.wrap` takes.", stored=False
        ),
    ]

    def build_subject(
        self, execution: Execution[Any], data: DataLike | None, target: str | None, **details: Any
    ) -> SubjectUnderTest:
        """Return the system under test with its moves and seed cases; `details` are further options, or other values."""
        settings: dict[str, Any] = {
            "model": self.model,
            "target": target,
            "space": self.space,
            "space_options": self.hints,
            "rng": execution.rng,
            "owner": self.OWNER,
            "timeout": execution.timeout,
            "isolated": execution.is_isolated,
            "trust": self.trust,
            "scalar": self.scalar,
            "classes": self.classes,
            "name": self.name,
        }
        return build_subject(data=data, **(settings | details))

    def describe_run(self, execution: Execution[SubjectUnderTest]) -> dict[str, Any]:
        """Return the name of the system and the request, with the model and the seed cases to compare."""
        subject = execution.subject
        return {"system": subject.name, "parameters": self.to_request(), "model": self.model, "seeds": subject.seeds}


@dataclass(frozen=True, eq=False)
class ModelDataOptions(ModelOptions):
    """The options of a capability that tests a model on data, or on what can be drawn."""

    data: Annotated[
        DataLike | None,
        Option(
            "Real inputs, from which the space is inferred: a frame, a file, an array, or a `Space` to draw from. A test system "
            "makes its own.",
            stored=False,
        ),
    ] = None


@dataclass(frozen=True, eq=False)
class SystemOptions(CapabilityOptions):
    """The options of a capability that works with a test system."""

    model: Annotated[
        ModelLike | DataLike,
        Option(
            "The test system: a class, an instance or a module with marked functions. A space or a frame stands for the moves "
            "that are derived from it; nothing is executed then.",
            former_names=("test_system",),
            stored=False,
        ),
    ]

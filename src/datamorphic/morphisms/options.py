"""`LawOptions`: how the laws of a test system are checked."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from .._estimates import refuse_many_rows
from .._lazy import pd
from ..core.execute import Execution
from ..core.groups import SEED, ColumnHints
from ..core.options import Option
from ..errors import ArgumentError
from ..space.points import Points
from .model_options import SystemOptions
from .stock import to_test_system
from .system import TestSystem


@dataclass(frozen=True, eq=False)
class LawOptions(SystemOptions, ColumnHints):
    """The options of `datamorphic.laws`, validated."""

    OWNER: ClassVar[str] = "laws"

    _: KW_ONLY
    target: Annotated[
        str | None,
        Option(
            "If the model is a frame: the column that holds the label, which is not an input.",
            "COL",
            help="The column of the data that holds the label.",
        ),
    ] = None
    examples: Annotated[int, Option("The number of triples of points to try.", "N", low=1)] = 500
    seed: Annotated[int, SEED] = 0

    def validate(self) -> None:
        """Replace data by their space, and raise `ArgumentError` for more examples than fit into memory."""
        super().validate()
        refuse_many_rows(self.OWNER, "examples", self.examples, 3)
        if isinstance(self.model, pd.DataFrame):
            self.set(model=self.space or self.hints.infer_space(self.model, target=self.target))
            return
        readings = {"space": self.space, "target": self.target, **self.hints.to_dict()}
        names = [name for name, value in readings.items() if value is not None]
        if names:
            raise ArgumentError(
                f"laws was told how to read data ({', '.join(names)}), but its model is not a frame. Give a frame, or leave "
                "that out."
            )

    def make_subject(self, execution: Execution[Any]) -> TestSystem:
        """Return the test system."""
        return to_test_system(self.model)

    def describe_run(self, execution: Execution[TestSystem]) -> dict[str, Any]:
        """Return what a run store keeps; there are no data to compare."""
        space = execution.subject.known_space()
        no_points = Points(space, np.empty((0, len(space))))
        return {
            "system": execution.subject.name,
            "parameters": self.to_request(),
            "model": self.model,
            "seeds": no_points,
        }

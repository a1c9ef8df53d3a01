"""`CaseColumns`: the columns of test cases, which a `TestSet` works with and files hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._validation import check_types, validate_integer
from ..space.outputs import Outputs, Status
from ..space.points import Points

if TYPE_CHECKING:
    from ..space.space import Space

Ids = npt.NDArray[np.int64]
NO_ORIGIN = -1


class CaseKind(IntEnum):
    """Whether a case is a seed case or was made by a datamorphism."""

    ORIGINAL = 0
    MUTANT = 1


class Correctness(IntEnum):
    """Whether the output of a case was judged to be correct."""

    NOT_JUDGED = 0
    CORRECT = 1
    INCORRECT = 2

    @property
    def text(self) -> str:
        """The value in words, as in "not judged"."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseColumns:
    """Test cases in columns: id, input, output, kind, morphism, origins and correctness.

    `external_ids` are the ids that cases have in the file of another tool, "" for cases that are not from such a file.
    """

    inputs: Points
    ids: Ids
    kinds: npt.NDArray[np.int8]
    made_by: npt.NDArray[np.int32]
    morphisms: tuple[str, ...]
    origins: Ids
    outputs: Outputs | None = None
    correctness: npt.NDArray[np.int8] = field(default_factory=lambda: make_not_judged(0))  # NOT_JUDGED if left out
    external_ids: npt.NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        if not len(self.correctness):
            object.__setattr__(self, "correctness", make_not_judged(len(self.ids)))

    @classmethod
    @check_types
    def of_seeds(cls, inputs: Points, maker: str = "seed", first_id: int = 0) -> Self:
        """Return a set of seed cases."""
        n, first_id = len(inputs), validate_integer("first_id", "TestSet.of_seeds", first_id)
        return cls(
            inputs=inputs,
            ids=np.arange(first_id, first_id + n, dtype=np.int64),
            kinds=np.full(n, CaseKind.ORIGINAL, dtype=np.int8),
            made_by=np.zeros(n, dtype=np.int32),
            morphisms=(maker,),
            origins=np.full((n, 2), NO_ORIGIN, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def space(self) -> Space:
        """The space of the inputs."""
        return self.inputs.space

    @property
    def input(self) -> pd.DataFrame:
        """The inputs as a frame of the user's values."""
        return self.inputs.frame

    @property
    def made_by_names(self) -> npt.NDArray[np.object_]:
        """The name of the morphism that made each case."""
        return np.array(self.morphisms, dtype=object)[self.made_by]

    def frame(self) -> pd.DataFrame:
        """Return the set as a frame; inputs are the columns ``in.<feature>``."""
        table: dict[str, Any] = {"id": self.ids, **self.input.add_prefix("in.")}
        if self.outputs is not None:
            table["output"] = self.outputs.values
            table["status"] = self.outputs.status
            messages = self.outputs.messages
            table["message"] = pd.Series([messages.get(i) for i in range(len(self))], dtype="str") if messages else ""
        table["kind"] = self.kinds
        table["morphism"] = self.made_by_names
        table["correctness"] = self.correctness
        for column in range(self.origins.shape[1]):
            table[f"origin.{column}"] = self.origins[:, column]
        if self.external_ids is not None:
            table["external_id"] = self.external_ids
        return pd.DataFrame(table)


def make_missing_outputs(n: int) -> Outputs:
    """Return the outputs of cases that were not executed."""
    return Outputs(np.full(n, None, dtype=object), np.full(n, Status.MISSING, dtype=np.int8))


def make_not_judged(n: int) -> npt.NDArray[np.int8]:
    """Return the correctness of cases that were not judged."""
    return np.full(n, Correctness.NOT_JUDGED, dtype=np.int8)

"""`People`: the rows of the data as codes, with the protected columns that the model does not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ...space.column_relations import find_point_constraints
from ...space.constraints import Constraint
from ...space.points import Points
from ...space.space import Space

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """The people that a model decides about: its inputs, then protected columns that it does not see."""

    space: Space  # of all columns
    input_space: Space  # of the inputs of the model
    codes: Floats
    protected: tuple[str, ...]

    @classmethod
    def build(cls, inputs: Points, extra: pd.DataFrame, protected: Sequence[str]) -> People:
        """Return people from the inputs of a model, and protected columns that are not among them."""
        features, codes = list(inputs.space.features), inputs.codes
        if extra.shape[1]:
            extra_space = Space.from_frame(extra)
            features += extra_space.features
            codes = np.hstack([codes, extra_space.points(extra).codes])
        return cls(space=Space(features), input_space=inputs.space, codes=codes, protected=tuple(protected))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def input_count(self) -> int:
        """The number of inputs of the model."""
        return len(self.input_space)

    def is_input(self, name: str) -> bool:
        """Return whether the model sees a column."""
        return name in self.input_space.names

    def is_categorical(self, column: int) -> bool:
        """Return whether a column holds categories or texts instead of numbers."""
        return not self.space.features[column].numeric

    def is_text(self, column: int) -> bool:
        """Return whether a column holds texts."""
        return self.space.features[column].kind == "text"

    def to_inputs(self, codes: Floats) -> Points:
        """Return what the model sees of some people."""
        return Points(self.input_space, codes[:, : self.input_count])

    def decode(self, codes: Floats) -> pd.DataFrame:
        """Return people as a frame with all columns."""
        return self.space.decode(codes)

    def get_values(self, name: str) -> list[Any]:
        """Return the values of a column in the user's types."""
        return self.space.decode(self.codes)[name].tolist()

    @cached_property
    def constraints(self) -> list[Constraint]:
        """The relations between columns that all rows keep."""
        return [*self.input_space.constraints, *find_point_constraints(Points(self.space, self.codes))]

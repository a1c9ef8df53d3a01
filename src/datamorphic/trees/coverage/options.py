"""The options of `cover` and `select`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ..._typing import DataLike
from ..._validation import is_number, reject, to_generator, validate_choice
from ...space.options import SpaceOptions
from ...space.points import Points
from ...space.space import Space
from ..boundaries import STEP, Offset, validate_offset
from ..mutants import NEIGHBOURS, PerNode, validate_per_node

if TYPE_CHECKING:
    import numpy as np

CRITERIA = ("DTC", "BVA", "DTMT")


@dataclass(frozen=True, kw_only=True)
class CoverOptions:
    """The options of `dm.cover`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "cover"

    target: str | None = None
    space: Space | None = None
    hints: SpaceOptions = field(default_factory=SpaceOptions)
    criterion: str = "DTC"
    offset: Offset = STEP
    per_node: PerNode = NEIGHBOURS
    joint: bool | None = None
    tolerance: float | None = None
    surrogate: bool | DataLike = False

    def __post_init__(self) -> None:
        validate_choice("criterion", self.OWNER, self.criterion, CRITERIA)
        validate_offset(self.offset, self.OWNER, beyond=self.OWNER == "select")
        validate_per_node(self.per_node, self.OWNER)
        if self.space is not None and not isinstance(self.space, Space):
            reject("space", self.OWNER, "a Space", self.space)
        if self.target is not None and not isinstance(self.target, str):
            reject("target", self.OWNER, "the name of a column", self.target)
        tolerance = self.tolerance
        if tolerance is not None and (not is_number(tolerance) or not 0 <= float(tolerance) < math.inf):
            reject("tolerance", self.OWNER, "a number, 0 or more", tolerance)
        self.hints.validate_alone(self.OWNER, self.space)

    def get_space(self, data: DataLike) -> Space | None:
        """Return the space that is given, or the one that the hints infer from the data."""
        import pandas as pd

        if not self.hints:
            return self.space
        frame = data.frame if isinstance(data, Points) else data
        if not isinstance(frame, pd.DataFrame):
            reject("data", self.OWNER, f"a DataFrame, since hints are given ({', '.join(self.hints.to_dict())})", data)
        return self.hints.infer_space(frame, target=self.target)


@dataclass(frozen=True, kw_only=True)
class SelectOptions(CoverOptions):
    """The options of `dm.select`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "select"

    minimal: bool = False
    seed: int = 0
    rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rng", to_generator("seed", self.OWNER, self.seed))

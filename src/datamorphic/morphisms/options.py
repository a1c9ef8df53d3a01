"""`LawOptions`: how the laws of a test system are checked."""

from __future__ import annotations

from dataclasses import dataclass

from .._estimates import refuse_many_rows
from .._validation import validate_integer, validate_seed


@dataclass(frozen=True, kw_only=True)
class LawOptions:
    """The options of `datamorphic.laws`, validated."""

    examples: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "examples", validate_integer("examples", "laws", self.examples, 1))
        refuse_many_rows("laws", "examples", self.examples, 3)
        object.__setattr__(self, "seed", validate_seed("seed", "laws", self.seed))

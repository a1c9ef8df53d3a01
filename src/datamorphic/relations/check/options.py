"""The options of ``dm.check``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._typing import EngineLike, SupportsFit
from ..._validation import reject, validate_choice, validate_integer, validate_seed, validate_timeout
from ...runs.flow import Budget
from ...space.options import SpaceOptions
from ...space.space import Space
from ...systems.wrap import to_classes
from ..learner.necessity import STRICTNESS, is_known_learner
from ..learner.sampling import MAX_TRAINING_ROWS
from ..registry import RelationsLike


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """The options of a check; see `datamorphic.check`."""

    relations: RelationsLike = "auto"
    target: str | None = None
    inputs: int = 300
    seed: int | None = 0
    engine: EngineLike = None
    like: SupportsFit | None = None
    strictness: Mapping[str, str] | None = None
    expected_failures: Mapping[str, str] | None = None
    rows: int = MAX_TRAINING_ROWS
    ties: str = "aside"
    budget: Budget | str | float | None = None
    timeout: float | None = None
    batch: int | None = None
    shrink: bool = True
    space: Space | None = None
    space_options: SpaceOptions = field(default_factory=SpaceOptions)
    classes: Sequence[Any] | None = None
    trust: bool = False
    scalar: bool = False
    name: str | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        validate_integer("inputs", "check", self.inputs, 1)
        validate_integer("rows", "check", self.rows, 1)
        validate_choice("ties", "check", self.ties, ("aside", "count"))
        if self.timeout is not None:
            validate_timeout("timeout", "check", self.timeout)
        if self.seed is not None:
            validate_seed("seed", "check", self.seed)
        if self.like is not None:
            validate_like("check", self.like)
        for argument in ("strictness", "expected_failures"):
            if not isinstance(overrides := getattr(self, argument), Mapping | None):
                reject(argument, "check", "a mapping from names of relations", overrides)
        for strictness in (self.strictness or {}).values():
            validate_choice("strictness", "check", strictness, STRICTNESS)
        object.__setattr__(self, "classes", to_classes(self.classes, "check"))
        self.space_options.validate_alone("check", self.space)
        Budget.parse(self.budget)


def validate_like(owner: str, like: SupportsFit) -> None:
    """Raise ArgumentError unless the table of necessary relations has an estimator."""
    if not is_known_learner(like):
        expected = "an estimator of scikit-learn in the table of learners, for example KNeighborsClassifier(3)"
        reject("like", owner, expected, like)

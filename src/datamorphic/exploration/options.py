"""The options of `explore` and `plan`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._estimates import LIMIT_TIME, refuse_too_large
from .._text import to_jsonable
from .._validation import validate_choice, validate_integer, validate_positive, validate_timeout
from ..errors import ArgumentError
from ..runs.flow import Budget
from ..space.options import SpaceOptions
from ..systems.wrap import to_classes
from .borders import Border, Hierarchy, Jump, MultiLabel, Threshold
from .explorers import EXPLORERS
from .refinement import REFINEMENT_METHODS, UNLIMITED_HALVINGS

STRATEGIES = (*EXPLORERS, "auto")
POOLS = ("fixed", "growing")
LABEL_BORDERS = {"plain": Border, "hierarchy": Hierarchy, "multi": MultiLabel}
DEFAULT_HALVINGS = 20
MAX_SEED_CASES = 20_000  # drawn from larger data, unless `seeds` or the number of walks asks for more
BYTES_PER_WALK = 48  # a front has the number of its runs and its two starts, and is joined from waves
SECONDS_PER_STEP = 1e-4  # of a single walk; 4e-4 were measured with the fastest of systems, which answers a constant
BYTES_PER_TRIAL_STEP = 32  # a plan has four numbers per distance and strategy
MIN_TRIAL_WALKS, MAX_TRIAL_WALKS, TRIAL_DIVISOR = (40, 1000, 10)  # default: a tenth of the planned walks, 40 to 1,000


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """The options of `dm.explore`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "explore"

    strategy: str = "auto"
    walks: int = 1000
    steps: int | None = None
    walk_distance: int = 20
    delta: float | None = None
    moves: Sequence[str] | None = None
    refine: str = "auto"
    pool: str = "fixed"
    timeout: float | None = None
    batch: int | None = None
    budget: Budget | str | float | None = None
    threshold: float | None = None
    jump: float | None = None
    labels: str = "auto"
    target: str | None = None
    classes: Sequence[Any] | None = None
    hints: SpaceOptions = field(default_factory=SpaceOptions)

    def __post_init__(self) -> None:
        validate_choice("strategy", self.OWNER, self.strategy, STRATEGIES)
        validate_choice("refine", self.OWNER, self.refine, REFINEMENT_METHODS)
        validate_choice("pool", self.OWNER, self.pool, POOLS)
        validate_integer("walks", self.OWNER, self.walks)
        validate_integer("walk_distance", self.OWNER, self.walk_distance, low=1)
        if self.delta is not None:
            validate_positive("delta", self.OWNER, self.delta)
        validate_integer("steps", self.OWNER, self.halvings)
        if self.timeout is not None:
            validate_timeout("timeout", self.OWNER, self.timeout)
        if self.batch is not None:
            validate_integer("batch", self.OWNER, self.batch, 1)
        if self.strategy == "auto" and self.pool == "growing":
            raise ArgumentError(
                "strategy='auto' runs several strategies on one pool, which cannot grow. Name one strategy, or use "
                "pool='fixed'."
            )
        object.__setattr__(self, "budget", Budget.parse(self.budget))
        self._refuse_too_large()
        object.__setattr__(self, "classes", to_classes(self.classes, self.OWNER))
        object.__setattr__(self, "moves", None if self.moves is None else list(self.moves))
        self.make_border()

    @property
    def walk_parameter(self) -> dict[str, int]:
        """The parameter that says how many walks are made, and how many these are."""
        return {"walks": self.walks}

    @property
    def remedy(self) -> str | None:
        """What to do instead of making fewer walks."""
        return LIMIT_TIME

    def _refuse_too_large(self) -> None:
        if self.limits.seconds is not None:
            return
        (walks,), distance, runs = self.walk_parameter.values(), self.walk_distance, self.limits.runs or sys.maxsize
        refuse_too_large(self.OWNER, self.walk_parameter, memory=BYTES_PER_WALK * min(walks, runs), remedy=self.remedy)
        refuse_too_large(
            self.OWNER,
            {"walk_distance": distance},
            seconds=SECONDS_PER_STEP * min(distance, runs),
            memory=BYTES_PER_TRIAL_STEP * distance if self.OWNER == "plan" else 0,
            remedy=self.remedy,
        )

    @property
    def halvings(self) -> int:
        """The maximum number of halvings per pair."""
        if self.steps is not None:
            return self.steps
        return UNLIMITED_HALVINGS if self.delta else DEFAULT_HALVINGS

    @property
    def max_seed_cases(self) -> int:
        """The most rows of the data that are seed cases by default: enough for two per walk."""
        return max(MAX_SEED_CASES, 2 * self.walks)

    @property
    def limits(self) -> Budget:
        """The budget, parsed."""
        return Budget.parse(self.budget)

    def make_border(self) -> Border | None:
        """Return a new border of the requested kind; None if the answers decide on it."""
        validate_choice("labels", self.OWNER, self.labels, ("auto", *LABEL_BORDERS))
        if (self.threshold is not None) + (self.jump is not None) + (self.labels != "auto") > 1:
            raise ArgumentError("threshold=, jump= and labels= each define the border. Give only one of them.")
        if self.threshold is not None:
            return Threshold(self.threshold)
        if self.jump is not None:
            return Jump(self.jump)
        return LABEL_BORDERS[self.labels]() if self.labels in LABEL_BORDERS else None

    def to_settings(self) -> dict[str, Any]:
        """Return the options that a front lists in its settings."""
        return {
            "walks": self.walks,
            "steps": self.halvings,
            "walk_distance": self.walk_distance,
            "delta": self.delta,
            "moves": self.moves,
            "refine": self.refine,
            "pool": self.pool,
        }

    def to_request(self, seed_count: int) -> dict[str, Any]:
        """Return what a run store keeps of the request, to compare with when the run is resumed."""
        limits = {name: limit for name, limit in vars(self.limits).items() if limit is not None}
        request = {
            "strategy": self.strategy,
            **self.to_settings(),
            "timeout": self.timeout,
            "batch": self.batch,
            "budget": limits or None,
            "threshold": self.threshold,
            "jump": self.jump,
            "labels": self.labels,
            "target": self.target,
            "seeds": seed_count,
        }
        if self.classes is not None:
            request["classes"] = [to_jsonable(label) for label in self.classes]
        if self.hints:
            request["space_hints"] = to_jsonable(self.hints.to_dict())
        return request


@dataclass(frozen=True, kw_only=True)
class PlanOptions(ExploreOptions):
    """The options of `dm.plan`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "plan"

    steps: int | None = 20
    trial: int | None = None

    def __post_init__(self) -> None:
        if self.trial is not None:
            validate_integer("trial", self.OWNER, self.trial, low=10)
        super().__post_init__()

    @property
    def walk_parameter(self) -> dict[str, int]:
        """The parameter that says how many walks are made, and how many these are."""
        return {"trial": self.trial_walks}

    @property
    def remedy(self) -> None:
        """Nothing: a plan has no budget."""

    @property
    def trial_walks(self) -> int:
        """The number of walks per strategy in the trial."""
        if self.trial is not None:
            return self.trial
        return min(MAX_TRIAL_WALKS, max(MIN_TRIAL_WALKS, self.walks // TRIAL_DIVISOR))

"""The options of `hunt`, `generate` and `simulate`, validated once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._estimates import refuse_many_rows, refuse_too_large
from .._typing import EngineLike
from .._validation import is_number, reject, validate_choice, validate_integer, validate_seed
from ..errors import ArgumentError
from ..relations.function import FunctionRelation
from .generator_base import GeneratorLike
from .regions import KINDS, Region
from .scenarios import SCENARIOS
from .selector_base import SelectorLike

MAX_DEFAULT_WORKERS = 8
DEFAULT_MAX_GROUPS = 100_000  # per trial of a hunt
DEFAULT_MAX_SECONDS = 10.0  # of a hunt without a budget
BYTES_PER_TRIAL = 500  # of a hunt, measured with tracemalloc


@dataclass(frozen=True, kw_only=True)
class HuntOptions:
    """How violations are hunted; see `datamorphic.hunt` for what each option means."""

    generator: GeneratorLike | None = None
    selector: SelectorLike | None = None
    budget: int | None = None
    trials: int = 1
    seed: int = 0
    stop_after: int | None = 1
    batch: int | None = None
    engine: EngineLike = None
    timeout: float | None = None
    progress: bool | None = None
    proposer_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        validate_integer("trials", "hunt", self.trials, 1)
        validate_seed("seed", "hunt", self.seed)
        for name, value in (("budget", self.budget), ("stop_after", self.stop_after), ("batch", self.batch)):
            if value is not None:
                validate_integer(name, "hunt", value, 1)
        if self.budget is not None:
            refuse_too_large("hunt", {"trials": self.trials}, memory=BYTES_PER_TRIAL * self.trials)

    @property
    def max_groups(self) -> int:
        """The maximal number of groups per trial."""
        return DEFAULT_MAX_GROUPS if self.budget is None else self.budget

    @property
    def max_seconds(self) -> float | None:
        """The time after which a hunt without a budget ends."""
        return DEFAULT_MAX_SECONDS if self.budget is None else None


@dataclass(frozen=True, kw_only=True)
class GenerateOptions:
    """How groups are generated; see `datamorphic.generate` for what each option means."""

    generator: GeneratorLike = "SFIDMT-ART"
    n: int = 1000
    seed: int = 0
    generator_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        validate_integer("n", "generate", self.n, 1)
        validate_seed("seed", "generate", self.seed)


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """What is simulated; see `datamorphic.simulate` for what each option means."""

    generator: GeneratorLike = "SFIDMT-ART"
    region: str | Region = "block"
    rate: float = 0.005
    dimension: int = 2
    relation: FunctionRelation | Sequence[FunctionRelation] | None = None
    scenario: str | None = None
    trials: int = 10_000
    seed: int = 0
    selector: SelectorLike | None = None
    violating: int = 0
    budget: int | None = None
    boxes: int = 50
    workers: int | None = None
    progress: bool | None = None
    proposer_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        validate_integer("trials", "simulate", self.trials, 1)
        for name, number in (("violating", self.violating), ("boxes", self.boxes)):
            validate_integer(name, "simulate", number, 0)
        validate_seed("seed", "simulate", self.seed)
        validate_integer("dimension", "simulate", self.dimension, 1)
        refuse_many_rows("simulate", "trials", self.trials, 3)  # counts, censored trials and a sorted copy
        refuse_many_rows("simulate", "dimension", self.dimension, 10)  # limits, as Python objects and as arrays
        if not isinstance(self.region, Region):
            validate_choice("region", "simulate", self.region, KINDS)
        if self.region == "point":
            validate_integer("boxes", "simulate", self.boxes, 1)
            refuse_many_rows("simulate", "boxes", self.boxes, 8 * self.dimension)  # with those drawn again, and a tree
        if not is_number(self.rate) or not 0 < float(self.rate) < 1:
            reject("rate", "simulate", "a number between 0 and 1", self.rate)
        if self.scenario is not None:
            scenario = validate_choice("scenario", "simulate", str(self.scenario).upper(), SCENARIOS)
            object.__setattr__(self, "scenario", scenario)
            if isinstance(self.region, Region):
                raise ArgumentError(
                    "simulate() got both a scenario and a region, but a scenario draws its own regions. Give one of them."
                )
        for name, value in (("budget", self.budget), ("workers", self.workers)):
            if value is not None:
                validate_integer(name, "simulate", value, 1)

    @property
    def has_selector(self) -> bool:
        """Whether a selector chooses among relations."""
        return self.selector is not None or isinstance(self.relation, list | tuple)

    @property
    def worker_count(self) -> int:
        """The number of threads that run trials."""
        return min(os.cpu_count() or 1, MAX_DEFAULT_WORKERS) if self.workers is None else self.workers


def merge_candidates(k: int | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a generator or selector, with `k` if given."""
    return dict(options) if k is None else {**options, "k": k}

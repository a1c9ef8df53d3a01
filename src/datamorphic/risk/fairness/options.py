"""`FairnessOptions`: the options of `dm.fairness`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._typing import FilePath
from ..._validation import is_number, reject, validate_integer, validate_seed
from ...errors import ArgumentError, DataError
from ...relations.promises import Promises, read_promises
from ...space.labels import to_label_key
from ...space.options import SpaceOptions
from ...space.space import Space
from ...systems.wrap import to_classes

MAX_COMBINED_ATTRIBUTES = 3


@dataclass(frozen=True, kw_only=True)
class FairnessOptions:
    """The options of one examination of fairness, validated; `dm.fairness` documents them."""

    protected: Sequence[str] | str = ()
    target: str | None = None
    outcome: object = None
    promises: Promises | FilePath | None = None
    cutoff: float | None = None
    combinations: int = 2
    threshold: float = 0.01
    min_effect: float = 0.02
    rows: int = 2_000
    seed: int = 0
    classes: Sequence[Any] | None = None
    space: Space | None = None
    hints: SpaceOptions = field(default_factory=SpaceOptions)  # they exclude `space`
    trust: bool = False
    scalar: bool = False
    name: str | None = None
    attributes: tuple[str, ...] = field(init=False)  # all protected columns

    def __post_init__(self) -> None:
        def set_field(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        names = (self.protected,) if isinstance(self.protected, str) else self.protected
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            reject("protected", "fairness", "the names of columns", self.protected)
        if self.promises is not None and not isinstance(self.promises, Promises):
            set_field("promises", read_promises(self.promises))
        promises = self.promises if isinstance(self.promises, Promises) else None
        set_field("attributes", tuple(dict.fromkeys([*names, *(promises.protected if promises is not None else ())])))
        if not self.attributes:
            raise ArgumentError('No protected column is named. Give at least one: protected=["gender"].')
        if self.target in self.attributes:
            raise DataError(f"{self.target!r} is the target, so it cannot be a protected column. Name another column.")
        if promises is not None and promises.outcome is not None:
            if self.outcome is not None and to_label_key(self.outcome) != to_label_key(promises.outcome):
                raise ArgumentError(
                    f"The outcome is {self.outcome!r}, but the promises are about {promises.outcome!r}. Name one class."
                )
            set_field("outcome", promises.outcome if self.outcome is None else self.outcome)
        validate_integer("combinations", "fairness", self.combinations, 1, MAX_COMBINED_ATTRIBUTES)
        validate_integer("rows", "fairness", self.rows, 50)
        validate_seed("seed", "fairness", self.seed)
        for name in ("threshold", "min_effect"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value < 1:
                reject(name, "fairness", "a share from 0 to below 1", value)
        if self.cutoff is not None and not is_number(self.cutoff):
            reject("cutoff", "fairness", "a number", self.cutoff)
        self.hints.validate_alone("fairness", self.space)
        set_field("classes", to_classes(self.classes, "fairness"))

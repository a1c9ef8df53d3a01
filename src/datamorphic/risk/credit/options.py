"""The options of `credit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ..._typing import FilePath
from ..._validation import is_number, reject, validate_integer
from ...errors import ArgumentError
from ...relations.change import STRONG_THRESHOLD, ChangeRelation
from ...runs.flow import Budget
from .ladder import ModelFamily, resolve_ladder
from .measures import DEFAULT_APPROVAL_RATE
from .preparation import DEFAULT_REPEATS, TEST_SHARE

if TYPE_CHECKING:
    import pandas as pd

CreditRelationsLike: TypeAlias = str | ChangeRelation | Sequence[str | ChangeRelation] | Mapping[str, ChangeRelation]
LadderLike: TypeAlias = str | ModelFamily | Sequence[str | ModelFamily]


@dataclass(frozen=True, kw_only=True)
class CreditOptions:
    """The options of `dm.credit`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "credit"

    outcome: object = None
    relations: CreditRelationsLike | None = None
    promises: FilePath | None = None
    columns: Mapping[str, str] | None = None
    additive: bool = False
    ladder: LadderLike = "short"
    constraints: bool = True
    repetitions: int = 5
    threshold: float = 0.01
    strong: float = STRONG_THRESHOLD
    approval_rate: float = DEFAULT_APPROVAL_RATE
    test_share: float = TEST_SHARE
    repeats: int = DEFAULT_REPEATS
    later: pd.DataFrame | None = None
    budget: Budget | str | float | None = None

    def __post_init__(self) -> None:
        validate_integer("repetitions", self.OWNER, self.repetitions, 1)
        validate_integer("repeats", self.OWNER, self.repeats, 1)
        if not is_number(self.threshold) or not 0 <= self.threshold < 1:
            reject("threshold", self.OWNER, "a share from 0 to below 1", self.threshold)
        for name in ("strong", "approval_rate", "test_share"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value < 1:
                reject(name, self.OWNER, "a number above 0 and below 1", value)
        if self.promises is not None and self.relations is not None:
            raise ArgumentError("relations= and promises= both say what is expected of the models. Give only one.")
        if self.columns is not None and not isinstance(self.columns, Mapping):
            reject("columns", self.OWNER, 'a mapping such as {"credit_score": "fico"}', self.columns)
        resolve_ladder(self.ladder, self.constraints)
        object.__setattr__(self, "budget", Budget.parse(self.budget))

    @property
    def limits(self) -> Budget:
        """The budget, parsed."""
        return Budget.parse(self.budget)

    @property
    def families(self) -> list[ModelFamily]:
        """The families of the ladder, with their constrained twins."""
        return resolve_ladder(self.ladder, self.constraints)

    def to_settings(self) -> dict[str, Any]:
        """Return the options that a report lists."""
        return {
            "repetitions": self.repetitions,
            "threshold": self.threshold,
            "strong": self.strong,
            "approval_rate": self.approval_rate,
            "test_share": self.test_share,
            "repeats": self.repeats,
        }

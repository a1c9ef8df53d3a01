"""The options of `dm.combine`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..._validation import reject, validate_integer, validate_seed, validate_timeout
from .chains import RULES, ChainRule, parse_strategy

MAX_LIMIT = 1_000_000_000  # cases; far above what fits into memory


@dataclass(frozen=True, kw_only=True)
class CombineOptions:
    """The options of `dm.combine`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "combine"

    strategy: str = "firstOrderMutantComplete"
    datamorphisms: Sequence[str] | str | None = None
    order: int | None = None
    filters: Sequence[str] | str | None = None
    limit: int = 100_000
    budget: int | None = None
    seed: int = 0
    timeout: float | None = None

    def __post_init__(self) -> None:
        strategy, order = parse_strategy(self.strategy, self.order, self.OWNER)
        object.__setattr__(self, "strategy", strategy)
        object.__setattr__(self, "order", order)
        for name in ("datamorphisms", "filters"):
            object.__setattr__(self, name, _to_names(name, self.OWNER, getattr(self, name)))
        validate_integer("limit", self.OWNER, self.limit, 1, MAX_LIMIT)
        if self.budget is not None:
            validate_integer("budget", self.OWNER, self.budget, 1, MAX_LIMIT)
        validate_seed("seed", self.OWNER, self.seed)
        if self.timeout is not None:
            validate_timeout("timeout", self.OWNER, self.timeout)

    def make_rule(self, weights: Sequence[int]) -> ChainRule:
        """Return the chains of the strategy; `weights` are the numbers of ways to apply each datamorphism."""
        return RULES[self.strategy](tuple(weights), self.order)

    def to_request(self, seed_count: int) -> dict[str, Any]:
        """Return the request as a run store keeps it, for comparison when the run is resumed."""
        return {
            "strategy": self.strategy,
            "order": self.order,
            "datamorphisms": self.datamorphisms,
            "filters": self.filters,
            "limit": self.limit,
            "budget": self.budget,
            "timeout": self.timeout,
            "seeds": seed_count,
        }


def _to_names(parameter: str, owner: str, value: object) -> list[str] | None:
    if value is None:
        return None
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        reject(parameter, owner, "a name, or a list of names", value)
    return list(names)

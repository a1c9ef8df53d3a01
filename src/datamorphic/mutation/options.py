"""The options of ``dm.mutate``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .._estimates import refuse_many_rows
from .._typing import DataLike, SupportsFit
from .._validation import validate_integer, validate_seed, validate_timeout
from ..errors import ArgumentError
from ..relations.check.selection import validate_like
from ..relations.learner.sampling import MAX_TRAINING_ROWS, RANDOM_ATTRIBUTE_COUNT, RANDOM_DATA, is_random
from ..relations.registry import RelationsLike
from ..runs.engines import MAX_WORKERS

LearnerFactory = Callable[[ModuleType], Mapping[str, Any]]
DEFAULT_MEMORY_BYTES = 1 << 30  # that a mutant may add to its process


@dataclass(frozen=True, kw_only=True)
class MutateOptions:
    """The options of a mutation analysis; see `datamorphic.mutate`."""

    relations: RelationsLike = "auto"
    operators: str | Sequence[str] = "all"
    limit: int | None = None
    seed: int = 0
    learners: LearnerFactory | None = None
    like: SupportsFit | None = None
    data: DataLike | str = RANDOM_DATA
    target: str | None = None
    inputs: int = 300
    compared: int = 1000
    rows: int = MAX_TRAINING_ROWS
    rival: int | None = None
    workers: int = 1
    timeout: float | None = None
    memory: int = DEFAULT_MEMORY_BYTES
    fresh: bool = False
    progress: bool | None = None

    def __post_init__(self) -> None:
        for name in ("inputs", "compared", "rows", "memory"):
            validate_integer(name, "mutate", getattr(self, name), 1)
        validate_seed("seed", "mutate", self.seed)
        validate_integer("workers", "mutate", self.workers, 1, MAX_WORKERS)
        if is_random(self.data):
            refuse_many_rows("mutate", "rows", self.rows, RANDOM_ATTRIBUTE_COUNT)
        if self.rival is not None:
            validate_integer("rival", "mutate", self.rival, 1)
        if self.timeout is not None:
            validate_timeout("timeout", "mutate", self.timeout)
        if self.like is not None:
            validate_like("mutate", self.like)
        if isinstance(self.data, str) and not is_random(self.data):
            raise ArgumentError(
                f"data must be a frame, the path of a CSV or Parquet file, or 'random'. Got {self.data!r}."
            )

"""Random numbers for kernels, drawn in advance."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import numpy as np

from .kernels.layout import RandomNumbers

MAX_NUMBERS_AT_ONCE = 65_536  # at first; later arrays may be larger


class NumberStream:
    """Random numbers of a generator, drawn ahead in arrays for kernels.

    They are those that ``rng.random()`` would return one by one. At the end, the generator continues after the last number
    that was used.
    """

    def __init__(self, rng: np.random.Generator, size: int) -> None:
        self.rng = rng
        self._numbers = RandomNumbers(np.zeros(0), np.zeros(2, dtype=np.int64))
        self._size = min(size, MAX_NUMBERS_AT_ONCE)
        self._used = 0
        self._state: Any = None

    @property
    def numbers(self) -> RandomNumbers:
        """The numbers for the next kernel."""
        if self._state is None:
            self._state = self.rng.bit_generator.state
            self.extend()
        return self._numbers

    @property
    def is_short(self) -> bool:
        """Whether a kernel stopped because there were too few numbers."""
        return bool(self._numbers.position[1])

    def extend(self) -> None:
        """Draw more numbers; those left over come first."""
        values, position = self._numbers.values, int(self._numbers.position[0])
        self._used += position
        more = self.rng.random(max(self._size, len(values) - position))
        self._numbers = RandomNumbers(np.concatenate([values[position:], more]), np.zeros(2, dtype=np.int64))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._state is not None:
            self.rng.bit_generator.state = self._state
            self.rng.random(self._used + int(self._numbers.position[0]))

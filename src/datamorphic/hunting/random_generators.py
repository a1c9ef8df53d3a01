"""Generators without memory: random testing and quasi-random sequences."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..relations.algebra.box import Floats
from .generator_base import Generator
from .kernels.layout import round_columns


class _MemorylessGenerator(Generator):
    """Proposes groups without regard to executed ones."""

    default_candidates = 1
    sources_only = True

    def _prepare(self) -> None:
        pass

    def _grow(self, capacity: int) -> None:
        pass

    def _add(self, row: Floats) -> None:
        pass

    def _place_inputs(self, shares: Floats) -> Floats:
        """Return inputs from their places in the domain, 0 to 1 per column."""
        return round_columns(self.layout, self.layout.low + (self.layout.high - self.layout.low) * shares)


class MTRT(_MemorylessGenerator):
    """Random testing: uniform sources."""

    name = "MT-RT"
    summary = "a uniform source"

    def _advance(self, out: Floats) -> int:
        out[:] = self._place_inputs(self.rng.random(out.shape))
        return len(out)


class _SequenceGenerator(_MemorylessGenerator):
    """A sequence that fills the domain evenly, scrambled by the seed."""

    kind: ClassVar[str] = ""

    def _prepare(self) -> None:
        from scipy.stats import qmc

        sequence_class: Any = getattr(qmc, self.kind)
        self._sequence = sequence_class(self.layout.width, scramble=True, rng=self.rng)
        self._pending = np.zeros((0, self.layout.width))

    def _advance(self, out: Floats) -> int:
        while len(self._pending) < len(out):
            # in powers of two, for which a Sobol sequence is balanced
            more = self._sequence.random(max(len(self._pending), 64))
            self._pending = np.concatenate([self._pending, more])
        out[:] = self._place_inputs(self._pending[: len(out)])
        self._pending = self._pending[len(out) :]
        return len(out)


class Sobol(_SequenceGenerator):
    """Quasi-random testing by a scrambled Sobol sequence."""

    name = "Sobol"
    summary = "the next source of a scrambled Sobol sequence"
    kind = "Sobol"


class Halton(_SequenceGenerator):
    """Quasi-random testing by a scrambled Halton sequence."""

    name = "Halton"
    summary = "the next source of a scrambled Halton sequence"
    kind = "Halton"

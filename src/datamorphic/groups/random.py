"""Generators that do not look back: random testing, and quasi-random sequences as a rival."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..relations.boxes import Floats
from .base import Generator
from .kernels.layout import rounded


class _Forgetful(Generator):
    """What is proposed does not depend on what was executed."""

    candidates = 1
    alone = True

    def _add(self, row: Floats) -> None:
        pass

    def _placed(self, shares: Floats) -> Floats:
        """Return inputs from their places in the domain, 0 to 1 a column."""
        return rounded(self.layout, self.layout.low + (self.layout.high - self.layout.low) * shares)


class MTRT(_Forgetful):
    """Random testing: uniform sources."""

    name = "MT-RT"
    says = "a uniform source"

    def _advance(self, made: Floats) -> int:
        made[:] = self._placed(self.rng.random(made.shape))
        return len(made)


class _Sequence(_Forgetful):
    """A sequence that fills the domain evenly, scrambled by the seed."""

    kind: ClassVar[str] = ""

    def _prepare(self) -> None:
        from scipy.stats import qmc

        made: Any = getattr(qmc, self.kind)
        self._sequence = made(self.layout.width, scramble=True, rng=self.rng)
        self._ahead = np.zeros((0, self.layout.width))

    def _advance(self, made: Floats) -> int:
        while len(self._ahead) < len(made):
            # powers of two: what was made of a Sobol sequence then always is as even as it can be
            more = self._sequence.random(max(len(self._ahead), 64))
            self._ahead = np.concatenate([self._ahead, more])
        made[:] = self._placed(self._ahead[: len(made)])
        self._ahead = self._ahead[len(made) :]
        return len(made)


class Sobol(_Sequence):
    """Quasi-random testing by a scrambled Sobol sequence."""

    name = "Sobol"
    says = "the next source of a scrambled Sobol sequence"
    kind = "Sobol"


class Halton(_Sequence):
    """Quasi-random testing by a scrambled Halton sequence."""

    name = "Halton"
    says = "the next source of a scrambled Halton sequence"
    kind = "Halton"

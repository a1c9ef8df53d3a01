"""Selectors that learn from verdicts: which relations were violated, or nearly."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..relations.base import HOLDS, VIOLATED, Verdicts
from ..relations.boxes import Floats
from .kernels.layout import rounded
from .kernels.selecting import best_row, is_ready, score
from .selection import Picks, Selector

NEARBY = 0.1  # of the domain: how far from a source that taught something candidates are drawn
FORGET = 0.98  # of what is known of a relation, with each group of it


class _Learning(Selector):
    """Gives each relation a weight, and remembers the source of each that is worth another look."""

    explores: ClassVar[float] = 0.5  # how often a relation is chosen by what is empty, as MRGS-ART does

    def _start(self) -> None:
        super()._start()
        self._closed = False
        self._weight = np.zeros(len(self.relations))
        self._worth: list[Floats | None] = [None] * len(self.relations)

    def _one_by_one(self, which: npt.NDArray[np.int64], made: Floats) -> int:
        for i in range(len(made)):
            while not is_ready(self.packed, self._rule, self._memory):
                self._more_cells()
            drawn = self.rng.random()
            self._draw(self._shared)
            relation = self._favourite() if drawn >= self.explores else None
            if relation is not None and self._worth[relation] is not None:
                self._shared[0] = self._near(self._worth[relation])
            self._expanded(self._shared)
            score(self.packed, self._rule, self._memory, self._rows, self._scores)
            if relation is None:
                scores = self._scores.reshape(-1, self._scores.shape[2])
                relation, chosen = divmod(int(best_row(scores, self.rng.random())), self.k)
            else:
                near = self._worth[relation] is not None and self.rng.random() < 0.5
                chosen = 0 if near else int(best_row(self._scores[relation], self.rng.random()))
            self._count_in(relation, self._rows[chosen])
            which[i], made[i] = relation, self._shared[chosen]
        return len(made)

    def _favourite(self) -> int | None:
        """Draw a relation by weight; None as long as nothing speaks for any."""
        total = self._weight.sum()
        if not total > 0:
            return None
        place = np.searchsorted(np.cumsum(self._weight) / total, self.rng.random(), side="right")
        return min(int(place), len(self._weight) - 1)

    def _near(self, source: Any) -> Floats:
        low, high = self.packed.shared.low, self.packed.shared.high
        moved = source + (high - low) * NEARBY * (2 * self.rng.random(self.width) - 1)
        return rounded(self.packed.shared, np.clip(moved, low, np.nextafter(high, low)))


class Feedback(_Learning):
    """Feedback-directed selection: relations that were violated come again, on sources near those that violated them."""

    name = "feedback"
    says = "relations that were violated, on sources near those"

    def tell(self, picks: Picks, verdicts: Verdicts, room: Floats | None = None) -> None:
        """Learn which relations were violated."""
        for i in np.flatnonzero(verdicts == VIOLATED):
            self._weight[picks.relation[i]] += 1.0
            self._worth[picks.relation[i]] = picks.sources[i].copy()


class NearMiss(_Learning):
    """Goes by near misses: a relation that has been close to failing comes more often, and near where it was.

    How close is told by the part of its tolerance that is used up; of an inequality, by how little lies between its
    sides, compared with what usually does.
    """

    name = "near-miss"
    says = "relations that were close to failing, near where they were"

    def _start(self) -> None:
        super()._start()
        self._closest = np.zeros(len(self.relations))
        self._usual = np.full(len(self.relations), np.nan)

    def tell(self, picks: Picks, verdicts: Verdicts, room: Floats | None = None) -> None:
        """Learn how close relations were to failing."""
        for i in range(len(picks)):
            relation = int(picks.relation[i])
            self._weight[relation] *= FORGET
            self._closest[relation] *= FORGET
            if verdicts[i] == VIOLATED:
                close = 1.0
            elif room is None or verdicts[i] != HOLDS or not np.isfinite(room[i]):
                continue
            else:
                close = self._closeness(relation, float(room[i]))
            self._weight[relation] = max(self._weight[relation], close**2)
            if close > self._closest[relation]:
                self._closest[relation] = close
                self._worth[relation] = picks.sources[i].copy()

    def _closeness(self, relation: int, room: float) -> float:
        promise = self.relations[relation]
        if promise.at_most is None and promise.less is None:
            return 1.0 - min(max(room, 0.0), 1.0)
        usual = self._usual[relation]
        self._usual[relation] = room if np.isnan(usual) else 0.9 * usual + 0.1 * room
        return float(np.exp(-3 * room / self._usual[relation])) if self._usual[relation] > 0 else 0.0

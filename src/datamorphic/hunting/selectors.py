"""Selectors that prefer relations which were violated, or nearly violated, and all selectors by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._text import suggest_name
from ..errors import ArgumentError
from ..relations.algebra.base import HOLDS, VIOLATED, Verdicts
from ..relations.algebra.box import Floats
from ..relations.algebra.function import FunctionRelation
from .generators import validate_options
from .kernels.layout import round_columns
from .kernels.selecting import add_group, find_best_row, score_candidates
from .selector_base import MRGS_SELECTORS, Picks, RandomSelector, Selector, SelectorLike

NEARBY_SHARE_OF_DOMAIN = 0.1  # how far from a promising source candidates are drawn
WEIGHT_DECAY_PER_GROUP = 0.98  # with each group of the relation


class _LearningSelector(Selector):
    """Keeps a weight and a promising source per relation."""

    exploration_share: ClassVar[float] = 0.5  # the share of choices by empty cells, as in MRGS-ART

    def _start(self) -> None:
        super()._start()
        self._runs_in_kernels = False
        self._weights = np.zeros(len(self.relations))
        self._promising_sources: list[Floats | None] = [None] * len(self.relations)

    def _advance_one_by_one(self, relation_numbers: npt.NDArray[np.int64], out: Floats) -> int:
        for i in range(len(out)):
            self._ensure_open_cells()
            random_value = self.rng.random()
            self._draw_candidates(self._candidates)
            relation = self._draw_favourite() if random_value >= self.exploration_share else None
            source = None if relation is None else self._promising_sources[relation]
            if source is not None:
                self._candidates[0] = self._draw_near(source)
            self._expand(self._candidates)
            score_candidates(*self._state, self._rows, self._scores)
            if relation is None:
                scores = self._scores.reshape(-1, self._scores.shape[2])
                relation, best = divmod(int(find_best_row(scores, self.rng.random())), self.k)
            else:
                is_near = source is not None and self.rng.random() < 0.5
                best = 0 if is_near else int(find_best_row(self._scores[relation], self.rng.random()))
            add_group(*self._state, relation, self._rows[best])
            relation_numbers[i], out[i] = relation, self._candidates[best]
        return len(out)

    def _draw_favourite(self) -> int | None:
        """Draw a relation by weight; return None while all weights are 0."""
        total = self._weights.sum()
        if not total > 0:
            return None
        place = np.searchsorted(np.cumsum(self._weights) / total, self.rng.random(), side="right")
        return min(int(place), len(self._weights) - 1)

    def _draw_near(self, source: Floats) -> Floats:
        low, high = self.table.shared_layout.low, self.table.shared_layout.high
        neighbour = source + (high - low) * NEARBY_SHARE_OF_DOMAIN * (2 * self.rng.random(self.width) - 1)
        neighbour = round_columns(self.table.shared_layout, np.clip(neighbour, low, np.nextafter(high, low)))
        return neighbour if self.accepts(neighbour) else source


class FeedbackSelector(_LearningSelector):
    """Prefer violated relations, on sources near those that violated them."""

    name = "feedback"
    summary = "relations that were violated, on sources near those"

    def tell(self, picks: Picks, verdicts: Verdicts, margins: Floats | None = None) -> None:
        """Raise the weights of violated relations."""
        for i in np.flatnonzero(verdicts == VIOLATED):
            self._weights[picks.relation[i]] += 1.0
            self._promising_sources[picks.relation[i]] = picks.sources[i].copy()


class NearMissSelector(_LearningSelector):
    """Prefer relations that were close to failing, on sources near where they were.

    Closeness is the share of the tolerance that is used up. For an inequality it is based on the difference of its
    sides, compared with the usual difference.
    """

    name = "near-miss"
    summary = "relations that were close to failing, near where they were"

    def _start(self) -> None:
        super()._start()
        self._greatest_closeness = np.zeros(len(self.relations))
        self._usual_margins = np.full(len(self.relations), np.nan)

    def tell(self, picks: Picks, verdicts: Verdicts, margins: Floats | None = None) -> None:
        """Update the weights by how close relations were to failing."""
        for i in range(len(picks)):
            relation = int(picks.relation[i])
            self._weights[relation] *= WEIGHT_DECAY_PER_GROUP
            self._greatest_closeness[relation] *= WEIGHT_DECAY_PER_GROUP
            if verdicts[i] == VIOLATED:
                closeness = 1.0
            elif margins is None or verdicts[i] != HOLDS or not np.isfinite(margins[i]):
                continue
            else:
                closeness = self._measure_closeness(relation, float(margins[i]))
            self._weights[relation] = max(self._weights[relation], closeness**2)
            if closeness > self._greatest_closeness[relation]:
                self._greatest_closeness[relation] = closeness
                self._promising_sources[relation] = picks.sources[i].copy()

    def _measure_closeness(self, relation: int, margin: float) -> float:
        function_relation = self.relations[relation]
        if function_relation.at_most is None and function_relation.less is None:
            return 1.0 - min(max(margin, 0.0), 1.0)
        usual = self._usual_margins[relation]
        self._usual_margins[relation] = margin if np.isnan(usual) else 0.9 * usual + 0.1 * margin
        return float(np.exp(-3 * margin / self._usual_margins[relation])) if self._usual_margins[relation] > 0 else 0.0


SELECTORS: dict[str, type[Selector]] = {
    selector_class.name: selector_class
    for selector_class in (RandomSelector, *MRGS_SELECTORS, FeedbackSelector, NearMissSelector)
}


def make_selector(name: SelectorLike, relations: Sequence[FunctionRelation], **options: Any) -> Selector:
    """Return a selector by its name."""
    selector_class = find_selector(name)
    validate_options(selector_class, options)
    return selector_class(relations, **options)


def find_selector(name: SelectorLike) -> type[Selector]:
    """Return the class of a selector by its name, whatever the case of its letters."""
    if isinstance(name, type) and issubclass(name, Selector):
        return name
    for known, selector_class in SELECTORS.items():
        if known.lower() == str(name).lower():
            return selector_class
    raise ArgumentError(f"There is no selector {name!r}. {suggest_name(name, SELECTORS)}")

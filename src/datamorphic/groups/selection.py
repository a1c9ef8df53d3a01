"""Selectors: which relation next, and on which sources. All relations share one source domain."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .._checks import generator as random_generator
from .._checks import one_of, reject, whole_number
from ..errors import ArgumentError
from ..relations.base import Verdicts
from ..relations.boxes import Box, Floats
from ..relations.numeric import FunctionRelation
from .base import ROOM, Generator
from .generators import make as make_generator
from .kernels.cells import BISECTION, WRAPPED, grown_cells, make_cells
from .kernels.layout import Layout, layout_of_boxes, rounded
from .kernels.nearest import grown_near, make_near
from .kernels.selecting import (
    BY_CELLS,
    BY_DISTANCE,
    BY_NEIGHBOURS,
    BY_VOLUME,
    Executed,
    Rule,
    add,
    advance,
    best_row,
    choose,
    draw_candidates,
    expand,
    is_ready,
    score,
)  # fmt: skip
from .kernels.splitting import grown_boxes, make_boxes
from .packing import packed, shared_box
from .partition import DEEPEST, MOST_CELLS, check_neighbours


@dataclass(frozen=True, eq=False)
class Picks:
    """Pairs of relation and group: the number of the relation, and what was drawn for its sources."""

    relation: npt.NDArray[np.int64]
    sources: Floats

    def __len__(self) -> int:
        return len(self.relation)


class Selector:
    """Chooses pairs of relation and group; a group counts as executed, for its relation, from when it is proposed.

    Parameters
    ----------
    relations : sequence of FunctionRelation
        They share one source domain.
    k : int
        How many candidates are shared out among them for each pair.
    seed : int or Generator
        Where randomness starts.
    candidates : None, array or name of a generator
        Where candidates come from: uniform, rows of a data set, or a generator that knows sources only.
    published : bool
        Whether inputs in open cells are counted, and the best relation is drawn among equals, as published. Counting starves
        relations that have few follow-ups. Otherwise their share counts, among equals the relation that was executed least,
        and one that falls behind comes next: shares favour relations with few follow-ups.
    domains : {"refuse", "meet"}
        What to do about relations with different source domains.
    metric : {"euclidean", "jaccard"}
        For the distance form: how far inputs are apart. By Jaccard's they are sets of values.
    """

    name: ClassVar[str] = ""
    says: ClassVar[str] = ""
    by: ClassVar[int] = BY_CELLS
    how: ClassVar[int] = BISECTION
    scaled: ClassVar[bool] = False

    def __init__(
        self,
        relations: Sequence[FunctionRelation],
        *,
        k: int = 3,
        seed: Any = 0,
        candidates: Any = None,
        published: bool = False,
        domains: str = "refuse",
        metric: str = "euclidean",
    ) -> None:
        given = list(relations)
        if not given or not all(isinstance(relation, FunctionRelation) for relation in given):
            reject("relations", self.name, "one or more FunctionRelation", relations)
        box, self.relations = shared_box(given, domains)
        self.k = whole_number("k", self.name, k, 1)
        self.published = bool(published)
        one_of("metric", self.name, metric, ("euclidean", "jaccard"))
        self.packed = packed(self.relations, box, self.scaled and not published, metric == "jaccard")
        self.width = max(relation.width for relation in self.relations)
        self._from = self._source_of(candidates, box)
        self._closed = all(relation.affine for relation in self.relations) and self._from is None
        self.rng = random_generator("seed", self.name, seed)
        self._start()

    def _source_of(self, candidates: Any, box: Box) -> Generator | Floats | None:
        if candidates is None:
            return None
        if isinstance(candidates, str):
            if self.width != box.dimension:
                raise ArgumentError(
                    "Candidates of a generator are single sources, and a relation here has several."
                )
            return make_generator(candidates, box)
        rows = np.asarray(candidates, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.width or not len(rows) or not np.isfinite(rows).all():
            reject(
                "candidates",
                self.name,
                f"rows of {self.width} finite numbers, or the name of a generator",
                candidates,
            )
        for part in np.split(rows, self.width // box.dimension, axis=1):
            inside = box.contains(part)
            if not inside.all():
                raise ArgumentError(
                    f"Row {int(np.argmin(inside))} of the candidates lies outside the source domain {box} of the relations. "
                    "Leave such rows out."
                )
        return rows

    def _start(self) -> None:
        layout, relations = self.packed.layout, len(self.relations)
        self.count, self._room, self._cells = 0, ROOM, 4 * ROOM
        self._rule = Rule(self.by, self.how, not self.published)
        self._shared = np.zeros((self.k, self.width))
        self._rows = np.zeros((self.k, int(layout.start[-1])))
        self._scores = np.zeros((relations, self.k, 3))
        if isinstance(self._from, Generator):
            self._from = self._from.again(self.rng)
        self._first: list[int] | None = None
        self._memory = self._made(layout)

    def _made(self, layout: Layout) -> Executed:
        check_neighbours(self.name, layout, self.by == BY_NEIGHBOURS or self.how != BISECTION)
        if self.by == BY_VOLUME and np.diff(layout.start).max() > DEEPEST:
            raise ArgumentError(
                f"{self.name} splits a box of d columns into 2^d and takes up to {DEEPEST} columns. Take MRGS-ART."
            )
        cells = self.by in (BY_CELLS, BY_NEIGHBOURS)
        columns = int(np.diff(layout.start).max())
        small = layout_of_boxes([Box.of((0, 1))])
        return Executed(
            make_cells(layout, self._room, self._cells) if cells else make_cells(small, 1, 1),
            make_boxes(layout, self._room) if self.by == BY_VOLUME else make_boxes(small, 1),
            make_near(layout.slots, columns, self._room) if self.by == BY_DISTANCE else make_near(1, 1, 1),
            np.zeros(len(self.relations), dtype=np.int64),
        )

    def _grow(self) -> None:
        cells, boxes, near, done = self._memory
        if self.by == BY_VOLUME:
            boxes = grown_boxes(boxes, self._room)
        elif self.by == BY_DISTANCE:
            near = grown_near(near, self._room)
        else:
            cells = grown_cells(cells, self._room, self._cells)
        self._memory = Executed(cells, boxes, near, done)

    def _more_cells(self) -> None:
        self._cells *= 2
        if self._cells > MOST_CELLS:
            raise ArgumentError(
                f"{self.name} would cut a domain into more than {MOST_CELLS:,} cells. Take MRGS-ART."
            )
        self._grow()

    # -- what everybody calls ------------------------------------------------------------------------------------

    def propose(self, count: int = 1) -> Picks:
        """Return the next pairs; they count as executed."""
        whole_number("count", f"{self.name}.propose", count, 1)
        which, made = np.zeros(count, dtype=np.int64), np.zeros((count, self.width))
        done = 0
        while done < count:
            if self.count >= self._room:
                self._room *= 2
                self._grow()
            if self.count < len(self.relations):
                which[done], made[done] = self._opening()
                step = 1
            else:
                part = slice(done, done + min(count - done, self._room - self.count))
                step = self._advance(which[part], made[part])
            self.count += step
            done += step
        return Picks(which, made)

    def _opening(self) -> tuple[int, Floats]:
        """Return a random group of a relation that has none yet; relations come in random order."""
        if self._first is None:
            order = list(range(len(self.relations)))
            for i in range(len(order) - 1, 0, -1):
                j = int(self.rng.random() * (i + 1))
                order[i], order[j] = order[j], order[i]
            self._first = order
        relation = self._first[self.count]
        while not is_ready(self.packed, self._rule, self._memory):
            self._more_cells()
        self._draw(self._shared[:1])
        self._expanded(self._shared[:1])
        self._count_in(relation, self._rows[0])
        return relation, self._shared[0]

    def _advance(self, which: npt.NDArray[np.int64], made: Floats) -> int:
        if not self._closed:
            return self._one_by_one(which, made)
        done = int(
            advance(
                self.rng,
                self.packed,
                self._rule,
                self._memory,
                self._shared,
                self._rows,
                self._scores,
                which,
                made,
            )
        )
        if done < len(made):
            self._more_cells()
        return done

    def _one_by_one(self, which: npt.NDArray[np.int64], made: Floats) -> int:
        for i in range(len(made)):
            while not is_ready(self.packed, self._rule, self._memory):
                self._more_cells()
            self._draw(self._shared)
            self._expanded(self._shared)
            score(self.packed, self._rule, self._memory, self._rows, self._scores)
            which[i], chosen = choose(self.rng, self._rule, self._memory, self._scores)
            self._count_in(int(which[i]), self._rows[chosen])
            made[i] = self._shared[chosen]
        return len(made)

    def _draw(self, shared: Floats) -> None:
        if self._from is None:
            draw_candidates(self.rng, self.packed, shared)
        elif isinstance(self._from, Generator):
            shared[:] = self._from.propose(len(shared)).sources
        else:
            shared[:] = self._from[(self.rng.random(len(shared)) * len(self._from)).astype(int)]

    def _expanded(self, shared: Floats) -> None:
        expand(self.packed, shared, self._rows[: len(shared)])
        for number, relation in enumerate(self.relations):
            if not relation.affine:
                columns = self.packed.layout.start[self.packed.first[number : number + 2]]
                start, end = int(columns[0]) + relation.width, int(columns[1])
                made = relation.follow(shared[:, : relation.width])
                low = self.packed.layout.low[start:end]
                self._rows[: len(shared), start:end] = np.where(np.isfinite(made), made, low)

    def _count_in(self, relation: int, row: Floats) -> None:
        add(self.packed, self._rule, self._memory, relation, row)

    def relation_for(self, source: Any) -> int:
        """Return the relation to put to a given group's sources; nothing is counted as executed."""
        return self._best(np.asarray(source, dtype=float).reshape(1, -1), None)[0]

    def group_for(self, relation: int, sources: Any) -> int:
        """Return which of some sources to put to a given relation; nothing is counted as executed."""
        whole_number("relation", f"{self.name}.group_for", relation, 0, len(self.relations) - 1)
        return self._best(np.asarray(sources, dtype=float), relation)[1]

    def _best(self, shared: Floats, relation: int | None) -> tuple[int, int]:
        if shared.ndim != 2 or shared.shape[1] != self.width or not len(shared):
            reject("sources", self.name, f"rows of {self.width} numbers", shared.tolist())
        kept = self._rows
        self._rows = np.zeros((len(shared), kept.shape[1]))
        while not is_ready(self.packed, self._rule, self._memory):
            self._more_cells()
        self._expanded(shared)
        scores = np.zeros((len(self.relations), len(shared), 3))
        score(self.packed, self._rule, self._memory, self._rows, scores)
        self._rows = kept
        if relation is None:
            return int(choose(self.rng, self._rule, self._memory, scores)[0]), 0
        return relation, int(best_row(scores[relation], self.rng.random()))

    def tell(self, picks: Picks, verdicts: Verdicts, room: Floats | None = None) -> None:
        """Be told what became of pairs; selectors that learn from it say so."""

    def again(self, seed: Any) -> Self:
        """Return the same selector at its start, with another seed."""
        other = copy.copy(self)
        other.rng = random_generator("seed", self.name, seed)
        other._start()
        return other

    def __repr__(self) -> str:
        return f"{self.name}({len(self.relations)} relations, k={self.k}, {self.count:,} groups)"


class RandomSelection(Selector):
    """A random relation on random sources."""

    name = "random"
    says = "a random relation on random sources"

    def propose(self, count: int = 1) -> Picks:
        """Return the next pairs."""
        whole_number("count", f"{self.name}.propose", count, 1)
        which, made = np.zeros(count, dtype=np.int64), np.zeros((count, self.width))
        if self._from is None:  # all at once, as if one after the other
            drawn = self.rng.random((count, 1 + self.width))
            which[:] = drawn[:, 0] * len(self.relations)
            made[:] = self._placed(drawn[:, 1:])
        else:
            for i in range(count):
                which[i] = int(self.rng.random() * len(self.relations))
                self._draw(made[i : i + 1])
        self.count += count
        return Picks(which, made)

    def _placed(self, shares: Floats) -> Floats:
        """Return sources from their places in the domain, 0 to 1 a column."""
        low, high = self.packed.shared.low, self.packed.shared.high
        return rounded(self.packed.shared, low + (high - low) * shares)


class MRGSART(Selector):
    """MRGS-ART: the pair with the greatest share of inputs in empty cells of their domains, which are bisected."""

    name = "MRGS-ART"
    says = "the pair with most of its inputs in empty cells"


class MRGSARTPlus(Selector):
    """MRGS-ART+: among equals fewer occupied neighbours count, then a greater distance to the nearest of them."""

    name = "MRGS-ART+"
    says = "as MRGS-ART, among equals the pair with the fewest and farthest occupied neighbours"
    by = BY_NEIGHBOURS


class MRGSIPART(Selector):
    """MRGS-IPART: a grid for each domain with ever more parts; cells with an occupied neighbour are closed, too."""

    name = "MRGS-IPART"
    says = "the pair with most of its inputs in cells whose neighbours are empty, too"
    how = WRAPPED


class MRGSRPART(Selector):
    """MRGS-RPART: the pair that hits the largest boxes, which are then split there."""

    name = "MRGS-RPART"
    says = "the pair whose inputs lie in the largest boxes"
    by = BY_VOLUME


class MRGSDistance(Selector):
    """The distance form: the pair that is farthest from what was executed of its relation.

    By default the mean over inputs, in widths of their domains; as published the sum of distances.
    """

    name = "MRGS-distance"
    says = "the pair farthest from what was executed of its relation"
    by = BY_DISTANCE
    scaled = True


__all__ = [
    "MRGSART",
    "MRGSIPART",
    "MRGSRPART",
    "MRGSARTPlus",
    "MRGSDistance",
    "Picks",
    "RandomSelection",
    "Selector",
]

"""`Selector`, and selectors by empty cells, boxes and distances.

A selector chooses the next relation and its sources. All relations share one source domain.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from .._estimates import refuse_many_rows
from .._typing import SeedLike
from .._validation import reject, to_generator, validate_choice, validate_integer
from ..errors import ArgumentError
from ..relations.algebra.base import Verdicts
from ..relations.algebra.box import Affine, Box, Floats
from ..relations.algebra.domain import RangeDomain
from ..relations.algebra.function import FunctionRelation
from .generator_base import INITIAL_CAPACITY_GROUPS, MAX_CANDIDATES, Generator
from .generators import make_generator
from .kernels.cells import BISECTION, ITERATION, WRAPPED, grow_cells, make_cells
from .kernels.layout import Layout, RandomNumbers, build_box_layout, round_columns
from .kernels.nearest import grow_point_index, make_point_index
from .kernels.selecting import (
    BY_CELLS,
    BY_DISTANCE,
    BY_NEIGHBOURS,
    BY_VOLUME,
    RelationTable,
    SelectionMemory,
    SelectionRule,
    add_group,
    advance_pairs,
    choose_pair,
    ensure_open_cells,
    expand_candidates,
    find_best_row,
    score_candidates,
)
from .kernels.splitting import grow_boxes, make_boxes
from .partition_generators import MAX_CELLS, validate_neighbour_columns, validate_split_columns
from .random_numbers import NumberStream
from .source_domain import SourceDomain


def find_shared_box(
    relations: Sequence[FunctionRelation], domains: str = "refuse"
) -> tuple[Box, tuple[FunctionRelation, ...]]:
    """Return the source domain of all relations, and the relations on it.

    If the domains differ, ``"refuse"`` raises `ArgumentError`, ``"meet"`` uses their intersection.
    """
    validate_choice("domains", "a selector", domains, ("refuse", "meet"))
    boxes = [(relation, box) for relation in relations for box in relation.domain]
    first, common = boxes[0]
    if all(common.same(box) for _, box in boxes):
        return common, tuple(relations)
    differing, box = next((r, b) for r, b in boxes if not common.same(b))
    if domains == "refuse" or any(box.dimension != common.dimension for _, box in boxes):
        raise ArgumentError(
            f"A selector gives the same sources to all relations, but {first.name!r} takes them from {common}, "
            f"{differing.name!r} from {box}. Give all the same domain (relation.over(domain)), "
            "or use the intersection: domains='meet'."
        )
    intersection: Box | None = common
    for _, box in boxes[1:]:
        intersection = None if intersection is None else intersection.meet(box)
    if intersection is None:
        raise ArgumentError(
            f"The source domains of {', '.join(repr(relation.name) for relation in relations)} have nothing in common, "
            "but a selector gives the same sources to all relations. Hunt with each of them alone."
        )
    return intersection, tuple(replace(relation, domain=(intersection,) * relation.sources) for relation in relations)


def pack_relations(
    relations: Sequence[FunctionRelation], box: Box, scaled: bool, jaccard: bool = False
) -> RelationTable:
    """Return all relations side by side, with the factors of their inputs."""
    widest = max(relation.width for relation in relations)
    boxes: list[Box] = []
    rows, offsets, first_slots = [], [], [0]
    for relation in relations:
        boxes += [*relation.domain, *relation.follow_domains()]
        first_slots.append(len(boxes))
        rows.append(np.eye(relation.width, widest))
        offsets.append(np.zeros(relation.width))
        for change, domain in zip(relation.follow_up, relation.follow_domains(), strict=True):
            rows.append(np.zeros((domain.dimension, widest)))
            offsets.append(np.zeros(domain.dimension))
            if isinstance(change, Affine):
                rows[-1][:, : relation.width], offsets[-1] = change.matrix, change.offset
    layout = build_box_layout(boxes, scaled=scaled, jaccard=jaccard)
    matrix = np.concatenate(rows)
    column, factor_columns = np.nonzero(matrix)
    factor_starts = np.searchsorted(column, np.arange(len(matrix) + 1)).astype(np.int64)
    shared_layout = build_box_layout([box] * max(relation.sources for relation in relations), scaled=scaled)
    factors = (factor_starts, matrix[column, factor_columns], factor_columns.astype(np.int64))
    return RelationTable(
        layout, shared_layout, np.array(first_slots, dtype=np.int64), np.concatenate(offsets), *factors
    )


def _build_sources(box: Box, count: int) -> FunctionRelation:
    """Return a placeholder relation with `count` sources in a domain."""
    return FunctionRelation(name="sources", domain=(box,) * count, sources=count, follow_up=lambda *sources: sources[0])


@dataclass(frozen=True, eq=False)
class Picks:
    """Chosen pairs: the number of the relation, and the numbers drawn for its sources."""

    relation: npt.NDArray[np.int64]
    sources: Floats

    def __len__(self) -> int:
        return len(self.relation)


class Selector:
    """Chooses pairs of relation and group.

    A group counts as executed, for its relation, from the moment it is proposed.

    Parameters
    ----------
    relations : sequence of FunctionRelation
        Relations with one source domain.
    k : int
        The number of candidates per pair; all relations share them.
    seed : int or Generator
        The seed of the random numbers.
    candidates : None, array or name of a generator
        The origin of candidates: uniform, rows of a data set, or a generator of sources.
    published : bool, optional
        Whether the number of inputs in open cells counts, and the best relation is drawn among equals, as published by
        Ying (2024). Numbers put relations with few follow-ups at a disadvantage. Otherwise the share of inputs counts,
        among equals the least executed relation, and a relation that falls behind comes next. By default, only MRGS-ART
        and MRGS-IPART are as published.
    domains : {"refuse", "meet"}
        Whether relations with different source domains are refused, or restricted to the intersection.
    metric : {"euclidean", "jaccard"}
        The distance of inputs, for the distance form. For Jaccard's, inputs are sets of values.
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    criterion: ClassVar[int] = BY_CELLS
    scheme: ClassVar[int] = BISECTION
    scaled: ClassVar[bool] = False
    fair: ClassVar[bool] = True  # whether relations with few follow-ups come as often as others, unlike as published

    def __init__(
        self,
        relations: Sequence[FunctionRelation],
        *,
        k: int = 3,
        seed: SeedLike = 0,
        candidates: str | npt.ArrayLike | None = None,
        published: bool | None = None,
        domains: str = "refuse",
        metric: str = "euclidean",
    ) -> None:
        relation_list = list(relations)
        if not relation_list or not all(isinstance(relation, FunctionRelation) for relation in relation_list):
            reject("relations", self.name, "one or more FunctionRelation", relations)
        self.box, self.relations = find_shared_box(relation_list, domains)
        box = self.box
        self.k = validate_integer("k", self.name, k, 1, MAX_CANDIDATES)
        self.published = not self.fair if published is None else bool(published)
        validate_choice("metric", self.name, metric, ("euclidean", "jaccard"))
        self.table = pack_relations(self.relations, box, self.scaled and not self.published, metric == "jaccard")
        self.width = max(relation.width for relation in self.relations)
        refuse_many_rows(self.name, "k", self.k, self.width)
        self._candidate_source = self._make_candidate_source(candidates, box)
        self._runs_in_kernels = all(relation.affine for relation in self.relations) and self._candidate_source is None
        self.rng = to_generator("seed", self.name, seed)
        self._start()

    def _make_candidate_source(self, candidates: str | npt.ArrayLike | None, box: Box) -> Generator | Floats | None:
        if candidates is None:
            # kernels draw candidates from boxes
            is_box = SourceDomain((box,)).is_box
            return None if is_box else make_generator("MT-RT", _build_sources(box, self.width // box.dimension))
        if isinstance(candidates, str):
            if self.width != box.dimension:
                raise ArgumentError(
                    "Candidates of a generator are single sources, but a relation has several. Give rows of candidates."
                )
            return make_generator(candidates, box)
        rows = np.asarray(candidates, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.width or not len(rows) or not np.isfinite(rows).all():
            expected = f"rows of {self.width} finite numbers, or the name of a generator"
            reject("candidates", self.name, expected, candidates)
        for part in np.split(rows, self.width // box.dimension, axis=1):
            inside = box.accepts(part) if isinstance(box, RangeDomain) else box.contains(part)
            if not inside.all():
                raise ArgumentError(
                    f"Row {int(np.argmin(inside))} of the candidates lies outside the source domain {box} of the "
                    "relations. Leave such rows out."
                )
        return rows

    def _start(self) -> None:
        layout, relations = self.table.layout, len(self.relations)
        self.count, self._capacity, self._cell_capacity = 0, INITIAL_CAPACITY_GROUPS, 4 * INITIAL_CAPACITY_GROUPS
        self._rule = SelectionRule(self.criterion, self.scheme, not self.published)
        self._candidates = np.zeros((self.k, self.width))
        self._rows = np.zeros((self.k, int(layout.start[-1])))
        self._scores = np.zeros((relations, self.k, 3))
        if isinstance(self._candidate_source, Generator):
            self._candidate_source = self._candidate_source.clone(self.rng)
        self._opening_order: list[int] | None = None
        self._memory = self._make_memory(layout)

    def _make_memory(self, layout: Layout) -> SelectionMemory:
        validate_neighbour_columns(self.name, layout, self.criterion == BY_NEIGHBOURS or self.scheme != BISECTION)
        if self.criterion == BY_VOLUME:
            validate_split_columns(self.name, layout)
        placeholder = build_box_layout([Box.of((0, 1))])
        memory = SelectionMemory(
            make_cells(placeholder, 1, 1),
            make_boxes(placeholder, 1),
            make_point_index(placeholder, 1),
            np.zeros(len(self.relations), dtype=np.int64),
            np.zeros(len(self.relations), dtype=np.int64),
            np.zeros((len(self.relations), 4)),
        )
        if self.criterion == BY_VOLUME:
            return memory._replace(boxes=make_boxes(layout, self._capacity))
        if self.criterion == BY_DISTANCE:
            return memory._replace(point_index=make_point_index(layout, self._capacity))
        return memory._replace(cells=make_cells(layout, self._capacity, self._cell_capacity))

    def _grow(self) -> None:
        memory = self._memory
        if self.criterion == BY_VOLUME:
            self._memory = memory._replace(boxes=grow_boxes(memory.boxes, self._capacity))
        elif self.criterion == BY_DISTANCE:
            self._memory = memory._replace(
                point_index=grow_point_index(self.table.layout, memory.point_index, self._capacity)
            )
        else:
            self._memory = memory._replace(cells=grow_cells(memory.cells, self._capacity, self._cell_capacity))

    def _add_cells(self) -> None:
        self._cell_capacity *= 2
        if self._cell_capacity > MAX_CELLS:
            raise ArgumentError(f"{self.name} would cut a domain into more than {MAX_CELLS:,} cells. Use MRGS-ART.")
        self._grow()

    def _ensure_open_cells(self) -> None:
        while not ensure_open_cells(*self._state):
            self._add_cells()

    @property
    def _state(self) -> tuple[RelationTable, SelectionRule, SelectionMemory]:
        """The arguments that most kernels share."""
        return (self.table, self._rule, self._memory)

    # -- what callers use -----------------------------------------------------------------------------------------

    def propose(self, count: int = 1) -> Picks:
        """Return the next pairs; they count as executed."""
        validate_integer("count", f"{self.name}.propose", count, 1)
        relation_numbers, sources = np.zeros(count, dtype=np.int64), np.zeros((count, self.width))
        position = 0
        while position < count:
            if self.count >= self._capacity:
                self._capacity *= 2
                self._grow()
            if self.count < len(self.relations):
                relation_numbers[position], sources[position] = self._propose_opening()
                step = 1
            else:
                chunk = slice(position, position + min(count - position, self._capacity - self.count))
                step = self._advance(relation_numbers[chunk], sources[chunk])
            self.count += step
            position += step
        return Picks(relation_numbers, sources)

    def _propose_opening(self) -> tuple[int, Floats]:
        """Return a random group of a relation without one; relations come in random order."""
        if self._opening_order is None:
            self._opening_order = order = list(range(len(self.relations)))
            for i in range(len(order) - 1, 0, -1):
                j = int(self.rng.random() * (i + 1))
                order[i], order[j] = order[j], order[i]
        relation = self._opening_order[self.count]
        self._ensure_open_cells()
        self._draw_candidates(self._candidates[:1])
        self._expand(self._candidates[:1])
        add_group(*self._state, relation, self._rows[0])
        return relation, self._candidates[0]

    def _advance(self, relation_numbers: npt.NDArray[np.int64], out: Floats) -> int:
        if not self._runs_in_kernels:
            return self._advance_one_by_one(relation_numbers, out)
        scratch = (self._candidates, self._rows, self._scores)
        size = len(out) * (self._candidates.size + len(self.relations) + 1)
        with NumberStream(self.rng, size) as stream:
            step = int(advance_pairs(stream.numbers, *self._state, *scratch, relation_numbers, out))
            if step < len(out) and not stream.is_short:
                self._add_cells()
        return step

    def _advance_one_by_one(self, relation_numbers: npt.NDArray[np.int64], out: Floats) -> int:
        for i in range(len(out)):
            self._ensure_open_cells()
            self._draw_candidates(self._candidates)
            self._expand(self._candidates)
            score_candidates(*self._state, self._rows, self._scores)
            relation_numbers[i], best = self._choose_pair(self._scores)
            add_group(*self._state, int(relation_numbers[i]), self._rows[best])
            out[i] = self._candidates[best]
        return len(out)

    def _choose_pair(self, scores: Floats) -> tuple[int, int]:
        numbers = RandomNumbers(self.rng.random(len(self.relations) + 1), np.zeros(2, dtype=np.int64))
        relation, best = choose_pair(numbers, self._rule, self._memory, scores)
        return int(relation), int(best)

    def _draw_candidates(self, candidates: Floats) -> None:
        if self._candidate_source is None:
            layout = self.table.shared_layout
            shares = self.rng.random(candidates.shape)
            candidates[:] = round_columns(layout, layout.low + (layout.high - layout.low) * shares)
        elif isinstance(self._candidate_source, Generator):
            candidates[:] = self._candidate_source.propose(len(candidates)).sources
        else:
            numbers = self.rng.random(len(candidates)) * len(self._candidate_source)
            candidates[:] = self._candidate_source[numbers.astype(int)]

    def accepts(self, sources: Floats) -> bool:
        """Return whether a row of sources lies inside the domain."""
        parts = np.split(sources[None], self.width // self.box.dimension, axis=1)
        return not isinstance(self.box, RangeDomain) or all(self.box.accepts(part)[0] for part in parts)

    def _expand(self, candidates: Floats) -> None:
        expand_candidates(self.table, candidates, self._rows[: len(candidates)])
        for number, relation in enumerate(self.relations):
            if not relation.affine:
                columns = self.table.layout.start[self.table.first_slot[number : number + 2]]
                start, end = int(columns[0]) + relation.width, int(columns[1])
                follow_ups = relation.follow(candidates[:, : relation.width])
                low = self.table.layout.low[start:end]
                self._rows[: len(candidates), start:end] = np.where(np.isfinite(follow_ups), follow_ups, low)

    def choose_relation(self, source: npt.ArrayLike) -> int:
        """Return the best relation for given sources; nothing counts as executed."""
        return self._choose_best(np.asarray(source, dtype=float).reshape(1, -1), None)[0]

    def choose_group(self, relation: int, sources: npt.ArrayLike) -> int:
        """Return the number of the best sources for a relation; nothing counts as executed."""
        validate_integer("relation", f"{self.name}.choose_group", relation, 0, len(self.relations) - 1)
        return self._choose_best(np.asarray(sources, dtype=float), relation)[1]

    def _choose_best(self, candidates: Floats, relation: int | None) -> tuple[int, int]:
        if candidates.ndim != 2 or candidates.shape[1] != self.width or not len(candidates):
            reject("sources", self.name, f"rows of {self.width} numbers", candidates.tolist())
        saved_rows = self._rows
        self._rows = np.zeros((len(candidates), saved_rows.shape[1]))
        self._ensure_open_cells()
        self._expand(candidates)
        scores = np.zeros((len(self.relations), len(candidates), 3))
        score_candidates(*self._state, self._rows, scores)
        self._rows = saved_rows
        if relation is None:
            return self._choose_pair(scores)[0], 0
        return relation, int(find_best_row(scores[relation], self.rng.random()))

    def tell(self, picks: Picks, verdicts: Verdicts, margins: Floats | None = None) -> None:
        """Take the verdicts of proposed pairs; selectors that learn override this."""

    def clone(self, seed: SeedLike) -> Self:
        """Return a copy of the selector at its start, with another seed."""
        selector = copy.copy(self)
        selector.rng = to_generator("seed", self.name, seed)
        selector._start()
        return selector

    def __repr__(self) -> str:
        return f"{self.name}({len(self.relations)} relations, k={self.k}, {self.count:,} groups)"


#: a selector by its name, or its class
SelectorLike: TypeAlias = str | type[Selector]


class RandomSelector(Selector):
    """Chooses a random relation and random sources."""

    name = "random"
    summary = "a random relation on random sources"

    def propose(self, count: int = 1) -> Picks:
        """Return the next pairs."""
        validate_integer("count", f"{self.name}.propose", count, 1)
        relation_numbers, sources = np.zeros(count, dtype=np.int64), np.zeros((count, self.width))
        if self._candidate_source is None:  # the same numbers as one by one
            random_values = self.rng.random((count, 1 + self.width))
            relation_numbers[:] = random_values[:, 0] * len(self.relations)
            layout = self.table.shared_layout
            sources[:] = round_columns(layout, layout.low + (layout.high - layout.low) * random_values[:, 1:])
        else:
            for i in range(count):
                relation_numbers[i] = int(self.rng.random() * len(self.relations))
                self._draw_candidates(sources[i : i + 1])
        self.count += count
        return Picks(relation_numbers, sources)


class MRGSART(Selector):
    """MRGS-ART: the pair with the most inputs in empty cells, by bisection; Algorithm 6 of Ying (2024)."""

    name = "MRGS-ART"
    summary = "the pair with the most inputs in empty cells, as published"
    fair = False


class MRGSARTFair(Selector):
    """MRGS-ART-fair: the pair with the greatest share of its inputs in empty cells; no relation falls behind."""

    name = "MRGS-ART-fair"
    summary = "as MRGS-ART, with the share of inputs instead of their number, so that no relation falls behind"


class MRGSARTPlus(Selector):
    """MRGS-ART+: among equals, the pair with fewer, then farther occupied neighbours."""

    name = "MRGS-ART+"
    summary = "as MRGS-ART, among equals the pair with the fewest and farthest occupied neighbours"
    criterion = BY_NEIGHBOURS


class MRGSIPART(Selector):
    """MRGS-IPART: as MRGS-ART, in cells whose neighbours are empty, too; Algorithm 8 of Ying (2024)."""

    name = "MRGS-IPART"
    summary = "the pair with the most inputs in cells whose neighbours are empty, too, as published"
    scheme = ITERATION
    fair = False


class MRGSIPARTFair(Selector):
    """MRGS-IPART-fair: as MRGS-IPART by shares, where cells at opposite edges are neighbours."""

    name = "MRGS-IPART-fair"
    summary = "as MRGS-IPART, with shares, and with cells at opposite edges as neighbours"
    scheme = WRAPPED


class MRGSRPART(Selector):
    """MRGS-RPART: the pair in the largest boxes, which are then split there."""

    name = "MRGS-RPART"
    summary = "the pair whose inputs lie in the largest boxes"
    criterion = BY_VOLUME


class MRGSDistance(Selector):
    """MRGS-distance: the pair farthest from the executed groups of its relation.

    By default this is the mean over inputs, in widths of their domains; as published, the sum of distances.
    """

    name = "MRGS-distance"
    summary = "the pair farthest from the executed groups of its relation"
    criterion = BY_DISTANCE
    scaled = True


MRGS_SELECTORS = (MRGSART, MRGSARTFair, MRGSARTPlus, MRGSIPART, MRGSIPARTFair, MRGSRPART, MRGSDistance)
